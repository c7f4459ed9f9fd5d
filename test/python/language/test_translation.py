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
import smalti.block
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


@smalti.kernel(grid=lambda grid0: grid0.shape[0] // 128)
def grandeur_é(grid0, tile0, é: sl.int32, _grid0: sl.int32, loc: sl.int32, memref: sl.int32, stream: sl.int32):
    i = sl.tile_id() * 128
    tile0[i : i + 128] = grid0[i : i + 128] * é + _grid0 * 10 + loc * 100 + memref * 1000 + stream * 10000


grandeur_é_of_a_block: Any = smalti.kernel(grid=grandeur_é._grid, level="block")(grandeur_é.__smalti_function__)


@pytest.mark.parametrize("kernel", [grandeur_é, grandeur_é_of_a_block])
@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a", "emu:gfx942", "sim:sm_90a", "interpret"])
def test_every_identifier_is_a_name_of_a_parameter(kernel: Any, target: str) -> None:
    """Names of the IR printer, of the arguments of a launch, and letters that are not ASCII."""
    if kernel is grandeur_é_of_a_block and target in ("cpu", "interpret"):
        return
    kernel = kernel.on(interpret=True) if target == "interpret" else kernel.on(target)
    x, out = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    numbers = (3, 2, 3, 4, 5)
    kernel(x, out, *numbers)
    assert (out == 3 * x + 54320).all()
    if target.startswith(("cpu", "emu")):
        names = [argument.name for argument in kernel.compile(x, out, *numbers).arguments]
        assert names[:7] == list(kernel.parameters) and names[7:] in ([], ["__grid0"])


def test_the_keyword_of_the_stream_is_not_a_parameter() -> None:
    x = np.zeros(128, np.int32)
    with pytest.raises(smalti.LaunchError, match="pass the argument stream by position"):
        grandeur_é.on("cpu")(x, x, 1, 1, 1, 1, stream=1)
