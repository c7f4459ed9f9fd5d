//===- IntegerRanges.h - Ranges of integers and indices ---------*- C++ -*-===//
//
// Upstream's IntegerRangeAnalysis and ValueBoundsConstraintSet behind one
// query. Added to them: the tile id of a triton_xla.entry_func, and counters of
// unsigned loops, which upstream takes for signed ones.
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

/// Numbers from `low` to `high`, both included.
struct SignedRange {
  int64_t low = 0, high = 0;

  bool isWithin(int64_t least, int64_t most) const {
    return least <= low && high <= most;
  }
};

/// The ranges of the values in one op. The op is analyzed at the first query.
class IntegerRanges {
public:
  explicit IntegerRanges(mlir::Operation *root);
  ~IntegerRanges();
  IntegerRanges(const IntegerRanges &) = delete;
  IntegerRanges &operator=(const IntegerRanges &) = delete;

  /// Forgets the results, after a change of the op.
  void reset();

  /// What upstream infers for a value; all numbers of its width where it infers
  /// nothing.
  mlir::ConstantIntRanges getRanges(mlir::Value value) const;
  /// The range as signed numbers; nothing where the value has more than 64
  /// bits.
  std::optional<SignedRange> get(mlir::OpFoldResult value) const;
  /// Whether the op may be executed: not where ranges decide the conditions of
  /// ops around it.
  bool isLive(mlir::Operation *op) const;
  /// Whether an index is certainly not negative, by its range or by the bounds
  /// that ops state (findConstantUpperBound).
  bool isNonNegative(mlir::Value index) const;

private:
  mlir::DataFlowSolver &getSolver() const;

  mlir::Operation *root;
  /// Set by the first query.
  mutable std::unique_ptr<mlir::DataFlowSolver> solver;
};

/// The closed constant upper bound of a dimension, from upstream's analysis of
/// bounds. It walks back as far as the program does, again for each value, so
/// that time would grow with the square of the program: only the nearest 16
/// values are considered.
std::optional<int64_t> findConstantUpperBound(mlir::Value shaped, int64_t dim);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_INTEGERRANGES_H
