# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm.wmma`: matrices that are distributed across the lanes of a warp.

The PTX ISA does not specify the distribution ("wmma.load"). Here each lane holds the same number of consecutive elements in
row-major order. If the registers have more capacity than the matrix, as for f16, several lanes hold the same elements.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .....diagnostics import counted
from ....translation.translator import Step, Unsupported, attribute
from ...execution import timing
from ...execution.code import ThreadTranslator, operation
from ...execution.elements import LANES, READERS, rounded_sum
from ...execution.lanes import Array, spread
from ..arithmetic.llvm import address_space, pointee
from ..collective.gpu import whole_warps

_ACCUMULATORS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "s32": np.int32, "f64": np.float64}
_NAMES = {"s8": "i8", "u8": "i8"}
"""The type names of the target table."""


def _word(op: Any, name: str) -> str:
    found = re.search(r"<(\w+)>", str(op.attributes[name]))
    assert found, name
    return found[1]


class _Fragment:
    """A matrix of a type and its fragment: registers of several elements each."""

    def __init__(self, shape: tuple[int, int], element: str, registers: int) -> None:
        self.rows, self.columns = shape
        self.element, self.registers = element, registers
        bits = READERS[element][0] if element in READERS else 32
        if bits < 8:
            raise Unsupported(f"the matrices have elements of {element}; elements must have at least 8 bits")
        self.size = bits // 8
        self.each = registers * max(4, self.size) // self.size
        """Elements per lane."""
        total = self.rows * self.columns
        self.lanes, rest = divmod(total, self.each) if self.each else (0, 1)
        if rest or not self.lanes or LANES % self.lanes:
            raise Unsupported(
                f"a thread has {counted(registers, 'register')} of a {self.rows} x {self.columns} matrix of {element}, which does not "
                "distribute its elements evenly across lanes; use a matrix shape of WMMA, such as 16 x 16"
            )

    def places(self, st: Any, stride: int, by_columns: bool) -> tuple[Array, Array]:
        """The byte offsets of each lane's first element, and of its other elements relative to that."""
        by_row, by_column = (1, stride) if by_columns else (stride, 1)
        row, column = np.divmod(np.arange(st.lanes) % LANES % self.lanes * self.each, self.columns)
        rows, columns = np.divmod(np.arange(self.each), self.columns)
        return (row * by_row + column * by_column) * self.size, (rows * by_row + columns * by_column) * self.size

    def to_registers(self, words: Array) -> Any:
        """The registers of lanes from the bytes of their elements, in the op's form."""
        words = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), self.registers, -1)
        if self.element == "f64":
            found = words.view(np.float64)[..., 0]
        elif self.element == "f16":
            found = words.view(np.float16)
        else:
            found = words.view(np.float32 if self.element == "f32" else np.int32)[..., 0]
        return tuple(found[:, i] for i in range(self.registers))

    def bytes_of(self, st: Any, registers: list[Any]) -> Array:
        """The bytes of the fragments."""
        kind = {"f64": np.float64, "f32": np.float32, "f16": np.float16}.get(self.element, np.int32)
        rank = int(self.element == "f16")
        found = [spread(value, np.dtype(kind), st.lanes, rank).reshape(st.lanes, -1) for value in registers]
        return np.ascontiguousarray(np.concatenate(found, 1)).view(np.uint8)

    def matrix(self, st: Any, registers: list[Any]) -> Array:
        """The matrix of each warp, in double precision or as integers."""
        words = self.bytes_of(st, registers).reshape(-1, LANES, self.each * self.size)[:, : self.lanes]
        words = np.ascontiguousarray(words).reshape(-1, self.rows, self.columns * self.size)
        if self.element in ("f32", "s32"):
            found = words.view(np.float32 if self.element == "f32" else np.int32)
            return found.astype(np.float64 if self.element == "f32" else np.int64)
        return READERS[self.element][1](words)

    def from_matrix(self, matrix: Array) -> Any:
        """The registers of lanes."""
        rows = np.ascontiguousarray(matrix).reshape(len(matrix), self.lanes, self.each)
        rows = np.tile(rows, (1, LANES // self.lanes, 1)).reshape(-1, self.each)
        return self.to_registers(rows)


def _registers(shape: tuple[int, int], element: str) -> int:
    """The registers per lane: f16 operands have eight for every shape; others as many as the matrix needs."""
    if element == "f16":
        return 8
    bits = READERS[element][0] if element in READERS else 32
    return max(1, shape[0] * shape[1] * bits // (LANES * max(32, bits)))


def _of_operation(op: Any) -> _Fragment:
    """The operand of a load or store."""
    m, n, k = (attribute(op, name) for name in "mnk")
    element = _word(op, "eltype")
    kind = _word(op, "frag") if "frag" in op.attributes else "d"
    shape = {"a": (m, k), "b": (k, n)}.get(kind, (m, n))
    if kind in "cd" and element == "f16":
        return _Fragment(shape, element, 4)
    return _Fragment(shape, element, _registers(shape, element))


@operation("nvvm.wmma.load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    (pointer, stride), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    fragment, by_columns = _of_operation(op), _word(op, "layout") == "col"
    space = address_space(op.operands[0].type)
    tr.uses_shared(fragment.size)
    tr.smallest = min(tr.smallest, fragment.size)
    unit = np.dtype(f"u{fragment.size}")
    is_number = fragment.element == "f64" and fragment.registers == 1

    def step(st: Any) -> None:
        whole_warps(st, "the matrix load", site)
        buffer, first = pointee(st, st.v[pointer], space, site, "wmma.load")
        lead = st.require_uniform(
            st.v[stride], "the stride of the matrix load differs between threads; the stride must be uniform", site
        )
        own, steps = fragment.places(st, lead, by_columns)
        words = st.load_bytes(buffer, first + own, steps, unit, (fragment.each,), st.mask, site, "wmma.load")
        found = fragment.to_registers(spread(words, unit, st.lanes, 1))
        st.v[result] = found[0] if is_number else found

    return step


@operation("nvvm.wmma.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    pointer, *values, stride = tr.operands(op)
    site, fragment, by_columns = tr.site(op), _of_operation(op), _word(op, "layout") == "col"
    if len(values) != fragment.registers:
        raise Unsupported(
            f"the op stores {counted(len(values), 'register')} per thread, but the matrix has {fragment.registers}; both numbers must be equal"
        )
    space = address_space(op.operands[0].type)
    tr.uses_shared(fragment.size)
    tr.smallest = min(tr.smallest, fragment.size)
    unit = np.dtype(f"u{fragment.size}")

    def step(st: Any) -> None:
        whole_warps(st, "the matrix store", site)
        buffer, first = pointee(st, st.v[pointer], space, site, "wmma.store")
        lead = st.require_uniform(
            st.v[stride], "the stride of the matrix store differs between threads; the stride must be uniform", site
        )
        own, steps = fragment.places(st, lead, by_columns)
        words = fragment.bytes_of(st, [st.v[slot] for slot in values]).view(unit)
        st.store_bytes(buffer, first + own, steps, unit, words, (fragment.each,), st.mask, site, "wmma.store")

    return step


@operation("nvvm.wmma.mma")
def _multiply(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    m, n, k = (attribute(op, name) for name in "mnk")
    # The second is the type of the sums (NVVM dialect, "nvvm.wmma.mma").
    factor, sums = _word(op, "eltypeA"), _word(op, "eltypeB")
    if factor not in READERS or sums not in _ACCUMULATORS:
        raise Unsupported(
            f"the operands are {factor}, and the accumulator is {sums}; supported accumulators: "
            f"{', '.join(_ACCUMULATORS)}"
        )
    left, right = (_Fragment(shape, factor, _registers(shape, factor)) for shape in ((m, k), (k, n)))
    into = _Fragment((m, n), sums, 4 if sums == "f16" else _registers((m, n), sums))
    counts = [left.registers, right.registers, into.registers]
    if sum(counts) != len(slots):
        raise Unsupported(
            f"the op has {counted(len(slots), 'operand')}, but matrices A, B and C have {counted(sum(counts), 'register')} per thread; pass one operand per register"
        )
    dtype = np.dtype(_ACCUMULATORS[sums])

    def step(st: Any) -> None:
        whole_warps(st, "the MMA", site)
        timing.multiplied(st, _NAMES.get(factor, factor), m * n * k, site)
        values, parts = [st.v[slot] for slot in slots], []
        for fragment, end in zip((left, right, into), np.cumsum(counts).tolist(), strict=True):
            parts.append(fragment.matrix(st, values[end - fragment.registers : end]))
        with np.errstate(all="ignore"):
            product = np.matmul(parts[0].astype(np.float64), parts[1].astype(np.float64))
        found = into.from_matrix(rounded_sum(product, parts[2], dtype, saturate=False))
        st.v[result] = found

    return step
