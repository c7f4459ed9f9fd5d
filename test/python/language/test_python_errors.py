# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of kernels in Python: the message, the hint, and the line, which has the comment `error`."""

# ruff: noqa: F821

from __future__ import annotations

import linecache
import math
import pydoc
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl

X = np.arange(64, dtype=np.float32)
OUT = np.zeros(64, np.float32)
POSITIONS = np.array([5, 70], np.int32)
CASES: list[tuple[str, Callable[..., Any]]] = []


def case(phrase: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((phrase, function))
        return function

    return add


def halved(t):
    return t.half()  # error


def endless(t):
    return endless(t)  # error


@case("does not have the attribute 'half'")
def error_in_a_helper(x, out):
    out[0:4] = halved(x[0:4])


@case("recursion is not supported")
def recursion(x, out):
    out[0] = endless(x[0])


@case("a similar name is 'softmax'")
def similar_name(x, out):
    out[0:4] = x[0:4].softmx()  # error


@case("name 'missing' is not defined")
def undefined_name(x, out):
    out[0] = missing  # error


@case("the loop in line .* may have no iteration")
def name_of_a_loop(x, out):
    for i in range(4):
        last = x[i]
    out[0] = last  # error


@case("only one branch of the if")
def name_of_a_branch(x, out):
    if x[0] > 1:
        t = x[0]
    out[0] = t  # error


@case("an int32 scalar before the loop and a float32 scalar after")
def type_changes(x, out):
    total = 0
    for i in range(4):  # error
        total += x[i]
    out[0] = total


@case("total = sl.to\\(0, sl.float32\\)")
def type_of_a_number(x, out):
    total = 0
    i = 0
    while i < 4:  # error
        total += x[i]
        i += 1
    out[0] = total


@case("break is inside of an if or a loop that the kernel executes")
def exit_of_a_loop(x, out):
    for i in range(4):
        if x[i] > 2:
            break  # error
        out[i] = 1


@case("put the rest of the function into an if")
def early_return(x, out):
    if x[0] > 2:
        return  # error
    out[0] = 1


@case("the list 'found' changes in a loop that the kernel executes")
def value_of_a_loop(x, out):
    found = []
    for i in range(4):
        found.append(x[i])  # error
    out[0] = found[0]


@case("numpy.exp does not compute tiles and scalars")
def function_of_numpy(x, out):
    out[0:4] = np.exp(x[0:4])  # error


@case("such as sl.sqrt")
def function_of_math(x, out):
    out[0] = math.sqrt(x[0])  # error


@case("convert with .to\\(sl.float16\\)")
def element_type_as_a_function(x, out):
    out[0] = sl.float16(x[0])  # error


@case("the condition is float32, but must be a boolean(.|\\n)*compare it, for example with != 0")
def float_as_a_mask(x, out):
    out[0:4] = sl.where(x[0:4], 1, 2)  # error


@case("'is' compares objects, not the numbers of tiles and scalars")
def identity_of_a_number(x, out):
    out[0] = 1 if x[0] is 3 else 2  # noqa: F632  # error


@case("a float32 scalar cannot be formatted when the kernel is compiled")
def text_of_a_scalar(x, out):
    out[0] = len(str(x[0]))  # error


@case("a dictionary is indexed by an index scalar")
def key_of_a_dictionary(x, out):
    for i in range(2):
        out[0] = {0: 1, 1: 2}[i]  # error


@case("max of tiles and scalars does not have the option key")
def option_of_max(x, out):
    out[0] = max([x[0], x[1]], key=lambda v: -v)  # error


@case("round of a float32 scalar is not supported(.|\\n)*sl.round")
def round_of_a_scalar(x, out):
    out[0] = round(x[0])  # error


@case("float32 tile of shape 4 is not a sequence of conditions(.|\\n)*reduce it with .any\\(\\)")
def any_of_a_tile(x, out):
    out[0] = any(x[0:4])  # error


@case("int32 is shifted by 70, but the number must be from 0 to 31")
def shift_by_too_many_bits(positions, out):
    out[0:2] = positions[0:2] << 70  # error


@case("must have fewer than 2\\^31")
def too_many_elements(x, out):
    out[0:4] = sl.arange(2**40)[0:4]  # error


@case("is not in the range of index")
def range_beyond_64_bits(x, out):
    for i in range(2**70):  # error
        out[i] = 1


@case("stages is True, but must be a number from 1 to 16")
def stages_that_are_not_a_number(x, out):
    for i in sl.range(4, stages=True):  # error
        out[i] = 1


@case("the index is True, but must be an integer")
def boolean_as_an_index(x, out):
    out[0] = x[True]  # error


@case("'a' is not a number")
def text_as_a_fill_value(x, out):
    out[0:4] = x.at[0:4].load(fill="a")  # error


@case("the divisor of multiple_of is 1180591620717411303424")
def divisor_beyond_64_bits(x, out):
    out[0] = sl.multiple_of(sl.tile_id(), 2**70)  # error


@case("acc is 3, but must be a tile")
def number_as_an_accumulator(w, out):
    out[0:4] = sl.dot(w[0:4, 0:4], w[0:4, 0:4], acc=3)[0]  # error


@case("must be a scalar")
def condition_of_a_tile(x, out):
    if x[0:4] > 1:  # error
        out[0] = 1


@case("x has 1 dimension\\n")
def missing_dimension(x, out):
    out[0] = x.shape[1]  # error


@case("w has 2 dimensions, but 1 index is given(.|\\n)*w\\[i : i \\+ 64, j : j \\+ 64\\]")
def omitted_slice(w, out):
    out[0:4] = w[0:4]  # error


@case("`n` is a number of the kernel(.|\\n)*annotate it: `n: smalti.constexpr`")
def slice_of_an_argument(x, n, out):
    out[0:4] = x[0:n]  # error


@case("`n` is a number of the kernel(.|\\n)*annotate it: `n: smalti.constexpr`")
def shape_of_an_argument(n, out):
    out[0:4] = sl.zeros((n,))  # error


@case("the bound of a slice is 1.5, but must be an integer")
def bound_is_a_float(x, out):
    out[0:4] = x[1.5:5.5]  # error


@case("the bound of a slice is a float32 scalar, but must have an integer type")
def bound_is_a_float_of_the_kernel(x, out):
    start = x[0]
    out[0:4] = x[start : start + 4]  # error


@case("a kernel returns a value")
def returned_value(x, out):
    return x[0:4]  # error


@case("has no attribute 'sqrtt'; did you mean 'sqrt'?")
def similar_function(x, out):
    out[0:4] = sl.sqrtt(x[0:4])  # error


@case("has no attribute 'program_id'; did you mean 'tile_id'?")
def program_id_of_triton(x, out):
    i = sl.program_id(0)  # error
    out[i] = x[i]


@case("does not have the attribute 'astype'\\n(.*\\n)*hint: convert it with .to\\(dtype\\)")
def astype_of_numpy(x, out):
    out[0:4] = x[0:4].astype(sl.float16)  # error


@case("x is an array, but this operation takes tiles")
def array_in_an_operator(x, out):
    out[0:4] = 2 * x  # error


@case("does not have a length")
def length_of_a_scalar(x, out):
    out[0] = len(x[0])  # error


@case("does not have a static size\\n")
def dynamic_slice(x, n, out):
    out[0:4] = x[0 : sl.tile_id() + n]  # error


@case("the step of the range is -1")
def descending_range(x, out):
    for i in range(4, 0, -1):  # error
        out[i] = x[i]


@case("reversed is not supported for a range")
def reversed_range(x, out):
    for i in reversed(range(4)):  # error
        out[i] = x[i]


@case("convert it with .to\\(sl.int32\\)")
def float_in_an_integer_array(x, positions):
    positions[0:2] = x[0:2]  # error


@case("not in the range of int32")
def large_number(positions, out):
    out[0:2] = positions[0:2] + 2**40  # error


@case("the exponent of a power of int32 is -1")
def negative_exponent(positions, out):
    out[0:2] = positions[0:2] ** -1  # error


@case("a with statement is not supported")
def statement(x, out):
    with x:  # error
        out[0] = 1


@case("only for halves")
def static_assertion(x, out):
    assert x.dtype == sl.float16, "only for halves"  # error
    out[0] = 1


@case("the operands have K = 8 and 4")
def shapes_of_a_matmul(out):
    out[0:4] = (sl.zeros((4, 8)) @ sl.zeros((4, 8)))[0, :4]  # error


@case("cannot be assigned")
def element_of_a_tile(x, out):
    t = x[0:4]
    t[0] = 1  # error
    out[0:4] = t


@pytest.mark.parametrize(("phrase", "function"), CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_error_has_the_line(phrase: str, function: Callable[..., Any]) -> None:
    kernel = smalti.kernel(target="cpu")(function)
    given = {"x": X, "w": X.reshape(8, 8), "out": OUT, "positions": POSITIONS, "n": 32}
    with pytest.raises(smalti.CompileError, match=phrase) as caught:
        kernel(*(given[name] for name in function.__code__.co_varnames[: function.__code__.co_argcount]))
    place = caught.value.location
    assert place is not None and linecache.getline(place.file, place.line).rstrip().endswith("# error")


@smalti.kernel
def too_large(out):
    out[0:4] = sl.sort(sl.full(1 << 20, 1.0))[:4]  # error


@smalti.kernel
def out_of_bounds(x, positions, out):
    i = positions[1]
    out[0] = x[i]  # error


def test_errors_of_passes_have_the_line() -> None:
    with pytest.raises(smalti.CompileError, match=r"'triton_xla.sort' of more elements") as caught:
        too_large.on("sm_80").compile(OUT)
    assert caught.value.location and "# error" in linecache.getline(__file__, caught.value.location.line)


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sim:sm_80"])
def test_errors_of_launches_have_the_line(target: str) -> None:
    with pytest.raises(smalti.SmaltiError, match=r"out[ -]of[ -]bounds") as caught:
        out_of_bounds.on(target)(X, POSITIONS, OUT)
    assert "out[0] = x[i]  # error" in str(caught.value)


def stored(out, i, value):
    out[i] = value


def checked(t):
    sl.check(t < 3, "too large")


@smalti.kernel
def write_out_of_bounds(x, positions, out):
    stored(out, positions[1], x[0])  # error


@smalti.kernel
def failed_check(x, positions, out):
    checked(x[0:4])  # error


@smalti.kernel
def undefined_division(x, positions, out):
    stored(positions, 0, quotient(positions[0], positions[0] - 5))  # error


def quotient(a, b):
    return a // b


@smalti.kernel(grid=4)
def race_of_tiles(x, positions, out):
    stored(out, 0, x[sl.tile_id()])  # error


TARGETS = ["cpu", "emu:sm_80", "emu:gfx942", "sim:sm_80", "sim:gfx942"]


@pytest.mark.parametrize(
    ("kernel", "target", "line"),
    [
        *((write_out_of_bounds, target, "out[i] = value") for target in TARGETS),
        *((failed_check, target, 'sl.check(t < 3, "too large")') for target in TARGETS),
        *((undefined_division, target, "return a // b") for target in TARGETS),
        *((race_of_tiles, target, "out[i] = value") for target in ("emu:sm_80", "sim:sm_80", "sim:gfx942")),
    ],
    ids=lambda item: item if isinstance(item, str) else item.__name__,
)
def test_findings_have_the_calls(kernel: sl.PythonKernel, target: str, line: str) -> None:
    options = {"sanitize": "thread"} if kernel is race_of_tiles and target.startswith("emu") else {}
    with pytest.raises(smalti.SmaltiError) as caught:
        kernel.on(target, **options)(X, POSITIONS.copy(), OUT.copy())
    place = caught.value.location
    assert place is not None and line in linecache.getline(place.file, place.line)
    (caller,) = place.python
    assert caller.function == kernel.__name__ and "# error" in linecache.getline(caller.file, caller.line)
    assert f"{caller}: note: called by {kernel.__name__}\n" in str(caught.value)


@smalti.kernel(target="cpu")
def copy(x: sl.Array[sl.float32], n: sl.int32, out: sl.Array):
    out[0:4] = x[0:4] + n


@smalti.kernel(grid=lambda x: x.shape[1], target="cpu")
def columns(x: sl.Array, out: sl.Array):
    j = sl.tile_id()
    out[j] = x[:8, j].sum()


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        ((X, 1), "missing a required argument: 'out'"),
        ((POSITIONS, 1, OUT), "the elements of x are int32, but must be float32"),
        ((X.astype(np.complex64), 1, OUT), "the elements of x are not supported"),
        (([1.0], 1, OUT), "x is not an array or a number"),
        ((X, 1, 3.0), "out is annotated sl.Array, but 3.0 is a number"),
        ((X, "one", OUT), "n is 'one', but must be a number of type int32"),
        ((X, 1, X), "overlaps argument 0"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], phrase: str) -> None:
    with pytest.raises(smalti.LaunchError, match=phrase):
        copy(*arguments)


@pytest.mark.parametrize(
    ("number", "phrase"),
    [
        (np.longdouble(2), "the type of n is not supported: .*float128"),
        (np.timedelta64(1, "s"), "the elements of n are not supported: .*timedelta64"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"interpret": True}], ids=["compiled", "interpreted"])
def test_numbers_without_an_element_type(number: Any, phrase: str, options: Any) -> None:
    @smalti.kernel(target="cpu", **options)
    def fill(out, n):
        out[0:4] = n

    with pytest.raises(smalti.LaunchError, match=f"fill: {phrase}"):
        fill(OUT, number)


def test_errors_outside_of_kernels_are_of_smalti() -> None:
    with pytest.raises(smalti.CompileError, match="'bogus' is not an element type"):
        sl.dtype("bogus")


@pytest.mark.parametrize(
    ("annotation", "phrase"),
    [
        (sl.Array["bogus"], "the annotation of x is not valid: 'bogus' is not an element type"),
        (sl.Array[np.longdouble], "'numpy.longdouble'> is not an element type"),
        (sl.Array[()], "does not have an element type"),
        *[(sl.Array[sl.float32, wrong], "must be a tuple of names and sizes") for wrong in (8, (2.5,), (-1,), (2**70,), (True,))],
        ("sl.Array[sl.float31]", "has no attribute 'float31'; did you mean '"),
    ],
)  # fmt: skip
def test_wrong_annotations(annotation: Any, phrase: str) -> None:
    def function(x, out):  # error
        out[0:4] = x[0:4]

    function.__annotations__ = {"x": annotation}
    with pytest.raises(smalti.CompileError, match=phrase) as found:
        smalti.kernel(function)
    assert found.value.location is not None
    line = linecache.getline(__file__, found.value.location.line)
    assert line.endswith("# error\n") and line[found.value.location.column - 1] == "x"


@pytest.mark.parametrize(
    ("x", "phrase"),
    [
        (X, "the grid function of columns failed with IndexError: .*; x has 1 dimension$"),
        ([[1.0]], r"x is not an array or a number \(list is not an array"),
    ],
    ids=["dimensions", "list"],
)
def test_arguments_of_a_grid_function(x: Any, phrase: str) -> None:
    columns(np.ones((8, 4), np.float32), OUT)
    with pytest.raises(smalti.LaunchError, match=phrase):
        columns(x, OUT)


@smalti.kernel(grid=lambda n, block: n // block, target="cpu")
def divided(n, block: smalti.constexpr, out):
    out[sl.tile_id()] = 1.0


def test_exceptions_of_a_grid_function() -> None:
    divided(4, 2, OUT)
    with pytest.raises(
        smalti.LaunchError,
        match=r"the grid function of divided failed with ZeroDivisionError: .*; n is 4, block is 0$",
    ):
        divided(4, 0, OUT)

    @smalti.kernel(grid=lambda: {}["size"], target="cpu")
    def looked_up(out):
        out[0] = 1.0

    with pytest.raises(smalti.LaunchError, match=r"the grid function of looked_up failed with KeyError: 'size'$"):
        looked_up(OUT)


def test_parameters_of_a_grid_function() -> None:
    @smalti.kernel(grid=lambda y: y, target="cpu")
    def wrong(x, out):
        out[0] = x[0]

    with pytest.raises(
        smalti.LaunchError, match=r"has the parameter y, which the kernel does not have; the kernel has x, out$"
    ):
        wrong(X, OUT)


def test_brackets_after_a_kernel_name_the_decorator() -> None:
    with pytest.raises(TypeError, match=r"state the grid in the decorator: @smalti.kernel\(grid=...\)"):
        columns[(4,)](X, OUT)


def test_levels_with_lines_are_listed_once() -> None:
    with pytest.raises(smalti.LaunchError) as caught:
        copy.ir("llvm", X, 1, OUT, lines=True)
    levels = caught.value.message.partition("use one of ")[2].split(", ")
    assert "tile" in levels and len(set(levels)) == len(levels)


def test_help_of_a_tile_lists_the_methods() -> None:
    text = pydoc.render_doc(sl.Tile, renderer=pydoc.plaintext)
    assert all(re.search(rf"^ \|  {name}(\(| = \w+\()", text, re.MULTILINE) for name in ("sum", "exp", "to"))


def test_functions_outside_of_a_kernel() -> None:
    with pytest.raises(RuntimeError, match="only available in a function with"):
        sl.zeros(4)
