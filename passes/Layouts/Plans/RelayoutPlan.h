//===- RelayoutPlan.h - Steps of a relayout ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pure function, without MLIR objects: from two register layouts of a vector
// to the steps that each thread executes to convert the vector.
//
// The registers of a thread are sequences of 32-bit words: a register of `n`
// bits is ceil(n / 32) words, the last of which may be partial. Words are
// numbered: first the words of the source, register by register, then the
// result of each step.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTPLAN_H

#include "smalti/passes/Layouts/Plans/RelayoutScratch.h"

namespace smalti::relayouts {

/// A step that produces a word. A table has the choice of each thread.
struct Step {
  enum class Kind {
    /// Word `a` if the table entry is 0, word `b` if it is 1.
    Select,
    /// Four bytes of `a` (numbers 0 to 3) and `b` (4 to 7), selected by the
    /// four
    /// hexadecimal digits of the table entry, lowest first.
    Permute,
    /// Word `a` of the lane of the warp in the table entry.
    Shuffle,
  };
  Kind kind = Kind::Select;
  int64_t a = 0, b = 0;
  /// Index of a table of the plan.
  int64_t table = 0;
};

/// The steps for one repeat of the pattern, and the registers of each repeat.
struct RelayoutPlan {
  /// The cost of the steps, or that of `planRelayout` if the plan has no steps.
  RelayoutCost cost;
  llvm::SmallVector<Step> steps;
  /// One entry for each thread, numbered `warp * waveSize + lane`.
  llvm::SmallVector<llvm::SmallVector<int64_t>> tables;
  /// The number of each word of the result of one repeat.
  llvm::SmallVector<int64_t> results;
  /// Words per register of the source and of the result.
  int64_t sourceWords = 1, resultWords = 1;
  /// For each repeat, its registers of the source and of the result, in the
  /// order of the registers of a vector with the shape of the pattern.
  llvm::SmallVector<llvm::SmallVector<int64_t>> sourceRegisters,
      resultRegisters;
  /// The round trip through shared memory, if that is the means.
  ScratchTrip trip;

  int64_t numRepeats() const { return sourceRegisters.size(); }
  int64_t numSourceWords() const {
    return sourceRegisters.empty()
               ? 0
               : sourceRegisters.front().size() * sourceWords;
  }
};

/// "select", "permute" or "shuffle".
llvm::StringRef toString(Step::Kind kind);

/// The steps of `planRelayout`. A reason is returned if the relayout is
/// impossible, or if elements smaller than a byte share bytes differently in
/// the two layouts. A splat source has no steps.
layout::ValueOr<RelayoutPlan>
planRelayoutSteps(const layout::RegisterLayout &from,
                  const layout::RegisterLayout &to,
                  llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                  const targets::Target &target, int64_t warps = 4);

} // namespace smalti::relayouts

#endif // SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTPLAN_H
