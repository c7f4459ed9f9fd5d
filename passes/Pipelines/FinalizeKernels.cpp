//===- FinalizeKernels.cpp - smalti-finalize-kernels ----------------------===//

#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIFINALIZEKERNELS
#define GEN_PASS_DEF_SMALTIFINALIZEKERNELS
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

/// Dynamic shared memory becomes an array without end that the launch sizes.
/// Upstream's conversion makes it a variable of the module's own, to which the
/// assembler gives one byte, apart from what the launch asks for.
static void declareDynamicSharedMemory(gpu::GPUModuleOp kernels) {
  int64_t alignment = kSharedMemoryAlignment;
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (std::optional<int64_t> needed =
            getInteger(kernel->getAttr(mosaic_gpu::kSharedMemoryAlignment)))
      alignment = std::max(alignment, *needed);
  for (auto global : kernels.getOps<LLVM::GlobalOp>()) {
    auto type = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    // Upstream's parser leaves no attribute where it has another type.
    IntegerAttr space = global.getAddrSpaceAttr();
    if (type && type.getNumElements() == 0 && space &&
        space.getValue() == int64_t(NVVM::NVVMMemorySpace::Shared)) {
      global.setLinkage(LLVM::Linkage::External);
      global.setAlignment(alignment);
    }
  }
}

/// With the threads of a block alone, the assembler keeps registers for further
/// blocks on the multiprocessor and spills what does not fit. It also drops
/// `setmaxnreg` where it does not know how many registers a warp starts with.
static void declareResidentBlocks(gpu::GPUModuleOp kernels) {
  StringRef blocks = NVVM::NVVMDialect::getMinctasmAttrName();
  auto one = IntegerAttr::get(IntegerType::get(kernels.getContext(), 32), 1);
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
        !kernel->hasAttr(blocks))
      kernel->setAttr(blocks, one);
}

/// The name as a symbol of PTX and of AMD's assembly: letters, digits, _ and $,
/// and more than one of the last two.
static std::string getAssemblerName(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) || c == '$' ? c : '_';
  bool isValid = result.find_first_not_of("_$") != std::string::npos &&
                 !llvm::isDigit(result.front()) && result != "WARP_SZ";
  return isValid ? result : "kernel_" + result;
}

/// Renames the kernels whose names an assembler does not take;
/// `smalti.source_name` keeps the name.
static void renameKernels(gpu::GPUModuleOp kernels, ModuleOp module) {
  SymbolTable symbols(kernels);
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (kernel.isExternal())
      continue;
    auto name = kernel.getSymNameAttr();
    std::string valid = getAssemblerName(name);
    if (valid == name.getValue())
      continue;
    while (symbols.lookup(valid))
      valid += '_';
    auto renamed = StringAttr::get(module.getContext(), valid);
    (void)SymbolTable::replaceAllSymbolUses(kernel, renamed, module);
    symbols.remove(kernel);
    kernel.setSymNameAttr(renamed);
    symbols.insert(kernel);
    kernel->setAttr(kSourceName, name);
  }
}

/// Whether every kernel that needs another name can get one.
static LogicalResult verifyNames(gpu::GPUModuleOp kernels, ModuleOp module) {
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal() &&
        getAssemblerName(kernel.getSymName()) != kernel.getSymName() &&
        !SymbolTable::getSymbolUses(kernel, module))
      return kernel.emitOpError()
             << "has a name that an assembler does not take, and cannot be "
                "renamed: the module has ops whose references to symbols "
                "cannot be determined";
  return success();
}

/// Whether the attributes that say which memory kernels need are well-formed.
static LogicalResult verifyMemory(gpu::GPUModuleOp kernels) {
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (failed(verifySharedMemoryAttributes(kernel)))
      return failure();
  return success();
}

/// Whether all of the kernels, a module or a function, is in dialects that
/// become LLVM IR. Upstream's conversions leave what they do not know, with
/// casts around it. The outermost of those ops is reported: ops that parsers
/// add inside, such as linalg.yield, have no location.
static LogicalResult verifyLowered(Operation *kernels, const Target &chip) {
  UnrealizedConversionCastOp cast;
  WalkResult result = kernels->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect,
                        ROCDL::ROCDLDialect, gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    if (auto unrealized = dyn_cast<UnrealizedConversionCastOp>(op)) {
      if (!cast)
        cast = unrealized;
      return WalkResult::advance();
    }
    InFlightDiagnostic diagnostic = op->emitOpError();
    if (op->getNumOperands() != 0)
      diagnostic << "on " << op->getOperandTypes() << " ";
    diagnostic << "has no lowering to " << chip.name;
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (cast)
    return cast.emitError() << "values of type " << cast->getResultTypes()
                            << " have no lowering to " << chip.name;
  return success();
}

namespace {
struct SmaltiFinalizeKernels
    : smalti::impl::SmaltiFinalizeKernelsBase<SmaltiFinalizeKernels> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

void SmaltiFinalizeKernels::runOnOperation() {
  ModuleOp module = getOperation();
  const Target *chip = getTarget(module, target);
  if (!chip)
    return signalPassFailure();
  auto modules = module.getOps<gpu::GPUModuleOp>();
  for (gpu::GPUModuleOp kernels : modules)
    if (failed(verifyLowered(kernels, *chip)) ||
        failed(verifyNames(kernels, module)) || failed(verifyMemory(kernels)))
      return signalPassFailure();
  WalkResult launched = module.walk([](gpu::LaunchOp launch) {
    launch.emitOpError() << "has no kernel in a gpu.module; run "
                            "mosaic-gpu-outline-launches or smalti-compile";
    return WalkResult::interrupt();
  });
  if (launched.wasInterrupted())
    return signalPassFailure();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(kNumTiles) && failed(verifyLowered(function, *chip)))
      return signalPassFailure();
  for (gpu::GPUModuleOp kernels : modules) {
    if (chip->vendor == targets::Vendor::NVIDIA) {
      declareDynamicSharedMemory(kernels);
      declareResidentBlocks(kernels);
    }
    renameKernels(kernels, module);
  }
}
