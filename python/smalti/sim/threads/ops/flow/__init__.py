# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, branches and calls."""
