//===- IntegerSum.cpp - Sums of multiples of values -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;
using namespace smalti;

bool IntegerSum::add(Monomial monomial, int64_t coefficient) {
  if (monomial.second < monomial.first)
    std::swap(monomial.first, monomial.second);
  int64_t &sum = monomials[monomial];
  sum += coefficient;
  bool fits = isSmall(sum);
  if (sum == 0)
    monomials.erase(monomial);
  return fits;
}

std::optional<int64_t> IntegerSum::asConstant() const {
  if (monomials.empty())
    return 0;
  if (monomials.size() > 1 || monomials.begin()->first != Monomial())
    return std::nullopt;
  return monomials.begin()->second;
}

std::optional<std::pair<Value, int64_t>>
IntegerSum::asValueAndConstant() const {
  Value value;
  int64_t constant = 0;
  for (auto [monomial, coefficient] : monomials) {
    if (monomial == Monomial()) {
      constant = coefficient;
      continue;
    }
    // In the monomial of a single value, the null comes first.
    if (value || monomial.first || coefficient != 1)
      return std::nullopt;
    value = Value::getFromOpaquePointer(monomial.second);
  }
  if (!value)
    return std::nullopt;
  return std::make_pair(value, constant);
}

SmallVector<Value> IntegerSum::getValues() const {
  SmallVector<Value> values;
  for (const auto &[monomial, coefficient] : monomials)
    for (void *value : {monomial.first, monomial.second})
      if (value &&
          !llvm::is_contained(values, Value::getFromOpaquePointer(value)))
        values.push_back(Value::getFromOpaquePointer(value));
  return values;
}

bool IntegerSum::hasOnce(Value value) const {
  void *key = value.getAsOpaquePointer();
  return llvm::all_of(monomials, [&](const auto &entry) {
    auto [monomial, coefficient] = entry;
    return monomial.first != key &&
           (monomial.second != key || (!monomial.first && coefficient == 1));
  });
}

std::optional<IntegerSum> IntegerSum::divideBy(Value divisor) const {
  IntegerSum result;
  std::optional<int64_t> constant = evaluateConstant(divisor);
  std::optional<IntegerSum> sum = of(divisor);
  if (auto same = sum ? sum->asValueAndConstant() : std::nullopt;
      same && same->second == 0)
    divisor = same->first;
  for (auto [monomial, coefficient] : monomials) {
    if (constant) {
      if (*constant <= 0 || coefficient % *constant != 0)
        return std::nullopt;
      result.add(monomial, coefficient / *constant);
      continue;
    }
    void *key = divisor.getAsOpaquePointer();
    if (monomial.second == key)
      result.add({nullptr, monomial.first}, coefficient);
    else if (monomial.first == key)
      result.add({nullptr, monomial.second}, coefficient);
    else
      return std::nullopt;
  }
  return result;
}

std::optional<IntegerSum>
IntegerSum::combine(const std::optional<IntegerSum> &a,
                    const std::optional<IntegerSum> &b, int64_t sign) {
  if (!a || !b)
    return std::nullopt;
  IntegerSum sum = *a;
  for (auto [monomial, coefficient] : b->monomials)
    if (!sum.add(monomial, sign * coefficient))
      return std::nullopt;
  return sum;
}

std::optional<IntegerSum>
IntegerSum::multiply(const std::optional<IntegerSum> &a,
                     const std::optional<IntegerSum> &b) {
  if (!a || !b)
    return std::nullopt;
  IntegerSum result;
  for (auto [monomialA, coefficientA] : a->monomials)
    for (auto [monomialB, coefficientB] : b->monomials) {
      // Monomials of three values are not supported.
      if ((monomialA.first && monomialB.second) ||
          (monomialB.first && monomialA.second))
        return std::nullopt;
      Monomial monomial = monomialA.first ? monomialA
                          : monomialB.first
                              ? monomialB
                              : Monomial(monomialA.second, monomialB.second);
      if (!result.add(monomial, coefficientA * coefficientB))
        return std::nullopt;
    }
  return result;
}

static bool isDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
             arith::CeilDivUIOp, arith::CeilDivSIOp>(op);
}

/// The constant value of the sum, if the type can represent it.
static std::optional<int64_t> asConstantOf(const IntegerSum &sum, Type type) {
  std::optional<int64_t> constant = sum.asConstant();
  unsigned width = ConstantIntRanges::getStorageBitwidth(type);
  if (!constant || width == 0 || width > 64 || !llvm::isIntN(width, *constant))
    return std::nullopt;
  return constant;
}

/// Folds an op with constant operands, and quotients and remainders whose
/// dividend is 0 or equals the divisor.
std::optional<IntegerSum> IntegerSum::fold(Operation *op, unsigned budget) {
  auto infer = dyn_cast<InferIntRangeInterface>(op);
  if (!infer || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !op->getResult(0).getType().isIntOrIndex())
    return std::nullopt;
  SmallVector<IntegerSum> operands;
  SmallVector<ConstantIntRanges> ranges;
  for (Value operand : op->getOperands()) {
    std::optional<IntegerSum> sum =
        operand.getType().isIntOrIndex() ? of(operand, budget) : std::nullopt;
    if (!sum)
      return std::nullopt;
    operands.push_back(*sum);
    if (std::optional<int64_t> constant = asConstantOf(*sum, operand.getType()))
      ranges.push_back(ConstantIntRanges::constant(
          APInt(ConstantIntRanges::getStorageBitwidth(operand.getType()),
                *constant, /*isSigned=*/true)));
  }
  bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
  if (isDivision(op) || isRemainder) {
    if (operands[0].asConstant() == 0)
      return of(int64_t(0));
    if (operands[0] == operands[1])
      return of(int64_t(isRemainder ? 0 : 1));
  }
  if (ranges.size() != operands.size())
    return std::nullopt;
  std::optional<APInt> constant;
  infer.inferResultRanges(ranges, [&](Value, const ConstantIntRanges &range) {
    constant = range.getConstantValue();
  });
  if (!constant || constant->getSignificantBits() > 31)
    return std::nullopt;
  return of(constant->getSExtValue());
}

std::optional<IntegerSum>
IntegerSum::of(AffineExpr expr, affine::AffineApplyOp apply, unsigned budget) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return isSmall(constant.getValue()) ? std::optional(of(constant.getValue()))
                                        : std::nullopt;
  if (budget == 0)
    return std::nullopt;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return of(apply.getDimOperands()[dim.getPosition()], budget - 1);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return of(apply.getSymbolOperands()[symbol.getPosition()], budget - 1);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<IntegerSum> lhs = of(binary.getLHS(), apply, budget - 1),
                            rhs = of(binary.getRHS(), apply, budget - 1);
  if (expr.getKind() == AffineExprKind::Add)
    return combine(lhs, rhs, 1);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(lhs, rhs);
  if (!lhs || !rhs)
    return std::nullopt;
  std::optional<int64_t> dividend = lhs->asConstant(),
                         divisor = rhs->asConstant();
  bool isRemainder = expr.getKind() == AffineExprKind::Mod;
  if (dividend == 0)
    return of(int64_t(0));
  if (*lhs == *rhs)
    return of(int64_t(isRemainder ? 0 : 1));
  if (!dividend || !divisor || *divisor <= 0)
    return std::nullopt;
  if (isRemainder)
    return of(int64_t(llvm::mod(*dividend, *divisor)));
  return of(expr.getKind() == AffineExprKind::FloorDiv
                ? llvm::divideFloorSigned(*dividend, *divisor)
                : llvm::divideCeilSigned(*dividend, *divisor));
}

std::optional<int64_t> smalti::evaluateConstant(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  auto dynamic = dyn_cast_if_present<Value>(value);
  std::optional<IntegerSum> sum = dynamic && dynamic.getType().isIntOrIndex()
                                      ? IntegerSum::of(dynamic)
                                      : std::nullopt;
  return sum ? asConstantOf(*sum, dynamic.getType()) : std::nullopt;
}

Value smalti::getCopiedValue(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    std::optional<IntegerSum> sum = IntegerSum::of(value);
    auto same = sum ? sum->asValueAndConstant() : std::nullopt;
    if (!same || same->second != 0 || same->first == value)
      return value;
    value = same->first;
  }
  return value;
}

std::optional<IntegerSum> IntegerSum::of(Value value, unsigned budget) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    if (!isSmall(*constant))
      return std::nullopt;
    return of(*constant);
  }
  Operation *op = budget == 0 ? nullptr : value.getDefiningOp();
  std::optional<IntegerSum> result;
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, LLVM::AddOp, LLVM::SubOp>(
          op))
    result = combine(of(op->getOperand(0), budget - 1),
                     of(op->getOperand(1), budget - 1),
                     isa<arith::AddIOp, LLVM::AddOp>(op) ? 1 : -1);
  else if (isa_and_nonnull<arith::MulIOp, LLVM::MulOp>(op))
    result = multiply(of(op->getOperand(0), budget - 1),
                      of(op->getOperand(1), budget - 1));
  else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op))
    result = of(apply.getAffineMap().getResult(0), apply, budget - 1);
  else if (op)
    result = fold(op, budget - 1);
  if (result)
    return result;
  IntegerSum sum;
  sum.add({nullptr, value.getAsOpaquePointer()}, 1);
  return sum;
}

std::optional<SmallVector<IntegerSum::Term>> IntegerSum::getTerms() const {
  SmallVector<Term> terms;
  for (auto [monomial, coefficient] : monomials) {
    if (monomial.first)
      return std::nullopt;
    terms.emplace_back(monomial.second
                           ? Value::getFromOpaquePointer(monomial.second)
                           : Value(),
                       coefficient);
  }
  return terms;
}
