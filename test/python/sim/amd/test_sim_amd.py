# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread-level kernels for AMD chips: results, races, the effects of waits and barriers, and every mutant."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from helpers import SHARED, gpu_kernel
from loops import runner
from loops.case import Case
from matmuls import matmul
from sim_programs import OWN
from smalti import check, sim, targets
from smalti.cli import commands
from smalti.sim import mutants
from smalti.sim.threads.ops.amd.conversions_amd import unpack
from smalti.sim.threads.ops.amd.rocdl import weakened_waitcnt
from thread_kernels import POINTERS, TENSORS, THREADS, VECTORS, WORDS, Copies, kernel

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


def program(body: str, arguments: str, threads: int = 128) -> str:
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %other = arith.subi %c127, %t : index
    %wave = arith.divui %t, %c64 : index
    %first = arith.muli %wave, %c64 : index
{body}""",
        threads,
    )


def find(text: str, target: str = "gfx942", **how: Any) -> tuple[sim.Finding, ...]:
    made = sim.simulate(text, f"sim:{target}")
    return made.find(*made.random_arguments(), simulation=sim.Simulation(**how))


def caught(text: str, target: str, schedules: tuple[sim.Simulation, ...] = mutants.SCHEDULES) -> list[mutants.Outcome]:
    """The mutants of a kernel, all of which are killed."""
    made = sim.simulate(text, f"sim:{target}")
    outcomes = mutants.score(made, made.random_arguments(), schedules=schedules)
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    return outcomes


# ---------------------------------------------------------------------------------------------------------------------
# The project's matmuls
# ---------------------------------------------------------------------------------------------------------------------


def threads_of(chip: str, k: int, **options: Any) -> tuple[Any, str]:
    """A matmul for the emulator, and its thread-level kernel."""
    text = matmul((40, 36, k), (32, 32, 32), "f16")
    compiled = smalti.compile(smalti.parse(text), target=f"emu:{chip}", **options)
    return compiled, compiled.asm["thread"]


def ways_to_copy(chip: str) -> tuple[str, ...]:
    return ("registers",) if targets.get(chip).async_copy == "none" else ("registers", "async")


# Unpipelined and pipelined; one iteration, as many as stages, more.
@pytest.mark.grid(13)
@pytest.mark.parametrize(("stages", "k"), [(1, 72), (2, 32), (3, 72), (3, 136)])
@pytest.mark.parametrize(
    ("chip", "copies"),
    [(chip, how) for chip in CHIPS for how in ways_to_copy(chip)],
)
def test_mmas_are_those_of_the_emulator(chip: str, copies: str, stages: int, k: int) -> None:
    compiled, text = threads_of(chip, k, stages=stages, copies=copies)
    theirs: list[Any] = check.random_arguments(compiled.entry)
    mine = [array.copy() for array in theirs]
    a, b, start = (array.astype(np.float64) for array in theirs)
    compiled.launcher(*theirs)
    schedule = sim.SCHEDULES[(stages + k) % len(sim.SCHEDULES)]
    sim.simulate(text, f"sim:{chip}")(*mine, simulation=schedule)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(theirs, mine, strict=True))
    np.testing.assert_allclose(mine[2], a @ b + start, atol=1e-3)


@pytest.mark.parametrize("chip", ["gfx90a", "gfx1201", "gfx1250"])
def test_mutants_of_matmuls_are_caught(chip: str) -> None:
    text = matmul((32, 32, 136), (32, 32, 32), "f16")
    compiled = smalti.compile(smalti.parse(text), target=f"emu:{chip}", stages=3, copies="async")
    kinds = {outcome.mutant.kind for outcome in caught(compiled.asm["thread"], chip)}
    wanted = {"barrier removed", "slots merged"} | (
        {"wait removed", "wait weakened by one"} if chip != "gfx1201" else set()
    )
    assert kinds == wanted


# ---------------------------------------------------------------------------------------------------------------------
# Kernels of threads, pipelined
# ---------------------------------------------------------------------------------------------------------------------


def sums(copies: Copies, a: np.ndarray, b: np.ndarray, trips: int, reads: int) -> np.ndarray:
    """The results of a kernel of `thread_kernels`."""
    total = np.zeros((THREADS, 4), np.float32)
    for i in range(trips):
        total = total * np.float32(0.5)
        for read in range(reads):
            first = (np.arange(THREADS) + 37 * read + 67) * 4 % copies.columns
            total = total + (a, b)[read % 2][i][first[:, None] + np.arange(4)]
    return total


def pipelined(copies: Copies, chip: str, stages: int) -> str:
    """A loop with as many slots as stages, and prefetched copies."""
    passes = f"smalti-multi-buffer{{depth={stages}}},smalti-pipeline-loops{{stages={stages}}}"
    outcome = runner.transform(Case(kernel(copies, reads=4), chip, f"builtin.module(gpu.module(gpu.func({passes})))"))
    assert outcome.pipelined == 1, outcome.missed
    return outcome.text


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("copies", [WORDS, VECTORS, TENSORS, POINTERS], ids=lambda copies: copies.name)
def test_pipelined_loops(copies: Copies, stages: int) -> None:
    chip = copies.chips[-1]
    made = sim.simulate(pipelined(copies, chip, stages), f"sim:{chip}")
    a, b, o, _ = made.random_arguments()
    for trips in range(stages + 3):
        # For small trip counts the loop is unchanged.
        others = (OWN[trips % len(OWN)],) if trips >= stages else ()
        for schedule in (sim.SCHEDULES[trips], *others):
            made(a, b, o, np.asarray(trips), simulation=schedule)
            assert (o == sums(copies, a, b, trips, 4)).all()


@pytest.mark.parametrize("copies", [WORDS, TENSORS, POINTERS], ids=lambda copies: copies.name)
def test_mutants_of_pipelined_loops_are_caught(copies: Copies) -> None:
    chip = copies.chips[-1]
    made = sim.simulate(pipelined(copies, chip, 3), f"sim:{chip}")
    arguments = made.random_arguments()
    arguments[3] = np.asarray(5)
    outcomes = mutants.score(made, arguments, schedules=OWN)
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    assert {outcome.mutant.kind for outcome in outcomes} >= {"wait removed", "wait weakened by one", "barrier removed"}


def test_mutants_of_waitcnt_are_caught() -> None:
    """The counts of copies and of LDS accesses in `s_waitcnt`, on chips with different encodings."""
    text = re.sub(
        r"amdgpu.memory_counter_wait load\((\d)\)",
        lambda found: f"rocdl.s.waitcnt {0x0F70 | int(found[1])}",
        pipelined(WORDS, "gfx942", 3),
    )
    made = sim.simulate(text, "sim:gfx942")
    arguments = made.random_arguments()
    arguments[3] = np.asarray(5)
    outcomes = mutants.score(made, arguments, schedules=OWN)
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    of_waits = {outcome.mutant.kind for outcome in outcomes if outcome.mutant.operation == "rocdl.s.waitcnt"}
    assert of_waits == {"wait removed", "wait weakened by one"}
    for chip, bits in (("gfx942", 49279), ("gfx1100", 64519)):
        body = EXCHANGE.replace("BARRIER", f"rocdl.s.waitcnt {bits}\nrocdl.s.barrier")
        kinds = {outcome.mutant.kind for outcome in caught(program(body, TWO_ARRAYS), chip)}
        assert kinds == {"wait removed", "wait weakened by one", "barrier removed"}


@pytest.mark.parametrize(
    ("architecture", "bits", "wanted"),
    [("CDNA3", 0x0070, 0x0171), ("CDNA3", 0x4F7F, 0x8F70), ("CDNA3", 0xCF7F, 0xCF7F), ("RDNA3", 0x0007, 0x0417)],
)
def test_one_more_of_a_waitcnt(architecture: str, bits: int, wanted: int) -> None:
    """Fields that wait for nothing stay so; the six bits of vmcnt are split in two fields on CDNA."""
    assert weakened_waitcnt(architecture, bits) == wanted


def test_barriers_wait_for_copies_that_vmcnt_counts() -> None:
    """LLVM lets them; a program with waits of its own can be looked at without that."""
    text = kernel(WORDS, trips=3)
    assert find(text) == ()
    found = find(text, explicit_waits=True, max_findings=100)
    assert "race" in {finding.kind for finding in found}
    race = next(finding for finding in found if finding.kind == "race")
    assert race.hint is not None and race.hint.startswith(
        "wait for the copy in wave 0 with amdgpu.memory_counter_wait load(N)"
    )
    # No implicit wait covers these.
    for copies in (TENSORS, POINTERS):
        text = kernel(copies, trips=3)
        assert find(text, "gfx1250") == ()
        kinds = {finding.kind for finding in find(text.replace(copies.wait, ""), "gfx1250", max_findings=100)}
        assert kinds == {"race", "leak"}


# ---------------------------------------------------------------------------------------------------------------------
# What orders what
# ---------------------------------------------------------------------------------------------------------------------

EXCHANGE = f"""
    %s = memref.alloc() : memref<128xf32, {SHARED}>
    %v = memref.load %a[%t] : memref<128xf32>
    memref.store %v, %s[%t] : memref<128xf32, {SHARED}>
    BARRIER
    %w = memref.load %s[%other] : memref<128xf32, {SHARED}>
    memref.store %w, %o[%t] : memref<128xf32>"""
TWO_ARRAYS = "%a: memref<128xf32>, %o: memref<128xf32>"
SPLIT = "rocdl.s.barrier.signal id = -1\nrocdl.s.barrier.wait id = -1"


@pytest.mark.parametrize(
    ("chip", "barrier", "is_sound"),
    [
        ("gfx942", "gpu.barrier", True),
        ("gfx942", "amdgpu.lds_barrier", True),
        ("gfx942", "rocdl.barrier", True),
        ("gfx942", "rocdl.s.barrier", False),
        ("gfx942", "amdgpu.memory_counter_wait ds(0)\nrocdl.s.barrier", True),
        ("gfx942", "amdgpu.memory_counter_wait load(0)\nrocdl.s.barrier", False),
        # lgkmcnt 0, then all but lgkmcnt.
        ("gfx942", "rocdl.s.waitcnt 49279\nrocdl.s.barrier", True),
        ("gfx942", "rocdl.s.waitcnt 3952\nrocdl.s.barrier", False),
        ("gfx1100", "rocdl.s.waitcnt 64519\nrocdl.s.barrier", True),
        ("gfx1201", "rocdl.s.wait.dscnt 0\n" + SPLIT, True),
        ("gfx1201", SPLIT, False),
    ],
)
def test_barriers_order_lds(chip: str, barrier: str, is_sound: bool) -> None:
    text = program(EXCHANGE.replace("BARRIER", barrier), TWO_ARRAYS)
    found = find(text, chip)
    assert {finding.kind for finding in found} == (set() if is_sound else {"race"})
    if is_sound:
        a, o = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
        sim.simulate(text, f"sim:{chip}")(a, o)
        assert (o == a[::-1]).all()


GLOBAL = """
    %v = memref.load %a[%t] : memref<128xf32>
    memref.store %v, %g[%t] : memref<128xf32>
    BARRIER
    %w = memref.load %g[%other] : memref<128xf32>
    memref.store %w, %o[%t] : memref<128xf32>"""


@pytest.mark.parametrize(
    ("chip", "barrier", "is_sound"),
    [
        ("gfx942", "gpu.barrier", True),
        ("gfx942", "amdgpu.lds_barrier", False),
        # vmcnt of CDNA also counts stores; RDNA has a separate counter for stores.
        ("gfx942", "amdgpu.memory_counter_wait load(0)\namdgpu.lds_barrier", True),
        ("gfx1100", "amdgpu.memory_counter_wait load(0)\namdgpu.lds_barrier", False),
        ("gfx1201", "amdgpu.memory_counter_wait load(0)\namdgpu.lds_barrier", False),
        ("gfx1201", "rocdl.s.wait.storecnt 0\namdgpu.lds_barrier", True),
    ],
)
def test_barriers_order_global_memory(chip: str, barrier: str, is_sound: bool) -> None:
    text = program(GLOBAL.replace("BARRIER", barrier), f"%g: memref<128xf32>, {TWO_ARRAYS}")
    assert {finding.kind for finding in find(text, chip)} == (set() if is_sound else {"race"})


def test_a_barrier_in_two_parts() -> None:
    body = EXCHANGE.replace("BARRIER", "rocdl.s.wait.dscnt 0\n    rocdl.s.barrier.signal id = -1\n    WAIT")
    wait = "rocdl.s.barrier.wait id = -1"
    outcomes = caught(program(body.replace("WAIT", wait), TWO_ARRAYS), "gfx1201")
    assert {outcome.mutant.operation for outcome in outcomes} >= {"rocdl.s.wait.dscnt", "rocdl.s.barrier.wait"}
    early = program(
        body.replace("WAIT", "").replace("rocdl.s.barrier.signal id", "rocdl.s.barrier.wait id"), TWO_ARRAYS
    )
    (finding,) = find(early, "gfx1201")
    assert finding.kind == "barrier" and "waits at the block barrier without a prior signal" in finding.message


# ---------------------------------------------------------------------------------------------------------------------
# Buffers
# ---------------------------------------------------------------------------------------------------------------------


def test_checked_buffers_read_zero_outside_and_drop_stores() -> None:
    fat = "memref<128xf32, #amdgpu.address_space<fat_raw_buffer>>"
    body = f"""
    %bytes = arith.constant 400 : i64
    %b = amdgpu.fat_raw_buffer_cast %a validBytes(%bytes) : memref<128xf32> to {fat}
    %v = memref.load %b[%t] : {fat}
    memref.store %v, %o[%t] : memref<128xf32>
    %one = arith.constant 1.0 : f32
    memref.store %one, %b[%t] : {fat}
    %i = arith.index_cast %t : index to i32
    %i2 = arith.addi %i, %i : i32
    %w = amdgpu.raw_buffer_load %p[%i2] : memref<127xf16>, i32 -> vector<2xf16>
    %at = arith.muli %t, %c2 : index
    vector.store %w, %q[%at] : memref<256xf16>, vector<2xf16>
    amdgpu.raw_buffer_store %one -> %r[%i2] : f32 -> memref<100xf32>, i32
    amdgpu.raw_buffer_atomic_fadd %one -> %n[%zero] : f32 -> memref<1xf32>, i32"""
    text = program(
        "%zero = arith.constant 0 : i32" + body,
        f"{TWO_ARRAYS}, %p: memref<127xf16>, %q: memref<256xf16>, %r: memref<100xf32>, %n: memref<1xf32>",
    )
    a, o = np.arange(1, 129, dtype=np.float32), np.full(128, -1, np.float32)
    p, q = np.arange(1, 128).astype(np.float16), np.full(256, -1, np.float16)
    r, n = np.zeros(100, np.float32), np.zeros(1, np.float32)
    sim.simulate(text, "sim:gfx942")(a, o, p, q, r, n)
    assert (o == np.where(np.arange(128) < 100, np.arange(1, 129), 0)).all()
    assert (a[:100] == 1).all() and (a[100:] == np.arange(101, 129)).all()
    # A dword is not read if a half of it is outside.
    assert (q[:126] == p[:126]).all() and (q[126:] == 0).all()
    assert (r[::2] == 1).all() and (r[1::2] == 0).all() and n[0] == 128


@pytest.mark.parametrize(("moved", "lanes"), [("f32", 4), ("f16", 4), ("vector<4xf32>", 16)])
def test_copies_to_lds_are_laid_out_lane_by_lane(moved: str, lanes: int) -> None:
    """Narrow elements become dwords; only the first lane's address counts; elements outside the bounds are zeros."""
    count, element = (4, "f32") if "vector" in moved else (1, moved)
    size, total = 2 if element == "f16" else 4, 128 * lanes
    fat = f"memref<{128 * count}x{element}, #amdgpu.address_space<fat_raw_buffer>>"
    shared = f"memref<{total // size}x{element}, {SHARED}>"
    body = f"""
    %s = memref.alloc() : {shared}
    %n = arith.constant {count} : index
    %per = arith.constant {lanes // size} : index
    %bytes = arith.constant {100 * count * size} : i64
    %b = amdgpu.fat_raw_buffer_cast %a validBytes(%bytes) : memref<{128 * count}x{element}> to {fat}
    %from = arith.muli %other, %n : index
    %inside = arith.remui %t, %c64 : index
    %is_first = arith.cmpi eq, %inside, %c0 : index
    %begin = arith.muli %first, %per : index
    %place = arith.select %is_first, %begin, %c0 : index
    amdgpu.gather_to_lds %b[%from], %s[%place] : {moved}, {fat}, {shared}
    amdgpu.memory_counter_wait load(0)
    amdgpu.lds_barrier
    %mine = arith.muli %t, %per : index
    %v = vector.load %s[%mine] : {shared}, vector<{lanes // size}x{element}>
    vector.store %v, %o[%mine] : memref<{total // size}x{element}>, vector<{lanes // size}x{element}>"""
    text = program(body, f"%a: memref<{128 * count}x{element}>, %o: memref<{total // size}x{element}>")
    dtype = np.dtype(np.float16 if element == "f16" else np.float32)
    a, o = np.arange(1, 128 * count + 1).astype(dtype), np.full(total // size, -1, dtype)
    sim.simulate(text, "sim:gfx950")(a, o)
    rows = a.reshape(128, count)[::-1].copy()
    rows[:28] = 0
    wanted = np.zeros((128, lanes // size), dtype)
    wanted[:, :count] = rows
    assert (o.reshape(128, -1) == wanted).all()


def test_tiles_with_bounds_padding_and_stores() -> None:
    body = f"""
    %s = memref.alloc() : memref<12x12xf32, {SHARED}>
    %zero = arith.constant 0.0 : f32
    %c144 = arith.constant 144 : index
    %c32 = arith.constant 32 : index
    %amount = arith.constant 4 : i32
    %interval = arith.constant 8 : i32
    scf.for %i = %t to %c144 step %c32 {{
      %y, %x = affine.delinearize_index %i into (12, 12) : index, index
      memref.store %zero, %s[%y, %x] : memref<12x12xf32, {SHARED}>
    }}
    amdgpu.lds_barrier
    %base = amdgpu.make_dma_base %a[%c1, %c2], %s[%c0, %c0]
      : memref<16x16xf32>, memref<12x12xf32, {SHARED}> -> !amdgpu.tdm_base<f32>
    %desc = amdgpu.make_dma_descriptor %base globalSize [6, 5] globalStride [16, 1] sharedSize [8, 8]
      padShared(%amount every %interval) : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %desc : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)
    %to = amdgpu.make_dma_base %o[%c0, %c0], %s[%c0, %c0]
      : memref<16x16xf32>, memref<12x12xf32, {SHARED}> -> !amdgpu.tdm_base<f32>
    %out = amdgpu.make_dma_descriptor %to globalSize [7, 11] globalStride [16, 1] sharedSize [8, 12]
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_store_from_lds %out : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)"""
    text = program(body, "%a: memref<16x16xf32>, %o: memref<16x16xf32>", threads=32)
    a, o = np.arange(1, 257, dtype=np.float32).reshape(16, 16), np.full((16, 16), -1, np.float32)
    sim.simulate(text, "sim:gfx1250")(a, o)
    wanted = np.full((16, 16), -1, np.float32)
    wanted[:7, :11] = 0
    wanted[:6, :5] = a[1:7, 2:7]
    assert (o == wanted).all()
    last = text.rindex("amdgpu.memory_counter_wait")
    assert {
        finding.kind for finding in find(text[:last] + text[last:].replace("tensor(0)", "tensor(1)"), "gfx1250")
    } == {"leak"}


@pytest.mark.parametrize("loads", [True, False])
def test_tiles_of_chosen_rows(loads: bool) -> None:
    """In order, as some are outside of the tensor, which has ten rows and six columns."""
    name = "tensor_load_to_lds" if loads else "tensor_store_from_lds"
    body = f"""
    %s = memref.alloc() : memref<4x8xf32, {SHARED}>
    %at, %inside = affine.delinearize_index %t into (4, 8) : index, index
    %v = memref.load %x[%t] : memref<32xf32>
    memref.store %v, %s[%at, %inside] : memref<4x8xf32, {SHARED}>
    amdgpu.lds_barrier
    %rows = arith.constant dense<[1, 4, 7, 11]> : vector<4xi32>
    %base = amdgpu.make_gather_dma_base %a[%c0, %c0], %s[%c0, %c0]
      : memref<16x8xf32>, memref<4x8xf32, {SHARED}> -> !amdgpu.tdm_gather_base<f32, i32>
    %desc = amdgpu.make_gather_dma_descriptor %base[%rows] globalSize [10, 6] globalStride [8, 1] sharedSize [4, 8]
      : !amdgpu.tdm_gather_base<f32, i32>, vector<4xi32> -> !amdgpu.tdm_descriptor
    amdgpu.{name} %desc : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)
    %w = memref.load %s[%at, %inside] : memref<4x8xf32, {SHARED}>
    memref.store %w, %x[%t] : memref<32xf32>"""
    text = program(body, "%a: memref<16x8xf32>, %x: memref<32xf32>", threads=32)
    results = []
    for target in ("sim:gfx1250", "emu:gfx1250"):
        a, x = np.arange(1, 129, dtype=np.float32).reshape(16, 8), np.arange(201, 233, dtype=np.float32)
        smalti.compile(text, target=target)(a, x)
        results.append((a, x))
    assert all((mine == theirs).all() for mine, theirs in zip(*results, strict=True))
    a, x = results[0]
    rows = np.zeros((4, 8), np.float32)
    rows[:3, :6] = np.arange(1, 129, dtype=np.float32).reshape(16, 8)[[1, 4, 7], :6]
    assert not loads or (x.reshape(4, 8) == rows).all()
    assert loads or (a[[1, 4, 7], :6] == np.arange(201, 233).reshape(4, 8)[:3, :6]).all()
    (finding,) = find(text.replace("[1, 4, 7, 11]", "[1, 4, 11, 7]"), "gfx1250")
    assert finding.kind == "assertion" and "the gathered row indices are not sorted" in finding.message


def test_a_load_for_one_block() -> None:
    text = kernel(POINTERS, trips=2).replace("rocdl.global.load", "rocdl.cluster.load")
    text = re.sub(r"(target_pointer, 0, 0)( : !llvm.ptr<1>)", r"\1, %mask\2", text)
    text = text.replace("    %c0 =", "    %mask = arith.constant 0 : i32\n    %c0 =", 1)
    a, b, o = sim.simulate(text, "sim:gfx1250").random_arguments()[:3]
    made = sim.simulate(text, "sim:gfx1250")
    made(a, b, o, np.asarray(0))
    assert (o == sums(POINTERS, a, b, 2, 8)).all()
    found = find(text.replace("%mask = arith.constant 0", "%mask = arith.constant 3"), "gfx1250")
    assert {f.kind for f in found} == {"assertion"} and "contains block 1; the cluster has 1 block" in found[0].message


FUNCTIONS = ("rcp", "sqrt", "exp2", "log", "tanh", "fmed3")


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_functions_are_those_of_the_emulator(element: str) -> None:
    lines = []
    for i, name in enumerate(FUNCTIONS):
        given = f"%x, %y, %z : {element}" if name == "fmed3" else f"%x {element} -> {element}"
        lines.append(f"%v{i} = rocdl.{name} {given}")
        lines.append(
            f"%i{i} = arith.constant {i} : index\n    memref.store %v{i}, %o[%i{i}, %t] : memref<6x128x{element}>"
        )
    body = f"""
    %x = memref.load %a[%t] : memref<128x{element}>
    %y = memref.load %a[%other] : memref<128x{element}>
    %z = arith.constant 0.5 : {element}
    """ + "\n    ".join(lines)
    text = program(body, f"%a: memref<128x{element}>, %o: memref<6x128x{element}>")
    dtype = {"f32": np.float32, "f16": np.float16}[element]
    a = np.random.default_rng(1).standard_normal(128).astype(dtype)
    a[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-3]
    outs = [np.zeros((6, 128), dtype) for _ in range(2)]
    sim.simulate(text, "sim:gfx1250")(a, outs[0])
    smalti.compile(text, target="emu:gfx1250")(a, outs[1])
    assert (np.isnan(outs[0]) == np.isnan(outs[1])).all()
    kept = ~np.isnan(outs[0])
    assert outs[0][kept].tobytes() == outs[1][kept].tobytes()


# ---------------------------------------------------------------------------------------------------------------------
# Lanes
# ---------------------------------------------------------------------------------------------------------------------

LANES = {
    "amdgpu.swizzle_bitmode %v 31 0 1 : f32": lambda x: x ^ 1,
    "amdgpu.permlane_swap %v 32 : f32": lambda x: x ^ 32,
    "amdgpu.dpp %v %v quad_perm([1, 0, 3, 2]) : f32": lambda x: x ^ 1,
    "amdgpu.dpp %v %v row_shr(1 : i32) : f32": lambda x: np.where(x % 16 == 0, x, x - 1),
    "amdgpu.dpp %v %v row_ror(2 : i32) : f32": lambda x: x // 16 * 16 + (x - 2) % 16,
    "amdgpu.dpp %v %v row_mirror : f32": lambda x: x // 16 * 16 + 15 - x % 16,
    "amdgpu.dpp %v %v row_bcast_15 : f32": lambda x: np.where(x < 16, x, x // 16 * 16 - 1),
    "rocdl.readfirstlane %v : f32": lambda x: 0 * x,
}


@pytest.mark.parametrize("instruction", LANES)
def test_lane_permutations(instruction: str) -> None:
    """Against the emulator, and against the formulas of the documents."""
    body = f"""
    %v = memref.load %a[%t] : memref<128xf32>
    %w = {instruction}
    memref.store %w, %o[%t] : memref<128xf32>"""
    text = program(body, TWO_ARRAYS)
    a, outs = np.arange(128, dtype=np.float32), [np.zeros(128, np.float32) for _ in range(2)]
    sim.simulate(text, "sim:gfx950")(a, outs[0])
    smalti.compile(text, target="emu:gfx950")(a, outs[1])
    lanes = np.arange(64)
    assert (outs[0] == np.concatenate([LANES[instruction](lanes) + first for first in (0, 64)])).all()
    assert (outs[0] == outs[1]).all()


@pytest.mark.parametrize(("element", "count"), [("f16", 4), ("i8", 8)])
def test_transposed_reads_are_those_of_the_emulator(element: str, count: int) -> None:
    body = f"""
    %s = memref.alloc() : memref<128x{count}x{element}, {SHARED}>
    %v = vector.load %a[%t, %c0] : memref<128x{count}x{element}>, vector<{count}x{element}>
    vector.store %v, %s[%t, %c0] : memref<128x{count}x{element}, {SHARED}>, vector<{count}x{element}>
    gpu.barrier
    %w = amdgpu.transpose_load %s[%t, %c0] : memref<128x{count}x{element}, {SHARED}> -> vector<{count}x{element}>
    vector.store %w, %o[%t, %c0] : memref<128x{count}x{element}>, vector<{count}x{element}>"""
    arrays = f"%a: memref<128x{count}x{element}>, %o: memref<128x{count}x{element}>"
    dtype = {"f16": np.float16, "i8": np.int8}[element]
    a = np.random.default_rng(1).integers(-99, 99, (128, count)).astype(dtype)
    outs = [np.zeros_like(a) for _ in range(2)]
    sim.simulate(program(body, arrays), "sim:gfx950")(a, outs[0])
    smalti.compile(program(body, arrays), target="emu:gfx950")(a, outs[1])
    assert outs[0].tobytes() == outs[1].tobytes() and outs[0].tobytes() != a.tobytes()


@pytest.mark.parametrize(
    ("chip", "name", "element", "count"),
    [
        ("gfx950", "ds.read.tr8.b64", "i32", 2),
        ("gfx1250", "ds.load.tr16.b128", "f16", 8),
        ("gfx1250", "ds.load.tr8.b64", "i32", 2),
        ("gfx1250", "global.load.tr.b128", "f16", 8),
        ("gfx1250", "global.load.tr.b64", "i32", 2),
    ],
)
def test_transposed_reads_through_pointers(chip: str, name: str, element: str, count: int) -> None:
    size = 16 if name.endswith("b128") else 8
    memory, space = (
        (f"memref<128x{count}x{element}>", 1)
        if name.startswith("global")
        else (f"memref<128x{count}x{element}, {SHARED}>", 3)
    )
    body = f"""
    %s = memref.alloc() : memref<128x{count}x{element}, {SHARED}>
    %v = vector.load %a[%t, %c0] : memref<128x{count}x{element}>, vector<{count}x{element}>
    vector.store %v, %s[%t, %c0] : memref<128x{count}x{element}, {SHARED}>, vector<{count}x{element}>
    gpu.barrier
    %size = arith.constant {size} : index
    %base = memref.extract_aligned_pointer_as_index {"%a" if space == 1 else "%s"} : {memory} -> index
    %mine = arith.muli %t, %size : index
    %at = arith.addi %base, %mine : index
    %number = arith.index_cast %at : index to i64
    %p = llvm.inttoptr %number : i64 to !llvm.ptr<{space}>
    %w = rocdl.{name} %p : !llvm.ptr<{space}> -> vector<{count}x{element}>
    vector.store %w, %o[%t, %c0] : memref<128x{count}x{element}>, vector<{count}x{element}>"""
    text = program(body, f"%a: memref<128x{count}x{element}>, %o: memref<128x{count}x{element}>")
    dtype = {"f16": np.float16, "i32": np.int32}[element]
    a = np.random.default_rng(1).integers(-99, 99, (128, count)).astype(dtype)
    outs = [np.zeros_like(a) for _ in range(2)]
    sim.simulate(text, f"sim:{chip}")(a, outs[0])
    smalti.compile(text, target=f"emu:{chip}")(a, outs[1])
    assert outs[0].tobytes() == outs[1].tobytes() and outs[0].tobytes() != a.tobytes()
    other = "gfx1250" if chip == "gfx950" else "gfx950"
    with pytest.raises(smalti.CompileError, match=f"sim:{other}"):
        sim.simulate(text, f"sim:{other}")


NARROW = [("gfx950", "ds.read"), ("gfx1250", "ds.load"), ("gfx1250", "global.load")]


@pytest.mark.parametrize("bits", [4, 6])
@pytest.mark.parametrize(("chip", "way"), NARROW)
def test_transposed_reads_of_4_and_6_bits(chip: str, way: str, bits: int) -> None:
    """Each lane has a column of 16 elements in memory. On gfx950 16 lanes have a matrix, and get its rows; on gfx1250 a
    wave has 32 columns, and gets rows as `wmma` wants them."""
    words, lanes = bits // 2, 64 if chip == "gfx950" else 32
    # CDNA4 reads 96 bits at multiples of 128.
    stride = 4 if (chip, bits) == ("gfx950", 6) else words
    space = 1 if way.startswith("global") else 3
    held, ty = f"memref<{lanes}x{stride}xi32", f"vector<{words}xi32>"
    body = f"""
    %s = memref.alloc() : {held}, {SHARED}>
    %v = vector.load %a[%t, %c0] : {held}>, vector<{stride}xi32>
    vector.store %v, %s[%t, %c0] : {held}, {SHARED}>, vector<{stride}xi32>
    gpu.barrier
    %size = arith.constant {4 * stride} : index
    %base = memref.extract_aligned_pointer_as_index {f"%a : {held}>" if space == 1 else f"%s : {held}, {SHARED}>"} -> index
    %mine = arith.muli %t, %size : index
    %at = arith.addi %base, %mine : index
    %number = arith.index_cast %at : index to i64
    %p = llvm.inttoptr %number : i64 to !llvm.ptr<{space}>
    %w = rocdl.{way}.tr{bits}.b{32 * words} %p : !llvm.ptr<{space}> -> {ty}
    vector.store %w, %o[%t, %c0] : memref<{lanes}x{words}xi32>, {ty}"""
    text = program(body, f"%a: {held}>, %o: memref<{lanes}x{words}xi32>", threads=lanes)
    rng = np.random.default_rng(bits)
    a = rng.integers(-(2**31), 2**31, (lanes, stride)).astype(np.int32)
    o = np.zeros((lanes, words), np.int32)
    sim.simulate(text, f"sim:{chip}")(a, o)
    given = unpack(a[:, :words].copy().view(np.uint8), bits)
    found = unpack(o.view(np.uint8), bits)
    if chip == "gfx950":
        assert (found.reshape(4, 16, 16) == given.reshape(4, 16, 16).swapaxes(1, 2)).all()
        theirs = np.zeros_like(o)
        smalti.compile(text, target=f"emu:{chip}")(a, theirs)
        assert (o == theirs).all()
        return
    wanted = np.zeros_like(given)
    for column in range(32):
        # The lane that has the column, and the position in the lane's part of a row.
        if bits == 4:
            lane, half, slot = column, column >> 3 & 1, column & 7 | column >> 4 << 3
        else:
            lane, half, slot = column & 3 | column >> 4 << 2 | (column >> 2 & 3) << 3, column >> 4, column & 15
        wanted[16 * half + np.arange(16), slot] = given[lane]
    assert (found == wanted).all()
    with pytest.raises(smalti.CompileError, match="sim:gfx950 does not have this instruction"):
        sim.simulate(text, "sim:gfx950")


def test_explicit_waits_on_the_shell(tmp_path: Path) -> None:
    file = tmp_path / "sums.mlir"
    file.write_text(kernel(WORDS, trips=2, reads=2))
    command = ["sim", str(file), "--target", "sim:gfx942"]
    assert CliRunner().invoke(commands.main, command).exit_code == 0
    result = CliRunner().invoke(commands.main, [*command, "--explicit-waits"])
    assert result.exit_code != 0 and "[race]" in result.output
