# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lane maps: the text, the pictures and the command."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner
from conftest import ROOT
from smalti import lane_maps
from smalti.cli import commands
from smalti.lane_maps import LaneMap
from smalti.layouts import Replicated, StridedLayout, TiledLayout

WGMMA = TiledLayout([[64, 8], [16, 8], [8, 8], [2]], [-7], [-3, -2])
ROWS = TiledLayout([[64], [16], [8], [1]], [-4], [-2, Replicated(4)])
WGMMA_TEXT = f"#mosaic_gpu.TiledLayout<{WGMMA}>"
SWIZZLED = "[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]"
SVG = "{http://www.w3.org/2000/svg}"


def golden(name: str) -> str:
    return (ROOT / "test/python/layouts/golden" / name).read_text()


def test_text_of_wgmma() -> None:
    assert lane_maps.of_registers(WGMMA).text() == golden("wgmma_64x8.txt")


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (WGMMA, (128, 16)),
        (WGMMA, (2, 64, 8)),
        (ROWS, (128,)),
        (TiledLayout([[4]], [Replicated(4)], [Replicated(32)]), (8,)),
    ],
)
def test_cells_are_those_of_the_layout(layout: TiledLayout, shape: tuple[int, ...]) -> None:
    result = lane_maps.of_registers(layout, shape)
    assert len(result.cells) == math.prod(shape)
    for index, cell in result.cells.items():
        warp, lane, value = map(int, cell.label.split("/"))
        register, element = divmod(value, layout.vector_length)
        assert tuple(layout.element_index(shape, warp, lane, register, element)) == index
        assert layout.is_first_replica(warp, lane)
        assert f"warp {warp}, lane {lane}, value {value}" in cell.detail


def test_replicas_are_said() -> None:
    result = lane_maps.of_registers(ROWS)
    assert result.legend[0] == "shape [64]: 4 warps of 32 lanes, 2 values each"
    assert "each element has 4 copies in different lanes or warps; the cell shows the first" in result.legend
    assert result.cells[(9,)].detail.count("warp 0") == 4


def test_strided_layout() -> None:
    result = lane_maps.of_registers(StridedLayout([4, 128], 2))
    # 512 elements by twos: the thread 65 has the second chunk from 130 on, and again 256 further.
    assert result.cells[(1, 2)].label == "2/1/0"
    assert result.cells[(1, 3)].label == "2/1/1"
    assert result.cells[(3, 2)].label == "2/1/2"
    with pytest.raises(ValueError, match=r"for a vector of shape \[4, 128\], not \[8, 64\]"):
        lane_maps.of_registers(StridedLayout([4, 128], 2), [8, 64])
    with pytest.raises(ValueError, match="threads"):
        lane_maps.of_registers(StridedLayout([4, 3], 1))


def test_splat_layout() -> None:
    result = lane_maps.of_splat([2, 3])
    assert {cell.label for cell in result.cells.values()} == {"*"}
    assert len(result.cells) == 6


@pytest.mark.parametrize("swizzle", [16, 32, 64, 128])
@pytest.mark.parametrize(("bits", "tile"), [(16, 8), (8, 16), (32, 8)])
def test_memory_under_a_tile_and_a_swizzle(swizzle: int, bits: int, tile: int) -> None:
    columns = swizzle * 8 // bits
    shape = (2, 16, 2 * columns)
    result = lane_maps.of_memory(shape, bits, tile=[8, columns], swizzle=swizzle)
    size = bits // 8
    seen = []
    for (page, row, column), cell in result.cells.items():
        bank, byte = map(int, cell.label.split(":"))
        seen.append(byte)
        assert bank == byte // 4 % 32
        # A tile of 8 rows is contiguous; within it the swizzle permutes the 16-byte chunks of a row.
        number = (page * 2 + row // 8) * 2 + column // columns
        row_start = (number * 8 + row % 8) * swizzle
        assert row_start <= byte < row_start + swizzle
        line = row_start // 128 % (swizzle // 16)
        chunk = column % columns * size // 16
        assert byte - row_start == (chunk ^ line) * 16 + column % columns * size % 16
    assert sorted(seen) == list(range(0, math.prod(shape) * size, size))


def test_a_column_is_spread_over_all_banks() -> None:
    """With a swizzle, the 16-byte chunks of one column in 8 rows are in different banks."""
    result = lane_maps.of_memory([8, 64], 16, tile=[8, 64], swizzle=128)
    assert len({result.cells[(row, 8)].label.split(":")[0] for row in range(8)}) == 8
    plain = lane_maps.of_memory([8, 64], 16, tile=[8, 64])
    assert {plain.cells[(row, 8)].label.split(":")[0] for row in range(8)} == {"4"}


def test_elements_of_parts_of_bytes() -> None:
    result = lane_maps.of_memory([4, 32], 4)
    assert result.cells[(0, 1)].detail == "[0, 1]: byte 0 bit 4, bank 0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [10, 64], "tile": [8, 64]}, r"the tile \[8, 64\] does not divide the shape \[10, 64\]"),
        ({"shape": [64], "tile": [8, 64]}, r"the tile \[8, 64\] does not divide the shape \[64\]"),
        ({"shape": [8, 64], "swizzle": 48}, "the swizzle is 48 bytes; it must be 16, 32, 64 or 128"),
        ({"shape": [8, 8], "tile": [8, 8], "swizzle": 128}, "must be a multiple of the swizzle of 128 bytes"),
        ({"shape": [512, 256]}, "has 131072 elements; at most 65536 are supported"),
        ({"shape": [0]}, r"the shape \[0\] has a size below 1; all sizes must be positive"),
    ],
)
def test_memory_that_has_no_map(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lane_maps.of_memory(arguments.pop("shape"), 16, **arguments)


def test_registers_that_have_no_map() -> None:
    with pytest.raises(ValueError, match="10"):
        lane_maps.of_registers(WGMMA, [10, 8])
    with pytest.raises(ValueError, match="at most 65536"):
        lane_maps.of_registers(WGMMA, [512, 256])


@pytest.mark.parametrize(
    ("result", "cells"),
    [
        (lane_maps.of_registers(WGMMA), 512),
        (lane_maps.of_registers(WGMMA, [2, 64, 8]), 1024),
        (lane_maps.of_registers(ROWS), 64),
        (lane_maps.of_splat([]), 1),
        (lane_maps.of_memory([8, 64], 16, tile=[8, 64], swizzle=128), 512),
    ],
)
def test_pictures(result: LaneMap, cells: int) -> None:
    svg = Xml.fromstring(result.svg())
    boxes = svg.findall(f".//{SVG}rect[@class='cell']")
    assert len(boxes) == cells
    # No cell hides another, and all are inside of the picture.
    corners = {(box.attrib["x"], box.attrib["y"]) for box in boxes}
    assert len(corners) == cells
    for box in boxes:
        assert float(box.attrib["x"]) + float(box.attrib["width"]) <= float(svg.attrib["width"])
        assert float(box.attrib["y"]) + float(box.attrib["height"]) <= float(svg.attrib["height"])
    titles = {title.text for title in svg.findall(f".//{SVG}g/{SVG}title")}
    assert titles == {cell.detail for cell in result.cells.values()}
    assert result.svg() == result.svg()
    page = result.html()
    assert page.startswith("<!DOCTYPE html>\n<html")
    assert page.count('class="cell"') == cells
    assert all(line in page for line in result.legend)


def run(*words: str) -> Any:
    return CliRunner().invoke(commands.main, ["layout", *words])


def test_command_prints_the_map() -> None:
    done = run(WGMMA_TEXT)
    assert done.exit_code == 0, done.output
    assert done.output == golden("wgmma_64x8.txt")


def test_command_accepts_names() -> None:
    assert run("WGMMA").output == golden("wgmma_64x8.txt")
    done = run("WGMA")
    assert done.exit_code == 1
    assert "named layouts: WGMMA, " in done.output


def test_command_writes_pictures(tmp_path: Path) -> None:
    page, picture = tmp_path / "map.html", tmp_path / "map.svg"
    done = run(SWIZZLED, "--shape", "16x64", "--html", str(page), "--svg", str(picture))
    assert done.exit_code == 0, done.output
    assert done.output == f"{page}: 1024 elements\n{picture}: 1024 elements\n"
    expected = lane_maps.of_memory([16, 64], 16, tile=[8, 64], swizzle=128)
    assert page.read_text() == expected.html()
    assert picture.read_text() == expected.svg()


def test_command_uses_the_banks_of_the_target() -> None:
    done = run(SWIZZLED, "--shape", "8x64", "--target", "gfx950")
    assert done.exit_code == 0, done.output
    assert "64 banks of 4 bytes" in done.output
    assert "32 banks of 4 bytes" in run(SWIZZLED, "--shape", "8x64").output
    assert "16 bits" in run("#mosaic_gpu.tile<[8, 64]>", "--shape", "8x64", "--element", "bf16").output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["foo"], "'foo' is not a layout: expected attribute value"),
        ([WGMMA_TEXT, "--shape", "64x"], "'64x' is not a shape; use positive sizes joined by x, such as 64x128"),
        ([WGMMA_TEXT, "--shape", "60x8"], "60"),
        (
            ["#mosaic_gpu.WGSplatFragLayout<[8]>", "--shape", "9"],
            "for vectors of shape [8], but --shape is [9]; omit --shape",
        ),
        (["#mosaic_gpu.tile<[8, 64]>"], "a shared-memory layout requires --shape"),
        (
            ["#mosaic_gpu.tmem", "--shape", "8"],
            "#mosaic_gpu.tmem is not a transform of shared memory; use #mosaic_gpu.tile or #mosaic_gpu.swizzle",
        ),
        ([SWIZZLED, "--shape", "8x64", "--element", "vector<2xf16>"], "use an integer or float type, such as f16"),
        (
            [SWIZZLED, "--shape", "8x64", "--element", "?"],
            "--element is '?', which is not an MLIR type; use an integer or float type, such as f16",
        ),
        ([SWIZZLED, "--shape", "8x64", "--target", "cpu"], "cpu does not have shared memory"),
        ([WGMMA_TEXT, "--svg", "/nowhere/map.svg"], "cannot write /nowhere/map.svg: No such file or directory"),
    ],
)
def test_command_refuses(words: list[str], message: str) -> None:
    done = run(*words)
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output
