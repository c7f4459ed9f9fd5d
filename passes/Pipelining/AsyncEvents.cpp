//===- AsyncEvents.cpp - Matching of copies and waits ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Visits the body in order and determines which copies an op starts, itself or
// under conditions, how they complete, and which wait completes each copy. A
// loop is refused if a use is not covered by a wait, or a wait covers copies of
// another iteration.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Pipelining/AsyncAnalysis.h"
#include "smalti/passes/Pipelining/Scheduler.h"
#include "smalti/passes/Support/ValueNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace smalti;

static constexpr char kPipelinedAlready[] =
    "the loop appears to be pipelined already";
static constexpr char kForeignBarrier[] =
    "on which no copy of the loop completes; move the op out of the loop, or "
    "let a copy of the loop complete on the mbarrier";
static constexpr char kWaitsForOther[] =
    " does not wait for a copy of the same iteration; the loop appears to be "
    "pipelined already";

//===----------------------------------------------------------------------===//
// Body ops
//===----------------------------------------------------------------------===//

namespace {

/// Collects the events of one body op in program order.
class EventCollector {
public:
  EventCollector(Operation *top, BodyOp &bodyOp) : top(top), bodyOp(bodyOp) {}

  std::optional<std::string> visit(Operation *op, int64_t times,
                                   bool isRepeated);

private:
  std::string misplaced(Operation *op) const {
    return quote(op) + " is inside " + quote(top) +
           ", which can only be scheduled as a whole; move the inner op to the "
           "top level of the loop body";
  }
  std::optional<std::string> visitRegions(Operation *op, int64_t times,
                                          bool isRepeated);

  Operation *top;
  BodyOp &bodyOp;
  SmallVector<std::pair<Value, bool>, 1> conditions;
};

} // namespace

/// An op that the schedule must consider at any nesting depth.
static bool isAsync(Operation *op) {
  return isa<BlockBarrierOpInterface, AsyncCopyOpInterface,
             AsyncCommitOpInterface, AsyncWaitOpInterface,
             BarrierObjectOpInterface>(op);
}

std::optional<std::string> EventCollector::visit(Operation *op, int64_t times,
                                                 bool isRepeated) {
  if (isa<BlockBarrierOpInterface>(op))
    return misplaced(op);
  if (isa<AsyncWaitOpInterface>(op)) {
    if (op != top)
      return misplaced(op);
    bodyOp.isWait = true;
    return std::nullopt;
  }
  if (isa<AsyncCommitOpInterface>(op)) {
    if (isRepeated)
      return misplaced(op);
    bodyOp.isCommit = true;
    bodyOp.events.push_back({op, AsyncCompletion::Groups, conditions, times});
    return std::nullopt;
  }
  if (auto copy = dyn_cast<AsyncCopyOpInterface>(op)) {
    bodyOp.isCopy = true;
    bodyOp.events.push_back({op, copy.getCompletion(), conditions, times});
    return std::nullopt;
  }
  if (auto object = dyn_cast<BarrierObjectOpInterface>(op)) {
    switch (object.getBarrierAction()) {
    case BarrierAction::Init:
      return quote(op) + " initializes an mbarrier in every iteration; "
                         "initialize it before the loop";
    case BarrierAction::Poll:
      return quote(op) +
             " polls an mbarrier; only waits that block are supported";
    case BarrierAction::Wait:
      if (op != top)
        return misplaced(op);
      bodyOp.isWait = true;
      return std::nullopt;
    default:
      bodyOp.isArrive = true;
      bodyOp.events.push_back(
          {op, AsyncCompletion::BarrierObject, conditions, times});
      return std::nullopt;
    }
  }
  return visitRegions(op, times, isRepeated);
}

std::optional<std::string>
EventCollector::visitRegions(Operation *op, int64_t times, bool isRepeated) {
  if (op->getNumRegions() == 0)
    return std::nullopt;
  Operation *inner = nullptr;
  op->walk([&](Operation *nested) {
    if (!inner && isAsync(nested))
      inner = nested;
  });
  if (!inner)
    return std::nullopt;
  auto branch = dyn_cast<scf::IfOp>(op);
  auto repeat = dyn_cast<scf::ForOp>(op);
  if (!branch && !repeat)
    return misplaced(inner);
  if (repeat) {
    isRepeated = true;
    std::optional<uint64_t> count = getConstantTripCount(repeat);
    times *= count && llvm::isUInt<16>(*count) ? *count : 0;
  }
  for (auto [i, region] : llvm::enumerate(op->getRegions())) {
    if (branch)
      conditions.emplace_back(branch.getCondition(), i == 0);
    for (Operation &nested : region.getOps())
      if (auto reason = visit(&nested, times, isRepeated))
        return reason;
    if (branch)
      conditions.pop_back();
  }
  return std::nullopt;
}

std::optional<std::string> smalti::classifyAsync(Operation *op, BodyOp &bodyOp,
                                                 ValueNames &names) {
  if (auto reason = EventCollector(op, bodyOp)
                        .visit(op, /*times=*/1,
                               /*isRepeated=*/false))
    return reason;
  if (op->getNumRegions() == 0 || bodyOp.events.empty())
    return std::nullopt;
  // The whole op starts with its copies. Its own writes complete with the
  // copies into the same buffer, if a block barrier follows the wait for them.
  llvm::SmallDenseSet<Value, 4> copied;
  for (const AsyncEvent &event : bodyOp.events)
    if (auto copy = dyn_cast<AsyncCopyOpInterface>(event.op);
        copy && event.queue != AsyncCompletion::BarrierObject)
      copied.insert(getRootBuffer(copy.getCopyDestination()));
  for (const MemoryAccess &access : bodyOp.accesses) {
    if (isAsync(access.op) ||
        (access.space == MemorySpace::Global && !access.isWrite) ||
        (access.isWrite && copied.contains(access.root)))
      continue;
    return quote(access.op) + (access.isWrite ? " writes " : " reads ") +
           names.get(access.root) + " inside " + quote(op) +
           ", which contains asynchronous copies; move the access out of the "
           "op";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

unsigned AsyncAnalysis::getKey(const AsyncEvent &event) {
  std::vector<std::pair<void *, bool>> key;
  for (auto [condition, branch] : event.conditions)
    key.emplace_back(condition.getAsOpaquePointer(), branch);
  auto [it, inserted] = keys.insert({key, keyIsFixed.size()});
  if (inserted)
    keyIsFixed.push_back(llvm::all_of(event.conditions, [&](auto condition) {
      return isInvariant(condition.first);
    }));
  return it->second;
}

/// Whether the value is loop-invariant.
bool AsyncAnalysis::isInvariant(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  auto it = invariant.find(value);
  if (it != invariant.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  return isInvariant(operand);
                });
  invariant[value] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// The body in program order
//===----------------------------------------------------------------------===//

/// Whether two values are computed by the same ops from the same values.
static bool isSameValue(Value a, Value b, unsigned depth = 8) {
  if (a == b)
    return true;
  Operation *defA = a.getDefiningOp(), *defB = b.getDefiningOp();
  if (depth == 0 || !defA || !defB || !isMemoryEffectFree(defA) ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber())
    return false;
  return OperationEquivalence::isEquivalentTo(
      defA, defB,
      [&](Value x, Value y) { return success(isSameValue(x, y, depth - 1)); },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

static bool isSameBarrier(const BarrierRef &a, const BarrierRef &b) {
  if (!isSameValue(a.barrier, b.barrier))
    return false;
  auto indexA = dyn_cast_if_present<Value>(a.index);
  auto indexB = dyn_cast_if_present<Value>(b.index);
  return indexA && indexB ? isSameValue(indexA, indexB) : a.index == b.index;
}

void AsyncAnalysis::setComplete(AsyncCompletion queue, unsigned position) {
  bool &isDone = isComplete[unsigned(queue)][position];
  if (!isDone)
    llvm::append_range(completedCopies, copiesAt[unsigned(queue)][position]);
  isDone = true;
}

/// Marks the entries of the queue that are complete if at most `pending`
/// entries are in flight: those that at least `pending` entries certainly
/// follow.
void AsyncAnalysis::completeQueue(AsyncCompletion queue, int64_t pending,
                                  unsigned size, AsyncWait &wait) {
  QueuedOps &entries = queues[unsigned(queue)];
  int64_t always = 0;
  llvm::SmallDenseMap<unsigned, int64_t> underKey;
  llvm::SmallDenseMap<unsigned, unsigned> last;
  unsigned seq = size;
  // Go back until enough entries follow for all conditions.
  while (seq > 0 && always < pending) {
    const QueuedOp &entry = entries[--seq];
    int64_t following = always;
    if (keyIsFixed[entry.key] && entry.key != 0)
      following += underKey.lookup(entry.key);
    if (following >= pending) {
      last.try_emplace(entry.key, seq);
      setComplete(queue, seq);
    }
    (entry.key == 0 ? always : underKey[entry.key]) += entry.times;
  }
  if (always >= pending && seq > 0) {
    for (auto [key, position] : lastOfKey(queue, seq))
      last.try_emplace(key, position);
    unsigned &allComplete = completeBelow[unsigned(queue)];
    for (; allComplete < seq; ++allComplete)
      setComplete(queue, allComplete);
  }
  wait.awaited.push_back({queue, {}});
  for (auto [key, position] : last)
    wait.awaited.back().lastOfKey.emplace_back(key, position);
  llvm::sort(wait.awaited.back().lastOfKey);
}

/// For each condition the last entry below `size`.
SmallVector<std::pair<unsigned, unsigned>>
AsyncAnalysis::lastOfKey(AsyncCompletion queue, unsigned size) const {
  SmallVector<std::pair<unsigned, unsigned>> result;
  for (auto &[key, positions] : positionsOfKey[unsigned(queue)]) {
    auto it = llvm::lower_bound(positions, size);
    if (it != positions.begin())
      result.emplace_back(key, *std::prev(it));
  }
  return result;
}

void AsyncAnalysis::addQueuedOp(AsyncCompletion queue, Operation *op,
                                const AsyncEvent &event) {
  unsigned key = getKey(event);
  QueuedOps &entries = queues[unsigned(queue)];
  positionsOfKey[unsigned(queue)][key].push_back(entries.size());
  entries.push_back({op, key, event.times});
  isComplete[unsigned(queue)].push_back(false);
  copiesAt[unsigned(queue)].emplace_back();
}

/// Records the events of a body op.
std::optional<std::string> AsyncAnalysis::start(const BodyOp &bodyOp) {
  for (const AsyncEvent &event : bodyOp.events) {
    if (isa<AsyncCommitOpInterface>(event.op)) {
      addQueuedOp(AsyncCompletion::Groups, bodyOp.op, event);
      unsigned key = getKey(event);
      // Copies whose threads certainly commit this group belong to it.
      llvm::erase_if(ungrouped, [&](unsigned copy) {
        if (key != 0 && key != copies[copy].key)
          return false;
        copies[copy].position = queues[0].size() - 1;
        copiesAt[0].back().push_back(copy);
        return true;
      });
      continue;
    }
    if (auto copy = dyn_cast<AsyncCopyOpInterface>(event.op)) {
      Value root = getRootBuffer(copy.getCopyDestination());
      CopyState state{copy, root, event.queue, getKey(event)};
      if (event.queue == AsyncCompletion::Groups) {
        ungrouped.push_back(copies.size());
      } else if (event.queue == AsyncCompletion::BarrierObject) {
        state.barrier = getBarrierRef(cast<BarrierObjectOpInterface>(event.op));
        onBarrier[getRootBuffer(state.barrier->barrier)].push_back(
            copies.size());
      } else {
        addQueuedOp(event.queue, bodyOp.op, event);
        state.position = queues[unsigned(event.queue)].size() - 1;
        copiesAt[unsigned(event.queue)].back().push_back(copies.size());
      }
      open[root].push_back(copies.size());
      AliasClass alias = getAliasClass(root);
      unsettled[{alias.space, alias.kind}].insert(numberOf[root]);
      copies.push_back(state);
      continue;
    }
    auto object = cast<BarrierObjectOpInterface>(event.op);
    BarrierRef ref = getBarrierRef(object);
    Value root = getRootBuffer(ref.barrier);
    if (!barrierRoots.contains(root))
      return quote(event.op) + " arrives on the mbarrier " + names.get(root) +
             ", " + kForeignBarrier;
    for (const BarrierRef &other : waitedBarriers)
      if (getRootBuffer(other.barrier) == root && isSameBarrier(ref, other))
        return quote(event.op) + " arrives on " + names.get(root) +
               " after the wait of the same iteration; " + kPipelinedAlready;
  }
  return std::nullopt;
}

bool AsyncAnalysis::isDone(const CopyState &copy) const {
  if (copy.queue == AsyncCompletion::BarrierObject)
    return copy.isAcquired;
  return copy.position && isComplete[unsigned(copy.queue)][*copy.position];
}

/// A wait for a phase of an mbarrier completes the copies on it.
std::optional<std::string>
AsyncAnalysis::waitForBarrier(unsigned body, BarrierObjectOpInterface op) {
  BarrierRef ref = getBarrierRef(op);
  Value root = getRootBuffer(ref.barrier);
  if (!barrierRoots.contains(root))
    return quote(op) + " waits for the mbarrier " + names.get(root) + ", " +
           kForeignBarrier;
  AsyncWait wait{body, op, op};
  bool isOwn = llvm::any_of(waitedBarriers, [&](const BarrierRef &other) {
    return isSameBarrier(ref, other);
  });
  llvm::erase_if(onBarrier[root], [&](unsigned position) {
    CopyState &copy = copies[position];
    if (!isSameBarrier(*copy.barrier, ref))
      return false;
    isOwn = copy.isAcquired = true;
    wait.acquired.insert(copy.root);
    return true;
  });
  if (!isOwn)
    return quote(op) + kWaitsForOther;
  waitedBarriers.push_back(ref);
  waits.push_back(std::move(wait));
  return std::nullopt;
}

std::optional<std::string>
AsyncAnalysis::waitForQueues(unsigned body, AsyncWaitOpInterface op) {
  AsyncWait wait{body, op, op};
  for (AsyncCompletion queue : kCountedCompletions) {
    std::optional<int64_t> pending = op.getPending(queue);
    if (!pending)
      continue;
    if (!startsIn[unsigned(queue)]) {
      if (*pending == 0)
        continue;
      return quote(op) + " leaves " + std::to_string(*pending) +
             (*pending == 1 ? " copy" : " copies") +
             " in flight, but the loop does not start a copy that this wait "
             "counts; "
             "move the wait out of the loop";
    }
    unsigned size = queues[unsigned(queue)].size();
    completeQueue(queue, *pending, size, wait);
    if (wait.awaited.back().lastOfKey.empty())
      return quote(op) + kWaitsForOther;
  }
  noteCompleted(wait);
  waits.push_back(std::move(wait));
  return std::nullopt;
}

/// Records the buffers whose copies this wait completes.
void AsyncAnalysis::noteCompleted(AsyncWait &wait) {
  auto positionOf = [&](unsigned copy) {
    return open.find(copies[copy].root) - open.begin();
  };
  llvm::sort(completedCopies, [&](unsigned a, unsigned b) {
    return positionOf(a) < positionOf(b);
  });
  for (unsigned copy : completedCopies)
    wait.completed.insert(copies[copy].root);
  completedCopies.clear();
}

/// Turns the last block barrier into a wait, if that completes the copy.
bool AsyncAnalysis::waitAtBarrier(const CopyState &copy) {
  auto op = copy.op;
  if (!op.completesAtBlockBarriers() || barriers.empty() || !copy.position)
    return false;
  BarrierState &barrier = barriers.back();
  unsigned size = barrier.sizes[unsigned(copy.queue)];
  if (*copy.position >= size)
    return false;
  AsyncWait wait{barrier.body, barrier.op, op};
  completeQueue(copy.queue, /*pending=*/0, size, wait);
  noteCompleted(wait);
  waits.push_back(std::move(wait));
  return true;
}

/// Checks that every copy that the access may touch is complete.
std::optional<std::string> AsyncAnalysis::use(const BodyOp &bodyOp,
                                              const MemoryAccess &access) {
  AliasClass alias = getAliasClass(access.root);
  SmallVector<unsigned> numbers(rootsOf.lookup(alias.identity));
  for (auto &[other, roots] : unsettled)
    if (other.first == alias.space && mayAlias(other.second, alias.kind))
      llvm::append_range(numbers, roots);
  llvm::sort(numbers);
  for (unsigned number : numbers) {
    Value root = copiedRoots[number];
    if (!mayAlias(root, access.root))
      continue;
    auto found = open.find(root);
    if (found == open.end())
      return quote(bodyOp.op) + " uses " + names.get(root) +
             " before the copy into it in the same iteration; " +
             kPipelinedAlready;
    while (!found->second.empty()) {
      const CopyState &copy = copies[found->second.back()];
      if (isDone(copy)) {
        found->second.pop_back();
        continue;
      }
      if (!waitAtBarrier(copy))
        return quote(bodyOp.op) + " uses " + names.get(root) +
               " before a wait completes the copy into it; add a wait and a "
               "barrier before the use";
    }
    AliasClass settled = getAliasClass(root);
    unsettled[{settled.space, settled.kind}].erase(number);
  }
  return std::nullopt;
}

std::optional<std::string> AsyncAnalysis::run() {
  for (const BodyOp &bodyOp : bodyOps)
    for (const AsyncEvent &event : bodyOp.events) {
      auto copy = dyn_cast<AsyncCopyOpInterface>(event.op);
      if (!copy)
        continue;
      copiedRoots.insert(getRootBuffer(copy.getCopyDestination()));
      startsIn[unsigned(event.queue)] = true;
      if (auto object = dyn_cast<BarrierObjectOpInterface>(event.op))
        barrierRoots.insert(getRootBuffer(object.getBarrierMutable().get()));
    }
  for (auto [i, root] : llvm::enumerate(copiedRoots)) {
    AliasClass alias = getAliasClass(root);
    rootsOf[alias.identity].push_back(i);
    unsettled[{alias.space, alias.kind}].insert(i);
    numberOf[root] = i;
  }
  for (auto [i, bodyOp] : llvm::enumerate(bodyOps)) {
    std::optional<std::string> reason;
    if (isa<BlockBarrierOpInterface>(bodyOp.op)) {
      BarrierState &barrier = barriers.emplace_back();
      barrier.body = i;
      barrier.op = bodyOp.op;
      for (AsyncCompletion queue : kCountedCompletions)
        barrier.sizes[unsigned(queue)] = queues[unsigned(queue)].size();
    } else if (!bodyOp.events.empty()) {
      reason = start(bodyOp);
    } else if (auto wait = dyn_cast<AsyncWaitOpInterface>(bodyOp.op)) {
      reason = waitForQueues(i, wait);
    } else if (bodyOp.isWait) {
      reason = waitForBarrier(i, cast<BarrierObjectOpInterface>(bodyOp.op));
    } else {
      for (const MemoryAccess &access : bodyOp.accesses)
        if (access.space == MemorySpace::Shared && !reason)
          reason = use(bodyOp, access);
    }
    if (reason)
      return reason;
  }
  if (!ungrouped.empty())
    return "a copy into " + names.get(copies[ungrouped.front()].root) +
           " is not committed to a group in the same iteration; add an op that "
           "commits it, such as nvgpu.device_async_create_group";
  for (const CopyState &copy : copies)
    if (copy.queue == AsyncCompletion::BarrierObject && !copy.isAcquired) {
      std::string mbarrier = names.get(getRootBuffer(copy.barrier->barrier));
      return quote(copy.op) + " completes on " + mbarrier +
             ", which the loop does not wait for; add a wait to the loop body";
    }
  llvm::stable_sort(waits, [](const AsyncWait &a, const AsyncWait &b) {
    return a.body < b.body;
  });
  return std::nullopt;
}
