//===- LayoutChoices.cpp - Candidate register layouts of a vector ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Vectors/LayoutChoices.h"

#include "smalti/layouts/NamedLayouts.h"
#include "smalti/targets/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using layout::PartitionDim;
using layout::TiledLayout;

/// Layouts with more than this many times the registers of another are omitted.
static constexpr int64_t kMaxRepetition = 16;
/// The widest access to memory.
static constexpr int64_t kMaxVectorBits = 128;

//===----------------------------------------------------------------------===//
// MMA layouts
//===----------------------------------------------------------------------===//

/// Adds the accumulator layout of an MMA instruction, with the warps along
/// rows.
static void addAccumulator(const targets::MmaInstruction &mma, int64_t warps,
                           SmallVectorImpl<TiledLayout> &list) {
  if (mma.kind == targets::MmaKind::Fma)
    return;
  TiledLayout block =
      layout::blockLayout(mma.cLayout, mma.cShape(), {warps, 1}, 1, {0});
  if (!llvm::is_contained(list, block))
    list.push_back(std::move(block));
}

SmallVector<TiledLayout>
inference::listTileLayouts(const targets::Target &target, int64_t warps) {
  SmallVector<TiledLayout> list;
  if (target.vendor == targets::Vendor::AMD) {
    for (const targets::MmaInstruction &mma : target.mmas)
      addAccumulator(mma, warps, list);
    return list;
  }
  // Larger tiles first, except on targets with wgmma.
  if (!target.hasWGMMA)
    list = {layout::tcgen05(warps), layout::tcgen05Transposed(warps)};
  list.push_back(layout::wgmma(warps));
  list.push_back(layout::wgmmaTransposed(warps));
  return list;
}

//===----------------------------------------------------------------------===//
// Distributed layouts
//===----------------------------------------------------------------------===//

namespace {

/// The division of a vector: for each dimension, the elements of a register,
/// the lanes and the warps.
class Division {
public:
  explicit Division(ArrayRef<int64_t> shape)
      : vector(shape.size(), 1), lanes(shape.size(), 1),
        warps(shape.size(), 1) {
    for (int64_t size : shape)
      rest.push_back(size & -size);
  }

  bool takeVector(int64_t length) {
    if (rest.back() < length)
      return false;
    vector.back() = length;
    rest.back() /= length;
    return true;
  }
  /// Assign up to `count` lanes or warps to a dimension; return the remaining
  /// count.
  int64_t takeLanes(int64_t dim, int64_t count) {
    return take(lanes, dim, count);
  }
  int64_t takeWarps(int64_t dim, int64_t count) {
    return take(warps, dim, count);
  }

  TiledLayout build(int64_t numWarps, int64_t numLanes) const {
    int64_t rank = vector.size();
    SmallVector<int64_t> ofWarps, ofLane;
    for (int64_t dim = 0; dim < rank; ++dim) {
      ofLane.push_back(vector[dim] * lanes[dim]);
      ofWarps.push_back(ofLane.back() * warps[dim]);
    }
    TiledLayout result;
    result.tiling = {ofWarps, ofLane, SmallVector<int64_t>(vector)};
    result.warpDims = partition(warps, numWarps, -3 * rank);
    result.laneDims = partition(lanes, numLanes, -2 * rank);
    return result.canonical();
  }

private:
  int64_t take(SmallVectorImpl<int64_t> &parts, int64_t dim, int64_t count) {
    int64_t part = std::min(count, rest[dim]);
    parts[dim] *= part;
    rest[dim] /= part;
    return count / part;
  }

  /// `first` is the first of the tiled dimensions, counted from the end.
  static SmallVector<PartitionDim> partition(ArrayRef<int64_t> parts,
                                             int64_t count, int64_t first) {
    SmallVector<PartitionDim> result;
    for (auto [dim, part] : llvm::enumerate(parts)) {
      count /= part;
      if (part > 1)
        result.push_back(PartitionDim::of(first + static_cast<int64_t>(dim)));
    }
    if (count > 1)
      result.insert(result.begin(), PartitionDim::replicated(count));
    return result;
  }

  SmallVector<int64_t> vector, lanes, warps;
  /// The remaining power of two of each dimension.
  SmallVector<int64_t> rest;
};

} // namespace

SmallVector<TiledLayout>
inference::listDistributedLayouts(ArrayRef<int64_t> shape, int64_t elementBits,
                                  int64_t warps, int64_t lanes) {
  SmallVector<TiledLayout> list;
  int64_t rank = shape.size();
  if (rank == 0 || !llvm::isPowerOf2_64(warps) || !llvm::isPowerOf2_64(lanes))
    return list;
  int64_t widest =
      std::max<int64_t>(kMaxVectorBits / std::max<int64_t>(elementBits, 1), 1);
  // The smallest number of threads that hold the same elements.
  int64_t leastReplicas = std::numeric_limits<int64_t>::max();
  auto add = [&](ArrayRef<int64_t> order, int64_t length, int64_t first,
                 bool reversesWarps) {
    Division division(shape);
    if (!division.takeVector(length))
      return;
    int64_t lanesLeft =
        lanes / first * division.takeLanes(order.front(), first);
    for (int64_t dim : order.drop_front())
      lanesLeft = division.takeLanes(dim, lanesLeft);
    lanesLeft = division.takeLanes(order.front(), lanesLeft);
    int64_t warpsLeft = warps;
    SmallVector<int64_t> warpOrder(order);
    if (reversesWarps)
      std::reverse(warpOrder.begin(), warpOrder.end());
    for (int64_t dim : warpOrder)
      warpsLeft = division.takeWarps(dim, warpsLeft);
    int64_t replicas = lanesLeft * warpsLeft;
    if (replicas > leastReplicas)
      return;
    if (replicas < leastReplicas)
      list.clear();
    leastReplicas = replicas;
    list.push_back(division.build(warps, lanes));
  };
  for (int64_t innermost = rank - 1; innermost >= 0; --innermost) {
    SmallVector<int64_t> order{innermost};
    for (int64_t dim = rank - 1; dim >= 0; --dim)
      if (dim != innermost)
        order.push_back(dim);
    for (int64_t length = widest; length >= 1; length /= 2)
      for (int64_t first :
           {lanes, std::min<int64_t>(lanes, 8), std::min<int64_t>(lanes, 4)}) {
        add(order, length, first, false);
        if (rank > 1)
          add(order, length, first, true);
      }
  }
  return list;
}

//===----------------------------------------------------------------------===//
// All candidates
//===----------------------------------------------------------------------===//

std::vector<LayoutId>
inference::listRegisterLayouts(LayoutTable &layouts,
                               const targets::Target &target, VectorType type) {
  int64_t warps = layouts.getWarps(), lanes = layouts.getLanes();
  std::vector<LayoutId> list;
  llvm::DenseSet<LayoutId> seen;
  auto add = [&](LayoutId layout) {
    if (layout != kNoLayout && layouts.fits(layout, type) &&
        seen.insert(layout).second)
      list.push_back(layout);
  };
  for (const TiledLayout &layout : listTileLayouts(target, warps))
    add(layouts.tiled(layout));
  if (warps == layout::kGroupWarps && lanes == layout::kGroupLanes)
    for (StringRef name : layout::layoutNames())
      if (auto layout = layout::lookupLayout(name))
        add(layouts.tiled(*layout));
  add(layouts.widestStrided(type));
  add(layouts.strided(1));
  for (const TiledLayout &layout : listDistributedLayouts(
           type.getShape(), getElementBits(type), warps, lanes))
    add(layouts.tiled(layout));

  int64_t least = std::numeric_limits<int64_t>::max();
  for (LayoutId layout : list)
    least = std::min(least, layouts.countRegisters(layout, type));
  // Registers per thread of an even distribution.
  int64_t share = llvm::divideCeil(type.getNumElements() * getElementBits(type),
                                   32 * layouts.getThreads());
  llvm::erase_if(list, [&](LayoutId layout) {
    int64_t count = layouts.countRegisters(layout, type);
    return count > least * kMaxRepetition ||
           (count > target.registersPerThread && count > share);
  });
  add(layouts.splat());
  return list;
}
