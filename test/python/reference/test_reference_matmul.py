# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter's matmuls: algorithms, batches, packed and scaled and sparse operands."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import dtypes
from smalti.check import compare
from smalti.reference import Value, matmul

RNG = np.random.default_rng(0)
F32 = dtypes.ELEMENT_TYPES[1]


def parts(x: np.ndarray, count: int, keep: int) -> list[np.ndarray]:
    """The parts of f32 numbers with `keep` mantissa bits, truncated."""
    found: list[np.ndarray] = []
    rest = x.astype(np.float32)
    for _ in range(count):
        part = (rest.view(np.uint32) & np.uint32(~((1 << (23 - keep)) - 1) & 0xFFFFFFFF)).view(np.float32)
        found.append(part.astype(np.float64))
        rest = rest - part
    return found


@pytest.mark.parametrize(
    ("number", "count", "keep", "order"),
    [(1, 1, 10, 0), (2, 2, 10, 1), (3, 1, 7, 0), (4, 2, 7, 1), (5, 3, 7, 2), (6, 3, 7, 4)],
    ids=["tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "bf16x9"],
)
def test_the_bound_of_an_algorithm_covers_its_parts(number: int, count: int, keep: int, order: int) -> None:
    a, b = (RNG.standard_normal(shape).astype(np.float32) for shape in ((40, 30), (30, 50)))
    left, right = parts(a, count, keep), parts(b, count, keep)
    pairs = [(i, j) for i in range(count) for j in range(count) if i + j <= order]
    terms, error = matmul.ALGORITHMS[number]
    assert terms == len(pairs)
    total = np.sum([left[i] @ right[j] for i, j in pairs], axis=0)
    zero = Value(np.zeros((40, 50)))
    value = matmul.float_matmul(
        Value(a.astype(np.float64)), Value(b.astype(np.float64)), zero, F32, 0.0, operands=error
    )
    assert value.error is not None
    difference = np.abs(total - value.data)
    # bf16 rounds to nearest, which has half the error of the truncation above.
    slack = 2.0 if keep == 7 and order == 0 else 1.0
    assert np.all(difference <= slack * value.error + 1e-12)
    if order < 2:
        # The bound is useful: it is not more than 40 times the largest error.
        assert value.error.max() <= 40 * difference.max()


def test_batches_and_infinities() -> None:
    a, b = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((2, 4, 5))
    a[0, 1, 2], b[1, 0, 3] = np.inf, np.nan
    zero = Value(np.zeros((2, 3, 5)))
    value = matmul.float_matmul(Value(a), Value(b), zero, F32, 2.0**-23)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(value.data, a @ b)
    assert value.error is not None and np.all(np.isfinite(value.error))
    assert np.all(value.error[0, 1] == 0) and np.all(value.error[1, :, 3] == 0) and np.all(value.error[0, 0] > 0)


def test_an_unknown_operand_makes_its_results_unknown() -> None:
    a, error = RNG.standard_normal((3, 4)), np.zeros((3, 4))
    error[1, 2] = np.inf
    value = matmul.float_matmul(Value(a, error), Value(np.zeros((4, 2))), Value(np.zeros((3, 2))), F32, 2.0**-23)
    assert value.error is not None and np.isinf(value.error).tolist() == [[False] * 2, [True] * 2, [False] * 2]


def test_two_rounded_operands() -> None:
    a, b = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 2))
    lhs, rhs = Value(a, np.full((3, 4), 0.5)), Value(b, np.full((4, 2), 0.25))
    value = matmul.float_matmul(lhs, rhs, Value(np.zeros((3, 2))), F32, 0.0)
    worst = 0.5 * np.abs(b).sum(0) + 0.25 * np.abs(a).sum(1)[:, None] + 4 * 0.5 * 0.25
    assert value.error is not None
    np.testing.assert_allclose(value.error, worst)


def test_packed_elements_start_at_the_lowest_bit() -> None:
    four = matmul.unpack(np.array([[0x21, -1]]), "f4E2M1FN", 1)
    codes = np.array([[1, 2, 15, 15]], np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    np.testing.assert_array_equal(four, codes)
    # 6 bits: 000001 000010 000011 000100, from the lowest bit.
    word = 1 | 2 << 6 | 3 << 12 | 4 << 18
    columns = np.array([[word & 255], [word >> 8 & 255], [word >> 16]])
    six = matmul.unpack(columns, "f6E2M3FN", 0)
    codes = np.array([[1], [2], [3], [4]], np.uint8).view(ml_dtypes.float6_e2m3fn).astype(np.float64)
    np.testing.assert_array_equal(six, codes)


def test_swizzled_scales() -> None:
    matrix = RNG.integers(0, 100, (200, 6))
    flat = np.full(2 * 2 * 512, -1)
    for r in range(200):
        for c in range(6):
            # cuBLAS: blocks of 128 x 4 in row-major order.
            flat[((r // 128) * 2 + c // 4) * 512 + (r % 32) * 16 + (r % 128) // 32 * 4 + c % 4] = matrix[r, c]
    np.testing.assert_array_equal(matmul.scale_matrix(flat, 200, 6, 2, False), matrix)
    padded = np.pad(matrix, 1)[1:, 1:]
    np.testing.assert_array_equal(matmul.scale_matrix(padded.T, 200, 6, 1, True), matrix)


@pytest.mark.parametrize("form", ["f16", "f32", "f4E2M1FN"])
def test_sparse_operands(form: str) -> None:
    choices = {
        "f16": {0b0100: (0, 1), 0b1000: (0, 2), 0b1101: (1, 3)},
        "f32": {0b0100: (0,), 0b1110: (1,)},
        "f4E2M1FN": {0b0100: (0, 1, 2, 3), 0b1100: (0, 1, 6, 7), 0b1101: (2, 3, 6, 7)},
    }[form]
    group = {"f16": 4, "f32": 2, "f4E2M1FN": 8}[form]
    nibbles = RNG.choice(list(choices), (3, 4))
    kept = len(next(iter(choices.values())))
    stored = RNG.standard_normal((3, 4 * kept))
    expected = np.zeros((3, 4 * group))
    for row in range(3):
        for number in range(4):
            for index, position in enumerate(choices[int(nibbles[row, number])]):
                expected[row, number * group + position] = stored[row, number * kept + index]
    words = np.stack([nibbles[:, 0] | nibbles[:, 1] << 4, nibbles[:, 2] | nibbles[:, 3] << 4], axis=1).astype(np.int8)
    values, mask = matmul.dense(stored, words.astype(np.int64), 8, form)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(mask, expected != 0)


@pytest.mark.parametrize(
    "algorithm", ["tf32", "algorithm tf32x3", "algorithm bf16", "algorithm bf16x3", "algorithm ieee"]
)
def test_operands_that_overflow_when_they_are_rounded(algorithm: str) -> None:
    """The largest f32 number is infinite in bf16. In the other algorithms, targets differ."""
    text = f"""
triton_xla.entry_func @k(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %c: memref<16x16xf32>, %tile: index) tiles 1 {{
  %x = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %y = triton_xla.extract %b[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %z = triton_xla.extract %c[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %r = triton_xla.dot %x, %y, %z {algorithm} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %r into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}}
"""
    a = np.zeros((16, 16), np.float32)
    a[0, 0], a[1, 0], a[2, 0] = np.finfo(np.float32).max, -np.finfo(np.float32).max, 1.0
    b = np.full((16, 16), 0.5, np.float32)
    module = smalti.parse(text)
    value = smalti.reference.run(smalti.entry.find_entry(module), [a, b, np.zeros_like(a)])[2]
    bounds = smalti.reference.error_of(value)
    assert np.isfinite(bounds[2:]).all() and (value.data[2] == 0.5).all()
    if algorithm == "algorithm bf16":
        assert (value.data[0] == np.inf).all() and (value.data[1] == -np.inf).all() and not bounds[:2].any()
    else:
        assert np.isinf(bounds[:2]).all() == (algorithm != "algorithm ieee")
    for target in ("cpu", "emu:sm_80"):
        c = np.zeros_like(a)
        smalti.compile(text, target=target)(a, b, c)
        argument = smalti.entry.describe(smalti.entry.find_entry(module)).arguments[2]
        assert compare(argument, c, value).wrong == 0
