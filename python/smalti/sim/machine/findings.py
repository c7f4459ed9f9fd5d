# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings and their kinds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import findings
from ...diagnostics import Diagnostic, SourceLocation, counted
from ...errors import SimulationError

KINDS = {
    "race": "two conflicting accesses (at least one is a write) are unordered",
    "missing-fence": "two accesses are ordered, but without a fence the second may not see the write of the first",
    "accumulator": "the result registers of a wgmma are used while it may be in flight",
    "out-of-bounds": "an access outside its array, view, vector or memory space, or to a block outside the cluster",
    "uninitialized": "a read of shared or tensor memory that was not written in this run",
    "barrier": "a barrier is uninitialized or overwritten, has the wrong number of arrivals, or two phases can be confused",
    "transaction": "the bytes that an mbarrier phase expects differ from the bytes that copies deliver",
    "deadlock": "no thread of the block, cluster or grid can make progress",
    "divergence": "threads that must converge take different paths or pass different values",
    "division": "an integer is divided by 0, or the smallest integer by -1",
    "leak": "an asynchronous operation is outstanding at the end of the kernel, or targets a block that may have exited",
    "assertion": "the kernel violates an assertion, an assumption or an operand rule",
}


@dataclass(frozen=True)
class Finding(findings.Finding):
    """A finding of the simulator. `KINDS` lists the kinds."""

    agent: str | None = None
    """The agent: `warpgroup 1`, or `warp 0, lane 3`."""
    iteration: tuple[int, ...] = ()
    """The induction variables of the enclosing loops, outermost first."""
    others: tuple[Finding, ...] = ()
    hint: str | None = None
    """The text of the `help` line: what to do, for example where to place a barrier."""
    count: int = 1
    """The number of occurrences, in all blocks and iterations."""
    rest: str | None = None
    """On the last finding: why the run ended early, or how many findings are not shown."""

    def participants(self) -> list[str]:
        found = super().participants()
        found += [self.agent] if self.agent else []
        found += [f"iteration {', '.join(map(str, self.iteration))}"] if self.iteration else []
        return found

    def addition(self) -> str:
        return f", {self.count} times" if self.count > 1 else ""

    def notes(self) -> tuple[Diagnostic, ...]:
        found = [Diagnostic("help", self.hint)] if self.hint else []
        found += [Diagnostic("note", self.rest)] if self.rest else []
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """The finding as a dictionary for JSON."""
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
            "help": self.hint,
            "count": self.count,
        }


def _place(place: SourceLocation) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}


def to_json(found: Iterable[Finding]) -> str:
    """Findings as a JSON array."""
    return json.dumps([finding.as_dict() for finding in found], indent=2)


@dataclass(frozen=True)
class Site:
    """An op, for messages."""

    name: str
    location: SourceLocation | None
    number: int = -1
    """Its number among the ops of the module."""


MOST_OCCURRENCES = 4096
"""The number of occurrences of a finding after which a run ends, unless it continues after findings."""


class Findings:
    """Collects findings. Findings that differ only in block and iteration are merged."""

    def __init__(self, limit: int, continue_after_finding: bool = False) -> None:
        self.limit = limit
        self.continue_after_finding = continue_after_finding
        """Whether the run continues after the limit."""
        self._found: dict[tuple[Any, ...], Finding] = {}
        self._dropped: set[tuple[Any, ...]] = set()
        """Findings after the limit."""
        self._rest: str | None = None

    def add(self, finding: Finding, alike: Any = None) -> None:
        """Adds a finding. Findings with equal `alike` are merged; without it, those with the same hint and agents."""
        others = tuple((other.location, other.agent if alike is None else None) for other in finding.others)
        key = (finding.kind, finding.location, finding.hint if alike is None else alike, others)
        if known := self._found.get(key):
            self._found[key] = dataclasses.replace(known, count=known.count + 1)
            if known.count + 1 >= MOST_OCCURRENCES and not self.continue_after_finding:
                self._rest = f"the run ended after {MOST_OCCURRENCES} occurrences of a finding, the limit; correct it and run again"
                raise Enough
            return
        if len(self._found) < self.limit:
            self._found[key] = finding
        else:
            self._dropped.add(key)
        if len(self._found) >= self.limit and not self.continue_after_finding:
            shown = f"{self.limit} different finding{'s' * (self.limit > 1)}"
            self._rest = f"the run ended after {shown}, the limit; raise max_findings to find more"
            raise Enough

    def all(self) -> tuple[Finding, ...]:
        found = list(self._found.values())
        rest = self._rest
        if self._dropped:
            rest = f"further findings: {len(self._dropped)}; raise max_findings, which is {self.limit}, to see them"
        if rest:
            found[-1] = dataclasses.replace(found[-1], rest=rest)
        return tuple(found)

    def __bool__(self) -> bool:
        return bool(self._found)


class Enough(Exception):
    """The limit of findings is reached."""


class Stop(Exception):
    """The block cannot continue."""


class TimeLimit(Exception):
    """The run reached its time limit, or it does not have one and a loop has too many iterations."""

    def __init__(self, who: Any, site: Site | None, iterations: int | None = None) -> None:
        super().__init__()
        self.who, self.site, self.iterations = who, site, iterations


def error(what: str, found: Sequence[Finding], source: str | None = None) -> SimulationError:
    """The error that carries findings."""
    return SimulationError(
        f"{what}: {counted(len(found), 'finding')}",
        findings=found,
        diagnostics=[finding.diagnostic() for finding in found],
        source=source,
    )
