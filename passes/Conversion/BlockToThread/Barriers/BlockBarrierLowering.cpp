//===- BlockBarrierLowering.cpp - Block-wide barriers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

#include <functional>
#include <map>
#include <optional>

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

/// The memref that a view is based on.
static Value viewRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

namespace {
/// An access to global memory.
struct GlobalAccess {
  /// Accesses of one class touch the same elements with the same threads.
  unsigned accessClass;
  unsigned position;
};

/// The first or last accesses of two different classes.
template <typename Comes> class Outermost {
public:
  void add(GlobalAccess access) {
    if (first && first->accessClass == access.accessClass) {
      if (Comes()(access.position, first->position))
        first = access;
    } else if (!first || Comes()(access.position, first->position)) {
      second = first;
      first = access;
    } else if (!second || Comes()(access.position, second->position)) {
      second = access;
    }
  }

  std::optional<GlobalAccess> first, second;
};

using Firsts = Outermost<std::less<unsigned>>;
using Lasts = Outermost<std::greater<unsigned>>;

/// Accesses to one kernel argument.
struct Accesses {
  Firsts firstAccesses, firstWrites;
  Lasts lastAccesses, lastWrites;

  void add(GlobalAccess access, bool isWrite) {
    firstAccesses.add(access);
    lastAccesses.add(access);
    if (!isWrite)
      return;
    firstWrites.add(access);
    lastWrites.add(access);
  }
};

/// The accesses that a barrier orders: up to `end` before it, and from `begin`
/// on after it.
struct Span {
  unsigned begin, end;

  /// Whether it orders a pair of accesses of different classes.
  bool orders(const Firsts &before, const Lasts &after) const {
    for (const auto &first : {before.first, before.second})
      for (const auto &second : {after.first, after.second})
        if (first && second && first->position <= end &&
            second->position >= begin &&
            first->accessClass != second->accessClass)
          return true;
    return false;
  }
  /// Whether it orders a pair of accesses of different classes, at least one a
  /// write.
  bool orders(const Accesses &before, const Accesses &after) const {
    return orders(before.firstWrites, after.lastAccesses) ||
           orders(before.firstAccesses, after.lastWrites);
  }
};

/// Numbers the classes of accesses. A thread may write again what it reads if
/// both use the same window in the same layout. Every other access is a
/// separate class.
class AccessClasses {
public:
  explicit AccessClasses(Planner &planner) : planner(planner) {}

  unsigned of(Operation *op) {
    auto transfer = dyn_cast<VectorTransferOpInterface>(op);
    const Distribution *distribution =
        transfer
            ? planner.find(isa<vector::TransferReadOp>(op) ? op->getResult(0)
                                                           : op->getOperand(0))
            : nullptr;
    if (!distribution || distribution->isSplat() ||
        distribution->isReplicated())
      return count++;
    SmallVector<const void *> key = {
        transfer.getBase().getAsOpaquePointer(),
        transfer.getPermutationMap().getAsOpaquePointer()};
    for (Value index : transfer.getIndices())
      key.push_back(index.getAsOpaquePointer());
    auto &known = windows[key];
    for (auto [other, number] : known)
      if (*other == *distribution)
        return number;
    known.push_back({distribution, count});
    return count++;
  }

private:
  Planner &planner;
  unsigned count = 0;
  std::map<SmallVector<const void *>,
           SmallVector<std::pair<const Distribution *, unsigned>, 1>>
      windows;
};

/// The outermost loop around an op, in which its accesses and barriers repeat.
struct OutermostLoop {
  unsigned begin = 0, end = 0;
  bool writes = false;
};
} // namespace

static Operation *findOutermostLoop(Operation *op) {
  Operation *outermost = nullptr;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    outermost = loop;
  return outermost;
}

LogicalResult BlockBarriers::planKernel(Planner &planner) const {
  const KernelPlan &plan = planner.getPlan();
  bool hasAsyncCopies = false;
  // Threads may also communicate through global memory: an access before the
  // barrier and one after it to the same argument, one of them a write. By
  // argument (null if unknown), and all accesses.
  llvm::MapVector<Value, Accesses> byRoot;
  Accesses all;
  AccessClasses classes(planner);
  DenseMap<Operation *, OutermostLoop> loops;
  SmallVector<std::pair<Operation *, unsigned>> barriers;
  unsigned position = 0;
  gpu::GPUFuncOp func = plan.func;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++position;
    hasAsyncCopies |= isa<mosaic_gpu::AsyncCopyOp>(op);
    Operation *loop = findOutermostLoop(op);
    if (loop) {
      OutermostLoop &span = loops[loop];
      if (span.begin == 0)
        span.begin = position;
      span.end = position;
    }
    if (isa<gpu::BarrierOp>(op)) {
      barriers.push_back({op, position});
      return;
    }
    if (op == plan.func || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    auto add = [&](Value root, bool isWrite) {
      GlobalAccess access{classes.of(op), position};
      byRoot[root].add(access, isWrite);
      all.add(access, isWrite);
      if (loop)
        loops[loop].writes |= isWrite;
    };
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface)
      return add(Value(), /*isWrite=*/true);
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value value = effect.getValue();
      // Ops of the dialect access only shared memory besides their operands. An
      // atomic acquire or release orders accesses of all memory.
      if (!value &&
          isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect()) &&
          !isa<mosaic_gpu::AtomicRMWOp, mosaic_gpu::AtomicCASOp>(op))
        continue;
      auto type = value ? dyn_cast<MemRefType>(value.getType()) : MemRefType();
      if ((type && isWorkgroupMemory(type)) ||
          !isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
        continue;
      Value root = type ? viewRoot(value) : Value();
      add(root && isa<BlockArgument>(root) ? root : Value(),
          isa<MemoryEffects::Write>(effect.getEffect()));
    }
  });

  for (auto [barrier, barrierPosition] : barriers) {
    Span span{barrierPosition, barrierPosition};
    bool isGlobal = false;
    if (Operation *loop = findOutermostLoop(barrier)) {
      // Accesses in a loop are on both sides of the barrier. A write may then
      // conflict with the write of another iteration by another thread.
      const OutermostLoop &around = loops[loop];
      span = {around.begin, around.end};
      isGlobal = around.writes;
    }
    for (const auto &[root, accesses] : byRoot) {
      if (isGlobal)
        break;
      isGlobal = root
                     ? span.orders(accesses, accesses)
                     : span.orders(accesses, all) || span.orders(all, accesses);
    }
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
