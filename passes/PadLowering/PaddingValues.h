//===- PaddingValues.h - Padding values neutral to a reduction --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction may have added iterations if they do not change the accumulator.
// This file finds padding values of the operands for which that holds, by
// evaluating the body of the op: the term that is combined with the accumulator
// must be the identity of the combining op, for all values of unpadded
// operands.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_PADDINGVALUES_H
#define SMALTI_PASSES_PADLOWERING_PADDINGVALUES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace smalti {

/// The padding value of one operand: a constant, or a zero point (a scalar or a
/// tensor of rank 0) truncated to the element width.
struct PaddingValue {
  mlir::TypedAttr constant;
  mlir::Value zeroPoint;
};

/// Returns a reason if the body of `op` must not be executed with padding
/// values, since it may trap or access memory.
std::optional<std::string> checkSpeculatable(mlir::linalg::LinalgOp op);

/// Finds the padding value of each input of `op` that `reduced` marks as padded
/// along a reduction; the entries of other inputs are empty. Returns a reason
/// if none is found. With `zeroPointsInRange`, every zero point is assumed to
/// be representable in the element type.
std::optional<std::string>
findPaddingValues(mlir::linalg::LinalgOp op, llvm::ArrayRef<bool> reduced,
                  bool zeroPointsInRange,
                  llvm::SmallVectorImpl<PaddingValue> &values);

/// The value, of type `element`, for use at the builder's insertion point.
mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                        const PaddingValue &value, mlir::Type element);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_PADDINGVALUES_H
