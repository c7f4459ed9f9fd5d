//===- IterationSlots.h - Slots of loop iterations --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations of a multi-buffered loop use slot `iteration number mod depth`.
// One pass creates that computation, and others match it; both do so here.
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

/// Computes the iteration number, in the body of `loop`, in the type of the
/// induction variable.
mlir::Value createIterationNumber(mlir::OpBuilder &builder,
                                  mlir::scf::ForOp loop);

/// Whether `value` is the iteration number of `loop` as createIterationNumber()
/// computes it.
bool isIterationNumber(mlir::Value value, mlir::scf::ForOp loop);

/// Computes, in the body of `loop`, the iteration number modulo `depth` as an
/// index. The result is correct for every lower bound and step of signed and
/// unsigned loops. The distance from the lower bound is not negative, so
/// unsigned arithmetic is exact even if signed arithmetic overflows.
mlir::Value createIterationSlot(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                                int64_t depth);

/// Computes, after `loop`, the slot of its last iteration, or `before` if it
/// did not run.
mlir::Value createLastSlot(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                           int64_t depth, mlir::Value before);

/// A count modulo a depth that is not a power of two: consecutive iterations
/// have different slots as long as the count does not overflow.
struct CountLimit {
  mlir::Value counted; ///< in the body
  unsigned bits;       ///< the width of the narrowest part of the count

  /// The exclusive upper bound of the count in the first iteration and, if
  /// `bindsNumber`, of the number of the last iteration.
  int64_t getMost() const { return int64_t(1) << (bits - 2); }
  bool bindsNumber(mlir::Type counter) const;

  /// Creates, before `loop`, the `i1` that is true if nothing overflows.
  /// `lastIteration` is the number of the last iteration in the type of the
  /// induction variable; null if it is known to be small enough.
  mlir::Value createCheck(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                          mlir::Value lastIteration) const;
};

/// The slot that an iteration uses: (iteration number + `base`) mod `depth`.
struct IterationSlot {
  int64_t depth;
  /// A sum of loop-invariant values.
  IntegerSum base = {};
  /// The condition under which the slot is valid, if it is not proven.
  std::optional<CountLimit> limit = std::nullopt;
  /// The slot starts at `base`, which may be out of range, and is reset to 0
  /// after `depth` iterations.
  bool isReset = false;

  bool isSameAs(const IterationSlot &other) const {
    return depth == other.depth && base == other.base &&
           isReset == other.isReset;
  }
};

/// Matches a slot. The match looks through affine.apply, and through remainders
/// and masks of the iteration number or of a carried count, plus loop-invariant
/// values. It also matches carried numbers that are reset to 0.
std::optional<IterationSlot> matchIterationSlot(mlir::Value value,
                                                mlir::scf::ForOp loop);

/// `factor` times a slot, plus `offset`. If the depth of the slot is 0, the
/// value is only the offset.
struct SlotNumber {
  IterationSlot slot;
  int64_t factor, offset;
};

/// Looks through sums with constants and multiplications by constants.
std::optional<SlotNumber> matchSlotNumber(mlir::Value value,
                                          mlir::scf::ForOp loop);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ITERATIONSLOTS_H
