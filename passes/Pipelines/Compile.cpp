//===- Compile.cpp - From tile programs to the LLVM dialect, any target ---===//

#include "passes/Conversion/BlockToThread/TensorMaps.h"
#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Interfaces/SynchronousProducts.h"
#include "passes/Pipelines/CPU.h"
#include "passes/Pipelines/GPU.h"
#include "passes/Resources/Estimate.h"
#include "passes/Support/KernelAttributes.h"
#include "passes/Support/MemorySize.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "passes/Support/TripCount.h"
#include "passes/WarpSpecialization/WarpEstimate.h"
#include "targets/Target.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTICOMPILE
#define GEN_PASS_DEF_SMALTICOMPILE
#include "passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

static constexpr llvm::StringLiteral kPassName = "smalti-compile";

namespace {

/// How far to go, in order.
enum class Level { Tile, Mosaic, Pipelined, Thread, LLVM };

/// Slots and stages of a kernel's loops.
struct Overlap {
  int64_t depth = 1;
  int64_t stages = 1;
};

struct SmaltiCompile : smalti::impl::SmaltiCompileBase<SmaltiCompile> {
  using Base::Base;

  /// Passes that are scheduled while this one runs cannot load dialects.
  void getDependentDialects(DialectRegistry &registry) const override;
  void runOnOperation() override;

private:
  TileOrders getOrders() const {
    return {numWarps, copies, products, blocks, tileOrder};
  }
  LogicalResult compileForCPU(const Target &chip, Level last);
  LogicalResult compileForGPU(const Target &chip, Level last,
                              BankConflicts conflicts);
  FailureOr<Overlap> chooseOverlap(gpu::GPUModuleOp kernels,
                                   const Target &chip);
};

} // namespace

static std::optional<Level> parseLevel(StringRef name) {
  return llvm::StringSwitch<std::optional<Level>>(name)
      .Case("tile", Level::Tile)
      .Case("mosaic", Level::Mosaic)
      .Case("pipelined", Level::Pipelined)
      .Case("thread", Level::Thread)
      .Case("llvm", Level::LLVM)
      .Default(std::nullopt);
}

void SmaltiCompile::getDependentDialects(DialectRegistry &registry) const {
  for (const Target *chip : targets::all()) {
    if (!target.empty() && chip->name != target)
      continue;
    OpPassManager module(ModuleOp::getOperationName()),
        kernels(gpu::GPUModuleOp::getOperationName());
    if (chip->isGPU()) {
      TileOrders orders = getOrders();
      orders.order = "grouped";
      buildTilesToBlocks(module, *chip, orders);
      buildLaunchesToBlocks(module, *chip);
      buildSpecialization(kernels, *chip, /*depth=*/2, /*isAsked=*/false);
      buildPipelining(kernels, *chip, /*depth=*/2, /*stages=*/2,
                      BankConflicts::Pad);
      buildBlocksToThreads(kernels, *chip, BankConflicts::Swizzle,
                           /*holdLoads=*/true);
      buildThreadsToLLVM(kernels, *chip);
      buildAttachTarget(module, *chip);
    } else {
      buildCPUPipeline(module);
    }
    module.getDependentDialects(registry);
    kernels.getDependentDialects(registry);
  }
}

/// Whether a loop uses the buffer or a view of it.
static bool isUsedInLoop(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return user->getParentOfType<LoopLikeOpInterface>() ||
           (isa<ViewLikeOpInterface>(user) && isUsedInLoop(user->getResult(0)));
  });
}

/// Bytes of shared memory where the buffers that loops use, which are those
/// that get slots, have `depth` of them.
static int64_t sharedBytes(gpu::GPUModuleOp kernels, int64_t depth) {
  int64_t most = 0;
  kernels->walk([&](gpu::GPUFuncOp kernel) {
    int64_t end = getSharedMemoryBytes(kernel, [&](Value buffer) {
      bool hasSlots = isUsedInLoop(buffer);
      // Barrier objects of others are no buffers.
      auto type = dyn_cast<MemRefType>(buffer.getType());
      if (!type || !hasSlots || depth == 1 || !getBufferBytes(type))
        return type;
      SmallVector<int64_t> shape = {depth};
      llvm::append_range(shape, type.getShape());
      return MemRefType::Builder(type).setShape(shape).operator MemRefType();
    });
    most = std::max(most, end);
  });
  return most;
}

FailureOr<Overlap> SmaltiCompile::chooseOverlap(gpu::GPUModuleOp kernels,
                                                const Target &chip) {
  // Warps that copy have their slots already.
  for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
    if (kernel->hasAttr(mosaic_gpu::kProgramThreads))
      return Overlap{1, 1};
  bool isAsync =
      kernels
          ->walk([](AsyncCopyOpInterface) { return WalkResult::interrupt(); })
          .wasInterrupted();
  // Asynchronous copies in flight need a slot each; reads into registers need
  // none.
  int64_t wanted = isAsync ? kSlotsOfAsyncCopies : 2;
  if (depth != 0)
    wanted = depth;
  else if (stages != 0)
    wanted = isAsync ? stages : std::min<int64_t>(stages, 2);
  bool isAsked = depth != 0 || (isAsync && stages != 0);

  Overlap overlap{wanted, stages};
  while (overlap.depth > 1 &&
         sharedBytes(kernels, overlap.depth) > chip.sharedMemoryPerBlock)
    --overlap.depth;
  int64_t fitting = sharedBytes(kernels, overlap.depth);
  if (overlap.depth < wanted && isAsked && fitting <= chip.sharedMemoryPerBlock)
    return kernels.emitError()
           << "buffers of " << wanted << " slots, as "
           << (depth != 0 ? "depth" : "stages") << " asks for, need "
           << sharedBytes(kernels, wanted) << " bytes of shared memory; "
           << chip.name << " has " << chip.sharedMemoryPerBlock << ", which "
           << overlap.depth
           << (overlap.depth == 1 ? " slot fits" : " slots fit") << " with "
           << fitting;
  if (overlap.depth < wanted)
    remarkMissed(kernels, kPassName)
        << "buffers of " << wanted << " slots need "
        << sharedBytes(kernels, wanted) << " bytes of shared memory, "
        << chip.name << " has " << chip.sharedMemoryPerBlock << ": slots are "
        << overlap.depth << ", which need " << fitting;
  if (stages == 0)
    overlap.stages = isAsync ? overlap.depth : 2;
  else if (isAsync)
    overlap.stages = std::min<int64_t>(stages, overlap.depth);
  return overlap;
}

/// Whether warp groups multiply in it.
static bool hasProducts(gpu::GPUModuleOp kernels) {
  return kernels
      ->walk([](mosaic_gpu::WGMMAOp product) {
        return isSynchronousProduct(product) ? WalkResult::interrupt()
                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Dynamic shared memory becomes an array without end that the launch sizes.
/// Upstream's conversion makes it a variable of the module's own, to which the
/// assembler gives one byte, apart from what the launch asks for.
static void declareDynamicSharedMemory(gpu::GPUModuleOp kernels) {
  int64_t alignment = kSharedMemoryAlignment;
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (auto needed = kernel->getAttrOfType<IntegerAttr>(
            mosaic_gpu::kSharedMemoryAlignment))
      alignment = std::max(alignment, needed.getInt());
  for (auto global : kernels.getOps<LLVM::GlobalOp>()) {
    auto type = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    if (type && type.getNumElements() == 0 &&
        global.getAddrSpace() == NVVM::NVVMMemorySpace::Shared) {
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
    if (failed(SymbolTable::replaceAllSymbolUses(kernel, renamed, module)))
      continue;
    symbols.remove(kernel);
    kernel.setSymNameAttr(renamed);
    symbols.insert(kernel);
    kernel->setAttr(kSourceName, name);
  }
}

/// Whether all of the kernels, a module or a function, is in dialects that
/// become LLVM IR. Upstream's conversions leave what they do not know, with
/// casts around it.
static LogicalResult verifyLowered(Operation *kernels, const Target &chip) {
  UnrealizedConversionCastOp cast;
  WalkResult result = kernels->walk([&](Operation *op) {
    if (isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect,
                        ROCDL::ROCDLDialect, gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    if (auto unrealized = dyn_cast<UnrealizedConversionCastOp>(op)) {
      if (!cast)
        cast = unrealized;
      return WalkResult::advance();
    }
    op->emitOpError() << "on " << op->getOperandTypes()
                      << " has no lowering to " << chip.name;
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (cast)
    return cast.emitError() << "values of type " << cast->getResultTypes()
                            << " have no lowering to " << chip.name;
  return success();
}

/// A launch hands over the addresses of memrefs alone. Upstream's conversion
/// crashes on attributions whose elements LLVM does not have, such as tf32.
static LogicalResult verifyArguments(gpu::GPUModuleOp kernels) {
  bool isValid = true;
  LLVMTypeConverter converter(kernels.getContext());
  kernels->walk([&](gpu::GPUFuncOp func) {
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
      Type element = cast<MemRefType>(attribution.getType()).getElementType();
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

/// Whether kernels are launched where they stand, as JAX emits them.
static bool hasLaunches(ModuleOp module) {
  return module->walk([](gpu::LaunchOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

LogicalResult SmaltiCompile::compileForGPU(const Target &chip, Level last,
                                           BankConflicts conflicts) {
  ModuleOp module = getOperation();
  bool isJAX = hasLaunches(module);
  OpPassManager tiles(ModuleOp::getOperationName());
  if (!isJAX) {
    // Tile programs alone: vectors of blocks have layouts.
    buildTileSimplification(tiles.nest<func::FuncOp>());
    tiles.addPass(createCSEPass());
  }
  if (last >= Level::Mosaic && isJAX)
    buildLaunchesToBlocks(tiles, chip);
  else if (last >= Level::Mosaic)
    buildTilesToBlocks(tiles, chip, getOrders());
  if (failed(runPipeline(tiles, module)))
    return failure();
  if (last <= Level::Mosaic)
    return success();

  for (gpu::GPUModuleOp kernels : module.getOps<gpu::GPUModuleOp>()) {
    if (last >= Level::LLVM && failed(verifyArguments(kernels)))
      return failure();
    if (!isJAX && specialize != "off" && hasProducts(kernels)) {
      OpPassManager roles(gpu::GPUModuleOp::getOperationName());
      buildSpecialization(roles, chip, depth != 0 ? depth : stages,
                          specialize == "on");
      if (failed(runPipeline(roles, kernels)))
        return failure();
    }
    OpPassManager pm(gpu::GPUModuleOp::getOperationName());
    // JAX's programs pipeline their loops themselves.
    if (!isJAX) {
      FailureOr<Overlap> overlap = chooseOverlap(kernels, chip);
      if (failed(overlap))
        return failure();
      buildPipelining(pm, chip, overlap->depth, overlap->stages, conflicts);
    }
    if (last >= Level::Thread)
      buildBlocksToThreads(pm, chip, conflicts, holdLoads);
    if (last >= Level::LLVM)
      buildThreadsToLLVM(pm, chip);
    if (failed(runPipeline(pm, kernels)))
      return failure();
    if (last >= Level::LLVM && chip.vendor == targets::Vendor::NVIDIA) {
      declareDynamicSharedMemory(kernels);
      declareResidentBlocks(kernels);
    }
    if (last >= Level::LLVM && failed(verifyLowered(kernels, chip)))
      return failure();
    if (last >= Level::LLVM)
      renameKernels(kernels, module);
  }
  // They are outside of what was converted.
  block_to_thread::addTensorMapsToLaunches(module);
  if (last < Level::LLVM)
    return success();
  OpPassManager attach(ModuleOp::getOperationName());
  buildAttachTarget(attach, chip);
  return runPipeline(attach, module);
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

LogicalResult SmaltiCompile::compileForCPU(const Target &chip, Level last) {
  OpPassManager pm(ModuleOp::getOperationName());
  if (last == Level::LLVM) {
    if (failed(verifyMemorySpaces(getOperation(), chip)))
      return failure();
    buildCPUPipeline(pm);
  } else if (last == Level::Tile) {
    buildTileSimplification(pm);
    pm.addPass(createCSEPass());
  } else {
    return getOperation().emitError()
           << "stop-after=" << stopAfter << " is a level of GPUs; for "
           << chip.name << " there are tile and llvm";
  }
  if (failed(runPipeline(pm, getOperation())))
    return failure();
  if (last == Level::LLVM)
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr("smalti.num_tiles") &&
          failed(verifyLowered(function, chip)))
        return failure();
  return success();
}

void SmaltiCompile::runOnOperation() {
  ModuleOp module = getOperation();
  std::optional<Level> last = parseLevel(stopAfter);
  if (!last) {
    module.emitError()
        << "unknown stop-after '" << stopAfter
        << "'; known are tile, mosaic, pipelined, thread and llvm";
    return signalPassFailure();
  }
  constexpr int64_t most = 16;
  if (depth < 0 || stages < 0 || depth > most || stages > most) {
    module.emitError() << "depth and stages must be between 0 and " << most
                       << ", not " << int64_t(depth) << " and "
                       << int64_t(stages);
    return signalPassFailure();
  }
  if (!llvm::is_contained({"auto", "on", "off"}, StringRef(specialize))) {
    module.emitError() << "unknown specialize '" << specialize
                       << "'; known are auto, on and off";
    return signalPassFailure();
  }
  if (!llvm::is_contained({"auto", "none", "grouped", "snake"},
                          StringRef(tileOrder))) {
    module.emitError() << "unknown tile-order '" << tileOrder
                       << "'; known are auto, none, grouped and snake";
    return signalPassFailure();
  }
  auto conflicts =
      llvm::StringSwitch<std::optional<BankConflicts>>(bankConflicts)
          .Case("keep", BankConflicts::Keep)
          .Case("pad", BankConflicts::Pad)
          .Case("swizzle", BankConflicts::Swizzle)
          .Default(std::nullopt);
  if (!conflicts) {
    module.emitError() << "unknown bank-conflicts '" << bankConflicts
                       << "'; known are keep, pad and swizzle";
    return signalPassFailure();
  }
  const Target *chip = getTarget(module, target);
  if (!chip || failed(checkLoopSteps(module)) ||
      failed(chip->isGPU() ? compileForGPU(*chip, *last, *conflicts)
                           : compileForCPU(*chip, *last)))
    signalPassFailure();
}
