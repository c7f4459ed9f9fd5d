//===- MultiBuffer.cpp - smalti-multi-buffer ------------------------------===//

#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Interfaces/MemoryAccess.h"
#include "passes/MultiBuffering/BufferSlots.h"
#include "passes/Resources/Estimate.h"
#include "passes/SharedMemory/SharedBuffers.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIMULTIBUFFER
#define GEN_PASS_DEF_SMALTIMULTIBUFFER
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-multi-buffer";
/// More slots than this only take room, where nobody asked for them.
static constexpr int64_t kMostAutomaticSlots = 16;

namespace {

struct MultiBufferPass : smalti::impl::SmaltiMultiBufferBase<MultiBufferPass> {
  using SmaltiMultiBufferBase::SmaltiMultiBufferBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiMultiBufferBase::getDependentDialects(registry);
    registerLoopInterfaceModels(registry);
  }

  void runOnOperation() override;

private:
  LogicalResult parseDepth(const targets::Target *chip);
  LogicalResult chooseDepths(const targets::Target *chip,
                             std::vector<BufferPlan> &plans);

  /// Slots of a buffer that no attribute gives a number; 0: as many as fit.
  int64_t slots = 0;
};

} // namespace

LogicalResult MultiBufferPass::parseDepth(const targets::Target *chip) {
  if (depth == "auto") {
    slots = 0;
    if (chip)
      return success();
    return getOperation()->emitError()
           << kPassName
           << ": depth=auto needs a target, whose shared memory bounds it";
  }
  if (!StringRef(depth).getAsInteger(10, slots) && slots >= 1 &&
      slots <= kMostSlots)
    return success();
  return getOperation()->emitError()
         << kPassName << ": depth must be auto or between 1 and " << kMostSlots
         << ", not " << StringRef(depth);
}

/// Bytes of shared memory where every plan's buffer has its slots, or `slots`
/// of them where it does not say.
static int64_t getBytes(Operation *function, ArrayRef<BufferPlan> plans,
                        int64_t slots) {
  DenseMap<Value, MemRefType> types;
  for (const BufferPlan &plan : plans)
    types[plan.buffer] = plan.getType(
        plan.depth ? plan.depth : std::min(slots, plan.getMostSlots()));
  return getSharedMemoryBytes(
      function, [&](Value buffer) { return types.lookup(buffer); });
}

/// Gives every plan its number of slots, or all of them none: half of a loop's
/// buffers with slots overlap nothing.
LogicalResult MultiBufferPass::chooseDepths(const targets::Target *chip,
                                            std::vector<BufferPlan> &plans) {
  Operation *function = getOperation();
  for (BufferPlan &plan : plans)
    if (plan.depth == 0)
      plan.depth = slots;
  llvm::erase_if(plans, [](const BufferPlan &plan) { return plan.depth == 1; });
  if (plans.empty() || !chip)
    return success();

  bool isAutomatic = llvm::any_of(
      plans, [](const BufferPlan &plan) { return plan.depth == 0; });
  int64_t chosen = isAutomatic ? kMostAutomaticSlots : 2;
  int64_t bytes = getBytes(function, plans, chosen);
  while (bytes > chip->sharedMemoryPerBlock && chosen > 2)
    bytes = getBytes(function, plans, --chosen);
  if (bytes <= chip->sharedMemoryPerBlock) {
    for (BufferPlan &plan : plans)
      if (plan.depth == 0)
        plan.depth = std::min(chosen, plan.getMostSlots());
    llvm::erase_if(plans,
                   [](const BufferPlan &plan) { return plan.depth < 2; });
    return success();
  }
  std::string reason =
      "the function needs " + std::to_string(bytes) + " B of shared memory ";
  if (llvm::all_of(plans, [&](const BufferPlan &plan) {
        return plan.depth == slots || plan.depth == 0;
      }))
    reason +=
        "with " + std::to_string(slots ? slots : chosen) + " slots a buffer";
  else
    reason += "with these slots of its buffers";
  reason += ", " + chip->name.str() + " has " +
            std::to_string(chip->sharedMemoryPerBlock) + " B";
  bool missed = false;
  for (const BufferPlan &plan : plans)
    missed |= failed(reportMissed(plan.op, kPassName, strict, reason));
  plans.clear();
  return failure(missed);
}

void MultiBufferPass::runOnOperation() {
  FunctionOpInterface function = getOperation();
  if (function.isExternal())
    return;
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip) || failed(parseDepth(*chip)))
    return signalPassFailure();

  bool missed = false;
  std::vector<BufferPlan> plans;
  SmallVector<Value> buffers = findSharedBuffers(function);
  function->walk([&](memref::GetGlobalOp global) {
    if (getMemorySpace(global) == MemorySpace::Shared)
      buffers.push_back(global);
  });
  for (Value buffer : buffers) {
    BufferPlan plan;
    plan.buffer = buffer;
    plan.op = getBufferOp(buffer);
    bool isCandidate;
    std::optional<std::string> reason =
        planBuffer(function, *chip, plan, isCandidate);
    if (!isCandidate || (slots == 1 && !reason && plan.depth == 0))
      continue;
    if (!reason)
      plans.push_back(std::move(plan));
    else if (slots != 1 && failed(reportMissed(plan.op, kPassName, strict,
                                               "the buffer " + *reason)))
      missed = true;
  }
  if (failed(chooseDepths(*chip, plans)) || missed)
    return signalPassFailure();

  for (const BufferPlan &plan : plans) {
    remarkApplied(plan.op, kPassName)
        << "the buffer got " << plan.depth << " slots of " << plan.slotBytes
        << " B, " << plan.depth * plan.slotBytes << " B in all";
    commitBuffer(plan);
  }
}
