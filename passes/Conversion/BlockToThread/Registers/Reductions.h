//===- Reductions.h - How the threads of a program reduce -------*- C++ -*-===//
//
// Each thread reduces what it holds, the lanes of a warp what they have by
// exchanging it, and the warps of a program what their first lanes write to
// shared memory. Sums are in an order that depends on the layout alone.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REDUCTIONS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REDUCTIONS_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

namespace smalti::block_to_thread {

/// A digit of a thread's number, `thread / divisor % size`, and what threads
/// that differ in it alone hold: other elements of the result, other elements
/// that become one, or the same.
struct ThreadDigit {
  enum class Role { Kept, Reduced, Repeated };
  int64_t divisor = 1;
  int64_t size = 1;
  Role role = Role::Kept;
};

/// Which elements of which threads a reduction makes one of. Pure data.
struct ReductionPlan {
  /// Of each register of the result: the registers that become one.
  llvm::SmallVector<llvm::SmallVector<int64_t>> sources;
  /// Whether the elements of a register become one, too.
  bool reducesElements = false;
  /// Lanes whose numbers differ in one of these bits exchange what they have.
  llvm::SmallVector<int64_t> laneBits;
  /// Major to minor.
  llvm::SmallVector<ThreadDigit> digits;
  /// Warps that each bring a part of a result, and parts that are kept apart.
  int64_t parts = 1;
  int64_t places = 1;

  /// Elements that each thread has of a result by then.
  int64_t resultElements(int64_t vectorLength) const {
    return sources.size() * (reducesElements ? 1 : vectorLength);
  }
};

/// The plan of a reduction of the dimensions `axes`, to a vector that is held
/// as `to` says, or with null to one scalar that every thread gets.
ReductionPlan planReduction(const Distribution &from, const Distribution *to,
                            llvm::ArrayRef<int64_t> axes,
                            const ThreadGrid &grid);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REDUCTIONS_H
