//===- IterationParity.h - The parity of an iteration's phase -------------===//
//
// A barrier object completes one phase for each iteration that uses it. The
// phases have parity 0, 1, 0, 1 and so on, and programs compute that in many
// ways.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SLOTS_ITERATIONPARITY_H
#define SMALTI_PASSES_SLOTS_ITERATIONPARITY_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace mlir {
class OpBuilder;
class Type;
class Value;
namespace scf {
class ForOp;
} // namespace scf
} // namespace mlir

namespace smalti {

/// Where `value`, in the body of `loop`, is 0 or 1 and changes in every
/// iteration: what it is in the first one. Sums, remainders, comparisons,
/// selections and carried values are seen through.
std::optional<bool> matchIterationParity(mlir::Value value,
                                         mlir::scf::ForOp loop);

/// Computes, in the body of `loop`, how often the slot of the iteration was
/// used by earlier ones, modulo 2, as a value of the integer type `type`.
mlir::Value createSlotParity(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                             int64_t depth, mlir::Type type);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ITERATIONPARITY_H
