"""What passes say about what they did and what they left alone."""

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
    """`passed` (applied), `missed` (left alone, with the reason), `failed` or `analysis`."""
    category: str
    """The pass."""
    name: str
    """What the remark is about, a fixed word for filters."""
    message: str
    """The sentence, with its numbers."""
    function: str | None = None
    location: SourceLocation | None = None
    args: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """The numbers and names in the message, by key."""

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}remark: [{self.kind}] {self.category}: {self.message}"


@contextmanager
def collect(context: Any, into: list[Remark]) -> Generator[None, None, None]:
    """Adds every remark that passes emit on `context` inside to `into`, in their order."""
    from ._mlir_libs import _smalti

    collector = _smalti.RemarkCollector(context)
    try:
        yield
    finally:
        collector.detach()
        into.extend(_remark(item) for item in collector.remarks)


def _remark(item: Any) -> Remark:
    place = SourceLocation(item.file, item.line, item.column) if item.file else None
    return Remark(item.kind, item.category, item.name, item.message, item.function or None, place, dict(item.args))
