# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Number of tiles that exceeds the largest grid: each block computes several tiles."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from smalti.emulator import Emulation
from smalti.launch.kernels import Kernel

TILES = """\
triton_xla.entry_func @tiles(%out: memref<4x4xi64>, %tile: index) tiles {tiles} {{
  %blocks = arith.constant {blocks} : index
  %first = arith.constant {first} : index
  %block = arith.remui %tile, %blocks : index
  %row = arith.subi %block, %first : index
  %column = arith.divui %tile, %blocks : index
  %number = arith.index_cast %tile : index to i64
  %tensor = tensor.splat %number : tensor<1x1xi64>
  triton_xla.insert %tensor into %out[%row, %column] [1, 1] [1, 1] : tensor<1x1xi64> into memref<4x4xi64>
  triton_xla.return
}}
"""


@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a"])
@pytest.mark.parametrize(
    ("number", "message"),
    [
        (-1, "the grid has -1 tiles; the number of tiles must not be negative"),
        (2**62, f"the grid has {2**62} tiles; at most 2147483647 tiles are supported"),
    ],
)
def test_numbers_of_tiles_that_are_not_supported(target: str, number: int, message: str) -> None:
    source = "triton_xla.entry_func @none(%n: i64, %tile: index) tiles [%n] {\n  triton_xla.return\n}"
    with pytest.raises(smalti.LaunchError, match=message):
        smalti.compile(source, target=target)(number)


@pytest.mark.parametrize(("target", "blocks"), [("emu:sm_90a", 2**31 - 1), ("emu:gfx942", 2**22 - 1)])
def test_a_block_computes_several_tiles(target: str, blocks: int) -> None:
    tiles = 3 * blocks - 1
    for first in (0, blocks - 3):
        kernel = smalti.compile(TILES.format(tiles=tiles, blocks=blocks, first=first), target=target)
        assert isinstance(kernel, Kernel)
        assert kernel.resources.grid == (blocks, 1, 1)
        assert f"persistent grid: {blocks} blocks compute {tiles} tiles" in "\n".join(map(str, kernel.remarks))
        out = np.full((4, 4), -1, np.int64)
        kernel.launcher(out, emulation=Emulation(blocks=range(first, first + 3)))
        wanted = np.full((4, 4), -1, np.int64)
        for row in range(3):
            wanted[row, :3] = first + row + np.arange(3) * blocks
        wanted[wanted >= tiles] = -1
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(("target", "blocks"), [("sm_90a", 2**31 - 1), ("gfx942", 2**22 - 1)])
def test_a_grid_of_the_largest_size_is_not_persistent(target: str, blocks: int) -> None:
    kernel = smalti.compile(TILES.format(tiles=blocks, blocks=blocks, first=0), target=target)
    assert isinstance(kernel, Kernel)
    assert kernel.resources.grid == (blocks, 1, 1)
    assert "persistent grid" not in "\n".join(map(str, kernel.remarks))
