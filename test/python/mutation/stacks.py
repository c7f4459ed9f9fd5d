# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stack of a crashed LLVM tool, and the owner of the code."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .corpus import ROOT

OPT = ROOT / "build" / "bin" / "smalti-opt"
_SYMBOLIZER = "/usr/lib/llvm-22/bin"
HANG = 124
_LIBC = re.compile(r"libc\.so| \./(?:csu|nptl|signal|stdlib|string|sysdeps)/")
_ELSEWHERE = re.compile(r"\.so\b|^main\b|^_start\b|" + _LIBC.pattern)
"""Frames of libraries, and of what starts a program: ours are static in `smalti-opt`."""
UPSTREAM = ("canonicalize", "cse", "sccp", "int-range-optimizations", "loop-invariant-code-motion")
"""Upstream's passes that use what ours use."""


@dataclass(frozen=True)
class Crash:
    """How a tool ended, and the functions that it was in, the innermost first."""

    code: int
    stack: tuple[str, ...]

    @property
    def is_below_ours(self) -> bool:
        """Whether a function of ours is on the stack."""
        return any(not _ELSEWHERE.search(frame) for frame in self.stack)


def crash_of(text: str, pipeline: str, *, symbols: bool, seconds: float = 20, tool: str | Path = OPT) -> Crash | None:
    """The crash of `smalti-opt` on a program, or None. Without symbols a stack has only offsets."""
    environment = {"PATH": f"{_SYMBOLIZER}:/usr/bin:/bin", **({} if symbols else {"LLVM_DISABLE_SYMBOLIZATION": "1"})}
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        command = [str(tool), "--mlir-disable-threading", "-o", "/dev/null", f"--pass-pipeline={pipeline}", file.name]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", env=environment
        )
        code = None
        try:
            _, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            # The signal handler prints its own frame.
            code = HANG
            process.send_signal(signal.SIGABRT)
            _, said = process.communicate()
    code = code or process.returncode
    return Crash(code, stack_of(said)) if code < 0 or code == HANG else None


def stack_of(said: str) -> tuple[str, ...]:
    """The functions in what a crashing tool of LLVM's prints, without those of the crash itself."""
    frames = []
    for line in said.splitlines():
        if found := re.match(r"^\s*#\d+ 0x[0-9a-f]+ (.*)$", line):
            frames.append(re.sub(r"\+?0x[0-9a-f]+ ?", "", found[1]).strip())
        elif found := re.match(r"^\d+ +(\S+) +0x[0-9a-f]+([0-9a-f]{3})\b *(.*)$", line):
            # The load address of a library varies by whole pages.
            frames.append(f"{found[1]} {found[3] or found[2]}")
    # The signal arrives in the C library: what is above is its handler, what is below may be abort.
    arrival = next((at for at, frame in enumerate(frames[:8]) if _LIBC.search(frame)), -1)
    rest = list(itertools.dropwhile(_LIBC.search, frames[arrival + 1 :]))
    # A function that calls itself until the stack is used up is one frame.
    return tuple(dict.fromkeys(rest))


def owner_of(crash: Crash, text: str) -> str:
    """The owner of a crash: also upstream, if one of its passes crashes in the same functions."""
    if not crash.is_below_ours:
        return "upstream"
    for name in UPSTREAM:
        other = crash_of(text, f"builtin.module({name})", symbols=True)
        if other is not None and not other.is_below_ours and other.stack[:2] == crash.stack[:2]:
            return "upstream"
    return "ours"
