//===- WarpPlan.cpp - Which warps copy and which multiply -----------------===//

#include "smalti/passes/WarpSpecialization/WarpPlan.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/OverlapChoice.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Interfaces/SynchronousWgmma.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/VectorInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti;
using namespace smalti::mosaic_gpu;

using Refusal = std::optional<WarpRefusal>;

/// Threads that multiply together.
static constexpr int64_t kGroupThreads = 128;
/// Registers that a thread which only copies needs.
static constexpr int64_t kProducerRegisters = 24;
/// A thread has at most so many, a multiple of 8.
static constexpr int64_t kMostRegisters = 240;
/// More slots hide nothing more.
static constexpr int64_t kMostSlotsChosen = 8;
/// Registers of a thread for addresses and counters, on top of its values.
static constexpr int64_t kAddressRegisters = 32;
/// Iterations of a loop whose bounds are not known.
static constexpr int64_t kIterationsAssumed = 16;

namespace {

class WarpPlanner {
public:
  WarpPlanner(WarpPlan &plan, const targets::Target &target,
              std::optional<int64_t> depth)
      : plan(plan), func(plan.func), target(target), depth(depth),
        aliasing(makeAliasAnalysis(func)) {}

  Refusal run();

private:
  Refusal checkBlock();
  Refusal findGroups();
  Refusal planGroup(memref::AllocOp barrier);
  Refusal planBuffers(CopyGroup &group);
  void collectWrites();
  Refusal checkSource(AsyncLoadOp load);
  Refusal checkLoops(const CopyGroup &group);
  Refusal checkSlice(Operation *user, Value value);
  void splitSetup();
  void findNeedlessBarriers();
  void findInFlight();
  void chooseRegisters();
  Refusal chooseDepth();
  BlockWork describeWork();

  WarpPlan &plan;
  gpu::GPUFuncOp func;
  const targets::Target &target;
  std::optional<int64_t> depth;
  AliasAnalysis aliasing;
  llvm::DenseSet<Value> checked;
  /// The first write to each memory that threads or copies write, and ops of
  /// which nobody knows what they write.
  struct Write {
    Operation *op;
    Value root;
    std::string unknown;
  };
  SmallVector<Write> writes;
};

} // namespace

static WarpRefusal refuse(Operation *op, std::string reason) {
  return {op, std::move(reason)};
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Refusal WarpPlanner::checkBlock() {
  if (!func.getBody().hasOneBlock())
    return refuse(func, "its body has several blocks");
  ArrayRef<int32_t> size;
  if (std::optional<ArrayRef<int32_t>> known = func.getKnownBlockSize())
    size = *known;
  if (size.size() != 3 || size[0] < 1 || size[1] != 1 || size[2] != 1)
    return refuse(func, "its block has no known number of threads in one "
                        "dimension");
  plan.threads = size[0];
  plan.producers = kGroupThreads;
  if (plan.threads % kGroupThreads != 0 ||
      plan.threads + plan.producers > target.maxThreadsPerBlock)
    return refuse(func, llvm::formatv("its block has {0} threads: no multiple "
                                      "of {1} to which {2} can add as many",
                                      plan.threads, kGroupThreads, target.name)
                            .str());
  if (func->hasAttr(kProgramThreads))
    return refuse(func, "several programs share its block already");

  Refusal refusal;
  func.walk([&](Operation *op) {
    if (refusal)
      return;
    // Threads by number would be others.
    if (isa<gpu::ThreadIdOp, gpu::BlockDimOp, gpu::LaneIdOp, gpu::SubgroupIdOp,
            NVVM::ElectSyncOp>(op))
      refusal = refuse(op, quote(op) + " tells its threads apart");
    else if (auto product = dyn_cast<WGMMAOp>(op);
             product && !isSynchronousWgmma(product))
      refusal = refuse(op, quote(op) + " is asynchronous already");
  });
  return refusal;
}

//===----------------------------------------------------------------------===//
// Copies and products
//===----------------------------------------------------------------------===//

/// The op that initialises the barrier by its address, if the value goes
/// nowhere else.
static InitializeBarrierOp followAddress(Operation *user) {
  while (isa<memref::ExtractAlignedPointerAsIndexOp, arith::IndexCastOp,
             LLVM::IntToPtrOp>(user)) {
    if (!user->getResult(0).hasOneUse())
      return {};
    user = *user->getResult(0).user_begin();
  }
  return dyn_cast<InitializeBarrierOp>(user);
}

Refusal WarpPlanner::planGroup(memref::AllocOp barrier) {
  CopyGroup group;
  group.barrier = barrier;
  if (barrier.getType().getRank() != 0)
    return refuse(barrier, "its barriers have several slots already");
  for (Operation *user : barrier->getUsers()) {
    auto other = [&] {
      return refuse(user, quote(user) + " uses a barrier otherwise than for "
                                        "one arrival, copies and one wait");
    };
    if (auto init = followAddress(user)) {
      if (group.init || init->getBlock() != barrier->getBlock() ||
          init.getArrivalCount() != 1 || init.getNumBarriers() != 1)
        return other();
      group.init = init;
    } else if (auto arrive = dyn_cast<ArriveExpectTxOp>(user)) {
      if (group.arrive || arrive.getDynamicExpectTx())
        return other();
      group.arrive = arrive;
    } else if (auto load = dyn_cast<AsyncLoadOp>(user)) {
      if (load.getPredicate() || load.getGmemPeerId() ||
          !load.getCollective().empty() || load.getLeaderTrackedAttr())
        return other();
      group.loads.push_back(load);
    } else if (auto wait = dyn_cast<WaitOp>(user)) {
      if (group.wait)
        return other();
      group.wait = wait;
    } else {
      return other();
    }
  }
  if (!group.init || !group.arrive || !group.wait || group.loads.empty())
    return refuse(barrier, "a barrier lacks its initialisation, arrival, copy "
                           "or wait");
  Block *block = group.wait->getBlock();
  if (group.arrive->getBlock() != block ||
      !group.arrive->isBeforeInBlock(group.wait))
    return refuse(group.arrive, quote(group.arrive) +
                                    " does not come ahead of the wait, in its "
                                    "block");
  for (AsyncLoadOp load : group.loads)
    if (load->getBlock() != block || !load->isBeforeInBlock(group.wait) ||
        !group.arrive->isBeforeInBlock(load))
      return refuse(load, quote(load) + " does not stand between the arrival "
                                        "and the wait, in their block");
  llvm::sort(group.loads, [](AsyncLoadOp a, AsyncLoadOp b) {
    return a->isBeforeInBlock(b);
  });
  if (Refusal refusal = planBuffers(group))
    return refusal;
  for (AsyncLoadOp load : group.loads)
    if (Refusal refusal = checkSource(load))
      return refusal;
  if (Refusal refusal = checkLoops(group))
    return refusal;
  plan.groups.push_back(std::move(group));
  return std::nullopt;
}

/// What the copies fill is read by products alone, behind the wait.
Refusal WarpPlanner::planBuffers(CopyGroup &group) {
  llvm::DenseSet<Operation *> products;
  for (AsyncLoadOp load : group.loads) {
    auto alloc =
        getRootBuffer(load.getDestination()).getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != &func.getBody().front())
      return refuse(load, quote(load) + " fills what the function does not "
                                        "allocate");
    if (!group.buffers.insert(alloc))
      return refuse(load, quote(load) + " fills a buffer that another copy "
                                        "fills");
    SmallVector<Value> values = {alloc.getResult()};
    while (!values.empty()) {
      Value value = values.pop_back_val();
      for (Operation *user : value.getUsers()) {
        if (isa<WithTransformsOp, memref::TransposeOp>(user)) {
          plan.views.insert(user);
          values.push_back(user->getResult(0));
          continue;
        }
        if (user == load.getOperation())
          continue;
        auto product = dyn_cast<WGMMAOp>(user);
        if (!product || user->getBlock() != group.wait->getBlock() ||
            !group.wait->isBeforeInBlock(user))
          return refuse(user, quote(user) + " uses a copied tile, and is no "
                                            "product behind the wait");
        if (products.insert(product).second)
          group.products.push_back(product);
      }
    }
  }
  if (group.products.empty())
    return refuse(group.wait, "no product reads the copied tiles");
  llvm::sort(group.products,
             [](WGMMAOp a, WGMMAOp b) { return a->isBeforeInBlock(b); });
  return std::nullopt;
}

void WarpPlanner::collectWrites() {
  llvm::DenseSet<Value> known;
  auto add = [&](Operation *op, Value root) {
    if (!root || known.insert(root).second)
      writes.push_back({op, root, {}});
  };
  func.walk([&](Operation *op) {
    if (isa<BlockBarrierOpInterface, BarrierObjectOpInterface, WGMMAOp,
            NVVM::FenceMbarrierInitOp, memref::AllocOp>(op) ||
        op == func.getOperation() ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    if (auto store = dyn_cast<AsyncStoreOp>(op))
      return add(op, getRootBuffer(store.getDestination()));
    // Waits for stores, and fences, access nothing.
    if (isa<NVVM::CpAsyncBulkWaitGroupOp, NVVM::CpAsyncBulkCommitGroupOp,
            NVVM::FenceProxyOp>(op))
      return;
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (!collectAccesses(op, accesses, reason)) {
      writes.push_back({op, Value(), reason});
      return;
    }
    for (const MemoryAccess &access : accesses)
      if (access.isWrite)
        add(op, access.root);
  });
}

/// Copies run ahead of what the consumers write.
Refusal WarpPlanner::checkSource(AsyncLoadOp load) {
  Value source = load.getSource();
  while (auto view = source.getDefiningOp<ViewLikeOpInterface>())
    source = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument || argument.getOwner() != &func.getBody().front())
    return refuse(load, quote(load) + " reads what is no argument of the "
                                      "kernel");
  for (const Write &write : writes) {
    if (!write.unknown.empty())
      return refuse(write.op, write.unknown);
    if (!aliasing.alias(write.root, source).isNo())
      return refuse(write.op, quote(write.op) + " may write what " +
                                  quote(load) + " reads ahead");
  }
  return std::nullopt;
}

/// Whether the producers can compute the value: from constants, what is ahead
/// of the roles, and counters of loops.
Refusal WarpPlanner::checkSlice(Operation *user, Value value) {
  if (!checked.insert(value).second)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &func.getBody().front())
      return std::nullopt;
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::nullopt;
    return refuse(user, "the place of " + quote(user) +
                            " depends on what a loop computes");
  }
  Operation *def = value.getDefiningOp();
  if (def->getNumRegions() != 0 || !isMemoryEffectFree(def) ||
      llvm::any_of(def->getOperandTypes(), llvm::IsaPred<VectorType>))
    return refuse(user,
                  "the place of " + quote(user) + " depends on " + quote(def));
  for (Value operand : def->getOperands())
    if (Refusal refusal = checkSlice(user, operand))
      return refusal;
  return std::nullopt;
}

Refusal WarpPlanner::checkLoops(const CopyGroup &group) {
  for (AsyncLoadOp load : group.loads) {
    for (Value index : load.getIndices())
      if (Refusal refusal = checkSlice(load, index))
        return refusal;
    if (Refusal refusal = checkSlice(load, load.getSource()))
      return refusal;
  }
  for (Operation *around = group.wait->getParentOp(); around != func;
       around = around->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(around);
    if (!loop)
      return refuse(around, "its copies stand in " + quote(around));
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (Refusal refusal = checkSlice(loop, bound))
        return refusal;
  }
  return std::nullopt;
}

Refusal WarpPlanner::findGroups() {
  collectWrites();
  Refusal refusal;
  for (auto alloc : func.getBody().front().getOps<memref::AllocOp>())
    if (!refusal && isa<BarrierType>(alloc.getType().getElementType()))
      refusal = planGroup(alloc);
  if (refusal)
    return refusal;
  llvm::DenseSet<Operation *> known;
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    for (auto loop = group.wait->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      plan.groupsInLoop[loop].push_back(number);
    Operation *ops[] = {group.init, group.arrive, group.wait};
    for (Operation *op : ops)
      known.insert(op);
    known.insert(group.loads.begin(), group.loads.end());
  }
  bool isInLoop = false;
  func.walk([&](Operation *op) {
    isInLoop |= isa<AsyncLoadOp>(op) && op->getParentOfType<scf::ForOp>();
    if (!refusal && isa<BarrierObjectOpInterface>(op) && !known.contains(op))
      refusal = refuse(op, quote(op) + " uses a barrier that the function "
                                       "does not allocate");
    if (!refusal && isa<AsyncCopyOpInterface>(op) && !known.contains(op))
      refusal = refuse(op, quote(op) + " is no tensor copy");
  });
  if (refusal)
    return refusal;
  if (!isInLoop)
    return refuse(func, "it has no tensor copies in a loop");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// Whether both roles may execute the op: it computes with scalars, or makes
/// what they share.
static bool isSetup(Operation *op) {
  if (isa<memref::AllocOp, InitializeBarrierOp, NVVM::FenceMbarrierInitOp>(op))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<VectorType>) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<VectorType>);
}

void WarpPlanner::splitSetup() {
  // Stores of a kernel that come before its copies are the consumers'. What
  // reads memory or vectors ahead of them is, too, and what needs its results.
  llvm::DenseSet<Value> ofConsumers;
  for (Operation &op : func.getBody().front().without_terminator()) {
    bool needsConsumers = llvm::any_of(op.getOperands(), [&](Value operand) {
      return ofConsumers.contains(operand);
    });
    if (isSetup(&op) && !needsConsumers)
      plan.setup.insert(&op);
    else
      ofConsumers.insert(op.result_begin(), op.result_end());
  }
}

/// Barriers that were there for the barrier objects, and for the buffers that
/// now have slots.
void WarpPlanner::findNeedlessBarriers() {
  auto isQuiet = [](Operation *op) {
    return isMemoryEffectFree(op) || isSetup(op) ||
           isa<BarrierObjectOpInterface, WGMMAOp>(op);
  };
  for (Operation &op : func.getBody().front()) {
    if (isa<gpu::BarrierOp>(op)) {
      plan.needlessBarriers.insert(&op);
      break;
    }
    if (!isQuiet(&op))
      break;
  }
  llvm::DenseSet<Operation *> seen;
  for (const CopyGroup &group : plan.groups) {
    auto loop = dyn_cast<scf::ForOp>(group.wait->getParentOp());
    if (!loop || !seen.insert(loop).second ||
        !llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
          return isQuiet(&op) || isa<gpu::BarrierOp>(op);
        }))
      continue;
    for (auto barrier : loop.getBody()->getOps<gpu::BarrierOp>())
      plan.needlessBarriers.insert(barrier);
  }
}

void WarpPlanner::findInFlight() {
  for (CopyGroup &group : plan.groups) {
    auto loop = dyn_cast<scf::ForOp>(group.wait->getParentOp());
    if (!loop || group.products.size() != 1 || plan.groupsIn(loop).size() != 1)
      continue;
    WGMMAOp product = group.products.front();
    auto argument = dyn_cast<BlockArgument>(product.getAccumulator());
    if (!argument || argument.getOwner() != loop.getBody() ||
        !argument.hasOneUse() || !product->hasOneUse() ||
        isa<VectorType>(product.getA().getType()))
      continue;
    OpOperand &use = *product->use_begin();
    group.isInFlight =
        isa<scf::YieldOp>(use.getOwner()) &&
        use.getOwner()->getParentOp() == loop &&
        argument == loop.getRegionIterArg(use.getOperandNumber()) &&
        llvm::hasSingleElement(loop.getBody()->getOps<WGMMAOp>());
  }
}

void WarpPlanner::chooseRegisters() {
  int64_t threads = plan.threads + plan.producers;
  int64_t atLaunch = target.registersPerUnit / threads / 8 * 8;
  if (atLaunch > kMostRegisters)
    return; // Each thread has all that it can have.
  plan.producerRegisters = kProducerRegisters;
  plan.consumerRegisters =
      std::min(kMostRegisters,
               (atLaunch * threads - kProducerRegisters * plan.producers) /
                   plan.threads) /
      8 * 8;
}

//===----------------------------------------------------------------------===//
// Slots, and whether they pay
//===----------------------------------------------------------------------===//

BlockWork WarpPlanner::describeWork() {
  BlockWork work;
  if (std::optional<ArrayRef<int32_t>> grid = func.getKnownGridSize()) {
    work.blocks = 1;
    for (int32_t size : *grid)
      work.blocks = std::min<int64_t>(work.blocks * size,
                                      std::numeric_limits<int32_t>::max());
  }
  for (const CopyGroup &group : plan.groups) {
    WorkStep &step = work.steps.emplace_back();
    step.canStayInFlight = group.isInFlight;
    for (Operation *buffer : group.buffers)
      step.copiedBytes +=
          getBufferBytes(cast<memref::AllocOp>(buffer).getType()).value_or(0);
    for (WGMMAOp product : group.products) {
      auto a = cast<ShapedType>(product.getA().getType());
      auto b = cast<ShapedType>(product.getB().getType());
      step.wgmmaCycles += countWgmmaCycles(
          target, a.getDimSize(0), b.getDimSize(1), a.getDimSize(1),
          a.getElementTypeBitWidth(), plan.threads / kGroupThreads);
    }
    // Loops whose first counter is the block's go from tile to tile.
    for (auto loop = group.wait->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>()) {
      if (loop.getLowerBound().getDefiningOp<gpu::BlockIdOp>()) {
        work.isPersistent = true;
        continue;
      }
      step.iterations = std::min<uint64_t>(
          llvm::SaturatingMultiply<uint64_t>(
              step.iterations,
              getConstantTripCount(loop).value_or(kIterationsAssumed)),
          std::numeric_limits<int32_t>::max());
    }
  }
  func.walk([&](Operation *op) {
    if (auto store = dyn_cast<AsyncStoreOp>(op))
      work.storedBytes +=
          getBufferBytes(store.getSource().getType()).value_or(0);
    else if (auto write = dyn_cast<VectorTransferOpInterface>(op);
             write && !op->getNumResults())
      work.storedBytes += write.getVectorType().getNumElements() *
                          write.getVectorType().getElementTypeBitWidth() / 8;
  });
  return work;
}

Refusal WarpPlanner::chooseDepth() {
  llvm::DenseSet<Value> withSlots;
  for (const CopyGroup &group : plan.groups) {
    withSlots.insert(group.barrier->getResult(0));
    for (Operation *buffer : group.buffers) {
      withSlots.insert(buffer->getResult(0));
      plan.slotBytes +=
          getBufferBytes(cast<memref::AllocOp>(buffer).getType()).value_or(0);
    }
  }
  auto bytesWith = [&](int64_t slots, int64_t barriersPerSlot) {
    return getSharedMemoryBytes(func, [&](Value buffer) {
      auto type = dyn_cast<MemRefType>(buffer.getType());
      if (!type || !withSlots.contains(buffer))
        return type;
      SmallVector<int64_t> shape = {isa<BarrierType>(type.getElementType())
                                        ? barriersPerSlot * slots
                                        : slots};
      llvm::append_range(shape, type.getShape());
      return MemRefType::Builder(type).setShape(shape).operator MemRefType();
    });
  };
  BlockWork work = describeWork();
  BlockWay way;
  way.registers =
      std::min(estimateRegisters(func, target).count + kAddressRegisters,
               target.registersPerThread);
  auto timeInTurn = [&](int64_t slots) {
    way.slots = slots;
    way.threads = plan.threads;
    way.sharedBytes = bytesWith(slots, /*barriersPerSlot=*/1);
    return estimateTime(target, work, way);
  };
  plan.slotsInTurn = fitSlots(
      target, depth.value_or(getAutoSlots(Prefetch::AsyncCopies)),
      [&](int64_t slots) { return bytesWith(slots, /*barriersPerSlot=*/1); });
  plan.timeInTurn = timeInTurn(plan.slotsInTurn);

  way.isSpecialised = true;
  way.threads = plan.threads + plan.producers;
  way.exchangesRegisters = plan.consumerRegisters != 0;
  // Of slots that take the same time, more are safer.
  int64_t wanted = depth.value_or(kMostSlotsChosen);
  int64_t bytes = 0;
  for (int64_t slots = depth.value_or(1); slots <= wanted; ++slots) {
    bytes = bytesWith(slots, /*barriersPerSlot=*/2);
    way.slots = slots;
    way.sharedBytes = bytes;
    if (bytes > target.sharedMemoryPerBlock)
      break;
    BlockTime time = estimateTime(target, work, way);
    if (plan.depth != 0 && time.cycles > plan.time.cycles)
      continue;
    plan.depth = slots;
    plan.time = time;
  }
  if (plan.depth == 0)
    return refuse(func,
                  llvm::formatv("it needs {0} B of shared memory with {1} "
                                "slots, {2} has {3} B",
                                bytes, depth.value_or(1), target.name,
                                target.sharedMemoryPerBlock)
                      .str());
  if (bytes > target.sharedMemoryPerBlock && plan.depth + 1 == way.slots)
    plan.limit = llvm::formatv(
                     ": with {0} slots the function would need {1} B of "
                     "shared memory, {2} has {3} B",
                     way.slots, bytes, target.name, target.sharedMemoryPerBlock)
                     .str();
  for (CopyGroup &group : plan.groups)
    group.isInFlight &= plan.depth > 1;
  return std::nullopt;
}

Refusal WarpPlanner::run() {
  if (Refusal refusal = checkBlock())
    return refusal;
  if (Refusal refusal = findGroups())
    return refusal;
  findInFlight();
  chooseRegisters();
  if (Refusal refusal = chooseDepth())
    return refusal;
  splitSetup();
  // What the copies need is ahead of the roles, or computed by both.
  findNeedlessBarriers();
  return std::nullopt;
}

Refusal smalti::planWarps(gpu::GPUFuncOp func, const targets::Target &target,
                          std::optional<int64_t> depth, WarpPlan &plan) {
  if (!target.hasTMA || !target.hasWGMMA)
    return WarpRefusal{func,
                       "the kernel is not specialised: " + target.name.str() +
                           " has no tensor copies or no products of "
                           "warp groups"};
  plan.func = func;
  Refusal refusal = WarpPlanner(plan, target, depth).run();
  if (refusal)
    refusal->reason = "the kernel is not specialised: " + refusal->reason;
  return refusal;
}

Refusal WarpPlanAnalysis::run(gpu::GPUFuncOp func,
                              const targets::Target &target,
                              std::optional<int64_t> depth) {
  if (plannedFor == &target && depth == plan.depth)
    return std::nullopt;
  plan = WarpPlan();
  Refusal refusal = planWarps(func, target, depth, plan);
  plannedFor = refusal ? nullptr : &target;
  return refusal;
}

std::string smalti::describeTimes(const WarpPlan &plan) {
  auto count = [](int64_t number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  return std::to_string(plan.time.cycles) + " cycles for a tile, " +
         count(plan.time.residents, "block") + " a unit, against " +
         std::to_string(plan.timeInTurn.cycles) + " of " +
         std::to_string(plan.timeInTurn.residents) +
         " that copy and multiply in turn, " + count(plan.slotsInTurn, "slot");
}

bool smalti::hasSynchronousWgmma(gpu::GPUFuncOp func) {
  return func
      ->walk([](mosaic_gpu::WGMMAOp product) {
        return isSynchronousWgmma(product) ? WalkResult::interrupt()
                                           : WalkResult::advance();
      })
      .wasInterrupted();
}
