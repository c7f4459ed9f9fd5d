# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of PyTorch.

softmax = smalti.torch.custom_op("mylib::softmax", kernel, outputs={"y": "x"})
y = softmax(x)
"""

from .operators import custom_op

__all__ = ["custom_op"]
