# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers, scatters and atomics."""

from __future__ import annotations

from ..writer import Tile, Writer, sizes, tensor
from .registry import ALL, ARITHMETIC_FLOATS, FLOATS, IN_MEMORY, IN_MEMORY_INTEGERS, Build, add, kernel, load_tiles

for _dim in (0, 1):

    @kernel(f"triton_xla.gather_tile of dim {_dim}", ALL)
    def _gather_tile(w: Writer, element: str, dim: int = _dim) -> None:
        (x,) = load_tiles(w, element, 1)
        shape = tuple(size + 3 if d == dim else size for d, size in enumerate(x.shape))
        n = w.load(shape, "i32")
        types = f"{x.type}, {n.type} -> {tensor(shape, element)}"
        w.store(w.value(f"triton_xla.gather_tile {x}[{n}] dim {dim} : {types}", shape, element))


def _positions(w: Writer, count: int, index: str) -> Tile:
    """Positions of both signs, some of which are out of bounds."""
    return w.load((count,), index)


def _gather(index: str, masked: bool) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((6, 3), element)
        n = _positions(w, count, index)
        mask = f"mask {w.load((count,), 'i1')} " if masked else ""
        w.line("%column = arith.constant 2 : index")
        types = f"{ty}, {n.type}, index -> {tensor((count,), element)}"
        w.store(w.value(f"triton_xla.gather {name}[{n}, %column] {mask}: {types}", (count,), element))

    return build


for _name in ("i32", "i64", "index"):
    add(f"triton_xla.gather by {_name}", IN_MEMORY, _gather(_name, False))
add("triton_xla.gather with a mask", IN_MEMORY, _gather("i32", True))


def _scatter(flags: str, masked: bool) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((count + 2,), element)
        x = w.load((count,), element)
        if flags:
            n = w.value(f"triton_xla.iota dim 0 : {tensor((count,), 'i32')}", (count,), "i32")
            n = w.op("arith.addi", n, w.constant(3, n.shape, "i32"))
        else:
            n = _positions(w, count, "i32")
        mask = f"mask {w.load((count,), 'i1')} " if masked else ""
        w.line(f"triton_xla.scatter {x} into {name}[{n}] {mask}{flags} : {x.type} into {ty}, {n.type}")

    return build


add("triton_xla.scatter", IN_MEMORY, _scatter("", False))
add("triton_xla.scatter with a mask", IN_MEMORY, _scatter("", True))
add("triton_xla.scatter unique sorted", IN_MEMORY, _scatter("unique sorted", False))


def _atomic(kind: str, flags: str = "", masked: bool = False) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((6,), element)
        x, n = w.load((count,), element), _positions(w, count, "i32")
        mask = f"mask {w.load((count,), 'i1')} " if masked else ""
        w.line(f"%o = triton_xla.atomic_rmw {kind} {x} into {name}[{n}] {mask}{flags} : {x.type} into {ty}, {n.type}")

    return build


for _name in ("addf", "maximumf", "minimumf", "maxnumf", "minnumf"):
    add(f"triton_xla.atomic_rmw {_name}", ARITHMETIC_FLOATS, _atomic(_name), tiles=2)
for _name in ("addi", "muli", "maxs", "maxu", "mins", "minu", "andi", "ori", "xori"):
    add(f"triton_xla.atomic_rmw {_name}", IN_MEMORY_INTEGERS, _atomic(_name), tiles=2)
add("triton_xla.atomic_rmw addf deterministic", ARITHMETIC_FLOATS, _atomic("addf", "deterministic"))
add("triton_xla.atomic_rmw addf with a mask", ARITHMETIC_FLOATS, _atomic("addf", masked=True))
add(
    "triton_xla.atomic_rmw assign deterministic",
    (*ARITHMETIC_FLOATS, *IN_MEMORY_INTEGERS),
    _atomic("assign", "deterministic"),
)


@kernel("triton_xla.atomic_rmw mulf", ARITHMETIC_FLOATS)
def _atomic_multiplication(w: Writer, element: str) -> None:
    """No order of the multiplications overflows or underflows."""
    (count,) = sizes(w.extent, 1)
    name, ty = w.argument((6,), element)
    x, n = w.load((count,), element), _positions(w, count, "i32")
    two, half = (w.constant(number, x.shape, element) for number in (2.0, -0.5))
    w.line(f"%p = arith.cmpf ogt, {x}, {half} : {x.type}")
    w.line(f"%f = arith.select %p, {two}, {half} : {tensor(x.shape, 'i1')}, {x.type}")
    w.line(f"%o = triton_xla.atomic_rmw mulf %f into {name}[{n}] : {x.type} into {ty}, {n.type}")


def _ordered_old_values(kind: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((6,), element)
        x, n = w.load((count,), element), _positions(w, count, "i32")
        types = f"{x.type} into {ty}, {n.type}"
        w.store(
            w.value(f"triton_xla.atomic_rmw {kind} {x} into {name}[{n}] deterministic : {types}", (count,), element)
        )

    return build


add("triton_xla.atomic_rmw addf deterministic with its result", ARITHMETIC_FLOATS, _ordered_old_values("addf"))
add("triton_xla.atomic_rmw maxs deterministic with its result", IN_MEMORY_INTEGERS, _ordered_old_values("maxs"))


def _old_values(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((count + 1,), element)
        x = w.load((count,), element)
        n = w.value(f"triton_xla.iota dim 0 : {tensor((count,), 'i32')}", (count,), "i32")
        n = w.op("arith.addi", n, w.constant(2, n.shape, "i32"))
        values = str(x) if op != "atomic_cas" else f"{x}, {w.load((count,), element)}"
        w.store(w.value(f"triton_xla.{op} {values} into {name}[{n}] : {x.type} into {ty}, {n.type}", (count,), element))

    return build


for _name in ("addf", "assign"):
    add(f"triton_xla.atomic_rmw {_name} with its result", ARITHMETIC_FLOATS, _old_values(f"atomic_rmw {_name}"))
for _name in ("addi", "maxs"):
    add(f"triton_xla.atomic_rmw {_name} with its result", IN_MEMORY_INTEGERS, _old_values(f"atomic_rmw {_name}"))
add("triton_xla.atomic_cas", IN_MEMORY_INTEGERS, _old_values("atomic_cas"))


@kernel("triton_xla.atomic_rmw of a scalar", IN_MEMORY_INTEGERS, tiles=4, extents=("one",))
def _atomic_scalar(w: Writer, element: str) -> None:
    name, ty = w.argument((2,), element)
    w.line("%one = arith.constant 1 : index")
    w.line(f"%v = arith.constant 3 : {element}")
    w.line(f"%o = triton_xla.atomic_rmw addi %v into {name}[%one] : {element} into {ty}, index")


@kernel("memref.load and memref.store", (*FLOATS, *IN_MEMORY_INTEGERS), tiles=5, extents=("one",))
def _load_and_store(w: Writer, element: str) -> None:
    source, destination = w.argument((5, 2), element), w.argument((5,), element)
    w.line("%one = arith.constant 1 : index")
    w.line(f"%v = memref.load {source[0]}[%tile, %one] : {source[1]}")
    w.line(f"memref.store %v, {destination[0]}[%tile] : {destination[1]}")
