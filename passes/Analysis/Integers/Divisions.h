//===- Divisions.h - Divisions of integers ----------------------*- C++ -*-===//
//
// Division by zero, and the least integer divided by -1, are undefined in
// arith, index and llvm. LLVM drops the code that leads there.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_INTEGERS_DIVISIONS_H
#define SMALTI_PASSES_ANALYSIS_INTEGERS_DIVISIONS_H

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"

namespace smalti {

/// The operands of a division, or of a remainder, that is undefined for some of
/// their values. One of the two flags is set.
struct Division {
  mlir::Value dividend, divisor;
  bool maybeByZero = false;
  bool maybeOverflow = false;
  /// Nothing but the alternatives of selects uses the results, which compare
  /// the divisor if it is not constant: the program may drop what is undefined,
  /// as modules of JAX do.
  bool isOnlySelected = false;
};

/// The operands of `op`; nothing if `op` does not divide integers, is defined
/// for all values that the operands may have, or is not executed.
std::optional<Division> matchUndefinedDivision(mlir::Operation *op,
                                               const IntegerRanges &ranges);

/// Diagnoses the divisions in `root` that are undefined for all values that
/// their operands may have, unless nothing but the alternatives of selects uses
/// the results.
llvm::LogicalResult checkDivisions(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_INTEGERS_DIVISIONS_H
