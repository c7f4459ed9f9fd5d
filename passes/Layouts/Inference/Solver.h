//===- Solver.h - Layouts that meet all constraints, and cost least -------===//
//
// Variables that must be equal are merged; what follows is propagated; the rest
// is searched, depth first. Variables that no constraint connects any more are
// searched apart from each other. As in JAX, candidates are tried in JAX's
// order (Candidates.h), so that the first solution is the one that JAX finds;
// the search goes on for a cheaper one, and prunes what costs as much already.
// Otherwise one class after the other gets its cheapest layout, and the
// solution is improved by changes (Improvement.h).
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_SOLVER_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_SOLVER_H

#include "smalti/passes/Layouts/Inference/Evaluation.h"

#include "llvm/ADT/DenseSet.h"

namespace smalti::inference {

class SearchState;

/// Constraints that variables connect, by their number in the system, in order.
struct Problem {
  std::vector<VarId> vars;
  std::vector<int> constraints;
};

struct SolveMode {
  /// JAX's relayouts, transfers and candidates alone.
  bool asInJAX = true;
  /// Uses that a relayout may serve.
  const llvm::DenseSet<int> *relaxed = nullptr;
  /// Whether what no candidate is known for counts as solved: to tell whether
  /// constraints contradict each other.
  bool refuteOnly = false;
  /// Whether the first solution will do.
  bool firstOnly = false;
};

enum class SolveStatus {
  Solved,
  Conflict,  ///< there is no solution
  OutOfFuel, ///< none was found before the fuel was used up
};

struct Solution {
  SolveStatus status = SolveStatus::Conflict;
  /// One for each variable of the problem, when solved.
  std::vector<LayoutId> layouts;
  int64_t cost = 0;
  /// Variables without a layout when the fuel was used up, or for which there
  /// was no candidate.
  std::vector<VarId> stuck;
};

/// Assignments that the search tries for one problem: `fuel` until it has a
/// solution, `improvements` for a cheaper one.
struct SolverLimits {
  int64_t fuel = 100000;
  int64_t improvements = 1000;
};

class Solver {
public:
  Solver(Evaluator &evaluator, SolverLimits limits)
      : evaluator(evaluator), limits(limits), fuel(limits.fuel) {}

  Solution solve(const Problem &problem, const SolveMode &mode);
  /// Makes a solution cheaper: `layouts` are those of the problem's variables.
  void improve(const Problem &problem, const SolveMode &mode,
               llvm::MutableArrayRef<LayoutId> layouts);

  int64_t getTried() const { return limits.fuel - fuel; }
  int64_t getFuelLimit() const { return limits.fuel; }
  Evaluator &getEvaluator() { return evaluator; }
  /// Gives all of the fuel back, for another problem.
  void refuel() { fuel = limits.fuel; }
  /// Gives back what refutations used.
  void setFuel(int64_t newFuel) { fuel = newFuel; }
  int64_t getFuel() const { return fuel; }

private:
  static std::vector<LayoutId> takeLayouts(const SearchState &state,
                                           const Problem &problem);

  Evaluator &evaluator;
  SolverLimits limits;
  int64_t fuel;
  /// The number of a variable within the problem that is being solved.
  std::vector<int> locals;
};

/// The parts of the system that no constraint connects.
std::vector<Problem> splitIntoProblems(const ConstraintSystem &system);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_SOLVER_H
