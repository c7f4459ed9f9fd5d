//===- TileLayouts.cpp - Layouts of element-wise tiles --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/TileLayouts.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace smalti;
using namespace smalti::layout;

static int64_t numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static int64_t largestPowerOfTwoDivisor(int64_t value) {
  return int64_t(1) << llvm::countr_zero(static_cast<uint64_t>(value));
}

/// Splits `wanted` (a power of two) across the available sizes, last dimension
/// first. Returns the part that does not fit.
static int64_t take(MutableArrayRef<int64_t> available, int64_t wanted,
                    SmallVectorImpl<int64_t> &taken) {
  taken.assign(available.size(), 1);
  for (size_t dim = available.size(); dim-- > 0;) {
    taken[dim] = std::min(available[dim], wanted);
    available[dim] /= taken[dim];
    wanted /= taken[dim];
  }
  return wanted;
}

static TiledLayout replicatingLayout(ArrayRef<int64_t> shape,
                                     const BlockShape &block) {
  SmallVector<int64_t> available =
      llvm::map_to_vector(shape, largestPowerOfTwoDivisor);
  SmallVector<int64_t> lanes, warps;
  // The wave size is a power of two; the number of warps may not be.
  int64_t spareLanes = take(available, block.waveSize, lanes);
  int64_t warpsToShare = largestPowerOfTwoDivisor(block.numWarps);
  int64_t spareWarps =
      take(available, warpsToShare, warps) * (block.numWarps / warpsToShare);

  TiledLayout layout;
  SmallVector<int64_t> outer;
  for (auto [warp, lane] : llvm::zip_equal(warps, lanes))
    outer.push_back(warp * lane);
  layout.tiling = {outer, lanes, {1}};
  // The tiled shape ends with the warps of each dimension, the lanes of each
  // dimension and 1.
  auto rank = static_cast<int64_t>(shape.size());
  for (int64_t dim = 0; dim < rank; ++dim) {
    layout.warpDims.push_back(PartitionDim::of(dim - 2 * rank - 1));
    layout.laneDims.push_back(PartitionDim::of(dim - rank - 1));
  }
  if (spareWarps > 1)
    layout.warpDims.push_back(PartitionDim::replicated(spareWarps));
  if (spareLanes > 1)
    layout.laneDims.push_back(PartitionDim::replicated(spareLanes));
  layout.vectorDim = -1;
  return layout.canonical();
}

Attribute smalti::chooseTileLayout(MLIRContext *context,
                                   ArrayRef<int64_t> shape, int64_t maxVector,
                                   const BlockShape &block) {
  int64_t threads = block.threads();
  int64_t elements = numElements(shape);
  if (elements % threads != 0)
    return mosaic_gpu::TiledLayoutAttr::get(context,
                                            replicatingLayout(shape, block));
  // A vector does not cross rows, so that it is one access even if rows are not
  // contiguous in memory.
  int64_t vector = std::min(maxVector, largestPowerOfTwoDivisor(shape.back()));
  while (vector > 1 && elements % (threads * vector) != 0)
    vector /= 2;
  return mosaic_gpu::WGStridedFragLayoutAttr::get(context, shape, vector);
}

int64_t smalti::elementsPerThread(Attribute layout, ArrayRef<int64_t> shape,
                                  const BlockShape &block) {
  if (auto tiled = dyn_cast<mosaic_gpu::TiledLayoutAttr>(layout)) {
    TiledLayout data = tiled.getLayout();
    return data.numRegisters(shape) * data.vectorLength();
  }
  if (isa<mosaic_gpu::WGSplatFragLayoutAttr>(layout))
    return 1;
  return numElements(shape) / block.threads();
}

bool smalti::isReplicated(Attribute layout) {
  auto tiled = dyn_cast<mosaic_gpu::TiledLayoutAttr>(layout);
  if (!tiled)
    return isa<mosaic_gpu::WGSplatFragLayoutAttr>(layout);
  TiledLayout data = tiled.getLayout();
  auto replicates = [](const PartitionDim &dim) { return dim.isReplicated(); };
  return llvm::any_of(data.warpDims, replicates) ||
         llvm::any_of(data.laneDims, replicates);
}
