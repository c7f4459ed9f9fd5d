//===- ChooseOverlap.cpp - smalti-choose-overlap --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/OverlapChoice.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/MultiBuffering/BufferSlots.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/passes/WarpSpecialization/WarpPlan.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTICHOOSEOVERLAP
#define GEN_PASS_DEF_SMALTICHOOSEOVERLAP
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

static constexpr llvm::StringLiteral kPassName = "smalti-choose-overlap";

namespace {

/// Slots and stages of the loops of a kernel.
struct Overlap {
  int64_t depth = 1;
  int64_t stages = 1;
};

/// The number of slots of each loop that requests stages or slots.
using LoopSlots = llvm::MapVector<Operation *, int64_t>;

/// The attributes to set on the kernel; std::nullopt: not set.
struct Decision {
  std::optional<bool> specialize;
  std::optional<int64_t> slots, stages;
};

struct SmaltiChooseOverlap
    : smalti::impl::SmaltiChooseOverlapBase<SmaltiChooseOverlap> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerExternalModels(registry);
  }
  void runOnOperation() override;

private:
  LogicalResult readRequest(gpu::GPUFuncOp kernel);
  LogicalResult chooseRoles(gpu::GPUFuncOp kernel, const Target &chip,
                            Decision &decision);
  FailureOr<Overlap> chooseOverlap(gpu::GPUFuncOp kernel, const Target &chip);

  LoopSlots loopSlots;
  /// The requested values, from the kernel's attributes or else the options.
  AutoOrNumber wantedDepth, wantedStages;
  Specialize wantedRoles = Specialize::Auto;
};

} // namespace

/// The slots of a buffer: the most that a loop around a use requests, else
/// `depth` if a loop uses the buffer.
static int64_t slotsOf(Value buffer, int64_t depth, const LoopSlots &loops) {
  bool isUsedInLoop = false;
  int64_t requested = 0;
  SmallVector<Value> worklist = {buffer};
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        worklist.push_back(user->getResult(0));
      for (auto loop = user->getParentOfType<LoopLikeOpInterface>(); loop;
           loop = loop->getParentOfType<LoopLikeOpInterface>()) {
        isUsedInLoop = true;
        requested = std::max(requested, loops.lookup(loop));
      }
    }
  }
  return requested ? requested : isUsedInLoop ? depth : 1;
}

/// Bytes of shared memory if the buffers that loops use have `depth` slots.
static int64_t sharedBytes(gpu::GPUFuncOp kernel, int64_t depth,
                           const LoopSlots &loops) {
  return getSharedMemoryBytes(kernel, [&](Value buffer) {
    // Mbarriers of other front ends are not memrefs.
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type || !getBufferBytes(type))
      return type;
    int64_t slots = slotsOf(buffer, depth, loops);
    if (slots == 1)
      return type;
    SmallVector<int64_t> shape = {slots};
    llvm::append_range(shape, type.getShape());
    return MemRefType::Builder(type).setShape(shape).operator MemRefType();
  });
}

LogicalResult SmaltiChooseOverlap::readRequest(gpu::GPUFuncOp kernel) {
  int64_t slots = depth.getOr(0);
  ScheduleOptions schedule;
  schedule.stages = stages.getValue();
  std::optional<bool> roles;
  std::optional<std::string> wrong = readSlots(kernel, slots);
  if (!wrong)
    wrong = readBool(kernel, kSpecializeAttr, roles);
  if (wrong)
    return kernel.emitError() << kPassName << ": the kernel " << *wrong;
  if (auto reason = readScheduleAttributes(kernel, schedule))
    return kernel.emitError() << kPassName << ": " << *reason;
  wantedDepth = slots == 0 ? AutoOrNumber() : AutoOrNumber(slots);
  wantedStages = schedule.stages;
  wantedRoles = specialize;
  if (roles)
    wantedRoles = *roles ? Specialize::On : Specialize::Off;
  wrong = checkAtMost(kernel->hasAttr(kSlotsAttr) ? kSlotsAttr : "depth",
                      wantedDepth, kMaxStages);
  if (!wrong)
    wrong = checkAtMost("stages", wantedStages, kMaxStages);
  if (wrong)
    return kernel.emitError() << kPassName << ": " << *wrong;

  loopSlots.clear();
  WalkResult result = kernel->walk([&](LoopLikeOpInterface loop) {
    ScheduleOptions own;
    own.stages = AutoOrNumber();
    int64_t ownSlots = 0;
    auto reason = readScheduleAttributes(loop, own);
    if (!reason)
      if (auto wrong = readSlots(loop, ownSlots))
        reason = "the loop " + *wrong;
    if (reason) {
      loop.emitError() << kPassName << ": " << *reason;
      return WalkResult::interrupt();
    }
    // Each asynchronous copy in flight needs a slot.
    bool isAsync =
        loop->walk([](AsyncCopyOpInterface) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (ownSlots == 0 && !own.stages.isAuto() && isAsync)
      ownSlots = *own.stages;
    if (ownSlots != 0)
      loopSlots[loop] = ownSlots;
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Decides whether the kernel is split into producer and consumer warps.
LogicalResult SmaltiChooseOverlap::chooseRoles(gpu::GPUFuncOp kernel,
                                               const Target &chip,
                                               Decision &decision) {
  if (wantedRoles == Specialize::Off)
    return success();
  bool isRequested = wantedRoles == Specialize::On;
  if (!hasSynchronousWgmma(kernel)) {
    if (isRequested)
      remarkMissed(kernel, kPassName)
          << "warp specialization not applied: the kernel does not contain a "
             "'mosaic_gpu.wgmma' with the attribute 'smalti.synchronous'; set "
             "it on the wgmma ops that a wait follows";
    return success();
  }
  AutoOrNumber slots = wantedDepth.isAuto() ? wantedStages : wantedDepth;
  if (!loopSlots.empty())
    slots = llvm::max_element(loopSlots, llvm::less_second())->second;
  auto &analysis = getAnalysis<WarpPlanAnalysis>();
  std::optional<WarpRefusal> refusal = analysis.run(
      kernel, chip, slots.isAuto() ? std::nullopt : std::optional(*slots));
  const WarpPlan &plan = analysis.getPlan();
  if (!refusal && !isRequested && !plan.pays())
    refusal = WarpRefusal{
        kernel, "warp specialization not applied: no estimated benefit: " +
                    describeTimes(plan)};
  decision.specialize = !refusal;
  if (refusal)
    return reportMissed(refusal->op, kPassName, isRequested, refusal->reason);
  decision.slots = plan.depth;
  return success();
}

/// Every slot after the second keeps addresses in registers, so a kernel that
/// is expected to spill does not get it.
static int64_t limitByRegisters(gpu::GPUFuncOp kernel, const Target &chip,
                                int64_t slots) {
  constexpr int64_t overlapping = 2;
  int64_t registers = estimateRegisters(kernel, chip).count;
  if (registers <= chip.registersPerThread || slots <= overlapping)
    return slots;
  remarkMissed(kernel, kPassName)
      << "slots per buffer reduced from " << slots << " to " << overlapping
      << ": each slot needs registers for its addresses, and the estimated "
         "register pressure of "
      << registers << " per thread exceeds the " << chip.registersPerThread
      << " registers of " << chip.name;
  return overlapping;
}

FailureOr<Overlap> SmaltiChooseOverlap::chooseOverlap(gpu::GPUFuncOp kernel,
                                                      const Target &chip) {
  bool isAsync =
      kernel->walk([](AsyncCopyOpInterface) { return WalkResult::interrupt(); })
          .wasInterrupted();
  Prefetch prefetch = isAsync ? Prefetch::AsyncCopies : Prefetch::Reads;
  int64_t wanted = getAutoSlots(prefetch);
  if (!wantedDepth.isAuto())
    wanted = *wantedDepth;
  else if (!wantedStages.isAuto())
    wanted = isAsync ? *wantedStages : std::min(*wantedStages, wanted);
  else if (isAsync)
    wanted = limitByRegisters(kernel, chip, wanted);
  bool isRequested =
      !wantedDepth.isAuto() || (isAsync && !wantedStages.isAuto());

  Overlap overlap;
  overlap.depth = fitSlots(chip, wanted, [&](int64_t slots) {
    return sharedBytes(kernel, slots, loopSlots);
  });
  overlap.stages = wantedStages.getOr(getAutoStages(prefetch, overlap.depth));
  int64_t fitting = sharedBytes(kernel, overlap.depth, loopSlots);
  int64_t withoutLoops = sharedBytes(kernel, 1, {});
  if (fitting > chip.sharedMemoryPerBlock &&
      withoutLoops <= chip.sharedMemoryPerBlock) {
    // The requests of loops are the reason.
    auto [loop, slots] = *llvm::max_element(loopSlots, llvm::less_second());
    return loop->emitError()
           << kPassName << ": " << slots
           << " slots per buffer of this loop need " << fitting
           << " B of shared memory per block; " << chip.name << " has "
           << chip.sharedMemoryPerBlock << " B; set fewer slots: 1 slot needs "
           << withoutLoops << " B";
  }
  if (overlap.depth < wanted && isRequested &&
      fitting <= chip.sharedMemoryPerBlock)
    return kernel.emitError()
           << (wantedDepth.isAuto() ? "stages" : "depth") << "=" << wanted
           << " needs " << sharedBytes(kernel, wanted, loopSlots)
           << " B of shared memory; " << chip.name << " has "
           << chip.sharedMemoryPerBlock << " B per block; "
           << (wantedDepth.isAuto() ? "stages" : "depth") << "="
           << overlap.depth << " needs " << fitting << " B";
  if (overlap.depth < wanted)
    remarkMissed(kernel, kPassName)
        << "slots per buffer reduced from " << wanted << " to " << overlap.depth
        << ": " << wanted << " need " << sharedBytes(kernel, wanted, loopSlots)
        << " B of shared memory, " << overlap.depth
        << (overlap.depth == 1 ? " slot needs " : " slots need ") << fitting
        << " B; " << chip.name << " has " << chip.sharedMemoryPerBlock
        << " B per block";
  if (isAsync)
    overlap.stages = std::min(overlap.stages, overlap.depth);
  remarkAnalysis(kernel, kPassName)
      << "loops get up to " << overlap.stages
      << (overlap.stages == 1 ? " stage, " : " stages, ") << overlap.depth
      << (overlap.depth == 1 ? " slot" : " slots") << " per buffer: "
      << (isAsync ? "each asynchronous copy in flight needs a slot"
                  : "loads go through registers, so a stage does not need its "
                    "own slot")
      << "; " << fitting << " of " << chip.sharedMemoryPerBlock
      << " B of shared memory";
  for (auto [loop, slots] : loopSlots)
    remarkAnalysis(loop, kPassName)
        << slots << (slots == 1 ? " slot" : " slots")
        << " per buffer of this loop: requested by its attributes";
  return overlap;
}

void SmaltiChooseOverlap::runOnOperation() {
  auto kernel = dyn_cast<gpu::GPUFuncOp>(getOperation().getOperation());
  if (!kernel || kernel.isExternal())
    return markAllAnalysesPreserved();
  const Target *chip = getTarget(kernel, target);
  if (!chip)
    return signalPassFailure();
  if (failed(readRequest(kernel)))
    return signalPassFailure();
  Decision decision;
  bool hasLoops =
      kernel->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (kernel->hasAttr(mosaic_gpu::kThreadGroupSize)) {
    // The kernel is already split into roles with slots.
    decision.slots = decision.stages = 1;
  } else if (failed(chooseRoles(kernel, *chip, decision))) {
    return signalPassFailure();
  } else if (!decision.specialize.value_or(false) && hasLoops) {
    FailureOr<Overlap> chosen = chooseOverlap(kernel, *chip);
    if (failed(chosen))
      return signalPassFailure();
    decision.slots = chosen->depth;
    decision.stages = chosen->stages;
    for (auto [loop, slots] : loopSlots)
      loop->setAttr(kSlotsAttr,
                    Builder(loop->getContext()).getI64IntegerAttr(slots));
  }
  // The plan does not depend on the attributes.
  markAnalysesPreserved<WarpPlanAnalysis>();
  Builder builder(kernel.getContext());
  if (decision.specialize)
    kernel->setAttr(kSpecializeAttr, builder.getBoolAttr(*decision.specialize));
  if (decision.slots)
    kernel->setAttr(kSlotsAttr, builder.getI64IntegerAttr(*decision.slots));
  if (decision.stages)
    kernel->setAttr(kStagesAttr, builder.getI64IntegerAttr(*decision.stages));
}
