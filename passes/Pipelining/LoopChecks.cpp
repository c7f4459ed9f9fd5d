//===- LoopChecks.cpp - What the ops of a loop do -------------------------===//

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Pipelining/Scheduler.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Pipelining/ValueFlow.h"
#include "smalti/passes/Support/ValueNames.h"

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
  // A loop-carried value may be another one of the iteration before, or go
  // round for ever.
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
    return "the step is " + std::to_string(*step) + "; it must be positive";
  if (hasWideCounter(loop))
    return std::string("the induction variable has more than 64 bits");
  if (std::optional<uint64_t> trips = getConstantTripCount(loop))
    schedule.tripCount =
        std::min<uint64_t>(*trips, std::numeric_limits<int64_t>::max());
  return std::nullopt;
}

Scheduler::Reason Scheduler::classify() {
  mostComparisons = 1 << 16;
  bool hasBarrierCopies = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    Unit unit;
    unit.op = &op;
    if (isa<BlockBarrierOpInterface>(op)) {
      schedule.oldBarriers.push_back(&op);
      // It may turn out to be what completes the copies before it.
      if (hasBarrierCopies)
        units.push_back(std::move(unit));
      continue;
    }
    unit.hasLoop = op.walk([](LoopLikeOpInterface) {
                       return WalkResult::interrupt();
                     }).wasInterrupted();
    std::string reason;
    if (!collectAccesses(&op, unit.accesses, reason))
      return reason;
    if (const MemoryAccess *atomic = findAtomic(unit.accesses))
      return quote(atomic->op) + " atomically updates " +
             names.get(atomic->root) +
             ", and other threads may wait for the update";
    for (const MemoryAccess &access : unit.accesses) {
      bool &flag =
          access.space == MemorySpace::Global
              ? (access.isWrite ? unit.writesGlobal : unit.readsGlobal)
              : (access.isWrite ? unit.writesShared : unit.readsShared);
      flag |= access.space != MemorySpace::Private;
    }
    if (Reason reason = classifyAsync(&op, unit, names))
      return reason;
    hasBarrierCopies |= llvm::any_of(unit.events, [](const AsyncEvent &event) {
      auto copy = dyn_cast<AsyncCopyOpInterface>(event.op);
      return copy && copy.completesAtBlockBarriers();
    });
    mostComparisons += 64 * unit.accesses.size();
    unitOf[&op] = units.size();
    units.push_back(std::move(unit));
  }
  // Whether threads wait for one another in the loop.
  bool isSynchronized = !schedule.oldBarriers.empty() ||
                        llvm::any_of(units, [](const Unit &unit) {
                          return unit.isWait || !unit.events.empty();
                        });
  dependence.emplace(loop, isSynchronized ? options.uniformity : nullptr);
  return std::nullopt;
}

/// Lanes that run the loop more often than others take an iteration in the
/// kernel that others take in the epilogue, or in the loop as it was: they
/// would no longer meet.
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
         quote(exchange) + " depends on which lanes execute it together";
}

Scheduler::Reason Scheduler::chooseMode() {
  bool hasCopies = llvm::any_of(units, [](const Unit &u) { return u.isCopy; });
  bool hasGroups = llvm::any_of(
      units, [](const Unit &u) { return !u.events.empty() || u.isWait; });
  schedule.mode = options.mode;
  if (schedule.mode == PipelineMode::Auto)
    schedule.mode =
        hasCopies || hasGroups ? PipelineMode::Async : PipelineMode::Stream;
  if (schedule.mode == PipelineMode::Async && !hasCopies)
    return std::string("the body does not start an asynchronous copy");
  if (schedule.mode == PipelineMode::Stream && (hasCopies || hasGroups))
    return std::string(
        "mode=stream does not support the asynchronous copies in this loop");
  return std::nullopt;
}

bool Scheduler::mayTouchSame(const TimedAccess &a, const TimedAccess &b,
                             int64_t distance) {
  if (!a.access || !b.access || ++comparisons > mostComparisons)
    return true;
  return dependence->mayTouchSame(*a.access, *b.access, distance);
}

std::string Scheduler::whatIsNotCompared() const {
  if (comparisons <= mostComparisons)
    return "";
  return "; " + std::to_string(mostComparisons) +
         " pairs of accesses were compared, and the remaining pairs are "
         "assumed to alias";
}

/// Finds the ops that need nothing but the induction variable, values from
/// outside, reads of global memory that may be done before what earlier
/// iterations write, and loop-carried values made of the same.
void Scheduler::findHoistable() {
  SmallVector<TimedAccess> writes;
  for (auto [i, unit] : llvm::enumerate(units))
    for (const MemoryAccess &access : unit.accesses)
      if (access.isWrite && access.space == MemorySpace::Global)
        writes.push_back({&access, 0, true, {}, unsigned(i)});
  AccessLists lists;
  for (const TimedAccess &write : writes)
    lists.add(&write, getAliasClass(write.access->root));
  auto isFree = [&](const TimedAccess &read) {
    auto mustStay = [&](const AccessList &list, bool) {
      for (const TimedAccess *write : list.items) {
        // Writes stay in the last stage; reads pass as many of them.
        int64_t distance = write->order < read.order ? 0 : 1;
        for (; distance < schedule.stages; ++distance) {
          if (!mayTouchSame(*write, read, distance))
            continue;
          if (readStays.empty())
            readStays = quote(write->access->op) + " of " +
                        names.get(write->access->root) + " may alias the " +
                        quote(read.access->op) + " of " +
                        names.get(read.access->root) + " in " +
                        (distance == 0 ? "the same" : "a later") + " iteration";
          return true;
        }
      }
      return false;
    };
    return !lists.visitConflicting(getAliasClass(read.access->root),
                                   /*isWrite=*/false, mustStay);
  };
  auto isFreeRead = [&](unsigned number) {
    const Unit &unit = units[number];
    // A loop is something to compute, not a read.
    if (!unit.events.empty() || unit.isWait || unit.hasLoop ||
        !unit.readsGlobal || unit.writesGlobal || unit.readsShared ||
        unit.writesShared)
      return false;
    return llvm::all_of(unit.accesses, [&](const MemoryAccess &access) {
      return access.space != MemorySpace::Private &&
             isFree({&access, 0, false, {}, number});
    });
  };
  SmallVector<Operation *> worklist;
  DenseMap<Operation *, SmallVector<Operation *>> dependents;
  for (auto [i, unit] : llvm::enumerate(units)) {
    for (Value operand : operandsOf(unit.op))
      if (Operation *def = getProducer(operand))
        dependents[def].push_back(unit.op);
    if ((unit.isPure() && !unit.hasLoop) || isFreeRead(i))
      hoistable.insert(unit.op);
    else
      worklist.push_back(unit.op);
  }
  while (!worklist.empty())
    for (Operation *dependent : dependents[worklist.pop_back_val()])
      if (hoistable.erase(dependent))
        worklist.push_back(dependent);
}
