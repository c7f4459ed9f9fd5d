# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalars, vectors and LLVM structs."""
