//===- LayoutKinds.cpp - Register layout kinds ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/layouts/LayoutAlgebra.h"

#include "smalti/layouts/LayoutText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace smalti::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

static int64_t numElements(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

static bool isPermutation(ArrayRef<int64_t> dims, size_t rank) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  return sorted.size() == rank &&
         llvm::equal(sorted, llvm::seq<int64_t>(0, rank));
}

std::string smalti::layout::toString(const RegisterLayout &layout) {
  if (auto *tiled = std::get_if<TiledLayout>(&layout))
    return tiled->str();
  if (auto *strided = std::get_if<StridedLayout>(&layout))
    return listText(strided->shape) + " strided in chunks of " +
           std::to_string(strided->vectorSize);
  return listText(std::get<SplatLayout>(layout).shape) + " of one scalar";
}

std::optional<std::string>
smalti::layout::validateFor(const RegisterLayout &layout,
                            ArrayRef<int64_t> shape, int64_t threads,
                            int64_t waveSize) {
  if (auto *tiled = std::get_if<TiledLayout>(&layout)) {
    if (auto reason = tiled->validateFor(shape))
      return reason;
    int64_t warps = tiled->numWarps(), lanes = tiled->numLanes();
    if (lanes == waveSize && warps * lanes == threads)
      return std::nullopt;
    return "the layout is for " + std::to_string(warps) + " warps of " +
           std::to_string(lanes) + " lanes, but the vector is held by " +
           std::to_string(threads) + " threads in warps of " +
           std::to_string(waveSize) + " lanes; use a layout for these threads";
  }
  auto *strided = std::get_if<StridedLayout>(&layout);
  ArrayRef<int64_t> own =
      strided ? strided->shape : std::get<SplatLayout>(layout).shape;
  if (own != shape)
    return "the layout is for shape " + listText(own) +
           ", but the vector has shape " + listText(shape) +
           "; both must be equal";
  if (strided)
    return strided->validateForThreads(threads);
  return std::nullopt;
}

int64_t smalti::layout::numRegisters(const RegisterLayout &layout,
                                     ArrayRef<int64_t> shape, int64_t threads) {
  if (auto *tiled = std::get_if<TiledLayout>(&layout))
    return tiled->numRegisters(shape);
  if (auto *strided = std::get_if<StridedLayout>(&layout))
    return strided->numRegisters(threads);
  return 1;
}

int64_t smalti::layout::vectorLength(const RegisterLayout &layout) {
  if (auto *tiled = std::get_if<TiledLayout>(&layout))
    return tiled->vectorLength();
  if (auto *strided = std::get_if<StridedLayout>(&layout))
    return strided->vectorSize;
  return 1;
}

ValueOr<RegisterLayout> smalti::layout::reduce(const RegisterLayout &layout,
                                               ArrayRef<int64_t> shape,
                                               ArrayRef<int64_t> axes,
                                               bool keepDims, int64_t threads) {
  using Result = ValueOr<RegisterLayout>;
  if (auto *tiled = std::get_if<TiledLayout>(&layout)) {
    ValueOr<TiledLayout> result = tiled->reduce(shape.size(), axes, keepDims);
    if (!result)
      return Result::none(result.reason);
    return RegisterLayout(*result);
  }
  SmallVector<int64_t> reduced;
  int64_t last = -1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim))) {
      reduced.push_back(size);
      continue;
    }
    last = dim;
    if (keepDims)
      reduced.push_back(1);
  }
  if (std::get_if<SplatLayout>(&layout))
    return RegisterLayout(SplatLayout{reduced});
  const auto &strided = std::get<StridedLayout>(layout);
  int64_t inner = numElements(shape.drop_front(last + 1));
  if (inner % (strided.vectorSize * threads) != 0)
    return Result::none(
        "dimension " + std::to_string(last) +
        " cannot be reduced in the strided layout: the dimensions after it "
        "have " +
        std::to_string(inner) + " elements, which must be a multiple of " +
        std::to_string(strided.vectorSize * threads) +
        ", the consecutive elements of all threads; use a tiled layout");
  return RegisterLayout(StridedLayout{reduced, strided.vectorSize});
}

ValueOr<RegisterLayout> smalti::layout::reshape(const RegisterLayout &layout,
                                                ArrayRef<int64_t> sourceShape,
                                                ArrayRef<int64_t> targetShape) {
  using Result = ValueOr<RegisterLayout>;
  if (auto *tiled = std::get_if<TiledLayout>(&layout)) {
    ValueOr<TiledLayout> result = tiled->reshape(sourceShape, targetShape);
    if (!result)
      return Result::none(result.reason);
    return RegisterLayout(*result);
  }
  if (numElements(sourceShape) != numElements(targetShape))
    return Result::none("a reshape must keep the number of elements, but " +
                        listText(sourceShape) + " has " +
                        std::to_string(numElements(sourceShape)) + " and " +
                        listText(targetShape) + " has " +
                        std::to_string(numElements(targetShape)));
  SmallVector<int64_t> shape(targetShape);
  if (auto *strided = std::get_if<StridedLayout>(&layout))
    return RegisterLayout(StridedLayout{shape, strided->vectorSize});
  return RegisterLayout(SplatLayout{shape});
}

ValueOr<RegisterLayout>
smalti::layout::transpose(const RegisterLayout &layout, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> permutation) {
  using Result = ValueOr<RegisterLayout>;
  if (auto *tiled = std::get_if<TiledLayout>(&layout)) {
    ValueOr<TiledLayout> result = tiled->transpose(permutation);
    if (!result)
      return Result::none(result.reason);
    return RegisterLayout(*result);
  }
  if (!isPermutation(permutation, shape.size()))
    return Result::none("permutation " + listText(permutation) +
                        " must list each of the " +
                        std::to_string(shape.size()) +
                        " dimensions of the vector once, counted from 0");
  if (std::get_if<StridedLayout>(&layout)) {
    // If only dimensions of size one move, the order of elements does not
    // change.
    SmallVector<int64_t> moved;
    for (int64_t dim : permutation)
      if (shape[dim] > 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved))
      return Result::none(
          "a strided layout requires row-major order, but the permutation " +
          listText(permutation) + " changes the order of shape " +
          listText(shape) + "; use a tiled layout");
  }
  SmallVector<int64_t> transposed;
  for (int64_t dim : permutation)
    transposed.push_back(shape[dim]);
  if (auto *strided = std::get_if<StridedLayout>(&layout))
    return RegisterLayout(StridedLayout{transposed, strided->vectorSize});
  return RegisterLayout(SplatLayout{transposed});
}

ValueOr<RegisterLayout> smalti::layout::bitcast(const RegisterLayout &layout,
                                                ArrayRef<int64_t> sourceShape,
                                                ArrayRef<int64_t> targetShape) {
  using Result = ValueOr<RegisterLayout>;
  int64_t from = sourceShape.back(), to = targetShape.back();
  if (auto *tiled = std::get_if<TiledLayout>(&layout)) {
    ValueOr<TiledLayout> result = tiled->bitcast(from, to);
    if (!result)
      return Result::none(result.reason);
    return RegisterLayout(*result);
  }
  auto *strided = std::get_if<StridedLayout>(&layout);
  if (!strided)
    return Result::none(
        "a vector in the splat layout cannot be bitcast, because the elements "
        "of the result may differ; use a tiled or strided layout");
  if (strided->vectorSize * to % from != 0)
    return Result::none("each chunk of the strided layout has " +
                        std::to_string(strided->vectorSize) +
                        " elements; the number must be a multiple of " +
                        std::to_string(from / std::gcd(from, to)) +
                        ", because the bitcast combines that many elements");
  return RegisterLayout(StridedLayout{SmallVector<int64_t>(targetShape),
                                      strided->vectorSize * to / from});
}
