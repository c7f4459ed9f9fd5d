# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: exit codes, messages, quietness."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest
import smalti
from click.testing import CliRunner
from conftest import ROOT, SCALE
from helpers import Shell
from smalti import toolchain
from smalti.cli import commands

MULADD = """\
func.func @f(%a: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %0 = arith.muli %a, %c2 : i32
  %1 = arith.muli %a, %c2 : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
"""

MY_PASS = """\
import smalti

def rename(function):
    function.operation.attributes["sym_name"] = smalti.ir.StringAttr.get("renamed")

def fail(module):
    raise ValueError("no luck")

smalti.register_pass("my-rename", rename, op="func.func")
smalti.register_pass("my-fail", fail)
"""


@pytest.fixture
def muladd(tmp_path: Path) -> Path:
    path = tmp_path / "muladd.mlir"
    path.write_text(MULADD)
    return path


@pytest.fixture
def my_pass(tmp_path: Path) -> Path:
    path = tmp_path / "my_pass.py"
    path.write_text(MY_PASS)
    return path


def failed(done: subprocess.CompletedProcess[str]) -> str:
    """The message of a run that failed as it should: on stderr, with nothing of Python's in it."""
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and done.stdout == ""
    return done.stderr


def test_help_lists_the_commands(shell: Shell) -> None:
    done = shell("--help")
    assert done.returncode == 0
    for command in ("compile", "run", "opt", "cache", "doctor"):
        assert re.search(rf"^  {command} ", done.stdout, re.MULTILINE)


def test_opt_with_a_python_pass_by_name(shell: Shell, muladd: Path, my_pass: Path) -> None:
    done = shell("opt", muladd, "--load", my_pass, "--pass-pipeline=builtin.module(cse, my-rename, canonicalize)")
    assert done.returncode == 0, done.stderr
    assert "@renamed" in done.stdout and done.stdout.count("arith.muli") == 1
    assert done.stderr == ""


def test_opt_reads_standard_input_and_writes_a_file(muladd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    done = CliRunner().invoke(commands.main, ["opt", "-", "--pass-pipeline", "cse", "-o", str(out)], input=MULADD)
    assert done.exit_code == 0, done.output
    assert out.read_text().count("arith.muli") == 1
    smalti.parse(out)


def test_exception_in_a_python_pass_is_one_line_with_its_location(shell: Shell, muladd: Path, my_pass: Path) -> None:
    message = failed(shell("opt", muladd, "--load", my_pass, "--pass-pipeline=builtin.module(cse, my-fail)"))
    line = MY_PASS.splitlines().index('    raise ValueError("no luck")') + 1
    assert f"{my_pass}:{line}: error: ValueError: no luck" in message
    assert "in the Python pass 'my-fail'" in message


def test_broken_pass_file(shell: Shell, muladd: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import smalti\nsmalti.register_pass('cse', None)\n")
    assert "a pass named 'cse' is already registered" in failed(shell("opt", muladd, "--load", broken))
    broken.write_text("1 / 0\n")
    assert f"{broken}:1: error: ZeroDivisionError" in failed(shell("opt", muladd, "--load", broken))
    broken.write_text("a b c\n")
    lines = failed(shell("opt", muladd, "--load", broken)).splitlines()
    assert lines == [f"{broken}:1:3: error: SyntaxError: invalid syntax", "  a b c", "    ^"]
    assert "--load gone.py: file not found" in failed(shell("opt", muladd, "--load", "gone.py"))


def test_parse_error_has_location_and_caret(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f() {\n  %0 = arith.addi %x, %x : i32\n  return\n}\n")
    for command in (["opt", path], ["compile", path, "--target", "sm_90a"], ["run", path, "--target", "cpu"]):
        lines = failed(shell(*command)).splitlines()
        assert lines[0] == f"{path}:2:19: error: use of undeclared SSA value name"
        assert lines[1] == "    %0 = arith.addi %x, %x : i32" and lines[2] == " " * 20 + "^"


def test_failing_pipeline_prints_the_command_that_replays_it(shell: Shell, tmp_path: Path, reproducers: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text("gpu.module @m {\n  gpu.func @k(%a: tensor<4xf32>) kernel {\n    gpu.return\n  }\n}\n")
    message = failed(shell("opt", path, "--pass-pipeline=builtin.module(gpu.module(convert-gpu-to-nvvm))"))
    found = re.search(r"^to replay: (.*) --run-reproducer (.*)$", message, re.MULTILINE)
    assert found and Path(found.group(2)).is_file() and Path(found.group(2)).parent == reproducers
    replayed = subprocess.run(
        [*shlex.split(found.group(1)), "--run-reproducer", found.group(2)], capture_output=True, text=True, check=False
    )
    assert replayed.returncode == 1 and message.splitlines()[0].partition("error: ")[2] in replayed.stderr


def test_unknown_target_suffix_file_and_option(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    assert "unknown target 'sm_9'; known targets: " in failed(shell("compile", path, "--target", "sm_9"))
    message = failed(shell("compile", path, "--target", "gfx942", "-o", "k.cubin"))
    assert "suffixes for gfx942: .hsaco .s .ll .mlir" in message
    assert "file not found: gone.mlir" in failed(shell("run", "gone.mlir"))
    done = shell("compile", path, "--target", "cpu", "-O", "stages")
    assert done.returncode == 2 and "'stages' must have the form NAME=VALUE" in done.stderr
    message = failed(shell("compile", path, "--target", "cpu", "-O", "stges=3"))
    assert "smalti-compile does not have an option 'stges' (options: " in message and "num-warps" in message
    assert "'stages' must be 'auto' or a positive number" in failed(
        shell("compile", path, "--target", "cpu", "-O", "stages=x")
    )
    assert "kernel.asm" in failed(shell("compile", path, "--target", "cpu", "-O", "stop-after=tile"))
    done = shell("compile", path, "--target", "cpu", "-O", "target=sm_80")
    assert done.returncode == 2 and "the target cannot be set with -O; set it with --target" in done.stderr
    # An option has no location in the file.
    assert failed(shell("compile", path, "--target", "sm_80", "-O", "blocks=-1")).startswith(f"{path}: error: ")


@pytest.mark.parametrize("verb", ["compile", "run"])
def test_options_of_gpus_do_not_apply_to_a_cpu(shell: Shell, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(f'module attributes {{smalti.target = "cpu"}} {{\n{SCALE}}}')
    done = shell(verb, path, "-O", "num-warps=3")
    assert done.returncode == 2 and "-O num-warps does not apply to cpu" in done.stderr


def test_directory_and_unreadable_input_are_messages(shell: Shell, tmp_path: Path) -> None:
    done = shell("opt", tmp_path)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "cannot write" in failed(shell("opt", "-o", tmp_path / "no" / "where.mlir", _scale(tmp_path)))


def test_kernel_from_a_pipe() -> None:
    reader, writer = os.pipe()
    os.write(writer, SCALE.encode())
    os.close(writer)
    try:
        done = CliRunner().invoke(commands.main, ["run", f"/dev/fd/{reader}", "--target", "cpu", "--check"])
    finally:
        os.close(reader)
    assert done.exit_code == 0 and done.output.startswith("@scale on cpu: ok"), done.output


def _scale(folder: Path) -> Path:
    path = folder / "scale.mlir"
    path.write_text(SCALE)
    return path


def test_version(shell: Shell) -> None:
    done = shell("--version")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert done.returncode == 0 and re.match(rf"smalti {re.escape(declared)} \(LLVM 22\.", done.stdout), done.stderr


def test_ctrl_c_while_the_bindings_load_ends_the_process(tmp_path: Path) -> None:
    packages = str(Path(next(iter(smalti.__path__))).parent)
    # Started in the background of a shell, a process would ignore the signal.
    start = """
import signal, sys
from smalti.cli.commands import main
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == "smalti.compiler.driver":
            print("here", flush=True)
sys.meta_path.insert(0, Finder())
try:
    main(["run", "scale.mlir", "-t", "cpu"])
finally:
    # What a signal does while Python shuts down is Python's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
"""
    path = _scale(tmp_path)
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", start],
            cwd=path.parent,
            env={**os.environ, "PYTHONPATH": packages},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode in (130, 0) and "Traceback" not in said, (process.returncode, said)


def interrupted(body: str, folder: Path) -> tuple[int, str, float]:
    """Interrupts `smalti compile` once `body`, which takes the place of the compilation, has printed a line: the exit code,
    what else was printed, and the seconds until the end."""
    start = f"""
import ctypes, signal, time
from smalti.cli.commands import main
signal.signal(signal.SIGINT, signal.default_int_handler)
from smalti import front_end
def compile(*_, **__):
    print("here", flush=True)
{textwrap.indent(textwrap.dedent(body), "    ")}
front_end.compile = compile
main(["compile", "scale.mlir", "-t", "cpu"])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", start],
        cwd=_scale(folder).parent,
        env={**os.environ, "PYTHONPATH": str(Path(next(iter(smalti.__path__))).parent)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        printed, _ = process.communicate(timeout=30)
        return process.returncode, printed, time.monotonic() - begin
    finally:
        process.kill()


def test_ctrl_c_ends_native_code(tmp_path: Path) -> None:
    # A mutex that one thread locks twice blocks forever, and signals do not interrupt it; PyDLL does not release
    # Python's lock.
    body = """
        mutex = ctypes.create_string_buffer(256)
        library = ctypes.PyDLL(None)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)
    """
    code, _, seconds = interrupted(body, tmp_path)
    assert code == 130
    assert 0.2 < seconds < 5


def test_python_code_after_ctrl_c_is_not_interrupted(tmp_path: Path) -> None:
    body = """
        try:
            time.sleep(60)
        finally:
            time.sleep(1)
            print("done", flush=True)
    """
    assert interrupted(body, tmp_path)[:2] == (130, "done\n")


def test_a_command_leaves_ctrl_c_as_it_was(muladd: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert CliRunner().invoke(commands.main, ["opt", str(muladd), "--pass-pipeline=builtin.module(cse)"]).exit_code == 0
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_doctor_json(shell: Shell) -> None:
    done = shell("doctor", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    names = [component["name"] for component in report["components"]]
    for name in ("MLIR", "smalti-opt", "plugin", "ptxas", "ld.lld", "libdevice", "ocml/ockl", "CUDA driver"):
        assert name in names
    assert report["ok"] and report["targets"] == smalti.targets.names()
    assert any(name.startswith("GPU") for name in names)


def test_doctor_says_what_is_missing_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch, no_tools: None) -> None:
    done = CliRunner().invoke(commands.main, ["doctor"])
    assert done.exit_code == 0
    lines = done.output.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("missing") and line.endswith("ptxas"))
    assert "cubins" in lines[at + 1] and "pip install nvidia-cuda-nvcc" in lines[at + 2]
    monkeypatch.setattr(toolchain, "find_rocm_bitcode", lambda: None)
    done = CliRunner().invoke(commands.main, ["doctor", "--json"])
    missing = {f["name"]: f for f in json.loads(done.output)["components"] if not f["found"]}
    assert "apt install rocm-device-libs" in missing["ocml/ockl"]["get"]
    assert all(finding["enables"] and finding["get"] for finding in missing.values())


def test_doctor_goes_on_after_a_tool_that_was_named_wrongly(shell: Shell) -> None:
    done = shell("doctor", SMALTI_PTXAS="/gone/ptxas")
    assert done.returncode == 0
    assert re.search(
        r"^missing  ptxas: SMALTI_PTXAS is /gone/ptxas, which is not an executable file; set it to the path of the program, or unset it$",
        done.stdout,
        re.MULTILINE,
    )
    assert re.search(r"^(found  |missing)  GPU", done.stdout, re.MULTILINE)


def test_closed_pipe_without_a_traceback(shell: Shell, muladd: Path) -> None:
    packages = str(Path(next(iter(smalti.__path__))).parent)
    command = f"{sys.executable} -m smalti opt {muladd} | true"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": packages}, check=False
    )
    assert "Traceback" not in done.stderr
