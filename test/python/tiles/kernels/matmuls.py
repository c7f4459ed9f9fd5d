# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls and random bits."""

from __future__ import annotations

from ..writer import Tile, Writer
from .registry import Build, add, kernel, load_tiles

_DOT_SIZES = {"aligned": (32, 16, 32), "ragged": (32, 16, 32), "one": (1, 1, 1), "odd": (21, 5, 13)}


def _dot(accumulator: str, flags: str = "") -> Build:
    def build(w: Writer, element: str) -> None:
        m, n, k = _DOT_SIZES[w.extent]
        a, b, c = w.load((m, k), element), w.load((k, n), element), w.load((m, n), accumulator)
        types = f"{a.type}, {b.type} -> {c.type}"
        w.store(w.value(f"triton_xla.dot {a}, {b}, {c} {flags} : {types}", (m, n), accumulator))

    return build


add("triton_xla.dot", ("f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"), _dot("f32"))
add("triton_xla.dot in i32", ("i8",), _dot("i32"))
add("triton_xla.dot of unsigned operands", ("i8",), _dot("i32", "unsigned_lhs unsigned_rhs"))
add("triton_xla.dot of an unsigned operand", ("i8",), _dot("i32", "unsigned_lhs"))
add("triton_xla.dot in f64", ("f64",), _dot("f64"))
add("triton_xla.dot in f16", ("f16",), _dot("f16"))
for _algorithm in ("tf32", "tf32x3", "bf16x3", "bf16x6", "bf16x9"):
    add(f"triton_xla.dot with {_algorithm}", ("f32",), _dot("f32", f"algorithm {_algorithm}"))


@kernel("triton_xla.random_bits", ("i32",))
def _random_bits(w: Writer, element: str) -> None:
    x, y = load_tiles(w, element, 2)
    w.line("%k0 = arith.constant 123456789 : i32")
    w.line("%k1 = arith.constant -5 : i32")
    types = f"(i32, i32, {x.type}, {x.type}) -> ({', '.join([x.type] * 4)})"
    w.line(f"%r:4 = triton_xla.random_bits %k0, %k1, {x}, {y} : {types}")
    for number in range(4):
        w.store(Tile(f"%r#{number}", x.shape, "i32"))
