//===- Relayouts.cpp - From one layout in registers to another ------------===//
//
// Layouts repeat: what a relayout takes is found for the smallest vector that
// is a whole number of tiles of both, and is as often what the vector takes.
//
//===----------------------------------------------------------------------===//

#include "passes/Layouts/Relayouts.h"

#include "dialects/MosaicGPU/NamedLayouts.h"
#include "passes/Layouts/TransferDigits.h"
#include "passes/Layouts/TransferPlan.h"
#include "targets/Target.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace smalti;
using namespace smalti::relayouts;
using layout::PartitionDim;
using layout::RegisterLayout;
using layout::SplatLayout;
using layout::StridedLayout;
using layout::TiledLayout;
using llvm::ArrayRef;
using llvm::SmallVector;
using targets::Target;
using transfers::MemoryLayout;

static constexpr int64_t kWordBits = 32;

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

/// A layout of a small vector, element by element. Threads that hold the same
/// elements are of one class, numbered by the first of them.
class Placement {
public:
  Placement(const RegisterLayout &layout, ArrayRef<int64_t> shape,
            int64_t warps, int64_t lanes, int64_t elementBits);

  int64_t numRegisters, vectorLength;
  int64_t perWord;
  SmallVector<int64_t> warpClass, laneClass;
  /// For the lowest thread of its class, register by register: the numbers of
  /// the elements.
  int64_t elementAt(int64_t warp, int64_t lane, int64_t reg,
                    int64_t element) const {
    return warpPart[warp] + lanePart[lane] + registerPart[reg] +
           vectorPart[element];
  }

  SmallVector<int64_t> warpPart, lanePart, registerPart, vectorPart;
};

} // namespace

/// The sums over digits, the last of which changes fastest.
static SmallVector<int64_t> sumDigits(ArrayRef<transfers::Digit> digits) {
  SmallVector<int64_t> sums = {0};
  for (const transfers::Digit &digit : digits) {
    SmallVector<int64_t> next;
    for (int64_t sum : sums)
      for (int64_t i = 0; i < digit.size; ++i)
        next.push_back(sum + i * digit.stride);
    sums = std::move(next);
  }
  return sums;
}

/// The first number with the same value in each digit that counts.
static SmallVector<int64_t> classOf(ArrayRef<transfers::Digit> digits) {
  SmallVector<transfers::Digit> own;
  int64_t step = 1;
  for (const transfers::Digit &digit : llvm::reverse(digits)) {
    own.push_back({digit.size, digit.stride == 0 ? 0 : step});
    step *= digit.size;
  }
  std::reverse(own.begin(), own.end());
  return sumDigits(own);
}

/// The digits of a layout over the numbers of elements, in row-major order.
static layout::ValueOr<transfers::TransferDigits>
numberElements(const RegisterLayout &layout, ArrayRef<int64_t> shape,
               int64_t warps, int64_t lanes) {
  transfers::TransferProblem problem;
  problem.registers = layout;
  problem.memory = MemoryLayout::rowMajor(shape);
  problem.elementBits = 1;
  problem.warps = warps;
  return transfers::getDigits(problem, lanes);
}

Placement::Placement(const RegisterLayout &layout, ArrayRef<int64_t> shape,
                     int64_t warps, int64_t lanes, int64_t elementBits)
    : numRegisters(layout::numRegisters(layout, shape, warps * lanes)),
      vectorLength(layout::vectorLength(layout)),
      perWord(std::max<int64_t>(kWordBits / elementBits, 1)) {
  transfers::TransferDigits digits =
      *numberElements(layout, shape, warps, lanes);
  warpPart = sumDigits(digits.warps);
  lanePart = sumDigits(digits.lanes);
  registerPart = sumDigits(digits.registers);
  vectorPart = sumDigits(digits.vector);
  warpClass = classOf(digits.warps);
  laneClass = classOf(digits.lanes);
}

/// The smallest shape that is a whole number of both layouts' tiles.
static SmallVector<int64_t> unitShape(const RegisterLayout &from,
                                      const RegisterLayout &to,
                                      ArrayRef<int64_t> shape) {
  auto *fromTiled = std::get_if<TiledLayout>(&from);
  auto *toTiled = std::get_if<TiledLayout>(&to);
  if (!fromTiled || !toTiled)
    return SmallVector<int64_t>(shape);
  SmallVector<int64_t> unit(shape.size(), 1);
  for (const TiledLayout *tiled : {fromTiled, toTiled}) {
    ArrayRef<int64_t> base = tiled->tiling.front();
    for (auto [size, tile] : llvm::zip_equal(
             llvm::MutableArrayRef(unit).take_back(base.size()), base))
      size = std::lcm(size, tile);
  }
  return unit;
}

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
            int64_t number =
                (holder.lane * from.numRegisters + own.reg) *
                    llvm::divideCeil(from.vectorLength, from.perWord) +
                own.word;
            needs[lane].insert(number);
            gives[holder.lane].insert(number);
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

/// The ways in which shared memory may hold a vector between two layouts.
static SmallVector<MemoryLayout> scratchLayouts(ArrayRef<int64_t> shape,
                                                int64_t elementBits) {
  SmallVector<MemoryLayout> layouts = {MemoryLayout::rowMajor(shape)};
  if (shape.size() >= 2) {
    // The last two dimensions exchanged.
    MemoryLayout transposed = layouts.front();
    size_t last = shape.size() - 1;
    transposed.strides[last - 1] = 1;
    transposed.strides[last] = shape[last - 1];
    layouts.push_back(transposed);
  }
  for (size_t i = 0, e = layouts.size(); i < e; ++i) {
    for (int64_t swizzle : {32, 64, 128}) {
      MemoryLayout swizzled = layouts[i];
      swizzled.swizzleBytes = swizzle;
      layouts.push_back(swizzled);
    }
    // Rows that begin a chunk further on in the banks.
    if (shape.size() < 2)
      continue;
    int64_t padding = std::max<int64_t>(128 / elementBits, 1);
    MemoryLayout padded = layouts[i];
    int64_t row =
        *std::max_element(padded.strides.end() - 2, padded.strides.end());
    for (int64_t &stride : padded.strides)
      if (stride == row)
        stride += padding;
      else if (stride > row)
        stride += stride / row * padding;
    layouts.push_back(padded);
  }
  return layouts;
}

/// Bytes from the first to the last element, in whole rows of banks.
static int64_t scratchBytes(const MemoryLayout &memory, int64_t elementBits) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(memory.shape, memory.strides))
    last += (size - 1) * stride;
  return llvm::alignTo(llvm::divideCeil((last + 1) * elementBits, 8), 128);
}

/// The trip through shared memory, `units` times the same.
static RelayoutCost planScratch(const RegisterLayout &from,
                                const RegisterLayout &to,
                                ArrayRef<int64_t> unit, int64_t units,
                                int64_t elementBits, const Target &target,
                                int64_t warps) {
  RelayoutCost best;
  for (const MemoryLayout &memory : scratchLayouts(unit, elementBits)) {
    transfers::TransferProblem problem;
    problem.memory = memory;
    problem.elementBits = elementBits;
    problem.warps = warps;
    problem.registers = from;
    problem.isLoad = false;
    auto store = transfers::planTransfer(problem, target);
    problem.registers = to;
    problem.isLoad = true;
    auto load = transfers::planTransfer(problem, target);
    if (!store || !load) {
      if (best.reason.empty())
        best.reason = store ? load.reason : store.reason;
      continue;
    }
    int64_t bytes = scratchBytes(memory, elementBits);
    int64_t together = std::min(units, target.sharedMemoryPerBlock / bytes);
    if (together == 0) {
      if (best.reason.empty())
        best.reason = "it takes " + std::to_string(bytes) +
                      " bytes of shared memory, and " + target.name.str() +
                      " has " + std::to_string(target.sharedMemoryPerBlock);
      continue;
    }
    RelayoutCost cost;
    cost.means = Means::SharedMemory;
    cost.scratchBytes = bytes * together;
    // One before the load, and one before the memory is used again.
    cost.barriers = 2 * llvm::divideCeil(units, together);
    for (const auto *plan : {&*store, &*load}) {
      cost.banks.cycles += plan->cost.cycles * units;
      cost.banks.conflicts += plan->cost.conflicts * units;
      cost.moves += plan->selects * units;
      cost.cycles += plan->cycles * units;
    }
    cost.cycles += cost.barriers * kBarrierCycles;
    if (!best.isPossible() || cost.cycles < best.cycles)
      best = cost;
    // Another order of the memory could save conflicts alone, or moves.
    if (best.banks.conflicts == 0 && best.moves == 0)
      break;
  }
  if (!best.isPossible())
    best.reason =
        "elements would cross warps, and through shared memory " + best.reason;
  return best;
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
    cost.reason = "elements are 1 to 64 bits wide, a power of two, not " +
                  std::to_string(elementBits);
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
    cost.reason = "elements that differ are no splat";
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
                  " elements, and no more than " +
                  std::to_string(kMostElements) + " are looked at";
    return cost;
  }
  for (const RegisterLayout *layout : {&from, &to})
    if (auto digits = numberElements(*layout, unit, warps, lanes); !digits) {
      cost.reason = digits.reason;
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
        planScratch(from, to, unit, units, elementBits, target, warps);
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
