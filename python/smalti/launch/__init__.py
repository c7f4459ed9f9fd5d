"""Kernels that can be called: arguments, archives, and a launcher for each kind of chip."""
