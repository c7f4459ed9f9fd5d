# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sources of Python functions, the values outside of them, and the calls that are translated."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import textwrap
import types
from collections.abc import Callable
from typing import Any

from ..bindings import ir
from ..diagnostics import SourceLocation
from .trees import unchanged
from .types import Misuse


@dataclasses.dataclass(frozen=True)
class Source:
    """The syntax tree of a Python function, and its file."""

    node: ast.FunctionDef | ast.Lambda
    file: str
    name: str
    first_column: int
    """Columns that were removed before the text was parsed."""

    def location(self, node: ast.AST) -> SourceLocation:
        column = getattr(node, "col_offset", 0) + self.first_column + 1
        return SourceLocation(self.file, getattr(node, "lineno", 1), column, function=self.name)


def mlir_location(place: SourceLocation) -> ir.Location:
    """The location of an operation. That in a called function is a call site, with the names of the functions."""
    if not place.python:
        return ir.Location.file(place.file, place.line, place.column)
    callee, *callers = [
        ir.Location.name(one.function, ir.Location.file(one.file, one.line, one.column))
        for one in (place, *place.python)
    ]
    return ir.Location.callsite(callee, callers)


@functools.lru_cache(maxsize=256)
def source_of(function: types.FunctionType) -> Source:
    """The source of a function. Raises Misuse if it was not found, such as for functions from exec."""
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<unknown>"
    except (OSError, TypeError):
        raise Misuse(
            f"the source of {function.__name__} was not found", "define the function in a file or a notebook cell"
        ) from None
    text = "".join(lines)
    dedented = textwrap.dedent(text)
    removed = len(lines[0]) - len(lines[0].lstrip()) - (len(dedented) - len(dedented.lstrip()))
    try:
        tree = ast.parse(dedented)
    except SyntaxError:
        raise Misuse(f"the source of {function.__name__} cannot be parsed", "use def instead of lambda") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise Misuse(f"{function.__name__} is not a plain function", "use def; async functions are not supported")
    ast.increment_lineno(tree, first - 1)
    return Source(node, file, function.__name__, removed)


@dataclasses.dataclass(frozen=True)
class Captured:
    """A value outside of the kernel: a global name, a name of an enclosing function, an attribute of a module or class."""

    owner: Any
    """Kept, so that its id stays unique."""
    name: str
    read: Callable[[], Any]
    value: Any
    """The value at the translation. Lists, dictionaries and dataclasses are copies."""

    @property
    def is_current(self) -> bool:
        try:
            return unchanged(self.value, self.read())
        except (KeyError, ValueError, AttributeError):
            # The name was deleted.
            return False


class Scope:
    """A function of a kernel, which reads names of the function around it."""

    def __init__(self, closed_names: dict[str, Any]) -> None:
        self.closed_names = closed_names


@dataclasses.dataclass
class Frame:
    """One call: the names of a function, and where names outside of it are found."""

    source: Source
    names: dict[str, Any]
    outside: Callable[[str], Any]
    """Looks up a name of an enclosing function, a module or builtins; raises KeyError."""
    code: Any = None
    """The code object, to find recursion."""
    node: ast.AST | None = None
    """The statement or expression that is translated."""
    run_time: int = 0
    """Number of enclosing `if`, `for` and `while` of the kernel in this function."""
    unrolled: int | None = None
    """`run_time` at the innermost unrolled loop, which break and continue leave."""

    def restore(self, names: dict[str, Any]) -> None:
        """Gives the names other values, for nested functions too, which have the same dictionary."""
        self.names.clear()
        self.names.update(names)
