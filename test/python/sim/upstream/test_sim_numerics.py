# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that block-level ops do not implement numerics themselves, and do not parse attributes as text."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import test_sim_small_floats
from smalti import instructions, sim

FOLDER = Path(sim.__file__).resolve().parent
# The thread-level simulator is not the block-level one's.
FILES = sorted([*FOLDER.glob("*.py"), *(FOLDER / "ops").glob("*.py")])


def names(path: Path) -> list[str]:
    """The imports of a file, the attributes that it names, and its operators."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Attribute):
            found.append(f".{node.attr}")
        elif isinstance(node, ast.MatMult):
            found.append("@")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_numerics_are_only_in_the_instruction_table(path: Path) -> None:
    """ml_dtypes rounds to small floats, and numpy multiplies matrices: both are stated by the instructions."""
    banned = {"ml_dtypes", "@", ".matmul", ".dot", ".einsum", ".tensordot", ".nextafter", ".finfo"}
    if path.name == "engines.py":
        banned.remove(".matmul")  # It calls that of the instructions.
    assert not banned.intersection(names(path))


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "ops"], ids=lambda path: path.name)
def test_no_attribute_is_read_as_text(path: Path) -> None:
    assert "re" not in names(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
            assert "attribute" not in ast.unparse(node), f"line {node.lineno}"


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("truncf", "f32", "f8E4M3FN"),
        ("truncf", "f64", "f8E5M2FNUZ"),
        ("truncf", "f32", "f6E2M3FN"),
        ("truncf", "f64", "bf16"),
        ("truncf", "f32", "f16"),
        ("sitofp", "i32", "bf16"),
    ],
)
def test_conversions_are_the_instructions(name: str, source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an instruction that rounds toward zero the simulator does."""
    values = (np.linspace(1, 2, 256) * (1 << 10 if source == "i32" else 1)).astype(instructions.dtype(source))
    kernel = smalti.compile(test_sim_small_floats.kernel(name, source, target), target="sim:sm_90a")

    def result() -> np.ndarray[Any, Any]:
        out = np.zeros(256, np.float32)
        kernel(values, out)
        return out

    nearest, original = result(), instructions.convert

    def cut(values: Any, from_type: str, to_type: str, **how: Any) -> Any:
        return original(values, from_type, to_type, **{**how, "rounding": "toward_zero"})

    monkeypatch.setattr(instructions, "convert", cut)
    wide = values.astype(np.float64)
    assert (result() <= wide).all()
    assert (nearest > wide).any()


MATMUL = """
gpu.module @m {
  gpu.func @k(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %x = mosaic_gpu.vector_load %a : memref<64x32xf16> -> vector<64x32xf16>
    %y = mosaic_gpu.vector_load %b : memref<32x64xf16> -> vector<32x64xf16>
    %z = arith.constant dense<0.0> : vector<64x64xf32>
    %d = mosaic_gpu.mma accumulator(%z : vector<64x64xf32>) a(%x : vector<64x32xf16>) b(%y : vector<32x64xf16>)
        -> vector<64x64xf32>
    mosaic_gpu.vector_store %d, %c : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
"""


def test_matmuls_are_the_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = smalti.compile(MATMUL, target="sim:sm_90a")
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((64, 32), (32, 64)))
    c = np.zeros((64, 64), np.float32)
    kernel(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=2.0**-22, atol=1e-6)
    monkeypatch.setattr(instructions, "matmul", lambda accumulator, *rest, **how: np.full_like(accumulator, 42))
    kernel(a, b, c)
    assert (c == 42).all()
