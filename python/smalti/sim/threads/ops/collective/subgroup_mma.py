# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`gpu.subgroup_mma_*`: matrices that are distributed across the lanes of a warp.

The distribution is not specified. Here each lane holds the same number of consecutive elements in row-major order; the result
of a kernel does not depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....dialects.gpu import MMAElementwiseOp
from ....ops import arith, conversions
from ....ops.registers import enumerator
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array
from ..memory.memref import index_reader
from .gpu import whole_warps

_TYPE = re.compile(r'!gpu\.mma_matrix<(\d+)x(\d+)x(\w+), "(\w+)">')


class Matrix:
    """The type of a matrix."""

    def __init__(self, ty: Any, tr: ThreadTranslator) -> None:
        found = _TYPE.fullmatch(str(ty))
        assert found, ty
        self.rows, self.columns = int(found[1]), int(found[2])
        self.dtype = arith.type_of(ir.Type.parse(found[3], ty.context))
        self.each = self.rows * self.columns // tr.warp_size
        """Elements per lane."""
        if not self.each or self.columns % self.each or self.rows * self.columns % tr.warp_size:
            raise Unsupported(
                f"the matrix has type {ty}; its elements must be distributed so that each of the {tr.warp_size} lanes holds an equal part of one row"
            )

    def places(self, st: Any, lead: int, transposed: bool) -> tuple[Array, Array]:
        """The byte offsets of each lane's first element, and of its other elements relative to that."""
        size = self.dtype.itemsize
        row, column = np.divmod(np.arange(st.lanes) % st.block.warp_size * self.each, self.columns)
        by_row, by_column = (1, lead) if transposed else (lead, 1)
        return (row * by_row + column * by_column) * size, np.arange(self.each) * by_column * size

    def whole(self, st: Any, value: Array) -> Array:
        """The matrices of the warps."""
        return value.reshape(len(st.warps), self.rows, self.columns)


@operation("gpu.subgroup_mma_load_matrix")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    (source, *_), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    matrix, indices = Matrix(op.results[0].type, tr), index_reader(op, tr, 1)
    lead, transposed = attribute(op, "leadDimension"), "transpose" in op.attributes
    _same_elements(op.operands[0].type, matrix)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "the matrix load", site)
        view = st.v[source]
        first, mask = st.locate(view, indices(st), (), site, "the load", False)
        own, steps = matrix.places(st, lead, transposed)
        st.v[result] = st.load_bytes(view.buffer, first + own, steps, matrix.dtype, (matrix.each,), mask, site)

    return step


@operation("gpu.subgroup_mma_store_matrix")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    (value, target, *_), site = tr.operands(op), tr.site(op)
    matrix, indices = Matrix(op.operands[0].type, tr), index_reader(op, tr, 2)
    lead, transposed = attribute(op, "leadDimension"), "transpose" in op.attributes
    _same_elements(op.operands[1].type, matrix)
    tr.uses(op.operands[1].type)

    def step(st: Any) -> None:
        whole_warps(st, "the matrix store", site)
        view = st.v[target]
        first, mask = st.locate(view, indices(st), (), site, "the store", True)
        own, steps = matrix.places(st, lead, transposed)
        shape = (matrix.each,)
        st.store_bytes(view.buffer, first + own, steps, matrix.dtype, st.v[value], shape, mask, site)

    return step


def _same_elements(memory: Any, matrix: Matrix) -> None:
    if arith.type_of(memory.element_type) != matrix.dtype:
        raise Unsupported(
            f"the memref has elements of {memory.element_type} and the matrix has elements of {matrix.dtype}; both must have the same type"
        )


@operation("gpu.subgroup_mma_constant_matrix")
def _constant(op: Any, tr: ThreadTranslator) -> Step:
    (value,), (result,) = tr.operands(op), tr.results(op)
    matrix = Matrix(op.results[0].type, tr)

    def step(st: Any) -> None:
        number = np.asarray(st.v[value], matrix.dtype).reshape(-1, 1)
        st.v[result] = np.broadcast_to(number, (st.lanes, matrix.each))

    return step


@operation("gpu.subgroup_mma_compute")
def _compute(op: Any, tr: ThreadTranslator) -> Step:
    (a, b, c), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    if "a_transpose" in op.attributes or "b_transpose" in op.attributes:
        raise Unsupported(
            "the op has 'a_transpose' or 'b_transpose', but transposed operands are not supported; load the matrix transposed and remove the attribute"
        )
    left, right, into = (Matrix(value.type, tr) for value in op.operands)
    wide = np.dtype(np.int64 if into.dtype.kind == "i" else np.float32)

    def step(st: Any) -> None:
        whole_warps(st, "the MMA", site)
        x, y = (m.whole(st, st.v[slot]).astype(wide) for m, slot in ((left, a), (right, b)))
        with np.errstate(all="ignore"):
            found = x @ y + into.whole(st, st.v[c]).astype(wide)
            st.v[result] = found.astype(into.dtype).reshape(st.lanes, into.each)

    return step


_INTEGERS = {"addi": "addi", "muli": "muli", "subi": "subi", "divs": "divsi", "divu": "divui"}
_FLOATS = {"maxf": "maxnumf", "minf": "minnumf", "negatef": "negf"}


@operation("gpu.subgroup_mma_elementwise")
def _elementwise(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,) = tr.operands(op), tr.results(op)
    name, matrix = str(enumerator(op, "opType", MMAElementwiseOp)), Matrix(op.results[0].type, tr)
    function: Callable[..., Array]
    if name == "extf":
        function = conversions.conversion("extf", Matrix(op.operands[0].type, tr).dtype, matrix.dtype)
    elif name == "negates":
        function = np.negative
    elif name in _INTEGERS:
        function = arith.integer_array_function(_INTEGERS[name])
    else:
        function = arith.FLOAT_FUNCTIONS[_FLOATS.get(name, name)]

    def step(st: Any) -> None:
        with np.errstate(all="ignore"):
            found = function(*(np.asarray(st.v[slot]) for slot in slots))
        st.v[result] = np.asarray(found).astype(matrix.dtype)

    return step
