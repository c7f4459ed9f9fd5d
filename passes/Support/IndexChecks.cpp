//===- IndexChecks.cpp - Checks of indices at run time --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/IndexChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

void smalti::createIndexCheck(OpBuilder &builder, Location loc, Value index,
                              Value size, int64_t dim) {
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index, size);
  auto check = cf::AssertOp::create(
      builder, loc, isInside,
      ("the index of dimension " + Twine(dim) + " is out of bounds").str());
  check->setAttr(kIndexCheck, builder.getI64IntegerAttr(dim));
}

std::optional<smalti::IndexCheck> smalti::matchIndexCheck(cf::AssertOp op) {
  auto dim = op->getAttrOfType<IntegerAttr>(kIndexCheck);
  auto compare = op.getArg().getDefiningOp<arith::CmpIOp>();
  if (!dim || !compare || !compare.getLhs().getType().isIndex())
    return std::nullopt;
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (compare.getPredicate() == arith::CmpIPredicate::ult)
    return IndexCheck{lhs, rhs, dim.getInt()};
  // Canonicalization moves constants to the right.
  if (compare.getPredicate() == arith::CmpIPredicate::ugt)
    return IndexCheck{rhs, lhs, dim.getInt()};
  return std::nullopt;
}
