# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Worker processes under a watchdog: replacement after a crash or hang, and the job at that time."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

COMMAND = (sys.executable, "-m", "mutation.worker")

CPU_SECONDS = 10.0
"""A stage of a mutant that computes for longer hangs."""
WALL_SECONDS = 300.0
"""A stage that is not over after this time hangs, whether it computes or waits."""
_START = 300.0


@dataclass
class Limits:
    """When the watchdog ends a worker."""

    cpu: float = CPU_SECONDS
    wall: float = WALL_SECONDS


@dataclass
class Stage:
    """The outcome of one step of a mutant: of its parse, of a pipeline, of the check."""

    name: str
    outcome: str
    message: str = ""


@dataclass
class Result:
    """The outcome of a mutant."""

    number: int
    file: str
    kind: str
    text: str
    stages: list[Stage] = field(default_factory=list)


def cpu_seconds(process: int) -> float:
    """The processor time of a process, of all its threads."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Died(Exception):
    """The worker exited: the outcome is the reason, the message its last output."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message


class Worker:
    """A process that runs mutants one after the other."""

    def __init__(self, command: Sequence[str] = COMMAND, limits: Limits | None = None) -> None:
        self._command = command
        self._limits = limits or Limits()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self.ready: dict[str, Any] = {}

    def _send(self, job: dict[str, Any]) -> None:
        # The process continues to write at the file's position.
        self._errors.seek(0)
        self._errors.truncate()
        if self._process is None:
            self._rest = b""
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
            self.ready = list(self._events("ready", Limits(_START, _START)))[-1]
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None

    def _events(self, last: str, limits: Limits) -> Iterator[dict[str, Any]]:
        """Events up to and including the one with the key `last`; `Died` if it does not occur."""
        process = self._process
        assert process is not None and process.stdout is not None
        busy, hangs = process.pid, ""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            began, used = time.monotonic(), 0.0
            while True:
                line, newline, rest = self._rest.partition(b"\n")
                if newline:
                    self._rest = rest
                    event = json.loads(line)
                    if "process" in event:
                        busy = event["process"]
                    elif "died" in event:
                        raise Died("hang", hangs) if hangs else self._died(event["died"])
                    else:
                        yield event
                        if last in event:
                            return
                    began, used = time.monotonic(), cpu_seconds(busy)
                elif selector.select(0.5):
                    read = os.read(process.stdout.fileno(), 1 << 16)
                    self._rest += read
                    if not read:
                        process.wait()
                        died = self._died(process.returncode)
                        self.close()
                        raise died
                elif not hangs:
                    waited, computed = time.monotonic() - began, cpu_seconds(busy) - used
                    if waited > limits.wall or computed > limits.cpu:
                        hangs = f"no end after {computed:.0f} s of processor time ({waited:.0f} s)"
                        if busy == process.pid:
                            self.close()
                            raise Died("hang", hangs)
                        os.kill(busy, signal.SIGKILL)

    def _died(self, code: int) -> Died:
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode(errors="replace").strip()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        of_memory = any(words in said for words in ("bad_alloc", "out of memory", "Buffer allocation failed"))
        return Died("memory" if of_memory else "crash", f"{how}\n{said}".strip())

    def run(self, job: dict[str, Any]) -> Iterator[Result]:
        """The mutants of a job, each when it is complete.

        A job is `{"first": 3, "end": 8, "seed": 0}`, or one program: `{"text": ..., "pipelines": [...], "checked":
        false, "seed": 0}`. After a crash or a hang a new process continues with the next mutant.
        """
        job = dict(job)
        while True:
            result: Result | None = None
            doing = "start"
            try:
                self._send(job)
                for event in self._events("finished", self._limits):
                    if "mutant" in event or "finished" in event:
                        if result is not None:
                            yield result
                            result = None
                        doing = "mutation"
                    if "mutant" in event:
                        keys = ("file", "kind", "text")
                        result = Result(event["mutant"], *(event.get(key, job.get(key, "")) for key in keys))
                    elif "outcome" in event and result is not None:
                        result.stages.append(Stage(event["stage"], event["outcome"], event["message"]))
                        doing = "mutation"
                    elif "stage" in event:
                        doing = event["stage"]
                return
            except Died as died:
                if result is None:
                    raise
                result.stages.append(Stage(doing, died.outcome, died.message))
                yield result
                if "first" not in job or result.number + 1 >= job["end"]:
                    return
                job["first"] = result.number + 1
