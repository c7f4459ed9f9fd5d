# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A grammar of small tile-level kernels for hypothesis.

A kernel is generated statement by statement with MLIR's builders, so that it is well-formed by construction. It also
has one meaning by construction: the grammar tracks the largest magnitude of every value, whether it is finite, and
whether it was rounded. If the result would depend on a rounding (a comparison, a conversion to an integer), the
operands are exact values. If numbers could exceed a type's range, they are clamped first. Concurrent tiles write
disjoint slabs of memory; a kernel of one tile has unrestricted reads and writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hypothesis import strategies as st
from smalti import dtypes, ir
from smalti.dialects import arith, scf, tensor, triton_xla
from smalti.dialects import math as math_dialect

from .program import Program

T = TypeVar("T")
Shape = tuple[int, ...]

FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("i32", "i8", "i16", "i64")
SHAPES: dict[int, tuple[Shape, ...]] = {
    1: ((32,), (1,), (7,), (100,), (128,)),
    2: ((16, 16), (32, 32), (32, 16), (16, 64), (64, 32), (1, 16), (5, 9), (8, 48)),
    3: ((2, 3, 16), (4, 8, 8), (1, 16, 1)),
}
DOT_SIZES = (16, 32, 64)

FRESH = 8.0
"""The arguments from `check.random_arguments` are not larger."""
LARGEST = {"f16": 1e4, "bf16": 1e6, "f32": 1e6, "f64": 1e6}
"""Results stay below."""
MODERATE = {"f16": 50.0, "bf16": 500.0, "f32": 500.0, "f64": 500.0}
"""Operands are clamped to this if the result could get too large, and loop-carried values always."""


@dataclass(frozen=True)
class Tile:
    """A tile in scope, and what is known of its elements."""

    value: Any
    dtype: str
    shape: Shape
    bound: float
    """No magnitude is above."""
    exact: bool = False
    """All intermediate results are exact: every target has these very numbers."""
    finite: bool = True

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def bits(self) -> int:
        return _bits(self.dtype)


@dataclass(frozen=True)
class Index:
    """An index value, with its range."""

    value: Any
    low: int
    high: int


@dataclass(frozen=True)
class Memory:
    """An argument that holds an array."""

    value: Any
    dtype: str
    extents: Shape
    is_output: bool
    is_readable: bool = True
    """Whether an output is also read."""
    is_special: bool = False
    """Whether it contains infinities and NaNs."""
    slab: tuple[int, int] | None = None
    """If several tiles write it: the dimension that is split, and its part in each tile."""


@dataclass
class Scope:
    """Values that the statements of a block can use."""

    tiles: list[Tile] = field(default_factory=list)
    indices: list[Index] = field(default_factory=list)
    depth: int = 0

    def inner(self) -> Scope:
        return Scope(list(self.tiles), list(self.indices), self.depth + 1)


def _bits(dtype: str) -> int:
    if dtype == "i1":
        return 1
    found = dtypes.from_mlir(dtype)
    assert found is not None
    return found.bits


def _type(dtype: str) -> Any:
    return ir.Type.parse(dtype)


def _tensor(dtype: str, shape: Shape) -> Any:
    return ir.RankedTensorType.get(shape, _type(dtype))


def _attribute(dtype: str, value: float) -> Any:
    if dtype in FLOATS:
        return ir.FloatAttr.get(_type(dtype), float(value))
    return ir.IntegerAttr.get(_type(dtype), int(value))


def _constant(value: int) -> Any:
    return arith.constant(ir.IndexType.get(), value)


def _splat(dtype: str, shape: Shape, value: float) -> Any:
    ty = _tensor(dtype, shape)
    return arith.constant(ty, ir.DenseElementsAttr.get_splat(ty, _attribute(dtype, value)))


# Functions that need their operand within a range, and how large their results get.
_BOUNDED_FUNCTIONS: dict[str, float] = {
    "exp": math.exp(4), "exp2": 16, "expm1": math.exp(4), "tanh": 1, "sin": 1, "cos": 1, "erf": 1,
}  # fmt: skip
_POSITIVE_FUNCTIONS = ("sqrt", "rsqrt", "log", "log2", "log1p")
_ROUNDING_FUNCTIONS = ("floor", "ceil", "trunc", "round", "roundeven")
_EXTREMA = ("maximumf", "minimumf", "maxnumf", "minnumf")
_FLOAT_PREDICATES = {
    "oeq": 1,
    "ogt": 2,
    "oge": 3,
    "olt": 4,
    "ole": 5,
    "one": 6,
    "ord": 7,
    "ult": 11,
    "une": 13,
    "uno": 14,
}
_INTEGER_PREDICATES = {"eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5, "ult": 6, "uge": 9}
_INTEGER_OPERATIONS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
_DIVISIONS = ("divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi")
_SHIFTS = ("shli", "shrsi", "shrui")


def _arith(name: str, *operands: Any) -> Any:
    return getattr(arith, name)(*operands)


class Writer:
    """Draws one program."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], block: Any) -> None:
        self._draw = draw
        self._block = block
        self._memories: list[Memory] = []
        self._scalars: dict[int, str] = {}
        self._special: list[int] = []
        self._shape: Shape = self._choose(SHAPES[self._choose((2, 1, 3))])
        self.tiles: int = self._choose((1, 2, 3))
        # The tile id is the last argument, and which are before it is known at the end.
        self._tile_id = block.add_argument(ir.IndexType.get(), ir.Location.unknown())

    # --- drawing ------------------------------------------------------------------------------------------------------

    def _choose(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def _integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def _seldom(self) -> bool:
        return self._integer(0, 5) == 5

    # --- arguments ----------------------------------------------------------------------------------------------------

    def _argument(self, ty: Any) -> tuple[Any, int]:
        value = self._block.add_argument(ty, ir.Location.unknown())
        return value, len(self._block.arguments) - 2

    def _index_argument(self, number: int) -> Index:
        value, at = self._argument(ir.IndexType.get())
        self._scalars[at] = str(number)
        return Index(value, number, number)

    def _memref(self, dtype: str, extents: Shape) -> Any:
        """A memref type: rows without gaps, rows with gaps, or the dimensions in another order in memory."""
        order = list(range(len(extents)))
        kind = self._choose(("plain", "plain", "plain", "padded", "transposed"))
        if kind == "plain":
            return ir.MemRefType.get(extents, _type(dtype))
        if kind == "transposed":
            order.reverse()
        strides, step = [0] * len(extents), 1
        for dim in reversed(order):
            strides[dim] = step
            step *= extents[dim]
            if kind == "padded":
                step += self._integer(1, 8)
        return ir.MemRefType.get(extents, _type(dtype), ir.StridedLayoutAttr.get(0, strides))

    # --- windows ------------------------------------------------------------------------------------------------------

    def _offset(self, scope: Scope) -> tuple[Any, int, int]:
        """An offset as a value or a number, and its range."""
        if not scope.indices or self._integer(0, 2) == 0:
            number = self._choose((0, 0, 0, 1, 8, 3, -1, -5))
            return (number if number >= 0 else _constant(number)), number, number
        index = self._choose(scope.indices)
        factor = self._choose((1, 16, 32, 5, 8))
        shift = self._choose((0, 0, 0, 16, -2, 7))
        value = arith.muli(index.value, _constant(factor)) if factor != 1 else index.value
        if shift:
            value = arith.addi(value, _constant(shift))
        return value, index.low * factor + shift, index.high * factor + shift

    def _slab_offset(self, memory: Memory, reach: int) -> Any:
        """An offset along the dimension that tiles share, for a window that reaches so far."""
        assert memory.slab is not None
        _, size = memory.slab
        value = arith.muli(self._tile_id, _constant(size))
        within = self._integer(0, size - reach)
        return arith.addi(value, _constant(within)) if within else value

    def _extent(self, high: int, reach: int) -> int:
        """An extent for windows up to `high` + `reach`: that, or the window overhangs, or more than is used."""
        end = max(high + reach, 1)
        return max(1, end + self._choose((0, 0, -1, -3, 8 - end % 8, 1)))

    def _lanes(self, shape: Shape) -> tuple[list[int], list[int]]:
        """Sizes of a window for a tile of `shape`, some of them dropped, and the window's strides."""
        sizes = list(shape)
        if len(sizes) < 3 and self._seldom():
            sizes.insert(self._integer(0, len(sizes)), 1)
        strides = [1 if not self._seldom() else self._choose((2, 3)) for _ in sizes]
        return sizes, strides

    @staticmethod
    def _reaches(sizes: Sequence[int], strides: Sequence[int]) -> list[int]:
        return [(size - 1) * stride + 1 for size, stride in zip(sizes, strides, strict=True)]

    def _window(self, offsets: Sequence[Any], sizes: Sequence[int], strides: Sequence[int]) -> list[Any]:
        placeholder = ir.ShapedType.get_dynamic_size()
        dynamic = [offset for offset in offsets if not isinstance(offset, int)]
        static = [offset if isinstance(offset, int) else placeholder for offset in offsets]
        return [dynamic, [], [], static, list(sizes), list(strides)]

    def _known(self, memory: Memory, dtype: str, reaches: Sequence[int]) -> bool:
        """Whether a window that reaches so far can be taken of this memory."""
        if memory.dtype != dtype or len(memory.extents) != len(reaches):
            return False
        return memory.slab is None or reaches[memory.slab[0]] <= memory.slab[1]

    def _place(self, scope: Scope, memory: Memory, reaches: Sequence[int]) -> list[Any]:
        return [
            self._slab_offset(memory, reach) if memory.slab and memory.slab[0] == dim else self._offset(scope)[0]
            for dim, reach in enumerate(reaches)
        ]

    def read(self, scope: Scope, dtype: str, shape: Shape, *, plain: bool = False) -> Tile:
        """A tile from memory. A `plain` tile has finite, exact numbers."""
        sizes, strides = self._lanes(shape)
        reaches = self._reaches(sizes, strides)
        known = [
            m
            for m in self._memories
            if m.is_readable and self._known(m, dtype, reaches) and not (plain and (m.is_output or m.is_special))
        ]
        if known and self._choose((False, True)):
            memory = self._choose(known)
            offsets = self._place(scope, memory, reaches)
        else:
            placed = [self._offset(scope) for _ in sizes]
            offsets = [offset for offset, _, _ in placed]
            extents = tuple(self._extent(high, reach) for (_, _, high), reach in zip(placed, reaches, strict=True))
            value, at = self._argument(self._memref(dtype, extents))
            special = dtype in FLOATS and not plain and self._seldom()
            if special:
                self._special.append(at)
            memory = Memory(value, dtype, extents, is_output=False, is_special=special)
            self._memories.append(memory)
        fill = _attribute(dtype, self._choose((1, -2, 3))) if self._seldom() else None
        window = self._window(offsets, sizes, strides)
        tile = triton_xla.ExtractOp(_tensor(dtype, shape), memory.value, *window, fill=fill).tile
        bound = FRESH + 1
        if memory.is_output:
            bound = MODERATE.get(dtype, math.inf)
        return Tile(tile, dtype, shape, bound, exact=not memory.is_output, finite=not memory.is_special)

    def write(self, scope: Scope, tile: Tile) -> None:
        """Writes a tile to an output."""
        if tile.dtype == "i1":
            tile = replace(tile, value=arith.extui(_tensor("i8", tile.shape), tile.value), dtype="i8")
        sizes, strides = self._lanes(tile.shape)
        reaches = self._reaches(sizes, strides)
        known = [
            m
            for m in self._memories
            if m.is_output and self._known(m, tile.dtype, reaches) and (tile.finite or not m.is_readable)
        ]
        again = bool(known) and self._choose((False, True))
        memory = self._choose(known) if again else self._output(scope, tile, reaches)
        if memory.is_readable and tile.is_float:
            tile = self._limited(tile, MODERATE[tile.dtype])
        offsets = self._place(scope, memory, reaches)
        triton_xla.InsertOp(tile.value, memory.value, *self._window(offsets, sizes, strides))

    def _output(self, scope: Scope, tile: Tile, reaches: Sequence[int]) -> Memory:
        slab = None
        extents = [self._extent(self._choose((0, 0, 8)), reach) for reach in reaches]
        if self.tiles > 1:
            dim = self._integer(0, len(reaches) - 1)
            slab = (dim, reaches[dim] + self._choose((0, 0, 1, 3)))
            extents[dim] = self._extent(0, slab[1] * self.tiles)
        value, _ = self._argument(self._memref(tile.dtype, tuple(extents)))
        readable = tile.finite and self._choose((False, True))
        memory = Memory(value, tile.dtype, tuple(extents), is_output=True, is_readable=readable, slab=slab)
        self._memories.append(memory)
        return memory

    # --- picking operands ---------------------------------------------------------------------------------------------

    def pick(
        self,
        scope: Scope,
        dtypes_: Sequence[str],
        shape: Shape | None = None,
        *,
        exact: bool = False,
        finite: bool = False,
    ) -> Tile:
        """A tile in scope of one of these types, or a new one from memory."""
        shape = shape or self._shape
        fitting = [
            tile
            for tile in reversed(scope.tiles)
            if tile.dtype in dtypes_
            and tile.shape == shape
            and (tile.exact or not exact)
            and (tile.finite or not finite)
        ]
        if fitting and self._integer(0, 3):
            return self._choose(fitting)
        memory_types = [dtype for dtype in dtypes_ if dtype != "i1"]
        if not memory_types:
            return self._comparison(scope)
        tile = self.read(scope, self._choose(memory_types), shape, plain=exact or finite)
        scope.tiles.append(tile)
        return tile

    def _limited(self, tile: Tile, bound: float) -> Tile:
        """The same tile, clamped if it could be larger."""
        if tile.bound <= bound:
            return tile
        high, low = (_splat(tile.dtype, tile.shape, sign * bound) for sign in (1, -1))
        value = arith.maximumf(arith.minimumf(tile.value, high), low)
        return replace(tile, value=value, bound=bound)

    def _positive(self, tile: Tile, least: float, most: float) -> Tile:
        """Magnitudes between the two."""
        value = math_dialect.absf(self._limited(tile, most).value)
        value = arith.maximumf(value, _splat(tile.dtype, tile.shape, least))
        return replace(tile, value=value, bound=most)

    # --- element-wise statements --------------------------------------------------------------------------------------

    def _float_sum(self, scope: Scope) -> Tile:
        name = self._choose(("addf", "subf"))
        x = self.pick(scope, FLOATS)
        y = self.pick(scope, (x.dtype,))
        if x.bound + y.bound > LARGEST[x.dtype]:
            x, y = (self._limited(t, MODERATE[x.dtype]) for t in (x, y))
        return Tile(_arith(name, x.value, y.value), x.dtype, x.shape, x.bound + y.bound, finite=x.finite and y.finite)

    def _factors(self, scope: Scope) -> tuple[Tile, Tile]:
        """Two tiles whose matmul is the same on every target: an infinity is not combined with a rounded number."""
        x = self.pick(scope, FLOATS)
        if not x.finite and not x.exact:
            x = self.pick(scope, (x.dtype,), finite=True)
        y = self.pick(scope, (x.dtype,), exact=not x.finite, finite=not x.exact)
        if not y.finite and not (x.exact and y.exact):
            y = self.pick(scope, (x.dtype,), finite=True)
        if x.bound * y.bound > LARGEST[x.dtype]:
            x, y = (self._limited(t, MODERATE[x.dtype]) for t in (x, y))
        return x, y

    def _float_multiplication(self, scope: Scope) -> Tile:
        x, y = self._factors(scope)
        return Tile(arith.mulf(x.value, y.value), x.dtype, x.shape, x.bound * y.bound, finite=x.finite and y.finite)

    def _fma(self, scope: Scope) -> Tile:
        x, y = self._factors(scope)
        z = self._limited(self.pick(scope, (x.dtype,)), LARGEST[x.dtype] / 4)
        finite = x.finite and y.finite and z.finite
        value = math_dialect.fma(x.value, y.value, z.value)
        return Tile(value, x.dtype, x.shape, x.bound * y.bound + z.bound, finite=finite)

    def _quotient(self, scope: Scope) -> Tile:
        x = self.pick(scope, FLOATS, finite=True)
        y = self._positive(self.pick(scope, (x.dtype,), finite=True), 0.5, MODERATE[x.dtype])
        x = self._limited(x, LARGEST[x.dtype] / 2)
        return Tile(arith.divf(x.value, y.value), x.dtype, x.shape, 2 * x.bound)

    def _remainder(self, scope: Scope) -> Tile:
        x = self.pick(scope, ("f32", "f64"), exact=True, finite=True)
        y = self._positive(self.pick(scope, (x.dtype,), exact=True, finite=True), 0.5, MODERATE[x.dtype])
        return Tile(arith.remf(x.value, y.value), x.dtype, x.shape, x.bound)

    def _extremum(self, scope: Scope) -> Tile:
        x = self.pick(scope, FLOATS)
        y = self.pick(scope, (x.dtype,))
        # The selection between two numbers is the same on every target, or makes no difference; a NaN is selected
        # deterministically.
        value = _arith(self._choose(_EXTREMA), x.value, y.value)
        finite = x.finite and y.finite
        return Tile(value, x.dtype, x.shape, max(x.bound, y.bound), x.exact and y.exact, finite)

    def _sign(self, scope: Scope) -> Tile:
        x = self.pick(scope, FLOATS)
        value = arith.negf(x.value) if self._choose((True, False)) else math_dialect.absf(x.value)
        return replace(x, value=value)

    def _function(self, scope: Scope) -> Tile:
        name = self._choose((*_BOUNDED_FUNCTIONS, *_POSITIVE_FUNCTIONS, *_ROUNDING_FUNCTIONS, "powf"))
        rounds = name in _ROUNDING_FUNCTIONS
        x = self.pick(scope, ("f32", "f16", "bf16"), exact=rounds, finite=True)
        function = getattr(math_dialect, name)
        if name == "powf":
            y = self._limited(self.pick(scope, (x.dtype,), finite=True), 3)
            return Tile(function(self._positive(x, 0.25, 4).value, y.value), x.dtype, x.shape, 64)
        if rounds:
            return Tile(function(x.value), x.dtype, x.shape, x.bound + 1)
        if name in _POSITIVE_FUNCTIONS:
            x = self._positive(x, 0.25, MODERATE[x.dtype])
            return Tile(function(x.value), x.dtype, x.shape, max(2.0, math.sqrt(x.bound)) + 8)
        return Tile(function(self._limited(x, 4).value), x.dtype, x.shape, _BOUNDED_FUNCTIONS[name])

    def _integer_operation(self, scope: Scope) -> Tile:
        kind = self._choose((_INTEGER_OPERATIONS, _DIVISIONS, _SHIFTS))
        x = self.pick(scope, INTEGERS)
        if kind is _INTEGER_OPERATIONS:
            y = self.pick(scope, (x.dtype,)).value
        else:
            # Divisors and distances for which the operation has a meaning.
            top = x.bits - 1 if kind is _SHIFTS else 7
            y = _splat(x.dtype, x.shape, self._integer(0 if kind is _SHIFTS else 1, top))
        return replace(x, value=_arith(self._choose(kind), x.value, y), bound=math.inf)

    def _comparison(self, scope: Scope) -> Tile:
        x = self.pick(scope, (*FLOATS, *INTEGERS), exact=True)
        y = self.pick(scope, (x.dtype,), exact=True)
        if x.is_float:
            value = arith.cmpf(_FLOAT_PREDICATES[self._choose(tuple(_FLOAT_PREDICATES))], x.value, y.value)
        else:
            value = arith.cmpi(_INTEGER_PREDICATES[self._choose(tuple(_INTEGER_PREDICATES))], x.value, y.value)
        return Tile(value, "i1", x.shape, 1, exact=True)

    def _logic(self, scope: Scope) -> Tile:
        x, y = (self.pick(scope, ("i1",)) for _ in range(2))
        return replace(x, value=_arith(self._choose(("andi", "ori", "xori")), x.value, y.value))

    def _select(self, scope: Scope) -> Tile:
        condition = self.pick(scope, ("i1",))
        x = self.pick(scope, (*FLOATS, *INTEGERS))
        y = self.pick(scope, (x.dtype,))
        value = arith.select(condition.value, x.value, y.value)
        return Tile(value, x.dtype, x.shape, max(x.bound, y.bound), x.exact and y.exact, x.finite and y.finite)

    def _cast(self, scope: Scope) -> Tile:
        x = self.pick(scope, (*FLOATS, *INTEGERS, "i1"))
        casts = (self._to_float, self._to_integer)
        return self._choose(casts if x.is_float else tuple(reversed(casts)))(scope, x)

    def _to_float(self, scope: Scope, x: Tile) -> Tile:
        if not x.is_float:
            unsigned = self._choose((False, True)) or x.dtype == "i1"
            bound = max(x.bound, 2.0**x.bits) if unsigned else min(x.bound, 2.0 ** (x.bits - 1))
            to = self._choose([dtype for dtype in FLOATS if bound < LARGEST[dtype]] or ["f32", "f64", "bf16"])
            value = _arith("uitofp" if unsigned else "sitofp", _tensor(to, x.shape), x.value)
            # A clamp bounds the following values.
            return Tile(value, to, x.shape, bound)
        wider = [dtype for dtype in FLOATS if _bits(dtype) > x.bits]
        narrower = [dtype for dtype in FLOATS if _bits(dtype) < x.bits]
        to = self._choose((*narrower, *wider))
        if to in wider:
            return replace(x, value=arith.extf(_tensor(to, x.shape), x.value), dtype=to)
        x = self._limited(x, LARGEST[to])
        return replace(x, value=arith.truncf(_tensor(to, x.shape), x.value), dtype=to, exact=False)

    def _to_integer(self, scope: Scope, x: Tile) -> Tile:
        if x.is_float:
            x = self._limited(self.pick(scope, FLOATS, exact=True, finite=True), 100)
            to = self._choose(INTEGERS)
            name, value = "fptosi", x.value
            if self._choose((False, True)):
                name, value = "fptoui", math_dialect.absf(value)
            return Tile(_arith(name, _tensor(to, x.shape), value), to, x.shape, 100, exact=True)
        wider = [dtype for dtype in INTEGERS if _bits(dtype) > x.bits]
        narrower = [dtype for dtype in INTEGERS if _bits(dtype) < x.bits]
        to = self._choose((*wider, *narrower))
        if to in narrower:
            return Tile(arith.trunci(_tensor(to, x.shape), x.value), to, x.shape, math.inf, exact=True)
        name = self._choose(("extsi", "extui"))
        return Tile(_arith(name, _tensor(to, x.shape), x.value), to, x.shape, 2.0**x.bits, exact=True)

    def _constant_tile(self, scope: Scope) -> Tile:
        dtype = self._choose((*FLOATS, *INTEGERS))
        number = self._choose((0, 1, -3, 7))
        return Tile(_splat(dtype, self._shape, number), dtype, self._shape, 7, exact=True)

    def _scalar_splat(self, scope: Scope) -> Tile:
        dtype = self._choose(("f32", "f64"))
        value, _ = self._argument(_type(dtype))
        splat = tensor.SplatOp(_tensor(dtype, self._shape), value, []).aggregate
        return Tile(splat, dtype, self._shape, FRESH, exact=True)

    def _mask(self, scope: Scope) -> Tile:
        x = self.pick(scope, (*FLOATS, *INTEGERS))
        placeholder = ir.ShapedType.get_dynamic_size()
        static, dynamic = [], []
        for size in x.shape:
            if self._choose((True, False)):
                static.append(self._integer(0, size))
                continue
            static.append(placeholder)
            if scope.indices and self._choose((False, True)):
                bound = self._offset(scope)[0]
                dynamic.append(_constant(bound) if isinstance(bound, int) else bound)
            else:
                dynamic.append(self._index_argument(self._integer(-2, size + 2)).value)
        outside = arith.constant(_type(x.dtype), _attribute(x.dtype, self._choose((0, 5, -1))))
        result = triton_xla.MaskOp(x.value, dynamic, static, outside).result
        return replace(x, value=result, bound=max(x.bound, 5))

    # --- matmuls ------------------------------------------------------------------------------------------------------

    def _dot_onto(self, scope: Scope, accumulator: Tile) -> Tile:
        rows, columns = accumulator.shape
        dtype = self._choose(("f16", "bf16", "f32"))
        depth = self._choose((16, 32, 64, 8))
        # A tile that is loaded from memory and has no other use may be copied asynchronously.
        operands = []
        for shape in ((rows, depth), (depth, columns)):
            if self._choose((True, True, False)):
                operands.append(self.read(scope, dtype, shape, plain=not self._seldom()))
            else:
                operands.append(self.pick(scope, (dtype,), shape, finite=True))
        a, b = operands
        if not (a.finite and b.finite) and not (a.exact and b.exact):
            a, b = (self.read(scope, dtype, t.shape, plain=True) for t in (a, b))
        if self._seldom() and a.finite:
            # Not straight from memory.
            a = self._limited(a, MODERATE[dtype])
            a = Tile(arith.addf(a.value, a.value), dtype, a.shape, 2 * a.bound, finite=a.finite)
            if not b.finite:
                b = self.read(scope, dtype, b.shape, plain=True)
        limit = 100.0
        a, b = self._limited(a, limit), self._limited(b, limit)
        tf32 = dtype == "f32" and self._choose((False, True))
        algorithm = triton_xla.DotAlgorithm.TF32 if tf32 else None
        value = triton_xla.DotOp(a.value, b.value, accumulator.value, algorithm=algorithm).result
        bound = accumulator.bound + depth * a.bound * b.bound
        finite = a.finite and b.finite and accumulator.finite
        return Tile(value, "f32", accumulator.shape, bound, finite=finite)

    def _dot(self, scope: Scope) -> Tile:
        if not self._can_multiply():
            return self._float_sum(scope)
        if self._choose((True, False)):
            start = Tile(_splat("f32", self._shape, 0), "f32", self._shape, 0, exact=True)
        else:
            start = self.pick(scope, ("f32",))
        return self._dot_onto(scope, start)

    def _can_multiply(self) -> bool:
        return len(self._shape) == 2 and all(size in DOT_SIZES for size in self._shape)

    # --- control flow -------------------------------------------------------------------------------------------------

    def _loop(self, scope: Scope) -> Tile:
        lower, step = self._choose((0, 0, 1)), self._choose((1, 16, 32, 3))
        trips = self._choose((3, 0, 1, 2, 5))
        upper = lower + trips * step - (self._integer(0, step - 1) if trips else 0)
        end = self._index_argument(upper).value if self._seldom() else _constant(upper)
        carried = [self._carried(scope) for _ in range(self._choose((1, 1, 2)))]
        loop = scf.ForOp(_constant(lower), end, _constant(step), [tile.value for _, tile in carried])
        with ir.InsertionPoint(loop.body):
            body = scope.inner()
            body.indices.append(Index(loop.induction_variable, lower, max(lower, upper - 1)))
            inner = [
                (kind, replace(tile, value=value, exact=False))
                for (kind, tile), value in zip(carried, loop.inner_iter_args, strict=True)
            ]
            # A sum is seen by nothing else in the body.
            body.tiles += [tile for kind, tile in inner if kind == "state"]
            self.statements(body, self._integer(0, 2))
            yielded = [self._next(body, kind, tile) for kind, tile in inner]
            scf.YieldOp([tile.value for tile in yielded])
        results = []
        for (kind, start), after, value in zip(carried, yielded, loop.results, strict=True):
            growth = trips * (after.bound - start.bound) if kind != "state" and start.is_float else 0.0
            results.append(replace(after, value=value, exact=False, bound=start.bound + growth))
        scope.tiles += results[1:]
        return results[0]

    def _carried(self, scope: Scope) -> tuple[str, Tile]:
        kinds = ["sum", "state"]
        if self._can_multiply():
            kinds = ["product", "product", *kinds]
        kind = self._choose(kinds)
        types = ("f32",) if kind == "product" else (*FLOATS, *INTEGERS)
        tile = self.pick(scope, types, finite=True)
        if tile.is_float:
            tile = replace(self._limited(tile, MODERATE[tile.dtype]), bound=MODERATE[tile.dtype])
        return kind, tile

    def _next(self, scope: Scope, kind: str, tile: Tile) -> Tile:
        if kind == "product":
            return self._dot_onto_finite(scope, tile)
        other = self.pick(scope, (tile.dtype,), finite=True)
        if tile.is_float:
            other = self._limited(other, MODERATE[tile.dtype])
        if kind == "state":
            return replace(other, bound=tile.bound)
        value = _arith("addf" if tile.is_float else "addi", tile.value, other.value)
        return replace(tile, value=value, bound=tile.bound + other.bound)

    def _dot_onto_finite(self, scope: Scope, accumulator: Tile) -> Tile:
        result = self._dot_onto(scope, accumulator)
        return result if result.finite else accumulator

    def _branch(self, scope: Scope) -> Tile:
        x = self.pick(scope, (*FLOATS, *INTEGERS))
        if scope.indices and self._choose((True, False)):
            index = self._choose(scope.indices)
            predicate = _INTEGER_PREDICATES[self._choose(("eq", "slt", "sge"))]
            condition = arith.cmpi(predicate, index.value, _constant(self._integer(0, 2)))
        else:
            value, _ = self._argument(_type("f32"))
            zero = arith.constant(_type("f32"), _attribute("f32", 0))
            condition = arith.cmpf(_FLOAT_PREDICATES["ogt"], value, zero)
        branch = scf.IfOp(condition, [_tensor(x.dtype, x.shape)], has_else=True)
        ends = []
        for region in branch.regions:
            with ir.InsertionPoint(region.blocks[0]):
                body = scope.inner()
                self.statements(body, self._integer(0, 2))
                ends.append(self.pick(body, (x.dtype,), x.shape))
                scf.YieldOp([ends[-1].value])
        a, b = ends
        return Tile(
            branch.results[0], x.dtype, x.shape, max(a.bound, b.bound), a.exact and b.exact, a.finite and b.finite
        )

    # --- programs -----------------------------------------------------------------------------------------------------

    def statements(self, scope: Scope, count: int) -> None:
        flat = (
            self._float_sum, self._float_multiplication, self._dot, self._cast, self._select, self._extremum, self._sign,
            self._integer_operation, self._function, self._mask, self._quotient, self._fma, self._comparison,
            self._logic, self._constant_tile, self._scalar_splat, self._remainder,
        )  # fmt: skip
        nested = (self._loop, self._loop, self._branch) if scope.depth < 2 else ()
        for _ in range(count):
            tile = self._choose((*flat, *nested))(scope)
            scope.tiles.append(tile)
            if self._integer(0, 3) == 3:
                self.write(scope, self._choose(list(reversed(scope.tiles))))

    def body(self) -> None:
        scope = Scope(indices=[Index(self._tile_id, 0, self.tiles - 1)])
        self.statements(scope, self._integer(1, 6))
        self.write(scope, scope.tiles[-1])
        triton_xla.ReturnOp()

    def finish(self, entry: Any) -> None:
        """Makes the tile id the last argument."""
        last = self._block.add_argument(ir.IndexType.get(), ir.Location.unknown())
        self._tile_id.replace_all_uses_with(last)
        self._block.erase_argument(0)
        types = [argument.type for argument in self._block.arguments]
        entry.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))

    def program(self, text: str) -> Program:
        options: dict[str, int] = {}
        name = self._choose(("", "", "stages", "depth", "num_warps"))
        if name:
            options[name] = self._choose((1, 2, 4, 8) if name == "num_warps" else (1, 2, 3, 4))
        return Program(text, options, self._scalars, tuple(self._special), self._integer(0, 3))


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Program:
    """Tile-level kernels that have one meaning on every target."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint.at_block_begin(module.operation.regions[0].blocks[0]):
            nothing = ir.TypeAttr.get(ir.FunctionType.get([ir.IndexType.get()], []))
            one = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)
            entry = triton_xla.EntryFuncOp("fuzzed", nothing, one)
        block = entry.regions[0].blocks.append()
        with ir.InsertionPoint.at_block_begin(block):
            writer = Writer(draw, block)
            writer.body()
        writer.finish(entry)
        entry.attributes["num_tiles"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), writer.tiles)
        module.operation.verify()
        return writer.program(str(module))
