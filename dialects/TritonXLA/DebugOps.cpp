//===- DebugOps.cpp - Debugging, facts and random numbers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// PrintOp
//===----------------------------------------------------------------------===//

std::string PrintOp::getLabel(unsigned number) {
  if (getValues().size() == 1)
    return getText().str();
  return (getText() + " #" + Twine(number)).str();
}

//===----------------------------------------------------------------------===//
// AssertOp, AssumeOp, AssumeMultipleOp
//===----------------------------------------------------------------------===//

LogicalResult AssertOp::verify() {
  Type element = getElementTypeOrSelf(getCondition());
  if (!element.isInteger(1))
    return emitOpError("the condition must be an i1 or a tile of i1, but its "
                       "elements are ")
           << element;
  return success();
}

/// Erases an op whose condition is the constant true.
template <typename ConditionOp>
static LogicalResult eraseIfTrue(ConditionOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult AssertOp::canonicalize(AssertOp op, PatternRewriter &rewriter) {
  return eraseIfTrue(op, rewriter);
}

LogicalResult AssumeOp::canonicalize(AssumeOp op, PatternRewriter &rewriter) {
  return eraseIfTrue(op, rewriter);
}

LogicalResult AssumeMultipleOp::verify() {
  Type type = getValue().getType();
  auto divisor = static_cast<int64_t>(getDivisor());
  if (type.isInteger(32) && !llvm::isInt<32>(divisor))
    return emitOpError("the divisor is ")
           << divisor << ", which exceeds the range of " << type
           << "; use a smaller divisor, or index";
  return success();
}

OpFoldResult AssumeMultipleOp::fold(FoldAdaptor adaptor) {
  if (getDivisor() == 1 || adaptor.getValue())
    return getValue();
  return {};
}

//===----------------------------------------------------------------------===//
// RandomBitsOp
//===----------------------------------------------------------------------===//

LogicalResult RandomBitsOp::verify() {
  if (getCounters().empty() || getCounters().size() > 4)
    return emitOpError("one to four counters are required, but the op has ")
           << getCounters().size();
  Type type = getCounters().front().getType();
  if (!getElementTypeOrSelf(type).isInteger(32))
    return emitOpError("the counters must be i32 or tiles of i32, but their "
                       "elements are ")
           << getElementTypeOrSelf(type);
  auto hasType = [&](Type other) { return other == type; };
  if (!llvm::all_of(getCounters().getTypes(), hasType) ||
      !llvm::all_of(getResultTypes(), hasType))
    return emitOpError("all counters and results must have the same type, but "
                       "the counters are ")
           << getCounters().getTypes() << " and the results "
           << getResultTypes();
  return success();
}
