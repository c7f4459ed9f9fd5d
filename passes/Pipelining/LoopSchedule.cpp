//===- LoopSchedule.cpp - Schedule of a pipelined loop --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/Scheduler.h"

#include "smalti/passes/Analysis/Resources/OverlapChoice.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

StringRef smalti::toString(PipelineMode mode) {
  switch (mode) {
  case PipelineMode::Auto:
    return "auto";
  case PipelineMode::Stream:
    return "stream";
  case PipelineMode::Async:
    return "async";
  }
  return "";
}

/// Whether duplicating the op for another stage is cheaper than carrying its
/// results: scalars that depend only on induction variables, and views, which
/// must not be carried.
bool Scheduler::isCloneable(const BodyOp &bodyOp) {
  auto it = cloneable.find(bodyOp.op);
  if (it != cloneable.end())
    return it->second;
  Operation *op = bodyOp.op;
  bool isView =
      op->getNumResults() != 0 &&
      llvm::all_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
  bool isReduction =
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>) &&
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
  auto isCheap = [&](Value operand) {
    // Operands are earlier in the block and already decided.
    if (Operation *def = getBodyOp(operand))
      return cloneable.lookup(def) ||
             (isView && !isa<BaseMemRefType>(operand.getType()));
    return operand.getType().isIntOrIndex();
  };
  bool isYielded =
      llvm::is_contained(op->getUsers(), loop.getBody()->getTerminator());
  bool result = bodyOp.isPure() && isMemoryEffectFree(op) && !isYielded &&
                !isReduction && llvm::all_of(operandsOf(op), isCheap);
  cloneable[op] = result;
  return result;
}

/// Places ops without side effects in the stages of their users.
Scheduler::Reason Scheduler::placePureOps() {
  for (const BodyOp &bodyOp : bodyOps)
    isCloneable(bodyOp);
  DenseMap<Operation *, SmallVector<Operation *>> users;
  for (const BodyOp &bodyOp : bodyOps)
    for (Value operand : operandsOf(bodyOp.op))
      if (Operation *def = getProducer(operand))
        users[def].push_back(bodyOp.op);

  // Ops that only the results of the loop need belong to the computation.
  llvm::DenseSet<Operation *> needed, fixed;
  SmallVector<Operation *> sources;
  for (auto &[op, unused] : positions) {
    fixed.insert(op);
    sources.push_back(op);
  }
  while (!sources.empty())
    for (Value operand : operandsOf(sources.pop_back_val()))
      if (Operation *def = getProducer(operand);
          def && needed.insert(def).second)
        sources.push_back(def);
  for (const BodyOp &bodyOp : bodyOps)
    if (!needed.contains(bodyOp.op) && fixed.insert(bodyOp.op).second)
      positions[bodyOp.op] = {compute};

  // The others are placed with their users. Loop-carried values form cycles:
  // repeat until a fixed point; positions only grow, so this terminates.
  SetVector<Operation *> worklist;
  for (const BodyOp &bodyOp : bodyOps)
    worklist.insert(bodyOp.op);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (fixed.contains(op))
      continue;
    std::set<Position> wanted;
    for (Operation *user : users[op])
      if (auto it = positions.find(user); it != positions.end())
        wanted.insert(it->second.begin(), it->second.end());
    if (wanted.empty())
      continue;
    std::set<Position> chosen;
    if (cloneable.lookup(op)) {
      // One duplicate per stage, before its first user there.
      for (const Position &position : wanted)
        if (chosen.empty() || chosen.rbegin()->stage != position.stage)
          chosen.insert(position);
    } else {
      chosen.insert(*wanted.begin());
    }
    if (chosen == positions.lookup(op))
      continue;
    positions[op] = chosen;
    for (Value operand : operandsOf(op))
      if (Operation *def = getProducer(operand))
        worklist.insert(def);
  }
  return std::nullopt;
}

Scheduler::Reason Scheduler::makeEntries() {
  for (const BodyOp &bodyOp : bodyOps)
    for (const Position &position : positions[bodyOp.op])
      schedule.entries.push_back({bodyOp.op, position});
  llvm::stable_sort(schedule.entries,
                    [](const ScheduleEntry &a, const ScheduleEntry &b) {
                      return a.position.cluster < b.position.cluster;
                    });
  return std::nullopt;
}

/// A loop with a smaller trip count than stages gets fewer stages.
Scheduler::Reason Scheduler::clampStages() {
  int64_t wanted = schedule.stages;
  if (schedule.tripCount && *schedule.tripCount < wanted) {
    if (*schedule.tripCount < 2 || options.useSchedule)
      return "the trip count of " + std::to_string(*schedule.tripCount) +
             " is less than the " + std::to_string(wanted) +
             " stages; a loop needs at least two iterations and one per stage";
    schedule.clampedFrom = wanted;
    schedule.stages = *schedule.tripCount;
  }
  // The guard compares with the number of stages in the type of the induction
  // variable.
  if (auto counter = dyn_cast<IntegerType>(loop.getInductionVar().getType());
      counter && !llvm::isUIntN(counter.getWidth(), schedule.stages - 1))
    return "the induction variable has " + std::to_string(counter.getWidth()) +
           (counter.getWidth() == 1 ? " bit" : " bits") +
           ", which cannot represent " + std::to_string(schedule.stages) +
           " stages; use a wider type";
  return std::nullopt;
}

int64_t Scheduler::getUsefulStages(std::string &limit) {
  limit = "further stages would extend live ranges without hiding more latency";
  if (checkLoop() || classify() || chooseMode())
    return 2;
  Prefetch prefetch = Prefetch::AsyncCopies;
  int64_t slots = 2;
  if (schedule.mode == PipelineMode::Stream) {
    bool writesShared = llvm::any_of(
        bodyOps, [](const BodyOp &bodyOp) { return bodyOp.writesShared; });
    prefetch = writesShared ? Prefetch::ReadsToShared : Prefetch::Reads;
  } else {
    findBuffers();
    for (const LoopBuffer &buffer : schedule.buffers)
      if (buffer.space == MemorySpace::Shared)
        slots = std::max(slots, buffer.slots);
    limit =
        "no shared buffer has more than " + std::to_string(slots) + " slots";
  }
  int64_t most = getAutoStages(prefetch, slots);
  if (most > kMaxStages) {
    most = kMaxStages;
    limit = std::to_string(most) + " stages are the maximum";
  }
  if (schedule.tripCount && *schedule.tripCount < most) {
    most = std::max<int64_t>(*schedule.tripCount, 2);
    limit = "the trip count is " + std::to_string(*schedule.tripCount);
  }
  return most;
}

std::optional<LoopSchedule> Scheduler::run(std::string &reason) {
  auto check = [&](Reason result) {
    if (result)
      reason = std::move(*result);
    return !result;
  };
  schedule.loop = loop;
  schedule.stages = *options.stages;
  if (!check(checkLoop()))
    return std::nullopt;
  if (!options.useSchedule && !check(clampStages()))
    return std::nullopt;
  if (!check(classify()) || !check(checkLanes()) || !check(chooseMode()) ||
      !check(analyzeWaits()))
    return std::nullopt;
  findHoistable();
  Reason placed = options.useSchedule                    ? readSchedule()
                  : schedule.mode == PipelineMode::Async ? placeAsync()
                                                         : placeStream();
  if (!check(std::move(placed)))
    return std::nullopt;
  if (options.useSchedule && !check(clampStages()))
    return std::nullopt;
  if (!check(placePureOps()) || !check(makeEntries()))
    return std::nullopt;
  // The loop may yield only values that it read.
  if (llvm::none_of(schedule.entries, [&](const ScheduleEntry &entry) {
        return entry.position.stage == schedule.stages - 1;
      })) {
    bool copies = llvm::any_of(
        bodyOps, [](const BodyOp &bodyOp) { return bodyOp.writesShared; });
    reason = copies ? kOnlyCopies.str()
                    : "the body only reads; no computation can overlap with "
                      "the reads";
    return std::nullopt;
  }
  findBuffers();
  if (!check(checkValues()) || !check(checkWaits()) || waitsForNextCopies() ||
      !check(checkMemory()))
    return std::nullopt;
  placeBarriers(schedule);
  return std::move(schedule);
}

static std::optional<LoopSchedule> trySchedule(scf::ForOp loop,
                                               const ScheduleOptions &options,
                                               std::string &reason) {
  // Alternatives: copies after the wait, and register streams in the compute
  // stage.
  for (bool copiesFirst : {true, false}) {
    bool triedCopiesFirst = false;
    for (bool streams : {true, false}) {
      ScheduleOptions chosen = options;
      chosen.startsCopiesFirst = copiesFirst;
      chosen.streamsInAsyncMode = streams;
      Scheduler scheduler(loop, chosen);
      if (auto schedule = scheduler.run(reason)) {
        schedule->comparisonLimit = scheduler.describeComparisonLimit();
        return schedule;
      }
      reason += scheduler.describeComparisonLimit();
      triedCopiesFirst |= scheduler.hasCopiesFirst();
      if (!scheduler.hasRegisterStream())
        break;
    }
    if (!triedCopiesFirst)
      break;
  }
  return std::nullopt;
}

std::optional<LoopSchedule> smalti::makeSchedule(scf::ForOp loop,
                                                 const ScheduleOptions &options,
                                                 std::string &reason) {
  ScheduleOptions chosen = options;
  if (std::optional<std::string> wrong = readScheduleAttributes(loop, chosen)) {
    reason = std::move(*wrong);
    return std::nullopt;
  }
  if (chosen.stages.getOr(2) == 1 && !chosen.useSchedule)
    return std::nullopt;
  if (!chosen.stages.isAuto() || chosen.useSchedule) {
    chosen.stages = chosen.stages.getOr(2);
    return trySchedule(loop, chosen, reason);
  }
  // The largest number of stages that is legal, fits and hides more latency.
  std::string limit;
  int64_t most = Scheduler(loop, chosen).getUsefulStages(limit);
  for (int64_t stages = most; stages > 1; --stages) {
    chosen.stages = stages;
    std::optional<LoopSchedule> schedule = trySchedule(loop, chosen, reason);
    std::string with = "with " + std::to_string(stages) + " stages, ";
    if (!schedule) {
      limit = with + reason;
      continue;
    }
    // Without a target the register limit is unknown.
    if (!chosen.registerModel) {
      if (schedule->mode == PipelineMode::Stream && stages > 2) {
        limit = "the number of registers per thread is unknown without a "
                "target; set the option 'target', such as target=sm_90a";
        continue;
      }
    } else if (int64_t registers = countKernelRegisters(
                   *schedule, *chosen.registerModel, chosen.isCopy);
               registers > chosen.registers) {
      reason = with + "live values need " + std::to_string(registers) +
               " registers per thread; " + chosen.chip + " has " +
               std::to_string(chosen.registers);
      limit = reason;
      reason += ", so load fewer elements per thread in an iteration";
      continue;
    }
    schedule->limit = limit;
    return schedule;
  }
  return std::nullopt;
}
