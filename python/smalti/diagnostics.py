"""Messages with a location: diagnostics of the compiler, and how they are shown with the source line and a caret."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import sources


@dataclass(frozen=True)
class SourceLocation:
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int
    python: tuple[SourceLocation, ...] = ()
    """The lines of Python that it comes from, the innermost first."""

    def __str__(self) -> str:
        # A module that is in no file position of its own has line 0.
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


MOST_CALLERS = 3
"""Lines of Python that a message shows."""


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler, with its notes."""

    severity: str
    message: str
    location: SourceLocation | None = None
    notes: tuple[Diagnostic, ...] = ()

    def render(self, text: str | None = None) -> str:
        """The message with the source line and a caret; `text` is the source where it is not a file."""
        place = f"{self.location}: " if self.location else ""
        lines = [f"{place}{self.severity}: {self.message}"]
        excerpt = _excerpt(self.location, text)
        if excerpt:
            lines.append(excerpt)
        for place in self.location.python[:MOST_CALLERS] if self.location is not None else ():
            lines.append(f"{place}: note: comes from here")
            lines.extend(filter(None, [_excerpt(place, None)]))
        lines.extend(note.render(text) for note in self.notes)
        return "\n".join(lines)

    @staticmethod
    def from_json(item: Mapping[str, Any]) -> Diagnostic:
        """What another process wrote as JSON."""
        place = item["location"]
        return Diagnostic(
            item["severity"],
            item["message"],
            SourceLocation(*place) if place else None,
            tuple(map(Diagnostic.from_json, item["notes"])),
        )


def source_line(location: SourceLocation | None, text: str | None) -> tuple[str, int] | None:
    """The line at a location and the column in it, which counts from 0; `text` is the source where it is not a file."""
    if location is None or location.line < 1:
        return None
    if location.file != sources.TEXT:
        try:
            text = Path(location.file).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return None
    if text is None:
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
    # Tabs stay tabs in front of the caret, so that it stands under its column.
    before = "".join("\t" if c == "\t" else " " for c in line[:column])
    return f"  {line}\n  {before}^"


def source_location(location: Any) -> SourceLocation | None:
    """The file position in an `ir.Location`: through names, the callee of a call site, the first of a fusion; and the
    lines of Python among the others."""
    found = list(dict.fromkeys(_places(location)))
    if not found:
        return None
    python = tuple(place for place in found[1:] if place.file.endswith(".py"))
    return dataclasses.replace(found[0], python=python)


def _places(location: Any) -> Iterator[SourceLocation]:
    """All file positions in a location, the innermost first."""
    if location.is_a_file():
        file = sources.TEXT if location.filename == "-" else location.filename
        yield SourceLocation(file, location.start_line, location.start_col)
    elif location.is_a_name():
        yield from _places(location.child_loc)
    elif location.is_a_callsite():
        yield from _places(location.callee)
        yield from _places(location.caller)
    elif location.is_a_fused():
        for part in location.locations:
            yield from _places(part)


def _severity(value: Any) -> str:
    return str(getattr(value, "name", value)).lower()


def diagnostic_from_mlir(info: Any) -> Diagnostic:
    """A `Diagnostic` from MLIR's `ir.DiagnosticInfo` or `ir.Diagnostic`."""
    return Diagnostic(
        severity=_severity(info.severity),
        message=str(info.message).rstrip(),
        location=source_location(info.location),
        # The note with the whole operation in generic form says less than the caret does.
        notes=tuple(
            diagnostic_from_mlir(note)
            for note in info.notes
            if not str(note.message).startswith("see current operation")
        ),
    )
