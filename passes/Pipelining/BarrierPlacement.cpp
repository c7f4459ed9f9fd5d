//===- BarrierPlacement.cpp - Barriers of a pipelined loop ----------------===//
//
// The pipelined loop is walked in its final order. What threads have done since
// the last barrier is pending; an op that conflicts with something pending
// needs a barrier before it. A buffer's slots are told apart by the number of
// the iteration, counted from the time step, so that the kernel has one finite
// state at its start for all of its iterations.
//
//===----------------------------------------------------------------------===//

#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Pipelining/LoopSchedule.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace smalti;

namespace {

/// What threads may have done since the last barrier.
struct PendingAccess {
  unsigned buffer;
  int64_t slot; ///< relative to the time step; kAnySlot where it is not known
  bool isWrite;
  bool operator<(const PendingAccess &other) const {
    return std::tie(buffer, slot, isWrite) <
           std::tie(other.buffer, other.slot, other.isWrite);
  }
};

constexpr int64_t kAnySlot = -1;

using Pending = std::set<PendingAccess>;

/// What stands before or after the loop.
struct Surroundings {
  SmallVector<MemoryAccess> accesses;
  bool unknown = false; ///< something accesses memory that cannot be told
};

class BarrierPlacer {
public:
  explicit BarrierPlacer(LoopSchedule &schedule);
  void run();

private:
  bool conflicts(const PendingAccess &a, const PendingAccess &b) const;
  bool conflicts(const Pending &pending, const PendingAccess &access) const;
  Pending accessesOf(unsigned entry) const;
  void walkEntry(unsigned entry, Pending &pending) const;
  Pending nextStep(const Pending &pending) const;
  Pending toPending(const Surroundings &surroundings) const;
  std::optional<unsigned> findConflict(Part part, int64_t step,
                                       const Pending &entry,
                                       Pending &exit) const;
  void placeStep(Part part, int64_t step, const Pending &entry, Pending &exit);
  unsigned findPlace(Part part, int64_t step, unsigned conflict) const;
  bool isSafe(bool &safeAfter) const;

  LoopSchedule &schedule;
  Pending before, after;
  /// Which buffers may overlap.
  SmallVector<SmallVector<bool>> overlap;
};

} // namespace

//===----------------------------------------------------------------------===//
// What stands around the loop
//===----------------------------------------------------------------------===//

/// Adds what `op` accesses. Returns true where it is a barrier, behind which
/// nothing is pending.
static bool addSurrounding(Operation *op, Surroundings &surroundings) {
  if (isa<BlockBarrierOpInterface>(op))
    return true;
  WalkResult result = op->walk([&](Operation *nested) {
    if (nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    std::string reason;
    SmallVector<MemoryAccess> accesses;
    // Allocating and freeing is no access that other threads see.
    if (auto effects = dyn_cast<MemoryEffectOpInterface>(nested);
        effects && (effects.onlyHasEffect<MemoryEffects::Allocate>() ||
                    effects.onlyHasEffect<MemoryEffects::Free>()))
      return WalkResult::advance();
    if (nested->hasTrait<OpTrait::IsTerminator>() &&
        !isa<MemoryEffectOpInterface>(nested))
      return WalkResult::advance();
    if (!collectAccesses(nested, accesses, reason))
      return WalkResult::interrupt();
    llvm::append_range(surroundings.accesses, accesses);
    return WalkResult::advance();
  });
  surroundings.unknown |= result.wasInterrupted();
  return false;
}

/// Collects what may execute before the loop, or after it, since the last or up
/// to the next barrier.
static Surroundings collectSurroundings(Operation *loop, bool before) {
  Surroundings surroundings;
  for (Operation *op = loop; op && !isa<FunctionOpInterface>(op);
       op = op->getParentOp()) {
    Block *block = op->getBlock();
    for (Operation *other = before ? op->getPrevNode() : op->getNextNode();
         other; other = before ? other->getPrevNode() : other->getNextNode())
      if (addSurrounding(other, surroundings))
        return surroundings;
    // Around a back edge the rest of the block comes before and after.
    bool repeats = !isa<FunctionOpInterface>(op->getParentOp()) &&
                   !isa<scf::IfOp>(op->getParentOp());
    if (repeats)
      for (Operation &other : *block)
        if (&other != op)
          addSurrounding(&other, surroundings);
    for (Block &other : *block->getParent())
      if (&other != block)
        for (Operation &nested : other)
          addSurrounding(&nested, surroundings);
  }
  return surroundings;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Whether something that `op` computes is stored to shared memory.
static bool feedsSharedWrite(Operation *op) {
  SmallVector<Operation *> worklist = {op};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      if (!seen.insert(user).second)
        continue;
      SmallVector<MemoryAccess> accesses;
      std::string reason;
      if (collectAccesses(user, accesses, reason) &&
          llvm::any_of(accesses, [](const MemoryAccess &access) {
            return access.isWrite && access.space == MemorySpace::Shared;
          }))
        return true;
      if (isMemoryEffectFree(user))
        worklist.push_back(user);
    }
  }
  return false;
}

BarrierPlacer::BarrierPlacer(LoopSchedule &schedule) : schedule(schedule) {
  for (const LoopBuffer &a : schedule.buffers) {
    SmallVector<bool> row;
    for (const LoopBuffer &b : schedule.buffers)
      row.push_back(mayAlias(a.root, b.root));
    overlap.push_back(std::move(row));
  }
  Surroundings accessesBefore =
      collectSurroundings(schedule.loop, /*before=*/true);
  Surroundings accessesAfter =
      collectSurroundings(schedule.loop, /*before=*/false);
  before = toPending(accessesBefore);
  after = toPending(accessesAfter);

  auto writesGlobal = [](const Surroundings &surroundings) {
    return surroundings.unknown ||
           llvm::any_of(surroundings.accesses, [](const MemoryAccess &access) {
             return access.space == MemorySpace::Global && access.isWrite;
           });
  };
  schedule.onlySharedHazards = !writesGlobal(accessesBefore);
  bool globalWriteFollows = writesGlobal(accessesAfter);
  // A read before the loop may be under way when another thread writes the
  // memory behind it.
  for (const MemoryAccess &read : accessesBefore.accesses)
    if (read.space == MemorySpace::Global && !read.isWrite &&
        (accessesAfter.unknown ||
         llvm::any_of(accessesAfter.accesses, [&](const MemoryAccess &write) {
           return write.isWrite && mayAlias(read.root, write.root);
         })))
      schedule.onlySharedHazards = false;
  for (auto [entry, accesses] :
       llvm::zip_equal(schedule.entries, schedule.accesses))
    for (const BufferAccess &access : accesses) {
      if (schedule.buffers[access.buffer].space != MemorySpace::Global)
        continue;
      // A read is over before a barrier where a store to shared memory had to
      // wait for its value.
      if (access.isWrite || (globalWriteFollows && !feedsSharedWrite(entry.op)))
        schedule.onlySharedHazards = false;
    }
}

/// The accesses around the loop, as accesses to the loop's buffers that they
/// may overlap; others do not matter to it.
Pending BarrierPlacer::toPending(const Surroundings &surroundings) const {
  Pending pending;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers)) {
    if (buffer.space == MemorySpace::Private)
      continue;
    if (surroundings.unknown) {
      pending.insert({unsigned(i), kAnySlot, true});
      continue;
    }
    for (const MemoryAccess &access : surroundings.accesses)
      if (mayAlias(buffer.root, access.root))
        pending.insert({unsigned(i), kAnySlot, access.isWrite});
  }
  return pending;
}

bool BarrierPlacer::conflicts(const PendingAccess &a,
                              const PendingAccess &b) const {
  if (!a.isWrite && !b.isWrite)
    return false;
  if (a.buffer == b.buffer)
    return a.slot == b.slot || a.slot == kAnySlot || b.slot == kAnySlot;
  return overlap[a.buffer][b.buffer];
}

bool BarrierPlacer::conflicts(const Pending &pending,
                              const PendingAccess &access) const {
  return llvm::any_of(pending, [&](const PendingAccess &other) {
    return conflicts(other, access);
  });
}

/// What the entry accesses when it executes. An asynchronous copy is checked
/// when it starts, and pending when it was waited for.
Pending BarrierPlacer::accessesOf(unsigned entry) const {
  Pending result;
  // The iteration that the entry works on, from the time step on.
  int64_t iteration =
      schedule.stages - 1 - schedule.entries[entry].position.stage;
  for (const BufferAccess &access : schedule.accesses[entry]) {
    const LoopBuffer &buffer = schedule.buffers[access.buffer];
    if (buffer.space == MemorySpace::Private)
      continue;
    result.insert({access.buffer, iteration % buffer.slots, access.isWrite});
  }
  return result;
}

void BarrierPlacer::walkEntry(unsigned entry, Pending &pending) const {
  // Arrivals are ordered with the waits for them by the barrier object.
  bool isCopy = schedule.startsCopies[entry];
  for (const PendingAccess &access : accessesOf(entry))
    if (!access.isWrite ||
        (!isCopy && !schedule.buffers[access.buffer].isBarrierObject))
      pending.insert(access);
  int64_t iteration =
      schedule.stages - 1 - schedule.entries[entry].position.stage;
  for (unsigned buffer : schedule.completes[entry])
    pending.insert(
        {buffer, iteration % schedule.buffers[buffer].slots, /*isWrite=*/true});
}

/// The same accesses seen from the next time step.
Pending BarrierPlacer::nextStep(const Pending &pending) const {
  Pending result;
  for (PendingAccess access : pending) {
    int64_t slots = schedule.buffers[access.buffer].slots;
    if (access.slot != kAnySlot)
      access.slot = (access.slot + slots - 1) % slots;
    result.insert(access);
  }
  return result;
}

/// Walks one step with the barriers that are placed. Returns the first entry
/// that conflicts with something pending.
std::optional<unsigned> BarrierPlacer::findConflict(Part part, int64_t step,
                                                    const Pending &entry,
                                                    Pending &exit) const {
  Pending pending = entry;
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
    if (!schedule.executes(part, step, i))
      continue;
    if (schedule.barriers.count({part, step, i}))
      pending.clear();
    for (const PendingAccess &access : accessesOf(i))
      if (conflicts(pending, access))
        return i;
    walkEntry(i, pending);
  }
  exit = nextStep(pending);
  return std::nullopt;
}

/// Where the barrier for a conflict stands best: ahead of reads of global
/// memory that lie between the last access it has to order and the conflict,
/// since on some chips a barrier waits for reads in flight.
unsigned BarrierPlacer::findPlace(Part part, int64_t step,
                                  unsigned conflict) const {
  unsigned place = conflict;
  for (unsigned i = conflict; i-- > 0;) {
    if (!schedule.executes(part, step, i))
      continue;
    bool readsGlobal = false, accessesShared = !schedule.completes[i].empty();
    for (const BufferAccess &access : schedule.accesses[i]) {
      MemorySpace space = schedule.buffers[access.buffer].space;
      readsGlobal |= space == MemorySpace::Global && !access.isWrite;
      accessesShared |= space == MemorySpace::Shared;
    }
    if (accessesShared || schedule.barriers.count({part, step, i}))
      break;
    if (readsGlobal)
      place = i;
  }
  return place;
}

void BarrierPlacer::placeStep(Part part, int64_t step, const Pending &entry,
                              Pending &exit) {
  while (std::optional<unsigned> conflict =
             findConflict(part, step, entry, exit)) {
    unsigned place = findPlace(part, step, *conflict);
    if (!schedule.barriers.insert({part, step, place}).second)
      schedule.barriers.insert({part, step, *conflict});
  }
}

/// Whether the barriers that are placed order every hazard in the loop; and
/// whether nothing that is pending behind it conflicts with what follows.
bool BarrierPlacer::isSafe(bool &safeAfter) const {
  Pending pending = before, exit;
  for (int64_t step = 0; step < schedule.stages - 1; ++step) {
    if (findConflict(Part::Prologue, step, pending, exit))
      return false;
    pending = exit;
  }
  // What is pending at the kernel's start only grows, and is finite.
  while (true) {
    if (findConflict(Part::Kernel, 0, pending, exit))
      return false;
    size_t size = pending.size();
    pending.insert(exit.begin(), exit.end());
    if (pending.size() == size)
      break;
  }
  pending = exit;
  for (int64_t step = 0; step < schedule.stages - 1; ++step) {
    if (findConflict(Part::Epilogue, step, pending, exit))
      return false;
    pending = exit;
  }
  safeAfter = llvm::none_of(after, [&](const PendingAccess &access) {
    return conflicts(pending, access);
  });
  return true;
}

void BarrierPlacer::run() {
  Pending pending = before, exit;
  for (int64_t step = 0; step < schedule.stages - 1; ++step) {
    placeStep(Part::Prologue, step, pending, exit);
    pending = exit;
  }
  // Over the back edge anything may come that the kernel does.
  Pending everything;
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i)
    walkEntry(i, everything);
  Pending backEdge = nextStep(everything);
  // With more slots than stages, conflicts come several steps later.
  for (size_t size = 0; size != backEdge.size();) {
    size = backEdge.size();
    Pending later = nextStep(backEdge);
    backEdge.insert(later.begin(), later.end());
  }
  pending.insert(backEdge.begin(), backEdge.end());
  placeStep(Part::Kernel, 0, pending, exit);
  pending = exit;
  for (int64_t step = 0; step < schedule.stages - 1; ++step) {
    placeStep(Part::Epilogue, step, pending, exit);
    pending = exit;
  }

  // The placement was pessimistic: take out what is not needed.
  bool safeAfter = false;
  std::set<Place> candidates = schedule.barriers;
  for (const Place &place : candidates) {
    schedule.barriers.erase(place);
    if (!isSafe(safeAfter))
      schedule.barriers.insert(place);
  }
  isSafe(safeAfter);
  // The old barriers also ordered what stands before the loop with what stands
  // behind it; one barrier anywhere does that.
  schedule.barrierAfter = !safeAfter || schedule.barriers.empty();
}

void smalti::placeBarriers(LoopSchedule &schedule) {
  if (!schedule.oldBarriers.empty())
    BarrierPlacer(schedule).run();
}
