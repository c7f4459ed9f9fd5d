//===- MemRefViews.cpp - Views of a buffer with another type --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemRefViews.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Integers/IntegerSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;

bool smalti::isElementPreservingView(Operation *view) {
  return isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
             memref::TransposeOp, mosaic_gpu::WithTransformsOp>(view);
}

bool smalti::isInsideSource(Operation *view) {
  return isa<memref::SubViewOp>(view) || isElementPreservingView(view);
}

OpFoldResult smalti::getSlotNumber(Value memref, Value buffer, bool *isWhole) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (isWhole)
    *isWhole = false;
  if (!type || type.getRank() == 0 || type.isDynamicDim(0))
    return {};
  SmallVector<Operation *> views;
  for (Value value = memref; value != buffer;) {
    Operation *view = value.getDefiningOp();
    if (!view || !isInsideSource(view))
      return {};
    views.push_back(view);
    value = cast<ViewLikeOpInterface>(view).getViewSource();
  }
  for (Operation *view : llvm::reverse(views)) {
    if (isa<memref::CastOp, mosaic_gpu::WithTransformsOp>(view))
      continue;
    auto window = dyn_cast<memref::SubViewOp>(view);
    if (!window)
      return {};
    OpFoldResult offset = window.getMixedOffsets().front();
    std::optional<int64_t> size =
        evaluateConstant(window.getMixedSizes().front());
    if (size == 1)
      return offset;
    if (size != type.getDimSize(0) || evaluateConstant(offset) != 0 ||
        evaluateConstant(window.getMixedStrides().front()) != 1)
      return {};
  }
  if (isWhole)
    *isWhole = true;
  return {};
}

/// A cast keeps its static strides, replaced by the source's static strides,
/// and accepts any offset.
static MemRefType getCastType(MemRefType oldType, MemRefType source) {
  auto [strides, offset] = oldType.getStridesAndOffset();
  auto [sourceStrides, sourceOffset] = source.getStridesAndOffset();
  for (auto [stride, sourceStride] : llvm::zip_equal(strides, sourceStrides))
    if (!ShapedType::isDynamic(stride) && !ShapedType::isDynamic(sourceStride))
      stride = sourceStride;
  auto layout = StridedLayoutAttr::get(oldType.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(oldType.getShape(), oldType.getElementType(), layout,
                         oldType.getMemorySpace());
}

/// The type of `view` on a source of type `source`; null if it cannot be
/// inferred.
static MemRefType inferViewType(Operation *view, MemRefType source) {
  auto oldType = dyn_cast<MemRefType>(view->getResult(0).getType());
  if (!oldType)
    return {};
  if (auto subview = dyn_cast<memref::SubViewOp>(view))
    return memref::SubViewOp::inferRankReducedResultType(
        oldType.getShape(), source, subview.getMixedOffsets(),
        subview.getMixedSizes(), subview.getMixedStrides());
  // Transforms are the same for every slot.
  if (isa<mosaic_gpu::WithTransformsOp>(view))
    return source;
  if (auto transpose = dyn_cast<memref::TransposeOp>(view)) {
    if (!source.isStrided())
      return {};
    auto [strides, offset] = source.getStridesAndOffset();
    ArrayRef<int64_t> shape = source.getShape();
    SmallVector<int64_t> newShape, newStrides;
    for (AffineExpr dim : transpose.getPermutation().getResults()) {
      unsigned from = cast<AffineDimExpr>(dim).getPosition();
      newShape.push_back(shape[from]);
      newStrides.push_back(strides[from]);
    }
    return MemRefType::get(
        newShape, source.getElementType(),
        StridedLayoutAttr::get(source.getContext(), offset, newStrides),
        source.getMemorySpace());
  }
  if (isa<memref::CastOp>(view)) {
    if (!oldType.isStrided() || !source.isStrided())
      return {};
    return getCastType(oldType, source);
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(view)) {
    FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
        source, oldType.getShape(), expand.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(view)) {
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(
            source, collapse.getReassociationIndices()))
      return {};
    return memref::CollapseShapeOp::computeCollapsedType(
        source, collapse.getReassociationIndices());
  }
  return {};
}

/// The strides of a reinterpret_cast do not depend on its source.
static MemRefType getReinterpretedType(MemRefType oldType) {
  auto [strides, offset] = oldType.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(oldType.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(oldType.getShape(), oldType.getElementType(), layout,
                         oldType.getMemorySpace());
}

/// reinterpret_cast ignores the offset of its source, so the offset of the slot
/// must be added.
static Operation *recreateReinterpretCast(OpBuilder &builder,
                                          memref::ReinterpretCastOp cast,
                                          Value source, Value slot,
                                          int64_t slotElements) {
  Location loc = cast.getLoc();
  Value start = arith::MulIOp::create(
      builder, loc, slot,
      arith::ConstantIndexOp::create(builder, loc, slotElements));
  OpFoldResult offset = cast.getMixedOffsets().front();
  if (!isConstantIntValue(offset, 0))
    start = arith::AddIOp::create(
        builder, loc, start,
        getValueOrCreateConstantIndexOp(builder, loc, offset));
  auto result = memref::ReinterpretCastOp::create(
      builder, loc, getReinterpretedType(cast.getType()), source,
      OpFoldResult(start), cast.getMixedSizes(), cast.getMixedStrides());
  result->setDiscardableAttrs(cast->getDiscardableAttrDictionary());
  return result;
}

Operation *smalti::recreateView(OpBuilder &builder, Operation *view,
                                Value source, Value slot,
                                int64_t slotElements) {
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(view))
    return recreateReinterpretCast(builder, cast, source, slot, slotElements);
  auto sourceType = dyn_cast<MemRefType>(source.getType());
  MemRefType type = sourceType ? inferViewType(view, sourceType) : MemRefType();
  if (!type)
    return nullptr;
  Operation *result = builder.clone(*view);
  result->setOperand(0, source);
  result->getResult(0).setType(type);
  return result;
}

std::optional<llvm::SmallBitVector>
smalti::findDroppedDims(memref::SubViewOp view) {
  MemRefType result = view.getType();
  MemRefType full = memref::SubViewOp::inferResultType(
      view.getSourceType(), view.getStaticOffsets(), view.getStaticSizes(),
      view.getStaticStrides());
  llvm::SmallBitVector dropped(full.getRank());
  if (full.getRank() == result.getRank())
    return dropped;
  SmallVector<int64_t> from, to;
  int64_t offset;
  if (failed(full.getStridesAndOffset(from, offset)) ||
      failed(result.getStridesAndOffset(to, offset)))
    return std::nullopt;
  int64_t kept = 0;
  for (int64_t dim = 0; dim < full.getRank(); ++dim) {
    if (kept < result.getRank() &&
        full.getDimSize(dim) == result.getDimSize(kept) &&
        (from[dim] == to[kept] || ShapedType::isDynamic(from[dim]) ||
         ShapedType::isDynamic(to[kept])))
      ++kept;
    else if (full.getDimSize(dim) == 1)
      dropped.set(dim);
    else
      return std::nullopt;
  }
  if (kept != result.getRank())
    return std::nullopt;
  return dropped;
}
