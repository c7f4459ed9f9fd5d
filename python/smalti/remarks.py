# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Remarks of passes: what a pass did or did not do, and why."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .diagnostics import SourceLocation


@dataclass(frozen=True)
class Remark:
    """One remark of a pass."""

    kind: str
    """`passed` (applied), `missed` (not applied, with the reason), `failed` or `analysis`."""
    category: str
    """The name of the pass."""
    name: str
    """The subject of the remark: a fixed word for filters."""
    message: str
    """The text, with its numbers."""
    function: str | None = None
    location: SourceLocation | None = None
    args: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """The numbers and names in the message, by key."""

    def __str__(self) -> str:
        prefix = f"{self.location}: " if self.location else ""
        return f"{prefix}remark: [{self.kind}] {self.category}: {self.message}"


@contextmanager
def collect(context: Any, into: list[Remark]) -> Generator[None, None, None]:
    """Appends the remarks that passes emit on `context` in the `with` block to `into`, in order."""
    from ._mlir_libs import _smalti

    collector = _smalti.RemarkCollector(context)
    try:
        yield
    finally:
        collector.detach()
        into.extend(_remark(item) for item in collector.remarks)


def _remark(item: Any) -> Remark:
    location = SourceLocation(item.file, item.line, item.column) if item.file else None
    return Remark(item.kind, item.category, item.name, item.message, item.function or None, location, dict(item.args))
