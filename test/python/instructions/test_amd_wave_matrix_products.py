"""WMMA: each against float64 or integers, in the layouts of the guides of RDNA3, RDNA4 and CDNA5."""

from __future__ import annotations

from typing import Any

import amd
import ml_dtypes
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
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
    # The reference's sum may round to the other neighbour.
    ulp = {2: 2.0**-7 if got.dtype == BF16 else 2.0**-10, 4: 2.0**-23}[got.itemsize]
    near = abs(got64 - exact) <= ulp / 2 * np.maximum(abs(expected64), 2.0**-14) * 1.001 + 1e-13 * (abs(a) @ abs(b).T)
    assert ((got64 == expected64) | near).all()


# Name, generation, k, types of A and B, type of the result, LLVM's type of the factors.
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


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "random"])
@pytest.mark.parametrize("case", FLOATS, ids=lambda c: f"{c[0]}-{c[1]}")
def test_product_of_floats(case: tuple[str, str, int, Any, Any, Any, str], exact: bool) -> None:
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


# Name, generation, k, bits, LLVM's type of the factors.
INTEGERS = [
    ("wmma.i32.16x16x16.iu8", "rdna3", 16, 8, "<4 x i32>"),
    ("wmma.i32.16x16x16.iu4", "rdna3", 16, 4, "<2 x i32>"),
    ("wmma.i32.16x16x16.iu8", "rdna4", 16, 8, "<2 x i32>"),
    ("wmma.i32.16x16x16.iu4", "rdna4", 16, 4, "i32"),
    ("wmma.i32.16x16x32.iu4", "rdna4", 32, 4, "<2 x i32>"),
    ("wmma.i32.16x16x64.iu8", "gfx125", 64, 8, "<8 x i32>"),
]


@pytest.mark.parametrize("clamp", [0, 1])
@pytest.mark.parametrize("sign_of_a, sign_of_b", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("case", INTEGERS, ids=lambda c: f"{c[0]}-{c[1]}")
def test_product_of_integers(case: tuple[str, str, int, int, str], sign_of_a: int, sign_of_b: int, clamp: int) -> None:
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
