# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emulated GPUs from the shell."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import SCALE
from emulated import NVIDIA_KERNEL, STORE
from helpers import Shell
from smalti import toolchain
from smalti.cli import commands
from smalti.emulator import arguments

# ---------------------------------------------------------------------------------------------------------------------
# The shell
# ---------------------------------------------------------------------------------------------------------------------


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(commands.main, ["run", *map(str, words)])


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
    done = shell("run", path, "--target", "emu:gfx942", "--check", "--workers", "1", "--time-limit", "60")
    assert done.returncode == 0 and done.stderr == ""
    assert re.fullmatch(
        r"@scale on emu:gfx942: ok, max abs error 0 \(tolerance 0\), emulated in [\d.]+ s\n", done.stdout
    )


def test_all_schedules_on_the_shell(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    done = run(path, "--target", "emu:sm_80", "--check", "--schedules", "all")
    assert done.exit_code == 0 and "ok, max abs error 0 (tolerance 0), emulated in 6 schedules in" in done.output


def test_module_on_the_shell(shell: Shell, module_file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "wanted.npy", np.arange(100, dtype=np.float32) / 2)
    words = [*scale_words(module_file), "--expect", f"1={tmp_path}/wanted.npy", "--save", tmp_path / "out.npz"]
    done = shell("run", *words, "--schedules", "all", "--kernel", "scale")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "argument 1: matches " in done.stdout and "ok, emulated in" in done.stdout
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
    assert done.exit_code == 1 and "1 of 100 elements differ from" in done.output and "[7]: 3.5" in done.output
    assert run(*words, "--atol", "0.3").exit_code == 0
    assert run(*words, "--rtol", "0.1").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--check"], "--check does not apply to a device module"),
        (["--repeat", "3"], "--repeat does not apply"),
        (["--arg", "0=f32[1]"], "argument 0 is specified twice"),
        (["--arg", "\u00b2=f32[1]"], "must have the form INDEX=VALUE"),
        (["--time-limit", "inf"], "time_limit is inf"),
        (["--schedules", "all", "--order", "round-robin"], "--order cannot be combined"),
        (["--grid", "1,b"], "'1,b' must be one to three numbers"),
        (["--order", "up"], "order of waves is 'up'"),
        (["--expect", "9=w.npy"], "argument 9 does not exist"),
        (["--expect", "w.npy"], "must have the form INDEX=VALUE"),
        (["--save", "out.txt"], "must end with .npz"),
    ],
)
def test_options_that_do_not_fit_a_module(module_file: Path, words: Sequence[str], message: str) -> None:
    done = run(*scale_words(module_file), *words)
    assert done.exit_code != 0 and message in done.output


def test_options_that_do_not_fit_a_program(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    done = run(path, "--target", "cpu", "--sanitize", "thread")
    assert done.exit_code == 2 and "--sanitize does not apply to cpu, which is not emulated" in done.output
    done = run(path, "--target", "emu:sm_80", "--grid", "1")
    assert done.exit_code == 2 and "--grid does not apply to a tile-level kernel" in done.output


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
        ("f16", "cannot parse 'f16'"),
        ("f17[3]", "unknown type 'f17'; known types: f64, f32"),
        ("f16[3]=many", "use a number, a .npy file or one of: random, zeros"),
        ("i8[3]=nan", "filled with 'nan'; use an integer, a .npy file or one of"),
        ("i8:300", "'300' is not a value of type i8"),
        ("f32:x", "'x' is not a value of type f32"),
        ("f32[3]=gone.npy", "gone.npy: No such file"),
        ("f32[99999999999999999]", "an array f32[99999999999999999] exceeds the memory of this machine"),
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
    with pytest.raises(smalti.LaunchError, match="has shape 2x3, but the argument has shape 3x2"):
        arguments.parse({0: f"bf16[3x2]={tmp_path}/b.npy"})
    np.save(tmp_path / "f.npy", np.zeros(3))
    with pytest.raises(smalti.LaunchError, match="has elements of float64, but the argument has elements of float32"):
        arguments.parse({0: f"f32[3]={tmp_path}/f.npy"})
    (tmp_path / "t.npy").write_text("no numbers")
    with pytest.raises(smalti.LaunchError, match=r"is not a \.npy file"):
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
