# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of a kernel, for launchers. This module does not import MLIR."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..diagnostics import SourceLocation
from ..errors import LaunchError

_TENSOR_MAP = "!nvgpu.tensormap.descriptor<"

UNUSED = "!llvm.ptr"
"""The type of an argument that the kernel does not use."""


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: a memref or a scalar."""

    index: int
    type: str
    """The MLIR type."""
    dtype: dtypes.ElementType
    shape: tuple[int | None, ...] | None
    """Sizes in elements; a dynamic size is None. None for a scalar."""
    strides: tuple[int | None, ...] | None
    """Strides in elements; a dynamic stride is None. None for a scalar."""
    reads: bool
    """Whether the kernel reads the memory."""
    writes: bool
    """Whether the kernel writes the memory."""
    alignment: int | None = None
    """Required alignment in bytes (`llvm.align`), or None if the kernel does not state it."""
    location: SourceLocation | None = None
    packed: int = 1
    """Elements per byte. If it is greater than 1, `shape` and `strides` count bytes."""
    name: str | None = None
    """The SSA name if it is a Python identifier: `a` for `%a`."""
    dynamic_sizes: tuple[int, ...] = ()
    """Dimensions whose sizes a GPU kernel takes after the address, as 64-bit integers."""
    dynamic_strides: tuple[int, ...] = ()
    """Dimensions whose strides, in elements, a GPU kernel takes after the sizes."""
    size_divisors: tuple[int, ...] = ()
    """A divisor of the size of each dimension (`triton_xla.size_divisors`), or nothing."""
    stride_divisors: tuple[int, ...] = ()
    """A divisor of the stride of each dimension (`triton_xla.stride_divisors`), or nothing."""
    max_bytes: int | None = None
    """The largest number of bytes of the array (`triton_xla.max_bytes`), or None."""

    @property
    def is_row_major(self) -> bool:
        """Whether the type states that the array is row-major."""
        return self.is_memref and "strided<" not in self.type and "affine_map<" not in self.type

    def address_alignment(self, array: int) -> int:
        """The alignment of the address in bytes that code assumes. If the kernel does not state it, this is the alignment of the
        first element of an array whose lowest address is aligned to `array` bytes."""
        size = max(self.dtype.bits // 8, 1)
        # With negative strides, the first element is at a higher address.
        steps = [step * size for step in self.strides or () if step is not None and step < 0]
        return max(size, self.alignment if self.alignment is not None else math.gcd(array, *steps))

    @property
    def num_parameters(self) -> int:
        """Number of parameters of a GPU kernel for the argument: the value or address, and dynamic sizes and strides."""
        return 1 + len(self.dynamic_sizes) + len(self.dynamic_strides)

    @property
    def is_memref(self) -> bool:
        return self.shape is not None

    @property
    def is_tensor_map(self) -> bool:
        """Whether the argument is the address of an NVIDIA tensor map."""
        return self.type.startswith(_TENSOR_MAP)

    @property
    def is_unused(self) -> bool:
        """Whether the kernel ignores the argument. A call may pass any array, number or None."""
        return self.type == UNUSED

    @property
    def is_static(self) -> bool:
        """Whether shape and strides of the memref are static."""
        return self.shape is not None and None not in self.shape and None not in (self.strides or ())

    @property
    def static_layout(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides of a static memref, in elements."""
        assert self.shape is not None and self.strides is not None
        shape = tuple(size for size in self.shape if size is not None)
        strides = tuple(step for step in self.strides if step is not None)
        assert len(shape) == len(self.shape) and len(strides) == len(self.strides)
        return shape, strides

    @property
    def reach(self) -> int:
        """Bytes from the address of a static memref to the end of its memory."""
        steps = ((size - 1) * max(step, 0) for size, step in zip(*self.static_layout, strict=True))
        return (sum(steps) + 1) * max(self.dtype.bits // 8, 1)

    @property
    def element_shape(self) -> tuple[int | None, ...]:
        """The shape of a memref in elements, also of packed ones."""
        *rows, last = self.shape or (None,)
        return () if not self.shape else (*rows, last if last is None else last * self.packed)

    def size(self, value: Any, dimension: int) -> int:
        """The size of an array in elements."""
        return int(value.shape[dimension]) * (self.packed if dimension == len(value.shape) - 1 else 1)

    def __str__(self) -> str:
        return f"argument {self.index} ({f'%{self.name}: ' if self.name else ''}{self.type})"


@dataclass(frozen=True)
class Entry:
    """An entry function: its name, its arguments without the tile id, and its number of tiles or blocks."""

    name: str
    arguments: tuple[Argument, ...]
    num_tiles: int
    """The bound of the number, if the number depends on arguments."""
    location: SourceLocation | None = None
    grid: tuple[tuple[tuple[int, int, int], ...], ...] = ()
    """If the number of tiles depends on arguments: the terms of each dimension of the grid, which are multiplied. A term has
    an argument or -1, a dimension of a memref or -1, and a number. Its value is the number, or the size of the argument
    divided by the number, rounded up."""

    @property
    def static_tiles(self) -> int | None:
        """The number of tiles, or None if it depends on arguments."""
        return None if self.grid else self.num_tiles

    def grid_sizes(self, values: Sequence[Any]) -> tuple[int, ...]:
        """The number of tiles in each dimension of the grid. `values` are arrays or views with a shape, and numbers. Raises
        LaunchError if the number of tiles is not supported."""
        if not self.grid:
            return (self.num_tiles,)
        sizes: list[int] = []
        for terms in self.grid:
            size = 1
            for argument, dimension, number in terms:
                if argument < 0:
                    size *= number
                    continue
                value = values[argument]
                extent = self.arguments[argument].size(value, dimension) if dimension >= 0 else int(value)
                size *= -(-extent // number)
            sizes.append(size)
        wrong = None
        if min(sizes) < 0:
            wrong = "the number of tiles must not be negative"
        elif math.prod(sizes) > self.num_tiles:
            wrong = f"at most {self.num_tiles} tiles are supported"
        if wrong:
            raise LaunchError(f"@{self.name}: the grid has {' x '.join(map(str, sizes))} tiles; {wrong}")
        return tuple(sizes)

    def count_tiles(self, values: Sequence[Any]) -> int:
        """The number of tiles of a call, which may be 0; see `grid_sizes`."""
        return math.prod(self.grid_sizes(values))

    def argument_at(self, parameter: int) -> Argument | None:
        """The argument whose address or value is a parameter of the GPU kernel, or None."""
        position = 0
        for argument in self.arguments:
            if position == parameter:
                return argument
            position += argument.num_parameters
        return None

    def bind(self, given: Sequence[Any], named: Mapping[str, Any], options: Collection[str] = ()) -> tuple[Any, ...]:
        """The arguments of a call in order, from those by position and those by name.

        `options` are keywords of the call itself; an argument with the name of an option can be passed by position only. Raises
        LaunchError for an unknown name, a missing argument, or one that is passed twice.
        """
        positions: dict[str, int] = {}
        if named:
            positions = {argument.name: argument.index for argument in self.arguments if argument.name is not None}
        for name in named:
            if name not in positions:
                known = ", ".join(positions) or "none, so pass all arguments by position"
                raise LaunchError(f"@{self.name} does not have an argument named '{name}' (names: {known})")
            if positions[name] < len(given):
                raise LaunchError(f"@{self.name}: argument '{name}' is passed both by position and by name")
        rest = self.arguments[len(given) :]
        for argument in rest:
            if argument.name in options:
                raise LaunchError(
                    f"@{self.name}: argument '{argument.name}' must be passed by position; the keyword {argument.name}= is an "
                    "option of the call"
                )
        if not named:
            # The launcher checks the number.
            return tuple(given)
        values = list(given)
        for argument in rest:
            if argument.name is None or argument.name not in named:
                called = f"'{argument.name}'" if argument.name else str(argument.index)
                raise LaunchError(f"@{self.name}: argument {called} is missing")
            values.append(named[argument.name])
        return tuple(values)


def source_name(function: Any) -> str:
    """The name of a kernel in the source, from its function after lowering, which may have another symbol."""
    attributes = function.attributes
    named = "smalti.source_name" if "smalti.source_name" in attributes else "sym_name"
    return attributes[named].value
