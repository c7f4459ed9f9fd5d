# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`amdgpu`: waits, barriers and transposed loads. Buffers are in `buffers_amd`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import COPY, DS, LOAD, STORE, TENSOR
from ...execution.lanes import spread
from ..arithmetic.vector import shape_of
from ..collective.gpu import thread_barrier, wait_for_all, whole_warps
from ..memory.memref import memory_dtype

# ---------------------------------------------------------------------------------------------------------------------
# Waits and barriers
# ---------------------------------------------------------------------------------------------------------------------


def wait_for_counters(st: Any, counts: dict[str, int], site: Any) -> None:
    """Waits until at most this many operations of each kind are outstanding."""
    for warp in st.active_warps():
        for kind, left in counts.items():
            warp.counters.wait(st, kind, left, site)


def of_vector_memory(tr: ThreadTranslator, left: int) -> dict[str, int]:
    """The kinds of a wait for vmcnt or loadcnt. On CDNA stores are counted too."""
    counts = {COPY: left, LOAD: left}
    if tr.target.architecture.startswith("CDNA"):
        counts[STORE] = left
    return counts


@operation("amdgpu.memory_counter_wait")
def _counter_wait(op: Any, tr: ThreadTranslator) -> Step:
    site, counts = tr.site(op), {}
    given = {name: attribute(op, name) for name in ("load", "store", "ds", "tensor") if name in op.attributes}
    if "split_counters" in tr.target.waits:
        names = {"load": LOAD, "store": STORE, "ds": DS, "tensor": TENSOR}
        counts = {names[name]: left for name, left in given.items()}
    else:
        vector = [given[name] for name in ("load", "store") if name in given]
        if vector:
            counts |= of_vector_memory(tr, min(vector))
        if "ds" in given:
            counts[DS] = given["ds"]

    def step(st: Any) -> None:
        wait_for_counters(st, counts, site)

    return step


@operation("amdgpu.lds_barrier")
def _lds_barrier(op: Any, tr: ThreadTranslator) -> None:
    site = tr.site(op)

    def wait(st: Any) -> Any:
        wait_for_all(st, site, (DS, COPY))
        return thread_barrier(st, 0, st.block.counted, site, "the barrier")

    tr.blocking(wait)


@operation("amdgpu.sched_barrier")
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Transposed loads
# ---------------------------------------------------------------------------------------------------------------------


def transposed_read(tr: ThreadTranslator, dtype: np.dtype[Any], count: int) -> Any:
    """A function that distributes the loaded elements across the lanes: vectors of `count` elements."""
    bits = 8 * dtype.itemsize
    found = [
        read
        for read in tr.target.transposed_reads
        if read.element_bits == bits and read.bytes == count * dtype.itemsize
    ]
    if not found:
        known = ", ".join(
            f"{8 * read.bytes // read.element_bits} x {read.element_bits}" for read in tr.target.transposed_reads
        )
        raise Unsupported.invalid(
            f"{tr.target.name} does not have transposed loads of {count} elements of {bits} bits per lane; it has (elements x "
            f"bits): {known or 'none'}"
        )
    (read,) = found
    return dealing(tr.warp_size, count, read.first_element_bits, read.first_lane_bits)


def dealing(wave: int, count: int, element_bits: int, lane_bits: int) -> Any:
    """The same, by the bits of the source lane's number (`targets/Target.h`, TransposedRead)."""
    lane, e = np.arange(wave)[:, None], np.arange(count)[None, :]
    group, shift = lane // count, element_bits + lane_bits
    source = e & (1 << element_bits) - 1
    source = source | (group & (1 << lane_bits) - 1) << element_bits
    source = source | e >> element_bits << shift
    source = source | group >> lane_bits << count.bit_length() - 1 + lane_bits

    def deal(values: Any) -> Any:
        rows = values.reshape(-1, wave, count)
        return rows[:, source, lane % count].reshape(values.shape)

    return deal


@operation("amdgpu.transpose_load")
def _transpose_load(op: Any, tr: ThreadTranslator) -> Step:
    source, *indices = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    shape = shape_of(op.results[0].type)
    dtype = memory_dtype(op.operands[0].type)
    tr.uses(op.operands[0].type)
    deal = transposed_read(tr, dtype, shape[0])

    def step(st: Any) -> None:
        whole_warps(st, "the transposed load", site)
        found = st.load(st.v[source], [st.v[i] for i in indices], shape, site)
        st.v[result] = deal(spread(found, dtype, st.lanes, 1))

    return step
