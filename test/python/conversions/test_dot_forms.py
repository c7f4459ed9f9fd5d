# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every combination of element types of triton_xla.dot, in shapes that are not multiples of an MMA, on every kind of
chip.

The reference is numpy in float64, or in int64 modulo 2^32. Operands contain NaNs, infinities, signed zeros and subnormal
numbers."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from smalti import dtypes

TARGETS = ("emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201", "cpu")
"""One chip of each kind of matrix instruction."""
OTHERS = ("emu:sm_120a", "emu:gfx90a", "emu:gfx950", "emu:gfx1100", "emu:gfx1250", "sim:sm_80", "sim:gfx942")

FLOATS = {
    "f64": ("f64", "f64", "f64"),
    "f32": ("f32", "f32", "f32"),
    "f16": ("f16", "f16", "f32"),
    "f16-f16": ("f16", "f16", "f16"),
    "bf16": ("bf16", "bf16", "f32"),
    "e4m3": ("f8E4M3FN", "f8E4M3FN", "f32"),
    "e5m2": ("f8E5M2", "f8E5M2", "f32"),
    "e4m3-e5m2": ("f8E4M3FN", "f8E5M2", "f32"),
    "e5m2-e4m3": ("f8E5M2", "f8E4M3FN", "f32"),
    "e4m3fnuz": ("f8E4M3FNUZ", "f8E4M3FNUZ", "f32"),
    "e4m3fnuz-e5m2fnuz": ("f8E4M3FNUZ", "f8E5M2FNUZ", "f32"),
    "e5m2fnuz": ("f8E5M2FNUZ", "f8E5M2FNUZ", "f32"),
}
INTEGERS = {
    "s8-s8": "",
    "u8-s8": "unsigned_lhs",
    "s8-u8": "unsigned_rhs",
    "u8-u8": "unsigned_lhs unsigned_rhs",
}
SHAPES = ((6, 12, 20), (1, 1, 1), (5, 9, 7), (32, 32, 32))
"""M, N and K."""


def dot(shape: tuple[int, int, int], types: tuple[str, str, str], words: str = "", columns_of_b: bool = False) -> str:
    m, n, k = shape
    a, b, c = types
    stored = f"{n}x{k}" if columns_of_b else f"{k}x{n}"
    transpose = f"%bt = triton_xla.transpose %bs [1, 0] : tensor<{stored}x{b}> -> tensor<{k}x{n}x{b}>"
    operand = "%bt" if columns_of_b else "%bs"
    return f"""
triton_xla.entry_func @dot(%a: memref<{m}x{k}x{a}>, %b: memref<{stored}x{b}>, %c: memref<{m}x{n}x{c}>, %tile: index) tiles 1 {{
  %at = triton_xla.extract %a[0, 0] [{m}, {k}] [1, 1] : memref<{m}x{k}x{a}> to tensor<{m}x{k}x{a}>
  %bs = triton_xla.extract %b[0, 0] [{stored.replace("x", ", ")}] [1, 1] : memref<{stored}x{b}> to tensor<{stored}x{b}>
  {transpose if columns_of_b else ""}
  %ct = triton_xla.extract %c[0, 0] [{m}, {n}] [1, 1] : memref<{m}x{n}x{c}> to tensor<{m}x{n}x{c}>
  %r = triton_xla.dot %at, {operand}, %ct {words} : tensor<{m}x{k}x{a}>, tensor<{k}x{n}x{b}> -> tensor<{m}x{n}x{c}>
  triton_xla.insert %r into %c[0, 0] [{m}, {n}] [1, 1] : tensor<{m}x{n}x{c}> into memref<{m}x{n}x{c}>
  triton_xla.return
}}
"""


def run(source: str, target: str, *arrays: np.ndarray) -> None:
    kernel = smalti.compile(source, target=target)
    (kernel.launcher if target.startswith("emu:") else kernel)(*arrays)  # type: ignore[operator]


def small_values(generator: np.random.Generator, shape: tuple[int, int], name: str) -> np.ndarray:
    element = dtypes.from_mlir(name)
    assert element is not None
    return generator.integers(-3, 4, shape).astype(element.numpy)


def check_floats(target: str, form: str, shape: tuple[int, int, int], columns_of_b: bool = False) -> None:
    m, n, k = shape
    types = FLOATS[form]
    generator = np.random.default_rng(0)
    a, b, c = (
        small_values(generator, extents, name) for extents, name in zip(((m, k), (k, n), (m, n)), types, strict=True)
    )
    if min(shape) > 4:
        # Rows of A: a NaN, an infinity if the type has one, and the smallest positive number.
        a[1, 2] = np.nan
        a[3, 0] = np.inf
        tiny = np.zeros(1, a.dtype)
        tiny.view(f"u{tiny.itemsize}")[0] = 1
        if types[0].startswith("f8"):
            a[4] = tiny[0]
        b[2, 0] = 0
    with np.errstate(invalid="ignore"):
        wanted = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    result = c.copy()
    run(
        dot(shape, types, columns_of_b=columns_of_b),
        target,
        a,
        np.ascontiguousarray(b.T) if columns_of_b else b,
        result,
    )
    np.testing.assert_array_equal(result.astype(np.float64), wanted)


def check_integers(target: str, form: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    words = INTEGERS[form]
    generator = np.random.default_rng(0)
    a = generator.integers(-128, 128, (m, k)).astype(np.int8)
    b = generator.integers(-128, 128, (k, n)).astype(np.int8)
    a[0], b[:, 0] = -128, -128  # As unsigned: 128.
    a[-1], b[:, -1] = -1, -1  # As unsigned: 255.
    c = generator.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
    c[0, 0], c[-1, -1] = 2**31 - 1, 2**31 - 1

    def value(x: np.ndarray, is_unsigned: bool) -> np.ndarray:
        return (x.view(np.uint8) if is_unsigned else x).astype(np.int64)

    wanted = c + value(a, "unsigned_lhs" in words) @ value(b, "unsigned_rhs" in words)
    run(dot(shape, ("i8", "i8", "i32"), words), target, a, b, c)
    np.testing.assert_array_equal(c, wanted.astype(np.int32))


@pytest.mark.grid(20)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FLOATS)
@pytest.mark.parametrize("target", TARGETS)
def test_floats(target: str, form: str, shape: tuple[int, int, int]) -> None:
    check_floats(target, form, shape)


@pytest.mark.grid(8)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", INTEGERS)
@pytest.mark.parametrize("target", TARGETS)
def test_integers_wrap(target: str, form: str, shape: tuple[int, int, int]) -> None:
    check_integers(target, form, shape)


@pytest.mark.parametrize("target", OTHERS)
def test_other_chips(target: str) -> None:
    for form in FLOATS:
        check_floats(target, form, (6, 12, 20))
    for form in INTEGERS:
        check_integers(target, form, (6, 12, 20))


@pytest.mark.parametrize("form", ["f16", "e4m3-e5m2", "f64"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_transposed_operand(target: str, form: str) -> None:
    check_floats(target, form, (6, 12, 20), columns_of_b=True)


@pytest.mark.parametrize("target", TARGETS)
def test_padding_keeps_negative_zeros(target: str) -> None:
    a = np.full((6, 20), -0.0, np.float16)
    b = np.ones((20, 12), np.float16)
    c = np.full((6, 12), -0.0, np.float32)
    run(dot((6, 12, 20), FLOATS["f16"]), target, a, b, c)
    assert not c.any() and np.signbit(c).all()


@pytest.mark.parametrize("form", ["e4m3-e5m2", "e5m2-e4m3", "e4m3fnuz-e5m2fnuz"])
@pytest.mark.parametrize("target", TARGETS)
def test_every_8_bit_float(target: str, form: str) -> None:
    """All 256 elements of A, multiplied by 1."""
    types = FLOATS[form]
    left, right = (dtypes.from_mlir(name) for name in types[:2])
    assert left is not None and right is not None
    a = np.arange(256, dtype=np.uint8).reshape(256, 1).view(left.numpy)
    b = np.ones((1, 8), right.numpy)
    c = np.zeros((256, 8), np.float32)
    run(dot((256, 8, 1), types), target, a, b, c)
    np.testing.assert_array_equal(c, np.repeat(a.astype(np.float32), 8, axis=1))
