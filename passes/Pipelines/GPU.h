//===- GPU.h - From tile programs to the LLVM dialect, for GPUs -----------===//

#ifndef SMALTI_PASSES_PIPELINES_GPU_H
#define SMALTI_PASSES_PIPELINES_GPU_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// What to do against them.
enum class BankConflicts { Keep, Pad, Swizzle };

/// How tile programs become block programs.
struct TileOrders {
  unsigned numWarps = 0;
  std::string copies = "auto";
  std::string products = "auto";
  /// Of a persistent grid; 0: one for each tile.
  int64_t blocks = 0;
  /// "none", "grouped" or "snake".
  std::string order = "none";
};

/// On a module: triton_xla programs become block programs, each in a
/// gpu.module.
void buildTilesToBlocks(mlir::OpPassManager &pm, const targets::Target &target,
                        const TileOrders &orders);

/// On a gpu.module: warps of their own copy for those that multiply, where it
/// pays, or is asked for. `depth` 0: slots are chosen.
void buildSpecialization(mlir::OpPassManager &pm, const targets::Target &target,
                         int64_t depth, bool isAsked);

/// On a module: block programs that JAX launches become kernels with layouts,
/// each in a gpu.module.
void buildLaunchesToBlocks(mlir::OpPassManager &pm,
                           const targets::Target &target);

/// On a gpu.module: the loops of its block programs get `depth` slots for each
/// buffer and `stages` stages, and the buffers their places, with padded rows
/// where that is wanted.
void buildPipelining(mlir::OpPassManager &pm, const targets::Target &target,
                     int64_t depth, int64_t stages,
                     BankConflicts bankConflicts);

/// On a gpu.module: block programs become programs of one thread, with swizzled
/// buffers where that is wanted.
void buildBlocksToThreads(mlir::OpPassManager &pm,
                          const targets::Target &target,
                          BankConflicts bankConflicts, bool holdLoads);

/// On a gpu.module: programs of one thread become the LLVM dialect.
void buildThreadsToLLVM(mlir::OpPassManager &pm, const targets::Target &target);

/// On a module: its gpu.modules are to be compiled for the chip.
void buildAttachTarget(mlir::OpPassManager &pm, const targets::Target &target);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINES_GPU_H
