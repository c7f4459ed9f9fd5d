//===- FloatClasses.h - Classes of floats -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_FLOATCLASSES_H
#define SMALTI_PASSES_SUPPORT_FLOATCLASSES_H

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti {

/// Expands `math.isinf` and `math.isnormal` to comparisons of the absolute
/// value. Must run before floats of 16 bits are extended, since denormal
/// numbers become normal ones.
void expandFloatClasses(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_FLOATCLASSES_H
