# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvgpu.warpgroup`: the `wgmma` instructions that `convert-nvgpu-to-nvvm` produces."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..... import ir
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import dtype_of
from ...execution.memory import View
from ...execution.wgmma import ROWS, Form
from .nvgpu import memory_of, word_of
from .wgmma import commit, fence, product, wait

_KINDS = {"f16": "f16", "bf16": "bf16", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "i8": "s8"}
_SUMS = {"f32": "f32", "i32": "s32"}
_LINES = {"none": (0, 16), "swizzle_32b": (3, 32), "swizzle_64b": (2, 64), "swizzle_128b": (1, 128)}
"""For each swizzle its code in a descriptor, and the bytes of a line."""


def _accumulator(ty: Any) -> tuple[int, int, Any]:
    """Rows, columns and the element type of an accumulator."""
    fragmented = ir.VectorType(ir.Type.parse(str(ty).partition("fragmented = ")[2].removesuffix(">"), ty.context))
    rows, columns = fragmented.shape
    if str(fragmented.element_type) not in _SUMS:
        raise Unsupported(f"the accumulator has elements of {fragmented.element_type}; they must be f32 or i32")
    return rows, columns, fragmented.element_type


@operation("nvgpu.warpgroup.generate.descriptor")
def _descriptor(op: Any, tr: ThreadTranslator) -> Step:
    (source, _), (result,) = tr.operands(op), tr.results(op)
    swizzle, line = _LINES[word_of(op.operands[1].type, "swizzle")]
    rows = memory_of(op.operands[1].type).shape[0]
    stride, leading = line * 8 >> 4, rows * (line if swizzle else 1) >> 4
    stride = stride if swizzle else 8 >> 4
    bits = swizzle << 62 | stride << 32 | leading << 16
    bits -= (bits >> 63) << 64
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        view: View = st.v[source]
        st.v[result] = (view.offset >> 4 & 0x3FFF) | bits

    return step


@operation("nvgpu.warpgroup.mma.init.accumulator")
def _zeros(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    rows, columns, element = _accumulator(op.results[0].type)
    dtype = dtype_of(element)
    assert dtype is not None
    count = rows // ROWS * columns // 2

    def step(st: Any) -> None:
        st.v[result] = (np.zeros(st.lanes, dtype),) * count

    return step


@operation("nvgpu.warpgroup.mma")
def _multiply(op: Any, tr: ThreadTranslator) -> Step:
    first, second, before = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    a, b = (memory_of(value.type) for value in list(op.operands)[:2])
    rows, columns, element = _accumulator(op.results[0].type)
    kinds = [_KINDS.get(str(ty.element_type)) for ty in (a, b)]
    if kinds[0] is None or kinds[1] is None:
        raise Unsupported(
            f"operands A and B have elements of {a.element_type} and {b.element_type}; supported elements: {', '.join(_KINDS)}"
        )
    width = a.element_type.width // 8
    depth = 32 // width
    transposed = ("transposeA" in op.attributes, "transposeB" in op.attributes)
    form = Form(columns, depth, _SUMS[str(element)], kinds[0], kinds[1], transposed=transposed)
    count = form.registers
    left, right, sums = tr.temporary(), tr.temporary(), tr.temporary()
    steps = []
    for tile in range(rows // ROWS):
        for k in range(a.shape[1] // depth):
            by_a = (depth * k + a.shape[1] * a.shape[1] * tile) * width >> 4
            by_b = b.shape[0] * depth * k * width >> 4
            # Each is an instruction of its own.
            one = dataclasses.replace(site, number=-2 - len(steps))
            started = product(form, lambda st: st.v[sums], element, [left], right, ((), ()), tr, one)
            steps.append((tile if k == 0 else None, by_a, by_b, started))
    fenced, committed = fence(tr, site), commit(tr, site)
    waited = wait(attribute(op, "waitGroup", 1), tr, site)

    def step(st: Any) -> None:
        v = st.v
        fenced(st)
        found: list[Any] = []
        for tile, by_a, by_b, started in steps:
            v[left], v[right] = v[first] + by_a, v[second] + by_b
            if tile is not None:
                v[sums] = v[before][tile * count : (tile + 1) * count]
                found.append(None)
            v[sums] = found[-1] = started(st)
        v[left] = v[right] = v[sums] = None
        committed(st)
        waited(st)
        v[result] = tuple(register for registers in found for register in registers)

    return step


@operation("nvgpu.warpgroup.mma.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    (value, target), site = tr.operands(op), tr.site(op)
    rows, columns, element = _accumulator(op.operands[0].type)
    if rows > ROWS and columns != 2 * ROWS:
        raise Unsupported(
            f"MLIR's lowering does not store an accumulator of {rows} x {columns} elements row by row; use {ROWS} rows, or "
            f"{2 * ROWS} columns"
        )
    dtype = dtype_of(element)
    tr.uses(op.operands[1].type)

    def step(st: Any) -> None:
        view: View = st.v[target]
        thread = st.threads % st.block.names["block_dim"][0]
        lane = thread % 32
        for index in range(0, len(st.v[value]), 2):
            tile, register = divmod(index, columns // 2)
            row = thread // 32 * 16 + lane // 4 + register // 2 % 2 * 8 + tile * ROWS
            column = lane % 4 * 2 + register // 4 * 8
            pair = np.stack([np.broadcast_to(part, st.lanes) for part in st.v[value][index : index + 2]], -1)
            st.store(view, [row, column], pair.astype(dtype), (2,), site)

    return step
