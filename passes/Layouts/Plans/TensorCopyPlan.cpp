//===- TensorCopyPlan.cpp - Tensor maps and bulk copies of slices ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Plans/TensorCopyPlan.h"

#include "smalti/layouts/LayoutText.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace smalti;
using namespace smalti::transfers;
using layout::listText;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

static constexpr int64_t kMaxExtent = (int64_t(1) << 32) - 1;
static constexpr int64_t kMaxStride = (int64_t(1) << 40) - 1;

namespace {
/// A digit of the slice in shared memory: `size` values that are `step`
/// elements apart along dimension `dim`, and `memoryStride` elements apart in
/// memory.
struct SliceDigit {
  int64_t dim = 0;
  int64_t size = 1;
  int64_t step = 1;
  int64_t memoryStride = 1;
};

/// A dimension of the map under construction.
struct MapDim {
  int64_t extent = 1;
  /// In elements.
  int64_t stride = 1;
  int64_t box = 1;
  SmallVector<CoordinateTerm, 2> terms;
  /// The dimension of the problem that it represents, wholly or in part.
  int64_t dim = 0;
  /// Elements of that dimension per step.
  int64_t step = 1;
  /// Whether it represents a digit of the box.
  bool isInBox = false;
};

/// The problem with the terms of the index of each dimension. A dimension may
/// combine several dimensions of the original problem.
struct Slice {
  TensorCopyProblem problem;
  SmallVector<SmallVector<CoordinateTerm, 2>> terms;
  /// The dimension of the original problem.
  SmallVector<int64_t> origins;
};

class Planner {
public:
  explicit Planner(const Slice &slice) : slice(slice), problem(slice.problem) {}

  layout::ValueOr<TensorCopyPlan> run();

private:
  using Result = layout::ValueOr<TensorCopyPlan>;
  std::optional<std::string> collectDigits();
  /// The plan whose box is the last `count` digits.
  Result build(size_t count) const;
  std::optional<std::string> addBoxDims(ArrayRef<SliceDigit> box,
                                        SmallVectorImpl<MapDim> &dims) const;
  void reduceDims(SmallVectorImpl<MapDim> &dims,
                  SmallVectorImpl<int64_t> &checked) const;
  bool mergeInto(MapDim &outer, MapDim &inner,
                 SmallVectorImpl<int64_t> &checked) const;
  std::optional<std::string> checkLimits(const TensorMap &map) const;

  const Slice &slice;
  const TensorCopyProblem &problem;
  /// In the order of shared memory, from the outermost to the innermost.
  SmallVector<SliceDigit> digits;
};
} // namespace

static bool isDynamic(int64_t number) { return number == kDynamicExtent; }

/// The largest divisor of `size` that is at most `limit` and a multiple of
/// `multiple`; 0 if none exists.
static int64_t largestDivisor(int64_t size, int64_t limit, int64_t multiple) {
  for (int64_t divisor = limit / multiple * multiple; divisor > 0;
       divisor -= multiple)
    if (size % divisor == 0)
      return divisor;
  return 0;
}

/// The dimensions of the tensor that exist in shared memory.
static SmallVector<int64_t> sharedDims(const TensorCopyProblem &problem) {
  SmallVector<int64_t> dims;
  for (auto [dim, length] : llvm::enumerate(problem.slice))
    if (length != -1)
      dims.push_back(static_cast<int64_t>(dim));
  return dims;
}

std::optional<std::string> Planner::collectDigits() {
  auto steps = getMemorySteps(problem.memory);
  if (!steps)
    return steps.reason;
  SmallVector<SliceDigit> all;
  for (auto [dim, step, size] :
       llvm::zip_equal(sharedDims(problem), *steps, problem.memory.shape)) {
    all.push_back({dim, size / step.inner, step.inner, step.outerStride});
    all.push_back({dim, step.inner, 1, step.innerStride});
  }
  llvm::erase_if(all, [](const SliceDigit &digit) { return digit.size == 1; });
  llvm::stable_sort(all, [](const SliceDigit &a, const SliceDigit &b) {
    return a.memoryStride > b.memoryStride;
  });
  // Consecutive tiles are one digit.
  SmallVector<SliceDigit> merged;
  for (const SliceDigit &digit : all) {
    if (!merged.empty() && merged.back().dim == digit.dim &&
        merged.back().step == digit.step * digit.size &&
        merged.back().memoryStride == digit.memoryStride * digit.size) {
      int64_t size = merged.back().size * digit.size;
      merged.back() = digit;
      merged.back().size = size;
      continue;
    }
    merged.push_back(digit);
  }

  int64_t bytes = problem.elementBits / 8;
  int64_t rowBytes = merged.empty() ? bytes : merged.back().size * bytes;
  bool isSwizzled = problem.memory.swizzleBytes > 16;
  if (rowBytes % kTensorMapStrideBytes != 0)
    return "the rows of the slice in shared memory have " +
           std::to_string(rowBytes) + " bytes; a multiple of " +
           std::to_string(kTensorMapStrideBytes) + " bytes is required";
  if (merged.back().memoryStride != 1)
    return "the innermost dimension of the slice in shared memory has stride " +
           std::to_string(merged.back().memoryStride) + "; it must be 1";
  if (problem.strides[merged.back().dim] != 1)
    return "dimension " + std::to_string(merged.back().dim) +
           ", the innermost of the slice in shared memory, has stride " +
           std::to_string(problem.strides[merged.back().dim]) +
           " in the global memref; it must be 1";
  if (isSwizzled && rowBytes % problem.memory.swizzleBytes != 0)
    return "the rows of the slice in shared memory have " +
           std::to_string(rowBytes) + " bytes; a multiple of the swizzle, " +
           std::to_string(problem.memory.swizzleBytes) + " bytes, is required";

  // Split digits that exceed the limit of a box, from the innermost on.
  for (auto [position, digit] : llvm::enumerate(llvm::reverse(merged))) {
    int64_t multiple =
        position == 0 ? std::max<int64_t>(kTensorMapStrideBytes / bytes, 1) : 1;
    int64_t size = digit.size;
    if (position == 0 && isSwizzled)
      size = problem.memory.swizzleBytes / bytes;
    SliceDigit left = digit;
    while (true) {
      if (size > kMaxBoxElements)
        size = largestDivisor(size, kMaxBoxElements, multiple);
      if (size == 0)
        return "the rows of the slice have " + std::to_string(digit.size) +
               " elements, which cannot be split into equal parts of at most " +
               std::to_string(kMaxBoxElements) +
               " elements (the limit of a TMA box) and a multiple of " +
               std::to_string(kTensorMapStrideBytes) +
               " bytes; use a power of two";
      digits.push_back({left.dim, size, left.step, left.memoryStride});
      if (size == left.size)
        break;
      left = {left.dim, left.size / size, left.step * size,
              left.memoryStride * size};
      size = left.size;
      multiple = 1;
    }
  }
  std::reverse(digits.begin(), digits.end());
  return std::nullopt;
}

std::optional<std::string>
Planner::addBoxDims(ArrayRef<SliceDigit> box,
                    SmallVectorImpl<MapDim> &dims) const {
  for (size_t position = 0; position < box.size(); ++position) {
    const SliceDigit &digit = box[position];
    // Digits of one dimension are finer the further in they are.
    const SliceDigit *coarser = nullptr;
    bool isFinest = true;
    for (const SliceDigit &other : box.take_front(position))
      if (other.dim == digit.dim)
        coarser = &other;
    for (const SliceDigit &other : box.drop_front(position + 1))
      if (other.dim == digit.dim)
        isFinest = false;
    int64_t extent = problem.extents[digit.dim];
    MapDim dim;
    dim.dim = digit.dim;
    dim.step = digit.step;
    dim.stride = problem.strides[digit.dim] * digit.step;
    dim.box = digit.size;
    dim.isInBox = true;
    if (isFinest && digit.step != 1)
      return "dimension " + std::to_string(digit.dim) +
             " of the slice: elements that are adjacent in shared memory are " +
             std::to_string(digit.step) +
             " elements apart in the global memref; they must be adjacent";
    if (coarser) {
      dim.extent = coarser->step / digit.step;
    } else {
      if (digit.step > 1 &&
          (isDynamic(extent) || isDynamic(problem.strides[digit.dim])))
        return "dimension " + std::to_string(digit.dim) +
               " of the global memref has a dynamic size or stride, so it "
               "cannot be split into tiles of " +
               std::to_string(digit.step) +
               " elements; use static sizes and strides";
      if (digit.step > 1 && problem.indexDivisors[digit.dim] % digit.step != 0)
        return "the index of the slice in dimension " +
               std::to_string(digit.dim) +
               " is not proven to be a multiple of the tile size " +
               std::to_string(digit.step) +
               "; state it with 'mosaic_gpu.assume_multiple'";
      // Elements outside of the tensor would be inside of the next tile.
      if (extent % digit.step != 0 && !problem.isInside[digit.dim])
        return "dimension " + std::to_string(digit.dim) +
               " of the global memref has " + std::to_string(extent) +
               " elements, which is not a multiple of the tile size " +
               std::to_string(digit.step) + " in shared memory";
      dim.extent = extent / digit.step;
      for (CoordinateTerm term : slice.terms[digit.dim]) {
        int64_t common = std::gcd(term.multiplier, digit.step);
        term.multiplier /= common;
        term.divisor *= digit.step / common;
        dim.terms.push_back(term);
      }
    }
    dims.push_back(std::move(dim));
  }
  return std::nullopt;
}

/// Merges two dimensions whose elements are contiguous.
bool Planner::mergeInto(MapDim &outer, MapDim &inner,
                        SmallVectorImpl<int64_t> &checked) const {
  // A box that exceeds the inner dimension would copy elements of the next row.
  bool isChecked = !problem.isInside[inner.dim];
  if (isDynamic(outer.extent) || isDynamic(inner.extent) ||
      isDynamic(inner.stride) || isDynamic(problem.extents[inner.dim]))
    return false;
  if (outer.isInBox || outer.box != 1 || problem.slice[outer.dim] > 1 ||
      inner.terms.empty() || problem.extents[inner.dim] % inner.step != 0 ||
      (isChecked && problem.slice[inner.dim] > 1) ||
      outer.stride != inner.extent * inner.stride ||
      outer.extent > kMaxExtent / inner.extent)
    return false;
  for (CoordinateTerm term : outer.terms) {
    term.multiplier *= inner.extent;
    inner.terms.push_back(term);
  }
  inner.extent *= outer.extent;
  if (isChecked)
    checked.push_back(inner.dim);
  return true;
}

void Planner::reduceDims(SmallVectorImpl<MapDim> &dims,
                         SmallVectorImpl<int64_t> &checked) const {
  auto isFull = [&] {
    return static_cast<int64_t>(dims.size()) > kMaxTensorMapDims;
  };
  // Remove dimensions of one element.
  for (size_t position = 0; position < dims.size();) {
    const MapDim &dim = dims[position];
    bool isInside = problem.isInside[dim.dim];
    if (dim.isInBox || dim.extent != 1 || problem.slice[dim.dim] > 1 ||
        (!isInside && !isFull())) {
      ++position;
      continue;
    }
    if (!isInside)
      checked.push_back(dim.dim);
    dims.erase(dims.begin() + position);
  }
  while (isFull()) {
    bool isMerged = false;
    for (size_t outer = 0; outer < dims.size() && !isMerged; ++outer)
      for (size_t inner = 0; inner < dims.size() && !isMerged; ++inner)
        if (outer != inner && mergeInto(dims[outer], dims[inner], checked)) {
          dims.erase(dims.begin() + outer);
          isMerged = true;
        }
    if (!isMerged)
      return;
  }
}

std::optional<std::string> Planner::checkLimits(const TensorMap &map) const {
  if (static_cast<int64_t>(map.extents.size()) > kMaxTensorMapDims)
    return "the slice needs a tensor map of " +
           std::to_string(map.extents.size()) +
           " dimensions; TMA supports at most " +
           std::to_string(kMaxTensorMapDims) +
           ", so copy a slice with fewer dimensions, or tile "
           "fewer dimensions of it";
  for (int64_t extent : map.extents)
    if (!isDynamic(extent) && (extent < 1 || extent > kMaxExtent))
      return "the sizes of the tensor map of the global memref are " +
             listText(map.extents) + "; each must be from 1 to 2^32 - 1";
  for (int64_t stride : ArrayRef(map.strides).drop_back())
    if (!isDynamic(stride) && (stride % kTensorMapStrideBytes != 0 ||
                               stride < 1 || stride > kMaxStride))
      return "the tensor map of the global memref has a stride of " +
             std::to_string(stride) + " bytes; it must be a multiple of " +
             std::to_string(kTensorMapStrideBytes) + " bytes below 2^40";
  return std::nullopt;
}

Planner::Result Planner::build(size_t count) const {
  ArrayRef<SliceDigit> box = ArrayRef(digits).take_back(count),
                       outside = ArrayRef(digits).drop_back(count);
  int64_t elements = 1;
  for (const SliceDigit &digit : llvm::reverse(box)) {
    if (digit.memoryStride != elements)
      return Result::none("the slice is not contiguous in shared memory; copy "
                          "to a contiguous view");
    elements *= digit.size;
  }
  SmallVector<MapDim> dims;
  for (int64_t dim = 0, rank = problem.extents.size(); dim < rank; ++dim) {
    if (llvm::any_of(box,
                     [&](const SliceDigit &digit) { return digit.dim == dim; }))
      continue;
    MapDim single;
    single.extent = problem.extents[dim];
    single.stride = problem.strides[dim];
    single.terms = slice.terms[dim];
    single.dim = dim;
    dims.push_back(std::move(single));
  }
  if (auto reason = addBoxDims(box, dims))
    return Result::none(*reason);

  TensorCopyPlan plan;
  reduceDims(dims, plan.checkedDims);
  for (int64_t &dim : plan.checkedDims)
    dim = slice.origins[dim];
  int64_t bytes = problem.elementBits / 8;
  plan.map.elementBits = problem.elementBits;
  plan.map.swizzleBytes = problem.memory.swizzleBytes;
  for (const MapDim &dim : dims) {
    plan.map.extents.push_back(dim.extent);
    // The stride of a dimension of one element is not used.
    plan.map.strides.push_back(dim.extent == 1 && &dim != &dims.back()
                                   ? kTensorMapStrideBytes
                               : isDynamic(dim.stride) ? kDynamicExtent
                                                       : dim.stride * bytes);
    plan.map.box.push_back(dim.box);
    plan.map.dims.push_back(slice.origins[dim.dim]);
    plan.coordinates.push_back(dim.terms);
  }
  if (llvm::none_of(plan.map.extents, isDynamic) &&
      llvm::none_of(plan.map.strides, isDynamic))
    plan.map.dims.clear();
  if (auto reason = checkLimits(plan.map))
    return Result::none(*reason);

  int64_t copies = 1;
  for (const SliceDigit &digit : outside) {
    copies *= digit.size;
    if (copies > kMaxTensorCopies)
      return Result::none(
          "the slice must be split into more than " +
          std::to_string(kMaxTensorCopies) +
          " TMA copies, which is the limit for one op; copy smaller slices");
  }
  for (int64_t copy = 0; copy < copies; ++copy) {
    TensorPiece piece;
    piece.coordinates.assign(dims.size(), 0);
    int64_t left = copy;
    for (const SliceDigit &digit : llvm::reverse(outside)) {
      int64_t value = left % digit.size;
      left /= digit.size;
      piece.sharedOffset += value * digit.memoryStride * bytes;
      // Only the coarsest part of a dimension has terms.
      for (auto [position, dim] : llvm::enumerate(dims))
        if (dim.dim == digit.dim && !dim.terms.empty())
          piece.coordinates[position] += value * digit.step / dim.step;
    }
    plan.pieces.push_back(std::move(piece));
  }
  for (const TensorPiece &piece : plan.pieces)
    if (piece.sharedOffset % kTensorCopyAlignment != 0)
      return Result::none(
          "the slice exceeds one TMA copy, which has at most " +
          std::to_string(kMaxTensorMapDims) + " dimensions of " +
          std::to_string(kMaxBoxElements) + " elements, so it is split into " +
          std::to_string(copies) + " copies; one of them begins at byte " +
          std::to_string(piece.sharedOffset) +
          " of the slice in shared memory, which is not a multiple of " +
          std::to_string(kTensorCopyAlignment) +
          "; copy a slice with fewer elements, or whose rows are a multiple "
          "of " +
          std::to_string(kTensorCopyAlignment) + " bytes");
  return plan;
}

Planner::Result Planner::run() {
  if (auto reason = collectDigits())
    return Result::none(*reason);
  std::string reason;
  for (size_t count = digits.size(); count > 0; --count) {
    Result result = build(count);
    if (result)
      return result;
    reason = result.reason;
  }
  return Result::none(reason);
}

/// Converts elements smaller than a byte to bytes; returns a reason on failure.
static std::optional<std::string> useBytes(Slice &slice) {
  TensorCopyProblem &problem = slice.problem;
  int64_t perByte = 8 / problem.elementBits;
  int64_t packed = -1, sharedDim = -1;
  for (auto [position, dim] : llvm::enumerate(sharedDims(problem)))
    if (problem.memory.strides[position] == 1 && problem.slice[dim] > 1) {
      packed = dim;
      sharedDim = static_cast<int64_t>(position);
    }
  if (packed < 0 || problem.strides[packed] != 1)
    return "elements of " + std::to_string(problem.elementBits) +
           " bits must be copied as bytes, but no dimension of the slice is "
           "contiguous in both global and shared memory";
  MemoryLayout &memory = problem.memory;
  int64_t firstTiled = memory.shape.size() - memory.tile.size();
  if (llvm::any_of(problem.extents, isDynamic) ||
      llvm::any_of(problem.strides, isDynamic))
    return "elements of " + std::to_string(problem.elementBits) +
           " bits must be copied as bytes, which requires static sizes and "
           "strides of the global memref; one is dynamic";
  SmallVector<int64_t *> counts{
      &problem.extents[packed], &problem.slice[packed],
      &problem.indexDivisors[packed], &memory.shape[sharedDim]};
  if (sharedDim >= firstTiled)
    counts.push_back(&memory.tile[sharedDim - firstTiled]);
  for (int64_t dim = 0, rank = problem.strides.size(); dim < rank; ++dim)
    if (dim != packed && problem.extents[dim] > 1)
      counts.push_back(&problem.strides[dim]);
  for (int64_t dim = 0, rank = memory.strides.size(); dim < rank; ++dim)
    if (dim != sharedDim && memory.shape[dim] > 1)
      counts.push_back(&memory.strides[dim]);
  for (int64_t *number : counts) {
    if (*number % perByte != 0)
      return "elements of " + std::to_string(problem.elementBits) +
             " bits are copied as bytes, so all sizes, strides, indices and "
             "tiles must be multiples of " +
             std::to_string(perByte) +
             " elements; one is only proven to be a multiple of " +
             std::to_string(*number);
    *number /= perByte;
  }
  for (CoordinateTerm &term : slice.terms[packed])
    term.divisor *= perByte;
  problem.elementBits = 8;
  return std::nullopt;
}

/// Merges two dimensions if the slice covers the whole inner dimension and the
/// elements are contiguous on both sides.
static bool mergeWhole(Slice &slice) {
  TensorCopyProblem &problem = slice.problem;
  MemoryLayout &memory = problem.memory;
  SmallVector<int64_t> dims = sharedDims(problem);
  int64_t untiled = memory.shape.size() - memory.tile.size();
  for (int64_t inner = untiled - 1; inner >= 0; --inner)
    for (int64_t outer = untiled - 1; outer >= 0; --outer) {
      int64_t from = dims[outer], to = dims[inner];
      if (inner == outer || !problem.isInside[to] ||
          isDynamic(problem.extents[from]) || isDynamic(problem.strides[to]) ||
          problem.slice[to] != problem.extents[to] ||
          problem.strides[from] != problem.extents[to] * problem.strides[to] ||
          memory.strides[outer] != memory.shape[inner] * memory.strides[inner])
        continue;
      // The index along the inner dimension is zero.
      int64_t size = problem.extents[to];
      slice.terms[to] = slice.terms[from];
      for (CoordinateTerm &term : slice.terms[to])
        term.multiplier *= size;
      problem.extents[to] *= problem.extents[from];
      problem.slice[to] *= problem.slice[from];
      problem.indexDivisors[to] = problem.indexDivisors[from] * size;
      problem.isInside[to] = problem.isInside[from];
      memory.shape[inner] *= memory.shape[outer];
      auto erase = [](auto &list, int64_t position) {
        list.erase(list.begin() + position);
      };
      erase(problem.extents, from);
      erase(problem.strides, from);
      erase(problem.slice, from);
      erase(problem.indexDivisors, from);
      erase(problem.isInside, from);
      slice.origins[to] = slice.origins[from];
      erase(slice.terms, from);
      erase(slice.origins, from);
      erase(memory.shape, outer);
      erase(memory.strides, outer);
      return true;
    }
  return false;
}

layout::ValueOr<TensorCopyPlan>
transfers::planTensorCopy(const TensorCopyProblem &problem) {
  using Result = layout::ValueOr<TensorCopyPlan>;
  if (auto reason = problem.memory.validate(problem.elementBits))
    return Result::none(*reason);
  size_t rank = problem.extents.size();
  if (problem.strides.size() != rank || problem.slice.size() != rank ||
      problem.indexDivisors.size() != rank || problem.isInside.size() != rank ||
      sharedDims(problem).size() != problem.memory.shape.size())
    return Result::none("the slice " + listText(problem.slice) +
                        " and the global memref of shape " +
                        listText(problem.extents) + " have different ranks");
  Slice slice{problem, {}, {}};
  for (int64_t dim = 0; dim < static_cast<int64_t>(rank); ++dim) {
    slice.terms.push_back({CoordinateTerm{dim}});
    slice.origins.push_back(dim);
  }
  if (problem.elementBits < 8)
    if (auto reason = useBytes(slice))
      return Result::none(*reason);

  Result best = Planner(slice).run();
  while (mergeWhole(slice)) {
    Result merged = Planner(slice).run();
    if (merged && (!best || merged->pieces.size() < best->pieces.size()))
      best = merged;
  }
  return best;
}
