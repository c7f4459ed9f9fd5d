//===- StreamSchedule.cpp - Reads ahead into registers --------------------===//

#include "smalti/passes/Pipelining/Scheduler.h"

using namespace mlir;
using namespace smalti;

Scheduler::Reason Scheduler::placeStream() {
  int64_t stages = schedule.stages;
  // Reads are issued first, computing comes last, and what was read goes to
  // shared memory one step before it is used. In the kernel, computing stands
  // ahead of the stores, so that one buffer is enough.
  Position read{0, stages == 2 ? 0 : 2};
  compute = {stages - 1, stages == 2 ? 1 : 0};
  Position write{stages == 2 ? 0 : stages - 2, stages == 2 ? 2 : 1};
  // Stores of what was computed in the same iteration are part of computing.
  auto canRunAhead = [&](const Unit &unit) {
    for (const MemoryAccess &access : unit.accesses)
      if (access.space == MemorySpace::Private)
        return false;
    return llvm::all_of(operandsOf(unit.op), [&](Value operand) {
      Operation *def = getProducer(operand);
      return !def || hoistable.contains(def);
    });
  };
  bool computes = !loop.getYieldedValues().empty();
  Operation *unsplit = nullptr, *withPrivate = nullptr;
  for (const Unit &unit : units) {
    if (unit.isPure())
      continue;
    if (hoistable.contains(unit.op)) {
      positions[unit.op] = {read};
      ++schedule.readsAhead;
      continue;
    }
    if (unit.readsGlobal && unit.writesShared)
      unsplit = unit.op;
    if (unit.readsGlobal && llvm::any_of(unit.accesses, [](const auto &access) {
          return access.space == MemorySpace::Private;
        }))
      withPrivate = unit.op;
    if (unit.writesShared && !unit.readsShared && !unit.readsGlobal &&
        !unit.writesGlobal && canRunAhead(unit)) {
      positions[unit.op] = {write};
      continue;
    }
    computes = true;
    positions[unit.op] = {compute};
  }
  if (schedule.readsAhead == 0) {
    if (unsplit)
      return quote(unsplit) + " both reads global memory and writes shared "
                              "memory, so the read cannot be prefetched";
    if (!readStays.empty())
      return readStays;
    if (withPrivate)
      return quote(withPrivate) + " reads global memory and accesses private "
                                  "memory, so the read cannot be prefetched";
    return std::string(
        "no read of global memory in the body can be prefetched");
  }
  if (!computes)
    return kOnlyCopies.str();
  return std::nullopt;
}
