# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests over a grid of points: the suite runs a seeded sample of the points, and `tools/dev fuzz grids` all of them.

    @pytest.mark.grid(20)
    @pytest.mark.parametrize("chip", CHIPS)
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_matmul(chip, dtype): ...

runs at least 20 points, and as many as are needed for each chip and each dtype to be in one. With `cover=False`, and
for a test of one parameter, exactly 20 points run. With `cover=FUNCTION`, each value that the function returns for the
parameters of a point is in one: `cover=lambda mma: {mma.mnemonic}` for a parameter with many properties. The sample depends only on the name of the test and its points:
every run, and every worker of a run, has the same sample. Use the mark only for cartesian products: if each point is a
behavior of its own, all points must run.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest


def values_of(item: pytest.Function) -> set[tuple[str, str]]:
    """The values that a point covers: the text of each parameter, or its number if the text depends on the process."""
    if not hasattr(item, "callspec"):
        return set()
    texts = {name: repr(value) for name, value in item.callspec.params.items()}
    return {(name, str(item.callspec.indices[name]) if " at 0x" in text else text) for name, text in texts.items()}


def sample(points: Sequence[set[Any]], count: int, seed: str) -> set[int]:
    """The numbers of `count` points, and of as many more as it takes for each value to be in one."""
    order = list(range(len(points)))
    random.Random(seed).shuffle(order)
    missing = set().union(*points)
    chosen = set()
    for number in order:
        if points[number] & missing:
            chosen.add(number)
            missing -= points[number]
    for number in order:
        if len(chosen) >= count:
            break
        chosen.add(number)
    return chosen


def dropped_points(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Slow tests, and the points of grids that are not in the sample."""
    grids: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        is_slow = item.get_closest_marker("slow") is not None
        if isinstance(item, pytest.Function) and item.get_closest_marker("grid") and not is_slow:
            grids[item.nodeid.partition("[")[0]].append(item)
    result = [item for item in items if item.get_closest_marker("slow")]
    for name, points in grids.items():
        marker = points[0].get_closest_marker("grid")
        if marker is None or not marker.args:
            raise pytest.UsageError(f"{name}: the mark 'grid' requires a number of points, as in grid(20)")
        values = [values_of(point) for point in points]
        cover = marker.kwargs.get("cover", True)
        if callable(cover):
            values = [set(cover(**point.callspec.params)) for point in points]
        elif not cover or len(values[0]) < 2:
            values = [set() for _ in values]
        chosen = sample(values, marker.args[0], name.rpartition("/")[2])
        result += [point for number, point in enumerate(points) if number not in chosen]
    return result
