# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile-level dialect `triton_xla`: ops, attributes and enumerations."""

from .._mlir_libs._smaltiTritonXLA import *  # noqa: F403
from . import _attribute_builders  # noqa: F401
from ._triton_xla_enum_gen import *  # noqa: F403
from ._triton_xla_ops_gen import *  # noqa: F403
