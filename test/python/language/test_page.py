# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/python-kernels.md: its code runs and prints what the page says, and its tables are those of the language."""

from __future__ import annotations

import re

import pytest
import smalti.language as sl
from conftest import ROOT
from helpers import run_python_blocks
from smalti.language.types import Misuse, promote
from smalti.language.values import Value

TEXT = (ROOT / "docs/python-kernels.md").read_text()


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_blocks_print_what_the_page_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    run_python_blocks(TEXT, monkeypatch, capsys)


def test_the_tables_have_all_names() -> None:
    functions = section("Functions")
    methods = set(re.findall(r"`t\.(\w+)\(", functions.split("\n|", 1)[1]))
    names = set(re.findall(r"`sl\.(\w+)", functions.split("\n|", 1)[1]))
    assert methods == set(Value.methods)
    dtypes = {t for t in re.findall(r"`sl\.(\w+)`", section("Operators and element types")) if t in sl.__all__}
    dtypes = {t for t in dtypes if isinstance(getattr(sl, t), sl.DType)}
    assert names | methods | dtypes == set(sl.__all__)


def test_the_types_of_operators() -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+) \| (\w+) \|", section("Operators and element types"), re.MULTILINE)
    rows = [row for row in rows if row[0] in sl.__all__]
    assert len(rows) == 12
    for a, b, result in rows:
        pairs = [(sl.dtype(a), sl.dtype(b)), (sl.dtype(b), sl.dtype(a))]
        for pair in pairs:
            if result == "error":
                with pytest.raises(Misuse, match="do not have a common type"):
                    promote(*pair)
            else:
                assert promote(*pair) == sl.dtype(result), (a, b)
