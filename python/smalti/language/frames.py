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
from collections.abc import Callable, Iterator, MutableSequence, MutableSet, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..bindings import ir
from ..diagnostics import SourceLocation
from .arithmetic import is_number
from .trees import containers, copied, unchanged
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


def has_source(function: types.FunctionType) -> bool:
    try:
        source_of(function)
    except Misuse:
        return False
    return True


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
    if code.co_name == "<lambda>":
        return Source(_lambda(code), file, name, 0)
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


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _lambda(code: types.CodeType) -> ast.Lambda:
    """The syntax tree of a lambda. Several may begin in one line: the innermost one is found whose body has the positions of the
    instructions. Raises Misuse if it is not the only one."""
    try:
        tree = _parsed("".join(inspect.findsource(code)[0]))
    except (OSError, SyntaxError, ValueError):
        tree = ast.Module([], [])
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    # The first and the last instruction are at the beginning of the line.
    spans = [one for one in code.co_positions() if None not in one and one[2] != one[3]]
    first = min(((line, column) for line, _, column, _ in spans), default=(code.co_firstlineno, 0))
    last = max(((line, column) for _, line, _, column in spans), default=first)

    def matches(node: ast.Lambda) -> bool:
        given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if node.lineno != code.co_firstlineno or given != names:
            return False
        body: Any = node.body
        return not spans or ((body.lineno, body.col_offset) <= first and last <= (body.end_lineno, body.end_col_offset))

    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and matches(node)]
    if not found or (not spans and len(found) > 1):
        raise Misuse("the source of <lambda> was not found", "write it with def")
    # Nested nodes come after those around them.
    return found[-1]


def executed_location(trace: types.TracebackType, callers: tuple[SourceLocation, ...] = ()) -> SourceLocation:
    """The expression that Python executed in a frame of a traceback."""
    code = trace.tb_frame.f_code
    line, _, column, _ = list(code.co_positions())[trace.tb_lasti // 2]
    return SourceLocation(code.co_filename, line or trace.tb_lineno, (column or 0) + 1, callers, code.co_name)


def parameter_location(function: types.FunctionType, name: str) -> SourceLocation:
    """The location of a parameter of a function."""
    try:
        source = source_of(function)
    except Misuse:
        code = function.__code__
        return SourceLocation(code.co_filename, code.co_firstlineno, 1, function=function.__name__)
    found = [node for node in ast.walk(source.node.args) if isinstance(node, ast.arg) and node.arg == name]
    return source.location(found[0] if found else source.node)


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

    def __init__(self, closed_names: dict[str, Any], defaults: dict[str, Any]) -> None:
        self.closed_names = closed_names
        self.defaults = defaults


@dataclasses.dataclass
class Frame:
    """One call: the names of a function, and where names outside of it are found."""

    source: Source
    names: dict[str, Any]
    outside: Callable[[str], Any]
    """Looks up a name of an enclosing function, a module or builtins; raises KeyError."""
    called: Any = None
    """The called function, with the object of a method, to find recursion."""
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
_HINT = "copy it before: only one name may have a value that changes there"
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


def parts_of(value: Any) -> tuple[str, list[tuple[str, Any]]] | None:
    """The kind of a container and its items with their spelling, or None if it has no items."""
    if isinstance(value, _IMMUTABLE) or is_number(value):
        return None
    if isinstance(value, tuple):
        return "tuple", [(f"[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, (types.MethodType, types.BuiltinFunctionType)):
        return "tuple", [("", value.__self__)]
    if isinstance(value, functools.partial):
        return "tuple", [("", value.args), ("", value.keywords)]
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
class Watched:
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
        _, items = parts_of(self.value) or ("", [])
        return len(items) != len(self.items) or any(
            name != old or not _is_same(before, now)
            for (old, before), (name, now) in zip(self.items, items, strict=True)
        )


def snapshot(container: Any, path: str) -> Watched:
    kind, items = parts_of(container) or ("tuple", [])
    return Watched(container, kind, items, path)


class Names(Protocol):
    """The calls that are translated, and the values outside of them."""

    frames: list[Frame]
    captured: dict[tuple[int, str], Captured]


def reachable(names: Names) -> dict[int, Watched]:
    """The containers of all names, and of the values outside of the kernel, by their ids."""
    found: dict[int, Watched] = {}
    spaces: dict[int, dict[str, Any]] = {}

    def visit(value: Any, path: str) -> None:
        if isinstance(value, Scope):
            for name, item in value.defaults.items():
                visit(item, f"{path}({name})")
            visit_names(value.closed_names)
            return
        if known := found.get(id(value)):
            if known.kind != "tuple":
                known.references += 1
                known.other = known.other or path
            return
        parts = parts_of(value)
        if parts is None:
            return
        kind, items = parts
        found[id(value)] = Watched(value, kind, items, path)
        for name, item in items:
            visit(item, path + name)

    def visit_names(space: dict[str, Any]) -> None:
        if id(space) not in spaces:
            spaces[id(space)] = space
            for name, value in list(space.items()):
                visit(value, name)

    spaces.update({id(frame.names): frame.names for frame in reversed(names.frames)})
    for space in list(spaces.values()):
        for name, value in list(space.items()):
            visit(value, name)
    for one in list(names.captured.values()):
        visit(one.value if not one.is_current else one.read(), one.name)
    return found


class Watch:
    """The containers of all names before a branch or the body of a loop is translated."""

    def __init__(self, names: Names, where: str) -> None:
        self._names = names
        self._where = where
        self._found = reachable(names)
        self._carried: list[tuple[Watched, str, str]] = []
        self._captured = list(names.captured.values())

    def carry(self, original: Any, copy: Any, path: str, other: str | None = None) -> None:
        """Allows changes of `copy`, which control flow made of the value of a name, unless the original has other names."""
        if original is copy:
            return
        known = self._found.get(id(original))
        parts, old = parts_of(copy), parts_of(original)
        if parts is None or old is None:
            return
        if known is not None and known.references > 1:
            other = known.path if known.path != path else known.other
        kind, items = parts
        if other is not None and kind != "tuple":
            self._carried.append((Watched(copy, kind, items, path), path, other))
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
                    _HINT,
                )

    def _refuse(self, kind: str, path: str) -> None:
        raise Misuse(
            f"the {kind} '{path}' changes in {self._where} that the kernel executes; "
            "Python changes it when the kernel is compiled, whether or not the statement runs",
            "assign a new value to a name instead, or use a tile",
        )


# --- Containers that may be one object ---

# After `b = a` and `if n > 2: a = [m]`, the name `a` has a container that stands for the one of `b` or the new one. A change of it
# would have to change `b` too, unless n > 2. It is refused while another name has a container that may be the same one.


class Aliases:
    """The containers of a kernel that may be one object when it runs."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._origins: dict[int, tuple[Any, frozenset[int]]] = {}
        """By id: a container, and the ids of the containers that it may be. Two may be one object if they share an id. All
        containers are kept, so that an id stays unique."""
        self._choices: dict[int, tuple[object, Sequence[Any]]] = {}
        """By id: the arguments of `add`."""
        self._active: list[Watched] = []
        """The containers whose changes are refused."""
        self.changed: set[int] = set()
        """The ids of containers whose copies changed in a branch."""

    def origins(self, value: Any) -> frozenset[int]:
        return self._origins.setdefault(id(value), (value, frozenset([id(value)])))[1]

    def may_be_one(self, a: Any, b: Any) -> bool:
        one, other = self._choices.get(id(a)), self._choices.get(id(b))
        if one is not None and other is not None and one[0] is other[0]:
            # The same branch or iteration decides both.
            return any(x is y or self.may_be_one(x, y) for x, y in zip(one[1], other[1], strict=True))
        return not self.origins(a).isdisjoint(self.origins(b))

    def add(self, new: Any, sources: Sequence[Any], point: object) -> None:
        """States that the container `new` is one of `sources` when the kernel runs. The same source is chosen for all
        containers with the same `point`."""
        found = self.origins(new).union(*map(self.origins, sources))
        self._origins[id(new)] = (new, found)
        self._choices[id(new)] = (point, sources)

    def add_all(self, new: Any, sources: Sequence[Any], point: object) -> None:
        """`add` for the containers of a value, which is one of `sources`. All have one structure."""
        for one, *others in zip(containers(new), *map(containers, sources), strict=True):
            self.add(one, others, point)

    def watch(self, value: Any, path: str) -> None:
        """Watches a value that does not have a name yet."""
        self._active += [snapshot(one, path) for one in containers(value)]

    def check(self) -> None:
        """Raises Misuse if a container has changed that may also be the value of another name."""
        for one in [one for one in self._active if one.has_changed]:
            found = reachable(self._names)
            other = self._other(one.value, found)
            if other is not None:
                path = found.get(id(one.value), one).path
                raise Misuse(
                    f"the {one.kind} '{path}' changes, and may also be '{other.path}': the kernel decides it when it runs",
                    _HINT,
                )
            self._active = [other for other in self._active if other is not one]

    def refresh(self) -> None:
        """Called when names have other containers: at the beginning and the end of branches and loops."""
        self.check()
        if not self._choices:
            return
        found = reachable(self._names)
        self._active = [
            one for key, one in found.items() if key in self._origins and self._other(one.value, found) is not None
        ]

    def _other(self, value: Any, found: dict[int, Watched]) -> Watched | None:
        """Another container of `found` that may be `value` when the kernel runs, or None."""
        if parts_of(value) is None or isinstance(value, tuple):
            return None
        own = self._original(value)
        for key, one in found.items():
            if key in self._origins and self._original(one.value) is not own and self.may_be_one(one.value, value):
                return one
        return None

    def _original(self, value: Any) -> Any:
        """The container that a branch or an iteration has a copy of, or the container itself. `Watch` refuses changes of a copy
        if the original has two names."""
        _, sources = self._choices.get(id(value), (None, ()))
        return sources[0] if len(sources) == 1 else value

    def require_one_name(self, before: Watched, after: Any) -> None:
        """Raises Misuse if a container changes in an iteration of a loop, and has two names after it: the next iteration
        has two containers. `before` is the container at the beginning of the iteration."""
        if before.kind == "tuple" or not (before.has_changed or id(before.value) in self.changed):
            return
        found = reachable(self._names)
        one, other = found.get(id(after)), self._other(after, found)
        names = [other.path] if other is not None else [one.path, one.other] if one is not None and one.other else []
        if path := next((name for name in names if name != before.path), None):
            raise Misuse(
                f"the {before.kind} '{before.path}' changes in a loop that the kernel executes, and is also '{path}' after "
                "an iteration",
                _HINT,
            )
