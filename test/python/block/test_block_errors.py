# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of block-level kernels in Python: the message and the line, which has the comment `error`."""

# ruff: noqa: F821, UP037

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.block as sb
import smalti.language as sl

X = np.zeros((64, 64), np.float32)
Y = np.zeros((64, 64), np.float32)
CASES: list[tuple[str, Callable[..., Any]]] = []


def case(phrase: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((phrase, function))
        return function

    return add


@case("the window of 100 elements exceeds the 64 elements")
def a_window_that_is_too_large(x, y):
    buffer = sb.shared((64, 64), sl.float32)
    y[0:100, :] = buffer[0:100, :]  # error


@case("the window of 8 elements exceeds the 64 elements")
def a_window_that_ends_outside(x, y):
    y[0:8, :] = x.at[60:68, :].load(in_bounds=True)  # error


@case("the step of a slice of x is 2, but must be 1")
def a_step(x, y):
    y[0:32, :] = x[0:64:2, :]  # error


@case("the source is in shared memory, but must be in global memory")
def a_copy_from_shared_memory(x, y):
    buffer = sb.shared((64, 64), sl.float32)
    sb.async_copy(buffer, x)  # error


@case("the source is float32 tile of shape 64x64, but must be memory")
def a_copy_of_a_tile(x, y):
    buffer = sb.shared((64, 64), sl.float32)
    sb.async_copy(x[:, :], buffer)  # error


@case(r"shape \(32, 64\) and the destination \(64, 64\)")
def a_copy_of_another_shape(x, y):
    buffer = sb.shared((64, 64), sl.float32)
    sb.async_copy(x.at[0:32, :], buffer)  # error


@case("elements of float32 and the destination of float16")
def a_copy_of_another_type(x, y):
    buffer = sb.shared((64, 64), sl.float16)
    sb.async_copy(x, buffer)  # error


@case("swizzle is 48, but must be 16, 32, 64 or 128 bytes")
def a_wrong_swizzle(x, y):
    sb.shared((64, 64), sl.float32, swizzle=48)  # error


@case("'WGMA' is not the name of a layout")
def a_wrong_layout(x, y):
    y[:, :] = x.at[:, :].load(layout="WGMA")  # error


@case("atomic is 'plus', but must be one of add, min")
def a_wrong_option(x, y):
    y.at[:, :].store(1, atomic="plus")  # error


@case("barrier 2 does not exist; sb.barriers created 2")
def a_missing_barrier(x, y):
    full = sb.barriers(2)
    full[2].wait(0)  # error


@case("arrivals is 0, but must be a positive constant")
def a_barrier_without_arrivals(x, y):
    sb.barrier(0)  # error


@case("operand B is float32 tile of shape 64x64, but must be in shared memory")
def wgmma_of_registers(x, y):
    y[:, :] = sb.wgmma(x[:, :], x[:, :])  # error


@case("the operands have K = 64 and 32")
def mma_of_other_shapes(x, y):
    y[:, :] = sb.mma(x[:, :], x[0:32, :])  # error


@case(r"a matmul of tiles is not available in a kernel with level='block'")
def a_function_of_the_tile_level(x, y):
    y[:, :] = x[:, :] @ x[:, :]  # error


@case("an operand of warp_map is a tile")
def a_tile_in_each_warp(x, y):
    sb.warp_map(lambda t: None, x[:, :])  # error


@case("the argument of num_blocks is 1, but must be a dimension of the grid, from 0 to 0")
def a_missing_dimension(x, y):
    y[0, 0] = sb.num_blocks(1)  # error


@case("atomics access memory of one dimension")
def atomics_of_two_dimensions(x, y):
    sb.atomic_rmw(y, sl.arange(64), "add", 1)  # error


@case("needs 262144 B of shared memory; a block on sm_90a has at most 232448 B")
def too_much_shared_memory(x, y):
    buffer = sb.shared((1024, 64), sl.float32)  # error
    y[:, :] = buffer[0:64, :]


@case("requires layout")
def layouts_that_do_not_exist(x, y):
    y[:, 0:1] = sb.layout_cast(x[:, :], 4)[:, 63:]  # error


@pytest.mark.parametrize(("phrase", "function"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_the_message_and_the_line(phrase: str, function: Any) -> None:
    kernel = smalti.kernel(level="block", target="sm_90a")(function)
    with pytest.raises(smalti.CompileError, match=phrase) as caught:
        kernel.compile(X, Y)
    assert caught.value.location and "# error" in linecache.getline(__file__, caught.value.location.line)


@smalti.kernel(level="block", grid=lambda x: x.shape[0] // 16, target="sim:sm_90a")
def copy(x: sb.Memory[sl.float32, ("n", 64)], y: sb.Memory):
    i = 16 * sb.block_id()
    y.at[i : i + 16, :].store(x[i : i + 16, :], in_bounds=True)


@pytest.mark.parametrize(
    ("options", "phrase"),
    [
        ({"target": "cpu"}, "is a block-level kernel, which cpu cannot run"),
        ({"num_warps": 0}, "num_warps of copy is 0, but must be a positive number"),
        ({"thread_groups": 16}, "copy has 2048 threads per block; sm_90a has at most 1024"),
        ({"cluster": 3}, r"the cluster of copy is \(3,\), but must divide the grid \(4,\)"),
        *[
            ({"cluster": wrong}, "the cluster of copy is .*, but must be")
            for wrong in (0, -1, True, 2.0, "2", None, (2, 1.0))
        ],
        (
            {"cluster": 4, "target": "sm_80"},
            r"the cluster of copy is \(4,\), of 4 blocks; the maximum on sm_80 is 1 block$",
        ),
        ({"cluster": 4, "target": "emu:gfx1250"}, "the maximum on emu:gfx1250 is 1 block$"),
        *[({"num_warps": wrong}, "num_warps of copy is .*, but must be") for wrong in (-1, True, 2.0, "2", None)],
    ],
)
def test_wrong_options(options: dict[str, Any], phrase: str) -> None:
    with pytest.raises(smalti.LaunchError, match=phrase):
        copy.on(**options)(X, Y)


@pytest.mark.parametrize(
    ("grid", "target", "phrase"),
    [
        (2**33, "emu:sm_90a", r"the grid of copy is \(8589934592,\), but the maximum of sm_90a is \(2147483647,\)"),
        ((1, 65536), "emu:sm_90a", r"\(1, 65536\), but the maximum of sm_90a is \(2147483647, 65535\)"),
        ((1, 2**31), "emu:gfx942", r"the maximum of gfx942 is \(2147483647, 2147483647\)"),
        ((0, -1), "emu:sm_90a", r"\(0, -1\), but must be one or several integers that are not negative"),
        (np.bool_(True), "emu:sm_90a", "but must be one or several integers"),
        ((1, 1, 1, 1), "emu:sm_90a", "must be one to three positive sizes"),
    ],
)
def test_wrong_grids(grid: Any, target: str, phrase: str) -> None:
    kernel: Any = smalti.kernel(level="block", grid=grid, target=target)(copy.__smalti_function__)
    with pytest.raises(smalti.LaunchError, match=phrase):
        kernel(X, Y)


@pytest.mark.parametrize(
    ("x", "phrase"),
    [
        (X.astype(np.int32), "the elements of x are int32, but must be float32"),
        (np.zeros((64, 32), np.float32), r"x has the sizes \(64, 32\), but must have \(any, 64\)"),
    ],
)
def test_wrong_arguments(x: Any, phrase: str) -> None:
    with pytest.raises(smalti.LaunchError, match=phrase):
        copy(x, Y)


def test_an_access_outside_of_an_array_is_found() -> None:
    x = np.zeros((72, 64), np.float32)
    kernel = copy.on()
    kernel._grid, kernel._grid_parameters = 5, ()
    with pytest.raises(smalti.SimulationError, match="out-of-bounds") as caught:
        kernel(x, x.copy())
    assert "y.at[i : i + 16, :].store(x[i : i + 16, :], in_bounds=True)" in str(caught.value)


def test_functions_outside_of_a_block_level_kernel() -> None:
    with pytest.raises(RuntimeError, match="only available in a function with"):
        sb.shared(4, sl.float32)

    @smalti.kernel(target="cpu")
    def tile_level(x):
        x[0:4] = sb.shared(4, sl.float32)[:]

    with pytest.raises(smalti.CompileError, match="are only available in a function with"):
        tile_level(X[0])


def test_buffers_that_share_memory_do_not_add_up() -> None:
    @smalti.kernel(level="block", target="sim:sm_90a")
    def shares(y: sl.Array):
        first = sb.shared((512, 64), sl.float32)
        second = sb.shared((800, 64), sl.float32, reuse=first)
        second[0:64, :] = 1.0
        sb.sync()
        y[:, :] = second[0:64, :]

    y = Y.copy()
    shares(y)
    assert (y == 1).all()


def test_an_unknown_level() -> None:
    with pytest.raises(TypeError, match="level is 'warp'; it must be 'tile' or 'block'"):
        smalti.kernel(level="warp")  # type: ignore[call-overload]
