//===- ConvolutionLoops.cpp - Loops of a convolution ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/ConvolutionLoops.h"

using namespace mlir;
using namespace smalti;

std::optional<ConvolutionLoops>
smalti::findConvolutionLoops(linalg::LinalgOp op, std::string &reason) {
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() < 2)
    return std::nullopt;
  OpOperand *image = op.getDpsInputOperand(0),
            *filter = op.getDpsInputOperand(1);
  if (!op.payloadUsesValueFromOperand(image) ||
      !op.payloadUsesValueFromOperand(filter))
    return std::nullopt;
  AffineMap imageMap = op.getMatchingIndexingMap(image),
            filterMap = op.getMatchingIndexingMap(filter),
            resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  // A filter dimension that is read at a constant index does not have a loop.
  SmallVector<AffineExpr> filterDims;
  for (AffineExpr expr : filterMap.getResults())
    if (!isa<AffineConstantExpr>(expr))
      filterDims.push_back(expr);
  bool hasConstants = filterDims.size() != filterMap.getNumResults();
  filterMap = AffineMap::get(filterMap.getNumDims(), filterMap.getNumSymbols(),
                             filterDims, op->getContext());
  if (!filterMap.isProjectedPermutation() ||
      !resultMap.isProjectedPermutation())
    return std::nullopt;

  ConvolutionLoops loops;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0, e = op.getNumLoops(); loop < e; ++loop) {
    AffineExpr expr = getAffineDimExpr(loop, op->getContext());
    bool alone = false, combined = false;
    for (AffineExpr result : imageMap.getResults()) {
      alone |= result == expr;
      combined |= result != expr && result.isFunctionOfDim(loop);
    }
    bool inFilter = filterMap.isFunctionOfDim(loop),
         inResult = resultMap.isFunctionOfDim(loop);
    if ((alone && combined) ||
        iterators[loop] != (inResult ? utils::IteratorType::parallel
                                     : utils::IteratorType::reduction))
      return std::nullopt;
    if (inResult && !inFilter && alone)
      loops.batch.push_back(loop);
    else if (inResult && !inFilter && combined)
      loops.image.push_back(loop);
    else if (inResult && inFilter && !combined)
      (alone ? loops.groups : loops.outputChannels).push_back(loop);
    else if (!inResult && inFilter && (alone || combined))
      (alone ? loops.inputChannels : loops.window).push_back(loop);
    else
      return std::nullopt;
  }
  if (loops.image.empty())
    return std::nullopt;
  if (hasConstants) {
    reason = "the convolution reads its filter at a constant index, which is "
             "not supported; index the filter only by loops";
    return std::nullopt;
  }
  return loops;
}
