//===- IterationSlots.h - Which slot of a buffer an iteration uses --------===//
//
// A multi-buffered loop uses slot `number of the iteration mod depth` of its
// buffer. One pass writes that computation, another recognises it: both do it
// through here.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SLOTS_ITERATIONSLOTS_H
#define SMALTI_PASSES_SLOTS_ITERATIONSLOTS_H

#include "smalti/passes/Analysis/Integers/IntegerSum.h"

#include <optional>

namespace mlir {
class OpBuilder;
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

/// What is counted modulo a number that is no power of two: iterations in a row
/// have different slots as long as that does not overflow.
struct CountLimit {
  mlir::Value counted; ///< in the body
  unsigned bits;       ///< in which it, or a part of it, is counted

  /// What it must be below in the first iteration, and with it the number of
  /// the last one where `bindsNumber`.
  int64_t getMost() const { return int64_t(1) << (bits - 2); }
  bool bindsNumber(mlir::Type counter) const;

  /// Creates, ahead of `loop`, the `i1` that says that nothing overflows.
  /// `lastIteration` is the number of the last iteration, in the type of the
  /// counter; null where that is known to be small enough.
  mlir::Value createCheck(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                          mlir::Value lastIteration) const;
};

/// The slot that an iteration of a loop uses: its number and `base`, modulo
/// `depth`.
struct IterationSlot {
  int64_t depth;
  /// Of values that are the same in all iterations.
  IntegerSum base = {};
  /// What has to hold of it, where that is not certain.
  std::optional<CountLimit> limit = std::nullopt;
  /// It begins at the base, which is a slot or may be none, and is set back to
  /// 0 when it has counted the slots.
  bool isSetBack = false;

  bool isOfNumber() const { return base.asConstant() == 0 && !limit; }
  bool isSameAs(const IterationSlot &other) const {
    return depth == other.depth && base == other.base &&
           isSetBack == other.isSetBack;
  }
};

/// Whether `value` is such a slot. Remainders and masks are seen through, of
/// the number of the iteration or of one that the loop carries, sums of these
/// with values from outside, affine.apply, and numbers that the loop carries
/// and sets back to 0.
std::optional<IterationSlot> matchIterationSlot(mlir::Value value,
                                                mlir::scf::ForOp loop);

/// A number that is `factor` times a slot, and an offset; nothing but the
/// offset where the slot's depth is 0.
struct SlotNumber {
  IterationSlot slot;
  int64_t factor, offset;
};

/// Sees through sums with and products by constants.
std::optional<SlotNumber> matchSlotNumber(mlir::Value value,
                                          mlir::scf::ForOp loop);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ITERATIONSLOTS_H
