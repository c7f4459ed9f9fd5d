# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llvm`: pointers, and ops that the conversions produce. A pointer is a number: a byte of shared memory, or a byte of global
memory, where each buffer begins at a multiple of `memory.SPACING`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..... import ir
from .....diagnostics import counted
from ....ops.arith import integer_function_of
from ....ops.conversions import constant, conversion, narrow_conversion
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import bits_of, dtype_of, held_dtype, packed_bits, rank_of, spread, unpacked_bits
from ...execution.memory import BLOCK_BITS, PRIVATE_BEGIN, SHARED_BEGIN, SPACING, LaneBuffer, View
from .arith import elementwise, reporting, shaped
from .llvm_types import layout_of


def address_space(ty: Any) -> int:
    """The address space of a pointer."""
    text = str(ty)
    return int(text.partition("<")[2].rstrip(">") or 0) if text.startswith("!llvm.ptr<") else 0


def constant_of(value: Any) -> int:
    """The value of a constant operand."""
    op = value.owner if isinstance(value, ir.OpResult) else None
    if op is None or op.name not in ("arith.constant", "llvm.mlir.constant"):
        raise Unsupported(
            f"an operand of type {value.type} is dynamic, but the instruction requires a constant; use llvm.mlir.constant"
        )
    return ir.IntegerAttr(op.attributes["value"]).value


def pointee(st: Any, pointer: Any, space: int, site: Any, what: str) -> tuple[Any, Any]:
    """The buffer of a pointer, and the byte offset in it."""
    if space == 3:
        return st.block.shared, pointer
    if space == IN_CLUSTER:
        return in_cluster(st, pointer, site, what)
    numbers = pointer // SPACING
    number = st.require_uniform(
        numbers,
        f"{what} accesses different buffers in different threads; the simulator supports one buffer per op and warp",
        site,
    )
    if number == SHARED_BEGIN // SPACING:
        return in_cluster(st, pointer - SHARED_BEGIN, site, what)
    if (own := number - PRIVATE_BEGIN // SPACING) >= 0:
        return st.v[st.block.program.privates[own]], pointer - number * SPACING
    found: LaneBuffer | None = st.block.program_buffers.get(number)
    if found is None:
        st.stop(
            "out-of-bounds",
            f"{what} accesses address {st.uniform(pointer)}, which is outside all arrays of the launch",
            site,
        )
    return found, pointer - number * SPACING


IN_CLUSTER = 7
"""The address space of distributed shared memory."""


def in_cluster(st: Any, pointer: Any, site: Any, what: str) -> tuple[Any, Any]:
    """The shared memory of a distributed-shared-memory pointer, and the byte offset in it."""
    number = st.require_uniform(
        pointer >> BLOCK_BITS,
        f"{what} accesses the shared memory of different blocks in different threads; the simulator supports one block per op and warp",
        site,
    )
    if number <= 0:
        return st.block.shared, pointer
    return st.block.cluster.block(number - 1, st, what, site).shared, pointer & ((1 << BLOCK_BITS) - 1)


def pointees(st: Any, pointer: Any, space: int, site: Any, what: str) -> Iterator[tuple[Any, Any, Any]]:
    """The buffers of pointers of lanes, the byte offsets, and the lanes, one buffer after the other."""
    numbers: Any = 0
    if isinstance(pointer, np.ndarray) and space != 3:
        numbers = pointer >> BLOCK_BITS if space == IN_CLUSTER else pointer // SPACING
        if space != IN_CLUSTER and (numbers == SHARED_BEGIN // SPACING).any():
            numbers = np.where(numbers == SHARED_BEGIN // SPACING, pointer >> BLOCK_BITS, -numbers)
    if st.uniform(numbers) is not None:
        yield *pointee(st, pointer, space, site, what), st.mask
        return
    running = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
    for number in np.unique(numbers[running]).tolist():
        chosen = running & (numbers == number)
        one = int(pointer[chosen.argmax()])
        buffer, byte = pointee(st, one, space, site, what)
        yield buffer, pointer - (one - byte), chosen


@operation("memref.extract_aligned_pointer_as_index")
def _pointer_of(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)

    def step(st: Any) -> None:
        # The layout's offset is not in it.
        st.v[result] = pointer_to(st, st.v[source], site)

    return step


def pointer_to(st: Any, view: View, site: Any) -> Any:
    """The address of the start of a view's buffer."""
    if view.buffer.shared:
        return view.begin
    if not isinstance(view.buffer, LaneBuffer):
        st.stop(
            "assertion",
            "the op takes the address of a memref in private memory, which the simulator does not support; use llvm.alloca",
            site,
        )
    return view.begin + view.buffer.address


@operation("llvm.inttoptr", "llvm.ptrtoint")
def _as_pointer(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    wide = np.dtype(np.int64)
    dtype = dtype_of(op.results[0].type) or wide

    def step(st: Any) -> None:
        value = st.v[source]
        st.v[result] = value.astype(dtype) if isinstance(value, np.ndarray) else value

    return step


@operation("llvm.addrspacecast")
def _cast_space(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    before, after = (address_space(value.type) for value in (op.operands[0], op.results[0]))
    shared = (3, IN_CLUSTER)
    shift = SHARED_BEGIN * ((after not in shared) - (before not in shared))

    def step(st: Any) -> None:
        st.v[result] = st.v[source] + shift

    return step


@operation("llvm.getelementptr")
def _element_pointer(op: Any, tr: ThreadTranslator) -> Step:
    base, *dynamic = tr.operands(op)
    (result,) = tr.results(op)
    inside = layout_of(op.attributes["elem_type"].value)
    rest, fixed, terms = iter(dynamic), 0, []
    for number, index in enumerate(attribute(op, "rawConstantIndices")):
        is_slot = index == _DYNAMIC
        if number == 0:
            place, stride = 0 if is_slot else index * inside.size, inside.size
        elif is_slot and not inside.stride:
            raise Unsupported("the index of a struct member is dynamic; a constant index is required")
        else:
            stride = inside.stride
            place, inside = inside.at(0 if is_slot else index)
        if is_slot:
            terms.append((next(rest), stride))
        fixed += place

    def step(st: Any) -> None:
        found = st.v[base] + fixed if fixed else st.v[base]
        for slot, stride in terms:
            index = st.v[slot]
            if isinstance(index, np.ndarray):
                index = index.astype(np.int64)
            found = found + index * stride
        st.v[result] = found

    return step


_DYNAMIC = -(1 << 31)
"""The only dynamic index among constant indices."""


def _shape(ty: Any) -> tuple[int, ...]:
    return tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()


def accessed(ty: Any, what: str, tr: ThreadTranslator) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    """The element type and shape of a load or store, and the byte offsets of its elements."""
    dtype, shape = dtype_of(ty), _shape(ty)
    if dtype is None or dtype == np.dtype(np.bool_):
        raise Unsupported(f"a {what} of {ty}")
    tr.uses_shared(dtype.itemsize)
    tr.smallest = min(tr.smallest, dtype.itemsize)
    return dtype, shape, np.arange(int(np.prod(shape))) * dtype.itemsize


def _alignment(op: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """The alignment of an access: vectors are aligned to a power of two."""
    size = dtype.itemsize * math.prod(shape)
    return attribute(op, "alignment") or 1 << (size - 1).bit_length()


class _Stored:
    """The memory of a load or store: elements, or for packed types the bytes."""

    def __init__(self, op: Any, ty: Any, what: str, tr: ThreadTranslator) -> None:
        self.bits, self.held, self.whole = bits_of(ty), held_dtype(ty), _shape(ty)
        if self.bits is None:
            self.dtype, self.shape, self.steps = accessed(ty, what, tr)
        else:
            tr.uses_shared(1)
            tr.smallest = 1
            self.count = math.prod(self.whole)
            self.dtype, self.shape = np.dtype(np.uint8), (-(-self.count * self.bits // 8),)
            self.steps = np.arange(self.shape[0])
        self.alignment = _alignment(op, self.dtype, self.shape)

    def value(self, found: Any) -> Any:
        """The loaded value, from memory elements."""
        if self.bits is None or self.held is None:
            return found
        numbers = unpacked_bits(np.asarray(found), self.bits, self.count, self.held)
        return numbers if self.whole else shaped(numbers[..., 0], self.held)

    def memory(self, value: Any) -> Any:
        """The memory elements of a stored value; padding bits are zeros."""
        if self.bits is None or self.held is None:
            return value
        found = np.asarray(value, self.held)
        return packed_bits(np.ascontiguousarray(found if self.whole else found[..., None]), self.bits)


def plain_load(op: Any, tr: ThreadTranslator) -> Step:
    """A load that is not atomic."""
    (pointer,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    space, how = address_space(op.operands[0].type), _Stored(op, op.results[0].type, "load", tr)

    def step(st: Any) -> None:
        found = None
        for buffer, first, mask in pointees(st, st.v[pointer], space, site, "the load"):
            st.aligned(first, how.alignment, mask, site, "the load", False)
            part = st.load_bytes(buffer, first, how.steps, how.dtype, how.shape, mask, site)
            found = part if found is None else np.where(mask.reshape(mask.shape + (1,) * len(how.shape)), part, found)
        st.v[result] = how.value(found)

    return step


def plain_store(op: Any, tr: ThreadTranslator) -> Step:
    """A store that is not atomic."""
    (value, pointer), site = tr.operands(op), tr.site(op)
    space, how = address_space(op.operands[1].type), _Stored(op, op.operands[0].type, "store", tr)

    def step(st: Any) -> None:
        found = how.memory(st.v[value])
        for buffer, first, mask in pointees(st, st.v[pointer], space, site, "the store"):
            st.aligned(first, how.alignment, mask, site, "the store", True)
            st.store_bytes(buffer, first, how.steps, how.dtype, found, how.shape, mask, site)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------

_INTEGERS = {"add": "addi", "sub": "subi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori", "shl": "shli"}
_INTEGERS |= {"lshr": "shrui", "ashr": "shrsi", "udiv": "divui", "sdiv": "divsi", "urem": "remui", "srem": "remsi"}


@operation(*(f"llvm.{name}" for name in _INTEGERS))
def _integers(op: Any, tr: ThreadTranslator) -> Step:
    name = _INTEGERS[op.name.removeprefix("llvm.")]
    function = integer_function_of(name, op.results[0].type)
    return reporting(name, op, tr, elementwise(op, tr, function, narrow=True))


@operation("llvm.mlir.constant")
def _constant(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    if held_dtype(op.results[0].type) is None:
        raise Unsupported.wrong_type("the constant", op.results[0].type)
    value = constant(op.attributes["value"], op.results[0].type)

    def step(st: Any) -> None:
        st.v[result] = value

    return step


@operation("llvm.trunc", "llvm.zext", "llvm.sext")
def _resize(op: Any, tr: ThreadTranslator) -> Step:
    source, target = (held_dtype(value.type) for value in (op.operands[0], op.results[0]))
    if source is None or target is None:
        raise Unsupported(f"type {op.results[0].type}")
    name = {"trunc": "trunci", "zext": "extui", "sext": "extsi"}[op.name.removeprefix("llvm.")]
    function = narrow_conversion(op, name, conversion(name, source, target))
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape), narrow=True)


@operation("builtin.unrealized_conversion_cast")
def _cast(op: Any, tr: ThreadTranslator) -> Step:
    if len(op.operands) != 1 or len(op.results) != 1:
        raise Unsupported(
            f"the cast has {counted(len(op.operands), 'operand')} and {counted(len(op.results), 'result')}; it must have one operand and one result"
        )
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    before, after = op.operands[0].type, op.results[0].type
    if isinstance(before, ir.MemRefType) and str(after).startswith("!llvm.struct<(ptr"):

        def describe(st: Any) -> None:
            view: View = st.v[source]
            st.block.slots.needed(view.slots)
            size = view.dtype.itemsize
            base = pointer_to(st, view, site)
            fields = [base, base, (view.offset - view.begin) // size, tuple(view.shape), tuple(view.strides)]
            fields[4] = tuple(by // size for by in view.strides)
            st.v[result] = Descriptor(fields)

        return describe
    if dtype_of(before) is None or dtype_of(after) is None or rank_of(before) != rank_of(after):
        raise Unsupported(
            f"the op casts {before} to {after}; both must be scalars, or vectors of equal rank, with elements of whole "
            "bytes"
        )
    dtype = dtype_of(after)
    assert dtype is not None

    def step(st: Any) -> None:
        value = st.v[source]
        st.v[result] = value.astype(dtype) if isinstance(value, np.ndarray) else shaped(np.asarray(value), dtype)

    return step


class Descriptor:
    """LLVM's memref descriptor: pointers, offset, sizes and strides."""

    def __init__(self, fields: list[Any]) -> None:
        self.fields = fields

    def __getitem__(self, index: int) -> Any:
        return self.fields[index]

    def take(self, lanes: Any, memo: dict[int, Any]) -> Descriptor:
        def some(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(some(item) for item in value)
            return value[lanes] if isinstance(value, np.ndarray) else value

        _ = memo
        return Descriptor([some(value) for value in self.fields])


# ---------------------------------------------------------------------------------------------------------------------
# Elements of vectors
# ---------------------------------------------------------------------------------------------------------------------


@operation("llvm.extractelement")
def _extract_element(op: Any, tr: ThreadTranslator) -> Step:
    source, index = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    dtype = held_dtype(op.results[0].type)
    if dtype is None:
        raise Unsupported.wrong_type("the vector", op.operands[0].type)

    def step(st: Any) -> None:
        number = st.require_uniform(
            st.v[index],
            "the index of the vector element differs between threads; the simulator supports only a uniform index",
            site,
        )
        st.v[result] = shaped(np.asarray(st.v[source])[..., number], dtype)

    return step


@operation("llvm.insertelement")
def _insert_element(op: Any, tr: ThreadTranslator) -> Step:
    target, value, index = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    dtype = held_dtype(op.results[0].type)
    if dtype is None:
        raise Unsupported.wrong_type("the result", op.results[0].type)

    def step(st: Any) -> None:
        number = st.require_uniform(
            st.v[index],
            "the index of the vector element differs between threads; the simulator supports only a uniform index",
            site,
        )
        item = np.asarray(st.v[value], dtype)
        found = np.asarray(st.v[target], dtype)
        found = (spread(found, dtype, st.lanes, 1) if item.ndim else found).copy()
        found[..., number] = item
        st.v[result] = found

    return step
