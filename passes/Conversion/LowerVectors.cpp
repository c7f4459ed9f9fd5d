//===- LowerVectors.cpp - Vector ops without a direct lowering to LLVM ----===//

#include "passes/PadLowering/TransferMasks.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERVECTORS
#define GEN_PASS_DEF_SMALTILOWERVECTORS
#include "passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

/// Upstream's lowering of `vector.mask` has none for lanes of another vector.
static void lowerPassthrus(Operation *root) {
  SmallVector<VectorTransferOpInterface> transfers;
  root->walk([&](VectorTransferOpInterface op) {
    if (hasPassthru(op) && op.getPermutationMap().isMinorIdentity())
      transfers.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (VectorTransferOpInterface op : transfers)
    takeOutOfMask(rewriter, op);
}

namespace {
/// A broadcast that repeats nothing, which upstream's lowering makes on its way
/// and leaves to folding. Unfolded, it would take its first element for all.
struct IdentityBroadcast : OpRewritePattern<vector::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSourceType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getSource());
    return success();
  }
};

struct SmaltiLowerVectors
    : smalti::impl::SmaltiLowerVectorsBase<SmaltiLowerVectors> {
  using Base::Base;

  void runOnOperation() override {
    // The patterns look at the end of the memory alone.
    if (failed(maskTransferBegins(getOperation(), "smalti-lower-vectors")))
      return signalPassFailure();
    lowerPassthrus(getOperation());
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorMaskMaterializationPatterns(
        patterns, /*force32BitVectorIndices=*/false);
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    patterns.add<IdentityBroadcast>(&getContext(), PatternBenefit(2));
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(
        patterns, vector::VectorContractLowering::OuterProduct);
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    // Shape casts become slices of rows.
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorTransposeLoweringPatterns(
        patterns, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    // Only what has no lowering changes: the rest is LLVM's to simplify.
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
