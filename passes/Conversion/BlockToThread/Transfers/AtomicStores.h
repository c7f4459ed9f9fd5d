//===- AtomicStores.h - Atomic stores ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_ATOMICSTORES_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_ATOMICSTORES_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <optional>

namespace smalti::mosaic_gpu {
class VectorStoreOp;
} // namespace smalti::mosaic_gpu

namespace smalti::block_to_thread {

class Emitter;
class Planner;

/// How a store combines elements with those in memory; nothing after an error
/// at the op.
std::optional<mlir::LLVM::AtomicBinOp>
getAtomicKind(mosaic_gpu::VectorStoreOp op, Planner &planner);

/// How a splat is distributed across the threads, so each element is combined
/// once; nothing after an error at the op.
std::optional<Distribution> distributeSplat(mosaic_gpu::VectorStoreOp op,
                                            Planner &planner);

/// Plans a store to global memory.
mlir::LogicalResult planAtomic(mosaic_gpu::VectorStoreOp op,
                               mlir::LLVM::AtomicBinOp kind, Planner &planner);
void emitAtomic(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
                mlir::OpBuilder &builder);

/// Combines the elements of a vector with those that follow one another in the
/// block's shared memory.
void emitAtomics(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::LLVM::AtomicBinOp kind, mlir::Value address,
                 mlir::Value vector);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_ATOMICSTORES_H
