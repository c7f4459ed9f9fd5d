# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llvm`: pointers, memref descriptors, and the inline assembly that JAX prints."""

from __future__ import annotations

from typing import Any

from ... import ir
from ...diagnostics import counted
from ..machine.clocks import SHARED
from ..machine.machine import Group, State
from ..machine.memory import MemRef, Pointer
from ..machine.values import integer_bits, wrap
from ..translation.translator import (
    ARGUMENT,
    Step,
    Translated,
    Translator,
    Unsupported,
    attribute,
    normalized,
    operation,
    strides_and_offset,
)
from . import cluster, gpu, lanes
from .memref import byte_layout, memory_space, memory_type


@operation("llvm.mlir.constant")
def _constant(op: ir.Operation, translator: Translator) -> Step:
    (result,) = translator.results(op)
    bits = integer_bits(op.results[0].type)
    if bits is None:
        raise Unsupported(f"the constant has type {op.results[0].type}; an integer is required in a block-level kernel")
    value = wrap(bits)(attribute(op, "value"))

    def step(st: State) -> None:
        st.v[result] = value

    return step


class Undefined:
    """An undefined value."""


UNDEFINED = Undefined()


@operation("llvm.mlir.undef", "llvm.mlir.poison", "llvm.mlir.zero")
def _undefined(op: ir.Operation, translator: Translator) -> Step:
    (result,) = translator.results(op)

    def step(st: State) -> None:
        st.v[result] = UNDEFINED

    return step


def _inserted(whole: Any, position: list[int], value: Any) -> dict[int, Any]:
    found = dict(whole) if isinstance(whole, dict) else {}
    first, *rest = position
    found[first] = _inserted(found.get(first), rest, value) if rest else value
    return found


@operation("llvm.insertvalue")
def _insert(op: ir.Operation, translator: Translator) -> Step:
    whole, value = translator.operands(op)
    (result,) = translator.results(op)
    position = attribute(op, "position")

    def step(st: State) -> None:
        st.v[result] = _inserted(st.v[whole], position, st.v[value])

    return step


@operation("llvm.extractvalue")
def _extract(op: ir.Operation, translator: Translator) -> Step:
    (whole,), (result,) = translator.operands(op), translator.results(op)
    position = attribute(op, "position")
    site = translator.site(op)

    def step(st: State) -> None:
        found = st.v[whole]
        for index in position:
            if not isinstance(found, dict) or index not in found:
                st.stop(
                    "assertion",
                    f"the extracted struct member {list(position)} was never inserted; insert it first",
                    site,
                )
            found = found[index]
        st.v[result] = found

    return step


def _bytes_of(ty: ir.Type) -> int:
    text = str(ty)
    if text.startswith("!llvm.ptr"):
        return 8
    bits = integer_bits(ty)
    if bits is not None:
        return -(-bits // 8)
    if isinstance(ty, ir.FloatType):
        return ty.width // 8
    raise Unsupported(
        f"the element type of the pointer arithmetic is {ty}; it must be a pointer, an integer or a float"
    )


@operation("llvm.getelementptr")
def _element_pointer(op: ir.Operation, translator: Translator) -> Step:
    base, *dynamic = translator.operands(op)
    (result,) = translator.results(op)
    size = _bytes_of(ir.TypeAttr(op.attributes["elem_type"]).value)
    constants = attribute(op, "rawConstantIndices")
    if len(constants) != 1:
        raise Unsupported(
            f"the op has {counted(len(constants), 'index', 'indices')}; one index is required in a block-level kernel"
        )
    constant = None if dynamic else constants[0]

    def step(st: State) -> None:
        pointer = st.v[base]
        index = constant if constant is not None else int(st.v[dynamic[0]])
        st.v[result] = Pointer(pointer.buffer, pointer.offset + index * size)

    return step


@operation("llvm.load")
def _load(op: ir.Operation, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    if not str(op.results[0].type).startswith("!llvm.ptr"):
        raise Unsupported(
            f"the result has type {op.results[0].type}; in a block-level kernel, this op can load only pointers. "
            "Use memref.load for other values"
        )
    site = translator.site(op)

    def step(st: State) -> None:
        pointer = st.v[source]
        index, rest = divmod(pointer.offset, 8)
        known = isinstance(pointer.buffer, list) and not rest and 0 <= index < len(pointer.buffer)
        if not known or pointer.buffer[index] is None:
            st.stop(
                "out-of-bounds",
                "the op loads a pointer from an address where no pointer of a kernel argument is stored; load only from the pointer array of the launch",
                site,
            )
        st.v[result] = pointer.buffer[index]

    return step


@operation("memref.extract_aligned_pointer_as_index")
def _address(op: Any, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    ty = op.operands[0].type
    _, offset = strides_and_offset(ty)
    if memory_space(ty) != "shared" or offset == ir.ShapedType.get_dynamic_stride_or_offset():
        raise Unsupported(f"the operand has type {ty}; it must be a memref in shared memory with a static offset")
    before = offset * memory_type(ty).itemsize

    def step(st: State) -> None:
        # Addresses of shared memory are byte offsets.
        st.v[result] = st.v[source].offset - before

    return step


@operation("llvm.ptrtoint", "llvm.inttoptr", "llvm.addrspacecast", "llvm.bitcast")
def _same_pointer(op: ir.Operation, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    makes_pointer = op.name == "llvm.inttoptr"
    of_shared = str(op.results[0].type) == "!llvm.ptr<3>"
    site = translator.site(op)

    def step(st: Group) -> None:
        found = st.v[source]
        if makes_pointer and not isinstance(found, Pointer):
            if not of_shared or not isinstance(found, int):
                st.stop(
                    "assertion",
                    "the operand of inttoptr is not an address; an integer from ptrtoint or a shared-memory offset is required",
                    site,
                )
            found = Pointer(st.block.shared, found)
        st.v[result] = found

    return step


@operation("llvm.add", "llvm.mul", "llvm.sub")
def _arithmetic(op: ir.Operation, translator: Translator) -> Step:
    x, y = translator.operands(op)
    (result,) = translator.results(op)
    bits = integer_bits(op.results[0].type)
    if bits is None:
        raise Unsupported(
            f"the result has type {op.results[0].type}; a scalar integer is required in a block-level kernel"
        )
    cut, name, site = wrap(bits), op.name, translator.site(op)

    def step(st: State) -> None:
        a, b = st.v[x], st.v[y]
        if isinstance(b, Pointer) and name == "llvm.add":
            a, b = b, a
        if isinstance(a, Pointer):
            if name == "llvm.mul" or isinstance(b, Pointer):
                st.stop(
                    "assertion",
                    f"the result of {name} is not an address; only an integer may be added to or subtracted from an "
                    "address",
                    site,
                )
            by: Any = b
            st.v[result] = Pointer(a.buffer, a.offset + (by if name == "llvm.add" else -by))
            return
        st.v[result] = cut(a + b if name == "llvm.add" else a * b if name == "llvm.mul" else a - b)

    return step


@operation("builtin.unrealized_conversion_cast")
def _cast(op: ir.Operation, translator: Translator) -> Step:
    if "layout" in op.attributes and isinstance(op.operands[0].type, ir.VectorType):
        return lanes.convert(op, translator)
    if len(op.operands) != 1 or len(op.results) != 1:
        raise Unsupported(
            f"the cast has {counted(len(op.operands), 'operand')} and {counted(len(op.results), 'result')}; it must have one operand and one result"
        )
    (source,), (result,) = translator.operands(op), translator.results(op)
    given, wanted = op.operands[0].type, op.results[0].type
    if isinstance(wanted, ir.MemRefType):
        if ARGUMENT not in op.attributes:
            memory_type(wanted)
        shape, steps, dtype, packing = byte_layout(wanted)
        is_structure = str(given).startswith("!llvm.struct")
        if not is_structure and not str(given).startswith("!llvm.ptr"):
            raise Unsupported(
                f"the op casts {given} to {wanted}; only !llvm.ptr and !llvm.struct can be cast to a memref"
            )

        def to_memory(st: State) -> None:
            found = st.v[source]
            offset = 0
            if is_structure:
                offset = packing.bytes_of(found[2]) if packing else found[2] * dtype.itemsize
                found = found[1]
            at = found.offset + offset
            st.v[result] = MemRef(found.buffer, at, shape, steps, dtype, packing=packing, begin=found.offset)

        return to_memory
    if isinstance(given, ir.MemRefType) and str(wanted).startswith("!llvm.struct"):
        memory_type(given)

        def to_structure(st: State) -> None:
            memory = st.v[source]
            size = memory.dtype.itemsize
            pointer = Pointer(memory.buffer, memory.offset)
            st.v[result] = {
                0: pointer,
                1: pointer,
                2: 0,
                3: dict(enumerate(memory.shape)),
                4: {i: step // size for i, step in enumerate(memory.strides)},
            }

        return to_structure
    if str(wanted) == "!gpu.async.token":

        def nothing(st: State) -> None:
            st.v[result] = None

        return nothing
    raise Unsupported(
        f"the op casts {given} to {wanted}; only casts between a memref and !llvm.ptr or !llvm.struct are supported"
    )


@operation("llvm.inline_asm")
def _inline_assembly(op: ir.Operation, translator: Translator) -> Step | Translated | None:
    text, constraints = normalized(attribute(op, "asm_string")), attribute(op, "constraints")
    if text == "bar.sync $0, 128;" and constraints == "r":
        number, site = translator.operands(op)[0], translator.site(op)
        return gpu.thread_barrier(lambda st: st.v[number], lambda st: 128, site)
    if text == cluster.REMOTE_ARRIVAL and constraints == "b,r,r":
        return cluster.remote_arrival(op, translator)
    if text == _ACQUIRE and not constraints:
        return None
    if text == _RELEASE and not constraints:
        site = translator.site(op)
        return lambda st: st.fence(site, (SHARED,))
    raise Unsupported(
        f"the inline assembly '{text}' is not simulated in a block-level kernel; use an op of the nvvm dialect instead"
    )


_ACQUIRE = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"
"""Orders later async-proxy operations after completed waits. A write of the async proxy after a read does not need a
fence, so this has no effect."""
_RELEASE = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"
"""Makes earlier writes visible to the async proxy."""
