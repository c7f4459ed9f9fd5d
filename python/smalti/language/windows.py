# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of arrays: reads, writes and atomic operations."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Sequence
from typing import Any, Literal

from ..bindings import arith, ir, memref, triton_xla
from ..diagnostics import counted
from .arithmetic import (
    Operand,
    as_value,
    attribute,
    broadcast_to,
    cast,
    is_number,
    shape_of,
    tile_type,
    to_scalar,
    wrap,
)
from .types import DType, Misuse, boolean, index, int32, is_float, is_integer, member, mlir_type
from .values import Array, Scalar, Tile, Value, evaluate, parameter_of, slices, with_equal_values_merged

LoadCache = Literal["ca", "cg", "cs", "cv"]
StoreCache = Literal["wb", "cg", "cs", "wt"]
Eviction = Literal["evict_first", "evict_last", "no_allocate"]
AtomicKind = Literal["add", "mul", "max", "min", "and", "or", "xor", "exchange"]
Scope = Literal["cta", "gpu", "sys"]
Ordering = Literal["relaxed", "acquire", "release", "acq_rel"]

_ENUMS = {
    "cache": "CacheModifier",
    "eviction": "EvictionPolicy",
    "scope": "MemoryScope",
    "ordering": "MemoryOrdering",
}


def option(kind: str, value: str | None) -> Any:
    """The value of an enumeration of the dialect. Raises Misuse with the possible values."""
    return member(getattr(triton_xla, _ENUMS[kind]), kind, value)


def size(array: Array, dimension: int) -> int | Scalar:
    """The size of a dimension: a number if it is static."""
    dimension += len(array.batch)
    if not array.type.is_dynamic_dim(dimension):
        return array.type.shape[dimension]
    # One value for each dimension, so that differences of offsets that contain it are static.
    block: Any = array.value.owner
    known = array.__dict__.setdefault("_sizes", {})
    if dimension not in known:
        with ir.InsertionPoint.at_block_begin(block):
            position = arith.constant(mlir_type(index), attribute(dimension, index))
            known[dimension] = memref.dim(array.value, position)
    return Scalar(known[dimension], index)


@dataclasses.dataclass
class Extent:
    """A slice: its first index, and its static size and step."""

    start: int | Scalar
    size: int
    step: int


def _extent(array: Array, dimension: int, key: slice, given: int) -> Extent:
    """The extent of a slice. `given` is the number of indices that the kernel states."""
    what = f"dimension {dimension} of {array.name}"
    step = 1 if key.step is None else key.step
    if isinstance(step, Value) or not isinstance(step, int) or not 1 <= step < 1 << 63:
        raise Misuse(f"{what}: the step of the slice is {step}, but must be a positive constant")
    start = 0 if key.start is None else key.start
    stop = size(array, dimension) if key.stop is None else key.stop
    _check_static(what, start)
    _check_static(what, stop)
    low, high = (to_scalar(n, index) for n in (start, stop))
    length = with_equal_values_merged(high.affine.plus(low.affine, -1))
    if length.terms and dimension >= given:
        raise Misuse(
            f"{array.name} has {counted(array.ndim, 'dimension')}, but {counted(given, 'index', 'indices')} "
            f"{'is' if given == 1 else 'are'} given; the size of dimension {dimension} is dynamic",
            f"write a slice or an index for each dimension: {array.name}[{slices(array.ndim)}]",
        )
    if length.terms and key.stop is None:
        raise Misuse(
            f"{what}: the slice ends at the size of the array, which is dynamic", "write both bounds: x[i : i + 64]"
        )
    if length.terms:
        names = [parameter_of(value) for value in length.terms]
        if all(names):
            raise Misuse(
                f"{what}: the slice does not have a static size, because `{names[0]}` is a number of the kernel",
                f"annotate it: `{names[0]}: smalti.constexpr`",
            )
        raise Misuse(
            f"{what}: the slice does not have a static size",
            "the difference of its bounds must be a constant: assign the start to a name i, and write x[i : i + 64]",
        )
    if length.constant < 1:
        raise Misuse(f"{what}: the slice has {counted(length.constant, 'element')}, but must have at least 1")
    first = low.affine.constant if not low.affine.terms else low
    return Extent(first, -(-length.constant // step), step)


def _check_static(what: str, position: Any) -> None:
    if isinstance(position, int) and position < 0:
        raise Misuse(
            f"{what}: the index {position} is negative",
            "count from the end with x.shape[d] - 1; a window that begins before the array needs a computed offset",
        )
    if is_number(position) and not isinstance(position, numbers.Integral):
        raise Misuse(f"{what}: the bound of a slice is {position!r}, but must be an integer")
    if isinstance(position, Scalar) and not is_integer(position.dtype):
        raise Misuse(f"{what}: the bound of a slice is {position:a}, but must have an integer type")
    if isinstance(position, Tile) and position.ndim:
        raise Misuse(f"{what}: the bound of a slice is {position:a}, but must be a scalar")


def normalized_keys(array: Array, key: Any) -> list[Extent | Value | int]:
    """One index or slice for each dimension of an array: Ellipsis and omitted dimensions are expanded. Raises Misuse."""
    keys = list(key) if isinstance(key, tuple) else [key]
    given = len(keys)
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), None)
    if at is not None:
        keys[at : at + 1] = [slice(None)] * (array.ndim - len(keys) + 1)
        given = len(keys)
    keys += [slice(None)] * (array.ndim - len(keys))
    if len(keys) != array.ndim:
        raise Misuse(
            f"{counted(len(keys), 'index is', 'indices are')} given for {array.name}, which has {counted(array.ndim, 'dimension')}",
            "use one index or slice per dimension",
        )
    result: list[Extent | Value | int] = []
    for dimension, k in enumerate(keys):
        if isinstance(k, slice):
            result.append(_extent(array, dimension, k, given))
            continue
        what = f"dimension {dimension} of {array.name}"
        if isinstance(k, numbers.Integral) and not isinstance(k, bool):
            k = int(k)
        if not isinstance(k, Value):
            if not isinstance(k, int) or isinstance(k, bool):
                raise Misuse(f"{what}: the index is {k!r}, but must be an integer, a scalar, a slice or a tile")
            _check_static(what, k)
            result.append(k)
            continue
        if not is_integer(k.dtype):
            raise Misuse(f"{what}: the index is {k:a}, but must have an integer type")
        result.append(to_scalar(k, index) if k.ndim == 0 else k)
    return result


def stored_value(value: Any, dtype: DType, shape: Sequence[int], name: str) -> Tile | Scalar:
    """A value in the element type and shape of the memory to which it is written. Raises Misuse."""
    value = as_value(value, dtype if is_number(value) else None)
    if is_float(value.dtype) and not is_float(dtype):
        raise Misuse(f"{value:a} is written to {name}, whose elements are {dtype}", f"convert it with .to(sl.{dtype})")
    value = cast(value, dtype)
    return broadcast_to(value, shape) if shape else to_scalar(value)


class Window:
    """A window of an array: `x.at[i : i + 64, k]`. Elements outside of the array are masked.

    Slices have a static size, and a scalar index removes its dimension. Tiles as indices select single elements: they are
    repeated to a common shape, which replaces their dimensions as in numpy.
    """

    def __init__(self, array: Array, key: Any) -> None:
        self.array = array
        self._keys = [*array.batch, *normalized_keys(array, key)]
        self.is_gather = any(isinstance(k, Tile) for k in self._keys)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile that the window reads."""
        if not self.is_gather:
            return tuple(k.size for k in self._keys if isinstance(k, Extent))
        picked = shape_of(*(k for k in self._keys if isinstance(k, Tile)))
        shape: list[int] = []
        first = True
        for k in self._keys:
            if isinstance(k, Extent):
                shape.append(k.size)
            elif isinstance(k, Tile) and first:
                shape.extend(picked)
                first = False
        return tuple(shape)

    def _offsets(self) -> tuple[list[ir.Value], list[int]]:
        """The offsets of a window without tiles, as dynamic and static ones."""
        dynamic: list[ir.Value] = []
        static: list[int] = []
        for k in self._keys:
            start = k.start if isinstance(k, Extent) else k
            if isinstance(start, Scalar):
                dynamic.append(start.value)
                static.append(ir.ShapedType.get_dynamic_size())
            else:
                assert isinstance(start, int)
                static.append(start)
        return dynamic, static

    def _rectangle(self) -> tuple[Any, ...]:
        dynamic, static = self._offsets()
        sizes = [k.size if isinstance(k, Extent) else 1 for k in self._keys]
        steps = [k.step if isinstance(k, Extent) else 1 for k in self._keys]
        return dynamic, [], [], static, sizes, steps

    def indices(self) -> list[ir.Value]:
        """One index for each dimension of the array: tiles of the window's shape, and scalars."""
        shape = self.shape
        picked = shape_of(*(k for k in self._keys if isinstance(k, Tile))) if self.is_gather else ()
        result: list[ir.Value] = []
        axis = 0
        place: int | None = None
        for k in self._keys:
            if isinstance(k, Extent):
                result.append(self._range(k, axis, shape))
                axis += 1
            elif isinstance(k, Tile):
                if place is None:
                    place = axis
                    axis += len(picked)
                value = broadcast_to(k, picked)
                if value.dtype.bits < 32 or value.dtype.kind == "u":
                    value = cast(value, int32 if value.dtype.bits < 32 else index)
                dims = list(range(place, place + len(picked)))
                if value.shape != shape:
                    ty = tile_type(shape, value.dtype)
                    result.append(triton_xla.broadcast(ty, value.value, dims))
                else:
                    result.append(value.value)
            else:
                result.append(to_scalar(k, index).value)
        return result

    def _range(self, extent: Extent, axis: int, shape: Sequence[int]) -> ir.Value:
        steps = Tile(triton_xla.iota(tile_type(shape, index), axis), index)
        return (steps * extent.step + extent.start).value

    def _mask(self, mask: Any) -> ir.Value | None:
        if mask is None:
            return None
        mask = as_value(mask)
        if mask.dtype != boolean:
            raise Misuse(f"the mask is {mask.dtype}, but must be a boolean", "compare it, for example with != 0")
        return broadcast_to(mask, self.shape).value if self.shape else to_scalar(mask).value

    def load(
        self,
        fill: int | float | None = None,
        mask: Operand | None = None,
        cache: LoadCache | None = None,
        eviction: Eviction | None = None,
    ) -> Tile | Scalar:
        """Reads the window. Elements outside of the array, or whose mask is false, are `fill` (default: 0).

        A window without slices and tiles reads a scalar, whose indices must be in the array. `cache` and `eviction` are
        hints, for windows without index tiles.
        """
        dtype = self.array.dtype
        if mask is not None and not self.is_gather:
            return self._gathered_rectangle(fill, mask)
        if not self.is_gather and not self.shape:
            if fill is not None:
                raise Misuse("a scalar cannot be read with a fill value", "read a tile of one element: x.at[i : i + 1]")
            return Scalar(memref.load(self.array.value, self.indices()), dtype)
        attr = None if fill is None else attribute(fill, dtype)
        ty = tile_type(self.shape, dtype)
        if self.is_gather:
            if cache or eviction:
                raise Misuse("cache and eviction are not supported for tiles of indices", "remove them")
            return wrap(
                triton_xla.gather(ty, self.array.value, self.indices(), mask=self._mask(mask), fill=attr), dtype
            )
        return wrap(
            triton_xla.extract(
                ty,
                self.array.value,
                *self._rectangle(),
                fill=attr,
                cache=option("cache", cache),
                eviction=option("eviction", eviction),
            ),
            dtype,
        )

    def _gathered_rectangle(self, fill: int | float | None, mask: Operand) -> Tile:
        dtype = self.array.dtype
        attr = None if fill is None else attribute(fill, dtype)
        ty = tile_type(self.shape, dtype)
        return Tile(triton_xla.gather(ty, self.array.value, self.indices(), mask=self._mask(mask), fill=attr), dtype)

    def _stored(self, value: Any) -> Tile | Scalar:
        return stored_value(value, self.array.dtype, self.shape, self.array.name)

    def store(
        self,
        value: Operand,
        mask: Operand | None = None,
        cache: StoreCache | None = None,
        eviction: Eviction | None = None,
        unique: bool = False,
        sorted: bool = False,
    ) -> None:
        """Writes a tile, which is repeated to the shape of the window, and converted to the element type of the array.

        Elements outside of the array, or whose mask is false, are not written. `unique` states that no two index tiles
        select one element, and `sorted` that the elements are in row-major order of the array.
        """
        stored = self._stored(value)
        if not self.shape and not self.is_gather:
            if mask is not None:
                raise Misuse("a scalar cannot be written with a mask", "use an if statement")
            memref.store(stored.value, self.array.value, self.indices())
        elif self.is_gather or mask is not None:
            if cache or eviction:
                raise Misuse("cache and eviction are not supported with a mask or tiles of indices", "remove them")
            triton_xla.scatter(
                stored.value,
                self.array.value,
                self.indices(),
                mask=self._mask(mask),
                unique=unique or not self.is_gather or None,
                sorted=sorted or None,
            )
        else:
            triton_xla.insert(
                stored.value,
                self.array.value,
                *self._rectangle(),
                cache=option("cache", cache),
                eviction=option("eviction", eviction),
            )
        evaluate()

    def atomic(
        self,
        kind: AtomicKind,
        value: Operand,
        mask: Operand | None = None,
        scope: Scope | None = None,
        ordering: Ordering | None = None,
        deterministic: bool = False,
    ) -> Tile | Scalar:
        """Replaces each element by its combination with `value`, atomically, and returns the old elements.

        `max` and `min` of floats propagate NaN. Example: `bins.at[t].atomic("add", 1)`.
        """
        dtype = self.array.dtype
        letter = "f" if is_float(dtype) else "i"
        sign = "u" if dtype.kind in "ub" else "s"
        names = {
            "add": f"add{letter}",
            "mul": f"mul{letter}",
            "max": "maximumf" if is_float(dtype) else f"max{sign}",
            "min": "minimumf" if is_float(dtype) else f"min{sign}",
            "and": "andi",
            "or": "ori",
            "xor": "xori",
            "exchange": "assign",
        }
        if kind not in names:
            raise Misuse(f"kind is {kind!r}, but must be one of {', '.join(names)}")
        if is_float(dtype) and kind in ("and", "or", "xor"):
            raise Misuse(f"an atomic {kind} of {dtype} is not supported", "use an array of integers")
        combined = {str(item): item for item in arith.AtomicRMWKind}[names[kind]]
        result = triton_xla.atomic_rmw(
            combined,
            self._stored(value).value,
            self.array.value,
            self.indices(),
            mask=self._mask(mask),
            scope=option("scope", scope),
            ordering=option("ordering", ordering),
            deterministic=deterministic or None,
        )
        return wrap(result, dtype)

    def atomic_cas(
        self,
        expected: Operand,
        desired: Operand,
        mask: Operand | None = None,
        scope: Scope | None = None,
        ordering: Ordering | None = None,
    ) -> Tile | Scalar:
        """Replaces each element that equals `expected` by `desired`, atomically, and returns the old elements.

        Elements are integers.
        """
        result = triton_xla.atomic_cas(
            self._stored(expected).value,
            self._stored(desired).value,
            self.array.value,
            self.indices(),
            mask=self._mask(mask),
            scope=option("scope", scope),
            ordering=option("ordering", ordering),
        )
        return wrap(result, self.array.dtype)

    def __repr__(self) -> str:
        return f"window {'x'.join(map(str, self.shape))} of {self.array.name}"


Value.operators.update({"size": size, "window": Window})
