//===- BarrierModels.cpp - Models of block barriers and mbarriers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace smalti;

namespace {

//===----------------------------------------------------------------------===//
// Block barriers
//===----------------------------------------------------------------------===//

template <typename OpTy, bool Global>
struct BarrierModel
    : BlockBarrierOpInterface::ExternalModel<BarrierModel<OpTy, Global>, OpTy> {
  bool ordersGlobalMemory(Operation *) const { return Global; }
};

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

/// The number of arrivals of an op that arrives once.
OpFoldResult getOneArrival(Operation *op, BarrierAction action) {
  if (action != BarrierAction::Arrive)
    return {};
  return IntegerAttr::get(IndexType::get(op->getContext()), 1);
}

/// nvgpu ops have a group of mbarriers and an index.
template <typename OpTy, BarrierAction Action>
struct GroupBarrierModel
    : BarrierObjectOpInterface::ExternalModel<GroupBarrierModel<OpTy, Action>,
                                              OpTy> {
  BarrierAction getBarrierAction(Operation *) const { return Action; }
  OpOperand &getBarrierMutable(Operation *op) const {
    return cast<OpTy>(op).getBarriersMutable();
  }
  OpOperand *getBarrierIndexMutable(Operation *op) const {
    return &cast<OpTy>(op).getMbarIdMutable();
  }
  OpOperand *getParityMutable(Operation *op) const {
    if constexpr (Action == BarrierAction::Wait)
      return &cast<OpTy>(op).getPhaseParityMutable();
    else
      return nullptr;
  }
  OpFoldResult getArrivals(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, nvgpu::MBarrierInitOp> ||
                  std::is_same_v<OpTy, nvgpu::MBarrierArriveNoCompleteOp>)
      return cast<OpTy>(op).getCount();
    else
      return getOneArrival(op, Action);
  }
  Value getPredicate(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, nvgpu::MBarrierInitOp> ||
                  std::is_same_v<OpTy, nvgpu::MBarrierArriveExpectTxOp> ||
                  std::is_same_v<OpTy, nvgpu::TmaAsyncLoadOp>)
      return cast<OpTy>(op).getPredicate();
    else
      return {};
  }
};

/// nvvm and mosaic_gpu ops have a single mbarrier.
template <typename OpTy, BarrierAction Action>
struct SingleBarrierModel
    : BarrierObjectOpInterface::ExternalModel<SingleBarrierModel<OpTy, Action>,
                                              OpTy> {
  BarrierAction getBarrierAction(Operation *) const { return Action; }
  OpOperand &getBarrierMutable(Operation *op) const {
    auto object = cast<OpTy>(op);
    if constexpr (std::is_same_v<OpTy,
                                 NVVM::CpAsyncBulkGlobalToSharedClusterOp> ||
                  std::is_same_v<
                      OpTy, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>)
      return object.getMbarMutable();
    else if constexpr (std::is_same_v<OpTy, mosaic_gpu::InitializeBarrierOp>)
      return object.getBasePointerMutable();
    else if constexpr (std::is_same_v<OpTy, mosaic_gpu::ArriveOp> ||
                       std::is_same_v<OpTy, mosaic_gpu::ArriveExpectTxOp> ||
                       std::is_same_v<OpTy, mosaic_gpu::WaitOp> ||
                       std::is_same_v<OpTy, mosaic_gpu::AsyncLoadOp>)
      return object.getBarrierMutable();
    else
      return object.getAddrMutable();
  }
  OpOperand *getParityMutable(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, mosaic_gpu::WaitOp>)
      return &cast<OpTy>(op).getParityMutable();
    else if constexpr (std::is_same_v<OpTy, NVVM::MBarrierTryWaitParityOp>)
      return &cast<OpTy>(op).getPhaseMutable();
    else
      return nullptr;
  }
  int64_t getNumBarriers(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, mosaic_gpu::InitializeBarrierOp>)
      return cast<OpTy>(op).getNumBarriers();
    else
      return 1;
  }
  OpFoldResult getArrivals(Operation *op) const {
    auto object = cast<OpTy>(op);
    if constexpr (std::is_same_v<OpTy, NVVM::MBarrierInitOp>)
      return object.getCount();
    else if constexpr (std::is_same_v<OpTy, mosaic_gpu::InitializeBarrierOp>)
      return object.getArrivalCountAttr();
    else if constexpr (std::is_same_v<OpTy, NVVM::MBarrierArriveOp>)
      return object.getCount() ? OpFoldResult(object.getCount())
                               : getOneArrival(op, Action);
    else if constexpr (std::is_same_v<OpTy, NVVM::MBarrierArriveNocompleteOp>)
      return object.getCount();
    else if constexpr (std::is_same_v<OpTy, NVVM::MBarrierExpectTxOp>)
      return IntegerAttr::get(IndexType::get(op->getContext()), 0);
    else
      return getOneArrival(op, Action);
  }
  Value getPredicate(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, NVVM::MBarrierInitOp> ||
                  std::is_same_v<OpTy, NVVM::MBarrierArriveExpectTxOp> ||
                  std::is_same_v<
                      OpTy, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>)
      return cast<OpTy>(op).getPredicate();
    else
      return {};
  }
  bool isBlockWide(Operation *op) const {
    return isa<mosaic_gpu::MosaicGPUDialect>(op->getDialect());
  }
};

/// Each op creates mbarriers that do not alias other memory.
struct CreateBarriersModel
    : MemoryEffectOpInterface::ExternalModel<CreateBarriersModel,
                                             nvgpu::MBarrierCreateOp> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
                 &effects) const {
    effects.emplace_back(MemoryEffects::Allocate::get(), op->getResult(0));
  }
};

} // namespace

void smalti::registerBarrierModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    gpu::BarrierOp::attachInterface<BarrierModel<gpu::BarrierOp, true>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, amdgpu::AMDGPUDialect *) {
    amdgpu::LDSBarrierOp::attachInterface<
        BarrierModel<amdgpu::LDSBarrierOp, false>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, ROCDL::ROCDLDialect *) {
    ROCDL::BarrierOp::attachInterface<BarrierModel<ROCDL::BarrierOp, true>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, nvgpu::NVGPUDialect *) {
    nvgpu::MBarrierCreateOp::attachInterface<CreateBarriersModel>(*context);
    nvgpu::MBarrierInitOp::attachInterface<
        GroupBarrierModel<nvgpu::MBarrierInitOp, BarrierAction::Init>>(
        *context);
    nvgpu::MBarrierArriveOp::attachInterface<
        GroupBarrierModel<nvgpu::MBarrierArriveOp, BarrierAction::Arrive>>(
        *context);
    nvgpu::MBarrierArriveNoCompleteOp::attachInterface<GroupBarrierModel<
        nvgpu::MBarrierArriveNoCompleteOp, BarrierAction::Arrive>>(*context);
    nvgpu::MBarrierArriveExpectTxOp::attachInterface<GroupBarrierModel<
        nvgpu::MBarrierArriveExpectTxOp, BarrierAction::Arrive>>(*context);
    nvgpu::MBarrierTestWaitOp::attachInterface<
        GroupBarrierModel<nvgpu::MBarrierTestWaitOp, BarrierAction::Poll>>(
        *context);
    nvgpu::MBarrierTryWaitParityOp::attachInterface<
        GroupBarrierModel<nvgpu::MBarrierTryWaitParityOp, BarrierAction::Wait>>(
        *context);
    nvgpu::TmaAsyncLoadOp::attachInterface<
        GroupBarrierModel<nvgpu::TmaAsyncLoadOp, BarrierAction::Copy>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *) {
    NVVM::Barrier0Op::attachInterface<BarrierModel<NVVM::Barrier0Op, true>>(
        *context);
    NVVM::MBarrierInitOp::attachInterface<
        SingleBarrierModel<NVVM::MBarrierInitOp, BarrierAction::Init>>(
        *context);
    NVVM::MBarrierArriveOp::attachInterface<
        SingleBarrierModel<NVVM::MBarrierArriveOp, BarrierAction::Arrive>>(
        *context);
    NVVM::MBarrierArriveExpectTxOp::attachInterface<SingleBarrierModel<
        NVVM::MBarrierArriveExpectTxOp, BarrierAction::Arrive>>(*context);
    NVVM::MBarrierArriveNocompleteOp::attachInterface<SingleBarrierModel<
        NVVM::MBarrierArriveNocompleteOp, BarrierAction::Arrive>>(*context);
    NVVM::MBarrierExpectTxOp::attachInterface<
        SingleBarrierModel<NVVM::MBarrierExpectTxOp, BarrierAction::Arrive>>(
        *context);
    NVVM::MBarrierTestWaitOp::attachInterface<
        SingleBarrierModel<NVVM::MBarrierTestWaitOp, BarrierAction::Poll>>(
        *context);
    NVVM::MBarrierTryWaitOp::attachInterface<
        SingleBarrierModel<NVVM::MBarrierTryWaitOp, BarrierAction::Poll>>(
        *context);
    NVVM::MBarrierTryWaitParityOp::attachInterface<
        SingleBarrierModel<NVVM::MBarrierTryWaitParityOp, BarrierAction::Wait>>(
        *context);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::attachInterface<
        SingleBarrierModel<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
                           BarrierAction::Copy>>(*context);
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::attachInterface<
        SingleBarrierModel<NVVM::CpAsyncBulkGlobalToSharedClusterOp,
                           BarrierAction::Copy>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context,
                            mosaic_gpu::MosaicGPUDialect *) {
    mosaic_gpu::InitializeBarrierOp::attachInterface<SingleBarrierModel<
        mosaic_gpu::InitializeBarrierOp, BarrierAction::Init>>(*context);
    mosaic_gpu::ArriveOp::attachInterface<
        SingleBarrierModel<mosaic_gpu::ArriveOp, BarrierAction::Arrive>>(
        *context);
    mosaic_gpu::ArriveExpectTxOp::attachInterface<SingleBarrierModel<
        mosaic_gpu::ArriveExpectTxOp, BarrierAction::Arrive>>(*context);
    mosaic_gpu::AsyncLoadOp::attachInterface<
        SingleBarrierModel<mosaic_gpu::AsyncLoadOp, BarrierAction::Copy>>(
        *context);
    mosaic_gpu::WaitOp::attachInterface<
        SingleBarrierModel<mosaic_gpu::WaitOp, BarrierAction::Wait>>(*context);
  });
}
