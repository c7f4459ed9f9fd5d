//===- IndexChecks.h - Checks of indices at run time ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A check is a cf.assert with the attribute kIndexCheck, whose condition is
// "index ult size".
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_INDEXCHECKS_H
#define SMALTI_PASSES_SUPPORT_INDEXCHECKS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace mlir {
class Location;
class OpBuilder;
namespace cf {
class AssertOp;
} // namespace cf
} // namespace mlir

namespace smalti {

/// On a cf.assert that compares an index and a size, the dimension (i64).
inline constexpr llvm::StringLiteral kIndexCheck = "smalti.index_check";

/// The function of the emulator that reports an index that is not less than the
/// size: (i64 index, i64 size, i64 dimension).
inline constexpr llvm::StringLiteral kCheckIndexFunction = "smalti.check_index";

/// Checks an index of a dimension.
void createIndexCheck(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value index, mlir::Value size, int64_t dim);

struct IndexCheck {
  mlir::Value index, size;
  int64_t dim;
};

/// The operands of a check, unless a pass replaced the comparison.
std::optional<IndexCheck> matchIndexCheck(mlir::cf::AssertOp op);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_INDEXCHECKS_H
