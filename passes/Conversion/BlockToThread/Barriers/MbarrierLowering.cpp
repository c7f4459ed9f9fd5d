//===- MbarrierLowering.cpp - Lowering of mbarriers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread of a thread group arrives: an mbarrier counts `arrival_count`
// arrivals of thread groups. In a warp_map, each warp arrives for its whole
// thread group.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PeerMemory.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

/// The largest arrival count of an mbarrier.
static constexpr int64_t kMaxArrivals = (1 << 20) - 1;

namespace {
class Mbarriers : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Replaces MLIR's wait for a phase, a loop in assembly, by a loop that is
/// visible to the compiler.
class PhaseWaits : public LoweringOf<NVVM::MBarrierTryWaitParityOp> {
public:
  LogicalResult plan(NVVM::MBarrierTryWaitParityOp op,
                     Planner &planner) const override;
  void emit(NVVM::MBarrierTryWaitParityOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

LogicalResult Mbarriers::plan(Operation *op, Planner &planner) const {
  const VendorLowering &vendor = planner.getVendor();
  if (std::optional<std::string> why = vendor.refuseBarriers())
    return op->emitOpError() << "cannot be lowered for "
                             << vendor.getTarget().name << ": " << *why;
  bool ordersTensorCore = false;
  if (auto ordered = op->getAttrOfType<BoolAttr>("orders_tensor_core"))
    ordersTensorCore = ordered.getValue();
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()))
      if (auto barrier =
              dyn_cast<mosaic_gpu::BarrierType>(type.getElementType()))
        ordersTensorCore |= barrier.getOrdersTensorCore();
  if (ordersTensorCore)
    return op->emitOpError()
           << "uses 'orders_tensor_core', which orders tcgen05 operations; "
           << vendor.getTarget().name
           << (vendor.getTarget().tensorMemoryColumns == 0
                   ? " does not have tcgen05: remove 'orders_tensor_core'"
                   : " has tcgen05, but Smalti does not lower tcgen05 "
                     "operations: use wgmma or mma ops and remove "
                     "'orders_tensor_core'");
  int64_t threads = planner.getGrid().numThreads;
  if (auto initialize = dyn_cast<mosaic_gpu::InitializeBarrierOp>(op)) {
    int64_t count = initialize.getArrivalCount();
    if (count > kMaxArrivals / threads)
      return op->emitOpError()
             << "has 'arrival_count' = " << count
             << ", which counts arrivals of all " << threads
             << " threads of a thread group; an mbarrier counts at most "
             << kMaxArrivals << " arrivals of threads, so use a smaller count";
  }
  auto arrive = dyn_cast<mosaic_gpu::ArriveExpectTxOp>(op);
  if (arrive && arrive.getExpectTx().value_or(0) > kMaxMbarrierBytes)
    return op->emitOpError()
           << "expects " << *arrive.getExpectTx()
           << " bytes; a phase of an mbarrier counts at most "
           << kMaxMbarrierBytes
           << " bytes, so use a barrier for each part of the copies";
  if (op->getParentOfType<mosaic_gpu::WarpMapOp>() &&
      isa<mosaic_gpu::InitializeBarrierOp>(op))
    return op->emitOpError()
           << "is inside 'mosaic_gpu.warp_map', where every warp would "
              "initialize the barrier; move it out of the region";
  return success();
}

/// The bytes that this thread expects of the total: equal shares in all threads
/// if possible, otherwise all bytes in the leader.
static Value emitExpectedBytes(mosaic_gpu::ArriveExpectTxOp op, int64_t threads,
                               Emitter &emitter, OpBuilder &builder) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value bytes;
  if (Value dynamic = op.getDynamicExpectTx()) {
    bytes = emitter.lookup(dynamic);
  } else {
    int64_t number = op.getExpectTx().value_or(0);
    // An incomplete thread group has its leader, but not all of its threads.
    if (number % threads == 0 && emitter.plan.grid.blockThreads % threads == 0)
      return constant(number / threads);
    bytes = constant(number);
  }
  return arith::SelectOp::create(builder, loc, emitter.getLeader(op), bytes,
                                 constant(0));
}

void Mbarriers::emit(Operation *op, Emitter &emitter,
                     OpBuilder &builder) const {
  ThreadIndices &indices = emitter.indices;
  const VendorLowering &vendor = emitter.vendor;
  const ThreadGrid &grid = emitter.plan.grid;
  Location loc = op->getLoc();
  if (auto initialize = dyn_cast<mosaic_gpu::InitializeBarrierOp>(op)) {
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, indices.getThreadOfBlock(),
        indices.getConstant(0));
    Value base = emitter.lookup(initialize.getBasePointer());
    scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
      for (int64_t barrier = 0;
           barrier < static_cast<int64_t>(initialize.getNumBarriers());
           ++barrier) {
        Value address = LLVM::GEPOp::create(
            nested, loc, base.getType(), nested.getI64Type(), base,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(barrier)});
        vendor.emitBarrierInit(nested, loc, address,
                               initialize.getArrivalCount() * grid.numThreads);
      }
      scf::YieldOp::create(nested, loc);
    });
    return;
  }
  Value address = emitter.getSharedPointer(op->getOperand(0), builder);
  // A lane also arrives for the lanes with the same id in the other warps.
  bool isOfWarp =
      static_cast<bool>(op->getParentOfType<mosaic_gpu::WarpMapOp>());
  int64_t arrivals = isOfWarp ? grid.numWarps() : 1;
  if (isa<mosaic_gpu::ArriveOp>(op)) {
    vendor.emitBarrierArrive(builder, loc, address, arrivals);
  } else if (auto arrive = dyn_cast<mosaic_gpu::ArriveExpectTxOp>(op)) {
    int64_t threads = isOfWarp ? grid.waveSize : grid.numThreads;
    vendor.emitBarrierArriveExpectTx(
        builder, loc, address,
        emitExpectedBytes(arrive, threads, emitter, builder));
    if (arrivals > 1)
      vendor.emitBarrierArrive(builder, loc, address, arrivals - 1);
  } else {
    Value phase = arith::ExtUIOp::create(
        builder, loc, builder.getI32Type(),
        emitter.lookup(cast<mosaic_gpu::WaitOp>(op).getParity()));
    vendor.emitBarrierWait(builder, loc, address, phase, /*ticks=*/Value(),
                           emitter.plan.isWrittenByCluster);
  }
}

LogicalResult PhaseWaits::plan(NVVM::MBarrierTryWaitParityOp op,
                               Planner &planner) const {
  const VendorLowering &vendor = planner.getVendor();
  if (std::optional<std::string> why = vendor.refuseBarriers())
    return op.emitOpError() << "cannot be lowered for "
                            << vendor.getTarget().name << ": " << *why;
  return success();
}

void PhaseWaits::emit(NVVM::MBarrierTryWaitParityOp op, Emitter &emitter,
                      OpBuilder &builder) const {
  emitter.vendor.emitBarrierWait(
      builder, op.getLoc(), emitter.lookup(op.getAddr()),
      emitter.lookup(op.getPhase()), emitter.lookup(op.getTicks()),
      emitter.plan.isWrittenByCluster);
}

void block_to_thread::registerMbarriers(OpLowerings &lowerings) {
  lowerings
      .add<Mbarriers, mosaic_gpu::InitializeBarrierOp, mosaic_gpu::ArriveOp,
           mosaic_gpu::ArriveExpectTxOp, mosaic_gpu::WaitOp>();
  lowerings.add<PhaseWaits, NVVM::MBarrierTryWaitParityOp>();
}
