# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Outcomes of the kernels on a target: right, refused with a sentence, or wrong."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import smalti
from fuzz import differential
from smalti import reference
from smalti.compiler import entry

from .kernels import Case

TARGETS = ("cpu", "emu:sm_80", "emu:gfx942", "emu:gfx1201", "sim:sm_80")

MOST_UNKNOWN = 0.5
"""The largest part of a result that may have an infinite bound: more of them, and the kernel does not test anything."""


class ReferenceRefuses(AssertionError):
    """The reference interpreter does not execute a kernel of the matrix, or it does not determine the result."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a kernel on a target."""

    case: Case
    target: str
    kind: str
    """`right`, `refused` or `wrong`."""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.target}: {self.case}: {self.kind}{': ' + self.detail if self.detail else ''}"


def expected(case: Case) -> list[reference.Value]:
    """The result of the reference interpreter. A kernel of the matrix must have one."""
    with np.errstate(all="ignore"):
        try:
            module = smalti.parse(case.program.text)
            values = reference.run(entry.find_entry(module), case.program.arguments())
        except smalti.SmaltiError as error:
            raise ReferenceRefuses(f"{case}: {error}") from error
    for value in values:
        if value.error is not None and np.mean(np.isinf(value.error)) > MOST_UNKNOWN:
            raise ReferenceRefuses(f"{case}: the reference does not determine most elements of a result")
    return values


def run(case: Case, targets: Iterable[str]) -> list[Outcome]:
    """The outcomes of a kernel on targets."""
    wanted = expected(case)
    outcomes: list[Outcome] = []
    for target in targets:
        try:
            with np.errstate(all="ignore"):
                refusal = differential.run(case.program, target, wanted)
        except Exception as error:
            message = str(error) if isinstance(error, differential.Disagreement) else f"{type(error).__name__}: {error}"
            outcomes.append(Outcome(case, target, "wrong", message.splitlines()[0].removeprefix(f"{target}: ")))
            continue
        if refusal is None:
            outcomes.append(Outcome(case, target, "right"))
        else:
            outcomes.append(Outcome(case, target, "refused", refusal))
    return outcomes


def _operation(case: Case) -> str:
    """The operation of a kernel, without its variant."""
    return case.operation.split()[0] if "." in case.operation else case.operation


@dataclass
class Report:
    """The outcomes of many kernels."""

    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By operation and target."""
    refusals: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By target: the number of kernels with each sentence. Numbers and types are replaced by N."""
    wrong: list[Outcome] = field(default_factory=list)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self.counts[_operation(outcome.case), outcome.target][outcome.kind] += 1
            if outcome.kind == "refused":
                self.refusals[outcome.target][differential.reason(outcome.detail)] += 1
            elif outcome.kind == "wrong":
                self.wrong.append(outcome)

    def by_target(self) -> dict[str, dict[str, Any]]:
        """The number of kernels with each outcome, the refusals by sentence, and the wrong kernels."""
        found: dict[str, dict[str, Any]] = {}
        for (_, target), counts in self.counts.items():
            row = found.setdefault(target, {"kernels": 0, "right": 0, "refused": 0, "wrong": 0})
            row["kernels"] += counts.total()
            for kind, count in counts.items():
                row[kind] += count
        for target, row in found.items():
            row["refusals"] = dict(self.refusals[target].most_common())
            row["wrong_kernels"] = {str(o.case): o.detail for o in self.wrong if o.target == target}
        return found

    def table(self, targets: Sequence[str]) -> list[str]:
        """One line per operation: right and refused kernels on each target, and wrong ones."""
        lines = [f"{'right / refused / wrong':40}" + "".join(f"{target:>16}" for target in targets)]
        for operation in dict.fromkeys(name for name, _ in self.counts):
            cells = [self.counts.get((operation, target), Counter()) for target in targets]
            texts = [f"{c['right']}/{c['refused']}/{c['wrong']}" if c else "-" for c in cells]
            lines.append(f"{operation:40}" + "".join(f"{text:>16}" for text in texts))
        return lines

    def reasons(self) -> list[str]:
        """The sentences of the refusals, most frequent first."""
        lines: list[str] = []
        for target, reasons in self.refusals.items():
            lines += [f"{target}: {count} refused: {reason}" for reason, count in reasons.most_common()]
        return lines


class Log:
    """A file of outcomes, one per line. The last outcome of a kernel on a target counts."""

    def __init__(self, path: Path, cases: Iterable[Case], resume: bool) -> None:
        self._path = path
        self._known: dict[tuple[str, str], Outcome] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            path.write_text("")
        by_name = {str(case): case for case in cases}
        for line in path.read_text().splitlines() if path.exists() else ():
            entry_ = json.loads(line)
            if entry_["kernel"] in by_name:
                self._keep(
                    Outcome(by_name[entry_["kernel"]], entry_["target"], entry_["kind"], entry_.get("detail", ""))
                )

    def _keep(self, outcome: Outcome) -> None:
        self._known[str(outcome.case), outcome.target] = outcome

    def known(self, case: Case, target: str) -> Outcome | None:
        """The outcome of a kernel in the file, unless it is wrong."""
        outcome = self._known.get((str(case), target))
        return None if outcome is None or outcome.kind == "wrong" else outcome

    def add(self, outcomes: Iterable[Outcome]) -> None:
        with self._path.open("a") as file:
            for outcome in outcomes:
                self._keep(outcome)
                line = {"kernel": str(outcome.case), "target": outcome.target, "kind": outcome.kind}
                file.write(json.dumps(line | ({"detail": outcome.detail} if outcome.detail else {})) + "\n")

    def outcomes(self) -> Iterable[Outcome]:
        return self._known.values()


def selected(cases: Iterable[Case], pattern: str) -> list[Case]:
    """The kernels whose name contains a match of the pattern."""
    return [case for case in cases if re.search(pattern, str(case))]
