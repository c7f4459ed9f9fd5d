//===- Relayouts.cpp - Cost of a conversion between register layouts ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts repeat: the cost is computed for the pattern, the smallest vector
// that is a multiple of the tiles of both layouts, and multiplied by the
// repeats.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Layouts/Plans/Relayouts.h"

#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Layouts/Plans/RelayoutScratch.h"
#include "smalti/targets/Target.h"
#include "smalti/targets/Text.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <vector>

using namespace smalti;
using namespace smalti::relayouts;
using layout::RegisterLayout;
using layout::SplatLayout;
using layout::TiledLayout;
using llvm::ArrayRef;
using llvm::SmallVector;
using targets::Target;

/// Limit of the elements of a pattern, which are enumerated.
static constexpr int64_t kMaxElements = int64_t(1) << 20;

llvm::StringRef relayouts::toString(Means means) {
  switch (means) {
  case Means::None:
    return "none";
  case Means::Registers:
    return "registers";
  case Means::Shuffles:
    return "shuffles";
  case Means::SharedMemory:
    return "shared_memory";
  case Means::Impossible:
    return "impossible";
  }
  return "";
}

std::string RelayoutCost::str() const {
  switch (means) {
  case Means::None:
    return "nothing to do";
  case Means::Registers:
    return counted(moves, "move") + ": " + counted(cycles, "cycle");
  case Means::Shuffles:
    return counted(shuffles, "shuffle") + " and " + counted(moves, "move") +
           ": " + counted(cycles, "cycle");
  case Means::SharedMemory:
    return counted(scratchBytes, "byte") + " of shared memory, " +
           counted(barriers, "barrier") + " and " +
           counted(banks.cycles, "bank cycle") + " (" +
           std::to_string(banks.conflicts) +
           " conflicts): " + counted(cycles, "cycle");
  case Means::Impossible:
    return "impossible: " + reason;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Locations of elements
//===----------------------------------------------------------------------===//

namespace {

/// A word in the registers of a thread.
struct Word {
  int64_t reg = 0;
  int64_t word = 0;
  bool operator==(const Word &other) const {
    return reg == other.reg && word == other.word;
  }
  bool operator!=(const Word &other) const { return !(*this == other); }
};

} // namespace

//===----------------------------------------------------------------------===//
// Exchange between lanes
//===----------------------------------------------------------------------===//

namespace {
/// The exchange of one pattern between the lanes of a warp. `crossesWarps`: an
/// element moves between warps.
struct Exchange {
  bool crossesWarps = false;
  int64_t shuffles = 0;
  int64_t moves = 0;
};
} // namespace

/// Computes the exchange between two placements.
static Exchange compare(const Placement &from, const Placement &to,
                        int64_t elements, int64_t warps, int64_t lanes,
                        int64_t elementBits) {
  // The first thread that holds each element, and the location there.
  struct Holder {
    int64_t warp = 0, lane = 0, reg = 0, element = 0;
  };
  std::vector<Holder> holders(elements);
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      if (from.warpClass[warp] != warp || from.laneClass[lane] != lane)
        continue;
      for (int64_t reg = 0; reg < from.numRegisters; ++reg)
        for (int64_t element = 0; element < from.vectorLength; ++element)
          holders[from.elementAt(warp, lane, reg, element)] = {warp, lane, reg,
                                                               element};
    }

  Exchange exchange;
  int64_t words = llvm::divideCeil(to.vectorLength, to.perWord);
  // Elements wider than a word are several words.
  int64_t wordsOfElement = std::max<int64_t>(elementBits / kWordBits, 1);
  for (int64_t warp = 0; warp < warps; ++warp) {
    // For each lane, the words that it needs from others, and that others need.
    SmallVector<llvm::DenseSet<int64_t>> needs(lanes), sends(lanes);
    int64_t moves = 0;
    bool isUniform = true;
    for (int64_t reg = 0; reg < to.numRegisters; ++reg)
      for (int64_t word = 0; word < words; ++word) {
        // Whether the word is assembled from parts of words, has parts of other
        // lanes or of the own lane.
        bool isAssembled = false, isForeign = false, isOwn = false;
        Word common;
        bool differs = false;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          int64_t first = word * to.perWord;
          int64_t last = std::min(first + to.perWord, to.vectorLength);
          Word source;
          for (int64_t element = first; element < last; ++element) {
            const Holder &holder =
                holders[to.elementAt(warp, lane, reg, element)];
            if (from.warpClass[warp] != holder.warp) {
              exchange.crossesWarps = true;
              return exchange;
            }
            Word own = {holder.reg, holder.element / from.perWord};
            if (element == first)
              source = own;
            isAssembled |= own != source ||
                           holder.element % from.perWord != element - first;
            if (from.laneClass[lane] == holder.lane) {
              isOwn = true;
              continue;
            }
            isForeign = true;
            int64_t sender = from.nearestLane(lane, holder.lane);
            int64_t number =
                (sender * from.numRegisters + own.reg) *
                    llvm::divideCeil(from.vectorLength, from.perWord) +
                own.word;
            needs[lane].insert(number);
            sends[sender].insert(number);
          }
          if (lane == 0)
            common = source;
          differs |= source != common;
        }
        moves += isAssembled;
        moves += differs || (isForeign && isOwn && !isAssembled);
        isUniform &= !differs;
      }
    int64_t shuffles = 0;
    for (int64_t lane = 0; lane < lanes; ++lane)
      shuffles =
          std::max<int64_t>({shuffles, needs[lane].size(), sends[lane].size()});
    // Lanes that send different words select them first.
    if (!isUniform)
      moves += shuffles;
    exchange.shuffles = std::max(exchange.shuffles, shuffles * wordsOfElement);
    exchange.moves = std::max(exchange.moves, moves * wordsOfElement);
  }
  return exchange;
}

/// Whether layout inference of JAX 0.10.2 accepts the layout_cast.
static bool isCastInJAX(const TiledLayout &from, const TiledLayout &to,
                        int64_t elementBits) {
  using namespace layout;
  auto isPair = [&](const TiledLayout &a, const TiledLayout &b) {
    return (from == a && to == b) || (from == b && to == a);
  };
  if (isPair(wgmma(), wgmmaTransposed()) ||
      isPair(tcgen05(), tcgen05Transposed()))
    return true;
  if (from == wgmmaUpcast2x() && to == wgmma())
    return elementBits <= 16;
  if (from == wgmmaUpcast4x() && (to == wgmmaUpcast2x() || to == wgmma()))
    return elementBits == 4;
  return from == tmemNative(from.vectorLength()) &&
         to == tmemNative(to.vectorLength());
}

RelayoutCost relayouts::planRelayout(const RegisterLayout &from,
                                     const RegisterLayout &to,
                                     ArrayRef<int64_t> shape,
                                     int64_t elementBits, const Target &target,
                                     int64_t warps) {
  RelayoutCost cost;
  int64_t lanes = target.waveSize;
  if (elementBits <= 0 || !llvm::isPowerOf2_64(elementBits) ||
      elementBits > 64) {
    cost.reason = "the elements of the vector have " +
                  std::to_string(elementBits) +
                  " bits; the width must be a power of two from 1 to 64";
    return cost;
  }
  for (const RegisterLayout *layout : {&from, &to})
    if (auto reason =
            layout::validateFor(*layout, shape, warps * lanes, lanes)) {
      cost.reason = *reason;
      return cost;
    }
  if (from == to) {
    cost.means = Means::None;
    cost.isInJAX = cost.isImplicitInJAX = true;
    return cost;
  }
  if (std::holds_alternative<SplatLayout>(from)) {
    cost.means = Means::Registers;
    cost.isInJAX = cost.isImplicitInJAX = true;
    return cost;
  }
  if (std::holds_alternative<SplatLayout>(to)) {
    cost.reason = "the splat layout holds one scalar for all elements, but "
                  "elements of the vector may differ";
    return cost;
  }

  SmallVector<int64_t> pattern = patternShape(from, to, shape);
  int64_t elements = 1, repeats = 1;
  for (auto [size, part] : llvm::zip_equal(shape, pattern)) {
    elements *= part;
    repeats *= size / part;
  }
  if (elements > kMaxElements) {
    cost.reason = "the assignment of elements to threads in the two layouts "
                  "repeats only after " +
                  std::to_string(elements) + " elements; at most " +
                  std::to_string(kMaxElements) +
                  " are supported, so use a smaller vector";
    return cost;
  }
  for (const RegisterLayout *layout : {&from, &to})
    if (auto reason = checkPlacement(*layout, pattern, warps, lanes)) {
      cost.reason = *reason;
      return cost;
    }
  Exchange exchange =
      compare(Placement(from, pattern, warps, lanes, elementBits),
              Placement(to, pattern, warps, lanes, elementBits), elements,
              warps, lanes, elementBits);
  if (!exchange.crossesWarps) {
    cost.shuffles = exchange.shuffles * repeats;
    cost.moves = exchange.moves * repeats;
    cost.means = cost.shuffles > 0 ? Means::Shuffles : Means::Registers;
    cost.cycles = cost.shuffles * kShuffleCycles + cost.moves;
  }
  // Lower bound of a round trip through shared memory: two barriers, and all
  // banks busy in every cycle.
  int64_t bytes = elements * repeats * elementBits / 8 / warps;
  int64_t leastScratch =
      2 * kBarrierCycles +
      2 * bytes /
          std::max<int64_t>(target.sharedMemoryBanks * target.bankBytes, 1);
  if (exchange.crossesWarps ||
      (cost.shuffles > 0 && cost.cycles > leastScratch)) {
    RelayoutCost scratch =
        planScratch(from, to, pattern, repeats, elementBits, target, warps)
            .cost;
    if (!cost.isPossible() ||
        (scratch.isPossible() && scratch.cycles < cost.cycles))
      cost = scratch;
  }
  cost.isInJAX = isRelayoutInJAX(from, to, elementBits);
  return cost;
}

bool relayouts::isRelayoutInJAX(const RegisterLayout &from,
                                const RegisterLayout &to, int64_t elementBits) {
  if (from == to || std::holds_alternative<SplatLayout>(from))
    return true;
  auto *fromTiled = std::get_if<TiledLayout>(&from);
  auto *toTiled = std::get_if<TiledLayout>(&to);
  return fromTiled && toTiled && isCastInJAX(*fromTiled, *toTiled, elementBits);
}
