# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector transfers at block level, along any dimensions of the memory, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from smalti import sim

Array = np.ndarray[Any, Any]


def of_block(body: str, arguments: str) -> sim.SimulatedKernel:
    return sim.simulate(
        f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %pad = arith.constant -1.0 : f32
    {body}
    gpu.return
  }}
}}""",
        "sim:sm_90a",
    )


READS: list[tuple[str, str, Callable[[Array], Array]]] = [
    ("(d0, d1, d2) -> (d1, d2)", "8x4", lambda x: x[0, :8]),
    ("(d0, d1, d2) -> (d0)", "3", lambda x: x[:3, 0, 0]),
    ("(d0, d1, d2) -> (d2, d1)", "4x8", lambda x: x[0, :8].T),
    ("(d0, d1, d2) -> (d2, d0, d1)", "4x3x8", lambda x: x[:, :8].transpose(2, 0, 1)),
    ("(d0, d1, d2) -> (d1, 0)", "8x5", lambda x: np.repeat(x[0, :8, :1], 5, 1)),
    ("(d0, d1, d2) -> (0, d2, d0)", "2x4x3", lambda x: np.stack([x[:, 0].T] * 2)),
]


@pytest.mark.parametrize(("dimensions", "shape", "wanted"), READS)
def test_reads(dimensions: str, shape: str, wanted: Callable[[Array], Array]) -> None:
    bounds = ", ".join(["true"] * (shape.count("x") + 1))
    kernel = of_block(
        f"""%v = vector.transfer_read %x[%c0, %c0, %c0], %pad {{permutation_map = affine_map<{dimensions}>,
      in_bounds = [{bounds}]}} : memref<3x9x4xf32>, vector<{shape}xf32>
    mosaic_gpu.vector_store %v, %y : vector<{shape}xf32>, memref<{shape}xf32>""",
        f"%x: memref<3x9x4xf32>, %y: memref<{shape}xf32>",
    )
    x = np.arange(108, dtype=np.float32).reshape(3, 9, 4)
    y = np.zeros([int(size) for size in shape.split("x")], np.float32)
    kernel(x, y)
    np.testing.assert_array_equal(y, wanted(x))


def test_elements_outside_are_padding() -> None:
    kernel = of_block(
        """%v = vector.transfer_read %x[%c2, %c0], %pad {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
      : memref<4x3xf32>, vector<4x8xf32>
    mosaic_gpu.vector_store %v, %y : vector<4x8xf32>, memref<4x8xf32>""",
        "%x: memref<4x3xf32>, %y: memref<4x8xf32>",
    )
    x, y = np.arange(12, dtype=np.float32).reshape(4, 3), np.zeros((4, 8), np.float32)
    kernel(x, y)
    assert (y[:3, :2] == x[2:].T).all() and (y[3] == -1).all() and (y[:, 2:] == -1).all()


def test_writes() -> None:
    kernel = of_block(
        """%v = mosaic_gpu.vector_load %x : memref<8x3xf32> -> vector<8x3xf32>
    vector.transfer_write %v, %y[%c2, %c0, %c0] {permutation_map = affine_map<(d0, d1, d2) -> (d2, d0)>}
      : vector<8x3xf32>, memref<4x5x6xf32>""",
        "%x: memref<8x3xf32>, %y: memref<4x5x6xf32>",
    )
    x, y = np.arange(24, dtype=np.float32).reshape(8, 3), np.zeros((4, 5, 6), np.float32)
    kernel(x, y)
    assert (y[2:, 0] == x[:6, :2].T).all() and np.count_nonzero(y) == np.count_nonzero(x[:6, :2])


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
@pytest.mark.parametrize("level", ["block", "thread"])
def test_a_tile_of_a_column(target: str, level: str) -> None:
    text = """triton_xla.entry_func @k(%x: memref<64x1xf32>, %y: memref<64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %a = triton_xla.extract %x[%c0, %c0] [64, 1] [1, 1] : memref<64x1xf32> to tensor<64xf32>
  triton_xla.insert %a into %y[%c0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}"""
    x, y = np.arange(64, dtype=np.float32).reshape(64, 1), np.zeros(64, np.float32)
    sim.simulate(text, target, level=level)(x, y)
    assert (y == x[:, 0]).all()


def test_races_of_transposed_writes() -> None:
    """Both transfers are of one window, but not of the same elements in each thread."""
    plain = "vector.transfer_write %v, %y[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>"
    turned = plain.replace("{", "{permutation_map = affine_map<(d0, d1) -> (d1, d0)>, ")
    load = "%v = mosaic_gpu.vector_load %x : memref<16x16xf32> -> vector<16x16xf32>\n"
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    for second, kinds in ((plain, set[str]()), (turned, {"race"})):
        kernel = of_block(load + plain + "\n" + second, "%x: memref<16x16xf32>, %y: memref<16x16xf32>")
        assert {finding.kind for finding in kernel.find(x, np.zeros_like(x))} == kinds
