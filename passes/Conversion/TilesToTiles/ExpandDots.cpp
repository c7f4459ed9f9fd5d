//===- ExpandDots.cpp - Expansion of dots ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dots of batches, algorithms of several parts, scaled and sparse dots.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToTiles/ExpandTileOps.h"

#include "smalti/targets/Target.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

/// Assumed ratio of the times of a dot of parts with and without the
/// computation of the parts.
static constexpr double kCostOfParts = 1.5;

/// The largest finite bf16, as f32.
static constexpr double kLargestBF16 = 0x1.FEp127;

//===----------------------------------------------------------------------===//
// Algorithms of dots
//===----------------------------------------------------------------------===//

namespace {

/// An f32 operand as a sum of parts that the multiplications take.
struct SplitOperand {
  /// The first part, with the NaNs and infinities of the operand.
  Value leading;
  /// All parts of the operand, with zero instead of NaNs and infinities.
  SmallVector<Value> finite;
};

} // namespace

/// Whether the target has MMAs of a type with an f32 accumulator. `rate` is the
/// rate of the fastest one; nothing: unknown.
static bool findMmaRate(const targets::Target &target, targets::Element element,
                        std::optional<int64_t> &rate) {
  bool hasMma = false;
  for (const targets::MmaInstruction &mma : target.mmas) {
    if (mma.kind == targets::MmaKind::Fma || mma.a != element ||
        mma.accumulator != targets::Element::F32)
      continue;
    hasMma = true;
    if (mma.macsPerCycle)
      rate = std::max(rate.value_or(0), *mma.macsPerCycle);
  }
  return hasMma;
}

/// The fastest algorithm of the target for a dot of f32, on MMAs, that is at
/// least as accurate as that of the dot.
DotAlgorithm
smalti::triton_xla::chooseAlgorithm(DotOp dot, const targets::Target *target) {
  using targets::Element;
  struct Choice {
    DotAlgorithm algorithm;
    Element element;
    int64_t dots;
  };
  // The least accurate one first.
  static constexpr Choice choices[] = {{DotAlgorithm::TF32, Element::TF32, 1},
                                       {DotAlgorithm::BF16x3, Element::BF16, 3},
                                       {DotAlgorithm::TF32x3, Element::TF32, 3},
                                       {DotAlgorithm::BF16x6, Element::BF16, 6},
                                       {DotAlgorithm::BF16x9, Element::BF16, 9},
                                       {DotAlgorithm::IEEE, Element::F32, 1}};
  DotAlgorithm asked = dot.getAlgorithm();
  const Choice *first = llvm::find_if(
      choices, [&](const Choice &choice) { return choice.algorithm == asked; });
  if (!target || !target->isGPU() || first == std::end(choices))
    return asked;
  const Choice *best = nullptr;
  std::optional<double> bestRate;
  for (const Choice &choice : llvm::make_range(first, std::end(choices))) {
    std::optional<int64_t> macs;
    if (!findMmaRate(*target, choice.element, macs))
      continue;
    std::optional<double> rate;
    if (macs)
      rate = static_cast<double>(*macs) / choice.dots /
             (choice.dots != 1 ? kCostOfParts : 1);
    // A more accurate algorithm must be known to be faster.
    if (!best || (rate && bestRate && *rate > *bestRate)) {
      best = &choice;
      bestRate = rate;
    }
  }
  return best ? best->algorithm : asked;
}

/// Splits an operand into parts of bf16, or f32 parts that TF32 represents.
static SplitOperand splitOperand(TileBuilder &b, Value tile, int64_t numParts,
                                 bool isTF32) {
  ArrayRef<int64_t> shape = b.shapeOf(tile);
  Type f32 = b.getF32Type(), i32 = b.getI32Type(), bf16 = b.getBF16Type();
  Value isFinite = b.isFinite(tile);
  Value rest = b.select(isFinite, tile, b.zeros(shape, f32));
  SplitOperand split;
  for (int64_t part = 0; part < numParts; ++part) {
    Value rounded;
    if (isTF32) {
      // Clearing the low bits is a rounding toward zero, which does not
      // overflow.
      Value bits = b.bits(b.bitcast(rest, i32), 0, ~int64_t(0x1FFF));
      rounded = b.bitcast(bits, f32);
      split.finite.push_back(rounded);
    } else {
      // Rounding to nearest might overflow to infinity.
      Value bounded = arith::MinimumFOp::create(
          b,
          arith::MaximumFOp::create(b, rest,
                                    b.floats(shape, f32, -kLargestBF16)),
          b.floats(shape, f32, kLargestBF16));
      split.finite.push_back(b.convert(bounded, bf16));
      rounded = b.convert(split.finite.back(), f32);
    }
    if (part == 0)
      split.leading =
          b.convert(b.select(isFinite, rounded, tile), isTF32 ? f32 : bf16);
    if (part + 1 != numParts)
      rest = arith::SubFOp::create(b, rest, rounded);
  }
  return split;
}

/// A dot of rank 2 that a single MMA does not compute.
static Value expandAlgorithm(TileBuilder &b, Value lhs, Value rhs,
                             Value accumulator, DotOp op,
                             DotAlgorithm algorithm) {
  using Terms = SmallVector<std::pair<int64_t, int64_t>>;
  Type bf16 = b.getBF16Type();
  // Pairs of parts, smallest first, without the leading parts.
  Terms terms;
  int64_t parts = 2;
  switch (algorithm) {
  case DotAlgorithm::BF16:
    return b.dot(b.convert(lhs, bf16), b.convert(rhs, bf16), accumulator);
  case DotAlgorithm::TF32x3:
  case DotAlgorithm::BF16x3:
    terms = {{1, 0}, {0, 1}};
    break;
  case DotAlgorithm::BF16x6:
    parts = 3;
    terms = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}};
    break;
  case DotAlgorithm::BF16x9:
    parts = 3;
    terms = {{2, 2}, {2, 1}, {1, 2}, {2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}};
    break;
  case DotAlgorithm::Default:
  case DotAlgorithm::TF32:
  case DotAlgorithm::IEEE: {
    auto dot =
        DotOp::create(b, accumulator.getType(), lhs, rhs, accumulator,
                      algorithm, op.getUnsignedLhs(), op.getUnsignedRhs());
    return dot;
  }
  }
  bool isTF32 = algorithm == DotAlgorithm::TF32x3;
  DotAlgorithm single = isTF32 ? DotAlgorithm::TF32 : DotAlgorithm::Default;
  SplitOperand left = splitOperand(b, lhs, parts, isTF32),
               right = splitOperand(b, rhs, parts, isTF32);
  Value sum = b.zeros(b.shapeOf(accumulator), b.getF32Type());
  for (auto [i, j] : terms)
    sum = b.dot(left.finite[i], right.finite[j], sum, single);
  // Where the other terms overflow, so does the leading one. A sum of 0 would
  // change the sign of -0.
  Value zero = b.floats(b.shapeOf(sum), b.getF32Type(), -0.0);
  Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
  sum = b.select(b.isFinite(sum), b.select(isZero, zero, sum), zero);
  sum = b.dot(left.leading, right.leading, sum, single);
  return arith::AddFOp::create(b, accumulator, sum);
}

Value smalti::triton_xla::expandDot(TileBuilder &b, DotOp op,
                                    DotAlgorithm algorithm) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), accumulator = op.getAccumulator();
  if (b.typeOf(lhs).getRank() == 2)
    return expandAlgorithm(b, lhs, rhs, accumulator, op, algorithm);
  SmallVector<Value> results;
  for (int64_t batch = 0; batch < b.shapeOf(lhs)[0]; ++batch) {
    auto matrix = [&](Value tile) {
      return b.reshape(b.slice(tile, /*dim=*/0, batch, 1),
                       b.shapeOf(tile).drop_front());
    };
    Value left = matrix(lhs), right = matrix(rhs), sum = matrix(accumulator);
    Value result = expandAlgorithm(b, left, right, sum, op, algorithm);
    SmallVector<int64_t> shape(b.shapeOf(accumulator));
    shape[0] = 1;
    results.push_back(b.reshape(result, shape));
  }
  return b.concat(results, /*dim=*/0);
}

//===----------------------------------------------------------------------===//
// Scaled and sparse dots
//===----------------------------------------------------------------------===//

/// The codes of packed elements of 4 or 6 bits, as i16.
static Value unpackCodes(TileBuilder &b, Value tile, unsigned bits,
                         int64_t dim) {
  Value bytes = b.zeroExtend(tile, b.getIntegerType(16));
  if (bits == 4)
    return b.interleave({b.bits(bytes, 0, 15), b.bits(bytes, 4, 15)}, dim);
  // Three bytes are four codes.
  SmallVector<int64_t> shape(b.shapeOf(bytes)), split(shape);
  shape[dim] /= 3;
  split[dim] /= 3;
  split.insert(split.begin() + dim + 1, 3);
  Value triples = b.reshape(bytes, split);
  Value byte[3];
  for (int64_t i = 0; i < 3; ++i)
    byte[i] = b.reshape(b.slice(triples, dim + 1, i, 1), shape);
  auto join = [&](Value low, Value high) -> Value {
    return arith::OrIOp::create(b, low, high);
  };
  return b.interleave(
      {b.bits(byte[0], 0, 63),
       join(b.bits(byte[0], 6, 3), b.shiftLeft(b.bits(byte[1], 0, 15), 2)),
       join(b.bits(byte[1], 4, 15), b.shiftLeft(b.bits(byte[2], 0, 3), 4)),
       b.bits(byte[2], 2, 63)},
      dim);
}

/// The values of codes of 4 or 6 bits, as f16. Exponent and mantissa are moved
/// to those of f16, and a multiplication corrects the bias of the exponent,
/// also of subnormal numbers.
static Value decodeCodes(TileBuilder &b, Value codes, FloatType format) {
  unsigned width = format.getWidth();
  unsigned mantissa = format.getFPMantissaWidth() - 1;
  unsigned exponent = width - 1 - mantissa;
  Value magnitude = b.shiftLeft(
      b.bits(codes, 0, (int64_t(1) << (width - 1)) - 1), 10 - mantissa);
  Value sign =
      b.shiftLeft(b.bits(codes, 0, int64_t(1) << (width - 1)), 16 - width);
  Value value =
      b.bitcast(arith::OrIOp::create(b, magnitude, sign), b.getF16Type());
  int64_t bias = (int64_t(1) << (exponent - 1)) - 1;
  return arith::MulFOp::create(
      b, value,
      b.floats(b.shapeOf(value), b.getF16Type(), std::ldexp(1.0, 15 - bias)));
}

/// An operand of `dot_scaled` or `sparse_dot` in `element`, which represents
/// all its values.
static Value decodeOperand(TileBuilder &b, Value tile,
                           std::optional<Type> format,
                           std::optional<int64_t> packed, Type element) {
  if (format) {
    Value codes =
        unpackCodes(b, tile, format->getIntOrFloatBitWidth(), *packed);
    tile = decodeCodes(b, codes, cast<FloatType>(*format));
  }
  return b.convert(tile, element);
}

/// Scales as a matrix of rows x blocks for lhs and blocks x columns for rhs.
/// f8E8M0FNU scales are i8 codes.
static Value loadScales(TileBuilder &b, Value scales, ScaleLayout layout,
                        int64_t rows, int64_t blocks, bool isRhs) {
  if (isa<Float8E8M0FNUType>(b.typeOf(scales).getElementType()))
    scales = b.bitcast(scales, b.getI8Type());
  if (layout == ScaleLayout::Swizzled128x4) {
    int64_t tall = llvm::divideCeil(rows, 128),
            wide = llvm::divideCeil(blocks, 4);
    scales = b.reshape(scales, {tall, wide, 32, 4, 4});
    scales =
        b.reshape(b.transpose(scales, {0, 3, 2, 1, 4}), {tall * 128, wide * 4});
    scales = b.slice(b.slice(scales, 0, 0, rows), 1, 0, blocks);
    return isRhs ? b.transpose(scales, {1, 0}) : scales;
  }
  scales = b.slice(scales, isRhs ? 1 : 0, 0, rows);
  return b.slice(scales, isRhs ? 0 : 1, 0, blocks);
}

/// 2^(code - 127) of i32 codes in [0, 254], exactly: code 0 is a subnormal f32.
static Value powerOfTwo(TileBuilder &b, Value codes) {
  Value bits =
      b.select(b.compareTo(arith::CmpIPredicate::eq, codes, 0),
               b.integers(b.shapeOf(codes), b.getI32Type(), 0x00400000),
               b.shiftLeft(codes, 23));
  return b.bitcast(bits, b.getF32Type());
}

/// Multiplies the sums of a block by the scales of one or both operands.
static Value scaleSums(TileBuilder &b, Value sums, ArrayRef<Value> scales) {
  ArrayRef<int64_t> shape = b.shapeOf(sums);
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value codes, isNaN;
  int64_t numCodes = 0;
  for (Value scale : scales) {
    if (!b.typeOf(scale).getElementType().isInteger()) {
      sums = arith::MulFOp::create(b, sums,
                                   b.stretch(b.convert(scale, f32), shape));
      continue;
    }
    Value code = b.zeroExtend(scale, i32);
    Value nan =
        b.stretch(b.compareTo(arith::CmpIPredicate::eq, code, 255), shape);
    code = b.stretch(code, shape);
    codes = codes ? arith::AddIOp::create(b, codes, code).getResult() : code;
    isNaN = isNaN ? arith::OrIOp::create(b, isNaN, nan).getResult() : nan;
    ++numCodes;
  }
  if (!codes)
    return sums;
  auto multiply = [&](Value code) {
    sums = arith::MulFOp::create(b, sums, powerOfTwo(b, code));
  };
  if (numCodes == 1) {
    multiply(codes);
  } else {
    // Two halves of the exponent: the scales alone may exceed the range of f32
    // where their combination does not.
    Value half = b.bits(codes, 1, 255);
    multiply(half);
    multiply(arith::SubIOp::create(b, codes, half));
  }
  return b.select(
      isNaN, b.floats(shape, f32, std::numeric_limits<double>::quiet_NaN()),
      sums);
}

/// A scaled dot of decoded operands.
template <typename ScaledOp>
static Value expandScaled(TileBuilder &b, ScaledOp op, Value lhs, Value rhs,
                          int64_t block) {
  int64_t m = b.shapeOf(lhs)[0], k = b.shapeOf(lhs)[1], n = b.shapeOf(rhs)[1];
  auto blocks = static_cast<int64_t>(llvm::divideCeil(k, block));
  Value leftScales, rightScales;
  if (op.getLhsScale())
    leftScales = loadScales(b, op.getLhsScale(), op.getLhsLayout(), m, blocks,
                            /*isRhs=*/false);
  if (op.getRhsScale())
    rightScales = loadScales(b, op.getRhsScale(), op.getRhsLayout(), n, blocks,
                             /*isRhs=*/true);
  Value total;
  for (int64_t i = 0; i < blocks; ++i) {
    int64_t size = std::min(block, k);
    Value sums = b.dot(b.slice(lhs, 1, i * block, size),
                       b.slice(rhs, 0, i * block, size),
                       b.zeros({m, n}, b.getF32Type()));
    SmallVector<Value> scales;
    if (leftScales)
      scales.push_back(b.slice(leftScales, 1, i, 1));
    if (rightScales)
      scales.push_back(b.slice(rightScales, 0, i, 1));
    sums = scaleSums(b, sums, scales);
    total = total ? arith::AddFOp::create(b, total, sums).getResult() : sums;
  }
  for (Value global : {op.getLhsGlobal(), op.getRhsGlobal()})
    if (global)
      total = arith::MulFOp::create(b, total, b.splat({m, n}, global));
  return arith::AddFOp::create(b, op.getAccumulator(), total);
}

/// The 16-bit type that represents the elements of both operands.
template <typename ScaledOp>
static Type getCommonElement(TileBuilder &b, ScaledOp op) {
  bool isBF16 = op.getLhs().getType().getElementType().isBF16() ||
                op.getRhs().getType().getElementType().isBF16();
  return isBF16 ? Type(b.getBF16Type()) : Type(b.getF16Type());
}

Value smalti::triton_xla::expandDotScaled(TileBuilder &b, DotScaledOp op) {
  Type element = getCommonElement(b, op);
  Value lhs = decodeOperand(b, op.getLhs(), op.getLhsFormat(),
                            op.getLhsPacked(), element);
  Value rhs = decodeOperand(b, op.getRhs(), op.getRhsFormat(),
                            op.getRhsPacked(), element);
  return expandScaled(b, op, lhs, rhs, static_cast<int64_t>(op.getBlockSize()));
}

/// The groups of 4 bits of metadata, as i32.
static Value unpackMetadata(TileBuilder &b, Value metadata) {
  unsigned width = b.typeOf(metadata).getElementTypeBitWidth();
  if (width < 32)
    metadata = b.zeroExtend(metadata, b.getI32Type());
  SmallVector<Value> groups;
  for (unsigned shift = 0; shift < width; shift += 4)
    groups.push_back(b.bits(metadata, shift, 15));
  return b.interleave(groups, /*dim=*/1);
}

/// Inserts the zeros of a sparse operand. 4 bits of the metadata describe
/// `groupSize` elements of the result.
static Value decompress(TileBuilder &b, Value stored, Value metadata,
                        int64_t groupSize) {
  int64_t m = b.shapeOf(stored)[0], k = 2 * b.shapeOf(stored)[1];
  int64_t groups = k / groupSize;
  Type element = b.typeOf(stored).getElementType();
  // A group stores `slots` elements or pairs, out of twice as many positions.
  int64_t slots = groupSize == 2 ? 1 : 2, width = groupSize == 8 ? 2 : 1;
  SmallVector<int64_t> shape = {m, groups, 2 * slots, width};
  Value values = b.reshape(stored, {m, groups, slots, width});
  Value bits = b.reshape(unpackMetadata(b, metadata), {m, groups, 1, 1});
  Value position = b.iota(shape, b.getI32Type(), /*dim=*/2);
  Value result = b.zeros(shape, element);
  for (int64_t slot = slots - 1; slot >= 0; --slot) {
    // For one of two elements, the highest bit is the position.
    Value stated =
        groupSize == 2 ? b.bits(bits, 3, 1) : b.bits(bits, 2 * slot, 3);
    Value isHere =
        b.compare(arith::CmpIPredicate::eq, position, b.stretch(stated, shape));
    result =
        b.select(isHere, b.stretch(b.slice(values, 2, slot, 1), shape), result);
  }
  return b.reshape(result, {m, k});
}

Value smalti::triton_xla::expandSparseDot(TileBuilder &b, SparseDotOp op) {
  int64_t group = op.getGroupSize();
  if (std::optional<int64_t> block = op.getBlockSize()) {
    Type element = getCommonElement(b, op);
    Value lhs = decodeOperand(b, op.getLhs(), op.getLhsFormat(),
                              op.getLhsPacked(), element);
    Value rhs = decodeOperand(b, op.getRhs(), op.getRhsFormat(),
                              op.getRhsPacked(), element);
    lhs = decompress(b, lhs, op.getMetadata(), group);
    return expandScaled(b, op, lhs, rhs, *block);
  }
  Type element = op.getLhs().getType().getElementType();
  Value lhs = op.getLhs();
  bool isFloat8 =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  if (isFloat8)
    lhs = b.bitcast(lhs, b.getI8Type());
  lhs = decompress(b, lhs, op.getMetadata(), group);
  if (isFloat8)
    lhs = b.bitcast(lhs, element);
  return b.dot(lhs, op.getRhs(), op.getAccumulator(),
               element.isF32() ? DotAlgorithm::TF32 : DotAlgorithm::Default);
}
