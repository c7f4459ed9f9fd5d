# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smalti-lower-pad's windows of a block that TMA copies, on an emulated Hopper, against numpy.

The launch creates the tensor maps from the pass's attributes. Arrays are surrounded by bytes that read as NaN, which
shows reads out of bounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import smalti
from conftest import DTYPES
from helpers import EARLY, LATE, SHARED
from smalti import ir, passmanager
from smalti.emulator import Emulation

THREADS = 32
FAR = 1 << 40


def memref(shape: Sequence[int], element: str, more: str = "") -> str:
    return f"memref<{''.join(f'{size}x' for size in shape)}{element}{more}>"


def lower(text: str, then: str = "") -> str:
    """The module after the pass, and after further passes."""
    with ir.Context():
        module = ir.Module.parse(text)
        passes = f"gpu.module(gpu.func(smalti-lower-pad{{target=sm_90a tensor-maps=true strict=true}}{then}))"
        passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
        return str(module)


def padded(source: np.ndarray, at: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """The window of `source` that begins at `at`, with zeros for what is outside."""
    window = np.zeros(tuple(shape), source.dtype)
    inside = [(max(a, 0), min(a + n, size)) for a, n, size in zip(at, shape, source.shape, strict=True)]
    if all(low < high for low, high in inside):
        place = tuple(slice(low - a, high - a) for (low, high), a in zip(inside, at, strict=True))
        window[place] = source[tuple(slice(low, high) for low, high in inside)]
    return window


def random(shape: Sequence[int], element: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-99, 100, tuple(shape)).astype(DTYPES[element])


def zero(element: str) -> str:
    return f"arith.constant {'0' if element.startswith('i') else '0.0'} : {element}"


def indices_of(shape: Sequence[int]) -> tuple[list[str], list[str]]:
    """Code for the indices of element %e of a window, and their names."""
    lines, names = [], []
    rest = "%e"
    for dim in reversed(range(len(shape))):
        lines.append(f"%size{dim} = arith.constant {shape[dim]} : index")
        lines.append(f"%at{dim} = arith.remui {rest}, %size{dim} : index")
        lines.append(f"%rest{dim} = arith.divui {rest}, %size{dim} : index")
        rest = f"%rest{dim}"
        names.insert(0, f"%at{dim}")
    return lines, names


def read_out(buffer: str, buffer_type: str, shape: Sequence[int], dest: str, dest_type: str, at: Sequence[str]) -> str:
    """Threads of the block copy a buffer to its window of the result, each some elements."""
    lines, names = indices_of(shape)
    inside = ", ".join(names)
    body = "\n      ".join(lines)
    return f"""
    %thread = gpu.thread_id x
    %threads = arith.constant {THREADS} : index
    %elements = arith.constant {int(np.prod(shape))} : index
    scf.for %e = %thread to %elements step %threads {{
      {body}
      %value = memref.load {buffer}[{inside}] : {buffer_type}
      memref.store %value, {dest}[{", ".join([*at, *names])}] : {dest_type}
    }}
    gpu.barrier"""


def window_kernel(
    element: str,
    extents: Sequence[int],
    pitch: int,
    window: Sequence[int],
    positions: Sequence[Sequence[int]],
) -> str:
    """A block for each offset along every dimension, at which the window that it copies begins."""
    rank = len(extents)
    strides = [1] * rank
    for dim in reversed(range(rank - 1)):
        strides[dim] = strides[dim + 1] * (pitch if dim == rank - 2 else extents[dim + 1])
    source = memref(extents, element, f", strided<{strides}>")
    counts = [len(place) for place in positions]
    dest = memref([*counts, *window], element)
    shared = memref(window, element, f", {SHARED}")
    lines, numbers, indices = [], [], []
    rest = "%block"
    for dim in reversed(range(rank)):
        lines.append(f"%count{dim} = arith.constant {counts[dim]} : index")
        lines.append(f"%number{dim} = arith.remui {rest}, %count{dim} : index")
        lines.append(f"%left{dim} = arith.divui {rest}, %count{dim} : index")
        rest = f"%left{dim}"
        numbers.insert(0, f"%number{dim}")
        # The offsets as a chain of selections.
        lines.append(f"%p{dim}_0 = arith.constant {positions[dim][0]} : index")
        last = f"%p{dim}_0"
        for number, place in enumerate(positions[dim][1:], 1):
            lines.append(f"%k{dim}_{number} = arith.constant {number} : index")
            lines.append(f"%v{dim}_{number} = arith.constant {place} : index")
            lines.append(f"%is{dim}_{number} = arith.cmpi eq, %number{dim}, %k{dim}_{number} : index")
            lines.append(f"%p{dim}_{number} = arith.select %is{dim}_{number}, %v{dim}_{number}, {last} : index")
            last = f"%p{dim}_{number}"
        indices.insert(0, last)
    body = "\n    ".join(lines)
    origin = ", ".join(["%c0"] * len(window))
    vector = memref(window, element).replace("memref", "vector")
    inside = ", ".join(["true"] * len(window))
    return f"""
module {{
gpu.module @m {{
  gpu.func @copy(%source: {source}, %dest: {dest}) workgroup(%buffer: {shared} {{llvm.align = 128 : i64}}) kernel
      attributes {{known_block_size = array<i32: {THREADS}, 1, 1>,
                  known_grid_size = array<i32: {int(np.prod(counts))}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %zero = {zero(element)}
    %block = gpu.block_id x
    {body}
    %read = vector.transfer_read %source[{", ".join(indices)}], %zero : {source}, {vector}
    vector.transfer_write %read, %buffer[{origin}] {{in_bounds = [{inside}]}} : {vector}, {shared}
    gpu.barrier
    {read_out("%buffer", shared, window, "%dest", dest, numbers)}
    gpu.return
  }}
}}
}}"""


def run(text: str, *arrays: np.ndarray, emulation: Emulation = EARLY) -> None:
    smalti.compile(text, target="emu:sm_90a", emulation=emulation)(*arrays)


def check(
    element: str,
    extents: Sequence[int],
    pitch: int,
    window: Sequence[int],
    positions: Sequence[Sequence[int]],
    copies: int,
) -> None:
    text = lower(window_kernel(element, extents, pitch, window, positions))
    assert text.count("nvgpu.tma.async.load") == copies
    assert "vector.transfer_read" not in text
    whole = random([*extents[:-1], pitch], element)
    source = whole[..., : extents[-1]]
    for emulation in (EARLY, LATE):
        dest = random([*map(len, positions), *window], element, 1)
        run(text, source, dest, emulation=emulation)
        for number in itertools.product(*(range(len(place)) for place in positions)):
            at = [place[n] for place, n in zip(positions, number, strict=True)]
            shape = [1] * (len(extents) - len(window)) + list(window)
            np.testing.assert_array_equal(
                dest[number], padded(source, at, shape).reshape(tuple(window)), err_msg=str(at)
            )


ROWS = [-FAR, -17, -16, -15, -1, 0, 3, 8, 12, 19, 20, FAR]
COLUMNS = [-FAR, -32, -31, -8, 0, 5, 16, 47, 48, 1 << 32, FAR]


@pytest.mark.parametrize("element", DTYPES)
def test_windows_of_a_matrix(element: str) -> None:
    """Before the begin, across begin and end, wholly outside, and where 32 bits of the index are inside."""
    check(element, (20, 48), 64, (16, 32), (ROWS, COLUMNS), copies=1)


# For each rank: the extents, the distance of rows, the window, and its start.
RANKS: list[tuple[tuple[int, ...], int, tuple[int, ...], tuple[tuple[int, ...], ...]]] = [
    ((45,), 45, (32,), ((-FAR, -33, -32, -31, -1, 0, 1, 13, 14, 44, 45, FAR),)),
    ((7, 20), 24, (4, 8), ((-4, -3, 0, 5, 7), (-8, -1, 0, 13, 20))),
    ((3, 5, 12), 16, (2, 4, 16), ((-2, -1, 0, 2, 3), (-4, -1, 2, 5), (-16, -3, 0, 1, 12))),
    ((2, 3, 5, 9), 12, (1, 2, 4, 8), ((-1, 0, 1, 2), (-1, 2, 3), (-3, 0, 3), (-7, 0, 4, 9))),
    ((2, 3, 2, 5, 9), 12, (2, 1, 2, 4, 8), ((-1, 0, 1), (-1, 2, 3), (-1, 0, 2), (-3, 3), (-7, 4, 9))),
    # A row, and a plane, of a larger array.
    ((7, 20), 24, (16,), ((0, 3, 6), (-16, -5, 0, 4, 19, 20))),
    ((4, 5, 12), 16, (4, 8), ((0, 3), (-4, -1, 2, 5), (-8, -3, 0, 5, 12))),
]


@pytest.mark.parametrize(("extents", "pitch", "window", "positions"), RANKS)
def test_ranks(
    extents: tuple[int, ...], pitch: int, window: tuple[int, ...], positions: tuple[tuple[int, ...], ...]
) -> None:
    check("f32", extents, pitch, window, positions, copies=1)


@pytest.mark.parametrize(
    ("element", "extents", "window", "copies"),
    [
        # A box has at most 256 elements along a dimension.
        ("i8", (300, 64), (272, 16), 2),
        ("i8", (3, 1000), (1, 768), 3),
        ("f16", (3, 700), (2, 512), 4),
    ],
)
def test_windows_of_several_boxes(element: str, extents: tuple[int, int], window: tuple[int, int], copies: int) -> None:
    positions = [(-5, 0, extents[0] - window[0] + 2), (-24, 0, 48, extents[1])]
    check(element, extents, -(-extents[1] // 16) * 16, window, positions, copies)


def loop_kernel(how: str) -> str:
    """A block's trip count is its number. Two windows are copied together; the sums of the read elements are stored."""
    source, other = memref((20, 40), "f32"), memref((12, 40), "f32")
    a, b = memref((8, 32), "f32", f", {SHARED}"), memref((16, 32), "f32", f", {SHARED}")
    body = f"""
      %row = arith.muli %j, %c5 : index
      %at = arith.subi %row, %c3 : index
      %x = vector.transfer_read %source[%at, %at], %zero : {source}, vector<8x32xf32>
      vector.transfer_write %x, %a[%c0, %c0] {{in_bounds = [true, true]}} : vector<8x32xf32>, {a}
      %y = vector.transfer_read %other[%i, %row], %zero : {other}, vector<8x32xf32>
      vector.transfer_write %y, %b[%c8, %c0] {{in_bounds = [true, true]}} : vector<8x32xf32>, {b}
      scf.for %r = %c0 to %c8 step %c1 {{
        %low = arith.addi %r, %c8 : index
        %old = memref.load %dest[%n, %r, %t] : memref<5x8x32xf32>
        %u = memref.load %a[%r, %t] : {a}
        %v = memref.load %b[%low, %t] : {b}
        %p = arith.mulf %u, %v : f32
        %new = arith.addf %old, %p : f32
        memref.store %new, %dest[%n, %r, %t] : memref<5x8x32xf32>
      }}
      gpu.barrier"""
    loop = f"scf.for %j = %c0 to %n step %c1 {{ %i = arith.subi %n, %j : index {body} }}"
    if how == "branch":
        at = "%bit = arith.remui %j, %c3 : index %is = arith.cmpi ne, %bit, %c1 : index"
        loop = f"scf.for %j = %c0 to %n step %c1 {{ %i = arith.subi %n, %j : index {at} scf.if %is {{ {body} }} }}"
    if how == "nested":
        loop = f"scf.for %i = %c0 to %n step %c1 {{ scf.for %j = %c0 to %i step %c1 {{ {body} }} }}"
    constants = "\n    ".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 3, 5, 8))
    return f"""
module {{
gpu.module @m {{
  gpu.func @sum(%source: {source}, %other: {other}, %dest: memref<5x8x32xf32>)
      workgroup(%a: {a} {{llvm.align = 128 : i64}}, %b: {b} {{llvm.align = 1024 : i64}}) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 5, 1, 1>}} {{
    {constants}
    %zero = arith.constant 0.0 : f32
    %n = gpu.block_id x
    %t = gpu.thread_id x
    {loop}
    gpu.return
  }}
}}
}}"""


@pytest.mark.parametrize("how", ["plain", "branch", "nested"])
@pytest.mark.parametrize("emulation", [EARLY, LATE])
def test_phases_of_loops(how: str, emulation: Emulation) -> None:
    """A barrier object completes a phase each time; loops and branches carry which one it is."""
    text = lower(loop_kernel(how))
    assert text.count("nvgpu.tma.async.load") == 2
    assert text.count("nvgpu.mbarrier.create") == text.count("nvgpu.mbarrier.try_wait.parity") == 1
    source, other = random((20, 40), "f32"), random((12, 40), "f32", 1)
    dest = np.zeros((5, 8, 32), np.float32)
    run(text, source, other, dest, emulation=emulation)
    expected = np.zeros_like(dest)
    for n in range(5):
        turns = [(n - b, b) for b in range(n) if how == "plain" or b % 3 != 1]
        if how == "nested":
            turns = [(a, b) for a in range(n) for b in range(a)]
        for i, j in turns:
            at = 5 * j - 3
            expected[n] += padded(source, (at, at), (8, 32)) * padded(other, (i, at + 3), (8, 32))
    np.testing.assert_array_equal(dest, expected)


def test_instructions() -> None:
    """The map is a parameter, and zeros need no instruction."""
    text = lower(window_kernel("f16", (20, 48), 64, (16, 32), ((-3,), (40,))))
    ptx = smalti.compile(text, target="sm_90a").asm["ptx"]
    assert ptx.count("cp.async.bulk.tensor.2d.shared::cluster.global") == 1
    assert ".param .align 64 .b8 copy_param_2[128]" in ptx
    assert "mbarrier.arrive.expect_tx" in ptx


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("emulation", [EARLY, LATE])
def test_pipelined(stages: int, emulation: Emulation) -> None:
    """The loop passes recognize the copies: several slots, and prefetched copies."""
    source, shared, vector = memref((45, 40), "f32"), memref((16, 32), "f32", f", {SHARED}"), "vector<16x32xf32>"
    trips = 6
    text = f"""
gpu.module @m {{
  gpu.func @sum(%source: {source}, %dest: memref<{trips}x16x32xf32>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: {trips}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %left = arith.constant -3 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : vector<16xf32>
    %n = gpu.block_id x
    %t = gpu.thread_id x
    %buffer = memref.alloc() {{alignment = 128 : i64}} : {shared}
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zeros) -> vector<16xf32> {{
      %row = arith.muli %i, %c12 : index
      %at = arith.subi %row, %c10 : index
      %read = vector.transfer_read %source[%at, %left], %zero : {source}, {vector}
      vector.transfer_write %read, %buffer[%c0, %c0] {{in_bounds = [true, true]}} : {vector}, {shared}
      %part = scf.for %r = %c0 to %c16 step %c1 iter_args(%v = %old) -> vector<16xf32> {{
        %x = memref.load %buffer[%r, %t] : {shared}
        %y = vector.extract %v[%r] : f32 from vector<16xf32>
        %z = arith.addf %x, %y : f32
        %w = vector.insert %z, %v[%r] : f32 into vector<16xf32>
        scf.yield %w : vector<16xf32>
      }}
      gpu.barrier
      scf.yield %part : vector<16xf32>
    }}
    scf.for %r = %c0 to %c16 step %c1 {{
      %y = vector.extract %sum[%r] : f32 from vector<16xf32>
      memref.store %y, %dest[%n, %r, %t] : memref<{trips}x16x32xf32>
    }}
    gpu.return
  }}
}}"""
    then = f"smalti-multi-buffer{{target=sm_90a depth={stages} strict=true}}"
    then += f",smalti-pipeline-loops{{target=sm_90a stages={stages}}}"
    text = lower(text, f",canonicalize,cse,{then}")
    # The copies of the prologue, and the loop's; the guard has the plain loop.
    assert text.count("nvgpu.tma.async.load") == stages + 1
    array, dest = random((45, 40), "f32"), np.zeros((trips, 16, 32), np.float32)
    run(text, array, dest, emulation=emulation)
    parts = [padded(array, (12 * i - 10, -3), (16, 32)) for i in range(trips)]
    np.testing.assert_array_equal(dest, [sum(parts[:n], np.zeros((16, 32), np.float32)) for n in range(trips)])


@pytest.mark.parametrize(("sources", "windows", "copies"), [(30, 30, 24), (1, 70, 64)])
def test_the_capacity_of_a_kernel(sources: int, windows: int, copies: int) -> None:
    source, shared, vector = memref((20, 48), "f32"), memref((16, 32), "f32", f", {SHARED}"), "vector<16x32xf32>"
    arguments = ", ".join(f"%s{number}: {source}" for number in range(sources))
    body = "\n".join(
        f"""
    %r{number} = vector.transfer_read %s{number % sources}[%c8, %c8], %zero : {source}, {vector}
    vector.transfer_write %r{number}, %b[%c0, %c0] {{in_bounds = [true, true]}} : {vector}, {shared}
    gpu.barrier"""
        for number in range(windows)
    )
    text = lower(f"""
gpu.module @m {{
  gpu.func @many({arguments}) workgroup(%b: {shared} {{llvm.align = 128 : i64}}) kernel {{
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    {body}
    gpu.return
  }}
}}""")
    assert text.count("nvgpu.tma.async.load") == copies


def store_kernel(
    element: str, extents: Sequence[int], pitch: int, window: Sequence[int], at: Sequence[int], *, loop: bool
) -> str:
    """One block fills a buffer with its numbers, and writes it to a window of the result: in a loop, row after row."""
    rank = len(extents)
    strides = [1] * rank
    for dim in reversed(range(rank - 1)):
        strides[dim] = strides[dim + 1] * (pitch if dim == rank - 2 else extents[dim + 1])
    dest, source = memref(extents, element, f", strided<{strides}>"), memref([2, *window], element)
    shared, vector = memref(window, element, f", {SHARED}"), memref(window, element).replace("memref", "vector")
    positions = "\n    ".join(f"%a{dim} = arith.constant {place} : index" for dim, place in enumerate(at))
    origin, inside = ", ".join(["%c0"] * len(window)), ", ".join(["true"] * len(window))
    indices = [f"%a{dim}" for dim in range(rank)]
    lines, names = indices_of(window)
    fill = "\n      ".join(lines)
    body = f"""
    scf.for %e = %thread to %elements step %threads {{
      {fill}
      %value = memref.load %source[%turn, {", ".join(names)}] : {source}
      memref.store %value, %buffer[{", ".join(names)}] : {shared}
    }}
    gpu.barrier
    %first = arith.addi %a0, %turn : index
    %read = vector.transfer_read %buffer[{origin}], %zero {{in_bounds = [{inside}]}} : {shared}, {vector}
    vector.transfer_write %read, %dest[{", ".join(["%first", *indices[1:]])}] : {vector}, {dest}"""
    steps = f"scf.for %turn = %c0 to %c2 step %c1 {{ {body}\n }}" if loop else body.replace("%turn", "%c0")
    return f"""
gpu.module @m {{
  gpu.func @store(%source: {source}, %dest: {dest}) kernel
      attributes {{known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = {zero(element)}
    {positions}
    %buffer = memref.alloc() {{alignment = 128 : i64}} : {shared}
    %thread = gpu.thread_id x
    %threads = arith.constant {THREADS} : index
    %elements = arith.constant {int(np.prod(window))} : index
    {steps}
    gpu.return
  }}
}}"""


def write_window(dest: np.ndarray, at: Sequence[int], window: np.ndarray) -> None:
    for index in np.ndindex(*window.shape):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(0 <= p < size for p, size in zip(place, dest.shape, strict=True)):
            dest[place] = window[index]


STORES: list[tuple[str, tuple[int, ...], int, tuple[int, ...], list[tuple[int, ...]]]] = [
    ("f32", (45,), 45, (32,), [(-FAR,), (-31,), (0,), (20,), (45,), (1 << 32,)]),
    ("f16", (20, 44), 48, (16, 32), [(-3, -5), (0, 0), (8, 20), (19, 43), (20, 0), (0, -FAR)]),
    ("i8", (300, 70), 80, (272, 16), [(-5, -3), (40, 60)]),
    ("f64", (3, 5, 11), 12, (2, 4, 8), [(-1, -1, -1), (2, 3, 4), (0, 1, 3)]),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize(("element", "extents", "pitch", "window", "positions"), STORES)
@pytest.mark.parametrize("loop", [False, True])
def test_stores(
    element: str,
    extents: tuple[int, ...],
    pitch: int,
    window: tuple[int, ...],
    positions: list[tuple[int, ...]],
    loop: bool,
) -> None:
    """Elements out of bounds are dropped; overlapping stores of a loop happen in its order."""
    source = random([2, *window], element, 3)
    for at in positions:
        text = lower(store_kernel(element, extents, pitch, window, at, loop=loop))
        assert "nvgpu.tma.async.store" in text and "vector.transfer_write" not in text
        whole = random([*extents[:-1], pitch], element, 4)
        for emulation in (EARLY, LATE):
            dest, expected = whole.copy(), whole.copy()
            run(text, source, dest[..., : extents[-1]], emulation=emulation)
            for turn in range(2 if loop else 1):
                write_window(expected[..., : extents[-1]], (at[0] + turn, *at[1:]), source[turn])
            np.testing.assert_array_equal(dest, expected, err_msg=str(at))
