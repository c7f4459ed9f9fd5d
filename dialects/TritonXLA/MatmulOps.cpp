//===- MatmulOps.cpp - Matmuls of tiles -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"

using namespace mlir;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// DotOp
//===----------------------------------------------------------------------===//

static bool isOCPFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}
static bool isFNUZFloat8(Type type) {
  return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
}

/// Checks the shapes of `accumulator + lhs * rhs`, of rank 2 or batches of it.
static LogicalResult verifyMatmulShapes(Operation *op, RankedTensorType lhs,
                                        RankedTensorType rhs,
                                        RankedTensorType accumulator) {
  int64_t rank = lhs.getRank();
  if ((rank != 2 && rank != 3) || rhs.getRank() != rank ||
      accumulator.getRank() != rank)
    return op->emitOpError("expected operands of rank 2, or of rank 3 for a "
                           "batch, but found ")
           << lhs << ", " << rhs << " and " << accumulator;
  if (rank == 3 && (rhs.getDimSize(0) != lhs.getDimSize(0) ||
                    accumulator.getDimSize(0) != lhs.getDimSize(0)))
    return op->emitOpError("expected batches of one size, but found ")
           << lhs.getDimSize(0) << ", " << rhs.getDimSize(0) << " and "
           << accumulator.getDimSize(0);
  int64_t row = rank - 2, column = rank - 1;
  if (lhs.getDimSize(column) != rhs.getDimSize(row))
    return op->emitOpError("lhs has ")
           << lhs.getDimSize(column) << " columns, but rhs has "
           << rhs.getDimSize(row) << " rows";
  if (accumulator.getDimSize(row) != lhs.getDimSize(row) ||
      accumulator.getDimSize(column) != rhs.getDimSize(column))
    return op->emitOpError("the matmul result is ")
           << lhs.getDimSize(row) << "x" << rhs.getDimSize(column)
           << ", but the accumulator is " << accumulator.getDimSize(row) << "x"
           << accumulator.getDimSize(column);
  return success();
}

/// Checks the element types of operands that are not scaled.
static LogicalResult verifyMatmulElements(Operation *op, Type lhs, Type rhs,
                                          Type accumulator) {
  bool areMixed = (isOCPFloat8(lhs) && isOCPFloat8(rhs)) ||
                  (isFNUZFloat8(lhs) && isFNUZFloat8(rhs));
  if (lhs != rhs && !areMixed)
    return op->emitOpError("lhs elements are ")
           << lhs << ", but rhs elements are " << rhs;
  bool isInteger = lhs.isSignlessInteger(8);
  if (!isInteger && !areMixed &&
      !isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(lhs))
    return op->emitOpError("expected lhs and rhs elements of f16, bf16, f32, "
                           "f64, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ or "
                           "i8, but found ")
           << lhs;
  StringRef expected = isInteger     ? "i32"
                       : lhs.isF64() ? "f64"
                       : lhs.isF16() ? "f32 or f16"
                                     : "f32";
  bool matches = isInteger     ? accumulator.isSignlessInteger(32)
                 : lhs.isF64() ? accumulator.isF64()
                               : accumulator.isF32() ||
                                     (lhs.isF16() && accumulator.isF16());
  if (!matches)
    return op->emitOpError("expected an accumulator of ")
           << expected << ", but found " << accumulator;
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(),
                   accumulator = getAccumulator().getType();
  Type element = lhs.getElementType();
  if (failed(verifyMatmulElements(*this, element, rhs.getElementType(),
                                  accumulator.getElementType())) ||
      failed(verifyMatmulShapes(*this, lhs, rhs, accumulator)))
    return failure();
  if ((getUnsignedLhs() || getUnsignedRhs()) && !element.isInteger())
    return emitOpError(
               "unsigned_lhs and unsigned_rhs require i8 operands, but found ")
           << element;
  DotAlgorithm algorithm = getAlgorithm();
  if (algorithm == DotAlgorithm::Default ||
      (algorithm == DotAlgorithm::IEEE && element.isF64()))
    return success();
  if (!element.isF32())
    return emitOpError() << stringifyDotAlgorithm(algorithm)
                         << (algorithm == DotAlgorithm::IEEE
                                 ? " requires f32 or f64 operands, but found "
                                 : " requires f32 operands, but found ")
                         << element;
  return success();
}
