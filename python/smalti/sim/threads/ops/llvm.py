"""`llvm`: pointers, and what the conversions use of it. A pointer is a number: a byte of shared memory, or a byte of
global memory, where each buffer begins at a multiple of `memory.SPACING`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .... import ir
from ...program import Step, Unsupported, attribute, normalised
from ..code import ThreadTranslator, operation
from ..lanes import dtype_of, rank_of, spread
from ..memory import SHARED_BEGIN, SPACING, LaneBuffer, View
from ..pending import is_pending
from .arith import combining, elementwise, shaped
from .gpu import numbered, thread_barrier


def address_space(ty: Any) -> int:
    """The address space of a pointer."""
    text = str(ty)
    return int(text.partition("<")[2].rstrip(">") or 0) if text.startswith("!llvm.ptr<") else 0


def pointee(st: Any, pointer: Any, space: int, site: Any, what: str) -> tuple[Any, Any]:
    """The buffer that a pointer goes to, and the byte in it."""
    if space == 3:
        return st.block.shared, pointer
    numbers = pointer // SPACING
    number: int = -1 if st.uniform(numbers) is None else st.uniform(numbers)
    if number < 0:
        st.stop("divergence", f"{what} of threads goes to different buffers", site)
    if number == SHARED_BEGIN // SPACING:
        return st.block.shared, pointer - SHARED_BEGIN
    found: LaneBuffer | None = st.block.program_buffers.get(number)
    if found is None:
        st.stop("out-of-bounds", f"{what} goes to address {st.uniform(pointer)}, where nothing is", site)
    return found, pointer - number * SPACING


@operation("memref.extract_aligned_pointer_as_index")
def _pointer_of(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)

    def step(st: Any) -> None:
        # The layout's offset is not in it.
        st.v[result] = pointer_to(st, st.v[source], site)

    return step


def pointer_to(st: Any, view: View, site: Any) -> Any:
    """The number of the pointer to where a view's buffer begins."""
    if view.buffer.shared:
        return view.begin
    if not isinstance(view.buffer, LaneBuffer):
        st.stop("assertion", "a pointer to private memory, which the simulator has none for", site)
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
    before, behind = (address_space(value.type) for value in (op.operands[0], op.results[0]))
    shift = SHARED_BEGIN if before == 3 and behind != 3 else -SHARED_BEGIN if behind == 3 and before != 3 else 0

    def step(st: Any) -> None:
        st.v[result] = st.v[source] + shift

    return step


def _size(ty: Any) -> int:
    dtype = dtype_of(ty)
    if isinstance(ty, ir.VectorType) and dtype is not None:
        return dtype.itemsize * int(np.prod(ty.shape))
    if dtype is None:
        raise Unsupported(f"the size of {ty}")
    return dtype.itemsize


@operation("llvm.getelementptr")
def _element_pointer(op: Any, tr: ThreadTranslator) -> Step:
    base, *dynamic = tr.operands(op)
    (result,) = tr.results(op)
    indices = list(attribute(op, "rawConstantIndices"))
    element = op.attributes["elem_type"].value
    if len(indices) != 1:
        raise Unsupported("a pointer into a structure")
    size = _size(element)

    def step(st: Any) -> None:
        index = st.v[dynamic[0]] if dynamic else indices[0]
        if isinstance(index, np.ndarray):
            index = index.astype(np.int64)
        st.v[result] = st.v[base] + index * size

    return step


def _shape(ty: Any) -> tuple[int, ...]:
    return tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()


def _accessed(ty: Any, what: str, tr: ThreadTranslator) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    """The element type and shape of what is loaded or stored, and where its elements are from the first byte on."""
    dtype, shape = dtype_of(ty), _shape(ty)
    if dtype is None or dtype == np.dtype(np.bool_):
        raise Unsupported(f"a {what} of {ty}")
    tr.uses_shared(dtype.itemsize)
    return dtype, shape, np.arange(int(np.prod(shape))) * dtype.itemsize


@operation("llvm.load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    space, ty = address_space(op.operands[0].type), op.results[0].type
    dtype, shape, steps = _accessed(ty, "load", tr)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the load")
        st.v[result] = st.load_bytes(buffer, first, steps, dtype, shape, st.mask, site)

    return step


@operation("llvm.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    (value, pointer), site = tr.operands(op), tr.site(op)
    space, ty = address_space(op.operands[1].type), op.operands[0].type
    dtype, shape, steps = _accessed(ty, "store", tr)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the store")
        st.store_bytes(buffer, first, steps, dtype, st.v[value], shape, st.mask, site)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------

_INTEGERS = {"add": "add", "sub": "subi", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shli"}
_INTEGERS |= {"lshr": "shrui", "ashr": "shrsi", "udiv": "divui", "sdiv": "divsi", "urem": "remui", "srem": "remsi"}


@operation(*(f"llvm.{name}" for name in _INTEGERS))
def _integers(op: Any, tr: ThreadTranslator) -> Step:
    dtype = dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"numbers of type {op.results[0].type}")
    function = combining(_INTEGERS[op.name.removeprefix("llvm.")], dtype)
    return elementwise(op, tr, function)


@operation("llvm.mlir.addressof")
def _address_of(op: Any, tr: ThreadTranslator) -> Step:
    from ...ops.arith import constant

    (result,) = tr.results(op)
    name, parent = ir.FlatSymbolRefAttr(op.attributes["global_name"]).value, op.parent
    while parent is not None and not any(True for _ in _globals(parent, name)):
        parent = parent.parent
    found = next(_globals(parent, name)) if parent is not None else None
    if found is None or "constant" not in found.attributes or "value" not in found.attributes:
        raise Unsupported(f"the address of @{name}, which is no constant")
    content: Any = found.attributes["value"]
    if not isinstance(content, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        raise Unsupported(f"the address of @{name}, whose value is {content}")
    with op.location:
        shaped: Any = content.type
        vector = ir.VectorType.get(shaped.shape, shaped.element_type)
    address = tr.constant(name, constant(content, vector).tobytes())

    def step(st: Any) -> None:
        st.v[result] = address

    return step


def _globals(parent: Any, name: str) -> Iterator[Any]:
    """The globals of a name in a module."""
    for region in parent.operation.regions:
        for block in region:
            for op in block:
                if op.operation.name == "llvm.mlir.global" and ir.StringAttr(op.attributes["sym_name"]).value == name:
                    yield op.operation


@operation("llvm.mlir.constant")
def _constant(op: Any, tr: ThreadTranslator) -> Step:
    from ...ops.arith import constant

    (result,) = tr.results(op)
    if dtype_of(op.results[0].type) is None:
        raise Unsupported(f"a constant of type {op.results[0].type}")
    value = constant(op.attributes["value"], op.results[0].type)

    def step(st: Any) -> None:
        st.v[result] = value

    return step


@operation("llvm.trunc", "llvm.zext", "llvm.sext")
def _resize(op: Any, tr: ThreadTranslator) -> Step:
    from ...ops.arith import conversion

    source, target = (dtype_of(value.type) for value in (op.operands[0], op.results[0]))
    if source is None or target is None:
        raise Unsupported(f"numbers of type {op.results[0].type}")
    name = {"trunc": "trunci", "zext": "extui", "sext": "extsi"}[op.name.removeprefix("llvm.")]
    function = conversion(name, source, target)
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape))


@operation("builtin.unrealized_conversion_cast")
def _cast(op: Any, tr: ThreadTranslator) -> Step:
    if len(op.operands) != 1 or len(op.results) != 1:
        raise Unsupported("a conversion of several values")
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    before, behind = op.operands[0].type, op.results[0].type
    if isinstance(before, ir.MemRefType) and str(behind).startswith("!llvm.struct<(ptr"):

        def describe(st: Any) -> None:
            view: View = st.v[source]
            size = view.dtype.itemsize
            base = pointer_to(st, view, site)
            fields = [base, base, (view.offset - view.begin) // size, tuple(view.shape), tuple(view.strides)]
            fields[4] = tuple(by // size for by in view.strides)
            st.v[result] = Descriptor(fields)

        return describe
    if dtype_of(before) is None or dtype_of(behind) is None or rank_of(before) != rank_of(behind):
        raise Unsupported(f"a conversion from {before} to {behind}")
    dtype = dtype_of(behind)
    assert dtype is not None

    def step(st: Any) -> None:
        value = st.v[source]
        st.v[result] = value.astype(dtype) if isinstance(value, np.ndarray) else shaped(np.asarray(value), dtype)

    return step


class Descriptor:
    """What LLVM knows of a memref: pointers, the offset, sizes and strides."""

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
# Assembly
# ---------------------------------------------------------------------------------------------------------------------


@operation("llvm.inline_asm")
def _assembly(op: Any, tr: ThreadTranslator) -> Step | None:
    text = normalised(ir.StringAttr(op.attributes["asm_string"]).value)
    operands, results, site = tr.operands(op), tr.results(op), tr.site(op)
    if text == "" and len(operands) == len(results):
        # Keeps the optimiser from looking through it.
        return tr.moves(operands, results)
    if text == "" and len(results) == 1 and op.attributes["constraints"] and len(operands) > 1:
        return _structure(op, tr)
    parts = text.rstrip(";").replace(",", " ").split()
    if parts and parts[0] == "bar.sync":
        given = [int(word) if word.isdigit() else operands[int(word[1:])] for word in parts[1:]]
        slots = [not word.isdigit() for word in parts[1:]]

        def wait(st: Any) -> Any:
            which = numbered(st, st.v[given[0]], site, "take different barriers") if slots[0] else given[0]
            if which is None:
                return st.pc
            count: Any = st.block.thread_count
            if len(given) > 1:
                count = st.uniform(st.v[given[1]]) if slots[1] else given[1]
            return thread_barrier(st, which, count, site, "a barrier")

        tr.blocking(wait)
        return None
    raise Unsupported(f"the inline assembly '{text}'")


def _structure(op: Any, tr: ThreadTranslator) -> Step:
    """Several values as a structure of them, which has one of each lane."""
    operands, (result,) = tr.operands(op), tr.results(op)
    outputs = ir.StringAttr(op.attributes["constraints"]).value.count("=")
    kinds = [(dtype_of(value.type), rank_of(value.type)) for value in op.operands]
    if outputs != len(operands) or any(dtype is None for dtype, _ in kinds):
        raise Unsupported("the inline assembly '' with other results than operands")

    def step(st: Any) -> None:
        items = []
        for slot, (dtype, rank) in zip(operands, kinds, strict=True):
            value = st.v[slot]
            assert dtype is not None
            items.append(value if is_pending(value) else spread(value, dtype, st.lanes, rank))
        st.v[result] = tuple(items)

    return step


@operation("llvm.extractelement")
def _extract_element(op: Any, tr: ThreadTranslator) -> Step:
    source, index = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    dtype = dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"an element of {op.operands[0].type}")

    def step(st: Any) -> None:
        number = st.uniform(st.v[index])
        if number is None:
            st.stop("divergence", "threads take different elements of vectors", site)
        st.v[result] = shaped(np.asarray(st.v[source])[..., number], dtype)

    return step


@operation("llvm.insertelement")
def _insert_element(op: Any, tr: ThreadTranslator) -> Step:
    target, value, index = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    dtype = dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"an element of {op.results[0].type}")

    def step(st: Any) -> None:
        number = st.uniform(st.v[index])
        if number is None:
            st.stop("divergence", "threads take different elements of vectors", site)
        item = np.asarray(st.v[value], dtype)
        found = np.asarray(st.v[target], dtype)
        found = (spread(found, dtype, st.lanes, 1) if item.ndim else found).copy()
        found[..., number] = item
        st.v[result] = found

    return step
