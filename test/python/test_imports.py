# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of the package's folders: a file imports only from earlier ones."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

PACKAGE = ROOT / "python" / "smalti"
BUILT = BUILD / "python_packages"
"""The package with MLIR's bindings and the generated modules, which are not checked."""

ORDER = (
    # The package's own folder has the modules that all others and users import, so each of them imports only earlier
    # ones.
    "smalti.sources",
    "smalti.dtypes",
    "smalti.diagnostics",
    "smalti.findings",
    "smalti.remarks",
    "smalti.errors",
    "smalti.files",
    "smalti.cache",
    "smalti.pace",
    "smalti.settings",
    "smalti.toolchain",
    "smalti.targets",
    "smalti.instructions",
    "smalti.layouts",
    "smalti.lane_maps",
    "smalti.transfers",
    "smalti._mlir_libs",
    "smalti.dialects",
    "smalti.bindings",
    "smalti.printing",
    "smalti.calling",
    "smalti.inputs",
    "smalti.codegen",
    "smalti.emulator",
    "smalti.launch",
    "smalti.compiler",
    "smalti.reference",
    "smalti.check",
    "smalti.sim.machine",
    "smalti.sim.translation",
    "smalti.sim.ops",
    "smalti.sim.threads.execution",
    "smalti.sim.threads.ops.arithmetic",
    "smalti.sim.threads.ops.memory",
    "smalti.sim.threads.ops.collective",
    "smalti.sim.threads.ops.flow",
    "smalti.sim.threads.ops.nvidia",
    "smalti.sim.threads.ops.amd",
    "smalti.sim.threads.ops",
    "smalti.sim.threads",
    "smalti.sim",
    "smalti.aot",
    "smalti.testing",
    "smalti.front_end",
    "smalti.specialization",
    "smalti.language",
    "smalti.block",
    "smalti.frameworks",
    "smalti.jax",
    "smalti.torch",
    "smalti.cli",
    "smalti",
    "smalti.__main__",
)
"""Folders, and files of the package's own folder. Each imports what is listed before it, and nothing after it."""

MOST_FILES = 25
"""The largest number of files in a folder."""

Graph = Mapping[str, Mapping[str, int]]
"""For each module those that it imports, with the line."""


def module_of(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_generated(name: str) -> bool:
    """Whether only the build tree has the module."""
    path = BUILT.joinpath(*name.split("."))
    return path.is_dir() or any(path.with_suffix(suffix).exists() for suffix in (".py", ".pyi"))


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, int]]:
    """Dotted names that a file imports anywhere: at its top, under `TYPE_CHECKING`, and in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            up = node.level - is_package
            base = [*parts[: len(parts) - up], *([node.module] if node.module else [])] if node.level else [node.module]
            yield from ((".".join([*map(str, base), alias.name]), node.lineno) for alias in node.names)


def import_graph(package: Path) -> dict[str, dict[str, int]]:
    paths = {module_of(path, package): path for path in sorted(package.rglob("*.py"))}
    graph: dict[str, dict[str, int]] = {module: {} for module in paths}
    for module, path in paths.items():
        for name, line in imported(ast.parse(path.read_text()), module, path.name == "__init__.py"):
            found = name
            while found not in paths and found:
                # A name in a module, or a module that is generated.
                found = "" if is_generated(found) else found.rpartition(".")[0]
            if found and found != module:
                graph[module].setdefault(found, line)
    return graph


def cycle(graph: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return error.args[1]
    return []


def place(module: str, package: Path) -> str:
    """The entry of `ORDER` for a module."""
    file = package.parent.joinpath(*module.split("."))
    folder = module if file.is_dir() else module.rpartition(".")[0]
    return module if folder == package.name else folder


@pytest.fixture(scope="module")
def graph() -> dict[str, dict[str, int]]:
    return import_graph(PACKAGE)


def test_no_files_import_each_other(graph: Graph) -> None:
    assert not cycle(graph)


def test_imports_follow_the_order_of_folders(graph: Graph) -> None:
    rank = {name: number for number, name in enumerate(ORDER)}
    assert len(rank) == len(ORDER)
    positions = {module: place(module, PACKAGE) for module in graph}
    assert set(positions.values()) == set(ORDER)
    wrong = [
        f"{module}:{line} imports {other}"
        for module, others in graph.items()
        for other, line in others.items()
        if rank[positions[other]] > rank[positions[module]]
    ]
    assert not wrong


def test_folders_are_small() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize(
    "statement",
    [
        "from .b.two import two\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import two\n",
        "def f():\n    import sample.b.two\n",
        "from .b import two as three\n",
    ],
    ids=["name", "type-checking", "local", "module"],
)
def test_circles_are_found(tmp_path: Path, statement: str) -> None:
    files = {"__init__.py": "", "one.py": statement, "b/__init__.py": "", "b/two.py": "from ..one import f\n"}
    for name, text in files.items():
        path = tmp_path / "sample" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert set(cycle(import_graph(tmp_path / "sample"))) == {"sample.one", "sample.b.two"}


LAZY = """
import inspect, sys
from smalti import bindings

def loaded():
    return [name for name in sys.modules if "_mlir" in name or name.startswith(("smalti.ir", "smalti.dialects"))]

lazy = {name: getattr(bindings, name) for name in bindings._MODULES}
assert [inspect.unwrap(module) for module in lazy.values()] == list(lazy.values()) and not loaded(), loaded()
from importlib import import_module
for name, module in lazy.items():
    assert "smalti." + bindings._MODULES[name] == module.__name__, module.__name__
    assert name != "ir" or "Module" in dir(module)
    try:
        module.nothing
    except AttributeError as error:
        assert "has no attribute 'nothing'" in str(error)
    real = import_module(module.__name__)
    real.added = 1
    assert module.added == 1 and module.__file__ == real.__file__
    module.added = 2
    assert real.added == 2
print("passed")
"""


def test_the_bindings_are_loaded_on_first_use() -> None:
    run = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True)
    assert run.stdout == "passed\n", run.stderr
