//===- DoubleFunctions.cpp - Accurate functions of f64 --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The leading terms of each function are unevaluated sums of two numbers. The
// sum and the quotient of such pairs are those of J.-M. Muller et al., Handbook
// of Floating-Point Arithmetic, 2nd edition, chapters 4 and 14. Arguments are
// reduced as in W. Cody and W. Waite, Software Manual for the Elementary
// Functions. The polynomials are Taylor series.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/ThreadLevel/DoubleFunctions.h"

#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace smalti;
using arith::CmpFPredicate;

namespace {

/// An unevaluated sum. The second number is at most half a unit in the last
/// place of the first one.
struct Pair {
  Value high, low;
};

class DoubleFunction {
public:
  explicit DoubleFunction(Operation *op)
      : b(op->getLoc(), op), type(op->getResult(0).getType()),
        integers(withElement(type, b.getI64Type())), x(op->getOperand(0)) {}

  Value expm1();
  Value sinh();
  Value tanh();
  Value log10();
  Value cbrt();

private:
  Value constant(TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped.clone(value.getType()),
                                     Attribute(value));
    return arith::ConstantOp::create(b, value);
  }
  Value number(double value) { return constant(b.getF64FloatAttr(value)); }
  Value integer(int64_t value) { return constant(b.getI64IntegerAttr(value)); }
  Value add(Value p, Value q) { return arith::AddFOp::create(b, p, q); }
  Value subtract(Value p, Value q) { return arith::SubFOp::create(b, p, q); }
  Value multiply(Value p, Value q) { return arith::MulFOp::create(b, p, q); }
  Value divide(Value p, Value q) { return arith::DivFOp::create(b, p, q); }
  Value negate(Value p) { return arith::NegFOp::create(b, p); }
  Value magnitude(Value p) { return math::AbsFOp::create(b, p); }
  /// p * q + r, rounded once.
  Value fma(Value p, Value q, Value r) {
    return math::FmaOp::create(b, p, q, r);
  }
  Value compare(CmpFPredicate predicate, Value p, double q) {
    return arith::CmpFOp::create(b, predicate, p, number(q));
  }
  Value select(Value condition, Value p, Value q) {
    return arith::SelectOp::create(b, condition, p, q);
  }
  /// The smaller number; NaN is kept.
  Value atMost(Value p, double q) {
    return select(compare(CmpFPredicate::OGT, p, q), number(q), p);
  }
  Value bitsOf(Value p) { return arith::BitcastOp::create(b, integers, p); }
  Value numberOf(Value bits) { return arith::BitcastOp::create(b, type, bits); }

  /// The exact sum.
  Pair sum(Value p, Value q) {
    Value high = add(p, q);
    Value rest = subtract(high, p);
    return {high, add(subtract(p, subtract(high, rest)), subtract(q, rest))};
  }
  /// The exact sum if |p| >= |q| or p = 0.
  Pair ordered(Value p, Value q) {
    Value high = add(p, q);
    return {high, subtract(q, subtract(high, p))};
  }
  Pair sum(Pair p, double q) {
    Pair high = sum(number(q), p.high);
    return ordered(high.high, add(high.low, p.low));
  }
  Pair quotient(Pair p, Pair q) {
    Value high = divide(p.high, q.high);
    Value rest = add(fma(negate(high), q.high, p.high),
                     subtract(p.low, multiply(high, q.low)));
    return ordered(high, divide(rest, q.high));
  }
  /// The value of a polynomial; the highest coefficient is the first one.
  Value polynomial(ArrayRef<double> coefficients, Value p) {
    Value value = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      value = fma(value, p, number(coefficient));
    return value;
  }

  Pair quarterOfExpM1(Value exponent);

  ImplicitLocOpBuilder b;
  Type type, integers;
  Value x;
};

} // namespace

/// (exp(x) - 1) / 4 for x from -708 to 711; exp(x) may overflow. With
/// x = n ln(2) + r, it is (2^n - 1) / 4 + 2^n / 4 (r + r^2 / 2 + ...).
Pair DoubleFunction::quarterOfExpM1(Value exponent) {
  // The sum is rounded to an integer, which is in the low bits.
  Value shift = number(0x1.8p52);
  Value shifted = fma(exponent, number(0x1.71547652b82fep+0), shift);
  Value n = subtract(shifted, shift);
  Value power = arith::SubIOp::create(b, bitsOf(shifted), bitsOf(shift));
  // ln(2) in two parts of 42 bits; multiplications by n are exact.
  Pair r = sum(fma(n, number(-0x1.62e42fefa38p-1), exponent),
               multiply(n, number(-0x1.ef35793c76p-45)));
  Value half = multiply(r.high, number(0.5));
  Value square = multiply(half, r.high);
  Value squareLow =
      add(fma(half, r.high, negate(square)), multiply(r.high, r.low));
  // 1/15!, ..., 1/3!
  SmallVector<double> coefficients;
  double factorial = 2;
  for (int k = 3; k <= 15; ++k)
    coefficients.insert(coefficients.begin(), 1 / (factorial *= k));
  Value tail = multiply(multiply(polynomial(coefficients, r.high), r.high),
                        multiply(r.high, r.high));
  Pair series = ordered(r.high, square);
  Value low = add(series.low, add(add(r.low, squareLow), tail));

  Value scale = numberOf(arith::ShLIOp::create(
      b, arith::AddIOp::create(b, power, integer(1023 - 2)), integer(52)));
  Pair start = sum(scale, number(-0.25));
  Pair total = sum(start.high, multiply(scale, series.high));
  return ordered(total.high, fma(scale, low, add(start.low, total.low)));
}

Value DoubleFunction::expm1() {
  // Beyond these bounds the result is -1 or infinity.
  Value bounded = atMost(x, 710);
  bounded =
      select(compare(CmpFPredicate::OLT, bounded, -40), number(-40), bounded);
  Value result = multiply(quarterOfExpM1(bounded).high, number(4));
  return select(compare(CmpFPredicate::OLT, magnitude(x), 0x1p-54), x, result);
}

/// With e = exp(|x|) - 1, it is (e + e / (e + 1)) / 2.
Value DoubleFunction::sinh() {
  Value positive = magnitude(x);
  Pair e = quarterOfExpM1(atMost(positive, 710.5));
  Pair fraction = quotient(e, sum(e, 0.25));
  Value quarter = number(0.25);
  Pair total = sum(e.high, multiply(fraction.high, quarter));
  Value low = add(total.low, fma(fraction.low, quarter, e.low));
  Value result = multiply(add(total.high, low), number(2));
  result =
      select(compare(CmpFPredicate::OLT, positive, 0x1p-27), positive, result);
  return math::CopySignOp::create(b, result, x);
}

/// With e = exp(2 |x|) - 1, it is e / (e + 2).
Value DoubleFunction::tanh() {
  Value positive = magnitude(x);
  // Beyond the bound the result is 1.
  Pair e = quarterOfExpM1(multiply(atMost(positive, 22), number(2)));
  Value result = quotient(e, sum(e, 0.5)).high;
  result =
      select(compare(CmpFPredicate::OLT, positive, 0x1p-27), positive, result);
  return math::CopySignOp::create(b, result, x);
}

/// With x = 2^n m and m from sqrt(1/2) to sqrt(2), the logarithm of m is
/// 2 atanh(s) = 2 (s + s^3 / 3 + ...) with s = (m - 1) / (m + 1).
Value DoubleFunction::log10() {
  Value isSubnormal = compare(CmpFPredicate::OLT, x, 0x1p-1022);
  Value scaled = select(isSubnormal, multiply(x, number(0x1p54)), x);
  // The bits of sqrt(1/2).
  Value root = integer(0x3fe6a09e667f3bcd);
  Value distance = arith::SubIOp::create(b, bitsOf(scaled), root);
  Value m = numberOf(arith::AddIOp::create(
      b, arith::AndIOp::create(b, distance, integer((int64_t(1) << 52) - 1)),
      root));
  Value n = arith::SIToFPOp::create(
      b, type, arith::ShRSIOp::create(b, distance, integer(52)));
  n = select(isSubnormal, subtract(n, number(54)), n);

  Value zero = number(0);
  Pair s = quotient({subtract(m, number(1)), zero}, sum(m, number(1)));
  Value square = multiply(s.high, s.high);
  // 1/23, ..., 1/3
  SmallVector<double> coefficients;
  for (int k = 23; k >= 3; k -= 2)
    coefficients.push_back(1.0 / k);
  Value tail =
      multiply(multiply(polynomial(coefficients, square), square), s.high);
  // 2 / ln(10) as a pair.
  Value factor = number(0x1.bcb7b1526e50ep-1);
  Value logarithm = multiply(factor, s.high);
  Value low = fma(factor, s.high, negate(logarithm));
  low = fma(factor, add(s.low, tail), low);
  low = fma(number(0x1.95355baaafad3p-56), s.high, low);
  // log10(2) in two parts; the multiplication by the first one is exact.
  Pair total = sum(multiply(n, number(0x1.34413509f78p-2)), logarithm);
  low = fma(n, number(0x1.fef311f12b358p-46), low);
  Value result = add(total.high, add(total.low, low));

  constexpr double infinity = std::numeric_limits<double>::infinity();
  result = select(compare(CmpFPredicate::OEQ, x, 0), number(-infinity), result);
  result = select(compare(CmpFPredicate::OLT, x, 0),
                  number(std::numeric_limits<double>::quiet_NaN()), result);
  // Infinity and NaN.
  return select(compare(CmpFPredicate::OLT, x, infinity), result, x);
}

/// A step of Newton's method, with the exact difference of x and y^3.
Value DoubleFunction::cbrt() {
  // In this range the step neither overflows nor loses bits.
  Value isSmall = compare(CmpFPredicate::OLT, magnitude(x), 1);
  Value scaled =
      multiply(x, select(isSmall, number(0x1p600), number(0x1p-300)));
  Value y = math::CbrtOp::create(b, scaled);
  Value square = multiply(y, y);
  Value squareLow = fma(y, y, negate(square));
  Value cube = multiply(square, y);
  Value cubeLow = fma(squareLow, y, fma(square, y, negate(cube)));
  Value difference = subtract(subtract(scaled, cube), cubeLow);
  Value step = divide(difference, multiply(square, number(3)));
  // The step is NaN for zeros, infinities and NaN.
  step = select(compare(CmpFPredicate::ORD, step, 0), step, number(-0.0));
  return multiply(add(y, step),
                  select(isSmall, number(0x1p-200), number(0x1p100)));
}

void smalti::expandDoubleFunctions(
    Operation *root, llvm::function_ref<bool(Operation *)> isExpanded) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isExpanded(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF64())
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    DoubleFunction function(op);
    Value result = TypeSwitch<Operation *, Value>(op)
                       .Case([&](math::ExpM1Op) { return function.expm1(); })
                       .Case([&](math::SinhOp) { return function.sinh(); })
                       .Case([&](math::TanhOp) { return function.tanh(); })
                       .Case([&](math::Log10Op) { return function.log10(); })
                       .Case([&](math::CbrtOp) { return function.cbrt(); });
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}
