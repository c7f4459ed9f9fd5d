//===- IterationShift.h - Slots of earlier and later iterations -----------===//

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

/// The number s, from 0 to `depth - 1`, where `value` is the number of the
/// iteration of `loop` plus s, modulo `depth`: the slot of the iteration s
/// later. Constants, sums with multiples of the step, affine.apply and masks
/// are seen through.
std::optional<int64_t> matchSlotShift(mlir::Value value, mlir::scf::ForOp loop,
                                      int64_t depth);

/// The same behind `loop`: the number s where `value` is the number of its
/// iterations plus s, modulo `depth`. That takes an scf.if around the loop
/// which says that it is not asked to run a negative number of times.
std::optional<int64_t>
matchFinalSlotShift(mlir::Value value, mlir::scf::ForOp loop, int64_t depth);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ITERATIONSHIFT_H
