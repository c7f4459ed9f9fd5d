//===- FinalizeKernels.cpp - smalti-finalize-kernels ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
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

/// Turns dynamic shared memory into an external array, whose size the launch
/// specifies. Upstream's conversion creates an internal global, which ptxas
/// allocates statically, separate from the launch's dynamic shared memory.
static void declareDynamicSharedMemory(gpu::GPUModuleOp kernels) {
  int64_t alignment = kSharedMemoryAlignment;
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (std::optional<int64_t> needed =
            getInteger(kernel->getAttr(kSharedMemoryAlignmentAttr)))
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

/// Sets the minimum of resident blocks to 1. Without it, ptxas limits registers
/// for the occupancy of several blocks per SM and spills. It also drops
/// `setmaxnreg` if the number of registers at launch is unknown.
static void declareResidentBlocks(gpu::GPUModuleOp kernels) {
  StringRef blocks = NVVM::NVVMDialect::getMinctasmAttrName();
  auto one = IntegerAttr::get(IntegerType::get(kernels.getContext(), 32), 1);
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
        !kernel->hasAttr(blocks))
      kernel->setAttr(blocks, one);
}

/// Whether all shift amounts are constants that are less than the width.
static bool isInRange(Value amount) {
  unsigned width =
      getElementTypeOrSelf(amount.getType()).getIntOrFloatBitWidth();
  if (APInt splat; matchPattern(amount, m_ConstantInt(&splat)))
    return splat.ult(width);
  DenseIntElementsAttr elements;
  return matchPattern(amount, m_Constant(&elements)) &&
         llvm::all_of(elements.getValues<APInt>(),
                      [&](const APInt &each) { return each.ult(width); });
}

/// Whether LLVM must not look through the result of the op:
/// - a masked load. LLVM 22 folds `select(mask, masked.load(mask), x)` into a
///   load at the select, also across stores and barriers
///   (https://github.com/llvm/llvm-project/issues/215453);
/// - an op whose result is poison for some operands. LLVM deletes the code
///   before and after a branch on poison.
static bool needsFreeze(Operation *op) {
  if (isa<LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp>(op))
    return !isInRange(op->getOperand(1));
  return isa<LLVM::MaskedLoadOp, LLVM::FPToSIOp, LLVM::FPToUIOp>(op);
}

static void freezeResults(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!needsFreeze(op))
      return;
    Value result = op->getResult(0);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto frozen = LLVM::FreezeOp::create(builder, op->getLoc(), result);
    result.replaceAllUsesExcept(frozen, frozen);
  });
}

/// Replaces call sites outside of functions, such as those of the texts of
/// assertions, by the called line. Upstream's pass for debug information
/// expects call sites in functions only.
static void simplifyLocations(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<LLVM::LLVMFuncOp>(op))
      return WalkResult::skip();
    Location location = op->getLoc();
    while (auto call = dyn_cast<CallSiteLoc>(location))
      location = call.getCallee();
    op->setLoc(location);
    return WalkResult::advance();
  });
}

/// A valid symbol of PTX and AMD assembly for the name: letters, digits, _ and
/// $, not only the last two, and not starting with a digit.
static std::string getAssemblerName(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) || c == '$' ? c : '_';
  bool isValid = result.find_first_not_of("_$") != std::string::npos &&
                 !llvm::isDigit(result.front()) && result != "WARP_SZ";
  return isValid ? result : "kernel_" + result;
}

/// Renames kernels whose names are not valid assembler symbols.
/// `smalti.source_name` holds the original name.
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

/// Checks that every kernel without a valid assembler symbol can be renamed.
static LogicalResult verifyNames(gpu::GPUModuleOp kernels, ModuleOp module) {
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal() &&
        getAssemblerName(kernel.getSymName()) != kernel.getSymName() &&
        !SymbolTable::getSymbolUses(kernel, module))
      return kernel.emitOpError()
             << "has a name that is not a valid assembler symbol; it cannot be "
                "renamed because the symbol uses of the module cannot be "
                "determined; use letters, digits, '_' and '$'";
  return success();
}

/// Checks the shared-memory attributes of the kernels.
static LogicalResult verifyMemory(gpu::GPUModuleOp kernels) {
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (failed(verifySharedMemoryAttributes(kernel)))
      return failure();
  return success();
}

/// Checks that all ops in `kernels`, a module or a function, are in dialects
/// that translate to LLVM IR. Upstream's conversions do not change unknown ops
/// and insert casts around them. The outermost unknown op is reported, since
/// ops that parsers create in its regions, such as linalg.yield, do not have a
/// location.
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
    diagnostic << "cannot be lowered to " << chip.name
               << ": no conversion to the LLVM dialect supports this form of "
                  "the op; use other types, or replace the op";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (!cast)
    return success();
  auto isInLLVM = [](Type type) {
    return type.isIndex() || LLVM::isCompatibleType(type);
  };
  if (llvm::all_of(cast->getOperandTypes(), isInLLVM) &&
      llvm::all_of(cast->getResultTypes(), isInLLVM))
    return cast.emitOpError()
           << "from " << cast->getOperandTypes() << " to "
           << cast->getResultTypes() << " cannot be lowered to " << chip.name
           << ": no conversion removes the cast; use an op that converts the "
              "value, such as arith.index_cast";
  return cast.emitError()
         << "values of type " << cast->getResultTypes()
         << " cannot be lowered to " << chip.name
         << ": no conversion to the LLVM dialect supports the type; use "
            "integers, floats that LLVM supports, index, or vectors or memrefs "
            "of them";
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
    launch.emitOpError() << "is not outlined into a gpu.module; run "
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
  freezeResults(module);
  simplifyLocations(module);
}
