# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of a kernel on several targets, compared with the reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import smalti
from smalti import check, reference
from smalti.compiler import entry
from smalti.emulator import Emulation
from smalti.errors import CompileError

from .program import Program

# Texts of a compiler crash, as opposed to a refusal.
_BROKEN = re.compile(
    r"code generation of|gave no reason|failed to legalize|failed to verify|does not dominate|unrealized_conversion_cast"
    r"|failed to materialize|operand #\d+ must be|result #\d+ must be"
)


# How a program runs on an emulated chip, by its seed.
_EMULATIONS = (
    Emulation(),
    Emulation(sanitize="thread"),
    Emulation(sanitize="address"),
    Emulation(order="random:1", copies="early"),
)


class Disagreement(AssertionError):
    """A target's result differs from the reference, or it fails unexpectedly."""

    def __init__(self, target: str, message: str) -> None:
        super().__init__(f"{target}: {message}")
        self.target = target


@dataclass
class Tally:
    """The outcomes of the kernels, by target."""

    agreed: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By target and reason."""
    failed: Counter[str] = field(default_factory=Counter)


def reason(refusal: str) -> str:
    """A refusal without the names and numbers of the program at hand."""
    return re.sub(r"(?:memref|tensor|vector)<[^>]*>+|\d+(?:x\d+)*", "N", refusal)[:160]


def run(program: Program, target: str, wanted: list[reference.Value]) -> str | None:
    """Compiles, runs, compares. Returns the first line of a refusal, or None if the target agrees."""
    try:
        kernel = smalti.compile(program.text, target=target, **program.options)
    except CompileError as error:
        if not error.diagnostics or _BROKEN.search(str(error)):
            raise Disagreement(target, str(error)) from error
        said = error.diagnostics[0].message if error.diagnostics else error.message
        return said.splitlines()[0]
    if kernel.target.is_emulated:
        kernel.emulation = _EMULATIONS[program.seed % len(_EMULATIONS)]
    values = program.arguments()
    before = [value.tobytes() if isinstance(value, np.ndarray) else b"" for value in values]
    kernel(*values)
    for argument, value, expected, old in zip(kernel.arguments, values, wanted, before, strict=True):
        if not argument.is_memref:
            continue
        if not argument.writes:
            if value.tobytes() != old:
                raise Disagreement(target, f"{argument} is only read, and changed")
        elif (comparison := check.compare(argument, value, expected)).wrong:
            raise Disagreement(target, f"{argument}: {comparison.detail}")
    return None


def compare(program: Program, targets: Iterable[str], tally: Tally | None = None) -> None:
    """Runs `program` on every one of `targets`; raises `Disagreement` if one is wrong."""
    tally = tally or Tally()
    with np.errstate(all="ignore"):
        module = smalti.parse(program.text)
        wanted = reference.run(entry.find_entry(module), program.arguments())
        for target in targets:
            try:
                refusal = run(program, target, wanted)
            except Disagreement:
                tally.failed[target] += 1
                raise
            except Exception as error:
                tally.failed[target] += 1
                raise Disagreement(target, f"{type(error).__name__}: {error}") from error
            if refusal is None:
                tally.agreed[target] += 1
            else:
                tally.refused[target, reason(refusal)] += 1
