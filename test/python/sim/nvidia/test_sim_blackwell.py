# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX's kernels for Blackwell: independent warps, cluster launch control, and two-block MMAs."""

from __future__ import annotations

import numpy as np
import pytest
from sim_programs import printed
from smalti import CompileError, sim
from smalti.sim import mutants

END = "      gpu.barrier\n      mosaic_gpu.tmem_dealloc"
ENDS = "      gpu.barrier\n      nvvm.cluster.arrive.relaxed {aligned}\n      nvvm.cluster.wait {aligned}\n"
WAIT = "      nvvm.cp.async.bulk.wait_group 0 {read}\n"


def replaced(source: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def matmul() -> str:
    """The matmul, which waits for its last copy."""
    return replaced(printed("small_blackwell_matmul"), (END, WAIT + END))


def matmul_of_two_blocks() -> str:
    """The two-block variant. All warps have the answer before one of their threads reports it. Only the block that
    multiplies waits for the accumulator, and the last barrier orders the accesses of the blocks."""
    barrier = (
        "        %say = arith.addi %113, %c1_i32 : i32\n"
        '        %all = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %say : (i32) -> !llvm.void\n'
    )
    both = "%both = arith.andi %206, %207 : i1\n            %208 = arith.andi %both, %arg38 : i1"
    return replaced(
        printed("small_blackwell_matmul_cluster"),
        (
            "        %177 = arith.remui %79, %c128_i32 : i32\n",
            f"{barrier}        %177 = arith.remui %79, %c128_i32 : i32\n",
        ),
        ("%208 = arith.andi %206, %207 : i1", both),
        (ENDS, WAIT + ENDS.replace(".relaxed", "")),
    )


def check(kernel: sim.SimulatedKernel, **how: object) -> None:
    a, b, c = kernel.random_arguments()
    assert kernel.find(a, b, c, simulation=sim.Simulation(**how)) == ()
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - wanted).max() <= np.finfo(np.float16).eps * np.abs(wanted).max()


@pytest.mark.parametrize("make", [matmul, matmul_of_two_blocks])
def test_matmuls_are_those_of_numpy_in_every_schedule(make: object) -> None:
    kernel = sim.simulate(make(), "sim:sm_100a")  # type: ignore[operator]
    for schedule in sim.SCHEDULES:
        check(kernel, order=schedule.order, completion=schedule.completion)


def test_the_last_copy_of_a_matmul_is_outstanding() -> None:
    kernel = sim.simulate(printed("small_blackwell_matmul"), "sim:sm_100a")
    a, b, c = kernel.random_arguments()
    (finding,) = kernel.find(a, b, c, simulation=sim.Simulation(completion="early", continue_after_finding=True))
    assert finding.kind == "leak" and finding.hint == "wait with nvvm.cp.async.bulk.wait_group 0"
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - wanted).max() <= np.finfo(np.float16).eps * np.abs(wanted).max()


def test_an_answer_is_overwritten_before_another_block_has_read_it() -> None:
    # One thread of the warpgroup reports that the answer was read; its other warps may read it later.
    kernel = sim.simulate(printed("small_blackwell_matmul_cluster"), "sim:sm_100a")
    found = kernel.find(*kernel.random_arguments())
    races = [finding for finding in found if finding.kind == "race"]
    assert {race.others[0].agent for race in races} == {"warpgroup 0", "warpgroup 1"}
    for race in races:
        assert race.message.startswith(
            "data race: the response writes bytes [163840, 163856) of shared memory of block (1, 0, 0)"
        )
        assert race.message.endswith("it is not ordered with the query") and race.block == (0, 0, 0)


def test_phase_aliasing_of_a_late_warp() -> None:
    # The block that does not multiply also waits for the accumulator, and no agent waits for that block.
    source = matmul_of_two_blocks().replace(
        "%208 = arith.andi %both, %arg38 : i1", "%208 = arith.andi %both, %both : i1"
    )
    kernel = sim.simulate(source, "sim:sm_100a")
    found = kernel.find(*kernel.random_arguments())
    (late,) = (finding for finding in found if finding.agent == "warp 1 of warpgroup 0")
    assert late.kind == "barrier" and late.block == (1, 0, 0)
    assert late.message.startswith(
        "this wait for phase 0 of the mbarrier at byte 164944 may run after phase 1 completes (phase aliasing)"
    )


def test_how_many_others_a_cluster_does_the_work_of() -> None:
    # The first one does the work of all, or there are four that do some.
    kernel = sim.simulate(matmul(), "sim:sm_100a")
    arguments = kernel.random_arguments()
    for order, runs in (("adversarial", 1), ("highest-first", 4)):
        done: list[int] = []
        how = sim.Simulation(order, progress=lambda now, count, done=done: done.append(now))
        assert kernel.find(*arguments, simulation=how) == ()
        # Progress is also reported once a second.
        assert len(set(done) - {0}) == runs and done[-1] == 8


def test_a_request_after_a_response_without_a_cluster() -> None:
    source = matmul()
    line = next(line for line in source.splitlines() if "query_cluster_cancel" in line)
    kernel = sim.simulate(
        source.replace(line, line.replace("%success", "%no") + "\n        %success = arith.constant true"),
        "sim:sm_100a",
    )
    found = kernel.find(*kernel.random_arguments(), simulation=sim.Simulation(blocks=range(1), max_findings=1))
    assert (
        found[0].kind == "assertion"
        and "the response to an earlier request stated that none is left" in found[0].message
    )


def test_mutants_are_noticed() -> None:
    kinds = ("expect_tx too small", "fence dropped", "arrival removed", "slots merged")
    kernel = sim.simulate(matmul(), "sim:sm_100a")
    outcomes = mutants.score(kernel, kernel.random_arguments(), kinds=kinds)
    assert [str(o) for o in outcomes if not o.caught] == []
    assert len(outcomes) >= 17 and {o.mutant.kind for o in outcomes} == set(kinds)


def test_ops_that_single_warps_cannot_execute_are_refused() -> None:
    line = "            nvvm.tcgen05.fence <after>\n"
    for more, said in (
        (
            "%v = arith.constant dense<0.0> : vector<64xf32>",
            "the simulator does not support this form of 'mosaic_gpu.warp_map': 'arith.constant' in the region has a vector as operand or result",
        ),
        (
            "nvvm.cluster.wait",
            "'mosaic_gpu.warp_map': all warps must execute 'nvvm.cluster.wait' together; move it out of the region",
        ),
    ):
        first, _, rest = matmul().partition(line)
        with pytest.raises(CompileError) as caught:
            sim.simulate(f"{first}{line}            {more}\n{rest}", "sim:sm_100a")
        assert caught.value.diagnostics[0].message.startswith(said)
