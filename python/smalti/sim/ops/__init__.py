"""What operations do, by dialect."""

from __future__ import annotations

from . import (
    affine,
    arith,
    barriers,
    cluster,
    control,
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
)

__all__ = [
    "affine",
    "arith",
    "barriers",
    "cluster",
    "control",
    "copies",
    "gpu",
    "groups",
    "llvm",
    "math",
    "memref",
    "products",
    "registers",
    "tensor",
    "vector",
]
