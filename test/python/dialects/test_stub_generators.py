# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generators of type stubs in cmake/: corrections, and parameters of an unknown use."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "cmake"))

import generate_dialect_stubs
import stub_trees

OP = """
class AddOp(_ods_ir.OpView):
  def __init__(self, lhs, ignored, *, loc=None, ip=None):
    operands = []
    operands.append(lhs)
    super().__init__(operands=operands, loc=loc, ip=ip)
"""


def stub(folder: Path, text: str) -> str:
    path = folder / "_test_ops_gen.py"
    path.write_text(text)
    generated = generate_dialect_stubs.Generated(path, generate_dialect_stubs.Conversions(folder))
    return ast.unparse(ast.fix_missing_locations(generated.tree))


def test_a_parameter_of_an_unknown_use_is_an_error(tmp_path: Path) -> None:
    assert "lhs: _Operand, ignored: object, *" in stub(tmp_path, OP)
    with pytest.raises(SystemExit, match=r"_test_ops_gen: the use of the parameter 'lhs' .* cannot be determined"):
        stub(tmp_path, OP.replace("operands.append(lhs)", "operands = [*operands, lhs]"))


def test_only_ignored_parameters_are_objects() -> None:
    found = {
        parameter.arg
        for path in (BUILD / "python_packages" / "smalti" / "dialects").glob("_*_ops_gen.pyi")
        for function in stub_trees.functions(ast.parse(path.read_text()))
        for parameter in stub_trees.parameters(function)
        if parameter.annotation is not None and ast.unparse(parameter.annotation) == "object"
    }
    assert found == {"disjoint", "noWrapFlags", "no_wrap_flags", "overflowFlags", "overflow_flags"}


def test_corrections() -> None:
    corrections = stub_trees.Corrections(
        "class A:\n    def f(self) -> int: ...\ndef g() -> int: ...\ndef g() -> str: ..."
    )
    function = ast.parse("def f(self):\n    'A docstring.'").body[0]
    (fixed,) = corrections.of("A.f", function)
    assert ast.unparse(fixed) == 'def f(self) -> int:\n    """A docstring."""'
    assert corrections.of("A.f", function) == [] and corrections.of("B.f", function) == [function]
    with pytest.raises(SystemExit, match=r"x\.pyi: corrections of definitions that do not exist: g"):
        corrections.check(Path("x.pyi"))
    assert len(corrections.of("g", function)) == 2
    corrections.check(Path("x.pyi"))
