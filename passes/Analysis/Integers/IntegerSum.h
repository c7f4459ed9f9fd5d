//===- IntegerSum.h - Linear combinations of index values -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

/// A linear combination of monomials of at most two values; the empty monomial
/// is the constant. Equal sums are equal values, even if they wrap. The match
/// looks through arith and affine.apply, and folds constants, so the IR need
/// not be canonical.
class IntegerSum {
public:
  static std::optional<IntegerSum> of(mlir::Value value, unsigned budget = 12);
  /// An expression of the map of `apply`; nothing if it is not a sum.
  static std::optional<IntegerSum> of(mlir::AffineExpr expr,
                                      mlir::affine::AffineApplyOp apply,
                                      unsigned budget = 12);
  /// Larger numbers do not occur in iteration numbers, and could overflow.
  static bool isSmall(int64_t value) { return llvm::isInt<31>(value); }
  static IntegerSum of(int64_t constant) {
    IntegerSum sum;
    sum.add({nullptr, nullptr}, constant);
    return sum;
  }

  std::optional<int64_t> asConstant() const;
  /// The value and the constant, if the sum is one value plus a constant.
  std::optional<std::pair<mlir::Value, int64_t>> asValueAndConstant() const;
  bool operator==(const IntegerSum &other) const {
    return monomials == other.monomials;
  }
  /// All values of the sum, in unspecified order.
  llvm::SmallVector<mlir::Value> getValues() const;
  /// Whether the value occurs in the sum once, as a monomial of its own with
  /// coefficient 1.
  bool hasOnce(mlir::Value value) const;
  /// The sum divided by a value, if every monomial contains the value.
  std::optional<IntegerSum> divideBy(mlir::Value divisor) const;
  static std::optional<IntegerSum> combine(const std::optional<IntegerSum> &a,
                                           const std::optional<IntegerSum> &b,
                                           int64_t sign);

  /// A value of the sum, null for the constant, and its coefficient.
  using Term = std::pair<mlir::Value, int64_t>;
  /// Returns nothing if a monomial has two values.
  std::optional<llvm::SmallVector<Term>> getTerms() const;

private:
  /// An ordered pair.
  using Monomial = std::pair<void *, void *>;

  bool add(Monomial monomial, int64_t coefficient);
  static std::optional<IntegerSum> fold(mlir::Operation *op, unsigned budget);
  static std::optional<IntegerSum> multiply(const std::optional<IntegerSum> &a,
                                            const std::optional<IntegerSum> &b);

  std::map<Monomial, int64_t> monomials;
};

/// The signed constant value, including values that are computed from
/// constants.
std::optional<int64_t> evaluateConstant(mlir::OpFoldResult value);
/// The value that `value` is a copy of, through casts between index and integer
/// types and additions of zero.
mlir::Value getCopiedValue(mlir::Value value);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERSUM_H
