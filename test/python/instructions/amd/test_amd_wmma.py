# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""WMMA: each against float64 or integers, in the layouts of the guides of RDNA3, RDNA4 and CDNA5."""

from __future__ import annotations

from typing import Any

import amd
import ml_dtypes
import numpy as np
import pytest
from helpers import Array
from smalti import errors

F16, F32, BF16 = np.float16, np.float32, ml_dtypes.bfloat16
FP8, BF8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
CHIPS = {"rdna3": "gfx1100", "rdna4": "gfx1201", "gfx125": "gfx1250"}


def factor_columns(generation: str, k: int, bits: int) -> Array:
    """For each lane and element of A: the column. The row is the lane modulo 16; B is stored as its transpose."""
    lane = np.arange(32)[:, None]
    if generation == "rdna3":
        # Both halves of the wave have all of the row.
        return np.arange(k)[None, :] + 0 * lane
    if generation == "rdna4":
        e = np.arange(k // 2)[None, :]
        return k // 2 * (lane // 16) + e
    # "16-bit A-Matrix 16x32", "8-bit A-Matrix 16x64": 8 elements in a half of the wave, 8 in the other; of f32 two.
    chunk = 2 if bits == 32 else 8
    table = np.zeros((32, k // 2), int)
    for column in range(k):
        half, slot = column // chunk % 2, column % chunk + chunk * (column // (2 * chunk))
        table[16 * half : 16 * half + 16, slot] = column
    return table


def result_rows(generation: str) -> Array:
    """For each lane and element of C and D: the row. The column is the lane modulo 16."""
    lane, e = np.arange(32)[:, None], np.arange(8)[None, :]
    return 2 * e + lane // 16 if generation == "rdna3" else 8 * (lane // 16) + e


ROWS = np.arange(32)[:, None] % 16


def lanes_of(matrix: Array, columns: Array) -> Array:
    return matrix[ROWS, columns]


def matrix_of(lanes: Array, generation: str) -> Array:
    matrix = np.zeros((16, 16), lanes.dtype)
    matrix[result_rows(generation), ROWS] = lanes
    return matrix


def floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, exact: bool) -> Array:
    return rng.integers(-3, 4, shape).astype(dtype) if exact else rng.standard_normal(shape).astype(dtype)


def check(got: Array, a: Array, b: Array, c: Array) -> None:
    """Rounded once to the type of the result."""
    a, b, c = (x.astype(np.float64) for x in (a, b, c))
    exact = a @ b.T + c
    expected = exact.astype(np.float32).astype(got.dtype) if got.dtype == BF16 else exact.astype(got.dtype)
    got64, expected64 = got.astype(float), expected.astype(float)
    # The reference's sum may round to the other neighbor.
    ulp = {2: 2.0**-7 if got.dtype == BF16 else 2.0**-10, 4: 2.0**-23}[got.itemsize]
    near = abs(got64 - exact) <= ulp / 2 * np.maximum(abs(expected64), 2.0**-14) * 1.001 + 1e-13 * (abs(a) @ abs(b).T)
    assert ((got64 == expected64) | near).all()


# Name, generation, k, types of A and B, type of the result, LLVM's type of the operands.
FLOATS: list[tuple[str, str, int, Any, Any, Any, str]] = [
    ("wmma.f32.16x16x16.f16", "rdna3", 16, F16, F16, F32, "<16 x half>"),
    ("wmma.f32.16x16x16.bf16", "rdna3", 16, BF16, BF16, F32, "<16 x i16>"),
    ("wmma.f32.16x16x16.f16", "rdna4", 16, F16, F16, F32, "<8 x half>"),
    ("wmma.f32.16x16x16.bf16", "rdna4", 16, BF16, BF16, F32, "<8 x i16>"),
    ("wmma.f32.16x16x16.fp8.fp8", "rdna4", 16, FP8, FP8, F32, "<2 x i32>"),
    ("wmma.f32.16x16x16.fp8.bf8", "rdna4", 16, FP8, BF8, F32, "<2 x i32>"),
    ("wmma.f32.16x16x16.bf8.fp8", "rdna4", 16, BF8, FP8, F32, "<2 x i32>"),
    ("wmma.f32.16x16x16.bf8.bf8", "rdna4", 16, BF8, BF8, F32, "<2 x i32>"),
    ("wmma.f16.16x16x16.f16", "rdna4", 16, F16, F16, F16, "<8 x half>"),
    ("wmma.bf16.16x16x16.bf16", "rdna4", 16, BF16, BF16, BF16, "<8 x i16>"),
    ("wmma.f32.16x16x4.f32", "gfx125", 4, F32, F32, F32, "<2 x float>"),
    ("wmma.f32.16x16x32.f16", "gfx125", 32, F16, F16, F32, "<16 x half>"),
    ("wmma.f32.16x16x32.bf16", "gfx125", 32, BF16, BF16, F32, "<16 x bfloat>"),
    ("wmma.f16.16x16x32.f16", "gfx125", 32, F16, F16, F16, "<16 x half>"),
    ("wmma.bf16.16x16x32.bf16", "gfx125", 32, BF16, BF16, BF16, "<16 x bfloat>"),
    ("wmma.bf16f32.16x16x32.bf16", "gfx125", 32, BF16, BF16, BF16, "<16 x bfloat>"),
    ("wmma.f32.16x16x64.fp8.fp8", "gfx125", 64, FP8, FP8, F32, "<8 x i32>"),
    ("wmma.f32.16x16x64.fp8.bf8", "gfx125", 64, FP8, BF8, F32, "<8 x i32>"),
    ("wmma.f32.16x16x64.bf8.fp8", "gfx125", 64, BF8, FP8, F32, "<8 x i32>"),
    ("wmma.f32.16x16x64.bf8.bf8", "gfx125", 64, BF8, BF8, F32, "<8 x i32>"),
    ("wmma.f16.16x16x64.fp8.fp8", "gfx125", 64, FP8, FP8, F16, "<8 x i32>"),
    ("wmma.f16.16x16x64.fp8.bf8", "gfx125", 64, FP8, BF8, F16, "<8 x i32>"),
    ("wmma.f16.16x16x64.bf8.fp8", "gfx125", 64, BF8, FP8, F16, "<8 x i32>"),
    ("wmma.f16.16x16x64.bf8.bf8", "gfx125", 64, BF8, BF8, F16, "<8 x i32>"),
    ("wmma.f32.16x16x128.fp8.fp8", "gfx125", 128, FP8, FP8, F32, "<16 x i32>"),
    ("wmma.f32.16x16x128.fp8.bf8", "gfx125", 128, FP8, BF8, F32, "<16 x i32>"),
    ("wmma.f32.16x16x128.bf8.fp8", "gfx125", 128, BF8, FP8, F32, "<16 x i32>"),
    ("wmma.f32.16x16x128.bf8.bf8", "gfx125", 128, BF8, BF8, F32, "<16 x i32>"),
    ("wmma.f16.16x16x128.fp8.fp8", "gfx125", 128, FP8, FP8, F16, "<16 x i32>"),
    ("wmma.f16.16x16x128.fp8.bf8", "gfx125", 128, FP8, BF8, F16, "<16 x i32>"),
    ("wmma.f16.16x16x128.bf8.fp8", "gfx125", 128, BF8, FP8, F16, "<16 x i32>"),
    ("wmma.f16.16x16x128.bf8.bf8", "gfx125", 128, BF8, BF8, F16, "<16 x i32>"),
]


def result_type(dtype: Any, generation: str) -> str:
    if dtype is BF16:
        return "<8 x bfloat>" if generation == "gfx125" else "<8 x i16>"
    return {F32: "<8 x float>", F16: "<8 x half>"}[dtype]


def run(case: tuple[str, str, int, Any, Any, Any, str], a: Array, b: Array, c: Array, signs: int = 0) -> Array:
    """`signs`: bits for the signs of A and B, then 1 negates C and 2 takes its magnitude."""
    name, generation, k, _, _, of_d, ty = case
    columns = factor_columns(generation, k, 8 * a.itemsize)
    lanes_a, lanes_b = lanes_of(a, columns), lanes_of(b, columns)
    lanes_c = c[result_rows(generation), ROWS]
    of_c = result_type(c.dtype.type, generation)
    full = result_type(of_d, generation)
    types = [full, ty] + ([of_c] if name.startswith("wmma.bf16f32") else [])
    operands: list[amd.Operand] = [(ty, lanes_a), (ty, lanes_b), (of_c, lanes_c)]
    if generation == "rdna4" and of_d is not F32:
        operands.append(("i1", "0"))
    if generation == "gfx125":
        modifier: amd.Operand = ("i16", signs >> 2)
        reuse: list[amd.Operand] = [("i1", "0"), ("i1", "1")]
        if a.itemsize == 1:
            operands = [*operands[:2], modifier, operands[2], *reuse]
        else:
            sign_of_a, sign_of_b = (("i1", signs & 1), ("i1", signs >> 1 & 1))
            operands = [sign_of_a, operands[0], sign_of_b, operands[1], modifier, operands[2], *reuse]
    got = amd.call(CHIPS[generation], amd.mangle(f"llvm.amdgcn.{name}", *types), full, *operands, dtype=of_d)
    return matrix_of(got, generation)


@pytest.mark.grid(32)
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "random"])
@pytest.mark.parametrize("case", FLOATS, ids=lambda c: f"{c[0]}-{c[1]}")
def test_wmma_of_floats(case: tuple[str, str, int, Any, Any, Any, str], exact: bool) -> None:
    name, _, k, of_a, of_b, of_d, _ = case
    rng = np.random.default_rng(k + len(name))
    a, b = floats(rng, (16, k), of_a, exact), floats(rng, (16, k), of_b, exact)
    c = floats(rng, (16, 16), F32 if name.startswith("wmma.bf16f32") else of_d, exact)
    check(run(case, a, b, c), a, b, c)


@pytest.mark.parametrize("signs", range(16))
def test_modifiers_of_gfx1250(signs: int) -> None:
    rng = np.random.default_rng(signs)
    case = next(c for c in FLOATS if c[0] == "wmma.f32.16x16x32.f16")
    a, b, c = floats(rng, (16, 32), F16, True), floats(rng, (16, 32), F16, True), floats(rng, (16, 16), F32, True)
    got = run(case, a, b, c, signs)
    magnitude = abs(c) if signs & 8 else c
    check(got, -a if signs & 1 else a, -b if signs & 2 else b, -magnitude if signs & 4 else magnitude)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("tied", [False, True], ids=["plain", "tied"])
@pytest.mark.parametrize("name, dtype, element", [
    ("wmma.f16.16x16x16.f16", F16, "half"),
    ("wmma.bf16.16x16x16.bf16", BF16, "i16"),
])  # fmt: skip
def test_results_in_halves_of_registers(name: str, dtype: Any, element: str, tied: bool, upper: int) -> None:
    """RDNA3 has results of 16 bits in one half of each register; the tied forms keep the other."""
    rng = np.random.default_rng(9)
    a, b, c = (floats(rng, (16, 16), dtype, False) for _ in range(3))
    columns = factor_columns("rdna3", 16, 16)
    registers = np.full((32, 16), 77, dtype)
    registers[:, upper::2] = c[result_rows("rdna3"), ROWS]
    ty = f"<16 x {element}>"
    full = amd.mangle(f"llvm.amdgcn.{name}{'.tied' if tied else ''}", ty, ty)
    operands = [(ty, lanes_of(a, columns)), (ty, lanes_of(b, columns)), (ty, registers), ("i1", upper)]
    got = amd.call("gfx1100", full, ty, *operands, dtype=dtype)
    check(matrix_of(got[:, upper::2], "rdna3"), a, b, c)
    other = got[:, 1 - upper :: 2].astype(float)
    assert (other == 77).all() if tied else np.isnan(other).all()


# Name, generation, k, bits, LLVM's type of the operands.
INTEGERS = [
    ("wmma.i32.16x16x16.iu8", "rdna3", 16, 8, "<4 x i32>"),
    ("wmma.i32.16x16x16.iu4", "rdna3", 16, 4, "<2 x i32>"),
    ("wmma.i32.16x16x16.iu8", "rdna4", 16, 8, "<2 x i32>"),
    ("wmma.i32.16x16x16.iu4", "rdna4", 16, 4, "i32"),
    ("wmma.i32.16x16x32.iu4", "rdna4", 32, 4, "<2 x i32>"),
    ("wmma.i32.16x16x64.iu8", "gfx125", 64, 8, "<8 x i32>"),
]


@pytest.mark.grid(16)
@pytest.mark.parametrize("clamp", [0, 1])
@pytest.mark.parametrize("sign_of_a, sign_of_b", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("case", INTEGERS, ids=lambda c: f"{c[0]}-{c[1]}")
def test_wmma_of_integers(case: tuple[str, str, int, int, str], sign_of_a: int, sign_of_b: int, clamp: int) -> None:
    name, generation, k, bits, ty = case
    rng = np.random.default_rng(k + bits)
    codes = [rng.integers(0, 1 << bits, (16, k)) for _ in range(2)]
    values = [
        np.where((code >> (bits - 1)) & sign, code - (1 << bits), code)
        for code, sign in zip(codes, (sign_of_a, sign_of_b), strict=True)
    ]
    c = rng.integers(-1000, 1000, (16, 16)).astype(np.int32)
    c[0], c[1] = 2**31 - 5, -(2**31) + 5
    columns = factor_columns(generation, k, bits)
    packed = []
    for code in codes:
        lanes = lanes_of(code, columns).astype(np.uint8)
        packed.append(lanes if bits == 8 else lanes[:, ::2] | lanes[:, 1::2] << 4)
    extra: list[amd.Operand] = [("i1", "0"), ("i1", "0")] if generation == "gfx125" else []
    got = amd.call(
        CHIPS[generation],
        amd.mangle(f"llvm.amdgcn.{name}", "<8 x i32>", ty),
        "<8 x i32>",
        ("i1", sign_of_a),
        (ty, packed[0]),
        ("i1", sign_of_b),
        (ty, packed[1]),
        ("<8 x i32>", c[result_rows(generation), ROWS]),
        *extra,
        ("i1", clamp),
        dtype=np.int32,
    )
    exact = values[0] @ values[1].T + c.astype(np.int64)
    expected = np.clip(exact, -(2**31), 2**31 - 1) if clamp else exact
    np.testing.assert_array_equal(matrix_of(got, generation), expected.astype(np.int32))


# Type, bits, of the formats as the instructions number them.
FORMATS: list[tuple[Any, int]] = [
    (FP8, 8),
    (BF8, 8),
    (ml_dtypes.float6_e2m3fn, 6),
    (ml_dtypes.float6_e3m2fn, 6),
    (ml_dtypes.float4_e2m1fn, 4),
]


def pack(codes: Array, bits: int) -> Array:
    planes = np.unpackbits(codes[..., None], axis=-1, count=bits, bitorder="little")
    return np.packbits(planes.reshape(len(codes), -1), axis=-1, bitorder="little")


def factor_lanes(values: Array, bits: int) -> Array:
    """The registers of an operand: the halves of the wave alternate along K, by 16 elements of 8 bits and 32 of others."""
    run = 16 if bits == 8 else 32
    codes = np.zeros((32, values.size // 32), np.uint8)
    for row in range(len(values)):
        for turn in range(128 // run):
            lane, slot = row % 16 + 16 * (turn % 2), 64 * (row // 16) + run * (turn // 2)
            codes[lane, slot : slot + run] = values[row, run * turn : run * turn + run].view(np.uint8)
    return pack(codes, bits)


def scales_of(rng: np.random.Generator, kind: int, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Codes and values: of E8M0, of E5M3, which has no sign, of E4M3."""
    if kind == 0:
        codes = rng.integers(120, 135, shape)
        return codes.astype(np.uint8), 2.0 ** (codes - 127.0)
    if kind == 1:
        codes = rng.integers(0, 0xC0, shape)
        exponent, fraction = codes >> 3, codes & 7
        values = np.where(exponent == 0, fraction / 8 * 2.0**-14, (1 + fraction / 8) * 2.0 ** (exponent - 15.0))
        return codes.astype(np.uint8), values
    codes = rng.integers(0, 0x7F, shape).astype(np.uint8)
    return codes, codes.view(FP8).astype(float)


def check_scaled(got: Array, a: Array, b: Array, c: Array) -> None:
    """Rounded once to f32."""
    exact = a @ b.T + c.astype(float)
    bound = 2.0**-24 * abs(exact) * 1.001 + 1e-13 * (abs(a) @ abs(b).T) + 2.0**-149
    assert (abs(got - exact) <= bound).all()


def run_scaled(
    rng: np.random.Generator,
    forms: tuple[int, int],
    rows: int,
    block: int = 0,
    kinds: tuple[int, int] = (0, 0),
    halves: tuple[int, int] = (0, 0),
    modifier: int = 0,
) -> None:
    """A WMMA of random operands; `block` elements have a scale."""
    factors: list[Array] = []
    operands: list[amd.Operand] = []
    scales: list[amd.Operand] = []
    types: list[str] = []
    for side, form in enumerate(forms):
        dtype, bits = FORMATS[form]
        values = rng.standard_normal((rows if side == 0 else 16, 128)).astype(dtype)
        lanes = factor_lanes(values, bits)
        ty = f"<{lanes.shape[1] // 4} x i32>"
        if rows == 16:
            operands.append(("i32", form))
        operands.append((ty, lanes))
        types.append(ty)
        exact = values.astype(float)
        if block:
            codes, scale = scales_of(rng, kinds[side], (len(values), 128 // block))
            exact *= np.repeat(scale, block, axis=1)
            # NaN in all of them if nothing is read.
            registers = np.full((32, 128 // block), 0xFF, np.uint8)
            first = 16 * halves[side] if len(values) == 16 else 0
            registers[first : first + len(values)] = codes
            scales += [("i32", halves[side]), ("i32", kinds[side]), (f"i{8 * 128 // block}", registers)]
        factors.append(exact)
    c = rng.standard_normal((rows, 16)).astype(np.float32)
    lane, e = np.arange(32)[:, None], np.arange(rows // 2)[None, :]
    row = 16 * (e // 8) + 8 * (lane // 16) + e % 8
    full = f"<{rows // 2} x float>"
    reuse: list[amd.Operand] = [("i1", "0"), ("i1", "1")] if block else []
    scale_name = {0: "", 32: ".scale", 16: ".scale16"}[block]
    shape = "16x16x128.f8f6f4" if rows == 16 else "32x16x128.f4"
    name = amd.mangle(f"llvm.amdgcn.wmma{scale_name}.f32.{shape}", full, *types)
    operands += [("i16", modifier), (full, c[row, lane % 16]), *scales, *reuse]
    got = np.zeros((rows, 16))
    got[row, lane % 16] = amd.call("gfx1250", name, full, *operands, dtype=np.float32)
    magnitude = abs(c) if modifier & 2 else c
    check_scaled(got, factors[0], factors[1], -magnitude if modifier & 1 else magnitude)


PAIRS = [(0, 0), (1, 0), (0, 2), (3, 1), (2, 3), (4, 4), (4, 0), (1, 4), (3, 4)]


@pytest.mark.parametrize("forms", PAIRS, ids=str)
@pytest.mark.parametrize("block", [0, 32, 16])
def test_wmma_of_small_formats(block: int, forms: tuple[int, int]) -> None:
    run_scaled(np.random.default_rng(7 * forms[0] + forms[1]), forms, 16, block)


@pytest.mark.parametrize("modifier", range(4))
@pytest.mark.parametrize("block", [0, 32, 16])
def test_wmma_of_32_rows(block: int, modifier: int) -> None:
    run_scaled(np.random.default_rng(block), (4, 4), 32, block, halves=(0, modifier & 1), modifier=modifier)


@pytest.mark.grid(12)
@pytest.mark.parametrize("kinds", [(0, 0), (1, 2), (2, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("halves", [(0, 1), (1, 0), (1, 1)], ids=str)
@pytest.mark.parametrize("block", [32, 16])
def test_scales_of_wmma(block: int, halves: tuple[int, int], kinds: tuple[int, int]) -> None:
    run_scaled(np.random.default_rng(block), (4, 4), 16, block, kinds, halves, modifier=3)


@pytest.mark.parametrize("rows, kinds, halves, why", [
    (16, (3, 0), (0, 0), "scale format 3 is not defined"),
    (32, (0, 0), (1, 0), "scales of 32 rows start at lane 16"),
])  # fmt: skip
def test_scales_that_are_wrong(rows: int, kinds: tuple[int, int], halves: tuple[int, int], why: str) -> None:
    with pytest.raises(errors.EmulationError, match=why):
        run_scaled(np.random.default_rng(1), (4, 4), rows, 32, kinds, halves)
