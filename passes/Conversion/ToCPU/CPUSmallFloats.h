//===- CPUSmallFloats.h - Floats of at most 8 bits on the CPU ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUSMALLFLOATS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUSMALLFLOATS_H

namespace mlir {
class Operation;
class Type;
} // namespace mlir

namespace smalti {

/// Whether the type is a float of at most 8 bits.
bool isSmallFloat(mlir::Type type);

/// Whether expandSmallFloats() supports the conversion, an arith.extf or
/// arith.truncf.
bool isSmallFloatConversion(mlir::Operation *op);

/// Expands conversions from and to small floats to integer ops, since CPUs do
/// not have an instruction for them. A truncation rounds to nearest even and
/// saturates, also from infinity. NaN stays NaN; in a type without NaN, it
/// becomes the largest value. f8E8M0FNU represents powers of two: a negative
/// value becomes NaN, and zero becomes the smallest value.
void expandSmallFloats(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUSMALLFLOATS_H
