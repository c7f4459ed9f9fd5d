# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of arrays, with which a kernel is compiled without arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..calling import arrays
from .types import Misuse
from .types import dtype as to_dtype

_PROTOCOLS = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")


@dataclasses.dataclass(frozen=True)
class ShapeDtypeStruct:
    """The shape and the element type of an array, for `compile`, `warmup`, `ir` and `module` of a kernel.

    `strides` are in elements; the default is a row-major array.
    """

    shape: Sequence[int]
    dtype: Any
    strides: Sequence[int] | None = None


def described(value: Any) -> Any:
    """The view of an array that a `ShapeDtypeStruct` describes, or an object of another library with the same attributes.
    Other values do not change."""
    is_ours = isinstance(value, ShapeDtypeStruct)
    if not is_ours and (
        not (hasattr(value, "shape") and hasattr(value, "dtype")) or any(hasattr(value, name) for name in _PROTOCOLS)
    ):
        return value
    shape = tuple(int(size) for size in value.shape)
    strides = value.strides if is_ours else None
    steps = arrays.row_major(shape) if strides is None else tuple(int(step) for step in strides)
    if len(steps) != len(shape):
        raise ValueError(
            f"'strides' has {len(steps)} numbers, and 'shape' has {len(shape)}; one stride per dimension is required"
        )
    dtype = to_dtype(value.dtype)
    if dtype.bits < 8:
        raise Misuse(
            f"an array has elements of {dtype}; elements of less than 8 bits are packed in an array of int8 or uint8, and the "
            f"parameter is annotated with sl.Array[sl.{dtype}]"
        )
    return arrays.ArrayView(0, shape, steps, dtype.name, arrays.CPU)
