//===- LoopBarriers.cpp - Barriers of a loop that is to be pipelined ------===//
//
// The plan of a pipelined loop as a program for the placement of barriers: the
// prologue, the kernel and the epilogue, and what stands around them.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Synchronization/SyncBuffers.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

#include <set>

using namespace mlir;
using namespace smalti;

namespace {

/// What stands before or after the loop.
struct Surroundings {
  SmallVector<MemoryAccess> accesses;
  bool unknown = false; ///< something accesses memory that cannot be told
  /// Other blocks may wait for something, and then for all that was done to
  /// global memory ahead of it.
  bool signalsBlocks = false;
  /// A function that calls this one comes before and after.
  bool hasCaller = false;
  /// Behind the loop. Ahead of it the caller has its own barriers for arrays,
  /// since the plain loop begins with none.
  bool isBehind = false;
  /// No barrier stands between the loop and a back edge around it.
  bool repeats = false;
};

/// Accesses by what they may alias, so that not all are looked at for each
/// buffer.
class AliasIndex {
public:
  explicit AliasIndex(ArrayRef<MemoryAccess> accesses) {
    for (const MemoryAccess &access : accesses) {
      AliasClass alias = getAliasClass(access.root);
      ofIdentity[access.isWrite].insert(alias.identity);
      ofKind[access.isWrite].insert({alias.space, alias.kind});
    }
  }

  /// Whether a read, or a write, may access the buffer.
  bool mayAccess(const AliasClass &buffer, bool isWrite) const {
    return ofIdentity[isWrite].contains(buffer.identity) ||
           llvm::any_of(ofKind[isWrite], [&](auto other) {
             return other.first == buffer.space &&
                    mayAlias(other.second, buffer.kind);
           });
  }

private:
  // Reads, writes.
  llvm::DenseSet<const void *> ofIdentity[2];
  std::set<std::pair<MemorySpace, RootKind>> ofKind[2];
};

class BarrierPlacer {
public:
  explicit BarrierPlacer(LoopSchedule &schedule);
  void run();

private:
  void findOnlySharedHazards(const Surroundings &before,
                             const Surroundings &after);
  SmallVector<sync::Access> toAccesses(const Surroundings &surroundings) const;
  SmallVector<sync::Access> getOwnAccesses() const;
  sync::Slot getSlot(Part part, int64_t step, unsigned entry,
                     unsigned buffer) const;
  void addEntries(Part part, int64_t step, sync::NodeId parent, unsigned where);

  LoopSchedule &schedule;
  sync::Program program;
  /// What each of the schedule's buffers is in the program.
  SmallVector<unsigned> buffers;
  sync::NodeId kernel = 0;
  DenseMap<sync::NodeId, Place> placeOf;
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
    surroundings.signalsBlocks |=
        findAtomic(accesses, MemorySpace::Global) != nullptr;
    return WalkResult::advance();
  });
  surroundings.unknown |= result.wasInterrupted();
  return false;
}

/// Collects what may execute before the loop, or after it, since the last or up
/// to the next barrier.
static Surroundings collectSurroundings(Operation *loop, bool before) {
  Surroundings surroundings;
  surroundings.isBehind = !before;
  Operation *op = loop;
  for (; op && !isa<FunctionOpInterface>(op); op = op->getParentOp()) {
    Block *block = op->getBlock();
    for (Operation *other = before ? op->getPrevNode() : op->getNextNode();
         other; other = before ? other->getPrevNode() : other->getNextNode())
      if (addSurrounding(other, surroundings))
        return surroundings;
    // Around a back edge the rest of the block comes before and after.
    bool repeats = !isa<FunctionOpInterface>(op->getParentOp()) &&
                   !isa<scf::IfOp>(op->getParentOp());
    surroundings.repeats |= repeats;
    if (repeats)
      for (Operation &other : *block)
        if (&other != op)
          addSurrounding(&other, surroundings);
    for (Block &other : *block->getParent())
      if (&other != block)
        for (Operation &nested : other)
          addSurrounding(&nested, surroundings);
  }
  surroundings.hasCaller = isa_and_nonnull<FunctionOpInterface>(op) &&
                           !isKernel(cast<FunctionOpInterface>(op));
  return surroundings;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// The ops of which something that they compute is stored to shared memory.
static llvm::DenseSet<Operation *> findFeedsOfSharedWrites(scf::ForOp loop) {
  llvm::DenseSet<Operation *> feeds;
  SmallVector<Operation *> worklist;
  loop.getBody()->walk([&](Operation *op) {
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (collectAccesses(op, accesses, reason) &&
        llvm::any_of(accesses, [](const MemoryAccess &access) {
          return access.isWrite && access.space == MemorySpace::Shared;
        }))
      worklist.push_back(op);
  });
  while (!worklist.empty())
    for (Value operand : worklist.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && loop->isProperAncestor(def) && feeds.insert(def).second &&
          isMemoryEffectFree(def))
        worklist.push_back(def);
    }
  return feeds;
}

/// Finds out whether a barrier of shared memory alone would do.
void BarrierPlacer::findOnlySharedHazards(const Surroundings &before,
                                          const Surroundings &after) {
  auto writesGlobal = [](const Surroundings &surroundings) {
    return surroundings.unknown ||
           llvm::any_of(surroundings.accesses, [](const MemoryAccess &access) {
             return access.space == MemorySpace::Global && access.isWrite;
           });
  };
  schedule.onlySharedHazards = !writesGlobal(before);
  bool globalWriteFollows = writesGlobal(after);
  // A read before the loop may be under way when another thread writes the
  // memory behind it.
  AliasIndex later(after.accesses);
  for (const MemoryAccess &read : before.accesses)
    if (read.space == MemorySpace::Global && !read.isWrite &&
        (after.unknown ||
         later.mayAccess(getAliasClass(read.root), /*isWrite=*/true)))
      schedule.onlySharedHazards = false;
  // A read is over before a barrier where a store to shared memory had to wait
  // for its value.
  llvm::DenseSet<Operation *> feeds;
  if (globalWriteFollows)
    feeds = findFeedsOfSharedWrites(schedule.loop);
  for (auto [entry, accesses] :
       llvm::zip_equal(schedule.entries, schedule.accesses))
    for (const BufferAccess &access : accesses)
      if (schedule.buffers[access.buffer].space == MemorySpace::Global &&
          (access.isWrite || (globalWriteFollows && !feeds.contains(entry.op))))
        schedule.onlySharedHazards = false;
}

/// The accesses around the loop, as accesses to the loop's buffers that they
/// may overlap; others do not matter to it.
SmallVector<sync::Access>
BarrierPlacer::toAccesses(const Surroundings &surroundings) const {
  SmallVector<sync::Access> accesses;
  AliasIndex index(surroundings.accesses);
  for (auto [buffer, number] : llvm::zip_equal(schedule.buffers, buffers)) {
    if (buffer.space == MemorySpace::Private)
      continue;
    AliasClass alias = getAliasClass(buffer.root);
    if (surroundings.unknown || index.mayAccess(alias, /*isWrite=*/true) ||
        (surroundings.hasCaller && alias.kind != RootKind::Allocation &&
         (buffer.space == MemorySpace::Shared || surroundings.isBehind)) ||
        (surroundings.signalsBlocks && buffer.space == MemorySpace::Global))
      accesses.push_back({number, sync::AccessKind::Write, sync::Slot()});
    if (!surroundings.unknown && index.mayAccess(alias, /*isWrite=*/false))
      accesses.push_back({number, sync::AccessKind::Read, sync::Slot()});
  }
  return accesses;
}

/// What the loop accessed when it ran before, or does when it runs again, in
/// whatever slots that was.
SmallVector<sync::Access> BarrierPlacer::getOwnAccesses() const {
  SmallVector<bool> reads(schedule.buffers.size()), writes(reads);
  for (ArrayRef<BufferAccess> accesses : schedule.accesses)
    for (const BufferAccess &access : accesses)
      (access.isWrite ? writes : reads)[access.buffer] = true;
  SmallVector<sync::Access> accesses;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers)) {
    if (buffer.space == MemorySpace::Private)
      continue;
    if (reads[i])
      accesses.push_back(
          {static_cast<unsigned>(i), sync::AccessKind::Read, sync::Slot()});
    if (writes[i])
      accesses.push_back(
          {static_cast<unsigned>(i), sync::AccessKind::Write, sync::Slot()});
  }
  return accesses;
}

/// The slot that an entry uses. A step of the prologue works on iterations that
/// are known by number, the kernel on those of its own and later ones, and the
/// epilogue on the last ones.
sync::Slot BarrierPlacer::getSlot(Part part, int64_t step, unsigned entry,
                                  unsigned buffer) const {
  int64_t slots = program.buffers[buffer].slots;
  if (slots <= 1)
    return sync::Slot();
  int64_t stage = schedule.entries[entry].position.stage;
  int64_t ahead = schedule.stages - 1 - stage;
  switch (part) {
  case Part::Prologue:
    return sync::Slot::fixed((step - stage) % slots);
  case Part::Kernel:
    return sync::Slot::ofLoop(kernel, ahead % slots);
  case Part::Epilogue:
    break;
  }
  if (std::optional<int64_t> trips = program[kernel].tripCount)
    return sync::Slot::fixed((*trips + ahead + step) % slots);
  return sync::Slot::behindLoop(kernel, (ahead + step) % slots);
}

/// Adds the entries that execute in one step. An asynchronous copy is checked
/// when it starts, and pending when it was waited for.
void BarrierPlacer::addEntries(Part part, int64_t step, sync::NodeId parent,
                               unsigned where) {
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
    if (!schedule.executes(part, step, i))
      continue;
    sync::Node node;
    bool isCopy = schedule.startsCopies[i];
    for (const BufferAccess &access : schedule.accesses[i]) {
      MemorySpace space = schedule.buffers[access.buffer].space;
      if (space == MemorySpace::Private)
        continue;
      unsigned number = buffers[access.buffer];
      sync::Access made{number,
                        access.isWrite ? sync::AccessKind::Write
                                       : sync::AccessKind::Read,
                        getSlot(part, step, i, number)};
      node.checked.push_back(made);
      // Arrivals are ordered with the waits for them by the barrier object.
      if (!access.isWrite ||
          (!isCopy && !schedule.buffers[access.buffer].isBarrierObject))
        node.pending.push_back(made);
      node.readsAhead |= space == MemorySpace::Global && !access.isWrite;
    }
    for (unsigned completed : schedule.completes[i])
      node.pending.push_back({buffers[completed], sync::AccessKind::Write,
                              getSlot(part, step, i, buffers[completed])});
    if (node.checked.empty() && node.pending.empty())
      continue;
    sync::NodeId id = program.addNode(sync::Node::Kind::Step, parent, where);
    program[id].checked = std::move(node.checked);
    program[id].pending = std::move(node.pending);
    program[id].readsAhead = node.readsAhead;
    placeOf.try_emplace(id, Place{part, step, i});
  }
}

BarrierPlacer::BarrierPlacer(LoopSchedule &schedule) : schedule(schedule) {
  DenseMap<const void *, unsigned> numbers;
  SmallVector<Value> roots;
  for (const LoopBuffer &buffer : schedule.buffers) {
    AliasClass alias = getAliasClass(buffer.root);
    auto [it, inserted] =
        numbers.try_emplace(alias.identity, program.buffers.size());
    buffers.push_back(it->second);
    if (!inserted) {
      // Another name of a global: slots are told apart where all agree.
      int64_t &slots = program.buffers[it->second].slots;
      slots = slots == buffer.slots ? slots : 1;
      continue;
    }
    sync::Buffer made = makeSyncBuffer(alias);
    made.slots = buffer.slots;
    program.addBuffer(made);
    roots.push_back(buffer.root);
  }
  program.overlap = [roots](unsigned a, unsigned b) {
    return mayAlias(roots[a], roots[b]);
  };
}

void BarrierPlacer::run() {
  Surroundings before = collectSurroundings(schedule.loop, /*before=*/true);
  Surroundings after = collectSurroundings(schedule.loop, /*before=*/false);
  findOnlySharedHazards(before, after);

  using Kind = sync::Node::Kind;
  sync::NodeId start = program.addNode(Kind::Step);
  program[start].pending = toAccesses(before);
  // A loop around executes this one again. Where it runs too few times to be
  // pipelined it is as it was, and its barriers may stand at the beginning of
  // an iteration or at its end: both the prologue and the epilogue then have to
  // be ordered with all of it.
  bool comesAgain = before.repeats && after.repeats;
  if (comesAgain && schedule.isGuarded())
    llvm::append_range(program[start].pending, getOwnAccesses());
  for (int64_t step = 0; step < schedule.stages - 1; ++step)
    addEntries(Part::Prologue, step, sync::Program::kRoot, 0);
  kernel = program.addNode(Kind::Loop);
  program[kernel].runsAtLeastOnce = true;
  if (schedule.tripCount)
    program[kernel].tripCount = *schedule.tripCount - (schedule.stages - 1);
  addEntries(Part::Kernel, 0, kernel, 1);
  for (int64_t step = 0; step < schedule.stages - 1; ++step)
    addEntries(Part::Epilogue, step, sync::Program::kRoot, 0);
  sync::NodeId end = program.addNode(Kind::Step);
  program[end].checked = toAccesses(after);
  if (comesAgain)
    llvm::append_range(program[end].checked, getOwnAccesses());

  sync::Placement placement = sync::placeBarriers(program, sync::Options());
  for (const sync::Placement::Barrier &barrier : placement.inserted) {
    if (barrier.node == end)
      schedule.barrierAfter = true;
    else if (barrier.node == kernel)
      schedule.barrierBeforeKernel = true;
    else
      schedule.barriers.insert(placeOf.at(barrier.node));
  }
  // The old barriers also ordered what stands before the loop with what stands
  // behind it; one barrier anywhere does that.
  schedule.barrierAfter |=
      schedule.barriers.empty() && !schedule.barrierBeforeKernel;
}

void smalti::placeBarriers(LoopSchedule &schedule) {
  if (!schedule.oldBarriers.empty())
    BarrierPlacer(schedule).run();
}
