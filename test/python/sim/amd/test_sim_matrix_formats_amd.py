# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse and scaled MMAs of AMD chips: against float64 and the emulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import sim
from test_sim_matrices_amd import NUMBERS, SMALL, check, exact, given, kernel, packed, place, result_positions

# ---------------------------------------------------------------------------------------------------------------------
# Two of each four elements
# ---------------------------------------------------------------------------------------------------------------------

NARROW = [(chip, 16, 32, e) for chip in ("gfx942", "gfx950") for e in ("f16", "bf16")]
NARROW += [(chip, 32, 16, e) for chip in ("gfx942", "gfx950") for e in ("f16", "bf16")]
BYTES = [("gfx942", "i8"), ("gfx942", "f8E4M3FNUZ"), ("gfx942", "f8E5M2FNUZ"), ("gfx950", "i8"), ("gfx950", "f8E4M3FN")]
WIDE = [("gfx950", m, k, e) for m, k in ((16, 64), (32, 32)) for e in ("f16", "bf16")]
WIDE += [("gfx950", m, k, e) for m, k in ((16, 128), (32, 64)) for e in ("i8", "f8E4M3FN", "f8E5M2")]
SPARSE = NARROW + [(chip, m, k, e) for m, k in ((16, 64), (32, 32)) for chip, e in BYTES] + WIDE
NUMBERS = NUMBERS | {"f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz}


def sparse_operands(m: int, k: int, a: np.ndarray, b: np.ndarray, chosen: int, rng: Any) -> tuple[Any, ...]:
    """A with zeros in half of its elements, and the fragments of A and of B."""
    size = a.itemsize
    count = m * k // 128
    dense = np.zeros_like(a)
    mine, theirs = np.zeros((64, count), a.dtype), np.zeros((64, 2 * count), b.dtype)
    words = rng.integers(0, 1 << 32, 64, np.uint64)
    for lane in range(64):
        row, group = lane % m, lane // m
        word = 0
        for pair in range(count // 2):
            first = 4 * (group * count // 2 + pair)
            positions = sorted(rng.choice(4, 2, replace=False))
            for i, at in enumerate(positions):
                dense[row, first + at] = mine[lane, 2 * pair + i] = a[row, first + at]
                word |= int(at) << (4 * pair + 2 * i)
        keep = ((1 << 2 * count) - 1) << (2 * count * chosen)
        words[lane] = int(words[lane]) & ~keep | word << (2 * count * chosen)
        # 16 bytes of B at a time, from each half of the row if it has more.
        chunk = 16 // size
        halves = [b[row, half * k // 2 + group * chunk :][:chunk] for half in range(2)]
        theirs[lane] = np.concatenate(halves) if 2 * count > chunk else b[row, group * chunk :][:chunk]
    return dense, mine, theirs, words.astype(np.uint32)


def sparse_program(m: int, k: int, element: str, total: str, chosen: int, cbsz: int = 0) -> str:
    count, results = m * k // 128, m * m // 64
    index = "vector<2xi16>" if element[-2:] == "i8" or "f8" in element else "vector<4xi8>"
    lines = [
        f"%av = vector.load %a[%t, %c0] : memref<64x{count}x{element}>, vector<{count}x{element}>",
        f"%bv = vector.load %b[%t, %c0] : memref<64x{2 * count}x{element}>, vector<{2 * count}x{element}>",
        f"%cv = vector.load %c[%t, %c0] : memref<64x{results}x{total}>, vector<{results}x{total}>",
        "%w = vector.load %i[%t] : memref<64xi32>, vector<1xi32>",
        f"%at = vector.bitcast %w : vector<1xi32> to {index}",
        f"%d = amdgpu.sparse_mfma {m}x{m}x{k} %av * %bv + %cv sparse(%at : {index}) "
        f"{{cbsz = {cbsz} : i32, abid = {chosen} : i32}} "
        f": vector<{count}x{element}>, vector<{2 * count}x{element}>, vector<{results}x{total}>",
        f"vector.store %d, %o[%t, %c0] : memref<64x{results}x{total}>, vector<{results}x{total}>",
    ]
    arguments = f"%a: memref<64x{count}x{element}>, %b: memref<64x{2 * count}x{element}>, %i: memref<64xi32>, "
    return kernel(arguments + ", ".join(f"%{name}: memref<64x{results}x{total}>" for name in "co"), lines, 64)


@pytest.mark.parametrize(("chip", "m", "k", "element"), SPARSE)
def test_sparse_mmas(chip: str, m: int, k: int, element: str) -> None:
    rng = np.random.default_rng(m + k)
    a, b = (
        (given(element, (m, k), s) if element in ("i8",) else rng.standard_normal((m, k)).astype(NUMBERS[element]))
        for s in (1, 2)
    )
    total = "i32" if element == "i8" else "f32"
    chosen = {(4, 2): 2, (8, 1): 1}.get((m * k // 128, a.itemsize), 0)
    dense, mine, theirs, words = sparse_operands(m, k, a, b, chosen, rng)
    results = result_positions(chip, "mfma", m, 1, False)
    c = given(total, (1, m, m), 3)
    start = place(c, results)
    text, outs = sparse_program(m, k, element, total, chosen), [np.zeros_like(start) for _ in range(2)]
    sim.simulate(text, f"sim:{chip}")(mine, theirs, words.view(np.int32), start, outs[0])
    x, y = exact(element, dense), exact(element, b)
    check(
        outs[0], place((x @ y.T)[None] + c, results), place((abs(x) @ abs(y).T)[None] + abs(c.astype(float)), results)
    )
    # MLIR 22 makes no module of bf16 on gfx950.
    if (chip, m, k, element) in NARROW and (chip, element) != ("gfx950", "bf16"):
        smalti.compile(text, target=f"emu:{chip}")(mine, theirs, words.view(np.int32), start, outs[1])
        assert outs[0].tobytes() == outs[1].tobytes()


def test_indices_that_are_not_increasing() -> None:
    text = sparse_program(16, 32, "f16", "f32", 1, cbsz=1)
    arrays = [np.zeros((64, n), t) for n, t in ((4, np.float16), (8, np.float16))]
    arrays += [np.full(64, 0x4444EE44, np.uint32).view(np.int32)]
    arrays += [np.zeros((64, 4), np.float32) for _ in range(2)]
    made = sim.simulate(text, "sim:gfx942")
    # With `cbsz`, the first set of indices is used for every `abid`.
    assert made.find(*arrays) == ()
    arrays[2][5] = 0x44
    arrays[2][7] = 0x11
    (finding,) = made.find(*arrays)
    assert finding.kind == "assertion" and finding.agent == "wave 0, lane 7"
    with pytest.raises(smalti.CompileError, match="abid selects set 1 of the sparsity indices"):
        sim.simulate(sparse_program(16, 128, "i8", "i32", 1), "sim:gfx950")


# ---------------------------------------------------------------------------------------------------------------------
# Scales
# ---------------------------------------------------------------------------------------------------------------------

WMMA = [(16, e, f, "f8E8M0FNU", 32) for e, f in (("f8E4M3FN",) * 2, ("f8E5M2", "f6E2M3FN"), ("f6E3M2FN", "f4E2M1FN"))]
WMMA += [(16, "f8E5M2", "f8E4M3FN", "f8E8M0FNU", 16), (16, "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 32)]
WMMA += [(32, "f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32), (32, "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)]


@pytest.mark.parametrize(("m", "of_a", "of_b", "scale", "block"), WMMA)
@pytest.mark.parametrize("first", [0, 16])
def test_scaled_mfma_and_wmma(m: int, of_a: str, of_b: str, scale: str, block: int, first: int) -> None:
    rng = np.random.default_rng(m + block + first)
    firsts = (0 if m == 32 else 16 - first, first)
    k, many = 128, 128 // block
    arrays, sides, lines, arguments, types = [], [], [], [], []
    for side, element, rows, begin in zip("ab", (of_a, of_b), (m, 16), firsts, strict=True):
        dtype, bits = SMALL[element]
        values = rng.standard_normal((rows, k)).astype(dtype)
        # Lane l has every second chunk of row l % 16.
        chunk = 16 if bits == 8 else 32
        codes = values.view(np.uint8).reshape(rows // 16, 16, k // chunk // 2, 2, chunk)
        mine = codes.transpose(3, 1, 0, 2, 4).reshape(32, -1)
        by = rng.integers(120, 134, (rows, many)).astype(np.uint8)
        if scale == "f8E4M3FN":
            by = np.abs(rng.standard_normal((rows, many))).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
        known = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu}[scale]
        scales = np.full((32, many), 7, np.uint8)
        scales[begin : begin + rows] = by
        arrays += [packed(mine, bits), scales.view(known)]
        sides.append(values.astype(np.float64) * np.repeat(by.view(known).astype(np.float64), block, 1))
        count = rows * 4 * bits // 8
        arguments += [f"%{side}: memref<32x{count}xi8>", f"%s{side}: memref<32x{many}x{scale}>"]
        types += [f"vector<{many}x{scale}>", f"vector<{rows * 4}x{element}>"]
        lines += [
            f"%{side}w = vector.load %{side}[%t, %c0] : memref<32x{count}xi8>, vector<{count}xi8>",
            f"%{side}v = vector.bitcast %{side}w : vector<{count}xi8> to vector<{rows * 4}x{element}>",
            f"%{side}s = vector.load %s{side}[%t, %c0] : memref<32x{many}x{scale}>, vector<{many}x{scale}>",
        ]
    count = m // 2
    lines += [
        f"%cv = vector.load %c[%t, %c0] : memref<32x{count}xf32>, vector<{count}xf32>",
        f"%d = amdgpu.scaled_wmma {m}x16x128 (%as * %av) * (%bs * %bv) + %cv "
        f"{{a_first_scale_lane = {firsts[0]} : i32, b_first_scale_lane = {firsts[1]} : i32}} "
        f": {', '.join(types)}, vector<{count}xf32>",
        f"vector.store %d, %o[%t, %c0] : memref<32x{count}xf32>, vector<{count}xf32>",
    ]
    arguments += [f"%{name}: memref<32x{count}xf32>" for name in "co"]
    # Lane l has eight rows of column l % 16, of each 16.
    results = [
        [(0, 16 * part + 8 * (lane // 16) + e, lane % 16) for part in range(m // 16) for e in range(8)]
        for lane in range(32)
    ]
    c = rng.standard_normal((1, m, 16)).astype(np.float32)
    start, text = place(c, results), kernel(", ".join(arguments), lines, 32)
    outs = [np.zeros_like(start) for _ in range(2)]
    sim.simulate(text, "sim:gfx1250")(*arrays, start, outs[0])
    with pytest.raises(smalti.CompileError, match="gfx1201 does not have scaled WMMA"):
        sim.simulate(text, "sim:gfx1201")
    x, y = sides
    check(outs[0], place((x @ y.T)[None] + c, results), place((abs(x) @ abs(y).T)[None] + abs(c), results))
    if first == 0:
        smalti.compile(text, target="emu:gfx1250")(*arrays, start, outs[1])
        assert outs[0].tobytes() == outs[1].tobytes()
