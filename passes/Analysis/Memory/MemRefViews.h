//===- MemRefViews.h - Views of a buffer with another type ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_MEMREFVIEWS_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_MEMREFVIEWS_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

#include <optional>

namespace mlir {
class MemRefType;
class OpBuilder;
namespace memref {
class SubViewOp;
} // namespace memref
} // namespace mlir

namespace smalti {

/// Whether `view` shows every element of its source exactly once.
bool isElementPreservingView(mlir::Operation *view);

/// Whether `view` shows only elements of its source.
bool isInsideSource(mlir::Operation *view);

/// The index in the first dimension of `buffer` of everything that its view
/// `memref` shows; null if the view may show more than one index. `isWhole`:
/// the view shows the whole first dimension.
mlir::OpFoldResult getSlotNumber(mlir::Value memref, mlir::Value buffer,
                                 bool *isWhole = nullptr);

/// Recreates `view` on `source`, which has the shape of the old source but may
/// have another offset: slot `slot` of a larger buffer, with `slotElements`
/// elements per slot. Returns null, without creating anything, if the view is
/// not supported.
mlir::Operation *recreateView(mlir::OpBuilder &builder, mlir::Operation *view,
                              mlir::Value source, mlir::Value slot,
                              int64_t slotElements);

/// The dimensions of the source that a subview drops; nothing if its type is
/// ambiguous. Upstream's getDroppedDims() crashes in that case: it counts
/// strides, and several dimensions of size 1 may have the same stride.
std::optional<llvm::SmallBitVector>
findDroppedDims(mlir::memref::SubViewOp view);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_MEMREFVIEWS_H
