# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that can be called: arguments, archives, and a launcher for each kind of chip."""
