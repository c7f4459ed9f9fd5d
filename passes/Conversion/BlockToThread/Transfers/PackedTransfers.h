//===- PackedTransfers.h - Transfers of sub-byte elements -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PACKEDTRANSFERS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PACKEDTRANSFERS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/targets/Target.h"

namespace smalti::block_to_thread {

/// Whether a value is a memref in global memory whose elements share bytes, the
/// first in the low bits.
bool isPackedGlobal(mlir::Value memref);

/// Plans a vector_load, a vector_store or a transfer of this memory. If a byte
/// may be partly out of bounds or belong to several threads, each element is
/// accessed alone.
mlir::LogicalResult planPackedLoad(mlir::Operation *op, Planner &planner);
mlir::LogicalResult planPackedStore(mlir::Operation *op, Planner &planner);
void emitPackedLoad(mlir::Operation *op, Emitter &emitter,
                    mlir::OpBuilder &builder);
void emitPackedStore(mlir::Operation *op, Emitter &emitter,
                     mlir::OpBuilder &builder);

struct PackedElement {
  /// The byte of the element.
  mlir::Value pointer;
  /// The lowest bit of the element in the byte: i8.
  mlir::Value shift;
};
PackedElement getPackedElement(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value memref, mlir::ValueRange indices);

/// An element of this memory: a vector of one element. A store updates the byte
/// atomically.
mlir::Value loadPackedElement(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value memref, mlir::ValueRange indices);
void storePackedElement(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value memref, mlir::ValueRange indices,
                        mlir::Value stored, targets::Vendor vendor);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PACKEDTRANSFERS_H
