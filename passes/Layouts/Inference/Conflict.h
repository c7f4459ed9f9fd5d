//===- Conflict.h - Why there are no layouts ------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_CONFLICT_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_CONFLICT_H

#include "smalti/passes/Layouts/Inference/Solver.h"

namespace smalti::inference {

/// Constraints of a problem that contradict each other, no one of which can be
/// left out; empty where the problem as such is no contradiction, but a
/// variable has no candidate. What takes too long to leave out stays. They are
/// numbers of the system, in order.
std::vector<int> findCore(Solver &solver, const Problem &problem);

/// The requirement of a constraint as a verb phrase, for diagnostics: "requires
/// WGMMA".
std::string describeConstraint(Evaluator &evaluator,
                               const Constraint &constraint);

/// One error for a problem without a solution: on the op that the contradiction
/// ends with, a note for each op that takes part, and how to resolve it.
void reportConflict(Solver &solver, const Problem &problem,
                    const Solution &solution, llvm::ArrayRef<int> core,
                    bool allowsRelayouts);

/// One error for a problem whose search took too long: where it was.
void reportOutOfFuel(Solver &solver, const Problem &problem,
                     const Solution &solution);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_CONFLICT_H
