//===- BlockBarriers.cpp - Barriers of all threads of a block -------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Emitter.h"
#include "passes/Conversion/BlockToThread/Planner.h"
#include "passes/Conversion/BlockToThread/VendorLowering.h"
#include "passes/Conversion/BlockToThread/Windows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
struct BarrierPlan : OpPlan {
  bool ordersGlobalMemory = false;
  bool hasAsyncCopies = false;
};

class BlockBarriers : public LoweringOf<gpu::BarrierOp> {
public:
  LogicalResult plan(gpu::BarrierOp, Planner &) const override {
    return success();
  }
  LogicalResult planKernel(Planner &planner) const override;
  void emit(gpu::BarrierOp op, Emitter &emitter,
            OpBuilder &builder) const override {
    const auto &barrier = *emitter.plan.getOpPlan<BarrierPlan>(op);
    emitter.vendor.emitBarrier(builder, op.getLoc(), barrier.ordersGlobalMemory,
                               barrier.hasAsyncCopies);
  }
};
} // namespace

/// The value that a memref is a view of.
static Value viewRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

namespace {
struct GlobalAccess {
  Operation *op;
  /// The kernel argument, or null where it is not known.
  Value root;
  bool isWrite;
  unsigned position;
};
} // namespace

LogicalResult BlockBarriers::planKernel(Planner &planner) const {
  const KernelPlan &plan = planner.getPlan();
  bool hasAsyncCopies = false;
  // Threads may hand over data in global memory too: an access before the
  // barrier and one after it to the same argument, one of them a write.
  SmallVector<GlobalAccess> accesses;
  SmallVector<std::pair<Operation *, unsigned>> barriers;
  unsigned position = 0;
  gpu::GPUFuncOp func = plan.func;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++position;
    hasAsyncCopies |= isa<mosaic_gpu::AsyncCopyOp>(op);
    if (isa<gpu::BarrierOp>(op)) {
      barriers.push_back({op, position});
      return;
    }
    if (op == plan.func || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface) {
      accesses.push_back({op, Value(), /*isWrite=*/true, position});
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value value = effect.getValue();
      // What the dialect's own ops touch besides their operands is shared
      // memory.
      if (!value &&
          isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect()))
        continue;
      auto type = value ? dyn_cast<MemRefType>(value.getType()) : MemRefType();
      if ((type && isWorkgroupMemory(type)) ||
          !isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
        continue;
      Value root = type ? viewRoot(value) : Value();
      accesses.push_back({op, root && isa<BlockArgument>(root) ? root : Value(),
                          isa<MemoryEffects::Write>(effect.getEffect()),
                          position});
    }
  });

  auto shareLoop = [](Operation *lhs, Operation *rhs) {
    for (auto loop = lhs->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      if (loop->isAncestor(rhs))
        return true;
    return false;
  };
  // What one thread reads it may write again: both go through the same window
  // in the same layout, and no other round of a loop is in between.
  auto staysInThread = [&](const GlobalAccess &first,
                           const GlobalAccess &second) {
    auto lhs = dyn_cast<VectorTransferOpInterface>(first.op),
         rhs = dyn_cast<VectorTransferOpInterface>(second.op);
    if (!lhs || !rhs || lhs.getBase() != rhs.getBase() ||
        lhs.getIndices() != rhs.getIndices() ||
        lhs.getPermutationMap() != rhs.getPermutationMap() ||
        shareLoop(lhs, rhs))
      return false;
    auto distributionOf = [&](Operation *op) {
      return planner.find(isa<vector::TransferReadOp>(op) ? op->getResult(0)
                                                          : op->getOperand(0));
    };
    const Distribution *from = distributionOf(lhs), *to = distributionOf(rhs);
    return from && to && *from == *to && !from->isSplat() &&
           !from->isReplicated();
  };
  for (auto [barrier, barrierPosition] : barriers) {
    SmallVector<const GlobalAccess *> before, after;
    for (const GlobalAccess &access : accesses) {
      bool inLoop = shareLoop(barrier, access.op);
      if (inLoop || access.position < barrierPosition)
        before.push_back(&access);
      if (inLoop || access.position > barrierPosition)
        after.push_back(&access);
    }
    bool isGlobal = llvm::any_of(before, [&](const GlobalAccess *first) {
      return llvm::any_of(after, [&](const GlobalAccess *second) {
        return (first->isWrite || second->isWrite) &&
               (!first->root || !second->root || first->root == second->root) &&
               !staysInThread(*first, *second);
      });
    });
    auto barrierPlan = std::make_unique<BarrierPlan>();
    barrierPlan->ordersGlobalMemory = isGlobal;
    barrierPlan->hasAsyncCopies = hasAsyncCopies;
    planner.setOpPlan(barrier, std::move(barrierPlan));
  }
  return success();
}

void block_to_thread::registerBlockBarriers(OpLowerings &lowerings) {
  lowerings.add<BlockBarriers, gpu::BarrierOp>();
}
