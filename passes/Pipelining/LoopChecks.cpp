//===- LoopChecks.cpp - What the ops of a loop do -------------------------===//

#include "passes/Pipelining/Scheduler.h"

#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Pipelining/ValueFlow.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

std::string smalti::quote(Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

std::string smalti::nameOf(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printAsOperand(os, OpPrintingFlags().useLocalScope());
  return text;
}

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

/// The constant as the counter's type has it, where the loop compares so.
static std::optional<int64_t> getBound(scf::ForOp loop, Value bound) {
  std::optional<int64_t> constant = getConstantIntValue(bound);
  auto type = dyn_cast<IntegerType>(bound.getType());
  if (!constant || !loop.getUnsignedCmp() || !type || type.getWidth() >= 64)
    return constant;
  return *constant & llvm::maskTrailingOnes<uint64_t>(type.getWidth());
}

/// The number of iterations, where it is known.
static std::optional<int64_t> getTripCount(scf::ForOp loop) {
  auto lower = getBound(loop, loop.getLowerBound());
  auto upper = getBound(loop, loop.getUpperBound());
  auto step = getBound(loop, loop.getStep());
  if (!lower || !upper || !step)
    return std::nullopt;
  bool isEmpty = loop.getUnsignedCmp() ? uint64_t(*lower) >= uint64_t(*upper)
                                       : *lower >= *upper;
  if (isEmpty)
    return 0;
  uint64_t count =
      llvm::divideCeil(uint64_t(*upper) - uint64_t(*lower), uint64_t(*step));
  return std::min<uint64_t>(count, std::numeric_limits<int64_t>::max());
}

Scheduler::Reason Scheduler::checkLoop() {
  if (auto step = getConstantIntValue(loop.getStep());
      step && (*step == 0 || (*step < 0 && !loop.getUnsignedCmp())))
    return "its step is " + std::to_string(*step);
  schedule.tripCount = getTripCount(loop);
  return std::nullopt;
}

Scheduler::Reason Scheduler::classify() {
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
    std::string reason;
    if (!collectAccesses(&op, unit.accesses, reason))
      return reason;
    for (const MemoryAccess &access : unit.accesses) {
      bool &flag =
          access.space == MemorySpace::Global
              ? (access.isWrite ? unit.writesGlobal : unit.readsGlobal)
              : (access.isWrite ? unit.writesShared : unit.readsShared);
      flag |= access.space != MemorySpace::Private;
    }
    if (Reason reason = classifyAsync(&op, unit))
      return reason;
    hasBarrierCopies |= llvm::any_of(unit.events, [](const AsyncEvent &event) {
      auto copy = dyn_cast<AsyncCopyOpInterface>(event.op);
      return copy && copy.completesAtBlockBarriers();
    });
    unitOf[&op] = units.size();
    units.push_back(std::move(unit));
  }
  return std::nullopt;
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
    return std::string("it starts no asynchronous copy");
  if (schedule.mode == PipelineMode::Stream && (hasCopies || hasGroups))
    return std::string(
        "it copies asynchronously, which mode=stream leaves alone");
  return std::nullopt;
}

/// Finds the ops that need nothing but the induction variable, values from
/// outside, reads of global memory that nothing in the loop writes, and
/// loop-carried values made of the same.
void Scheduler::findHoistable() {
  SmallVector<Value> writtenRoots;
  SmallVector<std::pair<Value, Operation *>> writes;
  for (const Unit &unit : units)
    for (const MemoryAccess &access : unit.accesses)
      if (access.isWrite && access.space == MemorySpace::Global &&
          !llvm::is_contained(writtenRoots, access.root)) {
        writtenRoots.push_back(access.root);
        writes.emplace_back(access.root, access.op);
      }
  auto isFreeRead = [&](const Unit &unit) {
    if (unit.isCopy || !unit.readsGlobal || unit.writesGlobal ||
        unit.readsShared || unit.writesShared)
      return false;
    for (const MemoryAccess &access : unit.accesses) {
      if (access.space == MemorySpace::Private)
        return false;
      for (auto [root, op] : writes) {
        if (!mayAlias(root, access.root))
          continue;
        if (readStays.empty())
          readStays = quote(op) + " of " + nameOf(root) + " may alias the " +
                      quote(access.op) + " of " + nameOf(access.root) +
                      " in a later iteration";
        return false;
      }
    }
    return true;
  };
  SmallVector<Operation *> worklist;
  DenseMap<Operation *, SmallVector<Operation *>> dependents;
  for (const Unit &unit : units) {
    for (Value operand : operandsOf(unit.op))
      if (Operation *def = getProducer(operand))
        dependents[def].push_back(unit.op);
    if (unit.isPure() || isFreeRead(unit))
      hoistable.insert(unit.op);
    else
      worklist.push_back(unit.op);
  }
  while (!worklist.empty())
    for (Operation *dependent : dependents[worklist.pop_back_val()])
      if (hoistable.erase(dependent))
        worklist.push_back(dependent);
}
