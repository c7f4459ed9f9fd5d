"""Emulated GPUs from Python and from the shell: targets, launches, findings, the cache, device modules of others.

What single instructions compute is tested beside them; whole kernels against float64 are in test_emulated_kernels.py.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import SCALE
from smalti import arrays, check, cli, codegen_worker, doctor, emulator, errors, targets, toolchain
from smalti.emulator import SCHEDULES, Emulation, arguments, findings, library, memory, process

Shell = Callable[..., subprocess.CompletedProcess[str]]

VENDORS = ("emu:sm_80", "emu:gfx942")

NVIDIA_KERNEL = """\
target triple = "nvptx64-nvidia-cuda"
@shared = internal addrspace(3) global [1024 x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @scale(ptr addrspace(1) %x, ptr addrspace(1) %y, float %factor, i32 %count) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 32
  %i = add i32 %first, %thread
  %slot = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  %inside = icmp ult i32 %i, %count
  br i1 %inside, label %then, label %end
then:
  %source = getelementptr float, ptr addrspace(1) %x, i32 %i
  %target = getelementptr float, ptr addrspace(1) %y, i32 %i
  %v = load float, ptr addrspace(1) %source
  %r = fmul float %v, %factor
  BODY
  br label %end
end:
  ret void
}
"""

STORE = "store float %r, ptr addrspace(1) %target"

AMD_KERNEL = """\
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @twice(ptr addrspace(1) %x) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %thread
  %v = load i32, ptr addrspace(1) %p
  %r = shl i32 %v, 1
  store i32 %r, ptr addrspace(1) %p
  ret void
}
"""

ENDLESS = """\
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @endless(ptr addrspace(1) %x) {
  br label %loop
loop:
  %v = load volatile i32, ptr addrspace(1) %x
  br label %loop
}
"""


def nvidia(body: str = STORE) -> emulator.Module:
    return emulator.load(NVIDIA_KERNEL.replace("BODY", body), "emu:sm_80")


def scale(module: emulator.Module, count: int = 100, **keywords: Any) -> np.ndarray:
    """Runs @scale on 100 numbers; returns what it wrote."""
    x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    module.launch(4, 32, x, y, 0.5, count, **keywords)
    return y


def found(kind: str, run: Callable[[], Any]) -> findings.Finding:
    """The only finding of a run, which is of this kind."""
    with pytest.raises(smalti.EmulationError) as error:
        run()
    assert [finding.kind for finding in error.value.findings] == [kind], str(error.value)
    return error.value.findings[0]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a test session's own: what an earlier build put into the user's says nothing here."""
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(folder))
    return folder


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
        ("emu:cpu", r"only GPUs are emulated.*\nhint: use 'cpu', or one of: emu:sm_80"),
        ("emu:", "unknown target 'emu:'"),
        ("emu:emu:sm_80", "unknown target"),
    ],
)
def test_what_is_no_target(name: str, message: str) -> None:
    with pytest.raises(smalti.TargetError, match=message):
        targets.get(name)


def test_the_module_can_name_the_target() -> None:
    module = smalti.parse(f'module attributes {{smalti.target = "emu:gfx942"}} {{\n{SCALE}}}')
    kernel = smalti.compile(module)
    assert kernel.target == targets.get("emu:gfx942")
    assert 'smalti.target = "gfx942"' in kernel.asm["tile"] and "emu:gfx942" in kernel.asm["source"]
    assert smalti.compile(module, target="cpu").target.name == "cpu"


def test_what_an_emulated_kernel_is(tmp_path: Path) -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    assert kernel.binary is None and not kernel.notes
    assert kernel.device_ir is not None and kernel.device_ir.startswith(b"BC")
    resources = kernel.resources
    assert resources.block is not None and resources.grid == (4, 1, 1) and resources.registers is None
    assert set(kernel.asm) == {"source", "mlir", "tile", "mosaic", "pipelined", "thread", "llvm"}
    assert "nvvm.read.ptx.sreg.tid.x" in kernel.asm["llvm"]
    assert kernel.save(tmp_path / "k.ll").read_text() == kernel.asm["llvm"]
    with pytest.raises(smalti.SmaltiError, match=r"says nothing for emu:sm_80; use one of: \.ll \.mlir"):
        kernel.save(tmp_path / "k.cubin")


def test_no_assembler_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_ptxas", lambda: pytest.fail("ptxas was looked for"))
    smalti.compile(SCALE, target="emu:sm_80")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sanitize": "memory"}, "it can be thread or address"),
        ({"order": "sideways"}, "first-ahead, last-ahead, in-step, random:SEED"),
        ({"order": "random:"}, "random:SEED"),
        ({"order": f"random:{1 << 64}"}, "64 bits"),
        ({"order": None}, "random:SEED"),
        ({"copies": "never"}, "late or early"),
        ({"workers": 0}, "0 workers"),
        ({"workers": 1.5}, "1.5 workers"),
        ({"workers": 1025}, "from 1 to 1024"),
        ({"timeout": 0.0}, "time limit"),
        ({"timeout": float("nan")}, "time limit"),
        ({"timeout": float("inf")}, "time limit"),
        ({"timeout": "3"}, "time limit of '3' s"),
        ({"blocks": 3}, "no range of blocks"),
        ({"blocks": range(3, 3)}, "no range of blocks"),
        ({"blocks": range(0, 4, 2)}, "no range of blocks"),
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
    kernel = smalti.compile(SCALE, target="emu:sm_80", emulation=Emulation(order="in-step"), sanitize="address")
    assert kernel.emulation == Emulation(order="in-step", sanitize="address")


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
    with pytest.raises(smalti.LaunchError, match="its shape is 60x100"):
        kernel(good.T, good)
    with pytest.raises(smalti.LaunchError, match="element type is float64"):
        kernel(good.astype(np.float64), good)
    with pytest.raises(smalti.LaunchError, match="shares memory with"):
        kernel(good, good)
    with pytest.raises(smalti.LaunchError, match="takes no stream"):
        kernel(good, good.copy(), stream=0)
    good.flags.writeable = False
    with pytest.raises(smalti.LaunchError, match="it is read-only"):
        kernel(good.copy(), good)


def test_an_array_at_any_address_will_do() -> None:
    # The kernel may count on 16 bytes; what it sees is a copy.
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    source, result = (np.zeros(6001, np.float32)[1:].reshape(100, 60) for _ in range(2))
    source[:] = 3
    kernel(source, result)
    assert (result == 6).all()


def test_blocks_outside_the_grid() -> None:
    with pytest.raises(smalti.LaunchError, match="none of the grid"):
        scale(nvidia(), emulation=Emulation(blocks=range(3, 5)))


# ---------------------------------------------------------------------------------------------------------------------
# The memory of a launch
# ---------------------------------------------------------------------------------------------------------------------


def placed(*given: np.ndarray, alignment: int = 16, writes: bool = True) -> tuple[memory.Memory, list[list[str]]]:
    """A launch's memory and what is said of it."""
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


def test_what_is_only_read_must_not_change() -> None:
    made, lines = placed(np.ones((3, 4), np.float16)[:, :3], writes=False)
    assert not made.findings()
    start = next(int(line[2]) for line in lines if line[0] == "array")
    made._map[start + 9] = 0
    (finding,) = made.findings()
    assert finding.kind == "read-only" and "argument 0" in finding.message
    made.close()


def test_negative_strides_are_refused() -> None:
    with pytest.raises(smalti.LaunchError, match="negative"):
        placed(np.zeros(4, np.float32)[::-1])


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
        ("print('Segmentation', file=sys.stderr); sys.exit(3)", "ended with code 3:\nSegmentation"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
        ("print('what?')", "what is not understood: what?"),
        ("time.sleep(60)", "did not answer for 0.2 s and was ended"),
    ],
)
def test_an_emulator_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.1)
    with pytest.raises(smalti.LaunchError, match=re.escape(message)):
        process.run(fake(tmp_path, script), [], (), 10 if "sleep" not in script else 0.1)


def test_no_process_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.5)
    # A child of the emulator that holds the pipe open.
    script = f"""
child = os.fork()
if child:
    open({str(tmp_path / "child")!r}, "w").write(str(child))
    sys.exit(0)
time.sleep(60)"""
    with pytest.raises(smalti.LaunchError, match="did not answer"):
        process.run(fake(tmp_path, script), [], (), 0.5)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    pytest.fail("the worker still runs")


def test_control_c_ends_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "endless.ll"
    path.write_text(ENDLESS)
    words = ["run", str(path), "--target", "emu:sm_80", "--block", "32", "--arg", "0=i32[1]"]
    packages = str(Path(next(iter(smalti.__path__))).parent)
    command = subprocess.Popen(
        [sys.executable, "-m", "smalti", *words],
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
    assert command.returncode == 1 and "Traceback" not in said
    assert not any(Path(f"/proc/{pid}").exists() for pid in emulators)


# ---------------------------------------------------------------------------------------------------------------------
# Findings
# ---------------------------------------------------------------------------------------------------------------------


def test_reading_past_an_array() -> None:
    finding = found("out-of-bounds", lambda: scale(nvidia(), 128))
    assert finding.block == (3, 0, 0) and finding.thread == (4, 0, 0)
    assert "argument 0 (400 bytes)" in finding.message


@pytest.mark.parametrize("value", ["i32 0", "i16 -1", "i32 -1", "i64 -1"])
def test_writing_between_the_arrays(value: str) -> None:
    body = f"%p = getelementptr i8, ptr addrspace(1) %target, i64 -400\n  store {value}, ptr addrspace(1) %p"
    assert "before argument 1" in found("red-zone", lambda: scale(nvidia(body))).message


def test_nothing_comes_back_of_a_run_that_failed() -> None:
    x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    found("out-of-bounds", lambda: nvidia().launch(4, 32, x, y, 0.5, 128))
    assert np.isnan(y).all()


def test_barrier_that_not_all_reach() -> None:
    body = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
    finding = found("deadlock", lambda: scale(nvidia(body)))
    assert finding.block == (3, 0, 0)


def test_endless_loop_is_ended() -> None:
    module = emulator.load(ENDLESS, "emu:sm_80")
    start = time.monotonic()
    finding = found("timeout", lambda: module.launch(1, 32, np.zeros(1, np.int32), emulation=Emulation(timeout=0.5)))
    assert time.monotonic() - start < 30
    assert finding.block == (0, 0, 0) or finding.others


def test_read_only_argument_of_a_device_module() -> None:
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    y.flags.writeable = False
    assert "argument 1" in found("read-only", lambda: nvidia().launch(4, 32, x, y, 0.5, 100)).message


BARRIER = re.compile(r"^ *gpu\.barrier.*\n", re.MULTILINE)


@pytest.mark.skipif(toolchain.find_emulator("thread") is None, reason=toolchain.EMULATOR_HINTS[True])
def test_race_has_its_places_in_the_source(tmp_path: Path, kernels: Path) -> None:
    source = smalti.compile(kernels / "matmul_ragged.mlir", target="emu:gfx942")
    text = source.asm["pipelined"]
    path = tmp_path / "mutant.mlir"
    path.write_text(BARRIER.sub("", text) if BARRIER.search(text) else re.sub(r" *amdgpu\.lds_barrier.*\n", "", text))
    assert path.read_text() != text
    kernel = smalti.compile(path, target="emu:gfx942", depth=1, stages=1, sanitize="thread")
    values = check.random_arguments(kernel.entry)
    with pytest.raises(smalti.EmulationError) as error:
        kernel.launcher(*values, emulation=Emulation(sanitize="thread", blocks=range(1)))
    races = [finding for finding in error.value.findings if finding.kind == "race"]
    assert races and all(race.location is not None and race.location.file == str(path) for race in races)
    race = races[0]
    assert race.block == (0, 0, 0) and race.thread is not None and race.others and race.others[0].location
    # The line is there, with a caret under its column.
    lines = str(error.value).splitlines()
    assert race.location is not None
    shown = path.read_text().splitlines()[race.location.line - 1]
    assert f"  {shown}" in lines and any(re.fullmatch(r" *\^", line) for line in lines)
    assert error.value.location == race.location


@pytest.mark.skipif(toolchain.find_emulator("address") is None, reason=toolchain.EMULATOR_HINTS[True])
def test_address_sanitizer_sees_gaps() -> None:
    # A read of what the caller did not pass: only this tells it from a good one.
    rows = np.zeros((4, 64), np.float32)[:, :25]
    y = np.zeros(100, np.float32)
    run = nvidia()
    run.launch(4, 32, rows, y, 0.5, 100)
    how = Emulation("address", blocks=range(1))
    finding = found("out-of-bounds", lambda: run.launch(4, 32, rows, y, 0.5, 100, emulation=how))
    assert finding.write is False


def test_the_text_of_a_finding() -> None:
    place = errors.SourceLocation("<text>", 2, 3)
    finding = findings.Finding(
        "race",
        "a write of 4 bytes",
        block=(1, 0, 0),
        thread=(2, 3, 0),
        location=place,
        others=(findings.Finding("race", "a read of 4 bytes", block=(1, 0, 0), thread=(0, 0, 0)),),
    )
    error = findings.error("@k on emu:sm_80", [finding], "first\nsecond")
    assert isinstance(error, smalti.EmulationError) and error.findings == (finding,)
    assert str(error).splitlines() == [
        "@k on emu:sm_80: 1 finding",
        "<text>:2:3: error: block (1, 0, 0), thread (2, 3, 0): a write of 4 bytes [race]",
        "  second",
        "    ^",
        "note: block (1, 0, 0), thread (0, 0, 0): a read of 4 bytes",
    ]


def test_findings_without_places_where_the_symbolizer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_llvm_tool", lambda name: None)
    (finding,) = findings.from_json([{"kind": "trap", "message": "m", "block": [0, 0, 0], "pc": [16]}], "/gone.so")
    assert finding == findings.Finding("trap", "m", block=(0, 0, 0))


# ---------------------------------------------------------------------------------------------------------------------
# The cache
# ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def rewritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bytes]:
    """What was rewritten and not taken from the cache, which starts empty."""
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "cache"))
    seen: list[bytes] = []
    original = codegen_worker.Worker.rewrite

    def spy(self: codegen_worker.Worker, ir: bytes, **options: Any) -> Any:
        seen.append(ir)
        return original(self, ir, **options)

    monkeypatch.setattr(codegen_worker.Worker, "rewrite", spy)
    return seen


def test_libraries_are_kept(rewritten: list[bytes], tmp_path: Path) -> None:
    for _ in range(2):
        np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    assert len(rewritten) == 1 and (tmp_path / "cache" / "emulator").is_dir()
    scale(nvidia(STORE + " "))
    assert len(rewritten) == 2
    emulator.load(NVIDIA_KERNEL.replace("BODY", STORE), "emu:sm_90a").kernels  # noqa: B018
    assert len(rewritten) == 3


@pytest.mark.skipif(toolchain.find_emulator("address") is None, reason=toolchain.EMULATOR_HINTS[True])
def test_each_sanitizer_has_its_library(rewritten: list[bytes]) -> None:
    module = nvidia()
    for _ in range(2):
        scale(module)
        scale(module, emulation=Emulation("address"))
    assert len(rewritten) == 2


def test_broken_cache_is_no_reason_to_fail(rewritten: list[bytes], tmp_path: Path) -> None:
    scale(nvidia())
    library._open_cache.cache_clear()
    folder = tmp_path / "cache" / "emulator"
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_bytes(b"not what it was" * 100)
    np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    assert len(rewritten) == 2
    # It is a cache again.
    scale(nvidia())
    assert len(rewritten) == 2


def test_cut_entry_is_made_again(rewritten: list[bytes], tmp_path: Path) -> None:
    scale(nvidia())
    cache = library._open_cache(library.cache_folder())
    for key in list(cache):
        cache.set(key, cache.get(key)[:-100])
    np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    assert len(rewritten) == 2


def test_folder_that_cannot_be_is_no_reason_to_fail(
    rewritten: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "file"))
    np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    scale(nvidia())
    assert len(rewritten) == 2


# ---------------------------------------------------------------------------------------------------------------------
# Device modules
# ---------------------------------------------------------------------------------------------------------------------


def test_text_path_and_bitcode(tmp_path: Path) -> None:
    text = NVIDIA_KERNEL.replace("BODY", STORE)
    path = tmp_path / "k.ll"
    path.write_text(text)
    bitcode = tmp_path / "k.bc"
    assembler = toolchain.find_llvm_tool("llvm-as")
    assert assembler is not None
    subprocess.run([assembler.path, path, "-o", bitcode], check=True)
    for source in (text, path, str(path), bitcode, bitcode.read_bytes()):
        np.testing.assert_array_equal(scale(emulator.load(source, "emu:sm_80")), np.arange(100) / 2)


def test_places_in_a_text_without_line_tables(tmp_path: Path) -> None:
    store = "store float %r, ptr addrspace(1) %far"
    body = f"%far = getelementptr i8, ptr addrspace(1) %target, i64 -1099511627776\n  {store}"
    line = NVIDIA_KERNEL.splitlines().index("  BODY") + 2
    path = tmp_path / "k.ll"
    path.write_text(NVIDIA_KERNEL.replace("BODY", body))
    for source, name in ((path, str(path)), (path.read_text(), "<text>")):
        module = emulator.load(source, "emu:sm_80")
        with pytest.raises(smalti.EmulationError) as error:
            scale(module, emulation=Emulation(blocks=range(1)))
        assert error.value.location == errors.SourceLocation(name, line, 3)
        assert f"    {store}\n    ^" in str(error.value)
    with pytest.raises(smalti.CompileError) as refused:
        emulator.load("define nothing\n", "emu:sm_80").kernels  # noqa: B018
    assert refused.value.location is not None and refused.value.location.line == 1
    assert "  define nothing\n" in str(refused.value)


def test_module_of_amd() -> None:
    module = emulator.load(AMD_KERNEL, "emu:gfx1100")
    values = np.arange(64, dtype=np.int32)
    module.launch((1, 1), (64,), values)
    np.testing.assert_array_equal(values, 2 * np.arange(64))
    (kernel,) = module.kernels.values()
    assert kernel.name == "twice" and [p.type for p in kernel.parameters] == ["ptr addrspace(1)"]


def test_loading_what_is_none(tmp_path: Path) -> None:
    with pytest.raises(smalti.ParseError, match=r"gone\.ll: No such file"):
        emulator.load(tmp_path / "gone.ll", "emu:sm_80")
    with pytest.raises(smalti.ParseError, match=r"gone: No such file"):
        emulator.load("gone", "emu:sm_80")
    with pytest.raises(smalti.TargetError, match=r"not emulated.*\nhint: use 'emu:sm_80'"):
        emulator.load(AMD_KERNEL, "sm_80")
    with pytest.raises(smalti.CompileError, match="expected"):
        emulator.load("define nothing\n", "emu:sm_80").kernels  # noqa: B018


def test_what_is_not_emulated_is_named_before_anything_runs() -> None:
    body = "call void @llvm.nvvm.fantasy()"
    text = NVIDIA_KERNEL.replace("BODY", body) + "declare void @llvm.nvvm.fantasy()\ndeclare void @llvm.nvvm.dream()\n"
    with pytest.raises(smalti.CompileError, match=r"not emulated.*\n.*llvm\.nvvm\.fantasy") as error:
        emulator.load(text, "emu:sm_80").launch(1, 32, *[np.zeros(1, np.float32)] * 2, 0.5, 0)
    assert "dream" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (((0,), 32, 4), "the grid is"),
        ((1, (1, 1, 1, 1), 4), "the block is"),
        ((1, None, 4), "@scale requires no block size"),
        ((1, 1024 * 1024, 4), "the block is (1048576, 1, 1); sm_80 takes (1024, 1024, 64) at most"),
        ((1, (1, 1, 65), 4), "the block is (1, 1, 65)"),
        ((1, (64, 32), 4), "a block of 2048 threads is too large"),
        ((1 << 31, 32, 4), "the grid is (2147483648, 1, 1)"),
        (((1, 65536), 32, 4), "sm_80 takes (2147483647, 65535, 65535) at most"),
        ((2.0, 32, 4), "the grid is 2.0"),
        (("2", 32, 4), "the grid is '2'"),
        ((1, 32, 3), "float %factor, i32 %count), 3 given"),
    ],
)
def test_launches_are_checked(given: tuple[Any, Any, int], message: str) -> None:
    grid, block, count = given
    values = [np.zeros(32, np.float32), np.zeros(32, np.float32), 0.5, 32][:count]
    with pytest.raises(smalti.LaunchError, match=re.escape(message)):
        nvidia().launch(grid, block, *values)


def test_sizes_of_a_launch_are_any_integers() -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    nvidia().launch(np.int64(2), [np.uint8(32), 1], x, y, 0.5, 64)
    np.testing.assert_array_equal(y, np.arange(64) / 2)


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [
        (0, "no array", "argument 0 .*is not an array"),
        (0, np.float32(1), "argument 0 .*takes an array, and a number was given"),
        (0, np.array([None]), "argument 0 .*Python objects"),
        (2, "half", "argument 2 .float %factor.: str does not fit"),
        (3, 1.5, "argument 3 .i32 %count.: float does not fit"),
        (3, b"123", "3 bytes given, it takes 4"),
    ],
)
def test_values_are_checked(index: int, value: Any, message: str) -> None:
    values: list[Any] = [np.zeros(32, np.float32), np.zeros(32, np.float32), 0.5, 32]
    values[index] = value
    with pytest.raises(smalti.LaunchError, match=message):
        nvidia().launch(1, 32, *values)


def test_other_limits_of_a_launch() -> None:
    values = [np.zeros(32, np.float32), np.zeros(32, np.float32), 0.5, 32]
    with pytest.raises(smalti.LaunchError, match="shared memory"):
        nvidia().launch(1, 32, *values, shared=1 << 30)
    wrong: Any = 1.5
    with pytest.raises(smalti.LaunchError, match=r"shared is 1\.5"):
        nvidia().launch(1, 32, *values, shared=wrong)
    with pytest.raises(smalti.LaunchError, match="no kernel @other; it has: @scale"):
        nvidia().launch(1, 32, *values, kernel="other")
    for alignment in (0, -4, 3, 1 << 40):
        with pytest.raises(smalti.LaunchError, match=f"alignment is {alignment}: a power of two up to"):
            nvidia().launch(1, 32, *values, alignment=alignment)
    wrong = "thread"
    with pytest.raises(smalti.LaunchError, match=r"emulation is 'thread': a smalti\.Emulation is wanted"):
        nvidia().launch(1, 32, *values, emulation=wrong)
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    kernel.emulation = wrong
    with pytest.raises(smalti.LaunchError, match="emulation is 'thread'"):
        kernel.launcher  # noqa: B018


def test_shared_memory_of_the_code_counts() -> None:
    room = "@room = internal addrspace(3) global [150000 x i8] undef, align 16\n"
    body = f"%byte = load volatile i8, ptr addrspace(3) @room\n  {STORE}"
    module = emulator.load(NVIDIA_KERNEL.replace("BODY", body) + room, "emu:sm_80")
    assert np.isfinite(scale(module, shared=1000)).all()
    with pytest.raises(smalti.LaunchError, match=r"151024 B .* and 20000 B .*sm_80 has 166912 B at most"):
        scale(module, shared=20000)


def test_arrays_that_share_memory() -> None:
    memory = np.arange(64, dtype=np.float32)
    for x, y in ((memory, memory), (memory[:40], memory[30:])):
        with pytest.raises(smalti.LaunchError, match=r"argument 0 .*shares memory with argument 1") as error:
            nvidia().launch(1, 32, x, y, 0.5, 30)
        assert error.value.hint is not None
    np.testing.assert_array_equal(memory, np.arange(64))
    # Columns of one array share no element.
    pair = np.zeros((64, 2), np.float32)
    nvidia().launch(1, 32, pair[:, 0], pair[:, 1], 0.5, 0)


def test_code_of_the_other_vendor() -> None:
    with pytest.raises(smalti.TargetError, match="is code for AMD, and emu:sm_80 is a chip of NVIDIA"):
        emulator.load(AMD_KERNEL, "emu:sm_80").launch(1, 64, np.zeros(64, np.int32))


def test_values_in_all_forms() -> None:
    for factor, count in ((0.5, 100), (np.float32(0.5), np.int32(100)), (b"\0\0\0\x3f", b"\x64\0\0\0")):
        x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
        nvidia().launch(4, 32, x, y, factor, count)
        np.testing.assert_array_equal(y, np.arange(100) / 2)


PRINTING = """\
target triple = "nvptx64-nvidia-cuda"
@format = private constant [10 x i8] c"value %d\\0A\\00"
declare i32 @vprintf(ptr, ptr)
define ptx_kernel void @say(i32 %n) {
  %buffer = alloca i32
  store i32 %n, ptr %buffer
  %said = call i32 @vprintf(ptr @format, ptr %buffer)
  ret void
}
"""


def test_what_a_kernel_prints(capsys: pytest.CaptureFixture[str]) -> None:
    emulator.load(PRINTING, "emu:sm_80").launch(2, 1, 7)
    assert capsys.readouterr().out == "value 7\n" * 2


# ---------------------------------------------------------------------------------------------------------------------
# What is missing
# ---------------------------------------------------------------------------------------------------------------------


def test_missing_emulator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    monkeypatch.setattr(toolchain, "find_emulator", lambda sanitize=None: None)
    array = np.zeros((100, 60), np.float32)
    with pytest.raises(smalti.ToolMissing, match="smalti-emulator was not found"):
        kernel(array, array.copy())
    kernel.emulation = Emulation("thread")
    with pytest.raises(smalti.ToolMissing, match=r"smalti-emulator-tsan was not found.*\nhint: build Smalti with"):
        kernel(array, array.copy())


def test_doctor_knows_the_emulators(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [finding.name for finding in doctor.examine() if finding.found]
    assert "smalti-emulator" in names
    monkeypatch.setattr(toolchain, "find_emulator", lambda sanitize=None: None)
    missing = {finding.name: finding for finding in doctor.examine() if not finding.found}
    assert {"smalti-emulator", "smalti-emulator-asan", "smalti-emulator-tsan"} <= set(missing)
    assert "compiler" in missing["smalti-emulator-tsan"].get


# ---------------------------------------------------------------------------------------------------------------------
# The shell
# ---------------------------------------------------------------------------------------------------------------------


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(cli.main, ["run", *map(str, words)])


@pytest.fixture
def module_file(tmp_path: Path) -> Path:
    path = tmp_path / "scale.ll"
    path.write_text(NVIDIA_KERNEL.replace("BODY", STORE))
    return path


def scale_words(path: Path, count: int = 100) -> list[str | Path]:
    sizes = ["--target", "emu:sm_80", "--grid", "4", "--block", "32"]
    given = ["0=f32[100]=iota", "1=f32[100]=nan", "2=f32:0.5", f"3=i32:{count}"]
    return [path, *sizes, *(word for text in given for word in ("--arg", text))]


def test_program_on_the_shell(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    done = shell("run", path, "--target", "emu:gfx942", "--check", "--workers", "1", "--timeout", "60")
    assert done.returncode == 0 and done.stderr == ""
    assert "max abs error 0," in done.stdout
    assert re.search(r"@scale on emu:gfx942: ok, emulated in [\d.]+ s\n$", done.stdout)


def test_all_schedules_on_the_shell(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    done = run(path, "--target", "emu:sm_80", "--check", "--schedules", "all")
    assert (
        done.exit_code == 0 and len(re.findall(r"^(?:first-ahead|last-ahead|in-step), copies", done.output, re.M)) == 6
    )


def test_module_on_the_shell(shell: Shell, module_file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "wanted.npy", np.arange(100, dtype=np.float32) / 2)
    words = [*scale_words(module_file), "--expect", f"1={tmp_path}/wanted.npy", "--save", tmp_path / "out.npz"]
    done = shell("run", *words, "--schedules", "all", "--kernel", "scale")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "argument 1: as in " in done.stdout and "ok, emulated in" in done.stdout
    saved = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(saved["arg1"], np.arange(100) / 2)


def test_findings_on_the_shell(module_file: Path) -> None:
    done = run(*scale_words(module_file, 128))
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert lines[0] == "error: @scale on emu:sm_80: 1 finding"
    assert "block (3, 0, 0), thread (4, 0, 0)" in lines[1] and lines[1].endswith("[out-of-bounds]")


def test_unexpected_numbers_on_the_shell(module_file: Path, tmp_path: Path) -> None:
    wanted = np.arange(100, dtype=np.float32) / 2
    wanted[7] += 0.25
    np.save(tmp_path / "wanted.npy", wanted)
    words = [*scale_words(module_file), "--expect", f"1={tmp_path}/wanted.npy"]
    done = run(*words)
    assert done.exit_code == 1 and "1 of 100 elements are not those of" in done.output and "[7]: 3.5" in done.output
    assert run(*words, "--atol", "0.3").exit_code == 0
    assert run(*words, "--rtol", "0.1").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--check"], "--check says nothing for a device module"),
        (["--repeat", "3"], "--repeat says nothing"),
        (["--arg", "0=f32[1]"], "argument 0 is given twice"),
        (["--arg", "\u00b2=f32[1]"], "not INDEX=VALUE"),
        (["--timeout", "inf"], "a time limit of inf s"),
        (["--schedules", "all", "--order", "in-step"], "--order says nothing"),
        (["--grid", "1,b"], "'1,b' is not one to three numbers"),
        (["--order", "up"], "the order 'up'"),
        (["--expect", "9=w.npy"], "there is no argument 9"),
        (["--expect", "w.npy"], "not INDEX=VALUE"),
        (["--save", "out.txt"], "saved as .npz"),
    ],
)
def test_options_that_do_not_fit_a_module(module_file: Path, words: Sequence[str], message: str) -> None:
    done = run(*scale_words(module_file), *words)
    assert done.exit_code != 0 and message in done.output


def test_options_that_do_not_fit_a_program(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    done = run(path, "--target", "cpu", "--sanitize", "thread")
    assert done.exit_code == 2 and "--sanitize says nothing for cpu, which is not emulated" in done.output
    done = run(path, "--target", "emu:sm_80", "--grid", "1")
    assert done.exit_code == 2 and "--grid says nothing for a tile program" in done.output


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("f16[2x3]=zeros", np.zeros((2, 3), np.float16)),
        ("i8[4]=ones", np.ones(4, np.int8)),
        ("ui16[2x2]=iota", np.arange(4, dtype=np.uint16).reshape(2, 2)),
        ("f64[2]=nan", np.full(2, np.nan)),
        ("i32:-7", np.array(-7, np.int32)),
        ("i32:0x10", np.array(16, np.int32)),
        ("f16:0.5", np.array(0.5, np.float16)),
        ("bytes:0a0b", b"\x0a\x0b"),
        ("ptr:0", 0),
    ],
)
def test_arguments_as_text(text: str, wanted: Any) -> None:
    (value,) = arguments.parse({0: text})
    if isinstance(wanted, np.ndarray):
        assert value.dtype == wanted.dtype
        np.testing.assert_array_equal(value, wanted)
    else:
        assert value == wanted


def test_random_arguments_follow_the_seed() -> None:
    once, again, other = (arguments.parse({0: "bf16[32]"}, seed)[0] for seed in (1, 1, 2))
    assert once.tobytes() == again.tobytes() != other.tobytes() and once.dtype.name == "bfloat16"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f16", "'f16' is no argument"),
        ("f17[3]", "there is no type 'f17'; there are: f64, f32"),
        ("f16[3]=many", "neither a file (.npy) nor one of: random, zeros"),
        ("i8[3]=nan", "i8 has no NaN"),
        ("i8:300", "'300' is no i8"),
        ("f32:x", "'x' is no f32"),
        ("f32[3]=gone.npy", "gone.npy: No such file"),
        ("f32[99999999999999999]", "there is no memory for f32[99999999999999999]"),
    ],
)
def test_text_that_is_no_argument(text: str, message: str) -> None:
    with pytest.raises(smalti.LaunchError, match=re.escape(message)):
        arguments.parse({0: text})


def test_arrays_from_files(tmp_path: Path) -> None:
    import ml_dtypes

    data = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "b.npy", data)
    (value,) = arguments.parse({0: f"bf16[2x3]={tmp_path}/b.npy"})
    assert value.dtype == data.dtype and value.tobytes() == data.tobytes()
    with pytest.raises(smalti.LaunchError, match="has the shape 2x3, not 3x2"):
        arguments.parse({0: f"bf16[3x2]={tmp_path}/b.npy"})
    np.save(tmp_path / "f.npy", np.zeros(3))
    with pytest.raises(smalti.LaunchError, match="holds float64, not float32"):
        arguments.parse({0: f"f32[3]={tmp_path}/f.npy"})
    (tmp_path / "t.npy").write_text("no numbers")
    with pytest.raises(smalti.LaunchError, match="no array that numpy saved"):
        arguments.parse({0: f"f32[3]={tmp_path}/t.npy"})
    with pytest.raises(smalti.LaunchError, match="argument 0 is missing"):
        arguments.parse({1: "i32:0"})


def test_the_list_of_instructions() -> None:
    tool = toolchain.require_emulator()
    listed = subprocess.run([tool.path, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    entries = [json.loads(line) for line in listed]
    assert all(entry["document"] and entry["scope"] in ("thread", "wave") for entry in entries)
    names = {entry["name"] for entry in entries}
    assert "llvm.nvvm.read.ptx.sreg.tid.x" in names and "llvm.amdgcn.workitem.id.x" in names
