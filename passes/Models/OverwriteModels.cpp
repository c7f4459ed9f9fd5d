//===- OverwriteModels.cpp - Models of full overwrites --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

namespace {

struct CopyModel
    : FullOverwriteOpInterface::ExternalModel<CopyModel, memref::CopyOp> {
  bool overwrites(Operation *op, Value memref) const {
    return cast<memref::CopyOp>(op).getTarget() == memref;
  }
};

struct StoreModel
    : FullOverwriteOpInterface::ExternalModel<StoreModel, vector::StoreOp> {
  bool overwrites(Operation *op, Value memref) const {
    auto store = cast<vector::StoreOp>(op);
    MemRefType type = store.getMemRefType();
    VectorType vectorType = store.getVectorType();
    // The store continues in the next row only if rows are contiguous.
    return store.getBase() == memref &&
           memref::isStaticShapeAndContiguousRowMajor(type) &&
           !vectorType.isScalable() &&
           type.getNumElements() == vectorType.getNumElements() &&
           type.getElementType() == vectorType.getElementType() &&
           llvm::all_of(store.getIndices(), [](Value index) {
             return isConstantIntValue(index, 0);
           });
  }
};

struct DeviceAsyncCopyOverwriteModel
    : FullOverwriteOpInterface::ExternalModel<DeviceAsyncCopyOverwriteModel,
                                              nvgpu::DeviceAsyncCopyOp> {
  bool overwrites(Operation *op, Value memref) const {
    // Elements that are not read are filled with zeros.
    auto copy = cast<nvgpu::DeviceAsyncCopyOp>(op);
    auto type = cast<MemRefType>(copy.getDst().getType());
    return copy.getDst() == memref &&
           memref::isStaticShapeAndContiguousRowMajor(type) &&
           copy.getDstElements().getSExtValue() == type.getNumElements() &&
           llvm::all_of(copy.getDstIndices(), [](Value index) {
             return isConstantIntValue(index, 0);
           });
  }
};

/// A block-level op whose verifier requires that it fills its destination.
template <typename OpTy>
struct WholeDestinationModel
    : FullOverwriteOpInterface::ExternalModel<WholeDestinationModel<OpTy>,
                                              OpTy> {
  bool overwrites(Operation *op, Value memref) const {
    // The result of an atomic store depends on the previous value.
    if constexpr (std::is_same_v<OpTy, mosaic_gpu::VectorStoreOp>)
      if (cast<OpTy>(op).getAtomicType())
        return false;
    return cast<OpTy>(op).getDestination() == memref;
  }
};

/// A DMA copy that fills its destination. Elements outside the source are zero,
/// or undefined if an attribute says so.
template <typename OpTy>
struct SliceModel
    : FullOverwriteOpInterface::ExternalModel<SliceModel<OpTy>, OpTy> {
  bool overwrites(Operation *op, Value memref) const {
    auto load = cast<OpTy>(op);
    if constexpr (std::is_same_v<OpTy, nvgpu::TmaAsyncLoadOp>)
      return load.getDst() == memref && !load.getMulticastMask();
    else
      return load.getDestination() == memref && !load.getPredicate() &&
             load.getCollective().empty() &&
             load.getOobFillMode() != mosaic_gpu::OOBFillMode::Undefined;
  }
};

/// A copy of a whole tile to consecutive elements. Elements outside the tensor
/// are zero.
struct TensorLoadModel
    : FullOverwriteOpInterface::ExternalModel<TensorLoadModel,
                                              amdgpu::TensorLoadToLDSOp> {
  bool overwrites(Operation *op, Value memref) const {
    auto make = cast<amdgpu::TensorLoadToLDSOp>(op)
                    .getDesc()
                    .getDefiningOp<amdgpu::MakeDmaDescriptorOp>();
    auto base = make ? make.getBase().getDefiningOp<amdgpu::MakeDmaBaseOp>()
                     : amdgpu::MakeDmaBaseOp();
    auto type = dyn_cast<MemRefType>(memref.getType());
    // Gaps and repetitions are not analyzed.
    if (!base || !type || base.getLds() != memref || make.getPadAmount() ||
        make.getWorkgroupMask() || make.getGlobalIncrement())
      return false;
    int64_t elements = 1;
    for (int64_t size : make.getSharedStaticSizes()) {
      if (ShapedType::isDynamic(size) ||
          llvm::MulOverflow(elements, size, elements))
        return false;
    }
    return type.hasStaticShape() && type.getNumElements() == elements &&
           make.getElementTypeWidth() == type.getElementTypeBitWidth() &&
           memref::isStaticShapeAndContiguousRowMajor(type) &&
           llvm::all_of(base.getLdsIndices(), [](Value index) {
             return isConstantIntValue(index, 0);
           });
  }
};

} // namespace

void smalti::registerOverwriteModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nvgpu::NVGPUDialect *) {
    nvgpu::DeviceAsyncCopyOp::attachInterface<DeviceAsyncCopyOverwriteModel>(
        *context);
    nvgpu::TmaAsyncLoadOp::attachInterface<SliceModel<nvgpu::TmaAsyncLoadOp>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, amdgpu::AMDGPUDialect *) {
    amdgpu::TensorLoadToLDSOp::attachInterface<TensorLoadModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    memref::CopyOp::attachInterface<CopyModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    vector::StoreOp::attachInterface<StoreModel>(*context);
  });
  registry.addExtension(
      +[](MLIRContext *context, mosaic_gpu::MosaicGPUDialect *) {
        mosaic_gpu::AsyncCopyOp::attachInterface<
            WholeDestinationModel<mosaic_gpu::AsyncCopyOp>>(*context);
        mosaic_gpu::AsyncLoadOp::attachInterface<
            SliceModel<mosaic_gpu::AsyncLoadOp>>(*context);
        mosaic_gpu::VectorStoreOp::attachInterface<
            WholeDestinationModel<mosaic_gpu::VectorStoreOp>>(*context);
      });
}
