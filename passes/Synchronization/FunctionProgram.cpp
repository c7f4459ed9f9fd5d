//===- FunctionProgram.cpp - A function as barriers see it ----------------===//

#include "passes/Synchronization/FunctionProgram.h"

#include "passes/Interfaces/MemRefViews.h"
#include "passes/Support/Describe.h"
#include "passes/Support/IterationSlots.h"
#include "passes/Support/TripCount.h"
#include "passes/Synchronization/AsyncCopies.h"
#include "passes/Synchronization/SyncBuffers.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
  return node == program.getSteps().front() ? "what runs before the function"
                                            : "what runs after the function";
}

//===----------------------------------------------------------------------===//
// What has to be known beforehand
//===----------------------------------------------------------------------===//

/// Whether the op allocates (or frees) memory, and does nothing else.
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
  // Bit 0 stands for the op itself, the others for its regions.
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
  constexpr unsigned kMostRegions = 16;
  if (op->getNumRegions() > kMostRegions)
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

unsigned FunctionProgram::getBuffer(Value root) {
  AliasClass alias = getAliasClass(root);
  auto [it, inserted] = buffers.try_emplace(alias.identity, 0);
  if (!inserted)
    return it->second;
  roots.push_back(root);
  return it->second = program.addBuffer(makeSyncBuffer(alias));
}

/// The slot that the memref is of its buffer: a number that does not change, or
/// the one of a loop's iteration.
sync::Slot FunctionProgram::getSlot(const MemoryAccess &access,
                                    unsigned buffer) {
  auto type = dyn_cast<MemRefType>(access.root.getType());
  if (!type || type.getRank() == 0 || type.isDynamicDim(0))
    return {};
  Operation *outermost = nullptr;
  for (Value value = access.memref; value != access.root;) {
    Operation *view = value.getDefiningOp();
    if (!isInsideSource(view))
      return {};
    outermost = view;
    value = cast<ViewLikeOpInterface>(view).getViewSource();
  }
  auto window = dyn_cast_or_null<OffsetSizeAndStrideOpInterface>(outermost);
  if (!window || window.getMixedSizes().empty() ||
      !isConstantIntValue(window.getMixedSizes().front(), 1))
    return {};
  OpFoldResult offset = window.getMixedOffsets().front();
  if (std::optional<int64_t> number = getConstantIntValue(offset))
    return *number >= 0 && *number < type.getDimSize(0)
               ? sync::Slot::fixed(*number)
               : sync::Slot();
  for (auto loop = access.op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<IterationSlot> slot =
        matchIterationSlot(cast<Value>(offset), loop);
    auto node = nodes.find(loop);
    if (!slot || !slot->isOfNumber() || node == nodes.end() ||
        slot->depth > type.getDimSize(0))
      continue;
    auto [it, inserted] = depths.try_emplace(buffer, slot->depth);
    if (it->second != slot->depth)
      it->second = 0;
    return sync::Slot::ofLoop(node->second, 0);
  }
  return {};
}

std::optional<sync::Access>
FunctionProgram::toAccess(const MemoryAccess &access) {
  if (access.space == MemorySpace::Private)
    return std::nullopt;
  unsigned buffer = getBuffer(access.root);
  sync::AccessKind kind =
      access.isWrite ? sync::AccessKind::Write : sync::AccessKind::Read;
  if (isa<AtomicAccessOpInterface>(access.op))
    kind = sync::AccessKind::Atomic;
  return sync::Access{buffer, kind, getSlot(access, buffer),
                      footprints.get(access.op, access.memref)};
}

/// Slots can be compared where all numbers of a buffer's slots have the same
/// range.
void FunctionProgram::settleSlots() {
  for (auto [i, buffer] : llvm::enumerate(program.buffers)) {
    auto it = depths.find(i);
    if (it != depths.end())
      buffer.slots = std::max<int64_t>(it->second, 1);
    else if (roots[i])
      if (auto type = dyn_cast<MemRefType>(roots[i].getType());
          type && type.getRank() > 0 && !type.isDynamicDim(0))
        buffer.slots = std::max<int64_t>(type.getDimSize(0), 1);
  }
  for (NodeId id = 0; id < program.size(); ++id)
    for (auto *accesses : {&program[id].checked, &program[id].pending})
      for (sync::Access &access : *accesses) {
        if (access.slot.kind == sync::Slot::Kind::Any)
          continue;
        int64_t slots = program.buffers[access.buffer].slots;
        auto it = depths.find(access.buffer);
        bool isTold = it == depths.end() || it->second != 0;
        if (!isTold || access.slot.index >= slots)
          access.slot = sync::Slot();
      }
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

/// Whether threads may wait for one another in an op of unknown effect: in a
/// call, in inline assembly, in an instruction.
static bool mayWait(Operation *op) {
  return isa<CallOpInterface, BarrierObjectOpInterface>(op) ||
         (isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect,
                          ROCDL::ROCDLDialect>(op->getDialect()) &&
          !isMemoryEffectFree(op));
}

/// Any memory of these spaces.
sync::Access FunctionProgram::accessEverything(std::optional<unsigned> &number,
                                               sync::Spaces spaces) {
  if (!number) {
    sync::Buffer buffer;
    buffer.spaces = spaces;
    buffer.isEverything = true;
    roots.push_back(Value());
    number = program.addBuffer(buffer);
  }
  return {*number, sync::AccessKind::Write, sync::Slot()};
}

/// A step that may do anything to all memory that threads share.
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
  if (!op || otherWait)
    return;
  op->walk([&](Operation *nested) {
    if (!mayWait(nested))
      return WalkResult::advance();
    otherWait = nested;
    return WalkResult::interrupt();
  });
}

/// Code of unknown effect may start asynchronous copies: then one does not know
/// what a wait completes.
void FunctionProgram::distrustWaits() {
  if (!everything)
    return;
  for (NodeId id = 1; id < program.size(); ++id)
    if (isa_and_nonnull<AsyncWaitOpInterface>(ops[id]) &&
        program[id].kind == Kind::Step && !unknown.contains(id)) {
      program[id].pending.push_back(
          {*everything, sync::AccessKind::Write, sync::Slot()});
      unknown[id] = "what " + quote(ops[id]) + " waits for is not known";
    }
}

void FunctionProgram::keepNested(Operation *op, StringRef reason) {
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
    auto reason = notUniform.find(ops[node]);
    if (reason == notUniform.end())
      continue;
    program[id].isFixed = true;
    fixed.insert({op, "it stands inside " + reason->second});
    return;
  }
}

void FunctionProgram::addStructure(RegionBranchOpInterface op, Shape shape,
                                   NodeId parent, unsigned part) {
  bool isLoop = shape != Shape::Branch;
  NodeId id = addNode(op, isLoop ? Kind::Loop : Kind::Branch, parent, part);
  // A barrier inside says that all threads of the block come there.
  Sharing sharing = uniformity.getControl(op);
  bool isUniform = sharing == Sharing::Same ||
                   (sharing == Sharing::NotSeen && holdBarriers.contains(op));
  program[id].isUniform = isUniform;
  if (!isUniform)
    notUniform[op] = quote(op) + (isLoop ? ", whose number of iterations may "
                                           "differ between threads"
                                         : ", whose condition may differ "
                                           "between threads");
  if (shape == Shape::Loop) {
    if (auto loop = dyn_cast<scf::ForOp>(op.getOperation())) {
      if (std::optional<uint64_t> trips = getConstantTripCount(loop);
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

/// Finds the step where a read of global memory has to be over: a later one of
/// the block that stores what was read to shared memory.
void FunctionProgram::findEndOfRead(Operation *op, NodeId node) {
  constexpr unsigned kMostUsers = 32;
  SmallVector<Operation *> worklist = {op};
  llvm::SmallDenseSet<Operation *> seen;
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      if (seen.size() > kMostUsers || !seen.insert(user).second)
        continue;
      // Of what takes a value apart, a part may be under way still.
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
          program[node].isOverAt = it->second;
    }
  }
}

void FunctionProgram::addAccesses(Operation *op, NodeId parent, unsigned part) {
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  bool isKnown = collectAccesses(op, accesses, reason);
  keepNested(op, "it stands inside " + quote(op) +
                     ", whose control flow is not known");
  // Where it starts or awaits copies, their order is not known.
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      if (isa<AsyncCopyOpInterface, AsyncCommitOpInterface,
              AsyncWaitOpInterface>(nested)) {
        isKnown = false;
        reason = quote(nested) + " stands inside " + quote(op) +
                 ", whose control flow is not known";
      }
    });
  if (!isKnown)
    return addUnknown(op, reason, parent, part);
  sync::Node made;
  bool onlyReadsGlobal = true;
  for (const MemoryAccess &access : accesses) {
    std::optional<sync::Access> told = toAccess(access);
    if (!told)
      continue;
    made.checked.push_back(*told);
    bool isRead = access.space == MemorySpace::Global && !access.isWrite;
    made.readsAhead |= isRead;
    onlyReadsGlobal &= isRead;
  }
  // Other blocks may wait for it, and then for all that was done ahead of it.
  if (findAtomic(accesses, MemorySpace::Global))
    made.checked.push_back(accessEverything(globalMemory, sync::kGlobal));
  if (made.checked.empty())
    return;
  NodeId id = addNode(op, Kind::Step, parent, part);
  program[id].checked = made.checked;
  program[id].pending = made.checked;
  program[id].readsAhead = made.readsAhead && onlyReadsGlobal;
  program[id].hasUnknownOrder = llvm::any_of(
      accesses, [&](const MemoryAccess &access) { return access.op != op; });
}

/// An asynchronous copy has to come after earlier accesses where it starts; it
/// is pending where it was waited for.
void FunctionProgram::addCopy(AsyncCopyOpInterface op, NodeId parent,
                              unsigned part) {
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason))
    return addUnknown(op, reason, parent, part);
  NodeId id = addNode(op, Kind::Step, parent, part);
  for (const MemoryAccess &access : accesses)
    if (std::optional<sync::Access> told = toAccess(access)) {
      program[id].checked.push_back(*told);
      if (!access.isWrite || op.completesAtBlockBarriers())
        program[id].pending.push_back(*told);
      program[id].readsAhead |= !access.isWrite;
    }
}

void FunctionProgram::addOp(Operation *op, NodeId parent, unsigned part) {
  if (auto barrier = dyn_cast<BlockBarrierOpInterface>(op))
    return addBarrier(barrier, parent, part);
  if (isa<BarrierObjectOpInterface>(op))
    return addUnknown(op, quote(op) + " works on a barrier object", parent,
                      part);
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
      addUnknown(op, quote(op) + " allocates or frees memory", parent, part);
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
    return mayAlias(roots[a], roots[b]);
  };
  program.footprintsMeet = [this](int a, int b) {
    return footprints.meet(a, b);
  };
  bool hasCallers = !isKernel(function);
  if (hasCallers)
    addUnknown(nullptr, "", sync::Program::kRoot, 0);
  addBlock(function.getFunctionBody().front(), sync::Program::kRoot, 0);
  if (hasCallers)
    addUnknown(nullptr, "", sync::Program::kRoot, 0);
  settleSlots();
  addCompletions(*this);
  distrustWaits();
  for (NodeId id = 0; id < program.size(); ++id)
    if (program[id].kind == Kind::Step && ops[id] && program[id].readsAhead &&
        ops[id]->getNumResults() > 0 && !isa<AsyncCopyOpInterface>(ops[id]))
      findEndOfRead(ops[id], id);
}
