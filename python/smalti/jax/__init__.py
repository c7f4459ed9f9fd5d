# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as functions of JAX.

softmax = smalti.jax.ffi_call(kernel, outputs={"y": "x"})
y = softmax(x)
"""

from .operators import ffi_call

__all__ = ["ffi_call"]
