# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extracts and inserts."""

from __future__ import annotations

from ..writer import Writer, is_float, memref, tensor
from .registry import FLOATS, IN_MEMORY_INTEGERS, kernel


@kernel("a window with strides and a fill", (*FLOATS, *IN_MEMORY_INTEGERS), tiles=3, extents=("aligned",))
def _strided_window(w: Writer, element: str) -> None:
    source, destination = w.argument((11, 37), element), w.argument((3, 8, 16), element)
    number = "5.0" if is_float(element) else "5"
    w.line("%c4 = arith.constant 4 : index")
    w.line("%m2 = arith.constant -2 : index")
    w.line("%row = arith.muli %tile, %c4 : index")
    window = "[%row, %m2] [8, 16] [1, 3]"
    tile = tensor((8, 16), element)
    w.line(f"%t = triton_xla.extract {source[0]}{window} fill {number} : {element} : {source[1]} to {tile}")
    w.line(
        f"triton_xla.insert %t into {destination[0]}[%tile, 0, 0] [1, 8, 16] [1, 1, 1] : {tile} into {destination[1]}"
    )


@kernel("facts", ("index",), extents=("one",))
def _facts(w: Writer, element: str) -> None:
    name, ty = w.argument((3,), element)
    w.line("%c3 = arith.constant 3 : index")
    w.line("%twice = arith.addi %tile, %tile : index")
    w.line("%m = triton_xla.assume_multiple %twice, 2 : index")
    w.line("%c = arith.cmpi slt, %m, %c3 : index")
    w.line("triton_xla.assume %c")
    w.line('triton_xla.assert %c, "small" : i1')
    w.line(f"memref.store %c3, {name}[%m] : {memref((3,), element)}")
    assert ty == memref((3,), element)
