"""Execution of thread-level kernels: converged warps, memory, and the order of accesses."""
