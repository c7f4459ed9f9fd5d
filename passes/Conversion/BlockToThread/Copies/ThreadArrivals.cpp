//===- ThreadArrivals.cpp - Arrivals after thread copies ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Copies/ThreadArrivals.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Copies/TensorSlices.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// Lowers expected bytes on mbarriers that do not count bytes: the threads
/// arrive after their copies.
class ThreadArrivals : public LoweringOf<mosaic_gpu::ArriveExpectTxOp> {
public:
  LogicalResult plan(mosaic_gpu::ArriveExpectTxOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::ArriveExpectTxOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// The memref from which the memref of an mbarrier is derived.
static Value getBarrierRoot(Value barrier) {
  while (auto cast = barrier.getDefiningOp<UnrealizedConversionCastOp>()) {
    if (cast.getNumOperands() != 1)
      break;
    barrier = cast.getOperand(0);
  }
  return barrier;
}

/// Whether the op only computes, or accesses memory that it names.
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

/// The bytes that a copy delivers, including those out of bounds.
static int64_t countBytes(Operation *op) {
  SliceOp slice = getSlice(op);
  int64_t elements = 1;
  for (int64_t length : slice.lengths)
    elements *= length == -1 ? 1 : length;
  return elements *
         elementBytes(
             cast<MemRefType>(slice.global.getType()).getElementType());
}

void block_to_thread::planThreadArrivals(Operation *op, Planner &planner) {
  if (planner.getPlan().getOpPlan<OpPlan>(op))
    return;
  llvm::MapVector<Operation *, std::unique_ptr<ArrivalPlan>> found;
  DenseMap<Value, Operation *> open;
  for (Operation &other : *op->getBlock()) {
    if (auto arrive = dyn_cast<mosaic_gpu::ArriveExpectTxOp>(other)) {
      open[getBarrierRoot(arrive.getBarrier())] = &other;
      found[&other] = std::make_unique<ArrivalPlan>();
    } else if (auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(other)) {
      if (Operation *arrival = open.lookup(getBarrierRoot(load.getBarrier()))) {
        ArrivalPlan &arrivalPlan = *found[arrival];
        arrivalPlan.last = &other;
        arrivalPlan.bytes += countBytes(&other);
        planner.setOpPlan(&other, std::make_unique<LoadArrival>());
      }
    } else if (!isOfOneThread(&other)) {
      open.clear();
    }
  }
  for (auto &[arrival, arrivalPlan] : found) {
    if (arrivalPlan->last) {
      auto last = std::make_unique<LoadArrival>();
      last->arrival = arrival;
      planner.setOpPlan(arrivalPlan->last, std::move(last));
    }
    planner.setOpPlan(arrival, std::move(arrivalPlan));
  }
}

LogicalResult ThreadArrivals::plan(mosaic_gpu::ArriveExpectTxOp op,
                                   Planner &planner) const {
  const targets::Target &target = planner.getVendor().getTarget();
  planThreadArrivals(op, planner);
  const auto &arrivalPlan = *planner.getPlan().getOpPlan<ArrivalPlan>(op);
  auto refuseBytes = [&](const Twine &expected) -> LogicalResult {
    return op->emitOpError()
           << "cannot be lowered for " << target.name
           << ": its mbarriers do not count bytes, so the async_load ops that "
              "use this barrier between the op and the next synchronization in "
              "the same MLIR block must copy "
           << expected << " bytes, but they copy " << arrivalPlan.bytes;
  };
  if (op.getDynamicExpectTx())
    return arrivalPlan.last ? success() : refuseBytes("a dynamic number of");
  int64_t bytes = op.getExpectTx().value_or(0);
  return bytes == arrivalPlan.bytes ? success() : refuseBytes(Twine(bytes));
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void block_to_thread::emitArrival(Operation *arrivalOp, bool isAfterCopies,
                                  Emitter &emitter, OpBuilder &builder) {
  auto op = cast<mosaic_gpu::ArriveExpectTxOp>(arrivalOp);
  Location loc = op.getLoc();
  Value address = emitter.getSharedPointer(op.getBarrier(), builder);
  int64_t arrivals = op->getParentOfType<mosaic_gpu::WarpMapOp>()
                         ? emitter.plan.grid.numWarps()
                         : 1;
  if (isAfterCopies) {
    NVVM::CpAsyncMBarrierArriveOp::create(builder, loc, address,
                                          /*noinc=*/true);
    --arrivals;
  }
  if (arrivals > 0)
    emitter.vendor.emitBarrierArrive(builder, loc, address, arrivals);
}

void ThreadArrivals::emit(mosaic_gpu::ArriveExpectTxOp op, Emitter &emitter,
                          OpBuilder &builder) const {
  if (!emitter.plan.getOpPlan<ArrivalPlan>(op)->last)
    emitArrival(op, /*isAfterCopies=*/false, emitter, builder);
}

void block_to_thread::registerThreadArrivals(OpLowerings &lowerings) {
  lowerings.add<ThreadArrivals, mosaic_gpu::ArriveExpectTxOp>();
}
