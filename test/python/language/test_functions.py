# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that kernels call: lambdas, functools.partial, objects with __call__, references of external code."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl

X = np.array([-2, -1, 0, 3], np.float32)


def scaled(s, factor, offset=0.0):
    if s > 0:
        s = s * factor
    return s + offset


@dataclass
class Scale:
    """A callable object."""

    factor: float

    def __call__(self, s):
        return scaled(s, self.factor)

    def method(self, s):
        return scaled(s, self.factor)


@dataclass
class Both:
    """A callable object that calls two others, which may be of its class."""

    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    def __call__(self, s):
        return self.second(self.first(s))


def composed(f, g):
    return lambda s: g(f(s))


double, negated = lambda s: 2 * s if s > 0 else s, lambda s: -s if s > 0 else s
nested = lambda s: (lambda a: a * 2 if a > 0 else a)(s)  # noqa: E731
limited = lambda s, low=-1.0, *, high=2.0: sl.minimum(s, high) if s > low else low  # noqa: E731
over_lines = lambda s: (  # noqa: E731
    s if s > 0 else sl.cast(0, sl.float32) if False else -s
)
renamed = lambda s: 5 * s if s > 0 else s  # noqa: E731
renamed.__name__ = "renamed"
probe = sl.external("__nv_fabsf", sl.float32, vendor="nvidia", effects="none", reference=lambda s: -s if s < 0 else s)


@smalti.kernel(target="cpu")
def mapped(x, function: smalti.constexpr, out):
    for i in range(4):
        out[i] = function(x[i])


FUNCTIONS: dict[str, tuple[Any, list[float]]] = {
    "lambda": (double, [-2, -1, 0, 6]),
    "second lambda of a line": (negated, [-2, -1, 0, -3]),
    "lambda in a lambda": (nested, [-2, -1, 0, 6]),
    "defaults": (limited, [-1, -1, 0, 2]),
    "over lines": (over_lines, [2, 1, 0, 3]),
    "renamed": (renamed, [-2, -1, 0, 15]),
    "closures of one lambda": (composed(composed(double, double), double), [-2, -1, 0, 24]),
    "partial": (functools.partial(scaled, factor=3.0, offset=1.0), [-1, 0, 1, 10]),
    "partial of a partial": (functools.partial(functools.partial(scaled, factor=3.0), offset=1.0), [-1, 0, 1, 10]),
    "partial of a function of Smalti": (functools.partial(sl.maximum, 1.0), [1, 1, 1, 3]),
    "partial of a function of Python": (functools.partial(max, 1.0), [1, 1, 1, 3]),
    "object": (Scale(3.0), [-2, -1, 0, 9]),
    "method": (Scale(3.0).method, [-2, -1, 0, 9]),
    "partial of an object": (functools.partial(Scale(3.0)), [-2, -1, 0, 9]),
    "objects of one class": (Both(Both(double, double), double), [-2, -1, 0, 24]),
}


@pytest.mark.parametrize("options", [{}, {"interpret": True}], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_translated(name: str, options: Any) -> None:
    function, expected = FUNCTIONS[name]
    out = np.zeros(4, np.float32)
    mapped.on(**options)(X, function, out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "function",
    [probe, sl.external("__ocml_fabs_f32", sl.float32, vendor="amd", effects="none", reference=probe)],
    ids=["lambda", "external"],
)
def test_references_are_translated(function: Any) -> None:
    out = np.zeros(4, np.float32)
    mapped(X, function, out)
    np.testing.assert_array_equal(out, [2, 1, 0, 3])


@smalti.kernel(target="cpu")
def reduced(x, function: smalti.constexpr, out):
    out[0] = sl.reduce(x[0:4], 0, function, -10.0)
    out[1] = functools.reduce(function, [x[i] for i in range(4)])
    out[2] = next(map(function, [x[0]], [x[3]]))


class Larger:
    """A callable object with two parameters."""

    def __call__(self, a, b):
        return a if a > b else b

    def method(self, a, b):
        return self(a, b)


def larger_than(least, a, b):
    return sl.maximum(a if a > b else b, least)


@pytest.mark.parametrize(
    "function",
    [lambda a, b: a if a > b else b, Larger(), Larger().method, functools.partial(larger_than, -9.0)],
    ids=["lambda", "object", "method", "partial"],
)
def test_functions_are_arguments(function: Any) -> None:
    out = np.zeros(3, np.float32)
    reduced(X, function, out)
    np.testing.assert_array_equal(out, [3, 3, 3])


def test_objects_are_data() -> None:
    @smalti.kernel(target="cpu")
    def checked(x, out):
        out[0] = x[0] * (getattr(scale, "factor") if isinstance(scale, Scale) else 1.0)  # noqa: B009

    scale = Scale(2.0)
    out = np.zeros(1, np.float32)
    checked(X, out)
    assert out[0] == -4


def test_a_changed_object_translates_the_kernel_again() -> None:
    @smalti.kernel(target="cpu")
    def scales(x, out):
        out[0] = scale(x[3])

    scale = Scale(2.0)
    out = np.zeros(1, np.float32)
    found = []
    for factor in (2.0, 5.0):
        scale.factor = factor
        scales(X, out)
        found.append(float(out[0]))
    assert found == [6, 15]


class Sum:
    """An object whose operator Python executes."""

    def __add__(self, other: Any) -> Any:
        return other if other > 0 else -other  # error


@pytest.mark.parametrize(
    ("function", "phrase", "line"),
    [
        (eval("lambda s: s if s > 0 else -s"), "hint: <lambda> is not translated; write it with def", None),
        (lambda s: Sum() + s, r"hint: Sum.__add__ is not translated; call a function", "error"),
        (lambda s: scaled(s), "the call of scaled does not match its parameters", None),
        (lambda s: s.nothing, "does not have the attribute 'nothing'", None),
    ],
    ids=["lambda without a source", "operator", "call", "attribute"],
)
def test_errors_have_the_line_of_the_function(function: Any, phrase: str, line: str | None) -> None:
    with pytest.raises(smalti.CompileError, match=phrase) as found:
        mapped(X, function, np.zeros(4, np.float32))
    place = found.value.location
    assert place is not None and [one.function for one in place.python][-1] == "mapped"
    assert place.function == ("__add__" if line else "<lambda>")
    if line is not None:
        assert linecache.getline(place.file, place.line).endswith(f"# {line}\n")


def weights(a0, b0, a1, b1):
    return a0 * a1, a1 * b0 + b1


@smalti.kernel
def recurrence(a, b, reverse: smalti.constexpr, out):
    _, out[0:8] = sl.scan((a[0:8], b[0:8]), 0, weights, (1.0, 0.0), reverse=reverse)


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_first_operands_of_a_scan_are_accumulated(target: str, reverse: bool) -> None:
    a, b = np.arange(8, dtype=np.float32) / 8, np.arange(8, dtype=np.float32)[::-1].copy()
    expected, h = np.zeros(8), 0.0
    for i in range(8)[:: -1 if reverse else 1]:
        h = a[i] * h + b[i]
        expected[i] = h
    out = np.zeros(8, np.float32)
    recurrence.on(target)(a, b, reverse, out)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("computed", "phrase"),
    [
        (
            lambda t: sl.scan((t, t), 0, lambda x, y: x + y, (0.0, 0.0))[0],
            r"the function has the parameters \(x, y\), but receives 4 elements\n(.*\n)*hint: for 2 tiles: combine\(a0, a1, b0, b1\)",
        ),
        (lambda t: sl.reduce(t, 0, weights, 0.0), r"receives 2 elements\n(.*\n)*hint: for 1 tile: combine\(a, b\)"),
        (
            lambda t: sl.sort((t, t), before=functools.partial(scaled, 1.0))[0],
            r"receives 4 elements\n(.*\n)*hint: for 2 tiles: before\(a0, b0, a1, b1\)",
        ),
    ],
    ids=["scan", "reduce", "sort"],
)
@pytest.mark.parametrize("options", [{}, {"interpret": True}], ids=["compiled", "interpreted"])
def test_parameters_of_functions_of_elements(computed: Any, phrase: str, options: Any) -> None:
    @smalti.kernel(target="cpu", **options)
    def kernel(x, out):
        out[0:4] = computed(x[0:4])

    with pytest.raises(smalti.CompileError, match=phrase):
        kernel(X, np.zeros(4, np.float32))
