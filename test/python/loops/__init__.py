"""Loops of GPU kernels through the loop passes: equal results, or unchanged kernels."""
