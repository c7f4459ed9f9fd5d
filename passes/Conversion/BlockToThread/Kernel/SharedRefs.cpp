//===- SharedRefs.cpp - Layout and alignment of shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/SharedRefs.h"

#include "smalti/layouts/LayoutText.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"
#include "smalti/passes/Layouts/Rules/Rules.h"
#include "smalti/passes/Layouts/Vectors/LayoutValues.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using layout::listText;
using transfers::MemoryLayout;
using transfers::MemorySteps;
using Result = ValueOr<SharedRef>;

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

int64_t SharedRef::getNumElements() const {
  return std::accumulate(layout.shape.begin(), layout.shape.end(), int64_t(1),
                         std::multiplies<>());
}

std::string SharedRef::str() const {
  if (layout.tile.empty() && layout.swizzleBytes == 16)
    return elementBits < 8 ? "packed elements" : "no tile";
  std::string text;
  if (!layout.tile.empty())
    text = "tile " + llvm::join(llvm::map_range(layout.tile,
                                                [](int64_t size) {
                                                  return std::to_string(size);
                                                }),
                                "x");
  if (layout.swizzleBytes != 16)
    text += (text.empty() ? "swizzle " : ", swizzle ") +
            std::to_string(layout.swizzleBytes);
  return text;
}

/// Requires a valid layout.
static SmallVector<MemorySteps> stepsOf(const MemoryLayout &memory) {
  return *transfers::getMemorySteps(memory);
}

/// The offset of an index in elements.
static int64_t addressOf(const MemorySteps &steps, int64_t index) {
  return index % steps.inner * steps.innerStride +
         index / steps.inner * steps.outerStride;
}

bool SharedRef::isStoredAs(const SharedRef &other) const {
  if (elementBits != other.elementBits ||
      layout.swizzleBytes != other.layout.swizzleBytes ||
      layout.shape != other.layout.shape)
    return false;
  for (auto [size, mine, others] :
       llvm::zip_equal(layout.shape, stepsOf(layout), stepsOf(other.layout))) {
    bool isOneRun = size <= mine.inner && size <= others.inner;
    if (size > 1 && (mine.innerStride != others.innerStride ||
                     (!isOneRun && (mine.inner != others.inner ||
                                    mine.outerStride != others.outerStride))))
      return false;
  }
  return true;
}

std::optional<std::string> block_to_thread::checkRef(const SharedRef &ref) {
  if (std::optional<std::string> why = ref.layout.validate(ref.elementBits))
    return why;
  // The rows on which a swizzle depends.
  constexpr unsigned log2Row = 7;
  if (ref.layout.swizzleBytes != 16 && ref.log2Alignment < log2Row)
    return "a swizzle of " + std::to_string(ref.layout.swizzleBytes) +
           " bytes requires that the offset in shared memory is a multiple of "
           "128 bytes; it is only proven to be a multiple of " +
           std::to_string(int64_t(1) << ref.log2Alignment) + " bytes";
  if (ref.elementBits % 8 == 0 &&
      ref.log2Alignment < log2Divisor(ref.elementBytes()))
    return "elements of " + std::to_string(ref.elementBytes()) +
           " bytes require that the offset in shared memory is a multiple of "
           "their size; it is only proven to be a multiple of " +
           std::to_string(int64_t(1) << ref.log2Alignment) + " bytes";
  return std::nullopt;
}

std::optional<std::string>
block_to_thread::checkSwizzleStart(const SharedRef &ref) {
  int64_t period = transfers::swizzlePeriod(ref.layout.swizzleBytes);
  if (ref.layout.swizzleBytes != 16 && ref.log2Alignment < log2Divisor(period))
    return "a swizzle of " + std::to_string(ref.layout.swizzleBytes) +
           " bytes requires that the offset in shared memory is a multiple "
           "of " +
           std::to_string(period) +
           " bytes; it is only proven to be a multiple of " +
           std::to_string(int64_t(1) << ref.log2Alignment) + " bytes";
  return std::nullopt;
}

static Result checked(SharedRef ref) {
  if (std::optional<std::string> why = checkRef(ref))
    return Result::none(*why);
  return ref;
}

Result block_to_thread::getSharedRef(MemRefType type, ArrayAttr transforms,
                                     unsigned log2Alignment) {
  SharedRef ref;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return Result::none("the shape or the strides of the view are dynamic; "
                        "both must be static");
  ref.layout.shape.assign(type.getShape().begin(), type.getShape().end());
  ref.layout.strides.assign(strides.begin(), strides.end());
  // Mbarriers are 64-bit words.
  ref.elementBits =
      inference::getMemory(type) ? inference::getElementBits(type) : 64;
  ref.log2Alignment = log2Alignment;
  if (transforms) {
    inference::LayoutTable table(type.getContext(), 1, 1);
    inference::LayoutId id = table.fromAttribute(transforms, type);
    if (id == inference::kNoLayout)
      return Result::none(
          "the transforms of the shared memory are more than one tile and one "
          "swizzle, which is not supported; remove the others");
    ref.layout.tile.assign(table[id].tile.begin(), table[id].tile.end());
    ref.layout.swizzleBytes = table[id].swizzle;
  }
  return checked(std::move(ref));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The tile size of a dimension; 0 if it is not tiled.
static int64_t tileOf(const MemoryLayout &memory, int64_t dim) {
  int64_t untiled = static_cast<int64_t>(memory.shape.size()) -
                    static_cast<int64_t>(memory.tile.size());
  return dim < untiled ? 0 : memory.tile[dim - untiled];
}

SharedStep block_to_thread::getStep(const SharedRef &ref, int64_t dim) {
  MemorySteps steps = stepsOf(ref.layout)[dim];
  if (int64_t tile = tileOf(ref.layout, dim))
    return {tile, steps.outerStride};
  return {1, ref.layout.strides[dim]};
}

std::optional<unsigned> block_to_thread::log2Bytes(unsigned log2Elements,
                                                   int64_t elementBits) {
  unsigned log2Bits = log2Elements + log2Divisor(elementBits);
  if (log2Bits < 3)
    return std::nullopt;
  return log2Bits - 3;
}

Result block_to_thread::getWindow(const SharedRef &source,
                                  const SharedWindow &window) {
  SharedRef ref = source;
  ref.layout.shape.clear();
  ref.layout.strides.clear();
  ref.layout.tile.clear();
  for (int64_t dim = 0, rank = source.layout.shape.size(); dim < rank; ++dim) {
    int64_t tile = tileOf(source.layout, dim), size = window.sizes[dim],
            stride = window.strides[dim];
    OpFoldResult offset = window.offsets[dim];
    std::string name = "dimension " + std::to_string(dim);
    if (tile > 0) {
      if (stride != 1)
        return Result::none("the view has a stride of " +
                            std::to_string(stride) + " in " + name +
                            ", which is tiled; use stride 1");
      if (size % tile != 0)
        return Result::none(
            "the size of the view in " + name + " is " + std::to_string(size) +
            "; it must be a multiple of the tile size " + std::to_string(tile));
      if (inference::divisorOf(tile, offset) != tile)
        return Result::none(
            "the offset of the view in " + name +
            " cannot be proven to be a multiple of the tile size " +
            std::to_string(tile) +
            "; if it is, state this with 'mosaic_gpu.assume_multiple'");
    }
    SharedStep step = getStep(source, dim);
    unsigned log2Index = log2Divisor(offset), log2Run = log2Divisor(step.run);
    if (log2Index != 62) {
      std::optional<unsigned> log2Step = log2Bytes(
          log2Index - std::min(log2Index, log2Run) + log2Divisor(step.stride),
          source.elementBits);
      if (!log2Step)
        return Result::none(
            "the offset of the view in " + name +
            " cannot be proven to be a multiple of " +
            std::to_string(8 / source.elementBits) +
            " elements, which is one byte; if it is, state this with "
            "'mosaic_gpu.assume_multiple'");
      ref.log2Alignment = std::min(ref.log2Alignment, *log2Step);
    }
    // Its size is 1, and so is its tile, if it has one.
    if (window.isDropped[dim])
      continue;
    if (tile == 0 && !ref.layout.tile.empty())
      return Result::none(name +
                          " of the view is not tiled, but follows a tiled "
                          "dimension; tiled dimensions must be last");
    ref.layout.shape.push_back(size);
    ref.layout.strides.push_back(source.layout.strides[dim] * stride);
    if (tile > 0)
      ref.layout.tile.push_back(tile);
  }
  return checked(std::move(ref));
}

//===----------------------------------------------------------------------===//
// Other shapes
//===----------------------------------------------------------------------===//

Result block_to_thread::transpose(const SharedRef &source,
                                  ArrayRef<int64_t> permutation) {
  SharedRef ref = source;
  ref.layout.tile.clear();
  for (auto [dim, from] : llvm::enumerate(permutation)) {
    ref.layout.shape[dim] = source.layout.shape[from];
    ref.layout.strides[dim] = source.layout.strides[from];
    if (int64_t tile = tileOf(source.layout, from))
      ref.layout.tile.push_back(tile);
    else if (!ref.layout.tile.empty())
      return Result::none(
          "dimension " + std::to_string(from) +
          " is not tiled, but the transpose would move it after a tiled "
          "dimension; tiled dimensions must be last");
  }
  return checked(std::move(ref));
}

/// Whether the indices of one dimension have the same offsets as those of
/// several others that count them in row-major order.
static bool isSplit(const MemorySteps &whole, int64_t size,
                    ArrayRef<MemorySteps> parts, ArrayRef<int64_t> sizes) {
  for (int64_t index = 0; index < size; ++index) {
    int64_t address = 0, rest = index;
    for (size_t part = parts.size(); part-- > 0;) {
      address += addressOf(parts[part], rest % sizes[part]);
      rest /= sizes[part];
    }
    if (address != addressOf(whole, index))
      return false;
  }
  return true;
}

Result block_to_thread::expand(const SharedRef &source,
                               ArrayRef<SmallVector<int64_t>> groupSizes) {
  SharedRef ref = source;
  ref.layout.shape.clear();
  ref.layout.strides.clear();
  ref.layout.tile.clear();
  for (auto [dim, sizes] : llvm::enumerate(groupSizes)) {
    int64_t tile = tileOf(source.layout, dim);
    if (sizes.size() > 1 && !ref.layout.tile.empty())
      return Result::none(
          "the op splits dimension " + std::to_string(dim) +
          ", which follows a tiled dimension; only dimensions before the tiled "
          "ones, or the first tiled one, can be split");
    int64_t stride = source.layout.strides[dim];
    SmallVector<int64_t> strides(sizes.size());
    for (size_t part = sizes.size(); part-- > 0;) {
      strides[part] = stride;
      stride *= sizes[part];
    }
    llvm::append_range(ref.layout.shape, sizes);
    llvm::append_range(ref.layout.strides, strides);
    if (tile > 0)
      ref.layout.tile.push_back(tile);
  }
  Result result = checked(std::move(ref));
  if (!result)
    return result;
  SmallVector<MemorySteps> whole = stepsOf(source.layout),
                           parts = stepsOf(result->layout);
  ArrayRef<MemorySteps> rest = parts;
  for (auto [dim, sizes] : llvm::enumerate(groupSizes)) {
    if (!isSplit(whole[dim], source.layout.shape[dim],
                 rest.take_front(sizes.size()), sizes))
      return Result::none(
          "the op splits dimension " + std::to_string(dim) +
          " inside a tile; use sizes that split it at tile boundaries");
    rest = rest.drop_front(sizes.size());
  }
  return result;
}

Result block_to_thread::collapse(const SharedRef &source,
                                 ArrayRef<int64_t> groups) {
  SharedRef ref = source;
  ref.layout.shape.clear();
  ref.layout.strides.clear();
  ref.layout.tile.clear();
  int64_t dim = 0;
  for (int64_t group : groups) {
    int64_t size = 1, stride = 1;
    for (int64_t part = group; part-- > 0;) {
      // The innermost dimension with a stride.
      if (size == 1)
        stride = source.layout.strides[dim + part];
      size *= source.layout.shape[dim + part];
    }
    int64_t tile = group > 0 ? tileOf(source.layout, dim + group - 1) : 0;
    // A group may be empty.
    if (tile == 0 && !ref.layout.tile.empty())
      return Result::none("dimension " +
                          std::to_string(ref.layout.shape.size()) +
                          " of the result does not have dimensions of the "
                          "source, and follows a tiled dimension; tiled "
                          "dimensions must be last");
    ref.layout.shape.push_back(size);
    ref.layout.strides.push_back(stride);
    if (tile > 0)
      ref.layout.tile.push_back(tile);
    dim += group;
  }
  // A collapse to a scalar does not have groups; it requires one element.
  if (groups.empty() && source.getNumElements() != 1)
    return Result::none("the op collapses " +
                        std::to_string(source.getNumElements()) +
                        " elements to a memref of rank 0, which has 1 element; "
                        "use memory of 1 element");
  if (groups.empty())
    ref.layout.swizzleBytes = 16;
  Result result = checked(std::move(ref));
  if (!result || groups.empty())
    return result;
  SmallVector<MemorySteps> parts = stepsOf(source.layout),
                           whole = stepsOf(result->layout);
  ArrayRef<MemorySteps> rest = parts;
  ArrayRef<int64_t> sizes = source.layout.shape;
  for (auto [index, group] : llvm::enumerate(groups)) {
    if (!isSplit(whole[index], result->layout.shape[index],
                 rest.take_front(group), sizes.take_front(group)))
      return Result::none("the op collapses dimensions of sizes " +
                          listText(sizes.take_front(group)) +
                          ", which are not contiguous in memory; only "
                          "contiguous dimensions can be collapsed");
    rest = rest.drop_front(group);
    sizes = sizes.drop_front(group);
  }
  return result;
}

/// Whether the elements are contiguous.
static bool hasNoGaps(const MemoryLayout &memory) {
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [size, stride] : llvm::zip_equal(memory.shape, memory.strides))
    if (size > 1)
      dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t next = 1;
  for (auto [stride, size] : dims) {
    if (stride != next)
      return false;
    next *= size;
  }
  return true;
}

Result block_to_thread::reinterpret(const SharedRef &source,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> strides) {
  if (!source.layout.tile.empty())
    return Result::none("the source is tiled shared memory, which the op "
                        "cannot reinterpret; use untiled memory");
  SharedRef ref = source;
  ref.layout.shape.assign(shape.begin(), shape.end());
  ref.layout.strides.assign(strides.begin(), strides.end());
  if (ref.getNumElements() != source.getNumElements())
    return Result::none(
        "the source has " + std::to_string(source.getNumElements()) +
        " elements, but the result has " +
        std::to_string(ref.getNumElements()) + "; both must be equal");
  Result result = checked(std::move(ref));
  if (result && (!hasNoGaps(source.layout) || !hasNoGaps(result->layout)))
    return Result::none(
        "the source or the result has gaps between its elements; the elements "
        "of both must be contiguous in memory");
  return result;
}
