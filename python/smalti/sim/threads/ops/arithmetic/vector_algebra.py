# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`vector`: reductions along dimensions, scans and contractions of per-thread vectors.

Elements are combined in the order of upstream's lowerings: along a reduced dimension from the first element, with the
accumulator as the first operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....dialects.vector import CombiningKind
from .....instructions import fused
from ....ops.registers import enumerator
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array
from .arith import combining
from .vector import element_dtype, neutral, on_vectors, shape_of


def _combine(op: Any) -> Callable[[Array, Array], Array]:
    dtype = element_dtype(op.results[0].type)
    combine = combining(str(enumerator(op, "kind", CombiningKind)), dtype)
    return lambda x, y: combine(x, y).astype(dtype)


@operation("vector.multi_reduction")
def _multi_reduction(op: Any, tr: ThreadTranslator) -> Step:
    combine, reduced = _combine(op), list(attribute(op, "reduction_dims"))
    rank = len(shape_of(op.operands[0].type))
    nothing = neutral(str(enumerator(op, "kind", CombiningKind)), element_dtype(op.results[0].type))

    def reduce(lanes: bool, x: Array, start: Array, *mask: Array) -> Array:
        first = int(lanes)
        x = np.where(mask[0], x, nothing) if mask else x
        kept = [d + first for d in range(rank) if d not in reduced]
        x = x.transpose([*range(first), *kept, *(d + first for d in reduced)])
        x = x.reshape((*x.shape[: first + len(kept)], -1))
        found = start
        for i in range(x.shape[-1]):
            found = combine(found, x[..., i])
        return found

    return on_vectors(op, tr, reduce, mask_rank=rank)


@operation("vector.scan")
def _scan(op: Any, tr: ThreadTranslator) -> Step:
    (source, initial), (kept, last) = tr.operands(op), tr.results(op)
    combine, dimension = _combine(op), attribute(op, "reduction_dim")
    inclusive, size = bool(attribute(op, "inclusive")), shape_of(op.operands[0].type)[dimension]
    ranks = [len(shape_of(value.type)) for value in op.operands]

    def step(st: Any) -> None:
        x, start = (np.asarray(st.v[slot]) for slot in (source, initial))
        lanes = x.ndim > ranks[0] or start.ndim > ranks[1]
        if lanes:
            x, start = (
                np.broadcast_to(a, (st.lanes, *a.shape[a.ndim - rank :]))
                for a, rank in zip((x, start), ranks, strict=True)
            )
        axis, now, found = dimension + int(lanes), start, []
        for i in range(size):
            one = x.take(i, axis)
            # An exclusive scan begins with the initial value, an inclusive one with the first element.
            now = (one if i == 0 else combine(now, one)) if inclusive else now
            found.append(now)
            if not inclusive:
                now = combine(now, one)
        st.v[kept] = np.stack(found, axis)
        st.v[last] = found[-1]

    return step


@operation("vector.outerproduct")
def _outer_product(op: Any, tr: ThreadTranslator) -> Step:
    combine, dtype = _combine(op), element_dtype(op.results[0].type)
    is_outer = len(shape_of(op.operands[1].type)) == 1
    is_fused = dtype.kind != "i" and "add" in str(op.attributes["kind"])

    given = len(op.operands)

    def product(lanes: bool, x: Array, y: Array, *more: Array) -> Array:
        start = more[: given - 2]
        found = multiply(x, y, *start)
        # Without an accumulator, elements that are masked are 0.
        return (
            np.where(more[-1], found, start[0] if start else np.zeros((), dtype)) if len(more) == given - 1 else found
        )

    def multiply(x: Array, y: Array, *start: Array) -> Array:
        x, y = (x[..., :, None], y[..., None, :]) if is_outer else (x, y[..., None])
        if start and is_fused:
            # It becomes vector.fma.
            return fused(x, y, start[0]).astype(dtype)
        found = (x * y).astype(dtype)
        return combine(start[0], found) if start else found

    return on_vectors(op, tr, product, mask_rank=len(shape_of(op.results[0].type)))


def _dimensions(expressions: Any) -> list[int]:
    found = []
    for expression in expressions:
        if not isinstance(expression, ir.AffineDimExpr):
            raise Unsupported(
                f"an indexing map of the op has the result {expression}; only dimensions, such as d0, are supported"
            )
        found.append(expression.position)
    return found


@operation("vector.contract")
def _contract(op: Any, tr: ThreadTranslator) -> Step:
    maps = [ir.AffineMapAttr(item).value for item in ir.ArrayAttr(op.attributes["indexing_maps"])]
    left, right, into = (_dimensions(found.results) for found in maps)
    combine, dtype = _combine(op), element_dtype(op.results[0].type)
    nothing = neutral(str(enumerator(op, "kind", CombiningKind)), dtype)
    sizes: dict[int, int] = {}
    for of, value in zip((left, right), op.operands, strict=False):
        sizes |= dict(zip(of, shape_of(value.type), strict=True))
    reduced = [d for d in sorted(sizes) if d not in into]
    order = [*into, *reduced]

    def spread_out(x: Array, dimensions: list[int], first: int) -> Array:
        """The operand with all dimensions of the iteration space, those of the result first."""
        known = [d for d in order if d in dimensions]
        x = x.transpose([*range(first), *(dimensions.index(d) + first for d in known)])
        return x[(slice(None),) * first + tuple(slice(None) if d in dimensions else None for d in order)]

    def contract(lanes: bool, x: Array, y: Array, start: Array, *mask: Array) -> Array:
        first = int(lanes)
        x, y = (spread_out(a.astype(dtype), of, first) for a, of in ((x, left), (y, right)))
        shape = (*np.broadcast_shapes(x.shape, y.shape)[: first + len(into)],)
        count = int(np.prod([sizes[d] for d in reduced], dtype=int))
        x, y = (np.broadcast_to(a, (*shape, *(sizes[d] for d in reduced))).reshape((*shape, count)) for a in (x, y))
        wanted = None
        if mask:
            # It is of the iteration space, whose dimensions are in their own order.
            wanted = spread_out(mask[0], list(range(len(order))), first).reshape((*shape, count))
        found = start
        for i in range(count):
            product = (x[..., i] * y[..., i]).astype(dtype)
            found = combine(found, product if wanted is None else np.where(wanted[..., i], product, nothing))
        return found

    return on_vectors(op, tr, contract, mask_rank=len(order))
