//===- DoubleFunctions.h - Accurate functions of f64 ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_THREADLEVEL_DOUBLEFUNCTIONS_H
#define SMALTI_PASSES_CONVERSION_THREADLEVEL_DOUBLEFUNCTIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti {

/// Expands functions of f64 to arithmetic, for targets whose library has larger
/// errors than its vendor documents. `isExpanded` selects among cbrt, expm1,
/// log10, sinh and tanh of math. Errors are less than 0.6 ulp. An expansion of
/// cbrt corrects the result of math.cbrt.
void expandDoubleFunctions(
    mlir::Operation *root,
    llvm::function_ref<bool(mlir::Operation *)> isExpanded);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_THREADLEVEL_DOUBLEFUNCTIONS_H
