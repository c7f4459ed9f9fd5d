"""Options of a simulation: schedule, completion order and checks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...errors import LaunchError
from ...pace import check_time_limit

ORDERS = ("round-robin", "first-ahead", "last-ahead", "adversarial")
COMPLETIONS = ("late", "early")
DEFAULT_MAX_FINDINGS = 20


@dataclass(frozen=True)
class Simulation:
    """What a GPU leaves open, and what is looked for."""

    order: str = "adversarial"
    """Which warpgroup of a block goes on while several can: each in turn (`round-robin`), the first or the last one as
    far as it gets (`first-ahead`, `last-ahead`), one that a generator picks (`random:SEED`), or `adversarial`: one runs
    as far ahead as it gets, another one in each block, and what others wait for comes as late as it may."""
    completion: str = "late"
    """When copies and products happen: at the last moment that their waits allow (`late`), when they are issued
    (`early`), or at a moment that a generator picks (`random:SEED`)."""
    races: bool = True
    """Whether accesses are checked for races."""
    numbers: bool = True
    """Whether numbers are computed. Without them, synchronization and addresses alone are simulated."""
    own_waits: bool = False
    """Whether waits of the program alone cover its copies to LDS that vmcnt counts. Else barriers of AMD's chips do, too,
    for which LLVM waits by itself: a wait that counts too little then costs nothing but time."""
    own_barriers: bool = False
    """Whether barriers of the program alone order its threads: then `scf.forall` is no point of synchronization, as where
    a compiler shares its iterations among threads without a barrier behind them."""
    blocks: range | None = None
    """The blocks to run, counted through the grid with x first; None for all of them."""
    go_on: bool = False
    """Whether the arrays are written although something was found. What they hold is then what this schedule gives."""
    max_findings: int = DEFAULT_MAX_FINDINGS
    """Different findings after which a run ends, or after which it tells of no more if it is to go on."""
    time_limit: float | None = None
    """Seconds after which a run that has not ended is an error; None for no limit."""
    progress: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)
    """Called with the number of blocks that are done, and of all: after each cluster, and every second in between."""

    def __post_init__(self) -> None:
        if self.order not in ORDERS and seed_of(self.order) is None:
            raise LaunchError(f"unknown order '{self.order}'; the orders are: {', '.join(ORDERS)}, random:SEED")
        if self.completion not in COMPLETIONS and seed_of(self.completion) is None:
            raise LaunchError(
                f"unknown completion '{self.completion}'; the completions are: {', '.join(COMPLETIONS)}, random:SEED"
            )
        if not isinstance(self.max_findings, int) or self.max_findings < 1:
            raise LaunchError(f"max_findings is {self.max_findings!r}; it must be an integer of at least 1")
        check_time_limit(self.time_limit)
        blocks = self.blocks
        if blocks is not None and not (
            isinstance(blocks, range) and blocks.step == 1 and blocks.start >= 0 and len(blocks) > 0
        ):
            raise LaunchError(
                f"blocks is {blocks!r}; it must be a nonempty range with a start of at least 0 and step 1"
            )


def seed_of(text: Any) -> int | None:
    """The seed in `random:SEED`."""
    found = re.fullmatch(r"random:(\d{1,20})", text, re.ASCII) if isinstance(text, str) else None
    return int(found[1]) if found else None


SCHEDULES = (
    *(Simulation(order, completion) for order, completion in itertools.product(ORDERS, COMPLETIONS)),
    Simulation("random:1", "random:1"),
    Simulation("random:2", "random:2"),
)
"""One of each kind of what a GPU leaves open."""
