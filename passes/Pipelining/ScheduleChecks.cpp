//===- ScheduleChecks.cpp - Legality checks of a schedule -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Pipelining/Scheduler.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Pipelining/AccessLists.h"
#include "smalti/passes/Pipelining/ValueFlow.h"
#include "smalti/passes/Slots/AddressSlots.h"
#include "smalti/passes/Slots/IterationSlots.h"
#include "smalti/passes/Support/ValueNames.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

/// Whether an access uses the same slot of its iteration as the earlier ones;
/// the first access sets `slot`. Conditions for the slot are kept for the
/// guard.
bool Scheduler::recordSlot(const std::optional<IterationSlot> &found,
                           std::optional<IterationSlot> &slot) {
  if (!found || (slot && !slot->isSameAs(*found)))
    return false;
  if (const std::optional<CountLimit> &limit = found->limit) {
    if (schedule.tripCount &&
        limit->bindsNumber(loop.getInductionVar().getType()) &&
        *schedule.tripCount > limit->getMost())
      return false;
    if (llvm::none_of(schedule.limits, [&](const CountLimit &other) {
          return other.counted == limit->counted;
        }))
      schedule.limits.push_back(*limit);
  }
  slot = found;
  return true;
}

/// The slot of its iteration that is accessed through `memref`, or by the op's
/// indices if `memref` is the buffer itself.
std::optional<IterationSlot> Scheduler::findSlot(Value root,
                                                 const MemoryAccess &access) {
  Value memref = access.memref;
  auto type = cast<MemRefType>(root.getType());
  if (!isa<MemRefType>(memref.getType())) {
    int64_t bytes = bytesOfThread.lookup(memref);
    return bytes ? matchAddressSlot(memref, root, bytes, loop, *options.ranges)
                 : std::nullopt;
  }
  // A memref that is created from an address.
  if (auto cast = memref.getDefiningOp<UnrealizedConversionCastOp>();
      cast && cast->getNumOperands() == 1 &&
      isa<LLVM::LLVMPointerType>(cast.getOperand(0).getType())) {
    std::optional<int64_t> bytes =
        getBufferBytes(mlir::cast<MemRefType>(memref.getType()));
    return bytes ? matchAddressSlot(cast.getOperand(0), root, *bytes, loop,
                                    *options.ranges)
                 : std::nullopt;
  }
  Value offset;
  if (memref == root) {
    auto strided = dyn_cast<StridedAccessOpInterface>(access.op);
    OpOperand *operand = nullptr;
    for (OpOperand &other : access.op->getOpOperands())
      if (other.get() == root)
        operand = operand ? nullptr : &other;
    std::optional<RowAccess> row =
        strided && operand ? strided.getRowAccess(*operand) : std::nullopt;
    // Runs of elements are aligned and do not cross rows of these sizes.
    if (!row || row->indices.size() < 2 || row->isWaveWide ||
        (row->mayCrossRows && type.getShape().back() % row->elements != 0))
      return std::nullopt;
    offset = row->indices.front();
  } else {
    Operation *outermost = nullptr;
    for (Value value = memref; value != root;) {
      Operation *view = value.getDefiningOp();
      if (!isInsideSource(view))
        return std::nullopt;
      outermost = view;
      value = cast<ViewLikeOpInterface>(view).getViewSource();
    }
    auto window = dyn_cast<OffsetSizeAndStrideOpInterface>(outermost);
    if (!window || !isConstantIntValue(window.getMixedSizes().front(), 1))
      return std::nullopt;
    offset = dyn_cast<Value>(window.getMixedOffsets().front());
  }
  std::optional<IterationSlot> slot =
      offset ? matchIterationSlot(offset, loop) : std::nullopt;
  if (slot && type.getDimSize(0) < slot->depth)
    return std::nullopt;
  return slot;
}

/// How many consecutive iterations use different slots of the buffer, if every
/// access in the loop uses the slot of its iteration.
int64_t Scheduler::getSlots(Value root, ArrayRef<const MemoryAccess *> accesses,
                            bool &usesOtherSlots) {
  auto type = dyn_cast<MemRefType>(root.getType());
  if (!type || type.getRank() == 0)
    return 1;
  std::optional<IterationSlot> slot;
  bool isFound = false, isTaken = true;
  for (const MemoryAccess *access : accesses) {
    std::optional<IterationSlot> found = findSlot(root, *access);
    isFound |= found.has_value();
    isTaken = isTaken && recordSlot(found, slot);
  }
  usesOtherSlots = isFound && !isTaken;
  return slot && isTaken ? slot->depth : 1;
}

void Scheduler::findBuffers() {
  llvm::MapVector<Value, SmallVector<const MemoryAccess *>> accessesOf;
  DenseSet<std::pair<Value, Value>> memrefs;
  DenseMap<Value, SmallVector<Operation *>> barrierOps;
  for (const BodyOp &bodyOp : bodyOps)
    for (const MemoryAccess &access : bodyOp.accesses) {
      bool isNew = memrefs.insert({access.root, access.memref}).second;
      // All accesses through a view are in its slot.
      auto &ofRoot = accessesOf[access.root];
      if (isNew || access.memref == access.root)
        ofRoot.push_back(&access);
      // A pointer with different uses has an unknown size.
      auto copy = dyn_cast<AsyncCopyOpInterface>(access.op);
      auto object = dyn_cast<BarrierObjectOpInterface>(access.op);
      bool isBarrier =
          object && access.memref == object.getBarrierMutable().get();
      if (!isa<BaseMemRefType>(access.memref.getType())) {
        constexpr int64_t ofBarrier = 8;
        int64_t bytes = isBarrier ? ofBarrier
                        : copy && copy.getCopyDestination() == access.memref
                            ? copy.getBytesOfThread()
                            : 0;
        int64_t &known = bytesOfThread[access.memref];
        known = isNew || known == bytes ? bytes : 0;
      }
      if (isBarrier)
        barrierOps[access.root].push_back(object);
    }
  DenseMap<Value, unsigned> number;
  for (auto &[root, accesses] : accessesOf) {
    number[root] = schedule.buffers.size();
    auto it = barrierOps.find(root);
    bool isBarrier = it != barrierOps.end();
    bool usesOtherSlots = false;
    int64_t slots = isBarrier && !isa<MemRefType>(root.getType())
                        ? getBarrierSlots(root, it->second)
                        : getSlots(root, accesses, usesOtherSlots);
    schedule.buffers.push_back(
        {root, getMemorySpace(root), slots, isBarrier, usesOtherSlots});
  }
  for (const ScheduleEntry &entry : schedule.entries) {
    SmallVector<BufferAccess, 2> accesses;
    std::set<std::pair<unsigned, bool>> seen;
    for (const MemoryAccess &access : bodyOps[bodyOpIndex[entry.op]].accesses)
      if (seen.insert({number[access.root], access.isWrite}).second)
        accesses.push_back({number[access.root], access.isWrite});
    schedule.accesses.push_back(std::move(accesses));
    schedule.startsCopies.push_back(bodyOps[bodyOpIndex[entry.op]].isCopy);
  }
  schedule.completes.resize(schedule.entries.size());
  schedule.acquires.resize(schedule.entries.size());
}

/// Every value must be computed before its use, and may have to be carried to a
/// later step.
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
          return def + " computes a loop-carried value in a later stage than " +
                 quote(entry.op) + " uses the value; give both the same stage";
        return "the schedule would execute " + quote(entry.op) + " before " +
               def + ", whose result " + quote(entry.op) + " uses; give " +
               def + " an earlier stage or cluster";
      }
      if (source.kind != ValueSource::Kind::Computed ||
          schedule.entries[source.entry].position.stage == source.lag)
        continue;
      Operation *def = getBodyOp(source.value);
      if (!isCarried && isa<BaseMemRefType>(operand.getType()))
        return "the view that " + quote(def) +
               " creates is used in another stage; views and their users must "
               "have the same stage";
      // A loop with vector layouts gets more carried vectors, whose layouts
      // must be known too.
      if (hasLayouts && isa<VectorType>(operand.getType()) &&
          !def->hasAttr(mosaic_gpu::kOutLayouts))
        return "the result of " + quote(def) +
               " is used in another stage, but does not have the attribute '" +
               mosaic_gpu::kOutLayouts.str() +
               "'; run mosaic-gpu-infer-layouts first";
    }
  return std::nullopt;
}

/// Accesses that depend on each other through memory must keep their order. An
/// op of stage s works on iteration i at step i + s; within a step the order of
/// the kernel counts.
Scheduler::Reason Scheduler::checkMemory() {
  SmallVector<AliasClass> classes;
  DenseMap<Value, unsigned> number;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers)) {
    classes.push_back(getAliasClass(buffer.root));
    number[buffer.root] = i;
  }
  // In the order of the body.
  SmallVector<TimedAccess> accesses;
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
    const ScheduleEntry &entry = schedule.entries[i];
    unsigned order = bodyOpIndex[entry.op];
    AccessTime time = {entry.position.stage, i};
    for (const MemoryAccess &access : bodyOps[order].accesses)
      accesses.push_back(
          {&access, number[access.root], access.isWrite, time, order});
    for (unsigned buffer : schedule.completes[i])
      accesses.push_back({nullptr, buffer, /*isWrite=*/true, time, order});
    for (unsigned buffer : schedule.acquires[i])
      accesses.push_back({nullptr, buffer, /*isWrite=*/true, time, order});
  }
  llvm::stable_sort(accesses, [](const TimedAccess &a, const TimedAccess &b) {
    return a.order < b.order;
  });
  auto text = [&](const TimedAccess &access) {
    return quote(schedule.entries[access.time.second].op) + " of " +
           names.get(schedule.buffers[access.buffer].root);
  };
  auto areDisjoint = [&](const TimedAccess &x, const TimedAccess &y) {
    return x.buffer != y.buffer && ++comparisons <= mostComparisons &&
           !mayAlias(schedule.buffers[x.buffer].root,
                     schedule.buffers[y.buffer].root);
  };
  Reason reason;

  // x before y in one iteration.
  AccessLists lists;
  for (const TimedAccess &y : accesses) {
    auto check = [&](const AccessList &list, bool) {
      if (list.latest <= y.time)
        return false;
      for (const TimedAccess *x : list.items)
        if (x->time > y.time && !areDisjoint(*x, y) &&
            mayTouchSame(*x, y, /*distance=*/0)) {
          reason = "the schedule would move " + text(y) + " before " +
                   text(*x) + ", and the two accesses may alias";
          return true;
        }
      return false;
    };
    if (lists.visitConflicting(classes[y.buffer], y.isWrite, check))
      return reason;
    lists.add(&y, classes[y.buffer]);
  }

  // y in one iteration before x in a later one. A buffer with n slots is reused
  // after n iterations.
  for (const TimedAccess &y : accesses) {
    const LoopBuffer &buffer = schedule.buffers[y.buffer];
    auto check = [&](const AccessList &list, bool isOwnList) {
      bool isSameBuffer = isOwnList && list.buffer == y.buffer;
      int64_t slots = isSameBuffer ? buffer.slots : 1;
      auto isOvertaken = [&](AccessTime time, int64_t distance) {
        time.first += distance;
        return y.time > time;
      };
      if (!isOvertaken(list.earliest, slots))
        return false;
      for (const TimedAccess *x : list.items)
        for (int64_t distance = slots; isOvertaken(x->time, distance);
             distance += slots) {
          // The list of the buffer itself is more precise.
          if ((!isOwnList && x->buffer == y.buffer) || areDisjoint(*x, y) ||
              !mayTouchSame(y, *x, distance))
            continue;
          if (isSameBuffer && buffer.space == MemorySpace::Shared) {
            std::string needed =
                std::to_string(getNeededSlots(lists, classes[y.buffer]));
            if (buffer.usesOtherSlots)
              reason = "the schedule needs " + needed + " slots of " +
                       names.get(buffer.root) +
                       ", but the accesses of an iteration are not proven to "
                       "use the same slot; use one slot per iteration";
            else
              reason =
                  "the schedule needs " + needed + " slots of " +
                  names.get(buffer.root) +
                  "; accesses are proven to rotate over " +
                  std::to_string(slots) +
                  ", so add slots with smalti-multi-buffer or use fewer stages";
          } else
            reason = "the schedule would move " + text(*x) + " before " +
                     text(y) +
                     " of an earlier iteration, and the two accesses may alias";
          return true;
        }
      return false;
    };
    if (lists.visitConflicting(classes[y.buffer], y.isWrite, check))
      return reason;
  }
  return std::nullopt;
}

/// How many consecutive iterations use the buffer concurrently.
int64_t Scheduler::getNeededSlots(const AccessLists &lists,
                                  const AliasClass &buffer) {
  std::optional<AccessTime> first[2], last[2]; // reads, writes
  lists.visitConflicting(buffer, /*isWrite=*/true,
                         [&](const AccessList &list, bool isSameBuffer) {
                           bool isWrite = list.items.front()->isWrite;
                           if (isSameBuffer) {
                             first[isWrite] = list.earliest;
                             last[isWrite] = list.latest;
                           }
                           return false;
                         });
  int64_t needed = 1;
  for (bool lateIsWrite : {false, true})
    for (bool earlyIsWrite : {false, true}) {
      auto late = last[lateIsWrite], early = first[earlyIsWrite];
      if (!late || !early || !(lateIsWrite || earlyIsWrite))
        continue;
      needed = std::max(needed, late->first - early->first +
                                    (late->second < early->second ? 0 : 1));
    }
  return needed;
}
