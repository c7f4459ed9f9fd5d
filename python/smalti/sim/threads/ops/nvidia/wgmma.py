# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm`: `wgmma`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from ....machine.clocks import join
from ....machine.engines import completes_immediately
from ....translation.translator import Step, Unsupported, groups_left
from ...execution import fences, timing
from ...execution.code import ThreadTranslator, operation
from ...execution.elements import READERS
from ...execution.lanes import dtype_of, rank_of, spread
from ...execution.pending import Pending, resolve
from ...execution.wgmma import (
    A_WORDS,
    LANES,
    ROWS,
    WARPS,
    Form,
    RegisterMatrix,
    SharedMatrix,
    Wgmma,
    from_registers,
    matrices_of_registers,
)
from ..collective.gpu import whole_warps

Start = Callable[[Any], tuple[Any, ...]]
"""A function that returns the accumulator registers; None for registers that were not written."""


def _word(op: Any, name: str) -> str:
    return str(op.attributes[name]).rpartition("<")[2].strip("<>").rpartition(" ")[2]


def _of_warpgroups(tr: ThreadTranslator) -> None:
    """All warps of a warpgroup execute it together; others are missing."""
    tr.warpgroups = True
    tr.waits += 1


def whole_warpgroups(st: Any, what: str, site: Any) -> None:
    """All threads of the warpgroups must be active."""
    whole_warps(st, what, site)
    if st.mask is not None or len(st.warps) % WARPS:
        st.stop(
            "divergence",
            f"{what} is in divergent control flow: not all warps of the warpgroup reach it; move it out of the branch",
            site,
        )


@operation("nvvm.wgmma.mma_async")
def _multiply(op: Any, tr: ThreadTranslator) -> Step:
    accumulator, first, second = tr.operands(op)
    (result,) = tr.results(op)
    sizes = {name: int(size) for name, size in re.findall(r"\b([mnk]) = (\d+)", str(op.attributes["shape"]))}
    kinds = [_word(op, name) for name in ("typeD", "typeA", "typeB")]
    form = Form(
        sizes["n"],
        sizes["k"],
        *kinds,
        adds=_word(op, "scaleD") != "zero",
        negative=(_word(op, "scaleA") == "neg") != (_word(op, "scaleB") == "neg"),
        transposed=(_word(op, "layoutA") != "row", _word(op, "layoutB") != "col"),
        saturates="satfinite" in op.attributes and _word(op, "satfinite") == "satfinite",
    )
    register = re.search(r"struct<\((vector<[^>]*>|[^,)]*)", str(op.results[0].type))
    assert register, "the verifier requires a struct"
    ty = ir.Type.parse(register[1], op.context)
    starts = fences.sources(list(op.operands)[:1], tr)
    step = product(form, lambda st: st.v[accumulator] or (), ty, [first], second, (starts, ()), tr, tr.site(op))

    def run(st: Any) -> None:
        st.v[result] = step(st)

    return run


def product(
    form: Form,
    start: Start,
    register: Any,
    a: list[int],
    b: int,
    sources: tuple[tuple[int, ...], tuple[int, ...]],
    tr: ThreadTranslator,
    site: Any,
) -> Callable[[Any], tuple[Pending, ...]]:
    """Issues a `wgmma` and returns its registers, of a type. `a` are the slots of the words of A, or of its
    descriptor; `sources` those of the values whose registers the accumulator and A use."""
    _of_warpgroups(tr)
    kind = dtype_of(register)
    packed = kind == np.dtype(np.int32)
    if kind is None or (kind != form.dtype and not packed) or kind.itemsize * 2 ** rank_of(register) != 4:
        raise Unsupported(
            f"the accumulator is {form.sum}, but its registers have type {register}; they must be 32-bit registers of the "
            "accumulator type or i32"
        )
    in_registers = len(a) == A_WORDS
    for name in (form.b,) if in_registers else (form.a, form.b):
        tr.uses_shared(READERS[name][0] // 8)
    wide = np.dtype(np.int64)

    def shared(st: Any, slot: int, rows: int, name: str, transposed: bool) -> list[SharedMatrix]:
        bits = spread(st.v[slot], wide, st.lanes).reshape(-1, LANES)
        if (bits != bits[:, :1]).any():
            st.stop(
                "divergence",
                "threads of a warpgroup pass different descriptors; the descriptors must be warpgroup-uniform",
                site,
            )
        return [SharedMatrix(int(of) & (1 << 64) - 1, rows, name, transposed) for of in bits[:, 0]]

    def run(st: Any) -> tuple[Pending, ...]:
        whole_warpgroups(st, "the wgmma", site)
        left: list[Any]
        if in_registers:
            words = [
                spread(resolve(st, st.v[slot], site, by_threads=False), np.dtype(np.int32), st.lanes) for slot in a
            ]
            left = matrices_of_registers(np.stack(words, -1), form.a)
        else:
            left = shared(st, a[0], ROWS, form.a, form.transposed[0])
        right = shared(st, b, form.columns, form.b, form.transposed[1])
        fences.check(st, *sources, form.shape, site)
        before = _accumulator(st, start(st), form, site)
        made = Wgmma(st, form, before if form.adds else None, left, right, packed, site)
        size = READERS[form.b][0] // 8
        timing.multiplied_together(st, made, WARPS, size, ROWS * form.columns * form.depth)
        _touch(st, left, right, site)
        for warp in st.warps[::WARPS]:
            warp.wgmmas.open.append(made)
        if st.block.barriers:
            # The warps issue it together, so the waits of each are complete.
            for first in range(0, len(st.warps), WARPS):
                together = st.warps[first : first + WARPS]
                for warp in together[1:]:
                    join(together[0].known.used, warp.known.used)
                for warp in together[1:]:
                    join(warp.known.used, together[0].known.used)
        if completes_immediately(st):
            made.complete()
        return tuple(Pending(made, i) for i in range(form.registers))

    return run


def _accumulator(st: Any, items: tuple[Any, ...], form: Form, site: Any) -> Any:
    """The `wgmma` whose result is propagated, or matrices."""
    if not items:
        return None
    # A structure has no more than was put into it.
    items = (*items, *[None] * (form.registers - len(items)))
    first: Any = items[0]
    if first.__class__ is Pending and all(
        item.__class__ is Pending and item.product is first.product and item.index == i and item.lanes is first.lanes
        for i, item in enumerate(items)
    ):
        if first.product.shape != form.shape:
            first.product.check_waited(st, site)
        elif first.lanes is None:
            return first.product
    else:
        # Permuted registers are copied.
        items = tuple(resolve(st, item, site, by_threads=False) for item in items)
    numbers = [item.force() if item.__class__ is Pending else item for item in items]
    # Unwritten registers are zeros.
    words = [np.zeros(st.lanes, np.int32) if item is None else np.ascontiguousarray(item) for item in numbers]
    stacked = np.stack([word.view(np.int32).reshape(st.lanes) for word in words], -1)
    return from_registers(stacked.view(form.dtype), form.columns)


def _touch(st: Any, a: list[SharedMatrix] | list[RegisterMatrix], b: list[SharedMatrix], site: Any) -> None:
    """Checks the accesses of the `wgmma` of each warpgroup."""
    buffer = st.block.shared
    grains = []
    for left, right in zip(a, b, strict=True):
        row = np.concatenate([left.grains(buffer.grain), right.grains(buffer.grain)])
        grains += [row] * WARPS
    lanes = np.arange(0, st.lanes, st.block.warp_size)
    rows = np.array(grains)
    if rows.size and (int(rows.max()) + 1) * buffer.grain > buffer.size:
        message = f"the wgmma reads up to byte {(int(rows.max()) + 1) * buffer.grain} of {buffer.name}, whose size is {buffer.size} B"
        st.stop("out-of-bounds", message, site, 0)
    agents = np.array([warp.wgmmas.agent for warp in st.warps], np.int32)
    ends = np.array([warp.wgmmas.next for warp in st.warps], np.int32)
    st.reads_grains(buffer, lanes, rows, "the wgmma", site, (agents, ends))


@operation("nvvm.wgmma.fence.aligned")
def _fence(op: Any, tr: ThreadTranslator) -> Step:
    return fence(tr, tr.site(op))


def fence(tr: ThreadTranslator, site: Any) -> Step:
    """Register accesses are ordered before later `wgmma` ops."""
    _of_warpgroups(tr)

    def step(st: Any) -> None:
        whole_warpgroups(st, "the wgmma fence", site)
        fences.fence(st, site)

    return step


@operation("nvvm.wgmma.commit.group.sync.aligned")
def _commit(op: Any, tr: ThreadTranslator) -> Step:
    return commit(tr, tr.site(op))


def commit(tr: ThreadTranslator, site: Any) -> Step:
    """Commits a wgmma-group."""
    _of_warpgroups(tr)

    def step(st: Any) -> None:
        whole_warps(st, "the wgmma commit", site)
        for stream in {warp.wgmmas.agent: warp.wgmmas for warp in st.active_warps()}.values():
            st.block.commits(stream, site)

    return step


@operation("nvvm.wgmma.wait.group.sync.aligned")
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    return wait(groups_left(op, "group"), tr, tr.site(op))


def wait(left: int, tr: ThreadTranslator, site: Any) -> Step:
    """Waits until at most this many wgmma-groups are outstanding."""
    _of_warpgroups(tr)

    def step(st: Any) -> None:
        whole_warps(st, "the wgmma wait", site)
        works: dict[int, list[Any]] = {}
        for warp in st.active_warps():
            stream = warp.wgmmas
            upto = stream.committed - left
            if upto <= 0:
                continue
            if stream.agent not in works:
                works[stream.agent] = [made for n, group in stream.groups.items() if n <= upto for made in group]
                st.block.waits_for(stream, upto, site, {stream.agent})
                for number in sorted(n for n in stream.groups if n <= upto):
                    for product in stream.groups.pop(number):
                        product.complete()
                        product.streams.discard(stream.agent)
                stream.completed = max(stream.completed, upto)
            timing.waited(warp, works[stream.agent], site)
            st.learn(warp, stream.agent, upto)

    return step
