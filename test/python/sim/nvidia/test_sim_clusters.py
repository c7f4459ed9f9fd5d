# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters at block level: JAX's modules, and findings in mutants."""

from __future__ import annotations

import numpy as np
import pytest
from sim_programs import BARRIER, barrier, only, printed, program
from smalti import sim
from smalti.errors import LaunchError
from smalti.sim import mutants


def find(source: str, **how: object) -> tuple[sim.Finding, ...]:
    kernel = sim.simulate(source, "sim:sm_90a")
    return kernel.find(*kernel.random_arguments(), simulation=sim.Simulation(**how))


@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
def test_copies_to_other_blocks(schedule: sim.Simulation) -> None:
    kernel = sim.simulate(printed("collective_copy"), "sim:sm_90a")
    x, y = kernel.random_arguments()
    kernel(x, y, simulation=schedule)
    assert (x == y).all()
    kernel = sim.simulate(printed("store_to_a_peer"), "sim:sm_90a")
    x, y = kernel.random_arguments()
    kernel(x, y, simulation=schedule)
    assert (y == np.roll(x, 128, 0)).all()


def test_a_matmul_of_clusters_is_that_of_numpy_and_race_free() -> None:
    kernel = sim.simulate(printed("hopper_matmul_cluster_m"), "sim:sm_90a")
    a, b, c = kernel.random_arguments()
    c[...] = np.nan
    # A cluster has two blocks of 128 x 256; if one is selected, both run.
    kernel(a, b, c, simulation=sim.Simulation(blocks=range(3)))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    done = ~np.isnan(c)
    assert done.sum() == 4 * 128 * 256
    assert np.abs(c[done] - wanted[done]).max() <= 2.0**-10 * np.abs(wanted).max()


def test_a_matmul_of_clusters_in_time() -> None:
    kernel = sim.simulate(printed("hopper_matmul_cluster_m"), "sim:sm_90a")
    found = kernel.timeline(*kernel.random_arguments())
    assert {s.block for s in found.slices} == {(0, 0, 0), (1, 0, 0)}
    # Each block fetches its own rows, and half of the columns that both need.
    copies = [s for s in found.slices if s.kind == "copy" and s.track == "copies into shared memory"]
    assert sum(s.size for s in copies) == 2 * 32 * (128 * 64 + 64 * 256 // 2) * 2


@pytest.mark.parametrize("name", ["collective_copy", "store_to_a_peer"])
def test_every_mutant_of_a_copy_to_other_blocks_is_noticed(name: str) -> None:
    kernel = sim.simulate(printed(name), "sim:sm_90a")
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert [str(o) for o in outcomes if not o.caught] == []
    assert {"nvvm.cluster.wait", "nvvm.cluster.arrive.relaxed", "nvvm.fence.mbarrier.init"} <= {
        o.mutant.operation for o in outcomes
    }


REMOTE = "arrival removed of llvm.inline_asm"


def test_mutants_of_synchronization_between_blocks_are_caught() -> None:
    kernel = sim.simulate(printed("hopper_matmul_cluster_m"), "sim:sm_90a")
    arguments, reported = kernel.random_arguments(), dict[str, set[str]]()
    for mutant in mutants.mutants(kernel.module):
        name = mutant.operation
        if name.startswith(("nvvm.cluster", "nvvm.mbarrier.init")) or f"{mutant.kind} of {name}" == REMOTE:
            changed = sim.simulate(mutants.apply(kernel.module, mutant), "sim:sm_90a")
            how = sim.Simulation(numbers=False, blocks=range(1))
            for finding in changed.find(*arguments, simulation=how):
                reported.setdefault(f"{mutant.kind}: {mutant.operation}", set()).add(finding.kind)
    assert "deadlock" in reported["arrival removed: llvm.inline_asm"]
    assert "deadlock" in reported["arrival count too large: nvvm.mbarrier.init"]
    assert reported["arrival removed: nvvm.cluster.arrive.relaxed"] == {"barrier"}
    assert "barrier" in reported["wait removed: nvvm.cluster.wait"]


def test_a_block_that_may_not_have_started() -> None:
    without = printed("store_to_a_peer").replace("      nvvm.cluster.arrive.relaxed {aligned}\n", "")
    found = find(without.replace("      nvvm.cluster.wait {aligned}\n", ""), completion="early")
    assert {f.kind for f in found} == {"barrier"}
    assert "where no mbarrier is initialized" in found[0].message or "may not have" in found[0].message


def test_a_block_that_may_have_exited() -> None:
    # No wait covers the data from the other block.
    source = printed("store_to_a_peer")
    first = source.index("      nvvm.mbarrier.try_wait.parity")
    last = source.index("      gpu.terminator")
    finding = next(
        f for f in find(source[:first] + source[last:]) if f.agent == "warpgroup 0" and "exited" in f.message
    )
    assert finding.kind == "leak"
    assert finding.hint is not None and finding.hint.endswith("or reach a cluster barrier before the block exits")


def clustered(body: str, blocks: int = 2, size: int = 2) -> str:
    source = program(body, ["memref<64x64xf32>"], grid=blocks)
    source = source.replace(
        "gpu.launch async [%t]", "gpu.launch async [%t] clusters(%kx, %ky, %kz) in (%px = %two, %py = %one, %pz = %one)"
    )
    return source.replace(
        "%one = arith.constant 1 : index", f"%one = arith.constant 1 : index\n    %two = arith.constant {size} : index"
    )


SEND = """
      %s = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #gpu.address_space<workgroup>>
      %rank = gpu.cluster_block_id x
      %me = arith.index_cast %rank : index to i32
      %other = arith.subi %c1, %me : i32
      %p = mosaic_gpu.get_cluster_ref %s x(%other) : memref<64x64xf32, #gpu.address_space<workgroup>>
          -> memref<64x64xf32, #mosaic_gpu.smem_cluster>
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %v = arith.constant dense<1.0> : vector<64x64xf32>
      mosaic_gpu.vector_store %v, %p : vector<64x64xf32>, memref<64x64xf32, #mosaic_gpu.smem_cluster>
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %w = mosaic_gpu.vector_load %s : memref<64x64xf32, #gpu.address_space<workgroup>> -> vector<64x64xf32>
      mosaic_gpu.vector_store %w, %a0 : vector<64x64xf32>, memref<64x64xf32>"""


def test_stores_to_another_block_need_the_barrier_of_the_cluster() -> None:
    assert find(clustered(SEND)) == ()
    # A relaxed arrival does not tell of what was stored.
    relaxed = (
        SEND[: SEND.rindex("nvvm.cluster.arrive")]
        + "nvvm.cluster.arrive.relaxed"
        + SEND[SEND.rindex("nvvm.cluster.arrive") + 19 :]
    )
    finding = only(find(clustered(relaxed)))
    assert finding.kind == "race" and "shared memory of block (" in finding.message
    assert finding.others[0].block != finding.block
    assert finding.hint is not None and finding.hint.endswith("an mbarrier with arrival and wait at cluster scope")


def test_the_barrier_of_the_cluster_needs_everyone() -> None:
    body = """
      %rank = gpu.cluster_block_id x
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %rank, %zero : index
      scf.if %first {
        nvvm.cluster.arrive
        nvvm.cluster.wait
      }"""
    # Exited threads need not arrive.
    assert find(clustered(body)) == ()
    waits = (
        f" else {{\n{barrier('b', 0)}\n        mosaic_gpu.wait barrier(%b : {BARRIER}) parity(%false : i1)\n      }}"
    )
    finding = only(find(clustered(body + waits)))
    assert finding.kind == "deadlock"
    assert "no thread of the cluster can make progress" in finding.message
    assert "missing: warpgroup 0 of block (1, 0, 0)" in finding.message
    assert only(find(clustered("      nvvm.cluster.wait"))).kind == "barrier"
    twice = only(find(clustered("      nvvm.cluster.arrive\n      nvvm.cluster.arrive")))
    assert twice.message == (
        "this is the second arrival at the cluster barrier without a wait; a wait between two arrivals is required"
    )


def test_grids_that_are_not_a_multiple_of_the_cluster_are_refused() -> None:
    with pytest.raises(LaunchError, match="is not a multiple of the cluster size"):
        find(clustered("      nvvm.cluster.arrive\n      nvvm.cluster.wait", blocks=3))
