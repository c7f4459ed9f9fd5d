# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fingerprints of kernels, which are keys of the cache on disk.

The fingerprint of a function covers its source, its position in the file, and the values outside of it that its code names.
These are globals, names of enclosing functions, and attributes of modules. The fingerprint of a value covers the functions
and classes in it. Two processes with equal fingerprints translate a kernel to the same module. An object of a library and a
function that reads a file, for example, do not have a fingerprint.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import dis
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .frames import Captured, captured_function, read_global, source_of
from .trees import copied
from .types import Misuse

_PRIMITIVES = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_MOST_BYTES = 1 << 20
"""The size of the largest array that has a fingerprint."""
_MOST_OBJECTS = 10_000

_PURE = {"math", "cmath", "operator", "_operator", "itertools", "_functools"}
"""Modules whose functions depend only on their arguments."""
_NOT_PURE = {
    *("__import__", "breakpoint", "compile", "dir", "eval", "exec", "globals", "hash", "id", "input", "locals", "open"),
    "vars",
}
"""Functions of `builtins` whose result does not depend on their arguments alone."""
_PURE_FUNCTIONS = {
    *(("dataclasses", name) for name in ("asdict", "astuple", "field", "fields", "is_dataclass", "replace")),
    ("functools", "reduce"),
    ("typing", "cast"),
    *(("numpy", name) for name in ("array", "asarray", "zeros", "ones", "full", "arange", "prod", "sum", "max", "min")),
}
_KNOWN_CLASSES = {
    *("abc", "builtins", "collections", "dataclasses", "enum", "fractions", "functools", "itertools", "ml_dtypes"),
    *("numbers", "numpy", "operator", "smalti", "types", "typing"),
}
"""Packages whose classes are identified by name: their versions are part of the key."""

_GENERATED = {
    *(
        "__init__",
        "__repr__",
        "__eq__",
        "__hash__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__setattr__",
        "__delattr__",
    ),
    *("__replace__", "__new__", "_make", "_replace", "_asdict", "__getnewargs__", "__getstate__", "__setstate__"),
}
"""Methods of dataclasses and named tuples that Python generates."""
_BOOKKEEPING = {
    *("__module__", "__dict__", "__weakref__", "__doc__", "__annotations__", "__qualname__", "__firstlineno__"),
    *("__static_attributes__", "__parameters__", "__orig_bases__", "__annotate__", "__annotate_func__", "__slots__"),
    *("__annotations_cache__", "__match_args__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__"),
    *("__dataclass_params__", "_fields", "_field_defaults", "__hash__"),
}
"""Attributes of a class that follow from others, or that a kernel cannot use."""

_CONTENTS: dict[type, Callable[[Any], Any]] = {
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
}
"""The content of an object of a subclass, as an object of the class itself."""


class NoFingerprint(Exception):
    """The reason why a value does not have a fingerprint."""


@dataclasses.dataclass(frozen=True)
class Fingerprint:
    """The fingerprint of a kernel, and the values that it covers."""

    digest: str
    captured: Mapping[tuple[int, str], Captured]
    _whole: frozenset[int]
    """Classes of which all attributes are covered, by identity."""

    def covers(self, captured: Mapping[tuple[int, str], Captured]) -> bool:
        """Whether the fingerprint covers all values that a translation used."""
        return all(
            key in self.captured or key[0] in self._whole or _is_known(value.owner) for key, value in captured.items()
        )

    @property
    def is_current(self) -> bool:
        return all(value.is_current for value in self.captured.values())


def of(function: types.FunctionType, *values: Any) -> Fingerprint | None:
    """The fingerprint of a kernel that is translated for `values`. None if one of the values does not have one."""
    hasher = _Hasher()
    try:
        hasher.function(function)
        hasher.value(values)
    except Exception:  # Besides NoFingerprint: the attributes of an object may be of any type, or raise an error.
        return None
    # The kernel's own signature was read by the decorator, and a launch without helpers needs no check.
    hasher.captured.pop((id(function), "__code__"), None)
    return Fingerprint(hasher.digest.hexdigest(), hasher.captured, frozenset(hasher.whole))


def _package(value: Any) -> str:
    return str(getattr(value, "__module__", None) or "").split(".")[0]


def _is_known(owner: Any) -> bool:
    """Whether a module or class is a part of Smalti or of a library whose version is part of the key."""
    if isinstance(owner, types.ModuleType):
        return owner.__name__.split(".")[0] == "smalti"
    return isinstance(owner, type) and _package(owner) in _KNOWN_CLASSES


@dataclasses.dataclass(frozen=True)
class _Use:
    """A name that code loads, and the attributes that it reads from its value: `math.pi`."""

    name: str
    is_global: bool
    attributes: tuple[str, ...]


def _uses(code: types.CodeType) -> Iterator[_Use]:
    """The names outside of a function that its code uses, and those of functions in it."""
    loaded: tuple[str, bool] | None = None
    attributes: list[str] = []
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in ("CACHE", "EXTENDED_ARG"):
            continue
        if loaded is not None:
            if name in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.append(instruction.argval)
                continue
            yield _Use(*loaded, tuple(attributes))
            loaded, attributes = None, []
        if name == "IMPORT_NAME":
            raise NoFingerprint("an import in a function")
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            loaded = (instruction.argval, True)
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
            loaded = (instruction.argval, False)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _uses(constant)


class _Hasher:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.captured: dict[tuple[int, str], Captured] = {}
        self.whole: set[int] = set()
        self._seen: dict[int, tuple[int, Any]] = {}
        """The number of each object, and the object, so that its identity stays unique."""

    def _add(self, *words: str | bytes) -> None:
        for word in words:
            data = word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word
            self.digest.update(len(data).to_bytes(8, "little") + data)

    # --- Values ---

    def value(self, value: Any) -> None:
        """Adds a value. Raises NoFingerprint if it does not have one."""
        kind: Any = type(value)
        if kind in _PRIMITIVES:
            self._add(kind.__name__, repr(value))
            return
        if (seen := self._seen.get(id(value))) is not None:
            self._add("again", str(seen[0]))
            return
        if len(self._seen) >= _MOST_OBJECTS:
            raise NoFingerprint("too many objects")
        self._seen[id(value)] = (len(self._seen), value)
        self._add(str(kind.__module__), kind.__qualname__)
        if kind in (tuple, list):
            self._items(value)
        elif kind is dict:
            self._items([item for pair in value.items() for item in pair])
        elif kind in (set, frozenset):
            if not all(type(item) in _PRIMITIVES for item in value):
                raise NoFingerprint("a set of objects")
            self._items(sorted(value, key=repr))
        elif kind in (range, slice):
            self._items([value.start, value.stop, value.step])
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, types.BuiltinFunctionType):
            self._builtin(value)
        elif isinstance(value, types.MethodType):
            self._items([value.__func__, value.__self__])
        elif isinstance(value, type):
            self._class(value)
        elif kind is functools.partial:
            self._items([value.func, value.args, value.keywords])
        elif isinstance(value, (staticmethod, classmethod)):
            self.value(value.__func__)
        elif isinstance(value, property):
            self._items([value.fget, value.fset, value.fdel])
        elif isinstance(kernel := getattr(value, "__smalti_function__", None), types.FunctionType):
            self.function(kernel)
        elif isinstance(value, enum.Enum):
            self._items([kind, value.name, value.value])
        elif kind.__module__ == "typing":
            self._add(repr(value))
        else:
            self._object(value, kind)

    def _items(self, values: Any) -> None:
        self._add(str(len(values)))
        for value in values:
            self.value(value)

    def _object(self, value: Any, kind: Any) -> None:
        package = _package(kind)
        if package == "numpy":
            self._numpy(value)
        elif package == "torch" and kind.__qualname__ == "dtype":
            self._add(repr(value))
        elif dataclasses.is_dataclass(value):
            self.value(kind)
            self._base(value, kind)
            self._items([getattr(value, field.name, None) for field in dataclasses.fields(value)])
            self.value(dict(getattr(value, "__dict__", {})))
        elif isinstance(value, tuple) and hasattr(kind, "_fields"):
            self.value(kind)
            self._base(value, kind)
            self.value(dict(getattr(value, "__dict__", {})))
        elif package not in sys.stdlib_module_names | {"smalti"} and hasattr(value, "__dict__"):
            # A class in C does not have a fingerprint, nor does one whose objects have other attributes than these.
            if any("__slots__" in vars(base) for base in kind.__mro__):
                raise NoFingerprint(f"an object of type {kind.__qualname__}")
            self.value(kind)
            self._base(value, kind)
            self.value(dict(vars(value)))
        else:
            raise NoFingerprint(f"an object of type {kind.__qualname__}")

    def _base(self, value: Any, kind: Any) -> None:
        """Adds the content of an object that is not in its attributes, such as the items of a list. The class in C, of which
        its class is a subclass, has it."""
        base = next(one for one in kind.__mro__ if _is_in_c(one))
        if base is object:
            return
        if base not in _CONTENTS:
            raise NoFingerprint(f"an object of type {kind.__qualname__}, a subclass of {base.__qualname__}")
        self.value(_CONTENTS[base](value))

    def _numpy(self, value: Any) -> None:
        import numpy as np

        if isinstance(value, np.ufunc):
            self._add(value.__name__)
        elif isinstance(value, np.dtype) and not value.hasobject:
            self._add(repr(value))
        elif isinstance(value, (np.generic, np.ndarray)) and not value.dtype.hasobject and value.nbytes <= _MOST_BYTES:
            self._add(repr(value.dtype), repr(value.shape), value.tobytes())
        else:
            raise NoFingerprint(f"an object of type {type(value).__qualname__}")

    # --- Functions and classes ---

    def _builtin(self, value: Any) -> None:
        module = value.__self__ if isinstance(value.__self__, types.ModuleType) else None
        name, where = value.__name__, value.__module__ or ""
        is_pure = where in _PURE or (where == "builtins" and name not in _NOT_PURE) or (where, name) in _PURE_FUNCTIONS
        if not is_pure or (module is None and value.__self__ is not None):
            raise NoFingerprint(f"the function {where}.{name}")
        self._add(where, name)

    def function(self, function: types.FunctionType) -> None:
        """Adds a Python function with all that its code names."""
        package = _package(function)
        if package == "smalti" or (function.__module__, function.__name__) in _PURE_FUNCTIONS:
            self._add(function.__module__, function.__qualname__)
            return
        if (package in sys.stdlib_module_names and package != "__main__") or package in ("numpy", "torch", "jax"):
            raise NoFingerprint(f"the function {function.__module__}.{function.__qualname__}")
        if hasattr(function, "__wrapped__"):
            raise NoFingerprint(f"the function {function.__qualname__}, which has a decorator")
        self._add(function.__module__ or "", function.__qualname__)
        self.captured.setdefault((id(function), "__code__"), captured_function(function))
        if function.__name__ != "<lambda>":
            try:
                source = source_of(function)
                # Locations are in messages and in line tables.
                self._add(source.file, str(source.first_column), ast.dump(source.node, include_attributes=True))
            except Misuse:
                self._add("no source")
        self._code(function.__code__)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        self.value(dict(vars(function)))
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        space = function.__globals__
        for use in _uses(function.__code__):
            if use.name in cells:
                cell = cells[use.name]
                self._named(cell, use.name, lambda cell=cell: cell.cell_contents, use.attributes)
            elif not use.is_global:
                # A name of an enclosing function of which this code is a part.
                continue
            elif use.name in space:
                self._named(space, use.name, lambda space=space, name=use.name: space[name], use.attributes)
            elif hasattr(builtins, use.name):
                self._add("builtin", use.name)
                read = functools.partial(read_global, space, use.name)
                self.captured.setdefault((id(space), use.name), Captured(space, use.name, read, read()))
                self.value(read())
            else:
                self._add("undefined", use.name)

    def _code(self, code: types.CodeType) -> None:
        self._add(code.co_filename, str(code.co_firstlineno), code.co_code, code.co_linetable)
        self._add(*code.co_names, "", *code.co_varnames, "", *code.co_freevars, *code.co_cellvars)
        self._add(str(code.co_flags), str(code.co_argcount), str(code.co_kwonlyargcount), str(code.co_posonlyargcount))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.value(constant)

    def _named(self, owner: Any, name: str, read: Callable[[], Any], attributes: tuple[str, ...]) -> None:
        """Adds the value of a name outside of a function, or of the attribute of a module."""
        self._add(name, "" if not attributes else attributes[0])
        try:
            value = read()
        except ValueError:
            # A name of an enclosing function that does not have a value yet.
            self._add("unbound")
            return
        self.captured.setdefault((id(owner), name), Captured(owner, name, read, copied(value)))
        if not isinstance(value, types.ModuleType):
            self.value(value)
            return
        self._add("module", value.__name__)
        if _is_known(value):
            return
        if not attributes or attributes[0] not in vars(value):
            raise NoFingerprint(f"the module {value.__name__}, which is used as a value")
        attribute = attributes[0]
        self._named(value, attribute, lambda: getattr(value, attribute), attributes[1:])

    def _class(self, kind: Any) -> None:
        self._add(kind.__module__, kind.__qualname__)
        package = _package(kind)
        if package in _KNOWN_CLASSES:
            return
        if package in sys.stdlib_module_names and package != "__main__":
            raise NoFingerprint(f"the class {kind.__module__}.{kind.__qualname__}")
        self.whole.add(id(kind))
        self._items([type(kind), *kind.__bases__])
        is_generated = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
        if dataclasses.is_dataclass(kind):
            self._add(repr(getattr(kind, "__dataclass_params__", None)))
            for field in dataclasses.fields(kind):
                self._add(field.name, repr(field.init), repr(field.kw_only))
                for default in (field.default, field.default_factory):
                    self.value(None if default is dataclasses.MISSING else default)
        elif hasattr(kind, "_fields"):
            self.value(kind._fields)
            self.value(getattr(kind, "_field_defaults", None))
        if isinstance(kind, enum.EnumMeta):
            members: Any = kind.__members__.values()
            self._items([(member.name, member.value) for member in members])
        for name, item in sorted(vars(kind).items()):
            if name in _BOOKKEEPING or isinstance(item, (types.MemberDescriptorType, types.GetSetDescriptorType)):
                continue
            if isinstance(kind, enum.EnumMeta) and not _is_written(item):
                continue
            is_field = name in getattr(kind, "_fields", ()) and type(item).__name__ == "_tuplegetter"
            if is_field or (is_generated and name in _GENERATED and not _is_written(item)):
                continue
            self._add(name)
            if not callable(item) and not isinstance(item, (property, staticmethod, classmethod)):
                read = functools.partial(getattr, kind, name)
                self.captured.setdefault((id(kind), name), Captured(kind, name, read, copied(read())))
            self.value(item)


def _is_in_c(kind: Any) -> bool:
    """Whether objects of a class have a content that Python code did not define. copyreg has the same test."""
    new = vars(kind).get("__new__")
    is_static = not kind.__flags__ & 1 << 9  # Py_TPFLAGS_HEAPTYPE
    return is_static or (isinstance(new, types.BuiltinFunctionType) and new.__self__ is kind)


def _is_written(item: Any) -> bool:
    """Whether a method of a class is in its source, instead of generated by Python."""
    function = getattr(item, "fget", None) or getattr(item, "__func__", item)
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename.startswith("<"):
        return False
    return Path(code.co_filename).parent not in (
        Path(enum.__file__).parent,
        Path(types.__file__).parent / "collections",
    )
