# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Protocols of the agents that the machine executes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from .clocks import HappensBefore
from .findings import Finding, Findings, Site


class Positioned(Protocol):
    """A block."""

    @property
    def position(self) -> tuple[int, int, int]: ...


class Reporting(Protocol):
    """A machine."""

    @property
    def findings(self) -> Findings: ...


class Actor(Protocol):
    """An agent: threads that execute together."""

    now: float
    """The time of the agent, in a run with a timeline."""
    known: HappensBefore
    pending_acquires: list[tuple[Site, int]]

    @property
    def warp_index(self) -> int | None:
        """The number of the warp in its block, if the agent is a warp."""
        ...

    @property
    def name(self) -> str: ...

    @property
    def agent(self) -> int: ...

    @property
    def counted(self) -> int: ...

    @property
    def loops(self) -> Sequence[Any]: ...

    @property
    def block(self) -> Positioned: ...

    @property
    def machine(self) -> Reporting: ...

    def arrive_at_barrier(self, threads: int, /) -> list[tuple[Site, int]]: ...

    def release(self) -> HappensBefore: ...

    def report(
        self, kind: str, message: str, site: Site, *, hint: str | None = None, others: Iterable[Finding] = ()
    ) -> None: ...
