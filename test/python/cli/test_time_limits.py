# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time limits, Ctrl-C, steps that are not positive, and progress of long runs, on every engine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import check_that_ctrl_c_ends
from smalti import check, pace, reference
from smalti.cli import commands
from smalti.compiler import entry
from smalti.errors import LaunchError, SmaltiError


def program(body: str) -> str:
    return f"""
triton_xla.entry_func @k(%x: memref<4x64xf32>, %n: index, %tile: index) tiles 4 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = triton_xla.extract %x[%tile, %c0] [1, 64] [1, 1] : memref<4x64xf32> to tensor<1x64xf32>
  {body}
  triton_xla.insert %r into %x[%tile, %c0] [1, 64] [1, 1] : tensor<1x64xf32> into memref<4x64xf32>
  triton_xla.return
}}
"""


FOR = program("""%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<1x64xf32> {
    %m = arith.mulf %s, %a : tensor<1x64xf32>
    scf.yield %m : tensor<1x64xf32>
  }""")
NESTED = program("""%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<1x64xf32> {
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%t = %s) -> tensor<1x64xf32> {
      %even = arith.cmpi eq, %i, %j : index
      %m = scf.if %even -> tensor<1x64xf32> {
        %p = arith.mulf %t, %a : tensor<1x64xf32>
        scf.yield %p : tensor<1x64xf32>
      } else {
        scf.yield %t : tensor<1x64xf32>
      }
      scf.yield %m : tensor<1x64xf32>
    }
    scf.yield %inner : tensor<1x64xf32>
  }""")
SCALAR = program("""%last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> index {
    %t = arith.xori %s, %i : index
    scf.yield %t : index
  }
  %r = triton_xla.extract %x[%last, %c0] [1, 64] [1, 1] : memref<4x64xf32> to tensor<1x64xf32>""")
WHILE = program("""%r, %count = scf.while (%s = %a, %i = %n) : (tensor<1x64xf32>, index) -> (tensor<1x64xf32>, index) {
    %more = arith.cmpi sgt, %i, %c8 : index
    scf.condition(%more) %s, %i : tensor<1x64xf32>, index
  } do {
  ^bb0(%s: tensor<1x64xf32>, %i: index):
    %m = arith.mulf %s, %a : tensor<1x64xf32>
    scf.yield %m, %i : tensor<1x64xf32>, index
  }""")
PROGRAMS = {"for": FOR, "nested": NESTED, "scalar": SCALAR, "while": WHILE}
ENDLESS = [(engine, name) for engine in ("cpu", "reference") for name in PROGRAMS]
ENDLESS += [("emu:sm_80", "for"), ("emu:gfx942", "nested")]
MANY = 1 << 40
"""Iterations that take hours."""
STEP = program("""%r = scf.for %i = %c0 to %c8 step %n iter_args(%s = %a) -> tensor<1x64xf32> {
    %m = arith.mulf %s, %a : tensor<1x64xf32>
    scf.yield %m : tensor<1x64xf32>
  }""")
STEP_LINE, STEP_LINES = 7, 4


def array() -> np.ndarray:
    return np.ones((4, 64), np.float32)


def of_cpu(text: str) -> Callable[..., Any]:
    kernel = smalti.compile(text, target="cpu")
    return lambda x, n, limit=None: kernel(x, n, time_limit=limit)


def of_reference(text: str) -> Callable[..., Any]:
    module = smalti.parse(text)
    function = entry.find_entry(module)

    def run(x: np.ndarray, n: int, limit: float | None = None) -> None:
        assert module
        reference.run(function, [x, n], time_limit=limit)

    return run


def of_target(target: str) -> Callable[[str], Callable[..., Any]]:
    def make(text: str) -> Callable[..., Any]:
        kernel = smalti.compile(text, target=target)
        return lambda x, n, limit=None: kernel(x, n, time_limit=limit)

    return make


ENGINES = {"cpu": of_cpu, "reference": of_reference} | {
    target: of_target(target) for target in ("emu:sm_80", "emu:gfx942", "sim:sm_80")
}


@pytest.mark.parametrize(("engine", "name"), ENDLESS)
def test_a_time_limit(engine: str, name: str) -> None:
    run = ENGINES[engine](PROGRAMS[name])
    run(array(), 0)
    start = time.monotonic()
    with pytest.raises(SmaltiError, match=r"time limit of 0.2 s|more than 0.2 s"):
        run(array(), MANY, 0.2)
    # Half a second, and what a busy machine takes.
    assert time.monotonic() - start < 3
    run(array(), 0, 100)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_is_a_number_of_seconds(engine: str) -> None:
    run = ENGINES[engine](FOR)
    for wrong in (0, -1, float("nan"), "1"):
        with pytest.raises(LaunchError, match=r"time_limit is .* must be a number"):
            run(array(), 1, wrong)


def test_a_gpu_has_no_limit() -> None:
    kernel = smalti.compile(FOR, target="sm_80")
    with pytest.raises(LaunchError, match="cannot be stopped"):
        kernel(time_limit=1)


@pytest.mark.parametrize(("engine", "name"), ENDLESS)
def test_ctrl_c_is_a_keyboard_interrupt(engine: str, name: str) -> None:
    run = ENGINES[engine](PROGRAMS[name])
    run(array(), 0)
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.1, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(array(), MANY, 60)
    finally:
        timer.cancel()
    assert time.monotonic() - sent[0] < 3
    # The handler is Python's again, and the kernel runs.
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    run(array(), 0)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_handler_of_the_caller_runs() -> None:
    """A handler that raises nothing is called; the kernel, which has not computed all, raises."""
    run, called = of_cpu(FOR), []
    # The first call generates the code.
    run(array(), 0)
    before = signal.signal(signal.SIGINT, lambda *_: called.append(1))
    try:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            run(array(), MANY, 60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called == [1]


def test_a_limit_in_another_thread() -> None:
    """For processes that cannot install a signal handler; each call has a flag of its own."""
    run = of_cpu(FOR)
    errors: list[str] = []

    def call(limit: float) -> None:
        try:
            run(array(), MANY, limit)
        except LaunchError as error:
            errors.append(error.message)

    threads = [threading.Thread(target=call, args=[limit]) for limit in (0.1, 0.4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [message.partition(" s ")[0].rpartition(" ")[2] for message in errors] == ["0.1", "0.4"]


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
def test_ctrl_c_ends_the_command(tmp_path: Path, target: str, threads: str) -> None:
    path = tmp_path / "endless.mlir"
    path.write_text(FOR)
    check_that_ctrl_c_ends("run", path, "--target", target, "--arg", f"1={MANY}", SMALTI_NUM_THREADS=threads)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "cpu"], "@k: the time limit of 0.2 s is reached"),
        (["--target", "cpu", "--check"], "the reference interpreter reached the time limit of 0.2 s"),
        (["--target", "emu:gfx942"], "the launch exceeded the time limit of 0.2 s"),
        (["--target", "sim:sm_80"], "time limit of 0.2 s reached; 0 of 4 blocks completed"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_the_shell_has_a_limit(tmp_path: Path, options: list[str], message: str) -> None:
    path = tmp_path / "long.mlir"
    path.write_text(FOR)
    given = ["--arg", f"1={MANY}", "--time-limit", "0.2"]
    done = CliRunner().invoke(commands.main, ["run", str(path), *options, *given])
    assert done.exit_code == 1 and message in done.output and "Traceback" not in done.output
    assert "[deadlock]" not in done.output


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sim:sm_80"])
def test_some_blocks(tmp_path: Path, target: str) -> None:
    path = tmp_path / "some.mlir"
    path.write_text(FOR)
    command = ["run", str(path), "--target", target, "--check", "--arg", "1=3", "--blocks"]
    done = CliRunner().invoke(commands.main, [*command, "1:3"])
    assert done.exit_code == 0 and "ok" in done.output
    assert CliRunner().invoke(commands.main, [*command, "5"]).exit_code == 1
    assert CliRunner().invoke(commands.main, [*command, "x"]).exit_code == 2


def test_blocks_of_the_cpu() -> None:
    kernel = smalti.compile(FOR, target="cpu")
    x = np.full((4, 64), 2, np.float32)
    kernel.blocks = range(1, 3)
    kernel(x, 1)
    assert (x[:, 0] == [2, 4, 4, 2]).all()
    assert check.check(kernel, smalti.parse(FOR), given={1: "3"}).ok
    for wrong in (range(5), range(2, 2), range(0, 4, 2), 3):
        kernel.blocks = wrong  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(LaunchError, match="it must be a non-empty range of step 1 within the 4 tiles"):
            kernel(x, 1)


@pytest.mark.parametrize("step", [0, -1])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_dynamic_step_that_is_not_positive(engine: str, step: int) -> None:
    run = ENGINES[engine](STEP)
    with pytest.raises(SmaltiError) as caught:
        run(array(), step, 0.3)
    positions = [diagnostic.location for diagnostic in caught.value.diagnostics if diagnostic.severity == "error"]
    assert positions and positions[0] is not None and "step" in str(caught.value)
    if engine.startswith("emu"):
        # It runs the loop, as a GPU would: the time limit ends the loop.
        assert isinstance(caught.value, smalti.EmulationError) and caught.value.findings[0].kind == "timeout"
        assert STEP_LINE <= positions[0].line <= STEP_LINE + STEP_LINES - 1
    else:
        assert positions[0].line == STEP_LINE


def test_the_step_is_that_of_its_loop() -> None:
    """The function has one number for each loop."""
    body = """%t = scf.for %i = %c0 to %n step %n iter_args(%s = %a) -> tensor<1x64xf32> {
    %m = arith.mulf %s, %a : tensor<1x64xf32>
    scf.yield %m : tensor<1x64xf32>
  }
  %less = arith.subi %n, %c8 : index
  %r = scf.for %i = %c0 to %c8 step %less iter_args(%s = %t) -> tensor<1x64xf32> {
    %m = arith.addf %s, %a : tensor<1x64xf32>
    scf.yield %m : tensor<1x64xf32>
  }"""
    run = of_cpu(program(body))
    for step, line in ((0, STEP_LINE), (3, STEP_LINE + 5), (8, STEP_LINE + 5)):
        with pytest.raises(LaunchError, match="the step of this loop is not positive") as caught:
            run(array(), step)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.location is not None and diagnostic.location.line == line
    run(array(), 9)


@pytest.mark.parametrize("step", [0, -3])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_constant_step_that_is_not_positive(engine: str, step: int) -> None:
    text = STEP.replace("%c8 =", f"%step = arith.constant {step} : index\n  %c8 =").replace("step %n", "step %step")
    with pytest.raises(SmaltiError) as caught:
        ENGINES[engine](text)(array(), 0, 0.3)
    (diagnostic,) = caught.value.diagnostics
    assert "positive" in diagnostic.message and str(step) in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.line == STEP_LINE + 1


def test_a_long_run_in_python_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "LONG", 0.01)
    kernel = smalti.compile(FOR, target="cpu")
    with pytest.warns(RuntimeWarning, match=r"4 tiles will take about .*blocks=range\(N\)"):
        kernel(array(), 1 << 24)
    emulated = smalti.compile(FOR, target="emu:sm_80")
    with pytest.warns(RuntimeWarning, match=r"4 blocks will take about .*blocks"):
        emulated(array(), 1 << 24)
    module = smalti.parse(FOR)
    said: list[tuple[int, int]] = []
    reference.run(entry.find_entry(module), [array(), 1], progress=lambda *of: said.append(of))
    assert said == [(1, 4), (2, 4), (3, 4), (4, 4)]
