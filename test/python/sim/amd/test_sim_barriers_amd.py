# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named barriers of AMD chips: waves that forward slots to each other, invalid uses, and every mutant."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import SHARED
from smalti import sim
from smalti.sim import mutants

BARRIER = '!llvm.target<"amdgcn.named.barrier", 0>'


def module(body: str, arguments: str, count: int, threads: int = 64) -> str:
    return f"""module {{ gpu.module @m {{
  llvm.mlir.global internal @barriers() {{addr_space = 3 : i32}} : !llvm.array<{count} x {BARRIER[6:]}>
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %wave = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %first = arith.cmpi eq, %wave, %c0 : index
    %barriers = llvm.mlir.addressof @barriers : !llvm.ptr<3>
{body}
    gpu.return
  }}
}} }}"""


def pointer(name: str, number: str) -> str:
    return f"""%{name}_n = arith.index_cast {number} : index to i32
        %{name} = llvm.getelementptr %barriers[%{name}_n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {BARRIER}"""


def meet(name: str) -> str:
    return f"""rocdl.s.barrier.join %{name} : !llvm.ptr<3>
        rocdl.s.barrier.signal.var %{name} member_cnt = 0 : !llvm.ptr<3>
        rocdl.s.barrier.wait id = 1"""


def ring(trips: int) -> str:
    """One wave copies rows to two slots in turn, and the other one adds them up. Barriers 0 and 1 signal that a slot is
    full, barriers 2 and 3 that a slot is empty."""
    body = f"""
    %slots = memref.alloc() : memref<2x32xf32, {SHARED}>
    %c31 = arith.constant 31 : index
    %trips = arith.constant {trips} : index
    %c4 = arith.constant 4 : index
    %other = arith.subi %c31, %lane : index
    scf.if %first {{
      scf.for %i = %c0 to %c4 step %c1 {{
        {pointer("b", "%i")}
        rocdl.s.barrier.init %b member_cnt = 2 : !llvm.ptr<3>
      }}
    }}
    gpu.barrier
    %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> f32 {{
      %slot = arith.remui %i, %c2 : index
      %behind = arith.addi %slot, %c2 : index
      {pointer("full", "%slot")}
      {pointer("empty", "%behind")}
      %next = scf.if %first -> f32 {{
        %again = arith.cmpi uge, %i, %c2 : index
        scf.if %again {{
          {meet("empty")}
        }}
        %row = arith.muli %i, %c32 : index
        %at = arith.addi %row, %lane : index
        %from_bytes = arith.muli %at, %c4 : index
        %array = memref.extract_aligned_pointer_as_index %a : memref<{trips}x32xf32> -> index
        %from = arith.addi %array, %from_bytes : index
        %from_number = arith.index_cast %from : index to i64
        %source = llvm.inttoptr %from_number : i64 to !llvm.ptr<1>
        %begin = arith.muli %slot, %c32 : index
        %place = arith.addi %begin, %lane : index
        %to_bytes = arith.muli %place, %c4 : index
        %buffer = memref.extract_aligned_pointer_as_index %slots : memref<2x32xf32, {SHARED}> -> index
        %to = arith.addi %buffer, %to_bytes : index
        %to_number = arith.index_cast %to : index to i64
        %target = llvm.inttoptr %to_number : i64 to !llvm.ptr<3>
        rocdl.global.load.async.to.lds.b32 %source, %target, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
        rocdl.s.wait.asynccnt 0
        rocdl.s.barrier.signal.var %full member_cnt = 0 : !llvm.ptr<3>
        scf.yield %acc : f32
      }} else {{
        {meet("full")}
        %v = memref.load %slots[%slot, %other] : memref<2x32xf32, {SHARED}>
        %more = arith.addf %acc, %v : f32
        rocdl.s.wait.dscnt 0
        rocdl.s.barrier.signal.var %empty member_cnt = 0 : !llvm.ptr<3>
        scf.yield %more : f32
      }}
      scf.yield %next : f32
    }}
    scf.if %first {{
    }} else {{
      memref.store %sum, %o[%lane] : memref<32xf32>
    }}"""
    return module(body, f"%a: memref<{trips}x32xf32>, %o: memref<32xf32>", 4)


@pytest.mark.parametrize("trips", [1, 2, 5])
def test_a_ring_of_slots(trips: int) -> None:
    a = np.random.default_rng(1).integers(-9, 9, (trips, 32)).astype(np.float32)
    made = sim.simulate(ring(trips), "sim:gfx1250")
    for schedule in sim.SCHEDULES:
        o = np.full(32, np.nan, np.float32)
        made(a, o, simulation=schedule)
        assert (o == a.sum(0)[::-1]).all()


def test_mutants_of_a_ring_are_caught() -> None:
    made = sim.simulate(ring(5), "sim:gfx1250")
    outcomes = mutants.score(made, made.random_arguments())
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    kinds = {outcome.mutant.kind for outcome in outcomes}
    assert kinds == {
        "arrival count too large",
        "arrival count too small",
        "arrival removed",
        "barrier removed",
        "wait removed",
        "wait weakened by one",
    }


ONE = "%b = llvm.getelementptr %barriers[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
JOIN, SIGNAL = (
    "rocdl.s.barrier.join %b : !llvm.ptr<3>\n",
    "rocdl.s.barrier.signal.var %b member_cnt = 0 : !llvm.ptr<3>\n",
)
WAIT, INIT = "rocdl.s.barrier.wait id = 1\n", "rocdl.s.barrier.init %b member_cnt = 2 : !llvm.ptr<3>\n"
PARTED = "scf.if %first {{\n{}}} else {{\n{}}}\n"

WRONG = {
    "nothing initializes it": (JOIN, "joins named barrier 1, which is uninitialized"),
    "not for all to see": (PARTED.format(INIT, "") + JOIN + SIGNAL + WAIT, "its initialization is not ordered before"),
    "not joined": (INIT + "gpu.barrier\n" + SIGNAL + WAIT, "waits for a named barrier, but has not joined one"),
    "joined late": (
        INIT + "gpu.barrier\n" + PARTED.format(SIGNAL + SIGNAL, JOIN + WAIT),
        "named barrier 1 may complete before wave 1 joins it",
    ),
    "initialized again": (
        INIT + "gpu.barrier\n" + JOIN + SIGNAL + WAIT + PARTED.format(INIT, ""),
        "wave 0 initializes named barrier 1; the initialization is not ordered after the last use",
    ),
    "initialized in use": (
        INIT + "gpu.barrier\n" + PARTED.format(SIGNAL + INIT, ""),
        "while 1 of 2 waves have signaled it",
    ),
    "who is missing": (
        INIT + "gpu.barrier\n" + PARTED.format(JOIN + SIGNAL + WAIT, ""),
        "named barrier 1: 1 of 2 waves have signaled (wave 0)",
    ),
}


@pytest.mark.parametrize("how", WRONG)
def test_mistakes(how: str) -> None:
    body, message = WRONG[how]
    made = sim.simulate(module(ONE + body, "%a: memref<1xf32>", 1), "sim:gfx1250")
    found = made.find(np.zeros(1, np.float32), simulation=sim.Simulation(max_findings=1))
    assert [finding.kind for finding in found] == ["deadlock" if how == "who is missing" else "barrier"]
    text = str(found[0]) + found[0].message
    assert message in text


def test_an_unordered_join() -> None:
    """It may arrive after the signal that completes the phase; the wave's own signal is issued after it."""
    text = module(ONE + INIT + "gpu.barrier\n" + PARTED.format(SIGNAL, JOIN + "SIGNAL" + WAIT), "%a: memref<1xf32>", 1)
    one = text.replace("member_cnt = 2", "member_cnt = 1").replace("SIGNAL", "")
    a = np.zeros(1, np.float32)
    found = [sim.simulate(one, "sim:gfx1250").find(a, simulation=schedule) for schedule in sim.SCHEDULES]
    assert all(len(findings) == 1 for findings in found)
    assert {findings[0].kind for findings in found} == {"barrier", "deadlock"}
    assert sim.simulate(text.replace("SIGNAL", SIGNAL), "sim:gfx1250").find(a) == ()


def test_a_wave_that_leaves_is_not_waited_for() -> None:
    leave = JOIN + "rocdl.s.barrier.leave id = 1\n"
    body = ONE + INIT + "gpu.barrier\n" + PARTED.format(JOIN + SIGNAL + WAIT, leave)
    made = sim.simulate(module(body, "%a: memref<1xf32>", 1), "sim:gfx1250")
    for schedule in sim.SCHEDULES:
        assert made.find(np.zeros(1, np.float32), simulation=schedule) == ()


def test_converged_waves_with_different_barriers() -> None:
    """Pairs of waves synchronize at barriers whose pointers they compute; no pair waits for the other one."""
    body = f"""
    %pair = arith.remui %wave, %c2 : index
    {pointer("b", "%pair")}
    %c64 = arith.constant 64 : index
    %slots = memref.alloc() : memref<128xf32, {SHARED}>
    %begins = arith.cmpi ult, %t, %c64 : index
    scf.if %begins {{
      rocdl.s.barrier.init %b member_cnt = 2 : !llvm.ptr<3>
    }}
    gpu.barrier
    %v = memref.load %a[%t] : memref<128xf32>
    memref.store %v, %slots[%t] : memref<128xf32, {SHARED}>
    rocdl.s.wait.dscnt 0
    {meet("b")}
    %shifted = arith.addi %t, %c64 : index
    %c128 = arith.constant 128 : index
    %other = arith.remui %shifted, %c128 : index
    %w = memref.load %slots[%other] : memref<128xf32, {SHARED}>
    memref.store %w, %o[%t] : memref<128xf32>"""
    text = module(body, "%a: memref<128xf32>, %o: memref<128xf32>", 2, 128)
    a = np.arange(128, dtype=np.float32)
    for schedule in sim.SCHEDULES:
        o = np.zeros(128, np.float32)
        sim.simulate(text, "sim:gfx1250")(a, o, simulation=schedule)
        assert (o == np.roll(a, 64)).all()
    # The other pair's barrier orders nothing here.
    wrong = text.replace("arith.addi %t, %c64", "arith.addi %t, %c32")
    assert "race" in {finding.kind for finding in sim.simulate(wrong, "sim:gfx1250").find(a, o)}


def test_the_first_to_signal() -> None:
    body = """
    %is = rocdl.s.barrier.signal.isfirst id = -1 -> i1
    rocdl.s.barrier.wait id = -1
    %v = arith.uitofp %is : i1 to f32
    memref.store %v, %a[%t] : memref<64xf32>"""
    a = np.zeros(64, np.float32)
    sim.simulate(module(body, "%a: memref<64xf32>", 1), "sim:gfx1250")(a)
    assert a.sum() == 32 and a[:32].min() == a[:32].max()


@pytest.mark.parametrize("barrier", ["gpu.barrier", "rocdl.s.barrier.signal id = -1\nrocdl.s.barrier.wait id = -1"])
@pytest.mark.parametrize("early", [0, 1, 3])
def test_exited_waves_are_not_waited_for(early: int, barrier: str) -> None:
    """The guides of CDNA and RDNA, "S_BARRIER": waves that have ended do not count. They order nothing either."""
    text = f"""module {{ gpu.module @m {{
  gpu.func @k(%a: memref<128xf32>, %o: memref<128xf32>) kernel attributes {{
      known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %slots = memref.alloc() : memref<128xf32, {SHARED}>
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %early = arith.constant {early} : index
    %t = gpu.thread_id x
    %wave = arith.divui %t, %c32 : index
    %v = memref.load %a[%t] : memref<128xf32>
    memref.store %v, %slots[%t] : memref<128xf32, {SHARED}>
    rocdl.s.wait.dscnt 0
    %ends = arith.cmpi eq, %wave, %early : index
    cf.cond_br %ends, ^end, ^stay
  ^stay:
    {barrier}
    %other = arith.xori %t, %c64 : index
    %w = memref.load %slots[%other] : memref<128xf32, {SHARED}>
    memref.store %w, %o[%t] : memref<128xf32>
    cf.br ^end
  ^end:
    gpu.return
  }}
}} }}"""
    a = np.arange(128, dtype=np.float32)
    for schedule in sim.SCHEDULES:
        o = np.zeros(128, np.float32)
        found = sim.simulate(text, "sim:gfx1250").find(a, o, simulation=schedule)
        (finding,) = (item for item in found if item.kind == "race" and item.agent.startswith(f"wave {early ^ 2},"))
        assert [other.agent.split(",")[0] for other in finding.others] == [f"wave {early}"]
        assert "deadlock" not in {item.kind for item in found}
    alone = text.replace("xori %t, %c64", "addi %t, %early").replace("[%other]", "[%t]").replace("%c64", "%unused")
    o = np.zeros(128, np.float32)
    sim.simulate(alone, "sim:gfx1250")(a, o)
    assert (o == np.where(np.arange(128) // 32 == early, 0, a)).all()


def test_numbers_of_barriers_are_the_compilers() -> None:
    with pytest.raises(smalti.CompileError, match="the barrier id is 1"):
        sim.simulate(module("rocdl.s.barrier.signal id = 1", "%a: memref<1xf32>", 1), "sim:gfx1250")
    with pytest.raises(smalti.CompileError, match="17 named barriers; a block has at most 16"):
        sim.simulate(module("", "%a: memref<1xf32>", 17), "sim:gfx1250")
