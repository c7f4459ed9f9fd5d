//===- ExpandElements.cpp - Expansion of other ops ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts, random bits, powers and element-wise ops.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToTiles/ExpandTileOps.h"
#include "smalti/passes/Conversion/TilesToTiles/RegionOnTiles.h"

#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Sort, random bits
//===----------------------------------------------------------------------===//

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
      return computeOnTiles(b, comparator, arguments).front();
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

/// Extends a dimension with elements of the tile.
static Value extendTile(TileBuilder &b, Value tile, int64_t dim, int64_t size) {
  int64_t missing = size - b.shapeOf(tile)[dim];
  if (missing == 0)
    return tile;
  return b.concat({tile, b.slice(tile, dim, 0, missing)}, dim);
}

SmallVector<Value> smalti::triton_xla::expandSort(TileBuilder &b, SortOp op) {
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  auto dim = static_cast<int64_t>(op.getDim());
  int64_t outer = ShapedType::getNumElements(shape.take_front(dim)),
          count = shape[dim],
          inner = ShapedType::getNumElements(shape.drop_front(dim + 1));
  int64_t unpadded[] = {outer, count, inner};
  SmallVector<int64_t> padded = getSortedShape(op);
  SmallVector<Value> tiles;
  for (Value input : op.getInputs()) {
    Value tile = b.reshape(input, unpadded);
    // Padding with elements of the tile: the comparison may divide by them.
    // The sorted dimension first: the next tiles then have sizes that threads
    // divide.
    for (int64_t axis : {1, 0, 2})
      tile = extendTile(b, tile, axis, padded[axis]);
    tiles.push_back(tile);
  }
  tiles.push_back(b.iota(padded, b.getI32Type(), /*dim=*/1));
  sortNetwork(b, op.getComparator(), tiles, count);
  tiles.pop_back();
  for (Value &tile : tiles) {
    for (int64_t axis : {2, 0, 1})
      tile = b.slice(tile, axis, 0, unpadded[axis]);
    tile = b.reshape(tile, shape);
  }
  return tiles;
}

SmallVector<Value> smalti::triton_xla::expandReference(TileBuilder &b,
                                                       Operation *op) {
  Region &reference = *ExternalCode::of(op)->reference;
  if (isa<RankedTensorType>(op->getResult(0).getType()))
    return computeOnTiles(b, reference, op->getOperands());
  IRMapping mapping;
  mapping.map(reference.getArguments(), op->getOperands());
  for (Operation &scalar : reference.front().without_terminator())
    b.clone(scalar, mapping);
  return llvm::map_to_vector(
      reference.front().getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

SmallVector<Value> smalti::triton_xla::expandRandomBits(TileBuilder &b,
                                                        RandomBitsOp op) {
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
// Scalars
//===----------------------------------------------------------------------===//

/// The element of a tile at an index. All other elements become 0, so that the
/// bitwise disjunction of all is the element.
Value smalti::triton_xla::expandElementRead(TileBuilder &b,
                                            tensor::ExtractOp op) {
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

/// The size of a dimension that is not a constant in range. Any size may be the
/// result for a number out of range.
Value smalti::triton_xla::expandDim(ImplicitLocOpBuilder &b, memref::DimOp op) {
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
Value smalti::triton_xla::expandIPowI(ImplicitLocOpBuilder &b,
                                      math::IPowIOp op) {
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

Value smalti::triton_xla::expandScalingExtF(OpBuilder &b,
                                            arith::ScalingExtFOp op) {
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

Value smalti::triton_xla::expandScalingTruncF(OpBuilder &b,
                                              arith::ScalingTruncFOp op) {
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

Value smalti::triton_xla::expandClampF(OpBuilder &b, math::ClampFOp op) {
  Value atLeast = arith::MaximumFOp::create(b, op.getLoc(), op.getValue(),
                                            op.getMin(), op.getFastmathAttr());
  return arith::MinimumFOp::create(b, op.getLoc(), atLeast, op.getMax(),
                                   op.getFastmathAttr());
}

SmallVector<Value> smalti::triton_xla::expandSinCos(OpBuilder &b,
                                                    math::SincosOp op) {
  return {math::SinOp::create(b, op.getLoc(), op.getOperand(),
                              op.getFastmathAttr()),
          math::CosOp::create(b, op.getLoc(), op.getOperand(),
                              op.getFastmathAttr())};
}

/// The class of a number as comparisons.
Value smalti::triton_xla::expandClass(OpBuilder &b, Operation *op) {
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
Value smalti::triton_xla::expandIota(TileBuilder &b, IotaOp op) {
  RankedTensorType type = op.getType();
  Value indices = b.iota(type.getShape(), b.getF32Type(),
                         static_cast<int64_t>(op.getDim()));
  // The absolute value prevents a fold to a conversion of integers to small
  // floats, which targets do not have.
  return arith::TruncFOp::create(b, type, math::AbsFOp::create(b, indices));
}
