//===- MatchSlots.cpp - Matching of slot computations ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop inside another loop may number its iterations across all its
// executions. It adds a count that was carried before the loop, or every
// iteration carries the count on. The slot of the first iteration does not
// matter to the distances between iterations.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Slots/IterationSlots.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

static unsigned getWidth(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Loop-invariant values
//===----------------------------------------------------------------------===//

/// Whether the value is loop-invariant and can be computed before the loop.
static bool isInvariant(Value value, scf::ForOp loop, unsigned budget = 8) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && budget != 0 && op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isInvariant(operand, loop, budget - 1);
         });
}

/// The carried value that `value` is, if every iteration adds one to it.
static BlockArgument getCounter(Value value, scf::ForOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar() || !argument.getType().isIntOrIndex())
    return {};
  Value next = loop.getTiedLoopYieldedValue(argument)->get();
  std::optional<IntegerSum> sum = IntegerSum::of(next);
  auto step = sum ? sum->asValueAndConstant() : std::nullopt;
  return step && step->first == argument && step->second == 1 ? argument
                                                              : BlockArgument();
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

namespace {

/// A sum with one term that increases by one in each iteration.
struct Count {
  IntegerSum
      base; ///< the remaining terms, and that term in the first iteration
  /// The width of the narrowest term.
  unsigned bits;
  /// Whether the count is the iteration number, as an unsigned and as a signed
  /// number.
  bool isExact, isPositive;
};

} // namespace

/// The increasing term of a count; nothing for other values.
static std::optional<Count> matchGrowing(Value part, scf::ForOp loop) {
  unsigned bits = getWidth(part.getType());
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  bool isPositive = !loop.getUnsignedCmp() && first && *first >= 0;
  if (isIterationNumber(part, loop))
    return Count{IntegerSum(), bits, /*isExact=*/true, isPositive};
  if (part == loop.getInductionVar() && isConstantIntValue(loop.getStep(), 1)) {
    std::optional<IntegerSum> lower = IntegerSum::of(loop.getLowerBound());
    if (!lower)
      return std::nullopt;
    return Count{*lower, bits, /*isExact=*/false, /*isPositive=*/false};
  }
  if (BlockArgument counter = getCounter(part, loop)) {
    std::optional<IntegerSum> init =
        IntegerSum::of(loop.getTiedLoopInit(counter)->get());
    if (!init)
      return std::nullopt;
    bool isExact = init->asConstant() == 0 &&
                   bits >= getWidth(loop.getInductionVar().getType());
    return Count{*init, bits, isExact, isExact && isPositive};
  }
  Operation *cast = part.getDefiningOp();
  if (!isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
                       arith::ExtSIOp, arith::TruncIOp>(cast))
    return std::nullopt;
  std::optional<Count> inner = matchGrowing(cast->getOperand(0), loop);
  // A base of another type has different sums.
  if (!inner || !inner->base.asConstant())
    return std::nullopt;
  bool isWider = bits >= getWidth(cast->getOperand(0).getType());
  bool isUnsigned = isa<arith::IndexCastUIOp, arith::ExtUIOp>(cast);
  inner->isPositive &= isWider;
  inner->isExact &= isWider && (isUnsigned || inner->isPositive);
  inner->bits = std::min(inner->bits, bits);
  return inner;
}

static std::optional<Count> matchCount(Value value, scf::ForOp loop) {
  if (std::optional<Count> count = matchGrowing(value, loop))
    return count;
  std::optional<IntegerSum> sum = IntegerSum::of(value);
  if (!sum)
    return std::nullopt;
  std::optional<Count> count;
  for (Value part : sum->getValues()) {
    if (isInvariant(part, loop))
      continue;
    std::optional<Count> growing = matchGrowing(part, loop);
    if (!growing || count || !sum->hasOnce(part))
      return std::nullopt;
    count = growing;
    std::optional<IntegerSum> rest = IntegerSum::combine(
        IntegerSum::combine(sum, IntegerSum::of(part, /*budget=*/0), -1),
        growing->base, 1);
    if (!rest)
      return std::nullopt;
    count->isExact &= rest->asConstant() == 0;
    count->isPositive &= count->isExact;
    count->base = *rest;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Matches an affine.apply of ((iv - lower bound) floordiv step) mod depth.
static std::optional<int64_t> matchAffine(affine::AffineApplyOp apply,
                                          scf::ForOp loop) {
  MLIRContext *context = apply.getContext();
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> dims, symbols;
  AffineExpr iv, lowerBound, step;
  if (auto constant = getConstantIntValue(loop.getLowerBound()))
    lowerBound = getAffineConstantExpr(*constant, context);
  if (auto constant = getConstantIntValue(loop.getStep()))
    step = getAffineConstantExpr(*constant, context);
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    bool isDim = i < map.getNumDims();
    AffineExpr expr = isDim
                          ? getAffineDimExpr(i, context)
                          : getAffineSymbolExpr(i - map.getNumDims(), context);
    if (auto constant = getConstantIntValue(operand))
      expr = getAffineConstantExpr(*constant, context);
    else if (operand == loop.getInductionVar())
      iv = expr;
    else if (operand == loop.getLowerBound())
      lowerBound = expr;
    else if (operand == loop.getStep())
      step = expr;
    (isDim ? dims : symbols).push_back(expr);
  }
  if (!iv || !lowerBound || !step)
    return std::nullopt;
  AffineExpr expr =
      simplifyAffineExpr(map.getResult(0).replaceDimsAndSymbols(dims, symbols),
                         map.getNumDims(), map.getNumSymbols());
  auto mod = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!mod || mod.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto depth = dyn_cast<AffineConstantExpr>(mod.getRHS());
  if (!depth)
    return std::nullopt;
  AffineExpr expected =
      simplifyAffineExpr((iv - lowerBound).floorDiv(step) % depth.getValue(),
                         map.getNumDims(), map.getNumSymbols());
  if (expr != expected)
    return std::nullopt;
  return depth.getValue();
}

/// The positive divisor of a remainder.
static std::optional<int64_t> getDivisor(Operation *op) {
  std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
  if (!divisor || *divisor < 0 || !IntegerSum::isSmall(*divisor))
    return std::nullopt;
  if (isa<arith::AndIOp>(op))
    return llvm::isPowerOf2_64(*divisor + 1) ? std::optional(*divisor + 1)
                                             : std::nullopt;
  return *divisor == 0 ? std::nullopt : divisor;
}

static std::optional<IterationSlot> matchRemainder(Operation *op,
                                                   scf::ForOp loop) {
  std::optional<int64_t> depth = getDivisor(op);
  Value counted = op->getOperand(0);
  std::optional<Count> count = depth && getWidth(counted.getType()) <= 64
                                   ? matchCount(counted, loop)
                                   : std::nullopt;
  if (!count)
    return std::nullopt;
  IterationSlot slot{*depth, count->base};
  if (isa<arith::RemSIOp>(op) ? count->isPositive : count->isExact)
    return slot;
  // A remainder by a power of two is the same after the dividend wraps.
  constexpr unsigned fewestBits = 8;
  if (count->bits < fewestBits)
    return std::nullopt;
  if (llvm::isPowerOf2_64(*depth) && llvm::Log2_64(*depth) <= count->bits)
    return slot;
  // No loop runs 2^62 times.
  std::optional<int64_t> first = count->base.asConstant();
  if (count->bits < 64 || !first || *first < 0)
    slot.limit = CountLimit{counted, count->bits};
  return slot;
}

/// A carried number that counts to the depth and is reset: a remainder, or
/// `select(next == depth, 0, next)` and its variants.
static std::optional<IterationSlot> matchWrapping(Value value,
                                                  scf::ForOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar())
    return std::nullopt;
  auto isNext = [&](Value other) {
    std::optional<IntegerSum> sum = IntegerSum::of(other);
    auto next = sum ? sum->asValueAndConstant() : std::nullopt;
    return next && next->first == argument && next->second == 1;
  };
  Operation *update =
      loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp();
  std::optional<int64_t> depth;
  if (auto select = dyn_cast_or_null<arith::SelectOp>(update)) {
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    bool beginsIfTrue = isConstantIntValue(select.getTrueValue(), 0);
    Value next = beginsIfTrue ? select.getFalseValue() : select.getTrueValue();
    Value begin = beginsIfTrue ? select.getTrueValue() : select.getFalseValue();
    if (!compare || !isNext(next) || !isConstantIntValue(begin, 0))
      return std::nullopt;
    using Predicate = arith::CmpIPredicate;
    Predicate predicate = beginsIfTrue
                              ? compare.getPredicate()
                              : arith::invertPredicate(compare.getPredicate());
    std::optional<int64_t> limit = getConstantIntValue(compare.getRhs());
    if (!limit || *limit < 0 || !IntegerSum::isSmall(*limit) ||
        (predicate != Predicate::eq && predicate != Predicate::sge &&
         predicate != Predicate::uge))
      return std::nullopt;
    if (isNext(compare.getLhs()))
      depth = limit;
    else if (compare.getLhs() == argument)
      depth = *limit + 1;
  } else if (isa_and_nonnull<arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(
                 update) &&
             isNext(update->getOperand(0))) {
    depth = getDivisor(update);
  }
  std::optional<IntegerSum> base =
      IntegerSum::of(loop.getTiedLoopInit(argument)->get());
  if (!depth || *depth < 1 || !base)
    return std::nullopt;
  // Other numbers are not slots, and would not be slots after the reset.
  if (std::optional<int64_t> first = base->asConstant();
      first && (*first < 0 || *first >= *depth))
    return std::nullopt;
  return IterationSlot{*depth, *base, /*limit=*/std::nullopt,
                       /*isReset=*/!base->asConstant()};
}

std::optional<IterationSlot> smalti::matchIterationSlot(Value value,
                                                        scf::ForOp loop) {
  if (hasWideCounter(loop))
    return std::nullopt;
  while (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  Operation *op = value.getDefiningOp();
  if (!op)
    return matchWrapping(value, loop);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    std::optional<int64_t> depth = matchAffine(apply, loop);
    return depth ? std::optional(IterationSlot{*depth}) : std::nullopt;
  }
  return isa<arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(op)
             ? matchRemainder(op, loop)
             : std::nullopt;
}

std::optional<SlotNumber> smalti::matchSlotNumber(Value value,
                                                  scf::ForOp loop) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return SlotNumber{IterationSlot{0}, 0, *constant};
  if (std::optional<IterationSlot> slot = matchIterationSlot(value, loop))
    return SlotNumber{*slot, 1, 0};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    std::optional<int64_t> constant =
        getConstantIntValue(op->getOperand(1 - side));
    if (!constant || *constant < 0 || *constant > 4096)
      continue;
    std::optional<SlotNumber> number =
        matchSlotNumber(op->getOperand(side), loop);
    if (!number)
      continue;
    if (isa<arith::AddIOp>(op)) {
      number->offset += *constant;
    } else {
      number->factor *= *constant;
      number->offset *= *constant;
    }
    return number;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Computes, before the loop, the value of `value` in the first iteration; null
/// for 0.
static Value createFirst(OpBuilder &builder, Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  if (isIterationNumber(value, loop) || isConstantIntValue(value, 0))
    return {};
  if (value == loop.getInductionVar())
    return loop.getLowerBound();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return loop.getTiedLoopInit(argument)->get();
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(createFirst(builder, operand, loop));
  if (isa<arith::AddIOp>(op) && !(operands[0] && operands[1]))
    return operands[0] ? operands[0] : operands[1];
  for (auto [operand, old] : llvm::zip_equal(operands, op->getOperands()))
    if (!operand)
      operand = arith::ConstantOp::create(builder, loop.getLoc(),
                                          builder.getZeroAttr(old.getType()));
  // The operands may not be valid operands of an affine map.
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    unsigned dims = apply.getAffineMap().getNumDims();
    return affine::expandAffineExpr(builder, loop.getLoc(),
                                    apply.getAffineMap().getResult(0),
                                    ValueRange(operands).take_front(dims),
                                    ValueRange(operands).drop_front(dims));
  }
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  return copy->getResult(cast<OpResult>(value).getResultNumber());
}

bool CountLimit::bindsNumber(Type counter) const {
  // No loop runs 2^62 times.
  return bits < 64 && getWidth(counter) + 2 > bits;
}

Value CountLimit::createCheck(OpBuilder &builder, scf::ForOp loop,
                              Value lastIteration) const {
  Location loc = loop.getLoc();
  // The sum of two numbers below a quarter of the range is below half of it.
  auto isSmall = [&](Value value) -> Value {
    Value limit = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(value.getType(), getMost()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, value,
                                 limit);
  };
  Value first = createFirst(builder, counted, loop);
  if (!first)
    first = arith::ConstantOp::create(builder, loc,
                                      builder.getZeroAttr(counted.getType()));
  Value check = isSmall(first);
  if (!lastIteration || !bindsNumber(lastIteration.getType()))
    return check;
  return arith::AndIOp::create(builder, loc, check, isSmall(lastIteration));
}
