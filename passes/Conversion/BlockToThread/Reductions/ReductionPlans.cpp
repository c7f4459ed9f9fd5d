//===- ReductionPlans.cpp - Plans of reductions and scans -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Reductions/ReductionPlans.h"

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

/// The exchange between the threads that differ in `Reduced` digits.
static WarpExchange getExchange(ArrayRef<ThreadDigit> digits,
                                int64_t waveSize) {
  WarpExchange exchange;
  exchange.digits.assign(digits.begin(), digits.end());
  for (const ThreadDigit &digit : digits) {
    if (digit.role == Role::Kept)
      exchange.keptGroups *= digit.size;
    if (digit.role == Role::Reduced && digit.divisor >= waveSize)
      exchange.parts *= digit.size;
  }
  return exchange;
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

  plan.warps = getExchange(getDigits(from, axes, /*reducesAll=*/!to, grid),
                           grid.waveSize);
  for (const ThreadDigit &digit : plan.warps.digits)
    if (digit.role == Role::Reduced && digit.divisor < grid.waveSize)
      for (int64_t step = 1; step < digit.size; step *= 2)
        plan.laneBits.push_back(digit.divisor * step);
  llvm::sort(plan.laneBits);
  return plan;
}

layout::ValueOr<ScanPlan>
block_to_thread::planScan(const Distribution &distribution, int64_t dim,
                          const ThreadGrid &grid) {
  using Kind = ScanDigit::Kind;
  bool isStrided = distribution.getKind() == Distribution::Kind::Strided;
  if (isStrided && distribution.getShape().size() > 1)
    return layout::ValueOr<ScanPlan>::none(
        "in a strided layout, only vectors with one dimension can be scanned; "
        "use a tiled layout");
  ScanPlan plan;
  plan.splitsElements =
      distribution.getVectorLength() > 1 && distribution.getVectorDim() == dim;
  int64_t length = plan.splitsElements ? distribution.getVectorLength() : 1;
  plan.items = distribution.getNumRegisters() * length;
  // By the distance of elements whose digit differs by one.
  std::map<int64_t, ScanDigit> digits;
  if (plan.splitsElements)
    digits[distribution.getVectorStride()] = {Kind::Register, length, 1, {}};
  if (isStrided) {
    int64_t lane = distribution.getVectorLength();
    digits[lane] = {Kind::Lane, grid.waveSize, 1, {}};
    digits[lane * grid.waveSize] = {
        Kind::Warp, grid.numWarps(), grid.waveSize, {}};
    digits[lane * grid.numThreads] = {
        Kind::Register, distribution.getNumRegisters(), length, {}};
  } else {
    const layout::TiledLayout &tiled = distribution.getTiled();
    ArrayRef<int64_t> shape = distribution.getShape();
    int64_t step = length;
    SmallVector<TiledDim> registers = tiled.registerDims(shape);
    for (const TiledDim &part : llvm::reverse(registers)) {
      if (part.logicalDim == dim && part.size > 1)
        digits[part.stride] = {Kind::Register, part.size, step, {}};
      step *= part.size;
    }
    SmallVector<TiledDim> dims = tiled.tile(shape);
    auto add = [&](ArrayRef<PartitionDim> parts, Kind kind, int64_t divisor) {
      for (const PartitionDim &part : llvm::reverse(parts)) {
        int64_t size = part.times;
        if (!part.isReplicated()) {
          const TiledDim &tiledDim = dims[dims.size() + part.dim];
          size = tiledDim.size;
          if (tiledDim.logicalDim == dim && size > 1)
            digits[tiledDim.stride] = {kind, size, divisor, {}};
        }
        divisor *= size;
      }
    };
    add(tiled.laneDims, Kind::Lane, 1);
    add(tiled.warpDims, Kind::Warp, grid.waveSize);
  }
  // Threads that differ only in a digit that is already scanned have the same
  // totals.
  SmallVector<ThreadDigit> threads =
      getDigits(distribution, /*axes=*/{}, /*reducesAll=*/false, grid);
  for (auto &[stride, digit] : digits) {
    if (digit.size == 1)
      continue;
    if (digit.kind != Kind::Register) {
      auto &own = *llvm::find_if(threads, [&, step = digit.step](auto &thread) {
        return thread.divisor == step && thread.size > 1;
      });
      own.role = Role::Reduced;
      if (digit.kind == Kind::Warp)
        digit.warps = getExchange(threads, grid.waveSize);
      own.role = Role::Repeated;
    }
    plan.digits.push_back(std::move(digit));
  }
  return plan;
}
