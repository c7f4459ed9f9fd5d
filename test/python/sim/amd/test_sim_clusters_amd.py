# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters of gfx1250: the cluster barrier and multicast loads."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import SHARED
from sim_programs import find_gfx1250
from smalti import sim
from smalti.sim.machine.findings import Finding

POINTER = "!llvm.ptr<1>, !llvm.ptr<3>"
SIGNAL, WAIT = "rocdl.s.barrier.signal id = -3\n", "rocdl.s.barrier.wait id = -3\n"
SYNC = f"gpu.barrier\nscf.if %leads {{\n{SIGNAL}}}\n{WAIT}"
"""All of a block, then one wave for it, and all wait."""


def module(body: str, arguments: str, blocks: int = 2, cluster: int = 2) -> str:
    """Blocks of two waves. `%rank` is the block's number in its cluster, `%b` the block's, `%first` its first element."""
    return f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: {blocks}, 1, 1>,
      known_cluster_size = array<i32: {cluster}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %none = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %lane = arith.remui %t, %c32 : index
    %back = arith.subi %c63, %t : index
    %leads = arith.cmpi ult, %t, %c32 : index
    %b = gpu.block_id x
    %rank = gpu.cluster_block_id x
    %led = arith.cmpi eq, %rank, %c0 : index
    %leads_first = arith.andi %leads, %led : i1
    %first = arith.muli %b, %c64 : index
    %at = arith.addi %first, %t : index
{body}
    gpu.return
  }}
}}"""


def find(text: str, *arrays: np.ndarray) -> list[Finding]:
    return sim.simulate(text, "sim:gfx1250").find(*arrays)


def kinds(text: str, *arrays: np.ndarray) -> set[str]:
    return {finding.kind for finding in find_gfx1250(text, *arrays)}


# ---------------------------------------------------------------------------------------------------------------------
# The barrier
# ---------------------------------------------------------------------------------------------------------------------


def exchange(trips: int, sync: str = SYNC, blocks: int = 4) -> str:
    """Blocks of a cluster write rows to global memory, and read those of the next block mirrored, again and again."""
    body = f"""
    %next = arith.addi %rank, %c1 : index
    %other = arith.remui %next, %c2 : index
    %theirs = arith.subi %b, %rank : index
    %peer = arith.addi %theirs, %other : index
    %row = arith.muli %peer, %c64 : index
    %there = arith.addi %row, %back : index
    %trips = arith.constant {trips} : index
    scf.for %i = %c0 to %trips step %c1 {{
      %v = memref.load %x[%at] : memref<{64 * blocks}xf32>
      {sync}
      %w = memref.load %x[%there] : memref<{64 * blocks}xf32>
      %sum = arith.addf %v, %w : f32
      {sync}
      memref.store %sum, %x[%at] : memref<{64 * blocks}xf32>
      {sync}
    }}"""
    return module(body, f"%x: memref<{64 * blocks}xf32>", blocks)


@pytest.mark.parametrize("trips", [1, 3])
def test_blocks_swap_rows(trips: int) -> None:
    made = sim.simulate(exchange(trips), "sim:gfx1250")
    for schedule in sim.SCHEDULES:
        x = np.random.default_rng(1).integers(-9, 9, 256).astype(np.float32)
        wanted = x.reshape(2, 2, 64).copy()
        for _ in range(trips):
            wanted = wanted + wanted[:, ::-1, ::-1]
        made(x, simulation=schedule)
        assert (x.reshape(2, 2, 64) == wanted).all()


X = np.arange(256, dtype=np.float32)


@pytest.mark.parametrize(
    ("sync", "kind", "words"),
    [
        ("gpu.barrier", "race", "is not ordered with"),
        # The second block is never signaled.
        (SYNC.replace("%leads", "%leads_first"), "deadlock", "(1, 0, 0)"),
        # Both waves do.
        (f"gpu.barrier\n{SIGNAL}{WAIT}", "barrier", "of the same block already signaled"),
        # The signal does not cover the other wave.
        (f"scf.if %leads {{\n{SIGNAL}}}\n{WAIT}", "race", "is not ordered with"),
        # It does not wait.
        (f"gpu.barrier\nscf.if %leads {{\n{SIGNAL}}}\n", "race", "is not ordered with"),
        (f"gpu.barrier\nscf.if %leads {{\n{SIGNAL}}}\n", "barrier", "while the previous use may be incomplete"),
        # Only one wave waits for each signal, and the other one for the second of them.
        (f"gpu.barrier\nscf.if %leads {{\n{SIGNAL}{WAIT}{SIGNAL}}}\n{WAIT}{WAIT}", "barrier", "misses one completion"),
    ],
)
def test_mistakes_with_the_barrier_of_a_cluster(sync: str, kind: str, words: str) -> None:
    found = find_gfx1250(exchange(2, sync), X)
    assert kind in {f.kind for f in found}
    assert any(words in str(f.message) + "".join(str(o.message) for o in f.others) for f in found if f.kind == kind)


def test_exited_blocks_are_not_waited_for() -> None:
    body = f"scf.if %led {{\n{SYNC}\nmemref.store %none, %x[%at] : memref<128xf32>\n}}"
    x = np.ones(128, np.float32)
    sim.simulate(module(body, "%x: memref<128xf32>"), "sim:gfx1250")(x)
    assert (x[:64] == 0).all() and (x[64:] == 1).all()


def test_order_of_signals() -> None:
    body = f"""
    %is = scf.if %leads -> i1 {{
      %f = rocdl.s.barrier.signal.isfirst id = -3 -> i1
      scf.yield %f : i1
    }} else {{
      %f = arith.constant false
      scf.yield %f : i1
    }}
    {WAIT}
    %n = rocdl.cluster.id.x : i32
    %i = arith.extui %is : i1 to i32
    %ten = arith.constant 10 : i32
    %high = arith.muli %n, %ten : i32
    %sum = arith.addi %high, %i : i32
    memref.store %sum, %o[%at] : memref<256xi32>"""
    o = np.full(256, -1, np.int32)
    sim.simulate(module(body, "%o: memref<256xi32>", 4), "sim:gfx1250")(o)
    waves = o.reshape(2, 4, 32)
    assert (waves == waves[:, :, :1]).all()
    assert sorted(waves[0, :, 0].tolist()) == [0, 0, 0, 1] and sorted(waves[1, :, 0].tolist()) == [10, 10, 10, 11]


def test_other_chips_do_not_support_clusters() -> None:
    with pytest.raises(smalti.CompileError, match="gfx1200 does not have clusters"):
        sim.simulate(module(SYNC, "%x: memref<128xf32>"), "sim:gfx1200")
    alone = module(SYNC, "%x: memref<128xf32>", cluster=1)
    with pytest.raises(smalti.CompileError, match="gfx1200 does not have clusters"):
        sim.simulate(alone, "sim:gfx1200")
    # Without a cluster, this barrier does not exist, and no wave waits at it.
    body = f"""
    %s = memref.alloc() : memref<64xf32, {SHARED}>
    %v = memref.load %x[%at] : memref<128xf32>
    memref.store %v, %s[%t] : memref<64xf32, {SHARED}>
    rocdl.s.wait.dscnt 0
    scf.if %leads {{
      {SIGNAL}
    }}
    {WAIT}
    %w = memref.load %s[%back] : memref<64xf32, {SHARED}>
    memref.store %w, %x[%at] : memref<128xf32>"""
    assert kinds(module(body, "%x: memref<128xf32>", cluster=1), X[:128]) == {"race", "uninitialized"}


# ---------------------------------------------------------------------------------------------------------------------
# Loads for several blocks
# ---------------------------------------------------------------------------------------------------------------------


def shared_loads(mask: str = "%both", wait: str = "rocdl.s.wait.asynccnt 0", load: str = "", trips: int = 2) -> str:
    """Both blocks of a cluster load the rows that they have in common, and add their own number."""
    body = f"""
    %both = arith.constant 3 : i32
    %s = memref.alloc() : memref<{trips}x64xf32, {SHARED}>
    %trips = arith.constant {trips} : index
    %array = memref.extract_aligned_pointer_as_index %a : memref<{trips}x64xf32> -> index
    %buffer = memref.extract_aligned_pointer_as_index %s : memref<{trips}x64xf32, {SHARED}> -> index
    scf.for %i = %c0 to %trips step %c1 {{
      %row = arith.muli %i, %c64 : index
      %place = arith.addi %row, %t : index
      %bytes = arith.muli %place, %c4 : index
      %from = arith.addi %array, %bytes : index
      %to = arith.addi %buffer, %bytes : index
      %from_number = arith.index_cast %from : index to i64
      %to_number = arith.index_cast %to : index to i64
      %source = llvm.inttoptr %from_number : i64 to !llvm.ptr<1>
      %target = llvm.inttoptr %to_number : i64 to !llvm.ptr<3>
      {load or f"rocdl.cluster.load.async.to.lds.b32 %source, %target, 0, 0, {mask} : {POINTER}"}
    }}
    {wait}
    gpu.barrier
    %number = arith.index_cast %b : index to i32
    %own = arith.sitofp %number : i32 to f32
    %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %own) -> f32 {{
      %v = memref.load %s[%i, %back] : memref<{trips}x64xf32, {SHARED}>
      %more = arith.addf %acc, %v : f32
      scf.yield %more : f32
    }}
    memref.store %sum, %o[%at] : memref<128xf32>"""
    return module(body, f"%a: memref<{trips}x64xf32>, %o: memref<128xf32>")


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(128, dtype=np.float32).reshape(2, 64), np.full(128, np.nan, np.float32)


def test_a_load_for_both_blocks() -> None:
    made = sim.simulate(shared_loads(), "sim:gfx1250")
    for schedule in sim.SCHEDULES:
        a, o = arrays()
        made(a, o, simulation=schedule)
        assert (o.reshape(2, 64) == np.add(a.sum(0)[::-1], [[0], [1]])).all()


def test_mistakes_in_multicast_loads() -> None:
    late = shared_loads(wait="rocdl.s.wait.asynccnt 1")
    assert kinds(late, *arrays()) == {"race", "leak"}
    load = f"rocdl.cluster.load.async.to.lds.b32 %source, %target, 0, 0, %both : {POINTER}"
    parted = f"""scf.if %led {{
        {load}
      }} else {{
        {load.replace("cluster", "global").replace(", %both", "")}
      }}"""
    (finding,) = find(shared_loads(load=parted), *arrays())
    assert finding.kind == "assertion" and "the mask of this multicast load includes block 1" in finding.message
    assert finding.block == (0, 0, 0) and finding.count > 1
    # Unless it does not wait for others.
    early = "%early = arith.constant 65539 : i32\n" + parted.replace("%both", "%early")
    assert not find(shared_loads(load=early), *arrays())
    three = "%three = arith.constant 7 : i32\n" + load.replace("%both", "%three")
    (finding,) = find(shared_loads(load=three), *arrays())
    assert "contains block 2; the cluster has 2 blocks" in finding.message
    one = "%one = arith.constant 1 : i32\n" + load.replace("%both", "%one")
    (finding,) = find(shared_loads(load=one), *arrays())
    assert "a multicast load by block 1 contains blocks 0; it must contain block 1" in finding.message
    assert finding.block == (1, 0, 0)


def test_a_block_that_exits_before_its_multicast_load() -> None:
    text = shared_loads()
    head, rest = text.split("%both = ")
    early = f"{head}scf.if %led {{\n%both = {rest}".replace("    gpu.return", "    }\n    gpu.return")
    (finding,) = find(early, *arrays())
    assert finding.kind == "assertion" and "the mask of this multicast load includes block 1" in finding.message


def tiles(mask: str = "[1, 1]", timeout: str = "", loads: str = "%leads") -> str:
    named = mask.strip("[]").split(", ") + ["0"] * 14
    body = f"""
    %s = memref.alloc() : memref<4x16xf32, {SHARED}>
    %early = arith.constant true
    %mask = arith.constant dense<[{", ".join(named)}]> : vector<16xi1>
    %go = arith.andi %leads, {loads} : i1
    scf.if %go {{
      %base = amdgpu.make_dma_base %a[%c0, %c0], %s[%c0, %c0]
        : memref<4x16xf32>, memref<4x16xf32, {SHARED}> -> !amdgpu.tdm_base<f32>
      %tile = amdgpu.make_dma_descriptor %base globalSize [4, 16] globalStride [16, 1] sharedSize [4, 16]
        workgroupMask %mask {timeout} : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
      amdgpu.tensor_load_to_lds %tile : !amdgpu.tdm_descriptor
      amdgpu.memory_counter_wait tensor(0)
    }}
    gpu.barrier
    %y, %z = affine.delinearize_index %back into (4, 16) : index, index
    %v = memref.load %s[%y, %z] : memref<4x16xf32, {SHARED}>
    memref.store %v, %o[%at] : memref<128xf32>"""
    return module(body, "%a: memref<4x16xf32>, %o: memref<128xf32>")


def test_tiles_for_both_blocks() -> None:
    a = np.arange(64, dtype=np.float32).reshape(4, 16)
    for schedule in sim.SCHEDULES:
        o = np.full(128, np.nan, np.float32)
        sim.simulate(tiles(), "sim:gfx1250")(a, o, simulation=schedule)
        assert (o.reshape(2, 64) == a.reshape(-1)[::-1]).all()
    o = np.full(128, np.nan, np.float32)
    found = find(tiles(loads="%led"), a, o)
    assert {f.kind for f in found} == {"assertion", "uninitialized"}
    assert {f.kind for f in find(tiles(loads="%led", timeout="earlyTimeout %early"), a, o)} == {"uninitialized"}
    assert not find(tiles("[0, 0]"), a, o)
    (finding,) = find(tiles("[0, 1]"), a, o)
    assert finding.kind == "assertion" and finding.block == (0, 0, 0)
