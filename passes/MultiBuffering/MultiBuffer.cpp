//===- MultiBuffer.cpp - smalti-multi-buffer ------------------------------===//

#include "passes/Interfaces/BufferUses.h"
#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Interfaces/MemRefViews.h"
#include "passes/Interfaces/MemoryAccess.h"
#include "passes/Support/IterationSlots.h"
#include "passes/Support/MemorySize.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIMULTIBUFFER
#define GEN_PASS_DEF_SMALTIMULTIBUFFER
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-multi-buffer";

namespace {

/// How one buffer gets its slots.
struct BufferPlan {
  Operation *alloc;
  scf::ForOp loop;
  MemRefType slotType;   ///< the buffer's type before
  MemRefType bufferType; ///< [depth x slotType]
  int64_t slotBytes;
  BufferUses uses;
};

} // namespace

/// The innermost scf.for outside which nothing but deallocations uses the
/// buffer. Null where there is none; `outside` is then a use that no loop
/// around the others holds.
static scf::ForOp findLoop(const BufferPlan &plan, Operation *&outside) {
  outside = nullptr;
  scf::ForOp loop;
  for (Operation *user : plan.uses.users) {
    auto userLoop = user->getParentOfType<scf::ForOp>();
    if (!loop && user == plan.uses.users.front())
      loop = userLoop;
    while (loop && !loop->isProperAncestor(user))
      loop = loop->getParentOfType<scf::ForOp>();
    if (!loop) {
      outside = user;
      return {};
    }
  }
  return loop;
}

/// Whether a loop uses the buffer.
static bool isUsedInLoop(const BufferPlan &plan) {
  return llvm::any_of(plan.uses.users, [](Operation *user) {
    return user->getParentOfType<scf::ForOp>() != nullptr;
  });
}

/// Whether `memref` shows every element of the buffer.
static bool showsWholeBuffer(Value memref, Value buffer) {
  while (memref != buffer) {
    Operation *view = memref.getDefiningOp();
    if (!view || !isElementPreservingView(view))
      return false;
    memref = cast<ViewLikeOpInterface>(view).getViewSource();
  }
  return true;
}

/// Whether every iteration overwrites the buffer before it reads it: only then
/// nothing flows from one iteration to the next.
static std::optional<std::string> checkOverwrite(BufferPlan &plan) {
  Block *body = plan.loop.getBody();
  Operation *first = nullptr;
  for (Operation *user : plan.uses.users) {
    Operation *ancestor = body->findAncestorOpInBlock(*user);
    if (!first || ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  if (!llvm::is_contained(plan.uses.users, first))
    return "is first used inside " + describe(first) +
           ", which may not overwrite all of it in every iteration";
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(first, accesses, reason))
    return "cannot be shown to be overwritten: " + reason;
  Value buffer = plan.alloc->getResult(0);
  bool overwritten = false;
  for (const MemoryAccess &access : accesses) {
    if (access.root != buffer)
      continue;
    if (!access.isWrite)
      return "is read by " + describe(first) +
             " before it is overwritten in the iteration";
    overwritten |= overwritesWholeMemRef(first, access.memref) &&
                   showsWholeBuffer(access.memref, buffer);
  }
  if (!overwritten)
    return "is first written by " + describe(first) +
           ", which does not overwrite all of it, so that older values may "
           "still be read";
  return std::nullopt;
}

/// Creates the buffer with its slots. The slot's subview has the buffer's shape
/// and strides, and an offset that is not known before it runs.
static Value createBuffer(OpBuilder &builder, const BufferPlan &plan) {
  Operation *alloc = builder.clone(*plan.alloc);
  alloc->getResult(0).setType(plan.bufferType);
  return alloc->getResult(0);
}

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
      plan.slotType.getShape(), plan.bufferType, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, plan.alloc->getLoc(), type, buffer,
                                   offsets, sizes, strides);
}

/// Tries the new types on copies of all ops that would get them.
static std::optional<std::string> checkTypes(const BufferPlan &plan) {
  Block arguments;
  Value slot = arguments.addArgument(IndexType::get(plan.alloc->getContext()),
                                     plan.alloc->getLoc());
  return tryTypes(
      plan.alloc->getResult(0), plan.uses, "a slot of a larger buffer",
      [&](OpBuilder &builder) -> Value {
        Value buffer = createBuffer(builder, plan);
        if (failed(verify(buffer.getDefiningOp(),
                          /*verifyRecursively=*/false)))
          return {};
        return createSlot(builder, plan, buffer, slot);
      },
      [&](OpBuilder &builder, Operation *view, Value source) {
        return recreateView(builder, view, source, slot,
                            plan.slotType.getNumElements());
      });
}

/// The views that the commit makes again must have their operands where they
/// will stand: those outside the loop move into it.
static std::optional<std::string> planBuffer(BufferPlan &plan, int64_t depth,
                                             bool &isCandidate) {
  isCandidate = false;
  plan.slotType = cast<MemRefType>(plan.alloc->getResult(0).getType());
  std::optional<std::string> escape =
      collectBufferUses(plan.alloc->getResult(0), plan.uses);
  isCandidate = isUsedInLoop(plan);
  if (escape)
    return escape;
  if (!isCandidate)
    return std::nullopt;
  if (!plan.slotType.hasStaticShape() || plan.alloc->getNumOperands() != 0)
    return "has a size that is not known at compile time";
  if (!plan.slotType.getLayout().isIdentity())
    return "has the layout " + describe(plan.slotType) +
           ", which is not the identity";
  Operation *outside;
  plan.loop = findLoop(plan, outside);
  if (!plan.loop)
    return "is also used outside the loop, by " + describe(outside);
  if (plan.loop->isProperAncestor(plan.alloc))
    return std::string("is allocated inside the loop");
  for (Operation *dealloc : plan.uses.deallocs)
    if (plan.loop->isProperAncestor(dealloc))
      return std::string("is freed inside the loop");
  if (auto reason = checkOverwrite(plan))
    return reason;

  SmallVector<int64_t> shape = {depth};
  llvm::append_range(shape, plan.slotType.getShape());
  plan.bufferType = MemRefType::get(shape, plan.slotType.getElementType(),
                                    MemRefLayoutAttrInterface(),
                                    plan.slotType.getMemorySpace());
  std::optional<int64_t> bytes = getBufferBytes(plan.slotType),
                         allBytes = getBufferBytes(plan.bufferType);
  if (!bytes || !allBytes)
    return std::string("has a size in bytes that is not known");
  plan.slotBytes = *bytes;
  // The slot is computed in the type of the loop's counter.
  if (auto counter =
          dyn_cast<IntegerType>(plan.loop.getInductionVar().getType());
      counter && counter.getWidth() < 8)
    return "belongs to a loop whose counter of type " + describe(counter) +
           " may not hold the number of slots";
  if (auto alignment = plan.alloc->getAttrOfType<IntegerAttr>("alignment");
      alignment && plan.slotBytes % alignment.getInt() != 0)
    return "has slots of " + std::to_string(plan.slotBytes) +
           " B, which would break its alignment of " +
           std::to_string(alignment.getInt()) + " B";
  return checkTypes(plan);
}

static void commitBuffer(const BufferPlan &plan, int64_t depth) {
  OpBuilder builder(plan.alloc);
  Value buffer = createBuffer(builder, plan);
  scf::ForOp loop = plan.loop;
  builder.setInsertionPointToStart(loop.getBody());
  Value slot = createIterationSlot(builder, loop, depth);
  IRMapping mapping;
  mapping.map(plan.alloc->getResult(0),
              createSlot(builder, plan, buffer, slot));
  // A view may have been found before one that is defined earlier, and one
  // outside the loop moves into it; both are made where the operands are known.
  Operation *lastMoved =
      mapping.lookup(plan.alloc->getResult(0)).getDefiningOp();
  for (Operation *view : plan.uses.views) {
    if (plan.loop->isProperAncestor(view))
      builder.setInsertionPoint(view);
    else
      builder.setInsertionPointAfter(lastMoved);
    Value source = cast<ViewLikeOpInterface>(view).getViewSource();
    Operation *copy = recreateView(builder, view, mapping.lookup(source), slot,
                                   plan.slotType.getNumElements());
    if (!plan.loop->isProperAncestor(view))
      lastMoved = copy;
    mapping.map(view->getResults(), copy->getResults());
  }
  for (Operation *user : plan.uses.users)
    for (OpOperand &operand : user->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  for (Operation *dealloc : plan.uses.deallocs)
    dealloc->replaceUsesOfWith(plan.alloc->getResult(0), buffer);
  for (Operation *view : llvm::reverse(plan.uses.views))
    view->erase();
  plan.alloc->erase();
}

namespace {

struct MultiBufferPass : smalti::impl::SmaltiMultiBufferBase<MultiBufferPass> {
  using SmaltiMultiBufferBase::SmaltiMultiBufferBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiMultiBufferBase::getDependentDialects(registry);
    registerLoopInterfaceModels(registry);
  }

  void runOnOperation() override;
};

} // namespace

void MultiBufferPass::runOnOperation() {
  Operation *function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  constexpr int64_t mostSlots = 64;
  if (depth < 1 || depth > mostSlots) {
    function->emitError() << kPassName << ": depth must be between 1 and "
                          << mostSlots << ", not " << int64_t(depth);
    return signalPassFailure();
  }
  if (depth == 1)
    return;

  SmallVector<Operation *> allocs;
  function->walk([&](Operation *op) {
    if (op->getNumResults() != 1 ||
        !isa<MemRefType>(op->getResult(0).getType()) ||
        getMemorySpace(op->getResult(0)) != MemorySpace::Shared)
      return;
    if (auto effects = dyn_cast<MemoryEffectOpInterface>(op);
        effects &&
        effects.getEffectOnValue<MemoryEffects::Allocate>(op->getResult(0)))
      allocs.push_back(op);
  });

  bool missed = false;
  SmallVector<BufferPlan> plans;
  for (Operation *alloc : allocs) {
    BufferPlan plan;
    plan.alloc = alloc;
    bool isCandidate;
    std::optional<std::string> reason = planBuffer(plan, depth, isCandidate);
    if (!isCandidate)
      continue;
    if (!reason)
      plans.push_back(std::move(plan));
    else if (failed(reportMissed(alloc, kPassName, strict,
                                 "the buffer " + *reason)))
      missed = true;
  }

  if (*chip && !plans.empty()) {
    int64_t bytes = getSharedMemoryBytes(function, [&](Value buffer) {
      const auto *plan = llvm::find_if(plans, [&](const BufferPlan &other) {
        return other.alloc->getResult(0) == buffer;
      });
      return plan == plans.end() ? MemRefType() : plan->bufferType;
    });
    if (bytes > (*chip)->sharedMemoryPerBlock) {
      std::string reason = "the function needs " + std::to_string(bytes) +
                           " B of shared memory with " + std::to_string(depth) +
                           " slots a buffer, " + (*chip)->name.str() + " has " +
                           std::to_string((*chip)->sharedMemoryPerBlock) + " B";
      for (const BufferPlan &plan : plans)
        missed |= failed(reportMissed(plan.alloc, kPassName, strict, reason));
      plans.clear();
    }
  }
  if (missed)
    return signalPassFailure();

  for (const BufferPlan &plan : plans) {
    remarkApplied(plan.alloc, kPassName)
        << "the buffer got " << int64_t(depth) << " slots of " << plan.slotBytes
        << " B, " << depth * plan.slotBytes << " B in all";
    commitBuffer(plan, depth);
  }
}
