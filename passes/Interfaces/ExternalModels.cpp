//===- ExternalModels.cpp - Ops of other dialects in our interfaces -------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;

namespace {

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

template <typename OpTy, bool Global>
struct BarrierModel
    : BlockBarrierOpInterface::ExternalModel<BarrierModel<OpTy, Global>, OpTy> {
  bool ordersGlobalMemory(Operation *) const { return Global; }
};

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

struct DeviceAsyncCopyModel
    : AsyncCopyOpInterface::ExternalModel<DeviceAsyncCopyModel,
                                          nvgpu::DeviceAsyncCopyOp> {
  Value getCopySource(Operation *op) const {
    return cast<nvgpu::DeviceAsyncCopyOp>(op).getSrc();
  }
  Value getCopyDestination(Operation *op) const {
    return cast<nvgpu::DeviceAsyncCopyOp>(op).getDst();
  }
};

struct AsyncCopyModel
    : AsyncCopyOpInterface::ExternalModel<AsyncCopyModel,
                                          mosaic_gpu::AsyncCopyOp> {
  Value getCopySource(Operation *op) const {
    return cast<mosaic_gpu::AsyncCopyOp>(op).getSource();
  }
  Value getCopyDestination(Operation *op) const {
    return cast<mosaic_gpu::AsyncCopyOp>(op).getDestination();
  }
};

template <typename OpTy>
struct CommitModel
    : AsyncCommitOpInterface::ExternalModel<CommitModel<OpTy>, OpTy> {};

struct DeviceAsyncWaitModel
    : AsyncWaitOpInterface::ExternalModel<DeviceAsyncWaitModel,
                                          nvgpu::DeviceAsyncWaitOp> {
  int64_t getPendingGroups(Operation *op) const {
    return cast<nvgpu::DeviceAsyncWaitOp>(op).getNumGroups().value_or(0);
  }
  void setPendingGroups(Operation *op, int64_t pending) const {
    cast<nvgpu::DeviceAsyncWaitOp>(op).setNumGroups(pending);
  }
};

struct AsyncWaitGroupModel
    : AsyncWaitOpInterface::ExternalModel<AsyncWaitGroupModel,
                                          mosaic_gpu::AsyncWaitGroupOp> {
  int64_t getPendingGroups(Operation *op) const {
    return cast<mosaic_gpu::AsyncWaitGroupOp>(op).getPending();
  }
  void setPendingGroups(Operation *op, int64_t pending) const {
    cast<mosaic_gpu::AsyncWaitGroupOp>(op).setPending(pending);
  }
};

//===----------------------------------------------------------------------===//
// Overwrites
//===----------------------------------------------------------------------===//

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
    // A store of a vector of rank n fills the last n dimensions.
    return store.getBase() == memref && type.hasStaticShape() &&
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
    // What it does not read it fills with zeros.
    auto copy = cast<nvgpu::DeviceAsyncCopyOp>(op);
    auto type = cast<MemRefType>(copy.getDst().getType());
    return copy.getDst() == memref && type.hasStaticShape() &&
           copy.getDstElements().getSExtValue() == type.getNumElements() &&
           llvm::all_of(copy.getDstIndices(), [](Value index) {
             return isConstantIntValue(index, 0);
           });
  }
};

/// A block-level op whose verifier demands that it fills its destination.
template <typename OpTy>
struct WholeDestinationModel
    : FullOverwriteOpInterface::ExternalModel<WholeDestinationModel<OpTy>,
                                              OpTy> {
  bool overwrites(Operation *op, Value memref) const {
    return cast<OpTy>(op).getDestination() == memref;
  }
};

} // namespace

static void addGPUModels(MLIRContext *context, gpu::GPUDialect *) {
  gpu::BarrierOp::attachInterface<BarrierModel<gpu::BarrierOp, true>>(*context);
}

static void addAMDGPUModels(MLIRContext *context, amdgpu::AMDGPUDialect *) {
  amdgpu::LDSBarrierOp::attachInterface<
      BarrierModel<amdgpu::LDSBarrierOp, false>>(*context);
}

static void addNVGPUModels(MLIRContext *context, nvgpu::NVGPUDialect *) {
  nvgpu::DeviceAsyncCopyOp::attachInterface<DeviceAsyncCopyModel,
                                            DeviceAsyncCopyOverwriteModel>(
      *context);
  nvgpu::DeviceAsyncCreateGroupOp::attachInterface<
      CommitModel<nvgpu::DeviceAsyncCreateGroupOp>>(*context);
  nvgpu::DeviceAsyncWaitOp::attachInterface<DeviceAsyncWaitModel>(*context);
}

static void addMemRefModels(MLIRContext *context, memref::MemRefDialect *) {
  memref::CopyOp::attachInterface<CopyModel>(*context);
}

static void addVectorModels(MLIRContext *context, vector::VectorDialect *) {
  vector::StoreOp::attachInterface<StoreModel>(*context);
}

static void addMosaicGPUModels(MLIRContext *context,
                               mosaic_gpu::MosaicGPUDialect *) {
  mosaic_gpu::AsyncCopyOp::attachInterface<
      AsyncCopyModel, WholeDestinationModel<mosaic_gpu::AsyncCopyOp>>(*context);
  mosaic_gpu::AsyncCommitGroupOp::attachInterface<
      CommitModel<mosaic_gpu::AsyncCommitGroupOp>>(*context);
  mosaic_gpu::AsyncWaitGroupOp::attachInterface<AsyncWaitGroupModel>(*context);
  mosaic_gpu::VectorStoreOp::attachInterface<
      WholeDestinationModel<mosaic_gpu::VectorStoreOp>>(*context);
}

void smalti::registerLoopInterfaceModels(DialectRegistry &registry) {
  registry.addExtension(addGPUModels);
  registry.addExtension(addAMDGPUModels);
  registry.addExtension(addNVGPUModels);
  registry.addExtension(addMemRefModels);
  registry.addExtension(addVectorModels);
  registry.addExtension(addMosaicGPUModels);
}
