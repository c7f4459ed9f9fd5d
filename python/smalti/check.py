# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of a kernel with the reference interpreter on random inputs."""

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
"""The tolerance divided by the first-order error bound of the reference."""

RULE = (
    f"tolerance per element: {SAFETY:g} x the first-order error bound: (K + 1) * 2^-23 * sum|a||b| for a dot of depth "
    "K summed in f32, plus u * |value| for every rounding to a type of unit roundoff u"
)


@dataclass(frozen=True)
class Comparison:
    """The comparison of one written argument with its reference."""

    argument: entry.Argument
    max_error: float
    """The largest absolute difference, without that of unchecked elements."""
    tolerance: float
    """The tolerance of the element with the largest difference."""
    unchecked: int
    """Number of elements for which the reference accepts every value, since the order of atomic operations decides them or
    the operation is undefined."""
    wrong: int
    """Number of elements outside their tolerance."""
    total: int
    first_wrong: tuple[int, ...] | None
    detail: str = ""
    constant: str = ""
    """The value, if all elements of the reference are the same."""


@dataclass(frozen=True)
class CheckResult:
    """The comparison of all arguments."""

    comparisons: tuple[Comparison, ...]
    unwritten_changed: tuple[entry.Argument, ...]
    """Arguments that changed although the kernel only reads them."""
    seconds: float = 0.0
    """Duration of the run in seconds."""
    values: tuple[Any, ...] = ()
    """The arguments after the run."""

    @property
    def ok(self) -> bool:
        return not self.unwritten_changed and all(c.wrong == 0 for c in self.comparisons)

    @property
    def max_error(self) -> float:
        return max((c.max_error for c in self.comparisons), default=0.0)

    @property
    def warnings(self) -> list[str]:
        """A sentence for each result in which a kernel with wrong positions or operands could go undetected."""
        return [
            f"{c.argument}: all {c.total} elements of the reference are {c.constant}, so that the check proves little; pass other "
            "inputs (--seed, --arg), or check that the kernel writes the array"
            for c in self.comparisons
            if c.constant
        ]

    @property
    def _problems(self) -> list[str]:
        """A sentence for each wrong argument, with the first wrong element."""
        return [f"{c.argument}: {c.detail}" for c in self.comparisons if c.wrong] + [
            f"{a}: the kernel only reads this argument, but its contents changed; a write to another argument may be out of bounds"
            for a in self.unwritten_changed
        ]

    def require(self) -> CheckResult:
        """Returns `self` if the result is correct. Otherwise raises a CheckError with the first wrong element."""
        if lines := self._problems:
            # Print the tolerance rule only with a wrong element.
            rule = [RULE] if any(c.wrong and c.argument.dtype.kind == "f" for c in self.comparisons) else []
            raise CheckError("the result differs from the reference:\n  " + "\n  ".join([*lines, *rule]))
        return self

    def __str__(self) -> str:
        if not self.ok:
            return f"wrong: {'; '.join(self._problems)}"
        worst = max(self.comparisons, key=lambda c: c.max_error, default=None)
        text = f"ok, max abs error {self.max_error:.3g} (tolerance {worst.tolerance if worst else 0:.3g})"
        unchecked = sum(c.unchecked for c in self.comparisons)
        return (
            f"{text}, {unchecked} of {sum(c.total for c in self.comparisons)} elements unchecked" if unchecked else text
        )


def compare(argument: entry.Argument, actual: np.ndarray, expected: reference.Value) -> Comparison:
    """Compares an array with its reference, per element. +0 and -0 are equal."""
    exact = expected.data
    actual = reference.unpack(actual, argument)
    if argument.dtype.kind != "f" and actual.dtype != np.float64:
        difference = np.abs(actual.astype(np.float64) - exact.astype(np.float64))
        tolerance = reference.error_of(expected)
        bad = (actual.astype(np.int64) != exact.astype(np.int64)) & ((tolerance == 0) | (difference > tolerance))
    else:
        values = actual.astype(np.float64)
        with np.errstate(invalid="ignore"):
            difference = np.abs(values - exact)
            tolerance = SAFETY * (np.zeros(exact.shape) if expected.error is None else expected.error)
            same = (values == exact) | (np.isnan(values) & np.isnan(exact))
            difference = np.where(same, 0.0, difference)
            bad = ~(same | (difference <= tolerance))
        difference = np.where(np.isnan(difference), np.inf, difference)
    is_unchecked = np.isinf(tolerance)
    difference = np.where(is_unchecked, 0.0, difference)
    at = np.unravel_index(difference.argmax(), exact.shape) if exact.size else None
    worst, allowed = (float(difference[at]), float(tolerance[at])) if at is not None else (0.0, 0.0)
    unchecked = int(np.count_nonzero(is_unchecked))
    count = int(np.count_nonzero(bad))
    first = detail = None
    if count:
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        detail = (
            f"{count} of {exact.size} elements are wrong; the first is [{', '.join(map(str, first))}]: "
            f"{actual[first]}; the reference is {exact[first]:.9g} +- {float(tolerance[first]):.3g}"
        )
    return Comparison(
        argument, worst, allowed, unchecked, count, int(exact.size), first, detail or "", _constant(exact)
    )


def _constant(exact: np.ndarray) -> str:
    """The value of all elements, if they are the same; empty otherwise. A single number is a result, but not a NaN."""
    if exact.size == 0:
        return ""
    first = exact.flat[0]
    is_nan = bool(first != first)
    if not (np.isnan(exact).all() if is_nan else exact.size > 1 and (exact == first).all()):
        return ""
    return f"{first:.9g}" if exact.dtype.kind == "f" else str(int(first))


def check(
    kernel: Kernel,
    module: Any,
    *,
    seed: int = 0,
    given: Mapping[int, str] | None = None,
    full_range: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CheckResult:
    """Runs `kernel` and the reference interpreter on the same random inputs, and compares the results.

    `seed`, `given` and `full_range` are those of `inputs.random_arguments`. `module` is the source of the kernel. The time limit of the kernel applies to each of the two runs. The interpreter
    runs the same blocks as the kernel, and calls `progress(completed, total)`.
    """
    settings: Any = kernel
    if kernel.target.is_emulated:
        settings = kernel.emulation
    elif kernel.target.is_simulated:
        settings = settings.simulation
    values: list[Any] = random_arguments(kernel.entry, seed, given, full_range)
    before: list[Any] = [np.copy(cast(Any, value)) if isinstance(value, np.ndarray) else value for value in values]
    launcher = kernel.launcher  # Raises before the reference runs if the kernel cannot run here.
    function = entry.find_entry(module, kernel.entry.name)
    limits: Any = {"time_limit": settings.time_limit, "blocks": settings.blocks}
    references = reference.run(function, values, **limits, progress=progress)
    seconds = launcher.run_on_copies(values)
    comparisons: list[Comparison] = []
    changed: list[entry.Argument] = []
    for argument, value, old, expected in zip(kernel.arguments, values, before, references, strict=True):
        if not argument.is_memref:
            continue
        if argument.writes:
            comparisons.append(compare(argument, value, expected))
        elif value.tobytes() != old.tobytes():
            changed.append(argument)
    return CheckResult(tuple(comparisons), tuple(changed), seconds, tuple(values))
