//===- OverlapLDSDMA.cpp - smalti-overlap-lds-dma -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/SharedMemory/LDSDMAOrder.h"
#include "smalti/passes/Support/LDSFence.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIOVERLAPLDSDMA
#define GEN_PASS_DEF_SMALTIOVERLAPLDSDMA
#include "smalti/passes/SharedMemory/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-overlap-lds-dma";

namespace {

struct SmaltiOverlapLdsDma
    : smalti::impl::SmaltiOverlapLdsDmaBase<SmaltiOverlapLdsDma> {
  using SmaltiOverlapLdsDmaBase::SmaltiOverlapLdsDmaBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiOverlapLdsDmaBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }
  void runOnOperation() override;
};

} // namespace

void SmaltiOverlapLdsDma::runOnOperation() {
  Operation *function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  if (*chip && (*chip)->asyncCopy != targets::AsyncCopyKind::LDSLoad)
    return markAllAnalysesPreserved();

  LDSDMAOrder order(function);
  if (order.isFenced() || order.countCopies() == 0)
    return;
  std::optional<std::string> reason = order.analyze();
  if (reason) {
    if (failed(reportMissed(function, kPassName, strict,
                            "LDS DMA loads not overlapped: " + *reason)))
      signalPassFailure();
    return;
  }

  for (Operation *wait : order.getWaits()) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(wait);
    createLDSFence(builder, wait->getLoc(), /*isOrdered=*/false);
  }
  unsigned replaced = 0;
  for (const LDSDMAOrder::Barrier &barrier : order.getBarriers()) {
    OpBuilder builder(barrier.op);
    if (!barrier.isKept) {
      createLDSBarrier(builder, barrier.op->getLoc(), barrier.isOrdered);
      barrier.op->erase();
      ++replaced;
      continue;
    }
    builder.setInsertionPointAfter(barrier.op);
    createLDSFence(builder, barrier.op->getLoc(), barrier.isOrdered);
  }
  RemarkBuilder remark = remarkApplied(function, kPassName);
  remark << replaced << " of " << order.getBarriers().size()
         << " barriers no longer wait for outstanding LDS DMA loads";
  if (replaced < order.getBarriers().size())
    remark << "; the others do: " << order.getFirstNote();
}
