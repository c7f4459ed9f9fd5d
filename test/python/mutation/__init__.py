# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutation fuzzer: every `.mlir` file of the tree, mutated, through every pass and the check against the reference."""
