# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The list of the kernels of the matrix, which the modules of this package fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fuzz.program import Program

from ..writer import EXTENTS, Tile, Writer, sizes

FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
ARITHMETIC_FLOATS = ("f64", "f32", "f16", "bf16")
IN_MEMORY_INTEGERS = ("i64", "i32", "i16", "i8", "index")
INTEGERS = ("i33", "i12", "i3", *IN_MEMORY_INTEGERS)
"""Also types that arrays do not have. The kernels convert them."""
IN_MEMORY = (*FLOATS, "f6E2M3FN", "f6E3M2FN", *IN_MEMORY_INTEGERS, "i1")
ALL = (*FLOATS, "f6E2M3FN", "f6E3M2FN", *INTEGERS, "i1")
NUMBERS = (*ARITHMETIC_FLOATS, *INTEGERS)

Build = Callable[[Writer, str], None]


@dataclass(frozen=True)
class Case:
    """A kernel of the matrix."""

    operation: str
    element: str
    extent: str
    program: Program

    def __str__(self) -> str:
        return f"{self.operation}-{self.element}-{self.extent}"


@dataclass(frozen=True)
class _Entry:
    build: Build
    elements: Sequence[str]
    tiles: int
    extents: Sequence[str]


ENTRIES: dict[str, _Entry] = {}


def add(name: str, elements: Sequence[str], build: Build, *, tiles: int = 1, extents: Sequence[str] = EXTENTS) -> None:
    assert name not in ENTRIES, name
    ENTRIES[name] = _Entry(build, elements, tiles, extents)


def kernel(
    name: str, elements: Sequence[str], *, tiles: int = 1, extents: Sequence[str] = EXTENTS
) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        add(name, elements, build, tiles=tiles, extents=extents)
        return build

    return register


def cases() -> Iterator[Case]:
    """All kernels."""
    for name, entry in ENTRIES.items():
        for element in entry.elements:
            for extent in entry.extents:
                writer = Writer(extent)
                entry.build(writer, element)
                yield Case(name, element, extent, Program(writer.text(entry.tiles), seed=len(name)))


def load_tiles(w: Writer, element: str, count: int, rank: int = 2) -> list[Tile]:
    return [w.load(sizes(w.extent, rank), element) for _ in range(count)]
