# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structure of the library of instructions: allowed includes and libraries."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

FOLDER = ROOT / "emulator" / "Instructions"
FILES = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".h", ".cpp", ".def"))


@functools.cache
def includes(path: Path) -> tuple[str, ...]:
    return tuple(re.findall(r'^#include [<"](.*?)[>"]', path.read_text(), re.MULTILINE))


@functools.cache
def reached(path: Path) -> frozenset[Path]:
    """The library's headers that a file includes, and those that they include."""
    found = {
        ROOT / name.removeprefix("smalti/")
        for name in includes(path)
        if (ROOT / name.removeprefix("smalti/")).is_file()
    }
    return frozenset(found.union(*(reached(header) for header in found))) if found else frozenset()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_includes_are_acyclic(path: Path) -> None:
    foreign = [name for name in includes(path) if "/" in name and not name.startswith("smalti/emulator/Instructions/")]
    assert not foreign


def lists(macro: str) -> list[str]:
    return re.findall(rf"^{macro}\((\w+)\)", (FOLDER / "Lists.def").read_text(), re.MULTILINE)


def file_of(name: str) -> Path:
    (found,) = (path for path in FILES if re.search(rf"^const InstructionList \S*\b{name} = ", path.read_text(), re.M))
    return found


@pytest.mark.parametrize("name", lists("SMALTI_PURE_INSTRUCTION_LIST"))
def test_pure_instructions_need_no_threads(name: str) -> None:
    assert FOLDER / "Thread.h" not in reached(file_of(name))


@pytest.mark.parametrize("name", lists("SMALTI_INSTRUCTION_LIST"))
def test_only_instructions_that_need_threads_include_them(name: str) -> None:
    assert FOLDER / "Thread.h" in reached(file_of(name))


def test_the_library_needs_no_llvm() -> None:
    archive = BUILD / "emulator" / "Instructions" / "libSmaltiInstructions.a"
    nm = shutil.which("nm") or shutil.which("llvm-nm-22") or "/usr/lib/llvm-22/bin/llvm-nm"
    symbols = subprocess.run([nm, "--undefined-only", archive], capture_output=True, text=True, check=True).stdout
    assert "smalti" in symbols
    assert not re.search(r"_ZN?K?\d*(4llvm|4mlir)|\b(LLVM|mlir)[A-Z]", symbols)
