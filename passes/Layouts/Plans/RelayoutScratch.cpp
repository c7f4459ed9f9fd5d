//===- RelayoutScratch.cpp - Placement and shared memory round trip -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Plans/RelayoutScratch.h"

#include "smalti/passes/Layouts/Plans/TransferDigits.h"
#include "smalti/targets/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace smalti;
using namespace smalti::relayouts;
using layout::RegisterLayout;
using layout::TiledLayout;
using llvm::ArrayRef;
using llvm::SmallVector;
using targets::Target;
using transfers::MemoryLayout;

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

/// The first number with the same values in all digits that have a stride.
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

std::optional<std::string>
relayouts::checkPlacement(const RegisterLayout &layout, ArrayRef<int64_t> shape,
                          int64_t warps, int64_t lanes) {
  auto digits = numberElements(layout, shape, warps, lanes);
  if (!digits)
    return digits.reason;
  return std::nullopt;
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
  nearest.assign(lanes, SmallVector<int64_t>(lanes, int64_t(-1)));
  for (int64_t lane = 0; lane < lanes; ++lane)
    for (int64_t holder = 0; holder < lanes; ++holder) {
      int64_t &best = nearest[lane][laneClass[holder]];
      if (best < 0 || llvm::popcount(static_cast<uint64_t>(holder ^ lane)) <
                          llvm::popcount(static_cast<uint64_t>(best ^ lane)))
        best = holder;
    }
}

SmallVector<int64_t> relayouts::patternShape(const RegisterLayout &from,
                                             const RegisterLayout &to,
                                             ArrayRef<int64_t> shape) {
  auto *fromTiled = std::get_if<TiledLayout>(&from);
  auto *toTiled = std::get_if<TiledLayout>(&to);
  if (!fromTiled || !toTiled)
    return SmallVector<int64_t>(shape);
  SmallVector<int64_t> pattern(shape.size(), 1);
  for (const TiledLayout *tiled : {fromTiled, toTiled}) {
    ArrayRef<int64_t> base = tiled->tiling.front();
    for (auto [size, tile] : llvm::zip_equal(
             llvm::MutableArrayRef(pattern).take_back(base.size()), base))
      size = std::lcm(size, tile);
  }
  return pattern;
}

/// Candidate layouts of the vector in shared memory.
static SmallVector<MemoryLayout> scratchLayouts(ArrayRef<int64_t> shape,
                                                int64_t elementBits) {
  SmallVector<MemoryLayout> layouts = {MemoryLayout::rowMajor(shape)};
  if (shape.size() >= 2) {
    // The last two dimensions swapped.
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
    // Rows padded by one 16-byte chunk.
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

/// Bytes from the first to the last element, rounded up to 128.
static int64_t scratchBytes(const MemoryLayout &memory, int64_t elementBits) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(memory.shape, memory.strides))
    last += (size - 1) * stride;
  return llvm::alignTo(llvm::divideCeil((last + 1) * elementBits, 8), 128);
}

ScratchTrip relayouts::planScratch(const RegisterLayout &from,
                                   const RegisterLayout &to,
                                   ArrayRef<int64_t> pattern, int64_t repeats,
                                   int64_t elementBits, Target target,
                                   int64_t warps) {
  // Transposed reads cannot be emitted.
  target.transposedReads = {};
  ScratchTrip best;
  for (const MemoryLayout &memory : scratchLayouts(pattern, elementBits)) {
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
      if (best.cost.reason.empty())
        best.cost.reason = store ? load.reason : store.reason;
      continue;
    }
    int64_t bytes =
        llvm::alignTo(scratchBytes(memory, elementBits),
                      transfers::swizzlePeriod(memory.swizzleBytes));
    int64_t together = std::min(repeats, target.sharedMemoryPerBlock / bytes);
    if (together == 0) {
      if (best.cost.reason.empty())
        best.cost.reason = "the relayout needs " + std::to_string(bytes) +
                           " bytes of shared memory; a block on " +
                           target.name.str() + " has at most " +
                           std::to_string(target.sharedMemoryPerBlock) +
                           " bytes, so use a smaller vector";
      continue;
    }
    RelayoutCost cost;
    cost.means = Means::SharedMemory;
    cost.scratchBytes = bytes * together;
    // One barrier before the load, and one before the memory is reused.
    cost.barriers = 2 * llvm::divideCeil(repeats, together);
    for (const auto *plan : {&*store, &*load}) {
      cost.banks.cycles += plan->cost.cycles * repeats;
      cost.banks.conflicts += plan->cost.conflicts * repeats;
      cost.moves += plan->selects * repeats;
      cost.cycles += plan->cycles * repeats;
    }
    cost.cycles += cost.barriers * kBarrierCycles;
    if (!best.cost.isPossible() || cost.cycles < best.cost.cycles)
      best = {cost, memory, *store, *load, bytes, together};
    // Another memory layout can only reduce conflicts or moves.
    if (best.cost.banks.conflicts == 0 && best.cost.moves == 0)
      break;
  }
  if (!best.cost.isPossible())
    best.cost.reason =
        "elements move between warps, which requires shared memory: " +
        best.cost.reason;
  return best;
}
