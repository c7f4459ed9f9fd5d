//===- IntegerSum.h - Sums of multiples of values ---------------*- C++ -*-===//

#ifndef SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERSUM_H
#define SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERSUM_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <optional>
#include <utility>

namespace smalti {

/// A sum of multiples of values and of products of two; the product of none is
/// the constant. Equal sums are equal values, whatever wraps. Looks through
/// arith and affine.apply, and folds what is computed from constants, so that a
/// program need not be canonical.
class IntegerSum {
public:
  static std::optional<IntegerSum> of(mlir::Value value, unsigned budget = 12);
  /// An expression of the map of `apply`; nothing where it is not such a sum.
  static std::optional<IntegerSum> of(mlir::AffineExpr expr,
                                      mlir::affine::AffineApplyOp apply,
                                      unsigned budget = 12);
  /// Larger numbers have nothing to do with iterations, and could overflow.
  static bool isSmall(int64_t value) { return llvm::isInt<31>(value); }
  static IntegerSum of(int64_t constant) {
    IntegerSum sum;
    sum.add({nullptr, nullptr}, constant);
    return sum;
  }

  std::optional<int64_t> asConstant() const;
  /// The value, if the sum is one value and a constant.
  std::optional<std::pair<mlir::Value, int64_t>> asValueAndConstant() const;
  bool operator==(const IntegerSum &other) const {
    return products == other.products;
  }
  /// All values of the sum, in no order that is of any use.
  llvm::SmallVector<mlir::Value> getValues() const;
  /// Whether the value is in the sum just as it is, once.
  bool hasOnce(mlir::Value value) const;
  /// The sum divided by a value, if that is a factor of each product.
  std::optional<IntegerSum> divideBy(mlir::Value divisor) const;
  static std::optional<IntegerSum> combine(const std::optional<IntegerSum> &a,
                                           const std::optional<IntegerSum> &b,
                                           int64_t sign);

  /// One value of the sum, null for the constant, and its factor.
  using Term = std::pair<mlir::Value, int64_t>;
  /// Nothing if there are products of two values.
  std::optional<llvm::SmallVector<Term>> getTerms() const;

private:
  /// Ordered.
  using Product = std::pair<void *, void *>;

  bool add(Product product, int64_t factor);
  static std::optional<IntegerSum> fold(mlir::Operation *op, unsigned budget);
  static std::optional<IntegerSum> multiply(const std::optional<IntegerSum> &a,
                                            const std::optional<IntegerSum> &b);

  std::map<Product, int64_t> products;
};

/// The constant that the value is, also where it is computed from constants, as
/// a number with a sign.
std::optional<int64_t> evaluateConstant(mlir::OpFoldResult value);
/// What a value is a copy of: it adds nothing, and only casts between index and
/// integer types.
mlir::Value getCopiedValue(mlir::Value value);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERSUM_H
