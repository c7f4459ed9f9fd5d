# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile-level dialect `triton_xla`: ops and enumerations."""

from ._triton_xla_enum_gen import *  # noqa: F403
from ._triton_xla_ops_gen import *  # noqa: F403
