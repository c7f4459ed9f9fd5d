//===- AsyncCopyModels.cpp - Models of asynchronous copies ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

namespace {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// A copy that completes in committed groups.
template <typename OpTy>
struct GroupCopyModel
    : AsyncCopyOpInterface::ExternalModel<GroupCopyModel<OpTy>, OpTy> {
  Value getCopySource(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, mosaic_gpu::AsyncCopyOp>)
      return cast<OpTy>(op).getSource();
    else
      return cast<OpTy>(op).getSrc();
  }
  Value getCopyDestination(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, mosaic_gpu::AsyncCopyOp>)
      return cast<OpTy>(op).getDestination();
    else
      return cast<OpTy>(op).getDst();
  }
  int64_t getBytesOfThread(Operation *op) const {
    // The rest of the destination is filled with zeros.
    if constexpr (std::is_same_v<OpTy, NVVM::CpAsyncOp>)
      return cast<OpTy>(op).getSize();
    else
      return 0;
  }
};

template <typename OpTy>
struct CommitModel
    : AsyncCommitOpInterface::ExternalModel<CommitModel<OpTy>, OpTy> {};

struct DeviceAsyncWaitModel
    : AsyncWaitOpInterface::ExternalModel<DeviceAsyncWaitModel,
                                          nvgpu::DeviceAsyncWaitOp> {
  std::optional<int64_t> getPending(Operation *op,
                                    AsyncCompletion queue) const {
    if (queue != AsyncCompletion::Groups)
      return std::nullopt;
    return cast<nvgpu::DeviceAsyncWaitOp>(op).getNumGroups().value_or(0);
  }
  void setPending(Operation *op, AsyncCompletion, int64_t pending) const {
    cast<nvgpu::DeviceAsyncWaitOp>(op).setNumGroups(pending);
  }
};

struct AsyncWaitGroupModel
    : AsyncWaitOpInterface::ExternalModel<AsyncWaitGroupModel,
                                          mosaic_gpu::AsyncWaitGroupOp> {
  std::optional<int64_t> getPending(Operation *op,
                                    AsyncCompletion queue) const {
    if (queue != AsyncCompletion::Groups)
      return std::nullopt;
    return cast<mosaic_gpu::AsyncWaitGroupOp>(op).getPending();
  }
  void setPending(Operation *op, AsyncCompletion, int64_t pending) const {
    cast<mosaic_gpu::AsyncWaitGroupOp>(op).setPending(pending);
  }
};

struct CpAsyncWaitGroupModel
    : AsyncWaitOpInterface::ExternalModel<CpAsyncWaitGroupModel,
                                          NVVM::CpAsyncWaitGroupOp> {
  std::optional<int64_t> getPending(Operation *op,
                                    AsyncCompletion queue) const {
    if (queue != AsyncCompletion::Groups)
      return std::nullopt;
    return cast<NVVM::CpAsyncWaitGroupOp>(op).getN();
  }
  void setPending(Operation *op, AsyncCompletion, int64_t pending) const {
    cast<NVVM::CpAsyncWaitGroupOp>(op).setN(pending);
  }
};

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// LDS DMA loads share a wait counter with loads to registers. LLVM models
/// their write of LDS and makes every later barrier wait for them.
template <typename OpTy>
struct LoadToLDSModel
    : AsyncCopyOpInterface::ExternalModel<LoadToLDSModel<OpTy>, OpTy> {
  Value getCopySource(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, amdgpu::GatherToLDSOp>)
      return cast<OpTy>(op).getSrc();
    else
      return cast<OpTy>(op).getGlobalPtr();
  }
  Value getCopyDestination(Operation *op) const {
    if constexpr (std::is_same_v<OpTy, amdgpu::GatherToLDSOp>)
      return cast<OpTy>(op).getDst();
    else
      return cast<OpTy>(op).getLdsPtr();
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::LoadCounter;
  }
  bool completesAtBlockBarriers(Operation *) const { return true; }
  Operation *createWait(Operation *, OpBuilder &builder, Location loc,
                        int64_t pending) const {
    return amdgpu::MemoryCounterWaitOp::create(
        builder, loc, builder.getI32IntegerAttr(pending), nullptr, nullptr,
        nullptr, nullptr);
  }
};

template <typename OpTy, int64_t Bytes>
struct LoadAsyncToLDSModel
    : AsyncCopyOpInterface::ExternalModel<LoadAsyncToLDSModel<OpTy, Bytes>,
                                          OpTy> {
  Value getCopySource(Operation *op) const {
    return cast<OpTy>(op).getGlobalPtr();
  }
  Value getCopyDestination(Operation *op) const {
    return cast<OpTy>(op).getLdsPtr();
  }
  int64_t getBytesOfThread(Operation *op) const {
    // The immediate offset applies to both addresses.
    return cast<OpTy>(op).getOffset() == 0 ? Bytes : 0;
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::AsyncCounter;
  }
};

/// The addresses in the descriptor of a tensor copy; null if the descriptor is
/// not created in this function, or if the copy writes more than its
/// destination.
struct TensorAddresses {
  Value global, lds;
};

template <typename DescriptorOp, typename BaseOp>
TensorAddresses getTensorAddresses(Value descriptor) {
  auto make = descriptor.getDefiningOp<DescriptorOp>();
  if (!make || make.getAtomicBarrierAddress() || make.getWorkgroupMask())
    return {};
  auto base = make.getBase().template getDefiningOp<BaseOp>();
  if (!base)
    return {};
  return {base.getGlobal(), base.getLds()};
}

TensorAddresses getTensorAddresses(Value descriptor) {
  TensorAddresses addresses =
      getTensorAddresses<amdgpu::MakeDmaDescriptorOp, amdgpu::MakeDmaBaseOp>(
          descriptor);
  if (addresses.lds)
    return addresses;
  return getTensorAddresses<amdgpu::MakeGatherDmaDescriptorOp,
                            amdgpu::MakeGatherDmaBaseOp>(descriptor);
}

struct TensorLoadToLDSModel
    : AsyncCopyOpInterface::ExternalModel<TensorLoadToLDSModel,
                                          amdgpu::TensorLoadToLDSOp> {
  Value getCopySource(Operation *op) const {
    return getTensorAddresses(cast<amdgpu::TensorLoadToLDSOp>(op).getDesc())
        .global;
  }
  Value getCopyDestination(Operation *op) const {
    return getTensorAddresses(cast<amdgpu::TensorLoadToLDSOp>(op).getDesc())
        .lds;
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::TensorCounter;
  }
};

template <typename OpTy>
struct DescriptorModel
    : MemoryDescriptorOpInterface::ExternalModel<DescriptorModel<OpTy>, OpTy> {
};

struct MemoryCounterWaitModel
    : AsyncWaitOpInterface::ExternalModel<MemoryCounterWaitModel,
                                          amdgpu::MemoryCounterWaitOp> {
  std::optional<int64_t> getPending(Operation *op,
                                    AsyncCompletion queue) const {
    auto wait = cast<amdgpu::MemoryCounterWaitOp>(op);
    std::optional<uint32_t> pending;
    if (queue == AsyncCompletion::LoadCounter)
      pending = wait.getLoad();
    else if (queue == AsyncCompletion::TensorCounter)
      pending = wait.getTensor();
    if (!pending)
      return std::nullopt;
    return *pending;
  }
  void setPending(Operation *op, AsyncCompletion queue, int64_t pending) const {
    // The lowering clamps to the range of the chip's counters.
    auto wait = cast<amdgpu::MemoryCounterWaitOp>(op);
    if (queue == AsyncCompletion::LoadCounter)
      wait.setLoad(pending);
    else
      wait.setTensor(pending);
  }
};

/// The counters of gfx12 have 6 bits.
constexpr int64_t kMaxCounted = 63;

template <typename OpTy, AsyncCompletion Queue>
struct CounterWaitModel
    : AsyncWaitOpInterface::ExternalModel<CounterWaitModel<OpTy, Queue>, OpTy> {
  std::optional<int64_t> getPending(Operation *op,
                                    AsyncCompletion queue) const {
    if (queue != Queue)
      return std::nullopt;
    return cast<OpTy>(op).getCount();
  }
  void setPending(Operation *op, AsyncCompletion, int64_t pending) const {
    cast<OpTy>(op).setCount(std::min(pending, kMaxCounted));
  }
};

/// s_waitcnt of gfx9 and gfx10, which have LDS DMA: vmcnt is in bits 0 to 3, 14
/// and
/// 15. All ones do not wait.
struct WaitcntModel
    : AsyncWaitOpInterface::ExternalModel<WaitcntModel, ROCDL::SWaitcntOp> {
  std::optional<int64_t> getPending(Operation *op,
                                    AsyncCompletion queue) const {
    if (queue != AsyncCompletion::LoadCounter)
      return std::nullopt;
    uint32_t bits = cast<ROCDL::SWaitcntOp>(op).getBitfield();
    int64_t pending = (bits & 0xf) | ((bits >> 14 & 3) << 4);
    if (pending == kMaxCounted)
      return std::nullopt;
    return pending;
  }
  void setPending(Operation *op, AsyncCompletion, int64_t pending) const {
    auto wait = cast<ROCDL::SWaitcntOp>(op);
    uint32_t count = std::min(pending, kMaxCounted);
    wait.setBitfield((wait.getBitfield() & ~0xc00fu) | (count & 0xf) |
                     (count >> 4 << 14));
  }
};

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

struct TmaLoadModel
    : AsyncCopyOpInterface::ExternalModel<TmaLoadModel, nvgpu::TmaAsyncLoadOp> {
  Value getCopySource(Operation *op) const {
    // The source is known only if the descriptor is created in this function.
    Value descriptor = cast<nvgpu::TmaAsyncLoadOp>(op).getTensorMapDescriptor();
    if (auto create = descriptor.getDefiningOp<nvgpu::TmaCreateDescriptorOp>())
      return create.getTensor();
    return descriptor;
  }
  Value getCopyDestination(Operation *op) const {
    // A multicast also writes the shared memory of other blocks.
    auto load = cast<nvgpu::TmaAsyncLoadOp>(op);
    return load.getMulticastMask() ? Value() : load.getDst();
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::BarrierObject;
  }
};

/// The number of bytes from the address to the end of its buffer, if the
/// address is at a constant offset.
std::optional<int64_t> getRemainingBytes(Value address) {
  int64_t offset = 0;
  for (Operation *op; !isa<MemRefType>(address.getType());
       address = op->getOperand(0)) {
    op = address.getDefiningOp();
    if (isa_and_nonnull<LLVM::AddrSpaceCastOp, LLVM::IntToPtrOp,
                        LLVM::PtrToIntOp, arith::IndexCastOp,
                        arith::IndexCastUIOp,
                        memref::ExtractAlignedPointerAsIndexOp>(op))
      continue;
    auto step = dyn_cast_or_null<LLVM::GEPOp>(op);
    if (!step || !step.getElemType().isInteger(8) ||
        !step.getDynamicIndices().empty() ||
        step.getRawConstantIndices().size() != 1 ||
        step.getRawConstantIndices().front() < 0)
      return std::nullopt;
    offset += step.getRawConstantIndices().front();
  }
  // These views do not change the address.
  auto type = dyn_cast<MemRefType>(getRootBuffer(address).getType());
  std::optional<int64_t> bytes = type ? getBufferBytes(type) : std::nullopt;
  return bytes ? std::optional(*bytes - offset) : std::nullopt;
}

/// The number of bytes that a copy with an unknown descriptor writes. A phase
/// completes when the bytes that its arrivals expect have arrived, so a single
/// copy writes exactly those. Several copies cannot write more than their
/// buffers hold: if the buffers have as many bytes as expected, each copy fills
/// its own.
int64_t getExpectedBytes(Operation *copy) {
  constexpr unsigned mostUsers = 64;
  auto object = cast<BarrierObjectOpInterface>(copy);
  Value barrier = object.getBarrierMutable().get();
  // Executed equally often as the copy, on the same mbarrier.
  auto isWithCopy = [&](BarrierObjectOpInterface other) {
    return other.getBarrierMutable().get() == barrier &&
           other->getBlock() == copy->getBlock() &&
           other.getPredicate() == object.getPredicate();
  };
  NVVM::MBarrierArriveExpectTxOp announce;
  SmallVector<Operation *, 4> copies;
  SmallVector<Value> values = {getRootBuffer(barrier)};
  llvm::SmallDenseSet<Operation *, 16> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      auto other = dyn_cast<BarrierObjectOpInterface>(user);
      if (seen.size() > mostUsers)
        return 0;
      if (!other) {
        // Other users of the address may also expect bytes.
        if (isa<CallOpInterface>(user) ||
            (user->getNumResults() == 0 &&
             !hasEffect<MemoryEffects::Free>(user)))
          return 0;
        llvm::append_range(values, user->getResults());
        continue;
      }
      if (llvm::is_contained(
              {BarrierAction::Init, BarrierAction::Wait, BarrierAction::Poll},
              other.getBarrierAction()) ||
          isa<NVVM::MBarrierArriveOp, NVVM::MBarrierArriveNocompleteOp>(user))
        continue;
      if (!isWithCopy(other))
        return 0;
      if (isa<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(user)) {
        copies.push_back(user);
        continue;
      }
      if (announce || !isa<NVVM::MBarrierArriveExpectTxOp>(user))
        return 0;
      announce = cast<NVVM::MBarrierArriveExpectTxOp>(user);
    }
  std::optional<int64_t> all =
      announce ? getConstantIntValue(announce.getTxcount()) : std::nullopt;
  if (!all || llvm::any_of(copies, [&](Operation *other) {
        return other->isBeforeInBlock(announce);
      }))
    return 0;
  if (copies.size() == 1)
    return *all;
  int64_t own = 0, sum = 0;
  for (Operation *other : copies) {
    auto writer = cast<AsyncCopyOpInterface>(other);
    Value destination = writer.getCopyDestination();
    std::optional<int64_t> bytes =
        destination ? getRemainingBytes(destination) : std::nullopt;
    if (!bytes || llvm::AddOverflow(sum, *bytes, sum))
      return 0;
    if (other == copy)
      own = *bytes;
  }
  return sum == *all ? own : 0;
}

struct BulkTensorCopyModel
    : AsyncCopyOpInterface::ExternalModel<
          BulkTensorCopyModel, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp> {
  Value getCopySource(Operation *op) const {
    return cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op)
        .getTmaDescriptor();
  }
  Value getCopyDestination(Operation *op) const {
    // Block pairs may signal each other's mbarriers.
    auto copy = cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
    return copy.getMulticastMask() || copy.getGroup() ? Value()
                                                      : copy.getDstMem();
  }
  int64_t getBytesOfThread(Operation *op) const {
    if (Attribute known = op->getAttr(kCopiedBytesAttr))
      return std::max<int64_t>(getInteger(known).value_or(0), 0);
    return getExpectedBytes(op);
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::BarrierObject;
  }
};

struct BulkCopyModel
    : AsyncCopyOpInterface::ExternalModel<
          BulkCopyModel, NVVM::CpAsyncBulkGlobalToSharedClusterOp> {
  Value getCopySource(Operation *op) const {
    return cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(op).getSrcMem();
  }
  Value getCopyDestination(Operation *op) const {
    auto copy = cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(op);
    return copy.getMulticastMask() ? Value() : copy.getDstMem();
  }
  int64_t getBytesOfThread(Operation *op) const {
    auto copy = cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(op);
    return getConstantIntValue(copy.getSize()).value_or(0);
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::BarrierObject;
  }
};

struct AsyncLoadModel
    : AsyncCopyOpInterface::ExternalModel<AsyncLoadModel,
                                          mosaic_gpu::AsyncLoadOp> {
  Value getCopySource(Operation *op) const {
    // The source is memory of a peer device.
    auto load = cast<mosaic_gpu::AsyncLoadOp>(op);
    return load.getGmemPeerId() ? Value() : load.getSource();
  }
  Value getCopyDestination(Operation *op) const {
    // Blocks that share a copy write each other's memory or wait on another
    // block's mbarrier.
    auto load = cast<mosaic_gpu::AsyncLoadOp>(op);
    bool isShared =
        !load.getCollective().empty() || load.getLeaderTrackedAttr();
    return isShared ? Value() : load.getDestination();
  }
  AsyncCompletion getCompletion(Operation *) const {
    return AsyncCompletion::BarrierObject;
  }
};

} // namespace

void smalti::registerAsyncCopyModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nvgpu::NVGPUDialect *) {
    nvgpu::DeviceAsyncCopyOp::attachInterface<
        GroupCopyModel<nvgpu::DeviceAsyncCopyOp>>(*context);
    nvgpu::DeviceAsyncCreateGroupOp::attachInterface<
        CommitModel<nvgpu::DeviceAsyncCreateGroupOp>>(*context);
    nvgpu::DeviceAsyncWaitOp::attachInterface<DeviceAsyncWaitModel>(*context);
    nvgpu::TmaAsyncLoadOp::attachInterface<TmaLoadModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *) {
    NVVM::CpAsyncOp::attachInterface<GroupCopyModel<NVVM::CpAsyncOp>>(*context);
    NVVM::CpAsyncCommitGroupOp::attachInterface<
        CommitModel<NVVM::CpAsyncCommitGroupOp>>(*context);
    NVVM::CpAsyncWaitGroupOp::attachInterface<CpAsyncWaitGroupModel>(*context);
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::attachInterface<BulkCopyModel>(
        *context);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::attachInterface<
        BulkTensorCopyModel>(*context);
  });
  registry.addExtension(
      +[](MLIRContext *context, mosaic_gpu::MosaicGPUDialect *) {
        mosaic_gpu::AsyncCopyOp::attachInterface<
            GroupCopyModel<mosaic_gpu::AsyncCopyOp>>(*context);
        mosaic_gpu::AsyncCommitGroupOp::attachInterface<
            CommitModel<mosaic_gpu::AsyncCommitGroupOp>>(*context);
        mosaic_gpu::AsyncWaitGroupOp::attachInterface<AsyncWaitGroupModel>(
            *context);
        mosaic_gpu::AsyncLoadOp::attachInterface<AsyncLoadModel>(*context);
      });
  registry.addExtension(+[](MLIRContext *context, amdgpu::AMDGPUDialect *) {
    amdgpu::GatherToLDSOp::attachInterface<
        LoadToLDSModel<amdgpu::GatherToLDSOp>>(*context);
    amdgpu::TensorLoadToLDSOp::attachInterface<TensorLoadToLDSModel>(*context);
    amdgpu::MakeDmaBaseOp::attachInterface<
        DescriptorModel<amdgpu::MakeDmaBaseOp>>(*context);
    amdgpu::MakeGatherDmaBaseOp::attachInterface<
        DescriptorModel<amdgpu::MakeGatherDmaBaseOp>>(*context);
    amdgpu::MakeDmaDescriptorOp::attachInterface<
        DescriptorModel<amdgpu::MakeDmaDescriptorOp>>(*context);
    amdgpu::MakeGatherDmaDescriptorOp::attachInterface<
        DescriptorModel<amdgpu::MakeGatherDmaDescriptorOp>>(*context);
    amdgpu::MemoryCounterWaitOp::attachInterface<MemoryCounterWaitModel>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, ROCDL::ROCDLDialect *) {
    ROCDL::LoadToLDSOp::attachInterface<LoadToLDSModel<ROCDL::LoadToLDSOp>>(
        *context);
    ROCDL::GlobalLoadLDSOp::attachInterface<
        LoadToLDSModel<ROCDL::GlobalLoadLDSOp>>(*context);
    ROCDL::GlobalLoadAsyncToLDSB8Op::attachInterface<
        LoadAsyncToLDSModel<ROCDL::GlobalLoadAsyncToLDSB8Op, 1>>(*context);
    ROCDL::GlobalLoadAsyncToLDSB32Op::attachInterface<
        LoadAsyncToLDSModel<ROCDL::GlobalLoadAsyncToLDSB32Op, 4>>(*context);
    ROCDL::GlobalLoadAsyncToLDSB64Op::attachInterface<
        LoadAsyncToLDSModel<ROCDL::GlobalLoadAsyncToLDSB64Op, 8>>(*context);
    ROCDL::GlobalLoadAsyncToLDSB128Op::attachInterface<
        LoadAsyncToLDSModel<ROCDL::GlobalLoadAsyncToLDSB128Op, 16>>(*context);
    ROCDL::SWaitcntOp::attachInterface<WaitcntModel>(*context);
    ROCDL::WaitLoadcntOp::attachInterface<
        CounterWaitModel<ROCDL::WaitLoadcntOp, AsyncCompletion::LoadCounter>>(
        *context);
    ROCDL::WaitAsynccntOp::attachInterface<
        CounterWaitModel<ROCDL::WaitAsynccntOp, AsyncCompletion::AsyncCounter>>(
        *context);
    ROCDL::WaitTensorcntOp::attachInterface<CounterWaitModel<
        ROCDL::WaitTensorcntOp, AsyncCompletion::TensorCounter>>(*context);
  });
}
