//===- PeerMemory.h - Shared memory of other blocks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PEERMEMORY_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PEERMEMORY_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

namespace smalti::mosaic_gpu {
class GetClusterRefOp;
} // namespace smalti::mosaic_gpu

namespace smalti::block_to_thread {

/// The maximum bytes that an mbarrier phase counts.
inline constexpr int64_t kMaxMbarrierBytes = (1 << 20) - 1;

/// The op that maps shared memory of this block to that of another block, which
/// a memref views; null if unknown.
mosaic_gpu::GetClusterRefOp findClusterRef(mlir::Value memref);

/// A pointer to the shared memory of the block that holds a memref of another
/// block.
mlir::Value emitPeerBase(mlir::Value memref, Emitter &emitter,
                         mlir::OpBuilder &builder);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PEERMEMORY_H
