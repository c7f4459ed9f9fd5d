"""What tests of kernels ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from . import sim


def assert_race_free(
    source: Any,
    *arguments: Any,
    target: str = "sim:sm_90a",
    schedules: Sequence[sim.Simulation] = sim.SCHEDULES,
    blocks: range | None = None,
    seed: int = 0,
    **options: Any,
) -> None:
    """Raises a `SimulationError` with the findings where a kernel does in the simulator what it must not.

    `source` is a `sim.SimulatedKernel`, or what `sim.simulate` takes, with its options. Without `arguments` the arrays
    hold random numbers. `blocks` are those that run, all without it.
    """
    kernel = source if isinstance(source, sim.SimulatedKernel) else sim.simulate(source, target, **options)
    for schedule in schedules:
        values = [array.copy() for array in arguments] or kernel.random_arguments(seed)
        kernel(*values, simulation=dataclasses.replace(schedule, blocks=blocks))
