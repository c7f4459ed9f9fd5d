"""What operations do, by dialect."""

from __future__ import annotations

from . import (
    affine,
    arith,
    barriers,
    cancel,
    cluster,
    control,
    conversions,
    copies,
    gpu,
    groups,
    llvm,
    math,
    memref,
    products,
    registers,
    tensor,
    vector,
    warps,
)

__all__ = [
    "affine",
    "arith",
    "barriers",
    "cancel",
    "cluster",
    "control",
    "conversions",
    "copies",
    "gpu",
    "groups",
    "llvm",
    "math",
    "memref",
    "matmul",
    "registers",
    "tensor",
    "vector",
    "warps",
]
