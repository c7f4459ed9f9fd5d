//===- Pipelines.cpp - The passes of smalti-compile -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelines/Pipelines.h"
#include "smalti/passes/Support/Options.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/targets/Target.h"
#include "smalti/targets/Timing.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace smalti {
#define GEN_PASS_DECL
#include "smalti/passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;
using targets::Vendor;

static void buildSimplification(OpPassManager &pm) {
  // Upstream's folder treats a transfer that starts before its memory as in
  // bounds.
  pm.addPass(createSmaltiMaskTransfers());
  pm.addPass(createCanonicalizerPass());
}

/// On a module: expands ops of tiles.
static void addExpansion(OpPassManager &pm,
                         const SmaltiExpandTileOpsOptions &options) {
  pm.nest<triton_xla::EntryFuncOp>().addPass(
      createSmaltiExpandTileOps(options));
  // arith.scaling_truncf becomes a truncation.
  pm.addPass(createSmaltiGuardFolds());
}

/// On a module: lowers every triton_xla.entry_func to a block-level kernel in
/// its own gpu.module.
static void buildTilesToBlocks(OpPassManager &pm, const Target &target,
                               const SmaltiCompileOptions &chosen) {
  SmaltiExpandTileOpsOptions expand;
  expand.target = target.name.str();
  expand.checkIndices = chosen.checkIndices;
  addExpansion(pm, expand);
  // No rasterization order is chosen if the target table has no L2 size.
  const targets::Timing *timing = targets::lookupTiming(target.name);
  bool canEstimate = timing && timing->cacheBytes != 0;
  if (chosen.tileOrder != TileOrderKind::None &&
      (chosen.tileOrder != TileOrderKind::Auto || canEstimate)) {
    SmaltiOrderTilesOptions order;
    order.order = chosen.tileOrder;
    order.target = target.name.str();
    if (chosen.blocks > 0)
      order.blocks = chosen.blocks;
    pm.nest<triton_xla::EntryFuncOp>().addPass(createSmaltiOrderTiles(order));
  }
  ConvertTritonXLAToMosaicGPUOptions options;
  options.target = target.name.str();
  options.numWarps = chosen.numWarps;
  options.copies = chosen.copies;
  options.matmul = chosen.matmul;
  options.blocks = chosen.blocks;
  pm.addPass(createConvertTritonXLAToMosaicGPU(options));
  // Canonicalization would create vector ops without layouts, so it runs only
  // after vectors are distributed across threads.
  pm.addPass(createCSEPass());
}

/// On a module: lowers block-level kernels in gpu.launch, as JAX emits them, to
/// kernels with layouts, each in its own gpu.module.
static void buildLaunchesToBlocks(OpPassManager &pm, const Target &target) {
  MosaicGPUInferLayoutsOptions options;
  options.target = target.name.str();
  pm.addPass(createMosaicGPUInferLayouts(options));
  pm.addPass(createMosaicGPUOutlineLaunches());
  SmaltiCheckResourcesOptions check;
  check.target = target.name.str();
  pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
      createSmaltiCheckResources(check));
}

/// On a gpu.module: overlaps copies and arithmetic in block-level kernels, then
/// allocates their buffers in shared memory.
static void buildPipelining(OpPassManager &pm, const Target &target,
                            const SmaltiCompileOptions &chosen) {
  OpPassManager &kernel = pm.nest<gpu::GPUFuncOp>();
  SmaltiChooseOverlapOptions overlap;
  overlap.target = target.name.str();
  overlap.depth = chosen.depth;
  overlap.stages = chosen.stages;
  overlap.specialize = chosen.specialize;
  kernel.addPass(createSmaltiChooseOverlap(overlap));
  if (target.hasWGMMA && chosen.specialize != Specialize::Off) {
    SmaltiSpecializeWarpsOptions specialize;
    specialize.target = target.name.str();
    specialize.ifItPays = true;
    kernel.addPass(createSmaltiSpecializeWarps(specialize));
  }
  SmaltiMultiBufferOptions multiBuffer;
  multiBuffer.target = target.name.str();
  kernel.addPass(createSmaltiMultiBuffer(multiBuffer));
  SmaltiPipelineLoopsOptions pipeline;
  pipeline.target = target.name.str();
  kernel.addPass(createSmaltiPipelineLoops(pipeline));
  if (target.hasWGMMA)
    kernel.addPass(createSmaltiAsyncWgmma());
  if (chosen.bankConflicts == BankConflicts::Pad) {
    SmaltiPadSharedMemoryOptions options;
    options.target = target.name.str();
    kernel.addPass(createSmaltiPadSharedMemory(options));
  }
  SmaltiAllocateSharedMemoryOptions options;
  options.target = target.name.str();
  kernel.addPass(createSmaltiAllocateSharedMemory(options));
  SmaltiCheckResourcesOptions check;
  check.target = target.name.str();
  kernel.addPass(createSmaltiCheckResources(check));
}

/// On a module: lowers block-level kernels to thread-level kernels.
static void buildBlocksToThreads(OpPassManager &module, const Target &target,
                                 const SmaltiCompileOptions &chosen) {
  if (target.vendor == Vendor::NVIDIA) {
    ConvertMosaicGPUToNVVMOptions options;
    options.target = target.name.str();
    module.addPass(createConvertMosaicGPUToNVVM(options));
  } else {
    ConvertMosaicGPUToROCDLOptions options;
    options.target = target.name.str();
    module.addPass(createConvertMosaicGPUToROCDL(options));
  }
  OpPassManager &pm = module.nest<gpu::GPUModuleOp>();
  buildSimplification(pm);
  if (chosen.bankConflicts == BankConflicts::Swizzle) {
    SmaltiSwizzleSharedMemoryOptions options;
    options.target = target.name.str();
    pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiSwizzleSharedMemory(options));
  }
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  if (chosen.holdLoads && target.sinksLoads) {
    SmaltiHoldLoadsOptions options;
    options.target = target.name.str();
    pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiHoldLoads(options));
  }
}

/// On a gpu.module: lowers thread-level kernels to the LLVM dialect.
static void buildThreadsToLLVM(OpPassManager &pm, const Target &target) {
  if (target.asyncCopy == targets::AsyncCopyKind::LDSLoad) {
    SmaltiOverlapLdsDmaOptions options;
    options.target = target.name.str();
    pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiOverlapLdsDma(options));
  }
  pm.addPass(createSmaltiLowerVectors());
  SmaltiLowerPackedAccessesOptions packed;
  packed.target = target.name.str();
  pm.addPass(createSmaltiLowerPackedAccesses(packed));
  if (target.vendor == Vendor::NVIDIA)
    pm.addPass(createSmaltiLowerCacheHints());
  // Exposes the index arithmetic of views, so that invariant parts are hoisted
  // out of loops.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createSmaltiCarryRemainders());
  // AMD GPUs hold conditions of lanes in scalar registers, and combine them
  // with scalar instructions, so checks of several arrays share comparisons.
  if (target.vendor == Vendor::NVIDIA)
    pm.addPass(createSmaltiHoistBounds());
  SmaltiShareReciprocalsOptions reciprocals;
  reciprocals.target = target.name.str();
  pm.addPass(createSmaltiShareReciprocals(reciprocals));
  pm.addPass(createSCFToControlFlowPass());
  SmaltiLowerMathOptions math;
  math.target = target.name.str();
  pm.addPass(createSmaltiLowerMath(math));
  if (target.vendor == Vendor::NVIDIA) {
    pm.addPass(createConvertNVGPUToNVVMPass());
    ConvertGpuOpsToNVVMOpsOptions options;
    options.useBarePtrCallConv = true;
    options.indexBitwidth = 64;
    pm.addPass(createConvertGpuOpsToNVVMOps(options));
    pm.nest<LLVM::LLVMFuncOp>().addPass(createSmaltiMarkTensorMaps());
    // Some mbarrier ops are inline assembly without an intrinsic.
    pm.addPass(createConvertNVVMToLLVMPass());
  } else {
    ConvertAMDGPUToROCDLPassOptions amdgpu;
    amdgpu.chipset = target.name.str();
    pm.addPass(createConvertAMDGPUToROCDLPass(amdgpu));
    ConvertGpuOpsToROCDLOpsOptions options;
    options.chipset = target.name.str();
    options.useBarePtrCallConv = true;
    options.indexBitwidth = 64;
    options.runtime = gpu::amd::Runtime::HIP;
    pm.addPass(createConvertGpuOpsToROCDLOps(options));
  }
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.nest<LLVM::LLVMFuncOp>().addPass(createSmaltiSplitAddressOffsets());
  if (target.asyncCopy == targets::AsyncCopyKind::LDSLoad)
    pm.nest<LLVM::LLVMFuncOp>().addPass(createSmaltiAnnotateLdsDma());
}

/// On a module: attaches the target to its gpu.modules.
static void buildAttachTarget(OpPassManager &pm, const Target &target) {
  if (target.vendor == Vendor::NVIDIA) {
    GpuNVVMAttachTargetOptions options;
    options.chip = target.name.str();
    options.features = target.features.str();
    options.optLevel = 3;
    pm.addPass(createGpuNVVMAttachTarget(options));
    return;
  }
  GpuROCDLAttachTargetOptions options;
  options.chip = target.name.str();
  options.features = target.features.str();
  options.optLevel = 3;
  options.wave64Flag = target.waveSize == 64;
  pm.addPass(createGpuROCDLAttachTarget(options));
}

static void addVerifier(OpPassManager &pm, const Target &target, bool memory) {
  SmaltiVerifyKernelsOptions options;
  options.target = target.name.str();
  options.memory = memory;
  pm.addPass(createSmaltiVerifyKernels(options));
}

static void addLegalityCheck(OpPassManager &pm, const Target &target) {
  SmaltiCheckLegalityOptions options;
  options.target = target.name.str();
  pm.addPass(createSmaltiCheckLegality(options));
}

static void addFinalizer(OpPassManager &pm, const Target &target) {
  SmaltiFinalizeKernelsOptions options;
  options.target = target.name.str();
  pm.addPass(createSmaltiFinalizeKernels(options));
}

void smalti::buildGPUPipeline(OpPassManager &pm, const Target &target,
                              const SmaltiCompileOptions &options,
                              bool isLaunched) {
  Level last = options.stopAfter;
  addLegalityCheck(pm, target);
  addVerifier(pm, target, /*memory=*/false);
  if (!isLaunched) {
    pm.addPass(createSmaltiGuardFolds());
    // Only in functions: in block-level kernels, canonicalization would create
    // ops without layouts.
    buildSimplification(pm.nest<func::FuncOp>());
    pm.addPass(createCSEPass());
  }
  if (last == Level::Tile)
    return;
  if (isLaunched)
    buildLaunchesToBlocks(pm, target);
  else
    buildTilesToBlocks(pm, target, options);
  if (last == Level::Mosaic)
    return;
  if (last == Level::LLVM)
    addVerifier(pm, target, /*memory=*/true);
  // The loops of JAX kernels are already pipelined.
  if (!isLaunched)
    buildPipelining(pm.nest<gpu::GPUModuleOp>(), target, options);
  if (last == Level::Pipelined)
    return;
  buildBlocksToThreads(pm, target, options);
  if (last == Level::Thread)
    return;
  buildThreadsToLLVM(pm.nest<gpu::GPUModuleOp>(), target);
  addFinalizer(pm, target);
  buildAttachTarget(pm, target);
}

void smalti::buildCPUPipeline(OpPassManager &pm, const Target &target,
                              const SmaltiCompileOptions &options) {
  bool isLast = options.stopAfter == Level::Tile;
  addLegalityCheck(pm, target);
  addVerifier(pm, target, /*memory=*/!isLast);
  pm.addPass(createSmaltiGuardFolds());
  buildSimplification(pm);
  pm.addPass(createCSEPass());
  if (isLast)
    return;
  SmaltiExpandTileOpsOptions tiles;
  tiles.target = target.name.str();
  tiles.keep = {"squeeze_dims", "split", "sort", "random_bits", "dot", "ipowi"};
  tiles.checkIndices = true;
  addExpansion(pm, tiles);
  ConvertTritonXLAToCPUOptions convert;
  convert.vectorWidth = VectorWidth::Host;
  pm.addPass(createConvertTritonXLAToCPU(convert));
  // A called function cannot stop its caller after an error.
  pm.addPass(createInlinerPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());

  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSmaltiLowerCPULoops());
  // Unrolling vector math into library calls creates vector ops.
  math::MathExpandOpsPassOptions expand;
  expand.opMnemonics = {"clampf"};
  pm.addPass(math::createMathExpandOpsPass(expand));
  pm.addPass(createSmaltiLowerCPUMath());
  pm.addPass(createConvertMathToFuncs());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  addFinalizer(pm, target);
}
