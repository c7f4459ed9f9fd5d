# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verbs of tools/dev, and its stop at the first failed command."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import BUILD, ROOT


def dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "dev", *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def devlib(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("devlib.main")


def test_help_lists_every_verb() -> None:
    result = dev("help")
    assert result.returncode == 0
    for verb in (
        "help",
        "run",
        "test",
        "build",
        "gcc",
        "format",
        "lint",
        "docs",
        "bench",
        "examples",
        "frameworks",
        "fuzz",
        "messages",
        "outputs",
        "clean",
    ):
        assert any(line.split()[:1] == [verb] for line in result.stdout.splitlines())
    assert "None" not in result.stdout
    assert dev().stdout == result.stdout


def test_unknown_verb() -> None:
    result = dev("polish")
    assert result.returncode == 2
    assert result.stderr.startswith("error: 'polish' is not a verb of tools/dev; the verbs are run, test, build, gcc")


def test_a_failing_command_is_named(devlib: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def verb(_: object) -> None:
        devlib.run(["sh", "-c", "echo seen; exit 3"], quiet=True)
        raise AssertionError("went on after a failure")

    devlib.VERBS = {"verb": verb}
    assert devlib.main(["verb"]) == 1
    output = capsys.readouterr()
    assert "seen" in output.out
    assert "error: this command failed (exit code 3):\n  sh -c 'echo seen; exit 3'" in output.err
    importlib.reload(devlib)


def test_missing_packages(devlib: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = devlib.machine
    assert machine.missing_packages(("dpkg", "no-such-package")) == ["no-such-package"]
    assert machine.missing_packages(machine.BUILD_PACKAGES) == []

    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(machine.shutil, "which", lambda _: None)
    with pytest.raises(devlib.Failure, match=r"install them as root:\n  apt-get install no-such-package"):
        machine.install_packages(("dpkg", "no-such-package"))


def test_stamps(devlib: ModuleType, tmp_path: Path) -> None:
    """Steps are not repeated; another input is noticed."""
    steps = devlib.steps
    stamp = tmp_path / "stamp"
    key = steps.digest("requirements", "3.11")
    assert not steps.is_stamped(stamp, key)
    stamp.write_text(key)
    assert steps.is_stamped(stamp, key)
    assert not steps.is_stamped(stamp, steps.digest("other requirements", "3.11"))


def test_ci_runs_the_two_commands() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert [line for line in script.splitlines() if line.startswith("tools/")] == ["tools/dev run", "tools/dev test"]


def test_fuzz_grids_reads_the_option(devlib: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest accepts an option of a conftest.py only if it reads that file before its arguments."""
    commands: list[list[str]] = []
    monkeypatch.setattr(devlib, "run", lambda command, **_: commands.append([str(word) for word in command]))
    devlib.run_pytest(["--grids"])
    # --help ends pytest after it has read the options.
    result = subprocess.run([*commands[0], "--help"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "--grids" in result.stdout, result.stderr


@pytest.mark.parametrize(
    ("arguments", "paths", "options"),
    [
        (["test/python"], ["test/python"], []),
        (["test/python/sim", "-k", "passes"], ["test/python/sim"], ["-k", "passes"]),
        (["test/passes/Pipelining", "test/python/tools/test_dev.py::test_stamps"], None, []),
        (["python/tools/test_dev.py::test_x[a/b]"], ["test/python/tools/test_dev.py::test_x[a/b]"], []),
        ([str(ROOT / "test" / "lit.cfg.py"), "-x"], ["test/lit.cfg.py"], ["-x"]),
        ([], [], []),
    ],
)
def test_paths_are_distinguished_from_options(
    devlib: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    paths: list[str] | None,
    options: list[str],
) -> None:
    monkeypatch.chdir(ROOT / "test")
    assert devlib.split_arguments(arguments) == (arguments if paths is None else paths, options)


@pytest.mark.parametrize("argument", ["test/python/test_nosuch.py", "test/passes/Nosuch", "nosuch.mlir", "/etc/passwd"])
def test_a_path_that_is_not_there_ends_before_the_build(argument: str) -> None:
    result = dev("test", argument)
    assert result.returncode == 1 and result.stdout == ""
    assert argument in result.stderr


def test_a_failed_configuration_is_done_again(
    devlib: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CMake removes its files before it finds that a compiler is missing: the stamp of the last success must go."""
    steps, runs = devlib.steps, []
    (tmp_path / "build.ninja").write_text("")

    def fail(command: list[str], **_: object) -> None:
        runs.append(command)
        raise devlib.Failure("no")

    def succeed(command: list[str], **_: object) -> None:
        runs.append(command)

    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "run", succeed)
    monkeypatch.setattr(steps.machine, "installed_versions", lambda: "1")
    steps.configure(tmp_path)
    steps.configure(tmp_path)
    assert [command[0] for command in runs] == ["cmake"]
    runs.clear()
    monkeypatch.setenv("CXX", "nosuch++")
    monkeypatch.setattr(steps, "run", fail)
    with pytest.raises(devlib.Failure):
        steps.configure(tmp_path)
    monkeypatch.delenv("CXX")
    monkeypatch.setattr(steps, "run", succeed)
    steps.configure(tmp_path)
    assert [command[0] for command in runs] == ["cmake", "cmake"]
    # Another MLIR: what was precompiled of the one before goes.
    runs.clear()
    monkeypatch.setattr(steps.machine, "installed_versions", lambda: "2")
    steps.configure(tmp_path)
    assert [command[0] for command in runs] == ["ninja", "cmake"]


def test_every_source_is_compiled() -> None:
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    compiled = {Path(command["file"]) for command in commands}
    folders = ("dialects", "passes", "targets", "tools", "python", "test/unit")
    sources = {path for folder in folders for path in (ROOT / folder).rglob("*.cpp")}
    assert not sources - compiled


def test_outcomes_of_frameworks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that is skipped is not recorded as passed."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    frameworks = importlib.import_module("devlib.frameworks")
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase name="a"/><testcase name="b"><skipped message="no GPU"/></testcase>'
        '<testcase name="c"><failure/></testcase><testcase name="d"><error/></testcase></testsuite></testsuites>'
    )
    assert frameworks.outcomes(report) == {"a": "passed", "b": "not run: no GPU", "c": "failed", "d": "failed"}
