# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grid functions as programs, which a launch evaluates without Python code.

A program exists for a function that computes the numbers of tiles from shapes and integers with `+`, `-`, `*`, `//` and
`cdiv`: `lambda x, block: sl.cdiv(x.shape[0], block)`.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from .native import GridProgram, GridStep

MAX_SIZES, MAX_STEPS = 3, 64
"""The largest number of dimensions of a grid, and of steps of each, that the extension module evaluates (Dispatcher.cpp)."""

_OPERATIONS = {
    *("BINARY_OP", "BINARY_SUBSCR", "BUILD_LIST", "BUILD_TUPLE", "CALL", "COPY_FREE_VARS", "LOAD_ATTR", "LOAD_CONST"),
    *("LOAD_DEREF", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST"),
    *("LOAD_GLOBAL", "LOAD_METHOD", "LOAD_SMALL_INT", "NOP", "PRECALL", "PUSH_NULL", "RESUME", "RETURN_CONST"),
    *("RETURN_VALUE", "UNARY_NEGATIVE"),
}
"""Bytecode without branches, comparisons, stores and functions inside of the function. Its effects are those of calls."""


class _Number:
    """An integer of a call: the steps that compute it."""

    def __init__(self, *steps: GridStep) -> None:
        self.steps = steps

    def __neg__(self) -> _Number:
        return _Number(*self.steps, ("negate", 0, 0))

    def __add__(self, other: Any) -> Any:
        return _combined("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _combined("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _combined("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _combined("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return _combined("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _combined("multiply", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _combined("divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _combined("divide", other, self)


class _Shape:
    def __init__(self, position: int) -> None:
        self._position = position

    def __getitem__(self, dimension: Any) -> _Number:
        if type(dimension) is not int:
            raise TypeError
        return _Number(("size", self._position, dimension))


class _Argument(_Number):
    """An argument of a call: a number, or an array."""

    def __init__(self, position: int) -> None:
        super().__init__(("number", position, 0))
        self.shape = _Shape(position)


def _steps(value: Any) -> tuple[GridStep, ...]:
    if isinstance(value, _Number):
        return value.steps
    if type(value) is not int or abs(value) >= 1 << 63:
        raise TypeError
    return (("constant", value, 0),)


def _combined(operation: str, one: Any, other: Any) -> _Number:
    return _Number(*_steps(one), *_steps(other), (operation, 0, 0))


def _captured(function: types.FunctionType, cdiv: Callable[..., Any]) -> Iterator[tuple[Any, str, Any]]:
    """The dictionaries and cells with the values outside of the function. Raises TypeError if the function is not supported."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for step in dis.get_instructions(function):
        name = step.argval
        if step.opname not in _OPERATIONS or (
            step.opname in ("LOAD_ATTR", "LOAD_METHOD") and name not in ("shape", cdiv.__name__)
        ):
            raise TypeError
        if step.opname == "LOAD_GLOBAL":
            owner, value = function.__globals__, function.__globals__.get(name)
        elif step.opname == "LOAD_DEREF":
            owner, value = cells[name], cells[name].cell_contents
        else:
            continue
        yield owner, name, value
        # A class of modules may compute attributes.
        space = vars(value) if type(value) is types.ModuleType else {}
        # That of the language only raises an error.
        is_language = space.get("__name__") == cdiv.__module__.rpartition(".")[0]
        if space.get(cdiv.__name__) is cdiv and not {"shape", *([] if is_language else ["__getattr__"])} & set(space):
            yield space, cdiv.__name__, cdiv
        elif value is not cdiv and type(value) is not int:
            raise TypeError


def program(grid: Any, names: Sequence[str], cdiv: Callable[..., Any]) -> GridProgram | None:
    """The program of a function of arguments of a kernel, or None. `names` are those of the arguments, which a launch passes by
    name. `cdiv` is the function of the language, which computes `-(-a // b)`."""
    if type(grid) is not types.FunctionType:
        return None
    code = grid.__code__
    if set(names) != set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]):
        # A parameter that `__signature__` hides has a default, which may change.
        return None
    try:
        captured = tuple(_captured(grid, cdiv))
        found: Any = grid(**{name: _Argument(position) for position, name in enumerate(names)})
        sizes = tuple(map(_steps, cast("Sequence[Any]", found) if isinstance(found, (tuple, list)) else (found,)))
    except Exception:
        # The function is called in each launch.
        return None
    if len(sizes) > MAX_SIZES or any(len(steps) > MAX_STEPS for steps in sizes):
        return None
    return code, captured, sizes
