//===- Conflict.h - Diagnostics for unsatisfiable layout constraints ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_CONFLICT_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_CONFLICT_H

#include "smalti/passes/Layouts/Inference/Solver.h"

namespace smalti::inference {

/// A minimal set of contradictory constraints of a problem, as sorted indices
/// into the system. It is empty if the constraints are not contradictory, but a
/// variable has no candidate. The set is not minimal if the search exceeds its
/// budget.
std::vector<int> findCore(Solver &solver, const Problem &problem);

/// The requirement of a constraint as a verb phrase, for diagnostics: "requires
/// WGMMA".
std::string describeConstraint(Evaluator &evaluator,
                               const Constraint &constraint);

/// The layouts of a constraint that they violate, for diagnostics: "the
/// unsupported layout WGMMA for the result in registers".
std::string describeLayouts(const ConstraintSystem &system,
                            const LayoutTable &table,
                            const Constraint &constraint,
                            llvm::ArrayRef<LayoutId> layouts);

/// Emits one error for an unsatisfiable problem on the last op of the
/// contradiction, a note for each op in it, and a hint.
void reportConflict(Solver &solver, const Problem &problem,
                    const Solution &solution, llvm::ArrayRef<int> core,
                    bool allowsRelayouts);

/// Emits one error for a search that exceeded its fuel, with the values that
/// have no layout yet.
void reportOutOfFuel(Solver &solver, const Problem &problem,
                     const Solution &solution);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_CONFLICT_H
