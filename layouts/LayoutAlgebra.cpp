//===- LayoutAlgebra.cpp - Layouts of block-level vectors, as pure data ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/layouts/LayoutAlgebra.h"

#include "smalti/layouts/LayoutText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace smalti::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// Larger sizes are errors: no block has as many elements, and below the limit
/// the multiplication of two sizes cannot overflow.
static constexpr int64_t maxElements = std::numeric_limits<int32_t>::max();

/// Multiplies positive numbers; no value if the result exceeds `maxElements`.
static std::optional<int64_t> boundedSize(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size > maxElements / count)
      return std::nullopt;
    count *= size;
  }
  return count;
}

/// Splits the last dimensions of `dims` by a tile.
static void applyTile(SmallVectorImpl<TiledDim> &dims, ArrayRef<int64_t> tile) {
  size_t first = dims.size() - tile.size();
  SmallVector<TiledDim> inner;
  for (auto [index, size] : llvm::enumerate(tile)) {
    TiledDim &outer = dims[first + index];
    inner.push_back({outer.logicalDim, outer.stride, size});
    outer.stride *= size;
    outer.size /= size;
  }
  dims.append(inner);
}

/// The number of dimensions of the fully tiled base tile. They are the last
/// dimensions of the tiled shape of any vector. Only they can be dimensions of
/// warps, lanes and the vector.
static int64_t tiledTileRank(const Tiling &tiling) {
  int64_t rank = 0;
  for (ArrayRef<int64_t> tile : tiling)
    rank += tile.size();
  return rank;
}

/// The dimensions of the fully tiled base tile.
static SmallVector<TiledDim> tiledTile(const Tiling &tiling) {
  SmallVector<TiledDim> dims;
  if (tiling.empty())
    return dims;
  for (auto [index, size] : llvm::enumerate(tiling.front()))
    dims.push_back({static_cast<int64_t>(index), 1, size});
  for (ArrayRef<int64_t> tile : ArrayRef(tiling).drop_front())
    applyTile(dims, tile);
  return dims;
}

static int64_t partitionSize(const PartitionDim &part,
                             ArrayRef<TiledDim> dims) {
  return part.isReplicated() ? part.times : dims[dims.size() + part.dim].size;
}

static int64_t partitionCount(ArrayRef<PartitionDim> parts,
                              const Tiling &tiling) {
  SmallVector<TiledDim> dims = tiledTile(tiling);
  int64_t count = 1;
  for (const PartitionDim &part : parts)
    count *= partitionSize(part, dims);
  return count;
}

//===----------------------------------------------------------------------===//
// Validity
//===----------------------------------------------------------------------===//

std::optional<std::string> TiledLayout::validate() const {
  if (tiling.empty())
    return "the tiling of the layout must have at least one tile";
  ArrayRef<int64_t> previous;
  for (ArrayRef<int64_t> tile : tiling) {
    if (tile.empty())
      return "each tile of the layout must have at least one dimension";
    if (llvm::any_of(tile, [](int64_t size) { return size <= 0; }))
      return "tile " + listText(tile) +
             " of the layout must have positive sizes";
    if (!boundedSize(tile))
      return "tile " + listText(tile) + " of the layout has more than " +
             std::to_string(maxElements) +
             " elements, the limit; use a smaller tile";
    if (!previous.empty()) {
      if (tile.size() > previous.size())
        return "tile " + listText(tile) +
               " of the layout has more dimensions than the tile before it, " +
               listText(previous) + ", which it must divide";
      for (auto [outer, inner] :
           llvm::zip_equal(previous.take_back(tile.size()), tile))
        if (outer % inner != 0)
          return "tile " + listText(tile) +
                 " of the layout must divide the tile before it, " +
                 listText(previous) + ", but " + std::to_string(inner) +
                 " does not divide " + std::to_string(outer);
    }
    previous = tile;
  }

  SmallVector<TiledDim> dims = tiledTile(tiling);
  int64_t rank = dims.size();
  SmallVector<bool> used(rank, false);
  auto checkDim = [&](int64_t dim,
                      llvm::StringRef list) -> std::optional<std::string> {
    if (dim >= 0 || dim < -rank)
      return (list + " of the layout has dimension " + llvm::Twine(dim) +
              "; dimensions are counted from the end, so it must be from -" +
              llvm::Twine(rank) + " to -1")
          .str();
    if (used[rank + dim])
      return "dimension " + std::to_string(dim) +
             " is used twice; warp_dims, lane_dims and vector_dim of the "
             "layout must name different dimensions";
    used[rank + dim] = true;
    return std::nullopt;
  };
  auto checkParts = [&](ArrayRef<PartitionDim> parts,
                        llvm::StringRef list) -> std::optional<std::string> {
    SmallVector<int64_t> sizes;
    for (const PartitionDim &part : parts) {
      if (part.isReplicated()) {
        if (part.times <= 0)
          return (list + " of the layout replicates elements " +
                  llvm::Twine(part.times) +
                  " times; the number must be positive")
              .str();
      } else if (auto error = checkDim(part.dim, list)) {
        return error;
      }
      sizes.push_back(partitionSize(part, dims));
    }
    if (!boundedSize(sizes))
      return ("the product of the sizes of " + list +
              " of the layout exceeds the limit of " +
              llvm::Twine(maxElements) + "; use smaller tiles")
          .str();
    return std::nullopt;
  };
  if (auto error = checkParts(warpDims, "warp_dims"))
    return error;
  if (auto error = checkParts(laneDims, "lane_dims"))
    return error;
  return checkDim(vectorDim, "vector_dim");
}

std::optional<std::string>
TiledLayout::validateFor(ArrayRef<int64_t> shape) const {
  if (auto error = validate())
    return error;
  ArrayRef<int64_t> base = tiling.front();
  if (shape.size() < base.size())
    return "shape " + listText(shape) + " has fewer dimensions than " +
           listText(base) +
           ", the first tile of the layout; use a tile of at "
           "most " +
           std::to_string(shape.size()) + " dimensions";
  if (llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return "shape " + listText(shape) +
           " must have positive sizes to be distributed by a layout";
  if (!boundedSize(shape))
    return "shape " + listText(shape) + " has more than " +
           std::to_string(maxElements) +
           " elements, the limit of a layout; use a smaller shape";
  for (auto [size, tile] : llvm::zip_equal(shape.take_back(base.size()), base))
    if (size % tile != 0)
      return "shape " + listText(shape) +
             " must be a multiple of the first tile of the layout, " +
             listText(base) + ", but " + std::to_string(size) +
             " is not a multiple of " + std::to_string(tile);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

int64_t TiledLayout::numWarps() const {
  return partitionCount(warpDims, tiling);
}

int64_t TiledLayout::numLanes() const {
  return partitionCount(laneDims, tiling);
}

int64_t TiledLayout::vectorLength() const {
  SmallVector<TiledDim> dims = tiledTile(tiling);
  return dims[dims.size() + vectorDim].size;
}

SmallVector<TiledDim> TiledLayout::tile(ArrayRef<int64_t> shape) const {
  SmallVector<TiledDim> dims;
  for (auto [index, size] : llvm::enumerate(shape))
    dims.push_back({static_cast<int64_t>(index), 1, size});
  for (ArrayRef<int64_t> tile : tiling)
    applyTile(dims, tile);
  return dims;
}

SmallVector<TiledDim> TiledLayout::registerDims(ArrayRef<int64_t> shape) const {
  SmallVector<TiledDim> dims = tile(shape);
  SmallVector<bool> taken(dims.size(), false);
  taken[dims.size() + vectorDim] = true;
  for (ArrayRef<PartitionDim> parts : {ArrayRef(warpDims), ArrayRef(laneDims)})
    for (const PartitionDim &part : parts)
      if (!part.isReplicated())
        taken[dims.size() + part.dim] = true;
  SmallVector<TiledDim> registers;
  for (auto [dim, isTaken] : llvm::zip_equal(dims, taken))
    if (!isTaken)
      registers.push_back(dim);
  return registers;
}

int64_t TiledLayout::numRegisters(ArrayRef<int64_t> shape) const {
  int64_t count = 1;
  for (const TiledDim &dim : registerDims(shape))
    count *= dim.size;
  return count;
}

SmallVector<int64_t> TiledLayout::elementIndex(ArrayRef<int64_t> shape,
                                               int64_t warp, int64_t lane,
                                               int64_t reg,
                                               int64_t element) const {
  SmallVector<TiledDim> dims = tile(shape);
  SmallVector<int64_t> index(shape.size(), 0);
  auto step = [&](const TiledDim &dim, int64_t &number) {
    index[dim.logicalDim] += number % dim.size * dim.stride;
    number /= dim.size;
  };
  auto stepParts = [&](ArrayRef<PartitionDim> parts, int64_t number) {
    for (const PartitionDim &part : llvm::reverse(parts)) {
      if (part.isReplicated())
        number /= part.times;
      else
        step(dims[dims.size() + part.dim], number);
    }
  };
  stepParts(warpDims, warp);
  stepParts(laneDims, lane);
  SmallVector<TiledDim> registers = registerDims(shape);
  for (const TiledDim &dim : llvm::reverse(registers))
    step(dim, reg);
  step(dims[dims.size() + vectorDim], element);
  return index;
}

bool TiledLayout::isFirstReplica(int64_t warp, int64_t lane) const {
  SmallVector<TiledDim> dims = tiledTile(tiling);
  // The quotient above all parts of the number also repeats the elements.
  auto isFirst = [&](ArrayRef<PartitionDim> parts, int64_t number) {
    for (const PartitionDim &part : llvm::reverse(parts)) {
      int64_t size = partitionSize(part, dims);
      if (part.isReplicated() && number % size != 0)
        return false;
      number /= size;
    }
    return number == 0;
  };
  return isFirst(warpDims, warp) && isFirst(laneDims, lane);
}

/// The tiles without redundant parts; see TiledLayout::canonical.
static Tiling canonicalTiling(const Tiling &tiling) {
  Tiling result = {tiling.front()};
  for (ArrayRef<int64_t> tile : ArrayRef(tiling).drop_front()) {
    while (tile.size() > 1 && tile.front() == 1)
      tile = tile.drop_front();
    if (ArrayRef<int64_t>(result.back()).take_back(tile.size()) != tile)
      result.emplace_back(tile);
  }
  return result;
}

TiledLayout TiledLayout::canonical() const {
  TiledLayout result;
  result.tiling = canonicalTiling(tiling);
  SmallVector<TiledDim> dims = tiledTile(tiling);
  SmallVector<TiledDim> kept = tiledTile(result.tiling);
  // Only dimensions of size one are removed, and the others keep their order.
  // `positions` is the new position of each dimension, counted from the end, or
  // 0.
  SmallVector<int64_t> positions(dims.size(), 0);
  int64_t position = 0;
  for (size_t i = dims.size(); i-- > 0;)
    if (-position < static_cast<int64_t>(kept.size()) &&
        dims[i].size == kept[kept.size() + position - 1].size)
      positions[i] = --position;

  auto moveParts = [&](ArrayRef<PartitionDim> parts,
                       SmallVectorImpl<PartitionDim> &moved) {
    for (const PartitionDim &part : parts) {
      if (partitionSize(part, dims) == 1)
        continue;
      moved.push_back(part);
      if (!part.isReplicated())
        moved.back().dim = positions[dims.size() + part.dim];
    }
  };
  moveParts(warpDims, result.warpDims);
  moveParts(laneDims, result.laneDims);

  result.vectorDim = positions[dims.size() + vectorDim];
  if (result.vectorDim != 0)
    return result;
  // Any dimension of size one can replace the removed vector dimension.
  for (size_t i = kept.size(); i-- > 0;)
    if (kept[i].size == 1) {
      result.vectorDim = static_cast<int64_t>(i) - kept.size();
      return result;
    }
  result.tiling.push_back({1});
  for (SmallVectorImpl<PartitionDim> *parts :
       {&result.warpDims, &result.laneDims})
    for (PartitionDim &part : *parts)
      if (!part.isReplicated())
        --part.dim;
  result.vectorDim = -1;
  return result;
}

std::string TiledLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(tiling, os,
                        [&](ArrayRef<int64_t> tile) { os << listText(tile); });
  os << "]";
  auto printParts = [&](llvm::StringRef name, ArrayRef<PartitionDim> parts) {
    os << ", " << name << " = [";
    llvm::interleaveComma(parts, os, [&](const PartitionDim &part) {
      if (part.isReplicated())
        os << "#mosaic_gpu.Replicated<times = " << part.times << ">";
      else
        os << part.dim;
    });
    os << "]";
  };
  printParts("warp_dims", warpDims);
  printParts("lane_dims", laneDims);
  os << ", vector_dim = " << vectorDim;
  return text;
}

//===----------------------------------------------------------------------===//
// Strided layouts
//===----------------------------------------------------------------------===//

std::optional<std::string> StridedLayout::validate() const {
  if (llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return "shape " + listText(shape) +
           " of the strided layout must have positive sizes";
  std::optional<int64_t> elements = boundedSize(shape);
  if (!elements)
    return "shape " + listText(shape) +
           " of the strided layout has more than " +
           std::to_string(maxElements) +
           " elements, the limit; use a smaller shape";
  if (vectorSize <= 0)
    return "the vector size of the strided layout (elements per chunk) must "
           "be positive, but is " +
           std::to_string(vectorSize);
  if (*elements % vectorSize != 0)
    return "the vector size of the strided layout (elements per chunk) is " +
           std::to_string(vectorSize) + ", which does not divide the " +
           std::to_string(*elements) + " elements of its shape " +
           listText(shape);
  return std::nullopt;
}

std::optional<std::string>
StridedLayout::validateForThreads(int64_t threads) const {
  if (auto error = validate())
    return error;
  int64_t chunks = numElements() / vectorSize;
  if (threads <= 0 || chunks % threads != 0)
    return "the strided layout has " + std::to_string(chunks) + " chunks of " +
           std::to_string(vectorSize) +
           " elements, which cannot be distributed evenly across " +
           std::to_string(threads) +
           " threads; the number of chunks must be a multiple of the number "
           "of threads";
  return std::nullopt;
}

int64_t StridedLayout::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t StridedLayout::numRegisters(int64_t threads) const {
  return numElements() / vectorSize / threads;
}

SmallVector<int64_t> StridedLayout::elementIndex(int64_t threads,
                                                 int64_t thread, int64_t reg,
                                                 int64_t element) const {
  int64_t flat = (reg * threads + thread) * vectorSize + element;
  SmallVector<int64_t> index(shape.size(), 0);
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = flat % shape[dim];
    flat /= shape[dim];
  }
  return index;
}

//===----------------------------------------------------------------------===//
// Block layouts
//===----------------------------------------------------------------------===//

TiledLayout smalti::layout::blockLayout(const TiledLayout &fragment,
                                        ArrayRef<int64_t> fragmentShape,
                                        ArrayRef<int64_t> warps,
                                        int64_t replicatedWarps,
                                        ArrayRef<int> warpOrder) {
  TiledLayout result;
  SmallVector<int64_t> base;
  for (auto [count, size] : llvm::zip_equal(warps, fragmentShape))
    base.push_back(count * size);
  result.tiling.push_back(std::move(base));
  result.tiling.emplace_back(fragmentShape);
  // A fragment that starts with its own shape repeats the previous tile.
  ArrayRef<SmallVector<int64_t>> fragmentTiles = fragment.tiling;
  if (ArrayRef<int64_t>(fragmentTiles.front()) == fragmentShape)
    fragmentTiles = fragmentTiles.drop_front();
  result.tiling.append(fragmentTiles.begin(), fragmentTiles.end());

  int64_t rank = tiledTileRank(result.tiling);
  for (int part : warpOrder) {
    if (part == static_cast<int>(warps.size()))
      result.warpDims.push_back(PartitionDim::replicated(replicatedWarps));
    else
      result.warpDims.push_back(PartitionDim::of(part - rank));
  }
  result.laneDims = fragment.laneDims;
  result.vectorDim = fragment.vectorDim;
  return result.canonical();
}
