# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of emulated GPUs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from .. import pace
from ..errors import LaunchError

Sanitizer = Literal["thread", "address"]
SANITIZERS: tuple[str, ...] = get_args(Sanitizer)
ORDERS = ("lowest-first", "highest-first", "round-robin")
COPIES: tuple[Literal["late", "early"], ...] = ("late", "early")
DEFAULT_TIME_LIMIT = 300.0
MAX_WORKERS = 1024


@dataclass(frozen=True)
class Emulation:
    """The schedule, the checks and the limits of a run on an emulated GPU."""

    sanitize: Sanitizer | None = None
    """`thread` finds data races, `address` every access outside an array or outside shared memory."""
    order: str = "lowest-first"
    """The wave of a block to run if several can: the first (`lowest-first`), the last (`highest-first`), all in turn
    (`round-robin`), or a random one (`random:SEED`)."""
    copies: Literal["late", "early"] = "late"
    """Whether asynchronous operations complete at the wait for them, or when they are issued."""
    workers: int | None = None
    """The number of processes that run blocks; None for one per core, or one if the kernel prints."""
    time_limit: float = DEFAULT_TIME_LIMIT
    """Seconds after which a launch ends with a `timeout`."""
    blocks: range | None = None
    """The blocks to run, numbered with x fastest; None for all blocks."""
    progress: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)
    """Called with the number of complete blocks and of all blocks."""

    def __post_init__(self) -> None:
        if self.sanitize is not None and self.sanitize not in SANITIZERS:
            raise LaunchError(f"sanitize is '{self.sanitize}'; it must be {' or '.join(SANITIZERS)}")
        if self.order not in ORDERS and not _is_random(self.order):
            raise LaunchError(
                f"the order of waves is '{self.order}'; it must be one of: {', '.join(ORDERS)}, or random:SEED with a SEED below 2^64"
            )
        if self.copies not in COPIES:
            raise LaunchError(
                f"copies (when asynchronous copies complete) is '{self.copies}'; it must be {' or '.join(COPIES)}"
            )
        workers: Any = self.workers
        if workers is not None and not (isinstance(workers, int) and 1 <= workers <= MAX_WORKERS):
            raise LaunchError(f"workers is {self.workers!r}; it must be a number of processes from 1 to {MAX_WORKERS}")
        pace.check_time_limit(self.time_limit)
        if self.blocks is not None and not _is_range_of_blocks(self.blocks):
            raise LaunchError(
                f"blocks is {self.blocks!r}; it must be a non-empty range of block numbers with step 1, such as range(0, 4)"
            )


def _is_random(order: Any) -> bool:
    found = re.fullmatch(r"random:(\d{1,20})", order, re.ASCII) if isinstance(order, str) else None
    return found is not None and int(found[1]) < 1 << 64


def _is_range_of_blocks(blocks: Any) -> bool:
    return isinstance(blocks, range) and blocks.step == 1 and blocks.start >= 0 and len(blocks) > 0


def chosen(value: Any, default: Emulation) -> Emulation:
    """The emulation of a launch, or the default."""
    if value is None:
        value = default
    if not isinstance(value, Emulation):
        raise LaunchError(
            f"emulation is {value!r}; it must be a smalti.Emulation, such as Emulation(sanitize='thread')"
        )
    return value


SCHEDULES = tuple(Emulation(order=order, copies=copies) for order, copies in itertools.product(ORDERS, COPIES))
"""Each order, with late and with early copies."""
