"""What operations do in programs of threads, by dialect."""

from __future__ import annotations

from . import (
    amdgpu,
    arith,
    control,
    cp_async,
    gpu,
    lds_copies,
    llvm,
    matrix_amd,
    matrix_nvidia,
    mbarrier,
    memref,
    rocdl,
    tma,
    vector,
    wgmma,
)

__all__ = [
    "amdgpu",
    "arith",
    "control",
    "cp_async",
    "gpu",
    "lds_copies",
    "llvm",
    "matrix_amd",
    "matrix_nvidia",
    "mbarrier",
    "memref",
    "rocdl",
    "tma",
    "vector",
    "wgmma",
]
