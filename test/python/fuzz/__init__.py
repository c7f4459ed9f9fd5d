"""Differential fuzzing: random tile programs, compiled for several targets, against the float64 reference."""
