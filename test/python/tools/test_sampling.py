# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sample of a grid: its size, every value in a point, and the same points in every run."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from sampling import sample

POINTS = [
    {("chip", chip), ("dtype", dtype)} for chip, dtype in itertools.product("abcdefgh", ("f16", "f32", "i8", "bf16"))
]


@pytest.mark.parametrize("count", [1, 8, 20, 32, 100])
def test_every_value_is_in_a_point(count: int) -> None:
    chosen = sample(POINTS, count, "seed")
    assert set().union(*(POINTS[number] for number in chosen)) == set().union(*POINTS)
    # At most one point for each value, if fewer are requested.
    assert min(count, len(POINTS)) <= len(chosen) <= max(min(count, len(POINTS)), 12)


def test_the_sample_depends_on_the_seed_alone() -> None:
    assert sample(POINTS, 15, "one") == sample(POINTS, 15, "one") != sample(POINTS, 15, "two")


GRID = """
import pytest

@pytest.mark.grid(3)
@pytest.mark.parametrize("x", range(3))
@pytest.mark.parametrize("y", range(3))
def test_grid(x, y): pass

@pytest.mark.grid(1, cover=lambda x: {x.lower()})
@pytest.mark.parametrize("x", ["a", "A", "b", "B"])
def test_covered(x): pass

def test_other(): pass
"""


def collected(folder: Path, *options: str) -> list[str]:
    """The names of the tests that a run with these options would run."""
    for name in ("conftest.py", "sampling.py", "stub_driver.py"):
        (folder / name).write_text((ROOT / "test" / "python" / name).read_text())
    (folder / "test_grid.py").write_text(GRID)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-c", ROOT / "pyproject.toml", "--rootdir=."]
    # Without the plugins that are installed: their import takes most of the time.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    result = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, check=True, env=environment
    )
    return re.findall(r"::(\S+)", result.stdout)


def test_options(tmp_path: Path) -> None:
    some = collected(tmp_path)
    assert {name.lower() for name in some if "covered" in name} == {"test_covered[a]", "test_covered[b]"}
    some = [name for name in some if "covered" not in name]
    assert "test_other" in some and 3 <= len(some) - 1 < 9
    every = [name for name in collected(tmp_path, "--grids") if "covered" not in name]
    assert len(every) == 9 and set(some) - {"test_other"} < set(every)
    # A failure of `tools/dev fuzz grids` is repeated by its name, for every sample.
    missing = next(iter(set(every) - set(some)))
    assert collected(tmp_path, f"test_grid.py::{missing}") == [missing]
