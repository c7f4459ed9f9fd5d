//===- TripCount.h - How often a loop runs --------------------------------===//

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

/// Whether the counter has bits that the passes do not count with.
bool hasWideCounter(mlir::scf::ForOp loop);

/// The number of iterations where bounds and step are constants, also where the
/// difference of the bounds overflows their type. Nothing where the step is
/// not positive, or the counter has more than 64 bits.
std::optional<uint64_t> getConstantTripCount(mlir::scf::ForOp loop);

/// The same, also where bounds and step are computed from constants. Upstream's
/// loop transformations do not see those as constants.
std::optional<uint64_t> evaluateTripCount(mlir::scf::ForOp loop);

/// Diagnoses the loops in `root` whose step is a constant that is not positive.
/// Upstream's folders drop such loops without a word.
llvm::LogicalResult checkLoopSteps(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_TRIPCOUNT_H
