//===- RelayoutPlan.h - The steps of a relayout -----------------*- C++ -*-===//
//
// A pure function: from two layouts of a vector in registers to the steps that
// every thread takes to bring it from one to the other. No MLIR object takes
// part.
//
// A thread's registers are looked at as 32-bit words: a register of `n` bits is
// ceil(n / 32) words, of which the last may be a part. Words are numbered:
// first those of the source, register by register; then what each step makes.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTPLAN_H

#include "smalti/passes/Layouts/Plans/RelayoutWays.h"

namespace smalti::relayouts {

/// What makes a new word. What a thread takes is in a table.
struct Step {
  enum class Kind {
    /// Word `a` where the table has 0, `b` where it has 1.
    Select,
    /// Four bytes of `a` (numbers 0 to 3) and `b` (4 to 7): those that the four
    /// hexadecimal digits of the table's entry name, the lowest first.
    Permute,
    /// Word `a` of the lane of the warp that the table names.
    Shuffle,
  };
  Kind kind = Kind::Select;
  int64_t a = 0, b = 0;
  /// Which of the plan's tables.
  int64_t table = 0;
};

/// The steps for a unit of the vector, and the registers that hold each unit.
struct RelayoutPlan {
  /// Of the steps; of a plan without, as `planRelayout` says.
  RelayoutCost cost;
  llvm::SmallVector<Step> steps;
  /// One entry a thread, numbered `warp * waveSize + lane`.
  llvm::SmallVector<llvm::SmallVector<int64_t>> tables;
  /// The number of each word of the unit's result.
  llvm::SmallVector<int64_t> results;
  /// Words of a register of the source and of the result.
  int64_t sourceWords = 1, resultWords = 1;
  /// Of each unit: the registers of the source and of the result that hold it,
  /// in the order in which a vector of the unit's shape alone would have them.
  llvm::SmallVector<llvm::SmallVector<int64_t>> sourceRegisters,
      resultRegisters;
  /// How units go through shared memory, if that is the means.
  ScratchTrip trip;

  int64_t numUnits() const { return sourceRegisters.size(); }
  int64_t numSourceWords() const {
    return sourceRegisters.empty()
               ? 0
               : sourceRegisters.front().size() * sourceWords;
  }
};

/// "select", "permute" or "shuffle".
llvm::StringRef toString(Step::Kind kind);

/// The steps of `planRelayout`, or the reason why there are none: where it is
/// impossible, and where elements of less than a byte do not keep to their
/// bytes. No steps for a source that is a splat.
layout::ValueOr<RelayoutPlan>
planRelayoutSteps(const layout::RegisterLayout &from,
                  const layout::RegisterLayout &to,
                  llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                  const targets::Target &target, int64_t warps = 4);

} // namespace smalti::relayouts

#endif // SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTPLAN_H
