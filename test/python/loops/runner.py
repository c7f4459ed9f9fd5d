# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of the loop passes on a kernel, and comparison with the plain kernel.

The plain kernel and the transformed one run on the same emulated chip, on the same arguments; every array must be the
same, bit for bit. Passes that applied nothing must leave the text of the module unchanged.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import smalti
from smalti import check, targets
from smalti.compiler.driver import new_context
from smalti.emulator import SCHEDULES, Emulation, tensor_map
from smalti.errors import CompileError, EmulationError, VerifyError
from smalti.remarks import Remark

from .case import Case

LIMIT = 60.0
"""Seconds for a launch."""


class Wrong(AssertionError):
    """The passes, or the code that they made, did what they must not do."""


@dataclass
class Outcome:
    """The outcomes of the loops of one kernel."""

    applied: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    text: str = ""
    """The module after the passes."""
    unplaced: bool = False
    """Whether a hazard has no barrier, for a reason that was given."""

    @property
    def pipelined(self) -> int:
        """How many loops were pipelined."""
        return sum(message.startswith("loop pipelined: ") for message in self.applied)

    @property
    def slotted(self) -> int:
        """The number of multi-buffered buffers."""
        return sum(message.startswith("buffer multi-buffered: ") for message in self.applied)


@dataclass
class Tally:
    """The outcomes of all kernels."""

    ran: int = 0
    """Kernels that a pass changed, and that were run."""
    unchanged: int = 0
    pipelined: int = 0
    """Kernels with a pipelined loop."""
    loops: int = 0
    """Loops that were pipelined."""
    slotted: int = 0
    """Kernels with a multi-buffered buffer."""
    buffers: int = 0
    """Multi-buffered buffers."""
    bare: int = 0
    """Kernels all of whose barriers the passes inserted."""
    sanitized: int = 0
    """Kernels that also ran under the thread sanitizer."""
    chips: Counter[str] = field(default_factory=Counter)
    """Kernels that were run, by chip."""
    refused: Counter[str] = field(default_factory=Counter)
    """Loops and buffers that stayed as they were, by reason."""

    def __str__(self) -> str:
        chips = ", ".join(f"{name} {count}" for name, count in sorted(self.chips.items()))
        return (
            f"{self.ran + self.unchanged} kernels, of which {self.ran} were changed and agreed ({chips}): {self.loops} loops "
            f"pipelined in {self.pipelined}, {self.buffers} buffers in slots in {self.slotted}, all barriers placed in "
            f"{self.bare}, {self.sanitized} without a race under the sanitizer"
        )

    def count(self, case: Case, outcome: Outcome, sanitized: bool) -> None:
        """One more that ran."""
        self.ran += 1
        self.pipelined += outcome.pipelined > 0
        self.loops += outcome.pipelined
        self.slotted += outcome.slotted > 0
        self.buffers += outcome.slotted
        self.bare += case.bare
        self.sanitized += sanitized
        self.chips[case.chip] += 1


def _reason(message: str) -> str:
    """A reason without the names and numbers of the kernel at hand."""
    return re.sub(r"%\w+|\d+", "N", message)[:140]


@functools.lru_cache(maxsize=1)
def _context(generation: int) -> Any:
    return new_context()


_parsed = itertools.count()


def parse(text: str) -> Any:
    """A module. Contexts take longer to make than small modules; one is for so many that it does not grow for ever."""
    return smalti.parse(text, _context(next(_parsed) // 1000))


def _run(module: Any, passes: str) -> list[Remark]:
    return smalti.Pipeline(passes).run(module)


def transform(case: Case) -> Outcome:
    """Runs the passes on the kernel, and checks the properties that must always hold."""
    module = parse(case.given)
    before = str(module)
    try:
        remarks = _run(module, case.passes)
    except CompileError as error:
        if not error.diagnostics or "strict" not in case.passes:
            raise Wrong(f"the passes failed: {error}") from error
        if str(module) != before:
            raise Wrong(f"the passes failed and changed the module: {error}") from error
        return Outcome(missed=[error.diagnostics[0].message], text=before)
    outcome = Outcome(
        [remark.message for remark in remarks if remark.kind == "passed"],
        [remark.message for remark in remarks if remark.kind == "missed"],
        str(module),
        any(remark.kind == "missed" and remark.category == "smalti-place-barriers" for remark in remarks),
    )
    if not outcome.applied and outcome.text != before and not _SILENT.search(case.passes):
        raise Wrong(f"nothing was applied, and the module changed; said: {outcome.missed}")
    return outcome


_SILENT = re.compile(r"\b(canonicalize|cse|smalti-allocate-shared-memory)\b")
"""Passes without remarks about their changes."""
_STRICT = ("smalti-multi-buffer", "smalti-pipeline-loops", "smalti-pad-shared-memory", "smalti-swizzle-shared-memory")


def check_strict(case: Case) -> None:
    """If `strict` makes a pass fail, the module stays unchanged; otherwise it makes no difference."""
    lax, strict = parse(case.given), parse(case.given)
    before = str(lax)
    remarks = _run(lax, case.passes)
    missed = [remark for remark in remarks if remark.kind == "missed" and remark.category in _STRICT]
    text = re.sub(rf"({'|'.join(_STRICT)})(?:\{{([^}}]*)\}})?", r"\1{\2 strict=true}", case.passes)
    first = smalti.Pipeline(text)
    try:
        first.run(strict)
    except CompileError as error:
        if not missed:
            raise Wrong(f"strict failed where nothing was missed: {error}") from error
        # The passes before the failed one have run.
        if len(text.split("smalti-")) == 2 and str(strict) != before:
            raise Wrong(f"a strict pass failed and changed the module: {error}") from error
        return
    if missed:
        raise Wrong(f"strict did not fail where there was missed: {missed[0].message}")
    if str(strict) != str(lax):
        raise Wrong("strict made a difference")


_PIPELINE = re.compile(r"smalti-pipeline-loops(?:\{([^}]*)\})?")


def check_schedule(case: Case) -> None:
    """A schedule that is written on the ops and read back gives the same module as none."""
    found = _PIPELINE.search(case.passes)
    if not found:
        return
    direct, annotated = parse(case.given), parse(case.given)
    _run(direct, case.passes)
    options = found[1] or ""
    # The code around the pass stays there.
    head, tail = case.passes[: found.start()], case.passes[found.end() :]
    both = f"smalti-pipeline-loops{{{options} emit-schedule=true}},smalti-pipeline-loops{{{options} use-schedule=true}}"
    _run(annotated, head + both + tail)
    if (one := str(direct)) != (other := str(annotated)):
        raise Wrong(f"a schedule that was read back made another loop:\n{_difference(one, other)}")


def _difference(one: str, other: str) -> str:
    lines = difflib.unified_diff(
        one.splitlines(), other.splitlines(), "directly", "through attributes", lineterm="", n=1
    )
    return "\n".join(list(lines)[:40])


class Kernel:
    """A kernel on an emulated chip."""

    def __init__(self, chip: str, text: str, options: Mapping[str, Any] | None = None) -> None:
        target = targets.EMULATED + chip
        self._kernel = smalti.compile(parse(text), target=target, **{"depth": 1, "stages": 1, **(options or {})})
        self._kernel.launcher  # noqa: B018 - code for the host is made here
        maps = [argument for argument in self._kernel.arguments if argument.is_tensor_map]
        # The first arrays, in turn; a tile of one dimension is of an array without rows.
        self._maps = [(argument.index, _box(argument.type)) for argument in maps]

    def run(self, case: Case, scalars: Any, emulation: Emulation) -> list[np.ndarray]:
        given = {**scalars, **{index: "0" for index, _ in self._maps}}
        values = check.random_arguments(self._kernel.entry, case.seed, given)
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        for array, (index, box) in zip(arrays, self._maps, strict=False):
            values[index] = tensor_map(array if len(box) > 1 else array.reshape(-1), box)
        self._kernel.launcher(*values, emulation=replace(emulation, time_limit=LIMIT))
        return arrays


@functools.lru_cache(maxsize=16)
def plain_kernel(chip: str, text: str) -> Kernel:
    """The kernel before the passes: the points of a grid have it in common."""
    return Kernel(chip, text)


def _box(ty: str) -> tuple[int, ...]:
    """The shape of the tiles of a tensor map."""
    found = re.search(r"tensor = memref<((?:\d+x)+)", ty)
    assert found, ty
    return tuple(int(extent) for extent in found[1].rstrip("x").split("x"))


def execute(
    case: Case, text: str, schedules: Sequence[Emulation] = SCHEDULES[:1], sanitize: Sequence[Emulation] = ()
) -> None:
    """Runs the plain kernel and the one in `text`, and compares all arrays."""
    plain = plain_kernel(case.chip, case.text)
    try:
        kernel = Kernel(case.chip, text, case.options)
    except (CompileError, VerifyError) as error:
        raise Wrong(f"what the passes made does not compile: {error}") from error
    for scalars in case.scalars:
        wanted = plain.run(case, scalars, Emulation())
        for emulation in (*schedules, *sanitize):
            how = f"{emulation}, {dict(scalars)}"
            try:
                got = kernel.run(case, scalars, emulation)
            except EmulationError as error:
                _check_plain(plain, case, scalars, emulation, wanted)
                raise Wrong(f"{how}: {error}") from error
            if emulation.blocks is None and (difference := _difference_of(wanted, got)):
                _check_plain(plain, case, scalars, emulation, wanted)
                raise Wrong(f"{how}: {difference}")


class Unsound(AssertionError):
    """The plain kernel itself is wrong: an error of the generator."""


def _check_plain(plain: Kernel, case: Case, scalars: Any, emulation: Emulation, wanted: list[np.ndarray]) -> None:
    try:
        got = plain.run(case, scalars, emulation)
    except EmulationError as error:
        raise Unsound(f"the plain kernel: {emulation}, {dict(scalars)}: {error}") from error
    if emulation.blocks is None and (difference := _difference_of(wanted, got)):
        raise Unsound(f"the plain kernel: {emulation}, {dict(scalars)}: {difference}")


def _difference_of(wanted: list[np.ndarray], got: list[np.ndarray]) -> str:
    for index, (one, other) in enumerate(zip(wanted, got, strict=True)):
        if one.tobytes() != other.tobytes():
            return f"array {index}: {_compare(one, other)}"
    return ""


def _compare(wanted: np.ndarray, got: np.ndarray) -> str:
    bits = wanted.view(np.uint8).reshape(*wanted.shape, -1) != got.view(np.uint8).reshape(*got.shape, -1)
    wrong = bits.any(-1)
    place = tuple(int(i[0]) for i in np.nonzero(wrong))
    return f"{wrong.sum()} of {wrong.size} elements differ; at {place}: {got[place]}, not {wanted[place]}"


def sanitizing(case: Case) -> Emulation:
    """A run of one block under the thread sanitizer."""
    found = re.search(r"known_grid_size = array<i32: (\d+)", case.text)
    seed, blocks = case.seed, int(found[1]) if found else 1
    block = 3 + seed % 4 if blocks > 6 else 0
    return Emulation(sanitize="thread", copies=("late", "early")[seed % 2], blocks=range(block, block + 1))


def run(case: Case, tally: Tally, schedules: Sequence[Emulation] = SCHEDULES[:1], sanitize: bool = False) -> Outcome:
    """All checks on one kernel."""
    outcome = transform(case)
    tally.refused.update(_reason(message) for message in outcome.missed)
    check_strict(case)
    check_schedule(case)
    # Without its barriers the kernel is different, unless all of them are inserted again.
    if not outcome.applied if not case.bare else outcome.unplaced:
        tally.unchanged += 1
        return outcome
    races = [sanitizing(case)] if sanitize else []
    execute(case, outcome.text, schedules, races)
    tally.count(case, outcome, sanitize)
    return outcome
