//===- CPULoops.h - Vectorized loops over buffers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that convert-triton-xla-to-cpu emits after bufferization: copies
// between a buffer and a window of a memref, matmuls, and element-wise loops.
// The code size does not depend on the tile size.
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

/// Upper bound of a dynamic trip count, on a loop (i64).
inline constexpr llvm::StringLiteral kMaxTripCountAttr =
    "smalti.max_trip_count";

/// On a cf.assert that compares an index and a size, the dimension (i64).
inline constexpr llvm::StringLiteral kIndexCheck = "smalti.index_check";

/// On the cf.assert of a triton_xla.assert, the shape of its condition
/// (array<i64>). For several elements, the cf.assert compares for equality the
/// row-major position of the first element that is false and the number of
/// elements.
inline constexpr llvm::StringLiteral kAssertShape = "smalti.assert_shape";

/// A window of a memref (see triton_xla.extract) and the buffer of its tile.
struct WindowCopy {
  mlir::Value memref;
  mlir::SmallVector<mlir::OpFoldResult> offsets;
  mlir::ArrayRef<int64_t> sizes;
  mlir::ArrayRef<int64_t> strides;
  llvm::SmallBitVector droppedDims;
  mlir::Value buffer;
};

/// Emits loops that copy the in-bounds elements of the window from the memref
/// to the buffer, with `fill` for other elements, or, if `fill` is null, from
/// the buffer to the memref.
void emitWindowCopy(mlir::OpBuilder &builder, mlir::Location loc,
                    const WindowCopy &copy, mlir::TypedAttr fill,
                    int64_t vectorBits);

/// Lowers a linalg op on statically shaped buffers to loops: a matmul to a
/// register-tiled kernel on packed operands, an element-wise op to vectorized
/// loops, any other op to scalar loops. Fails without changes if the op cannot
/// be lowered to loops.
llvm::LogicalResult lowerLinalgToVectorLoops(mlir::RewriterBase &rewriter,
                                             mlir::linalg::LinalgOp op,
                                             int64_t vectorBits);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPULOOPS_H
