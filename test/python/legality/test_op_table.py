# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of legal ops against the compiler, the reference interpreter and the simulator; docs/ops.md."""

from __future__ import annotations

import importlib
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import ROOT
from smalti import reference, targets
from smalti._mlir_libs import _smalti
from smalti.cli.commands import main
from smalti.compiler import driver, entry
from smalti.inputs import random_arguments

from legality import example

TABLE: dict[str, Any] = json.loads(_smalti.op_table_json())
CHIPS = ("cpu", "sm_80", "sm_90a", "sm_120a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")

STRUCTURAL = {"scf.yield", "scf.condition", "triton_xla.yield", "triton_xla.return", "triton_xla.entry_func"}
"""Ops that the reference interpreter runs as parts of others."""


@dataclass(frozen=True)
class Cell:
    """An op with an element type."""

    op: str
    element: str
    text: str

    def __str__(self) -> str:
        return f"{self.op} of {self.element}"


def cells() -> Iterator[Cell]:
    for row in TABLE["ops"]:
        for op in row["ops"] if "{op}" in row["example"] else row["ops"][:1]:
            for element in row["elements"]:
                yield Cell(op, element, example.kernel(row["example"], row["result"], op, element))


CELLS = list(cells())


def gaps_with_examples() -> list[Any]:
    return [gap for gap in TABLE["gaps"] if gap["example"]]


def gap_kernel(gap: Any) -> str:
    return example.kernel(gap["example"], gap["result"], gap["ops"][0], "f32")


def refusals(text: str, chip: str) -> list[tuple[str, str, int]]:
    """The refused ops of the table: name, message and line."""
    module = driver.parse(text)
    found = _smalti.refusals(entry.find_entry(module).operation, chip)
    return [(op.name, message, smalti.diagnostics.source_location(op.location).line) for op, message in found]


def outcome(text: str, chip: str, stop: str) -> list[tuple[str, int]]:
    """Message and line of each error of the compiler."""
    module = driver.parse(text)
    options = {} if chip == "cpu" else {"stop_after": stop}
    try:
        driver.run_pipeline(module, driver.compile_pipeline(targets.get(chip), options))
    except smalti.CompileError as error:
        return [(found.message, found.location.line if found.location else 0) for found in error.diagnostics]
    return []


def check(cell: Cell, chip: str, stop: str) -> str:
    """How the compiler disagrees with the table; empty if it agrees."""
    wanted = [(message, line) for _, message, line in refusals(cell.text, chip)]
    errors = outcome(cell.text, chip, stop)
    if errors == wanted:
        return ""
    return f"{cell} on {chip}: {errors or 'compiles'}, but the table says {wanted or 'legal'}\n{cell.text}"


def sample(count: int, seed: str) -> list[Cell]:
    return random.Random(seed).sample(CELLS, count)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_sample_of_examples(chip: str) -> None:
    wrong = [message for cell in sample(12, chip) if (message := check(cell, chip, "thread"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_every_example(chip: str) -> None:
    wrong = [message for cell in CELLS if (message := check(cell, chip, "llvm"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("gap", gaps_with_examples(), ids=lambda gap: f"{gap['ops'][0]} {gap['form']}")
def test_a_gap_is_refused_at_its_op(gap: Any) -> None:
    text = gap_kernel(gap)
    refused = [chip for chip in CHIPS if chip in gap["targets"]]
    if gap["targets"] == ["sim"]:
        assert any(gap["reason"] in message for _, message, _ in refusals(text, "sim:sm_90a"))
    else:
        assert refused
    for chip in refused[:1]:
        found = refusals(text, chip)
        assert any(gap["reason"] in message for _, message, _ in found)
        assert outcome(text, chip, "thread") == [(message, line) for _, message, line in found]
    for chip in [chip for chip in CHIPS if chip not in gap["targets"]][:1]:
        # Another gap may refuse it.
        wanted = [(message, line) for _, message, line in refusals(text, chip)]
        assert outcome(text, chip, "thread") == wanted
        assert not any(gap["reason"] in message for message, _ in wanted)


def test_every_command_has_the_same_sentence(tmp_path: Path) -> None:
    """The API, the commands, the simulator and the reference interpreter refuse an op that no target supports."""
    path = tmp_path / "kernel.mlir"
    path.write_text(
        "triton_xla.entry_func @f(%a: memref<8xf8E5M2>, %tile: index) tiles 1 {\n"
        "  %t = triton_xla.extract %a[0] [8] [1] : memref<8xf8E5M2> to tensor<8xf8E5M2>\n"
        "  %s = arith.addf %t, %t : tensor<8xf8E5M2>\n"
        "  triton_xla.insert %s into %a[0] [8] [1] : tensor<8xf8E5M2> into memref<8xf8E5M2>\n"
        "  triton_xla.return\n"
        "}\n"
    )
    sentence = (
        "'arith.addf' of f8E5M2 is not supported: no target computes with floats of at most 8 bits; "
        "extend the operands with arith.extf, and round the result with arith.truncf"
    )
    for target in ("cpu", "sm_90a", "gfx942", "emu:sm_80", "sim:gfx1201"):
        with pytest.raises(smalti.CompileError) as caught:
            smalti.compile(str(path), target=target)
        assert [found.message for found in caught.value.diagnostics] == [sentence]
        assert caught.value.location is not None and caught.value.location.line == 3
    with pytest.raises(reference.InterpreterError) as refused:
        module = driver.parse(str(path))
        reference.run(entry.find_entry(module), [np.zeros(8, np.uint8)])
    assert [found.message for found in refused.value.diagnostics] == [sentence]
    for arguments in (["compile"], ["run"], ["run", "--check"]):
        result = CliRunner().invoke(main, [*arguments, str(path), "--target", "cpu"])
        assert result.exit_code == 1 and sentence in str(result.exception) + result.output


@pytest.mark.parametrize(
    ("op", "remedy"),
    [
        ("%e = tensor.empty() : tensor<4xf32>", "use a constant tensor or tensor.splat"),
        ('cf.assert %true, "bad"', "use triton_xla.assert"),
        ('gpu.printf "hello"', "use triton_xla.print"),
        ("gpu.barrier", "remove it: smalti-compile inserts the barriers of a tile"),
        ("%m = linalg.matmul ins(%a, %a : T, T) outs(%a : T) -> T", "use triton_xla.dot"),
        ("%x = gpu.thread_id x", "use the tile id, the last argument of the kernel"),
        (
            "%m = linalg.exp ins(%a : T) outs(%a : T) -> T",
            "use ops of arith, math and triton_xla on tiles; docs/ops.md lists the supported ops",
        ),
        ("%x = gpu.lane_id", "docs/ops.md lists the supported ops"),
        ("%x = vector.step : vector<4xindex>", "use triton_xla.iota"),
        ("%x = tensor.concat dim(0) %a, %a : (T, T) -> tensor<32x16xf32>", "use triton_xla.concat"),
        ("%x = tensor.extract_slice %a[0, 0] [4, 4] [1, 1] : T to tensor<4x4xf32>", "use triton_xla.slice"),
        ("%x = linalg.transpose ins(%a : T) outs(%a : T) permutation = [1, 0]", "use triton_xla.transpose"),
        ("%x = tensor.dim %a, %tile : T", "use a constant: a tile has a static shape"),
        (
            "%x = memref.alloc() : memref<4xf32>",
            "use a tile for local values, or memory that the caller passes",
        ),
        ("%x = index.constant 4", "use ops of arith on index values"),
    ],
)
def test_an_op_that_is_not_listed(op: str, remedy: str) -> None:
    constant = "%a = arith.constant dense<0.0> : T"
    lines = ["triton_xla.entry_func @f(%true: i1, %tile: index) tiles 1 {", constant, op, "triton_xla.return", "}", ""]
    text = "\n".join(lines).replace("T,", "tensor<16x16xf32>,").replace(" T", " tensor<16x16xf32>")
    name = next(word for word in op.replace("()", "").split() if "." in word)
    for chip in (*CHIPS, ""):
        sentence = f"'{name}' is not supported in a tile-level kernel; {remedy}"
        assert refusals(text, chip) == [(name, sentence, 3)]


def runs(cell: Cell) -> None:
    if refusals(cell.text, ""):
        return
    module = driver.parse(cell.text)
    described = entry.find_entry(module)
    try:
        with np.errstate(all="ignore"):
            reference.run(described, random_arguments(entry.describe(described), 0))
    except reference.InterpreterError as error:
        # A random divisor may be 0, a random condition false, and the examples of small floats select an operand.
        if not re.search(r"is divided by 0|assertion fails|assume' is false|is not commutative", str(error)):
            raise


def test_the_reference_runs_a_sample() -> None:
    for cell in sample(30, "reference"):
        runs(cell)


@pytest.mark.slow
def test_the_reference_runs_every_example() -> None:
    for cell in CELLS:
        runs(cell)


def test_the_reference_has_every_op() -> None:
    listed = {op for row in TABLE["ops"] for op in row["ops"]}
    assert listed - STRUCTURAL == set(reference.HANDLERS)


def simulates(cell: Cell, chip: str) -> str:
    """How the simulator disagrees with the table; empty if it agrees."""
    wanted = [message for _, message, _ in refusals(cell.text, f"sim:{chip}")]
    found: list[str] = []
    try:
        smalti.compile(cell.text, target=f"sim:{chip}")
    except smalti.CompileError as error:
        found = [diagnostic.message for diagnostic in error.diagnostics]
    return "" if found == wanted else f"{cell} on sim:{chip}: {found or 'loads'}, but the table says {wanted}"


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_the_simulator_loads_a_sample(chip: str) -> None:
    wrong = [message for cell in sample(8, f"sim:{chip}") if (message := simulates(cell, chip))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_the_simulator_loads_every_example(chip: str) -> None:
    wrong = [message for cell in CELLS if (message := simulates(cell, chip))]
    assert not wrong, "\n".join(wrong)


def test_every_tile_op_is_listed() -> None:
    listed = {op for row in TABLE["ops"] for op in row["ops"]}
    coverage: Any = importlib.import_module("devlib.coverage")
    assert {op for op in coverage.ops() if op.startswith("triton_xla.")} <= listed


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def test_the_page_is_up_to_date() -> None:
    page: Any = importlib.import_module("devlib.op_table")
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run tools/dev docs"
