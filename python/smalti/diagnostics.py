# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiler diagnostics, and their rendering with the source line and a caret."""

from __future__ import annotations

import dataclasses
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import sources


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: "1 dimension", "2 dimensions"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


@dataclass(frozen=True)
class SourceLocation:
    """A location in a source file. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    python: tuple[SourceLocation, ...] = ()
    """The Python call stack that created the operation, innermost first."""
    function: str = field(default="", compare=False)
    """The function of the line, if it is known."""

    def __str__(self) -> str:
        # A location without a position in the file has line 0.
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def to_json(self) -> list[Any]:
        """The location for another process."""
        return [self.file, self.line, self.column, [caller.to_json() for caller in self.python], self.function]

    @staticmethod
    def from_json(item: Sequence[Any]) -> SourceLocation:
        """A location that another process wrote as JSON; only the position is required."""
        file, line, column, *more = item
        callers, function = more or ((), "")
        return SourceLocation(file, line, column, tuple(map(SourceLocation.from_json, callers)), function)


MOST_CALLERS = 8
"""Number of Python lines that a message shows."""


@dataclass(frozen=True)
class Diagnostic:
    """A compiler diagnostic with its notes."""

    severity: str
    message: str
    location: SourceLocation | None = None
    notes: tuple[Diagnostic, ...] = ()

    def render(self, text: str | None = None) -> str:
        """The message with the source line and a caret. `text` is the source if it is not in a file."""
        prefix = f"{self.location}: " if self.location else ""
        lines = [f"{prefix}{self.severity}: {self.message}"]
        excerpt = _excerpt(self.location, text)
        if excerpt:
            lines.append(excerpt)
        callers = self.location.python if self.location is not None else ()
        for caller in callers[:MOST_CALLERS]:
            # Lines of Python that created an operation of a file do not call its line.
            is_caller = self.location is not None and self.location.function and caller.function
            lines.append(f"{caller}: note: {f'called by {caller.function}' if is_caller else 'created here'}")
            lines.extend(filter(None, [_excerpt(caller, None)]))
        if len(callers) > MOST_CALLERS:
            lines.append(f"note: {len(callers) - MOST_CALLERS} more callers")
        lines.extend(note.render(text) for note in self.notes)
        return "\n".join(lines)

    @staticmethod
    def from_json(item: Mapping[str, Any]) -> Diagnostic:
        """A diagnostic that another process wrote as JSON."""
        location = item["location"]
        return Diagnostic(
            item["severity"],
            item["message"],
            SourceLocation.from_json(location) if location else None,
            tuple(map(Diagnostic.from_json, item["notes"])),
        )


def source_line(location: SourceLocation | None, text: str | None) -> tuple[str, int] | None:
    """The source line at a location and its column, counted from 0. `text` is the source if it is not in a file."""
    if location is None or location.line < 1:
        return None
    if location.file != sources.TEXT:
        try:
            text = Path(location.file).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            # Cells of notebooks are not files.
            text = "".join(linecache.getlines(location.file))
    if not text:
        return None
    # MLIR counts line feeds; str.splitlines would also end lines at form feeds and other characters.
    lines = text.split("\n")
    if location.line > len(lines):
        return None
    return lines[location.line - 1].rstrip("\r"), max(location.column - 1, 0)


def _excerpt(location: SourceLocation | None, text: str | None) -> str | None:
    if (found := source_line(location, text)) is None:
        return None
    line, column = found
    # Keep tabs before the caret, so that the caret is below its column.
    before = "".join("\t" if c == "\t" else " " for c in line[:column])
    return f"  {line}\n  {before}^"


def source_location(location: Any) -> SourceLocation | None:
    """The file position in an `ir.Location`. Names, call sites (the callee) and fused locations (the first) are resolved;
    callers, and positions in Python files, become `SourceLocation.python`. A name in a call site is that of the function."""
    found = list(dict.fromkeys(_file_locations(location)))
    if not found:
        return None
    python = tuple(other for other in found[1:] if other.function or other.file.endswith(".py"))
    return dataclasses.replace(found[0], python=python) if python else found[0]


def _file_locations(location: Any, function: str = "", is_call: bool = False) -> Iterator[SourceLocation]:
    """All file positions in a location, innermost first."""
    if location.is_a_file():
        file = sources.TEXT if location.filename == "-" else location.filename
        yield SourceLocation(file, location.start_line, location.start_col, function=function)
    elif location.is_a_name():
        yield from _file_locations(location.child_loc, location.name_str if is_call else "", is_call)
    elif location.is_a_callsite():
        yield from _file_locations(location.callee, is_call=True)
        yield from _file_locations(location.caller, is_call=True)
    elif location.is_a_fused():
        for part in location.locations:
            yield from _file_locations(part, function, is_call)


def _severity(value: Any) -> str:
    return str(getattr(value, "name", value)).lower()


def diagnostic_from_mlir(info: Any) -> Diagnostic:
    """A `Diagnostic` from MLIR's `ir.DiagnosticInfo` or `ir.Diagnostic`."""
    return Diagnostic(
        severity=_severity(info.severity),
        message=str(info.message).rstrip(),
        location=source_location(info.location),
        # The caret already shows the operation, so the note that prints it is dropped.
        notes=tuple(
            diagnostic_from_mlir(note)
            for note in info.notes
            if not str(note.message).startswith("see current operation")
        ),
    )


# The first line of a message of LLVM ("kernel.s:3:1: warning: text", "LLVM ERROR: text") or ptxas ("ptxas info    : text").
_MESSAGE = re.compile(r"(?:\S.*?\W)?(error|fatal|warning|remark|note|info)(?: error)?\s*:", re.IGNORECASE)
_CRASH = re.compile(r".*Assertion|PLEASE |Stack dump:")


def without_warnings(log: str) -> str:
    """The output of a failed tool without warnings and remarks, and the notes and source lines after them. The whole output
    if nothing else is in it."""
    kept: list[str] = []
    is_kept = True
    for line in log.splitlines():
        if found := _MESSAGE.match(line):
            severity = found[1].lower()
            if severity != "note":
                is_kept = severity in ("error", "fatal")
        elif _CRASH.match(line):
            is_kept = True
        if is_kept:
            kept.append(line)
    return "\n".join(kept).strip() or log.strip()
