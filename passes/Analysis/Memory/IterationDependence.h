//===- IterationDependence.h - Dependences between loop iterations --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two accesses of one buffer depend on each other only between iterations that
// access the same elements. If the indices are linear in the iteration number,
// the dependence distance is decided by arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_ITERATIONDEPENDENCE_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_ITERATIONDEPENDENCE_H

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>

namespace smalti {

class UniformityAnalysis;

/// An index in iteration n: constant + sum of terms (loop-invariant values
/// times coefficients) + perIteration * n + perStep * n * step of the loop + a
/// number from 0 to spread.
struct LinearIndex {
  int64_t constant = 0;
  int64_t perIteration = 0;
  int64_t perStep = 0; ///< if the step is not a constant
  int64_t spread = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 2> terms;
};

/// `extent` elements from `start` on.
struct IndexRange {
  std::optional<LinearIndex> start;
  std::optional<int64_t> extent;
};

/// The elements that one access touches: ranges of indices of a memref that all
/// iterations share, or one range of elements of its root. Either may be
/// unknown.
struct AccessRegion {
  mlir::Value anchor;
  llvm::SmallVector<IndexRange, 2> ranges;
  IndexRange flat;
};

class IterationDependence {
public:
  /// If the loop synchronizes the threads of a block, accesses of different
  /// threads are compared too, and `acrossThreads` states which values the
  /// threads share. Otherwise it is null.
  IterationDependence(mlir::scf::ForOp loop,
                      const UniformityAnalysis *acrossThreads)
      : loop(loop), acrossThreads(acrossThreads) {}

  /// Whether `a` in some iteration and `b` in the iteration `distance` later
  /// may touch the same memory; their roots may alias.
  bool mayTouchSame(const MemoryAccess &a, const MemoryAccess &b,
                    int64_t distance);

private:
  using Index = std::optional<LinearIndex>;

  const AccessRegion &getRegion(const MemoryAccess &access);
  AccessRegion computeRegion(const MemoryAccess &access);
  void findRoot(AccessRegion &region, mlir::Value root);
  Index getIndex(mlir::Value value, unsigned depth = 0);
  Index computeIndex(mlir::Value value, unsigned depth);
  Index getSignedIndex(mlir::Value value, unsigned depth);
  Index getIndex(mlir::OpFoldResult value);
  Index getIndex(mlir::AffineExpr expr, mlir::ValueRange operands,
                 unsigned dims, unsigned depth);
  Index getInduction();
  Index getRecurrence(mlir::BlockArgument argument, unsigned depth);
  Index getInnerInduction(mlir::scf::ForOp inner, unsigned depth);
  Index getTerm(mlir::Value value);
  bool isSameInAllIterations(mlir::Value value);
  bool isSameInAllThreads(mlir::Value value);
  bool isSharedByThreads(mlir::Value root);
  bool areDisjoint(const IndexRange &a, const IndexRange &b, int64_t distance);

  mlir::scf::ForOp loop;
  const UniformityAnalysis *acrossThreads;
  llvm::DenseMap<mlir::Value, Index> indices;
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>,
                 std::unique_ptr<AccessRegion>>
      regions;
};

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_ITERATIONDEPENDENCE_H
