//===- MatmulOps.cpp - Matmuls of tiles -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"

using namespace mlir;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// DotOp
//===----------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(),
                   accumulator = getAccumulator().getType();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || accumulator.getRank() != 2)
    return emitOpError("expected operands of rank 2, but found ")
           << lhs << ", " << rhs << " and " << accumulator;
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError("lhs elements are ")
           << lhs.getElementType() << ", but rhs elements are "
           << rhs.getElementType();
  Type element = lhs.getElementType();
  bool isInteger = element.isSignlessInteger(8);
  if (!isInteger &&
      !isa<Float16Type, BFloat16Type, Float32Type, Float8E4M3FNType,
           Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType>(element))
    return emitOpError("expected lhs and rhs elements of f16, bf16, f32, "
                       "f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ or i8, but "
                       "found ")
           << element;
  Type sum = accumulator.getElementType();
  if (isInteger ? !sum.isSignlessInteger(32) : !sum.isF32())
    return emitOpError("expected an accumulator of ")
           << (isInteger ? "i32" : "f32") << ", but found " << sum;
  if (lhs.getDimSize(1) != rhs.getDimSize(0))
    return emitOpError("lhs has ")
           << lhs.getDimSize(1) << " columns, but rhs has " << rhs.getDimSize(0)
           << " rows";
  if (accumulator.getDimSize(0) != lhs.getDimSize(0) ||
      accumulator.getDimSize(1) != rhs.getDimSize(1))
    return emitOpError("the matmul result is ")
           << lhs.getDimSize(0) << "x" << rhs.getDimSize(1)
           << ", but the accumulator is " << accumulator.getDimSize(0) << "x"
           << accumulator.getDimSize(1);
  if (getTf32() && !element.isF32())
    return emitOpError("tf32 requires f32 operands, but found ") << element;
  return success();
}
