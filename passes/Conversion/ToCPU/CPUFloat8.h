//===- CPUFloat8.h - 8-bit floats on the CPU --------------------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUFLOAT8_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUFLOAT8_H

namespace mlir {
class Operation;
class Type;
} // namespace mlir

namespace smalti {

/// Whether widenFloat8() knows the type.
bool isFloat8OfCPU(mlir::Type type);

/// Writes every extension of an 8-bit float as operations on its bits: no
/// processor has one.
void widenFloat8(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUFLOAT8_H
