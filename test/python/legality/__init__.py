# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of legal ops: its examples compile where it says so, and are refused with its sentences elsewhere."""
