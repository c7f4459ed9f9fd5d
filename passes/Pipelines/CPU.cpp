//===- CPU.cpp - From tile programs to the LLVM dialect, for the CPU ------===//

#include "passes/Pipelines/CPU.h"
#include "passes/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/TargetParser/Host.h"

namespace smalti {
#define GEN_PASS_DECL_CONVERTTRITONXLATOCPU
#define GEN_PASS_DECL_SMALTILOWERCPULOOPS
#define GEN_PASS_DECL_SMALTILOWERCPUMATH
#define GEN_PASS_DECL_SMALTIMASKTRANSFERS
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;

static int hostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 512;
  return features.lookup("avx2") ? 256 : 128;
}

void smalti::buildTileSimplification(OpPassManager &pm) {
  // Upstream's folder takes a transfer that begins ahead of its memory for one
  // in bounds.
  pm.addPass(createSmaltiMaskTransfers());
  pm.addPass(createCanonicalizerPass());
}

void smalti::buildCPUPipeline(OpPassManager &pm, int vectorBits) {
  buildTileSimplification(pm);
  pm.addPass(createCSEPass());
  ConvertTritonXLAToCPUOptions options;
  options.vectorWidth = vectorBits == 0 ? hostVectorBits() : vectorBits;
  pm.addPass(createConvertTritonXLAToCPU(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());

  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSmaltiLowerCPULoops());
  // The library calls for vectors are unrolled with vector ops.
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
}

namespace {
struct CPUPipelineOptions : PassPipelineOptions<CPUPipelineOptions> {
  Option<int> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("Width of the vectors in bits: 128, 256 or 512; 0: that "
                     "of this machine. For "
                     "example vector-width=256 for any machine with AVX2."),
      llvm::cl::init(0)};
};
} // namespace

void smalti::registerCPUPipeline() {
  PassPipelineRegistration<CPUPipelineOptions>(
      "smalti-lower-cpu-to-llvm",
      "Lower a module of tile programs to the LLVM dialect, for the CPU",
      [](OpPassManager &pm, const CPUPipelineOptions &options) {
        buildCPUPipeline(pm, options.vectorWidth);
      });
}
