//===- Evaluation.h - Validity and cost of layouts ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of relayouts, transfers, reductions and element-wise ops are in issue
// cycles of one warp times `kCycle`, multiplied by the estimated number of
// executions. A register of a thread costs 1, so that registers decide between
// solutions with the same cycles. Under register pressure it also costs its
// price.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_EVALUATION_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_EVALUATION_H

#include "smalti/passes/Layouts/Plans/Relayouts.h"
#include "smalti/passes/Layouts/Rules/Constraints.h"

namespace smalti::inference {

inline constexpr int64_t kCycle = 64;

/// Evaluates constraints whose layouts are known, and caches the results.
class Evaluator {
public:
  explicit Evaluator(ConstraintSystem &system)
      : system(system), layouts(system.getLayouts()) {}

  ConstraintSystem &getSystem() { return system; }
  LayoutTable &getLayouts() { return layouts; }

  /// Whether a constraint holds for known layouts (`b` is ignored for
  /// constraints of one variable). `asInJAX`: only what JAX accepts, instead of
  /// everything that is possible. A Use is evaluated as a Relayout; the solver
  /// requires equality.
  bool holds(const Constraint &constraint, LayoutId a, LayoutId b,
             bool asInJAX);

  /// The cost of a satisfied constraint.
  int64_t cost(const Constraint &constraint, LayoutId a, LayoutId b);
  /// The number of 32-bit registers per thread of a vector.
  int64_t countRegisters(LayoutId layout, mlir::VectorType type);

  /// The result of the steps of a Becomes: see applySteps.
  LayoutId apply(const Constraint &constraint, LayoutId layout, bool asInJAX);

  /// See listRegisterLayouts.
  llvm::ArrayRef<LayoutId> getRegisterLayouts(mlir::VectorType type);

  const relayouts::RelayoutCost &relayout(mlir::VectorType type, LayoutId from,
                                          LayoutId to);

private:
  bool isTransfer(const Constraint &transfer, LayoutId memory,
                  LayoutId registers, bool asInJAX);
  transfers::TransferProblem getProblem(const Constraint &transfer,
                                        LayoutId memory, LayoutId registers);
  int64_t transferCost(const Constraint &transfer, LayoutId memory,
                       LayoutId registers);
  bool isGlobalTransfer(const Constraint &transfer, LayoutId registers);
  int64_t globalCost(const Constraint &transfer, LayoutId registers);
  int64_t copyCost(const Constraint &copy, LayoutId memory);
  int64_t reductionCost(const Constraint &constraint, LayoutId a, LayoutId b);
  bool isMmaTile(const Constraint &constraint, LayoutId layout);
  bool isBroadcast(const Constraint &constraint, LayoutId a, LayoutId b);

  ConstraintSystem &system;
  LayoutTable &layouts;
  using TransferKey = std::tuple<const void *, LayoutId, LayoutId, int>;
  std::map<TransferKey, bool> transferable;
  std::map<TransferKey, int64_t> transferCosts;
  llvm::DenseMap<std::pair<LayoutId, mlir::Type>, int64_t> registerCounts;
  llvm::DenseMap<mlir::Type, std::vector<LayoutId>> registerLayouts;
  /// Key: steps, layout, asInJAX.
  std::map<std::tuple<int, LayoutId, bool>, LayoutId> applied;
  std::map<std::tuple<const void *, LayoutId, LayoutId>,
           relayouts::RelayoutCost>
      relayoutCosts;
};

/// The tiles of 8 rows of 128, 64 and 32 bytes for elements of `bits` bits, and
/// of 16 bytes with `withUnswizzled`.
llvm::SmallVector<llvm::SmallVector<int64_t, 2>, 4>
getMmaTiles(int64_t bits, bool isTransposed, bool withUnswizzled);

/// Whether a layout is untiled, or its tile divides the last of the multiples
/// and does not have more dimensions.
bool dividesMultiples(const LayoutValue &value,
                      llvm::ArrayRef<int64_t> multiples);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_EVALUATION_H
