//===- IterationDependence.h - Which iterations touch the same memory -----===//
//
// Two accesses of one buffer depend on each other only between iterations in
// which they touch the same elements. Where the indices are linear in the
// number of the iteration, that is a matter of arithmetic.
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

/// An index in iteration number n: the constant, plus the terms (values that
/// are the same in all iterations, times coefficients), plus perIteration * n,
/// plus perStep * n * the loop's step, plus something from 0 to spread.
struct LinearIndex {
  int64_t constant = 0;
  int64_t perIteration = 0;
  int64_t perStep = 0; ///< where the step is not a constant
  int64_t spread = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 2> terms;
};

/// Elements from the index on.
struct IndexRange {
  std::optional<LinearIndex> start;
  std::optional<int64_t> extent;
};

/// What one access touches, as ranges of the indices of a memref that all
/// iterations share, or as one range of elements of its root; neither may be
/// known.
struct AccessRegion {
  mlir::Value anchor;
  llvm::SmallVector<IndexRange, 2> ranges;
  IndexRange flat;
};

class IterationDependence {
public:
  /// Where the threads of a block wait for one another in the loop, the
  /// accesses of different threads count as well: `acrossThreads` says which
  /// values the threads share. Otherwise it is null.
  IterationDependence(mlir::scf::ForOp loop,
                      const UniformityAnalysis *acrossThreads)
      : loop(loop), acrossThreads(acrossThreads) {}

  /// Whether `a` in some iteration and `b` so many iterations later may touch
  /// the same memory; their roots may alias.
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
