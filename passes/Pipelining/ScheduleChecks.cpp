//===- ScheduleChecks.cpp - What a schedule must not break ----------------===//

#include "passes/Pipelining/Scheduler.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Interfaces/MemRefViews.h"
#include "passes/Pipelining/ValueFlow.h"
#include "passes/Support/IterationSlots.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

/// How many iterations in a row use different slots of the buffer, where every
/// access in the loop goes through the slot of its iteration.
int64_t Scheduler::getSlots(Value root, ArrayRef<Value> memrefs) {
  auto type = dyn_cast<MemRefType>(root.getType());
  if (!type || type.getRank() == 0)
    return 1;
  std::optional<int64_t> slots;
  for (Value memref : memrefs) {
    Operation *outermost = nullptr;
    for (Value value = memref; value != root;) {
      Operation *view = value.getDefiningOp();
      if (!isInsideSource(view))
        return 1;
      outermost = view;
      value = cast<ViewLikeOpInterface>(view).getViewSource();
    }
    auto window = dyn_cast_or_null<OffsetSizeAndStrideOpInterface>(outermost);
    if (!window || !isConstantIntValue(window.getMixedSizes().front(), 1))
      return 1;
    auto offset = dyn_cast<Value>(window.getMixedOffsets().front());
    std::optional<int64_t> depth =
        offset ? matchIterationSlot(offset, loop) : std::nullopt;
    if (!depth || (slots && *slots != *depth) || type.getDimSize(0) < *depth)
      return 1;
    slots = depth;
  }
  return slots.value_or(1);
}

void Scheduler::findBuffers() {
  llvm::MapVector<Value, SetVector<Value>> memrefs;
  DenseMap<Value, SmallVector<Operation *>> barrierOps;
  for (const Unit &unit : units)
    for (const MemoryAccess &access : unit.accesses) {
      memrefs[access.root].insert(access.memref);
      auto object = dyn_cast<BarrierObjectOpInterface>(access.op);
      if (object && access.memref == object.getBarrierMutable().get())
        barrierOps[access.root].push_back(object);
    }
  DenseMap<Value, unsigned> number;
  for (auto &[root, views] : memrefs) {
    number[root] = schedule.buffers.size();
    auto it = barrierOps.find(root);
    bool isBarrier = it != barrierOps.end();
    int64_t slots = isBarrier && !isa<MemRefType>(root.getType())
                        ? getBarrierSlots(root, it->second)
                        : getSlots(root, views.getArrayRef());
    schedule.buffers.push_back({root, getMemorySpace(root), slots, isBarrier});
  }
  for (const ScheduleEntry &entry : schedule.entries) {
    SmallVector<BufferAccess, 2> accesses;
    std::set<std::pair<unsigned, bool>> seen;
    for (const MemoryAccess &access : units[unitOf[entry.op]].accesses)
      if (seen.insert({number[access.root], access.isWrite}).second)
        accesses.push_back({number[access.root], access.isWrite});
    schedule.accesses.push_back(std::move(accesses));
    schedule.startsCopies.push_back(units[unitOf[entry.op]].isCopy);
  }
  schedule.completes.resize(schedule.entries.size());
  schedule.acquires.resize(schedule.entries.size());
}

/// Every value must be computed before it is used, and may have to be carried
/// to a later step.
Scheduler::Reason Scheduler::checkValues() {
  ValueFlow flow(schedule);
  bool hasLayouts = loop->hasAttr(mosaic_gpu::kOutLayouts) ||
                    loop->hasAttr(mosaic_gpu::kInLayouts);
  for (auto [i, entry] : llvm::enumerate(schedule.entries))
    for (Value operand : flow.getUsed(entry.op)) {
      ValueSource source =
          flow.find(operand, entry.position.stage, i, schedule.stages - 1);
      bool isCarried = isa<BlockArgument>(operand);
      if (source.kind == ValueSource::Kind::Missing) {
        std::string def = quote(getBodyOp(source.value));
        if (isCarried)
          return "the loop-carried value that " + quote(entry.op) +
                 " uses would be updated too late by " + def;
        return quote(entry.op) + " would execute before " + def +
               ", whose result it uses";
      }
      if (source.kind != ValueSource::Kind::Computed ||
          schedule.entries[source.entry].position.stage == source.lag)
        continue;
      Operation *def = getBodyOp(source.value);
      if (!isCarried && isa<BaseMemRefType>(operand.getType()))
        return "the view that " + quote(def) +
               " makes would have to be carried to another stage";
      // A loop that states the layouts of its vectors gets more of them; they
      // must be known as well.
      if (hasLayouts && isa<VectorType>(operand.getType()) &&
          !def->hasAttr(mosaic_gpu::kOutLayouts))
        return "the vector that " + quote(def) +
               " computes is carried to another stage and has no layout";
    }
  return std::nullopt;
}

/// Every pair of accesses that depend on each other through memory must keep
/// its order. In time, an op of stage s works on iteration i at step i + s, and
/// within a step the kernel's order counts.
Scheduler::Reason Scheduler::checkMemory() {
  DenseMap<Operation *, unsigned> order;
  for (auto [i, unit] : llvm::enumerate(units))
    order[unit.op] = i;
  /// The first and last read and write of one buffer at one position.
  struct Group {
    unsigned buffer;
    Position position;
    bool isWrite;
    unsigned first, last; ///< in the body's order
    unsigned firstEntry, lastEntry;
    Operation *op;
  };
  SmallVector<Group> groups;
  std::map<std::tuple<unsigned, int64_t, int64_t, bool>, unsigned> groupOf;
  auto addAccess = [&](unsigned entry, unsigned buffer, bool isWrite) {
    const ScheduleEntry &e = schedule.entries[entry];
    auto [it, inserted] =
        groupOf.insert({{buffer, e.position.stage, e.position.cluster, isWrite},
                        unsigned(groups.size())});
    unsigned place = order[e.op];
    if (inserted) {
      groups.push_back(
          {buffer, e.position, isWrite, place, place, entry, entry, e.op});
      return;
    }
    Group &group = groups[it->second];
    group.first = std::min(group.first, place);
    group.last = std::max(group.last, place);
    group.firstEntry = std::min(group.firstEntry, entry);
    group.lastEntry = std::max(group.lastEntry, entry);
  };
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
    for (const BufferAccess &access : schedule.accesses[i])
      addAccess(i, access.buffer, access.isWrite);
    for (unsigned buffer : schedule.completes[i])
      addAccess(i, buffer, /*isWrite=*/true);
    for (unsigned buffer : schedule.acquires[i])
      addAccess(i, buffer, /*isWrite=*/true);
  }
  auto text = [&](const Group &a) {
    return quote(a.op) + " of " + nameOf(schedule.buffers[a.buffer].root);
  };
  auto mayDepend = [&](const Group &a, const Group &b) {
    return (a.isWrite || b.isWrite) &&
           mayAlias(schedule.buffers[a.buffer].root,
                    schedule.buffers[b.buffer].root);
  };
  // x before y in one iteration.
  for (const Group &x : groups)
    for (const Group &y : groups) {
      bool isLater = x.position.stage > y.position.stage ||
                     (x.position.stage == y.position.stage &&
                      x.position.cluster > y.position.cluster);
      if (isLater && x.first < y.last && mayDepend(x, y))
        return text(y) + " would overtake " + text(x) +
               ", which it may depend on";
    }
  // y in one iteration before x in the next that may touch the same memory.
  std::optional<unsigned> small; // a buffer with too few slots
  int64_t needed = 0;
  for (const Group &x : groups)
    for (const Group &y : groups) {
      if (!mayDepend(x, y))
        continue;
      const LoopBuffer &buffer = schedule.buffers[x.buffer];
      bool isSameBuffer = x.buffer == y.buffer;
      int64_t distance = isSameBuffer ? buffer.slots : 1;
      int64_t late = y.position.stage - (x.position.stage + distance);
      if (late < 0 || (late == 0 && y.lastEntry < x.firstEntry))
        continue;
      if (!isSameBuffer || buffer.space != MemorySpace::Shared)
        return text(x) + " would overtake " + text(y) +
               " of an earlier iteration, which it may depend on";
      if (x.buffer != small.value_or(x.buffer))
        continue;
      small = x.buffer;
      needed = std::max(needed, y.position.stage - x.position.stage +
                                    (y.lastEntry < x.firstEntry ? 0 : 1));
    }
  if (small)
    return "the schedule needs " + std::to_string(needed) + " slots of " +
           nameOf(schedule.buffers[*small].root) + ", which has " +
           std::to_string(schedule.buffers[*small].slots);
  return std::nullopt;
}
