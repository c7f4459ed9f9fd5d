"""The ops of `mosaic_gpu`: programs of a thread block."""

from ._mosaic_gpu_ops_gen import *  # noqa: F403
