# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that change the shape of a tile."""

from __future__ import annotations

from ..writer import Tile, Writer, sizes, tensor
from .registry import ALL, FLOATS, IN_MEMORY_INTEGERS, kernel, load_tiles


@kernel("triton_xla.broadcast of a row", ALL)
def _broadcast_row(w: Writer, element: str) -> None:
    rows, columns = sizes(w.extent, 2)
    x = w.load((columns,), element)
    result = tensor((rows, columns), element)
    w.store(w.value(f"triton_xla.broadcast {x} dims [1] : {x.type} -> {result}", (rows, columns), element))


@kernel("triton_xla.broadcast of a column", ALL)
def _broadcast_column(w: Writer, element: str) -> None:
    rows, columns = sizes(w.extent, 2)
    x = w.load((rows, 1), element)
    result = tensor((rows, columns), element)
    w.store(w.value(f"triton_xla.broadcast {x} dims [0, 1] : {x.type} -> {result}", (rows, columns), element))


@kernel("triton_xla.transpose", ALL)
def _transpose(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    shape = x.shape[::-1]
    w.store(w.value(f"triton_xla.transpose {x} [1, 0] : {x.type} -> {tensor(shape, element)}", shape, element))


@kernel("triton_xla.transpose of rank 3", ALL)
def _transpose_3(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1, rank=3)
    a, b, c = x.shape
    shape = (c, a, b)
    w.store(w.value(f"triton_xla.transpose {x} [2, 0, 1] : {x.type} -> {tensor(shape, element)}", shape, element))


@kernel("triton_xla.reshape", ALL)
def _reshape(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    shape = (x.shape[0] * x.shape[1],)
    w.store(w.value(f"triton_xla.reshape {x} : {x.type} -> {tensor(shape, element)}", shape, element))


@kernel("triton_xla.reshape to columns", ALL)
def _reshape_columns(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    shape = (x.shape[1], x.shape[0])
    w.store(w.value(f"triton_xla.reshape {x} : {x.type} -> {tensor(shape, element)}", shape, element))


@kernel("triton_xla.squeeze_dims", ALL)
def _squeeze(w: Writer, element: str) -> None:
    rows, columns = sizes(w.extent, 2)
    x = w.load((rows, 1, columns), element)
    result = tensor((rows, columns), element)
    w.store(w.value(f"triton_xla.squeeze_dims {x} [1] : {x.type} -> {result}", (rows, columns), element))


for _dim in (0, 1):

    @kernel(f"triton_xla.iota of dim {_dim}", (*FLOATS, "i33", "i12", *IN_MEMORY_INTEGERS))
    def _iota(w: Writer, element: str, dim: int = _dim) -> None:
        shape = sizes(w.extent, 2)
        w.store(w.value(f"triton_xla.iota dim {dim} : {tensor(shape, element)}", shape, element))

    @kernel(f"triton_xla.concat of dim {_dim}", ALL)
    def _concat(w: Writer, element: str, dim: int = _dim) -> None:
        x, y = load_tiles(w, element, 2)
        shape = tuple(size * 2 if d == dim else size for d, size in enumerate(x.shape))
        types = f"({x.type}, {y.type}) -> {tensor(shape, element)}"
        w.store(w.value(f"triton_xla.concat {x}, {y} dim {dim} : {types}", shape, element))


@kernel("triton_xla.slice", ALL)
def _slice(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    rows, columns = x.shape
    shape = ((rows + 1) // 2, max(1, columns - 3))
    window = f"[0, {columns - shape[1]}] {list(shape)} [2, 1]"
    w.store(w.value(f"triton_xla.slice {x} {window} : {x.type} -> {tensor(shape, element)}", shape, element))


@kernel("triton_xla.split", ALL, extents=("aligned", "ragged"))
def _split(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    shape = (x.shape[0], x.shape[1] // 2)
    part = tensor(shape, element)
    w.line(f"%left, %right = triton_xla.split {x} dim 1 : {x.type} -> ({part}, {part})")
    w.store(Tile("%right", shape, element))
    w.store(Tile("%left", shape, element))
