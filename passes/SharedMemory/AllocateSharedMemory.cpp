//===- AllocateSharedMemory.cpp - smalti-allocate-shared-memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIALLOCATESHAREDMEMORY
#define GEN_PASS_DEF_SMALTIALLOCATESHAREDMEMORY
#include "smalti/passes/SharedMemory/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName =
    "smalti-allocate-shared-memory";

namespace {

struct Buffer {
  memref::AllocOp alloc;
  int64_t offset = 0;
};

struct AllocationPlan {
  SmallVector<Buffer> buffers;
  SmallVector<Operation *> deallocs;
  int64_t totalBytes = 0;
  int64_t alignment = kSharedMemoryAlignment;
};

struct SmaltiAllocateSharedMemory
    : smalti::impl::SmaltiAllocateSharedMemoryBase<SmaltiAllocateSharedMemory> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface func = getOperation();
    if (func.isExternal())
      return;
    const targets::Target *chip = getTarget(func, target);
    if (!chip)
      return signalPassFailure();
    FailureOr<AllocationPlan> plan = makePlan(func, *chip);
    if (failed(plan))
      return signalPassFailure();
    commit(func, *plan);
    remarkApplied(func, kPassName)
        << "shared memory allocated: " << plan->totalBytes << " of "
        << chip->sharedMemoryPerBlock << " B in " << plan->buffers.size()
        << (plan->buffers.size() == 1 ? " buffer" : " buffers");
  }

  static FailureOr<AllocationPlan> makePlan(FunctionOpInterface func,
                                            const targets::Target &chip);
  static void commit(FunctionOpInterface func, const AllocationPlan &plan);
};

} // namespace

FailureOr<AllocationPlan>
SmaltiAllocateSharedMemory::makePlan(FunctionOpInterface func,
                                     const targets::Target &chip) {
  AllocationPlan plan;
  // Existing slices keep their offset.
  WalkResult slices = func->walk([&](mosaic_gpu::SliceSMEMOp slice) {
    auto type = cast<MemRefType>(slice.getType());
    if (getBufferBytes(type))
      return WalkResult::advance();
    slice.emitOpError() << "has type " << type
                        << ", whose size in bytes cannot be determined "
                           "statically; a static shape is required";
    return WalkResult::interrupt();
  });
  if (slices.wasInterrupted())
    return failure();

  WalkResult result =
      func->walk([&](memref::AllocOp alloc) {
        MemRefType type = alloc.getType();
        if (getMemorySpace(alloc) != MemorySpace::Shared)
          return WalkResult::advance();
        if (!getBufferBytes(type)) {
          alloc.emitOpError()
              << "has type " << type
              << "; a buffer in shared memory must have a static shape, the "
                 "identity layout and elements of known size";
          return WalkResult::interrupt();
        }
        if (alloc->getParentOfType<LoopLikeOpInterface>()) {
          alloc.emitOpError(
              "allocates shared memory inside a loop, and all iterations would "
              "use the same bytes; move it out of the loop");
          return WalkResult::interrupt();
        }
        for (Operation *user : alloc->getUsers())
          if (isa<memref::DeallocOp>(user))
            plan.deallocs.push_back(user);
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    return failure();

  SharedMemory memory = placeSharedMemory(func);
  if (failed(checkSharedMemory(func, memory, chip)))
    return failure();
  plan.totalBytes = memory.placedBytes;
  plan.alignment = memory.alignment;
  for (const SharedBuffer &buffer : memory.buffers)
    if (auto alloc = buffer.value.getDefiningOp<memref::AllocOp>())
      plan.buffers.push_back({alloc, buffer.offset});
  return plan;
}

void SmaltiAllocateSharedMemory::commit(FunctionOpInterface func,
                                        const AllocationPlan &plan) {
  OpBuilder builder(func);
  for (Operation *dealloc : plan.deallocs)
    dealloc->erase();
  for (Buffer buffer : plan.buffers) {
    builder.setInsertionPoint(buffer.alloc);
    auto slice = mosaic_gpu::SliceSMEMOp::create(
        builder, buffer.alloc.getLoc(), buffer.alloc.getType(),
        builder.getI32IntegerAttr(buffer.offset), /*alias_id=*/IntegerAttr());
    // Keeps the declared transforms.
    if (Attribute transforms =
            buffer.alloc->getAttr(mosaic_gpu::kOutTransforms))
      slice->setAttr(mosaic_gpu::kOutTransforms, transforms);
    buffer.alloc.getResult().replaceAllUsesWith(slice.getResult());
    buffer.alloc.erase();
  }
  func->setAttr(kSharedMemoryBytesAttr,
                builder.getI64IntegerAttr(plan.totalBytes));
  if (plan.alignment > kSharedMemoryAlignment)
    func->setAttr(kSharedMemoryAlignmentAttr,
                  builder.getI64IntegerAttr(plan.alignment));
}
