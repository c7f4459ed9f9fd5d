"""What operations do, by dialect."""

from __future__ import annotations

from . import arith, barriers, control, copies, gpu, llvm, math, memref, products, registers, vector

__all__ = [
    "arith",
    "barriers",
    "control",
    "copies",
    "gpu",
    "llvm",
    "math",
    "memref",
    "products",
    "registers",
    "vector",
]
