//===- RelayoutScratch.h - Placement and shared memory round trip ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The placement of the elements of a small vector, and the round trip through
// shared memory. The cost model and the steps of relayouts share them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTSCRATCH_H
#define SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTSCRATCH_H

#include "smalti/passes/Layouts/Plans/Relayouts.h"
#include "smalti/passes/Layouts/Plans/TransferPlan.h"

#include <vector>

namespace smalti::relayouts {

inline constexpr int64_t kWordBits = 32;

/// The elements of each register of a small vector. Threads that hold the same
/// elements form a class, numbered by its first thread.
class Placement {
public:
  Placement(const layout::RegisterLayout &layout, llvm::ArrayRef<int64_t> shape,
            int64_t warps, int64_t lanes, int64_t elementBits);

  int64_t numRegisters, vectorLength;
  int64_t perWord;
  llvm::SmallVector<int64_t> warpClass, laneClass;
  /// The number of an element of a register.
  int64_t elementAt(int64_t warp, int64_t lane, int64_t reg,
                    int64_t element) const {
    return warpPart[warp] + lanePart[lane] + registerPart[reg] +
           vectorPart[element];
  }

  /// The lane of a class from which a lane reads the elements of the class. It
  /// is the lane itself if possible, or a lane whose number differs in the
  /// fewest bits, which distributes the reads across the class.
  int64_t nearestLane(int64_t lane, int64_t holderClass) const {
    return nearest[lane][holderClass];
  }

private:
  llvm::SmallVector<int64_t> warpPart, lanePart, registerPart, vectorPart;
  std::vector<llvm::SmallVector<int64_t>> nearest;
};

/// The reason if the placement of a layout cannot be computed.
std::optional<std::string> checkPlacement(const layout::RegisterLayout &layout,
                                          llvm::ArrayRef<int64_t> shape,
                                          int64_t warps, int64_t lanes);

/// The shape of the pattern: the smallest multiple of the tiles of both
/// layouts.
llvm::SmallVector<int64_t> patternShape(const layout::RegisterLayout &from,
                                        const layout::RegisterLayout &to,
                                        llvm::ArrayRef<int64_t> shape);

/// The round trip through shared memory of a vector, one repeat of the pattern
/// at a time.
struct ScratchTrip {
  RelayoutCost cost;
  /// The layout of a repeat in shared memory, and its store and load.
  transfers::MemoryLayout memory;
  std::optional<transfers::TransferPlan> store, load;
  /// Bytes of a repeat, and the number of repeats in shared memory at a time.
  int64_t patternBytes = 0;
  int64_t together = 0;
};

/// The cheapest round trip. Its cost is impossible, with a reason, if none
/// exists.
ScratchTrip planScratch(const layout::RegisterLayout &from,
                        const layout::RegisterLayout &to,
                        llvm::ArrayRef<int64_t> pattern, int64_t repeats,
                        int64_t elementBits, targets::Target target,
                        int64_t warps);

} // namespace smalti::relayouts

#endif // SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTSCRATCH_H
