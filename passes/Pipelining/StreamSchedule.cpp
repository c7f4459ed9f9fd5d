//===- StreamSchedule.cpp - Schedules that prefetch through registers -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/Scheduler.h"

using namespace mlir;
using namespace smalti;

Scheduler::Reason Scheduler::placeStream() {
  int64_t stages = schedule.stages;
  // Reads are in the first stage and the computation in the last. Stores of the
  // values to shared memory are one step before their use. In the kernel the
  // computation precedes the stores, so that one buffer is sufficient.
  Position read{0, stages == 2 ? 0 : 2};
  compute = {stages - 1, stages == 2 ? 1 : 0};
  Position write{stages == 2 ? 0 : stages - 2, stages == 2 ? 2 : 1};
  // Stores of values that the same iteration computes belong to the
  // computation.
  auto canPrefetch = [&](const BodyOp &bodyOp) {
    for (const MemoryAccess &access : bodyOp.accesses)
      if (access.space == MemorySpace::Private)
        return false;
    return llvm::all_of(operandsOf(bodyOp.op), [&](Value operand) {
      Operation *def = getProducer(operand);
      return !def || hoistable.contains(def);
    });
  };
  bool computes = !loop.getYieldedValues().empty();
  Operation *unsplit = nullptr, *withPrivate = nullptr;
  for (const BodyOp &bodyOp : bodyOps) {
    if (bodyOp.isPure())
      continue;
    if (hoistable.contains(bodyOp.op)) {
      positions[bodyOp.op] = {read};
      ++schedule.numPrefetched;
      continue;
    }
    if (bodyOp.readsGlobal && bodyOp.writesShared)
      unsplit = bodyOp.op;
    if (bodyOp.readsGlobal &&
        llvm::any_of(bodyOp.accesses, [](const auto &access) {
          return access.space == MemorySpace::Private;
        }))
      withPrivate = bodyOp.op;
    if (bodyOp.writesShared && !bodyOp.readsShared && !bodyOp.readsGlobal &&
        !bodyOp.writesGlobal && canPrefetch(bodyOp)) {
      positions[bodyOp.op] = {write};
      continue;
    }
    computes = true;
    positions[bodyOp.op] = {compute};
  }
  if (schedule.numPrefetched == 0) {
    if (unsplit)
      return quote(unsplit) + " both reads global memory and writes shared "
                              "memory, so the read cannot be prefetched";
    if (!blockedRead.empty())
      return blockedRead;
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
