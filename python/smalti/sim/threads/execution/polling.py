# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that poll memory.

Such a loop exits only if another thread changes the memory. Warps that repeat an atomic access in a loop, while the memory
is unchanged, let others run; blocks that have not started do so then. If no thread can change the memory and the values
of the warp are those of the previous iteration, the loop is a deadlock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....errors import LaunchError
from ...machine.synchronization import Poll, Wait
from ...translation.translator import FUNCTIONS, Step, walk


def _poll(warps: Any, site: Any, changes: int, stuck: bool, ends: list[bool]) -> Poll:
    """The wait of converged warps that execute a polling op again. `ends` states for each enclosing loop and condition
    whether threads outside it may change memory."""

    def refuse() -> None:
        if warps.block.program.counts_accesses:
            return  # Waves run in lockstep.
        masks = [*(frame.mask for frame in warps.frames), warps.mask]
        # `ends` is for the innermost frames; lanes that branched elsewhere, or outside a call, may do anything.
        structured = [i for i, frame in enumerate(warps.frames) if frame.join is None]
        said = dict(zip(reversed(structured), reversed(ends), strict=False))
        for frame in range(len(warps.frames)):
            outer, inner, changing = masks[frame], masks[frame + 1], said.get(frame, True)
            parted = inner is not None and (not inner.all() if outer is None else (outer & ~inner).any())
            if parted and changing:
                raise LaunchError(
                    f"{site.location}: some threads of {warps.name} poll memory that other threads of the same warp may have to write; "
                    "the simulator runs the threads of a warp in lockstep, so these would never write. Poll memory that another "
                    "warp writes"
                )

    what = f"a write to the memory that '{site.name}' polls"
    return Poll(site, lambda: warps.machine.changes - warps.changes != changes, what, stuck, refuse)


_QUIET = ("arith.", "math.", "affine.", "index.", "scf.", "gpu.thread_id", "gpu.block_id", "gpu.return", "llvm.load")
_QUIET += ("memref.load", "memref.subview", "memref.cast", "memref.dim", "vector.load", "vector.transfer_read")
_QUIET += ("llvm.getelementptr", "llvm.mlir.", "llvm.extractvalue", "vector.extract", "vector.broadcast", "gpu.lane_id")
_BARRIERS = ("gpu.barrier", "nvvm.barrier0")
_CONDITIONS = {"affine.if", "gpu.warp_execute_on_lane_0", "scf.if"}
_PARTING = _CONDITIONS | {"affine.for", "affine.parallel", "scf.for", "scf.forall", "scf.parallel", "scf.while"}
"""Ops at which some lanes may be inside and others not."""


def _may_change(op: Any) -> bool:
    return not op.name.startswith(_QUIET) or any(_may_change(inside) for inside in walk(op))


def _others_change(op: Any) -> list[bool]:
    """For each enclosing loop and condition, the outermost first: whether a thread that is outside, or has left it,
    may change memory."""
    found = []
    while op.name not in FUNCTIONS:
        parent = op.parent.operation
        if parent.name in _PARTING:
            found.append(_other_way(parent, op) or _behind(parent))
        op = parent
    return found[::-1]


def _other_way(parent: Any, op: Any) -> bool:
    """Whether memory may be changed on the other path of a condition around the op, or on this path."""
    if parent.name not in _CONDITIONS:
        return False
    others = [block for region in parent.regions for block in region if block != op.block]
    return any(_may_change(view.operation) for block in others for view in block.operations)


def _behind(op: Any) -> bool:
    """Whether memory may be changed after an op and before the next block barrier, at which all threads wait."""
    while op.name not in FUNCTIONS:
        behind = False
        for view in op.block.operations:
            other = view.operation
            if behind and other.name in _BARRIERS:
                return False
            if behind and _may_change(other):
                return True
            behind = behind or other == op
        op = op.parent.operation
        if op.name in _PARTING - _CONDITIONS and _may_change(op):
            return True
    return False


def _may_wait(op: Any) -> bool:
    """Whether the result of a read may control how often it is executed: it is in an uncounted loop, or in a
    multi-block function."""
    if not any(True for result in op.results for _ in result.uses):
        return False
    parent = op.parent
    while parent is not None:
        name = parent.operation.name
        if name == "scf.while":
            return True
        if name in FUNCTIONS:
            return len(parent.operation.regions[0].blocks) > 1
        parent = parent.operation.parent
    return False


def polling(op: Any, tr: Any, run: Step) -> Step | None:
    """The code of an atomic read: in a loop it may poll."""
    if not _may_wait(op):
        return run
    site = tr.site(op)
    tr.polls = True
    ends = _others_change(op)

    def visit(st: Any) -> None:
        run(st)
        before = st.visits.get(site.number)
        st.visits[site.number] = (st.machine.changes - st.changes, st.machine.changes, before[2] if before else None)

    def control(st: Any) -> Any:
        seen = st.visits.get(site.number)
        if seen is None or seen[0] != st.machine.changes - st.changes:
            st.visits.pop(site.number, None)
            visit(st)
            return None
        return again(st, seen)

    def again(st: Any, seen: Any) -> Iterator[Wait]:
        values = (list(st.v), st.mask)
        stuck = seen[2] is not None and seen[1] == st.machine.changes and _same(values, seen[2])
        st.visits[site.number] = (seen[0], seen[1], values)
        yield _poll(st, site, seen[0], stuck, ends)
        visit(st)

    tr.blocking(control)
    return None


def _same(values: Any, others: Any) -> bool:
    (mine, mask), (theirs, other_mask) = values, others
    if not _alike(mask, other_mask):
        return False
    return all(_alike(a, b) for a, b in zip(mine, theirs, strict=True))


def _alike(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(_alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (np.ndarray, np.generic, int)) and isinstance(other, (np.ndarray, np.generic, int)):
        a, b = np.asarray(one), np.asarray(other)
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return False
