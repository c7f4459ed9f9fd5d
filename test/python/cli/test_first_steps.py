# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""First steps of a new user: commands, messages, targets, reproducers, options, calls by name, copies and pickles."""

from __future__ import annotations

import copy
import importlib
import json
import os
import pickle
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import BUILD, ROOT, SCALE
from helpers import Shell
from smalti import targets, toolchain
from smalti.cli import commands
from smalti.compiler import passes, reproducer

INVALID = """\
func.func @f(%a: memref<4xf32>) {
  %c = arith.constant 0 : index
  %0 = memref.load %a[%c] : memref<4xf32>
  %1 = "arith.addf"(%0, %a) : (f32, memref<4xf32>) -> f32
  return
}
"""

NOT_CONVERTED = "gpu.module @m {\n  gpu.func @k(%a: tensor<4xf32>) kernel {\n    gpu.return\n  }\n}\n"
TO_NVVM = "builtin.module(gpu.module(convert-gpu-to-nvvm))"


# --- Commands ---------------------------------------------------------------------------------------------------------


def test_the_tools_are_next_to_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    steps = importlib.import_module("devlib.steps")
    commands = tmp_path / "bin"
    commands.mkdir()
    monkeypatch.setattr(steps, "VENV", tmp_path)
    monkeypatch.setattr(steps, "BUILD", BUILD)
    (commands / "smalti-opt").symlink_to("/gone/smalti-opt")
    for _ in range(2):
        steps.install_commands()
        for name in ("smalti", "smalti-opt", "smalti-lsp-server"):
            assert shutil.which(name, path=str(commands)), name
    done = subprocess.run([commands / "smalti-opt", "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "LLVM" in done.stdout


def test_one_version(shell: Shell) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert smalti.__version__ == declared
    assert shell("--version").stdout.startswith(f"smalti {declared} ")
    assert not re.search(r"VERSION \d", (ROOT / "CMakeLists.txt").read_text().partition("project(")[2])


def test_targets_are_those_of_the_table(shell: Shell) -> None:
    done = shell("targets")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == targets.names()
    assert [item["name"] for item in json.loads(shell("targets", "--json").stdout)] == targets.names()


def test_diagnostics_of_smalti_opt_show_the_line_and_not_the_operation(tmp_path: Path) -> None:
    tool = toolchain.find_smalti_opt()
    assert tool is not None
    path = tmp_path / "k.mlir"
    path.write_text(INVALID)
    done = subprocess.run([tool.path, path], capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines[0].startswith(f"{path}:4:8: error: 'arith.addf' op")
    assert lines[1:] == ['  %1 = "arith.addf"(%0, %a) : (f32, memref<4xf32>) -> f32', "       ^"]
    asked = subprocess.run(
        [tool.path, "--mlir-print-op-on-diagnostic=true", path], capture_output=True, text=True, check=False
    )
    assert "see current operation" in asked.stderr


@pytest.mark.parametrize("command", [["opt"], ["compile", "--target", "cpu"], ["run", "--target", "cpu"], ["sim"]])
def test_diagnostics_of_the_command_show_the_line_and_not_the_operation(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(INVALID)
    done = CliRunner().invoke(commands.main, [*command, str(path)])
    first, _, caret = done.output.splitlines()
    assert done.exit_code == 1 and first.startswith(f"{path}:4:8: error: 'arith.addf' op") and caret.strip() == "^"


# --- Reproducers ------------------------------------------------------------------------------------------------------

REFUSALS: list[tuple[str, Callable[[], Any]]] = [
    ("parse error", lambda: smalti.parse("module {")),
    ("invalid module", lambda: smalti.parse(INVALID)),
    ("no target", lambda: smalti.compile(SCALE, "sm_1")),
    ("no option", lambda: smalti.compile(SCALE, "cpu", stges=3)),
    ("value of an option", lambda: smalti.compile(SCALE, "cpu", stages=-1)),
    (
        "refused program",
        lambda: smalti.compile(
            SCALE.replace("memref<100x60xf32>", "memref<100x60xf32, affine_map<(i, j) -> (i floordiv 2, j)>>"), "sm_80"
        ),
    ),
]


@pytest.mark.parametrize("run", [run for _, run in REFUSALS], ids=[name for name, _ in REFUSALS])
def test_refusals_leave_no_file(run: Callable[[], Any], reproducers: Path, no_files: None) -> None:
    with pytest.raises(smalti.SmaltiError) as caught:
        run()
    assert caught.value.reproducer is None and caught.value.command is None and not reproducers.exists()


def test_reproducers_of_failed_passes_are_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_files: None
) -> None:
    monkeypatch.delenv("SMALTI_REPRODUCER_DIR")
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(smalti.CompileError) as caught:
        smalti.Pipeline(TO_NVVM).run(smalti.parse(NOT_CONVERTED))
    path = caught.value.reproducer
    assert path is not None and path.parent == tmp_path / "cache" / "reproducers" and path.is_file()
    assert f"--run-reproducer {path}" in str(caught.value)


def test_a_pass_that_leaves_invalid_ir_leaves_a_reproducer() -> None:
    from smalti.compiler import driver

    module = smalti.parse(SCALE)
    reported = smalti.Diagnostic("error", "'func.func' op is wrong")
    error = smalti.CompileError("", diagnostics=[reported])
    assert driver._is_rejection(error, module)
    block = module.body.operations[0].operation.regions[0].blocks[0]
    block.operations[len(block.operations) - 1].operation.erase()
    assert not driver._is_rejection(error, module)
    assert not driver._is_rejection(smalti.CompileError("no reason"), smalti.parse(SCALE))


def test_a_missing_folder_for_reproducers_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMALTI_REPRODUCER_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(reproducer.tempfile, "gettempdir", lambda: str(tmp_path / "file"))
    assert reproducer.write("module {}", "builtin.module()") is None


def test_the_cache_keeps_the_newest_reproducers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache" / "reproducers"
    folder.mkdir(parents=True)
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(folder.parent))
    names = [f"smalti-reproducer-{number:012x}.mlir" for number in range(60)]
    others = ["notes.mlir", "smalti-reproducer-mine.mlir", f"{names[0]}.orig", f"old-{names[0]}", names[0].upper()]
    link = "smalti-reproducer-ffffffffffff.mlir"
    for number, name in enumerate([*others, *names]):
        (folder / name).write_text("")
        os.utime(folder / name, (number, number))
    (folder / link).symlink_to(folder / "notes.mlir")
    # A folder that the user names is the user's.
    for given in (str(folder), None):
        if given is None:
            monkeypatch.delenv("SMALTI_REPRODUCER_DIR")
        else:
            monkeypatch.setenv("SMALTI_REPRODUCER_DIR", given)
        written = reproducer.write("module {}", "builtin.module()")
        assert written is not None and written[0].parent == folder
        kept = names if given else names[-49:]
        assert {path.name for path in folder.iterdir()} == {*others, *kept, link, written[0].name}
    # The file that was written stays, independent of the timestamps of the others.
    for name in names[-49:]:
        os.utime(folder / name, (2**33, 2**33))
    written = reproducer.write("module { }", "builtin.module()")
    assert written is not None and written[0].is_file()


# --- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["compile", "run", "sim"])
def test_help_lists_the_options_of_the_pipeline(command: str, shell: Shell) -> None:
    said = shell(command, "--help").stdout.partition("Options of smalti-compile (-O):")[2]
    for option in passes.registered()["smalti-compile"].options:
        listed = re.search(rf"^  {re.escape(option.name)}=\S", said, re.MULTILINE)
        assert bool(listed) == (option.name not in ("target", "stop-after")), option.name


OPTIONS = [
    ("zzz=4", "does not have an option 'zzz' (options: target"),
    ("num-wrps=4", "did you mean 'num-warps'?"),
    ("num-wrps=4", "does not have an option 'num-wrps' (options: target, stop-after, depth, stages, num-warps"),
    ("num-warps=x", "option 'num-warps' must be 'auto' or a positive number"),
    ("tile-order=x", "tile-order"),
    ("hold-loads=x", "'hold-loads' must be bool"),
]


@pytest.mark.parametrize("word, message", OPTIONS, ids=[message for _, message in OPTIONS])
def test_messages_name_options_as_they_are_typed(word: str, message: str) -> None:
    done = CliRunner().invoke(commands.main, ["compile", "-", "--target", "sm_80", "-O", word], input=SCALE)
    assert done.exit_code == 1 and message in done.output
    assert not re.search(r"num_warps|tile_order|hold_loads", done.output)


SPELLED = [option.name for option in passes.registered()["smalti-compile"].options if "-" in option.name]


@pytest.mark.parametrize("name", SPELLED)
def test_options_have_dashes_on_the_shell_and_underscores_in_python(name: str) -> None:
    other = name.replace("-", "_")
    given: dict[str, Any] = {name: 4}
    done = CliRunner().invoke(commands.main, ["compile", "-", "--target", "sm_80", "-O", f"{other}=4"], input=SCALE)
    assert done.exit_code == 1 and f"does not have an option '{other}'" in done.output
    assert f"did you mean '{name}'?" in done.output
    with pytest.raises(smalti.PipelineError, match=f"does not have an option '{name}'") as caught:
        smalti.compile(SCALE, "sm_80", **given)
    assert caught.value.hint == f"did you mean '{other}'?"


def test_messages_name_keywords_in_python() -> None:
    with pytest.raises(smalti.PipelineError, match="'num_warps' must be 'auto' or a positive number"):
        smalti.compile(SCALE, "sm_80", num_warps="x")


@pytest.mark.parametrize(
    "target, how", [("cpu", r"\S+ ms"), ("emu:sm_80", r"emulated in \S+ s"), ("sim:sm_90a", r"simulated in \S+ s")]
)
def test_a_check_that_succeeds_prints_one_line(target: str, how: str) -> None:
    done = CliRunner().invoke(commands.main, ["run", "-", "--target", target, "--check"], input=SCALE)
    assert re.fullmatch(rf"@scale on {target}: ok, max abs error 0 \(tolerance 0\), {how}\n", done.output), done.output


# --- Calls by name ----------------------------------------------------------------------------------------------------

SOURCE = np.arange(6000, dtype=np.float32).reshape(100, 60)


@pytest.fixture(scope="module", params=["cpu", "emu:sm_80", "sim:sm_90a"])
def kernel(request: pytest.FixtureRequest) -> Any:
    return smalti.compile(SCALE, request.param)


@pytest.mark.parametrize("positional, named", [("", "src dst"), ("", "dst src"), ("src", "dst"), ("src dst", "")])
def test_arguments_by_name(kernel: Any, positional: str, named: str) -> None:
    values = {"src": SOURCE, "dst": np.zeros_like(SOURCE)}
    kernel(*(values[name] for name in positional.split()), **{name: values[name] for name in named.split()})
    np.testing.assert_array_equal(values["dst"], 2 * SOURCE)


CALLS = [
    (1, ("dest",), "@scale does not have an argument named 'dest' (names: src, dst)"),
    (1, ("src",), "@scale: argument 'src' is passed both by position and by name"),
    (0, ("dst",), "@scale: argument 'src' is missing"),
    (0, ("src",), "@scale: argument 'dst' is missing"),
    (2, ("tile",), "@scale does not have an argument named 'tile'"),
    (3, ("dst",), "argument 'dst' is passed both"),
]


@pytest.mark.parametrize("count, named, message", CALLS, ids=[message for *_, message in CALLS])
def test_wrong_names_are_errors(kernel: Any, count: int, named: tuple[str, ...], message: str) -> None:
    with pytest.raises(smalti.LaunchError) as caught:
        kernel(*[SOURCE] * count, **dict.fromkeys(named, SOURCE))
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_come_from_files_texts_and_locations(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(f"// \u00e9 \f\n{SCALE}")
    named = SCALE.replace("%src: memref<100x60xf32>", '%0: memref<100x60xf32> loc("src")').replace("%src[", "%0[")
    unnamed = named.replace(' loc("src")', "")
    for source, names in (
        (path, ["src", "dst"]),
        (SCALE, ["src", "dst"]),
        (named, ["src", "dst"]),
        (unnamed, [None, "dst"]),
        (str(smalti.parse(SCALE)), ["arg0", "arg1"]),
    ):
        assert [argument.name for argument in smalti.compile(source, "cpu").arguments] == names


def test_modules_without_names_say_so() -> None:
    unnamed = re.sub(r"%src\b", "%0", re.sub(r"%dst\b", "%1", SCALE)).replace("%tile", "%2")
    with pytest.raises(smalti.LaunchError, match="names: none, so pass all arguments by position"):
        smalti.compile(unnamed, "cpu")(SOURCE, dst=SOURCE)


CLASHING = """\
triton_xla.entry_func @fill(%self: memref<64xf32>, %stream: f32, %time_limit: f32, %simulation: f32, %tile: index) tiles 1 {
  %a = arith.addf %stream, %time_limit : f32
  %b = arith.addf %a, %simulation : f32
  %v = tensor.splat %b : tensor<64xf32>
  triton_xla.insert %v into %self[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}
"""


@pytest.fixture(scope="module", params=["cpu", "emu:sm_80", "sim:sm_90a"])
def clashing(request: pytest.FixtureRequest) -> Any:
    return smalti.compile(CLASHING, request.param)


def test_arguments_named_as_options_are_passed_by_position(clashing: Any) -> None:
    out = np.zeros(64, np.float32)
    clashing(out, 1.0, 2.0, 3.0)
    assert (out == 6).all()
    # Then the keyword is the option.
    clashing(out, 2.0, 2.0, 3.0, time_limit=100)
    assert (out == 7).all()
    with pytest.raises(smalti.LaunchError, match="time_limit is 'x'"):
        clashing(out, 1.0, 2.0, 3.0, time_limit="x")


def test_arguments_named_as_options_cannot_be_passed_by_name(clashing: Any) -> None:
    option = "simulation" if "Simulated" in type(clashing).__name__ else "stream"
    out = np.zeros(64, np.float32)
    given = [out, 1.0, 2.0, 3.0]
    names = ["self", "stream", "time_limit", "simulation"]
    for name in (option, "time_limit"):
        count = names.index(name)
        for named in (dict(zip(names[count:], given[count:], strict=True)), {name: given[count]}):
            with pytest.raises(
                smalti.LaunchError, match=rf"^@fill: argument '{name}' must be passed by position; .*{name}="
            ):
                clashing(*given[:count], **named)
    # `self` is the name of an argument.
    with pytest.raises(smalti.LaunchError, match=r"argument '\w+' must be passed by position"):
        clashing(**dict(zip(names, given, strict=True)))
    assert not out.any()


# --- Copies and pickles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sim:sm_90a", "sm_80", "gfx942"])
def test_a_copy_of_a_kernel_has_its_code(target: str, copied: Callable[[Any], Any]) -> None:
    kernel: Any = smalti.compile(SCALE, target)
    again = copied(kernel)
    assert again is not kernel and again.module is kernel.module and again.arguments == kernel.arguments
    if not kernel.target.is_simulated:
        assert dict(again.asm) == dict(kernel.asm) and again.remarks == kernel.remarks
        assert (again.binary, again.resources, again.notes) == (kernel.binary, kernel.resources, kernel.notes)
    if target in ("cpu", "emu:sm_80", "sim:sm_90a"):
        result = np.zeros_like(SOURCE)
        again(SOURCE, result)
        np.testing.assert_array_equal(result, 2 * SOURCE)
    assert copied([kernel, kernel])[0].arguments == kernel.arguments


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_kernel_has_settings_of_its_own(copied: Callable[[Any], Any]) -> None:
    kernel: Any = smalti.compile(SCALE, "cpu")
    kernel(SOURCE, np.zeros_like(SOURCE))
    kernel.time_limit, kernel.blocks, kernel.announce = 100.0, range(3), print
    again = copied(kernel)
    assert (again.time_limit, again.blocks, again.announce) == (100.0, range(3), print)
    again.blocks = range(1)
    again.notes.append("a note")
    assert kernel.blocks == range(3) and kernel.notes == []
    for one, tiles in ((kernel, 3), (again, 1)):
        result = np.zeros_like(SOURCE)
        one(SOURCE, result)
        np.testing.assert_array_equal(result[: 32 * tiles], 2 * SOURCE[: 32 * tiles])
        assert not result[32 * tiles :].any()
    simulated: Any = smalti.compile(SCALE, "sim:sm_90a")
    other = copied(simulated)
    other.simulation = smalti.sim.Simulation("round-robin")
    assert simulated.simulation != other.simulation


def test_a_pickled_kernel_runs() -> None:
    kernel = smalti.compile(SCALE, "emu:sm_80")
    kernel.emulation = smalti.Emulation(workers=1, progress=lambda done, total: None)
    again = pickle.loads(pickle.dumps(kernel))
    result = np.zeros_like(SOURCE)
    again(dst=result, src=SOURCE)
    np.testing.assert_array_equal(result, 2 * SOURCE)
    assert again.emulation == kernel.emulation and again.emulation.progress is None
    assert [argument.name for argument in again.arguments] == ["src", "dst"]


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_a_pickled_kernel_has_the_same_code(target: str) -> None:
    kernel = smalti.compile(SCALE, target)
    again = pickle.loads(pickle.dumps(kernel))
    assert (again.binary, again.symbol, again.resources) == (kernel.binary, kernel.symbol, kernel.resources)


@pytest.mark.parametrize(
    "target, reason", [("cpu", "can run only in the process that compiled it"), ("sim:sm_90a", "cannot be serialized")]
)
def test_kernels_that_cannot_be_pickled_say_why(target: str, reason: str) -> None:
    with pytest.raises(smalti.SmaltiError, match=rf"cannot pickle @scale: .*{reason}"):
        pickle.dumps(smalti.compile(SCALE, target))
