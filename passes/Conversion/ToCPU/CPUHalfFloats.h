//===- CPUHalfFloats.h - 16-bit floats on the CPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUHALFFLOATS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUHALFFLOATS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace smalti {

/// Computes f16 and bf16 arithmetic in f32 and rounds after each op. For +, -,
/// *, / and sqrt the result is correctly rounded; fma uses f64 for the same
/// reason.
llvm::LogicalResult computeInF32(mlir::ModuleOp scratch);

/// Expands ops without an LLVM equivalent: rounding divisions, and bf16 casts,
/// which would call the compiler's runtime library. (Upstream's arith-expand
/// would also expand minimumf and maximumf and ignore the sign of zeros.)
llvm::LogicalResult expandForLLVM(mlir::ModuleOp scratch);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUHALFFLOATS_H
