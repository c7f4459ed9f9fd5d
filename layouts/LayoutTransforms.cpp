//===- LayoutTransforms.cpp - Reduce, reshape, transpose and bitcast ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts of the result such that every thread keeps its elements.
//
//===----------------------------------------------------------------------===//

#include "smalti/layouts/LayoutAlgebra.h"

#include "smalti/layouts/LayoutText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace smalti::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

static int64_t numElements(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

/// The dimensions of a fully tiled tile, outermost first.
static SmallVector<TiledDim> tileDims(const Tiling &tiling) {
  TiledLayout layout;
  layout.tiling = tiling;
  return SmallVector<TiledDim>(
      ArrayRef(layout.tile(tiling.front())).drop_front(tiling.front().size()));
}

/// Adds a vector dimension of size one to the layout.
static void addUnitVector(TiledLayout &layout) {
  layout.tiling.push_back({1});
  for (SmallVector<PartitionDim> *parts : {&layout.warpDims, &layout.laneDims})
    for (PartitionDim &part : *parts)
      if (!part.isReplicated())
        --part.dim;
  layout.vectorDim = -1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reduces dimension `axis` of the tile; with `keepDim`, to size 1.
static TiledLayout reduceAxis(const TiledLayout &layout, int64_t axis,
                              bool keepDim) {
  SmallVector<TiledDim> dims = tileDims(layout.tiling);
  int64_t rank = layout.tiling.front().size();
  TiledLayout result;
  for (ArrayRef<int64_t> tile : layout.tiling) {
    int64_t position = axis - (rank - static_cast<int64_t>(tile.size()));
    SmallVector<int64_t> &kept = result.tiling.emplace_back(tile);
    if (position < 0)
      continue;
    if (keepDim)
      kept[position] = 1;
    else
      kept.erase(kept.begin() + position);
    if (kept.empty())
      result.tiling.pop_back();
  }

  // The new position of a dimension that remains, counted from the end: removed
  // dimensions after it decrease the distance.
  auto isReduced = [&](int64_t dim) {
    return dims[dims.size() + dim].logicalDim == axis;
  };
  auto newPosition = [&](int64_t dim) {
    if (keepDim)
      return dim;
    return dim + llvm::count_if(ArrayRef(dims).take_back(-dim),
                                [&](const TiledDim &removed) {
                                  return removed.logicalDim == axis;
                                });
  };
  auto reduceParts = [&](ArrayRef<PartitionDim> parts,
                         SmallVector<PartitionDim> &reduced) {
    for (const PartitionDim &part : parts) {
      if (part.isReplicated())
        reduced.push_back(part);
      else if (isReduced(part.dim))
        reduced.push_back(
            PartitionDim::replicated(dims[dims.size() + part.dim].size));
      else
        reduced.push_back(PartitionDim::of(newPosition(part.dim)));
    }
  };
  reduceParts(layout.warpDims, result.warpDims);
  reduceParts(layout.laneDims, result.laneDims);
  if (isReduced(layout.vectorDim))
    addUnitVector(result);
  else
    result.vectorDim = newPosition(layout.vectorDim);
  return result.canonical();
}

ValueOr<TiledLayout> TiledLayout::reduce(int64_t rank, ArrayRef<int64_t> axes,
                                         bool keepDims) const {
  using Result = ValueOr<TiledLayout>;
  if (auto reason = validate())
    return Result::none(*reason);
  int64_t tiled = tiling.front().size();
  if (rank < tiled)
    return Result::none(
        "a vector of rank " + std::to_string(rank) +
        " has fewer dimensions than " + listText(tiling.front()) +
        ", the first tile of the layout; use a layout whose "
        "first tile has at most " +
        std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"));
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  for (auto [index, axis] : llvm::enumerate(sorted)) {
    if (axis < 0 || axis >= rank)
      return Result::none("cannot reduce dimension " + std::to_string(axis) +
                          ": the dimensions of the vector are 0 to " +
                          std::to_string(rank - 1));
    if (index > 0 && sorted[index - 1] == axis)
      return Result::none("the dimensions to reduce contain " +
                          std::to_string(axis) + " twice; list it once");
  }
  TiledLayout result = *this;
  for (int64_t axis : llvm::reverse(sorted))
    if (axis >= rank - tiled)
      result = reduceAxis(result, axis - (rank - tiled), keepDims);
  return result;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

namespace {
/// A digit of the number of an element: `size` values of dimension `position`
/// of the tiled shape, or a part of them.
struct Digit {
  int64_t position = 0;
  int64_t size = 1;
  /// The dimension of the result that the digit is a part of, and its stride
  /// there.
  int64_t target = 0;
  int64_t stride = 1;
};

/// Splits the digits of the shape of a vector (major to minor) at the
/// boundaries of the dimensions of another shape, and builds a layout from
/// them.
class Reshaper {
public:
  Reshaper(const TiledLayout &layout, ArrayRef<int64_t> source,
           ArrayRef<int64_t> target)
      : layout(layout), source(source), target(target),
        dims(layout.tile(source)) {
    SmallVector<bool> isTaken(dims.size(), false);
    isTaken[dims.size() + layout.vectorDim] = true;
    for (ArrayRef<PartitionDim> parts :
         {ArrayRef(layout.warpDims), ArrayRef(layout.laneDims)})
      for (const PartitionDim &part : parts)
        if (!part.isReplicated())
          isTaken[dims.size() + part.dim] = true;
    for (bool taken : isTaken)
      isRegister.push_back(!taken);
    for (auto [level, tile] : llvm::enumerate(layout.tiling)) {
      levels.append(
          level == 0 ? source.size() : layout.tiling[level - 1].size(), level);
    }
    levels.append(layout.tiling.back().size(), layout.tiling.size());
  }

  ValueOr<TiledLayout> run() {
    if (std::optional<std::string> reason = cut())
      return ValueOr<TiledLayout>::none(*reason);
    SmallVector<Digit> ordered;
    if (!order(/*keepRegisters=*/true, ordered)) {
      ordered.clear();
      order(/*keepRegisters=*/false, ordered);
    }
    return build(ordered);
  }

private:
  /// Fills `chains`: the digits of each dimension of the result, major first.
  std::optional<std::string> cut();
  /// Orders the digits by tile, in the order of the source as far as possible.
  /// With `keepRegisters`, the digits of registers must keep their order;
  /// otherwise the function fails.
  bool order(bool keepRegisters, SmallVector<Digit> &ordered) const;
  TiledLayout build(ArrayRef<Digit> ordered) const;

  const TiledLayout &layout;
  ArrayRef<int64_t> source, target;
  SmallVector<TiledDim> dims;
  SmallVector<bool> isRegister;
  /// The tile that each of `dims` is the outer part of; 0: not tiled.
  SmallVector<int64_t> levels;
  SmallVector<SmallVector<Digit>> chains;
};
} // namespace

std::optional<std::string> Reshaper::cut() {
  SmallVector<Digit> digits;
  for (int64_t dim = 0, e = source.size(); dim < e; ++dim) {
    SmallVector<Digit> own;
    for (auto [position, part] : llvm::enumerate(dims))
      if (part.logicalDim == dim && part.size > 1)
        own.push_back(
            {static_cast<int64_t>(position), part.size, 0, part.stride});
    llvm::stable_sort(own, [](const Digit &a, const Digit &b) {
      return a.stride > b.stride;
    });
    digits.append(own);
  }
  int64_t vectorPosition = dims.size() + layout.vectorDim;
  ArrayRef<Digit> rest = digits;
  std::optional<Digit> left;
  chains.resize(target.size());
  for (auto [dim, size] : llvm::enumerate(target)) {
    int64_t open = size;
    while (open > 1) {
      Digit digit = left ? *left : rest.front();
      if (!left)
        rest = rest.drop_front();
      left.reset();
      int64_t taken = std::gcd(digit.size, open);
      if (taken != std::min(digit.size, open))
        return "size " + std::to_string(size) + " of dimension " +
               std::to_string(dim) +
               " of the new shape must be a multiple or a divisor of " +
               std::to_string(digit.size) +
               ", the number of parts into which the layout splits source "
               "dimension " +
               std::to_string(dims[digit.position].logicalDim);
      if (taken < digit.size) {
        if (digit.position == vectorPosition)
          return "dimension " + std::to_string(dim) +
                 " of the new shape, of size " + std::to_string(size) +
                 ", ends inside a vector of " +
                 std::to_string(layout.vectorLength()) +
                 " elements that the layout keeps together; use sizes that "
                 "keep these vectors whole";
        left = digit;
        left->size /= taken;
        digit.size = taken;
      }
      open /= taken;
      digit.target = dim;
      digit.stride = open;
      chains[dim].push_back(digit);
    }
  }
  return std::nullopt;
}

bool Reshaper::order(bool keepRegisters, SmallVector<Digit> &ordered) const {
  SmallVector<size_t> heads(chains.size(), 0);
  // The registers' digits in the source's order.
  SmallVector<int64_t> registers;
  size_t count = 0, nextRegister = 0;
  for (ArrayRef<Digit> chain : chains)
    for (const Digit &digit : chain) {
      ++count;
      if (isRegister[digit.position])
        registers.push_back(digit.position);
    }
  llvm::sort(registers);
  while (ordered.size() < count) {
    std::optional<size_t> best;
    for (auto [dim, chain] : llvm::enumerate(chains)) {
      if (heads[dim] == chain.size())
        continue;
      int64_t position = chain[heads[dim]].position;
      if (keepRegisters && isRegister[position] &&
          position != registers[nextRegister])
        continue;
      if (!best || position < chains[*best][heads[*best]].position)
        best = dim;
    }
    if (!best)
      return false;
    ordered.push_back(chains[*best][heads[*best]++]);
    nextRegister += isRegister[ordered.back().position];
  }
  return true;
}

TiledLayout Reshaper::build(ArrayRef<Digit> ordered) const {
  // The remaining size of each dimension inside the tile that ends a level.
  TiledLayout result;
  SmallVector<int64_t> tile(target);
  int64_t last = -1, level = 0;
  for (const Digit &digit : ordered) {
    // A level has every dimension once, in order. The first level is not tiled
    // and consists of registers only.
    int64_t own = levels[digit.position];
    if ((last >= 0 && digit.target <= last) || own != level) {
      result.tiling.push_back(tile);
      level = own;
    }
    last = digit.target;
    tile[digit.target] = digit.stride;
  }
  if (result.tiling.empty())
    result.tiling.push_back(tile);

  SmallVector<TiledDim> newDims = tileDims(result.tiling);
  auto findDim = [&](const Digit &digit) {
    for (auto [index, dim] : llvm::enumerate(newDims))
      if (dim.logicalDim == digit.target && dim.stride == digit.stride &&
          dim.size == digit.size)
        return static_cast<int64_t>(index) -
               static_cast<int64_t>(newDims.size());
    return int64_t(0);
  };
  auto moveParts = [&](ArrayRef<PartitionDim> parts,
                       SmallVector<PartitionDim> &moved) {
    for (const PartitionDim &part : parts) {
      if (part.isReplicated()) {
        moved.push_back(part);
        continue;
      }
      // The pieces of one dimension are in order: each follows the one before
      // it in the same dimension of the result, or in a later one.
      int64_t position = dims.size() + part.dim;
      for (ArrayRef<Digit> chain : chains)
        for (const Digit &digit : chain)
          if (digit.position == position)
            moved.push_back(PartitionDim::of(findDim(digit)));
    }
  };
  moveParts(layout.warpDims, result.warpDims);
  moveParts(layout.laneDims, result.laneDims);
  int64_t vectorPosition = dims.size() + layout.vectorDim;
  const Digit *vector = llvm::find_if(ordered, [&](const Digit &digit) {
    return digit.position == vectorPosition;
  });
  if (vector == ordered.end())
    addUnitVector(result);
  else
    result.vectorDim = findDim(*vector);
  return result.canonical();
}

ValueOr<TiledLayout> TiledLayout::reshape(ArrayRef<int64_t> sourceShape,
                                          ArrayRef<int64_t> targetShape) const {
  using Result = ValueOr<TiledLayout>;
  if (auto reason = validateFor(sourceShape))
    return Result::none(*reason);
  if (targetShape.empty() ||
      llvm::any_of(targetShape, [](int64_t size) { return size <= 0; }))
    return Result::none("the new shape " + listText(targetShape) +
                        " of the reshape must have at least one dimension and "
                        "positive sizes");
  if (numElements(sourceShape) != numElements(targetShape))
    return Result::none("a reshape must keep the number of elements, but " +
                        listText(sourceShape) + " has " +
                        std::to_string(numElements(sourceShape)) + " and " +
                        listText(targetShape) + " has " +
                        std::to_string(numElements(targetShape)));
  ArrayRef<int64_t> base = tiling.front();
  if (targetShape.size() >= base.size() &&
      sourceShape.take_back(base.size() - 1) ==
          targetShape.take_back(base.size() - 1) &&
      targetShape[targetShape.size() - base.size()] % base.front() == 0)
    return *this;
  ValueOr<TiledLayout> result = Reshaper(*this, sourceShape, targetShape).run();
  if (result)
    if (auto reason = result->validateFor(targetShape))
      return Result::none(*reason);
  return result;
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

static std::optional<std::string>
checkPermutation(ArrayRef<int64_t> permutation) {
  SmallVector<bool> seen(permutation.size(), false);
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= static_cast<int64_t>(seen.size()) || seen[dim])
      return "permutation " + listText(permutation) +
             " must list each of the " + std::to_string(seen.size()) +
             " dimensions of the vector once, counted from 0";
    seen[dim] = true;
  }
  return std::nullopt;
}

/// Removes the leading dimensions that a tile does not split, if the tiles
/// after it do not split them either.
static Tiling withoutIdleDims(Tiling tiling) {
  size_t needed = 1;
  for (size_t i = tiling.size(); i-- > 1;) {
    ArrayRef<int64_t> tile = tiling[i], outer = tiling[i - 1];
    while (tile.size() > needed &&
           tile.front() == outer[outer.size() - tile.size()])
      tile = tile.drop_front();
    needed = tile.size();
    tiling[i] = SmallVector<int64_t>(tile);
  }
  return tiling;
}

/// The layout with the same digits on the tiles of the transposed vector, whose
/// dimension `i` is dimension `permutation[i]` of the vector of `layout`.
static TiledLayout withTiling(const TiledLayout &layout, Tiling tiling,
                              ArrayRef<int64_t> permutation) {
  TiledLayout result;
  result.tiling = std::move(tiling);
  SmallVector<TiledDim> dims = tileDims(layout.tiling);
  SmallVector<TiledDim> newDims = tileDims(result.tiling);
  int64_t untiled = permutation.size() - layout.tiling.front().size();
  auto newPosition = [&](int64_t oldPosition) -> int64_t {
    const TiledDim &old = dims[dims.size() + oldPosition];
    for (auto [index, dim] : llvm::enumerate(newDims))
      if (permutation[dim.logicalDim] == old.logicalDim + untiled &&
          dim.stride == old.stride && dim.size == old.size)
        return static_cast<int64_t>(index) -
               static_cast<int64_t>(newDims.size());
    return 0;
  };
  auto moveParts = [&](ArrayRef<PartitionDim> parts,
                       SmallVector<PartitionDim> &moved) {
    for (const PartitionDim &part : parts) {
      if (part.isReplicated())
        moved.push_back(part);
      else if (dims[dims.size() + part.dim].size > 1)
        moved.push_back(PartitionDim::of(newPosition(part.dim)));
    }
  };
  moveParts(layout.warpDims, result.warpDims);
  moveParts(layout.laneDims, result.laneDims);
  if (layout.vectorLength() == 1)
    addUnitVector(result);
  else
    result.vectorDim = newPosition(layout.vectorDim);
  return result.canonical();
}

/// Dimension and stride of each digit of the register number, in one tile.
static SmallVector<std::pair<int64_t, int64_t>>
registerSteps(const TiledLayout &layout, ArrayRef<int64_t> shape) {
  SmallVector<std::pair<int64_t, int64_t>> steps;
  for (const TiledDim &dim : layout.registerDims(shape))
    if (dim.size > 1)
      steps.push_back({dim.logicalDim, dim.stride});
  return steps;
}

ValueOr<TiledLayout>
TiledLayout::transpose(ArrayRef<int64_t> permutation) const {
  using Result = ValueOr<TiledLayout>;
  if (auto reason = validate())
    return Result::none(*reason);
  if (auto reason = checkPermutation(permutation))
    return Result::none(*reason);
  size_t rank = permutation.size();
  if (rank < tiling.front().size())
    return Result::none("a vector of rank " + std::to_string(rank) +
                        " has fewer dimensions than " +
                        listText(tiling.front()) +
                        ", the first tile of the layout; use a layout whose "
                        "first tile has at most " +
                        std::to_string(rank) + " dimensions");
  if (llvm::is_sorted(permutation))
    return *this;

  // Extend every tile to all dimensions: dimensions that it does not split keep
  // the size of the previous tile.
  Tiling permuted;
  SmallVector<int64_t> sizes(rank, 1);
  for (ArrayRef<int64_t> tile : tiling) {
    // A tile of only ones exists for its vector of one element.
    if (!permuted.empty() &&
        llvm::all_of(tile, [](int64_t size) { return size == 1; }))
      continue;
    llvm::copy(tile, sizes.end() - tile.size());
    SmallVector<int64_t> &permutedSizes = permuted.emplace_back();
    for (int64_t dim : permutation)
      permutedSizes.push_back(sizes[dim]);
  }
  TiledLayout result = withTiling(*this, permuted, permutation);
  TiledLayout shorter =
      withTiling(*this, withoutIdleDims(permuted), permutation);
  SmallVector<int64_t> base(permuted.front());
  bool hasSameRegisterOrder =
      llvm::equal(registerSteps(result, base), registerSteps(shorter, base));
  return hasSameRegisterOrder ? shorter : result;
}

//===----------------------------------------------------------------------===//
// Bitcasts
//===----------------------------------------------------------------------===//

ValueOr<TiledLayout> TiledLayout::bitcast(int64_t from, int64_t to) const {
  using Result = ValueOr<TiledLayout>;
  if (auto reason = validate())
    return Result::none(*reason);
  if (vectorDim != -1)
    return Result::none("vector_dim of the layout is " +
                        std::to_string(vectorDim) +
                        "; a bitcast requires a layout whose vector_dim is -1, "
                        "the last dimension");
  TiledLayout result = *this;
  for (SmallVector<int64_t> &tile : result.tiling) {
    if (tile.back() * to % from != 0)
      return Result::none("the last size of tile " + listText(tile) +
                          " of the layout must be a multiple of " +
                          std::to_string(from / std::gcd(from, to)) +
                          ", the number of elements that the bitcast combines; "
                          "use wider tiles");
    tile.back() = tile.back() * to / from;
  }
  return result.canonical();
}
