//===- RegisterModels.cpp - Models of ops without memory effects ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"

#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace smalti;

namespace {

template <typename OpTy>
struct RegisterModel
    : RegisterOpInterface::ExternalModel<RegisterModel<OpTy>, OpTy> {};

/// For an op that is identified by its name.
struct NamedRegisterModel
    : RegisterOpInterface::FallbackModel<NamedRegisterModel> {
  using Interface = RegisterOpInterface;
};

template <typename OpTy>
struct LaneExchangeModel
    : LaneExchangeOpInterface::ExternalModel<LaneExchangeModel<OpTy>, OpTy> {};

struct NamedLaneExchangeModel
    : LaneExchangeOpInterface::FallbackModel<NamedLaneExchangeModel> {
  using Interface = LaneExchangeOpInterface;
};

/// The lanes of a wave together read or write a matrix through a pointer.
template <typename OpTy, typename Effect>
struct MatrixAccessModel
    : MemoryEffectOpInterface::ExternalModel<MatrixAccessModel<OpTy, Effect>,
                                             OpTy> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
                 &effects) const {
    effects.emplace_back(Effect::get(), &cast<OpTy>(op).getPtrMutable());
  }
};

/// LLVM's attributes of the intrinsic of a ROCDL op; std::nullopt if LLVM does
/// not have the intrinsic.
std::optional<llvm::AttributeSet> getAttributes(llvm::LLVMContext &context,
                                                StringRef opName) {
  std::string name = "llvm.amdgcn." + opName.substr(strlen("rocdl.")).str();
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (!id) {
    llvm::replace(name, '_', '.');
    id = llvm::Intrinsic::lookupIntrinsicID(name);
  }
  if (!id)
    return std::nullopt;
  return llvm::Intrinsic::getFnAttributes(context, id);
}

/// MMAs use all lanes of the wave, independent of the active lanes.
bool isMatrixInstruction(StringRef opName) {
  return opName.contains("mfma") || opName.contains("wmma") ||
         opName.contains("smfmac");
}

} // namespace

void smalti::registerRegisterModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ROCDL::ROCDLDialect *) {
    llvm::LLVMContext llvmContext;
    // getRegisteredOperationsByDialect misses ops, since upstream
    // binary-searches a list that is not sorted.
    for (RegisteredOperationName name : context->getRegisteredOperations()) {
      if (name.getDialectNamespace() !=
          ROCDL::ROCDLDialect::getDialectNamespace())
        continue;
      auto attributes = getAttributes(llvmContext, name.getStringRef());
      if (!attributes || !attributes->getMemoryEffects().doesNotAccessMemory())
        continue;
      if (!name.hasInterface<MemoryEffectOpInterface>())
        name.attachInterface<NamedRegisterModel>();
      if (attributes->hasAttribute(llvm::Attribute::Convergent) &&
          !isMatrixInstruction(name.getStringRef()))
        name.attachInterface<NamedLaneExchangeModel>();
    }
    ROCDL::SchedBarrier::attachInterface<RegisterModel<ROCDL::SchedBarrier>>(
        *context);
    ROCDL::SchedGroupBarrier::attachInterface<
        RegisterModel<ROCDL::SchedGroupBarrier>>(*context);
    ROCDL::IglpOpt::attachInterface<RegisterModel<ROCDL::IglpOpt>>(*context);
    ROCDL::SetPrioOp::attachInterface<RegisterModel<ROCDL::SetPrioOp>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, amdgpu::AMDGPUDialect *) {
    amdgpu::SchedBarrierOp::attachInterface<
        RegisterModel<amdgpu::SchedBarrierOp>>(*context);
    amdgpu::DPPOp::attachInterface<LaneExchangeModel<amdgpu::DPPOp>>(*context);
    amdgpu::SwizzleBitModeOp::attachInterface<
        LaneExchangeModel<amdgpu::SwizzleBitModeOp>>(*context);
    amdgpu::PermlaneSwapOp::attachInterface<
        LaneExchangeModel<amdgpu::PermlaneSwapOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    gpu::ShuffleOp::attachInterface<LaneExchangeModel<gpu::ShuffleOp>>(
        *context);
    gpu::RotateOp::attachInterface<LaneExchangeModel<gpu::RotateOp>>(*context);
    gpu::SubgroupBroadcastOp::attachInterface<
        LaneExchangeModel<gpu::SubgroupBroadcastOp>>(*context);
    gpu::SubgroupReduceOp::attachInterface<
        RegisterModel<gpu::SubgroupReduceOp>,
        LaneExchangeModel<gpu::SubgroupReduceOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *) {
    NVVM::MmaOp::attachInterface<RegisterModel<NVVM::MmaOp>>(*context);
    NVVM::WMMAMmaOp::attachInterface<RegisterModel<NVVM::WMMAMmaOp>>(*context);
    NVVM::ShflOp::attachInterface<RegisterModel<NVVM::ShflOp>,
                                  LaneExchangeModel<NVVM::ShflOp>>(*context);
    NVVM::VoteSyncOp::attachInterface<RegisterModel<NVVM::VoteSyncOp>,
                                      LaneExchangeModel<NVVM::VoteSyncOp>>(
        *context);
    NVVM::ElectSyncOp::attachInterface<RegisterModel<NVVM::ElectSyncOp>,
                                       LaneExchangeModel<NVVM::ElectSyncOp>>(
        *context);
    NVVM::ReduxOp::attachInterface<RegisterModel<NVVM::ReduxOp>,
                                   LaneExchangeModel<NVVM::ReduxOp>>(*context);
    NVVM::LdMatrixOp::attachInterface<
        MatrixAccessModel<NVVM::LdMatrixOp, MemoryEffects::Read>>(*context);
    NVVM::StMatrixOp::attachInterface<
        MatrixAccessModel<NVVM::StMatrixOp, MemoryEffects::Write>>(*context);
    NVVM::WMMALoadOp::attachInterface<
        MatrixAccessModel<NVVM::WMMALoadOp, MemoryEffects::Read>>(*context);
    NVVM::WMMAStoreOp::attachInterface<
        MatrixAccessModel<NVVM::WMMAStoreOp, MemoryEffects::Write>>(*context);
  });
}
