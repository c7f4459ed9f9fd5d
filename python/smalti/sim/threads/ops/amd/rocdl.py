# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rocdl`: waits, arithmetic and transposed loads."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....targets import Target
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution.code import ThreadTranslator, operation
from ...execution.counters import ASYNC, DS, LOAD, STORE, TENSOR
from ...execution.lanes import Array, dtype_of, spread
from ..arithmetic.arith import elementwise
from ..arithmetic.llvm import address_space, pointee
from ..arithmetic.vector import element_dtype
from ..collective.gpu import whole_warps
from .amdgpu import dealing, of_vector_memory, transposed_read, wait_for_counters
from .conversions_amd import pack, unpack

_WORD = np.dtype(np.int32)

# ---------------------------------------------------------------------------------------------------------------------
# Waits
# ---------------------------------------------------------------------------------------------------------------------

_WAITS = {
    "loadcnt": (LOAD, "split_counters"),
    "storecnt": (STORE, "split_counters"),
    "dscnt": (DS, "split_counters"),
    "asynccnt": (ASYNC, "async_counter"),
    "tensorcnt": (TENSOR, "tensor_counter"),
}
"""The kinds of each wait, and the attribute of targets with the counter."""


@operation(*(f"rocdl.s.wait.{name}" for name in _WAITS))
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    site, left = tr.site(op), attribute(op, "count")
    name = op.name.rpartition(".")[2]
    kind, counter = _WAITS[name]
    require_chip(tr.target, f"the wait counter {name}", lambda target: counter in target.waits)
    counts = {kind: left}

    def step(st: Any) -> None:
        wait_for_counters(st, counts, site)

    return step


def waitcnt(architecture: str, bits: int) -> tuple[int, int, int, int]:
    """The fields vmcnt and lgkmcnt of `s_waitcnt`, and their largest values, which do not wait."""
    if architecture.startswith("CDNA"):
        return bits & 15 | (bits >> 14 & 3) << 4, bits >> 8 & 15, 63, 15
    return bits >> 10 & 63, bits >> 4 & 63, 63, 63


def weakened_waitcnt(architecture: str, bits: int) -> int:
    """The same wait with one more operation outstanding in each of its counters."""
    vector, lds, most, most_lds = waitcnt(architecture, bits)
    vector, lds = min(vector + 1, most), min(lds + 1, most_lds)
    if architecture.startswith("CDNA"):
        return bits & ~0xCF0F | vector & 15 | vector >> 4 << 14 | lds << 8
    return bits & ~0xFFF0 | vector << 10 | lds << 4


@operation("rocdl.s.waitcnt")
def _waitcnt(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)
    if "vmcnt" not in tr.target.waits:
        raise Unsupported.invalid(
            f"the op waits for vmcnt and lgkmcnt, wait counters that {tr.target.name} does not have; use one op for each of its "
            "counters, such as rocdl.s.wait.loadcnt and rocdl.s.wait.dscnt"
        )
    vector, lds, most, most_lds = waitcnt(tr.target.architecture, attribute(op, "bitfield"))
    counts = of_vector_memory(tr, vector) if vector < most else {}
    if lds < most_lds:
        counts[DS] = lds

    def step(st: Any) -> None:
        wait_for_counters(st, counts, site)

    return step


_FUNCTIONS: dict[str, Any] = {
    "rcp": lambda x: 1 / x,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "log": np.log2,
    "tanh": np.tanh,
    # Of turns.
    "sin": lambda x: np.sin(2 * np.pi * np.remainder(x, 1)),
    "cos": lambda x: np.cos(2 * np.pi * np.remainder(x, 1)),
}
"""Arithmetic instructions, computed in float64 and rounded once; the hardware is less exact."""


@operation(*(f"rocdl.{name}" for name in _FUNCTIONS))
def _function(op: Any, tr: ThreadTranslator) -> Step:
    function, dtype = _FUNCTIONS[op.name.removeprefix("rocdl.")], element_dtype(op.results[0].type)
    return elementwise(op, tr, lambda x: function(x.astype(np.float64)).astype(dtype))


@operation("rocdl.fmed3")
def _median(op: Any, tr: ThreadTranslator) -> Step:
    """RDNA3 ISA, V_MED3_F32: with a NaN operand the result is the minimum."""

    def median(x: Array, y: Array, z: Array) -> Array:
        smallest = np.fmin(np.fmin(x, y), z)
        middle = np.fmax(np.fmin(x, y), np.fmin(np.fmax(x, y), z))
        return np.where(np.isnan(x) | np.isnan(y) | np.isnan(z), smallest, middle)

    return elementwise(op, tr, median)


@operation(
    "rocdl.flat.prefetch",
    "rocdl.global.prefetch",
    "rocdl.s.setprio",
    "rocdl.sched.barrier",
    "rocdl.sched.group.barrier",
    "rocdl.iglp.opt",
    "rocdl.s.nop",
    "rocdl.s.sleep",
    "rocdl.s.wait.expcnt",
    "rocdl.s.wakeup.barrier",
    "rocdl.wave.barrier",
)
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Transposed loads
# ---------------------------------------------------------------------------------------------------------------------


_NARROW = {"CDNA4": {4: (4, 0), 6: (4, 0)}, "GFX12.5": {4: (3, 1), 6: (2, 1)}}
"""The distribution of loads of 16 elements of 4 and 6 bits, as `dealing` takes it: CDNA4 ISA, "MFMA Transpose Load
from LDS"; CDNA5 ISA, "WMMA Matrix Load Ops with Transpose", as in AMD's rocjitsu (ds_transpose.h), and its test of the
instructions on gfx1250."""

_NARROW_NAMES = [f"ds.read.{name}" for name in ("tr4.b64", "tr6.b96")]
_NARROW_NAMES += [f"{where}.load.{name}" for where in ("ds", "global") for name in ("tr4.b64", "tr6.b96")]


@operation(*(f"rocdl.{name}" for name in _NARROW_NAMES))
def _transposed_narrow(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    name, ty = op.name.removeprefix("rocdl."), op.results[0].type

    def has(target: Target) -> bool:
        return target.architecture in _NARROW and (".read." in name) == (target.wave_size == 64)

    require_chip(tr.target, "this instruction", has)
    ways = _NARROW[tr.target.architecture]
    bits, dtype = int(name[name.index(".tr") + 3]), dtype_of(ty)
    if dtype is None:
        raise Unsupported.wrong_type("the result", ty)
    words = 2 * bits // 4
    deal = dealing(tr.warp_size, 16, *ways[bits])
    if name.startswith("ds"):
        tr.uses_shared(_WORD.itemsize)
    # CDNA4's reads of 12 bytes begin at a multiple of 16.
    alignment = 16 if tr.warp_size == 64 and words == 3 else 4 * (2 if words == 2 else 1)
    steps, space = np.arange(words) * _WORD.itemsize, address_space(op.operands[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "the transposed load", site)
        buffer, first = pointee(st, st.v[pointer], space, site, "the load")
        st.aligned(first, alignment, st.mask, site, "the load", False)
        found = st.load_bytes(buffer, first, steps, _WORD, (words,), st.mask, site)
        data = np.ascontiguousarray(spread(found, _WORD, st.lanes, 1)).view(np.uint8)
        dealt = np.ascontiguousarray(pack(deal(unpack(data, bits)), bits))
        st.v[result] = dealt.view(dtype).reshape(st.lanes, *ty.shape)

    return step


_READS = ("ds.read.tr16.b64", "ds.read.tr8.b64")
_LOADS = ("ds.load.tr16.b128", "ds.load.tr8.b64", "global.load.tr.b128", "global.load.tr.b64")


@operation(*(f"rocdl.{name}" for name in (*_READS, *_LOADS)))
def _transposed(op: Any, tr: ThreadTranslator) -> Step:
    (pointer,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    name = op.name.removeprefix("rocdl.")
    ty: Any = op.results[0].type
    dtype, shape = dtype_of(ty), tuple(ty.shape)
    if dtype is None:
        raise Unsupported.wrong_type("the result", ty)
    require_chip(tr.target, "this instruction", lambda target: (name in _READS) == (target.wave_size == 64))
    size = int(name.rpartition(".b")[2]) // 8
    # The global ones are of 16 bits where they are of 16 bytes, else of 8.
    unit = np.dtype(np.uint16 if "tr16" in name or (".tr." in name and size == 16) else np.uint8)
    count = size // unit.itemsize
    deal = transposed_read(tr, unit, count)
    if name.startswith("ds"):
        tr.uses_shared(unit.itemsize)
    steps, space = np.arange(count) * unit.itemsize, address_space(op.operands[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "the transposed load", site)
        buffer, first = pointee(st, st.v[pointer], space, site, "the load")
        found = st.load_bytes(buffer, first, steps, unit, (count,), st.mask, site)
        dealt = np.ascontiguousarray(deal(spread(found, unit, st.lanes, 1)))
        st.v[result] = dealt.view(dtype).reshape(st.lanes, *shape)

    return step
