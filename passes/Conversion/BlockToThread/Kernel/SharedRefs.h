//===- SharedRefs.h - Layout and alignment of shared memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a memref in shared memory can differ from its type: elements
// may be tiled and addresses swizzled. Everything except the offset is known
// while planning.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_SHAREDREFS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_SHAREDREFS_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace smalti::block_to_thread {

/// A memref in shared memory.
struct SharedRef {
  transfers::MemoryLayout layout;
  int64_t elementBits = 0;
  /// 2^n bytes divide the offset of the first element from the start of the
  /// block's dynamic shared memory. The swizzle applies to the whole address;
  /// if `checkSwizzleStart` does not object, that equals the swizzle of the
  /// address relative to the offset.
  unsigned log2Alignment = 0;

  /// Whether the layout differs from the type of the memref, so only ops that
  /// use the reference can access it.
  bool isTransformed() const {
    return !layout.tile.empty() || layout.swizzleBytes != 16 || elementBits < 8;
  }
  int64_t elementBytes() const { return elementBits / 8; }
  int64_t getNumElements() const;
  /// For diagnostics: "tile 8x64, swizzle 128".
  std::string str() const;
  /// Whether elements of the same index have the same distance from the first
  /// element.
  bool isStoredAs(const SharedRef &other) const;
};

template <typename T> using ValueOr = layout::ValueOr<T>;

/// Why addresses cannot be computed for the reference, if they cannot.
std::optional<std::string> checkRef(const SharedRef &ref);

/// Why a swizzled reference does not begin at a period of its swizzle, if it
/// does not.
std::optional<std::string> checkSwizzleStart(const SharedRef &ref);

/// The reference of a static memref of this type with these transforms (null:
/// none), or why it is not supported. Strides of the type are ignored.
ValueOr<SharedRef> getSharedRef(mlir::MemRefType type,
                                mlir::ArrayAttr transforms,
                                unsigned log2Alignment);

/// 2^n bytes divide the size of 2^log2Elements elements; nothing if it may not
/// be a whole number of bytes.
std::optional<unsigned> log2Bytes(unsigned log2Elements, int64_t elementBits);

/// A subview of a memref, without the dropped dimensions.
struct SharedWindow {
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<bool> isDropped;
};
ValueOr<SharedRef> getWindow(const SharedRef &source,
                             const SharedWindow &window);

/// The distance of one index along a dimension: `stride` elements for every
/// `run` indices.
struct SharedStep {
  int64_t run = 1;
  int64_t stride = 1;
};
/// The step of offsets that a window may have: from tile to tile.
SharedStep getStep(const SharedRef &ref, int64_t dim);

ValueOr<SharedRef> transpose(const SharedRef &source,
                             llvm::ArrayRef<int64_t> permutation);
/// Each dimension of the source becomes those of its group.
ValueOr<SharedRef>
expand(const SharedRef &source,
       llvm::ArrayRef<llvm::SmallVector<int64_t>> groupSizes);
/// Each group of dimensions becomes one.
ValueOr<SharedRef> collapse(const SharedRef &source,
                            llvm::ArrayRef<int64_t> groups);
/// The same elements in memory order with another shape.
ValueOr<SharedRef> reinterpret(const SharedRef &source,
                               llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<int64_t> strides);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_SHAREDREFS_H
