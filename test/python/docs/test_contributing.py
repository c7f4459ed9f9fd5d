# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CONTRIBUTING.md: the files that it names exist, and its examples apply and compile.

A ```diff PATH block changes a file, and a block with another language and a path is a new file. All are applied to a copy
of the sources; the headers that TableGen generates from changed .td files come before those of the build tree.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT
from smalti import toolchain
from test_tutorial import BLOCK, change

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
NEW_PAGES = {"docs/passes/smalti-count-barriers.md"}
FOLDERS = ("dialects", "emulator", "layouts", "passes", "targets", "python/smalti", "test/passes/Resources")


def examples() -> dict[str, list[re.Match[str]]]:
    """The blocks of the page that change or create a file, by path."""
    found: dict[str, list[re.Match[str]]] = {}
    for block in BLOCK.finditer(PAGE):
        if block[2] is not None:
            found.setdefault(block[2], []).append(block)
    return found


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with all examples applied."""
    root = tmp_path_factory.mktemp("contributing") / "smalti"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, root / folder)
    for path, blocks in examples().items():
        for block in blocks:
            file = root / path
            file.write_text(change(file.read_text(), block[3]) if block[1] == "diff" else block[3])
    return root


def test_named_files_exist() -> None:
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.\w+)`", BLOCK.sub("", PAGE)))
    generated = {name for name in named if name.startswith("docs/reference/")}
    assert len(named) > 15
    assert [name for name in sorted(named - generated - NEW_PAGES) if not (ROOT / name).exists()] == []


def test_named_verbs_exist() -> None:
    said = subprocess.run([ROOT / "tools" / "dev", "help"], capture_output=True, text=True, check=True).stdout
    table = PAGE.partition("| verb | does |")[2].partition("\n\n")[0]
    verbs = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    names = [name.split()[0] for cell in verbs for name in re.findall(r"`(.*?)`", cell)]
    assert len(names) >= 10
    assert [name for name in names if not re.search(rf"^\s*{name}\b", said, re.MULTILINE)] == []


def tblgen(sources: Path, td: str, output: str, *arguments: str) -> None:
    tool = toolchain.find_llvm_tool("mlir-tblgen")
    assert tool is not None
    include = tool.path.resolve().parent.parent / "include"
    file = sources.parent / "generated" / "smalti" / output
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([tool.path, *arguments, f"-I{include}", f"-I{sources.parent}", sources / td, "-o", file], check=True)


def check_syntax(sources: Path, path: str, like: str | None = None) -> None:
    """Compiles a file of the copy without code generation, with the flags of a file in the build tree."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    original = str(ROOT / (like or path))
    command = next(entry["command"] for entry in commands if entry["file"] == original)
    words = [word for word in shlex.split(command) if word not in (original, "-c")]
    words = [word for word in words if word != f"-I{BUILD}/source"]
    at = words.index("-o")
    del words[at : at + 2]
    first = [f"-I{sources.parent / 'generated'}", f"-I{sources.parent}"]
    words = [words[0], *first, *words[1:], "-fsyntax-only", str(sources / path)]
    done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr


def test_an_op(sources: Path) -> None:
    for output, generator in (("TritonXLAOps.h.inc", "-gen-op-decls"), ("TritonXLAOps.cpp.inc", "-gen-op-defs")):
        tblgen(sources, "dialects/TritonXLA/TritonXLAOps.td", f"dialects/TritonXLA/{output}", generator)
    check_syntax(sources, "dialects/TritonXLA/TritonXLA.cpp")
    compile((sources / "python/smalti/reference/shapes.py").read_text(), "shapes.py", "exec")


def test_a_pass(sources: Path) -> None:
    tblgen(sources, "passes/Resources/Passes.td", "passes/Resources/Passes.h.inc", "-gen-pass-decls", "-name=Resources")
    check_syntax(sources, "passes/Resources/CountBarriers.cpp", like="passes/Resources/CheckResources.cpp")


def test_a_chip(sources: Path) -> None:
    check_syntax(sources, "targets/NVIDIA.cpp")


def test_an_instruction(sources: Path) -> None:
    check_syntax(sources, "emulator/Instructions/AMD/Arithmetic.cpp")
