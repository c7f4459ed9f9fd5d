//===- IndexedOps.cpp - Indexed accesses and atomics ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/dialects/TritonXLA/Verification.h"
#include "smalti/targets/Text.h"

using namespace mlir;
using namespace smalti::triton_xla;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// Checks the indices of an access to `memref` by the lanes of `lanes`, which
/// is a tile or a scalar.
static LogicalResult verifyAccess(Operation *op, MemRefType memref,
                                  ValueRange indices, Type lanes) {
  if (getElementTypeOrSelf(lanes) != memref.getElementType())
    return op->emitOpError("accessed values and memref must have the same "
                           "element type, but the values are ")
           << getElementTypeOrSelf(lanes) << " and the memref elements "
           << memref.getElementType();
  if (indices.size() != static_cast<size_t>(memref.getRank()))
    return op->emitOpError("has ")
           << smalti::counted(indices.size(), "index", "indices")
           << ", but the memref has "
           << smalti::counted(memref.getRank(), "dimension")
           << "; one index for each dimension is required";
  auto tile = dyn_cast<RankedTensorType>(lanes);
  for (auto [position, index] : llvm::enumerate(indices)) {
    Type element = getElementTypeOrSelf(index);
    if (!element.isIndex() && !element.isInteger(32) && !element.isInteger(64))
      return op->emitOpError("index #")
             << position << " has elements of " << element
             << "; index, i32 or i64 is required";
    auto type = dyn_cast<RankedTensorType>(index.getType());
    if (type && (!tile || type.getShape() != tile.getShape()))
      return op->emitOpError("index #")
             << position << " is " << type
             << "; it must be a scalar or have the shape of the accessed "
                "elements, "
             << lanes;
  }
  return success();
}

static void addAtomicEffects(OpOperand &destination, MemoryOrdering ordering,
                             Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &destination);
  effects.emplace_back(MemoryEffects::Write::get(), &destination);
  if (ordering == MemoryOrdering::Relaxed)
    return;
  // Other accesses must not move across.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// GatherTileOp, GatherOp, ScatterOp
//===----------------------------------------------------------------------===//

LogicalResult GatherTileOp::verify() {
  RankedTensorType tile = getTile().getType(), indices = getIndices().getType(),
                   result = getResult().getType();
  auto dim = static_cast<int64_t>(getDim());
  if (failed(verifyDim(*this, dim, tile)))
    return failure();
  Type index = indices.getElementType();
  if (!index.isIndex() && !index.isInteger(8) && !index.isInteger(16) &&
      !index.isInteger(32) && !index.isInteger(64))
    return emitOpError("the elements of the indices must be i8, i16, i32, i64 "
                       "or index, but are ")
           << index;
  SmallVector<int64_t> shape(tile.getShape());
  if (indices.getRank() == tile.getRank())
    shape[dim] = indices.getDimSize(dim);
  if (indices.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("the indices are ")
           << indices << ", but the tile is " << tile
           << "; their shapes may differ only in dimension #" << dim;
  if (Type expected = tile.clone(shape); result != expected)
    return emitOpError("the result must be ")
           << expected << ", but is " << result;
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyAccess(*this, getSourceType(), getIndices(),
                      getResult().getType());
}

void GatherOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
}

LogicalResult ScatterOp::verify() {
  return verifyAccess(*this, getDestinationType(), getIndices(),
                      getTile().getType());
}

void ScatterOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable());
}

//===----------------------------------------------------------------------===//
// AtomicRMWOp, AtomicCASOp
//===----------------------------------------------------------------------===//

LogicalResult AtomicRMWOp::verify() {
  Type type = getValue().getType(), element = getElementTypeOrSelf(type);
  StringRef kind = arith::stringifyAtomicRMWKind(getKind());
  switch (getKind()) {
  case arith::AtomicRMWKind::assign:
    break;
  case arith::AtomicRMWKind::addf:
  case arith::AtomicRMWKind::mulf:
  case arith::AtomicRMWKind::maximumf:
  case arith::AtomicRMWKind::minimumf:
  case arith::AtomicRMWKind::maxnumf:
  case arith::AtomicRMWKind::minnumf:
    if (!isa<FloatType>(element))
      return emitOpError() << kind
                           << " requires elements that are floats, but found "
                           << element;
    break;
  default:
    if (!element.isIntOrIndex())
      return emitOpError() << kind
                           << " requires elements that are integers, but found "
                           << element;
  }
  return verifyAccess(*this, getDestinationType(), getIndices(), type);
}

void AtomicRMWOp::getEffects(Effects &effects) {
  addAtomicEffects(getDestinationMutable(), getOrdering(), effects);
}

LogicalResult AtomicCASOp::verify() {
  Type type = getExpected().getType(), element = getElementTypeOrSelf(type);
  if (!element.isIntOrIndex())
    return emitOpError("requires elements that are integers, but found ")
           << element;
  return verifyAccess(*this, getDestinationType(), getIndices(), type);
}

void AtomicCASOp::getEffects(Effects &effects) {
  addAtomicEffects(getDestinationMutable(), getOrdering(), effects);
}
