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

/// Splits `wanted` (a power of two) across the available sizes in the order of
/// `dims`. Returns the part that does not fit.
static int64_t take(MutableArrayRef<int64_t> available, int64_t wanted,
                    ArrayRef<size_t> dims, SmallVectorImpl<int64_t> &taken) {
  taken.assign(available.size(), 1);
  for (size_t dim : dims) {
    taken[dim] = std::min(available[dim], wanted);
    available[dim] /= taken[dim];
    wanted /= taken[dim];
  }
  return wanted;
}

Attribute smalti::chooseBlockedLayout(MLIRContext *context,
                                      ArrayRef<int64_t> shape,
                                      int64_t maxVector,
                                      const BlockShape &block) {
  SmallVector<int64_t> available =
      llvm::map_to_vector(shape, largestPowerOfTwoDivisor);
  auto firstToLast = llvm::to_vector(llvm::seq<size_t>(shape.size()));
  auto lastToFirst = llvm::to_vector(llvm::reverse(firstToLast));
  // Vectors must not leave lanes without elements.
  int64_t vector = std::min(maxVector, available.back());
  int64_t parts = 1;
  for (int64_t size : available)
    parts = std::min(parts * size, block.threads() * maxVector);
  while (vector > 1 && parts < block.threads() * vector)
    vector /= 2;
  available.back() /= vector;

  SmallVector<int64_t> lanes, warps;
  // The wave size is a power of two; the number of warps may not be.
  int64_t spareLanes = take(available, block.waveSize, lastToFirst, lanes);
  int64_t warpsToShare = largestPowerOfTwoDivisor(block.numWarps);
  int64_t spareWarps = take(available, warpsToShare, firstToLast, warps) *
                       (block.numWarps / warpsToShare);

  TiledLayout layout;
  SmallVector<int64_t> outer, inner(lanes);
  inner.back() *= vector;
  for (auto [warp, size] : llvm::zip_equal(warps, inner))
    outer.push_back(warp * size);
  layout.tiling = {outer, inner, {vector}};
  // The tiled shape ends with the warps of each dimension, the lanes of each
  // dimension and the vector.
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
  return mosaic_gpu::TiledLayoutAttr::get(context, layout.canonical());
}

std::optional<BlockTranspose>
smalti::chooseBlockTranspose(MLIRContext *context, ArrayRef<int64_t> shape,
                             int64_t rowVector, int64_t columnVector,
                             const BlockShape &block) {
  int64_t laneColumns =
      std::min(block.waveSize, largestPowerOfTwoDivisor(shape[1]) / rowVector);
  if (laneColumns == 0)
    return std::nullopt;
  int64_t laneRows = block.waveSize / laneColumns;
  SmallVector<int64_t> wave = {laneRows * columnVector,
                               laneColumns * rowVector};
  SmallVector<int64_t> whole = {block.numWarps * wave[0], wave[1]};
  if (shape[0] % whole[0] != 0 || shape[1] % whole[1] != 0)
    return std::nullopt;
  auto create = [&](SmallVector<int64_t> vector, int64_t vectorDim,
                    int64_t waveDim) -> Attribute {
    TiledLayout layout;
    layout.tiling = {whole, wave, {columnVector, rowVector}, vector};
    // The tiled shape ends with warps, 1, lanes along the rows, lanes along the
    // columns, and the dimensions of the block.
    layout.warpDims = {PartitionDim::of(waveDim - 3)};
    layout.laneDims = {PartitionDim::of(waveDim - 1),
                       PartitionDim::of(waveDim)};
    layout.vectorDim = vectorDim;
    return mosaic_gpu::TiledLayoutAttr::get(context, layout.canonical());
  };
  return BlockTranspose{create({rowVector}, -1, -4),
                        create({columnVector, 1}, -2, -5)};
}

Attribute smalti::chooseTileLayout(MLIRContext *context,
                                   ArrayRef<int64_t> shape, int64_t maxVector,
                                   const BlockShape &block) {
  int64_t threads = block.threads();
  int64_t elements = numElements(shape);
  if (elements % threads != 0)
    return chooseBlockedLayout(context, shape, maxVector, block);
  // A vector does not cross rows, so that it is one access even if rows are not
  // contiguous in memory.
  int64_t vector = std::min(maxVector, largestPowerOfTwoDivisor(shape.back()));
  while (vector > 1 && elements % (threads * vector) != 0)
    vector /= 2;
  return mosaic_gpu::WGStridedFragLayoutAttr::get(context, shape, vector);
}

Attribute smalti::getRowVectors(Attribute layout) {
  auto tiled = dyn_cast<mosaic_gpu::TiledLayoutAttr>(layout);
  if (!tiled)
    return layout;
  // The vector is the second last tiled dimension, and registers differ in the
  // last one.
  TiledLayout data = tiled.getLayout();
  if (data.vectorDim != -2 || data.tiling.size() < 2 ||
      data.tiling.back().size() != 1 ||
      data.tiling.back()[0] * data.vectorLength() !=
          data.tiling[data.tiling.size() - 2].back())
    return layout;
  data.tiling.pop_back();
  data.vectorDim = -1;
  for (auto *dims : {&data.warpDims, &data.laneDims})
    for (PartitionDim &dim : *dims) {
      if (dim.isReplicated())
        continue;
      if (dim.dim == -1)
        return layout;
      ++dim.dim;
    }
  return mosaic_gpu::TiledLayoutAttr::get(layout.getContext(),
                                          data.canonical());
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

//===----------------------------------------------------------------------===//
// Layouts that follow from others
//===----------------------------------------------------------------------===//

static std::optional<RegisterLayout> toRegisterLayout(Attribute attribute) {
  if (auto tiled = dyn_cast_or_null<mosaic_gpu::TiledLayoutAttr>(attribute))
    return tiled.getLayout();
  if (auto strided =
          dyn_cast_or_null<mosaic_gpu::WGStridedFragLayoutAttr>(attribute))
    return StridedLayout{SmallVector<int64_t>(strided.getShape()),
                         strided.getVectorSize()};
  if (auto splat =
          dyn_cast_or_null<mosaic_gpu::WGSplatFragLayoutAttr>(attribute))
    return SplatLayout{SmallVector<int64_t>(splat.getShape())};
  return std::nullopt;
}

static Attribute toAttribute(MLIRContext *context,
                             const ValueOr<RegisterLayout> &layout) {
  if (!layout)
    return {};
  if (const auto *tiled = std::get_if<TiledLayout>(&*layout))
    return mosaic_gpu::TiledLayoutAttr::get(context, *tiled);
  if (const auto *strided = std::get_if<StridedLayout>(&*layout)) {
    // Threads have chunks of rows.
    if (strided->shape.empty() ||
        strided->shape.back() % strided->vectorSize != 0)
      return {};
    return mosaic_gpu::WGStridedFragLayoutAttr::get(context, strided->shape,
                                                    strided->vectorSize);
  }
  return mosaic_gpu::WGSplatFragLayoutAttr::get(
      context, std::get<SplatLayout>(*layout).shape);
}

Attribute smalti::getReducedLayout(Attribute layout, ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> axes, bool keepDims,
                                   const BlockShape &block) {
  std::optional<RegisterLayout> from = toRegisterLayout(layout);
  if (!from)
    return {};
  return toAttribute(
      layout.getContext(),
      layout::reduce(*from, shape, axes, keepDims, block.threads()));
}

Attribute smalti::getReshapedLayout(Attribute layout, ArrayRef<int64_t> from,
                                    ArrayRef<int64_t> to) {
  std::optional<RegisterLayout> source = toRegisterLayout(layout);
  if (!source)
    return {};
  return toAttribute(layout.getContext(), layout::reshape(*source, from, to));
}

Attribute smalti::getTransposedLayout(Attribute layout, ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> permutation) {
  std::optional<RegisterLayout> from = toRegisterLayout(layout);
  if (!from)
    return {};
  return toAttribute(layout.getContext(),
                     layout::transpose(*from, shape, permutation));
}

Attribute smalti::getBroadcastOperandLayout(Attribute layout,
                                            ArrayRef<int64_t> operandShape,
                                            ArrayRef<int64_t> resultShape,
                                            ArrayRef<int64_t> dims,
                                            const BlockShape &block) {
  SmallVector<int64_t> added, repeated, shape(resultShape);
  for (int64_t dim = 0; dim < static_cast<int64_t>(resultShape.size()); ++dim) {
    const auto *it = llvm::find(dims, dim);
    if (it == dims.end()) {
      added.push_back(dim);
    } else if (operandShape[it - dims.begin()] != resultShape[dim]) {
      repeated.push_back(dim);
      shape[dim] = 1;
    }
  }
  if (!repeated.empty())
    layout = getReducedLayout(layout, resultShape, repeated, /*keepDims=*/true,
                              block);
  if (!added.empty())
    layout = getReducedLayout(layout, shape, added, /*keepDims=*/false, block);
  return layout;
}
