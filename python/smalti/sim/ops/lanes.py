"""Registers of single threads, in code that a program brings along (`custom_primitive`): arrays with one more dimension
in front, the thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects import mosaic_gpu
from ..memory import Array
from ..program import Step, Translator, Unsupported, vector_reader
from ..values import is_vector
from .arith import type_of


def _places(layout: Any, shape: list[int]) -> Array:
    """For each thread and register, which elements it holds, counted through the vector."""
    layout.validate_for(shape)
    length = layout.vector_length
    found = np.empty((layout.num_warps * layout.num_lanes, layout.num_registers(shape), length), np.int64)
    for thread, register, element in np.ndindex(found.shape):
        warp, lane = divmod(thread, layout.num_lanes)
        index = layout.element_index(shape, warp, lane, register, element)
        found[thread, register, element] = np.ravel_multi_index(tuple(index), shape)
    return found


def _refuse_others(op: Any) -> None:
    """Only what treats each element by itself may be done with registers of threads."""
    for view in op.parent.regions[0].blocks[0].operations:
        other = view.operation
        vectors = any(is_vector(value.type) for value in (*other.operands, *other.results))
        known = other.name.startswith(("arith.", "math.")) or other.name in (
            "builtin.unrealized_conversion_cast",
            "mosaic_gpu.return",
        )
        if vectors and not known:
            raise Unsupported(f"registers of single threads in '{other.name}'")


def convert(op: Any, translator: Translator) -> Step:
    """A cast of a vector to registers of each thread, or back."""
    if op.parent is None or op.parent.name != "mosaic_gpu.custom_primitive":
        raise Unsupported("registers of single threads")
    _refuse_others(op)
    results = translator.results(op)
    readers = [vector_reader(op, i, translator) for i in range(len(op.operands))]
    apart = len(readers) == 1
    whole = (op.operands if apart else op.results)[0].type
    layout = op.attributes["layout"]
    if not isinstance(layout, mosaic_gpu.TiledLayoutAttr):
        raise Unsupported(f"registers of the layout {layout}")
    places = _places(layout.layout, list(whole.shape))
    if places.shape[1] != (len(results) if apart else len(readers)):
        raise Unsupported(f"{len(op.operands)} values as {len(results)} in this layout")
    shape, dtype = tuple(whole.shape), type_of(whole)
    threads = places.shape[0]

    def split(st: Any) -> None:
        if st.lanes != threads:
            st.stop("divergence", f"a layout of {threads} threads in code of {st.lanes}", translator.site(op))
        flat = np.ascontiguousarray(readers[0](st)).reshape(-1)
        for register, result in enumerate(results):
            st.v[result] = flat[places[:, register]]

    def join(st: Any) -> None:
        found = np.empty(shape, dtype)
        flat = found.reshape(-1)
        for register, read in enumerate(readers):
            flat[places[:, register]] = read(st)
        st.v[results[0]] = found

    return split if apart else join
