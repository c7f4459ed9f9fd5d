# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mosaic_gpu`: vectors of the whole group, and their loads and stores."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

import numpy as np

from ... import ir, printing
from ...dialects.mosaic_gpu import AtomicOpType
from ..machine.machine import Group, State
from ..machine.values import element_type, is_vector
from ..translation.translator import Step, Translated, Translator, Unsupported, attribute, operation, vector_reader
from . import lanes
from .arith import FLOAT_FUNCTIONS, held_type, integer_array_function, type_of
from .memref import index_error, memory_space

Array = np.ndarray[Any, Any]


@operation("mosaic_gpu.vector_load")
def _vector_load(op: Any, translator: Translator) -> Step:
    (source,), (result,) = translator.operands(op), translator.results(op)
    site, layout = translator.site(op), translator.layout(op, "out_layouts")
    shape, dtype = tuple(op.results[0].type.shape), held_type(op.results[0].type)
    held_type(op.operands[0].type)

    def step(st: Group) -> None:
        memory = st.v[source]
        if st.touch(memory, False, "the load", site, (layout, memory.key())):
            st.v[result] = memory.elements().copy()
        else:
            st.v[result] = np.zeros(shape, dtype)

    return step


def same_bytes(there: Array, comes: Array) -> bool:
    """Whether two arrays hold the same bytes."""
    return np.ascontiguousarray(there).tobytes() == np.ascontiguousarray(comes, there.dtype).tobytes()


def combining(name: str, dtype: np.dtype[Any]) -> Any:
    """The function of a reduction in memory."""
    if dtype.kind in "ib":
        known = {"add": "addi", "and": "andi", "or": "ori", "xor": "xori", "min": "minui", "max": "maxui"}
        known |= {"umin": "minui", "umax": "maxui", "smin": "minsi", "smax": "maxsi"}
        if name not in known:
            raise Unsupported(f"the op reduces integers with '{name}'; supported reductions: {', '.join(known)}")
        return integer_array_function(known[name])
    known = {"add": "addf", "min": "minnumf", "max": "maxnumf"}
    if name not in known:
        raise Unsupported(f"the op reduces floats with '{name}'; supported reductions: {', '.join(known)}")
    return FLOAT_FUNCTIONS[known[name]]


def enumerator(op: ir.Operation, name: str, enumeration: type[IntEnum]) -> str | None:
    """The keyword of an enumeration attribute, as in the MLIR bindings."""
    if name not in op.attributes:
        return None
    found = attribute(op, name)
    if isinstance(found, int):
        return str(enumeration(found))
    if isinstance(found, str) and found in map(str, enumeration):
        return found
    raise Unsupported(f"{name} = {found}")


@operation("mosaic_gpu.vector_store")
def _vector_store(op: ir.Operation, translator: Translator) -> Step:
    if attribute(op, "multimem", False):
        raise Unsupported("the op accesses the memory of several devices, but only one device is simulated")
    value = vector_reader(op, 0, translator)
    target = translator.slot(op.operands[1])
    site, layout = translator.site(op), translator.layout(op, "in_layouts")
    kind = enumerator(op, "atomic_type", AtomicOpType)
    combine = combining(kind, type_of(op.operands[0].type)) if kind else None
    held_type(op.operands[0].type)
    ordered = translator.ordered_stores and memory_space(op.operands[1].type) == "shared"

    def step(st: Group) -> None:
        memory = st.v[target]
        found = memory.held(value(st))
        barriers = ordered and st.parent is None
        if barriers:
            st.synchronize(site)
        fine = st.touch(
            memory,
            True,
            "the store",
            site,
            (layout, memory.key()),
            atomic=combine is not None,
            alike=lambda: same_bytes(memory.array(), found),
        )
        if not fine:
            return
        array = memory.array()
        with np.errstate(all="ignore"):
            array[...] = found if combine is None else combine(array, found)
        if barriers:
            st.synchronize(site)

    return step


@operation("mosaic_gpu.multimem_load_reduce")
def _multimem_load_reduce(op: ir.Operation, translator: Translator) -> Step:
    raise Unsupported("the op accesses the memory of several devices, but only one device is simulated")


@operation("mosaic_gpu.broadcast_in_dim")
def _broadcast_in_dim(op: Any, translator: Translator) -> Step:
    dimensions = attribute(op, "broadcast_dimensions")
    shape = tuple(op.results[0].type.shape)
    source = vector_reader(op, 0, translator)
    (result,) = translator.results(op)
    given = list(op.operands[0].type.shape)
    middle = [1] * len(shape)
    for size, dimension in zip(given, dimensions, strict=True):
        middle[dimension] = size

    def step(st: State) -> None:
        st.v[result] = np.broadcast_to(source(st).reshape(middle), shape)

    return step


@operation("mosaic_gpu.vector_concat")
def _concat(op: ir.Operation, translator: Translator) -> Step:
    axis = attribute(op, "dimension")
    readers = [vector_reader(op, i, translator) for i in range(len(op.operands))]
    (result,) = translator.results(op)

    def step(st: State) -> None:
        st.v[result] = np.concatenate([read(st) for read in readers], axis)

    return step


@operation("mosaic_gpu.broadcasted_iota")
def _iota(op: Any, translator: Translator) -> Step:
    axis, shape = attribute(op, "dimension"), tuple(op.results[0].type.shape)
    dtype = held_type(op.results[0].type)
    (result,) = translator.results(op)
    line = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    value = np.broadcast_to(line.astype(dtype), shape)

    def step(st: State) -> None:
        st.v[result] = value

    return step


@operation("mosaic_gpu.optimization_barrier", "mosaic_gpu.layout_cast", "mosaic_gpu.tmem_layout_cast")
def _same(op: ir.Operation, translator: Translator) -> Step:
    operands, results = translator.operands(op), translator.results(op)
    if op.name == "mosaic_gpu.layout_cast":
        # Moved elements need the data.
        read = vector_reader(op, 0, translator)

        def cast(st: State) -> None:
            st.v[results[0]] = read(st)

        return cast

    def step(st: State) -> None:
        for operand, result in zip(operands, results, strict=True):
            st.v[result] = st.v[operand]

    return step


@operation("mosaic_gpu.print_layout", "gpu.printf")
def _silent(op: ir.Operation, translator: Translator) -> None:
    for index in range(len(op.operands)):
        vector_reader(op, index, translator)


def _is_splat(op: ir.Operation, translator: Translator, elements: Array) -> bool:
    """Whether all threads hold the one value of a vector, which is printed once."""
    layout = translator.layout(op, "in_layouts")
    return (layout is None or "WGSplatFragLayout" in layout) and all(
        same_bytes(elements.flat[0], e) for e in elements.flat
    )


@operation("mosaic_gpu.debug_print")
def _debug_print(op: ir.Operation, translator: Translator) -> Step:
    """Prints the elements in row-major order; a GPU prints them in any order."""
    read, text = vector_reader(op, 0, translator), attribute(op, "format")
    with_block = attribute(op, "with_block_id", False)

    def step(st: Group) -> None:
        elements = np.asarray(read(st))
        start = f"block {list(st.block.position)}: " if with_block else ""
        splat = _is_splat(op, translator, elements)
        for position in [(0,) * elements.ndim] if splat else np.ndindex(elements.shape):
            value = elements[position]
            shown = f"{int(value)}" if elements.dtype.kind in "biu" else f"{float(value):f}"
            if not splat:
                shown = f"{list(position)}: {shown}"
            sys.stdout.write(start + text.replace("{}", shown) + "\n")

    return step


@operation("mosaic_gpu.print_tile")
def _print_tile(op: ir.Operation, translator: Translator) -> Step:
    tile, label = translator.operands(op)[0], attribute(op, "text")
    read, element = None, None
    if len(op.operands) > 1:
        read, element = vector_reader(op, 1, translator), element_type(op.operands[1].type)

    def step(st: Group) -> None:
        number = int(st.v[tile])
        if read is None:
            sys.stdout.write(f"tile {number}: {label}\n")
            return
        for line in printing.tile_lines(number, label, read(st), element):
            sys.stdout.write(f"{line}\n")

    return step


@operation("mosaic_gpu.assert")
def _assert(op: ir.Operation, translator: Translator) -> Step:
    read, message, site = vector_reader(op, 0, translator), attribute(op, "message"), translator.site(op)

    def step(st: Group) -> None:
        elements = np.asarray(read(st), np.bool_)
        bad = np.argwhere(~elements)
        if not len(bad):
            return
        where = "" if _is_splat(op, translator, elements) else f" at {bad[0].tolist()}"
        if where and len(bad) > 1:
            where += f", the first of {len(bad)} false elements"
        st.stop("assertion", f"assertion failed{where}: {message}", site)

    return step


@operation("cf.assert")
def _check_index(op: Any, translator: Translator) -> Step:
    """A check that `smalti-expand-tile-ops` created: its condition is `index ult size`, unless a loop carries the condition."""
    if "smalti.index_check" not in op.attributes:
        raise Unsupported(
            "only the checks of indices that smalti-expand-tile-ops creates are supported in block-level kernels; simulate at "
            "thread level (--level thread)"
        )
    (condition,), message = translator.operands(op), attribute(op, "msg")
    dimension, site = attribute(op, "smalti.index_check"), translator.site(op)

    def step_on_condition(st: State) -> None:
        if not st.v[condition]:
            st.report("out-of-bounds", message, site)

    compare = op.operands[0].owner
    if isinstance(compare, ir.Block) or compare.name != "arith.cmpi":
        return step_on_condition
    index, size = translator.operands(compare)

    def step(st: State) -> None:
        if (text := index_error(int(st.v[index]), int(st.v[size]), dimension)) is not None:
            st.report("out-of-bounds", text, site)

    return step


@operation("mosaic_gpu.assume_multiple")
def _assume_multiple(op: ir.Operation, translator: Translator) -> Step:
    (value,), (result,) = translator.operands(op), translator.results(op)
    multiple, site = attribute(op, "multiple"), translator.site(op)

    def step(st: State) -> None:
        found = st.v[value]
        if np.any(np.asarray(found) % multiple):
            st.report(
                "assertion",
                f"the op states that its operand is a multiple of {multiple}, but the value is {found}",
                site,
            )
        st.v[result] = found

    return step


@operation("mosaic_gpu.custom_primitive")
def _custom_primitive(op: ir.Operation, translator: Translator) -> Translated:
    with lanes.body_of(op, translator):
        body, arguments, yields = translator.region(op.regions[0])
    results = translator.results(op)
    for operand in op.operands:
        if is_vector(operand.type):
            type_of(element_type(operand.type))
    readers = [vector_reader(op, i, translator) for i in range(len(op.operands))]
    assert body.step is not None
    run = body.step

    def enter(st: State) -> None:
        for argument, read in zip(arguments, readers, strict=True):
            st.v[argument] = read(st)

    def leave(st: State) -> None:
        for result, value in zip(results, yields, strict=True):
            st.v[result] = st.v[value]

    if not body.blocking:

        def step(st: State) -> None:
            enter(st)
            run(st)
            leave(st)

        return Translated(step)

    def waiting(st: State) -> Any:
        enter(st)
        yield from run(st)
        leave(st)

    return Translated(waiting, True)
