# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of matmuls whose operands use asynchronous copies to LDS on AMD chips, executed by the emulator. A copy completes
at the last moment that the waits of the kernel permit."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from machine_code import loop_body
from smalti import targets
from smalti.emulator import SCHEDULES, Emulation
from test_gpu_numerics import LOOKS, Program, matmul

CHIPS = ["gfx90a", "gfx942", "gfx950", "gfx1250"]

# Row alignments of 4, 8 and 16 bytes; whole and ragged tiles; one iteration, as many as stages, and more.
SHAPES = {
    "whole": ((64, 64, 128), (64, 64, 32), "f16"),
    "ragged": ((70, 36, 72), (64, 32, 16), "f16"),
    "rows-of-8-bytes": ((70, 36, 76), (64, 32, 16), "bf16"),
    "rows-of-4-bytes": ((33, 34, 70), (32, 32, 32), "f16"),
    "one-iteration": ((40, 34, 32), (32, 64, 32), "f16"),
    "two-iterations": ((40, 36, 64), (32, 32, 32), "bf16"),
    "few-chunks": ((20, 24, 40), (16, 16, 16), "f16"),
    "f32": ((70, 37, 33), (64, 32, 16), "f32"),
}


def copies_of(program: Program) -> int:
    return program.kernel.asm["pipelined"].count("mosaic_gpu.async_copy")


@pytest.mark.grid(9)
@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("target", CHIPS)
def test_matmul_with_copies(target: str, case: str) -> None:
    shape, tile, dtype = SHAPES[case]
    program = Program(matmul(shape, tile, dtype), target, copies="async")
    assert copies_of(program) > 0
    for schedule in SCHEDULES:
        program.check(emulation=schedule)


@pytest.mark.grid(3, cover=False)
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("target", CHIPS)
def test_stages_of_copies(target: str, stages: int) -> None:
    for depth in (72, 16, 20, 40):
        program = Program(matmul((34, 40, depth), (32, 32, 16), start="zero"), target, copies="async", stages=stages)
        assert copies_of(program) > 0
        for schedule in SCHEDULES:
            program.check(emulation=schedule)


@pytest.mark.grid(5)
@pytest.mark.parametrize("case", ["ragged", "rows-of-4-bytes", "few-chunks", "f32"])
@pytest.mark.parametrize("target", CHIPS)
def test_copies_under_sanitizers(target: str, case: str) -> None:
    shape, tile, dtype = SHAPES[case]
    program = Program(matmul(shape, tile, dtype), target, copies="async", stages=3)
    for emulation in LOOKS:
        program.check(emulation=emulation)


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", CHIPS)
def test_ragged_matmul_with_copies(target: str, kernels: object) -> None:
    program = Program(kernels / "matmul_ragged.mlir", target, copies="async")  # type: ignore[operator]
    assert copies_of(program) > 0
    program.check()
    program.check(emulation=Emulation(sanitize="address"))


def test_other_chips_copy_through_registers() -> None:
    program = Program(matmul((64, 64, 64), (64, 64, 32)), "gfx1201", copies="async")
    assert copies_of(program) == 0
    with pytest.raises(smalti.PipelineError, match="'copies' must be one of auto, async, registers"):
        Program(matmul((64, 64, 64), (64, 64, 32)), "gfx950", copies="dma")


# Copies of out-of-bounds windows of arrays with dynamic extents. The row stride is 4 bytes off a multiple of 16.
WINDOWS = {
    "words": ("f32", np.float32, (32, 16), 17, "?"),
    "pairs": ("f16", np.float16, (16, 32), 34, "34"),
    "chunks": ("f16", np.float16, (32, 32), 40, "40"),
}


def window(chip: str, case: str) -> str:
    """Copies the window at (%i, %j * unit) of the first %m rows and %k columns, if these are arguments, to %o."""
    dtype, _, (rows, columns), pitch, extent = WINDOWS[case]
    threads = 4 * targets.get(chip).wave_size
    unit = 1 if extent == "?" else 2 if pitch % 8 else 8
    layout = f"#mosaic_gpu.WGStridedFragLayout<[{rows}, {columns}], {rows * columns // threads}>"
    source = f"memref<?x{extent}x{dtype}, strided<[{pitch}, 1]>>"
    shared = f"memref<{rows}x{columns}x{dtype}, #gpu.address_space<workgroup>>"
    out = f"memref<{rows}x{columns}x{dtype}>"
    return f"""
gpu.module @m {{
  gpu.func @window(%a: memref<{64 * pitch}x{dtype}>, %o: {out}, %m: index, %k: index, %i: index, %j: index) kernel
      attributes {{known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>,
                  smalti.num_warps = 4 : i64}} {{
    %c0 = arith.constant 0 : index
    %unit = arith.constant {unit} : index
    %column = arith.muli %j, %unit : index
    %source = memref.reinterpret_cast %a to offset: [0], sizes: [%m, {"%k" if extent == "?" else extent}],
      strides: [{pitch}, 1] : memref<{64 * pitch}x{dtype}> to {source}
    %tile = memref.alloc() : {shared}
    mosaic_gpu.async_copy %source[%i, %column] to %tile : {source} to {shared}
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 0
    gpu.barrier
    %v = mosaic_gpu.vector_load %tile {{out_layouts = [{layout}]}} : {shared} -> vector<{rows}x{columns}x{dtype}>
    vector.transfer_write %v, %o[%c0, %c0] {{in_bounds = [true, true], in_layouts = [{layout}]}}
      : vector<{rows}x{columns}x{dtype}>, {out}
    gpu.return
  }}
}}
"""


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", WINDOWS)
@pytest.mark.parametrize("chip", CHIPS)
def test_windows_of_dynamic_shape(chip: str, case: str) -> None:
    _, dtype, (rows, columns), pitch, extent = WINDOWS[case]
    unit = 1 if extent == "?" else 2 if pitch % 8 else 8
    kernel = smalti.compile(window(chip, case), target=targets.EMULATED + chip, depth=1, stages=1)
    array = np.random.default_rng(1).integers(1, 9, 64 * pitch).astype(dtype)
    looks = (Emulation(sanitize="address"), *SCHEDULES[:2])
    for number, (m, k) in enumerate(
        (m, k) for m in (0, 1, 31, 64) for k in (0, 1, 7, pitch) if extent == "?" or k == pitch
    ):
        padded = np.zeros((192, 256), dtype)
        padded[64 : 64 + m, 64 : 64 + k] = array.reshape(64, pitch)[:m, :k]
        for i, j in ((0, 0), (5, unit), (-3, -unit), (60, 2 * unit), (63, pitch // unit * unit - unit)):
            out = np.full((rows, columns), np.nan, dtype)
            kernel.launcher(array, out, m, k, i, j // unit, emulation=looks[number % len(looks)])
            assert (out == padded[64 + i : 64 + i + rows, 64 + j : 64 + j + columns]).all(), (m, k, i, j)
    # Far out of bounds on either side.
    for i in (-(1 << 40), 1 << 40):
        out = np.full((rows, columns), np.nan, dtype)
        kernel.launcher(array, out, 64, pitch, i, 0, emulation=looks[0])
        assert (out == 0).all()


# Arrays with one row, one column or one element.
@pytest.mark.grid(7)
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 34, 70), (34, 1, 70), (33, 34, 1)])
@pytest.mark.parametrize("target", CHIPS)
def test_extents_of_one(target: str, shape: tuple[int, int, int]) -> None:
    program = Program(matmul(shape, (32, 32, 16), "f32", start="zero"), target, copies="async")
    assert copies_of(program) > 0
    program.check()
    program.check(emulation=Emulation(sanitize="address"))


# A thread-level kernel, pipelined by hand: three slots, and waits that leave one or two loads in flight. Each thread reads
# elements that another wave copied.
PIPELINED = """
!rows = memref<400x256xf32>
!slots = memref<3x256xf32, #gpu.address_space<workgroup>>
!slot = memref<1x256xf32, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @sum(%in: !rows, %out: memref<256xf32>) workgroup(%slots: !slots) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c398 = arith.constant 398 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %other = arith.subi %c255, %t : index
    %wave = arith.divui %t, %c64 : index
    %narrow = arith.index_cast %wave : index to i32
    %uniform = rocdl.readfirstlane %narrow : i32
    %wide = arith.index_cast %uniform : i32 to index
    %place = arith.muli %wide, %c64 : index
    %slot0 = memref.subview %slots[%c0, 0] [1, 256] [1, 1] : !slots to !slot
    %slot1 = memref.subview %slots[%c1, 0] [1, 256] [1, 1] : !slots to !slot
    %slot2 = memref.subview %slots[%c2, 0] [1, 256] [1, 1] : !slots to !slot
    amdgpu.gather_to_lds %in[%c0, %t], %slot0[%c0, %place] : f32, !rows, !slot
    amdgpu.gather_to_lds %in[%c1, %t], %slot1[%c0, %place] : f32, !rows, !slot
    %sum = scf.for %i = %c0 to %c398 step %c1 iter_args(%acc = %zero) -> f32 {
      %j = arith.addi %i, %c2 : index
      %next = arith.remui %j, %c3 : index
      %this = arith.remui %i, %c3 : index
      %to = memref.subview %slots[%next, 0] [1, 256] [1, 1] : !slots to !slot
      %from = memref.subview %slots[%this, 0] [1, 256] [1, 1] : !slots to !slot
      amdgpu.memory_counter_wait load(LEFT)
      amdgpu.lds_barrier
      amdgpu.gather_to_lds %in[%j, %t], %to[%c0, %place] : f32, !rows, !slot
      %v = memref.load %from[%c0, %other] : !slot
      %new = arith.addf %acc, %v : f32
      scf.yield %new : f32
    }
    amdgpu.memory_counter_wait load(1)
    amdgpu.lds_barrier
    %v = memref.load %slot2[%c0, %other] : !slot
    amdgpu.memory_counter_wait load(0)
    amdgpu.lds_barrier
    %w = memref.load %slot0[%c0, %other] : !slot
    %s0 = arith.addf %sum, %v : f32
    %s1 = arith.addf %s0, %w : f32
    memref.store %s1, %out[%t] : memref<256xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_hand_written_pipeline_overlaps(target: str) -> None:
    body = loop_body(smalti.compile(PIPELINED.replace("LEFT", "1"), target=target).asm["gcn"])
    # LLVM may unroll the loop.
    assert [step.kind for step in body] == ["wait", "barrier", "copy", "read"] * (len(body) // 4)
    assert {step.left for step in body if step.kind == "wait"} == {1}
    rows = np.random.default_rng(0).integers(-8, 9, (400, 256)).astype(np.float32)
    for emulation in (*SCHEDULES, *LOOKS):
        kernel = smalti.compile(PIPELINED.replace("LEFT", "1"), target=targets.EMULATED + target)
        sums = np.full(256, np.nan, np.float32)
        kernel.launcher(rows, sums, emulation=emulation)
        assert (sums == rows.sum(0)[::-1]).all()


def test_uncovered_load_keeps_llvm_waits() -> None:
    kernel = smalti.compile(PIPELINED.replace("LEFT", "2"), target="gfx950")
    body = loop_body(kernel.asm["gcn"])
    assert any(step.kind == "wait" and step.left == 0 for step in body)
    assert any(
        "2 of 3 barriers no longer wait for outstanding LDS DMA loads" in remark.message for remark in kernel.remarks
    )
