//===- Compile.cpp - smalti-compile ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/TritonXLAToCPU.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Layouts/Rules/Rules.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Pipelines/Pipelines.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTICOMPILE
#define GEN_PASS_DEF_SMALTICOMPILE
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;
using targets::Vendor;

/// Whether the module has kernels in gpu.launch, as JAX emits them.
static bool hasLaunches(ModuleOp module) {
  return module->walk([](gpu::LaunchOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Checks the values of all options, including those that no pass of this run
/// reads. Returns what is wrong.
static std::optional<std::string>
checkOptions(const Target &chip, const SmaltiCompileOptions &options) {
  if (auto wrong = checkAtMost("depth", options.depth, kMaxStages))
    return wrong;
  if (auto wrong = checkAtMost("stages", options.stages, kMaxStages))
    return wrong;
  if (auto wrong = checkBlocks(options.blocks))
    return wrong;
  if (chip.isGPU())
    return checkAtMost("num-warps", options.numWarps,
                       chip.maxThreadsPerBlock / chip.waveSize);
  return std::nullopt;
}

/// Appends the passes for the target's vendor. Fails if the vendor does not
/// have the requested level or if an option is out of range.
static LogicalResult
buildCompile(OpPassManager &pm, const Target &chip,
             const SmaltiCompileOptions &options, bool isLaunched,
             function_ref<LogicalResult(const Twine &)> refuse) {
  if (std::optional<std::string> wrong = checkOptions(chip, options))
    return refuse(*wrong);
  if (chip.isGPU()) {
    buildGPUPipeline(pm, chip, options, isLaunched);
    return success();
  }
  if (options.stopAfter != Level::Tile && options.stopAfter != Level::LLVM)
    return refuse("the value of 'stop-after' is a level of GPU kernels; " +
                  chip.name +
                  " supports only stop-after=tile and stop-after=llvm");
  buildCPUPipeline(pm, chip, options);
  return success();
}

namespace {

struct SmaltiCompile : smalti::impl::SmaltiCompileBase<SmaltiCompile> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerExternalModels(registry);
    registerBufferizationModels(registry);
    inference::registerLayoutRules(registry);
  }
  void runOnOperation() override;

  SmaltiCompileOptions getOptions(const Target &chip) const {
    SmaltiCompileOptions options;
    options.target = chip.name.str();
    options.stopAfter = stopAfter;
    options.depth = depth;
    options.stages = stages;
    options.numWarps = numWarps;
    options.copies = copies;
    options.matmul = matmul;
    options.specialize = specialize;
    options.blocks = blocks;
    options.tileOrder = tileOrder;
    options.holdLoads = holdLoads;
    options.bankConflicts = bankConflicts;
    options.checkIndices = checkIndices;
    return options;
  }
  StringRef getTargetOption() const { return target; }
};

} // namespace

void SmaltiCompile::runOnOperation() {
  ModuleOp module = getOperation();
  const Target *chip = getTarget(module, target);
  if (!chip)
    return signalPassFailure();
  OpPassManager pm(ModuleOp::getOperationName());
  auto refuse = [&](const Twine &reason) -> LogicalResult {
    return module.emitError() << "smalti-compile: " << reason;
  };
  if (failed(buildCompile(pm, *chip, getOptions(*chip), hasLaunches(module),
                          refuse)) ||
      failed(runPipeline(pm, module)))
    signalPassFailure();
}

/// Registers the passes that `smalti-compile` runs for one vendor as a
/// pipeline, which can be printed and edited. It has the options of
/// `smalti-compile`; `target` is required.
static void registerFamily(StringRef name, StringRef description,
                           Vendor family) {
  auto build = [family, name = name.str()](
                   OpPassManager &pm, StringRef options,
                   function_ref<LogicalResult(const Twine &)> refuse) {
    SmaltiCompile pass;
    if (failed(pass.initializeOptions(options, refuse)))
      return failure();
    const Target *chip = targets::lookup(pass.getTargetOption());
    if (!chip || chip->vendor != family) {
      std::string known;
      for (const Target *each : targets::all())
        if (each->vendor == family)
          known += (known.empty() ? "" : ", ") + each->name.str();
      return refuse(name + ": the target '" + pass.getTargetOption() +
                    "' is not supported; supported targets: " + known);
    }
    auto refuseByName = [&](const Twine &reason) {
      return refuse(name + ": " + reason);
    };
    return buildCompile(pm, *chip, pass.getOptions(*chip),
                        /*isLaunched=*/false, refuseByName);
  };
  // The options are not registered again, so that --help does not repeat them.
  registerPassPipeline(name, description, build, [](auto) {});
}

void smalti::registerPipelines() {
  registerFamily("smalti-compile-nvidia",
                 "The passes of smalti-compile for NVIDIA GPUs",
                 Vendor::NVIDIA);
  registerFamily("smalti-compile-amd",
                 "The passes of smalti-compile for AMD GPUs", Vendor::AMD);
  registerFamily("smalti-compile-cpu", "The passes of smalti-compile for CPUs",
                 Vendor::CPU);
}
