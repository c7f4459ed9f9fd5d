//===- ThreadGroupScratch.cpp - Temporary shared memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

/// The largest swizzle period.
static constexpr int64_t kScratchAlignment = 1024;

int64_t block_to_thread::getNumThreadGroups(const ThreadGrid &grid) {
  return llvm::divideCeil(grid.blockThreads, grid.numThreads);
}

LogicalResult block_to_thread::reserveScratch(Operation *op, Planner &planner,
                                              int64_t bytes) {
  KernelPlan &plan = planner.getPlan();
  const targets::Target &target = planner.getVendor().getTarget();
  if (std::optional<std::string> why =
          planner.getVendor().refuseThreadGroupBarrier(plan.grid))
    return op->emitOpError() << "requires a barrier per thread group: " << *why;
  if (!plan.scratch)
    plan.scratch.emplace();
  Scratch &scratch = *plan.scratch;
  bytes = llvm::alignTo(bytes, kScratchAlignment);
  scratch.bytes = std::max(scratch.bytes, bytes);
  int64_t groups = getNumThreadGroups(plan.grid);
  int64_t end = llvm::alignTo(plan.sharedMemoryBytes, kScratchAlignment) +
                groups * scratch.bytes;
  if (end <= target.sharedMemoryPerBlock)
    return success();
  return op->emitOpError() << "moves elements between warps through "
                           << groups * bytes
                           << " bytes of shared memory in addition to the "
                           << plan.sharedMemoryBytes
                           << " bytes of the kernel; a block on " << target.name
                           << " has at most " << target.sharedMemoryPerBlock
                           << " bytes; use smaller tiles or fewer buffers";
}

void block_to_thread::placeScratch(KernelPlan &plan) {
  std::optional<Scratch> &scratch = plan.scratch;
  if (!scratch || scratch->offset)
    return;
  scratch->offset = llvm::alignTo(plan.sharedMemoryBytes, kScratchAlignment);
  plan.sharedMemoryBytes =
      *scratch->offset + getNumThreadGroups(plan.grid) * scratch->bytes;
  plan.sharedMemoryAlignment =
      std::max(plan.sharedMemoryAlignment, kScratchAlignment);
}

SharedAddress block_to_thread::getThreadGroupAddress(Emitter &emitter,
                                                     int64_t offset,
                                                     int64_t bytes) {
  ThreadIndices &indices = emitter.indices;
  OpBuilder &head = indices.getBuilder();
  Location loc = indices.getLoc();
  SharedAddress start;
  start.base = emitter.getSharedBase();
  start.offset = getI32(head, loc, offset);
  start.log2Alignment = log2Divisor(offset);
  const ThreadGrid &grid = indices.getGrid();
  if (getNumThreadGroups(grid) == 1)
    return start;
  Value group = indices.div(indices.getThreadOfBlock(), grid.numThreads);
  Value own = arith::IndexCastOp::create(head, loc, head.getI32Type(),
                                         indices.mul(group, bytes));
  start.offset = arith::AddIOp::create(head, loc, start.offset, own);
  start.log2Alignment = std::min(start.log2Alignment, log2Divisor(bytes));
  return start;
}

SharedAddress block_to_thread::getScratch(Emitter &emitter) {
  const Scratch &scratch = *emitter.plan.scratch;
  return getThreadGroupAddress(emitter, *scratch.offset, scratch.bytes);
}
