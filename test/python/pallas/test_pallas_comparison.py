# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison script of layout inference and JAX's, on modules with known differences."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PALLAS, ROOT
from smalti import ir
from smalti.compiler import driver

sys.path.insert(0, str(ROOT / "test/pallas"))
import compare_inference as script

INFERRED = (PALLAS / "row_softmax.inferred.mlir").read_text()
CAST = "mosaic_gpu.layout_cast"


def differences(ours: str) -> tuple[int, list[Any]]:
    context = driver.new_context()
    with context:
        return script.compare_modules(ir.Module.parse(INFERRED), ir.Module.parse(ours))


@pytest.mark.parametrize("name", ["pointwise", "row_softmax", "hopper_matmul", "ragged_dot", "blackwell_matmul"])
def test_a_module_is_equal_to_itself(name: str) -> None:
    text = (PALLAS / f"{name}.inferred.mlir").read_text()
    with driver.new_context():
        first, second = ir.Module.parse(text), ir.Module.parse(text)
        # The other form has the same attributes.
        second = ir.Module.parse(second.operation.get_asm(print_generic_op_form=True))
        ops, found = script.compare_modules(first, second)
    assert found == []
    assert ops == sum(bool(re.search(r"(in|out)_(tmem_)?(layouts|transforms) =", line)) for line in text.splitlines())


def test_another_layout_is_a_difference() -> None:
    ops, (found,) = differences(INFERRED.replace("out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]", "", 1))
    assert ops == 12
    assert (found.op, found.kind) == ("arith.constant() -> vector<64xf32>", "missing")

    line = next(line for line in INFERRED.splitlines() if "math.exp " in line)
    other = re.sub(r"out_layouts = \[[^{]*\]}", "out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 128], 2>]}", line)
    assert other != line
    ops, (found,) = differences(INFERRED.replace(line, other))
    assert (found.op, found.kind) == ("math.exp(vector<64x128xf32>) -> vector<64x128xf32>", "differs")
    assert len(found.what) == 1
    assert found.what[0].startswith("out_layouts[0]: JAX has TiledLayout<")
    assert found.what[0].endswith("ours is WGStridedFragLayout<[64, 128], 2>")


def test_another_spelling_of_a_layout_is_none() -> None:
    same = "#mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, {}], vector_dim = -1>"
    part = "#mosaic_gpu.Replicated<times = {}>"
    text = INFERRED.replace(same.format(part.format(4)), same.format(f"{part.format(4)}, {part.format(1)}"))
    assert text != INFERRED
    assert differences(text)[1] == []


def test_an_inserted_relayout_is_a_difference() -> None:
    line = next(line for line in INFERRED.splitlines() if CAST in line)
    again = re.sub(r"%\d+ = (.*)x\(%\d+", r"%again = \1x(" + line.split("=")[0].strip(), line)
    _, (found,) = differences(INFERRED.replace(line, f"{line}\n{again}"))
    assert (found.op, found.kind) == (f"{CAST}(vector<64x128xf32>) -> vector<64x128xf32>", "inserted")


def test_a_swizzle_over_one_chunk_is_none() -> None:
    with ir.Context():
        tiled = ir.Attribute.parse("[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<16 : i32>]")
        assert script.canonical(tiled) == script.canonical(ir.Attribute.parse("[#mosaic_gpu.tile<[8, 64]>]"))
        swizzled = ir.Attribute.parse("[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]")
        assert script.canonical(tiled) != script.canonical(swizzled)


def test_modules_are_found_by_the_files_next_to_them(tmp_path: Path) -> None:
    for name in ("a.mlir", "a.inferred.mlir", "b.mlir", "c.mlir", "c.refused.txt", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [path.name for path in script.find([tmp_path])] == ["a.mlir", "c.mlir"]
    assert [path.name for path in script.find([tmp_path / "c.mlir", tmp_path / "b.mlir"])] == ["c.mlir"]
