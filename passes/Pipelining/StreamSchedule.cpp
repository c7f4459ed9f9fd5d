//===- StreamSchedule.cpp - Schedules that prefetch through registers -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/Scheduler.h"

using namespace mlir;
using namespace smalti;

/// Orders reads and stores in the kernel so that each read follows the last
/// store of its previous value. The read is then in flight while later stores
/// wait for their values, and needs no more registers.
void Scheduler::interleaveReads(ArrayRef<Operation *> reads,
                                ArrayRef<Operation *> writes) {
  // The last store that depends on an op.
  DenseMap<Operation *, size_t> lastWrite;
  for (size_t number = writes.size(); number-- > 0;) {
    SmallVector<Operation *> worklist = {writes[number]};
    while (!worklist.empty())
      for (Value operand : operandsOf(worklist.pop_back_val()))
        if (Operation *def = getProducer(operand);
            def && lastWrite.try_emplace(def, number).second)
          worklist.push_back(def);
  }
  auto place = [&](Operation *op, size_t cluster) {
    positions[op] = {{positions[op].begin()->stage, int64_t(cluster)}};
  };
  for (auto [number, write] : llvm::enumerate(writes))
    place(write, 2 * number + 1);
  for (Operation *read : reads) {
    auto it = lastWrite.find(read);
    place(read, 2 * (it == lastWrite.end() ? writes.size() : it->second + 1));
  }
}

Scheduler::Reason Scheduler::placeStream() {
  int64_t stages = schedule.stages;
  // Reads are in the first stage and the computation in the last. Stores of the
  // values to shared memory are one step before their use. In the kernel the
  // computation precedes the stores, so that one buffer is sufficient. With
  // more than 2 stages, the stores precede the reads.
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
  SmallVector<Operation *> reads, writes;
  for (const BodyOp &bodyOp : bodyOps) {
    if (bodyOp.isPure())
      continue;
    if (hoistable.contains(bodyOp.op)) {
      positions[bodyOp.op] = {read};
      reads.push_back(bodyOp.op);
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
      writes.push_back(bodyOp.op);
      continue;
    }
    computes = true;
    positions[bodyOp.op] = {compute};
  }
  if (schedule.numPrefetched == 0) {
    if (unsplit)
      return quote(unsplit) +
             " both reads global memory and writes shared "
             "memory, so the read cannot be prefetched; use a load and a store";
    if (!blockedRead.empty())
      return blockedRead;
    if (withPrivate)
      return quote(withPrivate) + " reads global memory and accesses private "
                                  "memory, so the read cannot be prefetched; "
                                  "move the read out of the op";
    return std::string("the body does not read global memory at addresses that "
                       "an earlier iteration can compute, such as those of the "
                       "induction variable");
  }
  if (!computes)
    return kOnlyCopies.str();
  if (stages > 2 && !writes.empty())
    interleaveReads(reads, writes);
  return std::nullopt;
}
