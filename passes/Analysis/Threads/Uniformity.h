//===- Uniformity.h - Block-uniform and wave-uniform values -----*- C++ -*-===//
//
// Which threads of a block see the same value: all of them, those of a wave, or
// each its own. This is the only place that lists the ops whose results differ
// between threads or do not. Clients that need more than that are built on it:
// ThreadValues evaluates the value of each lane, IterationDependence finds the
// linear form of an index in the number of the iteration.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_THREADS_UNIFORMITY_H
#define SMALTI_PASSES_ANALYSIS_THREADS_UNIFORMITY_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <memory>

namespace mlir {
class DataFlowSolver;
class OpFoldResult;
class RegionBranchOpInterface;
} // namespace mlir

namespace smalti {

/// The threads among which a value is uniform: those of them that reach the
/// same point see the same value.
enum class UniformScope : uint8_t { Block, Wave, Lane };

struct Uniformity {
  UniformScope scope = UniformScope::Block;
  /// The value depends on an argument of a function that is not a kernel, or on
  /// the content of memory: it has the scope if these are uniform, which
  /// nothing proves or contradicts.
  bool isAssumed = false;

  bool isBlockUniform() const {
    return scope == UniformScope::Block && !isAssumed;
  }
};

/// Whether the op's result is block-uniform by definition, like a block id.
bool isBlockUniformSource(mlir::Operation *op);

/// Whether the argument of a function or of a gpu.launch is block-uniform by
/// definition.
bool isBlockUniformSource(mlir::BlockArgument argument);

/// The uniformity of the values of one function, in time proportional to its
/// size. The function is analyzed at the first query.
class UniformityAnalysis {
public:
  /// Without a wave size no value is wave-uniform that is not block-uniform.
  explicit UniformityAnalysis(mlir::FunctionOpInterface function,
                              int64_t waveSize = 0);
  ~UniformityAnalysis();
  UniformityAnalysis(const UniformityAnalysis &) = delete;
  UniformityAnalysis &operator=(const UniformityAnalysis &) = delete;

  /// Forgets the results, after a change of the function.
  void reset();

  Uniformity get(mlir::Value value) const;
  /// Of the operands that decide which path is taken through the regions of an
  /// op: conditions and bounds.
  Uniformity getControl(mlir::RegionBranchOpInterface op) const;

  bool isBlockUniform(mlir::Value value) const {
    return get(value).isBlockUniform();
  }
  /// Whether all threads of the block execute `op` equally often: no branch or
  /// loop around it is divergent.
  bool isReachedUniformly(mlir::Operation *op) const;

private:
  mlir::FunctionOpInterface function;
  int64_t waveSize;
  /// Set by the first query.
  mutable std::unique_ptr<mlir::DataFlowSolver> solver;

  mlir::DataFlowSolver &getSolver() const;
};

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_THREADS_UNIFORMITY_H
