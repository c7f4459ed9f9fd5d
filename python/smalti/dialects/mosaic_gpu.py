"""The ops, attributes and types of `mosaic_gpu`: programs of a thread block."""

from .._mlir_libs._smaltiMosaicGPU import *  # noqa: F403
from ._mosaic_gpu_enum_gen import *  # noqa: F403
from ._mosaic_gpu_ops_gen import *  # noqa: F403
