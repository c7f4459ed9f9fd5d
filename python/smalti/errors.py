"""Exceptions: one clear message with the place in the source, the numbers, and what to do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import sources

if TYPE_CHECKING:
    from .emulator.findings import Finding
    from .remarks import Remark
    from .sim.findings import Finding as SimulatedFinding


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


class SmaltiError(Exception):
    """Base of every error that Smalti raises on purpose."""

    def __init__(
        self,
        message: str,
        *,
        diagnostics: Iterable[Diagnostic] = (),
        hint: str | None = None,
        remarks: Iterable[Remark] = (),
        source: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = tuple(diagnostics)
        self.hint = hint
        self.remarks = tuple(remarks)
        self.reproducer: Path | None = None
        """The file that holds the failing module and pipeline, where one was written."""
        self.command: str | None = None
        """The shell command that replays the failure, where there is one."""
        self._source = source

    @property
    def location(self) -> SourceLocation | None:
        """Where the first located diagnostic points."""
        return next((d.location for d in self.diagnostics if d.location), None)

    def __str__(self) -> str:
        lines = [self.message] if self.message else []
        lines.extend(diagnostic.render(self._source) for diagnostic in self.diagnostics)
        lines.extend(str(remark) for remark in self.remarks)
        if self.hint:
            lines.append(f"hint: {self.hint}")
        if self.command:
            lines.append(f"to replay: {self.command}")
        return "\n".join(lines)


class ParseError(SmaltiError):
    """The text is not MLIR that Smalti knows."""


class VerifyError(SmaltiError):
    """The module parses but breaks a rule of an operation."""


class CompileError(SmaltiError):
    """A pass, the code generator or an assembler failed."""


class PipelineError(SmaltiError):
    """A pass, a pass option or a textual pipeline that does not exist."""


class TargetError(SmaltiError):
    """No such target, or one that does not fit what was asked of it."""


class LaunchError(SmaltiError):
    """A kernel was called with arguments or on a machine that do not fit it."""


class ToolMissing(SmaltiError):
    """An outside program, library or driver was not found."""


class KernelFileError(SmaltiError):
    """A file with a kernel that cannot be read."""


class CheckError(SmaltiError):
    """A kernel's result is not that of the reference."""


class EmulationError(SmaltiError):
    """A kernel on an emulated chip did what it must not."""

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.findings: tuple[Finding, ...] = tuple(findings)


class SimulationError(SmaltiError):
    """A kernel in the simulator did what it must not."""

    def __init__(self, message: str, *, findings: Iterable[SimulatedFinding] = (), **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.findings: tuple[SimulatedFinding, ...] = tuple(findings)


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


@contextmanager
def mlir_errors(kind: type[SmaltiError], message: str, context: Any = None) -> Iterator[None]:
    """Turns an `ir.MLIRError` raised inside into `kind`, with its diagnostics and the source they point to."""
    from . import ir

    try:
        yield
    except ir.MLIRError as error:
        diagnostics = [diagnostic_from_mlir(info) for info in error.error_diagnostics]
        raise kind(message, diagnostics=diagnostics, source=sources.text_of(context)) from None
