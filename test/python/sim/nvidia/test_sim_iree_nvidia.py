# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in the style of IREE's pipelines for NVIDIA chips, with and without pipelining: against numpy, and every
mutant; and the vector ops that such pipelines leave."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from iree_nvidia_programs import matmul, softmax
from smalti import sim
from smalti.sim import mutants

WAYS = [(1, 1), (2, 2), (3, 3), (4, 4)]
"""Slots and stages."""


def pipelined(steps: int, slots: int, stages: int) -> sim.SimulatedKernel:
    module = smalti.parse(matmul(32 * steps))
    passes = f"smalti-multi-buffer{{depth={slots}}},smalti-pipeline-loops{{stages={stages} target=sm_80}}"
    smalti.Pipeline(f"builtin.module(gpu.module(gpu.func({passes})))").run(module)
    return sim.simulate(module, "sim:sm_80")


@pytest.mark.parametrize("steps", [1, 3, 6])
@pytest.mark.parametrize(("slots", "stages"), WAYS)
def test_matmuls_are_those_of_numpy(slots: int, stages: int, steps: int) -> None:
    kernel = pipelined(steps, slots, stages)
    waits = sum("device_async_wait" in line for line in str(kernel.module).splitlines())
    assert waits == 1 if stages == 1 or steps == 1 else waits > 1
    a, b, c = kernel.random_arguments()
    for schedule in (sim.SCHEDULES[steps], sim.SCHEDULES[-1]):
        kernel(a, b, c, simulation=schedule)
        assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() <= 1e-4


@pytest.mark.parametrize(("slots", "stages"), WAYS[1:])
def test_every_mutant_of_a_matmul_is_caught(slots: int, stages: int) -> None:
    kernel = pipelined(4, slots, stages)
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    assert {"barrier removed", "wait removed", "wait weakened by one", "slots merged"} <= {
        outcome.mutant.kind for outcome in outcomes
    }


def test_a_softmax_reduces_by_shuffles_and_shared_memory() -> None:
    kernel = sim.simulate(softmax(), "sim:sm_80")
    x, y = kernel.random_arguments()
    for schedule in sim.SCHEDULES[:4]:
        kernel(x, y, simulation=schedule)
        e = np.exp(x.astype(np.float64))
        np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-6)
    outcomes = mutants.score(kernel, [x, y])
    assert len(outcomes) == 2 and all(outcome.caught for outcome in outcomes)
    # One buffer for both reductions would be overwritten while others read it.
    shared = softmax().replace("%sum_parts[", "%max_parts[")
    kernel = sim.simulate(shared, "sim:sm_80")
    assert {finding.kind for finding in kernel.find(x, y)} == {"race"}
