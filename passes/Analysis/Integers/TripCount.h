//===- TripCount.h - Trip counts of scf.for ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_ANALYSIS_INTEGERS_TRIPCOUNT_H
#define SMALTI_PASSES_ANALYSIS_INTEGERS_TRIPCOUNT_H

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <optional>

namespace mlir {
class Operation;
namespace scf {
class ForOp;
} // namespace scf
} // namespace mlir

namespace smalti {

/// Whether the induction variable has more than 64 bits, which the passes do
/// not support.
bool hasWideCounter(mlir::scf::ForOp loop);

/// The trip count if bounds and step are constants, even if the difference of
/// the bounds overflows their type. Returns nothing if the step is not
/// positive, or the induction variable has more than 64 bits.
std::optional<uint64_t> getConstantTripCount(mlir::scf::ForOp loop);

/// The same, including bounds and steps that are computed from constants.
/// Upstream's loop transformations do not treat those as constants.
std::optional<uint64_t> evaluateTripCount(mlir::scf::ForOp loop);

/// Diagnoses the loops in `root` whose step is a constant that is not positive.
/// Upstream's folders drop those loops silently.
llvm::LogicalResult checkLoopSteps(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_TRIPCOUNT_H
