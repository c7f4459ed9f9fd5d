# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/dev outputs: recordings of test runs, and differences between two recordings."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from conftest import BUILD, ROOT, SCALE

PIPELINE = "builtin.module(canonicalize)"
Outputs = Mapping[str, str]


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("devlib.outputs")


def compare(old: Path, new: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "dev", "outputs", "compare", old, new, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(outputs: ModuleType, folder: Path, runs: Mapping[str, Outputs], test: str = "test.py::test") -> Path:
    """A recording of the passes that run on the modules that `runs` names."""
    with outputs.recording(folder):
        for module, texts in runs.items():
            outputs.recorder.record(f"passes {PIPELINE}", {"module": module}, texts, test)
    return folder


def test_equal_in_any_order_and_in_other_tests(outputs: ModuleType, tmp_path: Path) -> None:
    runs = {"a": {"module": f"at {tmp_path}/x.mlir:1", "remarks": ""}, "b": {"module": "2"}}
    moved = {"b": {"module": "2"}, "a": {"remarks": "", "module": "at /tmp/other/y.mlir:1"}}
    old = write(outputs, tmp_path / "old", runs)
    new = write(outputs, tmp_path / "new", moved, "other.py::moved")
    result = compare(old, new)
    assert (result.returncode, result.stdout) == (0, "3 equal, 0 differing, 0 missing, 0 new\n"), result.stderr


def test_different_missing_and_new_outputs(outputs: ModuleType, tmp_path: Path) -> None:
    same = {"same": {"module": "1"}}
    old = write(outputs, tmp_path / "old", {**same, "a": {"module": "first\nold line"}, "gone": {"module": "2"}})
    new = write(outputs, tmp_path / "new", {**same, "a": {"module": "first\nnew line"}, "more": {"module": "2"}})
    result = compare(old, new)
    assert result.returncode == 1
    for line in (
        f"differing: module of passes {PIPELINE}\n    in test.py::test\n",
        "    -old line\n    +new line\n",
        "missing: module of",
        "new: module of",
        "1 equal, 1 differing, 1 missing, 1 new\n",
    ):
        assert line in result.stdout
    assert "1 differing, 1 missing, 1 new" in result.stderr


def test_a_second_output_of_an_input_differs(outputs: ModuleType, tmp_path: Path) -> None:
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder, texts in zip(folders, (["1"], ["1", "2"]), strict=True):
        with outputs.recording(folder):
            for text in texts:
                outputs.recorder.record("passes", {"module": "a"}, {"module": text})
    assert "1 differing" in compare(*folders).stdout


def test_only_new_outputs_are_not_a_failure(outputs: ModuleType, tmp_path: Path) -> None:
    old = write(outputs, tmp_path / "old", {"a": {"module": "1"}})
    new = write(outputs, tmp_path / "new", {name: {"module": "1"} for name in ("a", *map(str, range(30)))})
    result = compare(old, new)
    assert result.returncode == 0 and "... and 10 more that are new (--all lists them)" in result.stdout
    assert compare(old, new, "--all").stdout.count("new: ") == 30
    assert compare(new, old).returncode == 1


def test_outputs_that_cannot_be_compared_or_recorded(outputs: ModuleType, tmp_path: Path) -> None:
    empty = write(outputs, tmp_path / "empty", {})
    assert "has no outputs" in compare(empty, empty).stderr
    result = compare(tmp_path / "nosuch", empty)
    assert result.returncode == 1 and "is not a recording" in result.stderr
    with pytest.raises(outputs.Failure, match="is not empty"):
        write(outputs, empty, {})


COMPILES = """
import os, sys
from pathlib import Path
import smalti

for target in ("sm_90a", "gfx942", "emu:sm_80", "cpu"):
    kernel = smalti.compile(Path(sys.argv[1]), target=target)
    assert kernel.asm["llvm"]
try:
    smalti.compile(Path(sys.argv[1]), target="sm_80", depth=-1)
except smalti.SmaltiError:
    pass
"""


def test_contents_of_a_recording(outputs: ModuleType, tmp_path: Path) -> None:
    """From a program in a file that has another name the second time."""
    for number in ("1", "2"):
        source = tmp_path / number / f"scale{number}.mlir"
        source.parent.mkdir()
        source.write_text(SCALE)
        with outputs.recording(tmp_path / f"recorded{number}"):
            path = (
                f"{tmp_path / f'recorded{number}' / 'bin'}{os.pathsep}{BUILD / 'bin'}{os.pathsep}{os.environ['PATH']}"
            )
            for command in (
                [outputs.steps.PYTHON, "-c", COMPILES, source],
                [shutil.which("smalti-opt", path=path), source, "--canonicalize", "-o", source.with_suffix(".out")],
            ):
                subprocess.run(command, env={**os.environ, "PATH": path}, check=True)
    result = compare(tmp_path / "recorded1", tmp_path / "recorded2")
    assert result.returncode == 0, result.stdout + result.stderr
    recording = outputs.Recording(tmp_path / "recorded1")
    texts = {recording.describe(output): "\n".join(recording.lines(output)) for output in recording.outputs}
    for label, part in (
        ("isa of isa of kernel sm_90a scale", ".visible .entry"),
        ("isa of isa of kernel gfx942 scale", "s_endpgm"),
        ("llvm of llvm of kernel emu:sm_80 scale", "define "),
        ("facts of kernel gfx942 scale", "registers="),
        ("module of passes builtin.module(smalti-compile{target=cpu})", "llvm.func"),
        ("remarks of remarks builtin.module(smalti-compile{target=sm_90a})", "remark: ["),
        ("error of kernel sm_80 scale ('depth', -1)", "depth"),
        ("file of smalti-opt <", "triton_xla.entry_func"),
        ("exit code of smalti-opt <", "0"),
    ):
        assert any(part in text for name, text in texts.items() if name.startswith(label)), label


def test_lit_is_recorded(outputs: ModuleType, tmp_path: Path) -> None:
    with outputs.recording(tmp_path / "recorded"):
        command = [outputs.steps.VENV / "bin" / "lit", "-q", ROOT / "test" / "tools" / "smalti-opt.mlir"]
        subprocess.run(command, env={**os.environ, **outputs.steps.environment()}, check=True)
    recording = outputs.Recording(tmp_path / "recorded")
    tests = {test for label, test in recording.about.values() if label.startswith("smalti-opt <")}
    assert tests == {"test/tools/smalti-opt.mlir"}


def test_a_tool_runs_as_without_a_recording(outputs: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "tool"
    script.write_text("#!/bin/sh\ncat\necho said >&2\n[ $# = 1 ] && exit $1\nkill -ABRT $$\n")
    script.chmod(0o755)
    with outputs.recording(tmp_path / "recorded"):
        for words, code in ((["3"], 3), ([], -6)):
            command = [*outputs.recorder.COMMAND, script, *words]
            result = subprocess.run(command, input="text", capture_output=True, text=True, check=False)
            assert (result.returncode, result.stdout, result.stderr) == (code, "text", "said\n")
    recording = outputs.Recording(tmp_path / "recorded")
    codes = [recording.lines(output) for output in recording.outputs if output[1] == "exit code"]
    assert sorted(codes) == [["-6"], ["3"]]


def test_an_interrupted_run_is_not_recorded(outputs: ModuleType, tmp_path: Path) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    wrapped = outputs.recorder._recorded(stop, lambda text: ("passes", {"module": text}), lambda *_: {})
    with outputs.recording(tmp_path / "recorded"), contextlib.suppress(KeyboardInterrupt):
        wrapped("a")
    assert not outputs.Recording(tmp_path / "recorded").outputs
