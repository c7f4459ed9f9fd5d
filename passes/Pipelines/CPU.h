//===- CPU.h - From tile programs to the LLVM dialect, for the CPU --------===//

#ifndef SMALTI_PASSES_PIPELINES_CPU_H
#define SMALTI_PASSES_PIPELINES_CPU_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace smalti {

/// Appends what is simplified in tile programs, for any target.
void buildTileSimplification(mlir::OpPassManager &pm);

/// Appends the passes that lower a module of triton_xla programs, or what is
/// left of it after convert-triton-xla-to-cpu, to the LLVM dialect. Vectors are
/// `vectorBits` wide; 0: as wide as those of this machine.
void buildCPUPipeline(mlir::OpPassManager &pm, int vectorBits = 0);

/// Registers it as `smalti-lower-cpu-to-llvm`.
void registerCPUPipeline();

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINES_CPU_H
