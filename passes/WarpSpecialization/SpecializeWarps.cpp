//===- SpecializeWarps.cpp - smalti-specialize-warps ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correctness: copy number n of a group fills slot n mod depth. Both roles
// count copies in the same order. Producers fill a slot again after phase
// n/depth of its `empty` mbarrier, on which the consumers arrive. Consumers
// read the slot after phase n/depth of its `full` mbarrier, which covers the
// bytes of that copy only. The consumers execute all other ops in program
// order.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/WarpSpecialization/WarpPlan.h"

#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Interfaces/SynchronousWgmma.h"
#include "smalti/passes/MultiBuffering/BufferSlots.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTISPECIALIZEWARPS
#define GEN_PASS_DEF_SMALTISPECIALIZEWARPS
#include "smalti/passes/WarpSpecialization/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::mosaic_gpu;

static constexpr llvm::StringLiteral kPassName = "smalti-specialize-warps";
/// The named barrier of the consumers; barrier 0 is that of the whole block.
static constexpr int32_t kConsumerBarrier = 1;

namespace {

/// The position of a role in the sequence of a group's copies.
struct Count {
  Value slot;  ///< an index below the number of slots
  Value phase; ///< the mbarrier parity (i1)
};

/// The mbarriers of a group, one per slot.
struct GroupSlots {
  Value full, empty;
};

/// Emits the code of both roles.
class RoleEmitter {
public:
  RoleEmitter(const WarpPlan &plan)
      : plan(plan), builder(plan.func->getContext()), func(plan.func) {}

  void run();

private:
  enum class Role { Producer, Consumer };

  void emitSetup();
  Value initializeBarriers(const CopyGroup &group, Value barriers);
  void emitRegisters(Location loc, bool isConsumer);
  void emitFirstArrivals();
  void emitOps(Block &block);
  void emitOp(Operation *op);
  void emitLoop(scf::ForOp loop);
  void emitCopies(unsigned number);
  void emitWgmma(unsigned number, WGMMAOp wgmma);
  void advance(unsigned number, Location loc);
  Value previousSlot(Location loc, Value slot);
  Value barrierOf(Location loc, Value barriers, Value slot);
  Value slotOf(Value view, Value slot);
  void eraseOld(ArrayRef<Operation *> ops);
  /// Recomputes a value of the body for the producers at the insertion point.
  Value materialize(Value value);

  Value constant(Location loc, int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }
  Value bit(Location loc, bool value) {
    return arith::ConstantIntOp::create(builder, loc, value, 1);
  }

  const WarpPlan &plan;
  OpBuilder builder;
  gpu::GPUFuncOp func;
  Role role = Role::Consumer;
  IRMapping mapping;
  SmallVector<GroupSlots> slots;
  SmallVector<Count> counts;
  /// The multi-slot buffers, and the views of all slots.
  DenseMap<Value, Value> slotted;
  DenseMap<Operation *, unsigned> groupOfWait, groupOfWgmma;
  DenseSet<Operation *> producerOps;
};

} // namespace

//===----------------------------------------------------------------------===//
// Setup before the roles
//===----------------------------------------------------------------------===//

static MemRefType withSlots(MemRefType type, int64_t slots) {
  SmallVector<int64_t> shape = {slots};
  llvm::append_range(shape, type.getShape());
  return MemRefType::get(shape, type.getElementType(),
                         MemRefLayoutAttrInterface(), type.getMemorySpace());
}

Value RoleEmitter::initializeBarriers(const CopyGroup &group, Value barriers) {
  Location loc = group.init->getLoc();
  InitializeBarrierOp init = group.init;
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, barriers);
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, init.getBasePointer().getType(), number);
  InitializeBarrierOp::create(builder, loc, pointer, /*arrival_count=*/1,
                              static_cast<uint32_t>(plan.depth));
  return barriers;
}

void RoleEmitter::emitSetup() {
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    memref::AllocOp barrier = group.barrier;
    MemRefType type = withSlots(barrier.getType(), plan.depth);
    builder.setInsertionPoint(barrier);
    Value full = memref::AllocOp::create(builder, barrier.getLoc(), type);
    Value empty = memref::AllocOp::create(builder, barrier.getLoc(), type);
    initializeBarriers(group, full);
    initializeBarriers(group, empty);
    slots.push_back({full, empty});
    groupOfWait[group.wait] = number;
    for (WGMMAOp wgmma : group.wgmmas)
      groupOfWgmma[wgmma] = number;
    producerOps.insert(group.arrive);
    producerOps.insert(group.loads.begin(), group.loads.end());
    for (Operation *buffer : group.buffers) {
      builder.setInsertionPoint(buffer);
      auto alloc = cast<memref::AllocOp>(builder.clone(*buffer));
      alloc.getResult().setType(
          withSlots(cast<memref::AllocOp>(buffer).getType(), plan.depth));
      slotted[buffer->getResult(0)] = alloc.getResult();
    }
  }
  // One transforms view covers all slots.
  func.walk([&](WithTransformsOp view) {
    auto memory = slotted.find(view.getRef());
    if (!plan.views.contains(view) || memory == slotted.end())
      return;
    builder.setInsertionPointAfterValue(memory->second);
    slotted[view.getResult()] = WithTransformsOp::create(
        builder, view.getLoc(), memory->second, view.getTransforms());
  });
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Value RoleEmitter::barrierOf(Location loc, Value barriers, Value slot) {
  auto type = cast<MemRefType>(barriers.getType());
  SmallVector<OpFoldResult> offsets = {slot}, ones = {builder.getIndexAttr(1)};
  MemRefType one = memref::SubViewOp::inferRankReducedResultType(
      {}, type, offsets, ones, ones);
  return memref::SubViewOp::create(builder, loc, one, barriers, offsets, ones,
                                   ones);
}

/// The view of one slot of a buffer.
Value RoleEmitter::slotOf(Value view, Value slot) {
  auto all = slotted.find(view);
  if (all == slotted.end()) {
    Operation *def = view.getDefiningOp();
    Value source = slotOf(cast<ViewLikeOpInterface>(def).getViewSource(), slot);
    return recreateView(builder, def, source, Value(), 0)->getResult(0);
  }
  auto type = cast<MemRefType>(all->second.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
      strides(rank, builder.getIndexAttr(1));
  offsets[0] = slot;
  sizes[0] = builder.getIndexAttr(1);
  MemRefType one = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, view.getLoc(), one, all->second,
                                   offsets, sizes, strides);
}

/// Advances the slot and the phase of the group.
void RoleEmitter::advance(unsigned number, Location loc) {
  auto [slot, phase] = counts[number];
  Value next = arith::AddIOp::create(builder, loc, slot, constant(loc, 1));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, constant(loc, plan.depth));
  counts[number].slot =
      arith::SelectOp::create(builder, loc, wraps, constant(loc, 0), next);
  counts[number].phase = arith::XOrIOp::create(builder, loc, phase, wraps);
}

Value RoleEmitter::previousSlot(Location loc, Value slot) {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        slot, constant(loc, 0));
  Value before = arith::SubIOp::create(builder, loc, slot, constant(loc, 1));
  return arith::SelectOp::create(builder, loc, isFirst,
                                 constant(loc, plan.depth - 1), before);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

Value RoleEmitter::materialize(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def || plan.setup.contains(def))
    return value;
  for (Value operand : def->getOperands())
    mapping.map(operand, materialize(operand));
  return builder.clone(*def, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

void RoleEmitter::emitCopies(unsigned number) {
  const CopyGroup &group = plan.groups[number];
  auto [slot, phase] = counts[number];
  ArriveExpectTxOp arrive = group.arrive;
  Location loc = arrive.getLoc();
  Value empty = barrierOf(loc, slots[number].empty, slot);
  WaitOp::create(builder, loc, empty, phase);
  Value full = barrierOf(loc, slots[number].full, slot);
  ArriveExpectTxOp::create(builder, loc, full, Value(),
                           arrive.getExpectTxAttr());
  // The mbarrier counts `plan.threads` arrivals, and each arrival op of the
  // producers counts `plan.producers`.
  for (int64_t threads = plan.producers; threads < plan.threads;
       threads += plan.producers)
    ArriveOp::create(builder, loc, full);
  for (AsyncLoadOp load : group.loads) {
    IRMapping own;
    for (Value index : load.getIndices())
      own.map(index, materialize(index));
    own.map(load.getSource(), materialize(load.getSource()));
    own.map(load.getBarrier(), full);
    own.map(load.getDestination(), slotOf(load.getDestination(), slot));
    builder.clone(*load, own);
  }
  advance(number, loc);
}

void RoleEmitter::emitWgmma(unsigned number, WGMMAOp wgmma) {
  const CopyGroup &group = plan.groups[number];
  Location loc = wgmma.getLoc();
  Value slot = counts[number].slot;
  IRMapping own(mapping);
  for (Value operand : {wgmma.getA(), Value(wgmma.getB())})
    if (isa<MemRefType>(operand.getType()) &&
        group.buffers.contains(getRootBuffer(operand).getDefiningOp()))
      own.map(operand, slotOf(operand, slot));
  if (group.isInFlight)
    NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  auto result = cast<WGMMAOp>(builder.clone(*wgmma, own));
  mapping.map(wgmma.getResult(), result.getResult());
  if (group.isInFlight) {
    result->removeAttr(kSynchronousWgmma);
    NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
    // The previous wgmma has read its operands.
    NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 1);
    slot = previousSlot(loc, slot);
  }
  if (wgmma != group.wgmmas.back())
    return;
  ArriveOp::create(builder, loc, barrierOf(loc, slots[number].empty, slot));
  advance(number, loc);
}

/// Emits the loop with the slots and phases of its groups as iter_args. The
/// producers drop all other iter_args.
void RoleEmitter::emitLoop(scf::ForOp loop) {
  ArrayRef<unsigned> inside = plan.groupsIn(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits;
  if (role == Role::Consumer)
    for (Value init : loop.getInitArgs())
      inits.push_back(mapping.lookupOrDefault(init));
  unsigned numValues = inits.size();
  for (unsigned number : inside)
    inits.append({counts[number].slot, counts[number].phase});
  auto bound = [&](Value value) {
    return role == Role::Producer ? materialize(value)
                                  : mapping.lookupOrDefault(value);
  };
  auto result = scf::ForOp::create(
      builder, loc, bound(loop.getLowerBound()), bound(loop.getUpperBound()),
      bound(loop.getStep()), inits,
      /*bodyBuilder=*/[](OpBuilder &, Location, Value, ValueRange) {},
      loop.getUnsignedCmp());
  if (role == Role::Consumer)
    result->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  auto takeCounts = [&](ValueRange values) {
    for (auto [i, number] : llvm::enumerate(inside))
      counts[number] = {values[2 * i], values[2 * i + 1]};
  };
  mapping.map(loop.getInductionVar(), result.getInductionVar());
  if (role == Role::Consumer)
    mapping.map(ValueRange(loop.getRegionIterArgs()),
                ValueRange(result.getRegionIterArgs().take_front(numValues)));
  takeCounts(result.getRegionIterArgs().drop_front(numValues));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(result.getBody());
    IRMapping outer = mapping;
    emitOps(*loop.getBody());
    Operation *terminator = loop.getBody()->getTerminator();
    SmallVector<Value> yielded;
    if (role == Role::Consumer)
      for (Value value : terminator->getOperands())
        yielded.push_back(mapping.lookupOrDefault(value));
    for (unsigned number : inside)
      yielded.append({counts[number].slot, counts[number].phase});
    auto yield = scf::YieldOp::create(builder, loc, yielded);
    if (role == Role::Consumer)
      yield->setDiscardableAttrs(terminator->getDiscardableAttrDictionary());
    // Values that are recomputed in the loop do not dominate later ops.
    if (role == Role::Producer)
      mapping = outer;
  }
  takeCounts(result.getResults().drop_front(numValues));
  if (role == Role::Producer)
    return;
  mapping.map(loop.getResults(), result.getResults().take_front(numValues));
  for (unsigned number : inside) {
    const CopyGroup &group = plan.groups[number];
    if (!group.isInFlight || group.wait->getParentOp() != loop)
      continue;
    NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  }
}

void RoleEmitter::emitOp(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (loop && !plan.groupsIn(op).empty())
    return emitLoop(loop);
  auto wait = groupOfWait.find(op);
  if (role == Role::Producer) {
    if (wait != groupOfWait.end())
      emitCopies(wait->second);
    return;
  }
  if (producerOps.contains(op) || plan.setup.contains(op) ||
      plan.views.contains(op) || plan.redundantBarriers.contains(op))
    return;
  if (wait != groupOfWait.end()) {
    const Count &count = counts[wait->second];
    WaitOp::create(
        builder, op->getLoc(),
        barrierOf(op->getLoc(), slots[wait->second].full, count.slot),
        count.phase);
    return;
  }
  if (auto wgmma = groupOfWgmma.find(op); wgmma != groupOfWgmma.end())
    return emitWgmma(wgmma->second, cast<WGMMAOp>(op));
  Operation *clone = builder.clone(*op, mapping);
  SmallVector<gpu::BarrierOp> barriers;
  clone->walk([&](gpu::BarrierOp barrier) { barriers.push_back(barrier); });
  for (gpu::BarrierOp barrier : barriers) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(barrier);
    Location loc = barrier.getLoc();
    Value id = arith::ConstantIntOp::create(builder, loc, kConsumerBarrier, 32);
    Value threads =
        arith::ConstantIntOp::create(builder, loc, plan.threads, 32);
    NVVM::BarrierOp::create(builder, loc, TypeRange{}, id, threads,
                            NVVM::BarrierReductionAttr(), Value());
    barrier.erase();
  }
}

void RoleEmitter::emitOps(Block &block) {
  for (Operation &op : block.without_terminator())
    emitOp(&op);
}

/// Releases all slots before the first copy. If a wgmma stays in flight, its
/// slot is released one iteration later, and iteration 0 releases the last
/// slot.
void RoleEmitter::emitFirstArrivals() {
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    Location loc = group.wait->getLoc();
    int64_t free = group.isInFlight ? plan.depth - 1 : plan.depth;
    for (int64_t slot = 0; slot < free; ++slot)
      ArriveOp::create(
          builder, loc,
          barrierOf(loc, slots[number].empty, constant(loc, slot)));
  }
}

void RoleEmitter::emitRegisters(Location loc, bool isConsumer) {
  if (plan.consumerRegisters == 0)
    return;
  NVVM::SetMaxRegisterOp::create(
      builder, loc,
      static_cast<uint32_t>(isConsumer ? plan.consumerRegisters
                                       : plan.producerRegisters),
      isConsumer ? NVVM::SetMaxRegisterAction::increase
                 : NVVM::SetMaxRegisterAction::decrease);
}

void RoleEmitter::run() {
  Block &body = func.getBody().front();
  Location loc = func.getLoc();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);

  emitSetup();
  builder.setInsertionPoint(body.getTerminator());
  NVVM::FenceMbarrierInitOp::create(builder, loc);
  gpu::BarrierOp::create(builder, loc);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value isProducer =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, thread,
                            constant(loc, plan.threads));
  SmallVector<Count> first(plan.groups.size(),
                           Count{constant(loc, 0), bit(loc, false)});
  auto roles = scf::IfOp::create(builder, loc, isProducer,
                                 /*withElseRegion=*/true);

  role = Role::Producer;
  counts = first;
  builder.setInsertionPointToStart(roles.thenBlock());
  emitRegisters(loc, /*isConsumer=*/false);
  for (Operation *op : ops)
    emitOp(op);

  role = Role::Consumer;
  counts = first;
  mapping.clear();
  builder.setInsertionPointToStart(roles.elseBlock());
  emitRegisters(loc, /*isConsumer=*/true);
  emitFirstArrivals();
  for (Operation *op : ops)
    emitOp(op);

  eraseOld(ops);
  func.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(plan.threads + plan.producers), 1, 1}));
  func->setAttr(kThreadGroupSize, builder.getI64IntegerAttr(plan.threads));
}

/// Erases the ops that the roles replace, users first.
void RoleEmitter::eraseOld(ArrayRef<Operation *> ops) {
  DenseSet<Operation *> old;
  for (const CopyGroup &group : plan.groups) {
    InitializeBarrierOp init = group.init;
    old.insert(init);
    Operation *address = init.getBasePointer().getDefiningOp();
    while (address && !isa<memref::AllocOp>(address)) {
      old.insert(address);
      address = address->getOperand(0).getDefiningOp();
    }
    old.insert(group.barrier);
    old.insert(group.buffers.begin(), group.buffers.end());
  }
  for (Operation *op : llvm::reverse(ops))
    if (!plan.setup.contains(op) || plan.views.contains(op) ||
        old.contains(op) || isa<NVVM::FenceMbarrierInitOp>(op))
      op->erase();
}

void smalti::commitWarps(const WarpPlan &plan) { RoleEmitter(plan).run(); }

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SmaltiSpecializeWarps
    : smalti::impl::SmaltiSpecializeWarpsBase<SmaltiSpecializeWarps> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerExternalModels(registry);
  }
  void runOnOperation() override;
};

} // namespace

void SmaltiSpecializeWarps::runOnOperation() {
  auto func = dyn_cast<gpu::GPUFuncOp>(getOperation().getOperation());
  if (!func || !func.isKernel())
    return markAllAnalysesPreserved();
  const targets::Target *chip = getTarget(func, target);
  if (!chip)
    return signalPassFailure();
  int64_t slots = depth.getOr(0);
  std::optional<bool> wanted;
  std::optional<std::string> wrong = readSlots(func, slots);
  if (!wrong)
    wrong = readBool(func, kSpecializeAttr, wanted);
  if (wrong) {
    func.emitError() << kPassName << ": the kernel " << *wrong;
    return signalPassFailure();
  }
  if (auto wrong = checkAtMost("depth", slots, kMaxWarpSlots)) {
    func.emitError() << kPassName << ": " << *wrong;
    return signalPassFailure();
  }
  bool isRequested = wanted.value_or(!ifItPays);
  if (!isRequested && (wanted || !hasSynchronousWgmma(func)))
    return markAllAnalysesPreserved();
  auto miss = [&](Operation *op, const Twine &reason) {
    if (failed(reportMissed(op, kPassName, strict, reason)))
      signalPassFailure();
  };
  auto &analysis = getAnalysis<WarpPlanAnalysis>();
  if (std::optional<WarpRefusal> refusal = analysis.run(
          func, *chip, slots ? std::optional(slots) : std::nullopt))
    return miss(refusal->op, refusal->reason);
  const WarpPlan &plan = analysis.getPlan();
  if (!isRequested && !plan.pays())
    return miss(func,
                "warp specialization not applied: no estimated benefit: " +
                    describeTimes(plan));
  size_t inFlight = llvm::count_if(
      plan.groups, [](const CopyGroup &group) { return group.isInFlight; });
  commitWarps(plan);
  // Later passes add neither slots nor stages.
  func->removeAttr(kSpecializeAttr);
  func->setAttr(kSlotsAttr, Builder(func.getContext()).getI64IntegerAttr(1));
  func->setAttr(kStagesAttr, Builder(func.getContext()).getI64IntegerAttr(1));
  auto remark = remarkApplied(func, kPassName);
  remark
      << "warp specialization applied: " << plan.producers << " producer and "
      << plan.threads << " consumer threads; " << plan.depth
      << (plan.depth == 1 ? " slot" : " slots") << " of " << plan.slotBytes
      << " B; consumers keep one wgmma in flight while they wait for the next "
         "copy, in "
      << inFlight << " of " << plan.groups.size() << " copy groups";
  if (plan.consumerRegisters != 0)
    remark << "; " << plan.producerRegisters << " producer and "
           << plan.consumerRegisters << " consumer registers";
  remark << plan.limit;
  remarkAnalysis(func, kPassName)
      << "estimate with warp specialization: " << describeTimes(plan);
}
