//===- IndexedAccess.h - Accesses of memory at index vectors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers, scatters and atomic operations: each thread accesses memory for the
// elements that it holds, one at a time.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_INDEXEDACCESS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_INDEXEDACCESS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

class Planner;

/// Checks the memory and the indices of an op, and sets the distribution of its
/// result: that of the operands, which must be equal except for splats.
mlir::LogicalResult planIndexed(mlir::Operation *op, mlir::Value memref,
                                mlir::Value indices, Planner &planner,
                                bool mayShareBytes = false);

/// The distribution that the result or the operands of a planned op have.
const Distribution &findIndexedDistribution(
    mlir::Operation *op,
    llvm::function_ref<const Distribution *(mlir::Value)> find);

/// The element of a register as a scalar.
mlir::Value getElement(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value reg, int64_t element);
/// An element of an index vector, an index; integers are signed.
mlir::Value getIndexElement(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value reg, int64_t element);

/// Whether barriers of the thread group order a write to this memory.
bool isOrderedWrite(mlir::Value memref, const KernelPlan &plan);
/// Reports an error at the op if its write requires these barriers and the
/// kernel cannot have them.
mlir::LogicalResult checkOrderedWrite(mlir::Operation *op, mlir::Value memref,
                                      Planner &planner);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_INDEXEDACCESS_H
