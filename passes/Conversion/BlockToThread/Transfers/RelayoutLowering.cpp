//===- RelayoutLowering.cpp - Layout changes of vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In registers, by shuffles, or through shared memory: the cheapest that
// `planRelayout` finds.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterRelayouts.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using relayouts::Means;

namespace {
struct LayoutCastPlan : OpPlan {
  relayouts::RelayoutPlan steps;
  /// Elements that do not stay in their bytes, or are not a power of two bytes,
  /// are widened to integers of this width during the relayout; 0: they are
  /// not.
  int64_t wideBits = 0;
};

class LayoutCasts : public LoweringOf<mosaic_gpu::LayoutCastOp> {
public:
  LogicalResult plan(mosaic_gpu::LayoutCastOp op,
                     Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override {
    placeScratch(planner.getPlan());
    return success();
  }
  void emit(mosaic_gpu::LayoutCastOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

LogicalResult LayoutCasts::plan(mosaic_gpu::LayoutCastOp op,
                                Planner &planner) const {
  if (failed(planner.setLayout(op, op.getResult(), op.getNewLayout())))
    return failure();
  const Distribution &from = *planner.find(op.getX()),
                     &to = *planner.find(op.getResult());
  if (from == to || from.isSplat())
    return success();
  const targets::Target &target = planner.getVendor().getTarget();
  auto plan = std::make_unique<LayoutCastPlan>();
  int64_t bits = getElementBits(op.getX().getType().getElementType());
  auto find = [&](int64_t width) {
    return relayouts::planRelayoutSteps(
        getRegisterLayout(from), getRegisterLayout(to), from.getShape(), width,
        target, planner.getGrid().numWarps());
  };
  auto steps = find(bits);
  auto wideBits =
      static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(bits, 8)));
  if (!steps && bits < wideBits) {
    plan->wideBits = wideBits;
    steps = find(wideBits);
  }
  if (!steps)
    return op->emitOpError() << "cannot change the layout from " << from.str()
                             << " to " << to.str() << ": " << steps.reason;
  plan->steps = *steps;
  if (plan->steps.cost.means == Means::SharedMemory &&
      failed(reserveScratch(op, planner, plan->steps.cost.scratchBytes)))
    return failure();
  planner.setOpPlan(op, std::move(plan));
  return success();
}

/// Moves values through shared memory, as many at a time as it can hold.
static Registers
emitScratchTrip(OpBuilder &builder, Location loc, Emitter &emitter,
                const relayouts::RelayoutPlan &plan, ArrayRef<Value> registers,
                const Distribution &from, VectorType type, int64_t count) {
  SharedAddress scratch = getScratch(emitter);
  const relayouts::ScratchTrip &trip = plan.trip;
  auto addressOf = [&](int64_t repeat) {
    SharedAddress start = scratch;
    if (repeat > 0)
      start.offset = arith::AddIOp::create(
          builder, loc, start.offset,
          getI32(builder, loc, repeat * trip.patternBytes));
    return start;
  };
  Registers results(count);
  for (int64_t first = 0; first < plan.numRepeats(); first += trip.together) {
    int64_t repeats = std::min(trip.together, plan.numRepeats() - first);
    auto store = [&](OpBuilder &nested) {
      for (int64_t repeat = 0; repeat < repeats; ++repeat) {
        SmallVector<Value> own;
        for (int64_t reg : plan.sourceRegisters[first + repeat])
          own.push_back(registers[reg]);
        SharedAddress start = addressOf(repeat);
        TransferEmitter(nested, loc, emitter.indices, *trip.store, start)
            .store(own);
      }
    };
    if (Value isFirst = emitter.indices.isFirstReplica(from))
      scf::IfOp::create(builder, loc, isFirst,
                        [&](OpBuilder &nested, Location) {
                          store(nested);
                          scf::YieldOp::create(nested, loc);
                        });
    else
      store(builder);
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      ArrayRef<int64_t> targets = plan.resultRegisters[first + repeat];
      SharedAddress start = addressOf(repeat);
      Registers loaded =
          TransferEmitter(builder, loc, emitter.indices, *trip.load, start)
              .load(type, targets.size());
      for (auto [reg, value] : llvm::zip_equal(targets, loaded))
        results[reg] = value;
    }
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  }
  return results;
}

void LayoutCasts::emit(mosaic_gpu::LayoutCastOp op, Emitter &emitter,
                       OpBuilder &builder) const {
  const Distribution &from = emitter.plan.getDistribution(op.getX()),
                     &to = emitter.plan.getDistribution(op.getResult());
  const auto *plan = emitter.plan.getOpPlan<LayoutCastPlan>(op);
  if (!plan || plan->steps.cost.means == Means::None)
    return emitter.setRegisters(op.getResult(),
                                emitter.getRegisters(op.getX(), to, builder));
  Location loc = op.getLoc();
  Registers registers = emitter.getRegisters(op.getX());
  Type elementType = op.getX().getType().getElementType();
  Type moved =
      plan->wideBits ? builder.getIntegerType(plan->wideBits) : elementType;
  Type integer = builder.getIntegerType(getElementBits(elementType));
  if (plan->wideBits)
    for (Value &reg : registers) {
      if (isa<FloatType>(elementType))
        reg = arith::BitcastOp::create(builder, loc,
                                       from.getRegisterType(integer), reg);
      reg = arith::ExtUIOp::create(builder, loc, from.getRegisterType(moved),
                                   reg);
    }
  Registers results =
      plan->steps.cost.means == Means::SharedMemory
          ? emitScratchTrip(builder, loc, emitter, plan->steps, registers, from,
                            to.getRegisterType(moved), to.getNumRegisters())
          : emitRelayoutSteps(builder, loc, emitter, plan->steps, registers,
                              to.getRegisterType(moved), to.getNumRegisters());
  if (plan->wideBits)
    for (Value &reg : results) {
      reg = arith::TruncIOp::create(builder, loc, to.getRegisterType(integer),
                                    reg);
      if (isa<FloatType>(elementType))
        reg = arith::BitcastOp::create(builder, loc,
                                       to.getRegisterType(elementType), reg);
    }
  emitter.setRegisters(op.getResult(), std::move(results));
}

void block_to_thread::registerRelayouts(OpLowerings &lowerings) {
  lowerings.add<LayoutCasts, mosaic_gpu::LayoutCastOp>();
}
