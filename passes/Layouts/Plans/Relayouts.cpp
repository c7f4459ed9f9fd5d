//===- Relayouts.cpp - From one layout in registers to another ------------===//
//
// Layouts repeat: what a relayout takes is found for the smallest vector that
// is a whole number of tiles of both, and is as often what the vector takes.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Layouts/Plans/Relayouts.h"

#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Layouts/Plans/RelayoutWays.h"
#include "smalti/targets/Target.h"

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

/// Elements that are looked at one by one.
static constexpr int64_t kMostElements = int64_t(1) << 20;

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

static std::string plural(int64_t count, llvm::StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

std::string RelayoutCost::str() const {
  switch (means) {
  case Means::None:
    return "nothing to do";
  case Means::Registers:
    return plural(moves, "move") + ": " + plural(cycles, "cycle");
  case Means::Shuffles:
    return plural(shuffles, "shuffle") + " and " + plural(moves, "move") +
           ": " + plural(cycles, "cycle");
  case Means::SharedMemory:
    return plural(scratchBytes, "byte") + " of shared memory, " +
           plural(barriers, "barrier") + " and " +
           plural(banks.cycles, "bank cycle") + " (" +
           std::to_string(banks.conflicts) +
           " conflicts): " + plural(cycles, "cycle");
  case Means::Impossible:
    return "impossible: " + reason;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Where elements are
//===----------------------------------------------------------------------===//

namespace {

/// A word of a thread's registers.
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
// Ways
//===----------------------------------------------------------------------===//

namespace {
/// What each way takes for one unit. Cross: an element comes from another warp.
struct Exchange {
  bool crossesWarps = false;
  int64_t shuffles = 0;
  int64_t moves = 0;
};
} // namespace

/// What the threads of a warp must get from others, and put together.
static Exchange compare(const Placement &from, const Placement &to,
                        int64_t elements, int64_t warps, int64_t lanes,
                        int64_t elementBits) {
  // Who holds each element first, and where.
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
    // Per lane: the foreign words that it needs, and those that others need.
    SmallVector<llvm::DenseSet<int64_t>> needs(lanes), gives(lanes);
    int64_t moves = 0;
    bool isUniform = true;
    for (int64_t reg = 0; reg < to.numRegisters; ++reg)
      for (int64_t word = 0; word < words; ++word) {
        // What the word is made of: sources that are not whole words, in
        // place, or differ from lane to lane.
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
            int64_t giver = from.nearestLane(lane, holder.lane);
            int64_t number =
                (giver * from.numRegisters + own.reg) *
                    llvm::divideCeil(from.vectorLength, from.perWord) +
                own.word;
            needs[lane].insert(number);
            gives[giver].insert(number);
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
          std::max<int64_t>({shuffles, needs[lane].size(), gives[lane].size()});
    // Lanes that send other words than their neighbours choose them first.
    if (!isUniform)
      moves += shuffles;
    exchange.shuffles = std::max(exchange.shuffles, shuffles * wordsOfElement);
    exchange.moves = std::max(exchange.moves, moves * wordsOfElement);
  }
  return exchange;
}

/// Whether the inference of JAX 0.10.2 lets layout_cast do it.
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
    cost.reason = "elements have " + std::to_string(elementBits) +
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
    cost.reason =
        "a vector whose elements may differ cannot have the splat layout";
    return cost;
  }

  SmallVector<int64_t> unit = unitShape(from, to, shape);
  int64_t elements = 1, units = 1;
  for (auto [size, part] : llvm::zip_equal(shape, unit)) {
    elements *= part;
    units *= size / part;
  }
  if (elements > kMostElements) {
    cost.reason = "the layouts repeat only after " + std::to_string(elements) +
                  " elements; at most " + std::to_string(kMostElements) +
                  " are supported";
    return cost;
  }
  for (const RegisterLayout *layout : {&from, &to})
    if (auto reason = refusePlacement(*layout, unit, warps, lanes)) {
      cost.reason = *reason;
      return cost;
    }
  Exchange exchange = compare(Placement(from, unit, warps, lanes, elementBits),
                              Placement(to, unit, warps, lanes, elementBits),
                              elements, warps, lanes, elementBits);
  if (!exchange.crossesWarps) {
    cost.shuffles = exchange.shuffles * units;
    cost.moves = exchange.moves * units;
    cost.means = cost.shuffles > 0 ? Means::Shuffles : Means::Registers;
    cost.cycles = cost.shuffles * kShuffleCycles + cost.moves;
  }
  // A trip through shared memory takes two barriers at least, and all banks
  // every cycle.
  int64_t bytes = elements * units * elementBits / 8 / warps;
  int64_t leastScratch =
      2 * kBarrierCycles +
      2 * bytes /
          std::max<int64_t>(target.sharedMemoryBanks * target.bankBytes, 1);
  if (exchange.crossesWarps ||
      (cost.shuffles > 0 && cost.cycles > leastScratch)) {
    RelayoutCost scratch =
        planScratch(from, to, unit, units, elementBits, target, warps).cost;
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
