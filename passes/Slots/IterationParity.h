//===- IterationParity.h - Parity of an iteration's mbarrier phase --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each iteration that uses an mbarrier completes one of its phases. The phases
// have parity 0, 1, 0, 1 and so on, which kernels compute in many forms.
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

/// If `value`, in the body of `loop`, is 0 or 1 and alternates in every
/// iteration: its value in the first one. The match looks through sums,
/// remainders, comparisons, selects and carried values.
std::optional<bool> matchIterationParity(mlir::Value value,
                                         mlir::scf::ForOp loop);

/// Computes, in the body of `loop`, how many earlier iterations used the slot
/// of the iteration, modulo 2, as a value of the integer type `type`.
mlir::Value createSlotParity(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                             int64_t depth, mlir::Type type);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ITERATIONPARITY_H
