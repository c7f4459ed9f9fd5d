"""What a kernel did that it must not: what findings of the emulator and of the simulator have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .diagnostics import Diagnostic, SourceLocation

Position = tuple[int, int, int]
"""The indices of a block in its grid, or of a thread in its block."""


@dataclass(frozen=True)
class Finding:
    """One thing that a kernel did and must not do."""

    kind: str
    """`race`, `out-of-bounds`, `deadlock`, `leak`, ..."""
    message: str
    block: Position | None = None
    location: SourceLocation | None = None
    """The innermost location in the source that is known."""
    others: tuple[Finding, ...] = ()
    """The other participants: the other side of a race, all that wait in a deadlock."""

    def participants(self) -> list[str]:
        """Who did it, from the outside in: `block (0, 1, 0)`, ..."""
        return [] if self.block is None else [named("block", self.block)]

    def addition(self) -> str:
        """What follows the kind in an error."""
        return ""

    def notes(self) -> tuple[Diagnostic, ...]:
        """What an error says beside the participants."""
        return ()

    def diagnostic(self, severity: str = "error") -> Diagnostic:
        """The finding as a message like the compiler's."""
        who = ", ".join(self.participants())
        message = f"{who}: {self.message}" if who else self.message
        notes = tuple(other.diagnostic("note") for other in self.others)
        if severity == "error":
            message += f" [{self.kind}]{self.addition()}"
            notes += self.notes()
        return Diagnostic(severity, message, self.location, notes)

    def __str__(self) -> str:
        return self.diagnostic().render()


def named(name: str, position: Position) -> str:
    """A position in words: `thread (3, 0, 0)`."""
    return f"{name} ({', '.join(map(str, position))})"


def counted(findings: Sequence[Finding]) -> str:
    """The number of findings in words."""
    return f"{len(findings)} findings" if len(findings) != 1 else "1 finding"
