//===- CPULoops.h - Vectorised loops over buffers ---------------*- C++ -*-===//
//
// What convert-triton-xla-to-cpu writes for its three kinds of work once tiles
// are buffers: copies between a buffer and a window of memory, matrix products,
// and element-wise loops. Code size does not depend on the tile's size.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPULOOPS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPULOOPS_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class OpBuilder;
class RewriterBase;
namespace linalg {
class LinalgOp;
} // namespace linalg
} // namespace mlir

namespace smalti {

/// On a loop with a dynamic trip count: the most iterations, as an i64.
inline constexpr llvm::StringLiteral kMostIterationsAttr =
    "smalti.most_iterations";

/// A window of a memref (see triton_xla.extract) and the buffer of its tile.
struct WindowCopy {
  mlir::Value memref;
  mlir::SmallVector<mlir::OpFoldResult> offsets;
  mlir::ArrayRef<int64_t> sizes;
  mlir::ArrayRef<int64_t> strides;
  llvm::SmallBitVector droppedDims;
  mlir::Value buffer;
};

/// Loops that copy the lanes of the window that lie in the memref: from the
/// memref to the buffer (`fill` goes to all other lanes), or, with a null
/// `fill`, from the buffer to the memref.
void emitWindowCopy(mlir::OpBuilder &builder, mlir::Location loc,
                    const WindowCopy &copy, mlir::TypedAttr fill,
                    int64_t vectorBits);

/// Replaces a linalg op on statically shaped buffers by loops: matrix products
/// by a register-tiled kernel on packed operands, element-wise ops by loops of
/// vectors, everything else by scalar loops. Fails, and changes nothing, on an
/// op that has no loops.
llvm::LogicalResult lowerLinalgToVectorLoops(mlir::RewriterBase &rewriter,
                                             mlir::linalg::LinalgOp op,
                                             int64_t vectorBits);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPULOOPS_H
