# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One note about the expected duration of a long run, with options that shorten it."""

from __future__ import annotations

import time
from collections.abc import Callable

from .errors import LaunchError

MAX_TIME_LIMIT = 1e6
"""Seconds."""


def check_time_limit(limit: object) -> None:
    """Raises unless `limit` is a number of seconds, or None for no limit."""
    if limit is None or (
        isinstance(limit, (int, float)) and not isinstance(limit, bool) and 0 < limit <= MAX_TIME_LIMIT
    ):
        return
    raise LaunchError(
        f"time_limit is {limit!r}; it must be a number of seconds above 0 and at most {MAX_TIME_LIMIT:g}, or None"
    )


MORE_TIME = "raise --time-limit SECONDS (time_limit), or run fewer blocks with --blocks N (blocks)"
"""The hint of an error about the time limit."""
LONG = 10.0
"""Expected seconds from which a run is announced."""
SILENT = 5.0
"""Seconds after which a run is announced if no block has completed."""


class Pace:
    """A progress callback (`Simulation.progress`) that reports a long run once."""

    def __init__(self, say: Callable[[str], None], hints: str, unit: str = "blocks", runs: int = 1) -> None:
        self._say, self._hints, self._unit, self._runs = say, hints, unit, runs
        self._start = time.monotonic()
        self._said = False

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self._start
        if self._said:
            return
        schedules = f" in {self._runs} schedules" if self._runs > 1 else ""
        if not done:
            if seconds < SILENT:
                return
            what = f"0 of {total} {self._unit}{schedules} completed" if total > 1 else "not completed"
            message = f"{what} after {seconds:.0f} s"
        else:
            estimate = seconds / done * total * self._runs
            if estimate < LONG or (done >= total and self._runs == 1):
                return
            unit = self._unit if total > 1 else self._unit.removesuffix("s")
            message = f"{total} {unit}{schedules} will take about {estimate:.0f} s"
            if total > 1:
                message += f" (estimated from the first {done})" if done > 1 else " (estimated from the first one)"
        self._said = True
        self._say(f"{message}; {self._hints}")
