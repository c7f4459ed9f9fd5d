//===- AsyncWaits.cpp - What waits leave in flight in a pipelined loop ----===//
//
// Units of a queue complete in order, so a wait covers a unit if it leaves no
// more in flight than surely follow it. Only what the loop itself starts is
// counted: anything else in the queue only makes the wait longer.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Pipelining/Scheduler.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

/// Counts units of a queue by their places in the order of the body, which is
/// the order of the kernel as well.
class smalti::QueueCounts {
public:
  QueueCounts(const AsyncAnalysis &async, AsyncQueue queue)
      : async(async), queue(queue), units(async.getUnits(queue)) {}

  /// Units in [begin, end) that are surely made by whoever makes one under the
  /// conditions `key`.
  int64_t count(unsigned key, unsigned begin, unsigned end) {
    int64_t result = countUnder(0, begin, end);
    if (key != 0 && async.isFixed(key))
      result += countUnder(key, begin, end);
    return result;
  }

private:
  int64_t countUnder(unsigned key, unsigned begin, unsigned end) {
    ArrayRef<unsigned> places = async.getPlaces(queue, key);
    SmallVector<int64_t> &sums = sumsOfKey[key];
    if (sums.empty()) {
      sums.push_back(0);
      for (unsigned place : places)
        sums.push_back(sums.back() + units[place].times);
    }
    auto upTo = [&](unsigned place) {
      return sums[llvm::lower_bound(places, place) - places.begin()];
    };
    return begin < end ? upTo(end) - upTo(begin) : 0;
  }

  const AsyncAnalysis &async;
  AsyncQueue queue;
  ArrayRef<QueueUnit> units;
  DenseMap<unsigned, SmallVector<int64_t>> sumsOfKey;
};

/// Says what a wait leaves in flight wherever it is in the pipelined loop: what
/// follows the last units that it waits for.
Scheduler::Reason Scheduler::setWait(unsigned wait,
                                     const AsyncWait::Awaited &awaited,
                                     QueueCounts &counts) {
  ArrayRef<QueueUnit> units = async->getUnits(awaited.queue);
  int64_t stage = schedule.entries[wait].position.stage;
  int64_t start = schedule.entries[getEntry(units.front().op)].position.stage;
  // Units that stand ahead of the wait in a step.
  unsigned ahead = llvm::partition_point(units,
                                         [&](const QueueUnit &unit) {
                                           return getEntry(unit.op) < wait;
                                         }) -
                   units.begin();
  for (auto [key, place] : awaited.lastOfKey)
    if (stage < start || (stage == start && place >= ahead))
      return "the schedule would execute " + quote(schedule.entries[wait].op) +
             " before the copies that it waits for";
  auto set = [&](Part part, int64_t step) {
    std::optional<int64_t> pending;
    for (auto [key, place] : awaited.lastOfKey) {
      int64_t behind = 0;
      if (stage == start) {
        behind = counts.count(key, place + 1, ahead);
      } else {
        behind = counts.count(key, place + 1, units.size());
        for (int64_t later = 1; later <= stage - start; ++later) {
          // The epilogue starts no new iterations.
          int64_t epilogueStep = step - (stage - start - later);
          if (part == Part::Epilogue && epilogueStep >= start)
            break;
          behind += counts.count(key, 0,
                                 later == stage - start ? ahead : units.size());
        }
      }
      pending = std::min(pending.value_or(behind), behind);
    }
    schedule.waits[{part, step, wait}].emplace_back(awaited.queue, *pending);
  };
  for (int64_t step = stage; step < schedule.stages - 1; ++step)
    set(Part::Prologue, step);
  set(Part::Kernel, 0);
  for (int64_t step = 0; step < stage; ++step)
    set(Part::Epilogue, step);
  return std::nullopt;
}

/// The buffers into which copies may be under way when the loop begins.
SmallVector<Value> Scheduler::findCopiesInFlight(AsyncQueue queue) {
  llvm::SetVector<Value> roots;
  bool isDrained = false;
  // Returns false where everything before `op` is complete behind it.
  auto visit = [&](Operation *op) {
    if (auto wait = dyn_cast<AsyncWaitOpInterface>(op))
      return wait.getPending(queue) != 0;
    op->walk([&](AsyncCopyOpInterface copy) {
      if (copy.getQueue() == queue && copy.getCopyDestination())
        roots.insert(getRootBuffer(copy.getCopyDestination()));
    });
    return true;
  };
  for (Operation *op = loop; !isDrained && !isa<FunctionOpInterface>(op);
       op = op->getParentOp()) {
    for (Operation *before = op->getPrevNode(); before && !isDrained;
         before = before->getPrevNode())
      isDrained = !visit(before);
    // Around a back edge, the rest of a block comes before.
    if (isDrained || isa<scf::IfOp, FunctionOpInterface>(op->getParentOp()))
      continue;
    for (Block &block : *op->getParentRegion())
      for (Operation &other : block)
        if (&other != op)
          visit(&other);
  }
  return roots.takeVector();
}

/// Copies, and the groups that they belong to, must start in the order of the
/// body, all in one stage.
Scheduler::Reason Scheduler::checkQueue(AsyncQueue queue) {
  std::optional<unsigned> last;
  for (const Unit &unit : units) {
    if (llvm::none_of(unit.events, [&](const AsyncEvent &event) {
          return event.queue == queue;
        }))
      continue;
    unsigned entry = getEntry(unit.op);
    if (last && schedule.entries[entry].position.stage !=
                    schedule.entries[*last].position.stage)
      return std::string(
          "the schedule starts asynchronous copies in several stages");
    if (last && entry < *last)
      return "the schedule would start " + quote(unit.op) + " before " +
             quote(schedule.entries[*last].op) +
             "; asynchronous copies must keep their order";
    last = entry;
  }
  return std::nullopt;
}

Scheduler::Reason Scheduler::checkWaits() {
  if (!async)
    return std::nullopt;
  for (auto [i, entry] : llvm::enumerate(schedule.entries))
    entryNumber[entry.op] = i;
  for (AsyncQueue queue :
       {AsyncQueue::Groups, AsyncQueue::LoadCounter, AsyncQueue::AsyncCounter,
        AsyncQueue::TensorCounter, AsyncQueue::BarrierObject})
    if (Reason reason = checkQueue(queue))
      return reason;

  DenseMap<Value, unsigned> number;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers))
    number[buffer.root] = i;
  std::map<AsyncQueue, QueueCounts> counts;
  for (AsyncQueue queue : kCountedQueues)
    counts.emplace(queue, QueueCounts(*async, queue));
  std::set<AsyncQueue> waited;
  for (const AsyncWait &wait : async->getWaits()) {
    unsigned entry = getEntry(wait.at);
    for (Value root : wait.completed)
      schedule.completes[entry].push_back(number.lookup(root));
    for (Value root : wait.acquired)
      schedule.acquires[entry].push_back(number.lookup(root));
    for (const AsyncWait::Awaited &awaited : wait.awaited) {
      if (Reason reason = setWait(entry, awaited, counts.at(awaited.queue)))
        return reason;
      // The first wait covers what was in flight before the loop, too.
      if (!waited.insert(awaited.queue).second)
        continue;
      for (Value root : findCopiesInFlight(awaited.queue))
        for (auto [i, buffer] : llvm::enumerate(schedule.buffers))
          if (mayAlias(root, buffer.root) &&
              !llvm::is_contained(schedule.completes[entry], i))
            schedule.completes[entry].push_back(i);
    }
  }
  return std::nullopt;
}
