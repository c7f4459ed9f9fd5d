//===- BlockToThread.cpp - Conversion to thread level ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/BlockToThread.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterOrder.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

static void emitKernel(KernelPlan &plan, const VendorLowering &vendor,
                       const OpLowerings &lowerings) {
  gpu::GPUFuncOp func = plan.func;
  OpBuilder builder(func);
  auto newFunc = cast<gpu::GPUFuncOp>(builder.cloneWithoutRegions(*func));
  Block *body = builder.createBlock(&newFunc.getBody());
  for (BlockArgument argument : func.getBody().getArguments())
    body->addArgument(argument.getType(), argument.getLoc());
  addTensorMaps(newFunc, plan.tensorMaps);

  Emitter emitter(plan, vendor, lowerings, newFunc, body);
  OpBuilder bodyBuilder = OpBuilder::atBlockEnd(body);
  emitter.emitBlock(func.getBody().front(), bodyBuilder);
  emitter.finish();
  orderForRegisters(
      newFunc, vendor.getTarget().registersPerThread,
      [&](OpBuilder &holdBuilder, Value value) {
        return vendor.emitOpaque(holdBuilder, value.getLoc(), value).front();
      });

  // Vector accesses rely on this alignment, and the launcher checks it.
  StringRef align = LLVM::LLVMDialect::getAlignAttrName();
  for (auto [index, type] : llvm::enumerate(newFunc.getArgumentTypes()))
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && !newFunc.getArgAttr(index, align))
      newFunc.setArgAttr(
          index, align, builder.getI64IntegerAttr(getDefaultAlignment(memref)));
  if (plan.sharedMemoryBytes > 0)
    newFunc->setAttr(kSharedMemoryBytesAttr,
                     builder.getI64IntegerAttr(plan.sharedMemoryBytes));
  if (plan.sharedMemoryAlignment > kSharedMemoryAlignment)
    newFunc->setAttr(kSharedMemoryAlignmentAttr,
                     builder.getI64IntegerAttr(plan.sharedMemoryAlignment));
  func.erase();
}

/// Assigns shared-memory offsets to the buffers of a thread-level kernel.
static void emitSharedBuffers(KernelPlan &plan, const VendorLowering &vendor) {
  gpu::GPUFuncOp func = plan.func;
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  Value memory = vendor.emitSharedMemory(builder, func, plan.sharedMemoryBytes,
                                         plan.sharedMemoryAlignment);
  func.walk([&](mosaic_gpu::SliceSMEMOp slice) {
    builder.setInsertionPoint(slice);
    Location loc = slice.getLoc();
    Value offset =
        arith::ConstantIndexOp::create(builder, loc, slice.getOffset());
    auto type = cast<MemRefType>(slice.getType());
    Attribute space = cast<MemRefType>(memory.getType()).getMemorySpace();
    MemRefType viewed = MemRefType::Builder(type).setMemorySpace(space);
    Value view = memref::ViewOp::create(builder, loc, viewed, memory, offset,
                                        ValueRange());
    // Two names of the same address space.
    if (space != type.getMemorySpace())
      view = memref::MemorySpaceCastOp::create(builder, loc, type, view);
    slice.getResult().replaceAllUsesWith(view);
    slice.erase();
  });
  func->setAttr(kSharedMemoryBytesAttr,
                builder.getI64IntegerAttr(plan.sharedMemoryBytes));
}

/// The number of threads of a thread group, if the kernel declares it.
static int64_t getThreads(gpu::GPUFuncOp func) {
  if (auto threads =
          func->getAttrOfType<IntegerAttr>(mosaic_gpu::kThreadGroupSize))
    return std::max<int64_t>(threads.getInt(), 1);
  std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
  return size && !size->empty() ? std::max(size->front(), 1) : 1;
}

LogicalResult block_to_thread::convertKernels(Operation *root,
                                              const VendorLowering &vendor,
                                              const OpLowerings &lowerings) {
  SmallVector<KernelPlan, 1> plans;
  bool isFailed = false;
  root->walk([&](gpu::GPUFuncOp func) {
    Level level = getLevel(func);
    if (failed(verifyKernelAttributes(func)) ||
        failed(checkVectors(func, vendor.getTarget(),
                            level == Level::Block ? getThreads(func) : 1,
                            func->hasAttr(mosaic_gpu::kThreadGroupSize)))) {
      isFailed = true;
      return;
    }
    if (level == Level::Lowered)
      return;
    if (std::optional<KernelPlan> plan =
            Planner(func, vendor, lowerings).run(level))
      plans.push_back(std::move(*plan));
    else
      isFailed = true;
  });
  if (isFailed)
    return failure();
  for (KernelPlan &plan : plans) {
    if (plan.level == Level::Thread)
      emitSharedBuffers(plan, vendor);
    else
      emitKernel(plan, vendor, lowerings);
  }
  addTensorMapsToLaunches(root);
  return success();
}
