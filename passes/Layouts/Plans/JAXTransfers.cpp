//===- JAXTransfers.cpp - Transfers that JAX supports ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits of the planner of JAX 0.10.2, so that inference can reproduce
// JAX's decisions. It models 32 banks of 4 bytes, or more and narrower banks if
// accesses are narrower, and one warp. Each register is one access, and two
// groups of lanes may access their registers in different orders.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "smalti/layouts/NamedLayouts.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace smalti;
using namespace smalti::transfers;
using layout::TiledLayout;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr int64_t kLanes = 32;
static constexpr int64_t kBanks = 32;
static constexpr int64_t kBankBits = 32;
/// The widest access, and the chunk that a swizzle permutes.
static constexpr int64_t kChunkBits = 128;

namespace {
/// The accesses of JAX's plan: one for each value of `steps`.
class JAXPlanner {
public:
  JAXPlanner(const TransferDigits &digits, int64_t swizzleBytes)
      : steps(digits.registers),
        accessBits(digits.vectorLength * digits.elementBits),
        bankBits(std::min(kBankBits, accessBits)), swizzleBytes(swizzleBytes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      int64_t rest = lane, offset = 0;
      bool isFirst = true;
      for (const Digit &digit : llvm::reverse(digits.lanes)) {
        offset += rest % digit.size * digit.stride;
        isFirst &= digit.stride != 0 || rest % digit.size == 0;
        rest /= digit.size;
      }
      laneOffsets.push_back(offset);
      isActive.push_back(isFirst);
    }
    count = 1;
    for (const Digit &step : steps)
      count *= step.size;
  }

  bool hasPlan() const;

private:
  int64_t offsetOf(int64_t access) const {
    int64_t offset = 0;
    for (const Digit &step : llvm::reverse(steps)) {
      offset += access % step.size * step.stride;
      access /= step.size;
    }
    return offset;
  }
  bool conflicts(int64_t offset, int64_t otherOffset,
                 int64_t groupStride) const;

  ArrayRef<Digit> steps;
  int64_t accessBits;
  int64_t bankBits;
  int64_t swizzleBytes;
  int64_t count = 1;
  SmallVector<int64_t, kLanes> laneOffsets;
  SmallVector<bool, kLanes> isActive;
};
} // namespace

bool JAXPlanner::conflicts(int64_t offset, int64_t otherOffset,
                           int64_t groupStride) const {
  int64_t banks = kBanks * (kBankBits / bankBits);
  int64_t together = kLanes / std::max<int64_t>(accessBits / bankBits, 1);
  // Only the first bank of a lane is checked: lanes that differ there also
  // differ in the other banks.
  for (int64_t first = 0; first < kLanes; first += together) {
    SmallVector<bool, 128> isBusy(banks, false);
    for (int64_t lane = first; lane < first + together; ++lane) {
      if (!isActive[lane])
        continue;
      bool isOther = groupStride > 0 && lane / groupStride % 2 == 1;
      int64_t bits = laneOffsets[lane] + (isOther ? otherOffset : offset);
      bits = swizzleAddress(bits / 8, swizzleBytes) * 8 + bits % 8;
      int64_t bank = bits / bankBits % banks;
      if (isBusy[bank])
        return true;
      isBusy[bank] = true;
    }
  }
  return false;
}

bool JAXPlanner::hasPlan() const {
  // The pattern of banks repeats after this many bits.
  int64_t period =
      std::max(swizzlePeriod(swizzleBytes) * 8, kBanks * kBankBits);
  SmallVector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i)
    offsets.push_back(offsetOf(i) % period);
  SmallVector<int64_t> distinct(offsets);
  llvm::sort(distinct);
  distinct.erase(llvm::unique(distinct), distinct.end());
  if (llvm::none_of(distinct, [&](int64_t offset) {
        return conflicts(offset, offset, 0);
      }))
    return true;

  int64_t inner = count;
  llvm::DenseSet<std::pair<int64_t, int64_t>> seen;
  for (const Digit &step : steps) {
    inner /= step.size;
    if (step.stride % (kBanks * bankBits) == 0)
      continue;
    for (int64_t group = 1; group < kLanes; group *= 2)
      for (int64_t by = 1; by < step.size; ++by) {
        // Nearly all of these fail at their first access.
        seen.clear();
        bool fails = false;
        for (int64_t i = 0; i < count && !fails; ++i) {
          int64_t value = i / inner % step.size;
          int64_t other = i + ((value + by) % step.size - value) * inner;
          if (seen.insert({offsets[i], offsets[other]}).second)
            fails = conflicts(offsets[i], offsets[other], group);
        }
        if (!fails)
          return true;
      }
  }
  return false;
}

/// The swizzle that JAX assumes for memory: the width of a row of the tile.
static int64_t impliedSwizzle(const MemoryLayout &memory, int64_t elementBits) {
  size_t untiled = memory.shape.size() - memory.tile.size();
  auto strides = ArrayRef(memory.strides).drop_front(untiled);
  int64_t minor =
      std::min_element(strides.begin(), strides.end()) - strides.begin();
  for (int64_t dim = 0, e = strides.size(); dim < e; ++dim)
    if (strides[dim] == strides[minor] && memory.tile[dim] > memory.tile[minor])
      minor = dim;
  int64_t bytes = memory.tile[minor] * elementBits / 8;
  return bytes == 32 || bytes == 64 || bytes == 128 ? bytes : 16;
}

bool transfers::isTransferInJAX(const TransferProblem &problem,
                                TransferNeed need) {
  const MemoryLayout &memory = problem.memory;
  auto *tiled = std::get_if<TiledLayout>(&problem.registers);
  if (!tiled)
    return memory.tile.empty();
  if (memory.strides.size() >= 2 &&
      memory.strides.back() > memory.strides[memory.strides.size() - 2])
    return memory.tile.size() == 2 && (*tiled == layout::tcgen05Transposed() ||
                                       *tiled == layout::wgmmaTransposed());
  if (need == TransferNeed::Unoptimized)
    return true;
  if (memory.tile.empty() && need == TransferNeed::Downgradable)
    return true;

  TransferProblem untiled = problem;
  if (memory.tile.empty()) {
    untiled.memory.swizzleBytes = 16;
  } else {
    untiled.memory.swizzleBytes = impliedSwizzle(memory, problem.elementBits);
  }
  layout::ValueOr<TransferDigits> digits = getDigits(untiled, kLanes);
  if (!digits || problem.elementBits > kBankBits)
    return false;
  int64_t accessBits = digits->vectorLength * digits->elementBits;
  int64_t accesses = 1;
  for (const Digit &digit : digits->registers)
    accesses *= digit.size;
  if (accesses > kMaxAccesses)
    return false;
  if (accessBits > kChunkBits || accessBits % 8 != 0)
    return false;
  // Accesses must not cross a swizzle chunk. The common divisor of the strides
  // is the known alignment.
  int64_t alignment = 0;
  for (ArrayRef<Digit> list :
       {ArrayRef(digits->registers), ArrayRef(digits->warps),
        ArrayRef(digits->lanes)})
    for (const Digit &digit : list)
      alignment = std::gcd(alignment, digit.stride);
  if (alignment == 0 ||
      (kChunkBits % alignment != 0 && accessBits <= alignment))
    return false;
  return JAXPlanner(*digits, untiled.memory.swizzleBytes).hasPlan();
}
