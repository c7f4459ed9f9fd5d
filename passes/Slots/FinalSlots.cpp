//===- FinalSlots.cpp - Slots after a loop --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerSum.h"
#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Slots/IterationShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using Predicate = arith::CmpIPredicate;

namespace {

/// A known bound of the loop: in the loop's own comparison, `limit` is at least
/// `least` larger than the lower bound.
struct Bound {
  IntegerSum limit;
  int64_t least;
};

class Matcher {
public:
  Matcher(scf::ForOp loop, int64_t depth)
      : loop(loop), depth(depth), lower(IntegerSum::of(loop.getLowerBound())),
        upper(IntegerSum::of(loop.getUpperBound())),
        step(IntegerSum::of(loop.getStep())) {}

  std::optional<int64_t> match(Value slot);

private:
  void collectConditions();
  std::optional<Bound> getBound(arith::CmpIOp condition);
  std::optional<int64_t> matchNumber(const IntegerSum &number);
  std::optional<int64_t> matchQuotient(const IntegerSum &distance);
  /// A constant lower bound of the value, unsigned.
  int64_t getMinimum(const IntegerSum &value);
  bool isOfCounter(Value value) {
    return value.getType() == loop.getInductionVar().getType();
  }

  scf::ForOp loop;
  int64_t depth;
  std::optional<IntegerSum> lower, upper, step;
  SmallVector<arith::CmpIOp> conditions;
};

} // namespace

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

static std::optional<int64_t> subtract(const IntegerSum &a,
                                       const IntegerSum &b) {
  std::optional<IntegerSum> difference = IntegerSum::combine(a, b, -1);
  return difference ? difference->asConstant() : std::nullopt;
}

/// Collects the conditions of the scf.if ops around the loop.
void Matcher::collectConditions() {
  constexpr unsigned mostValues = 16;
  for (Operation *op = loop; auto *parent = op->getParentOp(); op = parent) {
    auto branch = dyn_cast<scf::IfOp>(parent);
    if (!branch || op->getBlock() != branch.thenBlock())
      continue;
    SmallVector<Value> values = {branch.getCondition()};
    for (unsigned i = 0; i < values.size() && i < mostValues; ++i) {
      Operation *def = values[i].getDefiningOp();
      if (isa_and_nonnull<arith::AndIOp>(def))
        llvm::append_range(values, def->getOperands());
      else if (auto compare = dyn_cast_or_null<arith::CmpIOp>(def))
        conditions.push_back(compare);
    }
  }
}

std::optional<Bound> Matcher::getBound(arith::CmpIOp condition) {
  Value small = condition.getLhs(), large = condition.getRhs();
  Predicate predicate = condition.getPredicate();
  if (predicate == Predicate::sgt || predicate == Predicate::sge ||
      predicate == Predicate::ugt || predicate == Predicate::uge)
    std::swap(small, large);
  bool isUnsigned = predicate == Predicate::ult ||
                    predicate == Predicate::ule ||
                    predicate == Predicate::ugt || predicate == Predicate::uge;
  bool isStrict = predicate == Predicate::slt || predicate == Predicate::ult ||
                  predicate == Predicate::sgt || predicate == Predicate::ugt;
  if (predicate == Predicate::eq || predicate == Predicate::ne ||
      isUnsigned != loop.getUnsignedCmp() || !isOfCounter(small))
    return std::nullopt;
  std::optional<IntegerSum> sum = IntegerSum::of(large);
  if (!sum)
    return std::nullopt;
  if (std::optional<IntegerSum> same = IntegerSum::of(small);
      same && subtract(*same, *lower) == 0)
    return Bound{*sum, isStrict};
  // A constant above the lower bound is sufficient.
  std::optional<int64_t> number = evaluateConstant(small),
                         first = evaluateConstant(loop.getLowerBound());
  if (!number || !first || !IntegerSum::isSmall(*number) ||
      !IntegerSum::isSmall(*first) || *number < *first ||
      (isUnsigned && *first < 0))
    return std::nullopt;
  return Bound{*sum, *number - *first + isStrict};
}

int64_t Matcher::getMinimum(const IntegerSum &value) {
  int64_t least = 0;
  for (arith::CmpIOp condition : conditions) {
    Predicate predicate = condition.getPredicate();
    Value large = condition.getLhs(), small = condition.getRhs();
    if (predicate == Predicate::ult || predicate == Predicate::ule)
      std::swap(large, small);
    else if (predicate != Predicate::ugt && predicate != Predicate::uge)
      continue;
    bool isStrict = predicate == Predicate::ugt || predicate == Predicate::ult;
    std::optional<int64_t> constant = evaluateConstant(small);
    std::optional<IntegerSum> sum = IntegerSum::of(large);
    if (constant && IntegerSum::isSmall(*constant) && *constant >= 0 && sum &&
        isOfCounter(large) && subtract(*sum, value) == 0)
      least = std::max(least, *constant + isStrict);
  }
  return least;
}

/// Matches the trip count of a loop with step 1: upper bound minus lower bound,
/// plus the returned shift.
std::optional<int64_t> Matcher::matchNumber(const IntegerSum &number) {
  std::optional<IntegerSum> trips = IntegerSum::combine(upper, lower, -1);
  if (!trips)
    return std::nullopt;
  std::optional<int64_t> shift = subtract(number, *trips);
  if (!shift || *shift < 0)
    return std::nullopt;
  for (arith::CmpIOp condition : conditions) {
    std::optional<Bound> bound = getBound(condition);
    if (!bound)
      continue;
    // The upper bound is `slack` below the limit, and the limit is far enough
    // above the lower bound for the loop to run. The number is between the two.
    std::optional<int64_t> slack = subtract(bound->limit, *upper);
    if (!slack || *slack < *shift)
      continue;
    std::optional<IntegerSum> last =
        IntegerSum::combine(IntegerSum::combine(bound->limit, lower, -1),
                            IntegerSum::of(int64_t(1)), -1);
    if (*slack <= bound->least ||
        (bound->least > 0 && last && *slack <= getMinimum(*last) + 1))
      return shift;
  }
  return std::nullopt;
}

/// The same for other steps: the trip count is `distance` divided by the step.
/// The number of the last iteration before the limit is a quotient too.
std::optional<int64_t> Matcher::matchQuotient(const IntegerSum &distance) {
  std::optional<IntegerSum> inSteps = distance.divideBy(loop.getStep());
  auto lastAndShift = inSteps ? inSteps->asValueAndConstant() : std::nullopt;
  if (!lastAndShift || lastAndShift->second > 0)
    return std::nullopt;
  auto last = lastAndShift->first.getDefiningOp<arith::DivUIOp>();
  if (!last || !(IntegerSum::of(last.getRhs()) == step))
    return std::nullopt;
  std::optional<IntegerSum> dividend = IntegerSum::of(last.getLhs());
  if (!dividend)
    return std::nullopt;
  for (arith::CmpIOp condition : conditions) {
    std::optional<Bound> bound = getBound(condition);
    if (!bound || bound->least < 1)
      continue;
    std::optional<IntegerSum> wanted =
        IntegerSum::combine(IntegerSum::combine(bound->limit, lower, -1),
                            IntegerSum::of(int64_t(1)), -1);
    std::optional<IntegerSum> slack =
        IntegerSum::combine(bound->limit, upper, -1);
    slack = slack ? slack->divideBy(loop.getStep()) : std::nullopt;
    std::optional<int64_t> steps = slack ? slack->asConstant() : std::nullopt;
    if (!wanted || subtract(*dividend, *wanted) != 0 || !steps || *steps < 1 ||
        getMinimum(*IntegerSum::of(lastAndShift->first)) < *steps)
      continue;
    // The loop runs last + 1 - steps times.
    int64_t shift = *steps - 1 + lastAndShift->second;
    if (shift >= 0)
      return shift;
  }
  return std::nullopt;
}

/// The dividend of a remainder by the depth; null for other ops.
static Value getDividend(Operation *op, int64_t depth) {
  if (isa<arith::RemUIOp>(op))
    return evaluateConstant(op->getOperand(1)) == depth ? op->getOperand(0)
                                                        : Value();
  if (isa<arith::AndIOp>(op) && llvm::isPowerOf2_64(depth))
    for (unsigned side : {0, 1})
      if (evaluateConstant(op->getOperand(1 - side)) == depth - 1)
        return op->getOperand(side);
  return {};
}

std::optional<int64_t> Matcher::match(Value slot) {
  slot = getCopiedValue(slot);
  Operation *op = slot.getDefiningOp();
  if (!op || !lower || !upper || !step || !isOfCounter(slot))
    return std::nullopt;
  bool isByOne = step->asConstant() == 1;
  std::optional<IntegerSum> number;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    auto getParts = [&](AffineExpr expr, AffineExprKind kind,
                        const IntegerSum &divisor) -> AffineExpr {
      auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      return binary && binary.getKind() == kind &&
                     IntegerSum::of(binary.getRHS(), apply) == divisor
                 ? binary.getLHS()
                 : AffineExpr();
    };
    AffineExpr expr = getParts(apply.getAffineMap().getResult(0),
                               AffineExprKind::Mod, IntegerSum::of(depth));
    if (expr && !isByOne)
      expr = getParts(expr, AffineExprKind::FloorDiv, *step);
    if (expr)
      number = IntegerSum::of(expr, apply);
  } else if (Value dividend = getDividend(op, depth)) {
    dividend = getCopiedValue(dividend);
    auto division = dividend.getDefiningOp<arith::DivUIOp>();
    if (isByOne)
      number = IntegerSum::of(dividend);
    else if (division && isOfCounter(dividend) &&
             IntegerSum::of(division.getRhs()) == step)
      number = IntegerSum::of(division.getLhs());
  }
  if (!number)
    return std::nullopt;
  collectConditions();
  std::optional<int64_t> shift =
      isByOne ? matchNumber(*number) : matchQuotient(*number);
  if (!shift)
    return std::nullopt;
  return *shift % depth;
}

std::optional<int64_t> smalti::matchFinalSlotShift(Value value, scf::ForOp loop,
                                                   int64_t depth) {
  if (hasWideCounter(loop))
    return std::nullopt;
  return Matcher(loop, depth).match(value);
}
