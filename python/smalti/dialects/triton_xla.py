"""The ops of `triton_xla`: portable tile programs."""

from ._triton_xla_ops_gen import *  # noqa: F403
