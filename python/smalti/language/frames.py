# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sources of Python functions, the values outside of them, and the calls that are translated."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import textwrap
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..bindings import ir
from ..diagnostics import SourceLocation
from .trees import copied, unchanged
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


def source_of(function: types.FunctionType) -> Source:
    """The source of a function. Raises Misuse if it was not found, such as for functions from exec, or if its file has changed
    since the import."""
    code = getattr(inspect.unwrap(function), "__code__", function.__code__)
    return _source_of(function, code)


@functools.lru_cache(maxsize=256)
def _source_of(function: types.FunctionType, code: types.CodeType) -> Source:
    name = function.__name__
    if _is_newer(code.co_filename) and not _is_of_file(code):
        raise Misuse(f"the file of {name} has changed since it was imported: {code.co_filename}", "import it again")
    try:
        lines, first = inspect.getsourcelines(code)
        file = inspect.getsourcefile(code) or "<unknown>"
    except (OSError, TypeError):
        raise Misuse(
            f"the source of {name} was not found", "define the function in a file or a notebook cell"
        ) from None
    text = "".join(lines)
    dedented = textwrap.dedent(text)
    removed = len(lines[0]) - len(lines[0].lstrip()) - (len(dedented) - len(dedented.lstrip()))
    try:
        tree = ast.parse(dedented)
    except SyntaxError:
        raise Misuse(f"the source of {name} cannot be parsed", "use def instead of lambda") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise Misuse(f"{name} is not a plain function", "use def; async functions are not supported")
    ast.increment_lineno(tree, first - 1)
    return Source(node, file, name, removed)


_START = time.time()
"""A file that was not written after it cannot differ from what was imported."""


def _is_newer(file: str) -> bool:
    try:
        return Path(file).stat().st_mtime > _START
    except OSError:
        return False


def _is_of_file(code: types.CodeType) -> bool:
    """Whether the file, as it is now, has `code`. Code with assertions that pytest rewrote is not compared."""
    if any(name.startswith("@py") for name in (*code.co_names, *code.co_varnames)):
        return True
    try:
        found = [compile("".join(inspect.findsource(code)[0]), code.co_filename, "exec", dont_inherit=True)]
    except (OSError, SyntaxError, ValueError):
        return False
    for one in found:
        if one.co_name == code.co_name and one.co_firstlineno == code.co_firstlineno and _same_code(one, code):
            return True
        found += [constant for constant in one.co_consts if isinstance(constant, types.CodeType)]
    return False


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    def facts(code: types.CodeType) -> tuple[Any, ...]:
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return (code.co_code, *names, code.co_argcount, code.co_kwonlyargcount, len(code.co_consts))

    def same(x: Any, y: Any) -> bool:
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
            return _same_code(x, y)
        return type(x) is type(y) and (x == y if isinstance(x, frozenset) else repr(x) == repr(y))

    return facts(a) == facts(b) and all(map(same, a.co_consts, b.co_consts))


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


def captured_function(function: types.FunctionType) -> Captured:
    """What a translation used of a function itself."""

    def read() -> Any:
        return function.__code__, function.__defaults__, function.__kwdefaults__

    return Captured(function, "__code__", read, copied(read()))


def read_global(space: dict[str, Any], name: str) -> Any:
    """The value of a name of a module or of builtins. Raises KeyError."""
    return space[name] if name in space else vars(builtins)[name]


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
