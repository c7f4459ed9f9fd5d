//===- ScheduleAttributes.cpp - Schedules as attributes -------------------===//

#include "passes/Pipelining/Scheduler.h"

using namespace mlir;
using namespace smalti;

Scheduler::Reason Scheduler::chooseStages() {
  schedule.stages = options.stages;
  Attribute attribute = loop->getAttr(kStagesAttr);
  if (!attribute)
    return std::nullopt;
  auto stages = dyn_cast<IntegerAttr>(attribute);
  if (!stages || stages.getInt() < 1 || stages.getInt() > kMostStages)
    return kStagesAttr.str() + " is not an integer between 1 and " +
           std::to_string(kMostStages);
  schedule.stages = stages.getInt();
  return std::nullopt;
}

Scheduler::Reason Scheduler::readSchedule() {
  int64_t stages = 0;
  bool any = false;
  for (const Unit &unit : units) {
    auto stage = unit.op->getAttrOfType<IntegerAttr>(kStageAttr);
    auto cluster = unit.op->getAttrOfType<IntegerAttr>(kClusterAttr);
    any |= stage || cluster;
    if (!stage && !cluster && unit.isPure())
      continue;
    if (!stage || !cluster)
      return quote(unit.op) + " has no " +
             (stage ? kClusterAttr : kStageAttr).str() + " attribute";
    if (stage.getInt() < 0)
      return quote(unit.op) + " has a negative stage";
    positions[unit.op] = {{stage.getInt(), cluster.getInt()}};
    stages = std::max(stages, stage.getInt() + 1);
    compute = std::max(compute, {stage.getInt(), cluster.getInt()});
  }
  if (!any)
    return std::string("it carries no schedule");
  if (stages < 2 || stages > kMostStages)
    return "its schedule has " + std::to_string(stages) +
           " stages, which is not between 2 and " + std::to_string(kMostStages);
  for (const Unit &unit : units)
    if (positions.contains(unit.op) &&
        positions[unit.op].begin()->stage < stages - 1 &&
        (unit.isCopy || unit.readsGlobal))
      ++schedule.readsAhead;
  schedule.stages = stages;
  return std::nullopt;
}

void smalti::annotateSchedule(const LoopSchedule &schedule) {
  scf::ForOp loop = schedule.loop;
  Builder builder(loop.getContext());
  llvm::DenseMap<Operation *, unsigned> count;
  for (const ScheduleEntry &entry : schedule.entries)
    ++count[entry.op];
  for (const ScheduleEntry &entry : schedule.entries) {
    if (count[entry.op] != 1)
      continue;
    entry.op->setAttr(kStageAttr,
                      builder.getI64IntegerAttr(entry.position.stage));
    entry.op->setAttr(kClusterAttr,
                      builder.getI64IntegerAttr(entry.position.cluster));
  }
}
