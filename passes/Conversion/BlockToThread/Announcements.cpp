//===- Announcements.cpp - Which copies a barrier waits for ---------------===//

#include "passes/Conversion/BlockToThread/Announcements.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Planner.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

/// What a barrier's memref was made from.
static Value getBarrierRoot(Value barrier) {
  while (auto cast = barrier.getDefiningOp<UnrealizedConversionCastOp>()) {
    if (cast.getNumOperands() != 1)
      break;
    barrier = cast.getOperand(0);
  }
  return barrier;
}

/// Whether all that an op does is to compute, or to access memory that it
/// names.
static bool isOfOneThread(Operation *op) {
  if (isMemoryEffectFree(op))
    return true;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumRegions() != 0)
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::all_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    Value value = effect.getValue();
    auto type = value ? dyn_cast<MemRefType>(value.getType()) : MemRefType();
    return type && !isa<mosaic_gpu::BarrierType>(type.getElementType());
  });
}

void block_to_thread::planAnnouncements(
    Operation *op, llvm::function_ref<int64_t(Operation *)> getBytes,
    Planner &planner) {
  if (planner.getPlan().getOpPlan<OpPlan>(op))
    return;
  llvm::MapVector<Operation *, std::unique_ptr<Announcement>> found;
  DenseMap<Value, Operation *> open;
  for (Operation &other : *op->getBlock()) {
    if (auto arrive = dyn_cast<mosaic_gpu::ArriveExpectTxOp>(other)) {
      open[getBarrierRoot(arrive.getBarrier())] = &other;
      found[&other] = std::make_unique<Announcement>();
    } else if (auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(other)) {
      if (Operation *arrival = open.lookup(getBarrierRoot(load.getBarrier()))) {
        Announcement &announcement = *found[arrival];
        announcement.last = &other;
        announcement.bytes += getBytes(&other);
        planner.setOpPlan(&other, std::make_unique<AnnouncedLoad>());
      }
    } else if (!isOfOneThread(&other)) {
      open.clear();
    }
  }
  for (auto &[arrival, announcement] : found) {
    if (announcement->last) {
      auto last = std::make_unique<AnnouncedLoad>();
      last->arrival = arrival;
      planner.setOpPlan(announcement->last, std::move(last));
    }
    planner.setOpPlan(arrival, std::move(announcement));
  }
}
