//===- GPU.cpp - From tile programs to the LLVM dialect, for GPUs ---------===//

#include "passes/Pipelines/GPU.h"

#include "dialects/TritonXLA/TritonXLA.h"
#include "targets/Target.h"
#include "targets/Timing.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace smalti {
#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;
using targets::Vendor;

void smalti::buildTilesToBlocks(OpPassManager &pm, const Target &target,
                                const TileOrders &orders) {
  // Chips whose cache is not known have no order that is estimated to pay.
  const targets::Timing *timing = targets::lookupTiming(target.name);
  bool canEstimate = timing && timing->cacheBytes != 0;
  if (orders.order != "none" && (orders.order != "auto" || canEstimate)) {
    SmaltiOrderTilesOptions order;
    order.order = orders.order;
    order.target = target.name.str();
    order.blocks = orders.blocks;
    pm.nest<triton_xla::EntryFuncOp>().addPass(createSmaltiOrderTiles(order));
  }
  ConvertTritonXLAToMosaicGPUOptions options;
  options.target = target.name.str();
  options.numWarps = orders.numWarps;
  options.copies = orders.copies;
  options.products = orders.products;
  options.blocks = orders.blocks;
  pm.addPass(createConvertTritonXLAToMosaicGPU(options));
  // New ops on vectors would have no layouts: no canonicalisation before they
  // are dealt to threads.
  pm.addPass(createCSEPass());
}

void smalti::buildLaunchesToBlocks(OpPassManager &pm, const Target &target) {
  MosaicGPUInferLayoutsOptions options;
  options.target = target.name.str();
  pm.addPass(createMosaicGPUInferLayouts(options));
  pm.addPass(createMosaicGPUOutlineLaunches());
  SmaltiCheckResourcesOptions check;
  check.target = target.name.str();
  pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
      createSmaltiCheckResources(check));
}

void smalti::buildSpecialization(OpPassManager &pm, const Target &target,
                                 int64_t depth, bool isAsked) {
  SmaltiSpecializeWarpsOptions options;
  options.target = target.name.str();
  options.depth = depth == 0 ? "auto" : std::to_string(depth);
  options.strict = isAsked;
  options.ifItPays = !isAsked;
  pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiSpecializeWarps(options));
}

void smalti::buildPipelining(OpPassManager &pm, const Target &target,
                             int64_t depth, int64_t stages,
                             BankConflicts bankConflicts) {
  OpPassManager &kernel = pm.nest<gpu::GPUFuncOp>();
  if (depth > 1) {
    SmaltiMultiBufferOptions options;
    options.target = target.name.str();
    options.depth = std::to_string(depth);
    kernel.addPass(createSmaltiMultiBuffer(options));
  }
  if (stages > 1) {
    SmaltiPipelineLoopsOptions options;
    options.target = target.name.str();
    options.stages = std::to_string(stages);
    kernel.addPass(createSmaltiPipelineLoops(options));
  }
  if (target.hasWGMMA)
    kernel.addPass(createSmaltiStartProducts());
  if (bankConflicts == BankConflicts::Pad) {
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

void smalti::buildBlocksToThreads(OpPassManager &pm, const Target &target,
                                  BankConflicts bankConflicts, bool holdLoads) {
  if (target.vendor == Vendor::NVIDIA) {
    ConvertMosaicGPUToNVVMOptions options;
    options.target = target.name.str();
    pm.addPass(createConvertMosaicGPUToNVVM(options));
  } else {
    ConvertMosaicGPUToROCDLOptions options;
    options.target = target.name.str();
    pm.addPass(createConvertMosaicGPUToROCDL(options));
  }
  // Upstream's folder takes a transfer that begins ahead of its memory for one
  // in bounds.
  pm.addPass(createSmaltiMaskTransfers());
  pm.addPass(createCanonicalizerPass());
  if (bankConflicts == BankConflicts::Swizzle) {
    SmaltiSwizzleSharedMemoryOptions options;
    options.target = target.name.str();
    pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiSwizzleSharedMemory(options));
  }
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  if (holdLoads && target.sinksLoads) {
    SmaltiHoldLoadsOptions options;
    options.target = target.name.str();
    pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiHoldLoads(options));
  }
}

void smalti::buildThreadsToLLVM(OpPassManager &pm, const Target &target) {
  if (target.asyncCopy == targets::AsyncCopyKind::LDSLoad) {
    SmaltiOverlapLdsDmaOptions options;
    options.target = target.name.str();
    pm.nest<gpu::GPUFuncOp>().addPass(createSmaltiOverlapLdsDma(options));
  }
  pm.addPass(createSmaltiLowerVectors());
  // The index arithmetic of views becomes visible, so that what does not change
  // leaves the loops.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
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
    // Barrier objects have ops that are assembly and no intrinsic.
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
  // LLVM simplifies the rest.
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (target.asyncCopy == targets::AsyncCopyKind::LDSLoad)
    pm.nest<LLVM::LLVMFuncOp>().addPass(createSmaltiAnnotateLdsDma());
}

void smalti::buildAttachTarget(OpPassManager &pm, const Target &target) {
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
