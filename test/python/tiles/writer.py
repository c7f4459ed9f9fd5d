# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of small tile-level kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

EXTENTS = ("aligned", "ragged", "one", "odd")
"""Kinds of shapes: powers of two; tiles that extend past their memory; a single element; neither a power of two nor even."""

_SIZES = {"aligned": (64, 8, 4), "ragged": (64, 8, 4), "one": (1, 1, 1), "odd": (21, 5, 3)}


def sizes(extent: str, rank: int) -> tuple[int, ...]:
    """The shape of a tile: few elements along all dimensions but the last one."""
    return tuple(reversed(_SIZES[extent][:rank]))


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def memref(shape: Sequence[int], element: str) -> str:
    return f"memref<{'x'.join([*map(str, shape), element])}>"


def stored(element: str) -> str:
    """The element type in memory: arrays have only integers of whole bytes."""
    bits = int(element[1:]) if element[0] == "i" and element != "index" else 1
    return element if bits == 1 else f"i{max(1 << (bits - 1).bit_length(), 8)}"


def is_float(element: str) -> bool:
    return element.startswith(("f", "bf"))


@dataclass
class Tile:
    """A value of the kernel."""

    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return tensor(self.shape, self.element)

    def __str__(self) -> str:
        return self.name


class Writer:
    """A kernel that reads tiles, computes, and writes tiles."""

    def __init__(self, extent: str) -> None:
        self.extent = extent
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self._count = 0

    def _memory(self, shape: Sequence[int], element: str, is_whole: bool) -> tuple[str, str]:
        """An argument for a tile of this shape. In ragged kernels, the tile extends past the memory."""
        if self.extent == "ragged" and not is_whole:
            shape = [size - 1 - size // 8 if size > 1 else 1 for size in shape]
        name, ty = f"%m{len(self.arguments)}", memref(shape, element)
        self.arguments.append(f"{name}: {ty}")
        return name, ty

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def value(self, text: str, shape: Sequence[int], element: str) -> Tile:
        """The result of an operation."""
        self._count += 1
        name = f"%v{self._count}"
        self.line(f"{name} = {text}")
        return Tile(name, tuple(shape), element)

    def op(self, name: str, *operands: Tile) -> Tile:
        """An operation with operands and a result of one type."""
        first = operands[0]
        return self.value(f"{name} {', '.join(map(str, operands))} : {first.type}", first.shape, first.element)

    def _convert(self, name: str, tile: Tile, element: str) -> Tile:
        text = f"arith.{name} {tile} : {tile.type} to {tensor(tile.shape, element)}"
        return self.value(text, tile.shape, element)

    def constant(self, number: float | bool, shape: Sequence[int], element: str) -> Tile:
        text = str(number).lower() if isinstance(number, bool) else str(number)
        return self.value(f"arith.constant dense<{text}> : {tensor(shape, element)}", shape, element)

    def scalar(self, number: float, element: str) -> Tile:
        return self.value(f"arith.constant {number} : {element}", (), element)

    @staticmethod
    def window(shape: Sequence[int]) -> str:
        return f"{[0] * len(shape)} {list(shape)} {[1] * len(shape)}"

    def load(self, shape: Sequence[int], element: str, is_whole: bool = False) -> Tile:
        """A tile of an argument."""
        memory = stored(element)
        name, ty = self._memory(shape, memory, is_whole)
        tile = self.value(
            f"triton_xla.extract {name}{self.window(shape)} : {ty} to {tensor(shape, memory)}", shape, memory
        )
        return tile if memory == element else self._convert("trunci", tile, element)

    def in_memory(self, tile: Tile) -> Tile:
        """The tile with elements that an array has."""
        memory = stored(tile.element)
        return tile if memory == tile.element else self._convert("extsi", tile, memory)

    def store(self, tile: Tile) -> None:
        """Writes a tile to an argument of its own."""
        tile = self.in_memory(tile)
        name, ty = self._memory(tile.shape, tile.element, False)
        self.line(f"triton_xla.insert {tile} into {name}{self.window(tile.shape)} : {tile.type} into {ty}")

    def argument(self, shape: Sequence[int], element: str) -> tuple[str, str]:
        """The name and the type of an argument of exactly this shape."""
        return self._memory(shape, element, True)

    def text(self, tiles: int = 1) -> str:
        lines = "\n".join(self.lines)
        return (
            f"triton_xla.entry_func @tiles({', '.join(self.arguments)}, %tile: index) tiles {tiles} {{\n{lines}\n"
            "  triton_xla.return\n}\n"
        )
