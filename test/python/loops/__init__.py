"""Loops of GPU kernels through the loop passes: a kernel computes what it did, or it stays as it is."""
