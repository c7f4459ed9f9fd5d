# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hooks of kernels in Python, and compilation without arrays."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
import smalti.language as sl
import stub_driver
from smalti import ShapeDtypeStruct, hooks
from smalti.launch.kernels import Kernel


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block), target="cpu")
def doubled(x: sl.Array, y: sl.Array, block: smalti.constexpr = 64) -> None:
    i = sl.tile_id() * block
    y[i : i + block] = 2 * x[i : i + block]


def new_kernel() -> sl.PythonKernel:
    """The kernel without compiled variants and hooks."""
    return smalti.kernel(grid=doubled._grid, target="cpu")(doubled.__smalti_function__)


@pytest.fixture
def events() -> Iterator[list[Any]]:
    """The arguments of the hooks of all kernels."""
    found: list[Any] = []
    lists: list[list[Any]] = [hooks.launch_enter, hooks.launch_exit, hooks.compile]
    for functions, name in zip(lists, ("enter", "exit", "compile"), strict=True):
        functions.append(lambda event, name=name: found.append((name, event)))
    yield found
    for functions in lists:
        functions.clear()


def test_hooks_of_all_kernels_and_of_one(events: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path))
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernel = new_kernel()
    kernel.hooks.launch_enter.append(lambda launch: events.append(("own enter", launch)))
    kernel.hooks.launch_exit.append(lambda launch: events.append(("own exit", launch)))
    kernel.hooks.compile.append(lambda compilation: events.append(("own compile", compilation)))
    kernel(x, y)
    assert (y == 2).all()
    names = ["compile", "own compile", "enter", "own enter", "own exit", "exit"]
    assert [name for name, _ in events] == names
    compilation, launch = events[0][1], events[2][1]
    assert isinstance(compilation.kernel, Kernel) and compilation.seconds > 0 and not compilation.is_loaded
    assert launch.kernel is compilation.kernel and launch.arguments == (x, y, 2) and launch.stream is None
    events.clear()
    # The hooks are those of other targets too. A kernel is compiled once.
    kernel.on()(x, y)
    assert [name for name, _ in events] == names[2:]
    events.clear()
    new_kernel()(x, y)
    assert [name for name, _ in events] == ["compile", "enter", "exit"] and events[0][1].is_loaded


def test_exit_hooks_are_called_after_an_error(events: list[Any]) -> None:
    x = np.ones(100, np.float32)
    frozen = np.zeros(100, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(smalti.LaunchError, match="read-only"):
        new_kernel()(x, frozen)
    assert [name for name, _ in events][-2:] == ["enter", "exit"]


def test_an_exception_of_a_hook_prevents_the_launch() -> None:
    def refuse(_: Any) -> None:
        raise ValueError("not now")

    kernel = new_kernel()
    kernel.hooks.launch_enter.append(refuse)
    y = np.zeros(100, np.float32)
    with pytest.raises(ValueError, match="not now"):
        kernel(np.ones(100, np.float32), y)
    assert not y.any()


def test_warmup_does_not_run(events: list[Any]) -> None:
    kernel = new_kernel()
    compiled = kernel.warmup(ShapeDtypeStruct((100,), np.float32), ShapeDtypeStruct((100,), "float32"))
    assert [name for name, _ in events] == ["compile"] and vars(compiled)["_launcher"] is not None
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernel(x, y)
    assert [name for name, _ in events] == ["compile", "enter", "exit"] and (y == 2).all()
    assert events[1][1].kernel is compiled


@pytest.mark.grid(10)
@pytest.mark.parametrize("dtype", [np.float16, "bfloat16", sl.int32, np.dtype(np.uint8), ml_dtypes.float8_e5m2])
@pytest.mark.parametrize(
    ("shape", "strides"), [((96,), None), ((7,), None), ((1,), None), ((64,), (2,)), ((64,), (0,))]
)
def test_descriptions_and_arrays_select_one_kernel(dtype: Any, shape: tuple[int], strides: tuple[int] | None) -> None:
    kernel = new_kernel().on("sm_80")
    element = sl.dtype(dtype).numpy
    if strides is None:
        array = np.zeros(shape, element)
    else:
        array = np.zeros(2 * shape[0], element)[::2] if strides[0] else np.broadcast_to(np.zeros(1, element), shape)
    spec = ShapeDtypeStruct(shape, dtype, strides)
    out = np.zeros(shape, element)
    assert kernel.compile(spec, ShapeDtypeStruct(shape, dtype)) is kernel.compile(array, out)
    assert kernel.ir("tile", spec, out) == kernel.ir("tile", array, out)


def test_descriptions_of_other_libraries() -> None:
    class Other:
        shape = (100,)
        dtype = np.dtype(np.float32)

    x = np.ones(100, np.float32)
    kernel = new_kernel()
    assert kernel.compile(Other(), x) is kernel.compile(x, x)
    assert str(kernel.module(Other(), x)) == str(kernel.module(x, x))


def test_descriptions_that_are_refused() -> None:
    x = np.ones(100, np.float32)
    with pytest.raises(smalti.LaunchError, match="x is not an array or a number"):
        new_kernel()(ShapeDtypeStruct((100,), np.float32), x)
    with pytest.raises(smalti.LaunchError, match=r"doubled: .* is not an element type"):
        new_kernel().compile(ShapeDtypeStruct((100,), "complex64"), x)
    with pytest.raises(smalti.LaunchError, match="one stride per dimension is required"):
        new_kernel().compile(ShapeDtypeStruct((100,), "float32", (1, 1)), x)


# --- Ahead of time ----------------------------------------------------------------------------------------------------

LAUNCHER = """\
#include "doubled.h"
int cuLaunchKernel(uintptr_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, uintptr_t, void **, void **);
const char *check(const doubled_arguments *arguments) { return doubled_check(arguments); }
int launch(const doubled_arguments *arguments, uintptr_t function) {
  unsigned grid[3];
  int some = doubled_grid(arguments, grid);
  if (some <= 0)
    return some;
  doubled_parameters parameters;
  int status = cuLaunchKernel(function, grid[0], grid[1], grid[2], doubled_block_x, doubled_block_y, doubled_block_z,
                              doubled_shared_bytes, 0, doubled_fill_parameters(arguments, &parameters), NULL);
  return status ? 1000 + status : 1;
}
"""


class Vector(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("size", ctypes.c_int64)]


class Arguments(ctypes.Structure):
    _fields_ = [("x", Vector), ("y", Vector), ("tiles", ctypes.c_int64)]


@pytest.mark.skipif(stub_driver.compiler() is None, reason="needs a C compiler")
def test_a_header_of_a_kernel_that_was_compiled_without_arrays(tmp_path: Path) -> None:
    spec = ShapeDtypeStruct((1600,), np.float32)
    compiled = doubled.on("sm_90a").compile(spec, spec)
    assert isinstance(compiled, Kernel)
    compiled.save(tmp_path / "doubled.h")
    stub = stub_driver.Stub(stub_driver.build(tmp_path))
    source, output = tmp_path / "launcher.c", tmp_path / "launcher.so"
    source.write_text(LAUNCHER)
    command = [str(stub_driver.compiler()), "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", source, "-o", output]
    subprocess.run([*command, stub.library._name], check=True)
    library = ctypes.CDLL(str(output))
    library.check.restype = ctypes.c_char_p
    given = Arguments(Vector(4096, 1600), Vector(8192, 1600), 25)
    assert library.check(ctypes.byref(given)) is None
    wrong = Arguments(Vector(4096, 1601), Vector(8192, 1600), 25)
    assert b"16" in library.check(ctypes.byref(wrong))
    stub.takes(8, 8, 8, 8, 8)
    stub.set(current=100)
    assert library.launch(ctypes.byref(given), ctypes.c_size_t(77)) == 1
    # The driver was not asked for the name of the function.
    (line,) = stub.named("launch")
    _, grid, _, _, shared, stream, *parameters = line.split()
    assert (grid, shared, stream) == ("25,1,1", "0", "0")
    values = [int.from_bytes(bytes.fromhex(parameter), "little") for parameter in parameters]
    assert values == [4096, 1600, 8192, 1600, 25]
    stub.library.stub_reset()


def test_a_kernel_file_of_a_kernel_that_was_compiled_without_arrays(tmp_path: Path) -> None:
    spec = ShapeDtypeStruct((100,), np.float32)
    compiled = doubled.on("emu:sm_80").compile(spec, spec)
    assert isinstance(compiled, Kernel)
    path = compiled.save(tmp_path / "doubled.smalti")
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    smalti.aot.load(path)(x, y, 2)
    np.testing.assert_array_equal(y, 2 * x)
