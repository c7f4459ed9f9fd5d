# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mma.sync and mma.sp.sync: the fragments as the figures of the PTX ISA have them, the sums against float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import nvidia
import pytest
from mma_kernels import ACCUMULATORS, C_POSITIONS, CASES, check, drawn, gathered, group_of
from nvidia import Array

# mma.m8n8k4 with f16: four MMAs, each of eight lanes.
QUADS = {
    f"llvm.nvvm.mma.m8n8k4.{a}.{b}.{d}.{c}": (a, b, d, c)
    for a in ("row", "col")
    for b in ("row", "col")
    for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32"))
}

TESTED = [*CASES, *QUADS]


def _build(name: str, exact: bool) -> tuple[nvidia.Call, Array]:
    """The call, and what it must compute in float64."""
    operands, sums, expected = drawn(name, nvidia.seeded(f"{name}{exact}"), exact)
    return nvidia.call([ACCUMULATORS[CASES[name].accumulator][0]] * len(sums), *operands), expected


GROUPS = sorted({group_of(name) for name in CASES})


@pytest.mark.grid(20)
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "random"])
@pytest.mark.parametrize("group", GROUPS)
def test_mma(group: str, exact: bool) -> None:
    built = {name: _build(name, exact) for name in CASES if group_of(name) == group}
    found = nvidia.run({name: made for name, (made, _) in built.items()})
    for name, (_, expected) in built.items():
        mma = CASES[name]
        fields = [f.view(np.int32) if mma.accumulator == "s32" else f for f in found[name]]
        check(gathered(fields, C_POSITIONS[mma.m], mma.m), name, expected, exact)


def _quad_place(layout: str, is_a: bool, lane: int, i: int) -> tuple[int, int]:
    """PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"."""
    low = lane < 16
    if is_a:
        if layout == "row":
            return (lane % 4 if low else lane % 4 + 4, i)
        return (i % 4 if low else i % 4 + 4, lane % 4)
    if layout == "row":
        return (lane % 4, i if low else i + 4)
    return (i, lane % 4 if low else lane % 4 + 4)


def _quad_c_place(ty: str, lane: int, i: int) -> tuple[int, int]:
    low = lane < 16
    if ty == "f16":
        return (lane % 4 if low else lane % 4 + 4, i)
    x = (lane & 1) + (i & 2)
    return (x if low else x + 4, (i & 4) + (lane & 2) + (i & 1))


@pytest.mark.parametrize("name", QUADS)
def test_quad_mma(name: str) -> None:
    a_layout, b_layout, d_type, c_type = QUADS[name]
    random = nvidia.seeded(name)
    a = random.integers(-4, 5, (4, 8, 4)).astype(np.float16)
    b = random.integers(-4, 5, (4, 4, 8)).astype(np.float16)
    c = random.integers(-8, 9, (4, 8, 8)).astype(ACCUMULATORS[c_type][1])

    def lanes(matrix: Array, count: int, place: Callable[[int, int], tuple[int, int]]) -> list[Array]:
        # Computation j has the lanes 4 * j to + 3 and those 16 above.
        return [np.array([matrix[lane % 16 // 4][place(lane, i)] for lane in range(32)]) for i in range(count)]

    def paired(values: list[Array]) -> list[Array]:
        return [np.stack(pair, 1) for pair in zip(values[::2], values[1::2], strict=True)]

    in_a = paired(lanes(a, 4, lambda lane, i: _quad_place(a_layout, True, lane, i)))
    in_b = paired(lanes(b, 4, lambda lane, i: _quad_place(b_layout, False, lane, i)))
    in_c = lanes(c, 8, lambda lane, i: _quad_c_place(c_type, lane, i))
    if c_type == "f16":
        in_c = paired(in_c)
    operands = [("<2 x half>", v) for v in in_a + in_b] + [(ACCUMULATORS[c_type][0], v) for v in in_c]
    result_type = ACCUMULATORS[d_type][0]
    made = nvidia.call([result_type] * (4 if d_type == "f16" else 8), *operands)
    fields = nvidia.run({name: made})[name]
    flat = [column for f in fields for column in (f.T if f.ndim == 2 else [f])]
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    for lane in range(32):
        for i, values in enumerate(flat):
            assert values[lane] == expected[lane % 16 // 4][_quad_c_place(d_type, lane, i)], (lane, i)
