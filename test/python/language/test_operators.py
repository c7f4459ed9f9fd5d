# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators and functions of tiles against numpy: every pair of element types, broadcasting, indexing, reductions."""

from __future__ import annotations

import itertools
import operator
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl
from smalti.language.types import promote

RANDOM = np.random.default_rng(7)
TYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint32", "uint16", "uint8", "bool")


def array(shape: tuple[int, ...], name: str) -> np.ndarray:
    """Random numbers: positive and negative, and small enough for exact comparisons."""
    if name == "bool":
        return RANDOM.integers(0, 2, shape).astype(bool)
    low = 0 if name.startswith("u") else -20
    return RANDOM.integers(low, 20, shape).astype(name)


def run_each(functions: Sequence[Callable[..., Any]], expected: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
    """The results of the functions on whole arrays as tiles, in the rows of an array of the type and shape of `expected`.

    One kernel has all functions: its compilation takes much longer than a function does."""
    shapes = tuple(x.shape for x in inputs)

    def read(x: Any, shape: tuple[int, ...]) -> Any:
        return x[tuple(slice(0, size) for size in shape)]

    @smalti.kernel(target="cpu")
    def kernel1(out, a):
        write(out, read(a, shapes[0]))

    @smalti.kernel(target="cpu")
    def kernel2(out, a, b):
        write(out, read(a, shapes[0]), read(b, shapes[1]))

    def write(out: Any, *tiles: Any) -> None:
        for row, function in enumerate(functions):
            out[(row, *(slice(0, size) for size in expected.shape[1:]))] = function(*tiles)

    out = np.zeros_like(expected, order="C")
    (kernel1 if len(inputs) == 1 else kernel2)(out, *inputs)
    return out


def run(function: Callable[..., Any], expected: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
    """The result of one function."""
    return run_each([function], expected[None], *inputs)[0]


def check_each(functions: Mapping[str, Callable[..., Any]], wanted: Sequence[np.ndarray], *inputs: np.ndarray) -> None:
    """Checks the results of functions by their names. They have one type and shape."""
    results = run_each(list(functions.values()), np.stack(wanted), *inputs)
    for name, expected, result in zip(functions, wanted, results, strict=True):
        np.testing.assert_array_equal(result, expected, err_msg=name)


ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod}
COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
SHIFTS = {"<<": operator.lshift, ">>": operator.rshift}

PAIRS = [pair for pair in itertools.combinations_with_replacement(TYPES, 2) if pair != ("bool", "bool")]


@pytest.mark.grid(30)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_arithmetic_of_types(pair: tuple[str, str]) -> None:
    x, y = (array((8,), name) for name in pair)
    y[y == 0] = 1
    result = promote(sl.dtype(pair[0]), sl.dtype(pair[1]))
    check_each(ARITHMETIC, [op(x.astype(result.name), y.astype(result.name)) for op in ARITHMETIC.values()], x, y)


def test_arithmetic_of_booleans() -> None:
    x, y = array((8,), "bool"), array((8,), "bool")
    functions = {symbol: ARITHMETIC[symbol] for symbol in "+-*"}
    check_each(functions, [op(x.astype(np.int32), y.astype(np.int32)) for op in functions.values()], x, y)
    for symbol in ("//", "%"):
        with pytest.raises(smalti.CompileError, match=f"{symbol} is not supported for booleans"):
            run(ARITHMETIC[symbol], np.zeros(8, np.int32), x, y)


@pytest.mark.parametrize("name", TYPES)
def test_comparisons(name: str) -> None:
    x, y = array((16,), name), array((16,), name)
    y[:4] = x[:4]
    check_each(COMPARISONS, [op(x, y) for op in COMPARISONS.values()], x, y)


def test_comparisons_with_nan() -> None:
    x = np.array([np.nan, 1, np.nan, 0.0], np.float32)
    y = np.array([np.nan, np.nan, 2, -0.0], np.float32)
    check_each(COMPARISONS, [op(x, y) for op in COMPARISONS.values()], x, y)


@pytest.mark.parametrize("name", ["int32", "uint8", "int16", "bool"])
def test_bits(name: str) -> None:
    x, y = array((16,), name), array((16,), name)
    check_each(BITS, [op(x, y) for op in BITS.values()], x, y)
    np.testing.assert_array_equal(run(operator.invert, ~x, x), ~x)
    if name != "bool":
        y = (abs(y) % 7).astype(name)
        check_each(SHIFTS, [op(x, y) for op in SHIFTS.values()], x, y)


@pytest.mark.parametrize(
    "shapes",
    [((4, 8), (8,)), ((4, 1), (1, 8)), ((1,), (4, 8)), ((2, 1, 8), (4, 1)), ((4, 8), (4, 8))],
    ids=str,
)
def test_broadcasting(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (array(shape, "float32") for shape in shapes)
    np.testing.assert_array_equal(run(operator.sub, x - y, x, y), x - y)


INDEXING: dict[str, Callable[[Any], Any]] = {
    "new dimensions": lambda t: t[None, :, None, :],
    "steps": lambda t: t[1::2, :6:3],
    "negative": lambda t: t[-1, -3:],
    "ellipsis": lambda t: t[..., 2],
    "one element": lambda t: t[3, 2],
    "transposed": lambda t: t.T,
    "reshaped": lambda t: t.reshape(2, -1, 4),
}


@pytest.mark.parametrize("name", INDEXING)
def test_indexing(name: str) -> None:
    x = array((4, 8), "int32")
    expected = np.ascontiguousarray(INDEXING[name](x))
    expected = expected.reshape(np.shape(INDEXING[name](x)))
    np.testing.assert_array_equal(run(INDEXING[name], expected, x), expected)


REDUCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any] | None]] = {
    "sum": (lambda t: t.sum(1), lambda x: x.sum(1)),
    "sum of all": (lambda t: t.sum(), lambda x: x.sum()),
    "keepdims": (lambda t: t - t.max(0, keepdims=True), lambda x: x - x.max(0, keepdims=True)),
    "min": (lambda t: t.min(axis=(0, 1)), lambda x: x.min()),
    "argmax": (lambda t: t.argmax(1), lambda x: x.argmax(1).astype(np.int32)),
    "argmin of all": (lambda t: t.argmin(), lambda x: np.int32(x.argmin())),
    "cumsum": (lambda t: t.cumsum(1), lambda x: x.cumsum(1, dtype=x.dtype)),
    "reverse": (lambda t: t.cumsum(0, reverse=True), lambda x: x[::-1].cumsum(0, dtype=x.dtype)[::-1]),
    "any": (lambda t: (t > 15).any(1), lambda x: (x > 15).any(1)),
    "all": (lambda t: (t > -15).all(0), lambda x: (x > -15).all(0)),
    "sort": (lambda t: sl.sort(t), lambda x: np.sort(x)),
    "descending": (lambda t: sl.sort(t, 0, descending=True), lambda x: -np.sort(-x, 0)),
    "reduce": (lambda t: sl.reduce(t, 1, lambda a, b: sl.maximum(a, b), 3), lambda x: np.maximum(x.max(1), 3)),
    "histogram": (lambda t: sl.histogram(t.to(sl.int32) % 8, 8).reshape(8), None),
    "concat": (lambda t: sl.concat([t, -t], 1), lambda x: np.concatenate([x, -x], 1)),
    "stack": (lambda t: sl.stack([t, t + 1]), lambda x: np.stack([x, x + 1])),
    "split": (lambda t: t.split(2, 1)[1], lambda x: np.split(x, 2, 1)[1]),
    "where": (lambda t: sl.where(t > 0, t, 0), lambda x: np.where(x > 0, x, 0)),
    "mask": (
        lambda t: t.mask([2, 5], -1),
        lambda x: np.where(np.add.outer(2 * (np.arange(4) > 1), np.arange(8) > 4), -1, x),
    ),
}


@pytest.mark.grid(19)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions(name: str, dtype: str) -> None:
    x = array((4, 8), dtype)
    function, reference = REDUCTIONS[name]
    if reference is None:
        expected = np.bincount(np.mod(x, 8).astype(np.int32).ravel(), minlength=8).astype(np.int32)
    else:
        result = np.asarray(reference(x))
        kept = result.dtype.name in ("bool", "int32")
        expected = result if kept or result.dtype == x.dtype else result.astype(x.dtype)
    np.testing.assert_array_equal(run(function, expected, x), expected)


def test_argmax_of_ties_and_nan_is_that_of_numpy() -> None:
    x = np.array([[1, 3, 3, 0], [np.nan, 5, np.nan, 1], [-np.inf] * 4], np.float32)
    expected = x.argmax(1).astype(np.int32)
    np.testing.assert_array_equal(run(lambda t: t.argmax(1), expected, x), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16"])
def test_reductions_of_narrow_types_are_wide(dtype: str) -> None:
    x = np.full(200, 2).astype(dtype)
    x[20:] = 1
    wide = np.float32 if dtype == "float16" else np.int32
    for name in ("sum", "prod", "cumsum", "cumprod"):
        expected = np.asarray(getattr(x, name)(dtype=wide))
        np.testing.assert_array_equal(run(lambda t, name=name: getattr(t, name)(), expected, x), expected)
    expected = x.cumsum(dtype=np.uint8)
    np.testing.assert_array_equal(run(lambda t: t.cumsum(dtype=sl.uint8), expected, x), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_nan_is_greater_than_numbers_in_a_sort(dtype: str) -> None:
    x = np.random.default_rng(3).standard_normal((4, 32)).astype(dtype)
    x[:3, ::5] = np.nan
    x[0, 1] = x[1, 0] = np.inf
    ordered = np.sort(x, 1)
    np.testing.assert_array_equal(run(lambda t: sl.sort(t), ordered, x), ordered)
    np.testing.assert_array_equal(run(lambda t: sl.sort(t, descending=True), ordered, x), ordered[:, ::-1])
    # Elements that are equal keep their order, NaN too.
    positions = np.argsort(x, 1, kind="stable").astype(np.int32)
    found = run(lambda t: sl.sort((t, sl.zeros(t.shape, sl.int32) + sl.arange(32)))[1], positions, x)
    np.testing.assert_array_equal(found, positions)


def test_conversions() -> None:
    x = np.array([1.7, -1.7, 100.25, 0.0], np.float32)
    for name in ("int32", "int8", "float16", "float64", "bool"):
        np.testing.assert_array_equal(run(lambda t, name=name: t.to(name), x.astype(name), x), x.astype(name))
    bits = x.view(np.int32)
    np.testing.assert_array_equal(run(lambda t: t.bitcast(sl.int32), bits, x), bits)


@smalti.kernel
def rounded(x, narrow, wide):
    t = x.at[0:16].load()
    narrow[0:16] = t.to(sl.int8)
    wide[0:16] = t.to(sl.int32)


OUT_OF_RANGE = {
    "cpu": (44, -44, -(2**31)),
    "emu:sm_80": (44, -44, -(2**31)),
    "emu:gfx942": (44, -44, -(2**31)),
    "sim:sm_90a": (127, -128, 2**31 - 1),
    "sim:gfx942": (127, -128, 2**31 - 1),
}
"""The results of the page for 300 and -300 to int8, and for 3e9 to int32."""


@pytest.mark.parametrize("interpret", [False, True])
def test_a_conversion_to_bool_is_that_of_numpy(interpret: bool) -> None:
    @smalti.kernel(target="cpu", interpret=interpret)
    def truths(x: sl.Array, n: sl.Array, out: sl.Array):
        out[0, :8] = x[:8].to(sl.bool)
        out[1, :8] = n[:8].to(sl.boolean)
        is_first = x[0].to(sl.bool)
        for i in range(1, 2):
            is_first = n[i].to(sl.bool)
        out[2, :8] = is_first

    x = np.array([0, -0.0, 0.5, np.nan, np.inf, -2, 1e-45, 256], np.float32)
    n = np.array([0, 256, -1, 1, 2, 0, 3, 65536], np.int32)
    out = np.zeros((3, 8), bool)
    truths(x, n, out)
    np.testing.assert_array_equal(out, [x.astype(bool), n.astype(bool), np.ones(8, bool)])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the results are those of x86-64")
@pytest.mark.parametrize("target", OUT_OF_RANGE)
def test_floats_that_an_integer_type_does_not_contain(target: str) -> None:
    x = np.array([300, -300, 3e9], np.float32)
    narrow, wide = np.zeros(3, np.int8), np.zeros(3, np.int32)
    rounded.on(target)(x, narrow, wide)
    assert (narrow[0], narrow[1], wide[2]) == OUT_OF_RANGE[target]


@pytest.mark.parametrize(
    ("target", "level", "wide", "narrow"),
    [
        ("sm_80", "ptx", r"cvt\.rzi\.s32\.f32", r"cvt\.rzi\.s16\.f32"),
        ("gfx942", "gcn", r"v_cvt_i32_f32", r"v_cvt_i32_f32"),
    ],
)
def test_instructions_that_convert_floats_to_integers(target: str, level: str, wide: str, narrow: str) -> None:
    """They clamp the number to their type, as the page says."""

    def convert(x: Any, y: Any) -> None:
        y[0:128] = x[0:128].to(y.dtype)

    kernel = smalti.kernel(target=target)(convert)
    for dtype, instruction in (("int32", wide), ("int8", narrow)):
        arrays = [smalti.ShapeDtypeStruct((128,), name) for name in ("float32", dtype)]
        assert re.search(instruction, kernel.ir(level, *arrays))


@pytest.mark.parametrize("name", ["exp", "log1p", "sqrt", "sin", "tanh", "floor", "ceil", "trunc", "round", "abs"])
def test_math(name: str) -> None:
    x = RANDOM.random(64).astype(np.float32) * 3
    function = getattr(sl, name)
    expected = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(run(function, expected, x), expected, rtol=2e-6, atol=1e-7)


def test_classes_of_floats() -> None:
    x = np.array([1.5, -0.0, np.inf, -np.inf, np.nan], np.float32)
    functions = {name: getattr(sl, name) for name in ("isnan", "isinf", "isfinite")}
    for numbers in (x, np.arange(5)):
        check_each(functions, [getattr(np, name)(numbers) for name in functions], numbers)
    y = np.array([-1, 2, -3, 4, -0.0], np.float32)
    np.testing.assert_array_equal(run(sl.copysign, np.copysign(x, y), x, y), np.copysign(x, y))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_numbers_of_bits(dtype: str) -> None:
    x = np.array([0, 1, 12, 100, 127], dtype)
    width = x.itemsize * 8
    wanted = {
        "popcount": [0, 1, 2, 3, 7],
        "count_leading_zeros": [width, width - 1, width - 4, width - 7, width - 7],
        "count_trailing_zeros": [width, 0, 2, 2, 0],
    }
    check_each({name: getattr(sl, name) for name in wanted}, list(np.array(list(wanted.values()), dtype)), x)


def test_powers() -> None:
    x = np.array([1.5, 2, 3, 4], np.float32)
    exponents = (0, 2, 5, 0.5, -1)
    expected = np.stack([x**exponent for exponent in exponents])
    results = run_each([lambda t, exponent=exponent: t**exponent for exponent in exponents], expected, x)
    np.testing.assert_allclose(results, expected, rtol=1e-6)
    n = np.arange(4, dtype=np.int32)
    np.testing.assert_array_equal(run(lambda t: 2**t, 2**n, n), 2**n)
    np.testing.assert_array_equal(run(lambda t: np.float32(2) * t, 2 * x, x), 2 * x)


@smalti.kernel(target="cpu")
def powers_of_a_size(x, out):
    out[0] = x.shape[0] ** 2 + 2 ** x.shape[0]


def test_powers_of_a_size() -> None:
    out = np.zeros(1, np.int32)
    powers_of_a_size(np.zeros(5, np.float32), out)
    assert out[0] == 25 + 32
