//===- Divisions.h - Divisions of integers ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Division by zero, and division of the smallest integer by -1, are undefined
// in arith, index and llvm. LLVM drops the code that reaches them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_INTEGERS_DIVISIONS_H
#define SMALTI_PASSES_ANALYSIS_INTEGERS_DIVISIONS_H

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"

namespace smalti {

/// The operands of a division or remainder that is undefined for some of their
/// values. One of the two flags is set.
struct Division {
  mlir::Value dividend, divisor;
  bool maybeByZero = false;
  bool maybeOverflow = false;
  /// Only alternatives of selects use the results and, if the divisor is not
  /// constant, the select compares it. The undefined result may be dropped, as
  /// in modules of JAX.
  bool isOnlySelected = false;
};

/// Matches a division or remainder of integers that may be undefined. Returns
/// nothing if it is defined for all possible operands, or is not executed.
std::optional<Division> matchUndefinedDivision(mlir::Operation *op,
                                               const IntegerRanges &ranges);

/// Diagnoses the divisions in `root` that are undefined for all possible
/// operands, unless only alternatives of selects use the results.
llvm::LogicalResult checkDivisions(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_DIVISIONS_H
