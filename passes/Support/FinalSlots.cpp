//===- FinalSlots.cpp - Slots counted from the end of a loop --------------===//

#include "passes/Support/IterationShift.h"
#include "passes/Support/TripCount.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using Predicate = arith::CmpIPredicate;

namespace {

/// A sum of multiples of values and of products of two; the product of none is
/// the constant. Equal sums are equal values, whatever wraps.
class Sum {
public:
  static std::optional<Sum> of(Value value, unsigned budget = 12);
  static Sum of(int64_t constant) {
    Sum sum;
    sum.add({nullptr, nullptr}, constant);
    return sum;
  }

  std::optional<int64_t> asConstant() const;
  /// The value, if the sum is one value and a constant.
  std::optional<std::pair<Value, int64_t>> asValueAndConstant() const;
  /// The sum divided by a value, if that is a factor of each product.
  std::optional<Sum> divideBy(Value divisor) const;
  static std::optional<Sum> combine(const std::optional<Sum> &a,
                                    const std::optional<Sum> &b, int64_t sign);

private:
  /// Ordered.
  using Product = std::pair<void *, void *>;

  bool add(Product product, int64_t factor);
  static std::optional<Sum> multiply(const std::optional<Sum> &a,
                                     const std::optional<Sum> &b);

  std::map<Product, int64_t> products;
};

/// What is known of a loop's bounds: `limit` is at least `least` more than the
/// lower bound, in the loop's own comparison.
struct Bound {
  Sum limit;
  int64_t least;
};

class Matcher {
public:
  Matcher(scf::ForOp loop, int64_t depth)
      : loop(loop), depth(depth), lower(Sum::of(loop.getLowerBound())),
        upper(Sum::of(loop.getUpperBound())),
        step(getConstantIntValue(loop.getStep())) {}

  std::optional<int64_t> match(Value slot);

private:
  void collectConditions();
  std::optional<Bound> getBound(arith::CmpIOp condition);
  std::optional<int64_t> matchNumber(Value number);
  std::optional<int64_t> matchQuotient(Value number);
  /// The constant that the value is known not to be below, unsigned.
  int64_t getMinimum(const Sum &value);
  bool isOfCounter(Value value) {
    return value.getType() == loop.getInductionVar().getType();
  }

  scf::ForOp loop;
  int64_t depth;
  std::optional<Sum> lower, upper;
  std::optional<int64_t> step;
  SmallVector<arith::CmpIOp> conditions;
};

} // namespace

/// Larger numbers have nothing to do with iterations, and could overflow.
static bool isSmall(int64_t value) { return llvm::isInt<31>(value); }

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

bool Sum::add(Product product, int64_t factor) {
  if (product.second < product.first)
    std::swap(product.first, product.second);
  int64_t &sum = products[product];
  sum += factor;
  bool fits = isSmall(sum);
  if (sum == 0)
    products.erase(product);
  return fits;
}

std::optional<int64_t> Sum::asConstant() const {
  if (products.empty())
    return 0;
  if (products.size() > 1 || products.begin()->first != Product())
    return std::nullopt;
  return products.begin()->second;
}

std::optional<std::pair<Value, int64_t>> Sum::asValueAndConstant() const {
  Value value;
  int64_t constant = 0;
  for (auto [product, factor] : products) {
    if (product == Product()) {
      constant = factor;
      continue;
    }
    // The null of a single value comes first.
    if (value || product.first || factor != 1)
      return std::nullopt;
    value = Value::getFromOpaquePointer(product.second);
  }
  if (!value)
    return std::nullopt;
  return std::make_pair(value, constant);
}

std::optional<Sum> Sum::divideBy(Value divisor) const {
  Sum result;
  std::optional<int64_t> constant = getConstantIntValue(divisor);
  for (auto [product, factor] : products) {
    if (constant) {
      if (*constant <= 0 || factor % *constant != 0)
        return std::nullopt;
      result.add(product, factor / *constant);
      continue;
    }
    void *key = divisor.getAsOpaquePointer();
    if (product.second == key)
      result.add({nullptr, product.first}, factor);
    else if (product.first == key)
      result.add({nullptr, product.second}, factor);
    else
      return std::nullopt;
  }
  return result;
}

std::optional<Sum> Sum::combine(const std::optional<Sum> &a,
                                const std::optional<Sum> &b, int64_t sign) {
  if (!a || !b)
    return std::nullopt;
  Sum sum = *a;
  for (auto [product, factor] : b->products)
    if (!sum.add(product, sign * factor))
      return std::nullopt;
  return sum;
}

std::optional<Sum> Sum::multiply(const std::optional<Sum> &a,
                                 const std::optional<Sum> &b) {
  if (!a || !b)
    return std::nullopt;
  Sum result;
  for (auto [productA, factorA] : a->products)
    for (auto [productB, factorB] : b->products) {
      // No products of three.
      if ((productA.first && productB.second) ||
          (productB.first && productA.second))
        return std::nullopt;
      Product product = productA.first ? productA
                        : productB.first
                            ? productB
                            : Product(productA.second, productB.second);
      if (!result.add(product, factorA * factorB))
        return std::nullopt;
    }
  return result;
}

std::optional<Sum> Sum::of(Value value, unsigned budget) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    if (!isSmall(*constant))
      return std::nullopt;
    return of(*constant);
  }
  Operation *op = budget == 0 ? nullptr : value.getDefiningOp();
  std::optional<Sum> result;
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    result = combine(of(op->getOperand(0), budget - 1),
                     of(op->getOperand(1), budget - 1),
                     isa<arith::AddIOp>(op) ? 1 : -1);
  else if (isa_and_nonnull<arith::MulIOp>(op))
    result = multiply(of(op->getOperand(0), budget - 1),
                      of(op->getOperand(1), budget - 1));
  if (result)
    return result;
  Sum sum;
  sum.add({nullptr, value.getAsOpaquePointer()}, 1);
  return sum;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

static std::optional<int64_t> subtract(const Sum &a, const Sum &b) {
  std::optional<Sum> difference = Sum::combine(a, b, -1);
  return difference ? difference->asConstant() : std::nullopt;
}

/// Finds what holds where the loop is, because an scf.if has asked.
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
  std::optional<Sum> sum = Sum::of(large);
  if (!sum)
    return std::nullopt;
  if (std::optional<Sum> same = Sum::of(small);
      same && subtract(*same, *lower) == 0)
    return Bound{*sum, isStrict};
  // A number above the lower bound does as well.
  std::optional<int64_t> number = getConstantIntValue(small),
                         first = getConstantIntValue(loop.getLowerBound());
  if (!number || !first || !isSmall(*number) || !isSmall(*first) ||
      *number < *first || (isUnsigned && *first < 0))
    return std::nullopt;
  return Bound{*sum, *number - *first + isStrict};
}

int64_t Matcher::getMinimum(const Sum &value) {
  int64_t least = 0;
  for (arith::CmpIOp condition : conditions) {
    Predicate predicate = condition.getPredicate();
    Value large = condition.getLhs(), small = condition.getRhs();
    if (predicate == Predicate::ult || predicate == Predicate::ule)
      std::swap(large, small);
    else if (predicate != Predicate::ugt && predicate != Predicate::uge)
      continue;
    bool isStrict = predicate == Predicate::ugt || predicate == Predicate::ult;
    std::optional<int64_t> constant = getConstantIntValue(small);
    std::optional<Sum> sum = Sum::of(large);
    if (constant && isSmall(*constant) && *constant >= 0 && sum &&
        isOfCounter(large) && subtract(*sum, value) == 0)
      least = std::max(least, *constant + isStrict);
  }
  return least;
}

/// The number of a loop that counts one by one: upper bound less lower bound,
/// plus what is to be returned.
std::optional<int64_t> Matcher::matchNumber(Value number) {
  std::optional<Sum> sum = Sum::of(number);
  std::optional<Sum> trips = Sum::combine(upper, lower, -1);
  if (!sum || !trips)
    return std::nullopt;
  std::optional<int64_t> shift = subtract(*sum, *trips);
  if (!shift || *shift < 0)
    return std::nullopt;
  for (arith::CmpIOp condition : conditions) {
    std::optional<Bound> bound = getBound(condition);
    if (!bound)
      continue;
    // The loop ends so far ahead of the limit, and the limit is far enough for
    // it to begin; what is computed lies between them.
    std::optional<int64_t> ahead = subtract(bound->limit, *upper);
    if (!ahead || *ahead < *shift)
      continue;
    std::optional<Sum> last = Sum::combine(
        Sum::combine(bound->limit, lower, -1), Sum::of(int64_t(1)), -1);
    if (*ahead <= bound->least ||
        (bound->least > 0 && last && *ahead <= getMinimum(*last) + 1))
      return shift;
  }
  return std::nullopt;
}

/// The same for other steps: the number is a distance divided by the step. The
/// number of the last iteration before the limit is a quotient as well.
std::optional<int64_t> Matcher::matchQuotient(Value number) {
  auto isStep = [&](Value value) {
    return value == loop.getStep() ||
           (step && getConstantIntValue(value) == step);
  };
  auto division = number.getDefiningOp<arith::DivUIOp>();
  if (!division || !isStep(division.getRhs()))
    return std::nullopt;
  std::optional<Sum> distance = Sum::of(division.getLhs());
  std::optional<Sum> inSteps =
      distance ? distance->divideBy(loop.getStep()) : std::nullopt;
  auto lastAndShift = inSteps ? inSteps->asValueAndConstant() : std::nullopt;
  if (!lastAndShift || lastAndShift->second > 0)
    return std::nullopt;
  auto last = lastAndShift->first.getDefiningOp<arith::DivUIOp>();
  if (!last || !isStep(last.getRhs()))
    return std::nullopt;
  std::optional<Sum> dividend = Sum::of(last.getLhs());
  if (!dividend)
    return std::nullopt;
  for (arith::CmpIOp condition : conditions) {
    std::optional<Bound> bound = getBound(condition);
    if (!bound || bound->least < 1)
      continue;
    std::optional<Sum> wanted = Sum::combine(
        Sum::combine(bound->limit, lower, -1), Sum::of(int64_t(1)), -1);
    std::optional<Sum> ahead = Sum::combine(bound->limit, upper, -1);
    ahead = ahead ? ahead->divideBy(loop.getStep()) : std::nullopt;
    std::optional<int64_t> steps = ahead ? ahead->asConstant() : std::nullopt;
    if (!wanted || subtract(*dividend, *wanted) != 0 || !steps || *steps < 1 ||
        getMinimum(*Sum::of(lastAndShift->first)) < *steps)
      continue;
    // The loop runs last + 1 - steps times.
    int64_t shift = *steps - 1 + lastAndShift->second;
    if (shift >= 0)
      return shift;
  }
  return std::nullopt;
}

std::optional<int64_t> Matcher::match(Value slot) {
  while (isa_and_nonnull<arith::IndexCastUIOp>(slot.getDefiningOp()))
    slot = slot.getDefiningOp()->getOperand(0);
  Operation *remainder = slot.getDefiningOp();
  if (!isa_and_nonnull<arith::RemUIOp, arith::AndIOp>(remainder) || !lower ||
      !upper || !isOfCounter(slot))
    return std::nullopt;
  std::optional<int64_t> divisor =
      getConstantIntValue(remainder->getOperand(1));
  bool isMask = isa<arith::AndIOp>(remainder);
  if (divisor != depth - isMask || (isMask && !llvm::isPowerOf2_64(depth)))
    return std::nullopt;
  collectConditions();
  Value number = remainder->getOperand(0);
  std::optional<int64_t> shift =
      step == 1 ? matchNumber(number) : matchQuotient(number);
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
