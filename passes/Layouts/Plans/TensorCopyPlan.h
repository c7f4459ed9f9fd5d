//===- TensorCopyPlan.h - Tensor maps and bulk copies of slices -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the tensor map and the copies (cp.async.bulk.tensor) that move a
// slice of a tensor between global memory and shared memory, without MLIR
// objects.
//
// A copy moves one box of the tensor map to or from contiguous shared memory.
// The box begins at the coordinates of the copy, and the last dimension of the
// map is innermost. Elements outside of the extents of the map are filled
// (load) or not written (store).
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_TENSORCOPYPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_TENSORCOPYPLAN_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"

#include <limits>

namespace smalti::transfers {

// Limits of tensor maps, and the alignment of copies in shared memory.
inline constexpr int64_t kMaxTensorMapDims = 5;
inline constexpr int64_t kMaxBoxElements = 256;
inline constexpr int64_t kTensorMapStrideBytes = 16;
inline constexpr int64_t kTensorCopyAlignment = 128;

/// Limit of the copies of one slice.
inline constexpr int64_t kMaxTensorCopies = 256;

/// A coordinate outside of every tensor, also after an offset is added.
inline constexpr int64_t kOutside = -(int64_t(1) << 30);

/// An extent or a stride that the launch determines.
inline constexpr int64_t kDynamicExtent = std::numeric_limits<int64_t>::min();

/// One list entry for each dimension of the tensor; sizes and strides are in
/// elements, or kDynamicExtent.
struct TensorCopyProblem {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<int64_t> strides;
  /// The length of the slice; -1: one element, and shared memory does not have
  /// the dimension.
  llvm::SmallVector<int64_t> slice;
  /// A divisor of the start index of the slice; 0: the index is zero.
  llvm::SmallVector<int64_t> indexDivisors;
  /// Whether the slice is proven to be in bounds along the dimension.
  llvm::SmallVector<bool> isInside;
  /// The layout of the slice in shared memory.
  MemoryLayout memory;
  int64_t elementBits = 0;
};

/// Lists are ordered from the outermost dimension to the innermost.
struct TensorMap {
  /// 8, 16, 32 or 64; smaller elements are copied as bytes.
  int64_t elementBits = 0;
  llvm::SmallVector<int64_t> extents;
  /// In bytes; the last is the size of an element.
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> box;
  int64_t swizzleBytes = 16;
  /// For a map with dynamic extents or strides: the dimension of the tensor
  /// that each dimension of the map represents. Empty otherwise.
  llvm::SmallVector<int64_t, 0> dims;

  bool operator==(const TensorMap &other) const {
    return elementBits == other.elementBits && extents == other.extents &&
           strides == other.strides && box == other.box &&
           swizzleBytes == other.swizzleBytes && dims == other.dims;
  }
};

/// `index * multiplier / divisor`, where `index` is the start of the slice
/// along a dimension of the tensor and a multiple of the divisor.
struct CoordinateTerm {
  int64_t dim = 0;
  int64_t multiplier = 1;
  int64_t divisor = 1;
};

/// One copy.
struct TensorPiece {
  /// Bytes from the start of the slice in shared memory, before the swizzle.
  int64_t sharedOffset = 0;
  /// Added to the coordinates of the plan.
  llvm::SmallVector<int64_t> coordinates;
};

struct TensorCopyPlan {
  TensorMap map;
  /// One sum for each dimension of the map.
  llvm::SmallVector<llvm::SmallVector<CoordinateTerm, 2>> coordinates;
  llvm::SmallVector<TensorPiece> pieces;
  /// Dimensions of the tensor with slices of one element that the map does not
  /// bounds-check. If the index along one of them is out of bounds, the first
  /// coordinate must be `kOutside`.
  llvm::SmallVector<int64_t> checkedDims;
};

/// The plan with the fewest copies, or the reason why none exists.
layout::ValueOr<TensorCopyPlan>
planTensorCopy(const TensorCopyProblem &problem);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TENSORCOPYPLAN_H
