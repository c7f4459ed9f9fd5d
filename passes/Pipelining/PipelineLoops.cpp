//===- PipelineLoops.cpp - smalti-pipeline-loops --------------------------===//

#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Pipelining/LoopSchedule.h"
#include "passes/Support/MemorySize.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSwitch.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIPIPELINELOOPS
#define GEN_PASS_DEF_SMALTIPIPELINELOOPS
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-pipeline-loops";

static std::optional<PipelineMode> parseMode(StringRef text) {
  return llvm::StringSwitch<std::optional<PipelineMode>>(text)
      .Case("auto", PipelineMode::Auto)
      .Case("stream", PipelineMode::Stream)
      .Case("async", PipelineMode::Async)
      .Default(std::nullopt);
}

/// What the loop became, in one sentence with its numbers.
static void reportApplied(const LoopSchedule &schedule, StringRef did) {
  unsigned buffers = 0;
  int64_t bytes = 0;
  for (const LoopBuffer &buffer : schedule.buffers) {
    if (buffer.space != MemorySpace::Shared || buffer.isBarrierObject)
      continue;
    ++buffers;
    if (auto type = dyn_cast<MemRefType>(buffer.root.getType()))
      bytes += getBufferBytes(type).value_or(0);
  }
  size_t barriers = llvm::count_if(schedule.barriers, [](const Place &place) {
    return place.part == Part::Kernel;
  });
  auto count = [](size_t number, const char *one, const char *many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
  };
  remarkApplied(schedule.loop, kPassName)
      << did << count(schedule.stages, "stage", "stages") << " in "
      << toString(schedule.mode) << " mode: "
      << (schedule.mode == PipelineMode::Async
              ? count(schedule.readsAhead, "copy", "copies")
              : count(schedule.readsAhead, "read", "reads"))
      << " ahead, " << count(buffers, "shared buffer", "shared buffers")
      << " of " << bytes << " B, " << count(barriers, "barrier", "barriers")
      << " an iteration, "
      << (schedule.tripCount
              ? count(*schedule.tripCount, "iteration", "iterations")
              : std::string("a guard for the number of iterations"));
}

namespace {

struct PipelineLoopsPass
    : smalti::impl::SmaltiPipelineLoopsBase<PipelineLoopsPass> {
  using SmaltiPipelineLoopsBase::SmaltiPipelineLoopsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiPipelineLoopsBase::getDependentDialects(registry);
    registerLoopInterfaceModels(registry);
  }

  void runOnOperation() override;
};

} // namespace

void PipelineLoopsPass::runOnOperation() {
  Operation *function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  std::optional<PipelineMode> parsedMode = parseMode(mode);
  if (!parsedMode) {
    function->emitError() << kPassName
                          << ": mode is auto, stream or async, not '"
                          << StringRef(mode) << "'";
    return signalPassFailure();
  }
  if (stages < 1 || stages > kMostStages) {
    function->emitError() << kPassName << ": stages must be between 1 and "
                          << kMostStages << ", not " << int64_t(stages);
    return signalPassFailure();
  }

  // Outer loops first: a loop inside one that is pipelined is part of a stage
  // as a whole, and its copies are loops like others afterwards.
  SmallVector<scf::ForOp> worklist;
  auto addLoopsIn = [&](Operation *parent) {
    size_t size = worklist.size();
    for (Region &region : parent->getRegions())
      region.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        worklist.push_back(loop);
        return WalkResult::skip();
      });
    std::reverse(worklist.begin() + size, worklist.end());
  };
  ScheduleOptions options = {stages, *parsedMode, useSchedule};
  auto plan = [&](scf::ForOp loop, bool &missed) {
    std::string reason;
    std::optional<LoopSchedule> schedule = makeSchedule(loop, options, reason);
    if (!schedule && !reason.empty())
      missed |= failed(reportMissed(loop, kPassName, strict,
                                    "the loop is not pipelined: " + reason));
    return schedule;
  };
  bool missed = false;
  // An error is found before anything changes.
  if (strict) {
    addLoopsIn(function);
    while (!worklist.empty()) {
      scf::ForOp loop = worklist.pop_back_val();
      plan(loop, missed);
      addLoopsIn(loop);
    }
    if (missed)
      return signalPassFailure();
  }
  // Where barriers wait for reads in flight, one that orders shared memory
  // alone keeps the reads ahead.
  bool prefersSharedBarrier =
      *chip && (*chip)->barrier == targets::BarrierKind::SplitBarrier;
  addLoopsIn(function);
  while (!worklist.empty()) {
    scf::ForOp loop = worklist.pop_back_val();
    std::optional<LoopSchedule> schedule = plan(loop, missed);
    if (!schedule) {
      addLoopsIn(loop);
      continue;
    }
    if (emitSchedule) {
      reportApplied(*schedule, "the loop got a schedule of ");
      annotateSchedule(*schedule);
      addLoopsIn(loop);
      continue;
    }
    reportApplied(*schedule, "the loop is pipelined with ");
    ExpandedLoop expanded = applySchedule(
        *schedule, prefersSharedBarrier && schedule->onlySharedHazards);
    if (expanded.plain)
      addLoopsIn(expanded.plain);
    llvm::append_range(worklist, llvm::reverse(expanded.innerLoops));
  }
  if (missed)
    signalPassFailure();
}
