"""What operations do in programs of threads, by dialect."""

from __future__ import annotations

from . import arith, control, cp_async, gpu, llvm, matrix_amd, matrix_nvidia, mbarrier, memref, tma, vector, wgmma

__all__ = [
    "arith",
    "control",
    "cp_async",
    "gpu",
    "llvm",
    "matrix_amd",
    "matrix_nvidia",
    "mbarrier",
    "memref",
    "tma",
    "vector",
    "wgmma",
]
