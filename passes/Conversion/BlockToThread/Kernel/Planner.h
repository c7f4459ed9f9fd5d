//===- Planner.h - Planning of the conversion -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_PLANNER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_PLANNER_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/KernelPlan.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"

#include "llvm/ADT/SetVector.h"

namespace smalti::block_to_thread {

class VendorLowering;

inline bool isVector(mlir::Value value) {
  return mlir::isa<mlir::VectorType>(value.getType());
}

/// Visits the ops of a block-level kernel once, in order, and creates its plan.
class Planner {
public:
  Planner(mlir::gpu::GPUFuncOp func, const VendorLowering &vendor,
          const OpLowerings &lowerings)
      : vendor(vendor), lowerings(lowerings) {
    plan.func = func;
  }

  /// The plan of a kernel of this level, or nothing after an error was
  /// reported.
  std::optional<KernelPlan> run(Level level);

  const VendorLowering &getVendor() const { return vendor; }
  KernelPlan &getPlan() { return plan; }
  const ThreadGrid &getGrid() const { return plan.grid; }

  /// Plans every op of the block, in order.
  mlir::LogicalResult planBlock(mlir::Block &block);

  /// Plans the body of an op that contains thread-level code: vectors without a
  /// distribution belong to a single thread.
  mlir::LogicalResult planThreadCode(mlir::Block &block);

  /// The distribution of a vector; null if it is not set.
  const Distribution *find(mlir::Value value) const {
    auto it = plan.distributions.find(value);
    return it == plan.distributions.end() ? nullptr : &it->second;
  }
  void setDistribution(mlir::Value value, Distribution distribution) {
    plan.distributions.try_emplace(value, std::move(distribution));
  }
  /// Gives `to` the distribution of `from`.
  void shareDistribution(mlir::Value from, mlir::Value to) {
    setDistribution(to, Distribution(*find(from)));
  }
  /// Records the distribution of a value from a layout; an error at `op` if the
  /// layout is incompatible.
  mlir::LogicalResult setLayout(mlir::Operation *op, mlir::Value value,
                                mlir::Attribute layout);
  /// Requires and records the declared layout of the first result.
  mlir::LogicalResult setResultLayout(mlir::Operation *op);

  /// Offset alignment and layout of a memref in shared memory; null for others.
  const SharedRef *getSharedRef(mlir::Value value) const {
    return plan.getSharedRef(value);
  }
  void setSharedRef(mlir::Value value, SharedRef ref) {
    plan.sharedRefs.try_emplace(value, std::move(ref));
  }
  /// Requires the start of shared memory to be a multiple of this many bytes, a
  /// power of two.
  void requireSharedAlignment(int64_t bytes) {
    plan.sharedMemoryAlignment = std::max(plan.sharedMemoryAlignment, bytes);
  }

  /// Stores the data that `emit` needs.
  void setOpPlan(mlir::Operation *op, std::unique_ptr<OpPlan> opPlan) {
    plan.opPlans[op] = std::move(opPlan);
  }

private:
  mlir::LogicalResult planGrid();
  mlir::LogicalResult planOp(mlir::Operation *op);
  /// Checks that vector operands have the layouts that the op declares.
  mlir::LogicalResult checkOperands(mlir::Operation *op);
  /// Checks that operands in shared memory are stored as the op declares, and
  /// as its lowering supports.
  mlir::LogicalResult checkSharedOperands(mlir::Operation *op,
                                          const OpLowering *lowering);

  /// Whether the vectors of an op in thread-level code belong to a single
  /// thread.
  bool isThreadOp(mlir::Operation *op) const;

  const VendorLowering &vendor;
  const OpLowerings &lowerings;
  bool isInThreadCode = false;
  /// The lowerings that this kernel uses, in order.
  llvm::SetVector<const OpLowering *> used;
  KernelPlan plan;
};

/// The attribute of an unrealized_conversion_cast between a block-level vector
/// and its registers: the vector's layout.
inline constexpr llvm::StringLiteral kCastLayout = "layout";

/// Element `index` of the layouts that an op declares under this name; null if
/// it does not.
mlir::Attribute layoutAt(mlir::Operation *op, llvm::StringRef name,
                         unsigned index);

/// The declared layout of a value, looking through control flow without
/// layouts: passes that rebuild loops drop their attributes.
mlir::Attribute findDeclaredLayout(mlir::Value value, unsigned depth = 0);

/// Assigns the offset of a buffer in shared memory.
mlir::LogicalResult planSharedBuffer(mlir::Operation *slice, Planner &planner);

/// Sets the reference of result `index` in shared memory of an op, which must
/// be stored as the op declares.
mlir::LogicalResult setResultRef(mlir::Operation *op, mlir::Value result,
                                 const ValueOr<SharedRef> &ref,
                                 Planner &planner);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_PLANNER_H
