//===- PlannedTransfers.cpp - Transfers that follow a plan ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers of shared memory that follow `planTransfer`, if the layout differs
// from the type of the memref or several thread groups share the memory; and
// atomic stores. All others use the common lowering.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/BlockToThread/Transfers/PlannedTransfers.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/AtomicStores.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PackedTransfers.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PeerMemory.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::TransferNeed;
using transfers::TransferPlan;

namespace {
struct SharedTransfer : OpPlan {
  TransferPlan transfer;
  /// The distribution of the stored value; a splat gets one.
  std::optional<Distribution> distribution;
  /// How it is combined with the value in memory.
  std::optional<LLVM::AtomicBinOp> combine;
};

class Loads : public LoweringOf<mosaic_gpu::VectorLoadOp> {
public:
  LogicalResult plan(mosaic_gpu::VectorLoadOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::VectorLoadOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
  bool acceptsPeers() const override { return true; }
};

class Stores : public LoweringOf<mosaic_gpu::VectorStoreOp> {
public:
  LogicalResult plan(mosaic_gpu::VectorStoreOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
  bool acceptsPeers() const override { return true; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static bool isOfPeer(Value memref) {
  return mosaic_gpu::isClusterMemory(cast<MemRefType>(memref.getType()));
}

/// Whether accesses of a memref follow a plan.
static bool isPlanned(const KernelPlan &plan, Value memref) {
  const SharedRef *ref = plan.getSharedRef(memref);
  return ref && (ref->isTransformed() || isOfPeer(memref) ||
                 plan.func->hasAttr(mosaic_gpu::kThreadGroupSize));
}

static SharedAddress getStart(Emitter &emitter, Value memref,
                              OpBuilder &builder) {
  return {isOfPeer(memref) ? emitPeerBase(memref, emitter, builder)
                           : emitter.getSharedBase(),
          emitter.getSharedOffset(memref),
          emitter.plan.getSharedRef(memref)->log2Alignment};
}

LogicalResult Loads::plan(mosaic_gpu::VectorLoadOp op, Planner &planner) const {
  if (isPackedGlobal(op.getSource()))
    return planPackedLoad(op, planner);
  if (!isPlanned(planner.getPlan(), op.getSource()))
    return getCommonLoads().plan(op, planner);
  if (failed(planner.setResultLayout(op)))
    return failure();
  const Distribution distribution = *planner.find(op.getResult());
  std::optional<TransferPlan> transfer =
      planSharedTransfer({op, op.getSource(), &distribution,
                          getNeed(op.getOptimized(), /*isLoad=*/true),
                          /*isLoad=*/true, isOfPeer(op.getSource())},
                         planner);
  if (!transfer)
    return failure();
  auto plan = std::make_unique<SharedTransfer>();
  plan->transfer = std::move(*transfer);
  planner.setOpPlan(op, std::move(plan));
  return success();
}

void Loads::emit(mosaic_gpu::VectorLoadOp op, Emitter &emitter,
                 OpBuilder &builder) const {
  if (isPackedGlobal(op.getSource()))
    return emitPackedLoad(op, emitter, builder);
  if (!isPlanned(emitter.plan, op.getSource()))
    return getCommonLoads().emit(op, emitter, builder);
  const auto &plan = *emitter.plan.getOpPlan<SharedTransfer>(op);
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult());
  SharedAddress start = getStart(emitter, op.getSource(), builder);
  emitter.setRegisters(
      op.getResult(),
      TransferEmitter(builder, op.getLoc(), emitter.indices, plan.transfer,
                      start)
          .load(distribution.getRegisterType(
                    getElementTypeOrSelf(op.getResult().getType())),
                distribution.getNumRegisters()));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult Stores::plan(mosaic_gpu::VectorStoreOp op,
                           Planner &planner) const {
  if (op.getMultimem())
    return op->emitOpError()
           << "has 'multimem', a store to several devices, which is not "
              "supported; remove 'multimem' and store to each device";
  std::optional<LLVM::AtomicBinOp> combine;
  bool isNVIDIA =
      planner.getVendor().getTarget().vendor == targets::Vendor::NVIDIA;
  if (op.getAtomicType() && !isNVIDIA)
    return op->emitOpError()
           << "has 'atomic_type', which is supported on NVIDIA GPUs only; "
              "remove 'atomic_type', or compile for an NVIDIA GPU instead of "
           << planner.getVendor().getTarget().name;
  if (op.getAtomicType()) {
    combine = getAtomicKind(op, planner);
    if (!combine)
      return failure();
  }
  if (isPackedGlobal(op.getDestination()))
    return planPackedStore(op, planner);
  bool isShared = planner.getSharedRef(op.getDestination());
  if (combine && !isShared)
    return planAtomic(op, *combine, planner);
  if (!combine && !isPlanned(planner.getPlan(), op.getDestination()))
    return getCommonStores().plan(op, planner);
  if (planner.getPlan().func->hasAttr(mosaic_gpu::kAutoBarriers))
    if (std::optional<std::string> why =
            planner.getVendor().refuseThreadGroupBarrier(planner.getGrid()))
      return op->emitOpError()
             << "requires a barrier per thread group: " << *why;
  Distribution distribution = *planner.find(op.getValueToStore());
  // The store may declare how a splat is distributed across the threads.
  if (Attribute layout = layoutAt(op, mosaic_gpu::kInLayouts, 0);
      layout && distribution.isSplat()) {
    std::string why;
    if (std::optional<Distribution> wanted =
            Distribution::get(cast<VectorType>(op.getValueToStore().getType()),
                              layout, planner.getGrid(), why))
      distribution = std::move(*wanted);
  }
  int64_t bits =
      isShared ? planner.getSharedRef(op.getDestination())->elementBits : 8;
  if (distribution.isSplat() && bits < 8) {
    std::string why;
    std::optional<Distribution> bytes = Distribution::share(
        cast<VectorType>(op.getValueToStore().getType()),
        /*minLength=*/8 / bits, /*maxLength=*/kMaxAccessBytes * 8 / bits,
        planner.getGrid(), why);
    if (!bytes)
      return op->emitOpError() << "cannot be lowered to thread level: " << bits
                               << "-bit elements share bytes, and the splat "
                                  "cannot be distributed across the threads: "
                               << why;
    distribution = std::move(*bytes);
  }
  if (combine && distribution.isSplat()) {
    std::optional<Distribution> distributed = distributeSplat(op, planner);
    if (!distributed)
      return failure();
    distribution = std::move(*distributed);
  }
  std::optional<TransferPlan> transfer = planSharedTransfer(
      {op, op.getDestination(), &distribution,
       getNeed(op.getOptimized(), /*isLoad=*/false),
       /*isLoad=*/false, combine || isOfPeer(op.getDestination())},
      planner);
  if (!transfer)
    return failure();
  auto plan = std::make_unique<SharedTransfer>();
  plan->transfer = std::move(*transfer);
  plan->distribution = std::move(distribution);
  plan->combine = combine;
  planner.setOpPlan(op, std::move(plan));
  if (isOfPeer(op.getDestination()))
    planner.getPlan().isWrittenByCluster = true;
  return success();
}

void Stores::emit(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
                  OpBuilder &builder) const {
  if (isPackedGlobal(op.getDestination()))
    return emitPackedStore(op, emitter, builder);
  bool isShared = emitter.plan.getSharedRef(op.getDestination());
  if (op.getAtomicType() && !isShared)
    return emitAtomic(op, emitter, builder);
  if (!op.getAtomicType() && !isPlanned(emitter.plan, op.getDestination()))
    return getCommonStores().emit(op, emitter, builder);
  Location loc = op.getLoc();
  const auto &plan = *emitter.plan.getOpPlan<SharedTransfer>(op);
  SharedAddress start = getStart(emitter, op.getDestination(), builder);
  Registers held =
      emitter.getRegisters(op.getValueToStore(), *plan.distribution, builder);
  auto store = [&](OpBuilder &nested) {
    auto combine = [&](Value address, Value data) {
      emitAtomics(nested, loc, *plan.combine, address, data);
    };
    TransferEmitter transfer(nested, loc, emitter.indices, plan.transfer, start,
                             plan.combine ? TransferEmitter::StorePiece(combine)
                                          : nullptr);
    if (plan.distribution->isSplat())
      transfer.storeSplat(vector::ExtractOp::create(nested, loc, held.front(),
                                                    ArrayRef<int64_t>{0}));
    else
      transfer.store(held);
  };
  // All threads of the group complete earlier reads before the store, and later
  // reads observe it.
  bool isOrdered = emitter.plan.func->hasAttr(mosaic_gpu::kAutoBarriers);
  if (isOrdered)
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  // If several threads hold an element, the first of them writes it.
  if (Value isFirst = emitter.indices.isFirstReplica(*plan.distribution))
    scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
      store(nested);
      scf::YieldOp::create(nested, loc);
    });
  else
    store(builder);
  if (isOrdered)
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
}

void block_to_thread::registerPlannedTransfers(OpLowerings &lowerings) {
  lowerings.add<Loads, mosaic_gpu::VectorLoadOp>();
  lowerings.add<Stores, mosaic_gpu::VectorStoreOp>();
}
