# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python code and commands of the guides."""

from __future__ import annotations

import linecache
import re
import shlex
from pathlib import Path

import pytest
import smalti
from click.testing import CliRunner
from conftest import ROOT
from smalti import check
from smalti.cli import commands as command_line


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found
    return found


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/emulation.md", "docs/simulator.md"])
def test_python_blocks_run(page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A text block that follows is the output."""
    monkeypatch.chdir(ROOT)
    scope: dict[str, object] = {"__name__": "guide"}
    text = (ROOT / page).read_text()
    found = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", text, re.MULTILINE | re.DOTALL)
    assert found
    for number, (block, output) in enumerate(found):
        # The source of a kernel is in a file.
        file = f"{page}:{number}"
        monkeypatch.setitem(linecache.cache, file, (len(block), None, block.splitlines(True), file))
        exec(compile(block, file, "exec"), scope)
        printed = capsys.readouterr().out
        assert not output or printed == output


@pytest.mark.parametrize("number", range(10))
def test_kernels_of_the_tile_language(number: int) -> None:
    kernels = blocks("docs/tile-language.md", "mlir")
    assert len(kernels) == 10
    module = smalti.parse(kernels[number])
    kernel = smalti.compile(module, target="cpu")
    shapes = {a.index: "x".join(["100"] * len(a.shape)) for a in kernel.arguments if a.shape and not a.is_static}
    assert check.check(kernel, module, given=shapes).require().ok


def commands(page: str) -> list[str]:
    return [line for block in blocks(page, "sh") for line in block.splitlines()]


SMALTI_COMMANDS = [
    command
    for page in ("README.md", "docs/command-line.md", "docs/emulation.md", "docs/simulator.md")
    for command in commands(page)
    # Without ptxas, no cubin is written.
    if command.startswith("smalti ") and not command.endswith(".cubin")
]


@pytest.mark.parametrize("command", SMALTI_COMMANDS)
def test_commands_run(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Their outputs are not left in the tree.
    tmp_path.joinpath("test").symlink_to(ROOT / "test")
    monkeypatch.chdir(tmp_path)
    run_command(command)


@pytest.mark.parametrize("command", commands("docs/layouts.md"))
def test_commands_that_write_run(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    run_command(command)


def run_command(command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "smalti"
    done = CliRunner().invoke(command_line.main, words)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("page", ["docs/emulation.md", "docs/simulator.md", "python/smalti/sim/README.md"])
def test_printed_findings_are_those_of_the_guide(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    scope: dict[str, object] = {"__name__": "guide"}
    for number, block in enumerate(blocks(page, "python")):
        # The source of a kernel is in a file.
        file = f"{page}:{number}"
        monkeypatch.setitem(linecache.cache, file, (len(block), None, block.splitlines(True), file))
        exec(compile(block, file, "exec"), scope)
    (shown,) = blocks(page, "text")
    assert capsys.readouterr().out == shown


def test_the_first_race_of_the_simulator_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The commands print what the page says, for its kernel and for the kernel with the barrier."""
    page = "docs/simulator.md"
    (kernel,) = blocks(page, "mlir")
    monkeypatch.chdir(tmp_path)
    Path("apply.mlir").write_text(kernel)
    head, end, tail = kernel.partition("    }\n    %scale")
    assert end
    Path("fixed.mlir").write_text(f"{head}    }}\n    gpu.barrier\n    %scale{tail}")
    for block, status in zip(blocks(page, "console"), (1, 0), strict=True):
        command, _, shown = block.partition("\n")
        program, *words = shlex.split(command.removeprefix("$ "))
        assert program == "smalti"
        done = CliRunner().invoke(command_line.main, words)
        assert done.exit_code == status
        assert re.sub(r"in [0-9.]+ s", "in TIME s", done.output) == re.sub(r"in [0-9.]+ s", "in TIME s", shown)


@pytest.mark.parametrize("page", ["docs/layouts.md", "docs/passes-in-python.md"])
def test_python_blocks_print_what_the_guide_says(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    scope: dict[str, object] = {"__name__": "guide"}
    for block, shown in zip(blocks(page, "python"), blocks(page, "text"), strict=True):
        exec(compile(block, page, "exec"), scope)
        assert capsys.readouterr().out == shown
