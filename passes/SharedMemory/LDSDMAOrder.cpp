//===- LDSDMAOrder.cpp - Order of LDS accesses and LDS DMA loads ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/SharedMemory/LDSDMAOrder.h"

#include "smalti/passes/Analysis/Integers/IntegerSum.h"
#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Slots/IterationShift.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/LDSFence.h"
#include "smalti/passes/Support/ValueNames.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace smalti;

/// An LDS DMA load, for which LLVM makes every barrier wait.
static AsyncCopyOpInterface getLoadToLDS(Operation *op) {
  auto copy = dyn_cast<AsyncCopyOpInterface>(op);
  return copy && copy.getCompletion() == AsyncCompletion::LoadCounter &&
                 copy.completesAtBlockBarriers()
             ? copy
             : AsyncCopyOpInterface();
}

static std::optional<int64_t> getPendingLoads(Operation *op) {
  auto wait = dyn_cast<AsyncWaitOpInterface>(op);
  return wait ? wait.getPending(AsyncCompletion::LoadCounter) : std::nullopt;
}

LDSDMAOrder::LDSDMAOrder(Operation *function) : function(function) {
  function->walk([&](Operation *op) {
    if (op->hasAttr(kOrderedAttr))
      hasFences = true;
    if (getLoadToLDS(op))
      ++copies;
    else if (getPendingLoads(op))
      waits.push_back(op);
    else if (isa<BlockBarrierOpInterface>(op)) {
      barrierNumber[op] = barriers.size();
      barriers.push_back({op});
    }
  });
}

bool LDSDMAOrder::fail(const Twine &why) {
  if (failure.empty())
    failure = why.str();
  return false;
}

void LDSDMAOrder::note(const Twine &why) {
  if (firstNote.empty())
    firstNote = why.str();
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

namespace {

/// The bytes of untyped memory that a view at a known offset covers.
struct ByteRange {
  Value source;
  int64_t begin, end;
};

} // namespace

static std::optional<ByteRange> getByteRange(Value memref) {
  auto view = memref.getDefiningOp<memref::ViewOp>();
  if (!view)
    return std::nullopt;
  std::optional<int64_t> begin = evaluateConstant(view.getByteShift());
  std::optional<int64_t> bytes = getBufferBytes(view.getType());
  if (!begin || !bytes)
    return std::nullopt;
  return ByteRange{view.getSource(), *begin, *begin + *bytes};
}

/// The buffer that a memref refers to: an allocation, or a view at a known
/// offset of an allocation that contains several buffers.
static Value getBuffer(Value memref) {
  for (Value value = memref; value;) {
    if (getByteRange(value))
      return value;
    auto view = value.getDefiningOp<ViewLikeOpInterface>();
    value = view ? view.getViewSource() : Value();
  }
  return getRootBuffer(memref);
}

/// The number of slots of a buffer.
int64_t LDSDMAOrder::getDepth(Value root) {
  auto type = dyn_cast<MemRefType>(root.getType());
  return type && type.getRank() > 1 && !type.isDynamicDim(0)
             ? type.getDimSize(0)
             : 1;
}

/// The first view that covers the same bytes as `buffer`.
Value LDSDMAOrder::getFirstView(Value buffer) {
  std::optional<ByteRange> range = getByteRange(buffer);
  if (!range)
    return buffer;
  auto key = std::make_tuple(range->source.getAsOpaquePointer(), range->begin,
                             buffer.getType().getAsOpaquePointer());
  return firstViews.try_emplace(key, buffer).first->second;
}

/// Whether the op always executes after the loop.
static bool executesAfter(Operation *op, Operation *loop) {
  Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && loop->isBeforeInBlock(ancestor);
}

LDSDMAOrder::BufferSlot LDSDMAOrder::getBufferSlot(Operation *op, Value memref,
                                                   const State &state) {
  Value buffer = getBuffer(memref);
  BufferSlot bufferSlot;
  bufferSlot.root = getFirstView(buffer);
  int64_t depth = getDepth(bufferSlot.root);
  if (depth < 2)
    return bufferSlot;
  // The slot is selected by a view, or by the access itself.
  bool isWhole = false;
  OpFoldResult slot = getSlotNumber(memref, buffer, &isWhole);
  if (auto access = dyn_cast<StridedAccessOpInterface>(op); access && isWhole) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get() != memref)
        continue;
      std::optional<RowAccess> row = access.getRowAccess(operand);
      if (!row || row->mayCrossRows || row->isWaveWide || slot)
        return bufferSlot;
      slot = row->indices.front();
    }
  }
  if (!slot)
    return bufferSlot;
  if (std::optional<int64_t> constant = evaluateConstant(slot)) {
    bufferSlot.slot = *constant;
    return bufferSlot;
  }
  auto value = dyn_cast<Value>(slot);
  for (auto loop = op->getParentOfType<scf::ForOp>(); value && loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<int64_t> shift = matchSlotShift(value, loop, depth)) {
      bufferSlot.loop = loop;
      bufferSlot.shift = *shift;
      return bufferSlot;
    }
  // Loops that left copies in flight.
  SmallVector<Operation *, 2> finished;
  for (const Copy &copy : state.copies)
    if (copy.bufferSlot.loop &&
        !llvm::is_contained(finished, copy.bufferSlot.loop) &&
        executesAfter(op, copy.bufferSlot.loop))
      finished.push_back(copy.bufferSlot.loop);
  for (Operation *loop : finished)
    if (std::optional<int64_t> shift =
            matchFinalSlotShift(value, cast<scf::ForOp>(loop), depth)) {
      bufferSlot.loop = loop;
      bufferSlot.shift = *shift;
      break;
    }
  return bufferSlot;
}

bool LDSDMAOrder::mayOverlap(const BufferSlot &a, const BufferSlot &b) {
  if (a.root != b.root) {
    auto rangeA = getByteRange(a.root), rangeB = getByteRange(b.root);
    if (rangeA && rangeB && rangeA->source == rangeB->source)
      return rangeA->begin < rangeB->end && rangeB->begin < rangeA->end;
    Value rootA = getRootBuffer(a.root), rootB = getRootBuffer(b.root);
    return rootA == rootB || mayAlias(rootA, rootB);
  }
  if (a.slot && b.slot)
    return a.slot == b.slot;
  return !a.loop || a.loop != b.loop || a.shift == b.shift;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

bool LDSDMAOrder::State::operator!=(const State &other) const {
  if (copies.size() != other.copies.size() ||
      recentAccesses.size() != other.recentAccesses.size() ||
      lastBarriers != other.lastBarriers)
    return true;
  for (auto [a, b] : llvm::zip_equal(copies, other.copies))
    if (a != b)
      return true;
  return false;
}

static void insertSorted(SmallVectorImpl<unsigned> &numbers, unsigned number) {
  auto it = llvm::lower_bound(numbers, number);
  if (it == numbers.end() || *it != number)
    numbers.insert(it, number);
}

/// Keeps the younger of two loads to one location, which completes last.
void LDSDMAOrder::addCopy(State &state, const Copy &copy) {
  auto it = llvm::find_if(state.copies, [&](const Copy &other) {
    return other.bufferSlot == copy.bufferSlot;
  });
  if (it == state.copies.end()) {
    state.copies.push_back(copy);
    return;
  }
  it->age = std::min(it->age, copy.age);
  it->isWaitedFor &= copy.isWaitedFor;
  for (unsigned barrier : copy.passedBarriers)
    insertSorted(it->passedBarriers, barrier);
}

void LDSDMAOrder::join(State &into, const State &from) {
  for (const Copy &copy : from.copies)
    addCopy(into, copy);
  for (const BufferSlot &bufferSlot : from.recentAccesses)
    if (!llvm::is_contained(into.recentAccesses, bufferSlot))
      into.recentAccesses.push_back(bufferSlot);
  for (unsigned barrier : from.lastBarriers)
    insertSorted(into.lastBarriers, barrier);
}

//===----------------------------------------------------------------------===//
// Paths through the function
//===----------------------------------------------------------------------===//

bool LDSDMAOrder::visit(Block &block, State &state) {
  for (Operation &op : block)
    if (!visit(&op, state))
      return false;
  return true;
}

bool LDSDMAOrder::visit(Operation *op, State &state) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop, state);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (std::optional<int64_t> taken =
            evaluateConstant(branch.getCondition())) {
      Block *block = *taken ? branch.thenBlock() : branch.elseBlock();
      return !block || visit(*block, state);
    }
    State other = state;
    if (!visit(*branch.thenBlock(), state) ||
        (branch.elseBlock() && !visit(*branch.elseBlock(), other)))
      return false;
    join(state, other);
    return true;
  }
  if (isa<BlockBarrierOpInterface>(op)) {
    visitBarrier(op, state);
    return true;
  }
  if (AsyncCopyOpInterface copy = getLoadToLDS(op)) {
    Value destination = copy.getCopyDestination();
    if (!destination || !isa<MemRefType>(destination.getType()))
      return fail(quote(op) + " does not state the memref that it writes; use "
                              "amdgpu.gather_to_lds");
    visitCopy(op, destination, state);
    return true;
  }
  if (std::optional<int64_t> pending = getPendingLoads(op)) {
    for (Copy &copy : state.copies)
      copy.isWaitedFor |= copy.age >= *pending;
    state.recentAccesses.clear();
    return true;
  }
  for (Region &region : op->getRegions()) {
    Operation *inner = nullptr;
    region.walk([&](Operation *nested) {
      if (isa<BlockBarrierOpInterface>(nested) || getLoadToLDS(nested) ||
          getPendingLoads(nested))
        inner = nested;
    });
    if (inner)
      return fail(quote(inner) + " is nested in " + quote(op) +
                  "; move it out of the op");
  }
  return visitAccesses(op, state);
}

bool LDSDMAOrder::visitAccesses(Operation *op, State &state) {
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason))
    return fail(reason);
  for (const MemoryAccess &access : accesses) {
    if (access.space != MemorySpace::Shared)
      continue;
    BufferSlot bufferSlot = getBufferSlot(access.op, access.memref, state);
    for (const Copy &copy : state.copies) {
      if (!mayOverlap(copy.bufferSlot, bufferSlot))
        continue;
      if (firstNote.empty())
        note("no wait followed by a barrier orders " + quote(access.op) +
             " of " + ValueNames(function).get(access.root) + " after " +
             quote(copy.op));
      // LLVM's wait before the access orders only the accesses of the wave.
      for (unsigned barrier : copy.passedBarriers) {
        keptMore |= !barriers[barrier].isKept;
        barriers[barrier].isKept = true;
      }
      for (unsigned barrier : state.lastBarriers)
        barriers[barrier].isOrdered = false;
    }
    if (!llvm::is_contained(state.recentAccesses, bufferSlot))
      state.recentAccesses.push_back(bufferSlot);
  }
  return true;
}

void LDSDMAOrder::visitBarrier(Operation *op, State &state) {
  unsigned number = barrierNumber.lookup(op);
  if (barriers[number].isKept) {
    state.copies.clear();
  } else {
    llvm::erase_if(state.copies,
                   [](const Copy &copy) { return copy.isWaitedFor; });
    for (Copy &copy : state.copies)
      insertSorted(copy.passedBarriers, number);
  }
  state.recentAccesses.clear();
  state.lastBarriers = {number};
}

void LDSDMAOrder::visitCopy(Operation *op, Value destination, State &state) {
  BufferSlot bufferSlot = getBufferSlot(op, destination, state);
  // An access that is marked independent is not ordered before the load.
  for (const BufferSlot &access : state.recentAccesses) {
    if (!mayOverlap(access, bufferSlot))
      continue;
    if (firstNote.empty())
      note(quote(op) + " writes a slot of " +
           ValueNames(function).get(bufferSlot.root) +
           " that earlier accesses use, and no barrier separates them; place "
           "a barrier before it");
    for (unsigned barrier : state.lastBarriers)
      barriers[barrier].isOrdered = false;
  }
  for (Copy &copy : state.copies)
    ++copy.age;
  addCopy(state, {bufferSlot, op, /*age=*/0, /*isWaitedFor=*/false, {}});
}

bool LDSDMAOrder::visitLoop(scf::ForOp loop, State &state) {
  // Locations with a constant slot are those of iteration 0 and later ones.
  auto forEachSlot = [](State &in,
                        llvm::function_ref<void(BufferSlot &)> change) {
    State old = std::move(in);
    in = State();
    in.lastBarriers = std::move(old.lastBarriers);
    for (Copy &copy : old.copies) {
      change(copy.bufferSlot);
      addCopy(in, copy);
    }
    for (BufferSlot &bufferSlot : old.recentAccesses) {
      change(bufferSlot);
      if (!llvm::is_contained(in.recentAccesses, bufferSlot))
        in.recentAccesses.push_back(bufferSlot);
    }
  };
  // The slots that the loop accessed by an iteration number before are unknown.
  State entry = state;
  forEachSlot(entry, [&](BufferSlot &bufferSlot) {
    if (bufferSlot.slot) {
      bufferSlot.loop = loop;
      bufferSlot.shift = *bufferSlot.slot % getDepth(bufferSlot.root);
    } else if (bufferSlot.loop == loop) {
      bufferSlot.loop = nullptr;
      bufferSlot.shift = 0;
    }
  });

  State back;
  while (true) {
    back = entry;
    if (!visit(*loop.getBody(), back))
      return false;
    forEachSlot(back, [&](BufferSlot &bufferSlot) {
      if (bufferSlot.loop != loop)
        return;
      int64_t depth = getDepth(bufferSlot.root);
      bufferSlot.shift = (bufferSlot.shift + depth - 1) % depth;
    });
    State next = entry;
    join(next, back);
    if (!(next != entry))
      break;
    entry = std::move(next);
  }

  std::optional<uint64_t> trips = evaluateTripCount(loop);
  if (!trips || *trips == 0) {
    state = std::move(entry);
    return true;
  }
  forEachSlot(back, [&](BufferSlot &bufferSlot) {
    if (bufferSlot.loop != loop)
      return;
    int64_t depth = getDepth(bufferSlot.root);
    if (!bufferSlot.slot)
      bufferSlot.slot = (int64_t(*trips % depth) + bufferSlot.shift) % depth;
    bufferSlot.loop = nullptr;
    bufferSlot.shift = 0;
  });
  state = std::move(back);
  return true;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Whether threads may communicate through global memory at some barrier.
bool LDSDMAOrder::ordersGlobalAccesses() {
  struct Uses {
    unsigned count = 0;
    bool isWritten = false, isRepeated = false;
  };
  llvm::MapVector<Value, Uses> roots;
  bool isKnown = true;
  function->walk([&](Operation *op) {
    if (op == function || op->getNumRegions() > 0)
      return;
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (!collectAccesses(op, accesses, reason))
      isKnown = false;
    for (const MemoryAccess &access : accesses) {
      if (access.space != MemorySpace::Global)
        continue;
      Uses &uses = roots[access.root];
      ++uses.count;
      uses.isWritten |= access.isWrite;
      uses.isRepeated |= op->getParentOfType<LoopLikeOpInterface>() != nullptr;
    }
  });
  if (!isKnown)
    return true;
  for (auto &[root, uses] : roots) {
    if (!uses.isWritten)
      continue;
    if (uses.count > 1 || uses.isRepeated)
      return true;
    for (auto &[other, ignored] : roots)
      if (other != root && mayAlias(root, other))
        return true;
  }
  return false;
}

std::optional<std::string> LDSDMAOrder::analyze() {
  bool mayReplaceAll = !ordersGlobalAccesses();
  for (Barrier &barrier : barriers)
    if (cast<BlockBarrierOpInterface>(barrier.op).ordersGlobalMemory() &&
        !mayReplaceAll) {
      barrier.isKept = true;
      note(quote(barrier.op) +
           " may order accesses to global memory, so it must wait for all "
           "loads; if it orders LDS only, use amdgpu.lds_barrier");
    }
  // Each round keeps more barriers; loads that they complete do not need other
  // barriers.
  constexpr unsigned mostRounds = 8;
  unsigned round = 0;
  do {
    if (round++ == mostRounds)
      return firstNote;
    keptMore = false;
    for (Barrier &barrier : barriers)
      barrier.isOrdered = true;
    State state;
    for (Region &region : function->getRegions()) {
      if (!region.hasOneBlock())
        return std::string("the function has branches between MLIR "
                           "blocks; use scf.for, scf.while or scf.if");
      if (!visit(region.front(), state))
        return failure;
    }
  } while (keptMore);
  if (barriers.empty())
    return std::string("the function does not contain a block barrier; "
                       "place one between the loads and the accesses of other "
                       "waves");
  if (llvm::none_of(barriers, [](const Barrier &barrier) {
        return !barrier.isKept && barrier.isOrdered;
      }))
    return firstNote;
  return std::nullopt;
}
