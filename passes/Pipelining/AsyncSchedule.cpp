//===- AsyncSchedule.cpp - Asynchronous copies ahead ----------------------===//

#include "smalti/passes/Pipelining/Scheduler.h"

#include "smalti/passes/Slots/IterationSlots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace smalti;

/// Finds which waits cover which copies. Block barriers that turn out to be
/// waits stay units, the others leave.
Scheduler::Reason Scheduler::analyzeWaits() {
  if (schedule.mode != PipelineMode::Async)
    return std::nullopt;
  async.emplace(loop, units, names);
  if (Reason reason = async->run())
    return reason;
  for (const AsyncWait &wait : async->getWaits())
    if (wait.at != wait.op)
      schedule.waitMakers[wait.at] = cast<AsyncCopyOpInterface>(wait.op);
  llvm::erase_if(units, [&](Unit &unit) {
    if (!isa<BlockBarrierOpInterface>(unit.op))
      return false;
    unit.isWait = schedule.waitMakers.contains(unit.op);
    return !unit.isWait;
  });
  unitOf.clear();
  for (auto [i, unit] : llvm::enumerate(units))
    unitOf[unit.op] = i;
  if (async->getWaits().empty())
    return std::string("no wait covers the asynchronous copies in this loop");
  // Threads that have arrived have also read what they read before: a copy that
  // waits for them may rely on that, and arrivals run ahead.
  if (schedule.oldBarriers.empty())
    for (const Unit &unit : units)
      for (const AsyncEvent &event : unit.events)
        if (isa<BarrierObjectOpInterface>(event.op))
          return "the body does not contain a block barrier, so " +
                 quote(event.op) + " may be what orders its threads";
  return std::nullopt;
}

/// What the copies need runs ahead with them.
Scheduler::Reason Scheduler::hoistOperandsOfCopies(Position place) {
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> needed;
  for (const Unit &unit : units)
    if (!unit.events.empty())
      worklist.push_back(unit.op);
  while (!worklist.empty()) {
    for (Value operand : operandsOf(worklist.pop_back_val())) {
      Operation *def = getProducer(operand);
      if (!def || !needed.insert(def).second)
        continue;
      worklist.push_back(def);
      const Unit &unit = units[unitOf[def]];
      if (unit.isPure() || !unit.events.empty())
        continue;
      if (!hoistable.contains(def))
        return "the asynchronous copies depend on " + quote(def) +
               ", which cannot be issued in an earlier iteration";
      positions[def] = {place};
    }
  }
  return std::nullopt;
}

/// Buffers that are filled through registers: the reads and stores go one step
/// ahead, as in the stream mode of two stages.
void Scheduler::placeStreamOfAsync(Position copy, Position read) {
  Position write{schedule.stages - 2, 3};
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> needed;
  for (const Unit &unit : units) {
    bool isStore = unit.events.empty() && !unit.isWait && unit.writesShared &&
                   !unit.readsShared && !unit.readsGlobal && !unit.writesGlobal;
    bool canRunAhead =
        isStore && llvm::all_of(operandsOf(unit.op), [&](Value v) {
          Operation *def = getProducer(v);
          return !def || hoistable.contains(def);
        });
    if (!canRunAhead)
      continue;
    positions[unit.op] = {write};
    streamsBesideCopies = true;
    worklist.push_back(unit.op);
  }
  while (!worklist.empty())
    for (Value operand : operandsOf(worklist.pop_back_val())) {
      Operation *def = getProducer(operand);
      if (!def || !needed.insert(def).second)
        continue;
      worklist.push_back(def);
      // What copies need is further ahead.
      const Unit &unit = units[unitOf[def]];
      if (!unit.isPure() && !(*positions[def].begin() == copy))
        positions[def] = {read};
    }
}

/// Whether the copies of the next iteration may start ahead of the wait for
/// those of this one. With two stages nothing would be in flight while threads
/// wait. It takes another barrier where buffers have no slot more.
bool Scheduler::mayStartCopiesFirst() const {
  return options.startsCopiesFirst && schedule.stages == 2 &&
         llvm::all_of(units, [&](const Unit &unit) {
           return llvm::all_of(unit.events, [&](const AsyncEvent &event) {
             return event.queue == AsyncQueue::Groups
                        ? options.countsGroups
                        : event.queue != AsyncQueue::BarrierObject;
           });
         });
}

/// Whether a wait covers the copies of the next iteration, too: copies that may
/// not be started cannot be left in flight. The schedule in which they do not
/// come first is then the one to try.
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
  for (const Unit &unit : units) {
    if (unit.isPure())
      continue;
    positions[unit.op] = {unit.events.empty() ? compute : copy};
    schedule.readsAhead +=
        llvm::count_if(unit.events, [](const AsyncEvent &event) {
          return isa<AsyncCopyOpInterface>(event.op);
        });
  }
  if (Reason reason = hoistOperandsOfCopies(copy))
    return reason;
  if (options.streamsBesideCopies)
    placeStreamOfAsync(copy, {schedule.stages - 2, startsCopiesFirst ? 2 : 1});
  // Waits ahead of all computing stand ahead of the next copies, if these do
  // not come first, so that the barrier behind them also says that their
  // buffers are free.
  bool computes = !loop.getYieldedValues().empty(), isAhead = true;
  for (const Unit &unit : units) {
    if (unit.isPure() || !unit.events.empty())
      continue;
    if (unit.isWait) {
      if (isAhead)
        positions[unit.op] = {wait};
      continue;
    }
    bool isCompute = *positions[unit.op].begin() == compute;
    isAhead &= !isCompute;
    computes |= isCompute;
  }
  if (!computes)
    return kOnlyCopies.str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Slots of barrier objects
//===----------------------------------------------------------------------===//

/// How many iterations in a row use different barriers of a group, where every
/// op chooses by the slot of its iteration.
int64_t Scheduler::getBarrierSlots(Value root, ArrayRef<Operation *> ops) {
  auto group = dyn_cast<nvgpu::MBarrierGroupType>(root.getType());
  if (!group)
    return 1;
  std::set<std::tuple<int64_t, int64_t>> uses; // factor, offset
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
    if (!number || number->slot.depth < 2 || !takeSlot(number->slot, slot))
      return 1;
    uses.insert({number->factor, number->offset});
  }
  // No barrier is anybody else's, and all are there.
  llvm::SmallSet<int64_t, 16> barriers;
  for (auto [factor, offset] : uses)
    for (int64_t turn = 0; turn < slot->depth; ++turn) {
      int64_t barrier = factor * turn + offset;
      if (barrier >= int64_t(group.getNumBarriers()) ||
          !barriers.insert(barrier).second)
        return 1;
    }
  return slot ? slot->depth : 1;
}
