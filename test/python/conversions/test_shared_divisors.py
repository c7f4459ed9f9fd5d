# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divisions of rows by one divisor, which share its reciprocal: every bit is that of numpy's division."""

from __future__ import annotations

import numpy as np
import pytest
import smalti

TARGETS = ("emu:sm_80", "emu:gfx942", "emu:gfx1201")
COLUMNS = 1024


def program(rows: int, dtype: str) -> str:
    window = f"[%row, 0] [1, {COLUMNS}] [1, 1]"
    truncated = "%q" if dtype == "f32" else "%h"
    truncate = "" if dtype == "f32" else f"%h = arith.truncf %q : tensor<{COLUMNS}xf32> to tensor<{COLUMNS}xf16>"
    memref = f"memref<{rows}x{COLUMNS}x"
    return f"""
triton_xla.entry_func @divide(%x: {memref}f32>, %d: memref<{rows}xf32>, %y: {memref}{dtype}>, %row: index) tiles {rows} {{
  %t = triton_xla.extract %x{window} : {memref}f32> to tensor<{COLUMNS}xf32>
  %one = triton_xla.extract %d[%row] [1] [1] : memref<{rows}xf32> to tensor<f32>
  %ds = triton_xla.broadcast %one dims [] : tensor<f32> -> tensor<{COLUMNS}xf32>
  %q = arith.divf %t, %ds : tensor<{COLUMNS}xf32>
  {truncate}
  triton_xla.insert {truncated} into %y{window} : tensor<{COLUMNS}x{dtype}> into {memref}{dtype}>
  triton_xla.return
}}
"""


def program_of_powers(rows: int) -> str:
    """Divides the powers of two of the rows, and adds them: their sum bounds each of them."""
    reduce = f"""%e = math.exp2 %t : tensor<{COLUMNS}xf32>
  %zero = arith.constant 0.0 : f32
  %sum = triton_xla.reduce %e dims [0] init %zero : (tensor<{COLUMNS}xf32>, f32) -> tensor<f32> {{
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    triton_xla.yield %s : f32
  }}
  triton_xla.insert %sum into %z[%row] [1] [1] : tensor<f32> into memref<{rows}xf32>
  %q = arith.divf %e"""
    text = program(rows, "f16").replace("%q = arith.divf %t", reduce)
    return text.replace(", %row: index", f", %z: memref<{rows}xf32>, %row: index")


def critical(divisor: int) -> list[int]:
    """Significands x for which x / divisor is closest to a midpoint of two floats: x * 2^k = n * divisor + r, n odd."""
    found = []
    for k in (24, 25):
        inverse = pow(2**k, -1, divisor)
        for remainder in range(-7, 8, 2):
            x = inverse * remainder % divisor
            x += -(-(2**23 - x) // divisor) * divisor if x < 2**23 else 0
            if x < 2**24 and (x >= divisor) == (k == 24):
                found.append(x)
    return found


def bits(values: np.ndarray) -> np.ndarray:
    """All NaN are equal."""
    return np.where(np.isnan(values), 0xFFFF, values.view(np.uint32 if values.dtype == np.float32 else np.uint16))


def check(target: str, x: np.ndarray, d: np.ndarray, dtype: str) -> None:
    rows = len(d)
    kernel = smalti.compile(program(rows, dtype), target=target)
    assert isinstance(kernel, smalti.Kernel)
    y = np.zeros((rows, COLUMNS), np.float32 if dtype == "f32" else np.float16)
    kernel(x, d, y)
    with np.errstate(all="ignore"):
        expected = (x / d[:, None]).astype(y.dtype)
    wrong = np.argwhere(bits(y) != bits(expected))
    assert not len(wrong), [(x[i, j], d[i], y[i, j], expected[i, j]) for i, j in wrong[:4]]


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754942e-38, 1.1754944e-38, 3.4028235e38, 1.0, -3.0]
EDGES = [sign * np.float32(2.0**exponent) for exponent in (-101, -100, -24, 24, 25, 100, 101) for sign in (1, -1)]


def with_neighbors(values: list[float]) -> np.ndarray:
    values = np.float32(values)
    with np.errstate(all="ignore"):
        return np.concatenate([values, np.nextafter(values, np.float32(np.inf)), np.nextafter(values, np.float32(0))])


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("target", TARGETS)
def test_special_values(target: str, dtype: str) -> None:
    """Zeros, infinities, NaN, denormals and the ends of the ranges, alone and next to ordinary values."""
    random = np.random.default_rng(1)
    special = with_neighbors([*SPECIAL, *EDGES])
    divisors = np.concatenate([special, np.float32([1.0, 3.0, 0.7, 1000.0, 2**-24, 2**24])])
    x = random.normal(size=(len(divisors), COLUMNS)).astype(np.float32)
    # A group of four elements is in one thread.
    x[:, : 4 * len(special) : 4] = special
    x[:, 4 * len(special) :] = np.resize(special, COLUMNS - 4 * len(special))
    x[::2, 512:] = np.abs(x[::2, 512:])
    check(target, x, divisors, dtype)


@pytest.mark.parametrize("target", TARGETS)
def test_hardest_quotients(target: str) -> None:
    random = np.random.default_rng(2)
    significands = [2**23 + 1, 2**24 - 1, 2**24 - 3, *(int(d) | 1 for d in random.integers(2**23, 2**24, 93))]
    x = np.zeros((len(significands), COLUMNS), np.float32)
    for row, divisor in zip(x, significands, strict=True):
        row[:] = np.resize(np.float32(critical(divisor)) * np.float32(2.0**-23), COLUMNS)
        row[1::2] *= np.float32(-(2.0**-60))
    d = np.float32(significands) * np.float32(2.0) ** random.integers(-46, 0, len(significands)).astype(np.float32)
    check(target, x, d, "f32")


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("target", TARGETS)
def test_random_bits(target: str, dtype: str) -> None:
    random = np.random.default_rng(3)
    x = random.integers(0, 2**32, (64, COLUMNS), dtype=np.uint32).view(np.float32)
    x[::2] = random.normal(size=(32, COLUMNS)) * np.float32(2.0) ** random.integers(-90, 90, (32, 1)).astype(np.float32)
    d = np.float32(2.0) ** random.integers(-26, 27, 64).astype(np.float32)
    d *= random.uniform(1, 2, 64).astype(np.float32)
    check(target, x, d, dtype)


@pytest.mark.parametrize("target", TARGETS)
def test_powers_that_the_thread_adds(target: str) -> None:
    """Powers from 0 to infinity, and NaN, alone in a thread and next to others."""
    random = np.random.default_rng(4)
    rows = 8
    exponents = random.integers(-30, 4, (rows, COLUMNS)).astype(np.float32)
    special = np.float32([-np.inf, -150, -149, 23, 98, 99, 100, 101, 127, 128, 1000, np.inf, np.nan])
    # A group of eight elements is in one thread.
    exponents[:, 3 : 8 * len(special) : 8] = special
    exponents[:, -len(special) :] = special
    d = np.float32([0.75, 3, 2**-24, 2**24, 2**-25, 2**25, -1, np.nan])
    kernel = smalti.compile(program_of_powers(rows), target=target)
    assert isinstance(kernel, smalti.Kernel)
    y, z = np.zeros((rows, COLUMNS), np.float16), np.zeros(rows, np.float32)
    kernel(exponents, d, y, z)
    with np.errstate(all="ignore"):
        expected = (np.exp2(exponents) / d[:, None]).astype(np.float16)
    np.testing.assert_array_equal(bits(y), bits(expected))


def program_of_matmul() -> str:
    """Divides a matmul, which is 1, times `x` by one divisor per row. A thread has pairs of a row."""
    return """
triton_xla.entry_func @divide(%a: memref<64x64xf16>, %x: memref<64x64xf32>, %d: memref<64xf32>, %y: memref<64x64xf32>,
                              %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %ones = triton_xla.dot %t, %t, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %m = triton_xla.extract %x[0, 0] [64, 64] [1, 1] : memref<64x64xf32> to tensor<64x64xf32>
  %p = arith.mulf %ones, %m : tensor<64x64xf32>
  %row = triton_xla.extract %d[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %ds = triton_xla.broadcast %row dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %q = arith.divf %p, %ds : tensor<64x64xf32>
  triton_xla.insert %q into %y[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:sm_90a"])
def test_rows_of_a_matmul(target: str) -> None:
    """Ordinary rows, and rows with one special value, which is in one thread."""
    random = np.random.default_rng(5)
    x = random.normal(size=(64, 64)).astype(np.float32)
    special = with_neighbors([*SPECIAL, *EDGES])
    for row in range(0, 64, 2):
        x[row, 7] = special[row // 2]
    d = random.uniform(0.5, 1000, 64).astype(np.float32)
    d[3::4] = np.resize(special[::-1], 16)
    kernel = smalti.compile(program_of_matmul(), target=target)
    assert isinstance(kernel, smalti.Kernel)
    assert any(
        "divisions per thread computed with one reciprocal per divisor" in remark.message for remark in kernel.remarks
    )
    y = np.zeros((64, 64), np.float32)
    kernel(np.full((64, 64), 0.125, np.float16), x, d, y)
    with np.errstate(all="ignore"):
        expected = x / d[:, None]
    np.testing.assert_array_equal(bits(y), bits(expected))


def test_fast_math_does_not_share() -> None:
    for flags, shared in (
        ("", True),
        (" fastmath<contract>", True),
        (" fastmath<arcp>", False),
        (" fastmath<afn>", False),
    ):
        text = program(4, "f32").replace("%t, %ds :", f"%t, %ds{flags} :")
        kernel = smalti.compile(text, target="sm_90a")
        assert isinstance(kernel, smalti.Kernel)
        assert any("one reciprocal per divisor" in remark.message for remark in kernel.remarks) == shared, flags
