//===- ConstantBounds.cpp - Bounds of values, from near by ----------------===//

#include "passes/PadLowering/ConstantBounds.h"

using namespace mlir;

static constexpr unsigned kMostValues = 16;

FailureOr<int64_t>
smalti::findConstantBound(presburger::BoundType type,
                          const ValueBoundsConstraintSet::Variable &variable) {
  unsigned seen = 0;
  auto isFar = [&](Value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
    return ++seen > kMostValues;
  };
  return ValueBoundsConstraintSet::computeConstantBound(type, variable, isFar,
                                                        /*closedUB=*/true);
}
