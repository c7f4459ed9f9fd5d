# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Endless runs: the time limit, Ctrl-C, progress of a long run, and internal errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import check_that_ctrl_c_ends
from smalti import sim
from smalti.cli import commands
from smalti.errors import CompileError, LaunchError
from smalti.pace import Pace
from smalti.sim.translation.translator import OPERATIONS, THREAD_OPERATIONS

COUNTED = """
    %r = scf.for %i = %c0 to %many step %c1 iter_args(%a = %one) -> f32 {
      %b = arith.addf %a, %one : f32
      scf.yield %b : f32
    }
    memref.store %r, %x[%c0] : memref<64xf32>"""
WHILE = """
    %r = scf.while (%a = %one) : (f32) -> f32 {
      %goes_on = arith.cmpf oge, %a, %one : f32
      scf.condition(%goes_on) %a : f32
    } do {
    ^bb0(%a: f32):
      scf.yield %a : f32
    }
    memref.store %r, %x[%c0] : memref<64xf32>"""
JUMPS = """
    cf.br ^again
  ^again:
    %goes_on = arith.cmpf oge, %one, %one : f32
    cf.cond_br %goes_on, ^again, ^end
  ^end:
    memref.store %one, %x[%c0] : memref<64xf32>"""


def kernel(body: str, attribute: str = "") -> str:
    return f"""gpu.module @m {{
  gpu.func @k(%x: memref<64xf32>) kernel attributes {{
      {attribute}known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 9, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %many = arith.constant 1000000000 : index
    %one = arith.constant 1.0 : f32{body}
    gpu.return
  }}
}}
"""


BLOCK = "smalti.num_warps = 2 : i64, "


@pytest.mark.parametrize(
    ("body", "attribute"),
    [(COUNTED, ""), (COUNTED, BLOCK), (WHILE, ""), (WHILE, BLOCK), (JUMPS, "")],
    ids=["threads-for", "block-for", "threads-while", "block-while", "threads-jumps"],
)
def test_a_time_limit_ends_a_loop(body: str, attribute: str) -> None:
    made = sim.simulate(kernel(body, attribute), "sm_90a")
    x = np.zeros(64, np.float32)
    start = time.monotonic()
    with pytest.raises(LaunchError, match=r"time limit of 0.2 s reached; 0 of 9 blocks completed") as caught:
        made(x, simulation=sim.Simulation(time_limit=0.2))
    assert time.monotonic() - start < 4
    (where,) = caught.value.diagnostics
    assert where.location is not None and "block (0, 0, 0)" in where.message and "--time-limit" in str(caught.value)
    assert not x.any()


def test_a_limit_is_a_number_of_seconds() -> None:
    for wrong in (0, -1, float("nan"), "1", True):
        with pytest.raises(LaunchError, match=r"time_limit is .* must be a number"):
            sim.Simulation(time_limit=wrong)  # pyright: ignore[reportArgumentType]
    made = sim.simulate(kernel("\n    memref.store %one, %x[%c0] : memref<64xf32>", BLOCK), "sm_90a")
    x = np.zeros(64, np.float32)
    made(x, simulation=sim.Simulation(time_limit=1000))
    assert x[0] == 1


def test_the_shell_has_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "endless.mlir"
    path.write_text(kernel(COUNTED))
    for more in ([], ["--schedules", "all"], ["--mutants"]):
        done = CliRunner().invoke(commands.main, ["sim", str(path), "--time-limit", "0.2", *more])
        assert done.exit_code == 1 and "time limit of 0.2 s reached" in done.output
    assert CliRunner().invoke(commands.main, ["sim", str(path), "--time-limit", "0"]).exit_code == 2


@pytest.mark.parametrize("attribute", ["", BLOCK], ids=["threads", "block"])
def test_ctrl_c_ends_the_command(tmp_path: Path, attribute: str) -> None:
    path = tmp_path / "endless.mlir"
    path.write_text(kernel(COUNTED, attribute))
    check_that_ctrl_c_ends("sim", path)


def test_a_long_run_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("smalti.pace.time.monotonic", lambda: now[0])
    said: list[str] = []

    def paced(*events: tuple[float, int, int], runs: int = 1) -> list[str]:
        now[0] = 0.0
        said.clear()
        pace = Pace(said.append, "a hint", runs=runs)
        for moment, done, total in events:
            now[0] = moment
            pace(done, total)
        return list(said)

    assert paced((0.1, 1, 50), (5, 50, 50)) == []
    assert paced((1, 1, 390), (2, 2, 390)) == [
        "390 blocks will take about 390 s (estimated from the first one); a hint"
    ]
    assert paced((1, 0, 9), (6, 0, 9), (7, 0, 9)) == ["0 of 9 blocks completed after 6 s; a hint"]
    assert paced((2, 1, 1)) == [] and paced((2, 1, 1), runs=10) == [
        "1 block in 10 schedules will take about 20 s; a hint"
    ]


def test_a_long_run_in_python_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smalti.pace.SILENT", 0.1)
    monkeypatch.setattr("smalti.sim.machine.machine.BEAT", 0.1)
    made = sim.simulate(kernel(COUNTED, BLOCK), "sm_90a")
    with (
        pytest.warns(RuntimeWarning, match="0 of 9 blocks completed"),
        pytest.raises(LaunchError, match="time limit"),
    ):
        made(np.zeros(64, np.float32), simulation=sim.Simulation(time_limit=0.5))


def broken(*_: Any) -> Any:
    raise TypeError("unsupported operand")


def test_an_internal_error_has_a_location(monkeypatch: pytest.MonkeyPatch) -> None:
    for attribute, table in (("", THREAD_OPERATIONS), (BLOCK, OPERATIONS)):
        # While it runs, and when it is translated.
        monkeypatch.setitem(table, "memref.store", lambda op, translator: broken)
        made = sim.simulate(kernel("\n    memref.store %one, %x[%c0] : memref<64xf32>", attribute), "sm_90a")
        with pytest.raises(
            LaunchError, match="internal error of the simulator: TypeError: unsupported operand"
        ) as caught:
            made(np.zeros(64, np.float32))
        (reported,) = caught.value.diagnostics
        assert "'memref.store'" in reported.message and reported.location is not None and reported.location.line == 8
        monkeypatch.setitem(table, "memref.store", broken)
        with pytest.raises(CompileError, match="internal error of the simulator: TypeError") as refused:
            sim.simulate(kernel("\n    memref.store %one, %x[%c0] : memref<64xf32>", attribute), "sm_90a")
        assert refused.value.diagnostics[0].location is not None


TWICE = """
    memref.store %one, %x[%c0] : memref<64xf32>
    memref.store %one, %x[%c0] : memref<64xf32>"""
FIRST, SECOND = 8, 9


@pytest.mark.parametrize("attribute", ["", BLOCK], ids=["threads", "block"])
@pytest.mark.parametrize("is_generator", [False, True], ids=["plain", "waiting"])
@pytest.mark.parametrize("number, line", [(1, FIRST), (2, SECOND)], ids=["first", "second"])
def test_operations_that_share_a_function_have_locations_of_their_own(
    monkeypatch: pytest.MonkeyPatch, attribute: str, is_generator: bool, number: int, line: int
) -> None:
    from smalti.sim.translation.translator import blocking

    calls: list[int] = []

    def step(_: Any) -> None:
        calls.append(1)
        if len(calls) == number:
            raise LaunchError("refused")

    def waiting(st: Any) -> Iterator[Any]:
        step(st)
        yield from ()

    def of_threads(_: Any, translator: Any) -> Any:
        return translator.blocking(waiting) if is_generator else step

    monkeypatch.setitem(THREAD_OPERATIONS, "memref.store", of_threads)
    monkeypatch.setitem(OPERATIONS, "memref.store", lambda *_: blocking(waiting) if is_generator else step)
    made = sim.simulate(kernel(TWICE, attribute), "sm_90a")
    with pytest.raises(LaunchError, match="refused") as caught:
        made(np.zeros(64, np.float32), simulation=sim.Simulation("round-robin"))
    (reported,) = caught.value.diagnostics
    assert reported.location is not None and reported.location.line == line


@pytest.mark.parametrize("attribute", ["", BLOCK], ids=["threads", "block"])
def test_identical_operations_have_findings_of_their_own(attribute: str) -> None:
    made = sim.simulate(kernel(TWICE.replace("%c0", "%many"), attribute), "sm_90a")
    found = made.find(np.zeros(64, np.float32), simulation=sim.Simulation(continue_after_finding=True))
    assert [(one.kind, one.location.line if one.location else None) for one in found] == [
        ("out-of-bounds", FIRST),
        ("out-of-bounds", SECOND),
    ]


@pytest.mark.parametrize("attribute", ["", BLOCK], ids=["threads", "block"])
def test_identical_ops_have_separate_timeline_slices(attribute: str) -> None:
    made = sim.simulate(kernel(TWICE, attribute), "sm_90a")
    positions = {one.place for one in made.timeline(np.zeros(64, np.float32)).slices}
    assert {place.split(":")[1] for place in positions} >= {str(FIRST), str(SECOND)}


def test_a_vector_that_is_too_large() -> None:
    body = """
    %v = arith.constant dense<0.0> : vector<65536x65536xf32>
    %w = math.exp %v : vector<65536x65536xf32>"""
    with pytest.raises(CompileError, match="the simulator supports at most 16777216 elements per vector"):
        sim.simulate(kernel(body, BLOCK), "sm_90a")


def test_ids_of_a_launch() -> None:
    """As values of each thread, which a vector of the group cannot be made of."""
    from sim_programs import program

    body = """
      %two = arith.constant 2 : index
      %double = arith.muli %tx, %two : index
      %sum = arith.addi %double, %ty : index
      %number = arith.index_cast %sum : index to i32
      memref.store %number, %a0[%tx] : memref<128xi32>"""
    made = sim.simulate(program(body, ["memref<128xi32>"]), "sm_90a")
    x = np.zeros(128, np.int32)
    made(x)
    assert (x == 2 * np.arange(128)).all()
