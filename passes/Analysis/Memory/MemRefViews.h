//===- MemRefViews.h - Views of a buffer that gets another type -----------===//

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

/// Whether `view` shows all elements of its source, each once.
bool isElementPreservingView(mlir::Operation *view);

/// Whether `view` shows nothing but elements of its source.
bool isInsideSource(mlir::Operation *view);

/// The index in the first dimension of `buffer` of all that its view `memref`
/// shows: null where it may show more than that. `isWhole`: it shows the first
/// dimension as it is.
mlir::OpFoldResult getSlotNumber(mlir::Value memref, mlir::Value buffer,
                                 bool *isWhole = nullptr);

/// Makes `view` again on `source`, which has the shape of the old source but
/// may have another offset: a slot of `slotElements` elements in a larger
/// buffer of which it is the slot number `slot`. Null, with nothing created,
/// where there is no rule for such a view.
mlir::Operation *recreateView(mlir::OpBuilder &builder, mlir::Operation *view,
                              mlir::Value source, mlir::Value slot,
                              int64_t slotElements);

/// The dimensions of the source that a subview drops; nothing where its type
/// does not tell. Upstream's getDroppedDims() crashes there: it counts strides,
/// of which several dimensions of size 1 may have the same.
std::optional<llvm::SmallBitVector>
findDroppedDims(mlir::memref::SubViewOp view);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_MEMREFVIEWS_H
