# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters of thread-level kernels: distributed shared memory, and copies to it."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from conftest import PALLAS
from sim_programs import only
from smalti import sim
from smalti.sim import mutants

BLOCKS, THREADS = 2, 64


def lowered(name: str) -> sim.SimulatedKernel:
    """A module of JAX's as a thread-level kernel."""
    return sim.simulate(PALLAS.joinpath(f"{name}.mlir"), "sim:sm_90a", level="thread")


@pytest.mark.parametrize("schedule", [sim.SCHEDULES[0], sim.SCHEDULES[5], sim.SCHEDULES[8]], ids=lambda s: s.order)
def test_copies_to_other_blocks(schedule: sim.Simulation) -> None:
    kernel = lowered("collective_copy")
    x, y = kernel.random_arguments()
    kernel(x, y, simulation=schedule)
    assert (x == y).all()
    kernel = lowered("store_to_a_peer")
    x, y = kernel.random_arguments()
    kernel(x, y, simulation=schedule)
    assert (y == np.roll(x, 128, 0)).all()


@pytest.mark.parametrize(("name", "blocks"), [("small_matmul_cluster_n", None), ("hopper_matmul_cluster_m", 1)])
def test_a_matmul_of_clusters_is_that_of_numpy_and_race_free(name: str, blocks: int | None) -> None:
    kernel = lowered(name)
    a, b, c = kernel.random_arguments()
    c[...] = np.nan
    kernel(a, b, c, simulation=sim.Simulation(blocks=range(blocks) if blocks else None))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    done = ~np.isnan(c)
    assert done.sum() == (65536 if blocks else c.size)
    assert np.abs(c[done] - wanted[done]).max() <= 2.0**-10 * np.abs(wanted).max()


@pytest.mark.parametrize("name", ["collective_copy", "store_to_a_peer"])
def test_every_mutant_of_a_copy_to_other_blocks_is_noticed(name: str) -> None:
    kernel = lowered(name)
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert [str(o) for o in outcomes if not o.caught] == []
    operations = {o.mutant.operation for o in outcomes}
    assert {"nvvm.cluster.wait", "nvvm.cluster.arrive.relaxed", "nvvm.fence.mbarrier.init"} <= operations


@pytest.mark.slow
def test_mutants_of_a_matmul_of_clusters_are_noticed() -> None:
    kernel = lowered("small_matmul_cluster_n")
    kinds = ("arrival removed", "fence dropped", "barrier removed")
    outcomes = mutants.score(kernel, kernel.random_arguments(), blocks=range(1), kinds=kinds)
    assert [str(o) for o in outcomes if not o.caught] == []
    assert "arrival removed: llvm.inline_asm" in {f"{o.mutant.kind}: {o.mutant.operation}" for o in outcomes}


# ---------------------------------------------------------------------------------------------------------------------
# By hand
# ---------------------------------------------------------------------------------------------------------------------

SYNC = "\n    nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}"
READ = """
    %w = llvm.load %mine : !llvm.ptr<3> -> i32
    %g = arith.addi %at, %first : index
    memref.store %w, %o[%g] : memref<128xi32>"""


def program(body: str, cluster: int = 2, shared: int = 512) -> str:
    """Two blocks of 64 threads. `%rank` is the block's number, `%other` the other one's, `%mine` a word of each thread
    in shared memory and `%theirs` the same word of the other block."""
    return f"""gpu.module @m {{
  gpu.func @k(%x: memref<128xi32>, %o: memref<128xi32>) kernel attributes {{
      known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>,
      known_cluster_size = array<i32: {cluster}, 1, 1>}} {{
    %tile = memref.alloc() : memref<{shared}xi8, #gpu.address_space<workgroup>>
    %base = memref.extract_aligned_pointer_as_index %tile
        : memref<{shared}xi8, #gpu.address_space<workgroup>> -> index
    %base_i = arith.index_cast %base : index to i64
    %p = llvm.inttoptr %base_i : i64 to !llvm.ptr<3>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %bytes = arith.constant 256 : i32
    %false = arith.constant false
    %true = arith.constant true
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %other = arith.subi %one, %rank : i32
    %t = gpu.thread_id x
    %t32 = arith.index_cast %t : index to i32
    %block = gpu.block_id x
    %first = arith.muli %block, %c64 : index
    %at = arith.addi %t, %c0 : index
    %leads = arith.cmpi eq, %t, %c0 : index
    %mine = llvm.getelementptr %p[%t32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %theirs = nvvm.mapa %mine, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    %from = arith.addi %t, %first : index
    %v = memref.load %x[%from] : memref<128xi32>
{body}
    gpu.return
  }}
}}"""


def find(body: str, **how: object) -> tuple[sim.Finding, ...]:
    x, o = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    found = smalti.compile(program(body), target="sim:sm_90a").find(x, o, simulation=sim.Simulation(**how))
    if not found:
        assert (o == np.roll(x, 64)).all()
    return found


PUT = "\n    llvm.store %v, %theirs : i32, !llvm.ptr<7>"
GENERIC = """
    %far = llvm.addrspacecast %theirs : !llvm.ptr<7> to !llvm.ptr
    llvm.store %v, %far : i32, !llvm.ptr"""
GET = (
    """
    llvm.store %v, %mine : i32, !llvm.ptr<3>"""
    + SYNC
    + """
    %w = llvm.load %theirs : !llvm.ptr<7> -> i32
    memref.store %w, %o[%from] : memref<128xi32>"""
)


@pytest.mark.parametrize("order", ["round-robin", "highest-first"])
def test_stores_and_loads_of_another_block(order: str) -> None:
    assert find(SYNC + PUT + SYNC + READ, order=order) == ()
    assert find(SYNC + GENERIC + SYNC + READ, order=order) == ()
    assert find(GET + SYNC, order=order) == ()
    relaxed = SYNC.replace("arrive", "arrive.relaxed")
    assert find(relaxed + PUT + SYNC + READ, order=order) == ()
    # A relaxed arrival does not release stores.
    finding = find(SYNC + PUT + relaxed + READ, order=order)[0]
    assert finding.kind == "race" and "of shared memory of block (" in finding.message
    assert finding.others[0].block != finding.block
    assert finding.hint is not None and finding.hint.endswith("an mbarrier with arrival and wait at cluster scope")


def test_a_block_that_may_not_have_started_or_may_have_exited() -> None:
    early = find(PUT + SYNC + READ)
    assert {f.kind for f in early} == {"barrier"}
    assert early[0].message == "the store targets block (1, 0, 0), which may not have started"
    assert early[0].hint == "execute nvvm.cluster.arrive and nvvm.cluster.wait before the access"
    late = find(GET)
    assert {f.kind for f in late} == {"leak"}
    assert late[0].message == "the load targets the shared memory of block (0, 0, 0), which may have exited"
    # The final wait is needed, too, and mutants do not duplicate it.
    kernel = sim.simulate(program(GET + SYNC), "sim:sm_90a")
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert all(o.caught for o in outcomes)
    assert [o.mutant.kind for o in outcomes].count("wait removed") == 2


def test_lanes_of_one_warp_reach_different_blocks() -> None:
    body = """
    %odd = arith.andi %t32, %one : i32
    %there = nvvm.mapa %mine, %odd : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.store %v, %mine : i32, !llvm.ptr<3>"""
    body += SYNC + "\n    %w = llvm.load %there : !llvm.ptr<7> -> i32"
    body += "\n    memref.store %w, %o[%from] : memref<128xi32>" + SYNC
    x, o = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    smalti.compile(program(body), target="sim:sm_90a")(x, o)
    assert (o == np.arange(128) % 64 + 64 * (np.arange(128) % 2)).all()
    outside = body.replace("%mine, %odd", "%mine, %t32")
    finding = smalti.compile(program(outside), target="sim:sm_90a").find(x, o)[0]
    assert (
        finding.message == "the load targets block 2, which is outside the cluster of 2 blocks"
        and finding.kind == "out-of-bounds"
    )


def test_the_barrier_of_the_cluster() -> None:
    first = "\n    %is = arith.cmpi eq, %rank, %zero : i32\n    scf.if %is {" + SYNC + "\n    }"
    # Exited threads need not arrive.
    x, o = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    assert smalti.compile(program(first), target="sim:sm_90a").find(x, o) == ()
    waits = " else {" + INIT + WAIT + "\n    }"
    finding = only(find(first + waits))
    assert finding.kind == "deadlock"
    message = "waits for the cluster barrier; missing: warp 0 of block (1, 0, 0), warp 1 of block (1, 0, 0)"
    assert any(message in one.message for one in (finding, *finding.others))
    assert only(find("\n    nvvm.cluster.wait")).message.startswith("this wait at the cluster barrier does")
    assert only(find("\n    nvvm.cluster.arrive" + SYNC)).message.startswith("this is the second arrival at the")
    half = "\n    scf.if %leads {\n    nvvm.cluster.arrive\n    }"
    assert only(find(half)).kind == "divergence"
    with pytest.raises(smalti.LaunchError, match="is not a multiple of the cluster size"):
        smalti.compile(program("", cluster=3), target="sim:sm_90a")(x, o)
    with pytest.raises(smalti.LaunchError, match="the cluster has 32 blocks; a cluster has at most 16 blocks"):
        smalti.compile(program("", cluster=32), target="sim:sm_90a")


INIT = """
    %b = llvm.getelementptr %p[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %b_there = nvvm.mapa %b, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    %b_other = llvm.addrspacecast %b_there : !llvm.ptr<7> to !llvm.ptr<3>
    scf.if %leads {
      nvvm.mbarrier.init %b, %one : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    gpu.barrier"""
WAIT = "\n    nvvm.mbarrier.try_wait.parity %b, %zero, %bytes : !llvm.ptr<3>, i32, i32"
EXPECT = """
    scf.if %leads {
      nvvm.mbarrier.arrive.expect_tx %b, %bytes : !llvm.ptr<3>, i32
    }"""
SEND = """
    llvm.store %v, %mine : i32, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %q = llvm.getelementptr %p[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %q_there = nvvm.mapa %q, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    scf.if %leads {
      nvvm.cp.async.bulk.shared.cluster.shared.cta %q_there, %p, %b_other, %bytes : !llvm.ptr<7>, !llvm.ptr<3>
    }"""
TAKE = """
    %arrived = llvm.getelementptr %q[%t32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %w = llvm.load %arrived : !llvm.ptr<3> -> i32
    memref.store %w, %o[%from] : memref<128xi32>"""


def sent(*parts: str) -> tuple[sim.Finding, ...]:
    x, o = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    kernel = smalti.compile(program("".join(parts), shared=1024), target="sim:sm_90a")
    found = kernel.find(x, o)
    if not found:
        assert (o == np.roll(x, 64)).all()
        outcomes = mutants.score(kernel.launcher, [x, o])
        assert [str(one) for one in outcomes if not one.caught] == []
    return found


def test_copies_of_bytes_to_another_block() -> None:
    assert sent(INIT, SYNC, EXPECT, SEND, WAIT, TAKE, SYNC) == ()
    # The other block waits for what it gets; it need not wait for the end of this one, which may not end before.
    assert sent(INIT, SYNC, EXPECT, SEND, WAIT, TAKE) == ()
    fence = SEND.replace(
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}", ""
    )
    assert only(sent(INIT, SYNC, EXPECT, fence, WAIT, TAKE)).kind == "missing-fence"
    # One of one direction does, for shared memory.
    between = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
    for order in ("release", "acquire"):
        one = f"nvvm.fence.proxy.sync_restrict {{order = #nvvm.mem_order<{order}>}}"
        assert sent(INIT, SYNC, EXPECT, SEND.replace(between, one), WAIT, TAKE) == ()
    of_global = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}"
    of_threads = "nvvm.fence.sync_restrict {order = #nvvm.mem_order<release>}"
    for other in (of_global, of_threads):
        assert only(sent(INIT, SYNC, EXPECT, SEND.replace(between, other), WAIT, TAKE)).kind == "missing-fence"
    # The fence after an initialization is executed by the thread that initialized.
    elsewhere = "\n    }\n    scf.if %second {\n      nvvm.fence.mbarrier.init\n    }"
    late = INIT.replace("\n      nvvm.fence.mbarrier.init\n    }", elsewhere)
    second = "\n    %is1 = arith.constant 1 : i32\n    %second = arith.cmpi eq, %t32, %is1 : i32"
    assert "missing-fence" in {f.kind for f in sent(second, late, SYNC, EXPECT, SEND, WAIT, TAKE)}
    other = SEND.replace("%b_other, %bytes", "%b, %bytes")
    finding = sent(INIT, SYNC, EXPECT, other, WAIT, TAKE)[0]
    assert finding.message.startswith("the destination of the copy and the mbarrier at byte")
    finding = sent(INIT, SYNC, EXPECT, SEND.replace("%bytes : !llvm.ptr<7>", "%two : !llvm.ptr<7>"), WAIT, TAKE)[0]
    assert "all three must be multiples of 16 B" in finding.message


WAIT_FOR_CLUSTER = """
    scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %b, %zero {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
      %open = arith.xori %done, %true : i1
      scf.condition(%open)
    } do {
      scf.yield
    }"""
TELL = """
    gpu.barrier
    scf.if %leads {
      nvvm.mbarrier.arrive %b_there {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
    }"""
ASSEMBLY = """
    gpu.barrier
    llvm.inline_asm has_side_effects "{ .reg .b32 mapped_addr; @$0 mapa.shared::cluster.u32 mapped_addr, $1, $2; \
@$0 mbarrier.arrive.shared::cluster.b64 _, [mapped_addr]; }", "b,r,r" %leads, %b, %other : (i1, !llvm.ptr<3>, i32) -> ()"""
READ_RECEIVED = READ.replace("%o[%g]", "%o[%from]")


def test_arrivals_on_barriers_of_another_block() -> None:
    assert sent(INIT, SYNC, PUT, TELL, WAIT_FOR_CLUSTER, READ_RECEIVED) == ()
    kinds = {f.kind for f in sent(INIT, SYNC, PUT, TELL, READ_RECEIVED)}
    assert kinds == {"race", "leak", "uninitialized"}
    # Only threads of its block wait for a barrier, or initialize it.
    far = WAIT.replace("%b,", "%far,").replace("ptr<3>", "ptr")
    cast = "\n    %far = llvm.addrspacecast %b_there : !llvm.ptr<7> to !llvm.ptr"
    finding = sent(INIT, cast, SYNC, TELL, far)[0]
    assert finding.kind == "barrier" and finding.message.endswith("supports only mbarriers of the same block")
    # The initialization of the barrier there is not ordered before.
    found = sent(INIT, TELL, WAIT_FOR_CLUSTER, READ_RECEIVED)
    assert "barrier" in {f.kind for f in found}


SCOPE = " {scope = #nvvm.mem_scope<cluster>}"


@pytest.mark.parametrize(
    ("tell", "wait"),
    [
        (TELL.replace(SCOPE, ""), WAIT_FOR_CLUSTER),
        (TELL, WAIT_FOR_CLUSTER.replace(SCOPE, "")),
        (TELL, WAIT),
        (ASSEMBLY, WAIT_FOR_CLUSTER),
    ],
    ids=["arrival", "wait", "wait without one", "arrival in assembly"],
)
def test_scopes_of_arrivals_and_waits(tell: str, wait: str) -> None:
    """An arrival and a wait with block scope do not make stores of another block visible. They order later writes after
    earlier reads: memory that was read may be overwritten."""
    finding = sent(INIT, SYNC, PUT, tell, wait, READ_RECEIVED)[0]
    assert finding.kind == "race" and "it is not ordered with the store" in finding.message
    assert finding.others[0].block != finding.block and finding.hint is not None
    assert finding.hint.endswith("an mbarrier with arrival and wait at cluster scope")
    put = "\n    llvm.store %v, %mine : i32, !llvm.ptr<3>"
    get = "\n    %w = llvm.load %theirs : !llvm.ptr<7> -> i32\n    memref.store %w, %o[%from] : memref<128xi32>"
    over = "\n    llvm.store %zero, %mine : i32, !llvm.ptr<3>"
    assert sent(INIT, put, SYNC, get, tell, wait, over, SYNC) == ()
    race = sent(INIT, put, SYNC, get, over, SYNC)[0]
    assert race.kind == "race" and race.others[0].block != race.block


RELAXED = {
    "arrive": "{relaxed = true, scope = #nvvm.mem_scope<cluster>}",
    "release": "nvvm.fence.sync_restrict {order = #nvvm.mem_order<release>}",
    "acquire": "nvvm.fence.sync_restrict {order = #nvvm.mem_order<acquire>}",
}


def test_relaxed_arrivals_and_waits_between_fences() -> None:
    tell = TELL.replace(SCOPE, " " + RELAXED["arrive"])
    wait = WAIT_FOR_CLUSTER.replace(SCOPE, " " + RELAXED["arrive"])
    release, acquire = (f"\n    {RELAXED[name]}" for name in ("release", "acquire"))
    fenced = tell.replace("scf.if %leads {", f"scf.if %leads {{{release}")
    assert sent(INIT, SYNC, PUT, fenced, wait, acquire, READ_RECEIVED) == ()
    for parts in ((tell, wait, acquire), (fenced, wait), (fenced.replace(release, acquire), wait, acquire)):
        finding = sent(INIT, SYNC, PUT, *parts, READ_RECEIVED)[0]
        assert finding.kind == "race" and "it is not ordered with the store" in finding.message
    # One for the block does not reach another one.
    small = fenced.replace("cluster>}", "cta>}")
    assert sent(INIT, SYNC, PUT, small, wait, acquire, READ_RECEIVED)[0].kind == "race"


def test_arrivals_in_assembly_by_number() -> None:
    get = "\n    %w = llvm.load %theirs : !llvm.ptr<7> -> i32\n    memref.store %w, %o[%from] : memref<128xi32>"
    put = "\n    llvm.store %v, %mine : i32, !llvm.ptr<3>"
    over = "\n    llvm.store %zero, %mine : i32, !llvm.ptr<3>"
    assert sent(INIT, put, SYNC, get, ASSEMBLY, WAIT, over) == ()
    finding = sent(INIT, SYNC, PUT, ASSEMBLY.replace("%other :", "%two :"), WAIT, READ)[0]
    assert finding.message == "the arrival targets block 2, which is outside the cluster of 2 blocks"


def test_reductions_in_another_block() -> None:
    text = ".shared::cluster.mbarrier::complete_tx::bytes"
    before = "\n    llvm.store %one, %mine : i32, !llvm.ptr<3>" + INIT.replace("\n    gpu.barrier", "") + EXPECT + SYNC
    body = f"""
    %theirs0 = nvvm.mapa %p, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.inline_asm has_side_effects "red.async.relaxed.cluster{text}.add.u32 [$0], $1, [$2];", "l,r,l"
        %theirs0, %v, %b_there : (!llvm.ptr<7>, i32, !llvm.ptr<7>) -> ()"""
    x, o = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    kernel = smalti.compile(program(before + body + WAIT + READ), target="sim:sm_90a")
    kernel(x, o)
    assert o[0] == 1 + np.arange(64, 128).sum() and o[64] == 1 + np.arange(64).sum()
    assert (np.delete(o, [0, 64]) == 1).all()
    outcomes = mutants.score(kernel.launcher, [x, o])
    assert [str(one) for one in outcomes if not one.caught] == [] and len(outcomes) == 8
    stores = body.replace("red.async.relaxed.cluster", "st.async.weak").replace(".add.u32", ".b32")
    found = smalti.compile(program(before + stores + WAIT + READ), target="sim:sm_90a").find(x, o)
    assert found[0].kind == "race"
