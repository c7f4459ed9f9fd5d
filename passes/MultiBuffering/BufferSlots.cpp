//===- BufferSlots.cpp - Multi-buffering of one buffer --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/MultiBuffering/BufferSlots.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Memory/Overwrite.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Slots/IterationSlots.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;

MemRefType BufferPlan::getType(int64_t slots) const {
  SmallVector<int64_t> shape = {slots};
  llvm::append_range(shape, slotType.getShape());
  return MemRefType::get(shape, slotType.getElementType(),
                         MemRefLayoutAttrInterface(),
                         slotType.getMemorySpace());
}

int64_t BufferPlan::getMostSlots() const {
  int64_t most = 0;
  for (scf::ForOp loop : loops) {
    std::optional<uint64_t> trips = getConstantTripCount(loop);
    if (!trips || *trips > kMaxSlots)
      return kMaxSlots;
    most = std::max<int64_t>(most, *trips);
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// The innermost scf.for that contains all users, or null.
static scf::ForOp findLoopAroundAll(ArrayRef<Operation *> users) {
  auto loop = users.front()->getParentOfType<scf::ForOp>();
  for (Operation *user : users)
    while (loop && !loop->isProperAncestor(user))
      loop = loop->getParentOfType<scf::ForOp>();
  return loop;
}

/// The innermost block of the function that contains all users, or null.
static Block *findBlockAroundAll(ArrayRef<Operation *> users,
                                 FunctionOpInterface function) {
  Block *block = users.front()->getBlock();
  for (Operation *user : users)
    while (block && !block->findAncestorOpInBlock(*user)) {
      Operation *parent = block->getParentOp();
      block = parent == function ? nullptr : parent->getBlock();
    }
  return block;
}

bool smalti::isExecutedOnce(Block *block, Value buffer) {
  for (; block != buffer.getParentBlock();
       block = block->getParentOp()->getBlock())
    if (!block->getParent()->hasOneBlock() ||
        !isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp,
             memref::AllocaScopeOp, gpu::LaunchOp>(block->getParentOp()))
      return false;
  return true;
}

/// Whether an attribute on the loop disables the pass.
static bool isDisabled(Operation *loop) {
  return getInteger(loop->getAttr(kSlotsAttr)) == 1;
}

static std::optional<std::string>
checkLoop(const BufferPlan &plan, scf::ForOp loop, OverwriteProof &proof) {
  if (isDisabled(loop))
    return "the loop has " + kSlotsAttr.str() +
           " = 1, which disables multi-buffering";
  Operation *alloc = plan.buffer.getDefiningOp();
  if (alloc && loop->isProperAncestor(alloc))
    return std::string("the buffer is allocated inside the loop; move the "
                       "allocation before the loop");
  for (Operation *dealloc : plan.uses.deallocs)
    if (loop->isProperAncestor(dealloc))
      return std::string("the buffer is freed inside the loop; move the "
                         "deallocation after the loop");
  // The slot is computed in the type of the induction variable.
  if (auto counter = dyn_cast<IntegerType>(loop.getInductionVar().getType());
      counter && counter.getWidth() < 8)
    return "the induction variable of the loop has type " + describe(counter) +
           "; the slot computation requires at least 8 bits: use a wider type, "
           "such as i32";
  if (hasWideCounter(loop))
    return std::string("the induction variable of the loop has more than 64 "
                       "bits; at most 64 are supported");
  return proof.check(*loop.getBody(), /*mustWrite=*/true);
}

/// Whether all threads of a block execute the loop equally often.
static bool hasUniformTripCount(scf::ForOp loop,
                                const UniformityAnalysis &uniformity) {
  return getConstantTripCount(loop) ||
         uniformity
             .getControl(cast<RegionBranchOpInterface>(loop.getOperation()))
             .isBlockUniform();
}

/// Checks that uses outside the loops read the same values as before. The
/// contents of the buffer at the start of the scope may be in any slot, so they
/// must not be read. After a loop, all threads must find the values in the same
/// slot.
static std::optional<std::string>
checkScope(const BufferPlan &plan, const UniformityAnalysis &uniformity,
           OverwriteProof &proof) {
  const auto *outside = llvm::find_if(plan.uses.users, [&](Operation *user) {
    return !llvm::is_contained(plan.loops,
                               plan.scope->findAncestorOpInBlock(*user));
  });
  if (outside == plan.uses.users.end())
    return std::nullopt;
  for (scf::ForOp loop : plan.loops)
    if (!hasUniformTripCount(loop, uniformity))
      return quote(*outside) + " uses the buffer outside the loop, whose trip "
                               "count may be divergent, so threads may use "
                               "different slots; make the trip count uniform";
  if (isExecutedOnce(plan.scope, plan.buffer))
    return std::nullopt;
  auto reason = proof.check(*plan.scope, /*mustWrite=*/false, plan.loops);
  if (!reason)
    return std::nullopt;
  return "the code around the loop may be executed repeatedly, and the buffer "
         "may then pass values from one execution to the next: " +
         *reason;
}

/// Chooses the loops whose iterations rotate over the slots: the innermost loop
/// around all uses, or all suitable loops in the innermost block around all
/// uses.
static std::optional<std::string>
planLoops(BufferPlan &plan, FunctionOpInterface function,
          const UniformityAnalysis &uniformity, OverwriteProof &proof) {
  std::optional<std::string> firstReason;
  if (scf::ForOp loop = findLoopAroundAll(plan.uses.users)) {
    plan.scope = loop->getBlock();
    plan.loops = {loop};
    firstReason = checkLoop(plan, loop, proof);
    if (!firstReason)
      return std::nullopt;
  }
  plan.loops.clear();
  plan.scope = findBlockAroundAll(plan.uses.users, function);
  if (!plan.scope)
    return firstReason
               ? firstReason
               : std::string("the uses of the buffer are in several "
                             "MLIR blocks of the function body; structured "
                             "control flow (scf) is required");
  llvm::SetVector<Operation *> ops;
  for (Operation *user : plan.uses.users)
    ops.insert(plan.scope->findAncestorOpInBlock(*user));
  for (Operation *op : ops) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    std::optional<std::string> reason = checkLoop(plan, loop, proof);
    if (!reason)
      plan.loops.push_back(loop);
    else if (!firstReason)
      firstReason = reason;
  }
  if (plan.loops.empty())
    return firstReason ? firstReason
                       : quote(plan.uses.users.front()) +
                             " uses the buffer outside the loop; use another "
                             "buffer there, or move the op into the loop";
  llvm::sort(plan.loops,
             [](scf::ForOp a, scf::ForOp b) { return a->isBeforeInBlock(b); });
  std::optional<std::string> reason = checkScope(plan, uniformity, proof);
  return reason && firstReason ? firstReason : reason;
}

/// The alignment of the destination of a tensor copy, in bytes.
static constexpr int64_t kTensorCopyAlignment = 128;

/// The alignment in bytes that `user` requires of a slot that it accesses
/// through one of `views`. The destination of an asynchronous copy is aligned
/// to the size of the copy.
static int64_t getNeededAlignment(Operation *user,
                                  const DenseSet<Value> &views) {
  int64_t needed = 1;
  if (auto stated = user->getAttrOfType<IntegerAttr>("alignment");
      stated && llvm::isPowerOf2_64(stated.getInt()))
    needed = stated.getInt();
  auto strided = dyn_cast<StridedAccessOpInterface>(user);
  auto copy = dyn_cast<AsyncCopyOpInterface>(user);
  for (OpOperand &operand : user->getOpOperands()) {
    if (!views.contains(operand.get()))
      continue;
    if (strided)
      needed = std::max(needed, strided.getRowAlignment(operand));
    if (!copy || copy.getCopyDestination() != operand.get())
      continue;
    if (copy.getCompletion() == AsyncCompletion::BarrierObject)
      needed = std::max(needed, kTensorCopyAlignment);
    std::optional<RowAccess> row =
        strided ? strided.getRowAccess(operand) : std::nullopt;
    auto type = cast<MemRefType>(operand.get().getType());
    if (uint64_t bytes =
            row ? row->elements * *getElementBytes(type.getElementType()) : 1)
      needed = std::max<int64_t>(needed, bytes & -bytes);
  }
  return needed;
}

/// Checks that every slot has the alignment of the buffer.
static std::optional<std::string> checkAlignment(const BufferPlan &plan) {
  if (int64_t alignment = getStatedAlignment(plan.buffer);
      plan.slotBytes % alignment != 0)
    return "the size of the buffer, " + std::to_string(plan.slotBytes) +
           " B, must be a multiple of its alignment, " +
           std::to_string(alignment) + " B, so that each slot is aligned";
  // The alignment of every buffer, which accesses by address may rely on.
  int64_t ofAddresses = kSharedMemoryAlignment;
  for (Operation *user : plan.uses.users)
    if (auto copy = dyn_cast<AsyncCopyOpInterface>(user);
        copy && copy.getCompletion() == AsyncCompletion::BarrierObject)
      ofAddresses = kTensorCopyAlignment;
  if (!plan.uses.addresses.empty() && plan.slotBytes % ofAddresses != 0)
    return "the size of the buffer, " + std::to_string(plan.slotBytes) +
           " B, must be a multiple of " + std::to_string(ofAddresses) +
           " B, because " + quote(plan.uses.addresses.front()) +
           " takes the address of the buffer, whose users may require this "
           "alignment";
  DenseSet<Value> views = {plan.buffer};
  for (Operation *view : plan.uses.views)
    views.insert(view->result_begin(), view->result_end());
  for (Operation *user : plan.uses.users)
    if (int64_t alignment = getNeededAlignment(user, views);
        plan.slotBytes % alignment != 0)
      return "the size of the buffer, " + std::to_string(plan.slotBytes) +
             " B, is not a multiple of the alignment of " +
             std::to_string(alignment) + " B that " + quote(user) + " requires";
  return std::nullopt;
}

/// Creates the subview of the slot. It has the shape and strides of the buffer,
/// and a dynamic offset.
static Value createSlot(OpBuilder &builder, const BufferPlan &plan,
                        Value buffer, Value slot) {
  int64_t rank = plan.slotType.getRank();
  SmallVector<OpFoldResult> offsets(rank + 1, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank + 1, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
  offsets[0] = slot;
  for (int64_t size : plan.slotType.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      plan.slotType.getShape(), cast<MemRefType>(buffer.getType()), offsets,
      sizes, strides);
  return memref::SubViewOp::create(builder, plan.buffer.getLoc(), type, buffer,
                                   offsets, sizes, strides);
}

/// Creates the op that allocates the buffer with its slots.
static Value createBuffer(OpBuilder &builder, const BufferPlan &plan,
                          int64_t depth) {
  Operation *alloc = builder.clone(*plan.buffer.getDefiningOp());
  alloc->removeAttr(kSlotsAttr);
  alloc->getResult(0).setType(plan.getType(depth));
  return alloc->getResult(0);
}

/// Verifies clones of all ops with the types that they would get.
std::optional<std::string> smalti::checkSlotTypes(const BufferPlan &plan) {
  Block arguments;
  Location loc = plan.buffer.getLoc();
  Value slot =
      arguments.addArgument(IndexType::get(plan.buffer.getContext()), loc);
  std::optional<std::string> reason = tryTypes(
      plan.buffer, plan.uses, "an added dimension for the slots",
      [&](OpBuilder &builder) -> Value {
        if (!plan.buffer.getDefiningOp())
          return createSlot(builder, plan,
                            arguments.addArgument(plan.getType(2), loc), slot);
        Value buffer = createBuffer(builder, plan, 2);
        if (failed(verify(buffer.getDefiningOp(),
                          /*verifyRecursively=*/false)))
          return {};
        return createSlot(builder, plan, buffer, slot);
      },
      [&](OpBuilder &builder, Operation *view, Value source) {
        return recreateView(builder, view, source, slot,
                            plan.slotType.getNumElements());
      });
  return reason ? std::optional("the buffer " + *reason) : std::nullopt;
}

std::optional<std::string> smalti::readSlots(Operation *op, int64_t &slots) {
  Attribute attribute = op->getAttr(kSlotsAttr);
  if (!attribute)
    return std::nullopt;
  std::optional<int64_t> number = getInteger(attribute);
  if (!number || *number < 1 || *number > kMaxSlots)
    return "has '" + kSlotsAttr.str() + "' = " + describe(attribute) +
           "; an integer from 1 to " + std::to_string(kMaxSlots) +
           " is required";
  slots = *number;
  return std::nullopt;
}

/// Reads the number of slots from attributes; the buffer's overrides the
/// loop's.
static std::optional<std::string> readPlanSlots(BufferPlan &plan) {
  Operation *alloc = plan.buffer.getDefiningOp();
  if (alloc && alloc->hasAttr(kSlotsAttr)) {
    auto wrong = readSlots(alloc, plan.depth);
    return wrong ? std::optional("the buffer " + *wrong) : std::nullopt;
  }
  for (scf::ForOp loop : plan.loops)
    if (loop->hasAttr(kSlotsAttr)) {
      auto wrong = readSlots(loop, plan.depth);
      return wrong ? std::optional("the loop " + *wrong) : std::nullopt;
    }
  return std::nullopt;
}

std::optional<std::string> smalti::planBuffer(
    FunctionOpInterface function, const UniformityAnalysis &uniformity,
    const targets::Target *target, BufferPlan &plan, bool &isCandidate) {
  plan.slotType = cast<MemRefType>(plan.buffer.getType());
  std::optional<std::string> escape =
      collectBufferUses(plan.buffer, plan.uses, /*withAddresses=*/true);
  // Whether a loop that is not disabled uses the buffer.
  isCandidate = llvm::any_of(plan.uses.users, [](Operation *user) {
    auto loop = user->getParentOfType<scf::ForOp>();
    while (loop && isDisabled(loop))
      loop = loop->getParentOfType<scf::ForOp>();
    return loop != nullptr;
  });
  // Or a loop of another kind.
  Operation *other = nullptr;
  for (Operation *user : plan.uses.users) {
    if (isCandidate || other)
      break;
    other = user->getParentOfType<LoopLikeOpInterface>();
    while (other &&
           (isDisabled(other) || other->hasTrait<OpTrait::HasParallelRegion>()))
      other = other->getParentOfType<LoopLikeOpInterface>();
  }
  isCandidate |= other != nullptr;
  if (escape)
    return "the buffer " + *escape;
  if (other)
    return "the uses of the buffer are in " + quote(other) +
           "; only scf.for loops are supported";
  if (!isCandidate)
    return std::nullopt;
  Operation *alloc = plan.buffer.getDefiningOp();
  if (auto effects = dyn_cast_or_null<MemoryEffectOpInterface>(alloc);
      alloc && (!effects || !effects.getEffectOnValue<MemoryEffects::Allocate>(
                                plan.buffer)))
    return "the buffer is the result of " + quote(alloc) +
           ", which cannot be enlarged; only allocations are supported, so use "
           "memref.alloc";
  if (!plan.slotType.hasStaticShape() ||
      (alloc && alloc->getNumOperands() != 0))
    return std::string(
        "the size of the buffer is dynamic, so the slots cannot be allocated; "
        "a static size is required");
  if (!plan.slotType.getLayout().isIdentity())
    return "the buffer has type " + describe(plan.slotType) +
           ", whose layout is not the identity; allocate it without a layout";
  if (plan.slotType.getNumElements() == 0)
    return std::string("the buffer has 0 elements, so slots are not needed");
  std::optional<int64_t> bytes = getBufferBytes(plan.slotType);
  if (!bytes || !getBufferBytes(plan.getType(kMaxSlots)))
    return std::string(
        "the size of the buffer in bytes is unknown or exceeds 64 bits");
  plan.slotBytes = *bytes;
  OverwriteProof proof(function, uniformity, target, plan.buffer, plan.uses);
  if (auto reason = planLoops(plan, function, uniformity, proof))
    return reason;
  if (auto reason = readPlanSlots(plan))
    return reason;
  if (auto reason = checkAlignment(plan))
    return reason;
  return checkSlotTypes(plan);
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

namespace {

/// A part of the scope in which one slot represents the buffer: the body of a
/// loop, or the code between two loops.
struct Part {
  Value slot;
  Value view; ///< of the slot
  Operation *lastMoved = nullptr;
  IRMapping views;
};

/// Commits the slots of one buffer. Parts are numbered in program order: part
/// 2k precedes loop k, part 2k + 1 is its body.
class SlotCommit {
public:
  SlotCommit(const BufferPlan &plan)
      : plan(plan), builder(plan.op->getContext()),
        parts(2 * plan.loops.size() + 1) {}

  void run();

private:
  /// The part that contains the op; nothing if the op is outside the scope.
  std::optional<size_t> findPart(Operation *op) const;
  void startPart(size_t number);
  Value createCurrentSlot(size_t loops);
  void moveViews();
  Operation *createView(Operation *view, const Part &part);
  Operation *createAddress(Operation *op, Part &part);

  const BufferPlan &plan;
  OpBuilder builder;
  Value buffer; ///< with its slots
  SmallVector<Part> parts;
};

} // namespace

std::optional<size_t> SlotCommit::findPart(Operation *op) const {
  Operation *ancestor = plan.scope->findAncestorOpInBlock(*op);
  if (!ancestor)
    return std::nullopt;
  // The first loop that does not precede the op.
  size_t number =
      llvm::partition_point(
          plan.loops,
          [&](scf::ForOp loop) { return loop->isBeforeInBlock(ancestor); }) -
      plan.loops.begin();
  bool isInLoop = number < plan.loops.size() && plan.loops[number] == ancestor;
  return 2 * number + (isInLoop ? 1 : 0);
}

/// The slot that holds the values of the buffer after `loops` loops.
Value SlotCommit::createCurrentSlot(size_t loops) {
  // A loop that certainly runs overwrites the values of the slot before it.
  size_t first = loops;
  bool isCertain = false;
  while (first > 0 && !isCertain) {
    isCertain = getConstantTripCount(plan.loops[--first]).value_or(0) > 0;
  }
  Value current;
  if (!isCertain)
    current = arith::ConstantIndexOp::create(builder, plan.buffer.getLoc(), 0);
  for (size_t i = first; i < loops; ++i)
    current = createLastSlot(builder, plan.loops[i], plan.depth, current);
  return current;
}

void SlotCommit::startPart(size_t number) {
  Part &part = parts[number];
  if (part.view)
    return;
  if (number % 2 == 1) {
    scf::ForOp loop = plan.loops[number / 2];
    builder.setInsertionPointToStart(loop.getBody());
    part.slot = createIterationSlot(builder, loop, plan.depth);
  } else {
    if (number > 0)
      builder.setInsertionPointAfter(plan.loops[number / 2 - 1]);
    else if (buffer.getParentBlock() == plan.scope && buffer.getDefiningOp())
      builder.setInsertionPointAfterValue(buffer);
    else
      builder.setInsertionPointToStart(plan.scope);
    part.slot = createCurrentSlot(number / 2);
  }
  part.view = createSlot(builder, plan, buffer, part.slot);
  part.lastMoved = part.view.getDefiningOp();
  part.views.map(plan.buffer, part.view);
}

Operation *SlotCommit::createView(Operation *view, const Part &part) {
  Value source = cast<ViewLikeOpInterface>(view).getViewSource();
  return recreateView(builder, view, part.views.lookup(source), part.slot,
                      plan.slotType.getNumElements());
}

/// extract_aligned_pointer_as_index of a view is the address of the underlying
/// buffer, wherever the view begins. The offset of the slot must be added.
Operation *SlotCommit::createAddress(Operation *op, Part &part) {
  if (!isa<memref::ExtractAlignedPointerAsIndexOp>(op))
    return builder.clone(*op, part.views);
  Location loc = op->getLoc();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value begin = arith::MulIOp::create(
      builder, loc, part.slot,
      arith::ConstantIndexOp::create(builder, loc, plan.slotBytes));
  return arith::AddIOp::create(builder, loc, address, begin);
}

/// Creates every view and address in each part that needs it: at its own
/// position if that is in the part, otherwise at the start of the part.
void SlotCommit::moveViews() {
  DenseMap<Operation *, llvm::SmallSetVector<size_t, 2>> needs;
  auto need = [&](Value value, size_t part) {
    Operation *op = value.getDefiningOp();
    if (value == plan.buffer)
      startPart(part);
    else if (op &&
             (plan.uses.views.contains(op) || plan.uses.addresses.contains(op)))
      needs[op].insert(part);
  };
  for (Operation *user : plan.uses.users)
    for (Value operand : user->getOperands())
      need(operand, *findPart(user));
  for (Operation *op : llvm::reverse(plan.uses.addresses))
    for (size_t part : SmallVector<size_t>(needs[op].getArrayRef()))
      if (isa<memref::ExtractAlignedPointerAsIndexOp>(op))
        startPart(part);
      else
        for (Value operand : op->getOperands())
          need(operand, part);
  for (Operation *view : llvm::reverse(plan.uses.views)) {
    Value source = cast<ViewLikeOpInterface>(view).getViewSource();
    for (size_t part : SmallVector<size_t>(needs[view].getArrayRef()))
      need(source, part);
  }
  auto create = [&](Operation *op, bool isView) {
    for (size_t number : needs[op]) {
      Part &part = parts[number];
      bool isInPart = findPart(op) == number;
      if (isInPart)
        builder.setInsertionPoint(op);
      else
        builder.setInsertionPointAfter(part.lastMoved);
      Operation *copy = isView ? createView(op, part) : createAddress(op, part);
      if (!isInPart)
        part.lastMoved = copy;
      part.views.map(op->getResults(), copy->getResults());
    }
  };
  for (Operation *view : plan.uses.views)
    create(view, /*isView=*/true);
  for (Operation *op : plan.uses.addresses)
    create(op, /*isView=*/false);
}

void SlotCommit::run() {
  Operation *alloc = plan.buffer.getDefiningOp();
  if (alloc) {
    builder.setInsertionPoint(alloc);
    buffer = createBuffer(builder, plan, plan.depth);
  } else {
    buffer = plan.buffer;
    buffer.setType(plan.getType(plan.depth));
  }
  moveViews();
  for (Operation *user : plan.uses.users) {
    IRMapping &views = parts[*findPart(user)].views;
    for (OpOperand &operand : user->getOpOperands())
      operand.set(views.lookupOrDefault(operand.get()));
  }
  for (Operation *dealloc : plan.uses.deallocs)
    dealloc->replaceUsesOfWith(plan.buffer, buffer);
  for (Operation *op : llvm::reverse(plan.uses.addresses))
    op->erase();
  for (Operation *view : llvm::reverse(plan.uses.views))
    view->erase();
  if (alloc)
    alloc->erase();
}

void smalti::commitBuffer(const BufferPlan &plan) { SlotCommit(plan).run(); }
