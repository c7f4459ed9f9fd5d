//===- TransferMasks.cpp - Masks of transfers -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/TransferMasks.h"
#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/PadLowering/PaddedTransfers.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIMASKTRANSFERS
#define GEN_PASS_DEF_SMALTIMASKTRANSFERS
#include "smalti/passes/PadLowering/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static vector::MaskOp getMaskAround(VectorTransferOpInterface op) {
  return dyn_cast_if_present<vector::MaskOp>(op->getParentOp());
}

bool smalti::isMaskedTransfer(VectorTransferOpInterface op) {
  return op.getMask() || getMaskAround(op);
}

bool smalti::hasPassthru(VectorTransferOpInterface op) {
  vector::MaskOp around = getMaskAround(op);
  return around && around.getPassthru();
}

void smalti::takeOutOfMask(RewriterBase &rewriter,
                           VectorTransferOpInterface op) {
  vector::MaskOp around = getMaskAround(op);
  if (!around)
    return;
  Location loc = op.getLoc();
  rewriter.moveOpBefore(op, around);
  rewriter.setInsertionPoint(op);
  Value mask = around.getMask();
  if (op.getMask())
    mask = arith::AndIOp::create(rewriter, loc, mask, op.getMask());
  rewriter.modifyOpInPlace(op, [&] {
    if (auto read = dyn_cast<vector::TransferReadOp>(*op))
      read.getMaskMutable().assign(mask);
    else
      cast<vector::TransferWriteOp>(*op).getMaskMutable().assign(mask);
  });
  if (around->getNumResults() == 0)
    return rewriter.eraseOp(around);
  // Lanes out of bounds still read the padding value.
  Value result = op->getResult(0);
  rewriter.setInsertionPoint(around);
  if (Value rest = around.getPassthru())
    result =
        arith::SelectOp::create(rewriter, loc, around.getMask(), result, rest);
  rewriter.replaceOp(around, result);
}

LogicalResult smalti::maskLanesBeforeMemRef(Operation *root,
                                            StringRef passName) {
  SmallVector<VectorTransferOpInterface> overhanging;
  root->walk([&](VectorTransferOpInterface op) {
    // Block-level transfers are not yet distributed to lanes.
    if (op.hasOutOfBoundsDim() && isa<MemRefType>(op.getBase().getType()) &&
        !op->hasAttr(mosaic_gpu::kOutLayouts) &&
        !op->hasAttr(mosaic_gpu::kInLayouts))
      overhanging.push_back(op);
  });
  if (overhanging.empty())
    return success();

  IntegerRanges ranges(root);
  std::vector<TransferPlan> plans;
  for (VectorTransferOpInterface op : overhanging) {
    if (!mayStartBeforeMemRef(op, ranges))
      continue;
    TransferPlan plan{};
    plan.op = op;
    if (std::optional<std::string> why = planTransfer(plan, ranges, {}))
      return op->emitError()
             << passName
             << ": the transfer may begin before the memref (at a negative "
                "index) and cannot be masked: "
             << *why;
    plans.push_back(std::move(plan));
  }

  IRRewriter rewriter(root->getContext());
  RawBuffers none;
  for (const TransferPlan &plan : plans) {
    remarkApplied(plan.op, passName) << describeTransfer(plan);
    commitTransfer(rewriter, plan, none);
  }
  return success();
}

namespace {
struct SmaltiMaskTransfers
    : smalti::impl::SmaltiMaskTransfersBase<SmaltiMaskTransfers> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(maskLanesBeforeMemRef(getOperation(), "smalti-mask-transfers")))
      signalPassFailure();
  }
};
} // namespace
