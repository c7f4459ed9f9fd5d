//===- PlaceBarriers.cpp - smalti-place-barriers --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/passes/Synchronization/FunctionProgram.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIPLACEBARRIERS
#define GEN_PASS_DEF_SMALTIPLACEBARRIERS
#include "smalti/passes/Synchronization/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-place-barriers";
/// The maximum number of global-memory hazards that remarks name.
static constexpr unsigned kMaxGlobalHazards = 16;

/// The consequence of an op that the pass cannot analyze.
static std::string describeUnordered(Operation *op) {
  return "no barrier inserted to order " + quote(op) + " with other accesses";
}

namespace {

struct SmaltiPlaceBarriers
    : smalti::impl::SmaltiPlaceBarriersBase<SmaltiPlaceBarriers> {
  using SmaltiPlaceBarriersBase::SmaltiPlaceBarriersBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiPlaceBarriersBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }

  void runOnOperation() override;
};

/// The changes to a function.
class Plan {
public:
  Plan(FunctionOpInterface function, const targets::Target *chip, bool insert);

  /// Reports the hazards that no barrier orders.
  LogicalResult reportHazards(bool strict) const;
  void report() const;
  void commit();

private:
  std::string describeOrder(const sync::Placement::Barrier &barrier) const;
  std::string explainUnordered(sync::NodeId node) const;
  bool isWeakened(const sync::Placement::Barrier &barrier) const;
  /// The op that a new barrier before the node precedes.
  Operation *getInsertionPoint(sync::NodeId node) const {
    // The code after the function does not have an op.
    Operation *op = description.ops[node];
    return op ? op : function.getFunctionBody().front().getTerminator();
  }

  mutable FunctionOpInterface function;
  FunctionProgram description;
  sync::Placement placement;
  /// New barriers that order shared memory only have their own op.
  bool useShared;
};

} // namespace

/// Whether all barriers of the function order shared memory only.
static bool hasOnlySharedBarriers(const FunctionProgram &program) {
  bool any = false;
  for (Operation *op : program.ops)
    if (auto barrier = dyn_cast_or_null<BlockBarrierOpInterface>(op)) {
      if (barrier.ordersGlobalMemory())
        return false;
      any = true;
    }
  return any;
}

Plan::Plan(FunctionOpInterface function, const targets::Target *chip,
           bool insert)
    : function(function), description(function, chip) {
  useShared = (chip && chip->barrier == targets::BarrierKind::SplitBarrier) ||
              hasOnlySharedBarriers(description);
  sync::Options options;
  options.required = insert && !description.unmodeledSynchronization
                         ? sync::kShared
                         : sync::kNoSpaces;
  options.weaken = useShared;
  options.findUnordered = true;
  placement = sync::placeBarriers(description.program, options);
}

/// Why no barrier orders a hazard at the node.
std::string Plan::explainUnordered(sync::NodeId node) const {
  if (description.program[node].hasUnknownOrder) {
    Operation *op = description.ops[node];
    return "no barrier is placed, because the control flow of " + quote(op) +
           " is unknown; convert it to scf.for, scf.while or scf.if";
  }
  for (sync::NodeId around = node; around != sync::Program::kRoot;) {
    around = description.program[around].parent;
    auto reason = description.divergenceReasons.find(description.ops[around]);
    if (reason != description.divergenceReasons.end())
      return reason->second + ", so no barrier can be placed inside; make it "
                              "uniform, or move one access outside";
  }
  if (description.unmodeledSynchronization)
    return quote(description.unmodeledSynchronization) +
           " may synchronize threads, so no barrier is inserted; if it does "
           "not "
           "order the accesses, insert a gpu.barrier between them";
  return "the option insert=false disables the insertion of barriers; use "
         "insert=true, or insert a gpu.barrier between the accesses";
}

LogicalResult Plan::reportHazards(bool strict) const {
  bool missed = false;
  auto report = [&](Operation *op, const Twine &reason) {
    missed |= failed(reportMissed(op, kPassName, strict, reason));
  };
  unsigned global = 0;
  for (const sync::Hazard &hazard : placement.unordered) {
    std::string text =
        "possible data race: " + description.describe(hazard.first) + " and " +
        description.describe(hazard.second) +
        " of different threads may access the same ";
    if (hazard.spaces == sync::kShared)
      report(description.ops[hazard.second],
             text + "memory; " + explainUnordered(hazard.second));
    else if (++global <= kMaxGlobalHazards)
      remarkAnalysis(description.ops[hazard.second], kPassName)
          << text
          << "global memory, and no barrier orders the accesses; the pass "
             "inserts "
             "barriers for shared memory only, so insert a gpu.barrier if they "
             "conflict";
  }
  for (auto [copy, step] : description.inFlight)
    report(description.ops[step],
           "possible data race: " + description.describe(step) +
               " may access memory that " + description.describe(copy) +
               " writes, and no wait between them is proven to complete the "
               "copy; add a wait and a barrier");
  for (auto &[barrier, reason] : description.fixed)
    report(barrier, "barrier neither removed nor weakened: " + reason);
  for (auto &[op, reason] : description.opaque)
    if (op != description.unmodeledSynchronization)
      report(op, describeUnordered(op) + ": " + reason);
  if (description.unmodeledSynchronization)
    report(description.unmodeledSynchronization,
           "no barrier inserted in this function: " +
               quote(description.unmodeledSynchronization) +
               " may synchronize threads, and the pass cannot determine which "
               "accesses it orders; insert a gpu.barrier where a barrier is "
               "missing");
  return failure(missed);
}

std::string Plan::describeOrder(const sync::Placement::Barrier &barrier) const {
  if (barrier.first == barrier.node && barrier.second == barrier.node)
    return "the search for the accesses that it orders reached its step limit, "
           "so the barrier may be redundant";
  for (sync::NodeId node : {barrier.first, barrier.second})
    if (auto it = description.unknown.find(node);
        it != description.unknown.end() && !it->second.empty())
      return it->second;
  return "it orders " + description.describe(barrier.first) + " before " +
         description.describe(barrier.second) +
         (barrier.isOfMany ? "; the buffer has more accesses than the pass "
                             "distinguishes, so the barrier may be redundant"
                           : "");
}

bool Plan::isWeakened(const sync::Placement::Barrier &barrier) const {
  return barrier.orders == sync::kShared &&
         cast<BlockBarrierOpInterface>(description.ops[barrier.node])
             .ordersGlobalMemory();
}

void Plan::report() const {
  unsigned weakened = 0;
  for (sync::NodeId node : placement.removed)
    remarkApplied(description.ops[node], kPassName)
        << "barrier removed: other barriers order every hazard that it orders";
  for (const sync::Placement::Barrier &barrier : placement.kept) {
    if (description.fixed.contains(description.ops[barrier.node]))
      continue;
    if (isWeakened(barrier)) {
      ++weakened;
      remarkApplied(description.ops[barrier.node], kPassName)
          << "barrier weakened to shared memory only: "
          << describeOrder(barrier);
      continue;
    }
    remarkAnalysis(description.ops[barrier.node], kPassName)
        << "barrier kept: " << describeOrder(barrier);
  }
  for (const sync::Placement::Barrier &barrier : placement.inserted)
    remarkApplied(getInsertionPoint(barrier.node), kPassName)
        << "barrier inserted: " << describeOrder(barrier);
  if (size_t number = description.getNumUndistinguished();
      number != 0 && !(placement.kept.empty() && placement.inserted.empty()))
    remarkAnalysis(function, kPassName)
        << "some barriers may be redundant: the pass compares at most "
        << Footprints::kMax
        << " different mappings of threads to elements, which the index "
           "expressions of the accesses compute from the thread id; "
        << number
        << (number == 1 ? " access with another mapping is"
                        : " accesses with other mappings are")
        << " assumed to conflict between threads; use fewer different index "
           "expressions, or split the kernel";
  size_t kept = placement.kept.size(), removed = placement.removed.size(),
         inserted = placement.inserted.size();
  if (kept + removed + inserted == 0)
    return;
  bool changed = removed + inserted + weakened > 0;
  RemarkBuilder remark = changed ? remarkApplied(function, kPassName)
                                 : remarkAnalysis(function, kPassName);
  remark << removed << (removed == 1 ? " barrier" : " barriers") << " removed, "
         << inserted << " inserted, " << kept << " kept";
  if (weakened)
    remark << ", " << weakened << " of them weakened to shared memory only";
}

void Plan::commit() {
  OpBuilder builder(function.getContext());
  auto create = [&](Operation *before, Location loc, sync::Spaces orders) {
    builder.setInsertionPoint(before);
    if (useShared && orders == sync::kShared)
      amdgpu::LDSBarrierOp::create(builder, loc);
    else
      gpu::BarrierOp::create(builder, loc);
  };
  for (const sync::Placement::Barrier &barrier : placement.inserted) {
    Operation *op = getInsertionPoint(barrier.node);
    create(op, op->getLoc(), barrier.orders);
  }
  for (const sync::Placement::Barrier &barrier : placement.kept) {
    if (!isWeakened(barrier))
      continue;
    Operation *op = description.ops[barrier.node];
    create(op, op->getLoc(), barrier.orders);
    op->erase();
  }
  for (sync::NodeId node : placement.removed)
    description.ops[node]->erase();
}

/// For a function with unstructured control flow, reports the first barrier,
/// the first access to shared memory and the first op with unknown effects.
static LogicalResult reportUnstructured(FunctionOpInterface function,
                                        bool strict) {
  static constexpr llvm::StringLiteral kReason =
      "the function has branches between MLIR blocks; use scf.for, scf.while "
      "or "
      "scf.if";
  bool missed = false;
  auto report = [&](Operation *op, const Twine &what, StringRef why = "") {
    missed |= failed(reportMissed(op, kPassName, strict,
                                  what + ": " + why +
                                      (why.empty() ? "" : ", and ") + kReason));
  };
  Operation *barrier = nullptr, *access = nullptr, *opaque = nullptr;
  std::string why;
  function->walk([&](Operation *op) {
    if (isa<BlockBarrierOpInterface>(op)) {
      barrier = barrier ? barrier : op;
      return;
    }
    // Nested ops are visited on their own.
    if (op == function || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        (op->hasTrait<OpTrait::IsTerminator>() &&
         !isa<MemoryEffectOpInterface>(op)))
      return;
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (effects && (effects.onlyHasEffect<MemoryEffects::Allocate>() ||
                    effects.onlyHasEffect<MemoryEffects::Free>()))
      return;
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (!collectAccesses(op, accesses, reason) && !opaque) {
      opaque = op;
      why = reason;
    }
    if (!access && llvm::any_of(accesses, [](const MemoryAccess &memory) {
          return memory.space == MemorySpace::Shared;
        }))
      access = op;
  });
  if (barrier)
    report(barrier, "barriers not changed");
  if (access)
    report(access, describeUnordered(access));
  if (opaque)
    report(opaque, describeUnordered(opaque), why);
  return failure(missed);
}

void SmaltiPlaceBarriers::runOnOperation() {
  FunctionOpInterface function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  if (function.isExternal())
    return;
  if (!function.getFunctionBody().hasOneBlock()) {
    if (failed(reportUnstructured(function, strict)))
      signalPassFailure();
    return;
  }
  bool missed = false;
  function->walk([&](gpu::LaunchOp launch) {
    missed |= failed(reportMissed(
        launch, kPassName, strict,
        "barriers in the launch body not changed: the body is not a function; "
        "run 'gpu-kernel-outlining' first"));
  });
  if (missed)
    return signalPassFailure();
  Plan plan(function, *chip, insert);
  if (failed(plan.reportHazards(strict)))
    return signalPassFailure();
  plan.report();
  plan.commit();
}
