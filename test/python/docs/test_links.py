# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links between pages, order of the glossary, and completeness of the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "passes").rglob("*.md"),
        *(ROOT / "dialects").rglob("*.md"),
        *(ROOT / "emulator").glob("*.md"),
        *(ROOT / "python" / "smalti").rglob("*.md"),
    ]
)
PAGES = [page for page in PAGES if not page.is_relative_to(ROOT / "docs" / "reference")]
FENCED = re.compile(r"^([ \t]*)```.*?^\1```", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """The anchors of the sections of a page, as GitHub generates them."""
    titles = re.findall(r"^#+ +(.*?) *$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_linked_pages_and_sections_exist(page: Path) -> None:
    missing: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"\w+:", target):
            continue
        name, _, section = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        exists = linked.exists() or linked.is_relative_to(ROOT / "docs" / "reference")
        if not exists or (section and linked.suffix == ".md" and section not in anchors(linked)):
            missing.append(target)
    assert missing == []


def test_the_glossary_is_sorted_and_each_term_has_a_page() -> None:
    lines = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line.startswith("- ")]
    entries = [re.fullmatch(r"- \*\*(.+?)\*\*: (.+\.) \[[^\]]+\]\([^)]+\)", line) for line in lines]
    assert len(entries) > 50 and all(entries)
    terms = [entry[1] for entry in entries if entry is not None]
    assert terms == sorted(terms, key=str.casefold)


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    expected = [page for page in pages if page.parts[0] not in ("reference", "tutorial") and page.name != "README.md"]
    assert [str(page) for page in sorted(expected) if f"({page})" not in index] == []
