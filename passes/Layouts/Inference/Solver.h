//===- Solver.h - Search for the cheapest layout assignment ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The solver merges variables that must be equal, propagates constraints, and
// searches the remaining variables depth-first. Variables that are not
// connected by constraints are searched independently. In JAX mode, candidates
// are tried in JAX's order (Candidates.h), so the first solution is that of
// JAX. The search then continues for a cheaper solution and prunes by cost. In
// the extended mode, each class is assigned its cheapest layout, and local
// search improves the solution (Improvement.h).
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_SOLVER_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_SOLVER_H

#include "smalti/passes/Layouts/Inference/Evaluation.h"

#include "llvm/ADT/DenseSet.h"

namespace smalti::inference {

class SearchState;

/// Connected constraints and their variables, as sorted indices into the
/// system.
struct Problem {
  std::vector<VarId> vars;
  std::vector<int> constraints;
};

struct SolveMode {
  /// Only the relayouts, transfers and candidates of JAX.
  bool asInJAX = true;
  /// Uses at which a relayout may be inserted.
  const llvm::DenseSet<int> *relaxed = nullptr;
  /// Whether variables without candidates count as solved, which only tests for
  /// a contradiction.
  bool refuteOnly = false;
  /// Whether the search stops at the first solution.
  bool firstOnly = false;
};

enum class SolveStatus {
  Solved,
  Conflict,  ///< a solution does not exist
  OutOfFuel, ///< the fuel was used up before a solution was found
};

struct Solution {
  SolveStatus status = SolveStatus::Conflict;
  /// One layout for each variable of the problem, if solved.
  std::vector<LayoutId> layouts;
  int64_t cost = 0;
  /// Variables without a layout when the fuel was used up, or without a
  /// candidate.
  std::vector<VarId> stuck;
};

/// Limits of the assignments for one problem: `fuel` for a first solution,
/// `improvements` for a cheaper one.
struct SolverLimits {
  int64_t fuel = 100000;
  int64_t improvements = 1000;
};

class Solver {
public:
  Solver(Evaluator &evaluator, SolverLimits limits)
      : evaluator(evaluator), limits(limits), fuel(limits.fuel) {}

  Solution solve(const Problem &problem, const SolveMode &mode);
  /// Improves a solution; `layouts` are the layouts of the variables of the
  /// problem.
  void improve(const Problem &problem, const SolveMode &mode,
               llvm::MutableArrayRef<LayoutId> layouts);

  int64_t getTried() const { return limits.fuel - fuel; }
  Evaluator &getEvaluator() { return evaluator; }
  /// Sets the remaining fuel.
  void setFuel(int64_t newFuel) { fuel = newFuel; }
  int64_t getFuel() const { return fuel; }

private:
  static std::vector<LayoutId> takeLayouts(const SearchState &state,
                                           const Problem &problem);

  Evaluator &evaluator;
  SolverLimits limits;
  int64_t fuel;
  /// The index of a variable in the current problem.
  std::vector<int> locals;
};

/// Splits the system into independent problems.
std::vector<Problem> splitIntoProblems(const ConstraintSystem &system);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_SOLVER_H
