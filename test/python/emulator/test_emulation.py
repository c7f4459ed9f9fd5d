# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emulated GPUs from Python: targets, launches, the memory of a launch, the process.

The results of single instructions have their own tests; whole kernels against float64 are in test_gpu_numerics.py.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import SCALE
from emulated import ENDLESS, VENDORS, nvidia, scale
from smalti import check, targets, toolchain
from smalti.calling import arrays
from smalti.emulator import SCHEDULES, Emulation, memory, process

# ---------------------------------------------------------------------------------------------------------------------
# Targets and options
# ---------------------------------------------------------------------------------------------------------------------


def test_every_gpu_is_a_target() -> None:
    for target in targets.all():
        if not target.is_gpu:
            continue
        emulated = targets.get(f"emu:{target.name}")
        assert emulated.is_emulated and not target.is_emulated
        assert emulated.chip == target.chip == target.name
        assert (emulated.vendor, emulated.mmas, emulated.wave_size) == (target.vendor, target.mmas, target.wave_size)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("emu:sm_8", r"unknown target 'emu:sm_8'; known targets: cpu, sm_80.*\nhint: did you mean 'emu:sm_8\d'\?"),
        ("emu:cpu", r"only GPUs can be emulated.*\nhint: use 'cpu', or one of: emu:sm_80"),
        ("emu:", "unknown target 'emu:'"),
        ("emu:emu:sm_80", "unknown target"),
    ],
)
def test_names_that_are_not_targets(name: str, message: str) -> None:
    with pytest.raises(smalti.TargetError, match=message):
        targets.get(name)


def test_the_module_can_name_the_target() -> None:
    module = smalti.parse(f'module attributes {{smalti.target = "emu:gfx942"}} {{\n{SCALE}}}')
    kernel = smalti.compile(module)
    assert kernel.target == targets.get("emu:gfx942")
    assert 'smalti.target = "gfx942"' in kernel.asm["tile"] and "emu:gfx942" in kernel.asm["source"]
    assert smalti.compile(module, target="cpu").target.name == "cpu"


def test_attributes_of_an_emulated_kernel(tmp_path: Path) -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    assert kernel.binary is None and not kernel.notes
    assert kernel.device_ir is not None and kernel.device_ir.startswith(b"BC")
    resources = kernel.resources
    assert resources.block is not None and resources.grid == (4, 1, 1) and resources.registers is None
    assert set(kernel.asm) == {"source", "mlir", "tile", "mosaic", "pipelined", "thread", "llvm"}
    assert "nvvm.read.ptx.sreg.tid.x" in kernel.asm["llvm"]
    assert kernel.save(tmp_path / "k.ll").read_text() == kernel.asm["llvm"]
    with pytest.raises(smalti.SmaltiError, match=r"suffixes for emu:sm_80: \.ll \.mlir"):
        kernel.save(tmp_path / "k.cubin")


def test_no_assembler_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_ptxas", lambda: pytest.fail("ptxas was looked for"))
    smalti.compile(SCALE, target="emu:sm_80")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sanitize": "memory"}, "it must be thread or address"),
        ({"order": "sideways"}, "lowest-first, highest-first, round-robin, or random:SEED"),
        ({"order": "random:"}, "random:SEED"),
        ({"order": f"random:{1 << 64}"}, "below 2^64"),
        ({"order": None}, "random:SEED"),
        ({"copies": "never"}, "late or early"),
        ({"workers": 0}, "workers is 0;"),
        ({"workers": 1.5}, "workers is 1.5;"),
        ({"workers": 1025}, "from 1 to 1024"),
        ({"time_limit": 0.0}, "time_limit is"),
        ({"time_limit": float("nan")}, "time_limit is"),
        ({"time_limit": float("inf")}, "time_limit is"),
        ({"time_limit": "3"}, "time_limit is '3'"),
        ({"blocks": 3}, "must be a non-empty range"),
        ({"blocks": range(3, 3)}, "must be a non-empty range"),
        ({"blocks": range(0, 4, 2)}, "must be a non-empty range"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(smalti.LaunchError, match=re.escape(message)):
        Emulation(**options)


def test_options_are_for_emulated_targets() -> None:
    with pytest.raises(smalti.TargetError, match="'cpu' is not emulated"):
        smalti.compile(SCALE, target="cpu", sanitize="thread")
    with pytest.raises(smalti.TargetError, match=r"not emulated.*\nhint: use 'emu:sm_80'"):
        smalti.compile(SCALE, target="sm_80", emulation=Emulation())
    kernel = smalti.compile(SCALE, target="emu:sm_80", emulation=Emulation(order="round-robin"), sanitize="address")
    assert kernel.emulation == Emulation(order="round-robin", sanitize="address")


# ---------------------------------------------------------------------------------------------------------------------
# Launches
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", VENDORS)
def test_kernel_runs_in_place(target: str) -> None:
    kernel = smalti.compile(SCALE, target=target)
    source = np.random.default_rng(0).standard_normal((100, 60)).astype(np.float32)
    result = np.full((100, 60), np.nan, np.float32)
    kernel(source, result)
    np.testing.assert_array_equal(result, 2 * source)


@pytest.mark.parametrize("target", VENDORS)
def test_ragged_matmul_under_every_schedule(target: str, kernels: Path) -> None:
    path = kernels / "matmul_ragged.mlir"
    kernel = smalti.compile(path, target=target)
    for schedule in SCHEDULES:
        kernel.emulation = schedule
        check.check(kernel, smalti.parse(path)).require()


def test_random_order_is_repeated_by_its_seed(kernels: Path) -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80", emulation=Emulation(order="random:7"))
    check.check(kernel, smalti.parse(SCALE)).require()


def test_options_of_one_call() -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    source, result = np.ones((100, 60), np.float32), np.zeros((100, 60), np.float32)
    done: list[tuple[int, int]] = []
    how = Emulation(blocks=range(1, 2), workers=1, progress=lambda some, of: done.append((some, of)))
    assert kernel.launcher(source, result, emulation=how) > 0
    assert (result[32:64] == 2).all() and not result[:32].any() and not result[64:].any()
    assert kernel.emulation == Emulation()


def test_arguments_are_checked_as_for_a_gpu() -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    good = np.zeros((100, 60), np.float32)
    with pytest.raises(smalti.LaunchError, match="the shape is 60x100"):
        kernel(good.T, good)
    with pytest.raises(smalti.LaunchError, match="element type is float64"):
        kernel(good.astype(np.float64), good)
    with pytest.raises(smalti.LaunchError, match="overlaps argument"):
        kernel(good, good)
    with pytest.raises(smalti.LaunchError, match="stream= is not supported"):
        kernel(good, good.copy(), stream=0)
    good.flags.writeable = False
    with pytest.raises(smalti.LaunchError, match="read-only"):
        kernel(good.copy(), good)


def test_an_array_at_any_address_will_do() -> None:
    # The kernel may count on 16 bytes; what it sees is a copy.
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    source, result = (np.zeros(6001, np.float32)[1:].reshape(100, 60) for _ in range(2))
    source[:] = 3
    kernel(source, result)
    assert (result == 6).all()


def test_blocks_outside_the_grid() -> None:
    with pytest.raises(smalti.LaunchError, match="outside the grid"):
        scale(nvidia(), emulation=Emulation(blocks=range(3, 5)))


# ---------------------------------------------------------------------------------------------------------------------
# The memory of a launch
# ---------------------------------------------------------------------------------------------------------------------


def placed(*given: np.ndarray, alignment: int = 16, writes: bool = True) -> tuple[memory.Memory, list[list[str]]]:
    """A launch's memory and its description in findings."""
    made = memory.Memory(
        [
            memory.Array(i, arrays.view(array), array.itemsize, alignment, writes, f"argument {i}")
            for i, array in enumerate(given)
        ]
    )
    return made, [line.split() for line in made.description()]


@pytest.mark.parametrize("size", [1, 3, 8, 1000, 4096, 4097, 100000])
@pytest.mark.parametrize("alignment", [1, 16, 256])
def test_an_array_ends_at_a_guard(size: int, alignment: int) -> None:
    made, lines = placed(np.zeros(size, np.uint8), alignment=alignment)
    page = os.sysconf("SC_PAGESIZE")
    ((start, bytes_),) = [(int(line[2]), int(line[3])) for line in lines if line[0] == "array"]
    guards = [int(line[1]) for line in lines if line[0] == "guard"]
    assert bytes_ == size and start % alignment == 0 and (start // alignment) % 2 == 1
    end = min(guard for guard in guards if guard > start)
    assert start + size <= end < start + size + 2 * alignment
    assert guards[0] <= start - page - page
    covered = [(start, size)] + [(int(line[1]), int(line[2])) for line in lines if line[0] in ("hole", "guard")]
    assert sum(bytes_ for _, bytes_ in covered) == made.size
    made.close()


def test_gaps_are_holes_and_results_come_back() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    made, lines = placed(array[:, ::2])
    first = next(int(line[2]) for line in lines if line[0] == "array")
    holes = [(int(line[1]) - first, int(line[2])) for line in lines if line[0] == "hole"]
    assert [hole for hole in holes if 0 <= hole[0] < 88] == [(offset, 4) for offset in range(4, 88, 8)]
    copy = np.frombuffer(made._map, np.float32, 3, first)
    assert copy[0] == 0 and copy[2] == 2
    made._map[first : first + 4] = np.float32(42).tobytes()
    made.copy_back()
    assert array[0, 0] == 42 and array[0, 1] == 1
    made.close()


def test_read_only_arguments_must_not_change() -> None:
    made, lines = placed(np.ones((3, 4), np.float16)[:, :3], writes=False)
    assert not made.findings()
    start = next(int(line[2]) for line in lines if line[0] == "array")
    made._map[start + 9] = 0
    (finding,) = made.findings()
    assert finding.kind == "read-only" and "argument 0" in finding.message
    made.close()


def test_elements_before_the_first_one() -> None:
    array = np.arange(5, dtype=np.float32)
    made, lines = placed(array[::-2])
    ((start, size, first),) = [[int(word) for word in line[2:5]] for line in lines if line[0] == "array"]
    # The address is aligned, and the elements precede it.
    assert (size, first) == (20, 16) and (start + first) % 32 == 16
    assert {(start + 4, 4), (start + 12, 4)} <= {(int(line[1]), int(line[2])) for line in lines if line[0] == "hole"}
    np.testing.assert_array_equal(np.frombuffer(made._map, np.float32, 5, start)[::-2], [4, 2, 0])
    made._map[start + first : start + first + 4] = np.float32(42).tobytes()
    made.copy_back()
    np.testing.assert_array_equal(array, [0, 1, 2, 3, 42])
    made.close()


def test_no_elements_are_nothing_to_touch() -> None:
    made, lines = placed(np.zeros((0, 4), np.float32))
    assert lines[3][:2] == ["array", "0"] and lines[3][3] == "0"
    made.copy_back()
    made.close()


# ---------------------------------------------------------------------------------------------------------------------
# The process
# ---------------------------------------------------------------------------------------------------------------------


def fake(tmp_path: Path, script: str) -> Path:
    """A program that takes the emulator's place."""
    path = tmp_path / "emulator"
    path.write_text(f"#!{sys.executable}\nimport os, signal, sys, time\ntold = sys.stdin.read()\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_lines_of_the_emulator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = r"""
assert told == "grid 1 1 1\nrun\n", told
print('{"output": "hello\\n"}\n{"progress": [1, 2]}', flush=True)
print('{"kind": "race", "message": "m"}\n{"done": 0.25}')"""
    done: list[tuple[int, int]] = []
    outcome = process.run(fake(tmp_path, script), ["grid 1 1 1"], (), 10, lambda some, of: done.append((some, of)))
    assert outcome.seconds == 0.25 and outcome.findings == [{"kind": "race", "message": "m"}]
    assert capsys.readouterr().out == "hello\n" and done == [(1, 2)]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "print('Segmentation', file=sys.stderr); sys.exit(3)",
            "exited with code 3 before the kernel completed:\nSegmentation",
        ),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was killed by SIGSEGV"),
        ("print('what?')", "internal error: the emulator printed a line that is not valid JSON: what?"),
        ("time.sleep(60)", "did not end the run 0.1 s after the time limit of 0.1 s, and was killed"),
    ],
)
def test_an_emulator_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.1)
    with pytest.raises(smalti.LaunchError, match=re.escape(message)):
        process.run(fake(tmp_path, script), [], (), 10 if "sleep" not in script else 0.1)


def wait_for_the_end_of(pid: int) -> None:
    """Fails where a process still runs after 5 s. A process without a wait has exited, too."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} still runs")


def test_no_process_survives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.5)
    # A child of the emulator that holds the pipe open.
    script = f"""
child = os.fork()
if child:
    open({str(tmp_path / "child")!r}, "w").write(str(child))
    sys.exit(0)
time.sleep(60)"""
    with pytest.raises(smalti.LaunchError, match="did not end the run"):
        process.run(fake(tmp_path, script), [], (), 0.5)
    child = int((tmp_path / "child").read_text())
    wait_for_the_end_of(child)


def test_control_c_ends_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "endless.ll"
    path.write_text(ENDLESS)
    words = ["run", str(path), "--target", "emu:sm_80", "--block", "32", "--arg", "0=i32[1]"]
    packages = str(Path(next(iter(smalti.__path__))).parent)
    # A process that is started in the background ignores Ctrl-C, and so do those that it starts.
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from smalti.cli.commands import main; main()"
    command = subprocess.Popen(
        [sys.executable, "-c", start, *words],
        env={**os.environ, "PYTHONPATH": packages},
        stderr=subprocess.PIPE,
        text=True,
    )

    def children() -> list[int]:
        tasks = Path(f"/proc/{command.pid}/task").glob("*/children")
        pids = [int(pid) for task in tasks for pid in task.read_text().split()]
        return [pid for pid in pids if "smalti-emulator" in Path(f"/proc/{pid}/cmdline").read_text()]

    deadline = time.monotonic() + 60
    while not (emulators := children()):
        assert time.monotonic() < deadline and command.poll() is None
        time.sleep(0.05)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=30)
    assert command.returncode == 130 and "Traceback" not in said
    for pid in emulators:
        wait_for_the_end_of(pid)
