# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranges of loops."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from .arithmetic import attribute
from .types import Misuse, index, is_integer
from .values import Tile, Value


class Range:
    """`for k in sl.range(start, stop, step, stages=3)`: a loop of the kernel. `range` in a kernel is the same without options.

    `k` is an `index` scalar. `stages` is the number of stages of its software pipeline (1: not pipelined). Bounds and step
    are numbers or integer scalars.
    """

    def __init__(self, *bounds: Any, stages: int | None = None) -> None:
        if not 1 <= len(bounds) <= 3:
            raise Misuse(f"range takes 1 to 3 numbers, not {len(bounds)}")
        for bound in bounds:
            is_valid = isinstance(bound, int) if not isinstance(bound, Value) else is_integer(bound.dtype)
            if not is_valid or (isinstance(bound, Tile) and bound.ndim):
                raise Misuse(f"range has the bound {bound!r}, but takes integers")
            if isinstance(bound, int):
                attribute(bound, index)
        self.start, self.stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        self.step = bounds[2] if len(bounds) == 3 else 1
        self.stages = stages
        if isinstance(self.step, int) and self.step < 1:
            raise Misuse(
                f"the step of the range is {self.step}, but must be positive", "count up, and reverse the index"
            )
        if stages is not None and (not isinstance(stages, int) or isinstance(stages, bool) or not 1 <= stages <= 16):
            raise Misuse(f"stages is {stages!r}, but must be a number from 1 to 16")

    def __iter__(self) -> Iterator[int]:
        """The numbers of a range with static bounds, for comprehensions and functions of Python."""
        bounds = (self.start, self.stop, self.step)
        if any(isinstance(bound, Value) for bound in bounds):
            raise Misuse(
                "a range whose bounds are computed when the kernel runs is iterated by Python", "use a for loop"
            )
        return iter(builtins.range(*bounds))

    def __reversed__(self) -> Iterator[int]:
        raise Misuse("reversed is not supported for a range", "count up, and compute the index: n - 1 - i")

    def __len__(self) -> int:
        return len(list(iter(self)))


def static_range(*bounds: int) -> builtins.range:
    """`for i in sl.static_range(4)` is unrolled: `i` is a Python number. The bounds are constants."""
    return builtins.range(*bounds)
