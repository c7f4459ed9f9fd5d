# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Base class of the findings of the emulator and the simulator."""

from __future__ import annotations

from dataclasses import dataclass

from .diagnostics import Diagnostic, SourceLocation

Position = tuple[int, int, int]
"""The indices of a block in its grid, or of a thread in its block."""


@dataclass(frozen=True)
class Finding:
    """One error in the execution of a kernel, such as a data race."""

    kind: str
    """`race`, `out-of-bounds`, `deadlock`, `leak`, ..."""
    message: str
    block: Position | None = None
    location: SourceLocation | None = None
    """The innermost known source location."""
    others: tuple[Finding, ...] = ()
    """The other participants: the conflicting access of a race, all waiting threads of a deadlock."""

    def participants(self) -> list[str]:
        """The block, warp and lane of the access, outermost first: `block (0, 1, 0)`, ..."""
        return [] if self.block is None else [named("block", self.block)]

    def addition(self) -> str:
        """Text after the kind in an error message."""
        return ""

    def notes(self) -> tuple[Diagnostic, ...]:
        """Further notes of an error, after those of the participants."""
        return ()

    def diagnostic(self, severity: str = "error") -> Diagnostic:
        """The finding as a compiler diagnostic."""
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
    """A position as text: `thread (3, 0, 0)`."""
    return f"{name} ({', '.join(map(str, position))})"
