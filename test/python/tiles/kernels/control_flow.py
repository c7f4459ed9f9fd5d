# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches."""

from __future__ import annotations

from ..writer import Tile, Writer, is_float, stored
from .registry import NUMBERS, kernel, load_tiles


def _sum_op(element: str) -> str:
    return "arith.addf" if is_float(element) else "arith.addi"


@kernel("scf.for", NUMBERS)
def _for(w: Writer, element: str) -> None:
    x, y = load_tiles(w, element, 2)
    for number in (0, 1, 3):
        w.line(f"%c{number} = arith.constant {number} : index")
    w.line(f"%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = {x}) -> ({x.type}) {{")
    w.line(f"  %u = {_sum_op(element)} %t, {y} : {x.type}")
    w.line(f"  scf.yield %u : {x.type}")
    w.line("}")
    w.store(Tile("%r", x.shape, element))


@kernel("scf.if", NUMBERS, tiles=2)
def _if(w: Writer, element: str) -> None:
    x, y = load_tiles(w, element, 2)
    name, ty = w.argument((2, *x.shape), stored(element))
    w.line("%c0 = arith.constant 0 : index")
    w.line("%is_first = arith.cmpi eq, %tile, %c0 : index")
    w.line(f"%r = scf.if %is_first -> ({x.type}) {{")
    w.line(f"  %u = {_sum_op(element)} {x}, {y} : {x.type}")
    w.line(f"  scf.yield %u : {x.type}")
    w.line("} else {")
    w.line(f"  scf.yield {y} : {x.type}")
    w.line("}")
    window = f"[%tile, 0, 0] [1, {x.shape[0]}, {x.shape[1]}] [1, 1, 1]"
    r = w.in_memory(Tile("%r", x.shape, element))
    w.line(f"triton_xla.insert {r} into {name}{window} : {r.type} into {ty}")


@kernel("scf.while", NUMBERS)
def _while(w: Writer, element: str) -> None:
    x, y = load_tiles(w, element, 2)
    w.line("%c0 = arith.constant 0 : index")
    w.line("%c1 = arith.constant 1 : index")
    w.line("%c4 = arith.constant 4 : index")
    w.line(f"%n, %r = scf.while (%i = %c0, %t = {x}) : (index, {x.type}) -> (index, {x.type}) {{")
    w.line("  %more = arith.cmpi slt, %i, %c4 : index")
    w.line(f"  scf.condition(%more) %i, %t : index, {x.type}")
    w.line("} do {")
    w.line(f"^bb0(%i: index, %t: {x.type}):")
    w.line("  %j = arith.addi %i, %c1 : index")
    w.line(f"  %u = {_sum_op(element)} %t, {y} : {x.type}")
    w.line(f"  scf.yield %j, %u : index, {x.type}")
    w.line("}")
    w.store(Tile("%r", x.shape, element))


@kernel("scf.index_switch", NUMBERS, tiles=3)
def _index_switch(w: Writer, element: str) -> None:
    x, y = load_tiles(w, element, 2)
    name, ty = w.argument((3, *x.shape), stored(element))
    w.line(f"%r = scf.index_switch %tile -> {x.type}")
    w.line(f"case 1 {{\n    scf.yield {x} : {x.type}\n  }}")
    w.line(f"default {{\n    scf.yield {y} : {x.type}\n  }}")
    window = f"[%tile, 0, 0] [1, {x.shape[0]}, {x.shape[1]}] [1, 1, 1]"
    r = w.in_memory(Tile("%r", x.shape, element))
    w.line(f"triton_xla.insert {r} into {name}{window} : {r.type} into {ty}")
