//===- Relayouts.h - From one layout in registers to another --------------===//
//
// What it takes to bring a vector from one layout in registers to another: a
// pure function. Cost is in issue cycles of one warp: an instruction of a warp
// is one cycle, a shuffle is `kShuffleCycles`, an access to shared memory what
// its banks take, and a barrier `kBarrierCycles`; see `TransferPlan`. Costs of
// two relayouts of the same vector can be compared and, with those of
// transfers, added.
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

/// A shuffle among the lanes of a warp goes through the pipe of shared memory,
/// one 32-bit word a lane.
inline constexpr int64_t kShuffleCycles = 2;
/// A barrier among the warps that hold the vector, which wait for the slowest.
inline constexpr int64_t kBarrierCycles = 20;

/// How a relayout moves elements, cheapest first.
enum class Means {
  /// Both layouts put every element in the same place: nothing to do.
  None,
  /// Every thread has what it needs: registers are renamed, split and joined,
  /// or
  /// a scalar is repeated.
  Registers,
  /// Every warp has what it needs: lanes exchange words.
  Shuffles,
  /// Elements cross warps: stored to shared memory and loaded again.
  SharedMemory,
  /// Not possible; the reason says why.
  Impossible,
};

struct RelayoutCost {
  Means means = Means::Impossible;
  /// The 32-bit words that a lane gets from others, or gives to them, where
  /// that is more; of the lane with most. A shuffle moves one from and to each
  /// lane, so that no sequence of fewer shuffles will do.
  int64_t shuffles = 0;
  /// Selects and byte permutations, a thread.
  int64_t moves = 0;
  /// Bytes of shared memory that it needs as scratch, and barriers.
  int64_t scratchBytes = 0;
  int64_t barriers = 0;
  /// What the banks make of the store and the load of one warp.
  banks::Cost banks;
  /// All of it in issue cycles of one warp.
  int64_t cycles = 0;
  /// Whether `layout_cast` of JAX 0.10.2 takes it.
  bool isInJAX = false;
  /// Whether a use may ask for it without a cast, in JAX: equal layouts, and a
  /// splat as the source.
  bool isImplicitInJAX = false;
  /// Why it is impossible.
  std::string reason;

  bool isPossible() const { return means != Means::Impossible; }
  /// "2 shuffles and 4 moves: 8 cycles".
  std::string str() const;
};

/// What it takes to bring a vector of `shape`, held by `warps` warps, from one
/// layout to another. It is impossible where one of the layouts does not fit
/// the shape or the threads, where the result is a splat and the source is not,
/// where shared memory is needed but `target` has too little of it, and where
/// the layouts repeat only after more than a million elements.
RelayoutCost planRelayout(const layout::RegisterLayout &from,
                          const layout::RegisterLayout &to,
                          llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                          const targets::Target &target, int64_t warps = 4);

/// `isInJAX` of the relayout between layouts that fit, without the plan.
bool isRelayoutInJAX(const layout::RegisterLayout &from,
                     const layout::RegisterLayout &to, int64_t elementBits);

llvm::StringRef toString(Means means);

} // namespace smalti::relayouts

#endif // SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTS_H
