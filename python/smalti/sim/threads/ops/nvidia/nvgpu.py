# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvgpu`: tensor maps, and copies with them. A map is encoded as MLIR's runtime does it
(`mgpuTensorMapEncodeTiledMemref`): dimensions, box and coordinates start with the innermost dimension."""

from __future__ import annotations

import re
from typing import Any

from ..... import dtypes, ir
from .....calling import tensor_maps
from .....errors import LaunchError
from ....translation.translator import Step, Unsupported
from ...execution.code import ThreadTranslator, operation
from ...execution.memory import View
from .mbarrier import place_of
from .tma import Map, issuers, load_box, of_lane, segments, store_box

_SWIZZLES = {"none": 16, "swizzle_32b": 32, "swizzle_64b": 64, "swizzle_128b": 128}
_FILLS = {"zero": "zeros", "nan": "nan"}


def is_tensor_map(ty: Any) -> bool:
    return str(ty).startswith("!nvgpu.tensormap.descriptor")


def memory_of(ty: Any) -> Any:
    """The memref type in an `nvgpu` type."""
    text = str(ty)
    begin = text.index("tensor = ") + len("tensor = ")
    depth = 0
    for at in range(begin, len(text)):
        depth += {"<": 1, ">": -1}.get(text[at], 0)
        if depth < 0 or (depth == 0 and text[at] == ">"):
            return ir.Type.parse(text[begin : at + (depth == 0)], ty.context)
    raise AssertionError(text)


def word_of(ty: Any, name: str) -> str:
    """A property of an `nvgpu` type."""
    found = re.search(rf"\b{name} = (\w+)", str(ty))
    assert found is not None
    return found[1]


def tensor_map(op: Any, tr: ThreadTranslator) -> Step:
    """`nvgpu.tma.create.descriptor`, on the host."""
    source, *box = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    ty = op.results[0].type
    element = memory_of(ty).element_type
    known = dtypes.from_mlir(str(element))
    if known is None or known.bits % 8:
        raise Unsupported(f"the tensor map has elements of {element}; elements must consist of whole bytes")
    swizzle, fill = _SWIZZLES[word_of(ty, "swizzle")], _FILLS[word_of(ty, "oob")]
    tr.uses_shared(known.bits // 8)

    def step(st: Any) -> None:
        view: View = st.v[source]
        if view.offset != view.begin:
            message = (
                f"the array of the tensor map starts at byte {view.offset - view.begin} of its buffer; MLIR's "
                "runtime ignores "
                "offsets, so offset 0 is required"
            )
            st.stop("assertion", message, site)
        try:
            described = tensor_maps.TensorMap(
                str(element), view.shape, view.strides, tuple(st.v[slot] for slot in box), (), swizzle, fill
            )
        except LaunchError as problem:
            st.stop("assertion", str(problem), site)
            raise
        st.v[result] = Map(described, view.buffer)

    return step


def _given(op: Any, tr: ThreadTranslator, *names: str) -> dict[str, list[int]]:
    given = segments(op, tr, *names)
    if not is_tensor_map(op.operands[names.index("map")].type):
        raise Unsupported.invalid(
            "the descriptor operand is not a tensor map; pass the result of nvgpu.tma.create.descriptor"
        )
    return given


@operation("nvgpu.tma.async.load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    given = _given(op, tr, "target", "barriers", "map", "box", "number", "multicast", "predicate")
    barrier = place_of(op, tr, 1, 3 + len(given["box"]))
    (target,), (source,), site = given["target"], given["map"], tr.site(op)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        view: View = st.v[target]
        places = barrier(st)
        for lane in issuers(st, given["predicate"]):
            mask = of_lane(st.v[given["multicast"][0]], lane) & 0xFFFF if given["multicast"] else None
            at = [of_lane(st.v[slot], lane) for slot in reversed(given["box"])]
            load_box(st, lane, st.v[source], at, of_lane(view.offset, lane), places, site, mask)

    return step


@operation("nvgpu.tma.async.store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    given = _given(op, tr, "source", "map", "box", "predicate")
    (source,), (target,), site = given["source"], given["map"], tr.site(op)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        view: View = st.v[source]
        for lane in issuers(st, given["predicate"]):
            at = [of_lane(st.v[slot], lane) for slot in reversed(given["box"])]
            store_box(st, lane, st.v[target], at, of_lane(view.offset, lane), site)

    return step


@operation("nvgpu.tma.prefetch.descriptor", "nvgpu.tma.fence.descriptor")
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    return None
