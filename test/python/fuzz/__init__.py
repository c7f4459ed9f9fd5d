# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differential fuzzing: random tile-level kernels, compiled for several targets, against the float64 reference."""
