"""Differential fuzzing: random tile-level kernels, compiled for several targets, against the float64 reference."""
