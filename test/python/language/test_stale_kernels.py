# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Python after a change in the process: of constants, of values outside of the kernel, and of its file."""

from __future__ import annotations

import dataclasses
import importlib.util
import linecache
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl
from smalti.language import frames

TABLE = np.zeros(2000, np.int64)


@dataclasses.dataclass(frozen=True)
class Constant:
    value: Any


class NotHashable:
    __hash__ = None  # pyright: ignore

    def __init__(self, value: int) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "NotHashable()"


@smalti.kernel(target="cpu")
def write(y: sl.Array, value: smalti.constexpr, get: smalti.constexpr) -> None:
    y[0:1] = sl.full((1,), get(value), sl.float32)


@smalti.kernel(target="cpu")
def write_global(y: sl.Array) -> None:
    y[0:1] = sl.full((1,), TABLE[1000].item(), sl.float32)


def run(kernel: Any, *constants: Any) -> float:
    y = np.full(1, np.nan, np.float32)
    kernel(y, *constants)
    return float(y[0])


def middle(value: Any) -> Any:
    return value[1000].item()


def of_field(value: Any) -> Any:
    """1 for a float, and 2 for an integer."""
    return 1 + isinstance(value.value, int)


def of_items(value: Any) -> Any:
    found = [isinstance(item, int) for item in value]
    return 1 + found[0]


def test_arrays_are_compared_by_their_contents() -> None:
    value = np.zeros(2000)
    assert run(write, value, middle) == 0
    value[1000] = 3  # The repr is shortened.
    assert run(write, value, middle) == 3
    assert run(write, value.astype(np.float32) + 1, middle) == 4


@pytest.mark.parametrize(
    ("get", "make"),
    [
        (of_field, Constant),
        (of_items, lambda n: frozenset([n])),
        (of_items, lambda n: {n}),
        (of_items, lambda n: {n: 1}),
    ],
)
def test_equal_constants_of_different_types(get: Any, make: Callable[[Any], Any]) -> None:
    assert [run(write, make(n), get) for n in (100, 100.0, 100)] == [2, 1, 2]


def test_an_object_without_a_key_is_refused() -> None:
    with pytest.raises(
        smalti.LaunchError, match=r"write: value: an object of type NotHashable is not hashable.*pass a"
    ):
        run(write, NotHashable(1), of_field)


def test_a_global_array_that_changed_in_place() -> None:
    TABLE[1000] = 1
    assert run(write_global) == 1
    TABLE[1000] = 2
    assert run(write_global) == 2


# --- Changed files ---

FILE = """\
import smalti
import smalti.language as sl


def inner(t):
    return t + 1


def other(t):
    return t + 5


@smalti.kernel(target="cpu")
def kernel(y: sl.Array, more: smalti.constexpr = 0):
    def nested(t):
        return t + more

    y[0:1] = inner(nested(sl.full((1,), 1.0, sl.float32)))
"""


def imported(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHANGES = {
    "a helper": FILE.replace("t + 1", "t + 2"),
    "the kernel": FILE.replace("1.0", "3.0"),
    "a nested function": FILE.replace("t + more", "t - more"),
    "the position": FILE.replace("def inner(t):\n    return t + 1\n\n\n", ""),
    "the end": FILE[:40],
    "the syntax": FILE.replace("y[0:1] =", "y[0:1] = ="),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changed_after_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path = tmp_path / "changing.py"
    path.write_text(FILE)
    module = imported(path, "changing")
    assert run(imported(path, "changing").kernel) == 2  # A new file that did not change.
    source = CHANGES[change]
    path.write_text(source)
    os.utime(path, (time.time() + 10, time.time() + 10))
    linecache.checkcache()
    frames._source_of.cache_clear()
    with pytest.raises(smalti.errors.SmaltiError, match=r"has changed since it was imported(.|\n)*import it again"):
        run(module.kernel, 1)


# --- Changed functions ---


@pytest.mark.parametrize("is_cached", [False, True])
def test_changes_of_a_helper_and_of_builtins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_cached: bool) -> None:
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "cache") if is_cached else "")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path = tmp_path / "functions.py"
    path.write_text(FILE.replace("def inner(t)", "def inner(t, n=1, *, m=0)").replace("t + 1", "t + n + m + abs(-1)"))
    module: Any = imported(path, "functions")
    if is_cached:
        run(module.kernel)
        module = imported(path, "functions")

    def result() -> float:
        first = run(module.kernel)
        assert run(module.kernel) == first  # A launch without Python code.
        return first

    assert result() == 3
    module.inner.__defaults__ = (10,)
    assert result() == 12
    module.inner.__kwdefaults__ = {"m": 100}
    assert result() == 112
    module.inner.__kwdefaults__["m"] = 200
    assert result() == 212
    module.abs = lambda n: 1000
    assert result() == 1211
    del module.abs
    assert result() == 212
    module.inner.__code__ = module.other.__code__
    module.inner.__defaults__ = None
    assert result() == 6
