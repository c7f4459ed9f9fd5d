# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Line tables: source lines in binaries, and the source lines of assembly text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ..diagnostics import SourceLocation


class Chip(Protocol):
    """A target."""

    @property
    def vendor(self) -> str: ...
    @property
    def is_emulated(self) -> bool: ...


def passes(target: Chip) -> str:
    """The passes that add source locations to the code, as the beginning of a textual pipeline.

    PTX has directives only: debug sections would make ptxas compile without optimizations.
    """
    is_ptx = target.vendor == "nvidia" and not target.is_emulated
    kind = "DebugDirectivesOnly" if is_ptx else "LineTablesOnly"
    return f"ensure-debug-info-scope-on-llvm-func{{emission-kind={kind}}},smalti-inlined-scopes,"


_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)
_LINE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", re.MULTILINE)


def has_lines(assembly: str) -> bool:
    """Whether PTX or AMD assembly has source locations."""
    return _LINE.search(assembly) is not None


def source_lines(assembly: str) -> Iterator[tuple[str, tuple[SourceLocation, ...]]]:
    """The lines of PTX or AMD assembly with the source location of each instruction, if it has one."""
    files = {number: str(Path(*filter(None, names))) for number, *names in _FILE.findall(assembly)}
    place: tuple[SourceLocation, ...] = ()
    for line in assembly.splitlines():
        if found := _LINE.match(line):
            # Line 0 is an instruction without a source line.
            file, row, column = found.groups()
            place = (SourceLocation(files[file], int(row), int(column)),) if row != "0" and file in files else ()
        is_instruction = line[:1].isspace() and line.strip()[:1] not in (".", ";", "/")
        yield line, place if is_instruction else ()


def source_location(assembly: str, line: int) -> SourceLocation | None:
    """The source location of a line of PTX or AMD assembly, or None."""
    _, place = list(source_lines(assembly))[line - 1]
    return place[0] if place else None
