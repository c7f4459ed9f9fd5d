//===- ReductionPlan.cpp - Plan of a reduction ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Registers/Reductions.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace smalti;
using namespace smalti::block_to_thread;
using layout::PartitionDim;
using layout::TiledDim;
using llvm::ArrayRef;
using llvm::SmallVector;
using Role = ThreadDigit::Role;

/// The index of an element that the first thread holds.
static SmallVector<int64_t> getIndex(const Distribution &distribution,
                                     const ThreadGrid &grid, int64_t reg,
                                     int64_t element) {
  ArrayRef<int64_t> shape = distribution.getShape();
  if (distribution.getKind() == Distribution::Kind::Tiled)
    return distribution.getTiled().elementIndex(shape, 0, 0, reg, element);
  layout::StridedLayout strided{SmallVector<int64_t>(shape),
                                distribution.getVectorLength()};
  return strided.elementIndex(grid.numThreads, 0, reg, element);
}

/// The digits of a thread's id, major to minor.
static SmallVector<ThreadDigit> getDigits(const Distribution &from,
                                          ArrayRef<int64_t> axes,
                                          bool reducesAll,
                                          const ThreadGrid &grid) {
  SmallVector<ThreadDigit> digits;
  if (from.getKind() == Distribution::Kind::Strided) {
    // Threads share a result only if everything is reduced to a scalar.
    Role role = reducesAll ? Role::Reduced : Role::Kept;
    digits.push_back({grid.waveSize, grid.numWarps(), role});
    digits.push_back({1, grid.waveSize, role});
    return digits;
  }
  const layout::TiledLayout &tiled = from.getTiled();
  SmallVector<TiledDim> dims = tiled.tile(from.getShape());
  auto add = [&](ArrayRef<PartitionDim> parts, int64_t divisor) {
    for (const PartitionDim &part : llvm::reverse(parts)) {
      ThreadDigit digit{divisor, part.times, Role::Repeated};
      if (!part.isReplicated()) {
        const TiledDim &dim = dims[dims.size() + part.dim];
        digit.size = dim.size;
        digit.role = llvm::is_contained(axes, dim.logicalDim) ? Role::Reduced
                                                              : Role::Kept;
      }
      divisor *= digit.size;
      if (digit.size > 1)
        digits.push_back(digit);
    }
  };
  add(tiled.laneDims, 1);
  add(tiled.warpDims, grid.waveSize);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

ReductionPlan block_to_thread::planReduction(const Distribution &from,
                                             const Distribution *to,
                                             ArrayRef<int64_t> axes,
                                             const ThreadGrid &grid) {
  ReductionPlan plan;
  plan.reducesElements = from.getVectorLength() > 1 &&
                         (!to || llvm::is_contained(axes, from.getVectorDim()));
  // By the remaining part of an index.
  std::map<SmallVector<int64_t>, int64_t> resultRegisters;
  plan.sources.resize(to ? to->getNumRegisters() : 1);
  if (to)
    for (int64_t reg = 0; reg < to->getNumRegisters(); ++reg)
      resultRegisters[getIndex(*to, grid, reg, 0)] = reg;
  for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg) {
    SmallVector<int64_t> index = getIndex(from, grid, reg, 0), left;
    for (auto [dim, value] : llvm::enumerate(index))
      if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
        left.push_back(value);
    plan.sources[to ? resultRegisters.find(left)->second : 0].push_back(reg);
  }

  plan.digits = getDigits(from, axes, /*reducesAll=*/!to, grid);
  for (const ThreadDigit &digit : plan.digits) {
    bool isLane = digit.divisor < grid.waveSize;
    if (digit.role == Role::Kept)
      plan.keptGroups *= digit.size;
    if (digit.role != Role::Reduced)
      continue;
    if (!isLane) {
      plan.parts *= digit.size;
      continue;
    }
    for (int64_t step = 1; step < digit.size; step *= 2)
      plan.laneBits.push_back(digit.divisor * step);
  }
  llvm::sort(plan.laneBits);
  return plan;
}
