# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers on the CPU, against numpy in float64: ragged shapes, dtypes, windows that overhang, special values, loops.

Outputs start as NaN (or another value that no result has), which shows unwritten elements. They are part of a larger
poisoned array, which shows writes outside.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from matmuls import matmul

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def compiled(text: str) -> Any:
    return smalti.compile(text, target="cpu")


def random(shape: Sequence[int], dtype: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(tuple(shape)).astype(dtype)


class Guarded:
    """An array of poison with guard elements on both sides, which must still be poison in the end."""

    def __init__(self, shape: Sequence[int], dtype: Any, poison: Any = np.nan) -> None:
        size = int(np.prod(shape))
        self._whole = np.full(size + 128, poison, dtype)
        self.array = self._whole[64 : 64 + size].reshape(shape)
        self._before = self._whole.tobytes()

    def check_guards(self) -> None:
        item = self._whole.itemsize
        after = self._whole.tobytes()
        assert after[: 64 * item] == self._before[: 64 * item]
        assert after[-64 * item :] == self._before[-64 * item :]


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal to the bit, except for the payloads of NaNs."""
    got64, expected64 = got.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(got64, expected64)
    numbers = ~np.isnan(expected64)
    np.testing.assert_array_equal(np.signbit(got64)[numbers], np.signbit(expected64)[numbers])


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.grid(9)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((1, 1, 1), (16, 16, 16)),
        ((1, 300, 1), (16, 64, 16)),
        ((17, 31, 33), (16, 16, 16)),
        ((65, 129, 70), (64, 128, 32)),
        ((37, 53, 41), (13, 7, 5)),
        ((64, 64, 64), (64, 64, 64)),
        ((100, 3, 257), (33, 65, 64)),
    ],
)
def test_matmul(shape: tuple[int, int, int], tile: tuple[int, int, int], dtype: str) -> None:
    m, n, k = shape
    a, b = random((m, k), DTYPES[dtype], 1), random((k, n), DTYPES[dtype], 2)
    c = Guarded((m, n), np.float32)
    compiled(matmul(shape, tile, dtype, start="zero"))(a, b, c.array)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    # First order: every sum of at most k + 1 terms in f32.
    bound = (k + 1) * 2.0**-23 * (np.abs(wide_a) @ np.abs(wide_b))
    assert np.all(np.abs(c.array - wide_a @ wide_b) <= bound + 1e-30)
    c.check_guards()


def test_matmul_in_parts_of_k() -> None:
    (m, n, k), splits = (20, 24, 75), 3
    a, b = random((m, k), np.float16, 1), random((k, n), np.float16, 2)
    c = Guarded((splits, m, n), np.float32)
    compiled(matmul((m, n, k), (16, 16, 16), "f16", start="zero", splits=splits))(a, b, c.array)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    # 75 columns are five tiles of 16: two, two and one.
    for part in range(splits):
        columns = slice(32 * part, 32 * (part + 1))
        np.testing.assert_allclose(c.array[part], wide_a[:, columns] @ wide_b[columns], rtol=1e-4, atol=1e-4)
    c.check_guards()


def test_matmul_propagates_special_values() -> None:
    m, n, k = 20, 24, 30
    a, b = random((m, k), np.float16, 1), random((k, n), np.float16, 2)
    a[3, 4], a[5, 6], b[7, 8], b[9, 10] = np.inf, np.nan, -np.inf, np.nan
    a[11, 9] = 0  # against the NaN
    b[4, 12] = 0  # against the infinity
    c = Guarded((m, n), np.float32)
    compiled(matmul((m, n, k), (16, 16, 16), "f16", start="zero"))(a, b, c.array)
    with np.errstate(invalid="ignore"):
        expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(c.array), np.isnan(expected))
    infinite = np.isinf(expected)
    np.testing.assert_array_equal(c.array[infinite], expected[infinite])
    np.testing.assert_allclose(c.array, expected, rtol=1e-4, atol=1e-4)


def test_matmul_of_16_bit_values_is_not_rounded_to_16_bits() -> None:
    # 1 + 2^-10 squared needs 21 bits.
    a = np.full((1, 1), 1 + 2.0**-10, np.float16)
    c = Guarded((1, 1), np.float32)
    compiled(matmul((1, 1, 1), (16, 16, 16), "f16", start="zero"))(a, a, c.array)
    assert c.array[0, 0] == (1 + 2.0**-10) ** 2


def test_ragged_matmul_kernel(kernels: Any) -> None:
    a, b = random((500, 300), np.float16, 1), random((300, 260), np.float16, 2)
    c = random((500, 260), np.float32, 3)
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    smalti.compile(kernels / "matmul_ragged.mlir", target="cpu")(a, b, c)
    np.testing.assert_allclose(c, expected, rtol=0, atol=2e-4)


def test_vector_add_kernel(kernels: Any) -> None:
    x, y = random((1999,), np.float32, 1), random((1000,), np.float32, 2)
    z = Guarded((1000,), np.float32)
    smalti.compile(kernels / "vector_add.mlir", target="cpu")(x, y, z.array)
    same(z.array, x[::2] + y)
    z.check_guards()


def test_matmul_relu_kernel_keeps_nan(kernels: Any) -> None:
    a, b = random((200, 100), ml_dtypes.bfloat16, 1), random((100, 136), ml_dtypes.bfloat16, 2)
    a[7, 3] = np.nan
    d = Guarded((200, 136), ml_dtypes.bfloat16)
    smalti.compile(kernels / "matmul_relu_bf16.mlir", target="cpu")(a, b, d.array)
    expected = np.maximum(0.125 * (a.astype(np.float64) @ b.astype(np.float64)), 0)
    assert np.isnan(d.array[7].astype(np.float32)).all()
    np.testing.assert_allclose(d.array.astype(np.float64), expected, rtol=2.0**-8, atol=1e-5)
    d.check_guards()


# ---------------------------------------------------------------------------------------------------------------------
# Windows
# ---------------------------------------------------------------------------------------------------------------------

ROWS, COLUMNS = 23, 37
FILL = 7.5


def window(sizes: Sequence[int], strides: Sequence[int]) -> str:
    source = f"memref<?x{COLUMNS}xf32, strided<[{COLUMNS}, 1], offset: ?>>"
    tile = f"tensor<{sizes[0]}x{sizes[1]}xf32>"
    copy = f"memref<{sizes[0]}x{sizes[1]}xf32>"
    place = f"[{sizes[0]}, {sizes[1]}] [{strides[0]}, {strides[1]}]"
    return f"""
triton_xla.entry_func @window(%a: {source}, %copy: {copy}, %row: index, %column: index, %tile: index) tiles 1 {{
  %t = triton_xla.extract %a[%row, %column] {place} fill {FILL} : f32 : {source} to {tile}
  triton_xla.insert %t into %copy[0, 0] [{sizes[0]}, {sizes[1]}] [1, 1] : {tile} into {copy}
  %n = arith.negf %t : {tile}
  triton_xla.insert %n into %a[%row, %column] {place} : {tile} into {source}
  triton_xla.return
}}
"""


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [((8, 16), (1, 1)), ((5, 9), (2, 3)), ((3, 7), (1, 1)), ((2, 33), (40, 1)), ((64, 64), (1, 1)), ((1, 1), (1, 1))],
)
def test_windows_that_overhang(sizes: tuple[int, int], strides: tuple[int, int]) -> None:
    kernel = compiled(window(sizes, strides))
    first, last = -(2**63), 2**63 - 1
    rows = [0, 5, 22, 23, -1, -3, -100, 1000, first, last]
    columns = [0, 3, 30, 36, 37, -1, -5, -64, last, first]
    for row, column in [*zip(rows, columns, strict=True), *itertools.product([-2, 20], [-9, 31])]:
        a = Guarded((ROWS, COLUMNS), np.float32)
        a.array[:] = random((ROWS, COLUMNS), np.float32)
        copy = Guarded(sizes, np.float32)
        expected_a, expected_copy = a.array.copy(), np.full(sizes, FILL, np.float32)
        for i, j in np.ndindex(*sizes):
            y, x = row + i * strides[0], column + j * strides[1]
            if 0 <= y < ROWS and 0 <= x < COLUMNS:
                expected_copy[i, j] = a.array[y, x]
                expected_a[y, x] = -a.array[y, x]
        kernel(a.array, copy.array, row, column)
        same(copy.array, expected_copy)
        same(a.array, expected_a)
        a.check_guards()
        copy.check_guards()


def test_rank_reduction_scalar_tiles_and_strided_memory() -> None:
    kernel = compiled("""
triton_xla.entry_func @reduce(%a: memref<6x5x7xf64>, %b: memref<5xf64>, %c: memref<f64>,
                              %d: memref<?x7xf64, strided<[1, ?]>>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zeros = arith.constant dense<0.0> : tensor<5xf64>
  %zero = arith.constant dense<0.0> : tensor<f64>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %zeros, %y = %zero) -> (tensor<5xf64>, tensor<f64>) {
    %t = triton_xla.extract %a[%i, 0, 2] [1, 5, 1] [1, 1, 1] : memref<6x5x7xf64> to tensor<5xf64>
    %s = triton_xla.extract %a[%i, 4, 3] [1, 1, 1] [1, 1, 1] : memref<6x5x7xf64> to tensor<f64>
    %u = triton_xla.extract %a[%i, 1, 0] [1, 1, 7] [1, 1, 1] : memref<6x5x7xf64> to tensor<1x7xf64>
    triton_xla.insert %u into %d[%i, 0] [1, 7] [1, 1] : tensor<1x7xf64> into memref<?x7xf64, strided<[1, ?]>>
    %x2 = arith.addf %x, %t : tensor<5xf64>
    %y2 = arith.addf %y, %s : tensor<f64>
    scf.yield %x2, %y2 : tensor<5xf64>, tensor<f64>
  }
  triton_xla.insert %r#0 into %b[0] [5] [1] : tensor<5xf64> into memref<5xf64>
  triton_xla.insert %r#1 into %c[] [] [] : tensor<f64> into memref<f64>
  triton_xla.return
}
""")
    a = random((6, 5, 7), np.float64)
    b, c, d = np.full(5, np.nan), np.full((), np.nan), np.full((4, 7), np.nan, order="F")
    kernel(a, b, c, d)
    np.testing.assert_allclose(b, a[:, :, 2].sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(c, a[:, 4, 3].sum(), rtol=1e-14)
    # d has 4 of the 6 rows.
    same(d, a[:4, 1, :])


# ---------------------------------------------------------------------------------------------------------------------
# Element-wise
# ---------------------------------------------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-40, -3e-39, 65504.0, 6e-8, 3.3895e38, 1 / 3]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_arithmetic_rounds_after_every_op(dtype: str) -> None:
    kernel = compiled(
        """
triton_xla.entry_func @arithmetic(%a: memref<?xTYPE>, %b: memref<?xTYPE>, %o: memref<?xTYPE>, %p: memref<?xTYPE>,
                                  %q: memref<?xTYPE>, %tile: index) tiles 9 {
  %c40 = arith.constant 40 : index
  %at = arith.muli %tile, %c40 : index
  %x = triton_xla.extract %a[%at] [40] [1] : memref<?xTYPE> to tensor<40xTYPE>
  %y = triton_xla.extract %b[%at] [40] [1] : memref<?xTYPE> to tensor<40xTYPE>
  %0 = arith.mulf %x, %y : tensor<40xTYPE>
  %1 = arith.addf %0, %x : tensor<40xTYPE>
  %2 = arith.subf %1, %y : tensor<40xTYPE>
  %3 = arith.divf %2, %y : tensor<40xTYPE>
  triton_xla.insert %3 into %o[%at] [40] [1] : tensor<40xTYPE> into memref<?xTYPE>
  %4 = arith.maximumf %x, %y : tensor<40xTYPE>
  triton_xla.insert %4 into %p[%at] [40] [1] : tensor<40xTYPE> into memref<?xTYPE>
  %5 = arith.cmpf olt, %x, %y : tensor<40xTYPE>
  %6 = arith.negf %y : tensor<40xTYPE>
  %7 = arith.select %5, %x, %6 : tensor<40xi1>, tensor<40xTYPE>
  triton_xla.insert %7 into %q[%at] [40] [1] : tensor<40xTYPE> into memref<?xTYPE>
  triton_xla.return
}
""".replace("TYPE", dtype)
    )
    with np.errstate(all="ignore"):
        pairs = np.array(list(itertools.product(SPECIAL, SPECIAL)))
        x = np.concatenate([pairs[:, 0], np.random.default_rng(1).standard_normal(161)]).astype(DTYPES[dtype])
        y = np.concatenate([pairs[:, 1], np.random.default_rng(2).standard_normal(161)]).astype(DTYPES[dtype])
        outputs = [Guarded(x.shape, DTYPES[dtype], 77) for _ in range(3)]
        kernel(x, y, *(o.array for o in outputs))
        # numpy and ml_dtypes compute 16-bit types in f32 and round after every operation.
        expected = [
            (x * y + x - y) / y,
            np.where(np.isnan(x) | np.isnan(y), np.nan, np.maximum(x, y)).astype(DTYPES[dtype]),
            np.where(x < y, x, -y).astype(DTYPES[dtype]),
        ]
    # maximumf orders the zeros; numpy does not.
    zeros = (x == 0) & (y == 0)
    expected[1][zeros] = np.where(np.signbit(x) & np.signbit(y), -0.0, 0.0)[zeros]
    for output, wanted in zip(outputs, expected, strict=True):
        same(output.array, wanted)
        output.check_guards()


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_f64_is_rounded_once(narrow: str) -> None:
    kernel = compiled(
        """
triton_xla.entry_func @cast(%a: memref<64xf64>, %o: memref<64xTYPE>, %back: memref<64xf64>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0] [64] [1] : memref<64xf64> to tensor<64xf64>
  %n = arith.truncf %x : tensor<64xf64> to tensor<64xTYPE>
  triton_xla.insert %n into %o[0] [64] [1] : tensor<64xTYPE> into memref<64xTYPE>
  %w = arith.extf %n : tensor<64xTYPE> to tensor<64xf64>
  triton_xla.insert %w into %back[0] [64] [1] : tensor<64xf64> into memref<64xf64>
  triton_xla.return
}
""".replace("TYPE", narrow)
    )
    bits = {"f16": 10, "bf16": 7}[narrow]
    # Next to a tie: a conversion through f32 would give the tie, and then round to even.
    ulp = 2.0**-bits
    near = [1 + ulp / 2 + 2.0**-40, 1 + 3 * ulp / 2 - 2.0**-40, 1 + ulp / 2, 1 + 3 * ulp / 2]
    up_down = [1 + ulp, 1 + ulp, 1.0, 1 + 2 * ulp]
    a = np.resize(np.array([*near, *(-v for v in near), *SPECIAL, 1e300, -1e300, 1e-300]), 64)
    o, back = np.full(64, 77, DTYPES[narrow]), np.full(64, np.nan)
    kernel(a, o, back)
    got = o.astype(np.float64)
    np.testing.assert_array_equal(got[:8], [*up_down, *(-v for v in up_down)])
    same(back, got)
    with np.errstate(all="ignore"):
        same(o[8:24], a[8:24].astype(DTYPES[narrow]))


def test_a_tile_is_read_again_after_another_was_made_of_it() -> None:
    kernel = compiled("""
triton_xla.entry_func @again(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %o: memref<16x16xf32>, %p: memref<16x16xf32>,
                             %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %y = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %0 = arith.addf %x, %y : tensor<16x16xf32>
  %1 = arith.addf %0, %0 : tensor<16x16xf32>
  triton_xla.insert %x into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.insert %1 into %p[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}
""")
    a, b = random((16, 16), np.float32, 1), random((16, 16), np.float32, 2)
    o, p = np.full((16, 16), np.nan, np.float32), np.full((16, 16), np.nan, np.float32)
    kernel(a, b, o, p)
    same(o, a)
    same(p, (a + b) + (a + b))


@pytest.mark.parametrize(("name", "function"), [("expm1", np.expm1), ("log1p", np.log1p)])
def test_functions_near_zero(name: str, function: Any) -> None:
    kernel = compiled(f"""
triton_xla.entry_func @near_zero(%a: memref<40xf32>, %o: memref<40xf32>, %tile: index) tiles 1 {{
  %x = triton_xla.extract %a[0] [40] [1] : memref<40xf32> to tensor<40xf32>
  %y = math.{name} %x : tensor<40xf32>
  triton_xla.insert %y into %o[0] [40] [1] : tensor<40xf32> into memref<40xf32>
  triton_xla.return
}}
""")
    a = random((40,), np.float32) * np.float32(10.0) ** np.arange(-40, 0, dtype=np.float32)
    o = np.full(40, np.nan, np.float32)
    kernel(a, o)
    np.testing.assert_allclose(o, function(a.astype(np.float64)), rtol=2.0**-21)


def test_exponential() -> None:
    kernel = compiled("""
triton_xla.entry_func @exponential(%a: memref<?xf32>, %o: memref<?xf32>, %tile: index) tiles 99 {
  %c1003 = arith.constant 1003 : index
  %at = arith.muli %tile, %c1003 : index
  %x = triton_xla.extract %a[%at] [1003] [1] : memref<?xf32> to tensor<1003xf32>
  %y = math.exp %x : tensor<1003xf32>
  triton_xla.insert %y into %o[%at] [1003] [1] : tensor<1003xf32> into memref<?xf32>
  triton_xla.return
}
""")
    special = np.array([*SPECIAL, -87.4, -100, -103.9, -104.1, -1e30, 88.7, 88.73, 89.1, 1e30], np.float32)
    a = np.concatenate([special, np.linspace(-105, 90, 99000, dtype=np.float32)])
    o = np.full_like(a, 77)
    kernel(a, o)
    with np.errstate(all="ignore"):
        exact = np.exp(a.astype(np.float64))
        expected = exact.astype(np.float32)
    finite = np.isfinite(expected)
    np.testing.assert_allclose(o[finite], exact[finite], rtol=2.0**-22, atol=2.0**-149)
    near = exact > 2.0**128 * (1 - 2.0**-22)
    np.testing.assert_array_equal(o[~finite & ~near], expected[~finite & ~near])


def test_booleans_integers_and_masks() -> None:
    kernel = compiled("""
triton_xla.entry_func @mixed(%a: memref<9x13xf32>, %m: memref<9x13xi1>, %o: memref<9x13xf32>, %p: memref<9x13xi1>,
                             %q: memref<9x13xi8>, %rows: index, %columns: index, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0, 0] [9, 13] [1, 1] : memref<9x13xf32> to tensor<9x13xf32>
  %n = triton_xla.extract %m[0, 0] [9, 13] [1, 1] : memref<9x13xi1> to tensor<9x13xi1>
  %zero = arith.constant dense<0.0> : tensor<9x13xf32>
  %positive = arith.cmpf ogt, %t, %zero : tensor<9x13xf32>
  %b = arith.xori %positive, %n : tensor<9x13xi1>
  triton_xla.insert %b into %p[0, 0] [9, 13] [1, 1] : tensor<9x13xi1> into memref<9x13xi1>
  %minus_zero = arith.constant -0.0 : f32
  %k = triton_xla.mask %t [%rows, %columns], %minus_zero : tensor<9x13xf32>
  triton_xla.insert %k into %o[0, 0] [9, 13] [1, 1] : tensor<9x13xf32> into memref<9x13xf32>
  %i = arith.extsi %b : tensor<9x13xi1> to tensor<9x13xi8>
  triton_xla.insert %i into %q[0, 0] [9, 13] [1, 1] : tensor<9x13xi8> into memref<9x13xi8>
  triton_xla.return
}
""")
    a = random((9, 13), np.float32)
    a[0, 0], a[8, 12], a[3, 3] = np.nan, np.inf, 0.0
    m = np.random.default_rng(3).integers(0, 2, (9, 13)).astype(bool)
    for rows, columns in [(9, 13), (4, 6), (0, 13), (-3, 5), (100, 1), (9, 12)]:
        o = Guarded((9, 13), np.float32, 77)
        p, q = np.zeros((9, 13), bool), np.full((9, 13), 77, np.int8)
        kernel(a, m, o.array, p, q, rows, columns)
        kept = (np.arange(9)[:, None] < rows) & (np.arange(13)[None, :] < columns)
        same(o.array, np.where(kept, a, np.float32(-0.0)))
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(p, (a > 0) ^ m)
        np.testing.assert_array_equal(q, -((a > 0) ^ m).astype(np.int8))
        o.check_guards()


# ---------------------------------------------------------------------------------------------------------------------
# Loops that carry tiles
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_loop_that_exchanges_its_tiles(count: int) -> None:
    kernel = compiled("""
triton_xla.entry_func @fibonacci(%a: memref<2x10xf32>, %o: memref<4x10xf32>, %n: index, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = triton_xla.extract %a[0, 0] [1, 10] [1, 1] : memref<2x10xf32> to tensor<10xf32>
  %q = triton_xla.extract %a[1, 0] [1, 10] [1, 1] : memref<2x10xf32> to tensor<10xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p, %y = %q) -> (tensor<10xf32>, tensor<10xf32>) {
    %z = arith.addf %x, %y : tensor<10xf32>
    scf.yield %y, %z : tensor<10xf32>, tensor<10xf32>
  }
  triton_xla.insert %r#0 into %o[0, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.insert %r#1 into %o[1, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.insert %p into %o[2, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.insert %q into %o[3, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.return
}
""")
    a, o = random((2, 10), np.float32), np.full((4, 10), np.nan, np.float32)
    kernel(a, o, count)
    x, y = a
    for _ in range(count):
        x, y = y, x + y
    same(o, np.stack([x, y, *a]))


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_while_and_if_with_tiles(count: int) -> None:
    kernel = compiled("""
triton_xla.entry_func @collect(%a: memref<2x10xf32>, %o: memref<4x10xf32>, %n: index, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %two = arith.constant dense<2.0> : tensor<10xf32>
  %p = triton_xla.extract %a[0, 0] [1, 10] [1, 1] : memref<2x10xf32> to tensor<10xf32>
  %q = triton_xla.extract %a[1, 0] [1, 10] [1, 1] : memref<2x10xf32> to tensor<10xf32>
  %r:3 = scf.while (%x = %p, %y = %q, %i = %c0)
      : (tensor<10xf32>, tensor<10xf32>, index) -> (tensor<10xf32>, tensor<10xf32>, index) {
    %sum = arith.addf %x, %y : tensor<10xf32>
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %y, %sum, %i : tensor<10xf32>, tensor<10xf32>, index
  } do {
  ^bb0(%y: tensor<10xf32>, %sum: tensor<10xf32>, %i: index):
    %parity = arith.remui %i, %c2 : index
    %odd = arith.cmpi eq, %parity, %c1 : index
    %s:2 = scf.if %odd -> (tensor<10xf32>, tensor<10xf32>) {
      %double = arith.mulf %y, %two : tensor<10xf32>
      scf.yield %sum, %double : tensor<10xf32>, tensor<10xf32>
    } else {
      scf.yield %y, %sum : tensor<10xf32>, tensor<10xf32>
    }
    %next = arith.addi %i, %c1 : index
    scf.yield %s#0, %s#1, %next : tensor<10xf32>, tensor<10xf32>, index
  }
  triton_xla.insert %r#0 into %o[0, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.insert %r#1 into %o[1, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.insert %p into %o[2, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.insert %q into %o[3, 0] [1, 10] [1, 1] : tensor<10xf32> into memref<4x10xf32>
  triton_xla.return
}
""")
    a, o = random((2, 10), np.float32), np.full((4, 10), np.nan, np.float32)
    kernel(a, o, count)
    x, y = a
    for i in range(count):
        total = x + y
        x, y = (total, y * np.float32(2)) if i % 2 else (y, total)
    same(o, np.stack([y, x + y, *a]))


def test_the_result_of_a_switch_does_not_overwrite_a_tile_that_it_yields() -> None:
    kernel = compiled("""
triton_xla.entry_func @pick(%a: memref<8xi32>, %o: memref<3x8xi32>, %n: index, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0] [8] [1] : memref<8xi32> to tensor<8xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  %y, %i = scf.index_switch %n -> tensor<8xi32>, index
  case 0 {
    scf.yield %x, %n : tensor<8xi32>, index
  }
  case 2 {
    %double = arith.addi %x, %x : tensor<8xi32>
    scf.yield %double, %n : tensor<8xi32>, index
  }
  default {
    scf.yield %three, %n : tensor<8xi32>, index
  }
  %m = arith.muli %y, %three : tensor<8xi32>
  triton_xla.insert %m into %o[0, 0] [1, 8] [1, 1] : tensor<8xi32> into memref<3x8xi32>
  triton_xla.insert %x into %o[1, 0] [1, 8] [1, 1] : tensor<8xi32> into memref<3x8xi32>
  triton_xla.insert %y into %o[2, 0] [1, 8] [1, 1] : tensor<8xi32> into memref<3x8xi32>
  triton_xla.return
}
""")
    x = np.arange(8, dtype=np.int32)
    for n, y in enumerate((x, 0 * x + 3, 2 * x)):
        o = np.zeros((3, 8), np.int32)
        kernel(x, o, n)
        same(o, np.stack([3 * y, x, y]))


@pytest.mark.parametrize("count", [0, 1, 4])
def test_nested_loops_and_a_tile_kept_from_an_earlier_iteration(count: int) -> None:
    kernel = compiled("""
triton_xla.entry_func @nested(%o: memref<2x4xf32>, %n: index, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %init = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %keep = %init) -> (tensor<4xf32>, tensor<4xf32>) {
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%in = %acc) -> (tensor<4xf32>) {
      %0 = arith.mulf %in, %half : tensor<4xf32>
      %1 = arith.addf %0, %keep : tensor<4xf32>
      scf.yield %1 : tensor<4xf32>
    }
    %next = arith.addf %inner, %acc : tensor<4xf32>
    %parity = arith.remui %i, %c2 : index
    %odd = arith.cmpi eq, %parity, %c1 : index
    %k = arith.select %odd, %acc, %keep : tensor<4xf32>
    scf.yield %next, %k : tensor<4xf32>, tensor<4xf32>
  }
  triton_xla.insert %r#0 into %o[0, 0] [1, 4] [1, 1] : tensor<4xf32> into memref<2x4xf32>
  triton_xla.insert %r#1 into %o[1, 0] [1, 4] [1, 1] : tensor<4xf32> into memref<2x4xf32>
  triton_xla.return
}
""")
    o = np.full((2, 4), np.nan, np.float32)
    kernel(o, count)
    acc = keep = np.array([1, 2, 3, 4], np.float32)
    for i in range(count):
        inner = acc
        for _ in range(i):
            inner = inner * np.float32(0.5) + keep
        acc, keep = inner + acc, acc if i % 2 else keep
    same(o, np.stack([acc, keep]))
