//===- Pipelines.h - The passes of smalti-compile ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_PIPELINES_PIPELINES_H
#define SMALTI_PASSES_PIPELINES_PIPELINES_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace smalti {
namespace targets {
struct Target;
} // namespace targets
struct SmaltiCompileOptions;

/// Appends the passes that lower a module of tile-, block- or thread-level
/// kernels to the level `stopAfter`. `isLaunched`: the kernels are in
/// `gpu.launch`, as JAX emits them.
void buildGPUPipeline(mlir::OpPassManager &pm, const targets::Target &target,
                      const SmaltiCompileOptions &options, bool isLaunched);

/// The same for CPUs, whose levels are `tile` and `llvm`.
void buildCPUPipeline(mlir::OpPassManager &pm, const targets::Target &target,
                      const SmaltiCompileOptions &options);

/// Registers `smalti-compile-nvidia`, `smalti-compile-amd` and
/// `smalti-compile-cpu`.
void registerPipelines();

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINES_PIPELINES_H
