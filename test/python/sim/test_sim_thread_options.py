# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of a run of a thread-level kernel, in Python and on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from smalti import sim
from smalti.cli import commands
from thread_programs import SHARED

BLOCKS = 4


def reversing(broken: int | None = None) -> str:
    """Each block turns 64 numbers round, through shared memory; one of them without a barrier."""
    barrier = f"""%bad = arith.constant {BLOCKS if broken is None else broken} : index
    %fine = arith.cmpi ne, %b, %bad : index
    scf.if %fine {{
      gpu.barrier
    }}"""
    return f"""gpu.module @m {{
  gpu.func @turn(%x: memref<{BLOCKS}x64xf32>, %y: memref<{BLOCKS}x64xf32>) kernel attributes {{
      known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: {BLOCKS}, 1, 1>}} {{
    %tile = memref.alloc() : memref<64xf32, {SHARED}>
    %last = arith.constant 63 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %mirror = arith.subi %last, %t : index
    %v = memref.load %x[%b, %t] : memref<{BLOCKS}x64xf32>
    memref.store %v, %tile[%t] : memref<64xf32, {SHARED}>
    {barrier}
    %w = memref.load %tile[%mirror] : memref<64xf32, {SHARED}>
    memref.store %w, %y[%b, %t] : memref<{BLOCKS}x64xf32>
    gpu.return
  }}
}}"""


@pytest.mark.parametrize("blocks", [None, range(1, 3)])
def test_progress_is_reported_per_block(blocks: range | None) -> None:
    reported: list[tuple[int, int]] = []
    made = sim.simulate(reversing(), "sim:sm_90a", level="thread")
    way = sim.Simulation(blocks=blocks, progress=lambda *now: reported.append(now))
    made(*made.random_arguments(), simulation=way)
    count = BLOCKS if blocks is None else 2
    assert reported == [(done, count) for done in range(1, count + 1)]


def test_a_terminal_shows_the_progress(tmp_path: Path) -> None:
    file = tmp_path / "turn.mlir"
    file.write_text(reversing())
    # The machine may have no pseudo terminals.
    code = "import sys; sys.stderr.isatty = lambda: True; from smalti.cli.commands import main; main()"
    command = [sys.executable, "-c", code, "sim", str(file), "--level", "thread", "--schedules", "all"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0 and "nothing found in 10 schedules" in done.stdout
    assert "@turn on sim:sm_90a" in done.stderr and f"{BLOCKS}/{BLOCKS} blocks" in done.stderr


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """Runs the command on a kernel with a broken third block, and returns the arrays afterwards."""
    file = tmp_path / "turn.mlir"
    file.write_text(reversing(2))

    def run(*words: str) -> tuple[Result, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        saved = tmp_path / "out.npz"
        done = CliRunner().invoke(commands.main, ["sim", str(file), "--level", "thread", "--save", str(saved), *words])
        arrays = np.load(saved)
        return done, arrays["arg0"], arrays["arg1"]

    return run


def test_the_shell_takes_blocks(shell: Any) -> None:
    done, x, y = shell("--blocks", "2")
    assert done.exit_code == 0 and (y[:2] == x[:2, ::-1]).all() and not (y[2:] == x[2:, ::-1]).any()
    done, _, _ = shell("--blocks", "2:3")
    assert done.exit_code == 1 and "block (2, 0, 0), warp " in done.output and "[race]" in done.output
    done = shell("--blocks", "3:5")[0]
    assert done.exit_code == 1 and "block 4 is selected, but the grid has 4 blocks" in done.output


def test_the_shell_computes_no_numbers(shell: Any) -> None:
    """Races are found, and arrays stay."""
    done, x, y = shell("--races-only", "--blocks", "1")
    assert done.exit_code == 0 and not (y == x[:, ::-1]).any()
    assert shell("--races-only")[0].exit_code == 1


def test_the_shell_continues(shell: Any) -> None:
    done, x, y = shell()
    assert done.exit_code == 1 and not (y == x[:, ::-1]).any()
    done, x, y = shell("--continue-after-finding", "--order", "round-robin")
    # All warps of a block stored first here.
    assert done.exit_code == 1 and (y == x[:, ::-1]).all()
    done, x, y = shell("--continue-after-finding", "--order", "lowest-first")
    # Its first warp reads uninitialized memory.
    assert done.exit_code == 1 and np.isnan(y[2, :32]).all() and (y[[0, 1, 3]] == x[[0, 1, 3], ::-1]).all()


def test_the_shell_runs_all_schedules_and_prints_json(shell: Any) -> None:
    once, every = (json.loads(shell("--json", *words)[0].stdout) for words in ((), ("--schedules", "all")))
    kinds = {finding["kind"] for finding in every}
    assert {finding["kind"] for finding in once} <= kinds and "race" in kinds
    for finding in every:
        assert finding["block"] == [2, 0, 0] and finding["agent"].startswith("warp ")
        assert finding["location"]["line"] in (10, 16)
    assert len({json.dumps(finding) for finding in every}) == len(every)
    assert shell("--schedules", "all", "--order", "random:1")[0].exit_code == 2
