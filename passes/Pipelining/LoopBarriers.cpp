//===- LoopBarriers.cpp - Barrier placement in a pipelined loop -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the input of barrier placement for the plan of a pipelined loop: the
// prologue, the kernel, the epilogue, and the code around them.
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

/// The code before or after the loop.
struct Surroundings {
  SmallVector<MemoryAccess> accesses;
  bool unknown = false; ///< an access cannot be determined
  /// Other blocks may wait for an atomic, and so for all earlier accesses to
  /// global memory.
  bool signalsBlocks = false;
  /// The function has a caller, whose code precedes and follows.
  bool hasCaller = false;
  /// After the loop. Before the loop, the caller has its own barriers for
  /// arrays, since the original loop does not begin with one.
  bool isAfter = false;
  /// No barrier separates the loop from a back edge around it.
  bool repeats = false;
};

/// Accesses grouped by alias class, so that a query does not visit all of them.
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
  /// For each buffer of the schedule, its number in the program.
  SmallVector<unsigned> buffers;
  sync::NodeId kernel = 0;
  DenseMap<sync::NodeId, PipelinePoint> pointOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Code around the loop
//===----------------------------------------------------------------------===//

/// Adds the accesses of `op`. Returns true if it is a barrier, after which no
/// access is pending.
static bool addSurrounding(Operation *op, Surroundings &surroundings) {
  if (isa<BlockBarrierOpInterface>(op))
    return true;
  WalkResult result = op->walk([&](Operation *nested) {
    if (nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    std::string reason;
    SmallVector<MemoryAccess> accesses;
    // Allocating and freeing is not an access of another thread.
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

/// Collects what may execute before the loop since the last barrier, or after
/// it up to the next one.
static Surroundings collectSurroundings(Operation *loop, bool before) {
  Surroundings surroundings;
  surroundings.isAfter = !before;
  Operation *op = loop;
  for (; op && !isa<FunctionOpInterface>(op); op = op->getParentOp()) {
    Block *block = op->getBlock();
    for (Operation *other = before ? op->getPrevNode() : op->getNextNode();
         other; other = before ? other->getPrevNode() : other->getNextNode())
      if (addSurrounding(other, surroundings))
        return surroundings;
    // With a back edge, the rest of the block precedes and follows the loop.
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
// Program construction
//===----------------------------------------------------------------------===//

/// The ops whose results are stored to shared memory, directly or through other
/// ops.
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

/// Determines whether barriers for shared memory only are sufficient.
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
  // A read before the loop may be in flight when another thread writes the
  // memory after it.
  AliasIndex later(after.accesses);
  for (const MemoryAccess &read : before.accesses)
    if (read.space == MemorySpace::Global && !read.isWrite &&
        (after.unknown ||
         later.mayAccess(getAliasClass(read.root), /*isWrite=*/true)))
      schedule.onlySharedHazards = false;
  // A read is complete before a barrier if a store to shared memory used its
  // value.
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

/// The accesses around the loop, as accesses to the buffers of the loop that
/// they may overlap.
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
         (buffer.space == MemorySpace::Shared || surroundings.isAfter)) ||
        (surroundings.signalsBlocks && buffer.space == MemorySpace::Global))
      accesses.push_back({number, sync::AccessKind::Write, sync::Slot()});
    if (!surroundings.unknown && index.mayAccess(alias, /*isWrite=*/false))
      accesses.push_back({number, sync::AccessKind::Read, sync::Slot()});
  }
  return accesses;
}

/// The accesses of an earlier or later execution of the loop, in any slot.
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

/// The slot that an entry uses. A step of the prologue has fixed iterations,
/// the kernel counts from its own iteration, and the epilogue counts from the
/// trip count.
sync::Slot BarrierPlacer::getSlot(Part part, int64_t step, unsigned entry,
                                  unsigned buffer) const {
  int64_t slots = program.buffers[buffer].slots;
  if (slots <= 1)
    return sync::Slot();
  int64_t stage = schedule.entries[entry].position.stage;
  int64_t distance = schedule.stages - 1 - stage;
  switch (part) {
  case Part::Prologue:
    return sync::Slot::fixed((step - stage) % slots);
  case Part::Kernel:
    return sync::Slot::ofLoop(kernel, distance % slots);
  case Part::Epilogue:
    break;
  }
  if (std::optional<int64_t> trips = program[kernel].tripCount)
    return sync::Slot::fixed((*trips + distance + step) % slots);
  return sync::Slot::afterLoop(kernel, (distance + step) % slots);
}

/// Adds the entries that execute in one step. An asynchronous copy is checked
/// where it starts, and pending after its wait.
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
      sync::Access converted{number,
                             access.isWrite ? sync::AccessKind::Write
                                            : sync::AccessKind::Read,
                             getSlot(part, step, i, number)};
      node.checked.push_back(converted);
      // The mbarrier orders arrivals before the waits for them.
      if (!access.isWrite ||
          (!isCopy && !schedule.buffers[access.buffer].isBarrierObject))
        node.pending.push_back(converted);
      node.isGlobalRead |= space == MemorySpace::Global && !access.isWrite;
    }
    for (unsigned completed : schedule.completes[i])
      node.pending.push_back({buffers[completed], sync::AccessKind::Write,
                              getSlot(part, step, i, buffers[completed])});
    if (node.checked.empty() && node.pending.empty())
      continue;
    sync::NodeId id = program.addNode(sync::Node::Kind::Step, parent, where);
    program[id].checked = std::move(node.checked);
    program[id].pending = std::move(node.pending);
    program[id].isGlobalRead = node.isGlobalRead;
    pointOf.try_emplace(id, PipelinePoint{part, step, i});
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
      // Another name of a global: slots are distinguished only if all names
      // agree.
      int64_t &slots = program.buffers[it->second].slots;
      slots = slots == buffer.slots ? slots : 1;
      continue;
    }
    sync::Buffer converted = makeSyncBuffer(alias);
    converted.slots = buffer.slots;
    program.addBuffer(converted);
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
  // An outer loop executes this loop again. If the guard selects the original
  // loop, its barriers may be at the beginning or at the end of an iteration.
  // So both the prologue and the epilogue must be ordered with all accesses of
  // the loop.
  bool isRepeated = before.repeats && after.repeats;
  if (isRepeated && schedule.isGuarded())
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
  if (isRepeated)
    llvm::append_range(program[end].checked, getOwnAccesses());

  sync::Placement placement = sync::placeBarriers(program, sync::Options());
  for (const sync::Placement::Barrier &barrier : placement.inserted) {
    if (barrier.node == end)
      schedule.barrierAfter = true;
    else if (barrier.node == kernel)
      schedule.barrierBeforeKernel = true;
    else
      schedule.barriers.insert(pointOf.at(barrier.node));
  }
  // The old barriers also ordered the code before the loop with the code after
  // it; one barrier at any point does that.
  schedule.barrierAfter |=
      schedule.barriers.empty() && !schedule.barrierBeforeKernel;
}

void smalti::placeBarriers(LoopSchedule &schedule) {
  if (!schedule.oldBarriers.empty())
    BarrierPlacer(schedule).run();
}
