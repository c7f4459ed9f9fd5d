//===- IterationSlots.h - Which slot of a buffer an iteration uses --------===//
//
// A multi-buffered loop uses slot `number of the iteration mod depth` of its
// buffer. One pass writes that computation, another recognises it: both do it
// through here.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_ITERATIONSLOTS_H
#define SMALTI_PASSES_SUPPORT_ITERATIONSLOTS_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace mlir {
class OpBuilder;
class Value;
namespace scf {
class ForOp;
} // namespace scf
} // namespace mlir

namespace smalti {

/// Computes, in the body of `loop`, the number of the iteration, in the type of
/// the counter.
mlir::Value createIterationNumber(mlir::OpBuilder &builder,
                                  mlir::scf::ForOp loop);

/// Whether `value` is the number of the iteration of `loop`, as that function
/// computes it.
bool isIterationNumber(mlir::Value value, mlir::scf::ForOp loop);

/// Computes, in the body of `loop`, the number of the iteration modulo `depth`
/// as an index. Right for every lower bound and step, of signed and unsigned
/// loops: the difference to the lower bound is not negative, so unsigned
/// arithmetic is exact even where the signed one would overflow.
mlir::Value createIterationSlot(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                                int64_t depth);

/// Computes, behind `loop`, the slot of its last iteration, or `before` where
/// it has had none.
mlir::Value createLastSlot(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                           int64_t depth, mlir::Value before);

/// The depth where `value` is the number of the iteration of `loop` modulo a
/// constant, as the function above or affine.apply computes it.
std::optional<int64_t> matchIterationSlot(mlir::Value value,
                                          mlir::scf::ForOp loop);

/// A number that is `factor` times the number of the iteration modulo `depth`,
/// and an offset; `depth` is 0 for a constant.
struct SlotNumber {
  int64_t depth, factor, offset;
};

/// Sees through sums with and products by constants.
std::optional<SlotNumber> matchSlotNumber(mlir::Value value,
                                          mlir::scf::ForOp loop);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_ITERATIONSLOTS_H
