//===- PeerMemory.cpp - Shared memory of other blocks ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a cluster access each other's shared memory: an offset is the same
// in each block.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/BlockToThread/Transfers/PeerMemory.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Assembly/NVIDIAAssembly.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::TransferPlan;

namespace {
class ClusterRefs : public LoweringOf<mosaic_gpu::GetClusterRefOp> {
public:
  LogicalResult plan(mosaic_gpu::GetClusterRefOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::GetClusterRefOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};

struct PeerStore : OpPlan {
  TransferPlan transfer;
  std::optional<Distribution> distribution;
  int64_t bytes = 0;
};

/// Stores whose bytes the mbarrier of the other block counts.
class PeerStores : public LoweringOf<mosaic_gpu::AsyncStoreSmemOp> {
public:
  LogicalResult plan(mosaic_gpu::AsyncStoreSmemOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::AsyncStoreSmemOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Why block `index` along a dimension of the cluster does not exist.
static LogicalResult checkPeer(Operation *op, unsigned dim, Value index,
                               Planner &planner) {
  const targets::Target &target = planner.getVendor().getTarget();
  if (target.maxClusterSize == 1)
    return op->emitOpError() << "cannot be lowered for " << target.name
                             << ": the target does not have clusters of "
                                "blocks; compile for NVIDIA sm_90 or later";
  std::optional<ArrayRef<int32_t>> cluster =
      planner.getPlan().func.getKnownClusterSize();
  if (!cluster)
    return op->emitOpError()
           << "refers to another block of the cluster, but the kernel does not "
              "state the size of the cluster; set 'known_cluster_size' on the "
              "gpu.func";
  APInt block;
  if (matchPattern(index, m_ConstantInt(&block)) &&
      (block.isNegative() || block.sge((*cluster)[dim]))) {
    int32_t blocks = (*cluster)[dim];
    return op->emitOpError()
           << "refers to block " << block.getSExtValue()
           << " of the cluster in direction " << "xyz"[dim]
           << ", in which the cluster has " << blocks
           << " blocks; the number must be from 0 to " << blocks - 1;
  }
  return success();
}

/// The rank of a block in the cluster, x fastest, which differs from this block
/// along at most one dimension.
static Value emitRank(unsigned dim, Value index, const KernelPlan &plan,
                      OpBuilder &builder, Location loc) {
  gpu::GPUFuncOp func = plan.func;
  ArrayRef<int32_t> cluster = *func.getKnownClusterSize();
  Value rank;
  int64_t stride = 1;
  for (unsigned other = 0; other < 3; ++other) {
    if (cluster[other] > 1) {
      Value block = index;
      if (other != dim)
        block = arith::IndexCastOp::create(
            builder, loc, builder.getI32Type(),
            gpu::ClusterBlockIdOp::create(builder, loc,
                                          static_cast<gpu::Dimension>(other)));
      if (stride > 1)
        block = arith::MulIOp::create(builder, loc, block,
                                      getI32(builder, loc, stride));
      rank = rank ? arith::AddIOp::create(builder, loc, rank, block).getResult()
                  : block;
    }
    stride *= cluster[other];
  }
  return rank ? rank : getI32(builder, loc, 0);
}

static Value emitMap(Value pointer, Value rank, OpBuilder &builder,
                     Location loc) {
  auto type = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  return NVVM::MapaOp::create(builder, loc, type, pointer, rank);
}

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

mosaic_gpu::GetClusterRefOp block_to_thread::findClusterRef(Value memref) {
  // Views have their source as the first operand; loops do not carry such
  // memrefs.
  while (Operation *op = memref.getDefiningOp()) {
    if (auto peer = dyn_cast<mosaic_gpu::GetClusterRefOp>(op))
      return peer;
    if (op->getNumOperands() == 0)
      break;
    memref = op->getOperand(0);
  }
  return {};
}

static std::pair<unsigned, Value> getPeer(mosaic_gpu::GetClusterRefOp op) {
  if (Value x = op.getX())
    return {0, x};
  if (Value y = op.getY())
    return {1, y};
  return {2, op.getZ()};
}

Value block_to_thread::emitPeerBase(Value memref, Emitter &emitter,
                                    OpBuilder &builder) {
  Location loc = memref.getLoc();
  auto [dim, index] = getPeer(findClusterRef(memref));
  return emitMap(
      emitter.getSharedBase(),
      emitRank(dim, emitter.lookup(index), emitter.plan, builder, loc), builder,
      loc);
}

LogicalResult ClusterRefs::plan(mosaic_gpu::GetClusterRefOp op,
                                Planner &planner) const {
  auto [dim, index] = getPeer(op);
  if (failed(checkPeer(op, dim, index, planner)))
    return failure();
  const SharedRef *ref = planner.getSharedRef(op.getSource());
  if (!ref)
    return op.emitOpError()
           << "cannot be lowered to thread level: the destination may be "
              "several shared-memory buffers; use views of one buffer";
  return setResultRef(op, op.getResult(), SharedRef(*ref), planner);
}

void ClusterRefs::emit(mosaic_gpu::GetClusterRefOp op, Emitter &emitter,
                       OpBuilder &) const {
  emitter.setSharedOffset(op.getResult(),
                          emitter.getSharedOffset(op.getSource()));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// The bytes of the narrowest store of a plan.
static int64_t getStoreBytes(const TransferPlan &plan, const SharedRef &ref) {
  constexpr unsigned log2Widest = 4;
  int64_t bytes = int64_t(1) << std::min(ref.log2Alignment, log2Widest);
  for (const transfers::Access &access : plan.accesses)
    bytes = std::min(bytes, access.bytes);
  return bytes;
}

LogicalResult PeerStores::plan(mosaic_gpu::AsyncStoreSmemOp op,
                               Planner &planner) const {
  constexpr int64_t wordBytes = 4;
  if (failed(checkPeer(op, static_cast<unsigned>(op.getClusterDim()),
                       op.getClusterIdx(), planner)))
    return failure();
  if (op->getParentOfType<mosaic_gpu::WarpMapOp>())
    return op.emitOpError()
           << "is inside 'mosaic_gpu.warp_map', where every warp would store "
              "the whole vector; move the op out of the region";
  VectorType type = op.getValueToStore().getType();
  Type element = type.getElementType();
  if (op.getAtomicType() && !element.isInteger(32))
    return op.emitOpError()
           << "has 'atomic_type' for elements of type " << element
           << " in shared memory of another block; "
           << planner.getVendor().getTarget().name
           << " supports it for i32 only: remove 'atomic_type' or use i32";
  const Distribution &distribution = *planner.find(op.getValueToStore());
  if (distribution.isSplat())
    return op.emitOpError() << "stores a vector in the splat layout, in which "
                               "all threads hold all elements, so every thread "
                               "would store them; use another layout";
  const SharedRef *ref = planner.getSharedRef(op.getDestination());
  if (!ref || !planner.getSharedRef(op.getBarrier()))
    return op.emitOpError()
           << "cannot be lowered to thread level: the destination may be "
              "several shared-memory buffers; use views of one buffer";
  std::optional<TransferPlan> transfer =
      planSharedTransfer({op, op.getDestination(), &distribution,
                          getNeed(op.getOptimized(), /*isLoad=*/false),
                          /*isLoad=*/false, /*isOfPeer=*/true},
                         planner);
  if (!transfer)
    return failure();
  if (int64_t bytes = getStoreBytes(*transfer, *ref); bytes < wordBytes)
    return op.emitOpError()
           << "cannot be lowered to thread level: the narrowest store of a "
              "thread has "
           << bytes << " bytes; a store to another block requires at least "
           << wordBytes
           << " bytes, so use a layout with more contiguous elements per "
              "thread";
  auto plan = std::make_unique<PeerStore>();
  plan->bytes = type.getNumElements() * ref->elementBits / 8;
  if (plan->bytes > kMaxMbarrierBytes)
    return op.emitOpError()
           << "stores " << plan->bytes
           << " bytes; a phase of an mbarrier counts at most "
           << kMaxMbarrierBytes
           << " bytes, so use a barrier for each part of the vector";
  plan->transfer = std::move(*transfer);
  plan->distribution = distribution;
  planner.setOpPlan(op, std::move(plan));
  planner.getPlan().isWrittenByCluster = true;
  return success();
}

void PeerStores::emit(mosaic_gpu::AsyncStoreSmemOp op, Emitter &emitter,
                      OpBuilder &builder) const {
  Location loc = op.getLoc();
  const auto &plan = *emitter.plan.getOpPlan<PeerStore>(op);
  ThreadIndices &indices = emitter.indices;
  Value rank =
      emitRank(static_cast<unsigned>(op.getClusterDim()),
               emitter.lookup(op.getClusterIdx()), emitter.plan, builder, loc);
  Value barrier = emitMap(emitter.getSharedPointer(op.getBarrier(), builder),
                          rank, builder, loc);
  // Every thread arrives at the other block's mbarrier; together they expect
  // all bytes.
  int64_t threads = emitter.plan.grid.numThreads;
  Value bytes = getI32(builder, loc, plan.bytes / threads);
  if (plan.bytes % threads != 0 ||
      emitter.plan.grid.blockThreads % threads != 0)
    bytes = arith::SelectOp::create(builder, loc, emitter.getLeader(op),
                                    getI32(builder, loc, plan.bytes),
                                    getI32(builder, loc, 0));
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, Type(), barrier, bytes, NVVM::MemScopeKind::CLUSTER,
      /*relaxed=*/false, /*predicate=*/Value());

  SharedAddress start{
      emitMap(emitter.getSharedBase(), rank, builder, loc),
      emitter.getSharedOffset(op.getDestination()),
      emitter.plan.getSharedRef(op.getDestination())->log2Alignment};
  std::string operation;
  if (op.getAtomicType())
    operation = mosaic_gpu::stringifyAtomicOpType(*op.getAtomicType()).str();
  Registers held = emitter.getRegisters(op.getValueToStore());
  auto store = [&](OpBuilder &nested) {
    auto storePiece = [&](Value address, Value data) {
      SmallVector<Value> words = toWords(nested, loc, data);
      if (operation.empty())
        return nvidia::emitRemoteStore(nested, loc, address, words, barrier);
      for (auto [number, word] : llvm::enumerate(words))
        nvidia::emitRemoteReduction(
            nested, loc,
            LLVM::GEPOp::create(
                nested, loc, address.getType(), nested.getI32Type(), address,
                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)}),
            word, barrier, operation);
    };
    TransferEmitter(nested, loc, indices, plan.transfer, start, storePiece)
        .store(held);
  };
  // If several threads hold an element, the first of them writes it.
  Value isFirst = indices.isFirstReplica(*plan.distribution);
  if (!isFirst)
    return store(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    store(nested);
    scf::YieldOp::create(nested, loc);
  });
}

void block_to_thread::registerPeerMemory(OpLowerings &lowerings) {
  lowerings.add<ClusterRefs, mosaic_gpu::GetClusterRefOp>();
  lowerings.add<PeerStores, mosaic_gpu::AsyncStoreSmemOp>();
}
