# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous copies between global and shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .. import ir
from ..dialects import mosaic_gpu, nvvm
from ..language.arithmetic import cast, to_scalar
from ..language.types import Misuse, boolean, index, int32, member
from ..language.values import Array, Scalar, Tile
from .barriers import Barrier
from .memory import AtomicStore, Axis, Memory, as_memory, i32

Reduction = Literal["add", "min", "max", "inc", "dec", "and", "or", "xor", "umin", "umax", "smin", "smax"]


def _operands(source: Any, destination: Any, spaces: tuple[str, str]) -> tuple[Memory, Memory]:
    """The windows of a copy, in these memory spaces. Raises Misuse."""
    found = (as_memory(source, "source"), as_memory(destination, "destination"))
    for what, memory, space in zip(("source", "destination"), found, spaces, strict=True):
        if memory.space != space:
            raise Misuse(f"the {what} is in {memory.space} memory, but must be in {space} memory")
    return found


def _check_equal(source: Memory, destination: Memory) -> None:
    """Raises Misuse if the windows of a copy differ in shape or element type."""
    if source.dtype != destination.dtype:
        raise Misuse(
            f"the source has elements of {source.dtype} and the destination of {destination.dtype}; they must be equal"
        )
    if source.shape != destination.shape:
        raise Misuse(f"the source has shape {source.shape} and the destination {destination.shape}; they must be equal")


# --- Copies in groups ---


def async_copy(source: Array, destination: Array) -> None:
    """Starts a copy of a window of an array to shared memory, by all threads (`cp.async`, LDS DMA).

    Elements outside of the array are written as 0. Shapes and element types are equal. The next `async_commit_group` adds it
    to a group. Read the destination after `async_wait_group` and then `sync`. Targets: NVIDIA, gfx90a, gfx942, gfx950, gfx1250.

    Example: `sb.async_copy(x.at[i : i + 64, k : k + 32], buffers.at[0])`.
    """
    window, buffer = _operands(source, destination, ("global", "shared"))
    _check_equal(window, buffer)
    memory, starts = window.without_indices()
    mosaic_gpu.async_copy(memory, [to_scalar(start, index).value for start in starts], buffer.value)


def async_commit_group() -> None:
    """Commits the copies of `async_copy` since the last commit to one group. The group may be empty."""
    mosaic_gpu.async_commit_group()


def async_wait_group(pending: int = 0) -> None:
    """Waits until at most the `pending` newest groups are in flight. Other threads also need a `sync` after it."""
    mosaic_gpu.async_wait_group(pending)


# --- Bulk copies ---


def _bulk_indices(window: Memory) -> list[ir.Value]:
    return [cast(s, int32).value if isinstance(s, Tile) else i32(s) for s in window.starts()]


def _dimensions(axes: str | Sequence[Axis]) -> list[mosaic_gpu.Dimension] | None:
    return [member(mosaic_gpu.Dimension, "collective", axis) for axis in axes] or None


def _optional(predicate: Scalar | bool | None) -> ir.Value | None:
    return None if predicate is None else to_scalar(predicate, boolean).value


def async_load(
    source: Array,
    destination: Array,
    barrier: Barrier,
    *,
    predicate: Scalar | bool | None = None,
    collective: str | Sequence[Axis] = (),
    leader_tracked: Literal["replicated"] | int | None = None,
    out_of_bounds: Literal["zeros", "undefined", "promise_in_bounds"] = "zeros",
) -> None:
    """Starts a bulk copy (TMA) of a window of an array to shared memory, which completes on a barrier. NVIDIA only.

    The phase of the barrier must expect the bytes: `barrier.arrive_expect_tx(destination.num_bytes)`. Read the destination
    after `barrier.wait`. Shapes and element types are equal. One index may be a tile of integers, to gather rows.

    - `predicate`: nothing is copied if it is false.
    - `collective`: dimensions of the cluster, such as "x", whose blocks load one part each and multicast it to all.
    - `leader_tracked`: only the barrier of the first block counts the bytes. "replicated": all blocks receive the same data;
      a number: each block receives one part along this dimension.
    - `out_of_bounds`: elements outside of the array.

    Example: `sb.async_load(x.at[i : i + 64, :], buffer, full)`.
    """
    window, buffer = _operands(source, destination, ("global", "shared"))
    if not isinstance(leader_tracked, int):
        _check_equal(window, buffer)
    leader = None
    if leader_tracked == "replicated":
        leader = mosaic_gpu.CopyReplicatedAttr.get()
    elif leader_tracked is not None:
        leader = ir.Attribute.parse(f"#mosaic_gpu.copy_partitioned<axis = {leader_tracked}>")
    mosaic_gpu.async_load(
        window.base,
        buffer.value,
        barrier.value,
        _bulk_indices(window),
        window.lengths(),
        predicate=_optional(predicate),
        collective=_dimensions(collective),
        leader_tracked=leader,
        oob_fill_mode=member(mosaic_gpu.OOBFillMode, "out_of_bounds", out_of_bounds),
    )


def async_prefetch(
    source: Array, *, predicate: Scalar | bool | None = None, collective: str | Sequence[Axis] = ()
) -> None:
    """Starts a prefetch of a window of an array into the L2 cache. Its completion cannot be observed. NVIDIA only."""
    window = as_memory(source, "source")
    mosaic_gpu.async_prefetch(
        window.base,
        _bulk_indices(window),
        window.lengths(),
        predicate=_optional(predicate),
        collective=_dimensions(collective),
    )


def async_store(
    source: Array,
    destination: Array,
    *,
    predicate: Scalar | bool | None = None,
    reduction: Reduction | None = None,
    commit: bool = True,
) -> None:
    """Starts a bulk copy (TMA) of shared memory to a window of an array. NVIDIA only.

    Elements outside of the array are not written. Call `fence_async_shared` and `sync` after the stores to the source and
    before the copy, and `async_wait_stores` before the source is written again, and at the end of the kernel. `reduction`
    combines the elements with those of the array. With `commit=False`, the next copy's group includes this one.

    Example: `sb.async_store(buffer, y.at[i : i + 64, :])`.
    """
    buffer, window = _operands(source, destination, ("shared", "global"))
    _check_equal(buffer, window)
    mosaic_gpu.async_store(
        buffer.value,
        window.base,
        _bulk_indices(window),
        window.lengths(),
        predicate=_optional(predicate),
        commit_group=commit,
        reduction_op=member(mosaic_gpu.TMAReduction, "reduction", reduction),
    )


def async_wait_stores(pending: int = 0, read_only: bool = False) -> None:
    """Waits until at most the `pending` newest groups of `async_store` are in flight.

    With `read_only`, it waits until the sources have been read: then they may be written again.
    """
    nvvm.cp_async_bulk_wait_group(pending, read=read_only or None)


def async_store_shared(
    value: Tile, destination: Memory, barrier: Barrier, block: Any, axis: Axis = "x", atomic: AtomicStore | None = None
) -> None:
    """Starts a store of a tile to the shared memory of another block of the cluster: number `block` along `axis`.

    `destination` and `barrier` are of this block. The store uses the same addresses in the other block, whose barrier counts
    the bytes. NVIDIA since sm_90.
    """
    if value.shape != destination.shape or value.dtype != destination.dtype:
        raise Misuse(
            f"the value is {value:a}, but the destination is {destination}; shape and element type must be equal"
        )
    mosaic_gpu.async_store_smem(
        value.value,
        destination.value,
        barrier.value,
        member(mosaic_gpu.Dimension, "axis", axis),
        i32(block),
        atomic_type=member(mosaic_gpu.AtomicOpType, "atomic", atomic),
    )
