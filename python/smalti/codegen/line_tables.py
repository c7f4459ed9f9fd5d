# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Line tables: source lines in binaries, and the source lines of assembly text."""

from __future__ import annotations

import os
import re
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
_LINE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)", re.MULTILINE)
_CALLER = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")


def has_lines(assembly: str) -> bool:
    """Whether PTX or AMD assembly has source locations."""
    return _LINE.search(assembly) is not None


def source_location(assembly: str, line: int) -> SourceLocation | None:
    """The source location of a line of PTX or AMD assembly, with its callers in PTX; None if the text does not have it."""
    files = {number: os.path.join(*filter(None, names)) for number, *names in _FILE.findall(assembly)}
    before = "\n".join(assembly.splitlines()[:line])
    # Line 0 is an instruction without a source line.
    found = [place for place in _LINE.findall(before) if place[1] != "0" and place[0] in files]
    if not found:
        return None
    places = [found[-1][:3], *_CALLER.findall(found[-1][3])]
    first, *callers = [SourceLocation(files[file], int(row), int(column)) for file, row, column in places]
    return SourceLocation(first.file, first.line, first.column, tuple(callers))
