# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tuples, lists, dictionaries and dataclasses of values, as sequences of leaves."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import LaunchError
from .arithmetic import is_number
from .parameters import hashable, is_numpy_array
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
