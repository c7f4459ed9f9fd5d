# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level ops, by dialect."""

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
    globals,
    gpu,
    groups,
    indexed,
    llvm,
    math,
    matmul,
    memref,
    reductions,
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
    "globals",
    "gpu",
    "groups",
    "indexed",
    "llvm",
    "math",
    "matmul",
    "memref",
    "reductions",
    "registers",
    "tensor",
    "vector",
    "warps",
]
