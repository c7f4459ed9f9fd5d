"""Exceptions: one clear message with the place in the source, the numbers, and what to do."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import sources
from .diagnostics import Diagnostic, SourceLocation, diagnostic_from_mlir
from .findings import Finding
from .remarks import Remark


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

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.findings: tuple[Finding, ...] = tuple(findings)


@contextmanager
def mlir_errors(kind: type[SmaltiError], message: str, context: Any = None) -> Generator[None, None, None]:
    """Turns an `ir.MLIRError` raised inside into `kind`, with its diagnostics and the source they point to."""
    from . import ir

    try:
        yield
    except ir.MLIRError as error:
        diagnostics = [diagnostic_from_mlir(info) for info in error.error_diagnostics]
        raise kind(message, diagnostics=diagnostics, source=sources.text_of(context)) from None
