# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic operations on memory.

Tiles run sequentially here, and their atomic operations run in any order on a target. An element of memory has an infinite
error bound if the order decides its value, and so has an old value that depends on the order. Two updates of an element
have no order if they are in different tiles, or in one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from .interpreter import Interpreter, handles
from .memory import Memory, Updates, lanes, memory_of, position
from .values import (
    Value,
    certain,
    element_type,
    error_of,
    integer,
    largest_finite,
    moved,
    operand_groups,
    sign_errors,
    signed_of,
    smallest_normal,
    unsigned_of,
    width_of,
    wrap,
)

Combine = Callable[[Any, Any], Any]

_COMMUTATIVE: dict[str, Combine] = {
    "addf": np.add,
    "addi": np.add,
    "andi": np.bitwise_and,
    "maximumf": np.maximum,
    "maxnumf": np.fmax,
    "maxs": np.maximum,
    "maxu": np.maximum,
    "minimumf": np.minimum,
    "minnumf": np.fmin,
    "mins": np.minimum,
    "minu": np.minimum,
    "mulf": np.multiply,
    "muli": np.multiply,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}
_UNSIGNED = ("maxu", "minu")

KINDS = (
    "addf",
    "addi",
    "andi",
    "assign",
    "maximumf",
    "maxnumf",
    "maxs",
    "maxu",
    "minimumf",
    "minnumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "xori",
)
"""The kinds of `arith`, by number."""


def apply(kind: str, old: Any, new: Any, ty: dtypes.ElementType) -> Any:
    """The value that an atomic update of this kind stores."""
    if kind == "assign":
        return new
    if kind in _UNSIGNED:
        old, new = (unsigned_of(np.asarray(v), width_of(ty)) for v in (old, new))
    elif ty.kind == "b":
        old, new = (signed_of(np.asarray(v)) for v in (old, new))
    value = _COMMUTATIVE[kind](old, new)
    if ty.kind != "f":
        return wrap(np.asarray(value), width_of(ty))
    stored = np.asarray(value).astype(ty.numpy).astype(np.float64)
    return value if np.isfinite(stored) else stored


def update(
    run: Interpreter,
    memory: Memory,
    positions: Sequence[int],
    kind: str,
    operands: Sequence[np.ndarray],
    errors: np.ndarray,
    ty: dtypes.ElementType,
    *,
    ordered: bool = False,
) -> Value:
    """Updates elements of memory, in order, and returns the old values. A lane at the position -1 is skipped; it returns 0.

    `operands` are flat tiles: the values, and before them the compared values if `kind` is `cas`. `errors` are the bounds
    of the values. `ordered` means that the lanes of the operation are executed in order.
    """
    record = memory.updates = memory.updates or Updates.start(memory)
    run.operation_number += 1
    if memory.error is None:
        memory.error = np.zeros(memory.data.shape)
    data, error = memory.data.reshape(-1), memory.error.reshape(-1)
    old_data, old_error = np.zeros(len(positions), memory.data.dtype), np.zeros(len(positions))
    for lane, at in enumerate(positions):
        if at < 0:
            continue
        tile, number = record.last.get(at, (run.tile_number, -1))
        if record.count[at] and (tile != run.tile_number or (number == run.operation_number and not ordered)):
            record.unordered[at] = True
        old, new = data[at], operands[-1][lane]
        old_data[lane], old_error[lane] = old, np.inf if memory.is_contended(at) else error[at]
        record.last[at] = (run.tile_number, run.operation_number)
        record.count[at] += 1
        if record.kind.get(at, kind) != kind:
            record.rebase(data, error, at)
        record.magnitude[at] += abs(new)
        record.propagated[at] += errors[lane]
        if kind == "mulf":
            record.multiply(at, new, errors[lane])
        if kind == "cas":
            matches = old == operands[0][lane]
            data[at] = new if matches else old
            error[at] = np.inf if error[at] else errors[lane] if matches else 0.0
        else:
            data[at] = apply(kind, old, new, ty)
            signs = float(sign_errors(old, new)) if kind in ("maxnumf", "minnumf") else 0.0
            error[at] = _bound(kind, record, at, data[at], max(error[at], errors[lane], signs), ty)
        if record.unordered[at] and (kind not in _COMMUTATIVE or record.kind.get(at, kind) != kind):
            error[at] = np.inf
        record.kind[at] = kind
    return Value(old_data, old_error if np.any(old_error) else None)


def _bound(kind: str, record: Updates, at: int, value: Any, largest: float, ty: dtypes.ElementType) -> float:
    """The bound of an element after an update, for any order of its updates. `largest` is that of the two operands."""
    if kind == "mulf":
        return _bound_of_multiplications(record, at, value, ty)
    if kind != "addf":
        # The value is one of the operands, or an integer that depends on both.
        return largest if ty.kind == "f" or kind == "assign" else np.inf if largest else 0.0
    if not np.isfinite(value):
        return np.inf if np.isinf(record.propagated[at]) else 0.0
    if record.magnitude[at] > largest_finite(ty) and abs(value) < record.magnitude[at]:
        return np.inf
    # numpy rounds f64 too.
    unit = ty.rounding * (2 if ty.bits == 64 else 1)
    return float(record.propagated[at] + record.count[at] * unit * record.magnitude[at])


def _bound_of_multiplications(record: Updates, at: int, value: Any, ty: dtypes.ElementType) -> float:
    """The bound of an element after multiplications, for any order. Any value is correct if an order overflows or underflows."""
    if record.count[at] > 1 and (record.largest[at] > largest_finite(ty) or record.smallest[at] < smallest_normal(ty)):
        return np.inf
    if not np.isfinite(value):
        # An operand that may be zero or of either sign changes an infinite result.
        return np.inf if record.relative[at] >= 1 else 0.0
    # numpy rounds f64 too.
    unit = ty.rounding * (2 if ty.bits == 64 else 1)
    relative = np.expm1(np.log1p(record.relative[at]) + record.count[at] * np.log1p(unit))
    if np.isinf(relative):
        return np.inf
    return float(abs(value) * relative + 2 * unit * smallest_normal(ty))


def _positions(memory: Memory, groups: Sequence[list[Value]], shape: tuple[int, ...]) -> list[int]:
    """The flat position of each lane, or -1 if the lane is skipped."""
    indices, masks = groups
    inside, where = lanes(memory, indices, masks, shape)
    positions = np.full(shape, -1)
    positions[inside] = where
    return positions.reshape(-1).tolist()


def _flat(value: Value) -> np.ndarray:
    return value.data.reshape(-1)


@handles("triton_xla.atomic_rmw")
def _atomic_rmw(run: Interpreter, op: Any, operands: list[Value]) -> Value:
    (value,), (destination,), *groups = operand_groups(op, operands)
    memory, shape = memory_of(destination), value.data.shape
    old = update(
        run,
        memory,
        _positions(memory, groups, shape),
        KINDS[integer(op, "kind")],
        [_flat(value)],
        error_of(value).reshape(-1),
        element_type(op.operands[0].type),
        ordered="deterministic" in op.attributes,
    )
    return moved(old, lambda x: x.reshape(shape))


@handles("memref.atomic_rmw")
def _memref_atomic_rmw(run: Interpreter, op: Any, operands: list[Value]) -> Value:
    value, destination, *indices = operands
    memory = memory_of(destination)
    position(op, indices, memory.data.shape)
    positions = _positions(memory, [indices, []], ())
    kind, ty = KINDS[integer(op, "kind")], element_type(op.operands[0].type)
    old = update(run, memory, positions, kind, [_flat(value)], error_of(value).reshape(-1), ty)
    return moved(old, lambda x: x.reshape(()))


@handles("triton_xla.atomic_cas")
def _atomic_cas(run: Interpreter, op: Any, operands: list[Value]) -> Value:
    (expected,), (desired,), (destination,), *groups = operand_groups(op, operands)
    memory, shape = memory_of(destination), expected.data.shape
    certain(expected, "the expected value")
    positions = _positions(memory, groups, shape)
    tiles, ty = [_flat(expected), _flat(desired)], element_type(op.operands[0].type)
    old = update(run, memory, positions, "cas", tiles, error_of(desired).reshape(-1), ty)
    return moved(old, lambda x: x.reshape(shape))


ATOMICS = ("memref.atomic_rmw", "triton_xla.atomic_rmw", "triton_xla.atomic_cas")


def returns_old_values(operation: Any) -> bool:
    """Whether an atomic operation is in the operation, and its result is used."""
    if operation.name in ATOMICS:
        return any(True for _ in operation.results[0].uses)
    return any(
        returns_old_values(view.operation)
        for region in operation.regions
        for block in region.blocks
        for view in block.operations
    )
