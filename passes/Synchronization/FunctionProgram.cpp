//===- FunctionProgram.cpp - Accesses and barriers of a function ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Synchronization/FunctionProgram.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Slots/BufferTurns.h"
#include "smalti/passes/Slots/IterationParity.h"
#include "smalti/passes/Slots/IterationSlots.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Synchronization/AsyncCopies.h"
#include "smalti/passes/Synchronization/SyncBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;
using sync::NodeId;
using Kind = sync::Node::Kind;

std::string FunctionProgram::describe(NodeId node) const {
  if (ops[node])
    return quote(ops[node]);
  return node == program.getSteps().front() ? "earlier accesses of a caller"
                                            : "later accesses of a caller";
}

//===----------------------------------------------------------------------===//
// Facts from a walk of the function
//===----------------------------------------------------------------------===//

/// Whether the op only allocates (or only frees) memory.
template <typename Effect> static bool onlyHas(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<Effect>();
}

void FunctionProgram::findWalkFacts() {
  bool hasFreed = false;
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<BlockBarrierOpInterface>(op))
      for (Operation *parent = op->getParentOp();
           parent != function && holdBarriers.insert(parent).second;)
        parent = parent->getParentOp();
    hasFreed |= onlyHas<MemoryEffects::Free>(op);
    if (onlyHas<MemoryEffects::Allocate>(op))
      for (Value result : op->getResults())
        reusesMemory |=
            getMemorySpace(result) != MemorySpace::Private &&
            (hasFreed || op->getParentOfType<LoopLikeOpInterface>());
  });
}

FunctionProgram::Shape FunctionProgram::getShape(Operation *op) const {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch || op->hasTrait<OpTrait::HasParallelRegion>())
    return Shape::Unknown;
  // Bit 0 represents the op itself, the others its regions.
  auto successorsOf = [&](Region *region) {
    SmallVector<RegionSuccessor> successors;
    if (region)
      branch.getSuccessorRegions(*region, successors);
    else
      branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    unsigned bits = 0;
    for (const RegionSuccessor &successor : successors)
      bits |= successor.isParent()
                  ? 1u
                  : 2u << successor.getSuccessor()->getRegionNumber();
    return bits;
  };
  constexpr unsigned kMaxRegions = 16;
  if (op->getNumRegions() > kMaxRegions)
    return Shape::Unknown;
  SmallVector<unsigned> next;
  for (Region &region : op->getRegions()) {
    if (!region.empty() && !region.hasOneBlock())
      return Shape::Unknown;
    next.push_back(region.empty() ? 1u : successorsOf(&region));
  }
  unsigned entry = successorsOf(nullptr);
  if (llvm::all_of(next, [](unsigned bits) { return bits == 1u; }))
    return Shape::Branch;
  if (next.size() == 1 && next[0] == 3u)
    return Shape::Loop;
  if (next.size() == 2 && entry == 2u && next[0] == (1u | 4u) && next[1] == 2u)
    return Shape::While;
  return Shape::Unknown;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

unsigned FunctionProgram::addBuffer(sync::Buffer buffer,
                                    ArrayRef<Value> bufferRoots, Type type,
                                    bool isFixedBuffer) {
  roots.emplace_back(bufferRoots);
  types.push_back(type);
  isFixed.push_back(isFixedBuffer);
  return program.addBuffer(buffer);
}

/// Whether a root is the same memory for all threads and iterations, not a
/// selected or carried one.
static bool isFixedRoot(Value root) {
  Operation *def = root.getDefiningOp();
  return getAliasClass(root).kind != RootKind::Other ||
         (def && def->getNumOperands() == 0 && def->getNumRegions() == 0);
}

/// Whether the memref always shows the same elements of a fixed root.
static bool isFixedView(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    auto window = dyn_cast<OffsetSizeAndStrideOpInterface>(view.getOperation());
    if (!isInsideSource(view) ||
        (window && llvm::any_of(window.getMixedOffsets(), [](OpFoldResult at) {
           return !evaluateConstant(at);
         })))
      return false;
    memref = view.getViewSource();
  }
  return memref == getRootBuffer(memref) && isFixedRoot(memref);
}

unsigned FunctionProgram::getBuffer(Value root) {
  AliasClass alias = getAliasClass(root);
  auto [it, inserted] = buffers.try_emplace(alias.identity, 0);
  if (!inserted)
    return it->second;
  return it->second = addBuffer(makeSyncBuffer(alias), root, root.getType(),
                                isFixedRoot(root));
}

/// Matches the slot of the iteration: the number of slots, and the slot of the
/// first iteration.
static std::optional<std::pair<int64_t, int64_t>> matchSlot(Value number,
                                                            scf::ForOp loop) {
  if (std::optional<IterationSlot> slot = matchIterationSlot(number, loop)) {
    std::optional<int64_t> base = slot->base.asConstant();
    if (!base || slot->limit)
      return std::nullopt;
    return std::pair(slot->depth, int64_t(llvm::mod(*base, slot->depth)));
  }
  if (hasWideCounter(loop))
    return std::nullopt;
  if (std::optional<bool> parity = matchIterationParity(number, loop))
    return std::pair(int64_t(2), int64_t(*parity));
  return std::nullopt;
}

/// The slot of its buffer that the memref shows: a constant, or the slot of a
/// loop's iteration.
sync::Slot FunctionProgram::getSlot(const MemoryAccess &access,
                                    unsigned buffer) {
  OpFoldResult offset = getSlotNumber(access.memref, access.root);
  if (!offset)
    return {};
  int64_t size = cast<MemRefType>(access.root.getType()).getDimSize(0);
  if (std::optional<int64_t> number = evaluateConstant(offset))
    return *number >= 0 && *number < size ? sync::Slot::fixed(*number)
                                          : sync::Slot();
  for (auto loop = access.op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    auto slot = matchSlot(cast<Value>(offset), loop);
    auto node = nodes.find(loop);
    if (!slot || node == nodes.end() || slot->first > size)
      continue;
    setDepth(buffer, slot->first);
    return sync::Slot::ofLoop(node->second, slot->second);
  }
  return {};
}

std::optional<sync::Access>
FunctionProgram::toAccess(const MemoryAccess &access) {
  if (access.space == MemorySpace::Private)
    return std::nullopt;
  sync::AccessKind kind =
      access.isWrite ? sync::AccessKind::Write : sync::AccessKind::Read;
  if (isa<AtomicAccessOpInterface>(access.op))
    kind = sync::AccessKind::Atomic;
  auto turn = turns.find(access.root);
  unsigned buffer = turn == turns.end() ? getBuffer(access.root)
                                        : turnSets[turn->second.set].buffer;
  sync::Slot slot;
  if (auto number = numbers.find(buffer); number != numbers.end())
    slot = sync::Slot::fixed(number->second);
  else if (turn != turns.end() && turnSets[turn->second.set].first)
    slot = getTurnSlot(turn->second);
  else if (isFixed[buffer])
    slot = getSlot(access, buffer);
  return sync::Access{buffer, kind, slot,
                      isFixed[buffer] ? footprints.get(access.op, access.memref)
                                      : sync::kNoFootprint};
}

void FunctionProgram::setDepth(unsigned buffer, int64_t depth) {
  auto [it, inserted] = depths.try_emplace(program.getSlotGroup(buffer), depth);
  if (it->second != depth)
    it->second = 0;
}

/// Slots are comparable only if all slot numbers of a group have the same
/// range.
void FunctionProgram::finalizeSlots() {
  auto getDepth = [&](unsigned buffer) -> std::optional<int64_t> {
    auto it = depths.find(program.getSlotGroup(buffer));
    return it == depths.end() ? std::nullopt : std::optional(it->second);
  };
  for (auto [i, buffer] : llvm::enumerate(program.buffers)) {
    auto type = dyn_cast_or_null<MemRefType>(types[program.getSlotGroup(i)]);
    if (std::optional<int64_t> depth = getDepth(i))
      buffer.slots = std::max<int64_t>(*depth, 1);
    else if (type && type.getRank() > 0 && !type.isDynamicDim(0))
      buffer.slots = std::max<int64_t>(type.getDimSize(0), 1);
  }
  for (NodeId id = 0; id < program.size(); ++id)
    for (auto *accesses : {&program[id].checked, &program[id].pending})
      for (sync::Access &access : *accesses)
        if (getDepth(access.buffer) == 0 ||
            access.slot.index >= program.buffers[access.buffer].slots)
          access.slot = sync::Slot();
}

//===----------------------------------------------------------------------===//
// Buffers that loop iterations swap
//===----------------------------------------------------------------------===//

/// Finds the values that are one of several buffers in each iteration, and
/// numbers the buffers as slots.
void FunctionProgram::findTurns() {
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForOp>(op)) {
      auto loop = cast<scf::ForOp>(op);
      for (auto [argument, result] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
        addTurn(argument);
        addTurn(result);
      }
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      addTurn(select.getResult());
    }
  });
  if (!numbers.empty())
    dropNumbersOfSlottedBuffers();
}

void FunctionProgram::addTurn(Value value) {
  if (!isa<MemRefType>(value.getType()) ||
      getMemorySpace(value) == MemorySpace::Private)
    return;
  std::optional<BufferTurn> turn = matchBufferTurn(value);
  if (!turn)
    return;
  int64_t size = turn->memrefs.size();
  // The set may begin with any of the memrefs.
  for (int64_t index = 0; index < size; ++index) {
    for (unsigned set : turnSetsOf.lookup(turn->memrefs[index])) {
      const SmallVector<Value> &known = turnSets[set].memrefs;
      int64_t first = (size - index) % size;
      if (int64_t(known.size()) != size ||
          !llvm::all_of(llvm::seq(size), [&](int64_t i) {
            return known[(first + i) % size] == turn->memrefs[i];
          }))
        continue;
      turns[value] = {set, turn->loop, first, turn->isAfter};
      return;
    }
  }
  if (std::optional<unsigned> set = addTurnSet(turn->memrefs))
    turns[value] = {*set, turn->loop, 0, turn->isAfter};
}

/// If the memrefs are consecutive slots of one buffer: the slot of the first
/// one.
static std::optional<int64_t> matchSlotsInOrder(ArrayRef<Value> memrefs) {
  Value root = getRootBuffer(memrefs.front());
  int64_t count = memrefs.size(), first = 0;
  for (auto [i, memref] : llvm::enumerate(memrefs)) {
    OpFoldResult number = getRootBuffer(memref) == root
                              ? getSlotNumber(memref, root)
                              : OpFoldResult();
    std::optional<int64_t> slot =
        number ? evaluateConstant(number) : std::nullopt;
    if (i == 0)
      first = slot.value_or(-1);
    if (first < 0 || first >= count || slot != (first + int64_t(i)) % count)
      return std::nullopt;
  }
  return first;
}

/// Returns nothing if the memrefs may overlap: an element of one could be a
/// different element of the next.
std::optional<unsigned> FunctionProgram::addTurnSet(ArrayRef<Value> memrefs) {
  TurnSet set;
  SmallVector<Value> members;
  for (Value memref : memrefs) {
    set.memrefs.push_back(memref);
    members.push_back(getRootBuffer(memref));
  }
  AliasClass alias = getAliasClass(members.front());
  alias.kind = RootKind::Other;
  sync::Buffer buffer = makeSyncBuffer(alias);
  auto mayOverlap = [&] {
    for (size_t i = 0; i < members.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (mayAlias(members[i], members[k]))
          return true;
    return false;
  };
  bool isOfOneBuffer = false;
  if (memrefs.size() > 1) {
    unsigned base = getBuffer(members.front());
    if (std::optional<int64_t> first = matchSlotsInOrder(memrefs)) {
      isOfOneBuffer = true;
      if (!numbers.contains(base)) {
        buffer.slotGroup = program.buffers[base].slotGroup = base;
        set.first = first;
      }
    } else if (mayOverlap()) {
      return std::nullopt;
    } else if ((set.first = numberMembers(members))) {
      buffer.slotGroup = program.getSlotGroup(base);
    }
  }
  bool isFixedSet = llvm::all_of(memrefs, isFixedView);
  if (isOfOneBuffer)
    members.resize(1);
  set.buffer =
      addBuffer(buffer, members, memrefs.front().getType(), isFixedSet);
  if (set.first)
    setDepth(set.buffer, memrefs.size());
  turnSetsOf[memrefs.front()].push_back(turnSets.size());
  turnSets.push_back(std::move(set));
  return turnSets.size() - 1;
}

/// Makes the buffers slots of a group, and returns the slot of the first one.
/// Returns nothing if some of them already are slots, in another order.
std::optional<int64_t> FunctionProgram::numberMembers(ArrayRef<Value> members) {
  SmallVector<unsigned> ofMembers;
  for (Value member : members)
    ofMembers.push_back(getBuffer(member));
  int64_t count = members.size();
  unsigned group = program.getSlotGroup(ofMembers[0]);
  if (llvm::none_of(ofMembers, [&](unsigned buffer) {
        return program.buffers[buffer].slotGroup.has_value();
      }))
    for (auto [i, buffer] : llvm::enumerate(ofMembers)) {
      program.buffers[buffer].slotGroup = group;
      numbers[buffer] = i;
    }
  for (auto [i, buffer] : llvm::enumerate(ofMembers)) {
    auto number = numbers.find(buffer);
    if (number == numbers.end() || program.getSlotGroup(buffer) != group ||
        number->second != (numbers.lookup(ofMembers[0]) + int64_t(i)) % count)
      return std::nullopt;
  }
  if (depths.try_emplace(group, count).first->second != count)
    return std::nullopt;
  return numbers.lookup(ofMembers[0]);
}

/// If a swapped buffer has slots of its own, those are distinguished instead:
/// an access has one slot.
void FunctionProgram::dropNumbersOfSlottedBuffers() {
  llvm::DenseSet<unsigned> slotted;
  function.getFunctionBody().walk([&](Operation *op) {
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (op->getNumRegions() == 0)
      collectAccesses(op, accesses, reason);
    for (const MemoryAccess &access : accesses) {
      if (access.space == MemorySpace::Private ||
          !getSlotNumber(access.memref, access.root) ||
          cast<MemRefType>(access.root.getType()).getDimSize(0) == 1)
        continue;
      auto turn = turns.find(access.root);
      unsigned buffer = turn == turns.end() ? getBuffer(access.root)
                                            : turnSets[turn->second.set].buffer;
      unsigned group = program.getSlotGroup(buffer);
      if (numbers.contains(group))
        slotted.insert(group);
    }
  });
  for (unsigned group : slotted)
    depths.erase(group);
  for (TurnSet &set : turnSets)
    if (slotted.contains(program.getSlotGroup(set.buffer)))
      set.first.reset();
  for (auto [i, buffer] : llvm::enumerate(program.buffers))
    if (buffer.slotGroup && slotted.contains(*buffer.slotGroup)) {
      numbers.erase(i);
      buffer.slotGroup.reset();
    }
}

sync::Slot FunctionProgram::getTurnSlot(const Turn &turn) const {
  const TurnSet &set = turnSets[turn.set];
  auto node = nodes.find(turn.loop);
  if (node == nodes.end())
    return {};
  int64_t count = set.memrefs.size();
  int64_t first = (*set.first + turn.index) % count;
  if (!turn.isAfter)
    return sync::Slot::ofLoop(node->second, first);
  const sync::Node &loop = program[node->second];
  if (loop.tripCount)
    return sync::Slot::fixed((first + *loop.tripCount % count) % count);
  // Threads with different trip counts have different buffers.
  return loop.isUniform ? sync::Slot::afterLoop(node->second, first)
                        : sync::Slot();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

NodeId FunctionProgram::addNode(Operation *op, Kind kind, NodeId parent,
                                unsigned part) {
  NodeId id = program.addNode(kind, parent, part);
  ops.resize(id + 1);
  ops[id] = op;
  if (op)
    nodes[op] = id;
  return id;
}

/// Whether an op with unknown effects may synchronize threads: a call, inline
/// assembly, or an instruction.
static bool maySynchronize(Operation *op) {
  return isa<CallOpInterface, BarrierObjectOpInterface>(op) ||
         (isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect,
                          ROCDL::ROCDLDialect>(op->getDialect()) &&
          !isMemoryEffectFree(op));
}

/// An access to all memory of these spaces.
sync::Access FunctionProgram::accessEverything(std::optional<unsigned> &number,
                                               sync::Spaces spaces) {
  if (!number) {
    sync::Buffer buffer;
    buffer.spaces = spaces;
    buffer.isEverything = true;
    number = addBuffer(buffer, {}, Type(), /*isFixed=*/false);
  }
  return {*number, sync::AccessKind::Write, sync::Slot()};
}

/// A step that may access all memory that threads share.
void FunctionProgram::addUnknown(Operation *op, std::string reason,
                                 NodeId parent, unsigned part) {
  sync::Access all = accessEverything(everything, sync::kAllSpaces);
  NodeId id = addNode(op, Kind::Step, parent, part);
  program[id].checked.push_back(all);
  program[id].pending = program[id].checked;
  if (op && llvm::none_of(opaque, [&](const auto &entry) {
        return entry.second == reason;
      }))
    opaque.insert({op, reason});
  unknown[id] = std::move(reason);
  if (!op || unmodeledSynchronization)
    return;
  op->walk([&](Operation *nested) {
    if (!maySynchronize(nested))
      return WalkResult::advance();
    unmodeledSynchronization = nested;
    return WalkResult::interrupt();
  });
}

/// Ops with unknown effects may start asynchronous copies, so the copies that a
/// wait completes are unknown.
void FunctionProgram::addUnknownCopiesToWaits() {
  if (!everything)
    return;
  for (NodeId id = 1; id < program.size(); ++id)
    if (isa_and_nonnull<AsyncWaitOpInterface>(ops[id]) &&
        program[id].kind == Kind::Step && !unknown.contains(id)) {
      program[id].pending.push_back(
          {*everything, sync::AccessKind::Write, sync::Slot()});
      Operation *wait = ops[id];
      unknown[id] = "the copies that " + quote(wait) +
                    " waits for cannot be determined; insert a gpu.barrier "
                    "where a barrier is missing";
    }
}

void FunctionProgram::fixNestedBarriers(Operation *op, StringRef reason) {
  if (!holdBarriers.contains(op))
    return;
  op->walk([&](BlockBarrierOpInterface barrier) {
    fixed.insert({barrier, reason.str()});
  });
}

void FunctionProgram::addBarrier(BlockBarrierOpInterface op, NodeId parent,
                                 unsigned part) {
  NodeId id = addNode(op, Kind::Barrier, parent, part);
  program[id].orders =
      op.ordersGlobalMemory() ? sync::kAllSpaces : sync::kShared;
  for (NodeId node = parent; node != sync::Program::kRoot;
       node = program[node].parent) {
    auto reason = divergenceReasons.find(ops[node]);
    if (reason == divergenceReasons.end())
      continue;
    program[id].isFixed = true;
    fixed.insert(
        {op, reason->second +
                 "; make it uniform, or move the barrier out of the op"});
    return;
  }
}

void FunctionProgram::addStructure(RegionBranchOpInterface op, Shape shape,
                                   NodeId parent, unsigned part) {
  bool isLoop = shape != Shape::Branch;
  NodeId id = addNode(op, isLoop ? Kind::Loop : Kind::Branch, parent, part);
  // A barrier inside implies that all threads of the block reach it.
  Uniformity control = uniformity.getControl(op);
  bool isUniform = control.scope == UniformScope::Block &&
                   (!control.isAssumed || holdBarriers.contains(op));
  program[id].isUniform = isUniform;
  if (!isUniform)
    divergenceReasons[op] =
        (isLoop ? "the trip count of " : "the condition of ") + quote(op) +
        " may be divergent";
  if (shape == Shape::Loop) {
    if (auto loop = dyn_cast<scf::ForOp>(op.getOperation())) {
      if (std::optional<uint64_t> trips = evaluateTripCount(loop);
          trips && llvm::isUInt<62>(*trips))
        program[id].tripCount = *trips;
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op.getOperation())) {
      if (std::optional<APInt> trips = loop.getStaticTripCount();
          trips && trips->getActiveBits() < 63)
        program[id].tripCount = trips->getSExtValue();
    }
    SmallVector<RegionSuccessor> entry;
    op.getSuccessorRegions(RegionBranchPoint::parent(), entry);
    program[id].runsAtLeastOnce =
        program[id].tripCount.value_or(0) > 0 ||
        llvm::none_of(entry, [](const RegionSuccessor &successor) {
          return successor.isParent();
        });
    addBlock(op->getRegion(0).front(), id, 1);
    return;
  }
  if (shape == Shape::While) {
    addBlock(op->getRegion(0).front(), id, 0);
    addBlock(op->getRegion(1).front(), id, 1);
    return;
  }
  SmallVector<RegionSuccessor> entry;
  op.getSuccessorRegions(RegionBranchPoint::parent(), entry);
  unsigned alternative = 0;
  for (const RegionSuccessor &successor : entry) {
    Region *region = successor.getSuccessor();
    program[id].parts.resize(alternative + 1);
    if (region && !region->empty())
      addBlock(region->front(), id, alternative);
    ++alternative;
  }
  if (program[id].parts.empty())
    program[id].parts.resize(1);
}

/// Finds the step at which a read of global memory must be complete: a later op
/// of the block that stores its value to shared memory.
void FunctionProgram::findReadCompletion(Operation *op, NodeId node) {
  constexpr unsigned kMaxUsers = 32;
  SmallVector<Operation *> worklist = {op};
  llvm::SmallDenseSet<Operation *> seen;
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      if (seen.size() > kMaxUsers || !seen.insert(user).second)
        continue;
      // If an op extracts a part of the value, the other parts may be in
      // flight.
      if (user->hasTrait<OpTrait::Elementwise>()) {
        worklist.push_back(user);
        continue;
      }
      auto it = nodes.find(user);
      if (user->getBlock() != op->getBlock() || it == nodes.end())
        continue;
      for (const sync::Access &access : program[it->second].checked)
        if (access.kind == sync::AccessKind::Write &&
            program.buffers[access.buffer].spaces == sync::kShared)
          program[node].completesAt = it->second;
    }
  }
}

void FunctionProgram::addAccesses(Operation *op, NodeId parent, unsigned part) {
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  bool isKnown = collectAccesses(op, accesses, reason);
  fixNestedBarriers(op, "the control flow of " + quote(op) + " is unknown; " +
                            (isa<gpu::LaunchOp>(op)
                                 ? "run 'gpu-kernel-outlining' first"
                                 : "use scf.for, scf.while or scf.if"));
  // If it starts or awaits copies, their order is unknown.
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      if (isa<AsyncCopyOpInterface, AsyncCommitOpInterface,
              AsyncWaitOpInterface>(nested)) {
        isKnown = false;
        reason = quote(nested) + " is inside " + quote(op) +
                 ", whose control flow is unknown";
      }
    });
  if (!isKnown)
    return addUnknown(op, reason, parent, part);
  sync::Node collected;
  bool onlyReadsGlobal = true;
  for (const MemoryAccess &access : accesses) {
    std::optional<sync::Access> converted = toAccess(access);
    if (!converted)
      continue;
    collected.checked.push_back(*converted);
    bool isRead = access.space == MemorySpace::Global && !access.isWrite;
    collected.isGlobalRead |= isRead;
    onlyReadsGlobal &= isRead;
  }
  // Other blocks may wait for the atomic, and so for all earlier accesses.
  if (findAtomic(accesses, MemorySpace::Global))
    collected.checked.push_back(accessEverything(globalMemory, sync::kGlobal));
  if (collected.checked.empty())
    return;
  NodeId id = addNode(op, Kind::Step, parent, part);
  program[id].checked = collected.checked;
  program[id].pending = collected.checked;
  program[id].isGlobalRead = collected.isGlobalRead && onlyReadsGlobal;
  program[id].hasUnknownOrder = llvm::any_of(
      accesses, [&](const MemoryAccess &access) { return access.op != op; });
}

/// An asynchronous copy is ordered after earlier accesses where it starts; its
/// writes are pending after its wait.
void FunctionProgram::addCopy(AsyncCopyOpInterface op, NodeId parent,
                              unsigned part) {
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason))
    return addUnknown(op, reason, parent, part);
  NodeId id = addNode(op, Kind::Step, parent, part);
  for (const MemoryAccess &access : accesses)
    if (std::optional<sync::Access> converted = toAccess(access)) {
      program[id].checked.push_back(*converted);
      if (!access.isWrite || op.completesAtBlockBarriers())
        program[id].pending.push_back(*converted);
      program[id].isGlobalRead |= !access.isWrite;
    }
}

void FunctionProgram::addOp(Operation *op, NodeId parent, unsigned part) {
  if (auto barrier = dyn_cast<BlockBarrierOpInterface>(op))
    return addBarrier(barrier, parent, part);
  if (isa<BarrierObjectOpInterface>(op))
    return addUnknown(
        op,
        quote(op) + " uses an mbarrier, and the pass does not analyze what it "
                    "orders; insert a gpu.barrier where a barrier is missing",
        parent, part);
  if (auto copy = dyn_cast<AsyncCopyOpInterface>(op))
    return addCopy(copy, parent, part);
  if (isa<AsyncCommitOpInterface, AsyncWaitOpInterface>(op)) {
    addNode(op, Kind::Step, parent, part);
    return;
  }
  if (Shape shape = getShape(op); shape != Shape::Unknown)
    return addStructure(cast<RegionBranchOpInterface>(op), shape, parent, part);
  if (onlyHas<MemoryEffects::Allocate>(op) ||
      onlyHas<MemoryEffects::Free>(op)) {
    if (reusesMemory)
      addUnknown(op,
                 quote(op) +
                     " allocates or frees memory that other buffers may reuse",
                 parent, part);
    return;
  }
  if (op->getNumRegions() == 0 &&
      (isMemoryEffectFree(op) || (op->hasTrait<OpTrait::IsTerminator>() &&
                                  !isa<MemoryEffectOpInterface>(op))))
    return;
  addAccesses(op, parent, part);
}

void FunctionProgram::addBlock(Block &block, NodeId parent, unsigned part) {
  for (Operation &op : block)
    addOp(&op, parent, part);
}

FunctionProgram::FunctionProgram(FunctionOpInterface function,
                                 const targets::Target *chip)
    : function(function), uniformity(function), footprints(function, chip) {
  ops.push_back(nullptr);
  findWalkFacts();
  program.overlap = [this](unsigned a, unsigned b) {
    return llvm::any_of(roots[a], [&](Value root) {
      return llvm::any_of(roots[b],
                          [&](Value other) { return mayAlias(root, other); });
    });
  };
  program.footprintsMeet = [this](int a, int b) {
    return footprints.meet(a, b);
  };
  bool hasCallers = !isKernel(function);
  if (hasCallers)
    addUnknown(nullptr, "", sync::Program::kRoot, 0);
  findTurns();
  addBlock(function.getFunctionBody().front(), sync::Program::kRoot, 0);
  if (hasCallers)
    addUnknown(nullptr, "", sync::Program::kRoot, 0);
  finalizeSlots();
  addCompletions(*this);
  addUnknownCopiesToWaits();
  for (NodeId id = 0; id < program.size(); ++id)
    if (program[id].kind == Kind::Step && ops[id] && program[id].isGlobalRead &&
        ops[id]->getNumResults() > 0 && !isa<AsyncCopyOpInterface>(ops[id]))
      findReadCompletion(ops[id], id);
}
