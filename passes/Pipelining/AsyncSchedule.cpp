//===- AsyncSchedule.cpp - Schedules of asynchronous copies ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/Scheduler.h"

#include "smalti/passes/Slots/IterationSlots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace smalti;

/// Determines which waits cover which copies. Block barriers that act as waits
/// stay body ops; the others are dropped.
Scheduler::Reason Scheduler::analyzeWaits() {
  if (schedule.mode != PipelineMode::Async)
    return std::nullopt;
  async.emplace(loop, bodyOps, names);
  if (Reason reason = async->run())
    return reason;
  for (const AsyncWait &wait : async->getWaits())
    if (wait.at != wait.op)
      schedule.waitCreators[wait.at] = cast<AsyncCopyOpInterface>(wait.op);
  llvm::erase_if(bodyOps, [&](BodyOp &bodyOp) {
    if (!isa<BlockBarrierOpInterface>(bodyOp.op))
      return false;
    bodyOp.isWait = schedule.waitCreators.contains(bodyOp.op);
    return !bodyOp.isWait;
  });
  bodyOpIndex.clear();
  for (auto [i, bodyOp] : llvm::enumerate(bodyOps))
    bodyOpIndex[bodyOp.op] = i;
  if (async->getWaits().empty())
    return std::string("no wait covers the asynchronous copies in this loop; "
                       "add a wait to the loop body");
  // A thread that arrives has completed its earlier reads. A copy that waits
  // for the arrivals may rely on that, but arrivals are prefetched.
  if (schedule.oldBarriers.empty())
    for (const BodyOp &bodyOp : bodyOps)
      for (const AsyncEvent &event : bodyOp.events)
        if (isa<BarrierObjectOpInterface>(event.op))
          return quote(event.op) +
                 " may order accesses of other threads before the copies, and "
                 "prefetched copies would precede these accesses; add a "
                 "gpu.barrier to the loop body";
  return std::nullopt;
}

/// Operands of the copies are prefetched too.
Scheduler::Reason Scheduler::hoistOperandsOfCopies(Position position) {
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> needed;
  for (const BodyOp &bodyOp : bodyOps)
    if (!bodyOp.events.empty())
      worklist.push_back(bodyOp.op);
  while (!worklist.empty()) {
    for (Value operand : operandsOf(worklist.pop_back_val())) {
      Operation *def = getProducer(operand);
      if (!def || !needed.insert(def).second)
        continue;
      worklist.push_back(def);
      const BodyOp &bodyOp = bodyOps[bodyOpIndex[def]];
      if (bodyOp.isPure() || !bodyOp.events.empty())
        continue;
      if (!hoistable.contains(def))
        return "the asynchronous copies depend on " + quote(def) +
               ", which cannot be issued in an earlier iteration; compute it "
               "before the loop";
      positions[def] = {position};
    }
  }
  return std::nullopt;
}

/// Buffers that are filled through registers: reads and stores are one stage
/// earlier, as in stream mode with two stages.
void Scheduler::placeRegisterStream(Position copy, Position read) {
  Position write{schedule.stages - 2, 3};
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> needed;
  for (const BodyOp &bodyOp : bodyOps) {
    bool isStore = bodyOp.events.empty() && !bodyOp.isWait &&
                   bodyOp.writesShared && !bodyOp.readsShared &&
                   !bodyOp.readsGlobal && !bodyOp.writesGlobal;
    bool canPrefetch =
        isStore && llvm::all_of(operandsOf(bodyOp.op), [&](Value v) {
          Operation *def = getProducer(v);
          return !def || hoistable.contains(def);
        });
    if (!canPrefetch)
      continue;
    positions[bodyOp.op] = {write};
    streamsInAsyncMode = true;
    worklist.push_back(bodyOp.op);
  }
  while (!worklist.empty())
    for (Value operand : operandsOf(worklist.pop_back_val())) {
      Operation *def = getProducer(operand);
      if (!def || !needed.insert(def).second)
        continue;
      worklist.push_back(def);
      // Operands of copies are in an earlier stage.
      const BodyOp &bodyOp = bodyOps[bodyOpIndex[def]];
      if (!bodyOp.isPure() && !(*positions[def].begin() == copy))
        positions[def] = {read};
    }
}

/// Whether the copies of the next iteration may start before the wait for those
/// of this one. Otherwise, with two stages, nothing is in flight during the
/// wait. This takes another barrier unless the buffers have a third slot.
bool Scheduler::mayStartCopiesFirst() const {
  return options.startsCopiesFirst && schedule.stages == 2 &&
         llvm::all_of(bodyOps, [&](const BodyOp &bodyOp) {
           return llvm::all_of(bodyOp.events, [&](const AsyncEvent &event) {
             return event.queue == AsyncCompletion::Groups
                        ? options.countsGroups
                        : event.queue != AsyncCompletion::BarrierObject;
           });
         });
}

/// Whether a wait also covers the copies of the next iteration: copies that may
/// not execute cannot be left in flight. Then the schedule that starts copies
/// after the wait is tried.
bool Scheduler::waitsForNextCopies() const {
  return startsCopiesFirst &&
         llvm::any_of(schedule.waits, [](const auto &wait) {
           return wait.first.part == Part::Kernel &&
                  llvm::any_of(wait.second, [](const auto &queue) {
                    return queue.second == 0;
                  });
         });
}

Scheduler::Reason Scheduler::placeAsync() {
  startsCopiesFirst = mayStartCopiesFirst();
  Position wait{schedule.stages - 1, startsCopiesFirst ? 1 : 0};
  Position copy{0, startsCopiesFirst ? 0 : 1};
  compute = {schedule.stages - 1, 2};
  for (const BodyOp &bodyOp : bodyOps) {
    if (bodyOp.isPure())
      continue;
    positions[bodyOp.op] = {bodyOp.events.empty() ? compute : copy};
    schedule.numPrefetched +=
        llvm::count_if(bodyOp.events, [](const AsyncEvent &event) {
          return isa<AsyncCopyOpInterface>(event.op);
        });
  }
  if (Reason reason = hoistOperandsOfCopies(copy))
    return reason;
  if (options.streamsInAsyncMode && !proxyFence)
    placeRegisterStream(copy, {schedule.stages - 2, startsCopiesFirst ? 2 : 1});
  // Waits that precede all computation also precede the next copies, unless
  // these come first. The barrier after the waits then also orders the reuse of
  // the buffers.
  bool computes = !loop.getYieldedValues().empty(), precedesCompute = true;
  for (const BodyOp &bodyOp : bodyOps) {
    if (bodyOp.isPure() || !bodyOp.events.empty())
      continue;
    if (bodyOp.isWait) {
      if (precedesCompute)
        positions[bodyOp.op] = {wait};
      continue;
    }
    bool isCompute = *positions[bodyOp.op].begin() == compute;
    precedesCompute &= !isCompute;
    computes |= isCompute;
  }
  if (!computes)
    return kOnlyCopies.str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Slots of mbarriers
//===----------------------------------------------------------------------===//

/// How many consecutive iterations use different mbarriers of a group, if every
/// op selects by the slot of its iteration.
int64_t Scheduler::getBarrierSlots(Value root, ArrayRef<Operation *> ops) {
  auto group = dyn_cast<nvgpu::MBarrierGroupType>(root.getType());
  if (!group)
    return 1;
  std::set<std::tuple<int64_t, int64_t>> uses; // scale, offset
  std::optional<IterationSlot> slot;
  llvm::SmallDenseSet<Value, 4> seen;
  for (Operation *op : ops) {
    OpOperand *index =
        cast<BarrierObjectOpInterface>(op).getBarrierIndexMutable();
    if (!index)
      return 1;
    if (!seen.insert(index->get()).second)
      continue;
    std::optional<SlotNumber> number = matchSlotNumber(index->get(), loop);
    if (!number || number->slot.depth < 2 || !recordSlot(number->slot, slot))
      return 1;
    uses.insert({number->factor, number->offset});
  }
  // The uses do not share mbarriers, and all indices are in range.
  llvm::SmallSet<int64_t, 16> barriers;
  for (auto [scale, offset] : uses)
    for (int64_t turn = 0; turn < slot->depth; ++turn) {
      int64_t barrier = scale * turn + offset;
      if (barrier >= int64_t(group.getNumBarriers()) ||
          !barriers.insert(barrier).second)
        return 1;
    }
  return slot ? slot->depth : 1;
}
