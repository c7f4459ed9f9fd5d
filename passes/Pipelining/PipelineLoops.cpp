//===- PipelineLoops.cpp - smalti-pipeline-loops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Pipelining/SplitConditionals.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/passes/Support/ValueNames.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/ScopeExit.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIPIPELINELOOPS
#define GEN_PASS_DEF_SMALTIPIPELINELOOPS
#include "smalti/passes/Pipelining/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-pipeline-loops";

/// The maximum number of ops that the pass creates in a function. Copies of an
/// inner loop multiply with the stages of each loop around it.
static constexpr int64_t kMaxCreatedOps = int64_t(1) << 17;

/// An upper bound of the ops that pipelining creates. Each op of the loop is
/// once in the kernel, `stages - 1` times in the prologue and epilogue
/// together, and once in the fallback of a guard.
static int64_t countCreatedOps(const LoopSchedule &schedule) {
  int64_t ops = 0;
  scf::ForOp loop = schedule.loop;
  loop.getBody()->walk([&](Operation *) { ++ops; });
  return ops * (schedule.stages - 1 + schedule.isGuarded());
}

/// Upstream's conversion of scf.for moves the attribute to the branch of LLVM.
static constexpr llvm::StringLiteral kLoopAnnotation = "loop_annotation";

/// The registers of all results in a loop body that is small enough to unroll.
static constexpr int64_t kMaxUnrolledRegisters = 256;

/// Whether prefetched values move between registers in each iteration, and
/// copies of the kernel, one per stage, avoid that at a moderate size. The
/// copies must not contain barriers or exchanges between lanes, since LLVM
/// cannot unroll these for every trip count.
static bool movesReads(const LoopSchedule &schedule,
                       const RegisterModel &model) {
  scf::ForOp loop = schedule.loop;
  if (schedule.mode != PipelineMode::Stream || loop->hasAttr(kLoopAnnotation) ||
      llvm::any_of(schedule.buffers, [](const LoopBuffer &buffer) {
        return buffer.space == MemorySpace::Shared;
      }))
    return false;
  int64_t registers = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (op.getNumRegions() != 0 || isa<LaneExchangeOpInterface>(op))
      return false;
    bool isVector =
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<VectorType>);
    if (isVector && isMemoryEffectFree(&op) &&
        !op.hasTrait<OpTrait::Elementwise>() &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return false;
    for (Value result : op.getResults())
      registers += model.count(result);
  }
  return registers <= kMaxUnrolledRegisters;
}

/// Requests that LLVM unrolls a loop.
static void requestUnrolling(scf::ForOp loop, int64_t count) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/{},
      Builder(context).getI32IntegerAttr(static_cast<int32_t>(count)),
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  loop->setAttr(kLoopAnnotation,
                LLVM::LoopAnnotationAttr::get(
                    context, /*disableNonforced=*/{}, /*vectorize=*/{},
                    /*interleave=*/{}, unroll, /*unrollAndJam=*/{}, /*licm=*/{},
                    /*distribute=*/{}, /*pipeline=*/{}, /*peeled=*/{},
                    /*unswitch=*/{}, /*mustProgress=*/{}, /*isVectorized=*/{},
                    /*startLoc=*/{}, /*endLoc=*/{}, /*parallelAccesses=*/{}));
}

/// Emits the applied remark with the numbers of the schedule.
static void reportApplied(const LoopSchedule &schedule, StringRef did,
                          bool isUnrolled = false) {
  llvm::SetVector<Value> roots;
  for (const LoopBuffer &buffer : schedule.buffers)
    if (buffer.space == MemorySpace::Shared && !buffer.isBarrierObject)
      collectRootBuffers(buffer.root, roots);
  // Two names of one global are one buffer.
  llvm::SmallDenseSet<const void *, 8> seen;
  unsigned buffers = 0;
  int64_t bytes = 0;
  for (Value root : roots) {
    if (!seen.insert(getAliasClass(root).identity).second)
      continue;
    ++buffers;
    if (auto type = dyn_cast<MemRefType>(root.getType()))
      bytes += getBufferBytes(type).value_or(0);
  }
  auto count = [](size_t number, const char *one, const char *many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
  };
  remarkApplied(schedule.loop, kPassName)
      << did << count(schedule.stages, "stage", "stages") << ", "
      << toString(schedule.mode) << " mode, "
      << (schedule.mode == PipelineMode::Async
              ? count(schedule.numPrefetched, "copy", "copies")
              : count(schedule.numPrefetched, "read", "reads"))
      << " prefetched; " << count(buffers, "shared buffer", "shared buffers")
      << ", " << bytes << " B; "
      << count(schedule.countKernelBarriers(), "barrier", "barriers")
      << " per iteration; "
      << (schedule.tripCount
              ? "trip count " + std::to_string(*schedule.tripCount)
              : std::string("run-time guard on the trip count"))
      << (schedule.limits.empty()
              ? ""
              : "; run-time guard on overflow of the slot counter")
      << (schedule.clampedFrom
              ? "; fewer than the " + std::to_string(schedule.clampedFrom) +
                    " requested stages"
              : std::string())
      << (isUnrolled ? "; unrolling by " + std::to_string(schedule.stages) +
                           " requested, to avoid moves between registers"
                     : std::string())
      << (schedule.limit.empty() ? "" : "; no more stages: " + schedule.limit)
      << schedule.comparisonLimit;
}

/// A group without operands is printed as the bare name of its op, and
/// upstream's parser then parses the result of the next op as a copy. An
/// attribute separates the two.
static void separateGroups(Operation *function) {
  function->walk([](nvgpu::DeviceAsyncCreateGroupOp group) {
    if (group->getNumOperands() == 0 && group->getAttrs().empty())
      group->setAttr(kAllCopiesAttr, UnitAttr::get(group->getContext()));
  });
}

namespace {

struct SmaltiPipelineLoops
    : smalti::impl::SmaltiPipelineLoopsBase<SmaltiPipelineLoops> {
  using SmaltiPipelineLoopsBase::SmaltiPipelineLoopsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiPipelineLoopsBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }

  void runOnOperation() override;
};

} // namespace

void SmaltiPipelineLoops::runOnOperation() {
  FunctionOpInterface function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  if (auto wrong = checkAtMost("stages", stages, kMaxStages)) {
    function->emitError() << kPassName << ": " << *wrong;
    return signalPassFailure();
  }
  // Outer loops first: a loop inside a pipelined one is part of a stage as a
  // whole, and its copies are candidates afterwards.
  struct Candidate {
    scf::ForOp loop;
    bool isCopy; ///< created by pipelining another loop
  };
  SmallVector<Candidate> worklist;
  auto addLoopsIn = [&](Operation *parent, bool isCopy) {
    size_t size = worklist.size();
    for (Region &region : parent->getRegions())
      region.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        worklist.push_back({loop, isCopy});
        return WalkResult::skip();
      });
    std::reverse(worklist.begin() + size, worklist.end());
  };
  ValueNames names(function);
  ScheduleOptions options;
  options.names = &names;
  // If the chip is unknown, its waves may have 64 lanes.
  UniformityAnalysis uniformity(function, *chip ? (*chip)->waveSize : 64);
  options.uniformity = &uniformity;
  IntegerRanges ranges(function);
  options.ranges = &ranges;
  // After ops are created or erased: new ops may reuse addresses.
  auto invalidateAnalyses = [&] {
    uniformity.reset();
    ranges.reset();
  };
  options.stages = stages.getValue();
  options.mode = mode;
  options.useSchedule = useSchedule;
  std::optional<RegisterModel> registerModel;
  if (*chip) {
    registerModel.emplace(function, **chip);
    options.registers = (*chip)->registersPerThread;
    options.chip = (*chip)->name.str();
    options.registerModel = &*registerModel;
    options.countsGroups =
        (*chip)->asyncCopy == targets::AsyncCopyKind::LDSLoad ||
        (*chip)->asyncCopy == targets::AsyncCopyKind::AsyncLDSLoad;
  }
  if (auto wrong = readScheduleAttributes(function, options)) {
    function->emitError() << kPassName << ": " << *wrong;
    return signalPassFailure();
  }
  bool missed = false;
  int64_t created = 0;
  auto makeBoundedSchedule = [&](scf::ForOp loop, std::string &reason) {
    std::optional<LoopSchedule> schedule = makeSchedule(loop, options, reason);
    if (!schedule || emitSchedule)
      return schedule;
    int64_t more = countCreatedOps(*schedule);
    if (more <= kMaxCreatedOps - created)
      return schedule;
    reason = std::to_string(schedule->stages) + " stages would create " +
             std::to_string(more) + " ops, in addition to " +
             std::to_string(created) +
             " ops for other loops of the function; the limit per function "
             "is " +
             std::to_string(kMaxCreatedOps) + ", so use fewer stages";
    return std::optional<LoopSchedule>();
  };
  if (options.stages.getOr(2) != 1)
    function->walk([&](LoopLikeOpInterface loop) {
      if (isa<scf::ForOp>(loop.getOperation()) ||
          loop->hasTrait<OpTrait::HasParallelRegion>() ||
          getInteger(loop->getAttr(kStagesAttr)) == 1)
        return;
      missed |= failed(reportMissed(loop, kPassName, strict,
                                    "loop not pipelined: the loop is an " +
                                        quote(loop) +
                                        "; only scf.for loops are supported"));
    });
  // `isTrial`: the function must not change.
  auto plan = [&](Candidate candidate, bool isTrial) {
    scf::ForOp loop = candidate.loop;
    options.isCopy = candidate.isCopy;
    std::string reason;
    std::optional<LoopSchedule> schedule;
    {
      ConditionalSplitter splitter(loop);
      llvm::scope_exit forget([&, hasSplit = splitter.hasSplit()] {
        if (hasSplit)
          invalidateAnalyses();
      });
      if (splitter.hasSplit())
        invalidateAnalyses();
      schedule = makeBoundedSchedule(loop, reason);
      if (splitter.hasSplit())
        names.reset();
      if (schedule && !isTrial)
        splitter.keep();
      else if (!schedule && splitter.hasSplit()) {
        splitter.undo();
        invalidateAnalyses();
        schedule = makeBoundedSchedule(loop, reason);
      }
    }
    if (!schedule && !reason.empty())
      missed |= failed(reportMissed(loop, kPassName, strict,
                                    "loop not pipelined: " + reason));
    return schedule;
  };
  // Under `strict`, errors are found before the first change.
  if (strict) {
    addLoopsIn(function, /*isCopy=*/false);
    while (!worklist.empty()) {
      Candidate candidate = worklist.pop_back_val();
      plan(candidate, /*isTrial=*/true);
      addLoopsIn(candidate.loop, candidate.isCopy);
    }
    if (missed)
      return signalPassFailure();
  }
  // If barriers wait for outstanding reads, one that orders shared memory only
  // keeps the reads in flight.
  bool prefersSharedBarrier =
      *chip && (*chip)->barrier == targets::BarrierKind::SplitBarrier;
  // Only those barriers can leave copies in flight (smalti-overlap-lds-dma).
  bool copiesPreferSharedBarrier =
      *chip && (*chip)->asyncCopy == targets::AsyncCopyKind::LDSLoad;
  int64_t mostStages = 1;
  addLoopsIn(function, /*isCopy=*/false);
  while (!worklist.empty()) {
    Candidate candidate = worklist.pop_back_val();
    std::optional<LoopSchedule> schedule = plan(candidate, /*isTrial=*/false);
    if (!schedule) {
      addLoopsIn(candidate.loop, candidate.isCopy);
      continue;
    }
    if (emitSchedule) {
      reportApplied(*schedule, "schedule written: ");
      annotateSchedule(*schedule, names);
      addLoopsIn(candidate.loop, candidate.isCopy);
      continue;
    }
    bool isUnrolled = registerModel && movesReads(*schedule, *registerModel);
    reportApplied(*schedule, "loop pipelined: ", isUnrolled);
    created += countCreatedOps(*schedule);
    names.forget(candidate.loop);
    invalidateAnalyses();
    ExpandedLoop expanded =
        applySchedule(*schedule, schedule->onlySharedHazards &&
                                     (prefersSharedBarrier ||
                                      (copiesPreferSharedBarrier &&
                                       schedule->mode == PipelineMode::Async)));
    if (isUnrolled)
      requestUnrolling(expanded.kernel, schedule->stages);
    if (expanded.plain)
      addLoopsIn(expanded.plain, candidate.isCopy);
    for (scf::ForOp inner : llvm::reverse(expanded.innerLoops))
      worklist.push_back({inner, /*isCopy=*/true});
    mostStages = std::max(mostStages, schedule->stages);
  }
  if (mostStages > 1)
    separateGroups(function);
  if (!emitSchedule && function->hasAttr(kStagesAttr))
    function->setAttr(kPipelinedStagesAttr,
                      Builder(&getContext()).getI64IntegerAttr(mostStages));
  if (missed)
    signalPassFailure();
}
