# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulator's process: input, output and termination."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..errors import LaunchError, ToolMissing

_GRACE = 20.0
"""Seconds after its own time limit after which the process is killed."""


@dataclass
class Outcome:
    """The output of a run of the emulator."""

    findings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    seconds: float | None = None
    """The time of the blocks; None if they did not complete."""


def run(
    executable: Path,
    description: Iterable[str],
    descriptors: Sequence[int],
    timeout: float,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Runs a launch. Output of the kernel goes to standard output."""
    text = "\n".join((*description, "run", "")).encode()
    outcome = Outcome()
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                [executable],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=descriptors,
                # One process group with its workers, so that all of them can be killed.
                start_new_session=True,
            )
        except OSError as error:
            raise ToolMissing(f"cannot run {executable}: {error.strerror}") from None
        try:
            assert process.stdin is not None and process.stdout is not None
            with contextlib.suppress(BrokenPipeError), process.stdin as stream:
                stream.write(text)
            ended = _listen(process.stdout, time.monotonic() + timeout + _GRACE, outcome, progress)
            if ended:
                process.wait()
        finally:
            _end(process)
        log.seek(0)
        log_text = log.read().decode(errors="replace").strip()
    if not ended:
        raise LaunchError(
            f"the emulator did not end the run {_GRACE:g} s after the time limit of {timeout:g} s, and was killed"
            f"{_quote(log_text)}",
            hint="run it again on a machine with less load; if the error remains, report it as a bug, with the kernel",
        )
    if outcome.seconds is None and not outcome.findings:
        raise LaunchError(
            f"the emulator {_how(process.returncode)} before the kernel completed{_quote(log_text)}",
            hint="report this as a bug, with the kernel",
        )
    return outcome


def _listen(stream: IO[bytes], deadline: float, outcome: Outcome, progress: Callable[[int, int], None] | None) -> bool:
    """Reads lines until the stream ends. Returns False at the deadline."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if not selector.select(max(deadline - time.monotonic(), 0)):
                return False
            part = os.read(stream.fileno(), 1 << 16)
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                _take(line, outcome, progress)
            if not part:
                return True


def _take(line: bytes, outcome: Outcome, progress: Callable[[int, int], None] | None) -> None:
    if not line.strip():
        return
    try:
        item = json.loads(line)
    except ValueError:
        raise LaunchError(
            f"internal error: the emulator printed a line that is not valid JSON: {line[:200].decode(errors='replace')}"
        ) from None
    if "output" in item:
        sys.stdout.write(item["output"])
        sys.stdout.flush()
    elif "progress" in item:
        if progress is not None:
            progress(*item["progress"])
    elif "done" in item:
        outcome.seconds = float(item["done"])
    else:
        outcome.findings.append(item)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # The process group exists until its last worker has exited.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _how(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"


def _quote(log_text: str) -> str:
    return f":\n{log_text[-4000:]}" if log_text else ""
