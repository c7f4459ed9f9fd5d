# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every tile-level operation, for every element type and kind of shape, on every kind of target, against the reference."""
