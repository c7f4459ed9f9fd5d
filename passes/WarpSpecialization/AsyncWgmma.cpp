//===- AsyncWgmma.cpp - smalti-async-wgmma --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Interfaces/SynchronousWgmma.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseSet.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIASYNCWGMMA
#define GEN_PASS_DEF_SMALTIASYNCWGMMA
#include "smalti/passes/WarpSpecialization/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using mosaic_gpu::WGMMAOp;

static constexpr llvm::StringLiteral kPassName = "smalti-async-wgmma";

namespace {

/// wgmma ops that share a fence, a commit and a wait.
using Group = SmallVector<WGMMAOp>;

struct SmaltiAsyncWgmma : smalti::impl::SmaltiAsyncWgmmaBase<SmaltiAsyncWgmma> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Whether the value is available before the op, where the fence is inserted.
static bool isAvailableBefore(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  return !def || def->getBlock() != op->getBlock() ||
         def->isBeforeInBlock(op) || matchPattern(def, m_Constant());
}

/// Collects the groups of an MLIR block, in program order.
static void findGroups(Block &block, SmallVectorImpl<Group> &groups) {
  Group group;
  llvm::DenseSet<Operation *> inGroup;
  auto usesGroup = [&](Value value) {
    return inGroup.contains(value.getDefiningOp());
  };
  auto close = [&] {
    if (!group.empty())
      groups.push_back(std::move(group));
    group.clear();
    inGroup.clear();
  };
  for (Operation &op : block) {
    auto wgmma = dyn_cast<WGMMAOp>(op);
    if (wgmma && isSynchronousWgmma(wgmma)) {
      // wgmma ops of one group update an accumulator in program order. All
      // other register operands must be available before the fence.
      Value a = wgmma.getA(), accumulator = wgmma.getAccumulator();
      if (!group.empty() &&
          (usesGroup(a) || !isAvailableBefore(a, group.front()) ||
           (!usesGroup(accumulator) &&
            !isAvailableBefore(accumulator, group.front()))))
        close();
      group.push_back(wgmma);
      inGroup.insert(wgmma);
      continue;
    }
    if (op.getNumRegions() != 0 || op.hasTrait<OpTrait::IsTerminator>() ||
        !isMemoryEffectFree(&op) || llvm::any_of(op.getOperands(), usesGroup))
      close();
  }
  close();
}

static void commit(const Group &group) {
  OpBuilder builder(group.front());
  Location loc = group.front()->getLoc();
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  builder.setInsertionPointAfter(group.back());
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  for (WGMMAOp wgmma : group)
    wgmma->removeAttr(kSynchronousWgmma);
}

/// Checks that every `smalti.synchronous` is a unit attribute, since `false`
/// would count as set.
static LogicalResult checkSynchronousAttributes(Operation *function) {
  WalkResult result = function->walk([](WGMMAOp wgmma) {
    Attribute mark = wgmma->getAttr(kSynchronousWgmma);
    if (!mark || isa<UnitAttr>(mark))
      return WalkResult::advance();
    wgmma.emitOpError() << "has '" << kSynchronousWgmma << "' = " << mark
                        << "; a unit attribute, without a value, is required";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void SmaltiAsyncWgmma::runOnOperation() {
  if (failed(checkSynchronousAttributes(getOperation())))
    return signalPassFailure();
  SmallVector<Group> groups;
  getOperation()->walk([&](Block *block) { findGroups(*block, groups); });
  if (groups.empty())
    return markAllAnalysesPreserved();
  size_t numWgmma = 0;
  for (const Group &group : groups) {
    commit(group);
    numWgmma += group.size();
  }
  remarkApplied(getOperation(), kPassName)
      << numWgmma << " synchronous mosaic_gpu.wgmma lowered to "
      << groups.size()
      << (groups.size() == 1 ? " group of asynchronous wgmma"
                             : " groups of asynchronous wgmma");
}
