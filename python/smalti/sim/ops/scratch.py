# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scratch memory of reductions, if the kernel names it: warps exchange their partial results there.

The sequence is that of JAX's lowering: a write by all threads, a barrier of the warpgroup, a read, and another barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ... import ir
from ...dialects import mosaic_gpu
from ..machine.machine import Group
from ..machine.memory import MemRef
from ..translation.translator import Translator, attribute


def _crosses_warps(layout: Any, shape: list[int], axes: Iterable[int]) -> bool:
    """Whether several warps hold elements that are reduced to one."""
    if isinstance(layout, mosaic_gpu.WGSplatFragLayoutAttr):
        return False
    if not isinstance(layout, mosaic_gpu.TiledLayoutAttr):
        return True
    tiled = layout.layout
    places = {tuple(tiled.element_index(shape, warp, 0, 0, 0)) for warp in range(tiled.num_warps)}
    left = {tuple(at for i, at in enumerate(place) if i not in axes) for place in places}
    return len(left) < len(places)


def scratch(op: Any, translator: Translator, axes: Iterable[int]) -> Callable[[Any], None]:
    """The accesses of a reduction to its scratch memory; none if it does not need any, or its layout is not known."""
    stated = translator.layout(op, "in_layouts")
    shape = list(op.operands[0].type.shape)
    if "offset" not in op.attributes or stated is None:
        return lambda st: None
    if not _crosses_warps(ir.Attribute.parse(stated, op.context), shape, tuple(axes)):
        return lambda st: None
    offset, size = attribute(op, "offset"), attribute(op, "scratch_size", 16)
    translator.uses_shared(1, offset + size)
    site = translator.site(op)

    def exchange(st: Group) -> None:
        memory = MemRef(st.block.shared, offset, (size,), (1,), np.dtype(np.int8))
        for write in (True, False):
            if not st.touch(memory, write, "the reduction", site, ("scratch", site)):
                return
            st.arrive_at_barrier(st.threads)
            st.acquire(st.release(), site, st.threads)

    return exchange
