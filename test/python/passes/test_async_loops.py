# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelined asynchronous copies on emulated chips: counters of AMD's, and barrier objects of NVIDIA's.

The emulator completes a copy only at a wait that covers it. The passes' output gives the numbers of the plain loop. It
gives wrong numbers if a wait leaves one copy more in flight, or waits for the other parity.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti
from helpers import DESCRIPTOR, SHARED
from loops import runner
from loops.case import Case
from smalti import emulator, sim
from smalti.compiler.driver import _translate
from smalti.emulator import SCHEDULES, Emulation, tensor_map
from smalti.errors import EmulationError

SLOT = f"memref<256xf32, strided<[1], offset: ?>, {SHARED}>"
ROWS = "memref<64x256xf32>"

HEAD = f"""gpu.module @kernels {{
  gpu.func @k(%a: {ROWS} {{llvm.noalias}}, %b: {ROWS} {{llvm.noalias}}, %o: memref<8x256xf32> {{llvm.noalias}}) kernel
      attributes {{known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %n = gpu.block_id x
    %t = gpu.thread_id x
    %m = arith.subi %c255, %t : index
    %wave = arith.divui %t, %c64 : index
    %first = arith.muli %wave, %c64 : index
    %is_early = arith.cmpi ult, %wave, %c2 : index
    %is_zero = arith.cmpi ult, %t, %c32 : index
    %depth = arith.constant DEPTH : index
    %s0 = memref.alloc() : memref<DEPTHx256xf32, {SHARED}>
    %s1 = memref.alloc() : memref<DEPTHx256xf32, {SHARED}>
    %s2 = memref.alloc() : memref<256xf32, {SHARED}>
BEFORE
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {{
      %slot = arith.remui %i, %depth : index
      %v0 = memref.subview %s0[%slot, 0] [1, 256] [1, 1] : memref<DEPTHx256xf32, {SHARED}> to {SLOT}
      %v1 = memref.subview %s1[%slot, 0] [1, 256] [1, 1] : memref<DEPTHx256xf32, {SHARED}> to {SLOT}
BODY
      gpu.barrier
      scf.yield %next : f32
    }}
    memref.store %sum, %o[%n, %t] : memref<8x256xf32>
    gpu.return
  }}
}}
"""


def gather(array: str, slot: str) -> str:
    """Each wave copies its part of a row."""
    return f"amdgpu.gather_to_lds {array}[%i, %t], {slot}[%first] : f32, {ROWS}, {SLOT}\n"


def tensor(array: str, slot: str, name: str) -> str:
    """One wave copies a row."""
    return f"""%base_{name} = amdgpu.make_dma_base {array}[%i, %c0], {slot}[%c0]
  : {ROWS}, {SLOT} -> !amdgpu.tdm_base<f32>
%desc_{name} = amdgpu.make_dma_descriptor %base_{name} globalSize [1, 256] globalStride [256, 1] sharedSize [1, 256]
  : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
amdgpu.tensor_load_to_lds %desc_{name} : !amdgpu.tdm_descriptor
"""


def read(slot: str, acc: str, result: str, type_: str = SLOT) -> str:
    return f"""%x_{result} = memref.load {slot}[%m] : {type_}
%h_{result} = arith.mulf {acc}, %half : f32
%{result} = arith.addf %h_{result}, %x_{result} : f32
"""


BOTH = read("%v0", "%acc", "part") + read("%v1", "%part", "next")
PLAIN = f"memref<256xf32, {SHARED}>"
BARRIER = "gpu.barrier\n"

GATHERS = {
    "barrier": ("", gather("%a", "%v0") + BARRIER + read("%v0", "%acc", "next")),
    "two waits": (
        "",
        gather("%a", "%v0")
        + gather("%b", "%v1")
        + "amdgpu.memory_counter_wait load(1)\n"
        + BARRIER
        + read("%v0", "%acc", "part")
        + "amdgpu.memory_counter_wait load(0)\n"
        + BARRIER
        + read("%v1", "%part", "next"),
    ),
    "through registers": (
        "",
        gather("%a", "%v0")
        + f"%r = memref.load %b[%i, %t] : {ROWS}\nmemref.store %r, %s2[%t] : {PLAIN}\n"
        + BARRIER
        + read("%v0", "%acc", "part")
        + read("%s2", "%part", "next", PLAIN),
    ),
    "waves": (
        "",
        "scf.if %is_early {\n" + gather("%a", "%v0") + gather("%b", "%v1") + "} else {\n" + gather("%b", "%v0")
        + gather("%a", "%v1") + "}\n" + BARRIER + BOTH,
    ),
    "tail": (
        "",
        "%is_inside = arith.cmpi ult, %i, %c3 : index\nscf.if %is_inside {\n" + gather("%a", "%v0")
        + f"}} else {{\nmemref.store %zero, %v0[%t] : {SLOT}\n}}\n" + gather("%b", "%v1") + BARRIER + BOTH,
    ),
    "before": (
        f"amdgpu.gather_to_lds %b[%c5, %t], %s2[%first] : f32, {ROWS}, {PLAIN}",
        gather("%a", "%v0") + BARRIER + read("%v0", "%acc", "part") + read("%s2", "%part", "next", PLAIN),
    ),
}  # fmt: skip
TENSOR_COPIES = "scf.if %is_zero {\n" + tensor("%a", "%v0", "a") + tensor("%b", "%v1", "b") + "}\n"
TENSORS = {
    "one wait": ("", TENSOR_COPIES + "amdgpu.memory_counter_wait tensor(0)\n" + BARRIER + BOTH),
    "two waits": (
        "",
        TENSOR_COPIES
        + "amdgpu.memory_counter_wait tensor(1)\n"
        + BARRIER
        + read("%v0", "%acc", "part")
        + "amdgpu.memory_counter_wait tensor(0)\n"
        + BARRIER
        + read("%v1", "%part", "next"),
    ),
}


def made(chip: str, kernel: tuple[str, str], stages: int, slots: int) -> Case:
    text = HEAD.replace("BEFORE", kernel[0]).replace("BODY", kernel[1]).replace("DEPTH", str(slots))
    passes = f"builtin.module(gpu.module(gpu.func(smalti-pipeline-loops{{stages={stages}}})))"
    return Case(text, chip, passes)


@pytest.mark.grid(8)
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("name", GATHERS)
def test_gathers(name: str, stages: int) -> None:
    chip = ("gfx942", "gfx950")[stages % 2]
    outcome = runner.run(made(chip, GATHERS[name], stages, max(stages, 3)), runner.Tally(), SCHEDULES[:2], stages == 3)
    assert outcome.pipelined == 1, outcome.missed


@pytest.mark.grid(3)
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("name", TENSORS)
def test_tensors(name: str, stages: int) -> None:
    case = made("gfx1250", TENSORS[name], stages, max(stages, 3))
    outcome = runner.run(case, runner.Tally(), SCHEDULES[:2], stages == 3)
    assert outcome.pipelined == 1, outcome.missed
    counts = list(re.finditer(r"tensor\((\d+)\)", outcome.text[: outcome.text.rindex("} else {")]))
    # Each wait of the kernel and the epilogue counts exactly.
    for match in counts:
        weaker = outcome.text[: match.start(1)] + str(int(match[1]) + 1) + outcome.text[match.end(1) :]
        with pytest.raises(runner.Wrong):
            runner.execute(case, weaker)


# ---------------------------------------------------------------------------------------------------------------------
# Barrier objects
# ---------------------------------------------------------------------------------------------------------------------

THREADS, TILES = 128, 8
LOWERING = (
    "gpu.module(convert-nvgpu-to-nvvm,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-gpu-to-nvvm,"
    "convert-index-to-llvm,convert-arith-to-llvm),convert-cf-to-llvm,convert-nvvm-to-llvm,reconcile-unrealized-casts"
)


def tma_kernel(slots: int, carried: bool) -> str:
    """One thread copies tiles, all wait; the parity is computed from the iteration's number, or is carried."""
    barriers = f"!nvgpu.mbarrier.group<memorySpace = {SHARED}, num_barriers = {slots}>"
    inits = "".join(
        f"%k{i} = arith.constant {i} : index\n"
        f"nvgpu.mbarrier.init %bars[%k{i}], %c1, predicate = %is_first : {barriers}\n"
        for i in range(slots)
    )
    number = "%turn = arith.divui %i, %depth : index\n%bit = arith.remui %turn, %c2 : index\n"
    parity = "" if carried else number + "%parity = arith.cmpi eq, %bit, %c1 : index"
    flip = """%is_last = arith.cmpi eq, %slot, %last : index
%other = arith.xori %parity, %true : i1
%later = arith.select %is_last, %other, %parity : i1"""
    return f"""gpu.module @m {{
  memref.global "private" @tiles : memref<{slots}x128xf32, {SHARED}> {{alignment = 128 : i64}}
  gpu.func @k(%tensor: !llvm.ptr, %o: memref<128xf32>, %n: index) kernel {{
    %desc = builtin.unrealized_conversion_cast %tensor : !llvm.ptr to {DESCRIPTOR}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %depth = arith.constant {slots} : index
    %last = arith.constant {slots - 1} : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 1000 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %true = arith.constant true
    %false = arith.constant false
    %t = gpu.thread_id x
    %m = arith.subi %c127, %t : index
    %is_first = arith.cmpi eq, %t, %c0 : index
    %bars = nvgpu.mbarrier.create -> {barriers}
    {inits}
    nvvm.fence.mbarrier.init
    gpu.barrier
    %tiles = memref.get_global @tiles : memref<{slots}x128xf32, {SHARED}>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, {"%parity" if carried else "%later"} = %false)
        -> (f32, i1) {{
      %slot = arith.remui %i, %depth : index
      {parity}
      %x = arith.muli %i, %c128 : index
      %view = memref.subview %tiles[%slot, 0] [1, 128] [1, 1]
        : memref<{slots}x128xf32, {SHARED}> to memref<128xf32, strided<[1], offset: ?>, {SHARED}>
      scf.if %is_first {{
        nvgpu.mbarrier.arrive.expect_tx %bars[%slot], %bytes : {barriers}
        nvgpu.tma.async.load %desc[%x], %bars[%slot] to %view
          : {DESCRIPTOR}, {barriers} -> memref<128xf32, strided<[1], offset: ?>, {SHARED}>
      }}
      nvgpu.mbarrier.try_wait.parity %bars[%slot], %parity, %ticks : {barriers}
      %v = memref.load %view[%m] : memref<128xf32, strided<[1], offset: ?>, {SHARED}>
      %h = arith.mulf %acc, %half : f32
      %next = arith.addf %h, %v : f32
      gpu.barrier
      {flip if carried else ""}
      scf.yield %next, %later : f32, i1
    }}
    memref.store %sum#0, %o[%t] : memref<128xf32>
    gpu.return
  }}
}}
"""


def run_tma(text: str, trips: int, how: Emulation) -> bool:
    """Whether the numbers are right."""
    module = smalti.parse(text)
    smalti.Pipeline(f"builtin.module({LOWERING})").run(module)
    kernel = next(iter(module.body.operations))
    inner = smalti.parse("module {\n" + "\n".join(str(op) for op in kernel.regions[0].blocks[0].operations) + "\n}")
    code = emulator.load('target triple = "nvptx64-nvidia-cuda"\n' + _translate(inner), "emu:sm_90a")
    tiles = np.random.default_rng(7).integers(-9, 9, TILES * THREADS).astype(np.float32)
    wanted, out = np.zeros(THREADS, np.float32), np.zeros(THREADS, np.float32)
    for i in range(trips):
        wanted = wanted * 0.5 + tiles.reshape(TILES, THREADS)[i, ::-1]
    # A memref is its allocation, its aligned pointer, an offset, its size and stride.
    row = (np.zeros(1, np.float32), out, 0, THREADS, 1)
    code.launch(1, THREADS, tensor_map(tiles, (THREADS,)), *row, trips, emulation=how)
    return bool((out == wanted).all())


def pipelined_tma(stages: int, slots: int, carried: bool) -> str:
    case = Case(
        tma_kernel(slots, carried),
        "sm_90a",
        f"builtin.module(gpu.module(gpu.func(smalti-pipeline-loops{{stages={stages}}})))",
    )
    outcome = runner.transform(case)
    assert outcome.pipelined == 1, outcome.missed
    return outcome.text


@pytest.mark.grid(3, cover=False)
@pytest.mark.parametrize("stages, slots", [(2, 2), (2, 4), (3, 3), (4, 4), (3, 5)])
@pytest.mark.parametrize("carried", [False, True], ids=["number", "carried"])
def test_barrier_objects(stages: int, slots: int, carried: bool) -> None:
    text = pipelined_tma(stages, slots, carried)
    for trips in range(TILES):
        for how in (SCHEDULES[trips % len(SCHEDULES)], Emulation(sanitize="thread")):
            assert run_tma(text, trips, how), (trips, how)


def test_the_other_parity_is_noticed() -> None:
    text = pipelined_tma(3, 3, carried=False)
    wrong, changes = re.subn(r"arith\.cmpi eq, (%\w+), %c1 ", r"arith.cmpi ne, \1, %c1 ", text)
    assert changes
    with pytest.raises((EmulationError, AssertionError)):
        assert run_tma(wrong, TILES - 1, Emulation())


# ---------------------------------------------------------------------------------------------------------------------
# Barrier objects that get slots
# ---------------------------------------------------------------------------------------------------------------------

TRIPS = range(10)
ONE_TILE = f"memref<128xf32, {SHARED}>"
ARRIVALS = {
    "predicate": """nvgpu.mbarrier.arrive.expect_tx %bars[%A], %bytes, predicate = %is_first : GROUP
nvgpu.tma.async.load %map[%x], %bars[%A] to %a, predicate = %is_first : MAP, GROUP -> TILE
nvgpu.mbarrier.arrive.expect_tx %bars[%B], %bytes, predicate = %is_first : GROUP
nvgpu.tma.async.load %map[%y], %bars[%B] to %b, predicate = %is_first : MAP, GROUP -> TILE
""",
    "branch": """scf.if %is_first {
  nvgpu.mbarrier.arrive.expect_tx %bars[%A], %both : GROUP
  nvgpu.tma.async.load %map[%x], %bars[%A] to %a : MAP, GROUP -> TILE
  nvgpu.tma.async.load %map[%y], %bars[%A] to %b : MAP, GROUP -> TILE
}
""",
    "elected": """%is_first_warp = arith.cmpi ult, %t, %c32 : index
%leads = nvvm.elect.sync -> i1
%is_elected = arith.andi %is_first_warp, %leads : i1
nvgpu.mbarrier.arrive.expect_tx %bars[%A], %both, predicate = %is_elected : GROUP
nvgpu.tma.async.load %map[%x], %bars[%A] to %a, predicate = %is_elected : MAP, GROUP -> TILE
nvgpu.tma.async.load %map[%y], %bars[%A] to %b, predicate = %is_elected : MAP, GROUP -> TILE
""",
    "all threads": """%mine = arith.select %is_first, %both, %c0 : index
nvgpu.mbarrier.arrive.expect_tx %bars[%B], %mine : GROUP
nvgpu.tma.async.load %map[%x], %bars[%B] to %a, predicate = %is_first : MAP, GROUP -> TILE
nvgpu.tma.async.load %map[%y], %bars[%B] to %b, predicate = %is_first : MAP, GROUP -> TILE
""",
}
PARITIES = {
    "carried": "",
    "number": "%bit = arith.remui %k, %c2 : index\n%phase = arith.cmpi eq, %bit, %c1 : index\n",
    "masked": "%k32 = arith.index_cast %k : index to i32\n%bit = arith.andi %k32, %one32 : i32\n"
    "%phase = arith.trunci %bit : i32 to i1\n",
}


def plain_tma(arrivals: str, parity: str) -> str:
    """Two buffers without slots, one or two barriers without slots; a loop with a step and bounds of its own."""
    used = [name for name in "AB" if f"%bars[%{name}]" in ARRIVALS[arrivals]]
    counts = dict.fromkeys(used, "%c128" if arrivals == "all threads" else "%c1")
    inits = "".join(f"nvgpu.mbarrier.init %bars[%{n}], {counts[n]}, predicate = %is_first : GROUP\n" for n in used)
    waits = "".join(f"nvgpu.mbarrier.try_wait.parity %bars[%{n}], %phase, %ticks : GROUP\n" for n in used)
    carried = parity == "carried"
    text = f"""gpu.module @m {{
  gpu.func @k(%map: MAP, %o: memref<128xf32>, %n: index) kernel
      attributes {{known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %A = arith.constant 0 : index
    %B = arith.constant 1 : index
    %one32 = arith.constant 1 : i32
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %bytes = arith.constant 512 : index
    %both = arith.constant 1024 : index
    %ticks = arith.constant 1000 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %true = arith.constant true
    %false = arith.constant false
    %t = gpu.thread_id x
    %m = arith.subi %c127, %t : index
    %is_first = arith.cmpi eq, %t, %c0 : index
    %a = memref.alloc() {{alignment = 128 : i64}} : TILE
    %b = memref.alloc() {{alignment = 128 : i64}} : TILE
    %bars = nvgpu.mbarrier.create -> GROUP
    {inits}
    nvvm.fence.mbarrier.init
    gpu.barrier
    %length = arith.muli %n, %c2 : index
    %upper = arith.addi %length, %c3 : index
    %sum:2 = scf.for %i = %c3 to %upper step %c2 iter_args(%acc = %zero, {"%phase" if carried else "%unused"} = %false)
        -> (f32, i1) {{
      %distance = arith.subi %i, %c3 : index
      %k = arith.divui %distance, %c2 : index
      %x = arith.muli %k, %c128 : index
      %y = arith.addi %x, %c1 : index
      {PARITIES[parity]}
      {ARRIVALS[arrivals]}
      {waits}
      %v = memref.load %a[%m] : TILE
      %w = memref.load %b[%t] : TILE
      %h = arith.mulf %acc, %half : f32
      %p = arith.addf %h, %v : f32
      %next = arith.subf %p, %w : f32
      gpu.barrier
      %other = arith.xori {"%phase" if carried else "%unused"}, %true : i1
      scf.yield %next, %other : f32, i1
    }}
    memref.store %sum#0, %o[%t] : memref<128xf32>
    gpu.return
  }}
}}
"""
    text = text.replace("GROUP", f"!nvgpu.mbarrier.group<memorySpace = {SHARED}, num_barriers = 2>")
    return text.replace("MAP", DESCRIPTOR).replace("TILE", ONE_TILE)


def slotted_tma(text: str, stages: int, depth: int) -> str:
    passes = f"smalti-multi-buffer{{depth={depth} target=sm_90a}},smalti-pipeline-loops{{stages={stages}}}"
    outcome = runner.transform(Case(text, "sm_90a", f"builtin.module(gpu.module(gpu.func({passes})))"))
    assert outcome.pipelined == 1, outcome.missed
    return outcome.text


def right_trips(text: str, trips: range, how: Emulation) -> list[int]:
    """For which numbers of iterations the kernel gives the right numbers."""
    kernel = smalti.compile(text, target="emu:sm_90a", depth=1, stages=1)
    tiles = np.random.default_rng(3).integers(-9, 9, len(TRIPS) * THREADS + 1).astype(np.float32)
    right = []
    for count in trips:
        wanted, out = np.zeros(THREADS, np.float32), np.zeros(THREADS, np.float32)
        for i in range(count):
            tile = tiles[THREADS * i :]
            wanted = wanted * 0.5 + tile[:THREADS][::-1] - tile[1 : THREADS + 1]
        kernel.launcher(tensor_map(tiles, (THREADS,)), out, count, emulation=how)
        if (out == wanted).all():
            right.append(count)
    return right


@pytest.mark.grid(6)
@pytest.mark.parametrize("how", [Emulation(copies="early"), Emulation(copies="late")], ids=lambda how: how.copies)
@pytest.mark.parametrize("parity", PARITIES)
@pytest.mark.parametrize("arrivals", ARRIVALS)
def test_barriers_get_slots(arrivals: str, parity: str, how: Emulation) -> None:
    plain = plain_tma(arrivals, parity)
    assert right_trips(plain, range(3), how) == [0, 1, 2]
    stages, depth = {"carried": (3, 3), "number": (2, 2), "masked": (3, 5)}[parity]
    text = slotted_tma(plain, stages, depth)
    assert right_trips(text, TRIPS, how) == list(TRIPS)


def simulated(text: str) -> list[str]:
    """The findings of the simulator in a kernel; its tensor map follows the arrays then."""
    found = re.search(r"@k\((%\w+): (.*?), (%\w+: memref<128xf32>), (%\w+: index)\) kernel\s+attributes \{", text, re.S)
    assert found is not None
    described = (
        "{argument = 0 : i64, box = array<i64: 128>, element = f32, element_strides = array<i64: 1>, extents = array<i64: "
        f'{len(TRIPS) * THREADS + 1}>, fill = "zeros", offset = 0 : i64, strides = array<i64: 4>, swizzle = 16 : i64}}'
    )
    head = (
        f"@k(%tiles: memref<{len(TRIPS) * THREADS + 1}xf32>, {found[3]}, {found[4]}, {found[1]}: {found[2]}) kernel\n"
    )
    head += f"    attributes {{mosaic_gpu.tensor_maps = [{described}], "
    kernel = sim.simulate(text[: found.start()] + head + text[found.end() :], "sim:sm_90a")
    tiles = np.random.default_rng(3).integers(-9, 9, len(TRIPS) * THREADS + 1).astype(np.float32)
    return [finding.kind for finding in kernel.find(tiles, np.zeros(THREADS, np.float32), 4)]


@pytest.mark.parametrize("arrivals", ARRIVALS)
def test_kernels_with_barriers_are_clean(arrivals: str) -> None:
    plain = plain_tma(arrivals, "number")
    slotted = slotted_tma(plain, 2, 2)
    assert simulated(plain) == simulated(slotted) == []
    # Without a fence, copies may not see the barrier's initialization.
    assert set(simulated(slotted.replace("nvvm.fence.mbarrier.init\n", "\n"))) == {"missing-fence"}


def test_two_copies_are_in_flight() -> None:
    text = slotted_tma(plain_tma("predicate", "carried"), 3, 3)
    loop = text[text.index("scf.if") : text.index("} else {")]
    prologue, _, rest = loop.partition("scf.for")
    kernel, _, end = rest.partition("scf.yield")
    assert [part.count("nvgpu.tma.async.load") for part in (prologue, kernel, end)] == [4, 2, 0]
    assert [part.count("try_wait.parity") for part in (prologue, kernel, end)] == [0, 2, 4]
    assert right_trips(text, TRIPS[-2:], Emulation(sanitize="thread")) == [8, 9]


def test_the_other_parity_of_a_slot_is_noticed() -> None:
    text = slotted_tma(plain_tma("branch", "carried"), 3, 3)
    wrong, changes = re.subn(r"arith\.cmpi eq, (%\w+), (%c1\w*) : index", r"arith.cmpi ne, \1, \2 : index", text)
    assert changes
    with pytest.raises((EmulationError, AssertionError)):
        assert right_trips(wrong, TRIPS, Emulation()) == list(TRIPS)


# ---------------------------------------------------------------------------------------------------------------------
# Buffers by address
# ---------------------------------------------------------------------------------------------------------------------

BY_ADDRESS = f"""gpu.module @kernels {{
  gpu.func @k(%a: memref<64x64xf32> {{llvm.noalias}}, %o: memref<8x64xf32> {{llvm.noalias}}) kernel
      attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 8, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %n = gpu.block_id x
    %t = gpu.thread_id x
    %m = arith.subi %c63, %t : index
    %bytes = arith.muli %t, %c4 : index
    %s = memref.alloc() : memref<64xf32, {SHARED}>
    %base = memref.extract_aligned_pointer_as_index %s : memref<64xf32, {SHARED}> -> index
    %place = arith.addi %base, %bytes : index
    %place_i64 = arith.index_cast %place : index to i64
    %to = llvm.inttoptr %place_i64 : i64 to !llvm.ptr<3>
    %source = memref.extract_aligned_pointer_as_index %a : memref<64x64xf32> -> index
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {{
      %row = arith.muli %i, %c256 : index
      %begin = arith.addi %row, %bytes : index
      %from_index = arith.addi %source, %begin : index
      %from_i64 = arith.index_cast %from_index : index to i64
      %from = llvm.inttoptr %from_i64 : i64 to !llvm.ptr<1>
      COPY
      gpu.barrier
      %x = memref.load %s[%m] : memref<64xf32, {SHARED}>
      %h = arith.mulf %acc, %half : f32
      %next = arith.addf %h, %x : f32
      gpu.barrier
      scf.yield %next : f32
    }}
    memref.store %sum, %o[%n, %t] : memref<8x64xf32>
    gpu.return
  }}
}}
"""
COPIES_BY_ADDRESS = {
    "sm_80": """nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
nvvm.cp.async.commit.group
nvvm.cp.async.wait.group 0""",
    "gfx1250": """rocdl.global.load.async.to.lds.b32 %from, %to, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
rocdl.s.wait.asynccnt 0""",
}


@pytest.mark.parametrize("chip", COPIES_BY_ADDRESS)
def test_slots_by_address(chip: str) -> None:
    passes = "builtin.module(gpu.module(gpu.func(smalti-multi-buffer{depth=3})))"
    case = Case(BY_ADDRESS.replace("COPY", COPIES_BY_ADDRESS[chip]), chip, passes)
    outcome = runner.run(case, runner.Tally(), SCHEDULES[:2], sanitize=True)
    assert outcome.applied == ["buffer multi-buffered: 3 slots of 256 B, 768 B in total"]
    # A pointer into another slot than the one that is read.
    wrong, changes = re.subn(
        r"arith\.constant 256 : index\n( +\S+ = arith\.muli)", r"arith.constant 0 : index\n\1", outcome.text
    )
    assert changes
    with pytest.raises(runner.Wrong):
        runner.execute(case, wrong)
