//===- RelayoutWays.h - What relayouts are made from ------------*- C++ -*-===//
//
// Where the elements of a small vector are, and the trip through shared memory:
// for what a relayout costs, and for its steps.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTWAYS_H
#define SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTWAYS_H

#include "smalti/passes/Layouts/Plans/Relayouts.h"
#include "smalti/passes/Layouts/Plans/TransferPlan.h"

#include <vector>

namespace smalti::relayouts {

inline constexpr int64_t kWordBits = 32;

/// A layout of a small vector, element by element. Threads that hold the same
/// elements are of one class, numbered by the first of them.
class Placement {
public:
  Placement(const layout::RegisterLayout &layout, llvm::ArrayRef<int64_t> shape,
            int64_t warps, int64_t lanes, int64_t elementBits);

  int64_t numRegisters, vectorLength;
  int64_t perWord;
  llvm::SmallVector<int64_t> warpClass, laneClass;
  /// For the lowest thread of its class, register by register: the numbers of
  /// the elements.
  int64_t elementAt(int64_t warp, int64_t lane, int64_t reg,
                    int64_t element) const {
    return warpPart[warp] + lanePart[lane] + registerPart[reg] +
           vectorPart[element];
  }

  /// The lane of a class that a lane turns to for what they hold: itself, if it
  /// is one, else one whose number differs in few bits, so that other lanes
  /// turn to others.
  int64_t nearestLane(int64_t lane, int64_t holderClass) const {
    return nearest[lane][holderClass];
  }

private:
  llvm::SmallVector<int64_t> warpPart, lanePart, registerPart, vectorPart;
  std::vector<llvm::SmallVector<int64_t>> nearest;
};

/// Why the elements of a vector in this layout have no numbers, if they do not.
std::optional<std::string> refusePlacement(const layout::RegisterLayout &layout,
                                           llvm::ArrayRef<int64_t> shape,
                                           int64_t warps, int64_t lanes);

/// The smallest shape that is a whole number of both layouts' tiles.
llvm::SmallVector<int64_t> unitShape(const layout::RegisterLayout &from,
                                     const layout::RegisterLayout &to,
                                     llvm::ArrayRef<int64_t> shape);

/// The trip through shared memory of a vector that is cut into units, which all
/// make it alike.
struct ScratchTrip {
  RelayoutCost cost;
  /// Where a unit lies, and how it gets there and back.
  transfers::MemoryLayout memory;
  std::optional<transfers::TransferPlan> store, load;
  /// Bytes from a unit to the next, and the units that lie there together.
  int64_t unitBytes = 0;
  int64_t together = 0;
};

/// The cheapest; its cost is impossible, with the reason, where there is none.
ScratchTrip planScratch(const layout::RegisterLayout &from,
                        const layout::RegisterLayout &to,
                        llvm::ArrayRef<int64_t> unit, int64_t units,
                        int64_t elementBits, const targets::Target &target,
                        int64_t warps);

} // namespace smalti::relayouts

#endif // SMALTI_PASSES_LAYOUTS_PLANS_RELAYOUTWAYS_H
