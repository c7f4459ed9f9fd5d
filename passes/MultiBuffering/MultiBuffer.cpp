//===- MultiBuffer.cpp - smalti-multi-buffer ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Analysis/Resources/SharedBuffers.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/MultiBuffering/BarrierSlots.h"
#include "smalti/passes/MultiBuffering/BufferSlots.h"
#include "smalti/passes/Slots/IterationSlots.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/passes/Support/ValueNames.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIMULTIBUFFER
#define GEN_PASS_DEF_SMALTIMULTIBUFFER
#include "smalti/passes/MultiBuffering/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-multi-buffer";
/// The maximum of depth=auto: further slots take memory without a benefit.
static constexpr int64_t kMaxAutomaticSlots = 16;

namespace {

struct SmaltiMultiBuffer
    : smalti::impl::SmaltiMultiBufferBase<SmaltiMultiBuffer> {
  using SmaltiMultiBufferBase::SmaltiMultiBufferBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiMultiBufferBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }

  void runOnOperation() override;

private:
  LogicalResult readDepth(const targets::Target *chip);
  bool planBuffers(const targets::Target *chip,
                   const UniformityAnalysis &uniformity);
  bool planBarriers(const targets::Target *chip,
                    const UniformityAnalysis &uniformity);
  bool dropPartialLoops();
  int64_t getBytes(int64_t slots);
  LogicalResult chooseDepths(const targets::Target *chip);

  /// The number of slots of a buffer for which neither its own attribute nor
  /// its loop's states one; 0: as many as fit.
  int64_t slots = 0;
  std::vector<BufferPlan> plans;
  std::vector<BarrierPlan> barrierPlans;
};

} // namespace

LogicalResult SmaltiMultiBuffer::readDepth(const targets::Target *chip) {
  FunctionOpInterface function = getOperation();
  slots = depth.getOr(0);
  if (std::optional<std::string> wrong = readSlots(function, slots))
    return function->emitError() << kPassName << ": the function " << *wrong;
  if (auto wrong = checkAtMost("depth", slots, kMaxSlots))
    return function->emitError() << kPassName << ": " << *wrong;
  if (slots == 0 && !chip)
    return function->emitError()
           << kPassName
           << ": depth=auto requires a target; set the option 'target' or the "
              "attribute smalti.target";
  return success();
}

/// Plans all buffers. Returns whether a buffer was refused under `strict`.
bool SmaltiMultiBuffer::planBuffers(const targets::Target *chip,
                                    const UniformityAnalysis &uniformity) {
  FunctionOpInterface function = getOperation();
  bool missed = false;
  SmallVector<Value> buffers = findSharedBuffers(function);
  function->walk([&](memref::GetGlobalOp global) {
    if (getMemorySpace(global) == MemorySpace::Shared)
      buffers.push_back(global);
  });
  // Buffers that hold mbarriers are planned with the mbarriers.
  DenseSet<Value> barriers;
  function->walk([&](BarrierObjectOpInterface op) {
    barriers.insert(getRootBuffer(op.getBarrierMutable().get()));
  });
  for (Value buffer : buffers) {
    if (barriers.contains(buffer))
      continue;
    BufferPlan plan;
    plan.buffer = buffer;
    plan.op = getBufferOp(buffer);
    bool isCandidate;
    std::optional<std::string> reason =
        planBuffer(function, uniformity, chip, plan, isCandidate);
    if (!isCandidate)
      continue;
    if (plan.depth == 0)
      plan.depth = slots;
    if (!reason && plan.depth != 1)
      plans.push_back(std::move(plan));
    else if (reason && slots != 1 &&
             failed(reportMissed(plan.op, kPassName, strict,
                                 "buffer not multi-buffered: " + *reason)))
      missed = true;
  }
  return missed;
}

/// Plans the mbarriers on which copies into planned buffers complete. An
/// mbarrier and its buffers get slots together: if one of them is refused, the
/// plans of all are dropped. Returns whether one was refused under `strict`.
bool SmaltiMultiBuffer::planBarriers(const targets::Target *chip,
                                     const UniformityAnalysis &uniformity) {
  FunctionOpInterface function = getOperation();
  using Copies = llvm::MapVector<Value, SmallVector<Operation *, 1>>;
  llvm::MapVector<Value, Copies> buffersOf; ///< and the copies into them
  DenseMap<Value, SetVector<Value>> barriersOf;
  function->walk([&](AsyncCopyOpInterface copy) {
    auto object = dyn_cast<BarrierObjectOpInterface>(copy.getOperation());
    Value destination = copy.getCopyDestination();
    if (!object || !destination)
      return;
    Value buffer = getRootBuffer(destination);
    Value barriers = getRootBuffer(object.getBarrierMutable().get());
    buffersOf[barriers][buffer].push_back(copy);
    barriersOf[buffer].insert(barriers);
  });
  DenseMap<Value, const BufferPlan *> planOf;
  for (const BufferPlan &plan : plans)
    planOf[plan.buffer] = &plan;

  bool missed = false;
  DenseSet<Value> dropped;
  SmallVector<Value> worklist;
  auto drop = [&](Value barriers, const std::string &reason) {
    if (!dropped.insert(barriers).second)
      return;
    missed |= failed(reportMissed(getBufferOp(barriers), kPassName, strict,
                                  "mbarrier not multi-buffered: " + reason));
    for (auto &[buffer, copies] : buffersOf[barriers]) {
      const BufferPlan *plan = planOf.lookup(buffer);
      if (!plan || !dropped.insert(buffer).second)
        continue;
      missed |= failed(reportMissed(plan->op, kPassName, strict,
                                    "buffer not multi-buffered: its copies "
                                    "complete on an mbarrier that is not "
                                    "multi-buffered (see the remark of the "
                                    "mbarrier)"));
      llvm::append_range(worklist, barriersOf[buffer]);
    }
  };
  BarrierPlanner planner(function, uniformity, chip);
  for (auto &[barriers, buffers] : buffersOf) {
    BarrierPlan plan;
    plan.barriers = barriers;
    plan.op = getBufferOp(barriers);
    const BufferPlan *other = nullptr;
    bool isOneLoop = true;
    for (auto &[buffer, copies] : buffers) {
      const BufferPlan *own = planOf.lookup(buffer);
      if (!own)
        continue;
      plan.buffers.push_back(buffer);
      isOneLoop &=
          own->loops.size() == 1 && (!other || own->loops == other->loops);
      other = own;
    }
    if (!other)
      continue;
    plan.loop = other->loops.front();
    bool isComplete = llvm::all_of(buffers, [&](auto &entry) {
      return planOf.contains(entry.first) ||
             llvm::none_of(entry.second, [&](Operation *copy) {
               return plan.loop->isProperAncestor(copy);
             });
    });
    std::optional<std::string> reason = planner.plan(plan);
    if (!reason && plan.hasSlots)
      continue;
    if (!reason && !isOneLoop)
      reason = "copies into buffers of several loops complete on the mbarrier; "
               "use an mbarrier for each loop";
    if (!reason && !isComplete)
      reason = "copies into a buffer that is not multi-buffered complete on "
               "the mbarrier; use another mbarrier for these copies";
    if (reason)
      drop(barriers, *reason);
    else
      barrierPlans.push_back(std::move(plan));
  }
  DenseSet<Value> planned;
  for (const BarrierPlan &plan : barrierPlans)
    planned.insert(plan.barriers);
  while (!worklist.empty()) {
    Value barriers = worklist.pop_back_val();
    if (planned.contains(barriers))
      drop(barriers, "copies into a buffer that is not multi-buffered complete "
                     "on the mbarrier; use another mbarrier for these copies");
  }
  llvm::erase_if(barrierPlans, [&](const BarrierPlan &plan) {
    return dropped.contains(plan.barriers);
  });
  llvm::erase_if(plans, [&](const BufferPlan &plan) {
    return dropped.contains(plan.buffer);
  });
  return missed;
}

/// Whether the copy already writes the slot of its iteration.
static bool writesSlot(AsyncCopyOpInterface copy, scf::ForOp loop) {
  Operation *op = copy;
  for (Value view = copy.getCopyDestination(); op; op = view.getDefiningOp()) {
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return operand.getType().isIndex() &&
                 matchIterationSlot(operand, loop).has_value();
        }))
      return true;
    if (op == copy)
      continue;
    auto window = dyn_cast<ViewLikeOpInterface>(op);
    if (!window)
      return false;
    view = window.getViewSource();
  }
  return false;
}

/// Drops the plans of buffers that a loop copies to asynchronously, if the loop
/// also copies to a buffer without slots: smalti-pipeline-loops prefetches all
/// copies of a loop or none. Returns whether one was refused under `strict`.
bool SmaltiMultiBuffer::dropPartialLoops() {
  DenseSet<Value> planned;
  for (const BufferPlan &plan : plans)
    planned.insert(plan.buffer);
  DenseMap<scf::ForOp, DenseSet<Value>> copied;
  DenseMap<scf::ForOp, Value> withoutSlots;
  getOperation()->walk([&](AsyncCopyOpInterface copy) {
    auto loop = copy->getParentOfType<scf::ForOp>();
    Value destination = copy.getCopyDestination();
    if (!loop || !destination)
      return;
    Value buffer = getRootBuffer(destination);
    copied[loop].insert(buffer);
    if (!planned.contains(buffer) && !writesSlot(copy, loop))
      withoutSlots.try_emplace(loop, buffer);
  });
  bool missed = false;
  ValueNames names(getOperation());
  llvm::erase_if(plans, [&](const BufferPlan &plan) {
    for (scf::ForOp loop : plan.loops) {
      Value other = withoutSlots.lookup(loop);
      if (!other || !copied[loop].contains(plan.buffer))
        continue;
      missed |= failed(reportMissed(
          plan.op, kPassName, strict,
          "buffer not multi-buffered: the loop also copies to " +
              names.get(other) +
              ", which has one slot; smalti-pipeline-loops prefetches the "
              "copies of a loop only if all of them have slots"));
      return true;
    }
    return false;
  });
  return missed;
}

/// The bytes of shared memory that the function needs if every planned buffer
/// has its slots, or `slots` of them if its plan does not state a number. An
/// mbarrier has as many slots as its buffers.
int64_t SmaltiMultiBuffer::getBytes(int64_t slots) {
  DenseMap<Value, MemRefType> types;
  DenseMap<Value, int64_t> depths;
  for (const BufferPlan &plan : plans) {
    int64_t depth =
        plan.depth ? plan.depth : std::min(slots, plan.getMostSlots());
    depths[plan.buffer] = depth;
    types[plan.buffer] = plan.getType(depth);
  }
  for (const BarrierPlan &plan : barrierPlans) {
    int64_t depth = 1;
    for (Value buffer : plan.buffers)
      depth = std::max(depth, depths.lookup(buffer));
    types[plan.barriers] = plan.getType(depth);
  }
  return getSharedMemoryBytes(
      getOperation(), [&](Value buffer) { return types.lookup(buffer); });
}

/// Sets the number of slots of every plan, or drops all plans: slots of only
/// some buffers of a loop do not allow any overlap.
LogicalResult SmaltiMultiBuffer::chooseDepths(const targets::Target *chip) {
  if (plans.empty() || !chip)
    return success();
  auto refuse = [&](const Twine &reason) {
    bool missed = false;
    for (const BufferPlan &plan : plans)
      missed |= failed(reportMissed(plan.op, kPassName, strict,
                                    "buffer not multi-buffered: " + reason));
    plans.clear();
    return failure(missed);
  };
  if (auto unknown = describeUnknownSize(placeSharedMemory(getOperation())))
    return refuse(*unknown + ", so no number of slots is proven to fit on " +
                  chip->name);
  bool isAutomatic = llvm::any_of(
      plans, [](const BufferPlan &plan) { return plan.depth == 0; });
  int64_t chosen = isAutomatic ? kMaxAutomaticSlots : 2;
  int64_t bytes = getBytes(chosen), needed = 0;
  while (bytes > chip->sharedMemoryPerBlock && chosen > 2) {
    needed = bytes;
    bytes = getBytes(--chosen);
  }
  auto has = [&] {
    return "; " + chip->name.str() + " has " +
           std::to_string(chip->sharedMemoryPerBlock) + " B per block";
  };
  if (bytes <= chip->sharedMemoryPerBlock) {
    for (BufferPlan &plan : plans) {
      if (plan.depth != 0)
        continue;
      int64_t most = plan.getMostSlots();
      plan.depth = std::min(chosen, most);
      if (most <= chosen)
        plan.limit = "the trip count is " + std::to_string(most);
      else if (needed != 0)
        plan.limit = std::to_string(chosen + 1) + " slots per buffer need " +
                     std::to_string(needed) + " B of shared memory" + has();
      else
        plan.limit =
            std::to_string(chosen) + " slots are the maximum of depth=auto";
    }
    llvm::erase_if(plans,
                   [](const BufferPlan &plan) { return plan.depth < 2; });
    return success();
  }
  bool hasOneDepth = llvm::all_of(plans, [&](const BufferPlan &plan) {
    return plan.depth == slots || plan.depth == 0;
  });
  std::string demand =
      hasOneDepth ? std::to_string(slots ? slots : chosen) + " slots per buffer"
                  : "the requested slots of all buffers";
  return refuse(demand + " need " + std::to_string(bytes) +
                " B of shared memory" + has() +
                (hasOneDepth && (slots ? slots : chosen) == 2
                     ? ", so use smaller buffers"
                     : ", so use fewer slots or smaller buffers"));
}

void SmaltiMultiBuffer::runOnOperation() {
  FunctionOpInterface function = getOperation();
  if (function.isExternal())
    return;
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip) || failed(readDepth(*chip)))
    return signalPassFailure();

  plans.clear();
  barrierPlans.clear();
  // Everything is planned before the first change.
  UniformityAnalysis uniformity(function);
  bool missed = planBuffers(*chip, uniformity);
  // Buffers that are dropped may share an mbarrier with other buffers.
  for (size_t before = plans.size() + 1; plans.size() < before;) {
    barrierPlans.clear();
    missed |= planBarriers(*chip, uniformity);
    before = plans.size();
    missed |= dropPartialLoops();
  }
  if (failed(chooseDepths(*chip)) || missed)
    return signalPassFailure();

  DenseMap<Value, int64_t> depths;
  SmallVector<std::pair<AsyncCopyOpInterface, int64_t>> copiedBytes;
  for (const BufferPlan &plan : plans) {
    depths[plan.buffer] = plan.depth;
    for (Operation *user : plan.uses.users)
      if (auto copy = dyn_cast<AsyncCopyOpInterface>(user))
        copiedBytes.emplace_back(copy, copy.getBytesOfThread());
  }
  for (BarrierPlan &plan : barrierPlans) {
    for (Value buffer : plan.buffers)
      plan.depth = std::max(plan.depth, depths.lookup(buffer));
    if (plan.depth < 2)
      continue;
    int64_t bytes = *getBufferBytes(plan.getType(1));
    remarkApplied(plan.op, kPassName)
        << "mbarrier multi-buffered: " << plan.depth << " slots of " << bytes
        << " B, " << plan.depth * bytes << " B in total";
    commitBarriers(plan);
  }
  for (const BufferPlan &plan : plans) {
    remarkApplied(plan.op, kPassName)
        << "buffer multi-buffered: " << plan.depth << " slots of "
        << plan.slotBytes << " B, " << plan.depth * plan.slotBytes
        << " B in total"
        << (plan.limit.empty() ? "" : "; no more slots: " + plan.limit);
    commitBuffer(plan);
  }
  // The size of the buffer may have determined how many bytes a copy writes.
  for (auto [copy, bytes] : copiedBytes)
    if (copy.getBytesOfThread() != bytes)
      copy->setAttr(
          kCopiedBytesAttr,
          IntegerAttr::get(IntegerType::get(&getContext(), 64), bytes));
}
