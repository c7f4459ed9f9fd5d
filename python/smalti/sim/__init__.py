"""The simulator: runs programs of warpgroups with the hardware's rules of concurrency, and finds races and deadlocks."""

from __future__ import annotations

from ..errors import SimulationError
from .findings import KINDS, Finding, to_json
from .kernel import SimulatedKernel, simulate
from .options import COMPLETIONS, ORDERS, SCHEDULES, Simulation
from .timeline import Slice, Summary, Timeline

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
