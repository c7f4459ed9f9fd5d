# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sources of Python functions, the values outside of them, the calls that are translated, and changes of their values."""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import functools
import inspect
import operator
import sys
import textwrap
import time
import types
from collections.abc import Callable, Iterator, MutableSequence, MutableSet
from pathlib import Path
from typing import Any, Protocol

from ..bindings import ir
from ..diagnostics import SourceLocation
from .arithmetic import is_number
from .trees import copied, unchanged
from .types import Misuse
from .values import Value


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
    """The code and the defaults of a function, as a translation used them."""

    def read() -> Any:
        return function.__code__, function.__defaults__, function.__kwdefaults__

    return Captured(function, "__code__", read, copied(read()))


def read_global(space: dict[str, Any], name: str) -> Any:
    """The value of a name of a module or of builtins. Raises KeyError."""
    return space[name] if name in space else vars(builtins)[name]


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


# --- Changes of containers in control flow ---

# Python makes a change when the kernel is compiled, whether or not the branch runs. A change is correct only if the value belongs
# to a name that control.py carries, and to no other name.

_IMMUTABLE = (str, bytes, type(None), types.FunctionType, types.ModuleType, type, Value)
_LIBRARIES = {"smalti", "numpy", "torch", "jax", "mlir"}


def _attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object of a class of the user."""
    package = type(value).__module__.split(".")[0]
    if package in _LIBRARIES or (package in sys.stdlib_module_names and package != "__main__"):
        return None
    found = dict(getattr(value, "__dict__", {}))
    for one in type(value).__mro__:
        slots = vars(one).get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        found.update({name: getattr(value, name) for name in names if hasattr(value, name)})
    # Python stores these when they are read.
    return {n: v for n, v in found.items() if not isinstance(getattr(type(value), n, None), functools.cached_property)}


def _parts(value: Any) -> tuple[str, list[tuple[str, Any]]] | None:
    """The kind of a container and its items with their spelling, or None if it has no items."""
    if isinstance(value, _IMMUTABLE) or is_number(value):
        return None
    if isinstance(value, tuple):
        return "tuple", [(f"[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, (types.MethodType, types.BuiltinFunctionType)):
        return "tuple", [("", value.__self__)]
    if isinstance(value, dict):
        return "dictionary", [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, (MutableSequence, collections.deque)):
        return "list", [(f"[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, MutableSet):
        return "set", [(f"[{item!r}]", item) for item in sorted(value, key=hash)]
    if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
        return "array", [("", value.tobytes())]
    if isinstance(value, Iterator):
        return "iterator", [("", operator.length_hint(value))]
    attributes = _attributes(value)
    return None if attributes is None else ("object", [(f".{name}", item) for name, item in attributes.items()])


def _is_same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    if type(before) is not type(now) or not (is_number(before) or isinstance(before, (str, bytes))):
        return False
    return bool(before == now)


@dataclasses.dataclass
class _Watched:
    """A container, which is kept so that its id stays unique, and its items."""

    value: Any
    kind: str
    items: list[tuple[str, Any]]
    path: str
    references: int = 1
    other: str | None = None
    """Another name of the container."""

    @property
    def has_changed(self) -> bool:
        _, items = _parts(self.value) or ("", [])
        return len(items) != len(self.items) or any(
            name != old or not _is_same(before, now)
            for (old, before), (name, now) in zip(self.items, items, strict=True)
        )


class Names(Protocol):
    """The calls that are translated, and the values outside of them."""

    frames: list[Frame]
    captured: dict[tuple[int, str], Captured]


class Watch:
    """The containers of all names before a branch or the body of a loop is translated."""

    def __init__(self, names: Names, where: str) -> None:
        self._names = names
        self._where = where
        self._found: dict[int, _Watched] = {}
        self._carried: list[tuple[_Watched, str, str]] = []
        self._captured = list(names.captured.values())
        spaces: dict[int, dict[str, Any]] = {}
        for frame in reversed(names.frames):
            spaces.setdefault(id(frame.names), frame.names)
        for space in list(spaces.values()):
            for name, value in list(space.items()):
                self._visit(value, name, spaces)
        for one in self._captured:
            self._visit(one.value if not one.is_current else one.read(), one.name, spaces)

    def _visit(self, value: Any, path: str, spaces: dict[int, dict[str, Any]]) -> None:
        if isinstance(value, Scope):
            closure = value.closed_names
            if id(closure) not in spaces:
                spaces[id(closure)] = closure
                for name, item in list(closure.items()):
                    self._visit(item, name, spaces)
            return
        if known := self._found.get(id(value)):
            if known.kind != "tuple":
                known.references += 1
                known.other = known.other or path
            return
        parts = _parts(value)
        if parts is None:
            return
        kind, items = parts
        self._found[id(value)] = _Watched(value, kind, items, path)
        for name, item in items:
            self._visit(item, path + name, spaces)

    def carry(self, original: Any, copy: Any, path: str, other: str | None = None) -> None:
        """Allows changes of `copy`, which control flow made of the value of a name, unless the original has other names."""
        if original is copy:
            return
        known = self._found.get(id(original))
        parts, old = _parts(copy), _parts(original)
        if parts is None or old is None:
            return
        if known is not None and known.references > 1:
            other = known.path if known.path != path else known.other
        kind, items = parts
        if other is not None and kind != "tuple":
            self._carried.append((_Watched(copy, kind, items, path), path, other))
        for (name, before), (_, now) in zip(old[1], items, strict=True):
            self.carry(before, now, path + name, None if other is None else other + name)

    def check(self) -> None:
        """Raises Misuse if a container has changed."""
        for one in self._found.values():
            if one.kind != "tuple" and one.has_changed:
                self._refuse(one.kind, one.path)
        known = {id(one) for one in self._captured}
        for one in list(self._names.captured.values()):
            if id(one) not in known and not unchanged(one.value, one.read()):
                self._refuse("value", one.name)
        for one, path, other in self._carried:
            if one.has_changed:
                raise Misuse(
                    f"the {one.kind} '{path}' changes in {self._where} that the kernel executes, and is also '{other}'",
                    "copy it before: only one name may have a value that changes there",
                )

    def _refuse(self, kind: str, path: str) -> None:
        raise Misuse(
            f"the {kind} '{path}' changes in {self._where} that the kernel executes; "
            "Python changes it when the kernel is compiled, whether or not the statement runs",
            "assign a new value to a name instead, or use a tile",
        )
