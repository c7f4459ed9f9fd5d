# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/python_kernels.py: sizes of code, and kernels that have the same names and arguments in all languages."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import _python_kernels_cases as cases

# Tests of the language have a module of this name.
_SPEC = importlib.util.spec_from_file_location("python_kernels_benchmark", ROOT / "benchmarks" / "python_kernels.py")
assert _SPEC is not None and _SPEC.loader is not None
python_kernels = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(python_kernels)

SOURCE = '''
"""A docstring."""
import math

ROWS = 32
OTHER = 3


def unused(x):
    return x


@dataclass
class State:
    """A docstring."""

    # A comment.
    top: Any


def helper(x):
    return State(
        x + ROWS
    )


@kernel(grid=1)
def main(x):
    """A docstring
    of two lines."""
    return helper(x)
'''


def test_the_code_of_a_kernel_contains_what_it_uses() -> None:
    rows, state, helper = 1, 3, 4
    assert python_kernels.size_of_code(SOURCE, "ROWS") == {"lines": rows, "tokens": 3}
    assert python_kernels.size_of_code(SOURCE, "State")["lines"] == state
    assert python_kernels.size_of_code(SOURCE, "helper")["lines"] == helper + state + rows
    assert python_kernels.size_of_code(SOURCE, "main")["lines"] == 3 + helper + state + rows
    assert python_kernels.size_of_code(SOURCE, "unused") == {"lines": 2, "tokens": 8}


@pytest.mark.parametrize("name", cases.CASES)
@pytest.mark.parametrize("language", ["smalti", "triton", "cutile"])
def test_the_parameters_of_a_kernel_are_those_of_its_case(language: str, name: str) -> None:
    file = python_kernels.Language(language, Path(sys.executable)).file or cases.example(name)
    case = cases.CASES[name]
    (kernel,) = (n for n in ast.parse(file.read_text()).body if isinstance(n, ast.FunctionDef) and n.name == name)
    parameters = [argument.arg for argument in kernel.args.args]
    assert set(parameters) >= set(case.arrays) | set(case.constants) | set(case.floats)
    sizes = set(case.sizes) - set(case.arrays) if language == "triton" else set[str]()
    assert set(parameters) <= set(case.arrays) | set(case.constants) | set(case.floats) | sizes


@pytest.mark.parametrize("language", ["smalti", "triton", "cutile"])
def test_a_process_defines_one_kernel_alone(language: str) -> None:
    for name in cases.CASES:
        file = python_kernels.Language(language, Path(sys.executable)).file or cases.example(name)
        body = ast.parse(cases.excerpt(file.read_text(), name)).body
        found = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        assert found & set(cases.CASES) == {name}


def test_a_process_imports_what_its_kernel_uses() -> None:
    text = cases.excerpt(
        "from __future__ import annotations\nimport os, sys\nimport re\n\ndef k():\n    sys.path\n", "k"
    )
    assert text.split("\n") == [
        "from __future__ import annotations",
        "import os, sys",
        "",
        "",
        "def k():",
        "    sys.path",
        "",
    ]


def test_warm_seconds_do_not_include_the_definition_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    busy = "import time\nstop = time.process_time() + {}\nwhile time.process_time() < stop: pass\n"
    (tmp_path / "slow_import.py").write_text(busy.format(0.4))
    (tmp_path / "_python_kernels_triton.py").write_text(
        "import time\nimport slow_import\n"
        "def version(): return '1'\ndef vector_add(): slow_import\n"
        "def compile_kernel(kernel, case):\n"
        "    stop = time.process_time() + 0.1\n    while time.process_time() < stop: pass\n"
    )
    source = (ROOT / "benchmarks" / "_python_kernels_cases.py").read_text()
    (tmp_path / "_python_kernels_cases.py").write_text(source)
    monkeypatch.setattr(python_kernels, "HERE", tmp_path)
    language = python_kernels.Language("triton", Path(sys.executable))
    for _ in range(2):
        found = language.warm("vector_add")
        assert isinstance(found, python_kernels.Times) and 0.05 < found.cpu < 0.3, found
    assert language.cold("vector_add").cpu > 0.4 and language.version == "1"
    language.close()
