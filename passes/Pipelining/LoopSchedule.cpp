//===- LoopSchedule.cpp - How a loop is pipelined, as data ----------------===//

#include "passes/Pipelining/Scheduler.h"

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

/// Whether making the op again for another stage is cheaper than carrying its
/// results there: scalars and views that need nothing but the induction
/// variable.
bool Scheduler::isCloneable(const Unit &unit) {
  auto it = cloneable.find(unit.op);
  if (it != cloneable.end())
    return it->second;
  bool hasVectorOperand =
      llvm::any_of(unit.op->getOperandTypes(), llvm::IsaPred<VectorType>);
  bool isYielded = llvm::any_of(unit.op->getUsers(), [&](Operation *user) {
    return user == loop.getBody()->getTerminator();
  });
  bool result =
      unit.isPure() && !isYielded &&
      (!hasVectorOperand ||
       llvm::none_of(unit.op->getResultTypes(), llvm::IsaPred<VectorType>)) &&
      llvm::all_of(operandsOf(unit.op), [&](Value operand) {
        // Operands come earlier in the block, so they were decided before.
        Operation *def = getBodyOp(operand);
        return def ? cloneable.lookup(def) : operand == loop.getInductionVar();
      });
  cloneable[unit.op] = result;
  return result;
}

/// Puts ops without effects where their users are.
Scheduler::Reason Scheduler::placePureOps() {
  for (const Unit &unit : units)
    isCloneable(unit);
  DenseMap<Operation *, SmallVector<Operation *>> users;
  for (const Unit &unit : units)
    for (Value operand : operandsOf(unit.op))
      if (Operation *def = getProducer(operand))
        users[def].push_back(unit.op);

  // What nothing but the loop's results needs is part of computing.
  llvm::DenseSet<Operation *> needed, fixed;
  SmallVector<Operation *> sources;
  for (auto &[op, places] : positions) {
    fixed.insert(op);
    sources.push_back(op);
  }
  while (!sources.empty())
    for (Value operand : operandsOf(sources.pop_back_val()))
      if (Operation *def = getProducer(operand);
          def && needed.insert(def).second)
        sources.push_back(def);
  for (const Unit &unit : units)
    if (!needed.contains(unit.op) && fixed.insert(unit.op).second)
      positions[unit.op] = {compute};

  // The rest goes where its users are. Loop-carried values make cycles: repeat
  // until nothing changes; places only grow, so this ends.
  SetVector<Operation *> worklist;
  for (const Unit &unit : units)
    worklist.insert(unit.op);
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
    std::set<Position> places;
    if (cloneable.lookup(op)) {
      // One op a stage, ahead of its first user there.
      for (const Position &place : wanted)
        if (places.empty() || places.rbegin()->stage != place.stage)
          places.insert(place);
    } else {
      places.insert(*wanted.begin());
    }
    if (places == positions.lookup(op))
      continue;
    positions[op] = places;
    for (Value operand : operandsOf(op))
      if (Operation *def = getProducer(operand))
        worklist.insert(def);
  }
  return std::nullopt;
}

Scheduler::Reason Scheduler::makeEntries() {
  for (const Unit &unit : units)
    for (const Position &place : positions[unit.op])
      schedule.entries.push_back({unit.op, place});
  llvm::stable_sort(schedule.entries,
                    [](const ScheduleEntry &a, const ScheduleEntry &b) {
                      return a.position.cluster < b.position.cluster;
                    });
  return std::nullopt;
}

std::optional<LoopSchedule> Scheduler::run(std::string &reason) {
  auto check = [&](Reason result) {
    if (result)
      reason = std::move(*result);
    return !result;
  };
  schedule.loop = loop;
  if (!check(chooseStages()))
    return std::nullopt;
  if (schedule.stages == 1 && !options.useSchedule) {
    reason.clear();
    return std::nullopt;
  }
  if (!check(checkLoop()) || !check(classify()) || !check(chooseMode()) ||
      !check(analyzeWaits()))
    return std::nullopt;
  findHoistable();
  Reason placed = options.useSchedule                    ? readSchedule()
                  : schedule.mode == PipelineMode::Async ? placeAsync()
                                                         : placeStream();
  if (!check(std::move(placed)))
    return std::nullopt;
  if (schedule.tripCount && *schedule.tripCount < schedule.stages) {
    reason = "it runs " + std::to_string(*schedule.tripCount) +
             (*schedule.tripCount == 1 ? " time" : " times") +
             ", fewer than its " + std::to_string(schedule.stages) + " stages";
    return std::nullopt;
  }
  // The guard compares with the number of stages in the counter's type.
  if (auto counter = dyn_cast<IntegerType>(loop.getInductionVar().getType());
      counter && !llvm::isUIntN(counter.getWidth(), schedule.stages - 1)) {
    reason = "its counter of " + std::to_string(counter.getWidth()) +
             " bits does not count to its " + std::to_string(schedule.stages) +
             " stages";
    return std::nullopt;
  }
  if (!check(placePureOps()) || !check(makeEntries()))
    return std::nullopt;
  findBuffers();
  if (!check(checkValues()) || !check(checkWaits()) || !check(checkMemory()))
    return std::nullopt;
  placeBarriers(schedule);
  return std::move(schedule);
}

std::optional<LoopSchedule> smalti::makeSchedule(scf::ForOp loop,
                                                 const ScheduleOptions &options,
                                                 std::string &reason) {
  Scheduler scheduler(loop, options);
  std::optional<LoopSchedule> schedule = scheduler.run(reason);
  if (schedule || !scheduler.hasStreamOfAsync())
    return schedule;
  // What goes through registers may stay with computing.
  ScheduleOptions others = options;
  others.streamsBesideCopies = false;
  return Scheduler(loop, others).run(reason);
}
