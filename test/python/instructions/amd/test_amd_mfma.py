# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MFMA: each against float64 or integers, in the layouts that AMD's matrix instruction calculator prints."""

from __future__ import annotations

from typing import Any

import amd
import ml_dtypes
import numpy as np
import pytest
from helpers import FNUZ, OCP, Array, pack

LANES = 64

F16, BF16 = np.float16, ml_dtypes.bfloat16


def factor_table(m: int, k: int, blocks: int) -> Array:
    """For each lane and element of A, or of B transposed: block, row, column."""
    per_lane = m * k * blocks // LANES
    table = np.zeros((LANES, per_lane, 3), int)
    for block in range(blocks):
        for row in range(m):
            for column in range(k):
                lane = row + m * (block + blocks * (column // per_lane))
                table[lane, column % per_lane] = block, row, column
    return table


def result_table(m: int, blocks: int, is_f64: bool) -> Array:
    """For each lane and element of C and D: block, row, column. By the calculator's equations of each shape."""
    table = np.zeros((LANES, m * m * blocks // LANES, 3), int)
    for block in range(blocks):
        for i in range(m):
            for j in range(m):
                if is_f64:
                    register = i // 4 if blocks == 1 else 0
                    lane = 16 * (i % 4) + (4 * block if blocks > 1 else 0) + j
                elif m == 4:
                    register, lane = i, 4 * block + j
                elif m == 16:
                    register, lane = 4 * block + i % 4, 16 * (i // 4) + j
                else:
                    register, lane = 16 * block + 4 * (i // 8) + i % 4, (32 * (i // 4)) % 64 + j
                table[lane, register] = block, i, j
    return table


def scatter(matrices: Array, table: Array) -> Array:
    return matrices[table[..., 0], table[..., 1], table[..., 2]]


def gather(lanes: Array, table: Array, shape: tuple[int, int, int]) -> Array:
    matrices = np.full(shape, np.nan) if lanes.dtype.kind != "i" else np.zeros(shape, np.int64)
    matrices[table[..., 0], table[..., 1], table[..., 2]] = lanes
    return matrices


TYPES = {"f32": "float", "f64": "double", "i32": "i32"}
NUMPY: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "i32": np.int32}

# Name, m, k, blocks, type of the operands in LLVM, its elements' type, type of the result, chip.
MFMAS: list[tuple[str, int, int, int, str, Any, str, str]] = [
    ("mfma.f32.32x32x1f32", 32, 1, 2, "float", np.float32, "f32", "gfx90a"),
    ("mfma.f32.16x16x1f32", 16, 1, 4, "float", np.float32, "f32", "gfx90a"),
    ("mfma.f32.4x4x1f32", 4, 1, 16, "float", np.float32, "f32", "gfx90a"),
    ("mfma.f32.32x32x2f32", 32, 2, 1, "float", np.float32, "f32", "gfx90a"),
    ("mfma.f32.16x16x4f32", 16, 4, 1, "float", np.float32, "f32", "gfx942"),
    ("mfma.f32.32x32x4f16", 32, 4, 2, "<4 x half>", F16, "f32", "gfx90a"),
    ("mfma.f32.16x16x4f16", 16, 4, 4, "<4 x half>", F16, "f32", "gfx942"),
    ("mfma.f32.4x4x4f16", 4, 4, 16, "<4 x half>", F16, "f32", "gfx90a"),
    ("mfma.f32.32x32x8f16", 32, 8, 1, "<4 x half>", F16, "f32", "gfx942"),
    ("mfma.f32.16x16x16f16", 16, 16, 1, "<4 x half>", F16, "f32", "gfx90a"),
    ("mfma.i32.32x32x4i8", 32, 4, 2, "i32", np.int8, "i32", "gfx90a"),
    ("mfma.i32.16x16x4i8", 16, 4, 4, "i32", np.int8, "i32", "gfx90a"),
    ("mfma.i32.4x4x4i8", 4, 4, 16, "i32", np.int8, "i32", "gfx90a"),
    ("mfma.i32.32x32x8i8", 32, 8, 1, "i32", np.int8, "i32", "gfx90a"),
    ("mfma.i32.16x16x16i8", 16, 16, 1, "i32", np.int8, "i32", "gfx90a"),
    ("mfma.f32.32x32x2bf16", 32, 2, 2, "<2 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.16x16x2bf16", 16, 2, 4, "<2 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.4x4x2bf16", 4, 2, 16, "<2 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.32x32x4bf16", 32, 4, 1, "<2 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.16x16x8bf16", 16, 8, 1, "<2 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.32x32x4bf16.1k", 32, 4, 2, "<4 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.16x16x4bf16.1k", 16, 4, 4, "<4 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.4x4x4bf16.1k", 4, 4, 16, "<4 x i16>", BF16, "f32", "gfx942"),
    ("mfma.f32.32x32x8bf16.1k", 32, 8, 1, "<4 x i16>", BF16, "f32", "gfx90a"),
    ("mfma.f32.16x16x16bf16.1k", 16, 16, 1, "<4 x i16>", BF16, "f32", "gfx942"),
    ("mfma.f64.16x16x4f64", 16, 4, 1, "double", np.float64, "f64", "gfx90a"),
    ("mfma.f64.4x4x4f64", 4, 4, 4, "double", np.float64, "f64", "gfx942"),
    ("mfma.i32.16x16x32.i8", 16, 32, 1, "i64", np.int8, "i32", "gfx942"),
    ("mfma.i32.32x32x16.i8", 32, 16, 1, "i64", np.int8, "i32", "gfx942"),
    ("mfma.f32.16x16x8.xf32", 16, 8, 1, "<2 x float>", np.float32, "f32", "gfx942"),
    ("mfma.f32.32x32x4.xf32", 32, 4, 1, "<2 x float>", np.float32, "f32", "gfx942"),
    ("mfma.f32.16x16x32.f16", 16, 32, 1, "<8 x half>", F16, "f32", "gfx950"),
    ("mfma.f32.32x32x16.f16", 32, 16, 1, "<8 x half>", F16, "f32", "gfx950"),
    ("mfma.f32.16x16x32.bf16", 16, 32, 1, "<8 x bfloat>", BF16, "f32", "gfx950"),
    ("mfma.f32.32x32x16.bf16", 32, 16, 1, "<8 x bfloat>", BF16, "f32", "gfx950"),
    ("mfma.i32.16x16x64.i8", 16, 64, 1, "<4 x i32>", np.int8, "i32", "gfx950"),
    ("mfma.i32.32x32x32.i8", 32, 32, 1, "<4 x i32>", np.int8, "i32", "gfx950"),
]
EIGHT_BIT_NAMES = [
    "mfma.f32.16x16x32.fp8.fp8",
    "mfma.f32.16x16x32.fp8.bf8",
    "mfma.f32.16x16x32.bf8.fp8",
    "mfma.f32.16x16x32.bf8.bf8",
    "mfma.f32.32x32x16.fp8.fp8",
    "mfma.f32.32x32x16.fp8.bf8",
    "mfma.f32.32x32x16.bf8.fp8",
    "mfma.f32.32x32x16.bf8.bf8",
]


def run(
    name: str,
    chip: str,
    ty: str,
    a: Array,
    b: Array,
    c: Array,
    result: str,
    modifiers: tuple[int, int, int] = (0, 0, 0),
) -> Array:
    """D, for the blocks' matrices; B is transposed."""
    blocks, m, k = a.shape
    factors, results = factor_table(m, k, blocks), result_table(m, blocks, result == "f64")
    count = results.shape[1]
    full = TYPES[result] if count == 1 else f"<{count} x {TYPES[result]}>"
    lanes = amd.call(
        chip,
        f"llvm.amdgcn.{name}",
        full,
        (ty, scatter(a, factors)),
        (ty, scatter(b, factors)),
        (full, scatter(c, results)),
        *[("i32", m) for m in modifiers],
        dtype=NUMPY[result],
    )
    return gather(lanes, results, c.shape)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, exact: bool) -> Array:
    if np.dtype(dtype).kind == "i":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    if exact:
        return rng.integers(-4, 5, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def check(got: Array, a: Array, b: Array, c: Array, exact: bool) -> None:
    a, b, c = (x.astype(np.int64 if c.dtype.kind == "i" else np.float64) for x in (a, b, c))
    expected = np.einsum("bik,bjk->bij", a, b) + c
    if exact or got.dtype.kind == "i":
        np.testing.assert_array_equal(got, expected)
        return
    # Rounded once, to f32; the sum of f64 is rounded in each step.
    allowed = 2.0**-23 * np.abs(expected) + 1e-14 * (np.einsum("bik,bjk->bij", abs(a), abs(b)) + abs(c))
    assert (abs(got - expected) <= allowed).all()


@pytest.mark.grid(37)
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "random"])
@pytest.mark.parametrize("mfma", MFMAS, ids=lambda p: p[0])
def test_mfma(mfma: tuple[str, int, int, int, str, Any, str, str], exact: bool) -> None:
    name, m, k, blocks, ty, dtype, result, chip = mfma
    rng = np.random.default_rng(len(name) + k)
    a, b = (numbers(rng, (blocks, m, k), dtype, exact) for _ in range(2))
    c = (rng.standard_normal((blocks, m, m)) * 8).round(0 if exact or result == "i32" else 9).astype(NUMPY[result])
    got = run(name, chip, ty, a, b, c, result)
    if name.endswith("xf32"):
        # Bits below the 10 bits of mantissa are truncated.
        a, b = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b))
    check(got, a, b, c, exact)


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
@pytest.mark.parametrize("name", EIGHT_BIT_NAMES)
def test_mfma_of_8_bit_floats(name: str, chip: str) -> None:
    """CDNA3 has the types with one zero, CDNA4 those of the OCP."""
    m, k = (16, 32) if "16x16x32" in name else (32, 16)
    types = [(FNUZ if chip == "gfx942" else OCP)[ty] for ty in name.split(".")[-2:]]
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((1, m, k)).astype(ty) for ty in types)
    c = rng.standard_normal((1, m, m)).astype(np.float32)
    check(run(name, chip, "i64", a, b, c, "f32"), a, b, c, False)


@pytest.mark.parametrize("size, block", [(1, 0), (1, 1), (2, 3), (4, 9)])
def test_a_is_broadcast_to_blocks(size: int, block: int) -> None:
    rng = np.random.default_rng(1)
    a, b = (numbers(rng, (16, 4, 4), F16, True) for _ in range(2))
    c = np.zeros((16, 4, 4), np.float32)
    got = run("mfma.f32.4x4x4f16", "gfx942", "<4 x half>", a, b, c, "f32", (size, block, 0))
    group = 1 << size
    check(got, a[[i // group * group + block for i in range(16)]], b, c, True)


PATTERNS = {
    1: [*range(32)] * 2,
    2: [*range(32, 64)] * 2,
    3: [(lane + 16) % 64 for lane in range(64)],
    4: [*range(16)] * 4,
    5: [*range(16, 32)] * 4,
    6: [*range(32, 48)] * 4,
    7: [*range(48, 64)] * 4,
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_lanes_of_b_are_exchanged(pattern: int) -> None:
    rng = np.random.default_rng(2)
    a, b = (numbers(rng, (4, 16, 4), F16, True) for _ in range(2))
    c = np.zeros((4, 16, 16), np.float32)
    got = run("mfma.f32.16x16x4f16", "gfx942", "<4 x half>", a, b, c, "f32", (0, 0, pattern))
    table = factor_table(16, 4, 4)
    moved = gather(scatter(b, table)[PATTERNS[pattern]].astype(np.float64), table, (4, 16, 4))
    check(got, a, moved, c, True)


@pytest.mark.parametrize("signs", range(8))
def test_operands_of_f64_are_negated(signs: int) -> None:
    rng = np.random.default_rng(3)
    a, b = (numbers(rng, (1, 16, 4), np.float64, True) for _ in range(2))
    c = numbers(rng, (1, 16, 16), np.float64, True)
    got = run("mfma.f64.16x16x4f64", "gfx942", "double", a, b, c, "f64", (0, 0, signs))
    factor = [-1 if signs >> i & 1 else 1 for i in range(3)]
    check(got, factor[0] * a, factor[1] * b, factor[2] * c, True)


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942"])
@pytest.mark.parametrize("name, ty, dtype, tiny", [
    ("mfma.f32.16x16x16f16", "<4 x half>", F16, 2.0**-20),
    ("mfma.f32.16x16x16bf16.1k", "<4 x i16>", BF16, 2.0**-130),
])  # fmt: skip
def test_denormal_operands(name: str, ty: str, dtype: Any, tiny: float, chip: str) -> None:
    """CDNA2 takes them as 0."""
    a = np.full((1, 16, 16), tiny, dtype)
    b = np.full((1, 16, 16), 1024, dtype)
    c = np.ones((1, 16, 16), np.float32)
    got = run(name, chip, ty, a, b, c, "f32")
    expected = 1 if chip == "gfx90a" else np.float32(1 + 16 * tiny * 1024)
    np.testing.assert_array_equal(got, np.full((1, 16, 16), expected))


def test_infinities_and_nans() -> None:
    a, b = (np.ones((1, 16, 16), F16) for _ in range(2))
    a[0, 3, 4], a[0, 5, 6], b[0, 7, 8] = np.inf, np.nan, -np.inf
    c = np.zeros((1, 16, 16), np.float32)
    got = run("mfma.f32.16x16x16f16", "gfx942", "<4 x half>", a, b, c, "f32")
    expected = np.einsum("bik,bjk->bij", a.astype(float), b.astype(float))
    np.testing.assert_array_equal(got, expected)


# ---------------------------------------------------------------------------------------------------------------------
# Microscaling formats
# ---------------------------------------------------------------------------------------------------------------------

FORMATS: list[tuple[Any, int, str]] = [
    (ml_dtypes.float8_e4m3fn, 8, "<8 x i32>"),
    (ml_dtypes.float8_e5m2, 8, "<8 x i32>"),
    (ml_dtypes.float6_e2m3fn, 6, "<6 x i32>"),
    (ml_dtypes.float6_e3m2fn, 6, "<6 x i32>"),
    (ml_dtypes.float4_e2m1fn, 4, "<4 x i32>"),
]


@pytest.mark.grid(16)
@pytest.mark.parametrize("has_scales", [True, False], ids=["scales", "plain"])
@pytest.mark.parametrize("of_a, of_b", [(i, i) for i in range(5)] + [(0, 4), (3, 1), (4, 2)])
@pytest.mark.parametrize("name", ["mfma.scale.f32.16x16x128.f8f6f4", "mfma.scale.f32.32x32x64.f8f6f4"])
def test_mfma_of_scaled_formats(name: str, of_a: int, of_b: int, has_scales: bool) -> None:
    m, k = (16, 128) if "16x16x128" in name else (32, 64)
    rng = np.random.default_rng(5 * of_a + of_b)
    factors, operands, scaled = [], [], []
    for form in (of_a, of_b):
        dtype, bits, ty = FORMATS[form]
        values = rng.standard_normal((m, k)).astype(dtype)
        row, e = np.arange(64)[:, None] % m, np.arange(32)[None, :]
        group = np.arange(64)[:, None] // m
        # 4 bits: 32 elements that follow one another; else 16 of each half of the row.
        column = 32 * group + e if bits == 4 else k // 2 * (e // 16) + 16 * group + e % 16
        codes = values.view(np.uint8)[row, column]
        operands.append((ty, pack(codes, bits)))
        factors.append(values.astype(float))
        exponents = rng.integers(120, 134, (m, k // 32))
        scaled.append(np.repeat(2.0 ** (exponents - 127.0), 32, axis=1) if has_scales else 1.0)
        # A lane's scale is that of 32 elements of its row, at 32 times its group.
        words = np.full((64, 4), 7, np.uint8)
        words[:, 2] = exponents[np.arange(64) % m, np.arange(64) // m]
        operands.append(("i32", words) if has_scales else ("i32", 0))
    c = rng.standard_normal((1, m, m)).astype(np.float32)
    results = result_table(m, 1, False)
    full = f"<{m * m // 64} x float>"
    (ty_a, a), scale_a, (ty_b, b), scale_b = operands
    lanes = amd.call(
        "gfx950",
        amd.mangle(f"llvm.amdgcn.{name}", ty_a, ty_b),
        full,
        (ty_a, a),
        (ty_b, b),
        (full, scatter(c, results)),
        ("i32", of_a),
        ("i32", of_b),
        ("i32", 2 if has_scales else 0),
        scale_a,
        ("i32", 2 if has_scales else 0),
        scale_b,
        dtype=np.float32,
    )
    a, b = factors[0] * scaled[0], factors[1] * scaled[1]
    check(gather(lanes, results, (1, m, m)), a[None], b[None], c, False)


@pytest.mark.parametrize("broadcast, chosen, used", [(0, 0, 0), (0, 1, 1), (0, 2, 2), (0, 3, 3), (1, 2, 0)])
@pytest.mark.parametrize("dtype, elements", [(np.float16, "half"), (ml_dtypes.bfloat16, "i16")], ids=["f16", "bf16"])
@pytest.mark.parametrize("m, k", [(16, 32), (32, 16)])
def test_sparse_mfma(m: int, k: int, dtype: Any, elements: str, broadcast: int, chosen: int, used: int) -> None:
    """Two of each four elements of a row of A, which are named by two bits each."""
    rng = np.random.default_rng(m + chosen)
    b = rng.standard_normal((m, k)).astype(dtype)
    a = np.zeros((m, k), dtype)
    lanes_a, lanes_b = np.zeros((64, 4), dtype), np.zeros((64, 8), dtype)
    indices = rng.integers(0, 256, (64, 4)).astype(np.uint8)
    for lane in range(64):
        row, start = lane % m, 8 * (lane // m)
        lanes_b[lane] = b[row, start : start + 8]
        word = 0
        for group in range(2):
            pair = sorted(rng.choice(4, 2, replace=False))
            values = rng.standard_normal(2).astype(dtype)
            a[row, [start + 4 * group + p for p in pair]] = values
            lanes_a[lane, 2 * group : 2 * group + 2] = values
            word |= (int(pair[0]) | int(pair[1]) << 2) << 4 * group
        indices[lane, used] = word
    c = rng.standard_normal((1, m, m)).astype(np.float32)
    results = result_table(m, 1, False)
    full = f"<{m * m // 64} x float>"
    name = f"llvm.amdgcn.smfmac.f32.{m}x{m}x{k}.{'f16' if elements == 'half' else 'bf16'}"
    lanes = amd.call(
        "gfx942",
        name,
        full,
        (f"<4 x {elements}>", lanes_a),
        (f"<8 x {elements}>", lanes_b),
        (full, scatter(c, results)),
        ("i32", indices),
        ("i32", broadcast),
        ("i32", chosen),
        dtype=np.float32,
    )
    check(gather(lanes, results, (1, m, m)), a[None].astype(float), b[None].astype(float), c, False)
