//===- Divisions.cpp - Divisions of integers ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/Divisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smalti;

static bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
             arith::RemSIOp, index::DivSOp, index::CeilDivSOp,
             index::FloorDivSOp, index::RemSOp, LLVM::SDivOp, LLVM::SRemOp>(op);
}

static bool isUnsignedDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, index::DivUOp,
             index::CeilDivUOp, index::RemUOp, LLVM::UDivOp, LLVM::URemOp>(op);
}

/// Whether a value is a number, or a splat of one, other than 0 and -1. Most
/// divisors are, and do not require range analysis.
static bool isHarmlessConstant(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && !number.isZero() &&
         !number.isAllOnes();
}

/// Whether the results of an op only reach the alternatives of selects, within
/// a few ops.
static bool isOnlySelected(Operation *op) {
  // A select on another condition, such as that of an expanded arith.ceildivui,
  // does not indicate that the divisor may be invalid.
  Value divisor = op->getOperand(1);
  auto comparesDivisor = [&](Operation *select) {
    auto compare = select->getOperand(0).getDefiningOp<arith::CmpIOp>();
    return compare && llvm::is_contained(compare->getOperands(), divisor);
  };
  bool isConstant = matchPattern(divisor, m_Constant());
  constexpr size_t kMaxOps = 64;
  llvm::SetVector<Operation *> ops;
  ops.insert(op);
  for (size_t number = 0; number < ops.size(); ++number) {
    if (number == kMaxOps)
      return false;
    for (OpOperand &use : ops[number]->getUses()) {
      Operation *user = use.getOwner();
      if (isa<arith::SelectOp, LLVM::SelectOp>(user) &&
          use.getOperandNumber() != 0 && (isConstant || comparesDivisor(user)))
        continue;
      if (!isMemoryEffectFree(user) || user->getNumRegions() != 0 ||
          user->hasTrait<OpTrait::IsTerminator>())
        return false;
      ops.insert(user);
    }
  }
  return true;
}

std::optional<Division>
smalti::matchUndefinedDivision(Operation *op, const IntegerRanges &ranges) {
  bool isSigned = isSignedDivision(op);
  if (!isSigned && !isUnsignedDivision(op))
    return std::nullopt;
  Division division{op->getOperand(0), op->getOperand(1)};
  if (isHarmlessConstant(division.divisor))
    return std::nullopt;
  ConstantIntRanges divisors = ranges.getRanges(division.divisor);
  ConstantIntRanges dividends = ranges.getRanges(division.dividend);
  division.maybeByZero = divisors.umin().isZero();
  division.maybeOverflow = isSigned && divisors.umax().isAllOnes() &&
                           dividends.smin().isMinSignedValue();
  if ((!division.maybeByZero && !division.maybeOverflow) || !ranges.isLive(op))
    return std::nullopt;
  division.isOnlySelected = isOnlySelected(op);
  return division;
}

LogicalResult smalti::checkDivisions(Operation *root) {
  IntegerRanges ranges(root);
  bool isValid = true;
  root->walk([&](Operation *op) {
    std::optional<Division> division = matchUndefinedDivision(op, ranges);
    if (!division)
      return;
    std::optional<APInt> divisor =
        ranges.getRanges(division->divisor).getConstantValue();
    if (!divisor || division->isOnlySelected)
      return;
    if (divisor->isZero()) {
      isValid = false;
      op->emitOpError("divides by 0; the divisor must not be 0");
      return;
    }
    std::optional<APInt> dividend =
        ranges.getRanges(division->dividend).getConstantValue();
    if (division->maybeOverflow && dividend) {
      isValid = false;
      std::string number = llvm::toString(*dividend, /*Radix=*/10,
                                          /*Signed=*/true);
      op->emitOpError("divides ")
          << number << " by -1; the quotient exceeds the range of "
          << getElementTypeOrSelf(division->divisor.getType());
    }
  });
  return success(isValid);
}
