//===- ConstantBounds.h - Bounds of values, from near by --------*- C++ -*-===//
//
// Upstream's analysis of bounds goes back as far as the program does, for each
// value again. What it finds further away than a few values is seldom a bound,
// and the time would grow with the square of the program.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_CONSTANTBOUNDS_H
#define SMALTI_PASSES_PADLOWERING_CONSTANTBOUNDS_H

#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace smalti {

/// The constant bound (upper ones are closed) of an index, or of the size of a
/// dimension, by the values that it is made of; at most 16 are looked at.
llvm::FailureOr<int64_t>
findConstantBound(mlir::presburger::BoundType type,
                  const mlir::ValueBoundsConstraintSet::Variable &variable);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_CONSTANTBOUNDS_H
