# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose regions compute elements: `mosaic_gpu.reduce`, `mosaic_gpu.scan`, and external code, whose reference runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ..machine.machine import State
from ..machine.values import is_vector
from ..translation.translator import Step, Translator, Unsupported, attribute, operation, vector_reader
from .arith import held_type
from .scratch import scratch
from .vector import reduce_tuples, scalar_of

Array = np.ndarray[Any, Any]
Combine = Callable[[list[Array], list[Array]], list[Array]]
Elementwise = Callable[[State, list[Array]], list[Array]]


def elementwise(op: ir.Operation, translator: Translator, dtypes: list[np.dtype[Any]]) -> Elementwise:
    """The region of an op, applied to the elements of arrays that have the same index. `dtypes` are those of the results."""
    body, arguments, yields = translator.region(op.regions[0])
    run = body.step
    assert run is not None and not body.blocking
    # Ops on scalars also act on arrays with one number per thread, but their control flow is that of threads.
    is_straight = not any(inner.operation.regions for inner in op.regions[0].blocks[0].operations)

    def apply(st: State, arrays: list[Array]) -> list[Array]:
        given = [np.asarray(array).reshape(-1) for array in arrays]
        shape, count = np.shape(arrays[0]), given[0].size
        found = [np.empty(count, dtype) for dtype in dtypes]
        for part in [slice(None)] if is_straight else range(count):
            for slot, array in zip(arguments, given, strict=True):
                st.v[slot] = array if is_straight else scalar_of(array[part])
            run(st)
            for array, slot in zip(found, yields, strict=True):
                array[part] = st.v[slot]
        return [array.reshape(shape) for array in found]

    return apply


def _combiner(op: ir.Operation, translator: Translator, dtypes: list[np.dtype[Any]]) -> Callable[[Any], Combine]:
    """A function that combines the elements of tuples of arrays that have the same index."""
    apply = elementwise(op, translator, dtypes)
    return lambda st: lambda left, right: apply(st, [*left, *right])


def _inputs(op: ir.Operation, translator: Translator) -> tuple[Any, Any, list[np.dtype[Any]]]:
    """Functions that return the inputs and the initial values, and the types of the elements."""
    readers = [vector_reader(op, i, translator) for i in range(len(op.operands))]
    count = len(readers) // 2
    dtypes = [held_type(operand.type) for operand in list(op.operands)[:count]]
    site = translator.site(op)

    def inputs(st: Any) -> list[Array]:
        return [read(st) for read in readers[:count]]

    def initial(st: Any) -> list[Array]:
        found = [np.asarray(read(st), dtype) for read, dtype in zip(readers[count:], dtypes, strict=True)]
        if any(array.ndim for array in found):
            st.stop(
                "divergence",
                "the initial values of the reduction differ between threads; pass the same value in all threads",
                site,
            )
        return found

    return inputs, initial, dtypes


@operation("mosaic_gpu.reduce")
def _reduce(op: ir.Operation, translator: Translator) -> Step:
    axes = tuple(attribute(op, "dims"))
    inputs, initial, dtypes = _inputs(op, translator)
    combiner = _combiner(op, translator, dtypes)
    results = translator.results(op)
    exchange = scratch(op, translator, axes)
    is_whole = not is_vector(op.results[0].type)

    def step(st: State) -> None:
        exchange(st)
        combine = combiner(st)
        with np.errstate(all="ignore"):
            found = reduce_tuples(combine, inputs(st), axes)
            start = [np.broadcast_to(array, found[0].shape) for array in initial(st)]
            found = combine(start, found)
        for result, array in zip(results, found, strict=True):
            st.v[result] = scalar_of(array) if is_whole else array

    return step


@operation("mosaic_gpu.scan")
def _scan(op: ir.Operation, translator: Translator) -> Step:
    dim, exclusive, reverse = attribute(op, "dim"), "exclusive" in op.attributes, "reverse" in op.attributes
    inputs, initial, dtypes = _inputs(op, translator)
    combiner = _combiner(op, translator, dtypes)
    results = translator.results(op)

    def step(st: State) -> None:
        combine = combiner(st)
        arrays = [np.moveaxis(array, dim, 0) for array in inputs(st)]
        found = [np.empty_like(array) for array in arrays]
        prefix = [np.broadcast_to(array, arrays[0].shape[1:]) for array in initial(st)]
        size = len(arrays[0])
        with np.errstate(all="ignore"):
            for at in reversed(range(size)) if reverse else range(size):
                following = combine(prefix, [array[at] for array in arrays])
                for array, value in zip(found, prefix if exclusive else following, strict=True):
                    array[at] = value
                prefix = following
        for result, array in zip(results, found, strict=True):
            st.v[result] = np.moveaxis(array, 0, dim)

    return step


@operation("triton_xla.inline_asm", "triton_xla.extern_call")
def _external(op: ir.Operation, translator: Translator) -> Step:
    if not len(op.regions[0].blocks):
        raise Unsupported(
            "the op has code for a GPU and does not have a reference; add a reference, or use the emulator, which executes "
            "the code"
        )
    reference = elementwise(op, translator, [held_type(result.type) for result in op.results])
    readers = [vector_reader(op, index, translator) for index in range(len(op.operands))]
    results = translator.results(op)
    is_scalar = not is_vector(op.results[0].type)

    def step(st: State) -> None:
        found = reference(st, [read(st) for read in readers])
        for result, array in zip(results, found, strict=True):
            st.v[result] = array[()] if is_scalar else array

    return step
