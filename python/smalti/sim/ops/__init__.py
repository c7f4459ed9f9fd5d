"""What operations do, by dialect."""

from __future__ import annotations

from . import affine, arith, barriers, control, copies, gpu, groups, llvm, math, memref, products, registers, vector

__all__ = [
    "affine",
    "arith",
    "barriers",
    "control",
    "copies",
    "gpu",
    "groups",
    "llvm",
    "math",
    "memref",
    "products",
    "registers",
    "vector",
]
