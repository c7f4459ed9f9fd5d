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
    return op->emitOpError(
               "lhs, rhs and the accumulator must all have rank 2, or "
               "rank 3 for a batch, but are ")
           << lhs << ", " << rhs << " and " << accumulator;
  if (rank == 3 && (rhs.getDimSize(0) != lhs.getDimSize(0) ||
                    accumulator.getDimSize(0) != lhs.getDimSize(0)))
    return op->emitOpError("the batch sizes (dimension 0) of lhs, rhs and the "
                           "accumulator must be equal, but are ")
           << lhs.getDimSize(0) << ", " << rhs.getDimSize(0) << " and "
           << accumulator.getDimSize(0);
  int64_t row = rank - 2, column = rank - 1;
  if (lhs.getDimSize(column) != rhs.getDimSize(row))
    return op->emitOpError("lhs has ")
           << lhs.getDimSize(column) << " columns, but rhs has "
           << rhs.getDimSize(row) << " rows; the numbers must be equal";
  if (accumulator.getDimSize(row) != lhs.getDimSize(row) ||
      accumulator.getDimSize(column) != rhs.getDimSize(column))
    return op->emitOpError("the matmul result is ")
           << lhs.getDimSize(row) << "x" << rhs.getDimSize(column)
           << ", but the accumulator is " << accumulator.getDimSize(row) << "x"
           << accumulator.getDimSize(column) << "; both must be equal";
  return success();
}

/// Checks the element types of operands that are not scaled.
static LogicalResult verifyMatmulElements(Operation *op, Type lhs, Type rhs,
                                          Type accumulator) {
  bool areMixed = (isOCPFloat8(lhs) && isOCPFloat8(rhs)) ||
                  (isFNUZFloat8(lhs) && isFNUZFloat8(rhs));
  if (lhs != rhs && !areMixed)
    return op->emitOpError("lhs elements are ")
           << lhs << ", but rhs elements are " << rhs
           << "; they must be equal, or both OCP floats (f8E4M3FN, f8E5M2), or "
              "both FNUZ floats (f8E4M3FNUZ, f8E5M2FNUZ)";
  bool isInteger = lhs.isSignlessInteger(8);
  if (!isInteger && !areMixed &&
      !isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(lhs))
    return op->emitOpError("elements of lhs and rhs must be f16, bf16, f32, "
                           "f64, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ or "
                           "i8, but are ")
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
    return op->emitOpError("the accumulator of a matmul of ")
           << lhs << " must have elements of " << expected << ", but has "
           << accumulator;
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
    return emitOpError() << "algorithm " << stringifyDotAlgorithm(algorithm)
                         << (algorithm == DotAlgorithm::IEEE
                                 ? " requires f32 or f64 operands, but found "
                                 : " requires f32 operands, but found ")
                         << element;
  return success();
}

//===----------------------------------------------------------------------===//
// DotScaledOp, SparseDotOp
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) {
  return isOCPFloat8(type) ||
         isa<Float6E2M3FNType, Float6E3M2FNType, Float4E2M1FNType>(type);
}

/// The elements of an operand of `dot_scaled` and `sparse_dot` that may be
/// packed into i8. Null, after an error, if the attributes are wrong.
static RankedTensorType getUnpacked(Operation *op, StringRef name,
                                    RankedTensorType tile,
                                    std::optional<Type> format,
                                    std::optional<int64_t> packed) {
  if (!format && !packed)
    return tile;
  auto refuse = [&]() -> InFlightDiagnostic {
    return op->emitOpError() << name << " ";
  };
  if (!format || !packed)
    return refuse() << (format ? "has a format but no packed dimension"
                               : "has a packed dimension but no format")
                    << "; both or neither are required",
           RankedTensorType();
  if (!isa<Float6E2M3FNType, Float6E3M2FNType, Float4E2M1FNType>(*format))
    return refuse() << "has the packed format " << *format
                    << "; it must be f4E2M1FN, f6E2M3FN or f6E3M2FN",
           RankedTensorType();
  if (!tile.getElementType().isInteger(8) || tile.getRank() != 2)
    return refuse() << "has the packed format " << *format
                    << " and must be a tile of i8 with rank 2, but is " << tile,
           RankedTensorType();
  if (*packed < 0 || *packed > 1)
    return refuse() << "has the packed dimension #" << *packed
                    << "; it must be 0 or 1",
           RankedTensorType();
  SmallVector<int64_t> shape(tile.getShape());
  int64_t bits = format->getIntOrFloatBitWidth();
  if (shape[*packed] * 8 % (bits == 6 ? 24 : bits) != 0)
    return refuse() << "has " << shape[*packed]
                    << " bytes in its packed dimension; the number must be a "
                       "multiple of 3, because 3 bytes hold 4 elements of "
                    << *format,
           RankedTensorType();
  shape[*packed] = shape[*packed] * 8 / bits;
  return RankedTensorType::get(shape, *format);
}

/// Checks the scales of an operand with `rows` rows of `blocks` blocks. For
/// rhs, a row is a column of the operand.
static LogicalResult verifyScales(Operation *op, StringRef name,
                                  RankedTensorType scale, ScaleLayout layout,
                                  int64_t rows, int64_t blocks, bool isRhs) {
  if (!isa<Float8E8M0FNUType, Float8E4M3FNType>(scale.getElementType()))
    return op->emitOpError()
           << name
           << " scales must have elements of f8E8M0FNU or f8E4M3FN, but have "
           << scale.getElementType();
  auto refuse = [&](StringRef relation, ArrayRef<int64_t> shape) {
    Type required = scale.clone(shape);
    return op->emitOpError()
           << name << " scales with layout " << stringifyScaleLayout(layout)
           << " must be " << relation << required << ", but are " << scale;
  };
  if (layout == ScaleLayout::Swizzled128x4) {
    int64_t size =
        llvm::divideCeil(rows, 128) * llvm::divideCeil(blocks, 4) * 128 * 4;
    if (scale.getShape() != ArrayRef(size))
      return refuse("", size);
    return success();
  }
  SmallVector<int64_t> shape = {rows, blocks};
  if (isRhs)
    std::swap(shape[0], shape[1]);
  if (layout == ScaleLayout::Linear && scale.getShape() != ArrayRef(shape))
    return refuse("", shape);
  if (layout == ScaleLayout::Padded &&
      (scale.getRank() != 2 || scale.getDimSize(0) < shape[0] ||
       scale.getDimSize(1) < shape[1]))
    return refuse("at least ", shape);
  return success();
}

/// Checks the scales of `dot_scaled` and `sparse_dot`; `lhs` and `rhs` are the
/// types of the unpacked operands, and `k` is the size of K with zeros.
template <typename ScaledOp>
static LogicalResult verifyScaled(ScaledOp op, RankedTensorType lhs,
                                  RankedTensorType rhs, int64_t k,
                                  int64_t block) {
  if (k % block != 0 && block % k != 0)
    return op.emitOpError("K is ")
           << k << "; it must be a multiple or a divisor of " << block
           << ", the number of elements of K that share a scale";
  int64_t blocks = llvm::divideCeil(k, block);
  auto verifyOperand = [&](StringRef name, Type element, Value scale,
                           Value global, ScaleLayout layout, int64_t rows,
                           bool isRhs) -> LogicalResult {
    if (!scale) {
      if (layout != ScaleLayout::Linear || global)
        return op.emitOpError()
               << name
               << " has a scale layout or a global scale, but no scales; pass "
                  "scales, or remove the layout and the global scale";
      if (isNarrowFloat(element) || element.isF16() || element.isBF16())
        return success();
      return op.emitOpError()
             << name
             << " without scales must have elements of f16, bf16, f8E4M3FN, "
                "f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN, but has "
             << element;
    }
    if (!isNarrowFloat(element))
      return op.emitOpError()
             << name
             << " with scales must have elements of f8E4M3FN, f8E5M2, "
                "f6E2M3FN, f6E3M2FN or f4E2M1FN, but has "
             << element;
    return verifyScales(op, name, cast<RankedTensorType>(scale.getType()),
                        layout, rows, blocks, isRhs);
  };
  if (failed(verifyOperand("lhs", lhs.getElementType(), op.getLhsScale(),
                           op.getLhsGlobal(), op.getLhsLayout(),
                           lhs.getDimSize(0), /*isRhs=*/false)) ||
      failed(verifyOperand("rhs", rhs.getElementType(), op.getRhsScale(),
                           op.getRhsGlobal(), op.getRhsLayout(),
                           rhs.getDimSize(1), /*isRhs=*/true)))
    return failure();
  if (!op.getAccumulator().getType().getElementType().isF32())
    return op.emitOpError("elements of the accumulator must be f32, but are ")
           << op.getAccumulator().getType().getElementType();
  return success();
}

/// The shape of `lhs` with `k` columns, for checks of shapes.
static RankedTensorType withColumns(RankedTensorType lhs, int64_t k) {
  return RankedTensorType::get({lhs.getDimSize(0), k}, lhs.getElementType());
}

/// The types of the unpacked operands, or failure after an error.
template <typename ScaledOp>
static FailureOr<std::pair<RankedTensorType, RankedTensorType>>
getUnpackedOperands(ScaledOp op) {
  RankedTensorType lhs = getUnpacked(op, "lhs", op.getLhs().getType(),
                                     op.getLhsFormat(), op.getLhsPacked());
  if (!lhs)
    return failure();
  RankedTensorType rhs = getUnpacked(op, "rhs", op.getRhs().getType(),
                                     op.getRhsFormat(), op.getRhsPacked());
  if (!rhs)
    return failure();
  if (lhs.getRank() != 2 || rhs.getRank() != 2)
    return op.emitOpError("lhs and rhs must have rank 2, but are ")
           << lhs << " and " << rhs;
  if (op.getAccumulator().getType() != op.getType())
    return op.emitOpError("the accumulator is ")
           << op.getAccumulator().getType() << ", but the result is "
           << op.getType() << "; the types must be equal";
  return std::make_pair(lhs, rhs);
}

LogicalResult DotScaledOp::verify() {
  auto types = getUnpackedOperands(*this);
  if (failed(types))
    return failure();
  auto [lhs, rhs] = *types;
  auto block = static_cast<int64_t>(getBlockSize());
  if (block != 16 && block != 32)
    return emitOpError("block (the number of elements that share a scale) is ")
           << block << "; it must be 16 or 32";
  if (!getLhsScale() && !getRhsScale())
    return emitOpError(
        "scales of at least one operand are required; use triton_xla.dot for "
        "operands without scales");
  if (failed(verifyMatmulShapes(*this, lhs, rhs, getAccumulator().getType())))
    return failure();
  return verifyScaled(*this, lhs, rhs, lhs.getDimSize(1), block);
}

LogicalResult SparseDotOp::verify() {
  auto types = getUnpackedOperands(*this);
  if (failed(types))
    return failure();
  auto [lhs, rhs] = *types;
  int64_t k = 2 * lhs.getDimSize(1);
  if (failed(verifyMatmulShapes(*this, withColumns(lhs, k), rhs,
                                getAccumulator().getType())))
    return failure();
  RankedTensorType metadata = getMetadata().getType();
  Type element = metadata.getElementType();
  if (!element.isInteger(8) && !element.isInteger(16) && !element.isInteger(32))
    return emitOpError(
               "elements of the metadata must be i8, i16 or i32, but are ")
           << element;
  int64_t perElement = element.getIntOrFloatBitWidth() / 4 * getGroupSize();
  if (k % perElement != 0)
    return emitOpError("K is ") << k << "; it must be a multiple of "
                                << perElement << ", the elements of K that one "
                                << element << " of metadata describes";
  if (metadata.getShape() !=
      ArrayRef<int64_t>({lhs.getDimSize(0), k / perElement}))
    return emitOpError("metadata is ")
           << metadata << "; it must have " << lhs.getDimSize(0) << " rows of "
           << k / perElement << " elements, one for every " << perElement
           << " elements of K = " << k;
  std::optional<int64_t> block = getBlockSize();
  if (getLhsScale() || getRhsScale() || block) {
    if (!getLhsScale() || !getRhsScale() || !block)
      return emitOpError(
          "requires lhs scales, rhs scales and a block, or none of "
          "the three");
    if (*block != 16 && *block != 32 && *block != 64)
      return emitOpError(
                 "block (the number of elements that share a scale) is ")
             << *block << "; it must be 16, 32 or 64";
    return verifyScaled(*this, lhs, rhs, k, *block);
  }
  if (getLhsGlobal() || getRhsGlobal() ||
      getLhsLayout() != ScaleLayout::Linear ||
      getRhsLayout() != ScaleLayout::Linear)
    return emitOpError(
        "has a scale layout or a global scale, but no scales; "
        "pass scales, or remove the layout and the global scale");
  Type left = lhs.getElementType(), right = rhs.getElementType();
  if (left.isF64())
    return emitOpError(
        "does not support operands of f64; use elements of at most 32 bits");
  return verifyMatmulElements(*this, left, right,
                              getAccumulator().getType().getElementType());
}

int64_t SparseDotOp::getGroupSize() {
  Type element = getLhsFormat().value_or(getLhs().getType().getElementType());
  if (element.isF32())
    return 2;
  return isa<Float4E2M1FNType>(element) ? 8 : 4;
}
