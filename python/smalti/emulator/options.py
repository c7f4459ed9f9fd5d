"""How a kernel runs on an emulated chip."""

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
ORDERS = ("first-ahead", "last-ahead", "in-step")
COPIES: tuple[Literal["late", "early"], ...] = ("late", "early")
DEFAULT_TIME_LIMIT = 300.0
MAX_WORKERS = 1024


@dataclass(frozen=True)
class Emulation:
    """What a GPU leaves open, what is looked for, and how long that may take."""

    sanitize: Sanitizer | None = None
    """`thread` finds races, `address` every access outside an array or outside shared memory."""
    order: str = "first-ahead"
    """Which wave of a block goes on while several can: the first, the last, each in turn (`in-step`), or one that a
    generator picks (`random:SEED`)."""
    copies: Literal["late", "early"] = "late"
    """Whether asynchronous copies happen at the wait for them, or when they are issued."""
    workers: int | None = None
    """Processes that run blocks; None for one a core."""
    time_limit: float = DEFAULT_TIME_LIMIT
    """Seconds after which a launch is ended."""
    blocks: range | None = None
    """The blocks to run, counted through the grid with x first; None for all of them."""
    progress: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)
    """Called with the number of blocks that are done, and of all."""

    def __post_init__(self) -> None:
        if self.sanitize is not None and self.sanitize not in SANITIZERS:
            raise LaunchError(f"sanitize is '{self.sanitize}'; it can be {' or '.join(SANITIZERS)}")
        if self.order not in ORDERS and not _is_random(self.order):
            raise LaunchError(f"the order '{self.order}' is none of: {', '.join(ORDERS)}, random:SEED (of 64 bits)")
        if self.copies not in COPIES:
            raise LaunchError(f"copies are {' or '.join(COPIES)}, not '{self.copies}'")
        workers: Any = self.workers
        if workers is not None and not (isinstance(workers, int) and 1 <= workers <= MAX_WORKERS):
            raise LaunchError(f"{self.workers!r} workers: a number from 1 to {MAX_WORKERS} is wanted")
        pace.check_time_limit(self.time_limit)
        if self.blocks is not None and not _is_range_of_blocks(self.blocks):
            raise LaunchError(f"{self.blocks!r} is no range of blocks: it needs a first one, an end and the step 1")


def _is_random(order: Any) -> bool:
    found = re.fullmatch(r"random:(\d{1,20})", order, re.ASCII) if isinstance(order, str) else None
    return found is not None and int(found[1]) < 1 << 64


def _is_range_of_blocks(blocks: Any) -> bool:
    return isinstance(blocks, range) and blocks.step == 1 and blocks.start >= 0 and len(blocks) > 0


def chosen(given: Any, default: Emulation) -> Emulation:
    """The emulation that a launch was given, or the default."""
    if given is None:
        given = default
    if not isinstance(given, Emulation):
        raise LaunchError(f"emulation is {given!r}: a smalti.Emulation is wanted, such as Emulation(sanitize='thread')")
    return given


SCHEDULES = tuple(Emulation(order=order, copies=copies) for order, copies in itertools.product(ORDERS, COPIES))
"""One of each kind of what a GPU leaves open."""
