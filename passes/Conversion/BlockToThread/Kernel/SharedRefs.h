//===- SharedRefs.h - Where shared memory is and how it is stored *- C++
//-*-===//
//
// A memref in shared memory is more than its type says: its elements may lie in
// tiles, and its addresses be swizzled. All of it but the offset is known while
// planning.
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
  /// block's dynamic shared memory. The swizzle is that of the whole address;
  /// where `checkSwizzleStart` has nothing to say, it is that of the part
  /// behind the offset.
  unsigned log2Alignment = 0;

  /// Whether elements lie elsewhere than the memref's type says, so that only
  /// ops that know the reference can access them.
  bool isTransformed() const {
    return !layout.tile.empty() || layout.swizzleBytes != 16 || elementBits < 8;
  }
  int64_t elementBytes() const { return elementBits / 8; }
  int64_t getNumElements() const;
  /// As in diagnostics: "tile 8x64, swizzle 128".
  std::string str() const;
  /// Whether elements of the same index are at the same distance from the
  /// first.
  bool isStoredAs(const SharedRef &other) const;
};

template <typename T> using ValueOr = layout::ValueOr<T>;

/// Why it is no reference that an address can be computed for, if it is not.
std::optional<std::string> checkRef(const SharedRef &ref);

/// Why a swizzled one does not begin where its swizzle repeats, if it does not.
std::optional<std::string> checkSwizzleStart(const SharedRef &ref);

/// A static memref of this type, stored with these transforms (null: none); or
/// why it is none. Strides that the type does not say are none.
ValueOr<SharedRef> getSharedRef(mlir::MemRefType type,
                                mlir::ArrayAttr transforms,
                                unsigned log2Alignment);

/// 2^n bytes divide the bytes that 2^log2Elements elements take; nothing where
/// these may end within a byte.
std::optional<unsigned> log2Bytes(unsigned log2Elements, int64_t elementBits);

/// A part of a memref, without the dimensions that are dropped.
struct SharedWindow {
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<bool> isDropped;
};
ValueOr<SharedRef> getWindow(const SharedRef &source,
                             const SharedWindow &window);

/// A step of one index along a dimension as elements of memory: `stride` for
/// `run` indices.
struct SharedStep {
  int64_t run = 1;
  int64_t stride = 1;
};
/// That of an offset that a window may have: from tile to tile.
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
/// The same elements in the order in which they lie, in another shape.
ValueOr<SharedRef> reinterpret(const SharedRef &source,
                               llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<int64_t> strides);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_SHAREDREFS_H
