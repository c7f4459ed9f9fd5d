//===- AccessModels.cpp - External models of memref accesses --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;

namespace {

/// The memref operand of an op with getIndices().
template <typename OpTy> Value getMemRefOf(OpTy op) {
  if constexpr (std::is_same_v<OpTy, nvgpu::LdMatrixOp>)
    return op.getSrcMemref();
  else if constexpr (std::is_same_v<OpTy, vector::LoadOp> ||
                     std::is_same_v<OpTy, vector::StoreOp> ||
                     std::is_same_v<OpTy, vector::MaskedLoadOp> ||
                     std::is_same_v<OpTy, vector::MaskedStoreOp>)
    return op.getBase();
  else
    return op.getMemref();
}

/// The number of elements of a vector in one row; std::nullopt for other
/// vectors.
std::optional<int64_t> getRowElements(VectorType type) {
  if (type.isScalable() ||
      (type.getRank() > 1 &&
       !llvm::all_of(type.getShape().drop_back(),
                     [](int64_t size) { return size == 1; })))
    return std::nullopt;
  return type.getNumElements();
}

/// Upstream does not implement the view interface for memref.transpose.
struct TransposeViewModel
    : ViewLikeOpInterface::ExternalModel<TransposeViewModel,
                                         memref::TransposeOp> {
  Value getViewSource(Operation *op) const {
    return cast<memref::TransposeOp>(op).getIn();
  }
};

template <typename OpTy>
struct AtomicModel
    : AtomicAccessOpInterface::ExternalModel<AtomicModel<OpTy>, OpTy> {};

/// An op that accesses a scalar or a vector at its indices.
template <typename OpTy>
struct IndexedModel
    : StridedAccessOpInterface::ExternalModel<IndexedModel<OpTy>, OpTy> {
  std::optional<RowAccess> getRowAccess(Operation *op, OpOperand &) const {
    auto access = cast<OpTy>(op);
    bool isRead = false;
    std::optional<int64_t> elements = 1;
    if constexpr (std::is_same_v<OpTy, vector::LoadOp> ||
                  std::is_same_v<OpTy, vector::MaskedLoadOp>) {
      isRead = true;
      elements = getRowElements(access.getVectorType());
    } else if constexpr (std::is_same_v<OpTy, vector::StoreOp> ||
                         std::is_same_v<OpTy, vector::MaskedStoreOp>) {
      elements = getRowElements(access.getVectorType());
    } else if constexpr (std::is_same_v<OpTy, memref::LoadOp>) {
      isRead = true;
    }
    // A memref of vectors may be read as a vector of scalars.
    auto memref = cast<MemRefType>(getMemRefOf(access).getType());
    if (!elements || (isa<VectorType>(memref.getElementType()) &&
                      !isa<memref::LoadOp, memref::StoreOp>(op)))
      return std::nullopt;
    RowAccess row{access.getIndices(), *elements, isRead};
    row.isMasked = isa<vector::MaskedLoadOp, vector::MaskedStoreOp>(op);
    return row;
  }
  void setRowAccess(Operation *op, OpOperand &memref, Value newMemRef,
                    ValueRange newIndices) const {
    memref.set(newMemRef);
    cast<OpTy>(op).getIndicesMutable().assign(newIndices);
  }
};

/// vector.transfer_read and vector.transfer_write.
template <typename OpTy>
struct TransferModel
    : StridedAccessOpInterface::ExternalModel<TransferModel<OpTy>, OpTy> {
  std::optional<RowAccess> getRowAccess(Operation *op, OpOperand &) const {
    auto transfer = cast<OpTy>(op);
    std::optional<int64_t> elements = getRowElements(transfer.getVectorType());
    auto memref = dyn_cast<MemRefType>(transfer.getBase().getType());
    if (!elements || !memref || isa<VectorType>(memref.getElementType()) ||
        !transfer.getPermutationMap().isMinorIdentity() ||
        op->hasAttr(mosaic_gpu::kInLayouts) ||
        op->hasAttr(mosaic_gpu::kOutLayouts))
      return std::nullopt;
    RowAccess row{transfer.getIndices(), *elements,
                  std::is_same_v<OpTy, vector::TransferReadOp>,
                  /*lanes=*/0,
                  /*isBoundsChecked=*/transfer.hasOutOfBoundsDim()};
    row.isMasked = transfer.getMask() != Value();
    return row;
  }
  void setRowAccess(Operation *op, OpOperand &memref, Value newMemRef,
                    ValueRange newIndices) const {
    auto transfer = cast<OpTy>(op);
    memref.set(newMemRef);
    transfer.getIndicesMutable().assign(newIndices);
    transfer.setPermutationMap(AffineMap::getMinorIdentityMap(
        newIndices.size(), transfer.getVectorType().getRank(),
        op->getContext()));
  }
};

/// ldmatrix: each of 8 lanes per matrix provides the address of a 16-byte row.
struct LdMatrixAccessModel
    : StridedAccessOpInterface::ExternalModel<LdMatrixAccessModel,
                                              nvgpu::LdMatrixOp> {
  std::optional<RowAccess> getRowAccess(Operation *op, OpOperand &) const {
    auto load = cast<nvgpu::LdMatrixOp>(op);
    auto type = cast<MemRefType>(load.getSrcMemref().getType());
    int64_t bits = type.getElementType().isIntOrFloat()
                       ? type.getElementTypeBitWidth()
                       : 0;
    if (bits < 8 || 128 % bits != 0)
      return std::nullopt;
    return RowAccess{load.getIndices(),
                     128 / bits,
                     /*isRead=*/true,
                     /*lanes=*/8 * static_cast<int64_t>(load.getNumTiles()),
                     /*isBoundsChecked=*/false,
                     /*mayCrossRows=*/true};
  }
  void setRowAccess(Operation *op, OpOperand &memref, Value newMemRef,
                    ValueRange newIndices) const {
    memref.set(newMemRef);
    cast<nvgpu::LdMatrixOp>(op).getIndicesMutable().assign(newIndices);
  }
  int64_t getRowAlignment(Operation *, OpOperand &) const { return 16; }
};

struct DeviceAsyncCopyAccessModel
    : StridedAccessOpInterface::ExternalModel<DeviceAsyncCopyAccessModel,
                                              nvgpu::DeviceAsyncCopyOp> {
  std::optional<RowAccess> getRowAccess(Operation *op,
                                        OpOperand &memref) const {
    auto copy = cast<nvgpu::DeviceAsyncCopyOp>(op);
    if (&memref != &copy.getDstMutable())
      return std::nullopt;
    return RowAccess{copy.getDstIndices(), copy.getDstElements().getSExtValue(),
                     /*isRead=*/false,
                     /*lanes=*/0,          /*isBoundsChecked=*/false,
                     /*mayCrossRows=*/true};
  }
  void setRowAccess(Operation *op, OpOperand &memref, Value newMemRef,
                    ValueRange newIndices) const {
    memref.set(newMemRef);
    cast<nvgpu::DeviceAsyncCopyOp>(op).getDstIndicesMutable().assign(
        newIndices);
  }
};

struct TransposeLoadModel
    : StridedAccessOpInterface::ExternalModel<TransposeLoadModel,
                                              amdgpu::TransposeLoadOp> {
  std::optional<RowAccess> getRowAccess(Operation *op, OpOperand &) const {
    auto load = cast<amdgpu::TransposeLoadOp>(op);
    auto type = cast<VectorType>(load.getResult().getType());
    return RowAccess{load.getSrcIndices(),
                     type.getNumElements(),
                     /*isRead=*/true,
                     /*lanes=*/0,
                     /*isBoundsChecked=*/false,
                     /*mayCrossRows=*/true};
  }
  void setRowAccess(Operation *op, OpOperand &memref, Value newMemRef,
                    ValueRange newIndices) const {
    memref.set(newMemRef);
    cast<amdgpu::TransposeLoadOp>(op).getSrcIndicesMutable().assign(newIndices);
  }
};

struct GatherToLDSModel
    : StridedAccessOpInterface::ExternalModel<GatherToLDSModel,
                                              amdgpu::GatherToLDSOp> {
  std::optional<RowAccess> getRowAccess(Operation *op,
                                        OpOperand &memref) const {
    auto gather = cast<amdgpu::GatherToLDSOp>(op);
    if (&memref != &gather.getDstMutable())
      return std::nullopt;
    auto vector = dyn_cast<VectorType>(gather.getTransferType());
    return RowAccess{
        gather.getDstIndices(),    vector ? vector.getNumElements() : 1,
        /*isRead=*/false,          /*lanes=*/0,
        /*isBoundsChecked=*/false,
        /*mayCrossRows=*/true,     /*isWaveWide=*/true};
  }
  void setRowAccess(Operation *op, OpOperand &memref, Value newMemRef,
                    ValueRange newIndices) const {
    memref.set(newMemRef);
    cast<amdgpu::GatherToLDSOp>(op).getDstIndicesMutable().assign(newIndices);
  }
};

/// gpu.subgroup_mma_*_matrix has the row stride as an attribute. PTX's
/// wmma.load and wmma.store require row strides of 16 bytes and addresses of 32
/// bytes.
template <typename OpTy>
struct SubgroupMatrixModel
    : StridedAccessOpInterface::ExternalModel<SubgroupMatrixModel<OpTy>, OpTy> {
  int64_t getRowAlignment(Operation *, OpOperand &) const { return 32; }
  void setRowPitch(Operation *op, OpOperand &, int64_t elements) const {
    auto access = cast<OpTy>(op);
    access.setLeadDimensionAttr(
        IntegerAttr::get(IndexType::get(op->getContext()), elements));
  }
};

/// An op that addresses by strides, without further facts.
template <typename OpTy>
struct StridedModel
    : StridedAccessOpInterface::ExternalModel<StridedModel<OpTy>, OpTy> {};

/// The first layout of the attribute, or null.
Attribute getFirstLayout(Operation *op, StringRef name) {
  auto layouts = op->getAttrOfType<ArrayAttr>(name);
  return layouts && !layouts.empty() ? layouts[0] : Attribute();
}

struct VectorLoadAccessModel
    : StridedAccessOpInterface::ExternalModel<VectorLoadAccessModel,
                                              mosaic_gpu::VectorLoadOp> {
  std::optional<BlockAccess> getBlockAccess(Operation *op, OpOperand &) const {
    Attribute layout = getFirstLayout(op, mosaic_gpu::kOutLayouts);
    if (!layout)
      return std::nullopt;
    return BlockAccess{layout, op->getResult(0).getType(), /*isRead=*/true};
  }
};

struct VectorStoreAccessModel
    : StridedAccessOpInterface::ExternalModel<VectorStoreAccessModel,
                                              mosaic_gpu::VectorStoreOp> {
  std::optional<BlockAccess> getBlockAccess(Operation *op, OpOperand &) const {
    auto store = cast<mosaic_gpu::VectorStoreOp>(op);
    Attribute layout = getFirstLayout(op, mosaic_gpu::kInLayouts);
    if (!layout)
      return std::nullopt;
    return BlockAccess{layout, store.getValueToStore().getType(),
                       /*isRead=*/false};
  }
};

struct AsyncCopyAccessModel
    : StridedAccessOpInterface::ExternalModel<AsyncCopyAccessModel,
                                              mosaic_gpu::AsyncCopyOp> {
  std::optional<BlockAccess> getBlockAccess(Operation *op,
                                            OpOperand &memref) const {
    auto copy = cast<mosaic_gpu::AsyncCopyOp>(op);
    if (memref.get() != copy.getDestination())
      return std::nullopt;
    return BlockAccess{Attribute(), memref.get().getType(), /*isRead=*/false};
  }
};

} // namespace

void smalti::registerAccessModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    gpu::SubgroupMmaLoadMatrixOp::attachInterface<
        SubgroupMatrixModel<gpu::SubgroupMmaLoadMatrixOp>>(*context);
    gpu::SubgroupMmaStoreMatrixOp::attachInterface<
        SubgroupMatrixModel<gpu::SubgroupMmaStoreMatrixOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, amdgpu::AMDGPUDialect *) {
    amdgpu::TransposeLoadOp::attachInterface<TransposeLoadModel>(*context);
    amdgpu::GatherToLDSOp::attachInterface<GatherToLDSModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, nvgpu::NVGPUDialect *) {
    nvgpu::DeviceAsyncCopyOp::attachInterface<DeviceAsyncCopyAccessModel>(
        *context);
    nvgpu::LdMatrixOp::attachInterface<LdMatrixAccessModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    memref::TransposeOp::attachInterface<TransposeViewModel>(*context);
    memref::CopyOp::attachInterface<StridedModel<memref::CopyOp>>(*context);
    memref::LoadOp::attachInterface<IndexedModel<memref::LoadOp>>(*context);
    memref::StoreOp::attachInterface<IndexedModel<memref::StoreOp>>(*context);
    memref::AtomicRMWOp::attachInterface<IndexedModel<memref::AtomicRMWOp>,
                                         AtomicModel<memref::AtomicRMWOp>>(
        *context);
    memref::GenericAtomicRMWOp::attachInterface<
        AtomicModel<memref::GenericAtomicRMWOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    vector::StoreOp::attachInterface<IndexedModel<vector::StoreOp>>(*context);
    vector::LoadOp::attachInterface<IndexedModel<vector::LoadOp>>(*context);
    vector::MaskedLoadOp::attachInterface<IndexedModel<vector::MaskedLoadOp>>(
        *context);
    vector::MaskedStoreOp::attachInterface<IndexedModel<vector::MaskedStoreOp>>(
        *context);
    vector::TransferReadOp::attachInterface<
        TransferModel<vector::TransferReadOp>>(*context);
    vector::TransferWriteOp::attachInterface<
        TransferModel<vector::TransferWriteOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context,
                            mosaic_gpu::MosaicGPUDialect *) {
    mosaic_gpu::AsyncCopyOp::attachInterface<AsyncCopyAccessModel>(*context);
    mosaic_gpu::VectorStoreOp::attachInterface<VectorStoreAccessModel>(
        *context);
    mosaic_gpu::VectorLoadOp::attachInterface<VectorLoadAccessModel>(*context);
  });
}
