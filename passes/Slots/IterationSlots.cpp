//===- IterationSlots.cpp - Slots of loop iterations ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Slots/IterationSlots.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace smalti;

Value smalti::createIterationNumber(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value number = loop.getInductionVar();
  if (!isConstantIntValue(loop.getLowerBound(), 0))
    number = arith::SubIOp::create(builder, loc, number, loop.getLowerBound());
  if (!isConstantIntValue(loop.getStep(), 1))
    number = arith::DivUIOp::create(builder, loc, number, loop.getStep());
  return number;
}

Value smalti::createIterationSlot(OpBuilder &builder, scf::ForOp loop,
                                  int64_t depth) {
  Location loc = loop.getLoc();
  Value number = createIterationNumber(builder, loop);
  Type type = number.getType();
  Value count = arith::ConstantOp::create(builder, loc,
                                          builder.getIntegerAttr(type, depth));
  Value slot = arith::RemUIOp::create(builder, loc, number, count);
  if (type.isIndex())
    return slot;
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      slot);
}

Value smalti::createLastSlot(OpBuilder &builder, scf::ForOp loop, int64_t depth,
                             Value before) {
  Location loc = loop.getLoc();
  if (std::optional<uint64_t> trips = getConstantTripCount(loop)) {
    if (*trips == 0)
      return before;
    return arith::ConstantIndexOp::create(
        builder, loc, (*trips - 1) % static_cast<uint64_t>(depth));
  }
  Type type = loop.getInductionVar().getType();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  Value hasRun =
      arith::CmpIOp::create(builder, loc,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                            lower, upper);
  // If the loop did not run, the number is arbitrary and not used.
  Value number = upper;
  if (!isConstantIntValue(lower, 0))
    number = arith::SubIOp::create(builder, loc, number, lower);
  number = arith::SubIOp::create(builder, loc, number, constant(1));
  if (!isConstantIntValue(loop.getStep(), 1))
    number = arith::DivUIOp::create(builder, loc, number, loop.getStep());
  Value slot = arith::RemUIOp::create(builder, loc, number, constant(depth));
  if (!type.isIndex())
    slot = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        slot);
  return arith::SelectOp::create(builder, loc, hasRun, slot, before);
}

/// Whether two values are identical or equal constants.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<int64_t> constantA = getConstantIntValue(a);
  return constantA && constantA == getConstantIntValue(b);
}

/// Whether `value` is the induction variable minus the lower bound.
static bool matchDistance(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return isConstantIntValue(loop.getLowerBound(), 0);
  auto sub = value.getDefiningOp<arith::SubIOp>();
  return sub && sub.getLhs() == loop.getInductionVar() &&
         isSame(sub.getRhs(), loop.getLowerBound());
}

bool smalti::isIterationNumber(Value value, scf::ForOp loop) {
  if (isConstantIntValue(loop.getStep(), 1) && matchDistance(value, loop))
    return true;
  auto division = value.getDefiningOp<arith::DivUIOp>();
  return division && matchDistance(division.getLhs(), loop) &&
         isSame(division.getRhs(), loop.getStep());
}
