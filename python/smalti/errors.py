# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions of Smalti: a message with source location and values, notes, and a hint."""

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
    """Base class of all errors that Smalti raises deliberately."""

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
        """The file with the failing module and pipeline, or None if none was written."""
        self.command: str | None = None
        """The shell command that replays the failure, or None."""
        self._source = source

    @property
    def location(self) -> SourceLocation | None:
        """The location of the first diagnostic that has one."""
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
    """The text is not valid MLIR in the dialects of Smalti and upstream MLIR."""


class VerifyError(SmaltiError):
    """The module parses, but the verifier of an operation rejects it."""


class CompileError(SmaltiError):
    """A pass, the code generator or an assembler failed."""


class PipelineError(SmaltiError):
    """A pass or pass option does not exist, has an invalid value, or the textual pipeline does not parse."""


class TargetError(SmaltiError):
    """The target does not exist or does not support the request."""


class LaunchError(SmaltiError):
    """A call passed arguments that the kernel does not accept, or the GPU cannot run the kernel."""


class ToolMissing(SmaltiError):
    """An external program, library or driver was not found."""


class KernelFileError(SmaltiError):
    """A kernel file cannot be read."""


class CheckError(SmaltiError):
    """The result of a kernel differs from the reference."""


class EmulationError(SmaltiError):
    """The emulator found an error in a kernel, such as a data race."""

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.findings: tuple[Finding, ...] = tuple(findings)


class SimulationError(SmaltiError):
    """The simulator found an error in a kernel, such as a data race."""

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.findings: tuple[Finding, ...] = tuple(findings)


@contextmanager
def mlir_errors(kind: type[SmaltiError], message: str, context: Any = None) -> Generator[None, None, None]:
    """Converts an `ir.MLIRError` into an error of class `kind` with its diagnostics and their source lines."""
    from . import ir

    try:
        yield
    except ir.MLIRError as error:
        diagnostics = [diagnostic_from_mlir(info) for info in error.error_diagnostics]
        raise kind(message, diagnostics=diagnostics, source=sources.text_of(context)) from None
