//===- Planner.h - Decides what becomes of a kernel -------------*- C++ -*-===//

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

/// Goes through a block-level kernel once, in order, and makes its plan.
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

  /// Plans the body of an op that is code for threads: vectors that no op has
  /// given a distribution are a thread's own.
  mlir::LogicalResult planThreadCode(mlir::Block &block);

  /// The distribution of a vector; null where it has none yet.
  const Distribution *find(mlir::Value value) const {
    auto it = plan.distributions.find(value);
    return it == plan.distributions.end() ? nullptr : &it->second;
  }
  void setDistribution(mlir::Value value, Distribution distribution) {
    plan.distributions.try_emplace(value, std::move(distribution));
  }
  /// `to` is held as `from` is.
  void shareDistribution(mlir::Value from, mlir::Value to) {
    setDistribution(to, Distribution(*find(from)));
  }
  /// Records the distribution of a value from a layout; an error at `op` if it
  /// does not fit.
  mlir::LogicalResult setLayout(mlir::Operation *op, mlir::Value value,
                                mlir::Attribute layout);
  /// The declared layout of the first result must be there.
  mlir::LogicalResult setResultLayout(mlir::Operation *op);

  /// Where a memref in shared memory is and how it is stored; null for others.
  const SharedRef *getSharedRef(mlir::Value value) const {
    return plan.getSharedRef(value);
  }
  void setSharedRef(mlir::Value value, SharedRef ref) {
    plan.sharedRefs.try_emplace(value, std::move(ref));
  }
  /// Shared memory starts at a multiple of so many bytes, a power of two.
  void requireSharedAlignment(int64_t bytes) {
    plan.sharedMemoryAlignment = std::max(plan.sharedMemoryAlignment, bytes);
  }

  /// Keeps what `emit` needs.
  void setOpPlan(mlir::Operation *op, std::unique_ptr<OpPlan> opPlan) {
    plan.opPlans[op] = std::move(opPlan);
  }

private:
  mlir::LogicalResult planGrid();
  mlir::LogicalResult planOp(mlir::Operation *op);
  /// Vector operands must have the layouts that the op declares.
  mlir::LogicalResult checkOperands(mlir::Operation *op);
  /// Operands in shared memory must be stored as the op declares, and as its
  /// lowering can access them.
  mlir::LogicalResult checkSharedOperands(mlir::Operation *op,
                                          const OpLowering *lowering);

  /// Whether the vectors of an op in code for threads are a thread's own.
  bool isThreadOp(mlir::Operation *op) const;

  const VendorLowering &vendor;
  const OpLowerings &lowerings;
  bool isInThreadCode = false;
  /// Those that lower something in this kernel, in order.
  llvm::SetVector<const OpLowering *> used;
  KernelPlan plan;
};

/// The attribute of an unrealized_conversion_cast between a vector of a program
/// and its registers that has the vector's layout.
inline constexpr llvm::StringLiteral kCastLayout = "layout";

/// Element `index` of the layouts that an op declares under this name; null
/// where it does not.
mlir::Attribute layoutAt(mlir::Operation *op, llvm::StringRef name,
                         unsigned index);

/// The layout that the program declares for a value, looking through control
/// flow that does not say: loops are rebuilt by passes that drop attributes.
mlir::Attribute findDeclaredLayout(mlir::Value value, unsigned depth = 0);

/// Decides where a buffer in shared memory lies.
mlir::LogicalResult planSharedBuffer(mlir::Operation *slice, Planner &planner);

/// The reference as what result `index` in shared memory of an op is: it must
/// be stored as the op declares.
mlir::LogicalResult setResultRef(mlir::Operation *op, mlir::Value result,
                                 const ValueOr<SharedRef> &ref,
                                 Planner &planner);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_PLANNER_H
