# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of thread-level kernels: converged warps, memory, and the order of accesses."""
