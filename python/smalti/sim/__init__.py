# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulator of GPU kernels: executes a kernel on the CPU and reports data races, missing fences and deadlocks."""

from __future__ import annotations

from ..errors import SimulationError
from .kernel import SimulatedKernel, simulate
from .machine.findings import KINDS, Finding, to_json
from .machine.options import COMPLETIONS, ORDERS, SCHEDULES, Simulation
from .machine.timeline import Slice, Summary, Timeline

__all__ = [
    "COMPLETIONS",
    "KINDS",
    "ORDERS",
    "SCHEDULES",
    "Finding",
    "SimulatedKernel",
    "Simulation",
    "SimulationError",
    "Slice",
    "Summary",
    "Timeline",
    "simulate",
    "to_json",
]
