//===- Reductions.h - Plan of a reduction -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread reduces the elements that it holds. The lanes of a warp combine
// their results by shuffles. The warps of a thread group combine the results
// that their first lanes write to shared memory. The order of the additions
// depends only on the layout.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REDUCTIONS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REDUCTIONS_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

namespace smalti::block_to_thread {

/// A digit of a thread's id, `thread / divisor % size`, and what threads hold
/// that differ only in it: other elements of the result, other elements that
/// are combined, or the same elements.
struct ThreadDigit {
  enum class Role { Kept, Reduced, Repeated };
  int64_t divisor = 1;
  int64_t size = 1;
  Role role = Role::Kept;
};

/// Which elements of which threads a reduction combines. Pure data.
struct ReductionPlan {
  /// The source registers of each register of the result.
  llvm::SmallVector<llvm::SmallVector<int64_t>> sources;
  /// Whether the elements of a register are combined, too.
  bool reducesElements = false;
  /// Lanes whose ids differ in one of these bits combine their values.
  llvm::SmallVector<int64_t> laneBits;
  /// Major to minor.
  llvm::SmallVector<ThreadDigit> digits;
  /// The warps that contribute a part of a result, and the parts that stay
  /// separate.
  int64_t parts = 1;
  int64_t keptGroups = 1;

  /// Elements of a result that each thread holds at that point.
  int64_t resultElements(int64_t vectorLength) const {
    return sources.size() * (reducesElements ? 1 : vectorLength);
  }
};

/// The plan of a reduction of the dimensions `axes` to a vector with
/// distribution `to`, or with null to one scalar in every thread.
ReductionPlan planReduction(const Distribution &from, const Distribution *to,
                            llvm::ArrayRef<int64_t> axes,
                            const ThreadGrid &grid);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REDUCTIONS_H
