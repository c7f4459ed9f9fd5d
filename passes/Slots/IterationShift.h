//===- IterationShift.h - Slots of earlier and later iterations -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SLOTS_ITERATIONSHIFT_H
#define SMALTI_PASSES_SLOTS_ITERATIONSHIFT_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace mlir {
class Value;
namespace scf {
class ForOp;
} // namespace scf
} // namespace mlir

namespace smalti {

/// If `value` is (iteration number + s) mod `depth`: s, from 0 to `depth - 1`.
/// This is the slot of the iteration s later. The match looks through
/// constants, sums with multiples of the step, affine.apply and masks.
std::optional<int64_t> matchSlotShift(mlir::Value value, mlir::scf::ForOp loop,
                                      int64_t depth);

/// The same after `loop`: s if `value` is (trip count + s) mod `depth`. An
/// scf.if around the loop must prove that the trip count is not negative.
std::optional<int64_t>
matchFinalSlotShift(mlir::Value value, mlir::scf::ForOp loop, int64_t depth);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ITERATIONSHIFT_H
