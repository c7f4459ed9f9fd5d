"""Tile-level dialect `triton_xla`: ops."""

from ._triton_xla_ops_gen import *  # noqa: F403
