//===- References.cpp - Slices and views of shared memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/References.cpp.inc"

//===----------------------------------------------------------------------===//
// Checks of memory spaces
//===----------------------------------------------------------------------===//

int64_t smalti::mosaic_gpu::getElementBytes(Type type) {
  if (isa<BarrierType>(type))
    return 8;
  // 16 elements of 6 bits with 32 bits of padding take as much as 16 bytes.
  if (isa<B6x16P32Type, P2B6Type>(type))
    return 1;
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(
        llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  return 0;
}

bool smalti::mosaic_gpu::isCopied(Type type) {
  return getElementBytes(type) != 0 && !isa<BarrierType>(type);
}

LogicalResult smalti::mosaic_gpu::verifyInGlobal(Operation *op, StringRef name,
                                                 MemRefType type) {
  if (isGlobalMemory(type))
    return success();
  return op->emitOpError() << name << " must be in global memory, but found "
                           << type;
}

LogicalResult smalti::mosaic_gpu::verifyInShared(Operation *op, StringRef name,
                                                 MemRefType type) {
  if (isSharedMemory(type))
    return success();
  return op->emitOpError()
         << name << " must be in the address space workgroup, but found "
         << type;
}

LogicalResult smalti::mosaic_gpu::verifyInTMEM(Operation *op, StringRef name,
                                               MemRefType type) {
  if (isTensorMemory(type))
    return success();
  return op->emitOpError()
         << name << " must be in tensor memory (#mosaic_gpu.tmem), but found "
         << type;
}

LogicalResult smalti::mosaic_gpu::verifySameElements(Operation *op, Type source,
                                                     Type destination) {
  if (source == destination)
    return success();
  return op->emitOpError()
         << "source and destination must have the same element type, but found "
         << source << " and " << destination;
}

//===----------------------------------------------------------------------===//
// slice_smem
//===----------------------------------------------------------------------===//

/// The number of the shared address space in the LLVM back ends of both
/// vendors.
static constexpr int64_t kSharedMemoryAddressSpace = 3;

LogicalResult SliceSMEMOp::verify() {
  MemRefType type = getResult().getType();
  if (!type.hasStaticShape())
    return emitOpError() << "result must have a static shape, but found "
                         << type;
  // Thread-level kernels also use the number of the address space.
  auto number = dyn_cast_or_null<IntegerAttr>(type.getMemorySpace());
  if (!isSharedMemory(type) &&
      !(number && number.getInt() == kSharedMemoryAddressSpace))
    return emitOpError()
           << "result must be in the address space workgroup, but found "
           << type;
  int64_t bytes = getElementBytes(type.getElementType());
  if (bytes == 0)
    return emitOpError() << "elements of the result must be integers, floats "
                            "or barriers, but "
                            "found "
                         << type.getElementType();
  if (getOffset() % bytes != 0)
    return emitOpError() << "the byte offset is " << getOffset()
                         << "; it must be a multiple of " << bytes
                         << ", the size of " << type.getElementType()
                         << " in bytes";
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// reinterpret_cast
//===----------------------------------------------------------------------===//

Value ReinterpretCastOp::getViewSource() { return getSource(); }

LogicalResult ReinterpretCastOp::verify() {
  MemRefType source = getSource().getType(), result = getResult().getType();
  if (source.getElementType() != result.getElementType())
    return emitOpError()
           << "source and result must have the same element type, but found "
           << source << " and " << result;
  if (source.getMemorySpace() != result.getMemorySpace())
    return emitOpError()
           << "source and result must be in the same memory space, but found "
           << source << " and " << result;
  if (!source.hasStaticShape() || !result.hasStaticShape())
    return emitOpError()
           << "source and result must have static shapes, but found " << source
           << " and " << result;
  if (source.getNumElements() != result.getNumElements())
    return emitOpError() << "source and result must have the same number of "
                            "elements, but the source has "
                         << source.getNumElements() << " and the result "
                         << result.getNumElements();
  return verifyLayouts(*this);
}

/// Whether an op has layouts or transforms, which a fold would lose.
static bool isAnnotated(Operation *op) {
  return !op->getDiscardableAttrs().empty();
}

OpFoldResult ReinterpretCastOp::fold(FoldAdaptor) {
  if (isAnnotated(*this))
    return {};
  if (getSource().getType() == getType())
    return getSource();
  auto cast = getSource().getDefiningOp<ReinterpretCastOp>();
  if (!cast || isAnnotated(cast))
    return {};
  getSourceMutable().assign(cast.getSource());
  return getResult();
}

namespace {
/// Replaces a cast of a slice by a slice of the result type.
struct CastOfSlice : OpRewritePattern<ReinterpretCastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReinterpretCastOp op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getSource().getDefiningOp<SliceSMEMOp>();
    if (!slice || isAnnotated(slice) || isAnnotated(op))
      return failure();
    rewriter.replaceOpWithNewOp<SliceSMEMOp>(
        op, op.getType(), slice.getOffsetAttr(), slice.getAliasIdAttr());
    return success();
  }
};
} // namespace

void ReinterpretCastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *context) {
  patterns.add<CastOfSlice>(context);
}

//===----------------------------------------------------------------------===//
// with_transforms
//===----------------------------------------------------------------------===//

Value WithTransformsOp::getViewSource() { return getRef(); }

LogicalResult WithTransformsOp::verify() {
  MemRefType type = getRef().getType();
  if (isa<BarrierType>(type.getElementType()))
    return emitOpError()
           << "the memref is " << type
           << "; barriers cannot be tiled or swizzled, so remove the op";
  if (failed(verifyInShared(*this, "memory", type)))
    return failure();
  if (auto reason = checkTransforms(getTransforms(), type))
    return emitOpError() << "'transforms' is not valid for " << type << ": "
                         << *reason;
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// get_cluster_ref
//===----------------------------------------------------------------------===//

static MemRefType getClusterType(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         type.getLayout(),
                         SmemClusterAttr::get(type.getContext()));
}

LogicalResult GetClusterRefOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  if (adaptor.getOperands().empty())
    return emitOptionalError(loc, "'", getOperationName(),
                             "' op requires a memref operand");
  auto type = dyn_cast<MemRefType>(adaptor.getOperands().front().getType());
  if (!type)
    return emitOptionalError(loc, "'", getOperationName(),
                             "' op requires a memref operand");
  types.push_back(getClusterType(type));
  return success();
}

LogicalResult GetClusterRefOp::verify() {
  MemRefType source = getSource().getType();
  if (failed(verifyInShared(*this, "source", source)))
    return failure();
  if (int given = bool(getX()) + bool(getY()) + bool(getZ()); given != 1)
    return emitOpError()
           << "requires a block index in exactly one of the cluster dimensions "
              "x, y and z; the number of indices is "
           << given;
  if (getResult().getType() != getClusterType(source))
    return emitOpError() << "result must be " << getClusterType(source)
                         << ", but found " << getResult().getType();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// assume_multiple
//===----------------------------------------------------------------------===//

LogicalResult AssumeMultipleOp::verify() {
  auto integer = dyn_cast<IntegerType>(getValue().getType());
  if (integer && !llvm::isUIntN(std::min(integer.getWidth(), 64u),
                                static_cast<uint64_t>(getMultiple())))
    return emitOpError() << "'multiple' is " << getMultiple()
                         << ", which exceeds the range of " << integer;
  return success();
}
