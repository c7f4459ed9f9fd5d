# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are easily misjudged: race-free ones without findings, and ones with a single error that every schedule
reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_programs import (
    ARRIVE,
    POINTER,
    SHARED,
    STORE,
    arrive,
    bulk,
    copied,
    copy,
    expect,
    fence,
    first,
    initialized,
    load,
    program,
    sync,
    wait,
    wait_groups,
)
from sim_programs import BARRIER, SYNC, barrier
from sim_programs import program as of_blocks
from smalti import sim
from smalti.errors import LaunchError, SmaltiError
from smalti.sim.threads.ops.flow import jumps

SCHEDULES = [
    sim.Simulation("adversarial", "late"),
    sim.Simulation("round-robin", "early"),
    sim.Simulation("highest-first", "random:3"),
]


def check(text: str, wanted: str | None, target: str) -> None:
    """That a kind of mistake is found, or nothing, in every schedule and each time."""
    made = sim.simulate(text, target)
    for schedule in SCHEDULES:
        found = made.find(*made.random_arguments(), simulation=schedule)
        kinds = {finding.kind for finding in found}
        assert kinds == set() if wanted is None else wanted in kinds, (schedule, [str(finding) for finding in found])
        again = made.find(*made.random_arguments(), simulation=schedule)
        assert sim.to_json(found) == sim.to_json(again)
        for finding in found:
            assert finding.location is not None and finding.block is not None and finding.agent is not None
            if finding.kind in ("race", "missing-fence"):
                (other,) = finding.others
                assert other.location is not None and other.agent is not None and finding.hint


RUNS = expect(256) + bulk(256)
INVALIDATE = first("nvvm.mbarrier.inval %b0 : !llvm.ptr<3>", who="%t0")
TOKEN = """%st = nvvm.mbarrier.arrive %b0 : !llvm.ptr<3> -> i64
scf.while : () -> () {
  %ok = nvvm.mbarrier.test.wait %b0, %st : !llvm.ptr<3>, i64 -> i1
  %no = arith.xori %ok, %true : i1
  scf.condition(%no)
} do { scf.yield }
"""
ANOTHER = first("memref.store %f1, %s[%t] : memref<256xf32, SH>\n" + ARRIVE, wait(0) + load("%lane"))
NUMBER = "%z = arith.constant 7 : i64\nmemref.store %z, %bars[%c0] : memref<2xi64, SH>\n"
HANDED = ARRIVE + "memref.store %f1, %s[%t] : memref<256xf32, SH>\n" + ARRIVE * 2

COPIES_OUT = f"""%four = arith.muli %t, %c4 : index
scf.for %i = %c0 to %c4 step %c1 {{
  %at = arith.addi %four, %i : index
  memref.store %f1, %s[%at] : memref<256xf32, SH>
}}
{fence("async.shared")}%ti = arith.index_cast %t : index to i32
%from = llvm.getelementptr %sp[%ti] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xf32>
%yi = memref.extract_aligned_pointer_as_index %y : memref<256xf32> -> index
%yn = arith.index_cast %yi : index to i64
%yp = llvm.inttoptr %yn : i64 to !llvm.ptr<1>
%to = llvm.getelementptr %yp[%ti] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
nvvm.cp.async.bulk.global.shared.cta %to, %from, %i16 : !llvm.ptr<1>, !llvm.ptr<3>
nvvm.cp.async.bulk.commit.group
"""

SHUFFLED = "nvvm.bar.warp.sync %i-1 : i32\n"

PHASES = {
    "arrive and wait": (initialized(64) + STORE + ARRIVE + wait(0) + load(), None),
    "by the state": (initialized(64) + STORE + TOKEN + load(), None),
    "one thread of each warp": (initialized(2) + STORE + SHUFFLED + first(ARRIVE, who="%l0") + wait(0) + load(), None),
    "one thread of each warp that knows of itself": (
        initialized(2) + STORE + first(ARRIVE, who="%l0") + wait(0) + load(),
        "race",
    ),
    "what one thread of each warp did": (
        initialized(2)
        + first("memref.store %f1, %s[%t] : memref<256xf32, SH>\n" + ARRIVE, who="%l0")
        + wait(0)
        + "%theirs = arith.xori %t, %wave : index\n"
        + first(load("%theirs"), who="%l0"),
        None,
    ),
    "the phase before the first": (initialized(64) + wait(1), None),
    "alone, again": (initialized(32) + first(ARRIVE + ARRIVE, ""), None),
    "no wait": (initialized(64) + STORE + ARRIVE + load(), "race"),
    "no initialization": (ARRIVE + wait(0), "barrier"),
    "not initialized for all": (initialized(64).replace("gpu.barrier", "") + ARRIVE + wait(0), "barrier"),
    "an arrival is missing": (initialized(64) + first(ARRIVE) + wait(0), "deadlock"),
    "more arrivals than of a phase": (initialized(32) + ARRIVE + wait(0), "barrier"),
    "two arrivals, no wait between": (initialized(64) + STORE + ARRIVE + ARRIVE + wait(1) + load(), "barrier"),
    "a phase that is missed": (initialized(32) + first(ARRIVE + ARRIVE, wait(0) + wait(1)), "barrier"),
    "acquired from a later phase": (initialized(32) + first(HANDED, wait(0) + load("%lane")), "barrier"),
    "initialized while others wait": (initialized(32) + first(ARRIVE, wait(0)) + initialized(32), "barrier"),
    "initialized twice": (initialized(32) + "gpu.barrier\n" + initialized(32), "barrier"),
    "no barrier any more": (initialized(32) + ANOTHER + INVALIDATE, "barrier"),
    "an end after all accesses": (initialized(32) + ANOTHER + "gpu.barrier\n" + INVALIDATE, None),
    "an end, then data": (initialized(32) + ANOTHER + "gpu.barrier\n" + INVALIDATE + first(NUMBER, who="%t0"), None),
    "an end, then a barrier": (
        initialized(32) + ANOTHER + "gpu.barrier\n" + INVALIDATE + initialized(32) + first(ARRIVE, wait(0)),
        None,
    ),
    "data on a barrier": (initialized(32) + first(NUMBER, who="%t0"), "barrier"),
    "a barrier as data": (initialized(32) + "%z = memref.load %bars[%c0] : memref<2xi64, SH>\n", "barrier"),
    "no arrivals": (initialized(0), "barrier"),
    "a copy": (copied(RUNS, after=load()), None),
    "a copy, then its bytes": (copied(bulk(256) + expect(256), after=load()), None),
    "fewer bytes": (copied(expect(128) + bulk(256)), "transaction"),
    "more bytes": (copied(expect(512) + bulk(256)), "transaction"),
    "no bytes": (copied(bulk(256) + ARRIVE), "transaction"),
    "8 bytes": (copied(expect(8) + bulk(8)), "assertion"),
    "a store beside a copy": (copied(RUNS + "memref.store %f0, %s[%c3] : memref<256xf32, SH>\n"), "race"),
    "a copy to what others read": (
        copied(RUNS, after=load() + first(RUNS, who="%t0") + wait(1)),
        "race",
    ),
    "a copy after what others read": (
        copied(RUNS, after=load() + "gpu.barrier\n" + first(RUNS, who="%t0") + wait(1)),
        None,
    ),
    "a copy that nobody waits for": (POINTER + initialized(1) + first(RUNS, who="%t0"), "leak"),
    "two copies, no wait between": (copied(RUNS + RUNS, after=wait(1)), "barrier"),
    "a barrier that a copy may not see": (
        POINTER + initialized(1, fence=False) + first(RUNS, who="%t0") + wait(0),
        "missing-fence",
    ),
    "no fence": (copied(RUNS, STORE + "gpu.barrier\n", load()), "missing-fence"),
    "a fence for other memory": (copied(RUNS, STORE + fence("async.global") + "gpu.barrier\n"), "missing-fence"),
    "a fence ahead of the store": (copied(RUNS, fence("async") + STORE + "gpu.barrier\n"), "missing-fence"),
    "a fence": (copied(RUNS, STORE + fence("async") + "gpu.barrier\n", load()), None),
    "copies of each": (COPIES_OUT + "nvvm.cp.async.bulk.wait_group 0\n", None),
    "copies of each, and a wait of one": (COPIES_OUT + first("nvvm.cp.async.bulk.wait_group 0", who="%t0"), "leak"),
    "copies of each that another ends": (
        COPIES_OUT.replace("nvvm.cp.async.bulk.commit.group", "")
        + first("nvvm.cp.async.bulk.commit.group\nnvvm.cp.async.bulk.wait_group 0", who="%t0"),
        "leak",
    ),
    "a fence by the one that copies": (copied(fence("async.shared") + RUNS, STORE + "gpu.barrier\n"), None),
}


@pytest.mark.parametrize("name", PHASES)
def test_barriers_in_shared_memory(name: str) -> None:
    body, wanted = PHASES[name]
    check(program(body), wanted, "sim:sm_90a")


COMMIT = "nvvm.cp.async.commit.group\n"
ONE = copy().splitlines()[0] + "\n"
REPEATED = "scf.for %i = %c0 to %c2 step %c1 {{ {0} }}\n".format
RING = REPEATED(first(sync(2, 64) + STORE + arrive(1, 64), arrive(2, 64) + sync(1, 64) + load("%lane")))
HALF_A_RING = REPEATED(first(STORE + arrive(1, 64), sync(1, 64) + load("%lane")))
BY_NUMBER = """%pair = arith.divui %t, %c64 : index
%hi = arith.index_cast %pair : index to i32
%id = arith.addi %hi, %i1 : i32
nvvm.barrier id = %id number_of_threads = %i64
"""

GROUPS = {
    "each its own": (copy() + wait_groups(0) + load("%t"), None),
    "another's": (copy() + wait_groups(0) + load(), "race"),
    "another's of the warp": (copy() + wait_groups(0) + load("%near"), "race"),
    "another's of the warp, in step": (copy() + wait_groups(0) + SHUFFLED + load("%near"), None),
    "a load by another thread after a barrier": (copy() + wait_groups(0) + "gpu.barrier\n" + load(), None),
    "a wait after the barrier": (copy() + "gpu.barrier\n" + wait_groups(0) + load(), "race"),
    "one is left": (copy() + wait_groups(1) + load("%t"), "race"),
    "an empty one is left": (copy() + "nvvm.cp.async.commit.group\n" + wait_groups(1) + load("%t"), None),
    "an empty one before": ("nvvm.cp.async.commit.group\n" + copy() + wait_groups(1) + load("%t"), "race"),
    "a wait in no trip": (copy() + "scf.for %i = %c0 to %c0 step %c1 {" + wait_groups(0) + "}\n" + load("%t"), "race"),
    "again, over what others read": (REPEATED(copy() + wait_groups(0) + "gpu.barrier\n" + load()), "race"),
    "again, after what others read": (
        REPEATED(copy() + wait_groups(0) + "gpu.barrier\n" + load() + "gpu.barrier\n"),
        None,
    ),
    "copies of some, one group of all": (
        first(ONE, who="%half") + COMMIT + wait_groups(0) + first(load("%t"), who="%half"),
        None,
    ),
    "groups of some": (first(copy() + wait_groups(0) + load("%t"), who="%half"), None),
    "groups of some, a wait of all": (
        first(copy(), who="%half") + wait_groups(0) + first(load("%t"), who="%half"),
        None,
    ),
    "groups of two halves": (
        first(copy(), copy(1), who="%half") + first(wait_groups(0), wait_groups(0), who="%half") + load("%t"),
        None,
    ),
    "a wait of some": (copy() + first(wait_groups(0), who="%half") + load("%t"), "race"),
    "a wait of those that did not copy": (
        first(copy(), wait_groups(0), who="%half") + first(load("%t"), who="%half"),
        "race",
    ),
    "a wait of some, a barrier": (copy() + first(wait_groups(0), who="%half") + "gpu.barrier\n" + load("%t"), "race"),
    "a group that some have left": (
        first(copy(), who="%half")
        + copy(1, target="%far")
        + wait_groups(1)
        + first(load("%t"), who="%half")
        + wait_groups(0),
        None,
    ),
    "the other group": (first(copy(), who="%half") + copy(1, target="%far") + wait_groups(1) + load("%far"), "race"),
    "a pair": (STORE + first(sync(1, 64) + load("%near"), sync(1, 64)), None),
    "full and empty": (RING, None),
    "full alone": (HALF_A_RING, "barrier"),
    "arrivals that stand for others": (
        first(STORE + arrive(1, 64) + arrive(1, 64), sync(1, 64) + sync(1, 64) + load("%lane")),
        "barrier",
    ),
    "no warps": (sync(1, 3), "barrier"),
    "half a warp": (sync(1, 48), "barrier"),
    "a 17th barrier": (sync(16, 64), "barrier"),
    "a barrier before the first": (sync(-1, 64), "barrier"),
    "an arrival of nobody": (arrive(1, 0), "barrier"),
    "a number of each lane": (
        "%l = arith.index_cast %lane : index to i32\n" + sync(1, 64).replace("%i64", "%l"),
        "divergence",
    ),
    "a warp that has ended": (first("gpu.barrier"), None),
    "a warp that waits elsewhere": (first(sync(1, 64), sync(2, 64)), "deadlock"),
    "a part of the block whose other warps have ended": (first(sync(1, 64)), None),
    "what a warp that has ended did": (first(STORE, "gpu.barrier\n" + load("%lane")), "race"),
    "a lane that does not come": (first("gpu.barrier", who="%l0"), "divergence"),
    "two places": (first("gpu.barrier", "gpu.barrier"), None),
    "trips of each lane": ("scf.for %i = %c0 to %lane step %c1 { gpu.barrier }\n", "divergence"),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_and_barriers_of_threads(name: str) -> None:
    body, wanted = GROUPS[name]
    check(program(body), wanted, "sim:sm_80")


PAIRS = {
    "numbers of their own": (STORE + BY_NUMBER + load(), None),
    "one number for two": (STORE + sync(1, 64) + load(), "barrier"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_warps(name: str) -> None:
    body, wanted = PAIRS[name]
    check(program(body, threads=128), wanted, "sim:sm_80")


@pytest.mark.parametrize("body", ["gpu.barrier\n", sync(1, 64), "nvvm.barrier\n"])
def test_a_part_of_a_warp_counts_as_one(body: str) -> None:
    turned = "%last_one = arith.constant 47 : index\n%turned = arith.subi %last_one, %t : index\n"
    check(program(turned + STORE + body + load("%turned"), threads=48), None, "sim:sm_80")
    check(program(turned + STORE + load("%turned"), threads=48), "race", "sim:sm_80")


RAW = "%raw = memref.alloc() : memref<1024xi8, SH>\n"


def view(name: str, shift: int, elements: str) -> str:
    return (
        f"%{name}o = arith.constant {shift} : index\n"
        f"%{name} = memref.view %raw[%{name}o][] : memref<1024xi8, SH> to memref<{elements}, SH>\n"
    )


def put(name: str, place: str, elements: str, value: str = "%f1") -> str:
    return f"memref.store {value}, %{name}[{place}] : memref<{elements}, SH>\n"


def part(name: str, first_one: int, count: int, by: int) -> tuple[str, str]:
    """A view of each `by`-th element of %s, and the type of its elements."""
    layout = f"{count}xf32, strided<[{by}]{f', offset: {first_one}' if first_one else ''}>"
    made = f"%{name} = memref.subview %s[{first_one}][{count}][{by}] : memref<256xf32, SH> to memref<{layout}, SH>\n"
    return made, layout


EVEN, EVEN_TYPE = part("e", 0, 128, 2)
ODD, ODD_TYPE = part("o", 1, 128, 2)
LATER, LATER_TYPE = part("o", 2, 64, 2)
BYTES = """%ai = memref.extract_aligned_pointer_as_index %y : memref<256xf32> -> index
%an = arith.index_cast %ai : index to i64
%p = llvm.inttoptr %an : i64 to !llvm.ptr<1>
%ti = arith.index_cast %t : index to i32
%q = llvm.getelementptr %p[%ti] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
%k = arith.trunci %ti : i32 to i8
llvm.store %k, %q : i8, !llvm.ptr<1>
"""
QUAD = "%k = arith.constant dense<1.0> : vector<4xf32>\n"


def shifted(by: int, value: str, ty: str, more: str = "") -> str:
    return (
        f"%q = llvm.getelementptr %sp[{by}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
        f"llvm.store {value}, %q{more} : {ty}, !llvm.ptr<3>\n"
    )


def far(number: int) -> str:
    return f"%n = arith.constant {number} : index\n%v = memref.load %x[%n] : memref<256xf32>\n" + (
        "memref.store %v, %y[%t] : memref<256xf32>\n"
    )


def window(access: str) -> str:
    ty = "memref<200xf32, strided<[1], offset: ?>>"
    return (
        f"%e = memref.subview %x[%c250][200][1] : memref<256xf32> to {ty}\n%v = memref.load %e[{access}] : {ty}\n"
        "memref.store %v, %y[%t] : memref<256xf32>\n"
    )


def chosen(address: str) -> str:
    return f"%z = arith.constant {address} : i64\n%p = llvm.inttoptr %z : i64 to !llvm.ptr\n" + (
        "llvm.store %f1, %p : f32, !llvm.ptr\n"
    )


NUMBERED = "%ti = arith.index_cast %t : index to i32\n%v = arith.sitofp %ti : i32 to f32\n"
HALF_VALUE = "%k = arith.constant 3 : i16\n"
AS_FLOATS = view("a", 0, "128xf32") + put("a", "%t", "128xf32")
LEFT_OUT = "%d = memref.dim %x, %c4 : memref<256xf32>\nmemref.store %f1, %y[%d] : memref<256xf32>\n"
TWO = """%xi = memref.extract_aligned_pointer_as_index %x : memref<256xf32> -> index
%yi = memref.extract_aligned_pointer_as_index %y : memref<256xf32> -> index
%which = arith.select %half, %xi, %yi : index
%four = arith.muli %t, %c4 : index
%at = arith.addi %which, %four : index
%n = arith.index_cast %at : index to i64
%p = llvm.inttoptr %n : i64 to !llvm.ptr
%v = llvm.load %p : !llvm.ptr -> f32
llvm.store %v, %p : f32, !llvm.ptr
"""
MINE = copy() + wait_groups(0) + "memref.store %f0, %x[%t] : memref<256xf32>\n" + load("%t")
TOO_EARLY = copy() + "memref.store %f0, %x[%t] : memref<256xf32>\n" + wait_groups(0) + load("%t")
NEXT = copy() + wait_groups(0) + "memref.store %f0, %x[%mirror] : memref<256xf32>\n"

MEMORY = {
    "the same bytes as other elements": (
        RAW + AS_FLOATS + HALF_VALUE + view("h", 0, "256xi16") + put("h", "%mirror", "256xi16", "%k"),
        "race",
    ),
    "other bytes": (
        RAW + AS_FLOATS + HALF_VALUE + view("h", 512, "128xi16") + put("h", "%mirror", "128xi16", "%k"),
        None,
    ),
    "two bytes off": (RAW + view("a", 2, "128xf32") + put("a", "%t", "128xf32"), "assertion"),
    "a pointer two bytes off": (first(shifted(2, "%f1", "f32"), who="%t0"), "assertion"),
    "a vector four bytes off": (QUAD + first(shifted(4, "%k", "vector<4xf32>"), who="%t0"), "assertion"),
    "a vector of small alignment": (
        QUAD + first(shifted(4, "%k", "vector<4xf32>", " {alignment = 4 : i64}"), who="%t0"),
        None,
    ),
    "a copy four bytes off": (copy(place="%t", target="%t", elements=4) + wait_groups(0), "assertion"),
    "even and odd ones": (EVEN + ODD + put("e", "%t", EVEN_TYPE) + put("o", "%mirror", ODD_TYPE, "%f0"), None),
    "even ones twice": (EVEN + LATER + put("e", "%t", EVEN_TYPE) + put("o", "%mirror", LATER_TYPE, "%f0"), "race"),
    "bytes of words": (BYTES, None),
    "lanes to different arrays": (TWO, None),
    "all to one place": (put("s", "%c0", "256xf32"), None),
    "all to one place, not the same": (NUMBERED + put("s", "%c0", "256xf32", "%v"), "race"),
    "a view beyond an array": (window("%c0"), None),
    "what is beyond an array": (window("%t"), "out-of-bounds"),
    "the largest index": (far(2**63 - 1), "out-of-bounds"),
    "an index below": (far(-1), "out-of-bounds"),
    "no address": (chosen("0"), "out-of-bounds"),
    "an address below": (chosen("-64"), "out-of-bounds"),
    "no such dimension": (LEFT_OUT, "assertion"),
    "a loop that stays": ("scf.for %i = %c0 to %c4 step %c0 { }\n", "assertion"),
    "what a copy has read": (MINE, None),
    "what a copy may still read": (TOO_EARLY, "race"),
    "what another's copy has read": (NEXT, "race"),
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory_with_several_views(name: str) -> None:
    body, wanted = MEMORY[name]
    check(program(body), wanted, "sim:sm_80")


def test_a_loop_of_hours() -> None:
    """Without a time limit it is refused; with one it ends at the limit, and is not a deadlock."""
    body = "%n = arith.constant 4611686018427387904 : index\nscf.for %i = %c0 to %n step %c1 { }\n"
    made = sim.simulate(program(body), "sim:sm_80")
    for limit, message in (
        (
            None,
            "a loop has 4611686018427387904 iterations, and the run does not have a time limit",
        ),
        (0.1, "time limit of 0.1 s reached; 0 of 1 blocks completed"),
    ):
        with pytest.raises(LaunchError, match=message) as caught:
            made.find(*made.random_arguments(), simulation=sim.Simulation(time_limit=limit))
        assert caught.value.location is not None and "deadlock" not in str(caught.value)


BLOCKS = {
    "the same": ("memref.store %f1, %y[%t] : memref<256xf32>\n", None),
    "windows that overlap": (
        "%bi = arith.index_cast %b : index to i32\n%v = arith.sitofp %bi : i32 to f32\n%o = arith.muli %b, %wave : index\n"
        "%p = arith.addi %o, %t : index\nmemref.store %v, %y[%p] : memref<256xf32>\n",
        "race",
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_several_blocks(name: str) -> None:
    body, wanted = BLOCKS[name]
    check(program(body, grid=2), wanted, "sim:sm_80")


GLOBAL = "memref.store %f1, %y[%t] : memref<256xf32>\n"
BACK = "%v = memref.load %y[%mirror] : memref<256xf32>\nmemref.store %v, %x[%t] : memref<256xf32>\n"
BARE = "rocdl.s.barrier\n"
SIGNAL, WAIT = "rocdl.s.barrier.signal id = -1\n", "rocdl.s.barrier.wait id = -1\n"
GATHER = "%wb = arith.muli %warp, %wave : index\n" + (
    "amdgpu.gather_to_lds %x[%t], %s[%wb] : f32, memref<256xf32>, memref<256xf32, SH>\n"
)


def counter(what: str) -> str:
    return f"amdgpu.memory_counter_wait {what}\n"


WAVES = {
    "a barrier": (STORE + "gpu.barrier\n" + load(), None),
    "a barrier for LDS": (STORE + "amdgpu.lds_barrier\n" + load(), None),
    "no wait": (STORE + BARE + load(), "race"),
    "a wait": (STORE + counter("ds(0)") + BARE + load(), None),
    "a wait for all but one": (STORE + counter("ds(1)") + BARE + load(), "race"),
    "a wait after the barrier": (STORE + BARE + counter("ds(0)") + load(), "race"),
    "a wait for other memory": (STORE + counter("load(0)") + BARE + load(), "race"),
    "global memory": (GLOBAL + "gpu.barrier\n" + BACK, None),
    "global memory, a barrier for LDS": (GLOBAL + "amdgpu.lds_barrier\n" + BACK, "race"),
    "stores that vmcnt counts": (GLOBAL + counter("load(0)") + BARE + BACK, None),
    "vmcnt alone": (STORE + "rocdl.s.waitcnt 3952\n" + BARE + load(), "race"),
    "lgkmcnt alone": (STORE + "rocdl.s.waitcnt 49279\n" + BARE + load(), None),
    "a copy, its wave": (GATHER + counter("load(0)") + load("%t"), None),
    "a copy, others": (GATHER + counter("load(0)") + BARE + load(), None),
    "a copy and no wait": (GATHER + BARE + load(), "race"),
    "a copy that is left": (GATHER + counter("load(1)") + BARE + load(), "race"),
    "a copy that nobody waits for": (GATHER, "leak"),
    "a wave that ends and does not come": (first("gpu.barrier"), None),
}
SPLIT = {
    "a wait for stores": (GLOBAL + "rocdl.s.wait.storecnt 0\n" + SIGNAL + WAIT + BACK, None),
    "a wait for loads": (GLOBAL + "rocdl.s.wait.loadcnt 0\n" + SIGNAL + WAIT + BACK, "race"),
    "two signals": (SIGNAL + SIGNAL + WAIT, "barrier"),
    "no signal": (WAIT, "barrier"),
    "a store after the signal": (SIGNAL + STORE + "rocdl.s.wait.dscnt 0\n" + WAIT + load(), "race"),
}


@pytest.mark.parametrize(("target", "name"), [("gfx942", n) for n in WAVES] + [("gfx1201", n) for n in SPLIT])
def test_waves(target: str, name: str) -> None:
    body, wanted = (WAVES if target == "gfx942" else SPLIT)[name]
    wave = 64 if target == "gfx942" else 32
    check(program(body, threads=2 * wave, wave=wave), wanted, f"sim:{target}")


PLAIN = program("memref.store %f1, %y[%t] : memref<256xf32>")
BROKEN = {
    "no threads": ("array<i32: 64, 1, 1>", "array<i32: 0, 1, 1>", "invalid block size 0 x 1 x 1"),
    "fewer than no blocks": ("array<i32: 1, 1, 1>", "array<i32: -1, 1, 1>", "invalid grid size -1 x 1 x 1"),
    "more blocks than anybody runs": (
        "array<i32: 1, 1, 1>",
        "array<i32: 2147483647, 65535, 65535>",
        "select blocks",
    ),
    "an array of 364 TiB": ("memref<256xf32>", "memref<99999999999999xf32>", "out of memory"),
    "an array of 2^63 elements": ("memref<256xf32>", "memref<9223372036854775807xf32>", "out of memory"),
    "a layout of no strides": (
        "%x: memref<256xf32>",
        "%x: memref<16x16xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>",
        "a strided layout is required",
    ),
    "shared memory with gaps": (
        "    gpu.return",
        "    %q = memref.alloc() : memref<4x4xf32, strided<[8, 1]>, SH>\n    gpu.return",
        "a contiguous layout is required",
    ),
    "shared memory of a layout of no strides": (
        "    gpu.return",
        "    %q = memref.alloc() : memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, SH>\n    gpu.return",
        "a strided layout is required",
    ),
    "more shared memory than there is": ("memref<2xi64, SH>", "memref<100000xi64, SH>", "of shared memory"),
    "more private memory than there is": (
        "    gpu.return",
        "    %q = memref.alloca() : memref<1000000000xf32>\n    gpu.return",
        "of private memory per thread",
    ),
    "a vector that no thread has": (
        "    gpu.return",
        "    %q = arith.constant dense<1.0> : vector<1073741824xf32>\n    gpu.return",
        "the simulator supports at most 65536 elements per thread",
    ),
    "another dialect": ("    gpu.return", '    %q = "foo.bar"() : () -> index\n    gpu.return', "unregistered dialect"),
    "an operation that is not known": (
        "    gpu.return",
        "    %q = nvvm.read.ptx.sreg.clock : i32\n    gpu.return",
        "the simulator does not support",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_programs(name: str) -> None:
    before, after, message = (text.replace("SH", SHARED) for text in BROKEN[name])
    assert before in PLAIN
    with pytest.raises(SmaltiError, match=message):
        made = sim.simulate(PLAIN.replace(before, after), "sim:sm_80")
        made.find(*made.random_arguments())


def test_an_endless_loop_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jumps, "LONGEST_JUMPS", 1000)
    text = """gpu.module @m {
      gpu.func @k(%x: memref<4xf32>) kernel attributes {
          known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
        cf.br ^again
      ^again:
        cf.br ^again
      }
    }"""
    (finding,) = sim.simulate(text, "sim:sm_80").find(np.zeros(4, np.float32))
    assert finding.kind == "deadlock" and "1000 backward branches" in finding.message


def test_arrays_without_elements() -> None:
    made = sim.simulate(program("", "%x: memref<0xf32>, %y: memref<4x0xf32>"), "sim:sm_80")
    assert made.find(*made.random_arguments()) == ()
    load_of_none = "%v = memref.load %x[%c0] : memref<0xf32>\nmemref.store %v, %x[%c0] : memref<0xf32>"
    made = sim.simulate(program(load_of_none, "%x: memref<0xf32>"), "sim:sm_80")
    assert {finding.kind for finding in made.find(*made.random_arguments())} == {"out-of-bounds"}


def test_arrays_of_any_layout() -> None:
    made = sim.simulate(PLAIN, "sim:sm_80")
    x, columns = np.zeros(256, np.float32), np.zeros((256, 2), np.float32)
    made(x, columns[:, 1])
    assert (columns[:64, 1] == 1).all() and not columns[64:].any() and not columns[:, 0].any()
    y = np.zeros(256, np.float32)
    made(x, y[::-1])
    assert (y[-64:] == 1).all() and not y[:-64].any()
    with pytest.raises(LaunchError, match=r"argument 1 .* shares memory with argument 0"):
        made(x, x[::-1])
    fixed = np.zeros(256, np.float32)
    fixed.flags.writeable = False
    made(fixed, x)
    with pytest.raises(LaunchError, match="the array is read-only, but the kernel writes it; pass a writable array"):
        made(x, fixed)


@pytest.mark.parametrize(("value", "fits"), [(-128, True), (127, True), (255, True), (256, False), (-129, False)])
def test_a_number_that_does_not_fit(value: int, fits: bool) -> None:
    made = sim.simulate(program("", "%n: i8"), "sim:sm_80")
    if fits:
        assert made.find(value) == ()
    else:
        with pytest.raises(LaunchError, match="is out of range"):
            made.find(value)


@pytest.mark.parametrize("as_file", [False, True])
def test_lines_of_python(tmp_path: Path, as_file: bool) -> None:
    """Operations with Python locations are shown in the module, and in the Python source."""
    python = tmp_path / "kernel.py"
    python.write_text("def kernel(x, y):\n    y[:] = x[::-1]\n\nkernel(a, b)\n")
    made_at = f'loc(callsite("swap(\\"(\\""("{python}":2:12) at "{python}":4:1))'
    text = program(STORE.rstrip() + " loc(#here)\n" + load().replace("\n", f" {made_at}\n", 1))
    text = f'#here = loc("{python}":2:5)\n{text} loc(unknown)  // loc(no location)\n'
    source: Any = text
    if as_file:
        source = tmp_path / "kernel.mlir"
        source.write_text(text)
    made = sim.simulate(source, "sim:sm_80")
    found = made.find(*made.random_arguments(), simulation=sim.Simulation("lowest-first"))
    race = next(finding for finding in found if finding.kind == "race")
    lines = text.splitlines()
    reported = str(race)
    for side, name in ((race, "memref.store %f1"), (race.others[0], "memref.load")):
        place = side.location
        assert place is not None and lines[place.line - 1][place.column - 1 :].startswith(name.split()[0])
        assert place.file == (str(source) if as_file else "<text>")
        assert side.as_dict()["location"]["line"] == place.line
    first_side, other = race.location, race.others[0].location
    assert first_side is not None and other is not None
    assert [(line.file, line.line, line.column) for line in first_side.python] == [(str(python), 2, 5)]
    assert [line.line for line in other.python] == [2, 4]
    assert f"{python}:2:12: note: created here\n      y[:] = x[::-1]\n             ^\n" in reported
    assert f"{python}:4:1: note: created here\n  kernel(a, b)\n  ^" in reported
    assert race.others[0].as_dict()["python"] == [
        {"file": str(python), "line": 2, "column": 12},
        {"file": str(python), "line": 4, "column": 1},
    ]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"shared": -1},
            "the launch requests -1 B of shared memory per block; the target has at most 232448 B per block",
        ),
        ({"shared": 232449}, "the launch requests 232449 B of shared memory"),
        ({"threads": 0}, "invalid block size 0 x 1 x 1"),
        ({"grid": -1}, "invalid grid size -1 x 1 x 1"),
        ({"grid": 1 << 40}, "select blocks"),
    ],
)
def test_invalid_launches(how: dict[str, int], message: str) -> None:
    made = sim.simulate(of_blocks("", ["memref<4xf32>"], **how), "sim:sm_90a")
    with pytest.raises(LaunchError, match=message):
        made.find(*made.random_arguments())


ON_B = f"\nmosaic_gpu.arrive %b : {BARRIER}"
FOR_EVEN, FOR_ODD = (f"\nmosaic_gpu.wait barrier(%b : {BARRIER}) parity(%{p} : i1)" for p in ("false", "true"))


@pytest.mark.parametrize(
    ("arrivals", "one", "other", "wanted"),
    [
        (1, ON_B, FOR_EVEN, None),
        (1, ON_B + ON_B, FOR_EVEN + FOR_ODD, "barrier"),
        (2, ON_B + ON_B, ON_B + ON_B + FOR_EVEN + FOR_ODD, "barrier"),
        (2, ON_B + FOR_EVEN + ON_B, ON_B + FOR_EVEN + ON_B + FOR_ODD, None),
        (1, SYNC, SYNC, "barrier"),
    ],
)
def test_phases_of_warpgroups(arrivals: int, one: str, other: str, wanted: str | None) -> None:
    who = """
      %k = arith.constant 128 : index
      %zero = arith.constant 0 : index
      %tid = gpu.thread_id x
      %group = arith.divui %tid, %k : index
      %first = arith.cmpi eq, %group, %zero : index"""
    body = barrier("b", 65528, arrivals) + who + f"\nscf.if %first {{ {one}\n}} else {{ {other}\n}}"
    check(of_blocks(body, ["memref<4xf32>"], threads=256), wanted, "sim:sm_90a")
