# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`if`, `for` and `while` of kernels: static ones, and those that the kernel executes."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl

X = np.random.default_rng(5).random(100).astype(np.float32)


@smalti.kernel(target="cpu")
def count(x, n, out):
    acc = 0
    top = x[0]
    for i in range(n):
        if x[i] > 0.5:
            acc += 1
            top = max(top, x[i])
        elif x[i] > 0.25:
            acc += 10
    power = 1
    while power * power < n and acc >= 0:
        power = power * 2
    out[0] = acc
    out[1] = power
    out[2] = sl.to(top * 1000, sl.int32)


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "emu:gfx1100"])
def test_branches_and_loops_carry_scalars(target: str) -> None:
    out = np.full(3, -1, np.int32)
    count.on(target)(X, 100, out)
    expected = (X > 0.5).sum() + 10 * ((X > 0.25) & (X <= 0.5)).sum()
    assert list(out) == [expected, 16, int(X.max() * np.float32(1000))]


@smalti.kernel(target="cpu")
def python_values(n, out):
    out[0] = (n // 3) + (-7) // 2 + (n - 20) % 7
    out[1] = n // 16 if n > 8 else 3
    a, (b, *c) = 1, (2, 3, 4)
    out[2] = a + b + sum(c)
    total = 0
    for i in sl.static_range(8):
        if i == 3:
            continue
        if i == 6:
            break
        total += i
    out[3] = total
    out[4] = len([i for i in range(5) if i % 2])
    f = lambda v, w=2: v * w  # noqa: E731
    out[5] = f(n)
    out[6] = f(w=3, v=n)
    table = {"a": (n, 1), "b": 2}
    out[7] = table["a"][0] + table["b"]
    out[8] = 3 < n < 100
    out[9] = not n > 3


def test_python_values_are_static() -> None:
    out = np.full(10, -1, np.int32)
    python_values(13, out)
    assert list(out) == [13 // 3 - 4 + (13 - 20) % 7, 0, 10, 0 + 1 + 2 + 4 + 5, 2, 26, 39, 15, 1, 0]


@smalti.kernel(target="cpu")
def structures(x, flag, out):
    state = {"sum": sl.zeros(4), "parts": [sl.zeros(4), 0]}
    for i in range(0, 16, 4):
        t = x[i : i + 4]
        state["sum"] = state["sum"] + t
        state["parts"][1] += 1
        if flag:
            state["parts"][0] = sl.maximum(state["parts"][0], t)
        else:
            state["parts"][0] = -t
    out[0:4] = state["sum"]
    out[4:8] = state["parts"][0]
    out[8] = state["parts"][1]


@pytest.mark.parametrize("flag", [False, True])
def test_loops_carry_containers(flag: bool) -> None:
    out = np.full(9, np.nan, np.float32)
    structures(X[:16].copy(), flag, out)
    rows = X[:16].reshape(4, 4)
    np.testing.assert_allclose(out[:4], rows.sum(0), rtol=1e-6)
    np.testing.assert_array_equal(out[4:8], rows.max(0) if flag else -rows[3])
    assert out[8] == 4


@smalti.kernel(target="cpu")
def nested(out, n):
    total = 0
    for i in range(n):
        for j in range(i):
            if (i + j) % 2 == 0:
                total = total + i * j
    out[0] = total


def test_nested_loops_without_iterations() -> None:
    out = np.full(1, -1, np.int64)
    for n in (0, 1, 9):
        nested(out, n)
        assert out[0] == sum(i * j for i in range(n) for j in range(i) if (i + j) % 2 == 0)


@smalti.kernel(target="cpu")
def operands(n, m, x, o):
    o[0] = n and 7
    o[1] = n or 7
    o[2] = 0 or n
    o[3] = m and n and 3
    o[4] = n > 3 and m
    o[5] = not (n and m)
    o[6] = 1 if n and x[0] else 2
    if m or n == 5:
        o[7] = 4


@pytest.mark.parametrize(("n", "m"), [(5, 0), (0, 3), (7, 9), (0, 0)])
@pytest.mark.parametrize("interpret", [False, True])
def test_and_and_or_have_the_value_of_an_operand(n: int, m: int, interpret: bool) -> None:
    x, o = np.ones(1, np.float32), np.full(8, -1)
    operands.on(interpret=interpret)(n, m, x, o)
    expected = [n and 7, n or 7, n, m and n and 3, n > 3 and m, not (n and m), 1 if n else 2, 4 if m or n == 5 else -1]
    assert list(o) == expected


@smalti.kernel(target="cpu")
def condition_names(n, o):
    y = n
    count = 0
    while (y := y - 1) > 0:
        count = count + y
    o[0] = count
    o[1] = y
    z = 1
    t = n if n > 30 else (z := 8)
    o[2] = z + t


def test_assignment_expressions_in_conditions() -> None:
    o = np.zeros(3, np.int64)
    for n, expected in ((5, [10, 0, 16]), (40, [780, 0, 41])):
        condition_names(n, o)
        assert list(o) == expected


@smalti.kernel(target="cpu")
def late_name(n, o):
    while (y := n) > 9:
        o[0] = y


@smalti.kernel(target="cpu")
def late_operand(n, o):
    if n > 9 and (y := n) > 3:
        o[0] = y


@smalti.kernel(target="cpu")
def list_operand(n, o):
    o[0] = len(n and [1])


@pytest.mark.parametrize(
    ("kernel", "phrase"),
    [
        (late_name, "'y' is not defined here: the condition of the while loop"),
        (late_operand, "'y' is assigned in an operand of 'and' or 'or' that may not be evaluated"),
        (list_operand, r"the operands of 'and' are .* and \[1\], but must be scalars or numbers"),
    ],
)
def test_conditions_are_refused(kernel: smalti.PythonKernel, phrase: str) -> None:
    with pytest.raises(smalti.CompileError, match=phrase):
        kernel(5, np.zeros(1, np.int64))


@smalti.kernel(target="cpu")
def functions_of_python(n, m, x, o):
    o[0] = any([n > 3, m > 3])
    o[1] = all(v > 3 for v in (n, m, 5))
    o[2] = any([n > 3, True]) + all([])
    o[3], o[4] = divmod(n, 3)
    o[5] = 100 // m + divmod(100, m)[1]
    named = {"x": x[0], "n": n}
    o[6] = 1 if "x" in named and "m" not in named else 2
    o[7] = 1 if n is None else 2


@pytest.mark.parametrize(("n", "m"), [(5, 2), (2, 7), (6, 7), (2, 3)])
@pytest.mark.parametrize("interpret", [False, True])
def test_functions_of_python(n: int, m: int, interpret: bool) -> None:
    x, o, expected = np.zeros(1, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    functions_of_python.on(interpret=interpret)(n, m, x, o)
    functions_of_python.__smalti_function__(n, m, x, expected)
    np.testing.assert_array_equal(o, expected)


@dataclasses.dataclass
class Box:
    """A dataclass, whose fields a branch may change."""

    count: Any
    total: Any


class Plain:
    """A class that is not a dataclass."""

    def __init__(self, v: int) -> None:
        self.v = v

    def put(self, v: int) -> None:
        self.v = v


GLOBAL = [1]


def seti(items, v):
    items[0] = v


@smalti.kernel(target="cpu")
def grows_in_if(n, o):
    l = []  # noqa: E741
    if n > 30:
        l.append(1)
    o[0] = len(l)


@smalti.kernel(target="cpu")
def grows_in_loop(n, o):
    table = {}
    for i in range(n):
        table.update(a=i)
    o[0] = len(table)


@smalti.kernel(target="cpu")
def grows_in_while(n, o):
    found = set()
    i = n
    while i > 0:
        i -= 1
        found.add(1)
    o[0] = len(found)


@smalti.kernel(target="cpu")
def attribute(n, o):
    p = Plain(1)
    if n > 30:
        p.v = 2
    o[0] = p.v


@smalti.kernel(target="cpu")
def method(n, o):
    p = [Plain(1)]
    if n > 30:
        p[0].put(2)
    o[0] = p[0].v


@smalti.kernel(target="cpu")
def helper(n, o):
    l = [1]  # noqa: E741
    if n > 30:
        o[0] = 3
    else:
        seti(l, 2)
    o[0] = l[0]


@smalti.kernel(target="cpu")
def nested_function(n, o):
    l = [1]  # noqa: E741

    def add():
        l.append(2)

    for _ in range(n):
        add()
    o[0] = len(l)


@smalti.kernel(target="cpu")
def global_list(n, o):
    if n > 30:
        GLOBAL.append(2)
    o[0] = 1


@smalti.kernel(target="cpu")
def in_expression(n, o):
    l = [1, 2]  # noqa: E741
    o[0] = l.pop() if n > 30 else 0
    o[0] = len(l)


@smalti.kernel(target="cpu")
def in_operand(n, o):
    l = [1, 2]  # noqa: E741
    o[0] = n > 30 and l.pop()


@smalti.kernel(target="cpu")
def alias(n, o):
    a = [n * 0]
    b = a
    for _ in range(n):
        a[0] = a[0] + 1
    o[0] = b[0]


@smalti.kernel(target="cpu")
def alias_in_if(n, o):
    a = [n]
    b = (a, 1)
    if n > 3:
        a[0] = 7
    o[0] = b[0][0]


@smalti.kernel(target="cpu")
def alias_in_structure(n, o):
    inner = [n]
    a = {"x": inner, "y": inner}
    inner = 0
    for i in range(n):
        a["x"][0] = i
    o[0] = a["y"][0] + inner


def count_up(items, n):
    for _ in range(n):
        items[0] += 1


@smalti.kernel(target="cpu")
def alias_of_caller(n, o):
    a = [n]
    count_up(a, n)
    o[0] = a[0]


@smalti.kernel(target="cpu")
def iterator(n, o):
    items = iter([1, 2])
    o[0] = 3 if n > 30 else next(items)


@smalti.kernel(target="cpu")
def alias_after_if(n, o):
    a = [n]
    b = a
    if n > 3:
        a = [0]
    a[0] = 1
    o[0] = b[0]


@smalti.kernel(target="cpu")
def alias_after_nested_if(n, o):
    a = Box(n, 1)
    b = (a,)
    if n > 3:
        o[0] = 1
        if n > 4:
            a = Box(0, 0)
    if n > 2:
        a.count = 1
    o[0] = b[0].count


@smalti.kernel(target="cpu")
def alias_after_loop(n, o):
    a, b = [n], [0]
    for _ in range(n):
        b = a
    seti(b, 7)
    o[0] = a[0]


@smalti.kernel(target="cpu")
def alias_of_the_iteration_before(n, o):
    a, b = [n], [0]
    for _ in range(n):
        b[0] += 1
        b = a
    o[0] = a[0]


@smalti.kernel(target="cpu")
def alias_of_an_expression(n, o):
    a, b = [n], [0]
    c = a if n > 3 else b
    c.append(1)
    o[0] = len(a)


@smalti.kernel(target="cpu")
def alias_in_a_partial(n, o):
    a = [n]
    first = functools.partial(seti, a)
    if n > 3:
        a = [0]
    first(7)
    o[0] = a[0]


@smalti.kernel(target="cpu")
def alias_in_a_default(n, o):
    a = [n]

    def first(items=a):
        return items[0]

    if n > 3:
        a = [0]
    a[0] = 7
    o[0] = first()


@smalti.kernel(target="cpu")
def identity(n, o):
    a = b = [n]
    if n > 3:
        a = [0]
    o[0] = 1 if a is b else 2


@pytest.mark.parametrize(
    ("kernel", "line", "phrase"),
    [
        (alias_after_if, 5, "the list 'a' changes, and may also be 'b'"),
        (alias_after_nested_if, 8, r"the object 'a' changes, and may also be 'b\[0\]'"),
        (alias_after_loop, 4, "the list '(b|items)' changes, and may also be 'a'"),
        (alias_of_the_iteration_before, 2, "the list 'b' changes in a loop .*, and is also 'a' after an iteration"),
        (alias_of_an_expression, 3, "the list 'c' changes, and may also be '[ab]'"),
        (alias_in_a_partial, 5, "the list '.*' changes, and may also be 'a'"),
        (alias_in_a_default, 8, r"the list 'a' changes, and may also be 'first\(items\)'"),
        (identity, 4, "'is' compares two values that may be one object"),
        (grows_in_if, 3, "the list 'l' changes in an if that the kernel executes"),
        (grows_in_loop, 3, "the dictionary 'table' changes in a loop"),
        (grows_in_while, 5, "the set 'found' changes in a loop"),
        (attribute, 3, "the object 'p' changes in an if"),
        (method, 3, r"the object 'p\[0\]' changes in an if"),
        (helper, 5, "the list 'l' changes in an if"),
        (nested_function, 7, "the list 'l' changes in a loop"),
        (global_list, 2, "the value 'GLOBAL' changes in an if"),
        (in_expression, 2, "the list 'l' changes in a conditional expression"),
        (in_operand, 2, "the list 'l' changes in an operand of 'and' or 'or'"),
        (iterator, 2, "the iterator 'items' changes in a conditional expression"),
        (alias, 4, "the list 'a' changes in a loop that the kernel executes, and is also 'b'"),
        (alias_in_if, 4, r"the list 'a' changes in an if that the kernel executes, and is also 'b\[0\]'"),
        (alias_in_structure, 5, r"the list 'a\['x'\]' changes in a loop .* is also 'a\['y'\]'"),
        (alias_of_caller, 2, "the list 'items' changes in a loop that the kernel executes, and is also 'a'"),
    ],
)
def test_changes_that_python_would_make_are_refused(kernel: smalti.PythonKernel, line: int, phrase: str) -> None:
    with pytest.raises(smalti.CompileError, match=phrase) as caught:
        kernel(5, np.zeros(1, np.int64))
    GLOBAL[:] = [1]
    location = caught.value.location
    first = kernel.__wrapped__.__code__.co_firstlineno + 1
    outer = [location, *location.python][-1]
    assert outer.line == first + line, outer


@smalti.kernel(target="cpu")
def shared(n, o):
    """Changes of values that have two names, or had them, with the results of Python."""
    a = b = [n]
    c = a if n > 3 else b
    c[0] = 1
    o[0] = a[0] + b[0]
    if n > 3:
        d = e = [5]
    else:
        d = e = [6]
    d[0] += 1
    o[1] = e[0]
    f = a
    if n > 3:
        f = [9]
    a = b = c = [0]
    f[0] += 1
    o[2] = f[0]
    this, other = [n], [2 * n]
    if n > 4:
        this, other = other, this
    this[0] += 1
    for _ in range(n):
        other[0] += this[0]
        this, other = other, this
    this[0] += 1
    o[3] = this[0]
    o[4] = other[0]


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("interpret", [False, True])
def test_changes_of_values_of_two_names(n: int, interpret: bool) -> None:
    o, expected = np.zeros(5, np.int64), np.zeros(5, np.int64)
    shared.on(interpret=interpret)(n, o)
    shared.__smalti_function__(n, expected)
    np.testing.assert_array_equal(o, expected)


@smalti.kernel(target="cpu")
def allowed(n, o):
    p = Plain(n)
    p.put(n + 1)
    a = [n, n]
    b = a
    scale = n - 4

    def scaled(v):
        return v * scale

    if n > 3:
        mine = []
        mine.append(p.v)
        q = Plain(2)
        q.put(mine[0])
        a = [q.v, 1]
        scale = 2 * n
        o[3] = scaled(n)
    state = {"a": [n, 0], "b": (1, n)}
    for i in range(n):
        parts = [i]
        parts.append(i)
        state["a"][1] += len(parts)
        if i > 2:
            state["a"][0] = scaled(i)
    o[0] = a[0]
    o[1] = b[0]
    o[2] = state["a"][0] + state["a"][1]
    other = mine = [1]
    mine += [2]
    o[4] = len(other)


def test_changes_of_values_of_one_name() -> None:
    o = np.zeros(5, np.int64)
    allowed(5, o)
    assert list(o) == [6, 5, 50, 50, 2]
