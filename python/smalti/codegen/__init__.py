# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code generation: from LLVM IR to machine code."""
