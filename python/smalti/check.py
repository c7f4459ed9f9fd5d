"""Checking a kernel's numbers against the reference interpreter, on random inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from . import reference
from .compiler import entry
from .errors import CheckError
from .inputs import random_arguments
from .launch.kernels import Kernel

SAFETY = 2.0
"""The tolerance is this many times the first-order error bound of the reference."""

RULE = (
    f"tolerance per element: {SAFETY:g} x the first-order error bound: (K + 1) * 2^-23 * sum|a||b| for a dot of depth "
    "K summed in f32, plus u * |value| for every rounding to a type of unit roundoff u"
)


@dataclass(frozen=True)
class Comparison:
    """How one written argument compares with its reference."""

    argument: entry.Argument
    max_error: float
    """The largest absolute difference."""
    wrong: int
    """Elements outside their tolerance."""
    total: int
    first_wrong: tuple[int, ...] | None
    detail: str = ""


@dataclass(frozen=True)
class CheckResult:
    """The comparison of every argument."""

    comparisons: tuple[Comparison, ...]
    unwritten_changed: tuple[entry.Argument, ...]
    """Arguments that the program only reads and that changed nevertheless."""
    seconds: float = 0.0
    """How long the run took."""

    @property
    def ok(self) -> bool:
        return not self.unwritten_changed and all(c.wrong == 0 for c in self.comparisons)

    @property
    def max_error(self) -> float:
        return max((c.max_error for c in self.comparisons), default=0.0)

    def require(self) -> CheckResult:
        """Itself, or an error that says what is wrong."""
        lines = [f"{c.argument}: {c.detail}" for c in self.comparisons if c.wrong]
        lines += [f"{a}: the program only reads it, and it changed" for a in self.unwritten_changed]
        if lines:
            # The tolerance matters only to those who look for the error.
            rule = [RULE] if any(c.wrong and c.argument.dtype.kind == "f" for c in self.comparisons) else []
            raise CheckError("the result differs from the reference:\n  " + "\n  ".join([*lines, *rule]))
        return self

    def __str__(self) -> str:
        return f"ok, max abs error {self.max_error:.3g}"


def compare(argument: entry.Argument, got: np.ndarray, wanted: reference.Value) -> Comparison:
    """Compares an array with its reference, element by element."""
    exact = wanted.data
    if argument.dtype.kind != "f":
        bad = got.astype(np.int64) != exact.astype(np.int64)
        difference = np.abs(got.astype(np.float64) - exact.astype(np.float64))
        tolerance = np.zeros(exact.shape)
    else:
        actual = got.astype(np.float64)
        with np.errstate(invalid="ignore"):
            difference = np.abs(actual - exact)
            tolerance = SAFETY * (np.zeros(exact.shape) if wanted.error is None else wanted.error)
            same = (actual == exact) | (np.isnan(actual) & np.isnan(exact))
            difference = np.where(same, 0.0, difference)
            bad = ~(same | (difference <= tolerance))
        difference = np.where(np.isnan(difference), np.inf, difference)
    worst = float(difference.max(initial=0.0))
    count = int(np.count_nonzero(bad))
    first = detail = None
    if count:
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        detail = (
            f"{count} of {exact.size} elements are wrong; the first is [{', '.join(map(str, first))}]: "
            f"{got[first]}, the reference is {exact[first]:.9g} +- {float(tolerance[first]):.3g}"
        )
    return Comparison(argument, worst, count, int(exact.size), first, detail or "")


def check(
    kernel: Kernel,
    module: Any,
    *,
    seed: int = 0,
    given: Mapping[int, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CheckResult:
    """Runs `kernel` on random inputs and the program of `module` in the reference interpreter, and compares.

    The time limit of the kernel holds for each of the two; the interpreter runs the blocks that the kernel runs, and
    reports `progress`.
    """
    how: Any = kernel
    if kernel.target.is_emulated:
        how = kernel.emulation
    elif kernel.target.is_simulated:
        how = how.simulation
    values: list[Any] = random_arguments(kernel.entry, seed, given)
    before: list[Any] = [np.copy(cast(Any, value)) if isinstance(value, np.ndarray) else value for value in values]
    launcher = kernel.launcher  # Where it cannot run there is no use in a reference.
    function = entry.find_entry(module, kernel.entry.name)
    limits: Any = {"time_limit": how.time_limit, "blocks": how.blocks}
    expected = reference.run(function, values, **limits, progress=progress)
    seconds = launcher.run_on_copies(values)
    comparisons: list[Comparison] = []
    changed: list[entry.Argument] = []
    for argument, value, old, wanted in zip(kernel.arguments, values, before, expected, strict=True):
        if not argument.is_memref:
            continue
        if argument.writes:
            comparisons.append(compare(argument, value, wanted))
        elif value.tobytes() != old.tobytes():
            changed.append(argument)
    return CheckResult(tuple(comparisons), tuple(changed), seconds)
