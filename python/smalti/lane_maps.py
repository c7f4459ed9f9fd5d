# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maps from elements of a vector to lanes and registers, or of shared memory to banks, as text and as a picture.

    lane_map = of_registers(named_layout("WGMMA"), [64, 8])
    print(lane_map.text())
    Path("wgmma.html").write_text(lane_map.html())

A map has a cell for each element. For a vector in registers, a cell contains warp, lane and value number. For shared
memory it contains the bank and the byte address of the element.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as Xml

from .diagnostics import counted
from .layouts import StridedLayout, TiledLayout, name_of

MAX_ELEMENTS = 1 << 16
"""The largest number of elements of a map."""


@dataclass(frozen=True)
class Cell:
    """The description of one element."""

    label: str
    """Short text for the cell."""
    detail: str
    """Full text for a tooltip."""
    hue: float
    """0 to 1; equal for elements of one warp or bank."""
    shade: float
    """0 to 1; increases with the lane, or with the row of banks."""


@dataclass(frozen=True)
class LaneMap:
    """The cells of all elements of a shape."""

    title: str
    shape: tuple[int, ...]
    legend: tuple[str, ...]
    """The meaning of the labels, and properties of all elements."""
    cells: dict[tuple[int, ...], Cell] = field(repr=False)

    def _pages(self) -> Iterator[tuple[tuple[int, ...], range, range]]:
        """The matrices of the last two dimensions: leading indices, rows and columns. A vector is one row."""
        *leading, rows, columns = (1, 1, *self.shape)[-max(2, len(self.shape)) :]
        for head in itertools.product(*map(range, leading)):
            yield head, range(rows), range(columns)

    def _cell(self, head: tuple[int, ...], row: int, column: int) -> Cell:
        return self.cells[(*head, row, column)[-len(self.shape) :] if self.shape else ()]

    def _caption(self, head: tuple[int, ...]) -> str:
        return f"[{', '.join(map(str, head))}, :, :]" if head else ""

    def text(self) -> str:
        """The map as a table with one line per row, after the legend."""
        lines = [self.title, *self.legend]
        width = max((len(cell.label) for cell in self.cells.values()), default=0)
        for head, rows, columns in self._pages():
            width = max(width, len(str(len(columns) - 1)))
            margin = len(str(len(rows) - 1))
            lines += ["", self._caption(head)] if head else [""]
            lines.append(" " * margin + " |" + "".join(f" {column:>{width}}" for column in columns))
            lines.append("-" * (margin + 1) + "+" + "-" * ((width + 1) * len(columns)))
            for row in rows:
                labels = (f" {self._cell(head, row, column).label:>{width}}" for column in columns)
                lines.append(f"{row:>{margin}} |" + "".join(labels))
        return "\n".join(lines) + "\n"

    def _picture(self) -> Xml.Element:
        """The map as an SVG element: a rectangle of class `cell` per element, with `Cell.detail` as its title."""
        height, gap = 16, 24
        width = 8 + 6 * max((len(cell.label) for cell in self.cells.values()), default=0)
        svg = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
        Xml.SubElement(svg, "title").text = self.title
        Xml.SubElement(
            svg, "style"
        ).text = "text { font: 10px monospace; text-anchor: middle } .index { fill: #666 } .cell { stroke: #fff }"
        top, columns = 0, range(0)
        for head, rows, columns in self._pages():
            if head:
                _text(svg, width, top + height - 4, self._caption(head), "index")
                top += height
            for column in columns:
                _text(svg, (column + 1.5) * width, top + height - 4, str(column), "index")
            for row in rows:
                y = top + (row + 1) * height
                _text(svg, width / 2, y + height - 4, str(row), "index")
                for column in columns:
                    cell, x = self._cell(head, row, column), (column + 1) * width
                    group = Xml.SubElement(svg, "g")
                    Xml.SubElement(group, "title").text = cell.detail
                    box = {"x": x, "y": y, "width": width, "height": height}
                    Xml.SubElement(
                        group, "rect", {"class": "cell", "fill": _color(cell)}, **{k: str(v) for k, v in box.items()}
                    )
                    _text(group, x + width / 2, y + height - 4, cell.label)
            top += (len(rows) + 1) * height + gap
        svg.set("width", str((len(columns) + 1) * width))
        svg.set("height", str(top))
        return svg

    def svg(self) -> str:
        """The map as an SVG picture."""
        return Xml.tostring(self._picture(), encoding="unicode") + "\n"

    def html(self) -> str:
        """An HTML page with the legend and the picture."""
        page = Xml.Element("html", lang="en")
        head, body = Xml.SubElement(page, "head"), Xml.SubElement(page, "body")
        Xml.SubElement(head, "meta", charset="utf-8")
        Xml.SubElement(head, "title").text = self.title
        Xml.SubElement(head, "style").text = "body { font-family: sans-serif }"
        Xml.SubElement(body, "h1").text = self.title
        for line in self.legend:
            Xml.SubElement(body, "p").text = line
        body.append(self._picture())
        return "<!DOCTYPE html>\n" + Xml.tostring(page, encoding="unicode", method="html") + "\n"


def _text(parent: Xml.Element, x: float, y: float, words: str, kind: str | None = None) -> None:
    Xml.SubElement(parent, "text", {"class": kind} if kind else {}, x=f"{x:g}", y=f"{y:g}").text = words


def _color(cell: Cell) -> str:
    return f"hsl({round(cell.hue * 360)}, 65%, {round(88 - 33 * cell.shade)}%)"


def _check_size(shape: Sequence[int]) -> None:
    if any(size < 1 for size in shape):
        raise ValueError(f"the shape {list(shape)} has a size below 1; all sizes must be positive")
    if math.prod(shape) > MAX_ELEMENTS:
        raise ValueError(
            f"the lane map of the shape {list(shape)} has {math.prod(shape)} elements; at most {MAX_ELEMENTS} are supported: use a smaller shape"
        )


Holder = tuple[int, int, int]
"""Warp, lane and value: the index of the element among those of the lane."""


def _tiled_holders(layout: TiledLayout, shape: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Holder]]:
    layout.validate_for(shape)
    length, registers = layout.vector_length, layout.num_registers(shape)
    for warp, lane, register, element in itertools.product(
        range(layout.num_warps), range(layout.num_lanes), range(registers), range(length)
    ):
        index = layout.element_index(shape, warp, lane, register, element)
        yield tuple(index), (warp, lane, register * length + element)


def _strided_holders(layout: StridedLayout, threads: int, lanes: int) -> Iterator[tuple[tuple[int, ...], Holder]]:
    registers = layout.num_registers(threads)
    for thread, register, element in itertools.product(range(threads), range(registers), range(layout.vector_size)):
        index = layout.element_index(threads, thread, register, element)
        yield tuple(index), (*divmod(thread, lanes), register * layout.vector_size + element)


def of_registers(
    layout: TiledLayout | StridedLayout, shape: Sequence[int] | None = None, *, warps: int = 4, lanes: int = 32
) -> LaneMap:
    """The map of a vector in registers.

    `shape` defaults to the base tile of a tiled layout, or to the shape of a strided layout. `warps` and `lanes` are the
    numbers of warps and of lanes per warp of a strided layout; a tiled layout states its own. Raises ValueError if the
    layout does not match the shape.
    """
    if isinstance(layout, TiledLayout):
        shape = layout.tiling[0] if shape is None else shape
        name = name_of(layout)
        title = f"TiledLayout<{layout}>" + (f" ({name})" if name else "")
        vector, warps, lanes = layout.vector_length, layout.num_warps, layout.num_lanes
    else:
        if shape is not None and list(shape) != list(layout.shape):
            raise ValueError(f"the layout is for a vector of shape {list(layout.shape)}, not {list(shape)}")
        shape = layout.shape
        title = f"WGStridedFragLayout<{list(shape)}, {layout.vector_size}>"
        vector = layout.vector_size
    _check_size(shape)
    elements = (
        _tiled_holders(layout, shape)
        if isinstance(layout, TiledLayout)
        else _strided_holders(layout, warps * lanes, lanes)
    )
    holders: dict[tuple[int, ...], list[Holder]] = {}
    for index, holder in elements:
        holders.setdefault(index, []).append(holder)
    copies = max(map(len, holders.values()))
    values = math.prod(shape) * copies // (warps * lanes)
    legend = [
        f"shape {list(shape)}: {counted(warps, 'warp')} of {counted(lanes, 'lane')}, {counted(values, 'value')} each"
    ]
    legend.append("warp/lane/value" + f"; {vector} values in a row are one vector" * (vector > 1))
    if copies > 1:
        legend.append(
            f"each element has {counted(copies, 'copy', 'copies')} in different lanes or warps; the cell shows the first"
        )
    cells: dict[tuple[int, ...], Cell] = {}
    for index, held in holders.items():
        warp, lane, value = held[0]
        where = "; ".join(f"warp {w}, lane {n}, value {v}" for w, n, v in held)
        cells[index] = Cell(
            f"{warp}/{lane}/{value}", f"{list(index)}: {where}", hue=warp / warps, shade=lane / max(1, lanes - 1)
        )
    return LaneMap(title, tuple(shape), tuple(legend), cells)


def of_splat(shape: Sequence[int]) -> LaneMap:
    """The map of a splat: every thread holds the single value of all elements."""
    _check_size(shape)
    cell = Cell("*", "every thread", hue=0.0, shade=0.0)
    cells = dict.fromkeys(itertools.product(*map(range, shape)), cell)
    legend = ("every thread holds the value of all elements",)
    return LaneMap(f"WGSplatFragLayout<{list(shape)}>", tuple(shape), legend, cells)


def _address(index: Sequence[int], shape: Sequence[int], tile: Sequence[int]) -> int:
    """The linear index of an element in memory that is stored tile by tile."""
    tile = tile or [1]
    lead = len(shape) - len(tile)
    digits = [
        *zip(index[:lead], shape[:lead], strict=True),
        *((i // t, s // t) for i, s, t in zip(index[lead:], shape[lead:], tile, strict=True)),
        *((i % t, t) for i, t in zip(index[lead:], tile, strict=True)),
    ]
    address = 0
    for digit, size in digits:
        address = address * size + digit
    return address


def swizzled(address: int, swizzle: int) -> int:
    """The byte address after a swizzle of `swizzle` bytes, which permutes chunks of 16 bytes within a row."""
    return address ^ (address // 128 % (swizzle // 16)) * 16


def of_memory(
    shape: Sequence[int],
    element_bits: int,
    *,
    tile: Sequence[int] = (),
    swizzle: int = 16,
    banks: int = 32,
    bank_bytes: int = 4,
) -> LaneMap:
    """The map of tiled and swizzled shared memory: the bank and the byte address of each element."""
    _check_size(shape)
    if swizzle not in (16, 32, 64, 128):
        raise ValueError(f"the swizzle is {swizzle} bytes; it must be 16, 32, 64 or 128")
    if len(tile) > len(shape) or any(
        t < 1 or s % t for s, t in zip(shape[len(shape) - len(tile) :], tile, strict=False)
    ):
        raise ValueError(f"the tile {list(tile)} does not divide the shape {list(shape)}")
    row_bytes = (tile or shape or [1])[-1] * element_bits // 8
    if swizzle > 16 and row_bytes % swizzle:
        raise ValueError(
            f"a row of the tile has {row_bytes} bytes; this must be a multiple of the swizzle of {swizzle} bytes"
        )
    cells: dict[tuple[int, ...], Cell] = {}
    for index in itertools.product(*map(range, shape)):
        bits = _address(index, shape, tile) * element_bits
        byte = swizzled(bits // 8, swizzle)
        bank = byte // bank_bytes % banks
        detail = f"{list(index)}: byte {byte}" + (f" bit {bits % 8}" if element_bits % 8 else "") + f", bank {bank}"
        shade = byte // (bank_bytes * banks) % 8 / 7
        cells[index] = Cell(f"{bank}:{byte}", detail, hue=bank / banks, shade=shade)
    title = f"shared memory {'x'.join(map(str, shape))} of {element_bits} bits"
    title += f", tiles of {'x'.join(map(str, tile))}" * bool(tile) + f", {swizzle}-byte swizzle" * (swizzle > 16)
    return LaneMap(title, tuple(shape), (f"bank:byte; {banks} banks of {counted(bank_bytes, 'byte')}",), cells)
