//===- ShareReciprocals.cpp - smalti-share-reciprocals --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x / d with r = 1 / d rounded to nearest:
//
//   q0 = x * r
//   e  = q0 * d - x    (fma)
//   q  = q0 - e * r    (fma)
//
// q0 is within 1.5 ulp of the quotient, so the value that is rounded to q
// differs from the quotient by less than 2^-22 ulp. With 24-bit significands,
// x / d is farther from every midpoint of two floats, except for significands
// with |x * 2^k - n * d| <= 8, for odd n. q is right for all these pairs of all
// significands of d (test/python/conversions/test_shared_reciprocals.py). The e
// is subtracted in this form so that zeros keep their signs.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SmallBitVector.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTISHARERECIPROCALS
#define GEN_PASS_DEF_SMALTISHARERECIPROCALS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-share-reciprocals";

/// Fewer quotients do not repay the reciprocal and the check of the range.
static constexpr int64_t kMinQuotients = 4;

// With divisors from 2^-24 to 2^24 and dividends from 2^-100 to 2^100, neither
// q0 nor e overflows or loses bits.
static constexpr float kMinDivisor = 0x1p-24f, kMaxDivisor = 0x1p24f;
static constexpr float kMinDividend = 0x1p-100f, kMaxDividend = 0x1p100f;

namespace {
/// Values that divisions by one divisor share.
struct Divisor {
  Value reciprocals;
  /// Whether the divisor is in the range.
  Value isInRange;
};

/// Divisions by one divisor that one check of the range covers. Dividends are
/// defined before the first division.
using Group = SmallVector<arith::DivFOp>;

class Rewriter {
public:
  Rewriter(MLIRContext *context, const targets::Target *chip)
      : builder(context), chip(chip) {}
  void rewrite(const Group &group);

private:
  const Divisor &getDivisor(arith::DivFOp op);
  Value emitIsFast(const Group &group, const Divisor &divisor);
  Value getFloat(Location loc, float value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  }
  Value compare(Location loc, arith::CmpFPredicate predicate, Value value,
                float bound) {
    return arith::CmpFOp::create(builder, loc, predicate, value,
                                 getFloat(loc, bound));
  }

  OpBuilder builder;
  const targets::Target *chip;
  DenseMap<Value, Divisor> divisors;
};

struct SmaltiShareReciprocals
    : smalti::impl::SmaltiShareReciprocalsBase<SmaltiShareReciprocals> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

/// The scalar that all elements of a vector are, or null.
static Value getSplatScalar(Value vector) {
  Operation *op = vector.getDefiningOp();
  if (isa_and_nonnull<vector::BroadcastOp>(op))
    return op->getOperand(0);
  bool isSplat = isa_and_nonnull<vector::FromElementsOp>(op) &&
                 llvm::all_equal(op->getOperands());
  return isSplat ? op->getOperand(0) : Value();
}

/// Whether an op is a correctly rounded division of f32 vectors by a scalar.
static bool canShare(arith::DivFOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  Value scalar = getSplatScalar(op.getRhs());
  return type && type.getRank() == 1 && !type.isScalable() &&
         type.getElementType().isF32() && scalar && scalar.getType().isF32() &&
         !arith::bitEnumContainsAny(op.getFastmath(),
                                    arith::FastMathFlags::arcp |
                                        arith::FastMathFlags::afn);
}

static int64_t countQuotients(const Group &group) {
  int64_t quotients = 0;
  for (arith::DivFOp op : group)
    quotients += cast<VectorType>(op.getType()).getNumElements();
  return quotients;
}

/// Divisions that are shared. Those of few quotients, such as the pairs of rows
/// of an MMA result, are in a group with others.
static SmallVector<Group> findGroups(gpu::GPUFuncOp func) {
  SmallVector<Group> groups;
  DenseMap<std::pair<Block *, Value>, size_t> lastGroups;
  func.walk([&](arith::DivFOp op) {
    if (!canShare(op))
      return;
    Group single = {op};
    if (countQuotients(single) >= kMinQuotients) {
      groups.push_back(single);
      return;
    }
    auto [last, isNew] =
        lastGroups.try_emplace({op->getBlock(), op.getRhs()}, groups.size());
    Operation *dividend = op.getLhs().getDefiningOp();
    if (!isNew && (!dividend || dividend->getBlock() != op->getBlock() ||
                   dividend->isBeforeInBlock(groups[last->second].front()))) {
      groups[last->second].push_back(op);
      return;
    }
    last->second = groups.size();
    groups.push_back(single);
  });
  llvm::erase_if(groups, [](const Group &group) {
    return countQuotients(group) < kMinQuotients;
  });
  return groups;
}

/// Whether all quotients are rounded to f16, in which those of small dividends
/// are zeros of the right sign: 2^-100 * 2^24 is below half of the smallest
/// f16.
static bool isRoundedToHalf(arith::DivFOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto truncation = dyn_cast<arith::TruncFOp>(user);
    auto mode = truncation ? truncation.getRoundingmode() : std::nullopt;
    return truncation && getElementTypeOrSelf(truncation.getType()).isF16() &&
           (!mode || *mode == arith::RoundingMode::to_nearest_even);
  });
}

/// The element of a vector that the op takes, or -1.
static int64_t getElement(Operation *op, Value vector) {
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    ArrayRef<int64_t> position = extract.getStaticPosition();
    bool isStatic = position.size() == 1 && !extract.hasDynamicPosition();
    return isStatic ? position[0] : -1;
  }
  auto shuffle = dyn_cast<vector::ShuffleOp>(op);
  if (!shuffle || shuffle.getV1() != vector || shuffle.getMask().size() != 1)
    return -1;
  int64_t element = shuffle.getMask()[0];
  return element < shuffle.getV1VectorType().getNumElements() ? element : -1;
}

/// A value before the division that is not less than any dividend: the sum of
/// all of them, if they are exponentials and therefore not negative. Rounded
/// sums are monotonic. Returns null if the kernel does not add all of them. In
/// a softmax, each thread adds its exponentials.
static Value findSum(arith::DivFOp op) {
  Value powers = op.getLhs();
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(powers.getDefiningOp()))
    return {};
  // The elements that a value is the sum of.
  DenseMap<Value, llvm::SmallBitVector> parts;
  SmallVector<Value> work;
  unsigned count = cast<VectorType>(op.getType()).getNumElements();
  for (Operation *user : powers.getUsers())
    if (int64_t element = getElement(user, powers); element >= 0) {
      parts[user->getResult(0)].resize(count);
      parts[user->getResult(0)].set(element);
      work.push_back(user->getResult(0));
    }
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      auto sum = dyn_cast<arith::AddFOp>(user);
      // A branch on poison would be undefined behavior.
      if (!sum || parts.contains(sum) ||
          arith::bitEnumContainsAny(sum.getFastmath(),
                                    arith::FastMathFlags::nnan |
                                        arith::FastMathFlags::ninf))
        continue;
      auto left = parts.find(sum.getLhs()), right = parts.find(sum.getRhs());
      if (left == parts.end() || right == parts.end())
        continue;
      llvm::SmallBitVector elements = left->second;
      elements |= right->second;
      if (elements.all() && sum->getBlock() == op->getBlock() &&
          sum->isBeforeInBlock(op))
        return sum;
      parts[sum] = elements;
      work.push_back(sum);
    }
  }
  return {};
}

const Divisor &Rewriter::getDivisor(arith::DivFOp op) {
  Divisor &divisor = divisors[op.getRhs()];
  if (divisor.reciprocals)
    return divisor;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(op.getRhs());
  Location loc = op.getRhs().getLoc();
  Value scalar = getSplatScalar(op.getRhs());
  divisor.reciprocals = vector::BroadcastOp::create(
      builder, loc, op.getType(),
      arith::DivFOp::create(builder, loc, getFloat(loc, 1.0f), scalar));
  divisor.isInRange = arith::AndIOp::create(
      builder, loc,
      compare(loc, arith::CmpFPredicate::OGE, scalar, kMinDivisor),
      compare(loc, arith::CmpFPredicate::OLE, scalar, kMaxDivisor));
  return divisor;
}

/// Whether all dividends of the thread are in the range or zero; on AMD GPUs,
/// those of the wave, so that the branch is uniform. If they are NaN, the
/// result may be either.
Value Rewriter::emitIsFast(const Group &group, const Divisor &divisor) {
  Location loc = group.front()->getLoc();
  auto vectorType = cast<VectorType>(group.front()->getResult(0).getType());
  int64_t count = vectorType.getNumElements();
  // Applies `map` to the vectors of dividends, and `combine` to all elements.
  auto reduce = [&](auto map, auto combine) {
    SmallVector<Value> parts;
    for (arith::DivFOp op : group) {
      Value vector = map(op.getLhs());
      for (int64_t i = 0; i < count; ++i)
        parts.push_back(vector::ExtractOp::create(builder, loc, vector,
                                                  ArrayRef<int64_t>{i}));
    }
    for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
      for (size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = combine(parts[i], parts[parts.size() - 1 - i]);
    return parts.front();
  };
  Value largest = group.size() == 1 ? findSum(group.front()) : Value();
  if (!largest)
    largest = reduce(
        [&](Value x) -> Value { return math::AbsFOp::create(builder, loc, x); },
        [&](Value a, Value b) -> Value {
          return arith::MaxNumFOp::create(builder, loc, a, b);
        });
  else if (isa<VectorType>(largest.getType()))
    largest = vector::ExtractOp::create(builder, loc, largest, 0);
  Value isFast = arith::AndIOp::create(
      builder, loc, divisor.isInRange,
      compare(loc, arith::CmpFPredicate::OLE, largest, kMaxDividend));
  if (!llvm::all_of(group, isRoundedToHalf)) {
    // Twice the bits, without the sign, minus one: zeros become the maximum.
    auto type = VectorType::get({count}, builder.getI32Type());
    auto splat = [&](int32_t value) {
      return arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type,
                                 Attribute(builder.getI32IntegerAttr(value))));
    };
    auto getBits = [&](Value x) -> Value {
      Value bits = arith::BitcastOp::create(builder, loc, type, x);
      return arith::SubIOp::create(
          builder, loc, arith::ShLIOp::create(builder, loc, bits, splat(1)),
          splat(1));
    };
    Value smallest = reduce(getBits, [&](Value a, Value b) -> Value {
      return arith::MinUIOp::create(builder, loc, a, b);
    });
    auto least = static_cast<int32_t>(
        2 * APFloat(kMinDividend).bitcastToAPInt().getZExtValue() - 1);
    Value bound = arith::ConstantOp::create(builder, loc,
                                            builder.getI32IntegerAttr(least));
    isFast = arith::AndIOp::create(
        builder, loc, isFast,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, smallest,
                              bound));
  }
  if (!chip || chip->vendor != targets::Vendor::AMD)
    return isFast;
  Value isTrue =
      arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  Type word = builder.getIntegerType(chip->waveSize);
  Value slow = ROCDL::BallotOp::create(
      builder, loc, word, arith::XOrIOp::create(builder, loc, isFast, isTrue));
  return arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq, slow,
      arith::ConstantIntOp::create(builder, loc, word, 0));
}

void Rewriter::rewrite(const Group &group) {
  arith::DivFOp first = group.front();
  const Divisor &divisor = getDivisor(first);
  builder.setInsertionPoint(first);
  Location loc = first.getLoc();
  SmallVector<Type> types(group.size(), first.getType());
  auto branch =
      scf::IfOp::create(builder, loc, types, emitIsFast(group, divisor),
                        /*withElseRegion=*/true);
  SmallVector<Value> fast, slow;
  builder.setInsertionPointToStart(branch.thenBlock());
  for (arith::DivFOp op : group) {
    Value x = op.getLhs(), d = op.getRhs(), r = divisor.reciprocals;
    Value quotient = arith::MulFOp::create(builder, loc, x, r);
    Value error = math::FmaOp::create(builder, loc, quotient, d,
                                      arith::NegFOp::create(builder, loc, x));
    fast.push_back(math::FmaOp::create(
        builder, loc, arith::NegFOp::create(builder, loc, error), r, quotient));
  }
  scf::YieldOp::create(builder, loc, fast);
  builder.setInsertionPointToStart(branch.elseBlock());
  for (arith::DivFOp op : group)
    slow.push_back(builder.clone(*op)->getResult(0));
  scf::YieldOp::create(builder, loc, slow);
  for (auto [op, result] : llvm::zip_equal(group, branch.getResults())) {
    arith::DivFOp division = op;
    division.replaceAllUsesWith(result);
    division.erase();
  }
}

void SmaltiShareReciprocals::runOnOperation() {
  gpu::GPUModuleOp module = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(module, target);
  if (failed(chip))
    return signalPassFailure();
  bool isChanged = false;
  module.walk([&](gpu::GPUFuncOp func) {
    SmallVector<Group> groups = findGroups(func);
    if (groups.empty())
      return;
    isChanged = true;
    Rewriter rewriter(&getContext(), *chip);
    int64_t quotients = 0;
    for (const Group &group : groups) {
      quotients += countQuotients(group);
      rewriter.rewrite(group);
    }
    remarkApplied(func, kPassName)
        << quotients
        << " divisions per thread computed with one reciprocal per "
        << "divisor; the results do not change";
  });
  if (!isChanged)
    markAllAnalysesPreserved();
}
