# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Location, cause and remedy in errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import smalti
from conftest import SCALE


def test_parse_error_in_text_shows_line_column_and_caret() -> None:
    text = "module {\n  func.func @f(%a: i32) -> i32 {\n    %0 = arith.addi %a, %b : i32\n    return %0 : i32\n  }\n}"
    with pytest.raises(smalti.ParseError) as caught:
        smalti.parse(text)
    lines = str(caught.value).splitlines()
    assert lines[0] == "<text>:3:25: error: use of undeclared SSA value name"
    assert lines[1] == "      %0 = arith.addi %a, %b : i32"
    assert lines[2].index("^") == lines[1].index("%b")
    assert caught.value.location == smalti.SourceLocation("<text>", 3, 25)


def test_parse_error_in_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.mlir"
    path.write_text("module {\n\t%0 = nonsense.op\n}\n")
    with pytest.raises(smalti.ParseError) as caught:
        smalti.parse(path)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{path}:2:")
    # The caret line keeps the tab, so that both lines are indented alike.
    assert lines[1].startswith("  \t%0") and lines[2].startswith("  \t") and lines[2].endswith("^")


@pytest.mark.parametrize("name", ["nowhere.mlir", "no where.mlir", "/nowhere/kernel.mlr", "kernel.txt"])
def test_missing_file(name: str) -> None:
    with pytest.raises(smalti.ParseError, match=f"file not found: {name}$"):
        smalti.parse(name)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(smalti.ParseError, match=f"cannot read {tmp_path}: Is a directory"):
        smalti.parse(tmp_path)
    # The file exists, but its first page is not mapped.
    with pytest.raises(smalti.ParseError, match="cannot read /proc/self/mem: Input/output error"):
        smalti.parse("/proc/self/mem")


@pytest.mark.parametrize("text", ["nonsense", "arith.constant kernel.x", "%a = kernel.mlr"])
def test_text_that_is_not_a_path(text: str) -> None:
    with pytest.raises(smalti.ParseError) as caught:
        smalti.parse(text)
    assert "file not found" not in str(caught.value)


NESTED = """\
triton_xla.entry_func @nested(%x: memref<8xf32>, %tile: index) tiles 1 {{
%zero = arith.constant 0 : index
%one = arith.constant 1 : index
%yes = arith.constant true
%f = memref.load %x[%zero] : memref<8xf32>
{0}
memref.store %f, %x[%zero] : memref<8xf32>
{1}
triton_xla.return
}}
"""


@pytest.mark.parametrize(
    "opened, depth, message",
    [
        ("scf.for %i{0} = %zero to %one step %one {{", 16, "'scf.for' in 16 other loops is not supported"),
        ("scf.if %yes {{", 64, "'scf.if' nested in 64 or more regions is not supported"),
        ("scf.if %yes {{", 10000, "line 1005 is nested in more than 1000 brackets"),
    ],
)
def test_deep_nesting(opened: str, depth: int, message: str, tmp_path: Path) -> None:
    def nest(depth: int) -> str:
        return NESTED.format("\n".join(opened.format(i) for i in range(depth)), "}" * depth)

    if depth <= 64:
        smalti.compile(nest(depth), target="cpu")(np.zeros(8, np.float32))
        depth += 1
    path = tmp_path / "nested.mlir"
    path.write_text(nest(depth))
    for source in (path, nest(depth)):
        with pytest.raises(smalti.SmaltiError, match=message):
            smalti.compile(source, target="cpu")


def test_brackets_that_are_not_nested() -> None:
    text = "\n".join(
        'func.func private @f{i}() attributes {a = ">{{{{{{", b = affine_map<(d0) -> (d0)>} // {{{{'.replace(
            "{i}", str(i)
        )
        for i in range(300)
    )
    assert len(smalti.parse(text).body.operations) == 300


def test_verifier_error_differs_from_a_parse_error() -> None:
    with pytest.raises(smalti.VerifyError) as caught:
        smalti.parse(SCALE.replace("%tile: index", "%tile: index, %last: i32", 1))
    assert "tile id" in str(caught.value)
    assert caught.value.location is not None and caught.value.location.line == 1
    assert "see current operation" not in str(caught.value)


def test_every_text_keeps_its_own_source() -> None:
    first = smalti.parse(SCALE)
    smalti.parse("module {\n\n}\n")
    with pytest.raises(smalti.SmaltiError) as caught:
        smalti.Pipeline().add(_break).run(first)
    assert "triton_xla.return" in str(caught.value), str(caught.value)


def _break(module: object) -> None:
    """Gives a terminator operands, which it cannot have."""
    from smalti import ir

    operation = module.operation  # type: ignore[attr-defined]
    entry = operation.regions[0].blocks[0].operations[0].operation
    block = entry.regions[0].blocks[0]
    last = block.operations[len(block.operations) - 1].operation
    ir.Operation.create(
        "triton_xla.return", operands=[block.arguments[2]], loc=last.location, ip=ir.InsertionPoint(last)
    )
    last.erase()


def test_unknown_target_lists_the_known_ones() -> None:
    with pytest.raises(smalti.TargetError) as caught:
        smalti.compile(SCALE, "sm_9000")
    for name in smalti.targets.names():
        assert name in str(caught.value)


def test_unknown_target_suggests_a_close_one() -> None:
    with pytest.raises(smalti.TargetError, match="did you mean 'gfx942'"):
        smalti.targets.get("gfx943")


def test_target_attribute_that_is_no_name() -> None:
    with pytest.raises(smalti.TargetError, match=r"smalti\.target of the module is 3 : i64; it must be a string"):
        smalti.compile(f"module attributes {{smalti.target = 3}} {{\n{SCALE}}}\n")


def test_module_without_entry_function() -> None:
    with pytest.raises(smalti.CompileError, match=r"a triton_xla\.entry_func"):
        smalti.compile("module {\n}\n", "cpu")


def test_several_entry_functions_want_a_name() -> None:
    two = SCALE + SCALE.replace("@scale", "@other")
    with pytest.raises(smalti.CompileError, match="@scale, @other"):
        smalti.compile(two, "cpu")
    with pytest.raises(smalti.CompileError, match="entry function @third does not exist"):
        smalti.compile(two, "cpu", entry="third")


def test_error_renders_notes_remarks_hint_and_command() -> None:
    from smalti.errors import Diagnostic

    note = Diagnostic("note", "it began here", smalti.SourceLocation("<text>", 1, 1))
    error = smalti.CompileError(
        "",
        diagnostics=[Diagnostic("error", "too much", smalti.SourceLocation("<text>", 2, 3), (note,))],
        remarks=[smalti.Remark("failed", "smalti-x", "Budget", "needs 9 B", None, None)],
        hint="use less",
        source="first\n  second\n",
    )
    error.command = "smalti-opt --run-reproducer f.mlir"
    assert str(error).splitlines() == [
        "<text>:2:3: error: too much",
        "    second",
        "    ^",
        "<text>:1:1: note: it began here",
        "  first",
        "  ^",
        "remark: [failed] smalti-x: needs 9 B",
        "hint: use less",
        "to replay: smalti-opt --run-reproducer f.mlir",
    ]


@pytest.mark.parametrize(
    ("operand", "hint"),
    [
        ("%s", "make a tile of the scalar with `tensor.splat %scalar : tensor<4x8xf32>`"),
        ("%row", "repeat a tile along dimensions with triton_xla.broadcast"),
        ("%tile", None),
    ],
)
def test_operands_of_different_types_have_a_hint(operand: str, hint: str | None) -> None:
    with pytest.raises(smalti.ParseError, match="expects different type than prior uses") as caught:
        smalti.parse(
            "triton_xla.entry_func @f(%s: f32, %tile: index) tiles 1 {\n"
            "  %row = tensor.splat %s : tensor<8xf32>\n  %t = tensor.splat %s : tensor<4x8xf32>\n"
            f"  %r = arith.addf %t, {operand} : tensor<4x8xf32>\n  triton_xla.return\n}}"
        )
    assert caught.value.hint is None if hint is None else hint in str(caught.value.hint)


def test_an_op_without_its_dialect_has_a_hint() -> None:
    with pytest.raises(smalti.ParseError, match="custom op 'return'") as caught:
        smalti.parse("triton_xla.entry_func @f(%tile: index) tiles 1 {\n  return\n}")
    assert "ends with triton_xla.return" in str(caught.value.hint)


def test_a_scalar_index_and_a_tile_of_index_have_a_hint() -> None:
    with pytest.raises(smalti.ParseError, match="expects different type than prior uses") as caught:
        smalti.parse(
            "triton_xla.entry_func @f(%tile: index) tiles 1 {\n  %t = tensor.splat %tile : tensor<4xindex>\n"
            "  %r = arith.addi %t, %tile : tensor<4xindex>\n  triton_xla.return\n}"
        )
    assert "tensor.splat" in str(caught.value.hint)
