//===- VerifyKernels.cpp - smalti-verify-kernels --------------------------===//

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIVERIFYKERNELS
#define GEN_PASS_DEF_SMALTIVERIFYKERNELS
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

/// The floating-point type inside a type, e.g. tf32 in memref<4xcomplex<tf32>>,
/// that LLVM does not have; null where there is none. Upstream's conversions
/// crash on types that hold such a type.
static Type findTypeUnknownToLLVM(const LLVMTypeConverter &converter,
                                  Type type) {
  if (isa<FloatType>(type))
    return converter.convertType(type) ? Type() : type;
  if (isa<ShapedType>(type))
    return findTypeUnknownToLLVM(converter, getElementTypeOrSelf(type));
  if (auto complex = dyn_cast<ComplexType>(type))
    return findTypeUnknownToLLVM(converter, complex.getElementType());
  return {};
}

/// A launch hands over the addresses of memrefs alone. Upstream's conversion
/// crashes on attributions whose types do not convert.
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
      Attribute space = type.getMemorySpace();
      bool isKnownSpace =
          !space || isa<IntegerAttr, gpu::AddressSpaceAttr>(space);
      Type unknown = findTypeUnknownToLLVM(converter, type);
      if (!unknown && isKnownSpace && type.hasStaticShape() &&
          type.getLayout().isIdentity())
        continue;
      isValid = false;
      InFlightDiagnostic diagnostic = emitError(attribution.getLoc());
      diagnostic << "memory of '" << func.getName() << "' has ";
      if (unknown)
        diagnostic << "elements of type " << unknown
                   << ", which LLVM does not have";
      else
        diagnostic << "type " << type
                   << "; a static shape, an identity layout and a numbered or "
                      "GPU memory space are required";
    }
  });
  return success(isValid);
}

/// The conversions to LLVM report other memory spaces without a location, and
/// crash on elements that LLVM does not have.
static LogicalResult verifyMemory(ModuleOp module, const Target &chip) {
  LLVMTypeConverter converter(module.getContext());
  auto check = [&](Type type, Location loc) -> WalkResult {
    auto memref = dyn_cast<BaseMemRefType>(type);
    if (!memref && !isa<ComplexType>(type))
      return WalkResult::advance();
    if (Type unknown = findTypeUnknownToLLVM(converter, type)) {
      emitError(loc) << "type " << type << " has elements of type " << unknown
                     << ", which LLVM does not have";
      return WalkResult::interrupt();
    }
    if (!memref || !memref.getMemorySpace() ||
        isa<IntegerAttr>(memref.getMemorySpace()))
      return WalkResult::advance();
    emitError(loc) << chip.name << " does not have memory space "
                   << memref.getMemorySpace();
    return WalkResult::interrupt();
  };
  WalkResult result = module.walk([&](Operation *op) {
    if (auto global = dyn_cast<memref::GlobalOp>(op))
      if (check(global.getType(), op->getLoc()).wasInterrupted())
        return WalkResult::interrupt();
    for (Value value : op->getResults())
      if (check(value.getType(), value.getLoc()).wasInterrupted())
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          if (check(value.getType(), value.getLoc()).wasInterrupted())
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
                                     : verifyMemory(module, *chip)))
    signalPassFailure();
}
