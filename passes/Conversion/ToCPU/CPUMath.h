//===- CPUMath.h - Vectorized functions on the CPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUMATH_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUMATH_H

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti {

/// Expands math.exp of f32 to arithmetic, which is vectorized; the function of
/// the C library is called once per element. The relative error is less than
/// 2^-22, and subnormal results are rounded twice.
void expandExp(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUMATH_H
