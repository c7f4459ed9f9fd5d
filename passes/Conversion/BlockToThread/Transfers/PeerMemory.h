//===- PeerMemory.h - Shared memory of other blocks -------------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PEERMEMORY_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PEERMEMORY_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

namespace smalti::mosaic_gpu {
class GetClusterRefOp;
} // namespace smalti::mosaic_gpu

namespace smalti::block_to_thread {

/// The most bytes that a barrier counts to.
inline constexpr int64_t kMostBarrierBytes = (1 << 20) - 1;

/// The op that made of this block's memory the other block's that a memref is a
/// view of; null where that is not known.
mosaic_gpu::GetClusterRefOp findClusterRef(mlir::Value memref);

/// A pointer to the shared memory of the block that a memref of another block's
/// memory is in.
mlir::Value emitPeerBase(mlir::Value memref, Emitter &emitter,
                         mlir::OpBuilder &builder);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PEERMEMORY_H
