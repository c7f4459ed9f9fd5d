//===- AsyncSchedule.cpp - Asynchronous copies ahead ----------------------===//

#include "passes/Pipelining/Scheduler.h"

#include "passes/Interfaces/LoopInterfaces.h"

using namespace mlir;
using namespace smalti;

Scheduler::Reason Scheduler::placeAsync() {
  Position wait{schedule.stages - 1, 0};
  Position copy{0, 1};
  compute = {schedule.stages - 1, 2};
  // What the copies need runs ahead with them.
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> needed;
  bool computes = !loop.getYieldedValues().empty();
  bool waited = false;
  for (const Unit &unit : units) {
    if (unit.isPure())
      continue;
    if (unit.isCopy || unit.isCommit) {
      positions[unit.op] = {copy};
      worklist.push_back(unit.op);
      schedule.readsAhead += unit.isCopy;
      continue;
    }
    // The first wait stands ahead of the next copies, so that the barrier
    // behind it also says that their buffers are free.
    positions[unit.op] = {unit.isWait && !waited ? wait : compute};
    waited |= unit.isWait;
    computes |= !unit.isWait;
  }
  if (!waited)
    return std::string("it never waits for its asynchronous copies");
  if (!computes)
    return std::string("it only copies: there is nothing to overlap with");
  while (!worklist.empty()) {
    for (Value operand : operandsOf(worklist.pop_back_val())) {
      Operation *def = getProducer(operand);
      if (!def || !needed.insert(def).second)
        continue;
      worklist.push_back(def);
      const Unit &unit = units[unitOf[def]];
      if (unit.isPure() || unit.isCopy || unit.isCommit)
        continue;
      if (!hoistable.contains(def))
        return "its asynchronous copies depend on " + quote(def) +
               ", which cannot run ahead";
      positions[def] = {copy};
    }
  }
  return std::nullopt;
}

/// Finds for each wait which copies it waits for, and how many groups it may
/// leave in flight in the pipelined loop.
Scheduler::Reason Scheduler::checkWaits() {
  SmallVector<unsigned> commits, waits;
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    const Unit &unit = units[unitOf[entry.op]];
    if (unit.isCommit)
      commits.push_back(i);
    if (unit.isWait)
      waits.push_back(i);
  }
  if (commits.empty() && waits.empty())
    return std::nullopt;
  int64_t groups = commits.size();
  for (unsigned commit : commits)
    if (schedule.entries[commit].position.stage !=
        schedule.entries[commits.front()].position.stage)
      return std::string("its groups of copies are made in several stages");
  // The group of every copy, and how many groups are made before each op.
  DenseMap<Operation *, int64_t> groupsBefore;
  llvm::MapVector<unsigned, int64_t> groupOfBuffer; // the last one
  int64_t made = 0;
  DenseMap<Value, unsigned> number;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers))
    number[buffer.root] = i;
  // In the body's order: groups whose copies are known to be complete.
  int64_t complete = 0;
  for (const Unit &unit : units) {
    groupsBefore[unit.op] = made;
    if (unit.isCommit)
      ++made;
    if (unit.isCopy)
      for (const MemoryAccess &access : unit.accesses)
        if (access.isWrite)
          groupOfBuffer[number[access.root]] = made + 1;
    if (unit.isWait) {
      int64_t pending =
          *cast<AsyncWaitOpInterface>(unit.op).getPending(AsyncQueue::Groups);
      complete = std::max(complete, made - pending);
    }
    if (unit.isCopy || unit.isWait || unit.isCommit)
      continue;
    for (const MemoryAccess &access : unit.accesses) {
      if (access.space != MemorySpace::Shared)
        continue;
      unsigned buffer = number[access.root];
      auto it = groupOfBuffer.find(buffer);
      bool isCopied = it != groupOfBuffer.end();
      if (isCopied && it->second > complete)
        return quote(unit.op) + " uses " + nameOf(access.root) +
               " before the loop waits for the copy into it";
      // A use ahead of the copy sees an earlier iteration's.
      if (!isCopied && llvm::any_of(units, [&](const Unit &other) {
            return other.isCopy &&
                   llvm::any_of(other.accesses, [&](const MemoryAccess &a) {
                     return a.isWrite && a.root == access.root;
                   });
          }))
        return quote(unit.op) + " uses " + nameOf(access.root) +
               " before the copy into it in the same iteration";
    }
  }
  for (auto &[buffer, group] : groupOfBuffer)
    if (group > groups)
      return "a copy into " + nameOf(schedule.buffers[buffer].root) +
             " belongs to no group of the same iteration";

  int64_t commitStage = schedule.entries[commits.front()].position.stage;
  for (unsigned wait : waits) {
    const ScheduleEntry &entry = schedule.entries[wait];
    int64_t pending =
        *cast<AsyncWaitOpInterface>(entry.op).getPending(AsyncQueue::Groups);
    int64_t before = groupsBefore[entry.op];
    if (pending >= before)
      return quote(entry.op) +
             " waits for no copy of its own iteration: the loop is "
             "pipelined by hand";
    int64_t stage = entry.position.stage;
    if (stage < commitStage)
      return quote(entry.op) + " would execute before the copies start";
    for (auto &[buffer, group] : groupOfBuffer)
      if (group <= before - pending)
        schedule.completes[wait].push_back(buffer);
    // Groups of its iteration that need not be complete.
    int64_t open = pending - before;
    int64_t madeInStep =
        llvm::count_if(commits, [&](unsigned commit) { return commit < wait; });
    schedule.kernelWaits[wait] =
        groups * (stage - commitStage) + madeInStep + open;
    for (int64_t step = 0; step < stage; ++step) {
      int64_t inFlight = step < commitStage ? schedule.kernelWaits[wait]
                                            : groups * (stage - step) + open;
      schedule.epilogueWaits.insert({step, wait, inFlight});
    }
  }
  return std::nullopt;
}
