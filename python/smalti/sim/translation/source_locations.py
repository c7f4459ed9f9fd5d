# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source locations in the text of a module whose ops have other locations, such as JAX's Python lines."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ... import ir, sources
from .translator import walk

_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|(?<![\w.$%#!@-])loc\s*\(')
_ALIAS = re.compile(r"#\w+\s*=\s*\Z")


def attach_source_locations(source: Any, module: ir.Module) -> None:
    """Adds the locations in the parsed file or text to ops with other locations, as the innermost location."""
    text = _text(source, module)
    if text is None or "loc(" not in text:
        return
    try:
        twin = ir.Module.parse(_without_locations(text), module.context)
    except ir.MLIRError:
        return
    operations, twins = list(walk(module.operation)), list(walk(twin.operation))
    if [op.name for op in operations] != [op.name for op in twins]:
        return
    file = os.fspath(source) if _is_file(source) else "-"
    with module.context:
        for op, there in zip(operations, twins, strict=True):
            place = ir.Location.file(file, there.location.start_line, there.location.start_col)
            if op.location != place:
                op.location = ir.Location.fused([place, op.location])


def _is_file(source: Any) -> bool:
    return isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source)


def _text(source: Any, module: ir.Module) -> str | None:
    if isinstance(source, str) and not _is_file(source):
        return sources.text_of(module.context)
    if not _is_file(source):
        return None
    try:
        return Path(source).read_text(encoding="utf-8")
    except (OSError, ValueError):
        # Bytecode does not have text.
        return None


def _without_locations(text: str) -> str:
    """The text with blanks in place of locations."""
    parts, at = [], 0
    while (found := _PARTS.search(text, at)) is not None:
        if not found[0].startswith("loc"):
            parts.append(text[at : found.end()])
            at = found.end()
            continue
        before, end = text[at : found.start()], _end(text, found.end())
        if (alias := _ALIAS.search(before)) is not None:
            before = before[: alias.start()] + " " * (len(before) - alias.start())
        parts += [before, re.sub(r"[^\n]", " ", text[found.start() : end])]
        at = end
    return "".join([*parts, text[at:]])


def _end(text: str, at: int) -> int:
    """The end of the parenthesis that begins before an index."""
    depth = 1
    for found in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, at):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return found.end()
    return len(text)
