# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk for compiled code."""
