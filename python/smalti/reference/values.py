# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of the interpreter: data, error bounds, element types and roundings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from .. import dtypes, ir
from .._mlir_libs import _smalti
from ..errors import SmaltiError


class InterpreterError(SmaltiError):
    """An operation or type is not legal, or the kernel has undefined behavior."""


@dataclass
class Value:
    """An SSA value or the contents of memory: the exact result, and its error bound per element.

    The bound of an integer or a bool is the largest difference too. It is not zero if a comparison of floats within their
    bounds decides the element. An infinite bound means that any value is correct. None means that all bounds are zero.
    """

    data: np.ndarray
    error: np.ndarray | None = None


def error_of(value: Value) -> np.ndarray:
    return np.zeros(value.data.shape) if value.error is None else value.error


def is_uncertain(*values: Value) -> np.ndarray | None:
    """The elements whose operands have an error, or None if no operand has one."""
    found = [value.error != 0 for value in values if value.error is not None]
    if not any(np.any(part) for part in found):
        return None
    return np.logical_or.reduce(np.broadcast_arrays(*found))


def certain(value: Value, what: str) -> np.ndarray:
    """The data of a value that decides what runs. Raises a ValueError if it may have another value."""
    if is_uncertain(value) is not None:
        raise ValueError(
            f"{what} depends on rounded floats, an undefined operation or the order of atomic operations, so the kernel does not have a unique reference result"
        )
    return value.data


def unknown_where(where: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """Error bounds: infinite for the elements in `where`, and zero for the others."""
    return None if where is None else np.broadcast_to(np.where(where, np.inf, 0.0), shape)


def moved(value: Value, move: Callable[[np.ndarray], np.ndarray]) -> Value:
    """The elements of `value` in other positions."""
    return Value(move(value.data), None if value.error is None else move(value.error))


def differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The absolute differences. They are zero for two equal infinities and two NaNs, and infinite for one NaN."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(gap), np.inf, gap)


def spread(function: Callable[..., Any], data: np.ndarray, *operands: Value) -> np.ndarray | None:
    """The propagated error of `data`, the value of a function that is monotone in each operand within the error bounds."""
    if is_uncertain(*operands) is None:
        return None
    # A sum with a bound of 0 would lose the sign of -0.
    ends = [
        (v.data,) if v.error is None else tuple(np.where(v.error == 0, v.data, v.data + e) for e in (-v.error, v.error))
        for v in operands
    ]
    return np.maximum.reduce([differences(function(*corner), data) for corner in itertools.product(*ends)])


UNKNOWN_SIGN = 5e-324
"""The error bound of a zero that may have either sign: the smallest number, so that it covers no other value."""


def sign_errors(a: Any, b: Any) -> np.ndarray:
    """The error bounds of `arith.maxnumf` and `arith.minnumf`, which return either of two zeros of different signs."""
    return np.where((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)), UNKNOWN_SIGN, 0.0)


def element_type(ty: Any) -> dtypes.ElementType:
    spelling = str(ty.element_type if isinstance(ty, ir.ShapedType) else ty)
    found = dtypes.from_mlir(spelling)
    if found:
        return found
    if spelling == "f4E2M1FN":
        return dtypes.ElementType(spelling, "float4_e2m1fn", 4, "f", 1)
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


def signed_of(data: np.ndarray) -> np.ndarray:
    # As a signed integer, the i1 value 1 is -1.
    return -data.astype(np.int64) if data.dtype == bool else data.astype(np.int64)


_ANY_ORDER: ContextVar[bool] = ContextVar("_ANY_ORDER", default=False)


@contextmanager
def any_order() -> Generator[None, None, None]:
    """In this context, a target may apply the operations in another order, so that it rounds other f64 numbers than numpy."""
    token = _ANY_ORDER.set(True)
    try:
        yield
    finally:
        _ANY_ORDER.reset(token)


def largest_finite(ty: dtypes.ElementType) -> float:
    return float(cast(Any, ml_dtypes).finfo(ty.numpy).max)


def smallest_normal(ty: dtypes.ElementType) -> float:
    return float(cast(Any, ml_dtypes).finfo(ty.numpy).smallest_normal)


_WITHOUT_NAN = ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN")


def rounded(data: Any, ty: dtypes.ElementType, error: np.ndarray | None = None, *, exact: bool = False) -> Value:
    """A float result that an implementation rounds to `ty`. `error` is the propagated error bound.

    `exact` means that all targets round the operation correctly: a result of exact operands that `ty` represents is exact.
    """
    data = cast(Any, np.asarray(data, np.float64))
    propagated: Any = np.zeros(data.shape) if error is None else np.broadcast_to(error, data.shape)
    largest, smallest = largest_finite(ty), smallest_normal(ty)
    with np.errstate(all="ignore"):
        if ty.bits <= 8:
            # Conversions to floats of at most 8 bits saturate, also from infinity, as on GPUs.
            data = np.clip(data, -largest, largest)
            if ty.mlir == "f8E8M0FNU":
                # The type does not have a zero, and a negative number becomes NaN.
                may_be_either = (propagated > 0) & (np.abs(data) <= propagated)
                propagated = np.where(may_be_either, np.inf, propagated)
                data = cast(Any, np.where(may_be_either | (data >= 0), np.maximum(data, 2.0**-127), data))
            elif ty.mlir in _WITHOUT_NAN:
                data = cast(Any, np.where(np.isnan(data), largest, data))
        stored: Any = data.astype(ty.numpy).astype(np.float64)
        # Half the distance of two numbers: normal ones, or subnormal ones.
        lost: Any = ty.rounding * np.maximum(np.abs(data), smallest)
        if ty.bits == 64:
            # numpy rounds too, and so does the target. On the same operands they agree.
            lost = 2 * lost if _ANY_ORDER.get() else np.where(propagated == 0, 0.0, 2 * lost)
        elif exact:
            lost = np.where((stored == data) & (propagated == 0), 0.0, lost)
        total: Any = lost + propagated
        may_overflow = (
            np.isfinite(data) & (np.abs(data) + propagated > largest) & (np.abs(data) - propagated <= largest)
        )
        total = np.where(np.isfinite(stored) | np.isinf(propagated), total, 0.0)
        if ty.bits > 8:
            total = np.where(may_overflow & (propagated > 0), np.inf, total)
        data = np.asarray(cast(Any, np.where(np.isfinite(stored), data, stored)))
    return Value(data, total if np.any(total) else None)


def attribute_data(attribute: Any, ty: Any) -> np.ndarray:
    element, shape = element_type(ty), shape_of(ty)
    values: Any = attribute
    if not isinstance(attribute, ir.DenseElementsAttr):
        flat = np.asarray([values.value])
        if element.mlir == "f8E8M0FNU":
            # LLVM converts the NaN of this type to an infinity.
            flat = np.where(np.isinf(flat), np.nan, flat)
    elif element.kind == "f":
        flat = np.frombuffer(_smalti.dense_bytes(attribute), element.numpy)
    elif values.is_splat:
        flat = np.asarray([values.get_splat_value().value])
    elif element.kind == "b":
        flat = np.asarray([values[i] for i in range(len(values))])
    else:
        # An element has whole bytes, as few as possible. MLIR's bindings read `index` elements as unsigned, and not all widths.
        raw, size = bytes(_smalti.dense_bytes(attribute)), -(-width_of(element) // 8)
        flat = np.asarray(
            [int.from_bytes(raw[at : at + size], "little", signed=True) for at in range(0, len(raw), size)]
        )
    data = np.full(shape, flat[0]) if flat.size == 1 else flat.reshape(shape)
    return data.astype(np.float64) if element.kind == "f" else wrap(data, width_of(element))


def integer(op: Any, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def integers(op: Any, name: str) -> list[int]:
    return [int(v) for v in ir.DenseI64ArrayAttr(op.attributes[name])]


def operand_groups(op: Any, operands: Sequence[Value]) -> list[list[Value]]:
    """The operands of an operation with several variadic operands, by group."""
    groups: list[list[Value]] = []
    rest = list(operands)
    for count in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]):
        groups.append(rest[: int(count)])
        rest = rest[int(count) :]
    return groups


def width_of(ty: dtypes.ElementType) -> int:
    return 1 if ty.kind == "b" else ty.bits
