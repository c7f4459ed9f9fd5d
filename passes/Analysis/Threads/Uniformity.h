//===- Uniformity.h - Block-uniform and wave-uniform values -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a block that observe the same value: all of them, those of a
// wave, or each its own. This is the only list of the ops whose results are
// uniform or divergent. Other analyses are built on it: ThreadValues evaluates
// the value of each lane, and IterationDependence finds the linear form of an
// index in the iteration number.
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

/// The threads among which a value is uniform: those that reach the same point
/// observe the same value.
enum class UniformScope : uint8_t { Block, Wave, Lane };

struct Uniformity {
  UniformScope scope = UniformScope::Block;
  /// The value depends on an argument of a function that is not a kernel, or on
  /// memory. It has the scope only if these are uniform, which is neither
  /// proven nor contradicted.
  bool isAssumed = false;

  bool isBlockUniform() const {
    return scope == UniformScope::Block && !isAssumed;
  }
};

/// Whether the result of the op is block-uniform by definition, like a block
/// id.
bool isBlockUniformSource(mlir::Operation *op);

/// Whether the argument of a function or of a gpu.launch is block-uniform by
/// definition.
bool isBlockUniformSource(mlir::BlockArgument argument);

/// The uniformity of the values of one function, in linear time. The first
/// query analyzes the function.
class UniformityAnalysis {
public:
  /// Without a wave size, a value is wave-uniform only if it is block-uniform.
  explicit UniformityAnalysis(mlir::FunctionOpInterface function,
                              int64_t waveSize = 0);
  ~UniformityAnalysis();
  UniformityAnalysis(const UniformityAnalysis &) = delete;
  UniformityAnalysis &operator=(const UniformityAnalysis &) = delete;

  /// Discards the results, after the function has changed.
  void reset();

  Uniformity get(mlir::Value value) const;
  /// The uniformity of the operands that select the path through the regions of
  /// an op: conditions and bounds.
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
