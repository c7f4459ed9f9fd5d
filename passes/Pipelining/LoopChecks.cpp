//===- LoopChecks.cpp - Classification of the ops of a loop ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Pipelining/Scheduler.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Pipelining/ValueFlow.h"
#include "smalti/passes/Support/ValueNames.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace smalti;

ArrayRef<Value> Scheduler::operandsOf(Operation *op) {
  auto [it, inserted] = operandCache.try_emplace(op);
  if (inserted)
    it->second = getUsedInLoop(op, loop);
  return it->second;
}

Operation *Scheduler::getBodyOp(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() ? op : nullptr;
}

Operation *Scheduler::getProducer(Value value) {
  // A loop-carried value may be another carried value of the previous
  // iteration, and these may form a cycle.
  SmallVector<Value> path;
  llvm::SmallDenseSet<Value, 4> seen;
  Operation *producer = nullptr;
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto known = producerOf.find(value);
    if (known != producerOf.end()) {
      producer = known->second;
      break;
    }
    if (argument.getOwner() != loop.getBody() ||
        argument == loop.getInductionVar() || !seen.insert(value).second)
      break;
    path.push_back(value);
    value = loop.getTiedLoopYieldedValue(argument)->get();
  }
  if (!isa<BlockArgument>(value))
    producer = getBodyOp(value);
  for (Value argument : path)
    producerOf[argument] = producer;
  return producer;
}

Scheduler::Reason Scheduler::checkLoop() {
  if (auto step = getConstantIntValue(loop.getStep());
      step && (*step == 0 || (*step < 0 && !loop.getUnsignedCmp())))
    return "the step of the loop is " + std::to_string(*step) +
           "; it must be positive";
  if (hasWideCounter(loop))
    return std::string("the induction variable of the loop has more than 64 "
                       "bits; at most 64 are supported");
  if (std::optional<uint64_t> trips = getConstantTripCount(loop))
    schedule.tripCount =
        std::min<uint64_t>(*trips, std::numeric_limits<int64_t>::max());
  return std::nullopt;
}

Scheduler::Reason Scheduler::classify() {
  mostComparisons = 1 << 16;
  bool hasBarrierCopies = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    BodyOp bodyOp;
    bodyOp.op = &op;
    if (isa<BlockBarrierOpInterface>(op)) {
      schedule.oldBarriers.push_back(&op);
      // The barrier may complete the copies before it.
      if (hasBarrierCopies)
        bodyOps.push_back(std::move(bodyOp));
      continue;
    }
    bodyOp.hasLoop = op.walk([](LoopLikeOpInterface) {
                         return WalkResult::interrupt();
                       }).wasInterrupted();
    std::string reason;
    if (isa<NVVM::FenceProxyOp>(op))
      proxyFence = &op;
    else if (!collectAccesses(&op, bodyOp.accesses, reason))
      return reason;
    if (const MemoryAccess *atomic = findAtomic(bodyOp.accesses))
      return quote(atomic->op) + " atomically updates " +
             names.get(atomic->root) +
             ", and other threads may wait for the update, so it cannot be "
             "delayed";
    for (const MemoryAccess &access : bodyOp.accesses) {
      bool &flag =
          access.space == MemorySpace::Global
              ? (access.isWrite ? bodyOp.writesGlobal : bodyOp.readsGlobal)
              : (access.isWrite ? bodyOp.writesShared : bodyOp.readsShared);
      flag |= access.space != MemorySpace::Private;
    }
    if (Reason reason = classifyAsync(&op, bodyOp, names))
      return reason;
    hasBarrierCopies |=
        llvm::any_of(bodyOp.events, [](const AsyncEvent &event) {
          auto copy = dyn_cast<AsyncCopyOpInterface>(event.op);
          return copy && copy.completesAtBlockBarriers();
        });
    mostComparisons += 64 * bodyOp.accesses.size();
    bodyOpIndex[&op] = bodyOps.size();
    bodyOps.push_back(std::move(bodyOp));
  }
  // Whether the loop synchronizes threads.
  bool isSynchronized = !schedule.oldBarriers.empty() ||
                        llvm::any_of(bodyOps, [](const BodyOp &bodyOp) {
                          return bodyOp.isWait || !bodyOp.events.empty();
                        });
  dependence.emplace(loop, isSynchronized ? options.uniformity : nullptr);
  return std::nullopt;
}

/// Lanes with a larger trip count execute an iteration in the kernel that other
/// lanes execute in the epilogue, or in the original loop. The lanes would not
/// converge at the exchange.
Scheduler::Reason Scheduler::checkLanes() {
  if (schedule.tripCount)
    return std::nullopt;
  Operation *exchange = nullptr;
  loop.getBody()->walk([&](LaneExchangeOpInterface op) {
    exchange = op;
    return WalkResult::interrupt();
  });
  if (!exchange ||
      options.uniformity
              ->getControl(cast<RegionBranchOpInterface>(loop.getOperation()))
              .scope <= UniformScope::Wave)
    return std::nullopt;
  return "the trip count may be divergent, and the result of " +
         quote(exchange) +
         " depends on which lanes execute it together; make the trip count "
         "uniform";
}

Scheduler::Reason Scheduler::chooseMode() {
  bool hasCopies =
      llvm::any_of(bodyOps, [](const BodyOp &u) { return u.isCopy; });
  bool hasGroups = llvm::any_of(
      bodyOps, [](const BodyOp &u) { return !u.events.empty() || u.isWait; });
  schedule.mode = options.mode;
  if (schedule.mode == PipelineMode::Auto)
    schedule.mode =
        hasCopies || hasGroups ? PipelineMode::Async : PipelineMode::Stream;
  if (schedule.mode == PipelineMode::Async && !hasCopies)
    return std::string("mode=async requires an asynchronous copy in the loop "
                       "body; use mode=stream or mode=auto");
  if (schedule.mode == PipelineMode::Stream && (hasCopies || hasGroups))
    return std::string("mode=stream does not support the asynchronous copies "
                       "in this loop; use mode=async or mode=auto");
  // The fence stays in the last stage, between the writes that it makes visible
  // and the barrier.
  if (proxyFence &&
      (schedule.mode == PipelineMode::Stream || options.useSchedule))
    return quote(proxyFence) +
           " must follow writes to shared memory in the same iteration, and " +
           (options.useSchedule ? "a given schedule" : "mode=stream") +
           " may move them to another iteration; only the schedules of "
           "mode=async are supported";
  return std::nullopt;
}

bool Scheduler::mayTouchSame(const TimedAccess &a, const TimedAccess &b,
                             int64_t distance) {
  if (!a.access || !b.access || ++comparisons > mostComparisons)
    return true;
  return dependence->mayTouchSame(*a.access, *b.access, distance);
}

std::string Scheduler::describeComparisonLimit() const {
  if (comparisons <= mostComparisons)
    return "";
  return "; " + std::to_string(mostComparisons) +
         " pairs of accesses were compared, and the remaining pairs are "
         "assumed to alias";
}

/// The change that permits a read of `a` to precede a write to `b`, or "".
static std::string suggestNoalias(Value a, Value b) {
  auto isFunctionArgument = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument &&
           isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  };
  if (a == b)
    return "; write to another buffer";
  if (!isFunctionArgument(a) || !isFunctionArgument(b))
    return "";
  return "; if these arguments do not overlap, mark them llvm.noalias";
}

/// Finds the ops that depend only on the induction variable, loop-invariant
/// values, prefetchable reads of global memory, and loop-carried values of
/// these. A read is prefetchable if it may precede the writes of earlier
/// iterations.
void Scheduler::findHoistable() {
  SmallVector<TimedAccess> writes;
  for (auto [i, bodyOp] : llvm::enumerate(bodyOps))
    for (const MemoryAccess &access : bodyOp.accesses)
      if (access.isWrite && access.space == MemorySpace::Global)
        writes.push_back({&access, 0, true, {}, unsigned(i)});
  AccessLists lists;
  for (const TimedAccess &write : writes)
    lists.add(&write, getAliasClass(write.access->root));
  auto isFree = [&](const TimedAccess &read) {
    auto blocksPrefetch = [&](const AccessList &list, bool) {
      for (const TimedAccess *write : list.items) {
        // Writes stay in the last stage; reads move across as many of them.
        int64_t distance = write->order < read.order ? 0 : 1;
        for (; distance < schedule.stages; ++distance) {
          if (!mayTouchSame(*write, read, distance))
            continue;
          if (blockedRead.empty())
            blockedRead =
                quote(write->access->op) + " of " +
                names.get(write->access->root) + " may alias the " +
                quote(read.access->op) + " of " + names.get(read.access->root) +
                " in " + (distance == 0 ? "the same" : "a later") +
                " iteration, so the read cannot be prefetched before the "
                "write" +
                suggestNoalias(write->access->root, read.access->root);
          return true;
        }
      }
      return false;
    };
    return !lists.visitConflicting(getAliasClass(read.access->root),
                                   /*isWrite=*/false, blocksPrefetch);
  };
  auto isFreeRead = [&](unsigned number) {
    const BodyOp &bodyOp = bodyOps[number];
    // A loop is a computation, not a read.
    if (!bodyOp.events.empty() || bodyOp.isWait || bodyOp.hasLoop ||
        !bodyOp.readsGlobal || bodyOp.writesGlobal || bodyOp.readsShared ||
        bodyOp.writesShared)
      return false;
    return llvm::all_of(bodyOp.accesses, [&](const MemoryAccess &access) {
      return access.space != MemorySpace::Private &&
             isFree({&access, 0, false, {}, number});
    });
  };
  SmallVector<Operation *> worklist;
  DenseMap<Operation *, SmallVector<Operation *>> dependents;
  for (auto [i, bodyOp] : llvm::enumerate(bodyOps)) {
    for (Value operand : operandsOf(bodyOp.op))
      if (Operation *def = getProducer(operand))
        dependents[def].push_back(bodyOp.op);
    if ((bodyOp.isPure() && !bodyOp.hasLoop) || isFreeRead(i))
      hoistable.insert(bodyOp.op);
    else
      worklist.push_back(bodyOp.op);
  }
  while (!worklist.empty())
    for (Operation *dependent : dependents[worklist.pop_back_val()])
      if (hoistable.erase(dependent))
        worklist.push_back(dependent);
}
