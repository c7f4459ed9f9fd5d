//===- WarpPlan.cpp - Warp-specialization plan ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
#include "smalti/targets/Text.h"

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

/// Threads of a warpgroup.
static constexpr int64_t kGroupThreads = 128;
/// Registers of a producer thread.
static constexpr int64_t kProducerRegisters = 24;
/// The most registers of a consumer thread, a multiple of 8.
static constexpr int64_t kMaxRegisters = 240;
/// The most slots that the pass chooses; more do not hide more latency.
static constexpr int64_t kMaxSlotsChosen = 8;
/// Registers of a thread for addresses and counters, in addition to its values.
static constexpr int64_t kAddressRegisters = 32;
/// The assumed trip count of a loop with dynamic bounds.
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
  void findRedundantBarriers();
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
  /// The first write to each memory root, and ops whose writes cannot be
  /// determined (`unknown` is the reason).
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
    return refuse(func, "the kernel has branches between MLIR blocks; use "
                        "scf.for, scf.while and scf.if");
  ArrayRef<int32_t> size;
  if (std::optional<ArrayRef<int32_t>> known = func.getKnownBlockSize())
    size = *known;
  if (size.size() != 3 || size[0] < 1 || size[1] != 1 || size[2] != 1)
    return refuse(func, "the kernel requires the attribute 'known_block_size' "
                        "with one dimension, that is, [N, 1, 1]");
  plan.threads = size[0];
  plan.producers = kGroupThreads;
  if (plan.threads % kGroupThreads != 0 ||
      plan.threads + plan.producers > target.maxThreadsPerBlock)
    return refuse(
        func,
        llvm::formatv("the block has {0} threads; the number must be a "
                      "multiple of {1}, at most {2} on {3}",
                      plan.threads, kGroupThreads,
                      target.maxThreadsPerBlock - plan.producers, target.name)
            .str());
  if (func->hasAttr(kThreadGroupSize))
    return refuse(func, "the threads of the block are already split into roles "
                        "(attribute '" +
                            kThreadGroupSize.str() + "')");

  Refusal refusal;
  func.walk([&](Operation *op) {
    if (refusal)
      return;
    // The pass changes the number of threads in the block.
    if (isa<gpu::ThreadIdOp, gpu::BlockDimOp, gpu::LaneIdOp, gpu::SubgroupIdOp,
            NVVM::ElectSyncOp>(op))
      refusal = refuse(
          op,
          quote(op) +
              " depends on the thread numbering, which producer warps change; "
              "remove the op");
    else if (auto wgmma = dyn_cast<WGMMAOp>(op);
             wgmma && !isSynchronousWgmma(wgmma))
      refusal = refuse(
          op, quote(op) +
                  " is asynchronous; only wgmma ops with the attribute '" +
                  kSynchronousWgmma.str() + "' are supported");
  });
  return refusal;
}

//===----------------------------------------------------------------------===//
// Copies and the wgmma ops that use them
//===----------------------------------------------------------------------===//

/// The op that initializes the mbarrier through its address, if the address has
/// no other use.
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
    return refuse(barrier, quote(barrier) +
                               " allocates an array of mbarriers; use a "
                               "memref.alloc of rank 0 for each mbarrier");
  for (Operation *user : barrier->getUsers()) {
    auto other = [&] {
      return refuse(
          user,
          quote(user) +
              " is not a supported use of an mbarrier; supported are one "
              "initialization, one arrive_expect_tx, TMA loads and one wait");
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
    return refuse(barrier,
                  std::string("the mbarrier does not have ") +
                      (!group.init     ? "an initialization"
                       : !group.arrive ? "an arrive_expect_tx"
                       : !group.wait   ? "a wait"
                                       : "a TMA load") +
                      "; one initialization, one arrive_expect_tx, TMA loads "
                      "and one wait are required");
  Block *block = group.wait->getBlock();
  if (group.arrive->getBlock() != block ||
      !group.arrive->isBeforeInBlock(group.wait))
    return refuse(group.arrive,
                  quote(group.arrive) +
                      " does not precede the wait of its mbarrier in the same "
                      "MLIR block; move it before the wait");
  for (AsyncLoadOp load : group.loads)
    if (load->getBlock() != block || !load->isBeforeInBlock(group.wait) ||
        !group.arrive->isBeforeInBlock(load))
      return refuse(load, quote(load) +
                              " is not between the arrival and the wait of its "
                              "mbarrier in the same MLIR block; move it there");
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

/// Checks that only wgmma ops after the wait read the copied buffers.
Refusal WarpPlanner::planBuffers(CopyGroup &group) {
  llvm::DenseSet<Operation *> wgmmas;
  for (AsyncLoadOp load : group.loads) {
    auto alloc =
        getRootBuffer(load.getDestination()).getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != &func.getBody().front())
      return refuse(load, quote(load) +
                              " copies into memory that is not a memref.alloc "
                              "in the kernel's entry block; allocate it there");
    group.buffers.insert(alloc);
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
        auto wgmma = dyn_cast<WGMMAOp>(user);
        if (!wgmma || user->getBlock() != group.wait->getBlock() ||
            !group.wait->isBeforeInBlock(user))
          return refuse(
              user, quote(user) + " accesses the buffer that " + quote(load) +
                        " fills; only wgmma ops after the wait for its "
                        "mbarrier, in the MLIR block of the wait, may use "
                        "the buffer");
        if (wgmmas.insert(wgmma).second)
          group.wgmmas.push_back(wgmma);
      }
    }
  }
  if (group.wgmmas.empty())
    return refuse(group.wait,
                  "no wgmma reads the tiles of the TMA loads, so "
                  "consumer warps would have no work; use the tiles as "
                  "operands of wgmma in shared memory");
  llvm::sort(group.wgmmas,
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
    // Waits for stores and fences do not access memory.
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

/// Checks that the consumers do not write memory that `load` prefetches.
Refusal WarpPlanner::checkSource(AsyncLoadOp load) {
  Value source = load.getSource();
  while (auto view = source.getDefiningOp<ViewLikeOpInterface>())
    source = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument || argument.getOwner() != &func.getBody().front())
    return refuse(load, "the source of " + quote(load) +
                            " is not a kernel argument or a view of one; load "
                            "directly from an argument");
  for (const Write &write : writes) {
    if (!write.unknown.empty())
      return refuse(write.op, write.unknown);
    if (!aliasing.alias(write.root, source).isNo())
      return refuse(write.op, quote(write.op) + " may write memory that " +
                                  quote(load) + " prefetches" +
                                  (write.root == source
                                       ? ""
                                       : "; if the two arguments do not "
                                         "overlap, mark them llvm.noalias"));
  }
  return std::nullopt;
}

/// Checks that the producers can compute the value from constants, values
/// defined before the roles, and induction variables.
Refusal WarpPlanner::checkSlice(Operation *user, Value value) {
  if (!checked.insert(value).second)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &func.getBody().front())
      return std::nullopt;
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::nullopt;
    return refuse(
        user, "the address or loop bounds of " + quote(user) +
                  " depend on a loop-carried value, which producer warps do "
                  "not compute; compute them from the induction variable");
  }
  Operation *def = value.getDefiningOp();
  if (def->getNumRegions() != 0 || !isMemoryEffectFree(def) ||
      llvm::any_of(def->getOperandTypes(), llvm::IsaPred<VectorType>))
    return refuse(user,
                  "the address or loop bounds of " + quote(user) +
                      " depend on " + quote(def) +
                      ", which producer warps cannot recompute; compute them "
                      "from constants, kernel arguments and induction "
                      "variables, without reads of memory and vectors");
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
      return refuse(around, "the TMA loads of the kernel are in " +
                                quote(around) +
                                "; only scf.for is supported around them");
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
      refusal = refuse(
          op, quote(op) + " uses an mbarrier that is not a memref.alloc in the "
                          "kernel's entry block; allocate it there");
    if (!refusal && isa<AsyncCopyOpInterface>(op) && !known.contains(op))
      refusal =
          refuse(op, quote(op) + " is an asynchronous copy; only TMA loads "
                                 "that complete on an mbarrier are supported");
  });
  if (refusal)
    return refusal;
  if (!isInLoop)
    return refuse(func, "the kernel does not have a TMA load in a loop, so no "
                        "copy can overlap with a wgmma");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// Whether both roles may execute the op: it computes with scalars, or creates
/// memory that both use.
static bool isSetup(Operation *op) {
  if (isa<memref::AllocOp, InitializeBarrierOp, NVVM::FenceMbarrierInitOp>(op))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<VectorType>) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<VectorType>);
}

void WarpPlanner::splitSetup() {
  // Only the consumers execute stores, reads of memory and ops on vectors that
  // precede the copies, and the users of their results.
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

/// Finds the block barriers that are redundant after the transformation: the
/// one after the initialization of the mbarriers, and those that protect
/// buffers that now have slots.
void WarpPlanner::findRedundantBarriers() {
  auto isQuiet = [](Operation *op) {
    return isMemoryEffectFree(op) || isSetup(op) ||
           isa<BarrierObjectOpInterface, WGMMAOp>(op);
  };
  for (Operation &op : func.getBody().front()) {
    if (isa<gpu::BarrierOp>(op)) {
      plan.redundantBarriers.insert(&op);
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
      plan.redundantBarriers.insert(barrier);
  }
}

void WarpPlanner::findInFlight() {
  for (CopyGroup &group : plan.groups) {
    auto loop = dyn_cast<scf::ForOp>(group.wait->getParentOp());
    if (!loop || group.wgmmas.size() != 1 || plan.groupsIn(loop).size() != 1)
      continue;
    WGMMAOp wgmma = group.wgmmas.front();
    auto argument = dyn_cast<BlockArgument>(wgmma.getAccumulator());
    if (!argument || argument.getOwner() != loop.getBody() ||
        !argument.hasOneUse() || !wgmma->hasOneUse() ||
        isa<VectorType>(wgmma.getA().getType()))
      continue;
    OpOperand &use = *wgmma->use_begin();
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
  if (atLaunch > kMaxRegisters)
    return; // Each thread already has the maximum.
  plan.producerRegisters = kProducerRegisters;
  plan.consumerRegisters =
      std::min(kMaxRegisters,
               (atLaunch * threads - kProducerRegisters * plan.producers) /
                   plan.threads) /
      8 * 8;
}

//===----------------------------------------------------------------------===//
// Number of slots and estimated benefit
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
    for (WGMMAOp wgmma : group.wgmmas) {
      auto a = cast<ShapedType>(wgmma.getA().getType());
      auto b = cast<ShapedType>(wgmma.getB().getType());
      step.wgmmaCycles += countWgmmaCycles(
          target, a.getDimSize(0), b.getDimSize(1), a.getDimSize(1),
          a.getElementTypeBitWidth(), plan.threads / kGroupThreads);
    }
    // A loop that starts at the block id iterates over tiles.
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

/// The most slots to choose. The copies of a loop use at most one slot per
/// iteration, unless the loads of the next tile overlap.
static int64_t getMostSlots(const BlockWork &work) {
  if (work.isPersistent)
    return kMaxSlotsChosen;
  int64_t copies = 1;
  for (const WorkStep &step : work.steps)
    copies = std::max<int64_t>(copies, step.iterations);
  return std::min(copies, kMaxSlotsChosen);
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
  BlockVariant variant;
  variant.registers =
      std::min(estimateRegisters(func, target).count + kAddressRegisters,
               target.registersPerThread);
  auto estimateUnspecialized = [&](int64_t slots) {
    variant.slots = slots;
    variant.threads = plan.threads;
    variant.sharedBytes = bytesWith(slots, /*barriersPerSlot=*/1);
    return estimateTime(target, work, variant);
  };
  plan.slotsUnspecialized = fitSlots(
      target, depth.value_or(getAutoSlots(Prefetch::AsyncCopies)),
      [&](int64_t slots) { return bytesWith(slots, /*barriersPerSlot=*/1); });
  plan.timeUnspecialized = estimateUnspecialized(plan.slotsUnspecialized);

  variant.isSpecialized = true;
  variant.threads = plan.threads + plan.producers;
  variant.reallocatesRegisters = plan.consumerRegisters != 0;
  // Prefer more slots if the estimates are equal.
  int64_t wanted = depth.value_or(getMostSlots(work));
  int64_t bytes = 0;
  for (int64_t slots = depth.value_or(1); slots <= wanted; ++slots) {
    bytes = bytesWith(slots, /*barriersPerSlot=*/2);
    variant.slots = slots;
    variant.sharedBytes = bytes;
    if (bytes > target.sharedMemoryPerBlock)
      break;
    BlockTime time = estimateTime(target, work, variant);
    if (plan.depth != 0 && time.cycles > plan.time.cycles)
      continue;
    plan.depth = slots;
    plan.time = time;
  }
  if (plan.depth == 0)
    return refuse(func, llvm::formatv("{1} slots need {0} B of shared memory; "
                                      "{2} has {3} B, so set a smaller depth "
                                      "or use smaller tiles",
                                      bytes, depth.value_or(1), target.name,
                                      target.sharedMemoryPerBlock)
                            .str());
  if (bytes > target.sharedMemoryPerBlock && plan.depth + 1 == variant.slots)
    plan.limit = llvm::formatv("; {0} slots would need {1} B of shared memory, "
                               "{2} has {3} B",
                               variant.slots, bytes, target.name,
                               target.sharedMemoryPerBlock)
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
  findRedundantBarriers();
  return std::nullopt;
}

Refusal smalti::planWarps(gpu::GPUFuncOp func, const targets::Target &target,
                          std::optional<int64_t> depth, WarpPlan &plan) {
  if (!target.hasTMA || !target.hasWGMMA)
    return WarpRefusal{func,
                       "warp specialization not applied: " + target.name.str() +
                           " does not have both TMA and wgmma"};
  plan.func = func;
  Refusal refusal = WarpPlanner(plan, target, depth).run();
  if (refusal)
    refusal->reason = "warp specialization not applied: " + refusal->reason;
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
  return std::to_string(plan.time.cycles) + " cycles per tile (" +
         counted(plan.time.residentBlocks, "block") + " per SM); without it " +
         std::to_string(plan.timeUnspecialized.cycles) + " cycles (" +
         counted(plan.timeUnspecialized.residentBlocks, "block") + " per SM, " +
         counted(plan.slotsUnspecialized, "slot") + " per buffer)";
}

bool smalti::hasSynchronousWgmma(gpu::GPUFuncOp func) {
  return func
      ->walk([](mosaic_gpu::WGMMAOp wgmma) {
        return isSynchronousWgmma(wgmma) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}
