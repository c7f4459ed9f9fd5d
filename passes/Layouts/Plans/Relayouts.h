//===- Relayouts.h - Cost of a conversion between register layouts --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pure function that estimates the cost of a relayout in issue cycles of one
// warp. An instruction of a warp is one cycle, a shuffle `kShuffleCycles`, and
// a barrier `kBarrierCycles`; an access to shared memory takes the cycles of
// its banks (see `TransferPlan`). Costs of relayouts of one vector can be
// compared, and added to costs of transfers.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTS_H
#define SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTS_H

#include "smalti/layouts/LayoutAlgebra.h"
#include "smalti/passes/Analysis/SharedMemory/BankModel.h"

#include "llvm/ADT/StringRef.h"

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::relayouts {

/// A shuffle among the lanes of a warp uses the shared memory pipe, with one
/// 32-bit word per lane.
inline constexpr int64_t kShuffleCycles = 2;
/// A barrier among the warps that hold the vector.
inline constexpr int64_t kBarrierCycles = 20;

/// The mechanism of a relayout, cheapest first.
enum class Means {
  /// The layouts are equal.
  None,
  /// Every thread has its elements: registers are renamed, split and joined, or
  /// a
  /// scalar is repeated.
  Registers,
  /// Every warp has its elements: lanes exchange words.
  Shuffles,
  /// Elements move between warps: a store to shared memory and a load.
  SharedMemory,
  /// Not possible; see `reason`.
  Impossible,
};

struct RelayoutCost {
  Means means = Means::Impossible;
  /// The maximum over all lanes of the 32-bit words that the lane receives from
  /// other lanes or sends to them. It is a lower bound of the number of
  /// shuffles: a shuffle moves one word from and to each lane.
  int64_t shuffles = 0;
  /// Selects and byte permutations per thread.
  int64_t moves = 0;
  /// Bytes of scratch shared memory, and barriers.
  int64_t scratchBytes = 0;
  int64_t barriers = 0;
  /// Bank cycles and conflicts of the store and the load of one warp.
  banks::Cost banks;
  /// The total in issue cycles of one warp.
  int64_t cycles = 0;
  /// Whether `layout_cast` of JAX 0.10.2 supports the relayout.
  bool isInJAX = false;
  /// Whether JAX converts implicitly: equal layouts, or a splat source.
  bool isImplicitInJAX = false;
  /// The reason if the relayout is impossible.
  std::string reason;

  bool isPossible() const { return means != Means::Impossible; }
  /// "2 shuffles and 4 moves: 8 cycles".
  std::string str() const;
};

/// The cost of a relayout of a vector of `shape` that `warps` warps hold. It is
/// impossible if a layout is not valid for the shape or the threads, or if only
/// the result is a splat. It is also impossible if the scratch exceeds the
/// shared memory of `target`, or if the pattern has more than a million
/// elements.
RelayoutCost planRelayout(const layout::RegisterLayout &from,
                          const layout::RegisterLayout &to,
                          llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                          const targets::Target &target, int64_t warps = 4);

/// `isInJAX` of the relayout between valid layouts, without a plan.
bool isRelayoutInJAX(const layout::RegisterLayout &from,
                     const layout::RegisterLayout &to, int64_t elementBits);

llvm::StringRef toString(Means means);

} // namespace smalti::relayouts

#endif // SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTS_H
