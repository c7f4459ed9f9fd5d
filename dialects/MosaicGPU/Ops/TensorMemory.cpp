//===- TensorMemory.cpp - Tensor memory -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/targets/Target.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::mosaic_gpu;

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/TensorMemory.cpp.inc"

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

static constexpr int64_t kColumnBits = 32;
/// Number of columns if the module does not state a target.
static constexpr int64_t kMaxColumns = 512;

/// Checks that a column holds one element or is full.
static LogicalResult verifyPacking(TmemAllocOp op) {
  MemRefType type = op.getResult().getType();
  int64_t packing = op.getPacking();
  if (packing == 1)
    return success();
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  int64_t full = bits && kColumnBits % bits == 0 ? kColumnBits / bits : 1;
  if (packing != full) {
    InFlightDiagnostic error = op.emitOpError()
                               << "'packing' (elements of " << element
                               << " per " << kColumnBits << "-bit column) is "
                               << packing << "; it must be 1";
    if (full > 1)
      error << " or " << full;
    return error;
  }
  if (type.getDimSize(1) % packing != 0)
    return op.emitOpError()
           << "the number of columns of the result is " << type.getDimSize(1)
           << "; it must be a multiple of 'packing', " << packing;
  return success();
}

LogicalResult TmemAllocOp::verify() {
  MemRefType type = getResult().getType();
  if (failed(verifyInShared(*this, "smem_ptr", getSmemPtr().getType())) ||
      failed(verifyInTMEM(*this, "result", type)))
    return failure();
  if (!type.hasStaticShape())
    return emitOpError() << "result must have a static shape, but found "
                         << type;
  if (failed(verifyPacking(*this)))
    return failure();
  const targets::Target *target = getTarget(*this);
  if (target && target->tensorMemoryColumns == 0)
    return emitOpError() << target->name
                         << " does not have tensor memory; compile for "
                         << targets::namesWithTensorMemory();
  int64_t most = target ? target->tensorMemoryColumns : kMaxColumns;
  int64_t columns = type.getDimSize(1) / getPacking();
  if (columns > most)
    return emitOpError() << "result needs " << columns
                         << " columns of 32 bits; tensor memory has " << most
                         << "; use a result with fewer columns";
  return verifyLayouts(*this);
}

LogicalResult TmemDeallocOp::verify() {
  if (failed(verifyInTMEM(*this, "memory", getTmemRef().getType())))
    return failure();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value SliceTmemOp::getViewSource() { return getSource(); }

LogicalResult SliceTmemOp::verify() {
  if (failed(verifyInTMEM(*this, "source", getSource().getType())) ||
      failed(verifyInTMEM(*this, "result", getResult().getType())))
    return failure();
  if (getOffset() % 4 != 0)
    return emitOpError()
           << "the offset in columns must be a multiple of 4, but is "
           << getOffset();
  return verifyLayouts(*this);
}

Value TmemLayoutCastOp::getViewSource() { return getRef(); }

LogicalResult TmemLayoutCastOp::verify() {
  MemRefType type = getRef().getType();
  if (failed(verifyInTMEM(*this, "memory", type)))
    return failure();
  if (auto reason = checkTMEMLayout(getNewLayout(), type))
    return emitOpError() << "'new_layout' is not valid for " << type << ": "
                         << *reason;
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// The result types of a load: all elements and, with `reduces`, one element
/// for each row. Fails with the reason if a type does not exist.
static LogicalResult getLoaded(MemRefType source, bool reduces,
                               SmallVectorImpl<Type> &types,
                               std::string &reason) {
  VectorType all = getVectorOf(source, reason);
  if (!all)
    return failure();
  types.push_back(all);
  if (reduces)
    types.push_back(
        VectorType::get(all.getShape().drop_back(), all.getElementType()));
  return success();
}

LogicalResult AsyncLoadTmemOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto source =
      adaptor.getOperands().empty()
          ? MemRefType()
          : dyn_cast<MemRefType>(adaptor.getOperands().front().getType());
  if (!source || source.getRank() != 2)
    return emitOptionalError(loc, "'", getOperationName(),
                             "' op requires a memref operand of rank 2");
  std::string reason;
  if (failed(getLoaded(source, bool(adaptor.getReduceAttr()), types, reason)))
    return emitOptionalError(loc, "'", getOperationName(), "' op ", reason);
  return success();
}

LogicalResult AsyncLoadTmemOp::verify() {
  MemRefType source = getSource().getType();
  if (failed(verifyInTMEM(*this, "source", source)))
    return failure();
  SmallVector<Type> types;
  std::string reason;
  if (failed(getLoaded(source, bool(getReduceAttr()), types, reason)))
    return emitOpError() << reason;
  if (getResultTypes() != TypeRange(types)) {
    InFlightDiagnostic error = emitOpError() << "results must be ";
    llvm::interleaveComma(types, error);
    error << ", but found ";
    if (getResults().empty())
      return error << "none";
    llvm::interleaveComma(getResultTypes(), error);
    return error;
  }
  Type element = source.getElementType();
  if (getReduceAttr() && !element.isF32() && !element.isSignlessInteger(32))
    return emitOpError() << "'reduce' requires f32 or i32, but found "
                         << element;
  return verifyLayouts(*this);
}

LogicalResult AsyncStoreTmemOp::verify() {
  VectorType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (failed(verifyInTMEM(*this, "destination", destination)) ||
      failed(verifySameElements(*this, source.getElementType(),
                                destination.getElementType())))
    return failure();
  if (source.isScalable() || source.getShape() != destination.getShape())
    return emitOpError()
           << "source and destination must have the same shape, but found "
           << source << " and " << destination;
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// Copies from shared memory
//===----------------------------------------------------------------------===//

/// Checks the memories and elements of a copy.
static LogicalResult verifyCopy(Operation *op, MemRefType source,
                                MemRefType destination) {
  return success(succeeded(verifyInShared(op, "source", source)) &&
                 succeeded(verifyInTMEM(op, "destination", destination)) &&
                 succeeded(verifySameElements(op, source.getElementType(),
                                              destination.getElementType())));
}

/// Checks that rows and columns of the destination are whole tiles.
static LogicalResult verifyTiles(Operation *op, MemRefType destination,
                                 int64_t rows, int64_t columns) {
  if (!destination.hasStaticShape())
    return op->emitOpError()
           << "destination must have a static shape, but found " << destination;
  if (destination.getDimSize(0) % rows == 0 &&
      destination.getDimSize(1) % columns == 0)
    return success();
  return op->emitOpError()
         << "the rows of the destination must be a multiple of " << rows
         << " and its columns a multiple of " << columns << ", but it is "
         << destination;
}

LogicalResult AsyncStoreSmemToTmemOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (failed(verifyCopy(*this, source, destination)))
    return failure();
  if (source.getShape() != destination.getShape())
    return emitOpError()
           << "source and destination must have the same shape, but found "
           << source << " and " << destination;
  return verifyLayouts(*this);
}

LogicalResult AsyncStoreSparseMetadataSmemToTmemOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (failed(verifyCopy(*this, source, destination)) ||
      failed(verifyTiles(*this, destination, 128, 64)))
    return failure();
  SmallVector<int64_t> shape = {destination.getDimSize(0) / 128,
                                destination.getDimSize(1) / 64, 128, 64};
  if (source.getShape() != ArrayRef(shape))
    return emitOpError() << "for the destination " << destination
                         << ", the source must have the shape [" << shape
                         << "], but is " << source;
  return verifyLayouts(*this);
}

LogicalResult AsyncStoreScalesSmemToTmemOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (failed(verifyCopy(*this, source, destination)) ||
      failed(verifyTiles(*this, destination, 128, 4)))
    return failure();
  int64_t columns = destination.getDimSize(1) / 4;
  SmallVector<int64_t> shape = {destination.getDimSize(0) / 128, columns, 32,
                                16};
  SmallVector<int64_t> halfShape = {1, columns, 64, 16};
  if (source.getShape() != ArrayRef(shape) &&
      source.getShape() != ArrayRef(halfShape))
    return emitOpError() << "for the destination " << destination
                         << ", the source must have the shape [" << shape
                         << "] or [" << halfShape << "], but is " << source;
  return verifyLayouts(*this);
}
