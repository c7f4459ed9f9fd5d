# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of the guides, which `tools/dev docs` generates."""

from __future__ import annotations

import importlib
from types import ModuleType
from xml.etree import ElementTree as Xml

import pytest
from conftest import ROOT


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("devlib.layout_pictures")


@pytest.mark.parametrize("name", ["layout-registers.svg", "layout-tiling.svg", "layout-swizzle.svg"])
def test_the_picture_is_up_to_date(pictures: ModuleType, name: str) -> None:
    assert (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8") == pictures.PICTURES[name](), (
        "run tools/dev docs"
    )


def test_every_picture_is_committed_and_shown(pictures: ModuleType) -> None:
    page = (ROOT / "docs" / "layouts.md").read_text(encoding="utf-8")
    names = {path.name for path in (ROOT / "docs" / "pictures").iterdir()}
    assert names == set(pictures.PICTURES)
    assert [name for name in names if f"(pictures/{name})" not in page] == []


def test_the_picture_of_registers_shows_lane_and_register(pictures: ModuleType) -> None:
    texts = [element.text for element in Xml.fromstring(pictures.registers()).iter("{http://www.w3.org/2000/svg}text")]
    # Every lane holds two adjacent elements in each of 4 registers.
    assert texts.count("0.r0") == 2
    assert texts.count("31.r3") == 2
