# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of the emulator, with locations in the source."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import findings, sources, toolchain
from ..diagnostics import Diagnostic, SourceLocation, counted
from ..errors import EmulationError
from ..findings import Position, named


@dataclass(frozen=True)
class Finding(findings.Finding):
    """A finding of the emulator. Its kinds are `race`, `out-of-bounds`, `deadlock`, `divergence`, `fault`, `misaligned`,
    `timeout`, `red-zone`, `read-only`, `trap`, ..."""

    others: tuple[Finding, ...] = ()
    thread: Position | None = None
    frames: tuple[SourceLocation, ...] = ()
    """The call stack, innermost location first."""
    address: int | None = None
    bytes: int | None = None
    write: bool | None = None

    def participants(self) -> list[str]:
        return super().participants() + ([] if self.thread is None else [named("thread", self.thread)])


# ---------------------------------------------------------------------------------------------------------------------
# From code addresses to source locations
# ---------------------------------------------------------------------------------------------------------------------


def _pcs(raw: Mapping[str, Any]) -> Iterable[int]:
    yield from raw.get("pc") or ()
    for other in raw.get("others") or ():
        yield from _pcs(other)


def symbolize(library: str, offsets: Iterable[int]) -> dict[int, tuple[SourceLocation, ...]]:
    """The source locations of offsets in a library, innermost first; empty if llvm-symbolizer is missing."""
    wanted = sorted(set(offsets))
    tool = toolchain.find_llvm_tool("llvm-symbolizer")
    if not wanted or tool is None:
        return {}
    command = [str(tool.path), f"--obj={library}", "--output-style=JSON", *(hex(offset) for offset in wanted)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        answers = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return {int(answer["Address"], 16): tuple(_frames(answer.get("Symbol", ()))) for answer in answers}


def _frames(symbols: Iterable[Mapping[str, Any]]) -> Iterable[SourceLocation]:
    for symbol in symbols:
        if symbol.get("Line") and symbol.get("FileName"):
            # The rewriter adds the prefix to the kernel.
            function = (symbol.get("FunctionName") or "").removeprefix("device.")
            yield SourceLocation(
                _file(symbol["FileName"]), symbol["Line"], symbol.get("Column") or 1, function=function
            )


def _file(name: str) -> str:
    # MLIR names a text "-"; debug information adds a folder before it.
    if re.fullmatch(r"(.*/)?-", name):
        return sources.TEXT
    # Relative to the current folder if possible.
    path = Path(os.path.normpath(name))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def source_location(item: Mapping[str, Any] | None) -> SourceLocation | None:
    """A location as the rewriter describes it."""
    return SourceLocation(_file(item["file"]), item["line"], item["column"] or 1) if item else None


def refusal(item: Mapping[str, Any]) -> Diagnostic:
    """The rewriter's error for a module that it rejects."""
    diagnostic = Diagnostic.from_json(item)
    if diagnostic.location is None:
        return diagnostic
    location = dataclasses.replace(diagnostic.location, file=_file(diagnostic.location.file))
    return dataclasses.replace(diagnostic, location=location)


def _position(value: Sequence[int] | None) -> Position | None:
    return None if value is None else (value[0], value[1], value[2])


def from_json(raw: Sequence[Mapping[str, Any]], library: str) -> tuple[Finding, ...]:
    """Converts the output of the emulator to findings with source locations."""
    locations = symbolize(library, (pc for item in raw for pc in _pcs(item)))

    def convert(item: Mapping[str, Any], of: str) -> Finding:
        stack = [locations.get(pc, ()) for pc in item.get("pc") or ()]
        frames = tuple(frame for inlined in stack for frame in inlined)
        return Finding(
            kind=item.get("kind", of),
            message=item.get("message") or item.get("note") or _access(item),
            block=_position(item.get("block")),
            thread=_position(item.get("thread")),
            location=_innermost(stack),
            frames=frames,
            others=tuple(convert(other, item.get("kind", of)) for other in item.get("others") or ()),
            address=item.get("address"),
            bytes=item.get("bytes"),
            write=item.get("write"),
        )

    return tuple(convert(item, "fault") for item in raw)


def _innermost(stack: Iterable[tuple[SourceLocation, ...]]) -> SourceLocation | None:
    """The first known line, with the callers of a kernel in Python, which is inlined into one function."""
    for first, *callers in filter(None, stack):
        is_python = all(caller.file.endswith(".py") for caller in callers)
        return dataclasses.replace(first, python=tuple(callers) if is_python else ())
    return None


def _access(item: Mapping[str, Any]) -> str:
    size = f" of {item['bytes']} bytes" if item.get("bytes") else ""
    if item.get("write") is None:
        return "an access"
    return f"a {'write' if item['write'] else 'read'}{size}"


def error(what: str, found: Sequence[Finding], source: str | None = None, hint: str | None = None) -> EmulationError:
    """The error that carries findings."""
    return EmulationError(
        f"{what}: {counted(len(found), 'finding')}",
        findings=found,
        diagnostics=[finding.diagnostic() for finding in found],
        source=source,
        hint=hint,
    )
