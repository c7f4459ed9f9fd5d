//===- Evaluation.h - Whether known layouts meet constraints, and the cost
//-===//
//
// Costs are in issue cycles of one warp times `kCycle`, weighted by how often
// the op runs: of relayouts, transfers, reductions, and of ops that compute
// element by element. A register that a thread needs costs 1, so that it
// decides between solutions that take as long, and its price where a thread
// does not have enough of them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_EVALUATION_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_EVALUATION_H

#include "smalti/passes/Layouts/Plans/Relayouts.h"
#include "smalti/passes/Layouts/Rules/Constraints.h"

namespace smalti::inference {

inline constexpr int64_t kCycle = 64;

/// What is decided by known layouts alone. Answers are kept.
class Evaluator {
public:
  explicit Evaluator(ConstraintSystem &system)
      : system(system), layouts(system.getLayouts()) {}

  ConstraintSystem &getSystem() { return system; }
  LayoutTable &getLayouts() { return layouts; }

  /// Whether a constraint holds, whose variables are known (`b` is ignored
  /// where it has one). `asInJAX`: what JAX takes, or else all that is
  /// possible. Use counts as Relayout: that producer and user are equal is the
  /// solver's.
  bool holds(const Constraint &constraint, LayoutId a, LayoutId b,
             bool asInJAX);

  /// The cost of a constraint that holds.
  int64_t cost(const Constraint &constraint, LayoutId a, LayoutId b);
  /// The 32-bit registers that a thread needs for a vector.
  int64_t countRegisters(LayoutId layout, mlir::VectorType type);

  /// What the steps of a Becomes make of a layout: see applySteps.
  LayoutId apply(const Constraint &constraint, LayoutId layout, bool asInJAX);

  /// See RegisterLayouts.h.
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
  /// By the steps, the layout, and whether as in JAX.
  std::map<std::tuple<int, LayoutId, bool>, LayoutId> applied;
  std::map<std::tuple<const void *, LayoutId, LayoutId>,
           relayouts::RelayoutCost>
      relayoutCosts;
};

/// The tiles of 8 rows of 128, 64 and 32 bytes, of elements of `bits` bits.
llvm::SmallVector<llvm::SmallVector<int64_t, 2>, 4>
getMmaTiles(int64_t bits, bool isTransposed, bool withUnswizzled);

/// Whether a tile, if there is one, has no more dimensions than there are
/// multiples, and divides the last of them.
bool dividesMultiples(const LayoutValue &value,
                      llvm::ArrayRef<int64_t> multiples);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_EVALUATION_H
