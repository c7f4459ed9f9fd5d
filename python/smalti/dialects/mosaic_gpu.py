# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level dialect `mosaic_gpu`: ops, attributes, types and enumerations."""

from .._mlir_libs._smaltiMosaicGPU import *  # noqa: F403
from . import _attribute_builders  # noqa: F401
from ._mosaic_gpu_enum_gen import *  # noqa: F403
from ._mosaic_gpu_ops_gen import *  # noqa: F403
