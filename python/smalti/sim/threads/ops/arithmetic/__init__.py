"""Scalars, vectors and LLVM structs."""
