//===- IndexedRules.cpp - Layout rules of accesses at index vectors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using namespace smalti::mosaic_gpu;

namespace {

/// Each thread accesses memory for the elements that it holds: all vectors have
/// the same layout.
template <typename OpTy> struct IndexedRule {
  static LogicalResult derive(OpTy op, ConstraintSystem &system) {
    VarId var = system.create(op.getIndicesMutable());
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (value == op.getIndices() || !hasLayout(value))
        continue;
      if (isa<VectorType>(value.getType()))
        system.bind(var, operand);
      else
        system.assign(system.share(operand), system.getLayouts().noTransforms(),
                      "elements are accessed at linear indices");
    }
    for (Value result : op->getResults())
      if (hasLayout(result))
        system.bind(var, result);
    if (isa<AtomicRMWOp, AtomicCASOp>(op) && op->getNumResults() > 0)
      system.notSplat(var, "the old values in memory may differ");
    return success();
  }
};

} // namespace

void inference::registerIndexedRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    attachRule<IndexedRule<vector::GatherOp>, vector::GatherOp>(context);
    attachRule<IndexedRule<vector::ScatterOp>, vector::ScatterOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, MosaicGPUDialect *) {
    attachRule<IndexedRule<AtomicRMWOp>, AtomicRMWOp>(context);
    attachRule<IndexedRule<AtomicCASOp>, AtomicCASOp>(context);
  });
}
