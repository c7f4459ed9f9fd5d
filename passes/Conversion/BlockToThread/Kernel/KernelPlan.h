//===- KernelPlan.h - Conversion plan of a kernel ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

/// The level of the vectors of a kernel.
enum class Level {
  Lowered, ///< to a thread, and nothing is left to do
  Thread,  ///< to a thread; buffers in shared memory have no address yet
  Block,   ///< to the whole block
};

/// The decision of a lowering about one op; each lowering defines its own.
struct OpPlan {
  virtual ~OpPlan();
};

/// Shared memory that ops of a thread group use temporarily.
struct Scratch {
  /// Bytes per thread group.
  int64_t bytes = 0;
  /// Offset for the first thread group, once assigned.
  std::optional<int64_t> offset;
};

/// Everything that is decided about a kernel before it is changed. A kernel
/// that has a plan can be emitted.
struct KernelPlan {
  mlir::gpu::GPUFuncOp func;
  Level level = Level::Block;
  ThreadGrid grid;
  /// Bytes of shared memory; 0 if the kernel does not use any.
  int64_t sharedMemoryBytes = 0;
  int64_t sharedMemoryAlignment = smalti::kSharedMemoryAlignment;
  std::optional<Scratch> scratch;
  /// Whether other blocks of the cluster write its shared memory, so its
  /// mbarrier waits acquire at cluster scope.
  bool isWrittenByCluster = false;
  /// The distribution of every block-level vector.
  llvm::DenseMap<mlir::Value, Distribution> distributions;
  /// The reference of every memref in shared memory.
  llvm::DenseMap<mlir::Value, SharedRef> sharedRefs;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<OpPlan>> opPlans;
  /// Each once.
  llvm::SmallVector<TensorMapOfKernel> tensorMaps;
  /// Vectors whose registers are opaque after an op, because the op completes
  /// the asynchronous writes to them.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> opaqueAfter;

  /// Ops in code for threads whose vectors belong to a single thread.
  llvm::DenseSet<mlir::Operation *> threadOps;

  /// Whether it is a vector that the threads of a thread group hold together.
  bool isBlockVector(mlir::Value value) const {
    return distributions.contains(value);
  }
  const Distribution &getDistribution(mlir::Value value) const {
    return distributions.find(value)->second;
  }
  /// Null for a value that is not in shared memory.
  const SharedRef *getSharedRef(mlir::Value value) const {
    auto it = sharedRefs.find(value);
    return it == sharedRefs.end() ? nullptr : &it->second;
  }
  /// The plan of the op's lowering; null if it did not store one.
  template <typename Plan> const Plan *getOpPlan(mlir::Operation *op) const {
    auto it = opPlans.find(op);
    return it == opPlans.end() ? nullptr
                               : static_cast<const Plan *>(it->second.get());
  }
};

/// The level of a kernel.
Level getLevel(mlir::gpu::GPUFuncOp func);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_KERNELPLAN_H
