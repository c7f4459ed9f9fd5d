# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated translation of kernels in Python, after changes of values outside of them."""

from __future__ import annotations

import pickle
import types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl


@dataclass
class Options:
    """Options of a kernel, in a global name."""

    factor: float


class Constants:
    """Constants of a kernel, as attributes of a class."""

    VALUE = 1.0


NUMBER = 1.0
TABLE: dict[str, Any] = {"list": [1.0]}
OPTIONS = Options(1.0)
MODULE = types.ModuleType("constants")
MODULE.value = 1.0  # type: ignore[attr-defined]


def helper(t):
    return t * NUMBER


@smalti.kernel(target="cpu")
def scaled(x, out):
    out[0:4] = helper(x[0:4]) * TABLE["list"][0] * OPTIONS.factor * Constants.VALUE * MODULE.value


def result(kernel: smalti.language.PythonKernel = scaled) -> float:
    out = np.zeros(4, np.float32)
    kernel(np.ones(4, np.float32), out)
    return float(out[0])


def module() -> Any:
    variants = list(scaled._variants.values())
    assert len(variants) == 1
    return variants[0].module


def test_a_changed_value_translates_the_kernel_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result() == 1
    first = module()
    assert result() == 1 and module() is first
    changes = (
        lambda: monkeypatch.setitem(globals(), "NUMBER", 2.0),
        lambda: TABLE["list"].__setitem__(0, 2.0),
        lambda: monkeypatch.setattr(OPTIONS, "factor", 2.0),
        lambda: monkeypatch.setattr(Constants, "VALUE", 2.0),
        lambda: monkeypatch.setattr(MODULE, "value", 2.0),
    )
    for number, change in enumerate(changes):
        change()
        assert result() == 2.0 ** (number + 1)
    monkeypatch.undo()
    TABLE["list"][0] = 1.0
    assert result() == 1


def test_a_changed_function_and_a_deleted_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result() == 1

    def negated(t):
        return -t

    monkeypatch.setitem(globals(), "helper", negated)
    assert result() == -1
    monkeypatch.delitem(globals(), "helper")
    with pytest.raises(smalti.CompileError, match="name 'helper' is not defined"):
        result()


def test_a_name_of_an_enclosing_function() -> None:
    factor = 1

    @smalti.kernel(target="cpu")
    def kernel(x, out):
        out[0:4] = x[0:4] * factor

    assert result(kernel) == 1
    factor = 3
    assert result(kernel) == 3
    factor = 3.5
    assert result(kernel) == 3.5


@smalti.kernel(target="cpu", do_not_specialize=["n"])
def general(x: sl.Array, n: sl.int32, flag: smalti.constexpr):
    x[0:4] = n if flag else -n


def test_variants_by_facts() -> None:
    x = np.zeros(4, np.float32)
    for n, flag in ((1, True), (16, True), (3, True), (3, False), (3, 1)):
        general(x, n, flag)
        assert x[0] == (n if flag else -n)
    # The constants True, False and 1.
    assert len(general._variants) == 3
    general(x[::1].reshape(4, 1)[:, 0], 3, True)
    assert len(general._variants) == 3
    general(np.zeros(8, np.float32)[::2], 3, True)
    general(np.zeros(8, np.float64), 3, True)
    assert len(general._variants) == 5


def test_threads_translate_at_the_same_time() -> None:
    """Each thread has the tile ids of its own kernel."""

    def kernel_of(dimensions: int) -> smalti.language.PythonKernel:
        @smalti.kernel(grid=(2,) * dimensions, target="cpu")
        def kernel(out):
            total = 0
            for axis in sl.static_range(dimensions):
                total = 2 * total + sl.tile_id(axis)
            out[total] = total

        return kernel

    def run(dimensions: int) -> list[float]:
        out = np.zeros(2**dimensions, np.float32)
        kernel_of(dimensions)(out)
        return list(out)

    with ThreadPoolExecutor(4) as pool:
        for number, values in enumerate(pool.map(run, [1, 2, 3] * 4)):
            assert values == list(range(2 ** (number % 3 + 1)))


def test_kernels_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    other = pickle.loads(pickle.dumps(scaled.on("emu:sm_80", num_warps=2)))
    assert (other._target, other._options) == ("emu:sm_80", {"num_warps": 2})
    assert result(other) == 1
