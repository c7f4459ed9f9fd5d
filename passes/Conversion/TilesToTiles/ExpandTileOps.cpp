//===- ExpandTileOps.cpp - smalti-expand-tile-ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites derived ops of the tile level to primitive ones. The pass first
// finds and checks all ops (planExpansions); the functions that expand an op
// cannot fail.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToTiles/TileBuilder.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/SmallFloats.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIEXPANDTILEOPS
#define GEN_PASS_DEF_SMALTIEXPANDTILEOPS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

static constexpr llvm::StringLiteral kPassName = "smalti-expand-tile-ops";

/// The ops that the pass expands unless `keep` has them; of dots, those that
/// are not primitive. `num_tiles` is always expanded, since the grid changes.
static constexpr llvm::StringLiteral kDerived[] = {
    "squeeze_dims", "split",      "histogram", "sort",  "random_bits",
    "dot_scaled",   "sparse_dot", "dot",       "ipowi", "index_switch"};

/// Assumed ratio of the times of a dot of parts with and without the
/// computation of the parts.
static constexpr double kCostOfParts = 1.5;

/// The most comparisons of a histogram that are one tile, and those of a row of
/// bins in a loop.
static constexpr int64_t kMaxComparisons = 1 << 20, kLoopComparisons = 1 << 16;

/// The largest finite bf16, as f32.
static constexpr double kLargestBF16 = 0x1.FEp127;

//===----------------------------------------------------------------------===//
// Histogram, sort, random bits
//===----------------------------------------------------------------------===//

/// The type in which values of `element` are compared with bins.
static Type getComparedType(Type element) {
  if (element.isIndex() || element.getIntOrFloatBitWidth() > 32)
    return IntegerType::get(element.getContext(), 64);
  return IntegerType::get(element.getContext(), 32);
}

/// How often each of `bins` numbers from `first` is in a flat tile.
static Value countInBins(TileBuilder &b, Value values, Value first, Value mask,
                         int64_t bins, Type sum) {
  SmallVector<int64_t> shape = {b.shapeOf(values)[0], bins};
  Type compared = b.typeOf(values).getElementType();
  Value numbers = b.iota(shape, compared, 1);
  if (first)
    numbers = arith::AddIOp::create(b, numbers, b.splat(shape, first));
  Value hit = b.compare(arith::CmpIPredicate::eq,
                        b.broadcast(values, int64_t(0), shape), numbers);
  if (mask)
    hit = arith::AndIOp::create(b, hit, b.broadcast(mask, int64_t(0), shape));
  return b.sum(b.zeroExtend(hit, sum), /*dim=*/0);
}

/// Compares all elements with all bins, or, for many comparisons, with a row of
/// bins in each iteration of a loop.
static Value expandHistogram(TileBuilder &b, HistogramOp op) {
  int64_t count = op.getTile().getType().getNumElements();
  auto bins = static_cast<int64_t>(op.getBins());
  Type element = op.getTile().getType().getElementType(),
       compared = getComparedType(element),
       sum = op.getResult().getType().getElementType();
  Value values = b.reshape(op.getTile(), count), mask = op.getMask();
  if (element.isIndex())
    values =
        arith::IndexCastOp::create(b, b.withElement(values, compared), values);
  else if (element != compared)
    values = arith::ExtSIOp::create(b, b.withElement(values, compared), values);
  if (mask)
    mask = b.reshape(mask, count);
  if (bins <= kMaxComparisons / count)
    return countInBins(b, values, Value(), mask, bins, sum);
  int64_t row = std::max<int64_t>(kLoopComparisons / count, 1),
          rows = llvm::divideCeil(bins, row);
  SmallVector<int64_t> shape = {rows, row};
  Type i32 = b.getI32Type();
  auto loop = scf::ForOp::create(
      b, arith::ConstantIndexOp::create(b, 0),
      arith::ConstantIndexOp::create(b, rows),
      arith::ConstantIndexOp::create(b, 1), ValueRange(b.zeros(shape, sum)),
      [&](OpBuilder &inner, Location, Value number, ValueRange counts) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(inner.saveInsertionPoint());
        Value first = arith::MulIOp::create(
            b, number, arith::ConstantIndexOp::create(b, row));
        first = arith::IndexCastOp::create(b, compared, first);
        Value found = countInBins(b, values, first, mask, row, sum);
        Value isRow = b.compare(
            arith::CmpIPredicate::eq, b.iota(shape, i32, 0),
            b.splat(shape, arith::IndexCastOp::create(b, i32, number)));
        scf::YieldOp::create(b, b.select(isRow,
                                         b.broadcast(found, int64_t(1), shape),
                                         counts.front()));
      });
  return b.slice(b.reshape(loop.getResult(0), rows * row), /*dim=*/0, 0, bins);
}

/// Computes a region of scalar ops for all elements of tiles.
static Value inlineOnTiles(TileBuilder &b, Region &region, ValueRange tiles) {
  ArrayRef<int64_t> shape = b.shapeOf(tiles.front());
  IRMapping mapping;
  mapping.map(region.getArguments(), tiles);
  auto mapped = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, b.splat(shape, value));
    return mapping.lookup(value);
  };
  for (Operation &op : region.front().without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto type = RankedTensorType::get(shape, constant.getType());
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(
                      b, DenseElementsAttr::get(type, constant.getValue()))
                      .getResult());
      continue;
    }
    for (Value operand : op.getOperands())
      (void)mapped(operand);
    Operation *clone = b.clone(op, mapping);
    for (Value result : clone->getResults())
      result.setType(RankedTensorType::get(shape, result.getType()));
  }
  return mapped(region.front().getTerminator()->getOperand(0));
}

/// A bitonic sort of `inputs` and their positions, which make it stable. Tiles
/// have the shape [outer, size, inner], with a power of two as the size;
/// positions from `count` are padding and come last.
static void sortNetwork(TileBuilder &b, Region &comparator,
                        SmallVectorImpl<Value> &tiles, int64_t count) {
  using arith::CmpIPredicate;
  ArrayRef<int64_t> shape = b.shapeOf(tiles.front());
  int64_t outer = shape[0], size = shape[1], inner = shape[2];
  size_t numInputs = tiles.size() - 1; // The last tile has the positions.

  // Whether the elements of `x` come before those of `y`: a total order.
  auto before = [&](ArrayRef<Value> x, ArrayRef<Value> y) {
    auto call = [&](ArrayRef<Value> x, ArrayRef<Value> y) {
      SmallVector<Value> arguments;
      for (size_t i = 0; i < numInputs; ++i)
        arguments.append({x[i], y[i]});
      return inlineOnTiles(b, comparator, arguments);
    };
    Value less = call(x, y), greater = call(y, x);
    Value first = b.compare(CmpIPredicate::slt, x.back(), y.back());
    Value decided = arith::OrIOp::create(b, less, greater);
    Value result = b.select(decided, less, first);
    if (count == size)
      return result;
    Value padded = arith::OrIOp::create(
        b, b.compareTo(CmpIPredicate::sge, x.back(), count),
        b.compareTo(CmpIPredicate::sge, y.back(), count));
    return b.select(padded, first, result);
  };

  for (int64_t run = 2; run <= size; run *= 2) {
    for (int64_t distance = run / 2; distance > 0; distance /= 2) {
      int64_t pairs = size / (2 * distance);
      SmallVector<Value> low, high;
      for (Value tile : tiles) {
        Value split = b.reshape(tile, {outer, pairs, 2, distance, inner});
        low.push_back(b.slice(split, /*dim=*/2, 0, 1));
        high.push_back(b.slice(split, /*dim=*/2, 1, 1));
      }
      Value swap = before(high, low);
      if (run != size) {
        // Every other run is descending.
        Value pair = b.iota(b.shapeOf(low.front()), b.getI32Type(), /*dim=*/1);
        Value descending = b.compareTo(
            CmpIPredicate::ne, b.bits(pair, 0, run / (2 * distance)), 0);
        swap = arith::XOrIOp::create(b, swap, descending);
      }
      for (auto [tile, a, c] : llvm::zip_equal(tiles, low, high))
        tile = b.reshape(b.concat({b.select(swap, c, a), b.select(swap, a, c)},
                                  /*dim=*/2),
                         {outer, size, inner});
    }
  }
}

/// The shape [outer, size, inner] of a tile that is sorted along a dimension.
static std::array<int64_t, 3> getSortShape(SortOp op) {
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  auto dim = static_cast<int64_t>(op.getDim());
  return {ShapedType::getNumElements(shape.take_front(dim)), shape[dim],
          ShapedType::getNumElements(shape.drop_front(dim + 1))};
}

static SmallVector<Value> expandSort(TileBuilder &b, SortOp op) {
  auto [outer, count, inner] = getSortShape(op);
  auto size = static_cast<int64_t>(llvm::PowerOf2Ceil(count));
  SmallVector<Value> tiles;
  for (Value input : op.getInputs()) {
    Value tile = b.reshape(input, {outer, count, inner});
    // Padding with elements of the tile: the comparison may divide by them.
    if (size != count)
      tile = b.concat({tile, b.slice(tile, /*dim=*/1, 0, size - count)},
                      /*dim=*/1);
    tiles.push_back(tile);
  }
  tiles.push_back(b.iota({outer, size, inner}, b.getI32Type(), /*dim=*/1));
  sortNetwork(b, op.getComparator(), tiles, count);
  tiles.pop_back();
  for (Value &tile : tiles)
    tile = b.reshape(b.slice(tile, /*dim=*/1, 0, count),
                     op.getInputType().getShape());
  return tiles;
}

static SmallVector<Value> expandRandomBits(TileBuilder &b, RandomBitsOp op) {
  constexpr int64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr int64_t steps[] = {0x9E3779B9, 0xBB67AE85};
  ArrayRef<int64_t> shape = op.getWord0().getType().getShape();
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  SmallVector<Value> counter(op.getCounters());
  if (counter.size() < 4)
    counter.resize(4, b.zeros(shape, i32));
  Value keys[] = {op.getKey0(), op.getKey1()};
  for (int round = 0; round < 10; ++round) {
    Value high[2], low[2];
    for (int half = 0; half < 2; ++half) {
      Value wide =
          arith::MulIOp::create(b, b.zeroExtend(counter[2 * half], i64),
                                b.integers(shape, i64, multipliers[half]));
      auto truncate = [&](Value value) -> Value {
        return arith::TruncIOp::create(b, b.withElement(value, i32), value);
      };
      low[half] = truncate(wide);
      high[half] =
          truncate(arith::ShRUIOp::create(b, wide, b.integers(shape, i64, 32)));
    }
    auto mix = [&](Value a, Value c, Value key) -> Value {
      return arith::XOrIOp::create(b, arith::XOrIOp::create(b, a, c),
                                   b.splat(shape, key));
    };
    counter = {mix(high[1], counter[1], keys[0]), low[1],
               mix(high[0], counter[3], keys[1]), low[0]};
    for (int half = 0; half < 2 && round != 9; ++half) {
      Value step = arith::ConstantOp::create(
          b, b.getI32IntegerAttr(static_cast<int32_t>(steps[half])));
      keys[half] = arith::AddIOp::create(b, keys[half], step);
    }
  }
  return counter;
}

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

/// The rate of the fastest MMA of the target for a type, with an f32
/// accumulator: 0 if the table does not have the rate, and no value if the
/// target does not have an MMA.
static std::optional<int64_t> getMmaRate(const targets::Target &target,
                                         targets::Element element) {
  std::optional<int64_t> rate;
  for (const targets::MmaInstruction &mma : target.mmas)
    if (mma.kind != targets::MmaKind::Fma && mma.a == element &&
        mma.accumulator == targets::Element::F32)
      rate = std::max(rate.value_or(0), mma.macsPerCycle);
  return rate;
}

/// The fastest algorithm of the target for a dot of f32, on MMAs, that is at
/// least as accurate as that of the dot.
static DotAlgorithm chooseAlgorithm(DotOp dot, const targets::Target *target) {
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
  DotAlgorithm best = asked;
  double bestRate = -1;
  for (const Choice &choice : llvm::make_range(first, std::end(choices))) {
    std::optional<int64_t> rate = getMmaRate(*target, choice.element);
    if (!rate)
      continue;
    double adjusted = static_cast<double>(*rate) / choice.dots;
    if (choice.dots != 1)
      adjusted /= kCostOfParts;
    if (adjusted > bestRate) {
      best = choice.algorithm;
      bestRate = adjusted;
    }
  }
  return best;
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

static Value expandDot(TileBuilder &b, DotOp op, DotAlgorithm algorithm) {
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

static Value expandDotScaled(TileBuilder &b, DotScaledOp op) {
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

static Value expandSparseDot(TileBuilder &b, SparseDotOp op) {
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

//===----------------------------------------------------------------------===//
// Integer powers
//===----------------------------------------------------------------------===//

/// Whether the op is in the region of a reduction, scan or sort, which does not
/// have loops.
static bool isInCombination(Operation *op) {
  return op->getParentOfType<ReduceOp>() || op->getParentOfType<ScanOp>() ||
         op->getParentOfType<SortOp>();
}

/// Squares and multiplies for each bit of the exponent, in a loop where there
/// may be one. The operands are scalars or tiles.
static Value expandIPowI(ImplicitLocOpBuilder &b, math::IPowIOp op) {
  Value base = op.getLhs(), exponent = op.getRhs();
  Type type = base.getType(), element = getElementTypeOrSelf(type);
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attribute = b.getIntegerAttr(element, value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
    return arith::ConstantOp::create(b, attribute);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, condition, x, y);
  };
  Value zero = constant(0), one = constant(1), minusOne = constant(-1);
  auto isOdd = [&](Value x) {
    return compare(arith::CmpIPredicate::ne, arith::AndIOp::create(b, x, one),
                   zero);
  };
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto addBit = [&](ValueRange carried) -> SmallVector<Value> {
    Value result = carried[0], square = carried[1], rest = carried[2];
    result =
        select(isOdd(rest), arith::MulIOp::create(b, result, square), result);
    square = arith::MulIOp::create(b, square, square);
    rest = arith::ShRUIOp::create(b, rest, one);
    return {result, square, rest};
  };
  SmallVector<Value> carried = {one, base, exponent};
  if (isInCombination(op)) {
    for (int64_t bit = 0; bit < bits - 1; ++bit)
      carried = addBit(carried);
  } else {
    auto loop = scf::ForOp::create(
        b, arith::ConstantIndexOp::create(b, 0),
        arith::ConstantIndexOp::create(b, bits - 1),
        arith::ConstantIndexOp::create(b, 1), carried,
        [&](OpBuilder &inner, Location, Value, ValueRange arguments) {
          OpBuilder::InsertionGuard guard(b);
          b.restoreInsertionPoint(inner.saveInsertionPoint());
          scf::YieldOp::create(b, addBit(arguments));
        });
    carried = SmallVector<Value>(loop.getResults());
  }
  // A negative exponent gives the truncated reciprocal.
  Value reciprocal =
      select(compare(arith::CmpIPredicate::eq, base, one), one,
             select(compare(arith::CmpIPredicate::eq, base, minusOne),
                    select(isOdd(exponent), minusOne, one), zero));
  return select(compare(arith::CmpIPredicate::slt, exponent, zero), reciprocal,
                carried.front());
}

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

static Value extendTo(OpBuilder &b, Location loc, Value value, Type element) {
  if (getElementTypeOrSelf(value.getType()) == element)
    return value;
  return arith::ExtFOp::create(
      b, loc, smalti::withElement(value.getType(), element), value);
}

/// The scale of a scaling op in a wider type: a power of two, since the op
/// truncates a scale that is not of f8E8M0FNU to that type.
static Value extendScale(OpBuilder &b, Location loc, Value scale, Type wide) {
  Type power = Float8E8M0FNUType::get(b.getContext());
  Type element = getElementTypeOrSelf(scale.getType());
  if (element != power) {
    // Conversions between two floats of 8 bits do not exist.
    if (isSmallFloat(element))
      scale = extendTo(b, loc, scale, b.getF32Type());
    scale = arith::TruncFOp::create(
        b, loc, smalti::withElement(scale.getType(), power), scale);
  }
  return extendTo(b, loc, scale, wide);
}

static Value expandScalingExtF(OpBuilder &b, arith::ScalingExtFOp op) {
  Location loc = op.getLoc();
  Type type = op.getType(), element = getElementTypeOrSelf(type);
  Type wide = element.isF64() ? element : b.getF32Type();
  Value scaled =
      arith::MulFOp::create(b, loc, extendTo(b, loc, op.getIn(), wide),
                            extendScale(b, loc, op.getScale(), wide));
  if (wide == element)
    return scaled;
  return arith::TruncFOp::create(b, loc, type, scaled);
}

static Value expandScalingTruncF(OpBuilder &b, arith::ScalingTruncFOp op) {
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(op.getIn().getType());
  Type wide = element.isF64() ? element : b.getF32Type();
  Value quotient =
      arith::DivFOp::create(b, loc, extendTo(b, loc, op.getIn(), wide),
                            extendScale(b, loc, op.getScale(), wide));
  return arith::TruncFOp::create(b, loc, op.getType(), quotient,
                                 op.getRoundingmodeAttr(),
                                 op.getFastmathAttr());
}

static Value expandClampF(OpBuilder &b, math::ClampFOp op) {
  Value atLeast = arith::MaximumFOp::create(b, op.getLoc(), op.getValue(),
                                            op.getMin(), op.getFastmathAttr());
  return arith::MinimumFOp::create(b, op.getLoc(), atLeast, op.getMax(),
                                   op.getFastmathAttr());
}

static SmallVector<Value> expandSinCos(OpBuilder &b, math::SincosOp op) {
  return {math::SinOp::create(b, op.getLoc(), op.getOperand(),
                              op.getFastmathAttr()),
          math::CosOp::create(b, op.getLoc(), op.getOperand(),
                              op.getFastmathAttr())};
}

/// The class of a number as comparisons.
static Value expandClass(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value number = op->getOperand(0);
  Type type = number.getType();
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  auto compare = [&](arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(b, loc, predicate, lhs, rhs).getResult();
  };
  if (isa<math::IsNaNOp>(op))
    return compare(arith::CmpFPredicate::UNO, number, number);
  auto constant = [&](const APFloat &value) {
    TypedAttr attribute = b.getFloatAttr(element, value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
    return arith::ConstantOp::create(b, loc, attribute).getResult();
  };
  Value magnitude = math::AbsFOp::create(b, loc, number);
  Value infinity = constant(APFloat::getInf(semantics));
  if (isa<math::IsInfOp>(op))
    return compare(arith::CmpFPredicate::OEQ, magnitude, infinity);
  Value isFinite = compare(arith::CmpFPredicate::OLT, magnitude, infinity);
  if (isa<math::IsFiniteOp>(op))
    return isFinite;
  Value smallest = constant(APFloat::getSmallestNormalized(semantics));
  return arith::AndIOp::create(
      b, loc, isFinite,
      compare(arith::CmpFPredicate::OGE, magnitude, smallest));
}

/// The elements of an iota are integers that f32 represents, since they do not
/// exceed the largest small float.
static Value expandIota(TileBuilder &b, IotaOp op) {
  RankedTensorType type = op.getType();
  Value indices = b.iota(type.getShape(), b.getF32Type(),
                         static_cast<int64_t>(op.getDim()));
  // The absolute value prevents a fold to a conversion of integers to small
  // floats, which targets do not have.
  return arith::TruncFOp::create(b, type, math::AbsFOp::create(b, indices));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The element of a tile at an index. All other elements become 0, so that the
/// bitwise disjunction of all is the element.
static Value expandExtract(TileBuilder &b, tensor::ExtractOp op) {
  Value bits = op.getTensor();
  ArrayRef<int64_t> shape = b.shapeOf(bits);
  Type element = b.typeOf(bits).getElementType(), i32 = b.getI32Type();
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Type code = b.getIntegerType(width), word = code;
  if (element.isIndex())
    bits = arith::IndexCastOp::create(b, b.withElement(bits, code), bits);
  else if (isa<FloatType>(element))
    bits = b.bitcast(bits, code);
  if (width != 1 && (width < 8 || !llvm::isPowerOf2_32(width))) {
    word = b.getIntegerType(std::max<unsigned>(8, llvm::PowerOf2Ceil(width)));
    bits = b.zeroExtend(bits, word);
  }
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    Value wanted = b.splat(shape, arith::IndexCastOp::create(b, i32, index));
    Value isWanted =
        b.compare(arith::CmpIPredicate::eq,
                  b.iota(shape, i32, static_cast<int64_t>(dim)), wanted);
    bits = b.select(isWanted, bits, b.zeros(shape, word));
  }
  Value found = tensor::ExtractOp::create(
      b, b.combine<arith::OrIOp>(
             bits, llvm::to_vector(llvm::seq<int64_t>(shape.size()))));
  if (word != code)
    found = arith::TruncIOp::create(b, code, found);
  if (element.isIndex())
    return arith::IndexCastOp::create(b, element, found);
  if (element != code)
    return arith::BitcastOp::create(b, element, found);
  return found;
}

static std::optional<int64_t> getDimension(memref::DimOp op) {
  std::optional<int64_t> number = op.getConstantIndex();
  auto type = cast<MemRefType>(op.getSource().getType());
  return number && *number >= 0 && *number < type.getRank() ? number
                                                            : std::nullopt;
}

/// The size of a dimension that is not a constant in range. Any size may be the
/// result for a number out of range.
static Value expandDim(ImplicitLocOpBuilder &b, memref::DimOp op) {
  int64_t rank = cast<MemRefType>(op.getSource().getType()).getRank();
  Value result;
  for (int64_t dim = rank; dim-- > 0;) {
    Value number = arith::ConstantIndexOp::create(b, dim);
    Value size = memref::DimOp::create(b, op.getSource(), number);
    if (result)
      size = arith::SelectOp::create(
          b,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, op.getIndex(),
                                number),
          size, result);
    result = size;
  }
  return result ? result : arith::ConstantIndexOp::create(b, 0).getResult();
}

/// Whether GPUs need the expansion of an op of another dialect, in which each
/// thread of a block would access memory, or the memory of another thread.
static bool isDerivedOnGPU(Operation *op) {
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return !getDimension(dim);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return !extract.getIndices().empty();
  return false;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The number of tiles in a dimension of the grid.
static Value createTileCount(ImplicitLocOpBuilder &b, EntryFuncOp func,
                             ArrayRef<TileFactor> factors) {
  Value count;
  for (const TileFactor &factor : factors) {
    Value size;
    if (factor.argument < 0) {
      size = arith::ConstantIndexOp::create(b, factor.number);
    } else {
      size = func.getBody().getArgument(factor.argument);
      if (factor.dimension >= 0)
        size = memref::DimOp::create(
            b, size, arith::ConstantIndexOp::create(b, factor.dimension));
      else if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(b, b.getIndexType(), size);
      if (factor.number != 1)
        size = arith::CeilDivUIOp::create(
            b, size, arith::ConstantIndexOp::create(b, factor.number));
    }
    count = count ? arith::MulIOp::create(b, count, size).getResult() : size;
  }
  return count;
}

/// One `scf.if` for each case, in the else branch of the case before. The
/// regions move into the branches.
static SmallVector<Value> expandSwitch(TileBuilder &b, scf::IndexSwitchOp op,
                                       unsigned number = 0) {
  bool isDefault = number == op.getNumCases();
  auto inlineRegion = [&](Region &region) {
    Block &block = region.front();
    Operation *yield = block.getTerminator();
    SmallVector<Value> values(yield->getOperands());
    yield->erase();
    b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                  block.getOperations());
    return values;
  };
  if (isDefault)
    return inlineRegion(op.getDefaultRegion());
  Value wanted = arith::ConstantIndexOp::create(b, op.getCases()[number]);
  Value matches =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, op.getArg(), wanted);
  auto branch = scf::IfOp::create(b, op.getResultTypes(), matches,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block *block, auto create) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    SmallVector<Value> values = create();
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, values);
  };
  fill(branch.thenBlock(),
       [&] { return inlineRegion(op.getCaseRegions()[number]); });
  fill(branch.elseBlock(), [&] { return expandSwitch(b, op, number + 1); });
  return SmallVector<Value>(branch.getResults());
}

namespace {

struct SmaltiExpandTileOps
    : smalti::impl::SmaltiExpandTileOpsBase<SmaltiExpandTileOps> {
  using SmaltiExpandTileOpsBase::SmaltiExpandTileOpsBase;
  void runOnOperation() override;

private:
  LogicalResult plan(SmallVectorImpl<Operation *> &ops);
  bool isKept(Operation *op) const;
  void expand(Operation *op);
  void linearizeGrid(EntryFuncOp func);

  /// The target, or null.
  const targets::Target *chip = nullptr;
};

} // namespace

/// Checks that a sort can be expanded.
static LogicalResult checkSort(SortOp op) {
  for (Operation &nested : op.getComparator().front().without_terminator())
    if (!isa<arith::ConstantOp>(nested) &&
        (nested.getNumRegions() != 0 ||
         !OpTrait::hasElementwiseMappableTraits(&nested)))
      return nested.emitError()
             << "'" << nested.getName()
             << "' in the region of 'triton_xla.sort' is not supported; "
                "element-wise scalar ops are required";
  std::array<int64_t, 3> shape = getSortShape(op);
  shape[1] = static_cast<int64_t>(llvm::PowerOf2Ceil(shape[1]));
  if (!fitsTile(shape))
    return op.emitOpError("of ")
           << op.getInputType() << " is not supported: " << shape[1]
           << " elements, the next power of two, exceed the size of a tile";
  return success();
}

/// Whether the algorithm of a dot has a single part in the type of its
/// operands.
static bool isSingle(DotAlgorithm algorithm) {
  return algorithm == DotAlgorithm::Default ||
         algorithm == DotAlgorithm::TF32 || algorithm == DotAlgorithm::IEEE;
}

/// Whether the op remains because it is primitive or in the list `keep`.
bool SmaltiExpandTileOps::isKept(Operation *op) const {
  if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp, math::ClampFOp,
          math::SincosOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
          math::IsNormalOp, memref::AtomicRMWOp>(op))
    return false;
  if (auto iota = dyn_cast<IotaOp>(op))
    return !isSmallFloat(iota.getType().getElementType());
  if (isDerivedOnGPU(op))
    return !chip || !chip->isGPU();
  StringRef name = op->getName().stripDialect();
  bool isListed = llvm::is_contained(keep, name);
  if (isa<math::IPowIOp>(op))
    return isListed;
  if (!isa_and_nonnull<TritonXLADialect>(op->getDialect()) &&
      !isa<scf::IndexSwitchOp>(op))
    return true;
  if (auto dot = dyn_cast<DotOp>(op))
    return isSingle(dot.getAlgorithm()) &&
           chooseAlgorithm(dot, chip) == dot.getAlgorithm() &&
           (isListed || dot.getLhs().getType().getRank() == 2);
  if (isa<NumTilesOp>(op))
    return false;
  if (auto histogram = dyn_cast<HistogramOp>(op))
    if (Type element = histogram.getTile().getType().getElementType();
        !element.isIndex() && element.getIntOrFloatBitWidth() > 64)
      return true;
  return isListed || !llvm::is_contained(kDerived, name);
}

LogicalResult SmaltiExpandTileOps::plan(SmallVectorImpl<Operation *> &ops) {
  WalkResult walk = getOperation().walk([&](Operation *op) -> WalkResult {
    if (isKept(op))
      return WalkResult::advance();
    if (auto sort = dyn_cast<SortOp>(op); sort && failed(checkSort(sort)))
      return WalkResult::interrupt();
    ops.push_back(op);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

void SmaltiExpandTileOps::expand(Operation *op) {
  TileBuilder b(op->getLoc(), op);
  SmallVector<Value> results =
      TypeSwitch<Operation *, SmallVector<Value>>(op)
          .Case([&](SqueezeDimsOp op) -> SmallVector<Value> {
            return {b.reshape(op.getTile(), op.getType().getShape())};
          })
          .Case([&](SplitOp op) {
            auto dim = static_cast<int64_t>(op.getDim());
            int64_t size = b.shapeOf(op.getParts().front())[dim];
            SmallVector<Value> parts;
            for (int64_t i = 0; i < op.getNumResults(); ++i)
              parts.push_back(b.slice(op.getTile(), dim, i * size, size));
            return parts;
          })
          .Case([&](NumTilesOp op) -> SmallVector<Value> {
            return {
                createTileCount(b, getOperation(),
                                getOperation().getTileFactors()[op.getDim()])};
          })
          .Case([&](HistogramOp op) -> SmallVector<Value> {
            return {expandHistogram(b, op)};
          })
          .Case([&](SortOp op) { return expandSort(b, op); })
          .Case([&](math::IPowIOp op) -> SmallVector<Value> {
            return {expandIPowI(b, op)};
          })
          .Case([&](RandomBitsOp op) { return expandRandomBits(b, op); })
          .Case([&](DotOp op) -> SmallVector<Value> {
            return {expandDot(b, op, chooseAlgorithm(op, chip))};
          })
          .Case([&](DotScaledOp op) -> SmallVector<Value> {
            return {expandDotScaled(b, op)};
          })
          .Case([&](SparseDotOp op) -> SmallVector<Value> {
            return {expandSparseDot(b, op)};
          })
          .Case([&](IotaOp op) -> SmallVector<Value> {
            return {expandIota(b, op)};
          })
          .Case([&](tensor::ExtractOp op) -> SmallVector<Value> {
            return {expandExtract(b, op)};
          })
          .Case([&](memref::DimOp op) -> SmallVector<Value> {
            return {expandDim(b, op)};
          })
          .Case([&](memref::AtomicRMWOp op) -> SmallVector<Value> {
            return {AtomicRMWOp::create(
                b, op.getType(), op.getKind(), op.getValue(), op.getMemref(),
                op.getIndices(), /*mask=*/Value(), MemoryScope::GPU,
                MemoryOrdering::AcquireRelease, /*deterministic=*/false)};
          })
          .Case([&](arith::ScalingExtFOp op) -> SmallVector<Value> {
            return {expandScalingExtF(b, op)};
          })
          .Case([&](arith::ScalingTruncFOp op) -> SmallVector<Value> {
            return {expandScalingTruncF(b, op)};
          })
          .Case([&](math::ClampFOp op) -> SmallVector<Value> {
            return {expandClampF(b, op)};
          })
          .Case([&](math::SincosOp op) { return expandSinCos(b, op); })
          .Case<math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
                math::IsNormalOp>([&](Operation *op) -> SmallVector<Value> {
            return {expandClass(b, op)};
          })
          .Case([&](scf::IndexSwitchOp op) { return expandSwitch(b, op); });
  {
    auto remark = remarkApplied(op, kPassName);
    remark << op->getName().stripDialect() << " expanded";
    auto dot = dyn_cast<DotOp>(op);
    if (DotAlgorithm chosen;
        dot && (chosen = chooseAlgorithm(dot, chip)) != dot.getAlgorithm())
      remark << ": MMAs of " << chip->name << " compute "
             << stringifyDotAlgorithm(chosen) << " faster than "
             << stringifyDotAlgorithm(dot.getAlgorithm());
  }
  op->replaceAllUsesWith(results);
  op->erase();
}

/// Replaces the ids of a grid by one id, in row-major order.
void SmaltiExpandTileOps::linearizeGrid(EntryFuncOp func) {
  SmallVector<SmallVector<TileFactor>> grid = func.getTileFactors();
  if (grid.size() == 1)
    return;
  SmallVector<int64_t> sizes = func.getNumTilesPerDim();
  Block &body = func.getBody().front();
  SmallVector<BlockArgument> ids = llvm::to_vector(func.getTileIds());
  auto builder = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(), &body);
  Value rest = body.addArgument(builder.getIndexType(), ids.back().getLoc());
  for (size_t dim = grid.size(); dim-- > 0;) {
    Value id = rest;
    if (dim != 0) {
      Value size = createTileCount(builder, func, grid[dim]);
      id = arith::RemUIOp::create(builder, rest, size);
      rest = arith::DivUIOp::create(builder, rest, size);
    }
    ids[dim].replaceAllUsesWith(id);
  }
  unsigned first = ids.front().getArgNumber();
  body.eraseArguments(first, grid.size());
  func.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), /*results=*/{}));
  if (ArrayAttr attributes = func.getArgAttrsAttr()) {
    SmallVector<Attribute> kept(attributes.getValue().take_front(first));
    kept.push_back(builder.getDictionaryAttr({}));
    func.setArgAttrsAttr(builder.getArrayAttr(kept));
  }
  SmallVector<TileFactor> all;
  for (const SmallVector<TileFactor> &factors : grid)
    llvm::append_range(all, factors);
  func.setTileFactors({all});
  remarkApplied(func, kPassName)
      << "grid of "
      << llvm::join(llvm::map_range(sizes,
                                    [](int64_t size) {
                                      return ShapedType::isDynamic(size)
                                                 ? std::string("?")
                                                 : std::to_string(size);
                                    }),
                    " x ")
      << " tiles linearized";
}

void SmaltiExpandTileOps::runOnOperation() {
  for (StringRef name : keep) {
    if (llvm::is_contained(kDerived, name))
      continue;
    getOperation().emitError()
        << kPassName << ": keep has '" << name << "'; supported are "
        << llvm::join(ArrayRef(kDerived), ", ");
    return signalPassFailure();
  }
  FailureOr<const targets::Target *> found = findTarget(getOperation(), target);
  if (failed(found))
    return signalPassFailure();
  chip = *found;
  SmallVector<Operation *> ops;
  if (failed(plan(ops)))
    return signalPassFailure();
  for (Operation *op : ops)
    expand(op);
  linearizeGrid(getOperation());
}
