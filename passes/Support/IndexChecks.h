//===- IndexChecks.h - Checks of indices at run time ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A check is a cf.assert with the attribute kIndexCheck, whose condition is
// "index ult size".
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_INDEXCHECKS_H
#define SMALTI_PASSES_SUPPORT_INDEXCHECKS_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include <optional>

namespace smalti {

/// The function of the emulator that reports an index that is not less than the
/// size: (i64 index, i64 size, i64 dimension).
inline constexpr llvm::StringLiteral kCheckIndexFunction = "smalti.check_index";

/// Checks an index of a dimension.
inline void createIndexCheck(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value index, mlir::Value size, int64_t dim) {
  mlir::Value isInside = mlir::arith::CmpIOp::create(
      builder, loc, mlir::arith::CmpIPredicate::ult, index, size);
  auto check = mlir::cf::AssertOp::create(
      builder, loc, isInside,
      ("the index of dimension " + llvm::Twine(dim) + " is out of bounds")
          .str());
  check->setAttr(kIndexCheck, builder.getI64IntegerAttr(dim));
}

struct IndexCheck {
  mlir::Value index, size;
  int64_t dim;
};

/// The operands of a check, unless a pass replaced the comparison.
inline std::optional<IndexCheck> matchIndexCheck(mlir::cf::AssertOp op) {
  auto dim = op->getAttrOfType<mlir::IntegerAttr>(kIndexCheck);
  auto compare = op.getArg().getDefiningOp<mlir::arith::CmpIOp>();
  if (!dim || !compare || !compare.getLhs().getType().isIndex())
    return std::nullopt;
  mlir::Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (compare.getPredicate() == mlir::arith::CmpIPredicate::ult)
    return IndexCheck{lhs, rhs, dim.getInt()};
  // Canonicalization moves constants to the right.
  if (compare.getPredicate() == mlir::arith::CmpIPredicate::ugt)
    return IndexCheck{rhs, lhs, dim.getInt()};
  return std::nullopt;
}

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_INDEXCHECKS_H
