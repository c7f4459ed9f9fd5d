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
    """Threads that do things together."""

    now: float
    """The moment up to which it has run, in a run with a timeline."""
    known: HappensBefore
    pending_acquires: list[tuple[Site, int]]

    @property
    def warp_index(self) -> int | None:
        """Which warp of its block it is, if it is one."""
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
