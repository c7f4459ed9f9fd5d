# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures of docs/layouts.md, as SVG: registers by lane, the tiling steps of a layout, and a swizzle.

The positions come from the layout functions of the built package, so this module needs its interpreter.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as Xml

from smalti import lane_maps
from smalti.layouts import named_layout

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "pictures"
_STYLE = (
    "text { font: 11px monospace; text-anchor: middle } .label { text-anchor: start } .heading { font-weight: bold; "
    "text-anchor: start } .cell { stroke: #fff } .tile { fill: none; stroke: #000; stroke-width: 1.5 }"
)


class _Picture:
    """An SVG picture with a white background."""

    def __init__(self, title: str, width: int, height: int) -> None:
        self.root = Xml.Element(
            "svg",
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            width=str(width),
            height=str(height),
            viewBox=f"0 0 {width} {height}",
        )
        Xml.SubElement(self.root, "title").text = title
        Xml.SubElement(self.root, "style").text = _STYLE
        self.box(0, 0, width, height, "#fff", kind="background")

    def box(self, x: int, y: int, width: int, height: int, fill: str, *, kind: str = "cell") -> None:
        position = {"x": str(x), "y": str(y), "width": str(width), "height": str(height)}
        Xml.SubElement(self.root, "rect", {"class": kind, **({"fill": fill} if fill else {}), **position})

    def text(self, x: int, y: int, words: str, kind: str = "") -> None:
        element = Xml.SubElement(self.root, "text", {"class": kind} if kind else {}, x=str(x), y=str(y))
        element.text = words

    def cell(self, x: int, y: int, width: int, height: int, fill: str, words: str) -> None:
        self.box(x, y, width, height, fill)
        self.text(x + width // 2, y + height // 2 + 4, words)

    def svg(self) -> str:
        Xml.indent(self.root)
        return Xml.tostring(self.root, encoding="unicode") + "\n"


def _color(part: float, lightness: int = 80) -> str:
    return f"hsl({round(360 * part)}, 65%, {lightness}%)"


def registers() -> str:
    """The first 16 rows and columns of a vector with the layout WGMMA: lane and register of each element."""
    layout, shape, rows, columns = named_layout("WGMMA"), [64, 16], 16, 16
    width, height, left, top = 52, 20, 40, 64
    cells: dict[tuple[int, int], tuple[int, int, int]] = {}
    for lane in range(layout.num_lanes):
        for register in range(layout.num_registers(shape)):
            for element in range(layout.vector_length):
                row, column = layout.element_index(shape, 0, lane, register, element)
                cells[row, column] = (lane, register, element)
    picture = _Picture("Layout WGMMA: rows 0 to 15 in warp 0", left + columns * width + 8, top + rows * height + 8)
    picture.text(8, 18, "WGMMA: rows 0 to 15 of a 64 x 16 vector, all in warp 0", "heading")
    picture.text(8, 36, "lane.register; a register holds two elements of a row; boxes are 8 x 8 tiles", "label")
    for column in range(columns):
        picture.text(left + column * width + width // 2, top - 6, str(column))
    for row in range(rows):
        picture.text(left // 2, top + row * height + 14, str(row))
        for column in range(columns):
            lane, register, _ = cells[row, column]
            fill = _color(lane / layout.num_lanes, 88 if register % 2 else 76)
            x, y = left + column * width, top + row * height
            picture.cell(x, y, width, height, fill, f"{lane}.r{register}")
    for row in range(0, rows, 8):
        for column in range(0, columns, 8):
            picture.box(left + column * width, top + row * height, 8 * width, 8 * height, "", kind="tile")
    return picture.svg()


def tiling() -> str:
    """The shape 64 x 16 after each tile of the layout WGMMA, and the role of each dimension of the result."""
    layout, shape = named_layout("WGMMA"), [64, 16]
    width, height, step, left, top = 62, 24, 46, 150, 44
    steps: list[list[tuple[int, int, int]]] = [[(dim, 1, size) for dim, size in enumerate(shape)]]
    for tile in layout.tiling:
        dims = steps[-1]
        outer, tiled = dims[: -len(tile)], dims[-len(tile) :]
        steps.append(
            [
                *outer,
                *((dim, stride * part, size // part) for (dim, stride, size), part in zip(tiled, tile, strict=True)),
                *((dim, stride, part) for (dim, stride, _), part in zip(tiled, tile, strict=True)),
            ]
        )
    final = steps[-1]
    if final != [tuple(dim) for dim in layout.tile(shape)]:
        raise ValueError("the steps do not end at the tiled shape of the layout")
    roles = {layout.vector_dim: ("vector", _color(0.0))}
    roles |= {part: ("lane", _color(0.6)) for part in layout.lane_dims if isinstance(part, int)}
    roles |= {part: ("warp", _color(0.33)) for part in layout.warp_dims if isinstance(part, int)}
    picture = _Picture("Tiling steps of the layout WGMMA", left + len(final) * width + 8, top + len(steps) * step + 52)
    picture.text(8, 18, "WGMMA: the shape 64 x 16 after each tile", "heading")
    for number, dims in enumerate(steps):
        y = top + number * step
        label = "shape" if number == 0 else f"tile {list(layout.tiling[number - 1])}"
        picture.text(8, y + 16, label, "label")
        for position, (dim, _, size) in enumerate(dims):
            x = left + (len(final) - len(dims) + position) * width
            fill = "#ddd" if dim == 0 else "#f3f3f3"
            if number == len(steps) - 1:
                fill = roles.get(position - len(final), ("register", "#fff2b3"))[1]
            picture.cell(x, y, width - 4, height, fill, str(size))
    y = top + len(steps) * step - 4
    for position in range(len(final)):
        x = left + position * width + (width - 4) // 2
        picture.text(x, y, str(position - len(final)))
        picture.text(x, y + 18, roles.get(position - len(final), ("register", ""))[0])
    picture.text(8, y, "dimension", "label")
    picture.text(8, y + 18, "role", "label")
    picture.text(left, y + 42, "dark: sizes along rows; light: sizes along columns", "label")
    return picture.svg()


def swizzle() -> str:
    """The first bank of each 16-byte chunk of an 8 x 64 tile of 16-bit elements, without and with a swizzle."""
    rows, chunks, elements, banks = 8, 8, 8, 32
    width, height, left, top, gap = 56, 22, 36, 62, 48
    block = left + chunks * width + gap
    picture = _Picture("Banks of a tile without and with a swizzle", 2 * block - gap + 8, top + rows * height + 12)
    for number, width_bytes in enumerate((16, 128)):
        x0 = number * block
        memory = lane_maps.of_memory([rows, chunks * elements], 16, tile=[rows, chunks * elements], swizzle=width_bytes)
        name = "no swizzle" if width_bytes == 16 else f"swizzle<{width_bytes}>"
        picture.text(x0 + 8, 18, f"{name}: first of the 4 banks of each chunk", "heading")
        picture.text(x0 + 8, 36, "row: 128 bytes = 64 elements = 8 chunks of 16 bytes", "label")
        for chunk in range(chunks):
            picture.text(x0 + left + chunk * width + width // 2, top - 6, str(chunk))
        for row in range(rows):
            picture.text(x0 + left // 2, top + row * height + 15, str(row))
            for chunk in range(chunks):
                bank = int(memory.cells[row, chunk * elements].label.split(":")[0])
                x, y = x0 + left + chunk * width, top + row * height
                picture.cell(x, y, width, height, _color(bank / banks), str(bank))
        picture.box(x0 + left, top, width, rows * height, "", kind="tile")
    return picture.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "layout-registers.svg": registers,
    "layout-tiling.svg": tiling,
    "layout-swizzle.svg": swizzle,
}


def write() -> Sequence[pathlib.Path]:
    """Write all pictures, and return their paths."""
    FOLDER.mkdir(exist_ok=True)
    paths: list[pathlib.Path] = []
    for name, draw in PICTURES.items():
        path = FOLDER / name
        path.write_text(draw(), encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write():
        print(f"    {written.relative_to(FOLDER.parents[1])}")
