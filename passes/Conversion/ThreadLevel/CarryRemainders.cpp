//===- CarryRemainders.cpp - smalti-carry-remainders ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerSum.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTICARRYREMAINDERS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-carry-remainders";

namespace {
/// The value in the first iteration, and the divisor.
using Counter = std::pair<int64_t, int64_t>;

struct SmaltiCarryRemainders
    : smalti::impl::SmaltiCarryRemaindersBase<SmaltiCarryRemainders> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

/// The number that increases by one per iteration, in the first iteration; the
/// number is `(induction variable + c) / step` with constants. Neither the sum
/// of signed numbers that are not negative nor the quotient wraps.
static std::optional<int64_t> getFirstNumber(Value number, scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!lower || *lower < 0 || !step || *step < 1 || loop.getUnsignedCmp())
    return std::nullopt;
  if (auto division = number.getDefiningOp<arith::DivUIOp>()) {
    if (getConstantIntValue(division.getRhs()) != step)
      return std::nullopt;
    number = division.getLhs();
  } else if (*step != 1) {
    return std::nullopt;
  }
  // A sum in another type could wrap.
  if (number.getType() != loop.getInductionVar().getType())
    return std::nullopt;
  std::optional<IntegerSum> difference = IntegerSum::combine(
      IntegerSum::of(number), IntegerSum::of(loop.getInductionVar()), -1);
  std::optional<int64_t> constant =
      difference ? difference->asConstant() : std::nullopt;
  if (!constant || !IntegerSum::isSmall(*constant) ||
      !IntegerSum::isSmall(*lower) || *lower + *constant < 0)
    return std::nullopt;
  return (*lower + *constant) / *step;
}

static std::optional<Counter> getCounter(arith::RemUIOp op, scf::ForOp loop) {
  std::optional<int64_t> divisor = getConstantIntValue(op.getRhs());
  if (!op.getType().isIndex() || !divisor || *divisor < 2 ||
      !IntegerSum::isSmall(*divisor) || llvm::isPowerOf2_64(*divisor))
    return std::nullopt;
  // The quotient already has most of the instructions of the remainder.
  for (Operation *user : op.getLhs().getUsers())
    if (isa<arith::DivUIOp>(user))
      return std::nullopt;
  std::optional<int64_t> first = getFirstNumber(op.getLhs(), loop);
  if (!first)
    return std::nullopt;
  return Counter(*first % *divisor, *divisor);
}

/// Carries the counters of the remainders in the loop's own body.
static unsigned carryRemainders(scf::ForOp loop, IRRewriter &rewriter) {
  llvm::MapVector<Counter, SmallVector<arith::RemUIOp>> remainders;
  for (auto op : loop.getOps<arith::RemUIOp>())
    if (std::optional<Counter> counter = getCounter(op, loop))
      remainders[*counter].push_back(op);
  if (remainders.empty())
    return 0;
  Location loc = loop.getLoc();
  Type word = rewriter.getI32Type();
  auto constant = [&](OpBuilder &builder, int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(word, value));
  };
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> firsts;
  for (auto &[counter, ops] : remainders)
    firsts.push_back(constant(rewriter, counter.first));
  auto yieldNext = [&](OpBuilder &builder, Location,
                       ArrayRef<BlockArgument> carried) {
    SmallVector<Value> next;
    for (auto [value, remainder] : llvm::zip(carried, remainders)) {
      Value sum =
          arith::AddIOp::create(builder, loc, value, constant(builder, 1));
      Value isEnd =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, sum,
                                constant(builder, remainder.first.second));
      next.push_back(arith::SelectOp::create(builder, loc, isEnd,
                                             constant(builder, 0), sum));
    }
    return next;
  };
  auto changed = cast<scf::ForOp>(
      *cast<LoopLikeOpInterface>(*loop).replaceWithAdditionalYields(
          rewriter, firsts,
          /*replaceInitOperandUsesInLoop=*/
          false, yieldNext));
  unsigned count = 0;
  auto carried = changed.getRegionIterArgs().take_back(remainders.size());
  for (auto [value, remainder] : llvm::zip(carried, remainders))
    for (arith::RemUIOp op : remainder.second) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, op.getType(),
                                                        value);
      ++count;
    }
  return count;
}

void SmaltiCarryRemainders::runOnOperation() {
  bool isChanged = false;
  IRRewriter rewriter(&getContext());
  getOperation().walk([&](gpu::GPUFuncOp func) {
    SmallVector<scf::ForOp> loops;
    func.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    unsigned count = 0;
    for (scf::ForOp loop : loops)
      count += carryRemainders(loop, rewriter);
    if (!count)
      return;
    isChanged = true;
    remarkApplied(func, kPassName)
        << count << (count == 1 ? " remainder" : " remainders")
        << " of an iteration number, such as i mod 3, computed from the "
           "previous iteration with an addition and a comparison instead of a "
           "division";
  });
  if (!isChanged)
    markAllAnalysesPreserved();
}
