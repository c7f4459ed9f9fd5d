# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run of the fuzzer: its counts, its file, and resumption."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .corpus import passes_in
from .pool import Result, Stage, Worker
from .stacks import crash_of
from .worker import BAD, CHECK, PARSE

BATCH = 100

LOST = ("crash", "hang", "memory")
"""The outcomes that end a process."""


@dataclass
class Finding:
    """A mutant with a finding."""

    number: int
    file: str
    mutation: str
    stage: str
    """`parse`, `check`, or the pipeline."""
    outcome: str
    message: str
    text: str

    @property
    def signature(self) -> str:
        """The common part of findings of one cause: the stage, the outcome and the message without names and
        numbers."""
        where = self.stage if self.stage in (PARSE, CHECK) else passes_in(self.stage)
        lines = self.message.splitlines() or [""]
        if self.outcome == "wrong":
            said = self.file
        elif self.outcome in LOST:
            said = " ".join(lines[1:4]) if len(lines) > 1 else lines[0]
        else:
            said = re.sub(r"<[^ ]*>+|%\w+|@\w+|'[^']*'|\d+", "_", re.sub(r"^\S+:\d+:\d+: ", "", lines[0]))
        return f"{where}: {self.outcome}: {said[:160]}"


@dataclass
class Counts:
    """The outcomes of mutants: each mutant is in `parse` once, and each of its runs in `runs` or `checks` once."""

    mutants: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """Mutants by their first mutation."""
    parse: Counter[str] = field(default_factory=Counter)
    runs: dict[str, Counter[str]] = field(default_factory=dict)
    """By pass and outcome."""
    checks: Counter[str] = field(default_factory=Counter)

    def add(self, result: Result) -> None:
        """Counts a mutant."""
        self.mutants += 1
        self.kinds[result.kind] += 1
        for stage in result.stages:
            self._of(stage)[stage.outcome] += 1

    def _of(self, stage: Stage) -> Counter[str]:
        if stage.name == CHECK:
            return self.checks
        if stage.name == PARSE:
            return self.parse
        return self.runs.setdefault(passes_in(stage.name), Counter())

    def __iadd__(self, other: Counts) -> Counts:
        self.mutants += other.mutants
        self.kinds += other.kinds
        self.parse += other.parse
        self.checks += other.checks
        for name, counts in other.runs.items():
            self.runs.setdefault(name, Counter()).update(counts)
        return self

    def to_json(self) -> dict[str, Any]:
        """The format that `of_json` reads."""
        return {
            "mutants": self.mutants, "kinds": dict(self.kinds), "parse": dict(self.parse),
            "runs": {name: dict(counts) for name, counts in sorted(self.runs.items())}, "checks": dict(self.checks),
        }  # fmt: skip

    @classmethod
    def of_json(cls, item: dict[str, Any]) -> Counts:
        """Counts from a file."""
        runs = {name: Counter(counts) for name, counts in item["runs"].items()}
        return cls(item["mutants"], Counter(item["kinds"]), Counter(item["parse"]), runs, Counter(item["checks"]))

    @property
    def total(self) -> Counter[str]:
        """The outcomes of all runs of passes."""
        return sum(self.runs.values(), Counter())

    def check(self) -> None:
        """Raises if they do not add up."""
        assert self.mutants == self.kinds.total() == self.parse.total(), self


@dataclass
class State:
    """The contents of a run's file: a line for its seed, and one for each completed batch."""

    seed: int
    corpora: Counter[str] = field(default_factory=Counter)
    """Mutants by the digest of the files that they are of: between the parts of a run the files may change."""
    done: set[int] = field(default_factory=set)
    counts: Counts = field(default_factory=Counts)
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> State:
        """The state of a run that ended, or was ended, before."""
        lines = path.read_text().splitlines()
        state = cls(json.loads(lines[0])["seed"])
        for line in lines[1:]:
            try:
                item = json.loads(line)
            except ValueError:
                # The run was interrupted during the write: that batch is repeated.
                continue
            state.add(item)
        return state

    def add(self, item: dict[str, Any]) -> None:
        """Adds a batch."""
        if item["batch"] in self.done:
            return
        self.done.add(item["batch"])
        counts = Counts.of_json(item["counts"])
        self.counts += counts
        self.corpora[item["corpus"]] += counts.mutants
        self.findings += [Finding(**finding) for finding in item["findings"]]


def replayed_by(stage: str) -> str:
    """The pipeline with which `smalti-opt` reaches the same state."""
    return {PARSE: "builtin.module()", CHECK: "builtin.module(smalti-compile{target=cpu})"}.get(stage, stage)


def findings_of(result: Result) -> Iterable[Finding]:
    """The error of a mutant. The message of a crash is the signal and the innermost frames."""
    for stage in result.stages:
        if stage.outcome in BAD:
            if stage.outcome in LOST and (crash := crash_of(result.text, replayed_by(stage.name), symbols=False)):
                stage.message = "\n".join((stage.message.partition("\n")[0], *crash.stack[:6]))
            yield Finding(
                result.number, result.file, result.kind, stage.name, stage.outcome, stage.message, result.text
            )


def run(
    path: Path,
    seed: int,
    count: int,
    jobs: int,
    resume: bool,
    say: Callable[[State, Finding | None], None] = lambda state, finding: None,
    make: Callable[[], Worker] = Worker,
) -> State:
    """Runs the first `count` mutants of a seed, except for those in the file, and appends them to it batch by batch.

    Batches are whole: `count` is rounded up to `BATCH`.
    """
    batches = range((count + BATCH - 1) // BATCH)
    resumed = resume and path.exists()
    state = State.load(path) if resumed else State(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock, local = threading.Lock(), threading.local()
    workers: list[Worker] = []
    end = threading.Event()

    with path.open("a" if resumed else "w") as file:
        if not resumed:
            file.write(json.dumps({"seed": seed}) + "\n")

        def batch(number: int) -> None:
            if end.is_set():
                return
            if not hasattr(local, "worker"):
                local.worker = make()
                workers.append(local.worker)
            worker: Worker = local.worker
            counts, findings = Counts(), []
            job = {"first": number * BATCH, "end": (number + 1) * BATCH, "seed": state.seed}
            for result in worker.run(job):
                counts.add(result)
                for finding in findings_of(result):
                    findings.append(finding)
                    with lock:
                        say(state, finding)
            counts.check()
            item = {
                "batch": number,
                "corpus": worker.ready["ready"],
                "counts": counts.to_json(),
                "findings": [asdict(finding) for finding in findings],
            }
            with lock:
                file.write(json.dumps(item) + "\n")
                file.flush()
                state.add(item)
                say(state, None)

        with ThreadPoolExecutor(jobs) as threads:
            try:
                todo = [threads.submit(batch, number) for number in batches if number not in state.done]
                for future in todo:
                    future.result()
            finally:
                # After an error or Ctrl-C the batches that have not begun do not begin.
                end.set()
                for worker in workers:
                    worker.close()
    return state
