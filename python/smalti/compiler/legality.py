# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of a tile-level kernel against the table of legal operations (docs/ops.md)."""

from __future__ import annotations

from typing import Any

from .. import sources
from ..bindings import _smalti
from ..diagnostics import Diagnostic, source_location
from ..errors import SmaltiError


def check(entry: Any, target: str, kind: type[SmaltiError]) -> None:
    """Raises an error of class `kind` if `target` refuses an operation of `entry`, a `triton_xla.entry_func`. An empty name
    stands for any target: only what every target refuses is an error."""
    found = _smalti.refusals(entry.operation, target)
    if found:
        diagnostics = [Diagnostic("error", why, source_location(operation.location)) for operation, why in found]
        raise kind("", diagnostics=diagnostics, source=sources.text_of(entry.operation.context))
