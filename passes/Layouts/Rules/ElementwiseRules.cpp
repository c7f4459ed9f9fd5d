//===- ElementwiseRules.cpp - Layout rules of element-wise ops ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

namespace {

/// All operands and results of an element-wise op have the same layout.
struct ElementwiseModel
    : LayoutInferenceOpInterface::FallbackModel<ElementwiseModel> {
  using Interface = LayoutInferenceOpInterface;
  LogicalResult addLayoutConstraints(Operation *op,
                                     ConstraintSystem &system) const {
    VarId var = kNoVar;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!hasLayout(operand.get()))
        continue;
      if (var == kNoVar)
        var = system.create(operand);
      else
        system.bind(var, operand);
    }
    for (Value result : op->getResults()) {
      if (!hasLayout(result))
        continue;
      if (var == kNoVar)
        var = system.create(result);
      else
        system.bind(var, result);
    }
    return success();
  }
};

struct ConstantRule {
  static LogicalResult derive(arith::ConstantOp op, ConstraintSystem &system) {
    VarId var = system.create(op.getResult());
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (elements && elements.isSplat())
      system.assign(var, system.getLayouts().splat(),
                    "all elements of the constant are equal");
    else
      system.notSplat(var, "the constant's elements differ");
    return success();
  }
};

struct PoisonRule {
  static LogicalResult derive(ub::PoisonOp op, ConstraintSystem &system) {
    system.assign(
        system.create(op.getResult()), system.getLayouts().splat(),
        "all elements of the vector are undefined, so they are one value");
    return success();
  }
};

void attachElementwise(MLIRContext *context, StringRef dialect) {
  // getRegisteredOperationsByDialect of LLVM 22 is not complete for some
  // dialects: it expects another order of the operations.
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        name.hasTrait<OpTrait::Elementwise>() &&
        !name.hasInterface<LayoutInferenceOpInterface>())
      name.attachInterface<ElementwiseModel>();
}

} // namespace

void inference::registerElementwiseRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachElementwise(context, arith::ArithDialect::getDialectNamespace());
    attachRule<ConstantRule, arith::ConstantOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachElementwise(context, math::MathDialect::getDialectNamespace());
  });
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    attachElementwise(context, vector::VectorDialect::getDialectNamespace());
  });
  registry.addExtension(
      +[](MLIRContext *context, triton_xla::TritonXLADialect *) {
        attachElementwise(context,
                          triton_xla::TritonXLADialect::getDialectNamespace());
      });
  registry.addExtension(+[](MLIRContext *context, ub::UBDialect *) {
    attachRule<PoisonRule, ub::PoisonOp>(context);
  });
}
