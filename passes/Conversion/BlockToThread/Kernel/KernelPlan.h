//===- KernelPlan.h - What becomes of a block-level kernel ------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_KERNELPLAN_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_KERNELPLAN_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/SharedRefs.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"
#include "smalti/passes/Layouts/Vectors/Distribution.h"
#include "smalti/passes/Support/Alignment.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <optional>

namespace smalti::block_to_thread {

/// What the vectors of a kernel belong to.
enum class Level {
  Lowered, ///< to a thread, and nothing is left to do
  Thread,  ///< to a thread; buffers in shared memory have no address yet
  Block,   ///< to the whole block
};

/// What a lowering decided about an op: each has its own.
struct OpPlan {
  virtual ~OpPlan();
};

/// Shared memory that ops of a program use in passing.
struct Scratch {
  /// For each program.
  int64_t bytes = 0;
  /// Of the first program's, once it has a place.
  std::optional<int64_t> offset;
};

/// Everything that was decided about a kernel before it is touched. A kernel
/// that has a plan can be emitted.
struct KernelPlan {
  mlir::gpu::GPUFuncOp func;
  Level level = Level::Block;
  ThreadGrid grid;
  /// Bytes of shared memory; 0 where the kernel uses none.
  int64_t sharedMemoryBytes = 0;
  int64_t sharedMemoryAlignment = smalti::kSharedMemoryAlignment;
  std::optional<Scratch> scratch;
  /// Whether other blocks of the cluster write its shared memory: its barriers
  /// order what they write.
  bool isWrittenByPeers = false;
  /// Of every block-level vector.
  llvm::DenseMap<mlir::Value, Distribution> distributions;
  /// Of every memref in shared memory.
  llvm::DenseMap<mlir::Value, SharedRef> sharedRefs;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<OpPlan>> opPlans;
  /// Each once.
  llvm::SmallVector<TensorMapOfKernel> tensorMaps;
  /// Vectors whose registers are others behind an op, as far as the compiler
  /// can tell: it completes what writes them.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> heldAfter;

  /// Ops in code for threads whose vectors are a thread's own.
  llvm::DenseSet<mlir::Operation *> threadOps;

  /// Whether it is a vector that the threads of a program hold together.
  bool isBlockVector(mlir::Value value) const {
    return distributions.contains(value);
  }
  const Distribution &getDistribution(mlir::Value value) const {
    return distributions.find(value)->second;
  }
  /// Null for what is not in shared memory.
  const SharedRef *getSharedRef(mlir::Value value) const {
    auto it = sharedRefs.find(value);
    return it == sharedRefs.end() ? nullptr : &it->second;
  }
  /// What the op's lowering kept, of the type that it knows; null where it kept
  /// nothing.
  template <typename Plan> const Plan *getOpPlan(mlir::Operation *op) const {
    auto it = opPlans.find(op);
    return it == opPlans.end() ? nullptr
                               : static_cast<const Plan *>(it->second.get());
  }
};

/// What is left to do of a kernel.
Level getLevel(mlir::gpu::GPUFuncOp func);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_KERNELPLAN_H
