# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tutorial pages: the files, commands and Python blocks of each page run, and print the text that the page shows.

A block with a file name (```mlir saxpy.mlir) is a file, and ```diff NAME changes one. A ```text block is the output of the
block before it. In a text block, `...` stands for any text, and durations are not compared. Blocks that import torch run where torch
is installed: `tools/dev frameworks`.

SMALTI_UPDATE_DOCS=1 writes the actual output into the text blocks that do not contain `...`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TUTORIAL = ROOT / "docs" / "tutorial"
PAGES = sorted(path.name for path in TUTORIAL.glob("*.md") if path.name != "README.md")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DURATION = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)? m?s\b")
LONG_RUN = re.compile(r"^note: .* (?:will take about|completed after) .*\n", re.MULTILINE)


def shell(commands: str, folder: Path) -> str:
    """The output of shell commands, in which `smalti` is the command of this interpreter."""
    script = f'smalti() {{ "{sys.executable}" -P -m smalti "$@"; }}\n{commands}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout


def change(text: str, diff: str) -> str:
    """`text` after a diff of one hunk without line numbers."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"the diff does not apply:\n{diff}"
    return text.replace(old, new)


def matches(output: str, expected: str) -> bool:
    """Whether an output is that of a page, except for `...`, durations, and notes of a slow machine about long runs."""
    output = LONG_RUN.sub("", output)
    pattern = re.escape(DURATION.sub("TIME", expected)).replace(re.escape("..."), ".*?")
    return re.fullmatch(pattern, DURATION.sub("TIME", output), re.DOTALL) is not None


def run_page(page: Path, folder: Path) -> list[tuple[re.Match[str], str]]:
    """Runs the blocks of a page. Returns the text blocks and the output that each must show."""
    scope: dict[str, object] = {"__name__": "tutorial"}
    shown: list[tuple[re.Match[str], str]] = []
    output = ""
    for block in BLOCK.finditer(page.read_text()):
        language, name, text = block.groups()
        if language == "text":
            shown.append((block, output))
        elif language == "diff":
            (folder / name).write_text(change((folder / name).read_text(), text))
        elif name is not None:
            (folder / name).write_text(text)
        elif language == "sh":
            output = shell(text, folder)
        else:
            assert language == "python"
            if re.search("^import torch$", text, re.MULTILINE) and importlib.util.find_spec("torch") is None:
                continue
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                exec(compile(text, page.name, "exec"), scope)
            output = stream.getvalue()
    return shown


def update(page: Path, shown: list[tuple[re.Match[str], str]]) -> None:
    """Replaces the text blocks that do not match."""
    text = page.read_text()
    for block, output in reversed(shown):
        if "..." not in block[3] and not matches(output, block[3]):
            text = text[: block.start(3)] + output + text[block.end(3) :]
    page.write_text(text)


@pytest.mark.parametrize("name", PAGES)
def test_pages_run_and_print_what_they_show(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    shown = run_page(TUTORIAL / name, tmp_path)
    if os.environ.get("SMALTI_UPDATE_DOCS"):
        update(TUTORIAL / name, shown)
    else:
        for block, output in shown:
            assert matches(output, block[3]), f"{name}: the page shows\n{block[3]}\nthe output is\n{output}"


@pytest.mark.parametrize("name", ["README.md", *PAGES])
def test_pages_are_short(name: str) -> None:
    assert len((TUTORIAL / name).read_text().splitlines()) <= 100


def test_the_index_lists_every_page() -> None:
    index = (TUTORIAL / "README.md").read_text()
    assert sorted(re.findall(r"\]\(([\w-]+\.md)\)", index)) == PAGES
