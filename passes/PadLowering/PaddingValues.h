//===- PaddingValues.h - Values that a reduction does not see ---*- C++ -*-===//
//
// A structured op may run over more of a reduction's dimension than there is,
// if every iteration too many leaves the accumulator as it is. Which padding
// values of the operands do that is found here, by evaluating the op's body:
// the term that it combines with the accumulator must come out as the neutral
// element of the combining op, whatever the operands without padding hold.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_PADDINGVALUES_H
#define SMALTI_PASSES_PADLOWERING_PADDINGVALUES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace smalti {

/// What the padding of one operand holds: a constant, or a zero point, a
/// number or a tensor of one, cut to the width of the elements.
struct PaddingValue {
  mlir::TypedAttr constant;
  mlir::Value zeroPoint;
};

/// Why the body of `op` must not be executed with padding values, if so: it may
/// trap, or touch memory.
std::optional<std::string> whyNotSpeculatable(mlir::linalg::LinalgOp op);

/// For each input of `op` that `reduced` marks as padded along a reduction's
/// dimension, the value to pad it with; the entries of other inputs are empty.
/// Otherwise the reason why there is none. `zeroPointsInRange` says that every
/// zero point is a number of the elements' own type.
std::optional<std::string>
findPaddingValues(mlir::linalg::LinalgOp op, llvm::ArrayRef<bool> reduced,
                  bool zeroPointsInRange,
                  llvm::SmallVectorImpl<PaddingValue> &values);

/// The value, of type `element`, for use at the builder's insertion point.
mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                        const PaddingValue &value, mlir::Type element);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_PADDINGVALUES_H
