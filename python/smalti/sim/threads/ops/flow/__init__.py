"""Loops, branches and calls."""
