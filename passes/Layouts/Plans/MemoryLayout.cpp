//===- MemoryLayout.cpp - Element addresses in shared memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "smalti/layouts/LayoutText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace smalti;
using namespace smalti::transfers;
using layout::listText;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Bytes of a row and of a chunk in the definition of a swizzle.
static constexpr int64_t kSwizzleRow = 128;
static constexpr int64_t kSwizzleChunk = 16;

/// Larger than any shared memory.
static constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();

int64_t transfers::swizzleAddress(int64_t address, int64_t swizzleBytes) {
  int64_t chunks = swizzleBytes / kSwizzleChunk;
  return address ^ (address / kSwizzleRow % chunks * kSwizzleChunk);
}

int64_t transfers::swizzlePeriod(int64_t swizzleBytes) {
  return swizzleBytes / kSwizzleChunk * kSwizzleRow;
}

MemoryLayout MemoryLayout::rowMajor(ArrayRef<int64_t> shape) {
  MemoryLayout memory;
  memory.shape = SmallVector<int64_t>(shape);
  memory.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    memory.strides[dim] = stride;
    stride *= shape[dim];
  }
  return memory;
}

/// The strides of the tiled dimensions, inside a tile and between tiles.
static std::optional<std::string> tileSteps(const MemoryLayout &memory,
                                            SmallVector<MemorySteps> &steps) {
  size_t untiled = memory.shape.size() - memory.tile.size();
  // From the outermost in memory to the innermost.
  SmallVector<size_t> order;
  for (size_t dim = untiled; dim < memory.shape.size(); ++dim)
    order.push_back(dim);
  auto tileOf = [&](size_t dim) { return memory.tile[dim - untiled]; };
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return std::make_pair(memory.strides[a], tileOf(a)) >
           std::make_pair(memory.strides[b], tileOf(b));
  });
  int64_t innermost = memory.strides[order.front()];
  for (size_t dim = 0; dim < untiled; ++dim)
    if (memory.shape[dim] > 1 && memory.strides[dim] < innermost)
      return "dimension " + std::to_string(dim) +
             " of the memory is not tiled and has stride " +
             std::to_string(memory.strides[dim]) + "; it must be at least " +
             std::to_string(innermost) + ", the stride of tiled dimension " +
             std::to_string(order.front()) +
             ", because untiled dimensions must be the outermost in memory";
  int64_t inTile = 1;
  for (size_t dim : llvm::reverse(order)) {
    steps[dim].inner = tileOf(dim);
    steps[dim].innerStride = inTile;
    inTile *= tileOf(dim);
  }
  int64_t outer = inTile, previous = order.back();
  if (memory.strides[previous] != 1)
    return "the innermost tiled dimension of the memory has stride " +
           std::to_string(memory.strides[previous]) + "; it must be 1";
  steps[previous].outerStride = outer;
  for (size_t dim : llvm::reverse(ArrayRef(order).drop_back())) {
    int64_t row = memory.strides[previous] * tileOf(previous);
    if (memory.strides[dim] % row != 0)
      return "stride " + std::to_string(memory.strides[dim]) +
             " of dimension " + std::to_string(dim) +
             " of the memory must be a multiple of " + std::to_string(row) +
             ", the elements that a tile spans in dimension " +
             std::to_string(previous);
    outer *= memory.strides[dim] / row;
    steps[dim].outerStride = outer;
    previous = dim;
  }
  return std::nullopt;
}

layout::ValueOr<SmallVector<MemorySteps>>
transfers::getMemorySteps(const MemoryLayout &memory) {
  using Result = layout::ValueOr<SmallVector<MemorySteps>>;
  if (memory.shape.size() != memory.strides.size())
    return Result::none("memory of shape " + listText(memory.shape) + " has " +
                        std::to_string(memory.strides.size()) +
                        " strides; one for each dimension is required");
  if (memory.tile.size() > memory.shape.size())
    return Result::none("tile " + listText(memory.tile) +
                        " has more dimensions than memory of shape " +
                        listText(memory.shape));
  if (llvm::any_of(memory.shape, [](int64_t size) { return size <= 0; }))
    return Result::none("the sizes of the memory must be positive, but are " +
                        listText(memory.shape));
  if (llvm::any_of(memory.strides, [](int64_t stride) { return stride < 0; }))
    return Result::none(
        "the strides of the memory must not be negative, but are " +
        listText(memory.strides));
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip_equal(memory.shape, memory.strides)) {
    bool isLarge = size > kMaxElements || stride > kMaxElements;
    if (!isLarge)
      span += (size - 1) * stride;
    if (isLarge || span > kMaxElements)
      return Result::none("memory of shape " + listText(memory.shape) +
                          " and strides " + listText(memory.strides) +
                          " spans more than " + std::to_string(kMaxElements) +
                          " elements, the limit; use a smaller shape or "
                          "smaller strides");
  }
  SmallVector<MemorySteps> steps;
  for (auto [size, stride] : llvm::zip_equal(memory.shape, memory.strides))
    steps.push_back({size, stride, 0});
  size_t untiled = memory.shape.size() - memory.tile.size();
  for (auto [index, size] : llvm::enumerate(memory.tile))
    if (size <= 0 || memory.shape[untiled + index] % size != 0)
      return Result::none("tile " + listText(memory.tile) +
                          " does not divide memory of shape " +
                          listText(memory.shape));
  if (!memory.tile.empty())
    if (auto reason = tileSteps(memory, steps))
      return Result::none(*reason);
  return steps;
}

std::optional<std::string> MemoryLayout::validate(int64_t elementBits) const {
  if (elementBits <= 0 || elementBits > 64 ||
      (elementBits & (elementBits - 1)) != 0)
    return "the elements of the memory have " + std::to_string(elementBits) +
           " bits; the width must be a power of two from 1 to 64";
  if (swizzleBytes != 16 && swizzleBytes != 32 && swizzleBytes != 64 &&
      swizzleBytes != 128)
    return "the swizzle of the memory is " + std::to_string(swizzleBytes) +
           " bytes; it must be 16, 32, 64 or 128";
  auto steps = getMemorySteps(*this);
  if (!steps)
    return steps.reason;
  return std::nullopt;
}

int64_t MemoryLayout::bitAddress(ArrayRef<int64_t> index,
                                 int64_t elementBits) const {
  auto steps = getMemorySteps(*this);
  int64_t element = 0;
  for (auto [i, step] : llvm::zip_equal(index, *steps))
    element +=
        i % step.inner * step.innerStride + i / step.inner * step.outerStride;
  int64_t bits = element * elementBits;
  return swizzleAddress(bits / 8, swizzleBytes) * 8 + bits % 8;
}
