//===- ReductionPlans.h - Plans of reductions and scans ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread reduces the elements that it holds. The lanes of a warp combine
// their results by shuffles. The warps of a thread group combine the results
// that their first lanes write to shared memory. The order of the additions
// depends only on the layout.
//
// The index of an element along the dimension of a scan is a number whose
// digits are digits of the register, the lane and the warp. A scan handles one
// digit at a time, the minor one first. It combines the totals of the elements
// that differ only in less significant digits.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_REDUCTIONPLANS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_REDUCTIONPLANS_H

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

/// An exchange of values between warps through shared memory. Pure data.
struct WarpExchange {
  /// Major to minor. Threads that differ only in `Reduced` digits of the warp
  /// contribute different parts; in other `Reduced` digits, the same part.
  llvm::SmallVector<ThreadDigit> digits;
  /// The warps that contribute a part, and the parts that stay separate.
  int64_t parts = 1;
  int64_t keptGroups = 1;
  /// Elements that go through shared memory together.
  int64_t chunk = 1;
  /// Offset of the scratch and its bytes per thread group; -1: from
  /// `reserveScratch`.
  int64_t offset = -1;
  int64_t bytes = 0;
};

/// Which elements of which threads a reduction combines. Pure data.
struct ReductionPlan {
  /// The source registers of each register of the result.
  llvm::SmallVector<llvm::SmallVector<int64_t>> sources;
  /// Whether the elements of a register are combined, too.
  bool reducesElements = false;
  /// Lanes whose ids differ in one of these bits combine their values.
  llvm::SmallVector<int64_t> laneBits;
  WarpExchange warps;

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

/// A digit of the index along the dimension of a scan.
struct ScanDigit {
  enum class Kind { Register, Lane, Warp };
  Kind kind = Kind::Register;
  int64_t size = 1;
  /// For a register, the distance of items whose digit differs by one;
  /// otherwise, the digit of the thread's id is `thread / divisor % size`.
  int64_t step = 1;
  /// For a warp.
  WarpExchange warps;
};

/// A scan. Pure data.
struct ScanPlan {
  /// Whether each item of a thread is one element; otherwise it is a register.
  bool splitsElements = false;
  int64_t items = 1;
  /// Minor to major, without digits of size one.
  llvm::SmallVector<ScanDigit> digits;
};

/// The plan of a scan along a dimension, or the reason why the layout does not
/// support it.
layout::ValueOr<ScanPlan> planScan(const Distribution &distribution,
                                   int64_t dim, const ThreadGrid &grid);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_REDUCTIONPLANS_H
