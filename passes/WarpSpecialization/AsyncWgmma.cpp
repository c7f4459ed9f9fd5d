//===- AsyncWgmma.cpp - smalti-async-wgmma --------------------------------===//

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

/// Products that share a fence, a group and a wait.
using Group = SmallVector<WGMMAOp>;

struct SmaltiAsyncWgmma
    : smalti::impl::SmaltiAsyncWgmmaBase<SmaltiAsyncWgmma> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Whether the value is in its registers ahead of the op, where the fence
/// comes.
static bool isThereBefore(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  return !def || def->getBlock() != op->getBlock() ||
         def->isBeforeInBlock(op) || matchPattern(def, m_Constant());
}

/// Adds the groups of a block, in order.
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
    auto product = dyn_cast<WGMMAOp>(op);
    if (product && isSynchronousWgmma(product)) {
      // Sums of one group are added up in order; factors must be there, and
      // all that is in registers ahead of the fence.
      Value a = product.getA(), sum = product.getAccumulator();
      if (!group.empty() &&
          (usesGroup(a) || !isThereBefore(a, group.front()) ||
           (!usesGroup(sum) && !isThereBefore(sum, group.front()))))
        close();
      group.push_back(product);
      inGroup.insert(product);
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
  for (WGMMAOp product : group)
    product->removeAttr(kSynchronousWgmma);
}

/// Whether `smalti.synchronous` has no value wherever a product has it: a
/// `false` would count as the attribute.
static LogicalResult checkMarks(Operation *function) {
  WalkResult result = function->walk([](WGMMAOp product) {
    Attribute mark = product->getAttr(kSynchronousWgmma);
    if (!mark || isa<UnitAttr>(mark))
      return WalkResult::advance();
    product.emitOpError() << "has '" << kSynchronousWgmma << "' = " << mark
                          << ", which is not a unit attribute";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void SmaltiAsyncWgmma::runOnOperation() {
  if (failed(checkMarks(getOperation())))
    return signalPassFailure();
  SmallVector<Group> groups;
  getOperation()->walk([&](Block *block) { findGroups(*block, groups); });
  if (groups.empty())
    return markAllAnalysesPreserved();
  size_t products = 0;
  for (const Group &group : groups) {
    commit(group);
    products += group.size();
  }
  remarkApplied(getOperation(), kPassName)
      << products << (products == 1 ? " product" : " products") << " in "
      << groups.size() << (groups.size() == 1 ? " group" : " groups");
}
