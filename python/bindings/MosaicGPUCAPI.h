//===- MosaicGPUCAPI.h - C API of mosaic_gpu's attributes and types -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_MOSAICGPUCAPI_H
#define SMALTI_PYTHON_BINDINGS_MOSAICGPUCAPI_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

// The functions named Get check their parameters: where those are not valid
// they report a diagnostic on the context and return null.

#define SMALTI_DECLARE_ATTRIBUTE(Name)                                         \
  MLIR_CAPI_EXPORTED bool smaltiAttributeIsA##Name(MlirAttribute attribute);   \
  MLIR_CAPI_EXPORTED MlirTypeID smalti##Name##AttrGetTypeID(void);

SMALTI_DECLARE_ATTRIBUTE(TiledLayout)
SMALTI_DECLARE_ATTRIBUTE(WGStridedFragLayout)
SMALTI_DECLARE_ATTRIBUTE(WGSplatFragLayout)
SMALTI_DECLARE_ATTRIBUTE(Replicated)
SMALTI_DECLARE_ATTRIBUTE(TileTransform)
SMALTI_DECLARE_ATTRIBUTE(SwizzleTransform)
SMALTI_DECLARE_ATTRIBUTE(Tmem)
SMALTI_DECLARE_ATTRIBUTE(SmemCluster)
SMALTI_DECLARE_ATTRIBUTE(CopyReplicated)
SMALTI_DECLARE_ATTRIBUTE(CopyPartitioned)

#undef SMALTI_DECLARE_ATTRIBUTE

/// `tiling` is an array of arrays of i64; the dimensions are i64 and
/// Replicated.
MLIR_CAPI_EXPORTED MlirAttribute smaltiTiledLayoutAttrGet(
    MlirContext context, MlirAttribute tiling, MlirAttribute warpDims,
    MlirAttribute laneDims, int64_t vectorDim);
MLIR_CAPI_EXPORTED MlirAttribute
smaltiTiledLayoutAttrGetTiling(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute
smaltiTiledLayoutAttrGetWarpDims(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute
smaltiTiledLayoutAttrGetLaneDims(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t
smaltiTiledLayoutAttrGetVectorDim(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute
smaltiWGStridedFragLayoutAttrGet(MlirContext context, intptr_t rank,
                                 const int64_t *shape, int64_t vectorSize);
MLIR_CAPI_EXPORTED int64_t
smaltiWGStridedFragLayoutAttrGetVectorSize(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute smaltiWGSplatFragLayoutAttrGet(
    MlirContext context, intptr_t rank, const int64_t *shape);

/// The sizes of a strided or splat layout, or of a tile.
MLIR_CAPI_EXPORTED intptr_t smaltiLayoutAttrGetRank(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t smaltiLayoutAttrGetSize(MlirAttribute attribute,
                                                   intptr_t dim);

MLIR_CAPI_EXPORTED MlirAttribute smaltiReplicatedAttrGet(MlirContext context,
                                                         int64_t times);
MLIR_CAPI_EXPORTED int64_t
smaltiReplicatedAttrGetTimes(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute smaltiTileTransformAttrGet(
    MlirContext context, intptr_t rank, const int64_t *tiling);

MLIR_CAPI_EXPORTED MlirAttribute
smaltiSwizzleTransformAttrGet(MlirContext context, int32_t bytes);
MLIR_CAPI_EXPORTED int32_t
smaltiSwizzleTransformAttrGetBytes(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute smaltiTmemAttrGet(MlirContext context);
MLIR_CAPI_EXPORTED MlirAttribute smaltiSmemClusterAttrGet(MlirContext context);
MLIR_CAPI_EXPORTED MlirAttribute
smaltiCopyReplicatedAttrGet(MlirContext context);
MLIR_CAPI_EXPORTED MlirAttribute
smaltiCopyPartitionedAttrGet(MlirContext context, int64_t axis);
MLIR_CAPI_EXPORTED int64_t
smaltiCopyPartitionedAttrGetAxis(MlirAttribute attribute);

MLIR_CAPI_EXPORTED bool smaltiTypeIsABarrier(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID smaltiBarrierTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType smaltiBarrierTypeGet(MlirContext context,
                                                 bool ordersTensorCore);
MLIR_CAPI_EXPORTED bool smaltiBarrierTypeGetOrdersTensorCore(MlirType type);

MLIR_CAPI_EXPORTED bool smaltiTypeIsAB6x16P32(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID smaltiB6x16P32TypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType smaltiB6x16P32TypeGet(MlirType elementType);

MLIR_CAPI_EXPORTED bool smaltiTypeIsAP2B6(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID smaltiP2B6TypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType smaltiP2B6TypeGet(MlirType elementType);

/// The element type of either.
MLIR_CAPI_EXPORTED MlirType smaltiSixBitTypeGetElementType(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // SMALTI_PYTHON_BINDINGS_MOSAICGPUCAPI_H
