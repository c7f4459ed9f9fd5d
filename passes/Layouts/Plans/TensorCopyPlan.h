//===- TensorCopyPlan.h - Slices of tensors as copies in bulk -------------===//
//
// A pure function: from a slice of a tensor in device memory and the layout of
// its memory in shared memory, to the tensor map and the copies (NVIDIA's
// cp.async.bulk.tensor) that move it. No MLIR object takes part.
//
// A copy moves a box: as many elements along each dimension of the map as the
// map says, from the coordinates on that the copy names, to or from one run of
// shared memory in which the map's last dimension is innermost. What is outside
// of the map's extents is filled, or not written.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_TENSORCOPYPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_TENSORCOPYPLAN_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"

namespace smalti::transfers {

// What a tensor map can say, and what its copies ask of addresses.
inline constexpr int64_t kMostTensorMapDims = 5;
inline constexpr int64_t kMostBoxElements = 256;
inline constexpr int64_t kTensorMapStrideBytes = 16;
inline constexpr int64_t kTensorCopyAlignment = 128;

/// More copies of one slice are none that anyone would want.
inline constexpr int64_t kMostTensorCopies = 256;

/// A coordinate that is outside of every tensor, whatever is added to it.
inline constexpr int64_t kOutside = -(int64_t(1) << 30);

/// One list entry for each dimension of the tensor; sizes and strides are in
/// elements.
struct TensorCopyProblem {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<int64_t> strides;
  /// The length of the slice; -1: one element, and the dimension is none of the
  /// shared memory.
  llvm::SmallVector<int64_t> slice;
  /// A number that divides the index at which the slice begins; 0: the index is
  /// zero.
  llvm::SmallVector<int64_t> indexDivisors;
  /// Whether the slice is known to be inside of the tensor along the dimension.
  llvm::SmallVector<bool> isInside;
  /// Of the slice in shared memory.
  MemoryLayout memory;
  int64_t elementBits = 0;
};

/// Lists are from the outermost dimension to the innermost.
struct TensorMap {
  /// 8, 16, 32 or 64; smaller elements are copied as bytes.
  int64_t elementBits = 0;
  llvm::SmallVector<int64_t> extents;
  /// Bytes; the last is the element's size.
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> box;
  int64_t swizzleBytes = 16;

  bool operator==(const TensorMap &other) const {
    return elementBits == other.elementBits && extents == other.extents &&
           strides == other.strides && box == other.box &&
           swizzleBytes == other.swizzleBytes;
  }
};

/// `index * multiplier / divisor` of the slice's index along a dimension of the
/// tensor; the divisor divides the index.
struct CoordinateTerm {
  int64_t dim = 0;
  int64_t multiplier = 1;
  int64_t divisor = 1;
};

/// One copy.
struct TensorPiece {
  /// Bytes from the start of the slice in shared memory, before the swizzle.
  int64_t sharedOffset = 0;
  /// Added to the map's coordinates.
  llvm::SmallVector<int64_t> coordinates;
};

struct TensorCopyPlan {
  TensorMap map;
  /// For each dimension of the map, a sum.
  llvm::SmallVector<llvm::SmallVector<CoordinateTerm, 2>> coordinates;
  llvm::SmallVector<TensorPiece> pieces;
  /// Dimensions of the tensor, of slices of one element, whose index the map
  /// cannot tell to be outside: where one is, the first coordinate is
  /// `kOutside`.
  llvm::SmallVector<int64_t> checkedDims;
};

/// The fewest copies, or the reason why there are none, with the numbers.
layout::ValueOr<TensorCopyPlan>
planTensorCopy(const TensorCopyProblem &problem);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TENSORCOPYPLAN_H
