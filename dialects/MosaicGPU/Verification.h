//===- Verification.h - Shared checks of op verifiers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private header of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_VERIFICATION_H
#define SMALTI_DIALECTS_MOSAICGPU_VERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::mosaic_gpu {

/// Checks the layout and transform attributes of an op: the entries, their
/// number and shapes, and that all tiled layouts have the same number of warps
/// and lanes.
mlir::LogicalResult verifyLayouts(mlir::Operation *op);

/// Size and alignment of an element in memory, in bytes; 0 if the type does not
/// have a fixed size.
int64_t getElementBytes(mlir::Type type);
/// Whether copies support elements of this type.
bool isCopied(mlir::Type type);

/// Checks the memory space of the operand or result that messages call `name`.
mlir::LogicalResult verifyInGlobal(mlir::Operation *op, llvm::StringRef name,
                                   mlir::MemRefType type);
mlir::LogicalResult verifyInShared(mlir::Operation *op, llvm::StringRef name,
                                   mlir::MemRefType type);
mlir::LogicalResult verifyInTMEM(mlir::Operation *op, llvm::StringRef name,
                                 mlir::MemRefType type);
/// Checks that a barrier is a rank-0 memref in shared memory.
mlir::LogicalResult verifyBarrier(mlir::Operation *op, mlir::Value barrier);
/// Checks that source and destination have the same element type.
mlir::LogicalResult verifySameElements(mlir::Operation *op, mlir::Type source,
                                       mlir::Type destination);

/// The type of the vector of all elements of a memref; null and the reason if
/// that type does not exist.
mlir::VectorType getVectorOf(mlir::MemRefType type, std::string &reason);

/// The target of the compute capability that the module of an op states, or
/// null if the module states none or the target is not in the table.
const targets::Target *getTarget(mlir::Operation *op);

} // namespace smalti::mosaic_gpu

#endif // SMALTI_DIALECTS_MOSAICGPU_VERIFICATION_H
