"""What a kernel did that it must not, with its place in the source."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import findings
from ...diagnostics import Diagnostic, SourceLocation
from ...errors import SimulationError
from ...findings import counted

KINDS = {
    "race": "two accesses of the same memory, one of them a write, that nothing orders",
    "missing-fence": "a copy or product may not see what was stored before, as there is no fence between the proxies",
    "accumulator": "a result of an asynchronous product is used before the wait for it",
    "out-of-bounds": "an access outside of an array or of shared memory",
    "uninitialised": "a read of shared memory that nothing was written to",
    "barrier": "an arrival, a wait or a copy on a barrier that is not initialised, or too many arrivals",
    "transaction": "a phase of a barrier expects other bytes than copies bring",
    "deadlock": "nobody in a block can go on",
    "divergence": "threads of a warpgroup go different ways where they must go together",
    "division": "an integer is divided by 0, or the least one by -1",
    "leak": "asynchronous work that nothing waited for when the program ended",
    "assertion": "the program's own assertion, or a promise that it breaks",
}


@dataclass(frozen=True)
class Finding(findings.Finding):
    """A finding of the simulator. Its kinds are `KINDS`."""

    agent: str | None = None
    """Who did it: `warpgroup 1`, or the copy or product that it started."""
    iteration: tuple[int, ...] = ()
    """The induction variables of the loops around it, outermost first."""
    others: tuple[Finding, ...] = ()
    edge: str | None = None
    """What is missing, in words."""
    count: int = 1
    """How often it happened, with other blocks and iterations."""

    def participants(self) -> list[str]:
        found = super().participants()
        found += [self.agent] if self.agent else []
        found += [f"iteration {', '.join(map(str, self.iteration))}"] if self.iteration else []
        return found

    def addition(self) -> str:
        return f", {self.count} times" if self.count > 1 else ""

    def notes(self) -> tuple[Diagnostic, ...]:
        return (Diagnostic("note", f"missing: {self.edge}"),) if self.edge else ()

    def as_dict(self) -> dict[str, Any]:
        """The finding for JSON."""
        place = self.location
        return {
            "kind": self.kind,
            "message": self.message,
            "block": list(self.block) if self.block is not None else None,
            "agent": self.agent,
            "location": _place(place) if place else None,
            "python": [_place(line) for line in place.python] if place else [],
            "iteration": list(self.iteration),
            "others": [other.as_dict() for other in self.others],
            "missing": self.edge,
            "count": self.count,
        }


def _place(place: SourceLocation) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}


def to_json(found: Iterable[Finding]) -> str:
    """Findings as a JSON array."""
    return json.dumps([finding.as_dict() for finding in found], indent=2)


@dataclass(frozen=True)
class Site:
    """An operation, for messages."""

    name: str
    location: SourceLocation | None
    number: int = -1
    """Its place among the operations of the module."""


class Findings:
    """Collects findings: what differs only in block and iteration is one."""

    def __init__(self, limit: int, go_on: bool = False) -> None:
        self.limit = limit
        self.go_on = go_on
        """Whether a run that found as many does not end."""
        self._found: dict[tuple[Any, ...], Finding] = {}

    def add(self, finding: Finding, alike: Any = None) -> None:
        """Adds a finding. Those that are `alike` are one; without it those that say the same of the same agents."""
        others = tuple((other.location, other.agent if alike is None else None) for other in finding.others)
        key = (finding.kind, finding.location, finding.edge if alike is None else alike, others)
        if known := self._found.get(key):
            self._found[key] = dataclasses.replace(known, count=known.count + 1)
            return
        if len(self._found) < self.limit:
            self._found[key] = finding
        if len(self._found) >= self.limit and not self.go_on:
            raise Enough

    def all(self) -> tuple[Finding, ...]:
        return tuple(self._found.values())

    def __bool__(self) -> bool:
        return bool(self._found)


class Enough(Exception):
    """So much was found that the rest would say no more."""


class Stop(Exception):
    """The block cannot go on."""


class TimeLimit(Exception):
    """The run has reached its time limit; or it has none, and a loop of so many iterations would not end today."""

    def __init__(self, who: Any, site: Site | None, iterations: int | None = None) -> None:
        super().__init__()
        self.who, self.site, self.iterations = who, site, iterations


def error(what: str, found: Sequence[Finding], source: str | None = None) -> SimulationError:
    """The error that carries findings."""
    return SimulationError(
        f"{what}: {counted(found)}",
        findings=found,
        diagnostics=[finding.diagnostic() for finding in found],
        source=source,
    )
