//===- AsyncWaits.cpp - Wait counts in a pipelined loop -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of a queue complete in order, so a wait covers an entry if the wait
// leaves at most as many in flight as certainly follow the entry. Only entries
// from the loop are counted: other entries only make the wait longer.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Pipelining/Scheduler.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

/// Counts queue entries by their positions in the body, which is also the order
/// in the kernel.
class smalti::QueueCounts {
public:
  QueueCounts(const AsyncAnalysis &async, AsyncCompletion queue)
      : async(async), queue(queue), queued(async.getQueuedOps(queue)) {}

  /// The entries in [begin, end) that certainly execute in every thread that
  /// executes one under the conditions `key`.
  int64_t count(unsigned key, unsigned begin, unsigned end) {
    int64_t result = countUnder(0, begin, end);
    if (key != 0 && async.isFixed(key))
      result += countUnder(key, begin, end);
    return result;
  }

private:
  int64_t countUnder(unsigned key, unsigned begin, unsigned end) {
    ArrayRef<unsigned> positions = async.getPositions(queue, key);
    SmallVector<int64_t> &sums = sumsOfKey[key];
    if (sums.empty()) {
      sums.push_back(0);
      for (unsigned position : positions)
        sums.push_back(sums.back() + queued[position].times);
    }
    auto upTo = [&](unsigned position) {
      return sums[llvm::lower_bound(positions, position) - positions.begin()];
    };
    return begin < end ? upTo(end) - upTo(begin) : 0;
  }

  const AsyncAnalysis &async;
  AsyncCompletion queue;
  ArrayRef<QueuedOp> queued;
  DenseMap<unsigned, SmallVector<int64_t>> sumsOfKey;
};

/// Sets how many entries a wait leaves in flight at each of its positions in
/// the pipelined loop: those that follow the last awaited ones.
Scheduler::Reason Scheduler::setWait(unsigned wait,
                                     const AsyncWait::Awaited &awaited,
                                     QueueCounts &counts) {
  ArrayRef<QueuedOp> queued = async->getQueuedOps(awaited.queue);
  int64_t stage = schedule.entries[wait].position.stage;
  int64_t start = schedule.entries[getEntry(queued.front().op)].position.stage;
  // The number of entries that precede the wait in a step.
  unsigned numBefore = llvm::partition_point(queued,
                                             [&](const QueuedOp &copy) {
                                               return getEntry(copy.op) < wait;
                                             }) -
                       queued.begin();
  for (auto [key, position] : awaited.lastOfKey)
    if (stage < start || (stage == start && position >= numBefore)) {
      Operation *waitOp = schedule.entries[wait].op;
      return "the schedule would execute " + quote(waitOp) +
             " before the copies that it waits for; give the wait a later "
             "stage or cluster";
    }
  auto set = [&](Part part, int64_t step) {
    std::optional<int64_t> pending;
    for (auto [key, position] : awaited.lastOfKey) {
      int64_t following = 0;
      if (stage == start) {
        following = counts.count(key, position + 1, numBefore);
      } else {
        following = counts.count(key, position + 1, queued.size());
        for (int64_t later = 1; later <= stage - start; ++later) {
          // The epilogue does not start new iterations.
          int64_t epilogueStep = step - (stage - start - later);
          if (part == Part::Epilogue && epilogueStep >= start)
            break;
          following += counts.count(
              key, 0, later == stage - start ? numBefore : queued.size());
        }
      }
      pending = std::min(pending.value_or(following), following);
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

/// The buffers into which copies may be in flight when the loop starts.
SmallVector<Value> Scheduler::findCopiesInFlight(AsyncCompletion queue) {
  llvm::SetVector<Value> roots;
  bool isDrained = false;
  // Returns false if everything before `op` is complete after it.
  auto visit = [&](Operation *op) {
    if (auto wait = dyn_cast<AsyncWaitOpInterface>(op))
      return wait.getPending(queue) != 0;
    op->walk([&](AsyncCopyOpInterface copy) {
      if (copy.getCompletion() == queue && copy.getCopyDestination())
        roots.insert(getRootBuffer(copy.getCopyDestination()));
    });
    return true;
  };
  for (Operation *op = loop; !isDrained && !isa<FunctionOpInterface>(op);
       op = op->getParentOp()) {
    for (Operation *before = op->getPrevNode(); before && !isDrained;
         before = before->getPrevNode())
      isDrained = !visit(before);
    // With a back edge, the rest of the block precedes the loop too.
    if (isDrained || isa<scf::IfOp, FunctionOpInterface>(op->getParentOp()))
      continue;
    for (Block &block : *op->getParentRegion())
      for (Operation &other : block)
        if (&other != op)
          visit(&other);
  }
  return roots.takeVector();
}

/// Copies, and the groups that contain them, must start in program order and in
/// one stage.
Scheduler::Reason Scheduler::checkQueue(AsyncCompletion queue) {
  std::optional<unsigned> last;
  for (const BodyOp &bodyOp : bodyOps) {
    if (llvm::none_of(bodyOp.events, [&](const AsyncEvent &event) {
          return event.queue == queue;
        }))
      continue;
    unsigned entry = getEntry(bodyOp.op);
    if (last && schedule.entries[entry].position.stage !=
                    schedule.entries[*last].position.stage)
      return std::string("the schedule starts asynchronous copies in several "
                         "stages; all must start in the same stage");
    if (last && entry < *last) {
      Operation *earlier = schedule.entries[*last].op;
      return "the schedule would start " + quote(bodyOp.op) + " before " +
             quote(earlier) + "; asynchronous copies must keep their order";
    }
    last = entry;
  }
  return std::nullopt;
}

Scheduler::Reason Scheduler::checkWaits() {
  if (!async)
    return std::nullopt;
  for (auto [i, entry] : llvm::enumerate(schedule.entries))
    entryNumber[entry.op] = i;
  for (AsyncCompletion queue :
       {AsyncCompletion::Groups, AsyncCompletion::LoadCounter,
        AsyncCompletion::AsyncCounter, AsyncCompletion::TensorCounter,
        AsyncCompletion::BarrierObject})
    if (Reason reason = checkQueue(queue))
      return reason;

  DenseMap<Value, unsigned> number;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers))
    number[buffer.root] = i;
  std::map<AsyncCompletion, QueueCounts> counts;
  for (AsyncCompletion queue : kCountedCompletions)
    counts.emplace(queue, QueueCounts(*async, queue));
  std::set<AsyncCompletion> waited;
  for (const AsyncWait &wait : async->getWaits()) {
    unsigned entry = getEntry(wait.at);
    for (Value root : wait.completed)
      schedule.completes[entry].push_back(number.lookup(root));
    for (Value root : wait.acquired)
      schedule.acquires[entry].push_back(number.lookup(root));
    for (const AsyncWait::Awaited &awaited : wait.awaited) {
      if (Reason reason = setWait(entry, awaited, counts.at(awaited.queue)))
        return reason;
      // The first wait also covers copies from before the loop.
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
