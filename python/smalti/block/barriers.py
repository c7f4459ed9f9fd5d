# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers in shared memory (mbarriers), block barriers and fences."""

from __future__ import annotations

from typing import Any

from .. import ir
from ..diagnostics import counted
from ..dialects import arith, gpu, llvm, memref, mosaic_gpu, nvvm
from ..language.arithmetic import Operand, bits, compare, to_scalar
from ..language.types import Misuse, boolean, index, mlir_type
from ..language.values import Scalar, Value
from .memory import SHARED, Memory, i32
from .state import current

BARRIER_BYTES = 8


class Barrier:
    """A barrier in shared memory (mbarrier), from `sb.barrier` or an element of `sb.barriers`. NVIDIA only.

    A phase of the barrier completes after its number of arrivals, and after the bytes that it expects. A thread group counts
    as one arrival.
    """

    def __init__(self, value: ir.Value, orders_tensor_core: bool) -> None:
        self.value = value
        self._orders_tensor_core = orders_tensor_core

    def with_value(self, value: ir.Value) -> Barrier:
        """The same barrier as another value: the argument of a region."""
        return Barrier(value, self._orders_tensor_core)

    def arrive(self) -> None:
        """Counts one arrival of the thread group (of the warp in `sb.warp_map`).

        Accesses before it happen before the accesses after a wait for the phase.
        """
        mosaic_gpu.arrive(self.value, orders_tensor_core=self._orders_tensor_core)

    def arrive_expect_tx(self, num_bytes: int | Scalar) -> None:
        """Counts one arrival, and adds bytes that the phase expects from `async_load`.

        Example: `full.arrive_expect_tx(tile.num_bytes)`.
        """
        if isinstance(num_bytes, Value):
            mosaic_gpu.arrive_expect_tx(self.value, dynamic_expect_tx=i32(num_bytes))
        else:
            mosaic_gpu.arrive_expect_tx(self.value, expect_tx=num_bytes)

    def wait(self, phase: Operand) -> None:
        """Waits until the phase with this number is complete. Only the parity of the number matters: phases are 0, 1, 2 ...

        A wait for a later phase than the next one returns too early; the simulator reports it.
        """
        if isinstance(phase, int):
            parity = to_scalar(bool(phase & 1), boolean)
        else:
            number = to_scalar(phase)
            parity = number if number.dtype == boolean else to_scalar(compare("ne", bits("and", number, 1), 0))
        mosaic_gpu.wait(self.value, parity.value)

    def __repr__(self) -> str:
        return "barrier"


class Barriers:
    """Consecutive barriers of equal number of arrivals. `b[i]` is a `Barrier`; `i` is a number or a scalar."""

    def __init__(self, base: ir.Value, count: int, orders_tensor_core: bool) -> None:
        self._base = base
        self._count = count
        self._orders_tensor_core = orders_tensor_core

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int | Scalar) -> Barrier:
        if isinstance(number, int) and not 0 <= number < self._count:
            raise Misuse(f"barrier {number} does not exist; sb.barriers created {self._count}, counted from 0")
        return Barrier(_element(self._base, number), self._orders_tensor_core)

    def __iter__(self) -> Any:
        return (self[number] for number in range(self._count))

    def __repr__(self) -> str:
        return counted(self._count, "barrier")


def _element(base: ir.Value, number: int | Scalar) -> ir.Value:
    given = ir.MemRefType(base.type)
    is_static = isinstance(number, int)
    offset = number if is_static else ir.ShapedType.get_dynamic_stride_or_offset()
    ty = ir.MemRefType.get([], given.element_type, ir.StridedLayoutAttr.get(offset, []), given.memory_space)
    dynamic = [] if is_static else [to_scalar(number, index).value]
    static = number if is_static else ir.ShapedType.get_dynamic_size()
    return memref.SubViewOp(ty, base, dynamic, [], [], [static], [1], [1]).result


def barriers(count: int, arrivals: int = 1, orders_tensor_core: bool = False) -> Barriers:
    """`count` initialized barriers in shared memory. A phase completes after `arrivals` arrivals of thread groups.

    Call it at the start of the kernel, and `sb.sync()` after it, before another thread uses the barriers.
    `orders_tensor_core`: arrivals and waits also order asynchronous operations of the tensor core (tcgen05).
    """
    for what, number in (("count", count), ("arrivals", arrivals)):
        if not isinstance(number, int) or number < 1:
            raise Misuse(f"{what} is {number!r}, but must be a positive constant")
    offset = current().allocate(BARRIER_BYTES * count, BARRIER_BYTES)
    kind = "!mosaic_gpu.barrier<orders_tensor_core = true>" if orders_tensor_core else "!mosaic_gpu.barrier"
    base = mosaic_gpu.slice_smem(ir.Type.parse(f"memref<{count}x{kind}, {SHARED}>"), offset)
    pointer = ir.Type.parse("!llvm.ptr<3>")
    i64 = ir.IntegerType.get_signless(64)
    address = arith.index_cast(i64, memref.extract_aligned_pointer_as_index(base))
    mosaic_gpu.initialize_barrier(
        llvm.inttoptr(pointer, address), arrivals, count, orders_tensor_core=orders_tensor_core
    )
    nvvm.fence_mbarrier_init()
    return Barriers(base, count, orders_tensor_core)


def barrier(arrivals: int = 1, orders_tensor_core: bool = False) -> Barrier:
    """One initialized barrier; see `barriers`."""
    return barriers(1, arrivals, orders_tensor_core)[0]


def sync() -> None:
    """Waits for all threads of the block. Their accesses to memory before it happen before the accesses after it."""
    gpu.barrier()


def sync_group() -> None:
    """Waits for all threads of the thread group. NVIDIA only.

    Their accesses to memory before it happen before the accesses after it. Other thread groups do not participate.
    """
    launch = current().launch
    if launch.thread_groups == 1:
        sync()
        return
    i = ir.IntegerType.get_signless(32)
    # Barrier 0 is that of the block, as in the barriers that the lowering creates.
    number = arith.addi(group_index_i32(), arith.constant(i, 1))
    nvvm.barrier(None, barrier_id=number, number_of_threads=arith.constant(i, launch.group_size))


def group_index_i32() -> ir.Value:
    """The number of the thread group, which is uniform in a warp."""
    launch = current().launch
    i = ir.IntegerType.get_signless(32)
    thread = arith.index_cast(i, gpu.thread_id(gpu.Dimension.x))
    number = arith.divui(thread, arith.constant(i, launch.group_size))
    if launch.target.vendor != "nvidia":
        return number
    # The compiler does not know that the number is uniform.
    mask, zero, last = (arith.constant(i, n) for n in (-1, 0, 31))
    return nvvm.shfl_sync(i, mask, number, zero, last, nvvm.ShflKind.idx)


def fence_async_shared() -> None:
    """Orders the thread's stores to shared memory before later accesses by bulk copies, `wgmma` and `tcgen05`. NVIDIA only.

    Call it after the stores and before the `sync` that precedes the asynchronous operation.
    """
    nvvm.fence_proxy(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)


def cluster_arrive(relaxed: bool = False) -> None:
    """Arrives at the barrier of the cluster. A relaxed arrival orders only the initialization of barriers."""
    if relaxed:
        nvvm.cluster_arrive_relaxed(aligned=True)
    else:
        nvvm.cluster_arrive(aligned=True)


def cluster_wait() -> None:
    """Waits until all threads of the cluster have arrived."""
    nvvm.cluster_wait(aligned=True)


def cluster_sync() -> None:
    """Waits for all threads of all blocks of the cluster. A block must not exit while another one accesses its memory."""
    cluster_arrive()
    cluster_wait()


def tcgen05_commit_arrive(barrier: Barrier, collective: bool = False) -> None:
    """Arrives on a barrier when the tensor core operations that this warp has issued are complete (Blackwell).

    With `collective`, it arrives on the barriers of both blocks of a pair.
    """
    mosaic_gpu.tcgen05_commit_arrive(barrier.value, collective=collective)


def try_cluster_cancel(response: Memory, barrier: Barrier, predicate: Scalar | None = None) -> None:
    """Requests the cancellation of a cluster that is not launched yet (Blackwell).

    `response` is shared memory of 16 `int8` elements. The phase of the barrier must expect 16 bytes; after its completion,
    `query_cluster_cancel` decodes the response. If `predicate` is false, no request is sent.
    """
    given = None if predicate is None else to_scalar(predicate, boolean).value
    mosaic_gpu.try_cluster_cancel(response.value, barrier.value, predicate=given)


def query_cluster_cancel(response: Memory) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The response to `try_cluster_cancel`: the first block `x, y, z` of the canceled cluster, and whether one was."""
    i, flag = mlir_type(index), ir.IntegerType.get_signless(1)
    word = ir.IntegerType.get_signless(32)
    *numbers, success = mosaic_gpu.query_cluster_cancel(response.value, results=[word, word, word, flag])
    x, y, z = (Scalar(arith.index_cast(i, number), index) for number in numbers)
    return x, y, z, Scalar(success, boolean)
