//===- VerifyKernels.cpp - smalti-verify-kernels --------------------------===//

#include "passes/Support/KernelAttributes.h"
#include "passes/Support/TargetOption.h"
#include "passes/Support/TripCount.h"
#include "targets/Target.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIVERIFYKERNELS
#define GEN_PASS_DEF_SMALTIVERIFYKERNELS
#include "passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

/// A launch hands over the addresses of memrefs alone. Upstream's conversion
/// crashes on attributions whose elements LLVM does not have, such as tf32.
static LogicalResult verifyArguments(ModuleOp module) {
  bool isValid = true;
  LLVMTypeConverter converter(module.getContext());
  module->walk([&](gpu::GPUFuncOp func) {
    for (auto [number, type] : llvm::enumerate(func.getArgumentTypes())) {
      auto memref = dyn_cast<BaseMemRefType>(type);
      if (!memref || LLVMTypeConverter::canConvertToBarePtr(memref))
        continue;
      isValid = false;
      InFlightDiagnostic diagnostic =
          emitError(func.isExternal() ? func.getLoc()
                                      : func.getArgument(number).getLoc());
      diagnostic << "argument " << number << " of '" << func.getName()
                 << "' has type " << type
                 << "; a static shape, static strides and a static offset are "
                    "required";
    }
    for (BlockArgument attribution : llvm::concat<const BlockArgument>(
             func.getWorkgroupAttributions(), func.getPrivateAttributions())) {
      auto type = cast<MemRefType>(attribution.getType());
      Type element = type.getElementType();
      Attribute space = type.getMemorySpace();
      if (space && !isa<IntegerAttr, gpu::AddressSpaceAttr>(space)) {
        isValid = false;
        emitError(attribution.getLoc())
            << "memory of '" << func.getName() << "' is in " << space
            << ", which a gpu.func cannot declare";
        continue;
      }
      if (!isa<FloatType>(element) || converter.convertType(element))
        continue;
      isValid = false;
      emitError(attribution.getLoc())
          << "memory of '" << func.getName() << "' has elements of type "
          << element << ", which LLVM does not have";
    }
  });
  return success(isValid);
}

/// The conversions to LLVM report other memory spaces without a location.
static LogicalResult verifyMemorySpaces(ModuleOp module, const Target &chip) {
  auto check = [&](Value value) -> WalkResult {
    auto memref = dyn_cast<BaseMemRefType>(value.getType());
    if (!memref || !memref.getMemorySpace() ||
        isa<IntegerAttr>(memref.getMemorySpace()))
      return WalkResult::advance();
    emitError(value.getLoc()) << chip.name << " does not have memory space "
                              << memref.getMemorySpace();
    return WalkResult::interrupt();
  };
  WalkResult result = module.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (check(value).wasInterrupted())
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          if (check(value).wasInterrupted())
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct SmaltiVerifyKernels
    : smalti::impl::SmaltiVerifyKernelsBase<SmaltiVerifyKernels> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

void SmaltiVerifyKernels::runOnOperation() {
  markAllAnalysesPreserved();
  ModuleOp module = getOperation();
  const Target *chip = getTarget(module, target);
  if (!chip || failed(checkLoopSteps(module)))
    return signalPassFailure();
  bool isInvalid = false;
  module.walk([&](gpu::GPUFuncOp func) {
    isInvalid |= failed(verifyKernelAttributes(func));
  });
  if (isInvalid)
    return signalPassFailure();
  if (memory && failed(chip->isGPU() ? verifyArguments(module)
                                     : verifyMemorySpaces(module, *chip)))
    signalPassFailure();
}
