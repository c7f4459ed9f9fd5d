# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/block-kernels.md: its code runs and prints what the page says, and its table has all functions and operations."""

from __future__ import annotations

import re

import pytest
import smalti.block as sb
from conftest import ROOT
from helpers import run_python_blocks
from test_block_coverage import WITHOUT_FUNCTION, operations

TEXT = (ROOT / "docs/block-kernels.md").read_text()


def test_blocks_print_what_the_page_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run_python_blocks(TEXT, monkeypatch, capsys)


def test_the_table_has_all_functions_and_operations() -> None:
    section = TEXT.split("\n## Functions\n")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    assert {name for row in rows for name in re.findall(r"`sb\.(\w+)", row[1])} == set(sb.__all__)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row[2])]
    assert sorted(listed) == sorted(operations() - set(WITHOUT_FUNCTION))
    assert all(f"`{name}`" in section for name in WITHOUT_FUNCTION)
