//===- IterationShift.cpp - Slots of earlier and later iterations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Slots/IterationShift.h"

#include "smalti/passes/Analysis/Integers/IntegerSum.h"
#include "smalti/passes/Analysis/Integers/TripCount.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

namespace {

/// A linear combination of the iteration number and of the loop's induction
/// variable, lower bound and step, if these are not constants.
struct Sum {
  int64_t number = 0, variable = 0, lower = 0, step = 0, constant = 0;

  bool operator==(const Sum &other) const {
    return number == other.number && variable == other.variable &&
           lower == other.lower && step == other.step &&
           constant == other.constant;
  }
};

class Matcher {
public:
  Matcher(scf::ForOp loop, int64_t depth)
      : loop(loop), depth(depth), lower(evaluateConstant(loop.getLowerBound())),
        step(evaluateConstant(loop.getStep())),
        lowerSum(IntegerSum::of(loop.getLowerBound())),
        stepSum(IntegerSum::of(loop.getStep())) {}

  std::optional<int64_t> matchSlot(Value value);

private:
  std::optional<Sum> match(Value value, unsigned budget = 8);
  std::optional<Sum> match(AffineExpr expr, affine::AffineApplyOp apply,
                           unsigned budget);
  AffineExpr getDividend(affine::AffineApplyOp apply);
  /// The sum as the iteration number plus a constant.
  std::optional<int64_t> matchNumber(const Sum &sum) const;
  std::optional<Sum> divide(const std::optional<Sum> &sum,
                            const std::optional<Sum> &divisor) const;
  std::optional<int64_t> modulo(const std::optional<Sum> &sum,
                                const std::optional<int64_t> &divisor) const;

  static std::optional<Sum> combine(const std::optional<Sum> &a,
                                    const std::optional<Sum> &b, int64_t sign);
  static std::optional<Sum> scale(const std::optional<Sum> &a,
                                  const std::optional<Sum> &b);

  scf::ForOp loop;
  int64_t depth;
  std::optional<int64_t> lower, step;
  std::optional<IntegerSum> lowerSum, stepSum;
};

} // namespace

/// Larger numbers do not occur in slot computations, and could overflow.
static bool isSmall(int64_t value) { return llvm::isInt<31>(value); }

static std::optional<Sum> ifSmall(const Sum &sum) {
  if (isSmall(sum.number) && isSmall(sum.variable) && isSmall(sum.lower) &&
      isSmall(sum.step) && isSmall(sum.constant))
    return sum;
  return std::nullopt;
}

static std::optional<int64_t> asConstant(const std::optional<Sum> &sum) {
  if (!sum || sum->number || sum->variable || sum->lower || sum->step)
    return std::nullopt;
  return sum->constant;
}

std::optional<Sum> Matcher::combine(const std::optional<Sum> &a,
                                    const std::optional<Sum> &b, int64_t sign) {
  if (!a || !b)
    return std::nullopt;
  return ifSmall({a->number + sign * b->number,
                  a->variable + sign * b->variable, a->lower + sign * b->lower,
                  a->step + sign * b->step, a->constant + sign * b->constant});
}

std::optional<Sum> Matcher::scale(const std::optional<Sum> &a,
                                  const std::optional<Sum> &b) {
  std::optional<int64_t> factor = asConstant(b);
  if (!factor)
    return asConstant(a) ? scale(b, a) : std::nullopt;
  if (!a)
    return std::nullopt;
  return ifSmall({a->number * *factor, a->variable * *factor,
                  a->lower * *factor, a->step * *factor,
                  a->constant * *factor});
}

std::optional<int64_t> Matcher::matchNumber(const Sum &sum) const {
  if (sum.number == 1 && !sum.variable && !sum.lower && !sum.step)
    return sum.constant;
  // The induction variable is lower + number * step.
  if (sum.number || sum.variable != 1 || sum.lower != (lower ? 0 : -1))
    return std::nullopt;
  int64_t distance = sum.constant + lower.value_or(0);
  if (step) {
    if (*step <= 0 || distance % *step != 0)
      return std::nullopt;
    return distance / *step;
  }
  if (distance != 0)
    return std::nullopt;
  return sum.step;
}

std::optional<Sum> Matcher::divide(const std::optional<Sum> &sum,
                                   const std::optional<Sum> &divisor) const {
  if (!sum || !divisor)
    return std::nullopt;
  bool isStep = step ? asConstant(divisor) == step
                     : divisor->step == 1 && !divisor->number &&
                           !divisor->variable && !divisor->lower &&
                           !divisor->constant;
  if (!isStep || sum->number)
    return std::nullopt;
  std::optional<int64_t> number = matchNumber(*sum);
  if (!number)
    return std::nullopt;
  return Sum{1, 0, 0, 0, *number};
}

std::optional<int64_t>
Matcher::modulo(const std::optional<Sum> &sum,
                const std::optional<int64_t> &divisor) const {
  if (!sum || divisor != depth)
    return std::nullopt;
  if (!sum->number && step != 1)
    return std::nullopt;
  std::optional<int64_t> shift = matchNumber(*sum);
  // The remainder of a negative number is not a slot.
  if (!shift || *shift < 0)
    return std::nullopt;
  return *shift % depth;
}

std::optional<Sum> Matcher::match(Value value, unsigned budget) {
  if (value == loop.getInductionVar())
    return Sum{0, 1, 0, 0, 0};
  if (std::optional<int64_t> constant = evaluateConstant(value))
    return ifSmall({0, 0, 0, 0, *constant});
  std::optional<IntegerSum> sum = IntegerSum::of(value);
  if (sum && lowerSum && *sum == *lowerSum)
    return Sum{0, 0, 1, 0, 0};
  if (sum && stepSum && *sum == *stepSum)
    return Sum{0, 0, 0, 1, 0};
  Operation *op = value.getDefiningOp();
  if (!op || budget == 0)
    return std::nullopt;
  auto operand = [&](unsigned index) {
    return match(op->getOperand(index), budget - 1);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Sum>>(op)
      .Case([&](arith::AddIOp) { return combine(operand(0), operand(1), 1); })
      .Case([&](arith::SubIOp) { return combine(operand(0), operand(1), -1); })
      .Case([&](arith::MulIOp) { return scale(operand(0), operand(1)); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return operand(0); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return divide(operand(0), operand(1)); })
      .Case([&](affine::AffineApplyOp apply) {
        return match(apply.getAffineMap().getResult(0), apply, budget - 1);
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Sum> Matcher::match(AffineExpr expr, affine::AffineApplyOp apply,
                                  unsigned budget) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return ifSmall({0, 0, 0, 0, constant.getValue()});
  if (budget == 0)
    return std::nullopt;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return match(apply.getDimOperands()[dim.getPosition()], budget - 1);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return match(apply.getSymbolOperands()[symbol.getPosition()], budget - 1);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Sum> lhs = match(binary.getLHS(), apply, budget - 1),
                     rhs = match(binary.getRHS(), apply, budget - 1);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return combine(lhs, rhs, 1);
  case AffineExprKind::Mul:
    return scale(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return divide(lhs, rhs);
  default:
    return std::nullopt;
  }
}

/// The dividend of a remainder by the depth in `apply`. Upstream composes such
/// maps as `d - (d floordiv depth) * depth`.
AffineExpr Matcher::getDividend(affine::AffineApplyOp apply) {
  AffineExpr expr = apply.getAffineMap().getResult(0);
  auto isDivision = [&](AffineExpr expr, AffineExprKind kind) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    return binary && binary.getKind() == kind &&
           asConstant(match(binary.getRHS(), apply, 8)) == depth;
  };
  if (isDivision(expr, AffineExprKind::Mod))
    return cast<AffineBinaryOpExpr>(expr).getLHS();
  AffineExpr dividend;
  std::optional<Sum> rest = Sum();
  SmallVector<AffineExpr> terms = {expr};
  while (!terms.empty()) {
    AffineExpr next = terms.pop_back_val();
    auto term = dyn_cast<AffineBinaryOpExpr>(next);
    if (term && term.getKind() == AffineExprKind::Add) {
      terms.append({term.getLHS(), term.getRHS()});
      continue;
    }
    if (term && term.getKind() == AffineExprKind::Mul && !dividend &&
        term.getRHS() == getAffineConstantExpr(-depth, apply.getContext()) &&
        isDivision(term.getLHS(), AffineExprKind::FloorDiv)) {
      dividend = cast<AffineBinaryOpExpr>(term.getLHS()).getLHS();
      continue;
    }
    rest = combine(rest, match(next, apply, 8), 1);
  }
  std::optional<Sum> sum = dividend ? match(dividend, apply, 8) : std::nullopt;
  return sum && rest && *sum == *rest ? dividend : AffineExpr();
}

std::optional<int64_t> Matcher::matchSlot(Value value) {
  Operation *op = getCopiedValue(value).getDefiningOp();
  if (!op)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto remainder) {
        return modulo(match(remainder.getLhs()),
                      evaluateConstant(remainder.getRhs()));
      })
      .Case([&](arith::AndIOp mask) -> std::optional<int64_t> {
        if (!llvm::isPowerOf2_64(depth))
          return std::nullopt;
        for (unsigned side : {0, 1})
          if (std::optional<int64_t> bits =
                  evaluateConstant(mask->getOperand(1 - side)))
            return modulo(match(mask->getOperand(side)), *bits + 1);
        return std::nullopt;
      })
      .Case([&](affine::AffineApplyOp apply) -> std::optional<int64_t> {
        AffineExpr dividend = getDividend(apply);
        return dividend ? modulo(match(dividend, apply, 8), depth)
                        : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> smalti::matchSlotShift(Value value, scf::ForOp loop,
                                              int64_t depth) {
  // The number of a later iteration may overflow a narrow induction variable.
  auto type = dyn_cast<IntegerType>(loop.getInductionVar().getType());
  if (type && (type.getWidth() < 32 || hasWideCounter(loop)))
    return std::nullopt;
  return Matcher(loop, depth).matchSlot(value);
}
