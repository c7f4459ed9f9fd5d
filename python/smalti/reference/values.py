# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of the interpreter: data, error bounds, element types and roundings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from .. import dtypes, ir
from ..errors import SmaltiError


class InterpreterError(SmaltiError):
    """The reference interpreter does not support an operation or type, or the kernel has undefined behavior."""


@dataclass
class Value:
    """An SSA value: the exact result, and its error bound per element. None means that the result must be exact."""

    data: np.ndarray
    error: np.ndarray | None = None


def error_of(value: Value) -> np.ndarray:
    return np.zeros(value.data.shape) if value.error is None else value.error


def element_type(ty: Any) -> dtypes.ElementType:
    spelling = str(ty.element_type if isinstance(ty, ir.ShapedType) else ty)
    found = dtypes.from_mlir(spelling)
    if found:
        return found
    if spelling.startswith("i") and spelling[1:].isdigit() and int(spelling[1:]) <= 64:
        return dtypes.ElementType(spelling, spelling, int(spelling[1:]), "i")
    raise InterpreterError(f"the reference interpreter does not support the element type {spelling}")


def shape_of(ty: Any) -> tuple[int, ...]:
    return tuple(ty.shape) if isinstance(ty, ir.ShapedType) else ()


def wrap(data: np.ndarray, bits: int) -> np.ndarray:
    """`data` as signed integers of `bits` bits. One bit gives a bool."""
    if bits == 1:
        return (np.asarray(data).astype(np.int64) & 1).astype(bool)
    data = np.asarray(data).astype(np.int64)
    if bits == 64:
        return data
    half = np.int64(1) << (bits - 1)
    mask = (np.int64(1) << bits) - 1
    return ((data & mask) ^ half) - half


def unsigned_of(data: np.ndarray, bits: int) -> np.ndarray:
    data = np.asarray(data).astype(np.int64).astype(np.uint64)
    return data if bits == 64 else data & np.uint64((1 << bits) - 1)


def signed_of(value: Value) -> np.ndarray:
    # As a signed integer, the i1 value 1 is -1.
    return -value.data.astype(np.int64) if value.data.dtype == bool else value.data.astype(np.int64)


def rounded(data: np.ndarray, ty: dtypes.ElementType, error: np.ndarray | None) -> Value:
    """A float result that an implementation rounds to `ty`. `error` is the propagated error bound."""
    data = np.asarray(data, np.float64)
    with np.errstate(all="ignore"):
        if ty.bits == 8:
            # Conversions to 8-bit floats saturate, also from infinity, as on GPUs.
            limits = cast(Any, ml_dtypes).finfo(ty.numpy)
            largest = float(limits.max)
            data = np.clip(data, -largest, largest)
        if ty.bits < 64:
            stored = data.astype(ty.numpy).astype(np.float64)
            data = np.where(np.isfinite(stored), data, stored)
        # The smallest normal number bounds the error of underflow, gradual or flushed.
        lost = ty.rounding * np.abs(data) + (2.0**-14 * ty.rounding if ty.bits <= 16 else 0.0)
        if ty.bits == 64:
            lost = np.zeros_like(data)
        total = lost if error is None else lost + error
    return Value(data, np.where(np.isfinite(total), total, 0.0))


def attribute_data(attribute: Any, ty: Any) -> np.ndarray:
    element, shape = element_type(ty), shape_of(ty)
    if isinstance(attribute, ir.DenseElementsAttr):
        if attribute.is_splat:
            splat: Any = attribute.get_splat_value()
            flat = np.full(int(np.prod(shape, dtype=np.int64)), splat.value)
        else:
            values: Any = attribute
            flat = np.asarray([values[i] for i in range(len(values))])
    else:
        scalar: Any = attribute
        flat = np.asarray([scalar.value])
    data = flat.reshape(shape)
    return data.astype(np.float64) if element.kind == "f" else wrap(data, width_of(element))


def width_of(ty: dtypes.ElementType) -> int:
    return 1 if ty.kind == "b" else ty.bits
