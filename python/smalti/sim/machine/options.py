# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of a simulation: schedule, completion order and checks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...errors import LaunchError
from ...pace import check_time_limit

ORDERS = ("round-robin", "lowest-first", "highest-first", "adversarial")
COMPLETIONS = ("late", "early")
DEFAULT_MAX_FINDINGS = 20


@dataclass(frozen=True)
class Simulation:
    """The options of a run: the schedule, the completion order, and the checks."""

    order: str = "adversarial"
    """The warpgroup or warp that runs while several can: in turn (`round-robin`), the first or the last one as far as
    possible (`lowest-first`, `highest-first`), a random one (`random:SEED`), or `adversarial`: one runs as far as
    possible, a different one in each block, and events that others wait for are as late as possible."""
    completion: str = "late"
    """When asynchronous operations execute: at the last moment that their waits allow (`late`), when they are issued
    (`early`), or at a random moment (`random:SEED`)."""
    races: bool = True
    """Whether accesses are checked for races."""
    numbers: bool = True
    """Whether data is computed. Otherwise only synchronization and addresses are simulated."""
    explicit_waits: bool = False
    """Whether only explicit waits cover LDS DMA. Otherwise AMD barriers also cover it, because LLVM inserts the wait;
    a wait with a too large count then only costs time."""
    explicit_barriers: bool = False
    """Whether only explicit barriers order threads. Then `scf.forall` is not a synchronization point, as for compilers
    that distribute its iterations without a barrier."""
    blocks: range | None = None
    """The blocks to run, numbered with x as the fastest dimension; None for all."""
    continue_after_finding: bool = False
    """Whether the arrays are written in spite of findings. They then hold the result of this schedule."""
    max_findings: int = DEFAULT_MAX_FINDINGS
    """The number of different findings after which a run ends, or after which further ones are dropped if `continue_after_finding` is
    set."""
    time_limit: float | None = None
    """Seconds after which a run ends with an error; None for no limit."""
    progress: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)
    """Called with the number of completed blocks and of all blocks, after each cluster and once per second."""

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
"""Ten schedules: each order with each completion, and two random ones."""
