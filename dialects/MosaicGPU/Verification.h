//===- Verification.h - What verifiers of ops share -----------------------===//
//
// For the dialect's own sources.
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

/// Checks the layout and transform attributes of an op: entries and counts,
/// shapes, and that all tiled layouts are spread over as many warps and lanes.
mlir::LogicalResult verifyLayouts(mlir::Operation *op);

/// Bytes that an element takes in memory and is aligned to; 0 where there is no
/// such number.
int64_t getElementBytes(mlir::Type type);
/// Whether copies move elements of this type.
bool isCopied(mlir::Type type);

/// That the memory which an op calls `name` is where it must be.
mlir::LogicalResult verifyInGlobal(mlir::Operation *op, llvm::StringRef name,
                                   mlir::MemRefType type);
mlir::LogicalResult verifyInShared(mlir::Operation *op, llvm::StringRef name,
                                   mlir::MemRefType type);
mlir::LogicalResult verifyInTMEM(mlir::Operation *op, llvm::StringRef name,
                                 mlir::MemRefType type);
/// One barrier is a rank-0 memref in shared memory.
mlir::LogicalResult verifyBarrier(mlir::Operation *op, mlir::Value barrier);
/// That source and destination have one element type.
mlir::LogicalResult verifySameElements(mlir::Operation *op, mlir::Type source,
                                       mlir::Type destination);

/// The vector of all elements of a memref; null where there is none, with the
/// reason.
mlir::VectorType getVectorOf(mlir::MemRefType type, std::string &reason);

/// The chip that the module of an op names, or null where it names none or one
/// that is not known.
const targets::Target *getTarget(mlir::Operation *op);

} // namespace smalti::mosaic_gpu

#endif // SMALTI_DIALECTS_MOSAICGPU_VERIFICATION_H
