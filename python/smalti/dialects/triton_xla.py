# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile-level dialect `triton_xla`: ops."""

from ._triton_xla_ops_gen import *  # noqa: F403
