//===- MosaicGPUCAPI.cpp - C API of mosaic_gpu's attributes and types -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/MosaicGPUCAPI.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

/// Makes an attribute; null, with a diagnostic, where its verifier refuses.
template <typename AttrTy, typename... Params>
static MlirAttribute getChecked(MlirContext context, Params &&...params) {
  MLIRContext *ctx = unwrap(context);
  ctx->loadDialect<MosaicGPUDialect>();
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(ctx)); };
  return wrap(Attribute(
      AttrTy::getChecked(emitError, ctx, std::forward<Params>(params)...)));
}

#define SMALTI_DEFINE_ATTRIBUTE(Name)                                          \
  bool smaltiAttributeIsA##Name(MlirAttribute attribute) {                     \
    return isa<Name##Attr>(unwrap(attribute));                                 \
  }                                                                            \
  MlirTypeID smalti##Name##AttrGetTypeID() {                                   \
    return wrap(Name##Attr::getTypeID());                                      \
  }

SMALTI_DEFINE_ATTRIBUTE(TiledLayout)
SMALTI_DEFINE_ATTRIBUTE(WGStridedFragLayout)
SMALTI_DEFINE_ATTRIBUTE(WGSplatFragLayout)
SMALTI_DEFINE_ATTRIBUTE(Replicated)
SMALTI_DEFINE_ATTRIBUTE(TileTransform)
SMALTI_DEFINE_ATTRIBUTE(SwizzleTransform)
SMALTI_DEFINE_ATTRIBUTE(Tmem)
SMALTI_DEFINE_ATTRIBUTE(SmemCluster)
SMALTI_DEFINE_ATTRIBUTE(CopyReplicated)
SMALTI_DEFINE_ATTRIBUTE(CopyPartitioned)

#undef SMALTI_DEFINE_ATTRIBUTE

MlirAttribute smaltiTiledLayoutAttrGet(MlirContext context,
                                       MlirAttribute tiling,
                                       MlirAttribute warpDims,
                                       MlirAttribute laneDims,
                                       int64_t vectorDim) {
  return getChecked<TiledLayoutAttr>(context, cast<ArrayAttr>(unwrap(tiling)),
                                     cast<ArrayAttr>(unwrap(warpDims)),
                                     cast<ArrayAttr>(unwrap(laneDims)),
                                     vectorDim);
}

MlirAttribute smaltiTiledLayoutAttrGetTiling(MlirAttribute attribute) {
  return wrap(Attribute(cast<TiledLayoutAttr>(unwrap(attribute)).getTiling()));
}

MlirAttribute smaltiTiledLayoutAttrGetWarpDims(MlirAttribute attribute) {
  return wrap(
      Attribute(cast<TiledLayoutAttr>(unwrap(attribute)).getWarpDims()));
}

MlirAttribute smaltiTiledLayoutAttrGetLaneDims(MlirAttribute attribute) {
  return wrap(
      Attribute(cast<TiledLayoutAttr>(unwrap(attribute)).getLaneDims()));
}

int64_t smaltiTiledLayoutAttrGetVectorDim(MlirAttribute attribute) {
  return cast<TiledLayoutAttr>(unwrap(attribute)).getVectorDim();
}

MlirAttribute smaltiWGStridedFragLayoutAttrGet(MlirContext context,
                                               intptr_t rank,
                                               const int64_t *shape,
                                               int64_t vectorSize) {
  return getChecked<WGStridedFragLayoutAttr>(context, ArrayRef(shape, rank),
                                             vectorSize);
}

int64_t smaltiWGStridedFragLayoutAttrGetVectorSize(MlirAttribute attribute) {
  return cast<WGStridedFragLayoutAttr>(unwrap(attribute)).getVectorSize();
}

MlirAttribute smaltiWGSplatFragLayoutAttrGet(MlirContext context, intptr_t rank,
                                             const int64_t *shape) {
  return getChecked<WGSplatFragLayoutAttr>(context, ArrayRef(shape, rank));
}

static ArrayRef<int64_t> getSizes(MlirAttribute attribute) {
  return llvm::TypeSwitch<Attribute, ArrayRef<int64_t>>(unwrap(attribute))
      .Case<WGStridedFragLayoutAttr, WGSplatFragLayoutAttr>(
          [](auto layout) { return layout.getShape(); })
      .Case([](TileTransformAttr tile) { return tile.getTiling(); })
      .Default([](Attribute) { return ArrayRef<int64_t>(); });
}

intptr_t smaltiLayoutAttrGetRank(MlirAttribute attribute) {
  return getSizes(attribute).size();
}

int64_t smaltiLayoutAttrGetSize(MlirAttribute attribute, intptr_t dim) {
  return getSizes(attribute)[dim];
}

MlirAttribute smaltiReplicatedAttrGet(MlirContext context, int64_t times) {
  return getChecked<ReplicatedAttr>(context, times);
}

int64_t smaltiReplicatedAttrGetTimes(MlirAttribute attribute) {
  return cast<ReplicatedAttr>(unwrap(attribute)).getTimes();
}

MlirAttribute smaltiTileTransformAttrGet(MlirContext context, intptr_t rank,
                                         const int64_t *tiling) {
  return getChecked<TileTransformAttr>(context, ArrayRef(tiling, rank));
}

MlirAttribute smaltiSwizzleTransformAttrGet(MlirContext context,
                                            int32_t bytes) {
  auto type = IntegerType::get(unwrap(context), 32);
  return getChecked<SwizzleTransformAttr>(context,
                                          IntegerAttr::get(type, bytes));
}

int32_t smaltiSwizzleTransformAttrGetBytes(MlirAttribute attribute) {
  return cast<SwizzleTransformAttr>(unwrap(attribute)).getSwizzle().getInt();
}

/// Makes an attribute without parameters.
template <typename AttrTy> static MlirAttribute getSimple(MlirContext context) {
  unwrap(context)->loadDialect<MosaicGPUDialect>();
  return wrap(Attribute(AttrTy::get(unwrap(context))));
}

MlirAttribute smaltiTmemAttrGet(MlirContext context) {
  return getSimple<TmemAttr>(context);
}

MlirAttribute smaltiSmemClusterAttrGet(MlirContext context) {
  return getSimple<SmemClusterAttr>(context);
}

MlirAttribute smaltiCopyReplicatedAttrGet(MlirContext context) {
  return getSimple<CopyReplicatedAttr>(context);
}

MlirAttribute smaltiCopyPartitionedAttrGet(MlirContext context, int64_t axis) {
  return getChecked<CopyPartitionedAttr>(context, axis);
}

int64_t smaltiCopyPartitionedAttrGetAxis(MlirAttribute attribute) {
  return cast<CopyPartitionedAttr>(unwrap(attribute)).getAxis();
}

bool smaltiTypeIsABarrier(MlirType type) {
  return isa<BarrierType>(unwrap(type));
}

MlirTypeID smaltiBarrierTypeGetTypeID() {
  return wrap(BarrierType::getTypeID());
}

MlirType smaltiBarrierTypeGet(MlirContext context, bool ordersTensorCore) {
  unwrap(context)->loadDialect<MosaicGPUDialect>();
  return wrap(Type(BarrierType::get(unwrap(context), ordersTensorCore)));
}

bool smaltiBarrierTypeGetOrdersTensorCore(MlirType type) {
  return cast<BarrierType>(unwrap(type)).getOrdersTensorCore();
}

/// Makes a type; null, with a diagnostic, where its verifier refuses.
template <typename TypeTy> static MlirType getSixBit(MlirType elementType) {
  Type element = unwrap(elementType);
  MLIRContext *ctx = element.getContext();
  ctx->loadDialect<MosaicGPUDialect>();
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(ctx)); };
  return wrap(Type(TypeTy::getChecked(emitError, ctx, element)));
}

bool smaltiTypeIsAB6x16P32(MlirType type) {
  return isa<B6x16P32Type>(unwrap(type));
}

MlirTypeID smaltiB6x16P32TypeGetTypeID() {
  return wrap(B6x16P32Type::getTypeID());
}

MlirType smaltiB6x16P32TypeGet(MlirType elementType) {
  return getSixBit<B6x16P32Type>(elementType);
}

bool smaltiTypeIsAP2B6(MlirType type) { return isa<P2B6Type>(unwrap(type)); }

MlirTypeID smaltiP2B6TypeGetTypeID() { return wrap(P2B6Type::getTypeID()); }

MlirType smaltiP2B6TypeGet(MlirType elementType) {
  return getSixBit<P2B6Type>(elementType);
}

MlirType smaltiSixBitTypeGetElementType(MlirType type) {
  return wrap(llvm::TypeSwitch<Type, Type>(unwrap(type))
                  .Case<B6x16P32Type, P2B6Type>(
                      [](auto sixBit) { return sixBit.getElementType(); })
                  .Default([](Type) { return Type(); }));
}
