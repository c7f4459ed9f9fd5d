//===- LoopInterfaces.cpp - Interfaces for loop passes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/VectorInterfaces.h"

using namespace mlir;

#include "smalti/passes/Interfaces/LoopInterfaces.cpp.inc"

/// Whether the write is unmasked, starts at the origin and covers every
/// element.
static bool coversWholeMemRef(VectorTransferOpInterface write) {
  auto memref = dyn_cast<MemRefType>(write.getBase().getType());
  if (!memref || !memref.hasStaticShape() || write.getMask() ||
      !write.getPermutationMap().isPermutation())
    return false;
  if (!llvm::all_of(write.getIndices(),
                    [](Value index) { return isConstantIntValue(index, 0); }))
    return false;
  for (auto [dim, expr] :
       llvm::enumerate(write.getPermutationMap().getResults())) {
    unsigned memrefDim = cast<AffineDimExpr>(expr).getPosition();
    if (write.getVectorType().isScalable() ||
        write.getVectorType().getDimSize(dim) < memref.getDimSize(memrefDim))
      return false;
  }
  return true;
}

/// Whether a structured op overwrites every element of its output without
/// reading it.
static bool coversWholeMemRef(linalg::LinalgOp op, Value memref) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (init.get() != memref)
      continue;
    return op.getMatchingIndexingMap(&init).isPermutation() &&
           !op.payloadUsesValueFromOperand(&init);
  }
  return false;
}

smalti::BarrierRef smalti::getBarrierRef(BarrierObjectOpInterface op) {
  BarrierRef ref{op.getBarrierMutable().get(), {}};
  if (OpOperand *index = op.getBarrierIndexMutable()) {
    ref.index = index->get();
    if (std::optional<int64_t> constant = getConstantIntValue(index->get()))
      ref.index = IntegerAttr::get(IndexType::get(op->getContext()), *constant);
  }
  return ref;
}

bool smalti::overwritesWholeMemRef(Operation *op, Value memref) {
  if (auto overwrite = dyn_cast<FullOverwriteOpInterface>(op))
    return overwrite.overwrites(memref);
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return transfer.getBase() == memref && transfer->getNumResults() == 0 &&
           coversWholeMemRef(transfer);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return coversWholeMemRef(linalgOp, memref);
  return false;
}
