# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Independent threads of an NVIDIA warp: visibility of another lane's store after `bar.warp.sync`."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import SHARED, gpu_kernel
from smalti import sim
from smalti.sim import mutants

SYNC = "nvvm.bar.warp.sync %all : i32"
TILE = f"memref<64xi32, {SHARED}>"


def program(body: str, threads: int = 64) -> str:
    return gpu_kernel(
        f"%o: memref<{threads}xi32>, %g: memref<{threads}xi32>",
        f"""    %t = gpu.thread_id x
    %ti = arith.index_cast %t : index to i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %all = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %low = arith.constant 0xffff : i32
    %high = arith.constant 0xffff0000 : i32
    %true = arith.constant true
    %lane = arith.remui %t, %c32 : index
    %upper = arith.cmpi uge, %lane, %c16 : index
    %half = arith.select %upper, %high, %low : i32
    %next = arith.xori %t, %c1 : index
    %far = arith.xori %t, %c16 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    %s = memref.alloc() : {TILE}
{body}""",
        threads,
    )


def store(at: str = "%t", value: str = "%ti", memory: str = f"%s[AT] : {TILE}") -> str:
    return f"memref.store {value}, {memory.replace('AT', at)}"


def load(name: str, at: str, memory: str = f"%s[AT] : {TILE}") -> str:
    return f"{name} = memref.load {memory.replace('AT', at)}"


PUT = "memref.store %v, %o[%t] : memref<64xi32>"


def kinds(body: str, chip: str = "sm_80", order: str = "adversarial") -> set[str]:
    made = sim.simulate(program(body), chip)
    found = made.find(*made.random_arguments(), simulation=sim.Simulation(order, max_findings=50))
    for finding in found:
        assert finding.hint is not None
        assert "gpu.barrier, or nvvm.bar.warp.sync if only threads of one warp" in finding.hint
        assert finding.agent is not None and finding.others[0].agent is not None
        assert finding.agent.split(",")[0] == finding.others[0].agent.split(",")[0]
        assert finding.agent != finding.others[0].agent
    return {finding.kind for finding in found}


def exchange(between: str, at: str = "%next", memory: str = f"%s[AT] : {TILE}") -> str:
    return "\n".join([store(memory=memory), between, load("%v", at, memory), PUT])


@pytest.mark.parametrize("memory", [f"%s[AT] : {TILE}", "%g[AT] : memref<64xi32>"])
def test_a_value_that_another_lane_stored(memory: str) -> None:
    assert kinds(exchange("", memory=memory)) == {"race"}
    for sound in (SYNC, "gpu.barrier", "nvvm.barrier0"):
        assert kinds(exchange(sound, memory=memory)) == set()
    assert kinds(exchange("", at="%t", memory=memory)) == set()
    # Waves run in lockstep.
    assert kinds(exchange("", memory=memory), "gfx942") == set()
    made = smalti.compile(program(exchange(SYNC, memory=memory)), target="sim:sm_90a")
    o, g = np.zeros((2, 64), np.int32)
    made(o, g)
    assert (o == np.arange(64) ^ 1).all()


@pytest.mark.parametrize(
    "exchanged",
    [
        "%w = nvvm.shfl.sync bfly %all, %ti, %one, %one : i32 -> i32",
        "%w = nvvm.vote.sync any %all, %first -> i1",
        "%w = nvvm.match.sync any %all, %ti : i32 -> i32",
        "%w = nvvm.redux.sync add %ti, %all : i32 -> i32",
        "%w = nvvm.elect.sync -> i1",
        "nvvm.memory.barrier <cta>",
    ],
)
def test_ops_that_do_not_order_memory(exchanged: str) -> None:
    assert kinds(exchange(exchanged)) == {"race"}


def test_parts_of_a_warp() -> None:
    part = "nvvm.bar.warp.sync %half : i32"
    assert kinds(exchange(part)) == set()
    assert kinds(exchange(part, at="%far")) == {"race"}
    # Synchronization is cumulative across lanes.
    inner = f"""
    scf.if %upper {{
    }} else {{
      {store()}
      nvvm.bar.warp.sync %low : i32
    }}
    {SYNC}
    {load("%v", "%far")}
    {PUT}"""
    whole = inner.replace("nvvm.bar.warp.sync %low : i32", "").replace(
        "scf.if %upper {\n    }", f"scf.if %upper {{\n {store()} }}"
    )
    assert kinds(whole) == set()
    assert kinds(whole.replace(SYNC, "")) == {"race"}


def test_a_value_that_another_lane_reads_is_not_overwritten() -> None:
    def turn(between: str) -> str:
        return "\n".join([store(), SYNC, load("%v", "%next"), between, store(value="%v"), PUT])

    assert kinds(turn("")) == {"race"}
    assert kinds(turn(SYNC)) == set()
    # An address that all lanes read.
    whole = [store(), SYNC, load("%v", "%c0"), "", "scf.if %first {", store("%c0", "%one"), "}", PUT]
    body = "\n".join(whole).replace("%c0] :", "%base] :")
    body = "%base = arith.subi %t, %lane : index\n" + body
    assert kinds(body) == {"race"}
    assert kinds(body.replace("scf.if", f"{SYNC}\nscf.if")) == set()


def test_a_store_of_one_lane_for_all() -> None:
    def ordered(between: str) -> str:
        base = "%base = arith.subi %t, %lane : index"
        return "\n".join([base, "scf.if %first {", store("%base"), "}", between, load("%v", "%base"), PUT])

    assert kinds(ordered("")) == {"race"}
    assert kinds(ordered(SYNC)) == set()
    # All store the same: who reads it has stored it.
    alike = "\n".join([store("%c0", "%one"), "gpu.barrier", store("%c1", "%one"), load("%v", "%c1"), PUT])
    made = sim.simulate(
        program(alike, threads=64).replace("array<i32: 64, 1, 1>, known", "array<i32: 32, 1, 1>, known"), "sm_80"
    )
    assert made.find(*made.random_arguments()) == ()


def test_reads_of_two_lanes_are_recorded() -> None:
    """Lane 1 reads, then lane 0 alone; lane 0 writes, ordered only after its own accesses."""
    other = """
    %base = arith.subi %t, %lane : index
    %second = arith.cmpi eq, %lane, %c1 : index
    scf.if %second {
      LOAD1
      memref.store %v, %o[%t] : memref<64xi32>
    }
    BETWEEN
    scf.if %first {
      LOAD2
      memref.store %w, %o[%t] : memref<64xi32>
      STORE
    }"""
    body = other.replace("LOAD1", load("%v", "%base")).replace("LOAD2", load("%w", "%base"))
    body = store() + "\n" + SYNC + body.replace("STORE", store("%base", "%one"))
    assert kinds(body.replace("BETWEEN", "")) == {"race"}
    assert kinds(body.replace("BETWEEN", SYNC)) == set()
    assert kinds(body.replace("BETWEEN", "nvvm.bar.warp.sync %half : i32")) == set()


TREE = f"""
    %v0 = memref.load %g[%t] : memref<64xi32>
    memref.store %v0, %s[%t] : {TILE}
    {SYNC}
    STEPS
    scf.if %first {{
      %sum = memref.load %s[%t] : {TILE}
      memref.store %sum, %o[%t] : memref<64xi32>
    }}"""


def tree() -> str:
    """Sums of the numbers of each warp, in shared memory."""
    steps = []
    for by in (16, 8, 4, 2, 1):
        steps.append(f"""
    %by{by} = arith.constant {by} : index
    %in{by} = arith.cmpi ult, %lane, %by{by} : index
    scf.if %in{by} {{
      %at{by} = arith.addi %t, %by{by} : index
      %x{by} = memref.load %s[%t] : {TILE}
      %y{by} = memref.load %s[%at{by}] : {TILE}
      %z{by} = arith.addi %x{by}, %y{by} : i32
      memref.store %z{by}, %s[%t] : {TILE}
    }}
    {SYNC}""")
    return program(TREE.replace("STEPS", "".join(steps)))


def test_every_barrier_of_a_warp_that_is_needed() -> None:
    made = sim.simulate(tree(), "sm_80")
    o, g = np.zeros(64, np.int32), np.arange(64, dtype=np.int32) ** 2
    made(o, g)
    assert o[0] == g[:32].sum() and o[32] == g[32:].sum()
    outcomes = mutants.score(made, made.random_arguments())
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    # The last one orders nothing: who reads the sum has stored it.
    assert len(outcomes) == 5 and {o.mutant.operation for o in outcomes} == {"nvvm.bar.warp.sync"}


def test_a_lane_outside_its_own_mask() -> None:
    made = sim.simulate(program("nvvm.bar.warp.sync %low : i32"), "sm_80")
    (finding,) = made.find(*made.random_arguments())
    assert finding.kind == "divergence"
    assert (
        finding.message
        == "the warp barrier is executed by lane 16, which is not in its own mask 0xffff; set the bit of each lane that executes the op"
    )


def test_atomic_accesses_of_the_lanes_of_a_warp() -> None:
    """The lane that increments last has acquired the earlier accesses of the others."""
    count = f"memref<1xi32, {SHARED}>"
    body = f"""
    %n = memref.alloc() : {count}
    %thirty_one = arith.constant 31 : i32
    %zero = arith.constant 0 : i32
    scf.if %first {{
      memref.store %zero, %n[%c0] : {count}
    }}
    {SYNC}
    {store()}
    %ticket = memref.atomic_rmw addi %one, %n[%c0] : (i32, {count}) -> i32
    %last = arith.cmpi eq, %ticket, %thirty_one : i32
    scf.if %last {{
      {load("%v", "%next")}
      memref.store %v, %o[%t] : memref<64xi32>
    }}"""

    def found(text: str) -> set[str]:
        made = sim.simulate(
            program(text).replace("array<i32: 64, 1, 1>, known", "array<i32: 32, 1, 1>, known"), "sm_80"
        )
        return {f.kind for f in made.find(*made.random_arguments(), simulation=sim.Simulation(max_findings=9))}

    assert found(body) == set()
    assert found(body.replace("%last = arith.cmpi eq", "%last = arith.cmpi ne")) == {"race"}


def test_a_barrier_of_a_block_of_one_warp() -> None:
    text = program(exchange("gpu.barrier")).replace("array<i32: 64, 1, 1>, known", "array<i32: 32, 1, 1>, known")
    made = sim.simulate(text, "sm_80")
    (outcome,) = mutants.score(made, made.random_arguments())
    assert outcome.caught and outcome.mutant.kind == "barrier removed"
