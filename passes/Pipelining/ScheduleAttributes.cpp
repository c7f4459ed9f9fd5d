//===- ScheduleAttributes.cpp - Schedules as attributes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/Scheduler.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/ValueNames.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace smalti;

static std::optional<PipelineMode> parsePipelineMode(StringRef text) {
  return llvm::StringSwitch<std::optional<PipelineMode>>(text)
      .Case("auto", PipelineMode::Auto)
      .Case("stream", PipelineMode::Stream)
      .Case("async", PipelineMode::Async)
      .Default(std::nullopt);
}

std::optional<std::string>
smalti::readScheduleAttributes(Operation *op, ScheduleOptions &options) {
  if (Attribute attribute = op->getAttr(kStagesAttr)) {
    std::optional<int64_t> number = getInteger(attribute);
    auto text = dyn_cast<StringAttr>(attribute);
    if (!(text && text.getValue() == "auto") &&
        (!number || *number < 1 || *number > kMaxStages))
      return kStagesAttr.str() + " is " + describe(attribute) +
             "; it must be \"auto\" or an integer from 1 to " +
             std::to_string(kMaxStages);
    options.stages = number ? AutoOrNumber(*number) : AutoOrNumber();
  }
  if (Attribute attribute = op->getAttr(kModeAttr)) {
    auto text = dyn_cast<StringAttr>(attribute);
    std::optional<PipelineMode> mode =
        text ? parsePipelineMode(text.getValue()) : std::nullopt;
    if (!mode)
      return kModeAttr.str() + " is " + describe(attribute) +
             "; it must be \"auto\", \"stream\" or \"async\"";
    options.mode = *mode;
  }
  return std::nullopt;
}

/// A number, or an array for an op that is duplicated in several stages; empty
/// for other attributes.
static SmallVector<int64_t> readNumbers(Attribute attribute) {
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(list.asArrayRef());
  std::optional<int64_t> number = getInteger(attribute);
  return number ? SmallVector<int64_t>{*number} : SmallVector<int64_t>();
}

Scheduler::Reason Scheduler::readSchedule() {
  int64_t stages = 0;
  bool any = false;
  for (const BodyOp &bodyOp : bodyOps) {
    Attribute stage = bodyOp.op->getAttr(kStageAttr);
    Attribute cluster = bodyOp.op->getAttr(kClusterAttr);
    any |= stage || cluster;
    if (!stage && !cluster && bodyOp.isPure())
      continue;
    if (!stage || !cluster) {
      std::string missing = (stage ? kClusterAttr : kStageAttr).str();
      return quote(bodyOp.op) + " does not have the attribute '" + missing +
             "', which use-schedule=true requires; emit-schedule=true writes "
             "it";
    }
    SmallVector<int64_t> stageList = readNumbers(stage);
    SmallVector<int64_t> clusterList = readNumbers(cluster);
    if (stageList.empty() || stageList.size() != clusterList.size())
      return kStageAttr.str() + " and " + kClusterAttr.str() + " of " +
             quote(bodyOp.op) +
             " must be integers, or integer arrays of the same length";
    if (stageList.size() > 1 && !bodyOp.isPure())
      return quote(bodyOp.op) + " has side effects and cannot be duplicated in "
                                "several stages; give it one stage";
    std::set<Position> &earlier = positions[bodyOp.op];
    for (auto [number, order] : llvm::zip_equal(stageList, clusterList)) {
      if (number < 0)
        return "the stage of " + quote(bodyOp.op) + " is " +
               std::to_string(number) + "; it must not be negative";
      if (number >= kMaxStages)
        return "the stage of " + quote(bodyOp.op) + " is " +
               std::to_string(number) + "; it must be at most " +
               std::to_string(kMaxStages - 1);
      for (const Position &position : earlier)
        if (position.stage == number)
          return quote(bodyOp.op) + " is scheduled twice in stage " +
                 std::to_string(number) + "; list each stage once";
      earlier.insert({number, order});
      stages = std::max(stages, number + 1);
      compute = std::max(compute, {number, order});
    }
  }
  if (!any)
    return std::string("the ops of the loop do not have the attribute "
                       "'smalti.stage', which use-schedule=true requires; "
                       "emit-schedule=true writes it");
  if (stages < 2)
    return std::string("the schedule in the attributes has only one stage; at "
                       "least two are required");
  for (const BodyOp &bodyOp : bodyOps)
    if (positions.contains(bodyOp.op) &&
        positions[bodyOp.op].begin()->stage < stages - 1 &&
        (bodyOp.isCopy || bodyOp.readsGlobal))
      ++schedule.numPrefetched;
  schedule.stages = stages;
  return std::nullopt;
}

/// The numbers and the buffers of a schedule, as a dictionary.
static DictionaryAttr describeSchedule(const LoopSchedule &schedule,
                                       ValueNames &names) {
  Builder builder(scf::ForOp(schedule.loop).getContext());
  SmallVector<Attribute> buffers;
  for (const LoopBuffer &buffer : schedule.buffers)
    buffers.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("barriers",
                             builder.getBoolAttr(buffer.isBarrierObject)),
        builder.getNamedAttr("name",
                             builder.getStringAttr(names.get(buffer.root))),
        builder.getNamedAttr(
            "shared", builder.getBoolAttr(buffer.space == MemorySpace::Shared)),
        builder.getNamedAttr("slots", builder.getI64IntegerAttr(buffer.slots)),
        builder.getNamedAttr("type", TypeAttr::get(buffer.root.getType())),
    }));
  NamedAttrList attributes;
  attributes.set("barriers",
                 builder.getI64IntegerAttr(schedule.countKernelBarriers()));
  attributes.set("buffers", builder.getArrayAttr(buffers));
  attributes.set("guarded", builder.getBoolAttr(schedule.isGuarded()));
  if (!schedule.limit.empty())
    attributes.set("limit", builder.getStringAttr(schedule.limit));
  attributes.set("mode", builder.getStringAttr(toString(schedule.mode)));
  attributes.set("prefetched",
                 builder.getI64IntegerAttr(schedule.numPrefetched));
  attributes.set("stages", builder.getI64IntegerAttr(schedule.stages));
  if (schedule.tripCount)
    attributes.set("trip_count",
                   builder.getI64IntegerAttr(*schedule.tripCount));
  return attributes.getDictionary(builder.getContext());
}

void smalti::annotateSchedule(const LoopSchedule &schedule, ValueNames &names) {
  scf::ForOp loop = schedule.loop;
  loop->setAttr(kScheduleAttr, describeSchedule(schedule, names));
  Builder builder(loop.getContext());
  llvm::MapVector<Operation *, std::set<Position>> positionsOf;
  for (const ScheduleEntry &entry : schedule.entries)
    positionsOf[entry.op].insert(entry.position);
  auto write = [&](Operation *op, StringRef name, ArrayRef<int64_t> numbers) {
    if (numbers.size() == 1)
      op->setAttr(name, builder.getI64IntegerAttr(numbers.front()));
    else
      op->setAttr(name, builder.getDenseI64ArrayAttr(numbers));
  };
  for (auto &[op, positions] : positionsOf) {
    SmallVector<int64_t> stages, clusters;
    for (const Position &position : positions) {
      stages.push_back(position.stage);
      clusters.push_back(position.cluster);
    }
    write(op, kStageAttr, stages);
    write(op, kClusterAttr, clusters);
  }
}
