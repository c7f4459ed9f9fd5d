# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From findings to a list: one of each cause, its smallest input, and the owner of the code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .campaign import LOST, Finding, replayed_by
from .mutators import end_of
from .pool import Limits, Worker
from .stacks import HANG, crash_of, owner_of
from .worker import CHECK, PARSE

# Generic forms that upstream's verifiers accept and its printers print as text that does not parse.
_UNPRINTABLE = re.compile(r'"nvgpu\.device_async_create_group"\(\)|sym_name = ""')
_OURS = re.compile(r"\b(triton_xla|mosaic_gpu)\b")


def owner_of_text(finding: Finding, text: str) -> str:
    """The owner of a finding without a stack, by the smallest input.

    No pass of ours has run before a program is parsed and printed.
    """
    if finding.stage != PARSE:
        return "ours"
    return "upstream" if not _OURS.search(text) or _UNPRINTABLE.search(text) else "ours"


@dataclass
class Cause:
    """A cause of findings."""

    signature: str
    count: int
    finding: Finding
    text: str
    """The smallest input."""
    owner: str
    """`ours` or `upstream`; `unknown` if it does not occur again in a new process."""
    stack: tuple[str, ...] = ()


def one_of_each(findings: Iterable[Finding]) -> list[tuple[int, Finding]]:
    """The shortest finding of each signature, and how many there are."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.signature, []).append(finding)
    return [(len(group), min(group, key=lambda finding: len(finding.text))) for group in groups.values()]


# ---------------------------------------------------------------------------------------------------------------------
# Reduction
# ---------------------------------------------------------------------------------------------------------------------


def pieces(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Removable parts of a program, as ranges of lines, the longest first: statements with their regions, and lines."""
    found = set()
    for at in range(len(lines)):
        depth = 0
        for end in range(at, len(lines)):
            depth += lines[end].count("{") - lines[end].count("}")
            if depth <= 0:
                found.add((at, end + 1))
                break
        found.add((at, at + 1))
    return sorted(found, key=lambda piece: (piece[0] - piece[1], -piece[0]))


def reduce(text: str, shows: Callable[[str], bool], budget: int = 300) -> str:
    """A smaller program that shows the same: without statements, lines and dictionaries that are not needed."""
    left = budget

    def accepted(shorter: str) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and shows(shorter)

    lines = text.splitlines()
    changed = True
    while changed and left > 0:
        changed = False
        remaining = pieces(lines)
        while remaining:
            start, end = remaining.pop(0)
            shorter = lines[:start] + lines[end:]
            if accepted("\n".join(shorter) + "\n"):
                lines, changed = shorter, True
                size = end - start
                # The remaining pieces are at most as large as the removed one.
                remaining = [piece for piece in pieces(lines) if piece[1] - piece[0] <= size and piece[0] < start]
                remaining += [piece for piece in pieces(lines) if piece[1] - piece[0] < size and piece[0] >= start]
    return _without_dictionaries("\n".join(lines) + "\n", accepted)


def _without_dictionaries(text: str, accepted: Callable[[str], bool]) -> str:
    at = 0
    while (at := text.find("{", at)) >= 0:
        end = end_of(text, at)
        head = text[:at].removesuffix("attributes ")
        if "\n" not in text[at:end] and end > at and accepted(head + text[end:]):
            text = head + text[end:]
        else:
            at += 1
    return text


def examine(count: int, finding: Finding, worker: Worker) -> Cause:
    """Reduces a finding, and finds the owner of the code."""

    def again(text: str) -> bool:
        pipelines = [] if finding.stage in (PARSE, CHECK) else [finding.stage]
        job = {"text": text, "pipelines": pipelines, "checked": finding.stage == CHECK, "seed": finding.number}
        for result in worker.run(job):
            for stage in result.stages:
                other = Finding(0, finding.file, "", stage.name, stage.outcome, stage.message, text)
                if stage.name == finding.stage and stage.outcome == finding.outcome:
                    return stage.outcome in LOST or other.signature == finding.signature
        return False

    pipeline = replayed_by(finding.stage)
    shows = again
    if finding.outcome in LOST:
        first = crash_of(finding.text, pipeline, symbols=False)
        if first is None and not again(finding.text):
            return Cause(finding.signature, count, finding, finding.text, "unknown")
        if first is not None:
            top = first.stack[:3]

            def crashes(text: str) -> bool:
                crash = crash_of(text, pipeline, symbols=False, seconds=5)
                return crash is not None and (crash.code == HANG or crash.stack[:3] == top)

            shows = crashes
    elif not again(finding.text):
        return Cause(finding.signature, count, finding, finding.text, "unknown")
    text = reduce(finding.text, shows)
    stack: tuple[str, ...] = ()
    owner = owner_of_text(finding, text)
    if finding.outcome in LOST and (crash := crash_of(text, pipeline, symbols=True)):
        stack, owner = crash.stack, owner_of(crash, text)
    return Cause(finding.signature, count, finding, text, owner, stack[:12])


def all_causes(findings: Sequence[Finding], say: Callable[[Cause], None] = lambda cause: None) -> list[Cause]:
    """The causes of these findings, reduced."""
    worker = Worker(limits=Limits(cpu=10))
    causes = []
    try:
        for count, finding in one_of_each(findings):
            causes.append(examine(count, finding, worker))
            say(causes[-1])
    finally:
        worker.close()
    return causes
