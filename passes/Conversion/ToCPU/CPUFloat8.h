//===- CPUFloat8.h - 8-bit floats on the CPU --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUFLOAT8_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUFLOAT8_H

namespace mlir {
class Operation;
class Type;
} // namespace mlir

namespace smalti {

/// Whether widenFloat8() supports the type.
bool isFloat8OfCPU(mlir::Type type);

/// Expands every extension of an 8-bit float to bit operations, since CPUs do
/// not have an instruction for it.
void widenFloat8(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUFLOAT8_H
