//===- ValueFlow.cpp - Sources of values in a pipelined loop --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/ValueFlow.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

SmallVector<Value, 4> smalti::getUsedInLoop(Operation *op, scf::ForOp loop) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  SmallVector<Value, 4> used;
  for (Value value : values)
    if (value.getParentBlock() == loop.getBody())
      used.push_back(value);
  return used;
}

ValueFlow::ValueFlow(const LoopSchedule &schedule) : schedule(schedule) {
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    entriesOf[entry.op].push_back(i);
    auto [it, inserted] = used.try_emplace(entry.op);
    if (inserted)
      it->second = getUsedInLoop(entry.op, schedule.loop);
  }
}

ArrayRef<Value> ValueFlow::getUsed(Operation *op) const {
  auto it = used.find(op);
  return it == used.end() ? ArrayRef<Value>() : ArrayRef<Value>(it->second);
}

ValueSource ValueFlow::find(Value value, int64_t lag, unsigned user,
                            int64_t lastLag) const {
  scf::ForOp loop = schedule.loop;
  using Kind = ValueSource::Kind;
  while (true) {
    if (value.getParentBlock() != loop.getBody())
      return {Kind::Outside, value};
    if (value == loop.getInductionVar())
      return {Kind::Induction, value, lag};
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (lag == lastLag)
        return {Kind::Carried, value, lag};
      value = loop.getTiedLoopYieldedValue(argument)->get();
      ++lag;
      continue;
    }
    // The latest stage keeps the value live for the shortest time.
    ValueSource source = {Kind::Missing, value, lag};
    int64_t best = -1;
    auto it = entriesOf.find(value.getDefiningOp());
    if (it == entriesOf.end())
      return source;
    for (unsigned entry : it->second) {
      int64_t stage = schedule.entries[entry].position.stage;
      if (stage > lag || (stage == lag && entry >= user) || stage <= best)
        continue;
      best = stage;
      source.kind = Kind::Computed;
      source.entry = entry;
    }
    return source;
  }
}
