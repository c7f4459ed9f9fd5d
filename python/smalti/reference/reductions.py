# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans, sorts and histograms.

The order of a reduction is unspecified; a region whose result depends on the order by more than rounding is an error. If the
region is a sum, the bound is that of any order. If the region has other operations that round, the bound is the largest
running error of two sequential orders. Selections and comparisons alone do not round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from .interpreter import Interpreter, handles
from .values import (
    Value,
    any_order,
    differences,
    element_type,
    error_of,
    integer,
    integers,
    is_uncertain,
    largest_finite,
    moved,
    operand_groups,
    signed_of,
    unknown_where,
    width_of,
    wrap,
)

_PAIRS = 1 << 22
"""The number of comparisons in one evaluation of a sort's region."""

_SAMPLES = 256
"""The number of elements with which the laws of a region are checked."""

Combine = Callable[[Sequence[Value], Sequence[Value]], list[Value]]

_WITHOUT_ROUNDING = {
    "arith.cmpf",
    "arith.constant",
    "arith.extf",
    "arith.maximumf",
    "arith.maxnumf",
    "arith.minimumf",
    "arith.minnumf",
    "arith.negf",
    "arith.select",
    "math.absf",
    "math.copysign",
    "triton_xla.yield",
}


def _block(op: Any) -> Any:
    return op.regions[0].blocks[0]


def apply(run: Interpreter, block: Any, arguments: Sequence[Value]) -> list[Value]:
    """Applies a region of scalar operations to each element of tiles."""
    shape = np.broadcast_shapes(*(v.data.shape for v in arguments))
    arguments = [moved(v, lambda x: np.broadcast_to(x, shape)) for v in arguments]
    if any(len(view.operation.regions) for view in block.operations):
        # Control flow differs between elements.
        parts = [
            run.run_block(block, [moved(v, lambda x, at=at: np.asarray(x[at])) for v in arguments])[1]
            for at in np.ndindex(shape)
        ]
        return [_stack(column, 0, shape) for column in zip(*parts, strict=True)]
    return [moved(v, lambda x: np.broadcast_to(x, shape)) for v in run.run_block(block, arguments)[1]]


def _stack(values: Sequence[Value], axis: int, shape: tuple[int, ...] | None = None) -> Value:
    data = np.stack([v.data for v in values], axis)
    error = np.stack([error_of(v) for v in values], axis) if is_uncertain(*values) is not None else None
    return Value(data, error) if shape is None else moved(Value(data, error), lambda x: x.reshape(shape))


def _rounds(block: Any) -> bool:
    """Whether a combination adds errors."""
    for view in block.operations:
        operation = view.operation
        has_floats = any(element_type(result.type).kind == "f" for result in operation.results)
        if len(operation.regions) or (has_floats and operation.name not in _WITHOUT_ROUNDING):
            return True
    return False


def _sums(block: Any) -> list[dtypes.ElementType | None]:
    """The type of each result that is the sum of its two arguments, and None for the other results."""
    count = len(block.arguments) // 2
    terminator = list(block.operations)[-1].operation
    found: list[dtypes.ElementType | None] = []
    for index, value in enumerate(terminator.operands):
        owner: Any = getattr(value.owner, "operation", None)
        pair = [block.arguments[index], block.arguments[count + index]]
        if owner is not None and owner.name == "arith.addf" and list(owner.operands) in (pair, pair[::-1]):
            found.append(element_type(value.type))
        else:
            found.append(None)
    return found


def _sequence(combine: Combine, start: Sequence[Value], rows: Sequence[Value]) -> list[Value]:
    """`start`, then each row along the first dimension, in order."""
    total = list(start)
    for row in range(rows[0].data.shape[0]):
        total = combine(total, [moved(v, lambda x, row=row: x[row]) for v in rows])
    return total


def _tree(combine: Combine, rows: Sequence[Value]) -> list[Value]:
    """The combination of all rows, as a balanced tree."""
    while (count := rows[0].data.shape[0]) > 1:
        half = count // 2
        left, right, rest = ([moved(v, lambda x, s=s: x[s]) for v in rows] for s in _halves(half))
        pairs = combine(left, right)
        rows = [_join(pair, odd) for pair, odd in zip(pairs, rest, strict=True)]
    return [moved(v, lambda x: x[0]) for v in rows]


def _halves(half: int) -> tuple[slice, slice, slice]:
    return slice(0, half), slice(half, 2 * half), slice(2 * half, None)


def _join(a: Value, b: Value) -> Value:
    error = None
    if a.error is not None or b.error is not None:
        error = np.concatenate([error_of(a), error_of(b)])
    return Value(np.concatenate([a.data, b.data]), error)


def _worse(a: Value, b: Value) -> Value:
    """The value `a`, with an error that covers `b`."""
    error = np.maximum(error_of(a), error_of(b) + differences(a.data, b.data))
    return Value(a.data, error if np.any(error) else None)


def _check_laws(
    block: Any, combine: Combine, starts: Sequence[Value], rows: Sequence[Value], *, commutative: bool
) -> None:
    """Raises a ValueError if the region is not associative or, if required, not commutative for samples of the elements.

    Differences within the error bounds are rounding, and infinities and NaNs are not compared: overflow depends on the order.
    """
    if None not in _sums(block) or len(rows[0].data) < 2:
        return
    rows = [_join(_row(start), row) for start, row in zip(starts, rows, strict=True)]

    def pick(first: int) -> list[Value]:
        def samples(x: np.ndarray) -> np.ndarray:
            part = x[first : len(x) - 2 + first].reshape(-1)
            return part[:: max(1, part.size // _SAMPLES)]

        return [moved(v, samples) for v in rows]

    def compare(law: str, one: Sequence[Value], other: Sequence[Value], texts: tuple[str, str]) -> None:
        for a, b in zip(one, other, strict=True):
            wrong = np.isfinite(a.data) & np.isfinite(b.data)
            wrong &= differences(a.data, b.data) > 2 * (error_of(a) + error_of(b))
            if not np.any(wrong):
                continue
            at = int(np.argmax(wrong))
            given = ", ".join(
                f"{name} = {' and '.join(f'{float(v.data[at]):.6g}' for v in values)}"
                for name, values in zip("xyz" if law == "associative" else "xy", parts, strict=False)
            )
            raise ValueError(
                f"the region is not {law}: for {given}, {texts[0]} is {float(a.data[at]):.6g}, and {texts[1]} is "
                f"{float(b.data[at]):.6g}; the result depends on the order in which a target combines the elements"
            )

    parts = [pick(first) for first in range(3)]
    x, y, z = parts
    xy = combine(x, y)
    if commutative:
        compare("commutative", xy, combine(y, x), ("f(x, y)", "f(y, x)"))
    compare("associative", combine(xy, z), combine(x, combine(y, z)), ("f(f(x, y), z)", "f(x, f(y, z))"))


def sum_bound(terms: Value, start: Value, ty: dtypes.ElementType) -> Value:
    """The sum of `start` and of the `terms` along the first dimension, in any order."""
    total, magnitude, error = start.data, np.abs(start.data), error_of(start)
    for term, term_error in zip(terms.data, error_of(terms), strict=True):
        total, magnitude, error = total + term, magnitude + np.abs(term), error + term_error
    # Each partial sum is rounded, and is at most the sum of the magnitudes.
    # numpy rounds f64 too.
    error = error + len(terms.data) * ty.rounding * (2 if ty.bits == 64 else 1) * magnitude
    error = np.where(np.isfinite(total) | np.isinf(error_of(start)), error, 0.0)
    limit = largest_finite(ty)
    cancels = np.isfinite(magnitude) & (magnitude > limit) & (np.abs(total) < magnitude)
    stored = total.astype(ty.numpy).astype(np.float64)
    # A partial sum overflows in some order.
    return Value(np.where(np.isfinite(stored), total, stored), np.where(cancels, np.inf, error))


def reduce(
    run: Interpreter, block: Any, inputs: Sequence[Value], starts: Sequence[Value], dims: Sequence[int]
) -> list[Value]:
    """Reduces along `dims` by the region, whose order is unspecified."""

    def combine(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        with any_order():
            return apply(run, block, [*left, *right])

    def to_rows(x: np.ndarray) -> np.ndarray:
        return np.moveaxis(x, dims, range(len(dims))).reshape(-1, *(s for d, s in enumerate(x.shape) if d not in dims))

    rows = [moved(v, to_rows) for v in inputs]
    shape = rows[0].data.shape[1:]
    starts = [moved(v, lambda x: np.broadcast_to(x, shape)) for v in starts]
    _check_laws(block, combine, starts, rows, commutative=True)
    results = combine(starts, _tree(combine, rows))
    if not _rounds(block):
        return results
    sums = _sums(block)
    if None in sums:
        for ordered in (rows, [moved(v, np.flipud) for v in rows]):
            other = _sequence(combine, starts, ordered)
            results = [_worse(a, b) for a, b in zip(results, other, strict=True)]
    return [
        value if ty is None else sum_bound(terms, start, ty)
        for value, terms, start, ty in zip(results, rows, starts, sums, strict=True)
    ]


@handles("triton_xla.reduce")
def _reduce(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    inputs, starts = operand_groups(op, operands)
    return reduce(run, _block(op), inputs, starts, integers(op, "dims"))


def scan(
    run: Interpreter,
    block: Any,
    inputs: Sequence[Value],
    starts: Sequence[Value],
    dim: int,
    exclusive: bool = False,
    reverse: bool = False,
) -> list[Value]:
    """Prefix reductions along `dim`. The region is applied in order, with any association."""

    def combine(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        with any_order():
            return apply(run, block, [*left, *right])

    step = -1 if reverse else 1
    rows = [moved(v, lambda x: np.moveaxis(x, dim, 0)[::step]) for v in inputs]
    count, *rest = rows[0].data.shape
    starts = [moved(v, lambda x: np.broadcast_to(x, rest)) for v in starts]
    _check_laws(block, combine, starts, rows, commutative=False)
    prefixes = [list(starts)]
    for row in range(count):
        prefixes.append(combine(prefixes[-1], [moved(v, lambda x, row=row: x[row]) for v in rows]))
    columns = [_stack(column, 0) for column in zip(*prefixes, strict=True)]
    if _rounds(block):
        columns = _bound_scan(block, combine, columns, [_join(_row(s), r) for s, r in zip(starts, rows, strict=True)])
    kept = slice(0, count) if exclusive else slice(1, count + 1)
    return [moved(v, lambda x: np.moveaxis(x[kept][::step], 0, dim)) for v in columns]


def _row(value: Value) -> Value:
    return moved(value, lambda x: x[None])


def _bound_scan(block: Any, combine: Combine, columns: Sequence[Value], rows: Sequence[Value]) -> list[Value]:
    """The scan with bounds for another grouping, by doubled distances. Sums have the bound of any grouping."""
    other, distance = list(rows), 1
    while distance < rows[0].data.shape[0]:
        left, right, kept = (
            [moved(v, lambda x, s=s: x[s]) for v in other]
            for s in (slice(None, -distance), slice(distance, None), slice(0, distance))
        )
        other = [_join(a, b) for a, b in zip(kept, combine(left, right), strict=True)]
        distance *= 2
    results = [_worse(a, b) for a, b in zip(columns, other, strict=True)]
    for index, ty in enumerate(_sums(block)):
        if ty is not None:
            sums = [
                sum_bound(moved(rows[index], lambda x, n=n: x[1:n]), moved(rows[index], lambda x: x[0]), ty)
                for n in range(1, len(rows[index].data) + 1)
            ]
            results[index] = _stack(sums, 0)
    return results


@handles("triton_xla.scan")
def _scan(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    inputs, starts = operand_groups(op, operands)
    exclusive, reverse = ("exclusive" in op.attributes), ("reverse" in op.attributes)
    return scan(run, _block(op), inputs, starts, integer(op, "dim"), exclusive, reverse)


def _ranks(run: Interpreter, block: Any, lines: Sequence[Value]) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest position of each element of lines (count, size) in a stable sort."""
    count, size = lines[0].data.shape
    low, high = np.zeros((count, size), np.int64), np.zeros((count, size), np.int64)
    step = max(1, _PAIRS // (size * size))
    earlier = np.tri(size, k=-1, dtype=bool)
    for at in range(0, count, step):
        part = [moved(v, lambda x, at=at: x[at : at + step]) for v in lines]
        # Element i against element j; then the same for j against i, by symmetry.
        pairs = [side for v in part for side in (moved(v, lambda x: x[:, :, None]), moved(v, lambda x: x[:, None, :]))]
        (before,) = apply(run, block, pairs)
        less, unsure = before.data.astype(bool), error_of(before) != 0
        after = np.swapaxes(less, 1, 2)
        # Element j precedes i if it is less, or if neither is less and j comes first.
        precedes = after | (~less & ~after & earlier)
        undecided = (unsure | np.swapaxes(unsure, 1, 2)) & ~np.eye(size, dtype=bool)
        low[at : at + step] = np.sum(precedes & ~undecided, axis=2)
        high[at : at + step] = np.sum(precedes | undecided, axis=2)
    return low, high


def sort(run: Interpreter, block: Any, inputs: Sequence[Value], dim: int) -> list[Value]:
    """Sorts along `dim`, stably. Where rounding decides about the order, the errors cover all possible elements."""
    swapped = [moved(v, lambda x: np.moveaxis(x, dim, -1)) for v in inputs]
    shape = swapped[0].data.shape
    lines = [moved(v, lambda x: x.reshape(-1, shape[-1])) for v in swapped]
    low, high = _ranks(run, block, lines)
    order = np.argsort(low, axis=1, kind="stable")
    results = [moved(v, lambda x: np.take_along_axis(x, order, 1)) for v in lines]
    if np.any(low != high):
        for line in range(len(low)):
            for position in range(shape[-1] if np.any(low[line] != high[line]) else 0):
                candidates = (low[line] <= position) & (high[line] >= position)
                for source, result in zip(lines, results, strict=True):
                    gap = differences(source.data[line][candidates], result.data[line, position])
                    error = error_of(result).copy()
                    error[line, position] = np.max(gap + error_of(source)[line][candidates], initial=0.0)
                    result.error = error
    return [moved(v, lambda x: np.moveaxis(x.reshape(shape), -1, dim)) for v in results]


@handles("triton_xla.sort")
def _sort(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    return sort(run, _block(op), operands, integer(op, "dim"))


def histogram(values: np.ndarray, bins: int, mask: np.ndarray | None = None) -> np.ndarray:
    """How often each of 0 to `bins - 1` occurs."""
    counted = (values >= 0) & (values < bins)
    if mask is not None:
        counted &= mask
    return np.bincount(values[counted], minlength=bins)


@handles("triton_xla.histogram")
def _histogram(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    uncertain = any(is_uncertain(v) is not None for v in operands)
    mask = operands[1].data if len(operands) > 1 else None
    counts = histogram(signed_of(operands[0].data), integer(op, "bins"), mask)
    data = wrap(counts, width_of(element_type(op.results[0].type)))
    return Value(data, unknown_where(np.asarray(True), data.shape) if uncertain else None)
