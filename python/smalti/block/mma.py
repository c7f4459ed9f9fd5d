# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of block-level kernels: MMAs of registers, `wgmma` and `tcgen05`."""

from __future__ import annotations

from typing import Any

from ..dialects import mosaic_gpu, nvvm
from ..language.arithmetic import to_scalar
from ..language.shapes import full
from ..language.types import DType, Misuse, boolean, float32, float64, int32, is_float
from ..language.values import Scalar, Tile
from .memory import Memory


def _matmul(acc: Any, a: Any, b: Any) -> tuple[int, int]:
    """The shape of the result. Raises Misuse if the operands do not match."""
    for name, operand in (("A", a), ("B", b)):
        if operand.ndim != 2:
            raise Misuse(f"operand {name} has shape {operand.shape}, but must have 2 dimensions")
    if a.shape[1] != b.shape[0]:
        raise Misuse(
            f"shapes {a.shape} and {b.shape} do not match: the operands have K = {a.shape[1]} and {b.shape[0]}",
            "transpose an operand with .T",
        )
    shape = (a.shape[0], b.shape[1])
    if acc is not None and acc.shape != shape:
        raise Misuse(f"the accumulator has shape {acc.shape}, but the result {shape}")
    return shape


def _accumulator(acc: Tile | None, dtype: DType, shape: tuple[int, int]) -> Tile:
    if acc is not None:
        return acc
    wanted = float64 if dtype == float64 else float32 if is_float(dtype) else int32
    return full(shape, 0, wanted)


def _is_unsigned(operand: Tile | Memory) -> bool | None:
    return True if operand.dtype.kind == "u" else None


def mma(a: Tile, b: Tile, acc: Tile | None = None, allow_tf32: bool = False) -> Tile:
    """The matmul `acc + a @ b` of tiles in registers, by the MMA instruction of the chip (`mma.sync`, MFMA, WMMA).

    Operands have shapes (M, K) and (K, N), and one element type. The accumulator is float32 (default: zeros), float16 for
    float16 operands on request, float64 for float64, and int32 for int8. `allow_tf32` permits the rounding of float32
    operands. Example: `acc = sb.mma(a[:, :], b[:, :], acc)`.
    """
    for name, operand in (("A", a), ("B", b)):
        if not isinstance(operand, Tile):
            raise Misuse(f"operand {name} is {operand!r}, but must be a tile", "load it: m[:, :]")
    shape = _matmul(acc, a, b)
    start = _accumulator(acc, a.dtype, shape)
    result = mosaic_gpu.mma(
        start.value,
        a.value,
        b.value,
        allow_tf32=allow_tf32 or None,
        unsigned_a=_is_unsigned(a),
        unsigned_b=_is_unsigned(b),
        results=[start.value.type],
    )
    return Tile(result, start.dtype)


def wgmma(a: Tile | Memory, b: Memory, acc: Tile | None = None) -> Tile:
    """Starts the matmul `acc + a @ b` of a warpgroup, with `b` in shared memory, and `a` in shared memory or registers (sm_90a).

    M is a multiple of 64. The result is available, and the operands may be written again, after `wgmma_commit` and
    `wgmma_wait`. The accumulator is float32 (default: zeros), float16 for float16 operands on request, and int32 for int8.
    Transposed operands are `m.T`.

    Example: `acc = sb.wgmma(a.at[slot], b.at[slot], acc)`.
    """
    if not isinstance(b, Memory) or b.space != "shared":
        raise Misuse(f"operand B is {b!r}, but must be in shared memory", "store it to sb.shared(...) first")
    shape = _matmul(acc, a, b)
    start = _accumulator(acc, a.dtype, shape)
    if acc is None:
        # The zeros are written to registers here.
        wgmma_fence()
    result = mosaic_gpu.wgmma(
        start.value,
        a.value,
        b.value,
        unsigned_a=_is_unsigned(a),
        unsigned_b=_is_unsigned(b),
        results=[start.value.type],
    )
    return Tile(result, start.dtype)


def wgmma_fence() -> None:
    """Orders the computation of accumulators and of operands in registers before later `wgmma` operations."""
    nvvm.wgmma_fence_aligned()


def wgmma_commit() -> None:
    """Commits the `wgmma` operations since the last commit to one group."""
    nvvm.wgmma_commit_group_sync_aligned()


def wgmma_wait(pending: int = 0) -> None:
    """Waits until at most the `pending` newest groups of `wgmma` operations are in flight."""
    nvvm.wgmma_wait_group_sync_aligned(pending)


def tcgen05_mma(
    acc: Memory,
    a: Memory,
    b: Memory,
    accumulate: Scalar | bool = True,
    a_scale: Memory | None = None,
    b_scale: Memory | None = None,
    a_sparse_metadata: Memory | None = None,
    collective: bool = False,
) -> None:
    """Starts the matmul `acc = a @ b`, plus the previous `acc` if `accumulate` (Blackwell; only the simulator executes it).

    `acc` is in tensor memory, `b` in shared memory, and `a` in either. `a_scale` and `b_scale` are block scales, and
    `a_sparse_metadata` the positions of a 2:4 sparse `a`, all in tensor memory. With `collective`, two blocks compute the
    matmul together, each with half of the columns of `b`. `tcgen05_commit_arrive` arrives on a barrier when it is complete.
    """

    def value(memory: Memory | None) -> Any:
        return None if memory is None else memory.value

    mosaic_gpu.tcgen05_mma(
        acc.value,
        a.value,
        b.value,
        to_scalar(accumulate, boolean).value,
        a_scale=value(a_scale),
        b_scale=value(b_scale),
        a_sparse_metadata=value(a_sparse_metadata),
        collective=collective,
    )
