//===- SmallFloats.cpp - Conversions of floats of at most 8 bits ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace smalti;

Type smalti::withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

Value smalti::truncateToOdd(OpBuilder &builder, Location loc, Value wide) {
  Type f32 = withElement(wide.getType(), builder.getF32Type());
  Type i32 = withElement(wide.getType(), builder.getI32Type());
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attribute = builder.getI32IntegerAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(i32))
      attribute = DenseElementsAttr::get(shaped, attribute);
    return arith::ConstantOp::create(builder, loc, attribute);
  };
  Value nearest = arith::TruncFOp::create(builder, loc, f32, wide);
  Value back = arith::ExtFOp::create(builder, loc, wide.getType(), nearest);
  // Ordered comparison: NaN is not changed.
  Value inexact = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE,
                                        back, wide);
  Value away = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                     math::AbsFOp::create(builder, loc, back),
                                     math::AbsFOp::create(builder, loc, wide));
  Value bits = arith::BitcastOp::create(builder, loc, i32, nearest);
  Value towardsZero = arith::SelectOp::create(
      builder, loc, away,
      arith::SubIOp::create(builder, loc, bits, constant(1)), bits);
  Value odd = arith::OrIOp::create(builder, loc, towardsZero, constant(1));
  return arith::BitcastOp::create(
      builder, loc, f32,
      arith::SelectOp::create(builder, loc, inexact, odd, bits));
}

bool smalti::isDirected(arith::TruncFOp op) {
  constexpr auto nearest = arith::RoundingMode::to_nearest_even;
  return op.getRoundingmode().value_or(nearest) != nearest;
}

bool smalti::isSmallFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

/// Whether the op truncates to f16, bf16 or f32, but not to nearest even. LLVM
/// ignores the rounding mode.
static bool roundsByMode(Operation *op) {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  return truncation && isDirected(truncation) &&
         isa<Float16Type, BFloat16Type, Float32Type>(
             getElementTypeOrSelf(truncation.getType())) &&
         isa<Float32Type, Float64Type>(
             getElementTypeOrSelf(truncation.getIn().getType()));
}

bool smalti::convertsSmallFloats(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
             op) &&
         (isSmallFloat(getElementTypeOrSelf(op->getOperand(0).getType())) ||
          isSmallFloat(getElementTypeOrSelf(op->getResult(0).getType())));
}

bool smalti::canExpandSmallFloats(Operation *op) {
  if (!convertsSmallFloats(op))
    return false;
  if (Type from = getElementTypeOrSelf(op->getOperand(0).getType());
      isa<IntegerType>(from))
    // f64 rounds larger integers. They exceed the largest value of all types
    // but f8E8M0FNU.
    return from.getIntOrFloatBitWidth() <= 64 &&
           (from.getIntOrFloatBitWidth() <= 53 ||
            !isa<Float8E8M0FNUType>(
                getElementTypeOrSelf(op->getResult(0).getType())));
  Type wide = getElementTypeOrSelf(isa<arith::TruncFOp>(op)
                                       ? op->getOperand(0).getType()
                                       : op->getResult(0).getType());
  return isSmallFloat(wide) ||
         isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(wide);
}

bool smalti::computesSmallFloats(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::FPToSIOp,
          arith::FPToUIOp, arith::SelectOp, arith::SIToFPOp, arith::TruncFOp,
          arith::UIToFPOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    return isSmallFloat(getElementTypeOrSelf(type));
  });
}

LogicalResult smalti::checkSmallFloatConversion(Operation *op) {
  if (!convertsSmallFloats(op) || canExpandSmallFloats(op))
    return success();
  return op->emitOpError()
         << "converts " << getElementTypeOrSelf(op->getOperand(0).getType())
         << " to " << getElementTypeOrSelf(op->getResult(0).getType())
         << "; floats of at most 8 bits convert only to and from each other, "
            "f16, bf16, f32 and f64, and from integers: convert through f32";
}

namespace {

/// The bits of a small float type. f32 is the wide type.
struct Format {
  explicit Format(FloatType type)
      : bits(type.getIntOrFloatBitWidth()),
        mantissa(type.getFPMantissaWidth() - 1) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    isSigned = llvm::APFloat::semanticsHasSignedRepr(semantics);
    hasInfinity = llvm::APFloat::semanticsHasInf(semantics);
    hasNaN = llvm::APFloat::semanticsHasNaN(semantics);
    bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
    largest = getBits(llvm::APFloat::getLargest(semantics));
    if (hasInfinity)
      infinity = getBits(llvm::APFloat::getInf(semantics));
    if (hasNaN)
      nan = getBits(llvm::APFloat::getQNaN(semantics));
    hasNegativeZero = nan != signBit();
  }

  static int64_t getBits(const llvm::APFloat &value) {
    return static_cast<int64_t>(value.bitcastToAPInt().getZExtValue());
  }
  int64_t signBit() const { return int64_t(1) << (bits - 1); }
  /// The difference of the bit positions of the mantissas.
  int64_t shift() const { return wideMantissa - mantissa; }

  static constexpr int64_t wideMantissa = 23, wideBias = 127;
  int64_t bits, mantissa, bias = 0, largest, infinity = 0, nan = 0;
  bool isSigned, hasInfinity, hasNaN, hasNegativeZero;
};

/// Expands one conversion of a scalar or a vector, in i32.
class Expansion {
public:
  explicit Expansion(Operation *op)
      : op(op), builder(op->getLoc(), op), type(op->getResult(0).getType()) {
    if (auto truncation = dyn_cast<arith::TruncFOp>(op))
      mode = truncation.getRoundingmode().value_or(mode);
  }

  void run();

private:
  Type withElement(Type element) {
    return ::smalti::withElement(type, element);
  }
  Type i32() { return withElement(builder.getI32Type()); }
  Type f32() { return withElement(builder.getF32Type()); }
  Value constant(int64_t value) {
    TypedAttr attribute = builder.getIntegerAttr(
        builder.getI32Type(), llvm::APInt(32, uint64_t(value),
                                          /*isSigned=*/false,
                                          /*implicitTrunc=*/true));
    if (auto shaped = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(shaped.clone(builder.getI32Type()),
                                         Attribute(attribute));
    return arith::ConstantOp::create(builder, attribute);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(builder, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(builder, x, y); }
  Value mask(Value x, int64_t bits) {
    return arith::AndIOp::create(builder, x, constant(bits));
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(builder, x, y); }
  Value left(Value x, int64_t count) {
    return arith::ShLIOp::create(builder, x, constant(count));
  }
  Value right(Value x, int64_t count) {
    return arith::ShRUIOp::create(builder, x, constant(count));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(builder, predicate, x, constant(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(builder, condition, x, y);
  }
  Value asFloat(Value bits) {
    return arith::BitcastOp::create(builder, f32(), bits);
  }
  Value asBits(Value number) {
    return arith::BitcastOp::create(builder, i32(), number);
  }

  /// The bits of the f32 with the value of the small float `bits`, an i32.
  Value extend(const Format &format, Value bits);
  Value extendPowerOfTwo(Value bits);
  /// The bits, in an i32, of the small float to which the f32 is rounded.
  Value truncate(const Format &format, Value number);
  Value truncateToPowerOfTwo(const Format &format, Value number);
  /// The bits of a magnitude that is rounded to nearest even, before
  /// saturation.
  Value roundToEven(const Format &format, Value magnitude);
  /// The same for the other rounding modes.
  Value roundByMode(const Format &format, Value magnitude, Value isNegative);
  /// `away` if the mode rounds numbers of this sign away from zero, else
  /// `toward`.
  Value chooseByMode(Value isNegative, Value away, Value toward);
  /// The f64 as f32, rounded by the mode, which is not to nearest even.
  Value truncateDouble(Value wide);

  Operation *op;
  ImplicitLocOpBuilder builder;
  Type type;
  arith::RoundingMode mode = arith::RoundingMode::to_nearest_even;
};

} // namespace

using arith::CmpIPredicate;

static constexpr int64_t kWideInfinity = 0x7f800000, kWideNaN = 0x7fc00000;

Value Expansion::extend(const Format &format, Value bits) {
  Value magnitude = mask(bits, format.signBit() - 1);
  Value moved = left(magnitude, format.shift());
  int64_t rebias = Format::wideBias - format.bias;
  Value normal = add(moved, constant(rebias << Format::wideMantissa));
  // 2^e + m - 2^e, where e is the exponent of the smallest normal value.
  Value one = constant((rebias + 1) << Format::wideMantissa);
  Value subnormal = asBits(arith::SubFOp::create(
      builder, asFloat(either(moved, one)), asFloat(one)));
  Value result = select(
      compare(CmpIPredicate::ult, magnitude, int64_t(1) << format.mantissa),
      subnormal, normal);
  if (format.hasInfinity)
    result = select(
        compare(CmpIPredicate::uge, magnitude, format.infinity),
        either(left(sub(magnitude, constant(format.infinity)), format.shift()),
               constant(kWideInfinity)),
        result);
  else if (format.hasNaN && format.hasNegativeZero)
    result = select(compare(CmpIPredicate::ugt, magnitude, format.largest),
                    constant(kWideNaN), result);
  Value sign = left(mask(bits, format.signBit()), 32 - format.bits);
  result = either(result, sign);
  if (!format.hasNegativeZero)
    result = select(compare(CmpIPredicate::eq, bits, format.nan),
                    constant(kWideNaN), result);
  return result;
}

Value Expansion::extendPowerOfTwo(Value bits) {
  // 2^-127 is subnormal in f32.
  Value result = select(compare(CmpIPredicate::eq, bits, 0),
                        constant(int64_t(1) << (Format::wideMantissa - 1)),
                        left(bits, Format::wideMantissa));
  return select(compare(CmpIPredicate::eq, bits, 0xff), constant(kWideNaN),
                result);
}

Value Expansion::roundToEven(const Format &format, Value magnitude) {
  // Ties go to even: half of the last place is added if its bit is set,
  // otherwise one less.
  int64_t rebias = Format::wideBias - format.bias;
  int64_t half = int64_t(1) << (format.shift() - 1);
  Value last = mask(right(magnitude, format.shift()), 1);
  Value normal =
      right(add(add(magnitude, last),
                constant(half - 1 - (rebias << Format::wideMantissa))),
            format.shift());
  // The unit in the last place of this sum is the smallest subnormal value.
  Value unit = constant((rebias + 1 + format.shift()) << Format::wideMantissa);
  Value subnormal = sub(
      asBits(arith::AddFOp::create(builder, asFloat(magnitude), asFloat(unit))),
      unit);
  return select(compare(CmpIPredicate::ult, magnitude,
                        (rebias + 1) << Format::wideMantissa),
                subnormal, normal);
}

Value Expansion::chooseByMode(Value isNegative, Value away, Value toward) {
  switch (mode) {
  case arith::RoundingMode::upward:
    return select(isNegative, toward, away);
  case arith::RoundingMode::downward:
    return select(isNegative, away, toward);
  case arith::RoundingMode::toward_zero:
    return toward;
  case arith::RoundingMode::to_nearest_even:
  case arith::RoundingMode::to_nearest_away:
    return away;
  }
  llvm_unreachable("unknown rounding mode");
}

Value Expansion::truncateDouble(Value wide) {
  auto compareFloats = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(builder, predicate, x, y).getResult();
  };
  Value nearest = arith::TruncFOp::create(builder, f32(), wide);
  Value back = arith::ExtFOp::create(builder, wide.getType(), nearest);
  Value bits = asBits(nearest), one = constant(1);
  if (mode == arith::RoundingMode::to_nearest_away) {
    // The distances are exact.
    Value next =
        arith::ExtFOp::create(builder, wide.getType(), asFloat(add(bits, one)));
    Value isTie = compareFloats(arith::CmpFPredicate::OEQ,
                                arith::SubFOp::create(builder, wide, back),
                                arith::SubFOp::create(builder, next, wide));
    return asFloat(select(isTie, add(bits, one), bits));
  }
  // The neighbor in the direction of the mode, if the nearest number is on the
  // other side.
  Value isNegative = compare(CmpIPredicate::slt, bits, 0);
  Value isSmaller = compareFloats(arith::CmpFPredicate::OLT,
                                  math::AbsFOp::create(builder, back),
                                  math::AbsFOp::create(builder, wide));
  Value isLarger = compareFloats(arith::CmpFPredicate::OGT,
                                 math::AbsFOp::create(builder, back),
                                 math::AbsFOp::create(builder, wide));
  return asFloat(chooseByMode(isNegative,
                              select(isSmaller, add(bits, one), bits),
                              select(isLarger, sub(bits, one), bits)));
}

Value Expansion::roundByMode(const Format &format, Value magnitude,
                             Value isNegative) {
  // Subnormal numbers of f32 have the smallest exponent, without implicit bit.
  Value exponent = arith::MaxUIOp::create(
      builder, right(magnitude, Format::wideMantissa), constant(1));
  Value significand =
      sub(magnitude, left(sub(exponent, constant(1)), Format::wideMantissa));
  // Below the smallest normal value, a smaller exponent drops more bits. A
  // significand of 24 bits is less than half of a unit of 25 bits or more.
  Value smallest = constant(Format::wideBias - format.bias + 1);
  Value dropped = arith::MinUIOp::create(
      builder,
      add(constant(format.shift()),
          sub(arith::MaxUIOp::create(builder, exponent, smallest), exponent)),
      constant(Format::wideMantissa + 2));
  Value unit = arith::ShLIOp::create(builder, constant(1), dropped);
  Value addend =
      mode == arith::RoundingMode::to_nearest_away
          ? right(unit, 1)
          : chooseByMode(isNegative, sub(unit, constant(1)), constant(0));
  Value rounded =
      arith::ShRUIOp::create(builder, add(significand, addend), dropped);
  // The implicit bit of a normal value adds 1 to the exponent.
  return add(
      rounded,
      left(sub(arith::MaxUIOp::create(builder, exponent, smallest), smallest),
           format.mantissa));
}

Value Expansion::truncate(const Format &format, Value number) {
  Value bits = asBits(number);
  Value magnitude = mask(bits, 0x7fffffff);
  Value isNegative = compare(CmpIPredicate::slt, bits, 0);
  Value result = mode == arith::RoundingMode::to_nearest_even
                     ? roundToEven(format, magnitude)
                     : roundByMode(format, magnitude, isNegative);
  if (format.bits <= 8)
    result = arith::MinUIOp::create(builder, result, constant(format.largest));
  else
    result = select(compare(CmpIPredicate::uge, magnitude, kWideInfinity),
                    constant(format.infinity),
                    arith::MinUIOp::create(
                        builder, result,
                        chooseByMode(isNegative, constant(format.infinity),
                                     constant(format.largest))));
  Value isNaN = compare(CmpIPredicate::ugt, magnitude, kWideInfinity);
  Value sign = mask(right(bits, 32 - format.bits), format.signBit());
  if (!format.hasNaN)
    return select(isNaN, constant(format.largest), either(result, sign));
  if (format.hasNegativeZero)
    return either(select(isNaN, constant(format.nan), result), sign);
  result = select(compare(CmpIPredicate::eq, result, 0), result,
                  either(result, sign));
  return select(isNaN, constant(format.nan), result);
}

Value Expansion::truncateToPowerOfTwo(const Format &format, Value number) {
  Value bits = asBits(number);
  Value magnitude = mask(bits, 0x7fffffff);
  // 2^-127 is subnormal in f32. The result for a magnitude below 2^-126 is 1,
  // which represents 2^-126, if the magnitude is at least `limit`.
  int64_t half = int64_t(1) << (Format::wideMantissa - 1);
  int64_t addend = half, limit = 3 * half / 2;
  if (mode == arith::RoundingMode::upward) {
    addend = 2 * half - 1;
    limit = half + 1;
  } else if (mode == arith::RoundingMode::downward ||
             mode == arith::RoundingMode::toward_zero) {
    addend = 0;
    limit = 2 * half;
  }
  Value normal = right(add(magnitude, constant(addend)), Format::wideMantissa);
  Value subnormal = select(compare(CmpIPredicate::uge, magnitude, limit),
                           constant(1), constant(0));
  Value result = select(compare(CmpIPredicate::ult, magnitude, 2 * half),
                        subnormal, normal);
  result = arith::MinUIOp::create(builder, result, constant(format.largest));
  // Negative values, and NaN; -0.0 is zero.
  Value hasNaN = arith::OrIOp::create(
      builder, compare(CmpIPredicate::ugt, magnitude, kWideInfinity),
      compare(CmpIPredicate::ugt, bits, 0x80000000));
  return select(hasNaN, constant(format.nan), result);
}

void Expansion::run() {
  Value operand = op->getOperand(0);
  Type from = getElementTypeOrSelf(operand.getType()),
       to = getElementTypeOrSelf(type);
  Value result;
  if (isSmallFloat(from)) {
    Format format(cast<FloatType>(from));
    Value bits = arith::BitcastOp::create(
        builder, withElement(builder.getIntegerType(format.bits)), operand);
    bits = arith::ExtUIOp::create(builder, i32(), bits);
    result = asFloat(format.isSigned ? extend(format, bits)
                                     : extendPowerOfTwo(bits));
    if (isSmallFloat(to)) {
      from = builder.getF32Type();
      operand = result;
    } else if (to.getIntOrFloatBitWidth() < 32) {
      // f8E8M0FNU exceeds the range of f16, to which this rounds.
      result = arith::TruncFOp::create(builder, type, result);
    } else if (!to.isF32()) {
      result = arith::ExtFOp::create(builder, type, result);
    }
  }
  if (to.isF32() && from.isF64()) {
    result = truncateDouble(operand);
  } else if (isSmallFloat(to) || roundsByMode(op)) {
    Format format(cast<FloatType>(to));
    if (isa<IntegerType>(from)) {
      from = from.getIntOrFloatBitWidth() <= 24 ? Type(builder.getF32Type())
                                                : builder.getF64Type();
      Type wide = smalti::withElement(type, from);
      operand = isa<arith::UIToFPOp>(op)
                    ? Value(arith::UIToFPOp::create(builder, wide, operand))
                    : arith::SIToFPOp::create(builder, wide, operand);
    }
    if (from.isF64())
      operand = truncateToOdd(builder, op->getLoc(), operand);
    else if (!from.isF32())
      operand = arith::ExtFOp::create(builder, f32(), operand);
    Value bits = format.isSigned ? truncate(format, operand)
                                 : truncateToPowerOfTwo(format, operand);
    bits = arith::TruncIOp::create(
        builder, withElement(builder.getIntegerType(format.bits)), bits);
    result = arith::BitcastOp::create(builder, type, bits);
  }
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
}

void smalti::expandSmallFloatConversion(Operation *op) { Expansion(op).run(); }

void smalti::expandSmallFloats(Operation *root) {
  SmallVector<Operation *> conversions;
  root->walk([&](Operation *op) {
    if (convertsSmallFloats(op) || roundsByMode(op))
      conversions.push_back(op);
  });
  for (Operation *op : conversions)
    expandSmallFloatConversion(op);
}
