# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unstructured thread-level control flow: lanes that diverge at a branch reconverge or exit."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from smalti import passmanager, sim
from test_sim_threads import DIVERGENT
from test_sim_threads import program as of_threads

SHARED = "memref<64xi32, #gpu.address_space<workgroup>>"
TARGETS = ["sim:sm_90a", "sim:gfx942"]


def flat(text: str) -> str:
    """The same kernel, whose conditions and loops are jumps."""
    module = smalti.parse(text)
    passmanager.PassManager.parse("builtin.module(convert-scf-to-cf,canonicalize)", module.context).run(
        module.operation
    )
    return str(module)


def program(body: str, threads: int = 64) -> str:
    return f"""gpu.module @m {{
  gpu.func @k(%x: memref<{threads}xi32>, %o: memref<{threads}xi32>) kernel attributes {{
      known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %s = memref.alloc() : {SHARED}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %ti = arith.index_cast %t : index to i32
    %lane = arith.remui %t, %c32 : index
    %next = arith.xori %t, %c1 : index
    %v = memref.load %x[%t] : memref<{threads}xi32>
{body}
  }}
}}"""


def run(text: str, target: str, order: str = "adversarial") -> np.ndarray:
    x, o = np.arange(64, dtype=np.int32) * 7 % 64, np.full(64, -1, np.int32)
    smalti.compile(text, target=target)(x, o, simulation=sim.Simulation(order))
    return o


def find(text: str, target: str = "sim:sm_90a") -> tuple[sim.Finding, ...]:
    x, o = np.arange(64, dtype=np.int32) * 7 % 64, np.full(64, -1, np.int32)
    return smalti.compile(text, target=target).find(x, o)


@pytest.mark.parametrize("order", ["adversarial", "round-robin"])
def test_structured_programs_as_jumps(order: str) -> None:
    text = flat(of_threads(DIVERGENT, "%o: memref<64xi32>"))
    assert "scf." not in text and "cf.cond_br" in text
    out = np.zeros(64, np.int32)
    smalti.compile(text, target="sim:sm_80")(out, simulation=sim.Simulation(order))
    assert [int(x) for x in out] == [t * (t - 1) // 2 if t % 2 else t.bit_length() for t in range(64)]


# The values of the loop are used after it, and lanes leave it one after another: after `x` mod 5 trips, and at two
# points.
LOOP = """
    %five = arith.constant 5 : i32
    %trips = arith.remui %v, %five : i32
    cf.br ^head(%zero : i32)
  ^head(%i: i32):
    %square = arith.muli %i, %i : i32
    %done = arith.cmpi sge, %i, %trips : i32
    cf.cond_br %done, ^exit(%zero : i32), ^body
  ^body:
    %cube = arith.muli %square, %i : i32
    %early = arith.cmpi eq, %i, %one : i32
    %odd = arith.trunci %ti : i32 to i1
    %leave = arith.andi %early, %odd : i1
    cf.cond_br %leave, ^exit(%cube : i32), ^latch
  ^latch:
    %more = arith.addi %i, %one : i32
    cf.br ^head(%more : i32)
  ^exit(%from: i32):
    %hundred = arith.constant 100 : i32
    %high = arith.muli %from, %hundred : i32
    %sum = arith.addi %high, %square : i32
    memref.store %sum, %o[%t] : memref<64xi32>
    gpu.return"""


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_leave_a_loop_one_after_the_other(target: str) -> None:
    x = np.arange(64) * 7 % 64
    trips = x % 5
    early = (np.arange(64) % 2 == 1) & (trips > 1)
    wanted = np.where(early, 100 + 1, trips**2)
    for order in ("adversarial", "highest-first"):
        assert (run(program(LOOP), target, order) == wanted).all()


# Four paths, one of which jumps into another.
WAYS = """
    %four = arith.constant 4 : i32
    %which = arith.remui %ti, %four : i32
    cf.switch %which : i32, [
      default: ^end(%zero : i32),
      0: ^first(%v : i32),
      1: ^second,
      7: ^second
    ]
  ^first(%a: i32):
    %double = arith.addi %a, %a : i32
    cf.br ^end(%double : i32)
  ^second:
    %w = arith.addi %v, %one : i32
    cf.br ^first(%w : i32)
  ^end(%r: i32):
    memref.store %r, %s[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    SYNC
    %n = memref.load %s[%next] : memref<64xi32, #gpu.address_space<workgroup>>
    memref.store %n, %o[%t] : memref<64xi32>
    gpu.return"""


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_reconverge_after_several_paths(target: str) -> None:
    x, which = np.arange(64) * 7 % 64, np.arange(64) % 4
    wanted = np.where(which == 0, 2 * x, np.where(which == 1, 2 * (x + 1), 0))
    # All lanes have converged: the barrier is not in a part of a warp.
    for sync in ("gpu.barrier", "nvvm.bar.warp.sync %all : i32")[: 1 if "gfx" in target else 2]:
        assert (run(program(WAYS.replace("SYNC", sync)), target) == wanted[np.arange(64) ^ 1]).all()
    if "gfx" not in target:
        (finding,) = find(program(WAYS.replace("SYNC", "")))
        assert finding.kind == "race" and finding.location.line != finding.others[0].location.line


SWITCH = """
    %four = arith.constant 4 : index
    %which = arith.remui %t, %four : index
    %r = scf.index_switch %which -> i32
    case 0 { scf.yield %v : i32 }
    case 2 {
      IN
      %w = arith.addi %v, %one : i32
      scf.yield %w : i32
    }
    default { scf.yield %zero : i32 }
    memref.store %r, %o[%t] : memref<64xi32>
    gpu.return"""


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_choose_among_regions(target: str) -> None:
    x, which = np.arange(64) * 7 % 64, np.arange(64) % 4
    wanted = np.where(which == 0, x, np.where(which == 2, x + 1, 0))
    text = program(SWITCH.replace("IN", ""))
    assert (run(text, target) == wanted).all() and (run(flat(text), target) == wanted).all()
    # Divergent warps may wait there.
    warps = SWITCH.replace("%four = arith.constant 4", "%four = arith.constant 32").replace("remui %t", "divui %t")
    number = "%id = arith.constant 1 : i32\n    %count = arith.constant 32 : i32\n"
    own = warps.replace("IN", f"{number}    nvvm.barrier id = %id number_of_threads = %count")
    if "gfx" not in target:
        assert (run(program(own), target) == np.where(np.arange(64) < 32, x, 0)).all()


def test_a_barrier_in_divergent_control_flow() -> None:
    text = """
    %low = arith.cmpi ult, %lane, %c3 : index
    cf.cond_br %low, ^part, ^end
  ^part:
    gpu.barrier
    cf.br ^end
  ^end:
    memref.store %v, %o[%t] : memref<64xi32>
    gpu.return"""
    (finding,) = find(program(text))
    assert finding.kind == "divergence"
    assert (
        finding.message
        == "the barrier is in divergent control flow: lane 3 of warp 0 does not reach it; move it out of the branch"
    )
    # Whole warps may diverge.
    warps = text.replace("%lane, %c3", "%t, %c32").replace("gpu.barrier", "nvvm.bar.warp.sync %all : i32")
    assert (run(program(warps), "sim:sm_90a") == np.arange(64) * 7 % 64).all()


def test_different_memory_where_lanes_converge() -> None:
    text = """
    %low = arith.cmpi ult, %lane, %c3 : index
    cf.cond_br %low, ^end(%x : memref<64xi32>), ^end(%o : memref<64xi32>)
  ^end(%m: memref<64xi32>):
    memref.store %v, %m[%t] : memref<64xi32>
    gpu.return"""
    (finding,) = find(program(text))
    assert finding.kind == "divergence" and "select different memrefs" in finding.message
    assert finding.location is not None


# ---------------------------------------------------------------------------------------------------------------------
# Lanes that end
# ---------------------------------------------------------------------------------------------------------------------

EARLY = """
    memref.store %v, %s[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    %gone = arith.cmpi uge, %t, %c40 : index
    cf.cond_br %gone, ^end, ^stay
  ^stay:
    BARRIER
    %n = memref.load %s[%next] : memref<64xi32, #gpu.address_space<workgroup>>
    memref.store %n, %o[%t] : memref<64xi32>
    cf.br ^end
  ^end:
    gpu.return"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", ["adversarial", "lowest-first", "highest-first"])
def test_exited_lanes_are_not_waited_for(target: str, order: str) -> None:
    x = np.arange(64) * 7 % 64
    wanted = np.where(np.arange(64) < 40, x[np.arange(64) ^ 1], -1)
    found = run(program(EARLY.replace("BARRIER", "gpu.barrier")), target, order)
    assert (found == wanted).all()


def test_stores_of_exited_lanes_need_a_barrier() -> None:
    (finding,) = find(program(EARLY.replace("BARRIER", "")))
    assert finding.kind == "race"
    # An exchange of those that remain.
    shuffle = """%count = arith.constant 32 : i32
    %w, %valid = gpu.shuffle xor %v, %one, %count : i32
    gpu.barrier"""
    assert find(program(EARLY.replace("BARRIER", shuffle))) == ()
    vote = "%mask = nvvm.vote.sync ballot %all, %gone -> i32\n    gpu.barrier"
    assert find(program(EARLY.replace("BARRIER", vote))) == ()


def test_a_loop_that_ends_with_the_program() -> None:
    text = """
    cf.br ^head(%c0 : index)
  ^head(%i: index):
    %done = arith.cmpi eq, %i, %lane : index
    cf.cond_br %done, ^end, ^body
  ^body:
    %low = arith.cmpi ult, %i, %c3 : index
    cf.cond_br %low, ^a, ^b
  ^a:
    memref.store %one, %o[%t] : memref<64xi32>
    cf.br ^latch
  ^b:
    memref.store %ti, %o[%t] : memref<64xi32>
    cf.br ^latch
  ^latch:
    %more = arith.addi %i, %c1 : index
    cf.br ^head(%more : index)
  ^end:
    gpu.return"""
    lane = np.arange(64) % 32
    wanted = np.where(lane == 0, -1, np.where(lane <= 3, 1, np.arange(64)))
    for target in TARGETS:
        assert (run(program(text), target) == wanted).all()


def test_threads_poll_in_a_loop_of_jumps() -> None:
    text = """
    %p = memref.extract_aligned_pointer_as_index %x : memref<64xi32> -> index
    %pi = arith.index_cast %p : index to i64
    %ptr = llvm.inttoptr %pi : i64 to !llvm.ptr<1>
    %leads = arith.cmpi eq, %t, %c0 : index
    cf.cond_br %leads, ^poll, ^tell
  ^poll:
    %seen = llvm.load %ptr atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %there = arith.cmpi eq, %seen, %one : i32
    cf.cond_br %there, ^end, ^poll
  ^tell:
    %last = arith.cmpi eq, %t, WHO : index
    cf.cond_br %last, ^store, ^end
  ^store:
    llvm.store %one, %ptr atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    cf.br ^end
  ^end:
    gpu.barrier
    memref.store %one, %o[%t] : memref<64xi32>
    gpu.return"""
    other = text.replace("%v = ", "").replace("WHO", "%c40")
    full = program(other).replace("    %v = memref.load %x[%t] : memref<64xi32>\n", "")
    assert (run(full, "sim:sm_90a") == 1).all()
