//===- Verification.h - Shared checks of op verifiers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private header of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_TRITONXLA_VERIFICATION_H
#define SMALTI_DIALECTS_TRITONXLA_VERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace smalti::triton_xla {

/// Checks that a tile and a result have the same element type.
mlir::LogicalResult verifySameElements(mlir::Operation *op,
                                       mlir::RankedTensorType tile,
                                       mlir::RankedTensorType result);
/// Checks that `dim` is a dimension of the tile.
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim,
                              mlir::RankedTensorType tile);
/// Checks that `dims` is strictly increasing and in [0, rank) of the tile that
/// messages call `owner`.
mlir::LogicalResult verifyDims(mlir::Operation *op,
                               llvm::ArrayRef<int64_t> dims, int64_t rank,
                               llvm::StringRef owner);
/// Checks the region of `op`: its arguments, the values that it yields, and
/// that it has only scalar ops without side effects.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op,
                                       mlir::Region &region,
                                       mlir::TypeRange arguments,
                                       mlir::TypeRange results);

} // namespace smalti::triton_xla

#endif // SMALTI_DIALECTS_TRITONXLA_VERIFICATION_H
