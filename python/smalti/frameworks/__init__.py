# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of torch and JAX: parameters, results and batches."""
