# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device modules of other compilers on emulated GPUs, and missing tools of a machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import SCALE
from emulated import AMD_KERNEL, NVIDIA_KERNEL, STORE, nvidia, scale
from smalti import emulator, errors, toolchain
from smalti.cli import doctor
from smalti.emulator import Emulation

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


def test_locations_in_a_text_without_line_tables(tmp_path: Path) -> None:
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
    with pytest.raises(smalti.TargetError, match=r"not an emulated target.*\nhint: use 'emu:sm_80'"):
        emulator.load(AMD_KERNEL, "sm_80")
    with pytest.raises(smalti.CompileError, match="expected"):
        emulator.load("define nothing\n", "emu:sm_80").kernels  # noqa: B018


def test_refused_ops_are_reported_before_the_run() -> None:
    body = "call void @llvm.nvvm.fantasy()"
    text = NVIDIA_KERNEL.replace("BODY", body) + "declare void @llvm.nvvm.fantasy()\ndeclare void @llvm.nvvm.dream()\n"
    with pytest.raises(smalti.CompileError, match=r"not emulated.*\n.*llvm\.nvvm\.fantasy") as error:
        emulator.load(text, "emu:sm_80").launch(1, 32, *[np.zeros(1, np.float32)] * 2, 0.5, 0)
    assert "dream" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (((0,), 32, 4), "the grid size is"),
        ((1, (1, 1, 1, 1), 4), "the block size is"),
        ((1, None, 4), "@scale does not declare a block size"),
        ((1, 1024 * 1024, 4), "block size (1048576, 1, 1) exceeds the maximum (1024, 1024, 64) of sm_80"),
        ((1, (1, 1, 65), 4), "block size (1, 1, 65) exceeds"),
        ((1, (64, 32), 4), "block has 2048 threads"),
        ((1 << 31, 32, 4), "grid size (2147483648, 1, 1) exceeds"),
        (((1, 65536), 32, 4), "the maximum (2147483647, 65535, 65535) of sm_80"),
        ((2.0, 32, 4), "the grid size is 2.0"),
        (("2", 32, 4), "the grid size is '2'"),
        ((1, 32, 3), "float %factor, i32 %count); the call passes 3"),
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
        (0, np.float32(1), "argument 0 .*the parameter is a pointer, but the value is a scalar"),
        (0, np.array([None]), "argument 0 .*Python objects"),
        (2, "half", "argument 2 .float %factor.: a value of type str cannot be converted"),
        (3, 1.5, "argument 3 .i32 %count.: a value of type float cannot be converted"),
        (3, b"123", "has 3 bytes, but the parameter has 4"),
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
    with pytest.raises(smalti.LaunchError, match=r"shared memory \(shared\) is 1\.5"):
        nvidia().launch(1, 32, *values, shared=wrong)
    with pytest.raises(smalti.LaunchError, match="does not have a kernel @other; its kernels: @scale"):
        nvidia().launch(1, 32, *values, kernel="other")
    for alignment in (0, -4, 3, 1 << 40):
        with pytest.raises(
            smalti.LaunchError, match=f"the alignment of arrays is {alignment}; it must be a power of two up to"
        ):
            nvidia().launch(1, 32, *values, alignment=alignment)
    wrong = "thread"
    with pytest.raises(smalti.LaunchError, match=r"emulation is 'thread'; it must be a smalti\.Emulation"):
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
    with pytest.raises(smalti.LaunchError, match=r"151024 B .* and 20000 B .*sm_80 has at most 166912 B"):
        scale(module, shared=20000)


def test_arrays_that_share_memory() -> None:
    memory = np.arange(64, dtype=np.float32)
    for x, y in ((memory, memory), (memory[:40], memory[30:])):
        with pytest.raises(smalti.LaunchError, match=r"argument 0 .*overlaps argument 1") as error:
            nvidia().launch(1, 32, x, y, 0.5, 30)
        assert error.value.hint is not None
    np.testing.assert_array_equal(memory, np.arange(64))
    # Columns of one array share no element.
    pair = np.zeros((64, 2), np.float32)
    nvidia().launch(1, 32, pair[:, 0], pair[:, 1], 0.5, 0)


def test_code_of_the_other_vendor() -> None:
    with pytest.raises(smalti.TargetError, match="is code for AMD, but target emu:sm_80 is an NVIDIA chip"):
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


def test_output_of_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_doctor_lists_the_emulators(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [finding.name for finding in doctor.examine() if finding.found]
    assert "smalti-emulator" in names
    monkeypatch.setattr(toolchain, "find_emulator", lambda sanitize=None: None)
    missing = {finding.name: finding for finding in doctor.examine() if not finding.found}
    assert {"smalti-emulator", "smalti-emulator-asan", "smalti-emulator-tsan"} <= set(missing)
    assert "compiler" in missing["smalti-emulator-tsan"].get
