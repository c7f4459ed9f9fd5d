# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of each op and pass, and their list in docs/tests.md."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT
from test_definitions import ALL


@pytest.fixture
def coverage(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("devlib.coverage")


def test_the_page_is_up_to_date(coverage: ModuleType) -> None:
    assert coverage.PAGE.read_text() == coverage.page(), "run tools/dev docs"


def test_every_op_and_pass_is_found(coverage: ModuleType) -> None:
    dialects = {"TritonXLA_Dialect": "triton_xla", "MosaicGPU_Dialect": "mosaic_gpu"}
    ops = [f"{dialects[r['opDialect']['def']]}.{r['opName']}" for (kind, _), r in ALL.items() if kind == "operation"]
    assert coverage.ops() == sorted(ops)
    assert coverage.passes() == sorted(record["argument"] for (kind, _), record in ALL.items() if kind == "pass")


def test_every_op_and_pass_has_a_test(coverage: ModuleType) -> None:
    assert [name for name, paths in coverage.uses().items() if not paths] == []


@pytest.mark.parametrize(
    ("name", "text", "is_used"),
    [
        ("a.mlir", "  some.wait %b", True),
        ("a.mlir", "// RUN: smalti-opt %s --some.wait", True),
        ("a.mlir", "// CHECK-NEXT: some.wait", True),
        ("a.mlir", "// A some.wait is not here.", False),
        ("a.mlir", "  some.wait_more %b : !some.wait", False),
        ("a.test", "A some.wait is not here.\nCHECK: some.wait", True),
        ("a.test", "A some.wait is not here.", False),
        ("a.py", 'TEXT = f"some.wait {1}"', True),
        ("a.py", '"""About some.wait."""\n# some.wait', False),
    ],
)
def test_comments_do_not_count(
    coverage: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, text: str, is_used: bool
) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / name).write_text(text)
    monkeypatch.setattr(coverage, "ROOT", tmp_path)
    monkeypatch.setattr(coverage, "ops", lambda: ["some.wait"])
    monkeypatch.setattr(coverage, "passes", list)
    assert coverage.uses() == {"some.wait": [name] if is_used else []}
