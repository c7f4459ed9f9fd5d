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
from .interpreter import Interpreter
from .memory import Memory, Updates
from .values import Value, error_of, largest_finite, unsigned_of, width_of, wrap

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
_ROUNDED = ("addf", "mulf")


def apply(kind: str, old: Any, new: Any, ty: dtypes.ElementType) -> Any:
    """The value that an atomic update of this kind stores."""
    if kind == "assign":
        return new
    if kind in _UNSIGNED:
        old, new = (unsigned_of(np.asarray(v), width_of(ty)) for v in (old, new))
    value = _COMMUTATIVE[kind](old, new)
    if ty.kind != "f":
        return wrap(np.asarray(value), width_of(ty))
    stored = np.asarray(value).astype(ty.numpy).astype(np.float64)
    return value if np.isfinite(stored) else stored


def update(
    run: Interpreter,
    memory: Memory,
    positions: Sequence[tuple[int, ...] | None],
    kind: str,
    operands: Sequence[Value],
    ty: dtypes.ElementType,
    *,
    ordered: bool = False,
) -> Value:
    """Updates elements of memory in order, and returns the old values. A lane without a position is skipped; it returns 0.

    `operands` are flat tiles: the values, and before them the compared values if `kind` is `cas`. `ordered` means that the
    lanes of the operation are executed in order.
    """
    record = memory.updates = memory.updates or Updates.start(memory)
    run.operation_number += 1
    if memory.error is None:
        memory.error = np.zeros(memory.data.shape)
    old_data, old_error = np.zeros(len(positions), memory.data.dtype), np.zeros(len(positions))
    value = operands[-1]
    for lane, at in enumerate(positions):
        if at is None:
            continue
        tile, number = record.last.get(at, (run.tile_number, -1))
        if record.count[at] and (tile != run.tile_number or (number == run.operation_number and not ordered)):
            record.unordered[at] = True
        record.last[at] = (run.tile_number, run.operation_number)
        old, new, error = memory.data[at], value.data[lane], error_of(value)[lane]
        old_data[lane], old_error[lane] = old, np.inf if memory.is_contended(at) else memory.error[at]
        if kind == "cas":
            matches = _bits(old, ty) == _bits(operands[0].data[lane], ty)
            unsure = memory.error[at] != 0 or error_of(operands[0])[lane] != 0
            memory.data[at] = new if matches else old
            memory.error[at] = np.inf if unsure else error if matches else memory.error[at]
        else:
            memory.data[at] = apply(kind, old, new, ty)
            record.count[at] += 1
            record.magnitude[at] += abs(new)
            record.propagated[at] += error
            memory.error[at] = _error(kind, record, memory, at, error, ty)
        record.count[at] += kind == "cas"
        if record.unordered[at] and (kind not in _COMMUTATIVE or record.kind.get(at, kind) != kind):
            memory.error[at] = np.inf
        record.kind[at] = kind
    return Value(old_data, old_error if np.any(old_error) else None)


def _bits(value: Any, ty: dtypes.ElementType) -> Any:
    """The bit pattern of an element: a compare-and-swap compares patterns."""
    if ty.kind != "f":
        return int(value)
    return np.asarray(value).astype(ty.numpy).tobytes()


def _error(
    kind: str, record: Updates, memory: Memory, at: tuple[int, ...], error: float, ty: dtypes.ElementType
) -> float:
    """The bound of an element after an update, for any order of its updates."""
    data = memory.data[at]
    if kind == "assign":
        return error
    if ty.kind != "f":
        return np.inf if record.propagated[at] != 0 else 0.0
    if kind not in _ROUNDED:
        # The largest of several values has at most the largest error of them.
        return max(float(error_of(memory)[at]), error)
    if kind == "mulf":
        raise ValueError("an atomic multiplication of floats does not have an error bound")
    if not np.isfinite(data):
        return np.inf if np.isinf(record.propagated[at]) else 0.0
    if record.magnitude[at] > largest_finite(ty) and abs(data) < record.magnitude[at]:
        return np.inf
    return float(record.propagated[at] + record.count[at] * ty.rounding * record.magnitude[at])
