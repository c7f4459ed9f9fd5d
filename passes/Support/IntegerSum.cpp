//===- IntegerSum.cpp - Sums of multiples of values -----------------------===//

#include "passes/Support/IntegerSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace smalti;

bool IntegerSum::add(Product product, int64_t factor) {
  if (product.second < product.first)
    std::swap(product.first, product.second);
  int64_t &sum = products[product];
  sum += factor;
  bool fits = isSmall(sum);
  if (sum == 0)
    products.erase(product);
  return fits;
}

std::optional<int64_t> IntegerSum::asConstant() const {
  if (products.empty())
    return 0;
  if (products.size() > 1 || products.begin()->first != Product())
    return std::nullopt;
  return products.begin()->second;
}

std::optional<std::pair<Value, int64_t>>
IntegerSum::asValueAndConstant() const {
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

SmallVector<Value> IntegerSum::getValues() const {
  SmallVector<Value> values;
  for (const auto &[product, factor] : products)
    for (void *value : {product.first, product.second})
      if (value &&
          !llvm::is_contained(values, Value::getFromOpaquePointer(value)))
        values.push_back(Value::getFromOpaquePointer(value));
  return values;
}

bool IntegerSum::hasOnce(Value value) const {
  void *key = value.getAsOpaquePointer();
  return llvm::all_of(products, [&](const auto &entry) {
    auto [product, factor] = entry;
    return product.first != key &&
           (product.second != key || (!product.first && factor == 1));
  });
}

std::optional<IntegerSum> IntegerSum::divideBy(Value divisor) const {
  IntegerSum result;
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

std::optional<IntegerSum>
IntegerSum::combine(const std::optional<IntegerSum> &a,
                    const std::optional<IntegerSum> &b, int64_t sign) {
  if (!a || !b)
    return std::nullopt;
  IntegerSum sum = *a;
  for (auto [product, factor] : b->products)
    if (!sum.add(product, sign * factor))
      return std::nullopt;
  return sum;
}

std::optional<IntegerSum>
IntegerSum::multiply(const std::optional<IntegerSum> &a,
                     const std::optional<IntegerSum> &b) {
  if (!a || !b)
    return std::nullopt;
  IntegerSum result;
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
  if (result)
    return result;
  IntegerSum sum;
  sum.add({nullptr, value.getAsOpaquePointer()}, 1);
  return sum;
}

std::optional<SmallVector<IntegerSum::Term>> IntegerSum::getTerms() const {
  SmallVector<Term> terms;
  for (auto [product, factor] : products) {
    if (product.first)
      return std::nullopt;
    terms.emplace_back(
        product.second ? Value::getFromOpaquePointer(product.second) : Value(),
        factor);
  }
  return terms;
}
