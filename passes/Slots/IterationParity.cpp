//===- IterationParity.cpp - Parity of an iteration's mbarrier phase ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Slots/IterationParity.h"

#include "smalti/passes/Slots/IterationSlots.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;

namespace {

/// The lowest bit of a value, as an exclusive or of these.
struct LowBit {
  bool usesArgument;  ///< the lowest bit of the carried value under analysis
  bool usesIteration; ///< the lowest bit of the iteration number
  bool constant;
  bool isWhole; ///< the value is 0 or 1

  bool isConstant() const { return !usesArgument && !usesIteration; }
};

using Bit = std::optional<LowBit>;

class ParityFinder {
public:
  ParityFinder(scf::ForOp loop) : loop(loop) {}

  Bit find(Value value);

private:
  Bit findArgument(BlockArgument argument);
  Bit findResult(Operation *op);
  Bit findExpr(AffineExpr expr, affine::AffineApplyOp apply);
  Bit findSelected(arith::SelectOp select);

  scf::ForOp loop;
  /// The carried value whose update is analyzed.
  Value current;
  /// The limit keeps the analysis linear; few steps are usual.
  unsigned steps = 256;
};

} // namespace

static Bit getConstantBit(int64_t value, bool isOneBit) {
  return LowBit{false, false, (value & 1) != 0,
                isOneBit || value == 0 || value == 1};
}

/// The lowest bit of a sum, a difference or an exclusive or.
static Bit combine(const Bit &a, const Bit &b) {
  if (!a || !b)
    return std::nullopt;
  return LowBit{a->usesArgument != b->usesArgument,
                a->usesIteration != b->usesIteration,
                a->constant != b->constant, false};
}

static Bit withWhole(Bit bit, bool isWhole) {
  if (bit)
    bit->isWhole |= isWhole;
  return bit;
}

/// The bit if `factor` is odd, else 0.
static Bit scale(const Bit &bit, int64_t factor) {
  if ((factor & 1) == 0)
    return LowBit{false, false, false, factor == 0};
  if (!bit)
    return std::nullopt;
  return LowBit{bit->usesArgument, bit->usesIteration, bit->constant, false};
}

Bit ParityFinder::find(Value value) {
  if (steps == 0)
    return std::nullopt;
  --steps;
  bool isOneBit = value.getType().isInteger(1);
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getConstantBit(*constant, isOneBit);
  if (isIterationNumber(value, loop))
    return LowBit{false, true, false, isOneBit};
  if (value == loop.getInductionVar()) {
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                           step = getConstantIntValue(loop.getStep());
    if (!lower || !step)
      return std::nullopt;
    return LowBit{false, (*step & 1) != 0, (*lower & 1) != 0, isOneBit};
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == loop.getBody() ? findArgument(argument)
                                                 : std::nullopt;
  return withWhole(findResult(value.getDefiningOp()), isOneBit);
}

/// The lowest bit of a carried value in iteration i, from its first value and
/// its update.
Bit ParityFinder::findArgument(BlockArgument argument) {
  bool isOneBit = argument.getType().isInteger(1);
  // The analysis assumes that the value is 0 or 1; the update must preserve
  // that.
  if (argument == current)
    return LowBit{true, false, false, true};
  Bit first = find(loop.getTiedLoopInit(argument)->get());
  if (!first || !first->isConstant())
    return std::nullopt;
  Value outer = std::exchange(current, argument);
  Bit update = find(loop.getTiedLoopYieldedValue(argument)->get());
  current = outer;
  if (!update)
    return std::nullopt;
  bool isWhole = isOneBit || (first->isWhole && update->isWhole);
  if (update->usesArgument) {
    if (update->usesIteration)
      return std::nullopt;
    return LowBit{false, update->constant, first->constant, isWhole};
  }
  // It is computed from the number of the previous iteration, as if one
  // preceded the first.
  bool constant = update->constant != update->usesIteration;
  if (constant != first->constant)
    return std::nullopt;
  return LowBit{false, update->usesIteration, constant, isWhole};
}

Bit ParityFinder::findSelected(arith::SelectOp select) {
  if (!select.getCondition().getType().isInteger(1))
    return std::nullopt;
  Bit yes = find(select.getTrueValue()), no = find(select.getFalseValue());
  Bit difference = combine(yes, no);
  if (!difference || !difference->isConstant())
    return std::nullopt;
  bool isWhole = yes->isWhole && no->isWhole;
  if (!difference->constant)
    return LowBit{no->usesArgument, no->usesIteration, no->constant, isWhole};
  return withWhole(combine(no, find(select.getCondition())), isWhole);
}

Bit ParityFinder::findExpr(AffineExpr expr, affine::AffineApplyOp apply) {
  if (steps == 0)
    return std::nullopt;
  --steps;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getConstantBit(constant.getValue(), /*isOneBit=*/false);
  ValueRange operands = apply.getMapOperands();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return find(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return find(
        operands[apply.getAffineMap().getNumDims() + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add)
    return combine(findExpr(binary.getLHS(), apply),
                   findExpr(binary.getRHS(), apply));
  auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!rhs)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Mul)
    return scale(findExpr(binary.getLHS(), apply), rhs.getValue());
  // The result is not negative for any dividend.
  if (binary.getKind() == AffineExprKind::Mod && rhs.getValue() > 0 &&
      rhs.getValue() % 2 == 0)
    return withWhole(scale(findExpr(binary.getLHS(), apply), 1),
                     rhs.getValue() == 2);
  return std::nullopt;
}

Bit ParityFinder::findResult(Operation *op) {
  auto operand = [&](unsigned i) { return find(op->getOperand(i)); };
  auto constantOf = [&](unsigned i) {
    return getConstantIntValue(op->getOperand(i));
  };
  return llvm::TypeSwitch<Operation *, Bit>(op)
      .Case<arith::AddIOp>(
          [&](auto) { return combine(operand(0), operand(1)); })
      .Case<arith::SubIOp>([&](auto) {
        Bit rhs = operand(1);
        return withWhole(combine(operand(0), rhs),
                         rhs && rhs->isWhole && constantOf(0) == 1);
      })
      .Case<arith::XOrIOp>([&](auto) {
        Bit lhs = operand(0), rhs = operand(1);
        return withWhole(combine(lhs, rhs),
                         lhs && rhs && lhs->isWhole && rhs->isWhole);
      })
      .Case<arith::MulIOp, arith::AndIOp>([&](auto) {
        for (unsigned i : {0, 1})
          if (std::optional<int64_t> factor = constantOf(i)) {
            Bit other = operand(1 - i);
            bool keepsWhole = isa<arith::AndIOp>(op) || *factor == 1;
            return withWhole(scale(other, *factor),
                             (isa<arith::AndIOp>(op) && *factor == 1) ||
                                 (keepsWhole && other && other->isWhole));
          }
        return Bit();
      })
      .Case<arith::RemUIOp>([&](auto) {
        std::optional<int64_t> divisor = constantOf(1);
        if (!divisor || *divisor < 1 || *divisor % 2 != 0)
          return Bit();
        Bit number = operand(0);
        return withWhole(scale(number, 1),
                         *divisor == 2 || (number && number->isWhole));
      })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp, arith::TruncIOp>([&](auto) {
        Bit number = operand(0);
        return withWhole(scale(number, 1), number && number->isWhole);
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto) {
        // The sign of a one-bit value is the bit.
        Bit number = operand(0);
        return withWhole(scale(number, 1),
                         number && number->isWhole &&
                             !op->getOperand(0).getType().isInteger(1));
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
        bool isEqual = compare.getPredicate() == arith::CmpIPredicate::eq;
        if (!isEqual && compare.getPredicate() != arith::CmpIPredicate::ne)
          return Bit();
        Bit lhs = operand(0), rhs = operand(1);
        if (!lhs || !rhs || !lhs->isWhole || !rhs->isWhole)
          return Bit();
        return combine(combine(lhs, rhs),
                       getConstantBit(isEqual, /*isOneBit=*/true));
      })
      .Case<arith::SelectOp>(
          [&](arith::SelectOp select) { return findSelected(select); })
      .Case<affine::AffineApplyOp>([&](affine::AffineApplyOp apply) {
        AffineExpr expr = apply.getAffineMap().getResult(0);
        return findExpr(expr, apply);
      })
      .Default([](Operation *) { return Bit(); });
}

std::optional<bool> smalti::matchIterationParity(Value value, scf::ForOp loop) {
  Bit bit = ParityFinder(loop).find(value);
  if (!bit || bit->usesArgument || !bit->usesIteration || !bit->isWhole)
    return std::nullopt;
  return bit->constant;
}

Value smalti::createSlotParity(OpBuilder &builder, scf::ForOp loop,
                               int64_t depth, Type type) {
  Location loc = loop.getLoc();
  Value number = createIterationNumber(builder, loop);
  Type counter = number.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(counter, value));
  };
  Value turn = arith::DivUIOp::create(builder, loc, number, constant(depth));
  Value bit = arith::RemUIOp::create(builder, loc, turn, constant(2));
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      bit, constant(1));
  if (type.isInteger(1))
    return isOdd;
  return arith::ExtUIOp::create(builder, loc, type, isOdd);
}
