//===- PaddingValues.cpp - Padding values neutral to a reduction ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/PaddingValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace smalti;

/// Maximum number of combinations of padding values that are tried.
static constexpr unsigned kMaxCombinations = 10000;

std::optional<std::string> smalti::checkSpeculatable(linalg::LinalgOp op) {
  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto isScalar = [](Type type) {
      return type.isIntOrIndexOrFloat() || isa<ComplexType>(type);
    };
    if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) ||
        !isSpeculatable(&inner) ||
        !llvm::all_of(inner.getOperandTypes(), isScalar))
      return "the body contains '" + inner.getName().getStringRef().str() +
             "', which may trap on padding values; move it out of the op";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The op that combines the accumulator with a term
//===----------------------------------------------------------------------===//

namespace {

/// The op that computes combine(accumulator, term), possibly on a widened
/// accumulator whose result is truncated again.
struct Combiner {
  Operation *op = nullptr;
  Value term;
  bool accumulatorFirst = true;
};

} // namespace

/// The operand of an extension, or the value itself.
static Value stripExtension(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return op->getOperand(0);
  return value;
}

static std::optional<Combiner> findCombiner(linalg::LinalgOp op) {
  Block *block = op.getBlock();
  BlockArgument accumulator = block->getArguments().back();
  Value result = block->getTerminator()->getOperand(0);
  bool narrowed = false;
  if (Operation *last = result.getDefiningOp();
      isa_and_nonnull<arith::TruncFOp, arith::TruncIOp>(last)) {
    result = last->getOperand(0);
    narrowed = true;
  }
  Operation *combine = result.getDefiningOp();
  if (!combine || combine->getBlock() != block ||
      combine->getNumOperands() != 2 || combine->getNumResults() != 1)
    return std::nullopt;
  auto isAccumulator = [&](Value value) {
    return narrowed
               ? value != accumulator && stripExtension(value) == accumulator
               : value == accumulator;
  };
  bool first = isAccumulator(combine->getOperand(0)),
       second = isAccumulator(combine->getOperand(1));
  if (first == second)
    return std::nullopt;
  return Combiner{combine, combine->getOperand(first ? 1 : 0), first};
}

static arith::FastMathFlags getFastMath(Operation *op) {
  if (auto interface = dyn_cast<arith::ArithFastMathInterface>(op))
    if (arith::FastMathFlagsAttr flags = interface.getFastMathFlagsAttr())
      return flags.getValue();
  return arith::FastMathFlags::none;
}

/// Whether the op's fastmath flags exclude this value.
static bool isExcluded(Operation *op, Attribute value) {
  auto number = dyn_cast_or_null<FloatAttr>(value);
  arith::FastMathFlags flags = getFastMath(op);
  return number && ((number.getValue().isNaN() &&
                     bitEnumContainsAny(flags, arith::FastMathFlags::nnan)) ||
                    (number.getValue().isInfinity() &&
                     bitEnumContainsAny(flags, arith::FastMathFlags::ninf)));
}

/// Whether the number is the identity of the maximum (or minimum).
static bool isLeast(Operation *op, const APFloat &number, bool ofMinimum) {
  if (number.isInfinity())
    return number.isNegative() != ofMinimum;
  bool finite = bitEnumContainsAny(getFastMath(op), arith::FastMathFlags::ninf);
  const llvm::fltSemantics &semantics = number.getSemantics();
  // Without infinities, the largest finite numbers are the identity.
  if (!finite && APFloat::semanticsHasInf(semantics))
    return false;
  return number.bitwiseIsEqual(
      APFloat::getLargest(semantics, /*Negative=*/!ofMinimum));
}

static bool isIdentity(const Combiner &combiner, Attribute term) {
  Operation *op = combiner.op;
  if (isExcluded(op, term))
    return false;
  if (auto attribute = dyn_cast_or_null<FloatAttr>(term)) {
    const APFloat &number = attribute.getValue();
    bool noNaN =
        bitEnumContainsAny(getFastMath(op), arith::FastMathFlags::nnan);
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](arith::AddFOp) { return number.isZero(); })
        .Case([&](arith::SubFOp) {
          return combiner.accumulatorFirst && number.isZero();
        })
        .Case([&](arith::MulFOp) { return number.isExactlyValue(1.0); })
        .Case([&](arith::MaximumFOp) { return isLeast(op, number, false); })
        .Case([&](arith::MinimumFOp) { return isLeast(op, number, true); })
        // These ops ignore a NaN operand, including the accumulator.
        .Case([&](arith::MaxNumFOp) {
          return number.isNaN() || (noNaN && isLeast(op, number, false));
        })
        .Case([&](arith::MinNumFOp) {
          return number.isNaN() || (noNaN && isLeast(op, number, true));
        })
        .Default([](Operation *) { return false; });
  }
  auto attribute = dyn_cast_or_null<IntegerAttr>(term);
  if (!attribute || !isa<IntegerType>(attribute.getType()))
    return false;
  const APInt number = attribute.getValue();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return number.isZero(); })
      .Case([&](arith::SubIOp) {
        return combiner.accumulatorFirst && number.isZero();
      })
      .Case([&](arith::MulIOp) { return number.isOne(); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return number.isAllOnes(); })
      .Case([&](arith::MaxSIOp) { return number.isMinSignedValue(); })
      .Case([&](arith::MinSIOp) { return number.isMaxSignedValue(); })
      .Default([](Operation *) { return false; });
}

/// Whether the op has an identity element.
static bool hasIdentity(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::OrIOp,
             arith::XOrIOp, arith::AndIOp, arith::MaxUIOp, arith::MinUIOp,
             arith::MaxSIOp, arith::MinSIOp>(op);
}

//===----------------------------------------------------------------------===//
// Evaluation of a body
//===----------------------------------------------------------------------===//

namespace {

/// Facts about a value in the body. Values with the same number are equal.
struct Known {
  Attribute constant;
  unsigned number = 0;
  /// The value is this zero point, truncated to the value's width.
  Value cutFrom;
  /// The value may occur only in padded iterations.
  bool isPadding = false;
  /// The value may be poison in padded iterations, even if it is a constant.
  bool mayBePoison = false;
};

/// Whether the flags or the shift amount of this integer op may cause poison
/// for these operands.
static bool mayMakePoison(Operation &op, ArrayRef<Known> operands) {
  SmallVector<std::optional<APInt>> numbers;
  for (const Known &operand : operands) {
    auto number = dyn_cast_or_null<IntegerAttr>(operand.constant);
    numbers.push_back(number ? std::optional(number.getValue()) : std::nullopt);
  }
  auto is = [&](unsigned i, uint64_t value) {
    return numbers[i] && *numbers[i] == value;
  };
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) &&
      operands[1].isPadding &&
      (!numbers[1] || numbers[1]->uge(numbers[1]->getBitWidth())))
    return true;
  if (auto shift = dyn_cast<arith::ShRSIOp>(op); shift && shift.getIsExact())
    return true;
  if (auto shift = dyn_cast<arith::ShRUIOp>(op); shift && shift.getIsExact())
    return true;
  auto interface = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  if (!interface || interface.getOverflowAttr().getValue() ==
                        arith::IntegerOverflowFlags::none)
    return false;
  bool noSigned = interface.hasNoSignedWrap(),
       noUnsigned = interface.hasNoUnsignedWrap();
  // Cases that are valid for every value of a non-constant operand.
  if (isa<arith::AddIOp, arith::SubIOp>(op) && is(1, 0))
    return false;
  if (isa<arith::AddIOp>(op) && is(0, 0))
    return false;
  if (isa<arith::MulIOp>(op) && (is(0, 0) || is(1, 0) || is(0, 1) || is(1, 1)))
    return false;
  if (!llvm::all_of(numbers, [](auto &number) { return number.has_value(); }))
    return true;
  bool wrapsSigned = false, wrapsUnsigned = false;
  const APInt &a = *numbers[0];
  if (isa<arith::TruncIOp>(op)) {
    unsigned width = op.getResult(0).getType().getIntOrFloatBitWidth();
    wrapsSigned = !a.isSignedIntN(width);
    wrapsUnsigned = !a.isIntN(width);
  } else if (isa<arith::AddIOp>(op)) {
    (void)a.sadd_ov(*numbers[1], wrapsSigned);
    (void)a.uadd_ov(*numbers[1], wrapsUnsigned);
  } else if (isa<arith::SubIOp>(op)) {
    (void)a.ssub_ov(*numbers[1], wrapsSigned);
    (void)a.usub_ov(*numbers[1], wrapsUnsigned);
  } else if (isa<arith::MulIOp>(op)) {
    (void)a.smul_ov(*numbers[1], wrapsSigned);
    (void)a.umul_ov(*numbers[1], wrapsUnsigned);
  } else {
    return true;
  }
  return (noSigned && wrapsSigned) || (noUnsigned && wrapsUnsigned);
}

/// Evaluates a copy of the body once; folding may change ops in place.
class Evaluator {
public:
  Evaluator(linalg::LinalgOp original, ArrayRef<bool> reduced,
            bool zeroPointsInRange)
      : original(original), reduced(reduced),
        zeroPointsInRange(zeroPointsInRange),
        copy(cast<linalg::LinalgOp>(original->clone())) {}
  ~Evaluator() { copy->erase(); }
  Evaluator(const Evaluator &) = delete;
  Evaluator &operator=(const Evaluator &) = delete;

  /// Candidate padding values for an input, most likely first.
  SmallVector<PaddingValue> getCandidates(unsigned input);
  /// Whether the accumulator does not change with these padding values.
  bool leavesAccumulator(ArrayRef<PaddingValue> values);

private:
  /// The value outside the body that equals a value in the body, or null.
  Value getOutside(Value value);
  Attribute getOutsideConstant(Value value);
  bool isInRange(Value zeroPoint, unsigned width, bool isSigned);
  Known get(Value value);
  void evaluate(Operation &op);
  void fold(Operation &op, ArrayRef<Known> operands);
  unsigned fresh() { return ++lastNumber; }

  linalg::LinalgOp original;
  ArrayRef<bool> reduced;
  bool zeroPointsInRange;
  linalg::LinalgOp copy;
  DenseMap<Value, Known> known;
  /// Casts of equal values are equal.
  std::map<std::tuple<const void *, unsigned, const void *>, unsigned> casts;
  unsigned lastNumber = 0;
};

} // namespace

Value Evaluator::getOutside(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != copy.getBlock())
    return copy->isAncestor(value.getParentBlock()->getParentOp()) ? Value()
                                                                   : value;
  OpOperand *operand = copy.getMatchingOpOperand(argument);
  // A scalar or a tensor of rank 0.
  if (!copy.isDpsInput(operand) ||
      (isa<ShapedType>(operand->get().getType()) &&
       cast<ShapedType>(operand->get().getType()).getRank() != 0))
    return Value();
  return operand->get();
}

Attribute Evaluator::getOutsideConstant(Value value) {
  Value outside = getOutside(value);
  if (auto argument = dyn_cast<BlockArgument>(value);
      !outside && argument && argument.getOwner() == copy.getBlock()) {
    // A splat tensor equals its value outside the padding.
    OpOperand *operand = copy.getMatchingOpOperand(argument);
    if (copy.isDpsInput(operand))
      outside = operand->get();
  }
  Attribute constant;
  if (!outside || !matchPattern(outside, m_Constant(&constant)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(constant))
    return elements.isSplat() ? elements.getSplatValue<Attribute>()
                              : Attribute();
  return constant;
}

/// Whether `width` bits can represent the zero point.
bool Evaluator::isInRange(Value zeroPoint, unsigned width, bool isSigned) {
  if (zeroPointsInRange)
    return true;
  Operation *op = zeroPoint.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op))
    return false;
  unsigned from = op->getOperand(0).getType().getIntOrFloatBitWidth();
  if (isa<arith::ExtSIOp>(op))
    return isSigned && from <= width;
  return from < width || (!isSigned && from == width);
}

SmallVector<PaddingValue> Evaluator::getCandidates(unsigned input) {
  SmallVector<PaddingValue> candidates;
  Value argument =
      copy.getMatchingBlockArgument(copy.getDpsInputOperand(input));
  Type type = argument.getType();
  auto add = [&](TypedAttr constant) {
    if (constant && llvm::none_of(candidates, [&](const PaddingValue &other) {
          return other.constant == constant;
        }))
      candidates.push_back({constant, {}});
  };

  // Values that the body subtracts from the operand.
  for (Operation &op : copy.getBlock()->without_terminator()) {
    if (!isa<arith::SubIOp, arith::SubFOp>(op) ||
        stripExtension(op.getOperand(0)) != argument)
      continue;
    Value point = op.getOperand(1);
    Attribute constant = getOutsideConstant(point);
    if (!constant)
      constant = getOutsideConstant(stripExtension(point));
    if (auto number = dyn_cast_or_null<IntegerAttr>(constant);
        number && isa<IntegerType>(type)) {
      add(IntegerAttr::get(
          type, number.getValue().sextOrTrunc(type.getIntOrFloatBitWidth())));
    } else if (auto number = dyn_cast_or_null<FloatAttr>(constant);
               number && isa<FloatType>(type)) {
      APFloat value = number.getValue();
      bool inexact;
      value.convert(cast<FloatType>(type).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &inexact);
      add(FloatAttr::get(type, value));
    } else if (isa<IntegerType>(type)) {
      Value outside = getOutside(point);
      if (!outside)
        outside = getOutside(stripExtension(point));
      Type pointType =
          outside ? getElementTypeOrSelf(outside.getType()) : Type();
      if (isa_and_nonnull<IntegerType>(pointType) &&
          pointType.getIntOrFloatBitWidth() >= type.getIntOrFloatBitWidth())
        candidates.push_back({{}, outside});
    }
  }

  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    for (const APInt &number :
         {APInt::getZero(width), APInt(width, 1), APInt::getAllOnes(width),
          APInt::getSignedMinValue(width), APInt::getSignedMaxValue(width)})
      add(IntegerAttr::get(type, number));
  } else if (auto floating = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    auto addNumber = [&](const APFloat &number) {
      add(FloatAttr::get(type, number));
    };
    if (APFloat::semanticsHasZero(semantics))
      addNumber(APFloat::getZero(semantics));
    addNumber(APFloat(semantics, 1));
    for (bool negative : {true, false}) {
      if (APFloat::semanticsHasInf(semantics))
        addNumber(APFloat::getInf(semantics, negative));
      if (!negative || APFloat::semanticsHasSignedRepr(semantics))
        addNumber(APFloat::getLargest(semantics, negative));
    }
    if (APFloat::semanticsHasNaN(semantics))
      addNumber(APFloat::getNaN(semantics));
  }
  return candidates;
}

Known Evaluator::get(Value value) {
  auto [it, isNew] = known.try_emplace(value);
  if (isNew) {
    it->second.constant = getOutsideConstant(value);
    it->second.number = fresh();
  }
  return it->second;
}

void Evaluator::evaluate(Operation &op) {
  SmallVector<Known> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  bool isPadding =
      isa<linalg::IndexOp>(op) ||
      llvm::any_of(operands, [](const Known &k) { return k.isPadding; });
  bool isZero =
      isa<arith::SubIOp>(op) && operands[0].number == operands[1].number;
  bool mayBePoison =
      (isPadding && !isZero && mayMakePoison(op, operands)) ||
      llvm::any_of(operands, [](const Known &k) { return k.mayBePoison; });
  // A select uses only one of its operands.
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (auto condition = dyn_cast_or_null<IntegerAttr>(operands[0].constant))
      mayBePoison = operands[0].mayBePoison ||
                    operands[condition.getValue().isZero() ? 2 : 1].mayBePoison;

  fold(op, operands);
  // Whether these ops return poison depends on the operand values.
  bool excludes =
      isa<arith::FPToSIOp, arith::FPToUIOp>(op) ||
      bitEnumContainsAny(getFastMath(&op), arith::FastMathFlags::nnan |
                                               arith::FastMathFlags::ninf);
  for (Value value : op.getResults()) {
    Known &result = known[value];
    result.isPadding = isPadding;
    result.mayBePoison =
        mayBePoison || (isPadding && excludes && !result.constant);
  }
}

/// Determines the facts about the results, except padding and poison.
void Evaluator::fold(Operation &op, ArrayRef<Known> operands) {
  Known result;
  if (op.getNumResults() == 1 && op.getNumOperands() == 1) {
    Type type = op.getResult(0).getType();
    // An extension undoes a lossless truncation.
    if (Value point = operands[0].cutFrom;
        point && isa<arith::ExtSIOp, arith::ExtUIOp>(op) &&
        getElementTypeOrSelf(point.getType()) == type &&
        isInRange(point, op.getOperand(0).getType().getIntOrFloatBitWidth(),
                  isa<arith::ExtSIOp>(op))) {
      auto number = casts.find({nullptr, 0, point.getAsOpaquePointer()});
      result.number = number->second;
      known[op.getResult(0)] = result;
      return;
    }
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(op) && !operands[0].constant) {
      unsigned &number = casts[{op.getName().getAsOpaquePointer(),
                                operands[0].number, type.getAsOpaquePointer()}];
      if (!number)
        number = fresh();
      result.number = number;
      known[op.getResult(0)] = result;
      return;
    }
  }
  if (isa<arith::SubIOp>(op) && operands[0].number == operands[1].number) {
    known[op.getResult(0)] = {
        Builder(op.getContext()).getZeroAttr(op.getResult(0).getType()),
        fresh(),
        {}};
    return;
  }

  bool excluded = llvm::any_of(operands, [&](const Known &operand) {
    return isExcluded(&op, operand.constant);
  });
  // Folding may only reorder the operands; then a second attempt is needed.
  for (unsigned attempt = 0; attempt < 2 && !excluded; ++attempt) {
    SmallVector<Attribute> constants;
    for (Value operand : op.getOperands())
      constants.push_back(get(operand).constant);
    SmallVector<OpFoldResult> folded;
    if (failed(op.fold(constants, folded)))
      break;
    if (folded.size() != op.getNumResults())
      continue;
    for (auto [value, fold] : llvm::zip_equal(op.getResults(), folded)) {
      if (auto other = dyn_cast<Value>(fold)) {
        known[value] = get(other);
        continue;
      }
      Attribute constant = cast<Attribute>(fold);
      known[value] = {
          isExcluded(&op, constant) ? Attribute() : constant, fresh(), {}};
    }
    return;
  }
  for (Value value : op.getResults())
    known[value] = {{}, fresh(), {}};
}

bool Evaluator::leavesAccumulator(ArrayRef<PaddingValue> values) {
  for (unsigned i = 0, e = values.size(); i < e; ++i) {
    if (!reduced[i])
      continue;
    const PaddingValue &value = values[i];
    Value argument = copy.getMatchingBlockArgument(copy.getDpsInputOperand(i));
    Known padding{value.constant, fresh(), {}, /*isPadding=*/true};
    if (value.zeroPoint) {
      // All values in the body that equal the zero point share its number.
      unsigned &number =
          casts[{nullptr, 0, value.zeroPoint.getAsOpaquePointer()}];
      if (!number)
        number = fresh();
      for (BlockArgument other : copy.getBlock()->getArguments())
        if (getOutside(other) == value.zeroPoint)
          known[other] = {{}, number, {}};
      if (isa<IntegerType>(value.zeroPoint.getType()))
        known[value.zeroPoint] = {{}, number, {}};
      if (getElementTypeOrSelf(value.zeroPoint.getType()) == argument.getType())
        padding.number = number;
      else
        padding.cutFrom = value.zeroPoint;
    }
    known[argument] = padding;
  }
  for (Operation &op : copy.getBlock()->without_terminator())
    evaluate(op);
  std::optional<Combiner> combiner = findCombiner(copy);
  if (!combiner)
    return false;
  Known term = get(combiner->term);
  return !term.mayBePoison && isIdentity(*combiner, term.constant);
}

std::optional<std::string>
smalti::findPaddingValues(linalg::LinalgOp op, ArrayRef<bool> reduced,
                          bool zeroPointsInRange,
                          SmallVectorImpl<PaddingValue> &values) {
  values.assign(op.getNumDpsInputs(), PaddingValue());
  std::optional<Combiner> combiner = findCombiner(op);
  if (!combiner)
    return std::string(
        "the body of the op does not combine the accumulator "
        "with a term in a single op, such as 'arith.addf'; write it "
        "in this form");
  std::string name = combiner->op->getName().getStringRef().str();
  if (!hasIdentity(combiner->op))
    return "'" + name +
           "', which combines the accumulator with a term, does not have a "
           "known identity element to pad with; "
           "use a sum, product, minimum, maximum or bitwise op of arith";

  SmallVector<SmallVector<PaddingValue>> candidates(reduced.size());
  SmallVector<unsigned> choice(reduced.size(), 0);
  bool hasZeroPoint = false;
  for (unsigned i = 0; i < reduced.size(); ++i) {
    if (!reduced[i])
      continue;
    candidates[i] = Evaluator(op, reduced, zeroPointsInRange).getCandidates(i);
    // Integers and floats always have candidates.
    assert(!candidates[i].empty());
    hasZeroPoint |= llvm::any_of(candidates[i], [](const PaddingValue &value) {
      return value.zeroPoint != nullptr;
    });
  }
  for (unsigned tries = 0; tries < kMaxCombinations; ++tries) {
    for (unsigned i = 0; i < reduced.size(); ++i)
      if (reduced[i])
        values[i] = candidates[i][choice[i]];
    if (Evaluator(op, reduced, zeroPointsInRange).leavesAccumulator(values))
      return std::nullopt;
    // The next combination; the last input's choice changes fastest.
    unsigned digit = reduced.size();
    while (digit > 0 && (!reduced[digit - 1] ||
                         ++choice[digit - 1] == candidates[digit - 1].size()))
      choice[--digit] = 0;
    if (digit == 0)
      break;
  }
  std::string reason = "padding would change the result: no padding values "
                       "were found that yield the identity element of '" +
                       name + "'";
  if (hasZeroPoint)
    reason += "; a zero point may be outside the operand type (set "
              "zero-points-in-range=true if this cannot happen)";
  return reason;
}

Value smalti::materialize(OpBuilder &builder, Location loc,
                          const PaddingValue &value, Type element) {
  if (!value.zeroPoint) {
    TypedAttr constant = value.constant;
    if (!constant)
      constant = builder.getZeroAttr(element);
    return arith::ConstantOp::create(builder, loc, constant);
  }
  Value point = value.zeroPoint;
  if (isa<RankedTensorType>(point.getType()))
    point = tensor::ExtractOp::create(builder, loc, point, ValueRange());
  if (point.getType() == element)
    return point;
  return arith::TruncIOp::create(builder, loc, element, point);
}
