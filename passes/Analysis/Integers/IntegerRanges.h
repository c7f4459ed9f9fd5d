//===- IntegerRanges.h - Ranges of integers and indices ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's IntegerRangeAnalysis and ValueBoundsConstraintSet with one query
// interface. Two cases are added: the tile id of a triton_xla.entry_func, and
// the induction variables of unsigned loops, which upstream treats as signed.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERRANGES_H
#define SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERRANGES_H

#include "mlir/IR/OpDefinition.h"

#include <memory>
#include <optional>

namespace mlir {
class ConstantIntRanges;
class DataFlowSolver;
} // namespace mlir

namespace smalti {

/// The numbers from `low` to `high`, inclusive.
struct SignedRange {
  int64_t low = 0, high = 0;

  bool isWithin(int64_t least, int64_t most) const {
    return least <= low && high <= most;
  }
};

/// The ranges of the values in one op. The first query analyzes the op.
class IntegerRanges {
public:
  explicit IntegerRanges(mlir::Operation *root);
  ~IntegerRanges();
  IntegerRanges(const IntegerRanges &) = delete;
  IntegerRanges &operator=(const IntegerRanges &) = delete;

  /// Discards the results, after the op has changed.
  void reset();

  /// The range that upstream infers for a value, or all numbers of its width.
  mlir::ConstantIntRanges getRanges(mlir::Value value) const;
  /// The range as signed numbers; nothing if the value has more than 64 bits.
  std::optional<SignedRange> get(mlir::OpFoldResult value) const;
  /// Whether the op may be executed. It is not if ranges decide the conditions
  /// of ops around it.
  bool isLive(mlir::Operation *op) const;
  /// Whether an index is proven not to be negative, by its range or by the
  /// bounds that ops state (findConstantUpperBound).
  bool isNonNegative(mlir::Value index) const;

private:
  mlir::DataFlowSolver &getSolver() const;

  mlir::Operation *root;
  /// Set by the first query.
  mutable std::unique_ptr<mlir::DataFlowSolver> solver;
};

/// The closed constant upper bound of a dimension, from upstream's bounds
/// analysis. That analysis walks back through all defining ops for each value,
/// which takes quadratic time, so only the nearest 16 values are considered.
std::optional<int64_t> findConstantUpperBound(mlir::Value shaped, int64_t dim);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERRANGES_H
