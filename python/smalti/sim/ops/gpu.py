# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`gpu` and `nvvm`: ids, thread barriers, fences and register ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ..machine.clocks import GLOBAL, SHARED
from ..machine.findings import Site
from ..machine.machine import Group
from ..machine.synchronization import Meeting, Wait, wrong_barrier
from ..machine.values import collapse
from ..translation.translator import (
    PROGRAM_THREADS,
    Step,
    Translated,
    Translator,
    Unsupported,
    attribute,
    operation,
)

_DIMENSIONS = {"x": 0, "y": 1, "z": 2}


def dimension_of(op: ir.Operation) -> int:
    """The dimension of an op."""
    return _DIMENSIONS[attribute(op, "dimension")]


def thread_id(st: Group, dimension: int) -> Any:
    """The positions of a group's threads in the block."""
    sizes = st.block.names["block_dim"]
    numbers = st.thread_numbers()
    for size in sizes[:dimension]:
        numbers = numbers // size
    return collapse(numbers % sizes[dimension])


@operation("gpu.thread_id")
def _thread_id(op: ir.Operation, translator: Translator) -> Step:
    dimension = dimension_of(op)
    (result,) = translator.results(op)

    def step(st: Group) -> None:
        st.v[result] = thread_id(st, dimension)

    return step


_NAMES = ("block_id", "block_dim", "grid_dim", "cluster_block_id", "cluster_dim_blocks", "cluster_id", "cluster_dim")


@operation(*(f"gpu.{name}" for name in _NAMES))
def _position(op: ir.Operation, translator: Translator) -> Step:
    dimension, name = dimension_of(op), op.name.removeprefix("gpu.")
    (result,) = translator.results(op)

    def step(st: Group) -> None:
        st.v[result] = st.block.names[name][dimension]

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Thread barriers
# ---------------------------------------------------------------------------------------------------------------------


def thread_barrier(number: Callable[[Any], Any], count: Callable[[Any], int], site: Site) -> Translated:
    """A barrier for threads of the block."""

    def waiting(st: Group) -> Any:
        which = number(st)
        if isinstance(which, np.ndarray):
            st.stop(
                "divergence", "threads of the warpgroup use different barrier numbers; the number must be uniform", site
            )
        if (wrong := wrong_barrier(int(which), count(st), 32)) is not None:
            st.stop("barrier", wrong, site)
        barrier = st.block.thread_barrier(int(which))
        meeting = barrier.arrive(st, count(st), site)
        if not isinstance(meeting, Meeting):
            st.stop("barrier", meeting, site)
            raise AssertionError

        def describe() -> str:
            there = ", ".join(sorted({group.name for group in meeting.groups}))
            others = [g for g in st.block.groups if g not in meeting.groups]
            absent = [f"{g.name}, which {'has exited' if g.finished else 'does not reach it'}" for g in others]
            missing = f"; missing: {'; '.join(absent)}" if absent else ""
            return f"{barrier.name}: {meeting.arrived} of {meeting.count} threads have arrived ({there}){missing}"

        yield Wait(site, lambda: meeting.done, describe, lambda: meeting.clocks)
        st.acquired_from_barrier(meeting.published)
        st.acquire(meeting.clocks, site, meeting.count)

    return Translated(waiting, True)


@operation("gpu.barrier", "nvvm.barrier0")
def _barrier(op: ir.Operation, translator: Translator) -> Translated:
    return thread_barrier(lambda st: 0, lambda st: st.block.names["threads"][0], translator.site(op))


@operation("nvvm.barrier")
def _named_barrier(op: ir.Operation, translator: Translator) -> Translated:
    segments = attribute(op, "operandSegmentSizes")
    operands = iter(translator.operands(op))
    number = next(operands) if segments[0] else None
    count = next(operands) if segments[1] else None
    if len(op.operands) > segments[0] + segments[1] or len(op.results):
        raise Unsupported("the barrier has a reduction; only barriers without a reduction are supported")
    return thread_barrier(
        lambda st: 0 if number is None else st.v[number],
        lambda st: st.block.names["threads"][0] if count is None else int(st.v[count]),
        translator.site(op),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Warps, fences, registers
# ---------------------------------------------------------------------------------------------------------------------


@operation("nvvm.bar.warp.sync")
def _warp_sync(op: ir.Operation, translator: Translator) -> Step:
    """A barrier of the threads of one warp: a warp of `warp_map`. In a warpgroup it does not order the warps."""
    site = translator.site(op)

    def step(st: Group) -> None:
        if st.parent is not None:
            st.synchronize(site)

    return step


@operation("nvvm.elect.sync")
def _elect(op: ir.Operation, translator: Translator) -> Step:
    (result,) = translator.results(op)

    def step(st: Group) -> None:
        st.v[result] = st.thread_numbers() % 32 == 0

    return step


@operation("nvvm.setmaxregister")
def _registers(op: ir.Operation, translator: Translator) -> None:
    owner = op
    while owner is not None and owner.name != "gpu.func":
        owner = owner.parent and owner.parent.operation
    if owner is not None and PROGRAM_THREADS not in owner.attributes:
        # A group cannot take several paths.
        raise Unsupported(
            'the warps of the block-level kernel are specialized; simulate at thread level (--level thread, level="thread")'
        )


@operation("nvvm.fence.mbarrier.init")
def _fence_initialization(op: ir.Operation, translator: Translator) -> Step:
    site = translator.site(op)

    def step(st: Group) -> None:
        for barrier in st.block.barriers.values():
            if barrier.initialized.group is st:
                barrier.fenced = barrier.fenced or site

    return step


def fenced(op: ir.Operation) -> tuple[int, ...]:
    """The memory spaces of a proxy fence."""
    kind = attribute(op, "kind", "")
    spaces = {"async": (SHARED, GLOBAL), "async.shared": (SHARED,), "async.global": (GLOBAL,)}.get(kind)
    if spaces is None:
        raise Unsupported(f"the fence has kind '{kind}'; async, async.shared or async.global is required")
    return spaces


@operation("nvvm.fence.proxy")
def _fence_proxy(op: ir.Operation, translator: Translator) -> Step:
    site, spaces = translator.site(op), fenced(op)

    def step(st: Group) -> None:
        st.fence(site, spaces)

    return step
