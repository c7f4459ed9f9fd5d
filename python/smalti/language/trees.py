# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tuples, lists, dictionaries and dataclasses of values, as sequences of leaves; keys of constants."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import LaunchError
from .arithmetic import is_number
from .values import Value


@dataclasses.dataclass(frozen=True)
class Undefined:
    """A name that does not have a value after a statement, and the reason."""

    reason: str


def is_leaf(value: Any) -> bool:
    """Whether a value can be carried by a loop or returned by a branch: a tile, a scalar or a number."""
    return isinstance(value, Value) or is_number(value)


def _children(value: Any) -> list[Any] | None:
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return None


def leaves(value: Any) -> list[Any]:
    """The leaves and the other static values, in order."""
    children = None if is_leaf(value) else _children(value)
    if children is None:
        return [value]
    return [leaf for child in children for leaf in leaves(child)]


def containers(value: Any) -> list[Any]:
    """The containers of the structure, each after those in it."""
    children = None if is_leaf(value) else _children(value)
    if children is None:
        return []
    return [*(one for child in children for one in containers(child)), value]


def rebuild(value: Any, new: Iterator[Any], made: Callable[[Any, Any], Any] = lambda _, copy: copy) -> Any:
    """A copy of the structure with new leaves. `made` returns what becomes part of it, from a container and its copy; it is
    called in the order of `containers`."""
    children = None if is_leaf(value) else _children(value)
    if children is None:
        return next(new)
    items = [rebuild(child, new, made) for child in children]
    if isinstance(value, dict):
        return made(value, dict(zip(value, items, strict=True)))
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        copy = object.__new__(type(value))
        for name, item in zip(names, items, strict=True):
            object.__setattr__(copy, name, item)
        return made(value, copy)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return made(value, type(value)(*items))
    return made(value, type(value)(items))


def copied(value: Any) -> Any:
    """A copy whose containers and numpy arrays are not shared."""
    return rebuild(value, iter([leaf.copy() if is_numpy_array(leaf) else leaf for leaf in leaves(value)]))


def structure(value: Any) -> Any:
    """A description of the containers, to compare the structures of two values."""
    children = None if is_leaf(value) else _children(value)
    if children is None:
        return "leaf" if is_leaf(value) else "static"
    keys = tuple(value) if isinstance(value, dict) else ()
    return (type(value), keys, tuple(structure(child) for child in children))


def contains(value: Any, test: Callable[[Any], bool]) -> bool:
    """Whether a leaf satisfies `test`."""
    return any(test(leaf) for leaf in leaves(value))


def same_static(a: Any, b: Any) -> bool:
    """Whether two static values are equal, in types too. Values of the kernel are equal only if they are one object."""
    if a is b:
        return True
    if isinstance(a, Value) or isinstance(b, Value) or type(a) is not type(b):
        return False
    # An object may define == freely.
    with contextlib.suppress(Exception):
        try:
            return hashable(a) == hashable(b)
        except LaunchError:
            return bool(a == b)
    return False


def unchanged(before: Any, now: Any) -> bool:
    """Whether a static value is still equal to its copy `before`, in types too."""
    if now is before:
        return True
    return structure(before) == structure(now) and all(map(same_static, leaves(before), leaves(now)))


def _identified(value: Any) -> Any:
    """A value that is equal for the same numbers only: 0.0 and -0.0 are equal in Python, and NaN is not equal to itself. Values
    that are not floating-point numbers do not change."""
    if isinstance(value, (float, complex)):
        return (type(value), repr(value))
    # A number of numpy or ml_dtypes.
    if hasattr(value, "dtype") and hasattr(value, "tobytes") and getattr(value, "shape", None) == ():
        return (type(value), value.tobytes())
    return value


def hashable(value: Any) -> Any:
    """A key for a dictionary, of the exact content of a value. Raises LaunchError for an object that does not have one."""
    kind = type(value)
    # Most values of a call.
    if kind is str or kind is int or kind is bool or value is None:
        return (kind, value)
    if isinstance(value, (tuple, list)):
        return (type(value), tuple(hashable(item) for item in value))
    if isinstance(value, dict):
        return (type(value), tuple((hashable(key), hashable(item)) for key, item in value.items()))
    if isinstance(value, (set, frozenset)):
        return (type(value), frozenset(hashable(item) for item in value))
    if isinstance(value, slice):
        return (slice, hashable((value.start, value.stop, value.step)))
    if isinstance(value, bytearray):
        return (bytearray, bytes(value))
    if is_numpy_array(value):
        content = hashable(value.tolist()) if value.dtype.hasobject else value.tobytes()
        return (type(value), value.dtype, value.shape, content)
    is_record = dataclasses.is_dataclass(value) and not isinstance(value, type)
    value = _identified(value)
    try:
        hash(value)
    except TypeError:
        if not is_record:
            raise LaunchError(
                f"an object of type {type(value).__qualname__} is not hashable, but a constant of a kernel must be; pass a "
                "tuple, a dataclass or a numpy array, or define __hash__ and __eq__"
            ) from None
        key: tuple[Any, ...] = (type(value),)
    else:
        # 1, 1.0 and True are equal, but give different kernels.
        key = (type(value), value)
    if is_record and not type(value).__module__.startswith("smalti."):
        # Records with equal fields of different types are equal.
        return (*key, tuple(hashable(getattr(value, field.name, None)) for field in dataclasses.fields(value)))
    return key


def is_numpy_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)
