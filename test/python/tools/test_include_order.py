# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Includes between folders of C++, and the diagram of the libraries."""

from __future__ import annotations

import pathlib
import re
import sys

import pytest
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))
from devlib import architecture

LIBRARIES = architecture.libraries(BUILD)
INCLUDE = re.compile(r'^#include (["<])([^">]+)', re.MULTILINE)
FOLDERS = ("layouts", "targets", "dialects", "passes")
MOST_FILES = 25


def library_of(path: pathlib.PurePath) -> str:
    return next((str(folder) for folder in path.parents if str(folder) in LIBRARIES), str(path.parent))


def refusals(file: pathlib.PurePath, text: str) -> list[str]:
    """The wrong includes of a file, whose path is relative to the root."""
    allowed = architecture.reachable(library_of(file), LIBRARIES) | {library_of(file)}
    found = []
    for quote, header in INCLUDE.findall(text):
        if header.endswith(".inc") and f"smalti/{file}".startswith(header.rpartition("/")[0]):
            continue  # Generated declarations of the file's own folder, or of one around it.
        if header.startswith("smalti/"):
            if (other := library_of(pathlib.PurePath(header.removeprefix("smalti/")))) not in allowed:
                found.append(f"{file} includes {header}, but {library_of(file)} does not link {other}")
        elif quote == '"' and not header.startswith(("mlir/", "llvm/")):
            found.append(f"{file} includes {header}: headers of ours are included as smalti/...")
    return found


def sources() -> list[pathlib.Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp")]


def test_folders_include_those_below_them() -> None:
    found = [text for path in sources() for text in refusals(path.relative_to(ROOT), path.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "header", "message"),
    [
        ("passes/Analysis/Memory/X.cpp", "smalti/passes/Pipelining/LoopSchedule.h", "does not link passes/Pipelining"),
        ("targets/X.cpp", "smalti/dialects/MosaicGPU/MosaicGPU.h", "does not link dialects/MosaicGPU"),
        ("passes/Slots/X.h", "passes/Slots/IterationSlots.h", "are included as smalti/"),
    ],
)
def test_an_include_against_the_order_is_found(file: str, header: str, message: str) -> None:
    (found,) = refusals(pathlib.PurePath(file), f'#include "{header}"\n')
    assert message in found


def test_libraries_have_no_cycle() -> None:
    assert not [folder for folder in LIBRARIES if folder in architecture.reachable(folder, LIBRARIES)]


def test_folders_have_few_files() -> None:
    folders = [path for top in FOLDERS for path in [ROOT / top, *(ROOT / top).rglob("*")] if path.is_dir()]
    sizes = {str(folder.relative_to(ROOT)): sum(path.is_file() for path in folder.iterdir()) for folder in folders}
    assert not {folder: size for folder, size in sizes.items() if size > MOST_FILES}


def test_the_diagram_is_that_of_the_build() -> None:
    assert architecture.PAGE.read_text(encoding="utf-8") == architecture.page(BUILD), "run tools/dev docs"
