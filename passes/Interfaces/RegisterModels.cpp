//===- RegisterModels.cpp - What upstream states no effects of ------------===//

#include "passes/Interfaces/ExternalModels.h"

#include "passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
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

/// For an op that is known by its name.
struct NamedRegisterModel
    : RegisterOpInterface::FallbackModel<NamedRegisterModel> {
  using Interface = RegisterOpInterface;
};

/// The lanes of a wave together read or write a matrix behind a pointer.
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

/// Whether LLVM says that the instruction behind a ROCDL op accesses no memory
/// and does nothing else that anyone sees.
bool isOnRegisters(llvm::LLVMContext &context, StringRef opName) {
  std::string name = "llvm.amdgcn." + opName.substr(strlen("rocdl.")).str();
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (!id) {
    llvm::replace(name, '_', '.');
    id = llvm::Intrinsic::lookupIntrinsicID(name);
  }
  return id && llvm::Intrinsic::getFnAttributes(context, id)
                   .getMemoryEffects()
                   .doesNotAccessMemory();
}

} // namespace

void smalti::registerRegisterModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ROCDL::ROCDLDialect *) {
    llvm::LLVMContext llvmContext;
    for (RegisteredOperationName name :
         context->getRegisteredOperationsByDialect(
             ROCDL::ROCDLDialect::getDialectNamespace()))
      if (!name.hasInterface<MemoryEffectOpInterface>() &&
          isOnRegisters(llvmContext, name.getStringRef()))
        name.attachInterface<NamedRegisterModel>();
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
  });
  registry.addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *) {
    NVVM::MmaOp::attachInterface<RegisterModel<NVVM::MmaOp>>(*context);
    NVVM::WMMAMmaOp::attachInterface<RegisterModel<NVVM::WMMAMmaOp>>(*context);
    NVVM::ShflOp::attachInterface<RegisterModel<NVVM::ShflOp>>(*context);
    NVVM::VoteSyncOp::attachInterface<RegisterModel<NVVM::VoteSyncOp>>(
        *context);
    NVVM::ElectSyncOp::attachInterface<RegisterModel<NVVM::ElectSyncOp>>(
        *context);
    NVVM::ReduxOp::attachInterface<RegisterModel<NVVM::ReduxOp>>(*context);
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
