# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rocdl.mfma`, `rocdl.smfmac` and `rocdl.wmma`: AMD matrix instructions by name, on packed registers."""

from __future__ import annotations

import re
from typing import Any

from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ..arithmetic.llvm import constant_of
from .matrix_amd import NAMED, Broadcast, Modifiers, mfma, operand_of, wmma
from .matrix_amd_formats import sparse_mfma

_MFMA_NAMES = """
f32.32x32x1f32 f32.16x16x1f32 f32.4x4x1f32 f32.32x32x2f32 f32.16x16x4f32 f32.32x32x4f16 f32.16x16x4f16 f32.4x4x4f16
f32.32x32x8f16 f32.16x16x16f16 i32.32x32x4i8 i32.16x16x4i8 i32.4x4x4i8 i32.32x32x8i8 i32.16x16x16i8 f32.32x32x2bf16
f32.16x16x2bf16 f32.4x4x2bf16 f32.32x32x4bf16 f32.16x16x8bf16 f32.32x32x4bf16.1k f32.16x16x4bf16.1k f32.4x4x4bf16.1k
f32.32x32x8bf16.1k f32.16x16x16bf16.1k f64.16x16x4f64 f64.4x4x4f64 i32.16x16x32.i8 i32.32x32x16.i8 f32.16x16x32.bf8.bf8
f32.16x16x32.bf8.fp8 f32.16x16x32.fp8.bf8 f32.16x16x32.fp8.fp8 f32.32x32x16.bf8.bf8 f32.32x32x16.bf8.fp8
f32.32x32x16.fp8.bf8 f32.32x32x16.fp8.fp8 f32.16x16x32.bf16 i32.16x16x64.i8 f32.16x16x32.f16 f32.32x32x16.bf16
i32.32x32x32.i8 f32.32x32x16.f16 f32.16x16x8.xf32 f32.32x32x4.xf32
"""
_MFMA_NAME = re.compile(r"(f32|i32|f64)\.(\d+)x\d+x(\d+)\.?(f16|x?f32|f64|bf16|i8|[bf][fp]8\.[bf][fp]8)(?:\.1k)?")

_SPARSE = ("f32.16x16x32", "f32.32x32x16", "f32.16x16x64", "f32.32x32x32")
_SMFMAC = [f"{sizes}.{of}" for sizes in _SPARSE for of in ("f16", "bf16")]
_SMFMAC += [f"i32.{sizes}.i8" for sizes in ("16x16x64", "32x32x32", "16x16x128", "32x32x64")]
_SMFMAC += [
    f"f32.{sizes}.{a}8.{b}8"
    for sizes in ("16x16x64", "32x32x32", "16x16x128", "32x32x64")
    for a in ("fp", "bf")
    for b in ("fp", "bf")
]
_EIGHTS = [f"{a}8_{b}8" for a in ("fp", "bf") for b in ("fp", "bf")]
_WMMA = [f"{to}.16x16x16.{of}" for to, of in (("f32", "f16"), ("f32", "bf16"), ("f16", "f16"), ("bf16", "bf16"))]
_WMMA += [f"{to}.16x16x32.{of}" for to, of in (("f32", "f16"), ("f32", "bf16"), ("f16", "f16"), ("bf16", "bf16"))]
_WMMA += ["bf16f32.16x16x32.bf16", "f32.16x16x4.f32", "i32.16x16x16.iu8", "i32.16x16x64.iu8"]
_WMMA += ["i32.16x16x16.iu4", "i32.16x16x32.iu4"]
_WMMA += [f"f32.16x16x16.{of}" for of in _EIGHTS]
_WMMA += [f"{to}.16x16x{k}.{of}" for to in ("f32", "f16") for k in (64, 128) for of in _EIGHTS]


def _elements(name: str, architecture: str) -> str:
    """MLIR's name of a type. CDNA3 has other 8-bit floats."""
    eights = ("f8E4M3FNUZ", "f8E5M2FNUZ") if architecture == "CDNA3" else ("f8E4M3FN", "f8E5M2")
    return {"fp8": eights[0], "bf8": eights[1], "iu8": "i8", "iu4": "i4"}.get(name, name)


@operation(*(f"rocdl.mfma.{name}" for name in _MFMA_NAMES.split()))
def _mfma(op: Any, tr: ThreadTranslator) -> Step:
    found = _MFMA_NAME.fullmatch(op.name.removeprefix("rocdl.mfma."))
    if found is None or len(op.operands) != 6:
        raise Unsupported(f"an MFMA of this name with {len(op.operands)} operands is not simulated; use amdgpu.mfma")
    total, m, k, of = found[1], int(found[2]), int(found[3]), found[4].split(".")
    architecture = tr.target.architecture
    names = [_elements(of[0], architecture), _elements(of[-1], architecture), total]
    operands = [operand_of(tr, value, name) for value, name in zip(op.operands, names, strict=False)]
    size, chosen, pattern = (constant_of(value) for value in list(op.operands)[3:])
    signs = (1, 1, 1)
    if total == "f64" and architecture != "CDNA2":
        # The field negates operands there.
        a, b, c = (-1 if pattern >> i & 1 else 1 for i in range(3))
        signs, pattern = (a, b, c), 0
    blocks = operands[2].count * 64 // (m * m)
    return mfma(op, tr, operands, (m, k, blocks), Broadcast(size, chosen, pattern, signs))


@operation(*(f"rocdl.smfmac.{name}" for name in _SMFMAC))
def _smfmac(op: Any, tr: ThreadTranslator) -> Step:
    total, sizes, *of = op.name.removeprefix("rocdl.smfmac.").split(".")
    m, _, k = (int(size) for size in sizes.split("x"))
    names = [_elements(of[0], tr.target.architecture), _elements(of[-1], tr.target.architecture), total]
    operands = [operand_of(tr, value, name) for value, name in zip(op.operands, names, strict=False)]
    size, chosen = (constant_of(value) for value in list(op.operands)[4:])
    return sparse_mfma(op, tr, operands, (m, k), chosen if size == 0 else 0)


@operation(*(f"rocdl.wmma.{name}" for name in _WMMA))
def _wmma(op: Any, tr: ThreadTranslator) -> Step:
    total, sizes, of = op.name.removeprefix("rocdl.wmma.").split(".")
    names = [_elements(name, tr.target.architecture) for name in (of.split("_")[0], of.split("_")[-1])]
    # Where two are named, the second is that of C.
    to, of_c = ("bf16", "f32") if total == "bf16f32" else (total, total)
    operands = [operand_of(tr, value, name) for value, name in zip(op.operands, [*names, of_c], strict=True)]
    flags = attribute(op, "signA", False), attribute(op, "signB", False)
    is_integer = of in ("iu8", "iu4")
    how = Modifiers(
        upper=int(attribute(op, "opsel", False)),
        clamp=bool(attribute(op, "clamp", False)),
        unsigned=(not flags[0], not flags[1]) if is_integer else (False, False),
        signs=(1, 1) if is_integer else (-1 if flags[0] else 1, -1 if flags[1] else 1),
        of_c=attribute(op, "modC", 0),
    )
    return wmma(op, tr, operands, int(sizes.rpartition("x")[2]), how, NAMED[to])
