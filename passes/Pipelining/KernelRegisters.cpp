//===- KernelRegisters.cpp - Register pressure of a pipelined loop --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the kernel of a pipelined loop a value lives from its definition to its
// last use, which may be in a later step. Then several instances of the value
// are live concurrently.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Pipelining/ValueFlow.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

namespace {

/// The last use of a value: how many steps later, and the position in the
/// kernel.
using LastUse = std::pair<int64_t, unsigned>;

class KernelRegisters {
public:
  KernelRegisters(const LoopSchedule &schedule, const RegisterModel &model)
      : schedule(schedule), model(model), flow(schedule),
        change(schedule.entries.size() + 1, 0) {}

  int64_t run();

private:
  void use(Value value, int64_t lag, unsigned user);
  /// Adds the registers of the value between two positions of the kernel.
  void add(Value value, unsigned begin, unsigned end, int64_t times = 1);

  const LoopSchedule &schedule;
  const RegisterModel &model;
  ValueFlow flow;
  std::map<std::pair<unsigned, unsigned>, LastUse> lastUses; ///< of results
  llvm::MapVector<Value, unsigned> lastOfArgument;
  SmallVector<int64_t> change;
};

} // namespace

void KernelRegisters::use(Value value, int64_t lag, unsigned user) {
  ValueSource source = flow.find(value, lag, user, schedule.stages - 1);
  if (source.kind == ValueSource::Kind::Carried) {
    unsigned &last = lastOfArgument[source.value];
    last = std::max(last, user);
  }
  if (source.kind != ValueSource::Kind::Computed)
    return;
  int64_t age = source.lag - schedule.entries[source.entry].position.stage;
  LastUse &last =
      lastUses[{source.entry, cast<OpResult>(source.value).getResultNumber()}];
  last = std::max(last, LastUse(std::max<int64_t>(age, 0), user));
}

void KernelRegisters::add(Value value, unsigned begin, unsigned end,
                          int64_t times) {
  if (end <= begin || times <= 0)
    return;
  int64_t registers = times * model.count(value);
  change[begin] += registers;
  change[end] -= registers;
}

int64_t KernelRegisters::run() {
  scf::ForOp loop = schedule.loop;
  for (auto [i, entry] : llvm::enumerate(schedule.entries))
    for (Value value : flow.getUsed(entry.op))
      use(value, entry.position.stage, i);
  // Yielded values of the last stage are live at the end of the step.
  for (Value value : loop.getYieldedValues())
    if (value.getParentBlock() == loop.getBody())
      use(value, schedule.stages - 1, flow.atEnd());
  unsigned end = flow.atEnd();
  for (auto [result, last] : lastUses) {
    Value value = schedule.entries[result.first].op->getResult(result.second);
    auto [age, user] = last;
    if (age == 0) {
      add(value, result.first, user);
      continue;
    }
    add(value, result.first, end);
    add(value, 0, end, age - 1);
    add(value, 0, user);
  }
  for (auto [argument, user] : lastOfArgument)
    add(argument, 0, user);

  int64_t live = model.count(loop.getInductionVar()), most = live;
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    live += change[i];
    int64_t inside =
        entry.op->getNumRegions() == 0 ? 0 : model.countInside(entry.op).count;
    most = std::max(most, live + inside);
  }
  return most;
}

int64_t smalti::countKernelRegisters(const LoopSchedule &schedule,
                                     RegisterModel &model, bool isCopy) {
  int64_t around = 0;
  if (isCopy) {
    // A loop that pipelining created: count the values that it uses.
    llvm::SetVector<Value> values;
    scf::ForOp loop = schedule.loop;
    getUsedValuesDefinedAbove(loop.getRegion(), values);
    for (Value value : values)
      around += model.count(value);
  } else {
    around = model.countAround(schedule.loop);
  }
  return around + KernelRegisters(schedule, model).run();
}
