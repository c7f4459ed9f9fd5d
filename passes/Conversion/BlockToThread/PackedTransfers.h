//===- PackedTransfers.h - Elements that share bytes ------------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_PACKEDTRANSFERS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_PACKEDTRANSFERS_H

#include "passes/Conversion/BlockToThread/Emitter.h"

namespace smalti::block_to_thread {

/// Whether a memref is of global memory and several of its elements share a
/// byte, the first in its low bits.
bool isPackedGlobal(mlir::Value memref);

/// Of a vector_load or a vector_store of such memory: a register must be whole
/// bytes of one row.
mlir::LogicalResult planPacked(mlir::Operation *op, mlir::Value memref,
                               mlir::Value vector, Planner &planner);
Registers emitPackedLoad(mlir::Operation *op, mlir::Value memref,
                         mlir::VectorType type, Emitter &emitter,
                         mlir::OpBuilder &builder);
void emitPackedStore(mlir::Operation *op, mlir::Value memref,
                     mlir::Value vector, Emitter &emitter,
                     mlir::OpBuilder &builder);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_PACKEDTRANSFERS_H
