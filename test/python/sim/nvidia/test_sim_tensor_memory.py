# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor memory of Blackwell: JAX's modules, and findings in mutants."""

from __future__ import annotations

import numpy as np
import pytest
from sim_programs import only, printed
from smalti import TargetError, sim
from smalti.sim import mutants

NAMES = ("tensor_core", "tensor_core_operand_in_tensor_memory", "copy_to_tensor_memory")


def find(source: str, **how: object) -> tuple[sim.Finding, ...]:
    kernel = sim.simulate(source, "sim:sm_100a")
    return kernel.find(*kernel.random_arguments(), simulation=sim.Simulation(**how))


@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
def test_mmas_and_copies_of_the_tensor_core(schedule: sim.Simulation) -> None:
    for name, times in (("tensor_core", 1), ("tensor_core_operand_in_tensor_memory", 2)):
        kernel = sim.simulate(printed(name), "sim:sm_100a")
        a, b, c = kernel.random_arguments()
        kernel(a, b, c, simulation=schedule)
        wanted = times * (a.astype(np.float64) @ b.astype(np.float64))
        assert np.abs(c - wanted).max() <= 16 * np.finfo(c.dtype).eps * np.abs(wanted).max()
    kernel = sim.simulate(printed("copy_to_tensor_memory"), "sim:sm_100a")
    x, y = kernel.random_arguments()
    kernel(x, y, simulation=schedule)
    assert (x == y).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_mutant_is_noticed(name: str) -> None:
    kernel = sim.simulate(printed(name), "sim:sm_100a")
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert [str(o) for o in outcomes if not o.caught] == []
    reported = {o.mutant.operation: o.findings[0].kind for o in outcomes}
    assert reported["nvvm.tcgen05.fence"] == "missing-fence"
    assert reported["mosaic_gpu.tcgen05_commit_arrive"] == "deadlock"
    if name == "tensor_core_operand_in_tensor_memory":
        assert reported["nvvm.tcgen05.wait"] == "race"


def test_a_missing_fence_after_the_wait() -> None:
    finding = only(find(printed("tensor_core").replace("      nvvm.tcgen05.fence <after>\n", "")))
    assert finding.message.endswith(
        "of tensor memory, which the MMA wrote; the access is not ordered after the wait for the MMA"
    )
    assert finding.hint == "execute nvvm.tcgen05.fence <after> after the wait and before the access"


def test_a_result_is_loaded_before_the_mma_completes() -> None:
    source = printed("tensor_core")
    wait = source.index("      nvvm.mbarrier.try_wait.parity", source.index("tcgen05_commit_arrive"))
    found = find(source[:wait] + source[source.index("\n", wait) + 1 :])
    finding = found[0]
    assert finding.kind == "race" and finding.message.startswith(
        "data race: the load reads bytes [0, 65536) of tensor memory"
    )
    assert finding.hint == (
        "wait for the MMA in warpgroup 0 with mosaic_gpu.tcgen05_commit_arrive and a wait for its mbarrier"
    )
    assert [other.kind for other in found[1:]] == ["race", "leak", "leak"]
    assert found[1].message.startswith("data race: the deallocation writes bytes [0, 65536) of tensor memory")
    assert found[2].message.startswith("the tcgen05 commit is outstanding")


def test_mmas_without_a_commit() -> None:
    source = printed("tensor_core")
    commit = source.index('      "mosaic_gpu.tcgen05_commit_arrive"')
    found = find(source[:commit] + source[source.index("\n", commit) + 1 :])
    assert found[0].kind == "deadlock" and "outstanding: 1 of 1 arrivals" in found[0].message


def test_an_accumulator_that_was_never_written() -> None:
    source = printed("tensor_core").replace(
        '"mosaic_gpu.tcgen05_mma"(%72, %68, %69, %false)', '"mosaic_gpu.tcgen05_mma"(%72, %68, %69, %yes)'
    )
    source = source.replace(
        "      nvvm.fence.mbarrier.init\n", "      nvvm.fence.mbarrier.init\n      %yes = arith.constant true\n"
    )
    finding = find(source)[0]
    assert finding.kind == "uninitialized" and "of tensor memory" in finding.message


def test_more_columns_than_there_are() -> None:
    source = printed("copy_to_tensor_memory")
    line = next(line for line in source.splitlines() if "tmem_alloc " in line)
    more = "\n".join(line.replace("%42 =", f"%more{i} =").replace("128x128", "128x256") for i in range(2))
    finding = only(find(source.replace(line, f"{line}\n{more}")))
    assert (
        finding.kind == "out-of-bounds"
        and finding.message
        == "the allocation needs 256 columns of tensor memory, but 128 of 512 are free; allocate less, or deallocate before"
    )


def test_chips_without_latencies_do_not_have_timelines() -> None:
    kernel = sim.simulate(printed("tensor_core"), "sim:sm_100a")
    with pytest.raises(TargetError, match="the target table does not contain latencies for sm_100a"):
        kernel.timeline(*kernel.random_arguments())
