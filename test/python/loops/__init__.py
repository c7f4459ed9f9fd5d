# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of GPU kernels through the loop passes: equal results, or unchanged kernels."""
