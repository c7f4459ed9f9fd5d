"""Kernels for GPUs on the host: the LLVM IR that becomes PTX or GCN, with its threads as fibers.

`rewrite` turns the IR of the device into IR of the host, `runtime.cpp` holds the fibers and one table entry for every
instruction, `launch` builds and runs.
"""
