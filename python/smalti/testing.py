# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assertions for tests of kernels."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any

from . import sim


def assert_race_free(
    source: Any,
    *arguments: Any,
    target: str = "sim:sm_90a",
    entry: str | None = None,
    schedules: Sequence[sim.Simulation] = sim.SCHEDULES,
    blocks: range | None = None,
    seed: int = 0,
    **options: Any,
) -> None:
    """Raises a `SimulationError` with the findings if the simulator finds an error in a kernel, such as a data race.

    `source` is a `sim.SimulatedKernel`, or the path, text or module that `sim.simulate` accepts together with `target`
    and `options`; `entry` is the name of the kernel if the module has several. The kernel runs once per schedule. Without `arguments` the arrays hold random numbers from `seed`.
    `blocks` selects the blocks to run; None runs all.
    """
    kernel = source if isinstance(source, sim.SimulatedKernel) else sim.simulate(source, target, name=entry, **options)
    for schedule in schedules:
        values = [*copy.deepcopy(arguments)] or kernel.random_arguments(seed)
        kernel(*values, simulation=dataclasses.replace(schedule, blocks=blocks))
