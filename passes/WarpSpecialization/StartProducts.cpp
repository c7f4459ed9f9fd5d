//===- StartProducts.cpp - smalti-start-products --------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Support/Remarks.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTISTARTPRODUCTS
#define GEN_PASS_DEF_SMALTISTARTPRODUCTS
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using mosaic_gpu::WGMMAOp;

static constexpr llvm::StringLiteral kPassName = "smalti-start-products";

namespace {

/// Products that share a fence, a group and a wait.
using Group = SmallVector<WGMMAOp>;

struct SmaltiStartProducts
    : smalti::impl::SmaltiStartProductsBase<SmaltiStartProducts> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Adds the groups of a block, in order.
static void findGroups(Block &block, SmallVectorImpl<Group> &groups) {
  Group group;
  auto usesGroup = [&](Value value) {
    auto product = value.getDefiningOp<WGMMAOp>();
    return product && llvm::is_contained(group, product);
  };
  auto close = [&] {
    if (!group.empty())
      groups.push_back(std::move(group));
    group.clear();
  };
  for (Operation &op : block) {
    auto product = dyn_cast<WGMMAOp>(op);
    if (product && product.getSynchronous()) {
      // Sums of one group are added up in order; factors must be there.
      if (usesGroup(product.getA()))
        close();
      group.push_back(product);
      continue;
    }
    if (op.getNumRegions() != 0 || op.hasTrait<OpTrait::IsTerminator>() ||
        !isMemoryEffectFree(&op) || llvm::any_of(op.getOperands(), usesGroup))
      close();
  }
  close();
}

/// Has everything but products, and loops that hand the sum on to them, take
/// `sum` behind the wait.
static void protectUses(OpBuilder &builder, Value sum, Attribute layouts) {
  SmallVector<OpOperand *> others;
  SmallVector<Value> results;
  for (OpOperand &use : sum.getUses()) {
    if (auto product = dyn_cast<WGMMAOp>(use.getOwner());
        product && use.get() == product.getAccumulator() &&
        product.getA() != sum)
      continue;
    auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
    if (loop && isa<scf::YieldOp>(use.getOwner()))
      results.push_back(loop.getResult(use.getOperandNumber()));
    else
      others.push_back(&use);
  }
  if (!others.empty()) {
    auto barrier = mosaic_gpu::OptimizationBarrierOp::create(
        builder, sum.getLoc(), sum.getType(), sum);
    if (layouts) {
      barrier->setAttr(mosaic_gpu::kInLayouts, layouts);
      barrier->setAttr(mosaic_gpu::kOutLayouts, layouts);
    }
    for (OpOperand *use : others)
      use->set(barrier->getResult(0));
  }
  for (Value result : results) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(result);
    protectUses(builder, result, layouts);
  }
}

static void commit(const Group &group) {
  OpBuilder builder(group.front());
  Location loc = group.front().getLoc();
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  builder.setInsertionPointAfter(group.back());
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  for (WGMMAOp product : group) {
    product.setSynchronous(false);
    protectUses(builder, product.getResult(),
                product->getAttr(mosaic_gpu::kOutLayouts));
  }
}

void SmaltiStartProducts::runOnOperation() {
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
