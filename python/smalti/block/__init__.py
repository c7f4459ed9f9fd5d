# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for block-level kernels in Python: `import smalti.block as sb`.

A kernel with `@smalti.kernel(level="block")` describes one thread block: shared memory, barriers, copies and MMAs. Register
tiles have the operators and functions of `smalti.language`. docs/block-kernels.md describes the language.
"""

from __future__ import annotations

from .barriers import (
    Barrier,
    Barriers,
    barrier,
    barriers,
    cluster_arrive,
    cluster_sync,
    cluster_wait,
    fence_async_shared,
    query_cluster_cancel,
    sync,
    sync_group,
    tcgen05_commit_arrive,
    try_cluster_cancel,
)
from .copies import (
    async_commit_group,
    async_copy,
    async_load,
    async_prefetch,
    async_store,
    async_store_shared,
    async_wait_group,
    async_wait_stores,
)
from .kernel import BlockKernel
from .layouts import layout_cast
from .memory import Memory, shared
from .mma import mma, tcgen05_mma, wgmma, wgmma_commit, wgmma_fence, wgmma_wait
from .registers import atomic_cas, atomic_rmw, debug_print, optimization_barrier, print_layout
from .tensor_memory import (
    TensorMemory,
    async_copy_to_tensor,
    async_load_tensor,
    tcgen05_fence_after,
    tcgen05_fence_before,
    tcgen05_wait_loads,
    tcgen05_wait_stores,
    tensor_memory,
    tensor_memory_free,
    tensor_memory_relinquish,
)
from .threads import (
    block_id,
    cluster_block_id,
    custom_primitive,
    num_blocks,
    set_max_registers,
    thread_group,
    warp_map,
)

__all__ = [
    "Barrier",
    "Barriers",
    "BlockKernel",
    "Memory",
    "TensorMemory",
    "async_commit_group",
    "async_copy",
    "async_copy_to_tensor",
    "async_load",
    "async_load_tensor",
    "async_prefetch",
    "async_store",
    "async_store_shared",
    "async_wait_group",
    "async_wait_stores",
    "atomic_cas",
    "atomic_rmw",
    "barrier",
    "barriers",
    "block_id",
    "cluster_arrive",
    "cluster_block_id",
    "cluster_sync",
    "cluster_wait",
    "custom_primitive",
    "debug_print",
    "fence_async_shared",
    "layout_cast",
    "mma",
    "num_blocks",
    "optimization_barrier",
    "print_layout",
    "query_cluster_cancel",
    "set_max_registers",
    "shared",
    "sync",
    "sync_group",
    "tcgen05_commit_arrive",
    "tcgen05_fence_after",
    "tcgen05_fence_before",
    "tcgen05_mma",
    "tcgen05_wait_loads",
    "tcgen05_wait_stores",
    "tensor_memory",
    "tensor_memory_free",
    "tensor_memory_relinquish",
    "thread_group",
    "try_cluster_cancel",
    "warp_map",
    "wgmma",
    "wgmma_commit",
    "wgmma_fence",
    "wgmma_wait",
]
