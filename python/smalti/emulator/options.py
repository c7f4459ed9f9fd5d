"""How a kernel runs on an emulated chip."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from ..errors import LaunchError

Sanitizer = Literal["thread", "address"]
SANITIZERS: tuple[str, ...] = get_args(Sanitizer)
ORDERS = ("first-ahead", "last-ahead", "in-step")
COPIES = ("late", "early")
DEFAULT_TIMEOUT = 300.0


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
    timeout: float = DEFAULT_TIMEOUT
    """Seconds after which a launch is ended."""
    blocks: range | None = None
    """The blocks to run, counted through the grid with x first; None for all of them."""
    progress: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)
    """Called with the number of blocks that are done, and of all."""

    def __post_init__(self) -> None:
        if self.sanitize is not None and self.sanitize not in SANITIZERS:
            raise LaunchError(f"sanitize is '{self.sanitize}'; it can be {' or '.join(SANITIZERS)}")
        if self.order not in ORDERS and not re.fullmatch(r"random:\d+", self.order):
            raise LaunchError(f"the order '{self.order}' is none of: {', '.join(ORDERS)}, random:SEED")
        if self.copies not in COPIES:
            raise LaunchError(f"copies are {' or '.join(COPIES)}, not '{self.copies}'")
        if self.workers is not None and self.workers < 1:
            raise LaunchError(f"{self.workers} workers run nothing")
        if not self.timeout > 0:
            raise LaunchError(f"a time limit of {self.timeout} s leaves no time to run")
        if self.blocks is not None and (self.blocks.step != 1 or self.blocks.start < 0 or not self.blocks):
            raise LaunchError(f"{self.blocks} is no range of blocks: it needs a first one, an end and the step 1")


SCHEDULES = tuple(
    Emulation(order=order, copies=copies) for order, copies in itertools.product(ORDERS, ("late", "early"))
)
"""One of each kind of what a GPU leaves open."""
