# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers in LDS of gfx1250: words that count arrivals and that waves poll."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import SHARED, gpu_kernel
from sim_programs import find_gfx1250
from smalti import sim
from smalti.sim.threads.ops.amd.lds_barriers import after_arrival

POINTER = "!llvm.ptr<3>"


def module(body: str, arguments: str, threads: int = 64) -> str:
    """Waves of one block, with a helper for the barriers of a row of words in LDS."""
    return gpu_kernel(
        arguments,
        f"""    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i64
    %shift = arith.constant 29 : i64
    %words = memref.alloc() : memref<4xi64, {SHARED}>
    %t = gpu.thread_id x
    %wave = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %leads = arith.cmpi eq, %wave, %c0 : index
    %alone = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    %mirror = arith.subi %c31, %lane : index
    %begin = memref.extract_aligned_pointer_as_index %words : memref<4xi64, {SHARED}> -> index
    %begin_number = arith.index_cast %begin : index to i64
    %barriers = llvm.inttoptr %begin_number : i64 to {POINTER}
{body}""",
        threads,
    )


def pointer(name: str, number: str) -> str:
    return f"""%{name}_n = arith.index_cast {number} : index to i32
        %{name} = llvm.getelementptr %barriers[%{name}_n] : ({POINTER}, i32) -> {POINTER}, i64"""


def state(count: int) -> int:
    return count - 1 << 32 | count - 1


def make(number: str, count: int, name: str = "made") -> str:
    """As MLIR's conversion of `amdgpu.ds_barrier_init` does it."""
    return f"""{pointer(name, number)}
        %{name}_state = arith.constant {state(count)} : i64
        llvm.store %{name}_state, %{name} atomic syncscope("workgroup") release {{alignment = 8 : i64}}
          : i64, {POINTER}"""


def arrive(name: str) -> str:
    return f"%{name}_old = rocdl.ds.atomic.barrier.arrive.rtn.b64 %{name}, %one : {POINTER}, i64 -> i64"


def wait(name: str, parity: str) -> str:
    """Until the parity of the phase is another one."""
    return f"""scf.while : () -> () {{
          %{name}_word = llvm.load %{name} atomic syncscope("workgroup") acquire {{alignment = 8 : i64}}
            : {POINTER} -> i64
          %{name}_high = arith.shrui %{name}_word, %shift : i64
          %{name}_parity = arith.andi %{name}_high, %one : i64
          %{name}_same = arith.cmpi eq, %{name}_parity, {parity} : i64
          scf.condition(%{name}_same)
        }} do {{
          rocdl.s.sleep 1
          scf.yield
        }}"""


def kinds(text: str, *arrays: np.ndarray) -> set[str]:
    return {finding.kind for finding in find_gfx1250(text, *arrays)}


# ---------------------------------------------------------------------------------------------------------------------
# The word
# ---------------------------------------------------------------------------------------------------------------------


def test_the_word_of_a_barrier() -> None:
    word, seen = state(3), []
    for _ in range(7):
        word, over = after_arrival(word, 1)
        seen.append((word & 0x1FFFFFFF, word >> 29 & 7, word >> 32, over))
    assert seen[:3] == [(1, 0, 2, False), (0, 0, 2, False), (2, 7, 2, True)]
    assert seen[3:] == [(1, 7, 2, False), (0, 7, 2, False), (2, 6, 2, True), (1, 6, 2, False)]
    # A block that takes several at a time.
    assert after_arrival(state(5), 3) == (4 << 32 | 1, False) and after_arrival(4 << 32 | 1, 2)[1]


def test_results_of_arrivals() -> None:
    """Lanes arrive one after the other."""
    body = f"""
    scf.if %first {{
      {make("%c0", 4)}
    }}
    gpu.barrier
    {pointer("b", "%c0")}
    %c10 = arith.constant 10 : index
    %some = arith.cmpi ult, %lane, %c10 : index
    scf.if %some {{
      {arrive("b")}
      memref.store %b_old, %o[%lane] : memref<10xi64>
    }}"""
    o = np.zeros(10, np.int64)
    sim.simulate(module(body, "%o: memref<10xi64>", 32), "sim:gfx1250")(o)
    word, wanted = state(4), []
    for _ in range(10):
        wanted.append(word)
        word, _ = after_arrival(word, 1)
    assert o.tolist() == wanted


# ---------------------------------------------------------------------------------------------------------------------
# Slots that waves hand to each other
# ---------------------------------------------------------------------------------------------------------------------

BY_LANES = """{target}
        rocdl.global.load.async.to.lds.b32 %source, %target, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>"""
WAYS = {
    # Stores to LDS, which the arrival is in order with.
    "stores": (
        """%v = memref.load %a[%i, %lane] : A
        memref.store %v, %slots[%slot, %lane] : S
        """
        + arrive("full"),
        32,
    ),
    # Copies that are followed by an arrival that completes in order with them.
    "asynchronous arrivals": (
        "COPY\nrocdl.ds.atomic.async.barrier.arrive.b64 %full : !llvm.ptr<3>",
        32,
    ),
    "waits for copies": ("COPY\nrocdl.s.wait.asynccnt 0\n" + arrive("full"), 32),
    # A tile whose completion is signaled by one arrival.
    "tiles": (
        """%base = amdgpu.make_dma_base %a[%i, %c0], %slots[%slot, %c0] : A, S -> !amdgpu.tdm_base<f32>
        %tile = amdgpu.make_dma_descriptor %base globalSize [1, 32] globalStride [32, 1] sharedSize [1, 32]
          atomicBarrier(%words[%slot] : W) : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
        amdgpu.tensor_load_to_lds %tile : !amdgpu.tdm_descriptor""",
        1,
    ),
}
COPY = f"""%row = arith.muli %i, %c32 : index
        %at = arith.addi %row, %lane : index
        %from_bytes = arith.muli %at, %c4 : index
        %array = memref.extract_aligned_pointer_as_index %a : A -> index
        %from = arith.addi %array, %from_bytes : index
        %from_number = arith.index_cast %from : index to i64
        %source = llvm.inttoptr %from_number : i64 to !llvm.ptr<1>
        %line = arith.muli %slot, %c32 : index
        %place = arith.addi %line, %lane : index
        %to_bytes = arith.muli %place, %c4 : index
        %buffer = memref.extract_aligned_pointer_as_index %slots : S -> index
        %to = arith.addi %buffer, %to_bytes : index
        %to_number = arith.index_cast %to : index to i64
        %target = llvm.inttoptr %to_number : i64 to {POINTER}
        rocdl.global.load.async.to.lds.b32 %source, %target, 0, 0 : !llvm.ptr<1>, {POINTER}"""


def ring(way: str, trips: int, counts: tuple[int, int] | None = None) -> str:
    """One wave fills two slots in turn, and the other one adds them up. Words 0 and 1 signal that a slot is full, words
    2 and 3 that a slot is empty. The parity of a use is the parity of the number of earlier uses of the slot."""
    fill, arrivals = WAYS[way]
    full, empty = counts or (arrivals, 32)
    body = f"""
    %slots = memref.alloc() : S
    %trips = arith.constant {trips} : index
    scf.if %first {{
      scf.for %i = %c0 to %c2 step %c1 {{
        {make("%i", full)}
        %behind = arith.addi %i, %c2 : index
        {make("%behind", empty, "void")}
      }}
    }}
    gpu.barrier
    %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> f32 {{
      %slot = arith.remui %i, %c2 : index
      %behind = arith.addi %slot, %c2 : index
      %use = arith.divui %i, %c2 : index
      %use_number = arith.index_cast %use : index to i64
      %parity = arith.andi %use_number, %one : i64
      %flipped = arith.xori %parity, %one : i64
      {pointer("full", "%slot")}
      {pointer("empty", "%behind")}
      %next = scf.if %leads -> f32 {{
        {wait("empty", "%flipped")}
        {fill}
        scf.yield %acc : f32
      }} else {{
        {wait("full", "%parity")}
        %w = memref.load %slots[%slot, %mirror] : S
        {arrive("empty")}
        %more = arith.addf %acc, %w : f32
        scf.yield %more : f32
      }}
      scf.yield %next : f32
    }}
    scf.if %leads {{
    }} else {{
      memref.store %sum, %o[%lane] : memref<32xf32>
    }}"""
    text = module(body, "%a: A, %o: memref<32xf32>").replace("COPY", COPY)
    for name, ty in {
        "A": f"memref<{trips}x32xf32>",
        "S": f"memref<2x32xf32, {SHARED}>",
        "W": f"memref<4xi64, {SHARED}>",
    }.items():
        text = (
            text.replace(f": {name}\n", f": {ty}\n").replace(f": {name})", f": {ty})").replace(f": {name},", f": {ty},")
        )
        text = text.replace(f", {name} ->", f", {ty} ->").replace(f": {name} ->", f": {ty} ->")
    return text


def arrays(trips: int) -> tuple[np.ndarray, np.ndarray]:
    a = np.random.default_rng(3).integers(-9, 9, (trips, 32)).astype(np.float32)
    return a, np.full(32, np.nan, np.float32)


@pytest.mark.parametrize("trips", [1, 5])
@pytest.mark.parametrize("way", WAYS)
def test_a_ring_of_slots(way: str, trips: int) -> None:
    made = sim.simulate(ring(way, trips), "sim:gfx1250")
    for schedule in sim.SCHEDULES:
        a, o = arrays(trips)
        made(a, o, simulation=schedule)
        assert (o == a.sum(0)[::-1]).all()


FULL, EMPTY = arrive("full"), arrive("empty")
ASYNC = "rocdl.ds.atomic.async.barrier.arrive.b64 %full : !llvm.ptr<3>"


@pytest.mark.parametrize(
    ("way", "old", "new", "wanted"),
    [
        ("stores", FULL, "", {"deadlock"}),
        ("stores", EMPTY, "", {"deadlock"}),
        ("stores", wait("full", "%parity"), "", {"race"}),
        ("stores", wait("empty", "%flipped"), "", {"deadlock"}),
        ("stores", wait("full", "%parity"), wait("full", "%flipped"), {"uninitialized"}),
        ("stores", wait("empty", "%flipped"), wait("empty", "%parity"), {"deadlock"}),
        # An op without acquire semantics polls the word.
        ("stores", "acquire", "monotonic", {"race"}),
        # The compiler may move this load out of the loop.
        ("stores", 'atomic syncscope("workgroup") acquire {alignment = 8 : i64}', "", {"race"}),
        ("asynchronous arrivals", ASYNC, "", {"deadlock"}),
        # It does not wait for copies.
        ("asynchronous arrivals", ASYNC, FULL, {"race"}),
        ("waits for copies", "rocdl.s.wait.asynccnt 0\n", "", {"race"}),
        ("tiles", "atomicBarrier(%words[%slot] : ", "atomicBarrier(%words[%behind] : ", {"deadlock"}),
    ],
)
def test_mistakes_in_a_ring(way: str, old: str, new: str, wanted: set[str]) -> None:
    text = ring(way, 5)
    assert old in text
    found = kinds(text.replace(old, new), *arrays(5))
    assert wanted <= found


def test_counts_that_are_wrong() -> None:
    for counts in ((33, 32), (32, 33)):
        assert "deadlock" in kinds(ring("stores", 5, counts), *arrays(5))
    # Some of the lanes end the phase.
    assert {"race", "barrier", "deadlock"} & kinds(ring("stores", 5, (16, 32)), *arrays(5))


def test_accesses_of_other_waves_are_not_published() -> None:
    """The arrival orders its own wave's LDS accesses, and global memory only after a wait."""
    body = f"""
    scf.if %first {{
      {make("%c0", 32)}
    }}
    gpu.barrier
    {pointer("b", "%c0")}
    %p0 = arith.constant 0 : i64
    scf.if %leads {{
      memref.store %zero, %o[%lane] : memref<32xf32>
      WAIT
      {arrive("b")}
    }} else {{
      {wait("b", "%p0")}
      %v = memref.load %o[%mirror] : memref<32xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%lane] : memref<32xf32>
    }}"""
    text = module(body, "%o: memref<32xf32>, %x: memref<32xf32>")
    given = np.ones(32, np.float32), np.ones(32, np.float32)
    assert kinds(text.replace("WAIT", "rocdl.s.wait.storecnt 0"), *given) == set()
    found = find_gfx1250(text.replace("WAIT", ""), *given)
    assert {f.kind for f in found} == {"race"}
    assert any("memory_counter_wait store(0)" in str(f.hint) for f in found)


def test_an_arrival_does_not_wait_for_the_wave() -> None:
    """A later barrier of the block does not order the stores before it."""
    body = f"""
    %slots = memref.alloc() : memref<64xf32, {SHARED}>
    scf.if %first {{
      {make("%c0", 64)}
    }}
    gpu.barrier
    {pointer("b", "%c0")}
    memref.store %zero, %slots[%t] : memref<64xf32, {SHARED}>
    {arrive("b")}
    WAIT
    rocdl.s.barrier
    %c63 = arith.constant 63 : index
    %back = arith.subi %c63, %t : index
    %v = memref.load %slots[%back] : memref<64xf32, {SHARED}>
    memref.store %v, %o[%t] : memref<64xf32>"""
    text, o = module(body, "%o: memref<64xf32>"), np.ones(64, np.float32)
    assert kinds(text.replace("WAIT", "rocdl.s.wait.dscnt 0"), o) == set()
    assert kinds(text.replace("WAIT", ""), o) == {"race"}


def test_arrivals_without_a_barrier() -> None:
    body = f"{pointer('b', '%c0')}\nscf.if %first {{\nBEFORE\n{arrive('b')}\n}}"
    text = module(body, "%o: memref<1xf32>", 32)
    finding, *_ = find_gfx1250(text.replace("BEFORE", ""), np.zeros(1, np.float32))
    assert finding.kind == "barrier" and "where no barrier is initialized" in finding.message
    many = text.replace("BEFORE", make("%c0", 2)).replace("%one :", "%three :")
    many = many.replace("    %one =", "    %three = arith.constant 3 : i64\n    %one =")
    finding, *_ = find_gfx1250(many, np.zeros(1, np.float32))
    assert finding.kind == "barrier" and "3 arrivals on the barrier at byte 0" in finding.message
    odd = text.replace("BEFORE", "%odd = llvm.getelementptr %b[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8")
    odd = odd.replace("b64 %b,", "b64 %odd,")
    assert "assertion" in {f.kind for f in find_gfx1250(odd, np.zeros(1, np.float32))}
    with pytest.raises(smalti.CompileError, match="gfx1200 does not have barriers in LDS"):
        sim.simulate(text.replace("BEFORE", ""), "sim:gfx1200")
