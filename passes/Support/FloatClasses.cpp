//===- FloatClasses.cpp - Classes of floats -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/FloatClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

static void expand(Operation *op) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Type type = op->getOperand(0).getType();
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
  Value magnitude = math::AbsFOp::create(builder, op->getOperand(0));
  auto compare = [&](arith::CmpFPredicate predicate, const APFloat &value) {
    TypedAttr bound = builder.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      bound = DenseElementsAttr::get(shaped, Attribute(bound));
    return arith::CmpFOp::create(builder, predicate, magnitude,
                                 arith::ConstantOp::create(builder, bound));
  };
  APFloat infinity = APFloat::getInf(semantics);
  Value result;
  if (isa<math::IsInfOp>(op))
    result = compare(arith::CmpFPredicate::OEQ, infinity);
  else
    result = arith::AndIOp::create(
        builder,
        compare(arith::CmpFPredicate::OGE,
                APFloat::getSmallestNormalized(semantics)),
        compare(arith::CmpFPredicate::OLT, infinity));
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
}

void smalti::expandFloatClasses(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<math::IsInfOp, math::IsNormalOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    expand(op);
}
