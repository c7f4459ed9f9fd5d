# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of tensor slices on chips without TMA: by the threads (cp.async), with mbarriers that do not count bytes. Run on
emulated Ampere and Ada GPUs and compared with numpy, in all orders, with late and early copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import DTYPES, PALLAS
from helpers import pointwise, row_softmax
from jax_programs import BARRIER, barriers, memref, module, shared
from smalti import toolchain
from smalti.emulator import SCHEDULES, Emulation

CHIPS = ("sm_80", "sm_89")


def poisoned(shape: Sequence[int], element: str) -> np.ndarray:
    return np.full(shape, 99, DTYPES[element])


def values(element: str, shape: Sequence[int]) -> np.ndarray:
    rng = np.random.default_rng(5)
    if element.startswith("i"):
        return rng.integers(-128, 128, shape).astype(DTYPES[element])
    return rng.standard_normal(shape).astype(DTYPES[element])


def window(x: np.ndarray, start: Sequence[int], lengths: Sequence[int]) -> np.ndarray:
    """The slice with zeros out of bounds; dimensions of length -1 have one element and are dropped."""
    sizes = [abs(length) for length in lengths]
    result = np.zeros(sizes, x.dtype)
    inside = [(max(s, 0), max(min(s + n, extent), 0)) for s, n, extent in zip(start, sizes, x.shape, strict=True)]
    if all(low < high for low, high in inside):
        to = tuple(slice(low - s, high - s) for (low, high), s in zip(inside, start, strict=True))
        result[to] = x[tuple(slice(low, high) for low, high in inside)]
    return result.reshape([length for length in lengths if length != -1])


def copies(
    element: str,
    shape: Sequence[int],
    starts: Sequence[Sequence[int]],
    lengths: Sequence[int],
    transforms: str = "",
    dynamic: bool = False,
) -> str:
    """Consecutive loads of slices, each stored as a whole. Each has its own slot and mbarrier."""
    slot = [length for length in lengths if length != -1]
    count = len(starts)
    bits = np.dtype(DTYPES[element]).itemsize * 8
    size = int(np.prod(slot)) * bits // 8
    room = -(-size // 1024) * 1024
    to, vector = shared(slot, element), f"vector<{'x'.join(map(str, slot))}x{element}>"
    rank = len(shape)
    types = ", ".join(["i32"] * rank)
    body = barriers(offset=count * room, count=count) + "%false = arith.constant false\n"
    if dynamic:
        body += f"%announced = arith.constant {size} : i32\n"
    for number, start in enumerate(starts):
        names = [f"%i{number}_{dim}" for dim in range(rank)]
        for name, index in zip(names, start, strict=True):
            body += f"{name} = arith.constant {index} : i32\n"
        body += f"%s{number} = mosaic_gpu.slice_smem {number * room} : {to}\n"
        place = f"%s{number}"
        if transforms:
            body += f"%t{number} = mosaic_gpu.with_transforms {place} {transforms} : {to}\n"
            place = f"%t{number}"
        body += f"""
      mosaic_gpu.arrive_expect_tx barrier(%barrier{number} : {BARRIER}) {"%announced" if dynamic else size}
      mosaic_gpu.async_load %a0[{", ".join(names)}] {list(lengths)} to {place} barrier(%barrier{number})
          : {memref(shape, element)}[{types}] to {to}, {BARRIER}
"""
    for number in range(count):
        place = f"%t{number}" if transforms else f"%s{number}"
        part = (
            f"memref<{'x'.join(map(str, slot))}x{element}, strided<["
            + ", ".join(str(int(np.prod(slot[dim + 1 :]))) for dim in range(len(slot)))
            + f"], offset: {number * int(np.prod(slot))}>>"
        )
        zeros = ", ".join(["0"] * len(slot))
        body += f"""
      mosaic_gpu.wait barrier(%barrier{number} : {BARRIER}) parity(%false : i1)
      %v{number} = mosaic_gpu.vector_load {place} {{optimized = false}} : {to} -> {vector}
      %o{number} = memref.subview %a1[{number}, {zeros}] [1, {", ".join(map(str, slot))}] [1, {zeros.replace("0", "1")}]
          : {memref([count, *slot], element)} to {part}
      mosaic_gpu.vector_store %v{number}, %o{number} : {vector}, {part}
"""
    return module([(shape, element), ([count, *slot], element)], body, shared_bytes=count * room + 8 * count)


def check(source: str, element: str, shape: Sequence[int], starts: Any, lengths: Any, chip: str) -> None:
    kernel = smalti.compile(source, target=f"emu:{chip}")
    x = values(element, shape)
    slot = [length for length in lengths if length != -1]
    wanted = np.stack([window(x, start, lengths) for start in starts])
    for schedule in SCHEDULES:
        out = poisoned([len(starts), *slot], element)
        kernel.launcher(x, out, emulation=schedule)
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(
    "element, shape, starts, lengths",
    [
        # In bounds, at the end and out of bounds; columns of the tensor that are not a multiple of a piece.
        ("f16", (100, 136), [(0, 0), (64, 64), (96, 128), (-32, 0)], (64, 64)),
        ("bf16", (96, 72), [(0, 0), (32, 64), (-8, -16)], (64, 32)),
        ("f32", (70, 66), [(2, 2), (64, 64)], (64, 32)),
        ("i8", (64, 208), [(0, 0), (32, 192)], (32, 64)),
        ("f64", (33, 34), [(0, 0), (32, 32)], (16, 16)),
        # One row of many, and tensors with more dimensions.
        ("f32", (20, 256), [(0, 0), (19, 128), (20, 0)], (-1, 256)),
        ("f16", (3, 40, 64), [(0, 0, 0), (2, 24, 0), (3, 0, 0)], (1, 32, 64)),
        ("i32", (3, 40, 64), [(1, 0, 0), (2, 32, 32)], (-1, 16, 32)),
        # Fewer pieces than threads.
        ("f32", (16, 128), [(0, 0), (12, 0)], (8, 16)),
    ],
    ids=str,
)
def test_slices(chip: str, element: str, shape: Any, starts: Any, lengths: Any) -> None:
    check(copies(element, shape, starts, lengths), element, shape, starts, lengths, chip)


@pytest.mark.grid(5)
@pytest.mark.parametrize("element, swizzle", [("f16", 128), ("f16", 64), ("f32", 128), ("f32", 32), ("i8", 128)])
@pytest.mark.parametrize("rows", [64, 72])
def test_transforms(element: str, swizzle: int, rows: int) -> None:
    """The layout in memory is that of a TMA copy: vectors are read through the same transforms."""
    columns = swizzle // np.dtype(DTYPES[element]).itemsize
    transforms = f"[#mosaic_gpu.tile<[8, {columns}]>, #mosaic_gpu.swizzle<{swizzle} : i32>]"
    shape, lengths = (100, 2 * columns + 16), (rows, 2 * columns)
    # Slices begin at multiples of the tile.
    starts = [(0, 0), (48, columns), (-16, -columns)]
    check(copies(element, shape, starts, lengths, transforms), element, shape, starts, lengths, "sm_80")


def test_dynamic_expected_bytes() -> None:
    starts = [(0, 0), (64, 64)]
    source = copies("f16", (128, 128), starts, (64, 64), dynamic=True)
    check(source, "f16", (128, 128), starts, (64, 64), "sm_80")


def test_races() -> None:
    """Only the mbarriers order the copies before the reads."""
    pipeline = smalti.compile(PALLAS / "pipelined_copy.mlir", target="emu:sm_80")
    tensor = values("f16", (512, 256))
    for copies_are in ("early", "late"):
        out = poisoned((512, 256), "f16")
        pipeline.launcher(tensor, out, emulation=Emulation(sanitize="thread", workers=1, copies=copies_are))
        np.testing.assert_array_equal(out, tensor + np.float16(1))
    starts = [(0, 0), (64, 64)]
    transforms = "[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]"
    kernel = smalti.compile(copies("f16", (128, 128), starts, (64, 64), transforms), target="emu:sm_80")
    x = values("f16", (128, 128))
    for sanitize in ("thread", "address"):
        out = poisoned((2, 64, 64), "f16")
        kernel.launcher(x, out, emulation=Emulation(sanitize=sanitize, workers=1))
        np.testing.assert_array_equal(out, np.stack([x[:64, :64], x[64:, 64:]]))


@pytest.mark.parametrize("chip", CHIPS)
def test_jax_pipeline(chip: str) -> None:
    """Loads and stores of tiles in two slots, as JAX prints them for Hopper."""
    kernel = smalti.compile(PALLAS / "pipelined_copy.mlir", target=f"emu:{chip}")
    x = values("f16", (512, 256))
    for schedule in SCHEDULES:
        out = poisoned((512, 256), "f16")
        kernel.launcher(x, out, emulation=schedule)
        np.testing.assert_array_equal(out, x + np.float16(1))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("wanted, shapes", [(pointwise, [(128, 128)] * 2), (row_softmax, [(64, 128)])])
def test_jax_modules(chip: str, wanted: Any, shapes: Any) -> None:
    """A kernel that JAX prints for Hopper, without copies: elections and fences are lowered for older chips or erased."""
    kernel = smalti.compile(PALLAS / f"{wanted.__name__}.mlir", target=f"emu:{chip}")
    given = [np.random.default_rng(n).standard_normal(shape).astype(np.float32) for n, shape in enumerate(shapes)]
    for schedule in SCHEDULES:
        out = poisoned(shapes[0], "f32")
        kernel.launcher(*given, out, emulation=schedule)
        np.testing.assert_allclose(out, wanted(*given), rtol=1e-5, atol=4e-6)


def test_instructions() -> None:
    kernel = smalti.compile(PALLAS / "pipelined_copy.mlir", target="sm_80")
    ptx = kernel.asm["ptx"]
    # A 64 x 64 tile of f16 is four pieces of 16 bytes per thread; two tiles are loaded before the loop.
    assert ptx.count("cp.async.cg.shared.global") == 12
    assert ptx.count("cp.async.mbarrier.arrive.noinc.shared.b64") == 3
    assert "mbarrier.test_wait.parity.shared.b64" in ptx
    for absent in ("expect_tx", "cp.async.bulk", "try_wait", "fence.proxy"):
        assert absent not in ptx
    if toolchain.find_ptxas():
        assert kernel.binary_format == "cubin" and kernel.resources.spills == 0
