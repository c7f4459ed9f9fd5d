# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lint of words in tools/devlib."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from devlib import words


def rules_in(name: str, source: str) -> set[str]:
    options = words.Options()
    path = pathlib.PurePath(name)
    found = [hit for text in words.texts(path, source) for hit in words.check_text(name, text, options.rules)]
    found += words.check_names(name, words.names(path, source), options)
    return {finding.rule for finding in found}


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        ("product", "The product of two tiles.", "The matmul of two tiles; a cartesian product of lists."),
        ("factor", "The left factor is swizzled.", "Operand A is swizzled; the scale factor is a factor of 2."),
        ("program", "A program of threads runs.", "A thread-level kernel runs."),
        ("personification", "The barrier knows this.", "The barrier has this count."),
        ("nothing-orders", "Accesses that nothing orders.", "Unordered accesses."),
        ("under-way", "The copy is under way.", "The copy is in flight; the loop is over the tiles."),
        ("takes-part", "A warp takes part.", "A warp participates."),
        ("overtake", "A copy overtakes another.", "A copy completes before another."),
        ("behind", "The store runs behind the wait.", "The store runs after the wait."),
        ("ahead", "The load runs ahead.", "The load is prefetched; ahead-of-time compilation."),
        ("adverb", "The two run at once.", "The two run concurrently, as well as others."),
        ("place", "The place of an element.", "The offset of an element, in place."),
        ("way", "Both ways are taken.", "A two-way bank conflict."),
        ("unit", "Blocks of a unit.", "A compute unit; a unit stride; units of 16 bytes."),
        ("dealt", "Rows are dealt to warps.", "Rows are distributed across warps."),
        ("lies", "The tile lies in memory.", "The tile resides in memory."),
        ("left-away", "The barrier is left out.", "The barrier is omitted."),
        ("made", "A new op is made.", "A new op is created; the tile is made of rows."),
        ("not-known", "The stride is not known.", "The stride is dynamic."),
        ("room", "There the buffer does not fit.", "The buffer exceeds the shared memory."),
        ("is-no", "512 is no multiple of 100.", "512 is not a multiple of 100, and is no longer used."),
        ("there-is-no", "There is no barrier.", "The loop does not have a barrier."),
        ("fronted-genitive", "Of a tile, rows are read.", "Rows of a tile are read."),
        ("riddle", "What is read stays.", "The operand stays. What is read?"),
        ("british-other", "The copy is cancelled.", "The copy is canceled."),
        ("long-sentence", " ".join(["word"] * 31) + ".", " ".join(["word"] * 30) + "."),
    ],
)
def test_rule(rule: str, wrong: str, right: str) -> None:
    assert rule in rules_in("page.md", wrong)
    assert rules_in("page.md", right) == set()


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.md", "One line\nis behind another."),
        ("a.md", "# Title\n\n| cell | behind |"),
        ("a.td", "def A {\n  let description = [{\n    It is behind.\n  }];\n}"),
        ("a.td", 'def A { let summary = "It is behind"; }'),
        ("a.td", "let extra = [{ int a; // It is behind.\n }];"),
        ("a.cpp", "int a; // It is\n       // behind."),
        ("a.cpp", 'f("the wait is "\n  "behind");'),
        ("a.cpp", 'f() << "the " << name << " is behind";'),
        ("a.cpp", "int isBehind;"),
        ("a.py", '"""It is behind."""'),
        ("a.py", "# It is behind.\n"),
        ("a.py", 'raise E(f"{a} is behind {b}")'),
        ("a.py", "def run_behind(): ..."),
        ("a.mlir", "// It is behind.\n"),
        ("a.mlir", "func.func @runs_behind() {\n}"),
        ("a.test", "It is behind.\n\nRUN: true\n"),
        ("CMakeLists.txt", "# It is behind.\n"),
    ],
)
def test_text_is_extracted(name: str, source: str) -> None:
    assert "behind" in rules_in(name, source)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.md", "The op `is.behind`.\n\n```mlir\n// behind\n```\n"),
        ("a.md", "[A page](behind.md)"),
        ("a.td", "let description = [{\n  The op `is_behind`.\n}];"),
        ("a.cpp", '#include "behind.h"\nauto *a = "behind";'),
        ("a.py", 'run(["behind"])'),
        ("a.py", '"""Title.\n\n    behind = 1\n"""'),
        ("a.py", '"""Title.\n\nText.\n\n    behind = 1\n"""'),
        ("a.mlir", "// CHECK: behind\n// RUN: behind\n// expected-error @below {{is behind}}\n"),
        ("test/python/a.py", 'assert text == "it is behind"'),
    ],
)
def test_code_is_not_text(name: str, source: str) -> None:
    assert "behind" not in rules_in(name, source)


@pytest.mark.parametrize(
    ("title", "is_right"),
    [
        ("Reachability between barriers", True),
        ("Tiles that are swizzled", True),
        ("Find a race", True),
        ("What barriers order", False),
        ("Requests are attributes", False),
        ("A sentence.", False),
    ],
)
def test_titles(title: str, is_right: bool) -> None:
    assert ("title" not in rules_in("a.md", f"# {title}\n")) == is_right
    banner = f"//===- A.h - {title} " + "-" * 20 + "===//\n"
    assert ("title" not in rules_in("A.h", banner)) == is_right


@pytest.mark.parametrize(
    ("banner", "is_right"),
    [
        ("//===- a.h - Title ---===//", True),
        ("//===- a.h - Title -*- C++ -*-===//", True),
        ("//===- b.h - Title ---===//", False),
        ("//===- a.h - A title that goes on\n//---===//", False),
    ],
)
def test_first_line_of_a_source(tmp_path: pathlib.Path, banner: str, is_right: bool) -> None:
    (tmp_path / "a.h").write_text(f"{banner}\n")
    assert (list(words.check_file(tmp_path, "a.h", words.Options())) == []) == is_right


def test_lines_of_findings() -> None:
    text = next(iter(words.texts(pathlib.PurePath("a.md"), "One.\n\nA line\nthat is\nbehind.\n")))
    (finding,) = words.check_text("a.md", text, words.read_rules())
    assert str(finding).startswith("a.md:5: [behind] page: 'behind'")


def test_allowed_findings() -> None:
    allowed = [{"rule": "product", "path": "emulator/", "kind": "name", "text": ["product"]}]
    finding = words.Finding("emulator/a.cpp", 1, "product", "name", "product", "")
    assert words.is_allowed(finding, allowed)
    for change in ({"path": "passes/a.cpp"}, {"rule": "behind"}, {"kind": "comment"}, {"text": "dotProducts"}):
        assert not words.is_allowed(dataclasses.replace(finding, **change), allowed)


def test_links(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.md").write_text("# First title\n\n[a](b.md) [b](b.md#one-two) [c](#first-title) [d](https://x/y)\n")
    (tmp_path / "b.md").write_text("## One `two`\n\n[a](a.md#second) [b](c.md)\n")
    found = words.check_links(tmp_path, ["a.md", "b.md"])
    assert [(finding.path, finding.line, finding.text) for finding in found] == [
        ("b.md", 3, "a.md#second"),
        ("b.md", 3, "c.md"),
    ]


def test_the_tree_holds_the_rules() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the list of files needs a git checkout")
    found = words.lint(ROOT, [], None)
    spelling = "spelling"  # `tools/dev lint` checks it; `typos` is not installed for tests.
    assert [str(finding) for finding in words.not_open(found)] == []
    assert [line for line in words.closed(found) if f"'{spelling}'" not in line] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lint", "--bogus"), "usage: tools/dev lint"),
        (("lint", "--words", "--counts"), "usage: tools/dev lint"),
        (("lint", "--record", "tools"), "--record takes no paths"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "dev", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and message in done.stderr
