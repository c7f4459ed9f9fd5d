//===- HoistBounds.cpp - smalti-hoist-bounds ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerSum.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/targets/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTIHOISTBOUNDS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-hoist-bounds";

/// Indices, extents and induction variables are at most this number, so that
/// limits and distances to them are 32-bit integers.
static constexpr int64_t kMaxNumber = int64_t(1) << 29;

namespace {
/// The ranges of the few numbers that checks compare, inferred from the ops
/// that compute them. A data-flow analysis of the kernel would take longer than
/// all other work of the pass.
class NumberRanges {
public:
  bool isSmall(Value number) {
    ConstantIntRanges range = infer(number, 0);
    return range.smin().isNonNegative() && range.smax().sle(kMaxNumber);
  }

private:
  static constexpr unsigned kMaxDepth = 16;

  ConstantIntRanges infer(Value value, unsigned depth);

  DenseMap<Value, ConstantIntRanges> inferred;
};

/// `induction variable + rest + constant < extent`, and the conditions that the
/// loop does not change.
struct Bound {
  SmallVector<IntegerSum::Term> rest;
  int64_t constant = 0;
  Value extent;
  SmallVector<Value> conditions;

  /// Bounds that differ in their constants share a limit.
  bool sharesLimit(const Bound &other) const {
    return rest == other.rest && extent == other.extent &&
           std::is_permutation(conditions.begin(), conditions.end(),
                               other.conditions.begin(),
                               other.conditions.end());
  }
};

/// The bounds that compare with one limit.
struct Limit {
  int64_t leastConstant = 0;
  SmallVector<std::pair<Value, Bound>> bounds;
};

struct SmaltiHoistBounds
    : smalti::impl::SmaltiHoistBoundsBase<SmaltiHoistBounds> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

ConstantIntRanges NumberRanges::infer(Value value, unsigned depth) {
  if (auto it = inferred.find(value); it != inferred.end())
    return it->second;
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges range = ConstantIntRanges::maxRange(width);
  if (depth == kMaxDepth)
    return range;
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  auto op = value.getDefiningOp<InferIntRangeInterface>();
  if (loop && value == loop.getInductionVar() && !loop.getUnsignedCmp()) {
    APInt low = infer(loop.getLowerBound(), depth + 1).smin(),
          end = infer(loop.getUpperBound(), depth + 1).smax();
    if (low.slt(end))
      range = ConstantIntRanges::fromSigned(low, end - 1);
  } else if (op && llvm::all_of(op->getOperandTypes(), [](Type type) {
               return type.isIntOrIndex();
             })) {
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op->getOperands())
      operands.push_back(infer(operand, depth + 1));
    op.inferResultRanges(operands,
                         [&](Value result, const ConstantIntRanges &found) {
                           if (result == value)
                             range = found;
                         });
  }
  inferred.try_emplace(value, range);
  return range;
}

/// Appends the operands of a tree of conjunctions.
static void appendConjuncts(Value condition, SmallVectorImpl<Value> &conjuncts,
                            scf::ForOp loop) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both || !loop->isAncestor(both)) {
    conjuncts.push_back(condition);
    return;
  }
  appendConjuncts(both.getLhs(), conjuncts, loop);
  appendConjuncts(both.getRhs(), conjuncts, loop);
}

/// Splits the index minus the induction variable into values that the loop does
/// not change, and a constant.
static bool splitIndex(Value index, scf::ForOp loop, Bound &bound) {
  std::optional<IntegerSum> rest = IntegerSum::combine(
      IntegerSum::of(index), IntegerSum::of(loop.getInductionVar()), -1);
  std::optional<SmallVector<IntegerSum::Term>> terms =
      rest ? rest->getTerms() : std::nullopt;
  if (!terms)
    return false;
  for (auto [value, coefficient] : *terms) {
    if (!value) {
      bound.constant = coefficient;
      continue;
    }
    if (!value.getType().isIndex() || !loop.isDefinedOutsideOfLoop(value))
      return false;
    bound.rest.push_back({value, coefficient});
  }
  return true;
}

static std::optional<Bound> matchBound(Value condition, scf::ForOp loop,
                                       NumberRanges &ranges) {
  SmallVector<Value> conjuncts;
  appendConjuncts(condition, conjuncts, loop);
  Bound bound;
  for (Value conjunct : conjuncts) {
    if (loop.isDefinedOutsideOfLoop(conjunct)) {
      bound.conditions.push_back(conjunct);
      continue;
    }
    auto compare = conjunct.getDefiningOp<arith::CmpIOp>();
    if (!compare || bound.extent ||
        (compare.getPredicate() != arith::CmpIPredicate::ult &&
         compare.getPredicate() != arith::CmpIPredicate::slt) ||
        !compare.getLhs().getType().isIndex() ||
        !loop.isDefinedOutsideOfLoop(compare.getRhs()) ||
        !splitIndex(compare.getLhs(), loop, bound))
      return std::nullopt;
    if (!ranges.isSmall(compare.getLhs()) || !ranges.isSmall(compare.getRhs()))
      return std::nullopt;
    bound.extent = compare.getRhs();
  }
  if (!bound.extent)
    return std::nullopt;
  return bound;
}

static bool isCondition(Operation &op) {
  return isa<arith::AndIOp, arith::CmpIOp>(op) &&
         op.getResult(0).getType().isInteger(1);
}

/// Whether the comparison is used otherwise than in a larger condition.
static bool isUsedAsWhole(Operation &op) {
  return llvm::any_of(op.getUsers(),
                      [](Operation *user) { return !isCondition(*user); });
}

static SmallVector<Limit> findLimits(scf::ForOp loop, NumberRanges &ranges) {
  SmallVector<Limit> limits;
  Value number = loop.getInductionVar();
  if (!number.getType().isIndex() || !ranges.isSmall(number))
    return limits;
  for (Operation &op : *loop.getBody()) {
    if (!isCondition(op) || !isUsedAsWhole(op))
      continue;
    std::optional<Bound> bound = matchBound(op.getResult(0), loop, ranges);
    if (!bound)
      continue;
    auto *limit = llvm::find_if(limits, [&](const Limit &limit) {
      return limit.bounds.front().second.sharesLimit(*bound);
    });
    if (limit == limits.end()) {
      limits.emplace_back();
      limit = &limits.back();
      limit->leastConstant = bound->constant;
    }
    limit->leastConstant = std::min(limit->leastConstant, bound->constant);
    limit->bounds.push_back({op.getResult(0), *bound});
  }
  return limits;
}

/// The extent without the rest and the least constant. If a condition does not
/// hold, it is so much smaller that no iteration passes the check.
static Value emitLimit(OpBuilder &builder, scf::ForOp loop,
                       const Limit &limit) {
  Location loc = loop.getLoc();
  const Bound &bound = limit.bounds.front().second;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value result = arith::SubIOp::create(builder, loc, bound.extent,
                                       constant(limit.leastConstant));
  for (auto [value, coefficient] : bound.rest)
    result = arith::SubIOp::create(
        builder, loc, result,
        arith::MulIOp::create(builder, loc, value, constant(coefficient)));
  Value holds;
  for (Value condition : bound.conditions)
    holds = holds ? arith::AndIOp::create(builder, loc, holds, condition)
                  : condition;
  // LLVM would move the select of the limit itself into the loop.
  if (holds)
    result = arith::SubIOp::create(
        builder, loc, result,
        arith::SelectOp::create(builder, loc, holds, constant(0),
                                constant(2 * kMaxNumber)));
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), result);
}

static void hoist(scf::ForOp loop, ArrayRef<Limit> limits) {
  Location loc = loop.getLoc();
  OpBuilder builder(loop.getBody(), loop.getBody()->begin());
  Type word = builder.getI32Type();
  Value number =
      arith::IndexCastOp::create(builder, loc, word, loop.getInductionVar());
  for (const Limit &limit : limits) {
    builder.setInsertionPoint(loop);
    Value value = emitLimit(builder, loop, limit);
    builder.setInsertionPointAfterValue(number);
    Value left = arith::SubIOp::create(builder, loc, value, number);
    for (auto [condition, bound] : limit.bounds) {
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sgt, left,
          arith::ConstantOp::create(
              builder, loc,
              builder.getIntegerAttr(word,
                                     bound.constant - limit.leastConstant)));
      condition.replaceAllUsesWith(inside);
    }
  }
}

void SmaltiHoistBounds::runOnOperation() {
  bool isChanged = false;
  getOperation().walk([&](gpu::GPUFuncOp func) {
    NumberRanges ranges;
    SmallVector<std::pair<scf::ForOp, SmallVector<Limit>>> plan;
    size_t numLimits = 0, numBounds = 0;
    func.walk([&](scf::ForOp loop) {
      SmallVector<Limit> limits = findLimits(loop, ranges);
      if (limits.empty())
        return;
      numLimits += limits.size();
      for (const Limit &limit : limits)
        numBounds += limit.bounds.size();
      plan.emplace_back(loop, std::move(limits));
    });
    if (plan.empty())
      return;
    isChanged = true;
    for (auto &[loop, limits] : plan)
      hoist(loop, limits);
    remarkApplied(func, kPassName)
        << counted(numBounds, "bounds check")
        << " of loops compared in 32 bits with " << counted(numLimits, "limit")
        << " per thread, computed before the loop";
  });
  if (!isChanged)
    markAllAnalysesPreserved();
}
