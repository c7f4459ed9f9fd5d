//===- IndexRange.cpp - Between which numbers an index value lies ---------===//

#include "passes/Support/IndexRange.h"

#include "dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace smalti;

using MaybeRange = std::optional<IndexRange>;

/// Index arithmetic is shallow; a bound keeps the walk short on any input.
static constexpr unsigned kMaxDepth = 12;

static MaybeRange rangeOf(Value value, unsigned depth);

/// The range of the results of `apply`, which is monotonous in each operand.
template <typename Apply>
static MaybeRange atCorners(IndexRange a, IndexRange b, Apply apply) {
  MaybeRange result;
  for (int64_t x : {a.low, a.high})
    for (int64_t y : {b.low, b.high}) {
      std::optional<int64_t> corner = apply(x, y);
      if (!corner)
        return std::nullopt;
      if (!result)
        result = IndexRange{*corner, *corner};
      result->low = std::min(result->low, *corner);
      result->high = std::max(result->high, *corner);
    }
  return result;
}

static std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::nullopt : std::optional(sum);
}
static std::optional<int64_t> subtract(int64_t a, int64_t b) {
  int64_t difference;
  return llvm::SubOverflow(a, b, difference) ? std::nullopt
                                             : std::optional(difference);
}
static std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::nullopt
                                          : std::optional(product);
}

static MaybeRange ofArgument(BlockArgument argument, unsigned depth) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto func = dyn_cast<triton_xla::EntryFuncOp>(parent)) {
    if (argument != func.getTileId())
      return std::nullopt;
    return IndexRange{0, static_cast<int64_t>(func.getNumTiles()) - 1};
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || argument != loop.getInductionVar())
    return std::nullopt;
  MaybeRange lower = rangeOf(loop.getLowerBound(), depth + 1),
             upper = rangeOf(loop.getUpperBound(), depth + 1);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  if (loop.getUnsignedCmp() && (lower->low < 0 || upper->low < 0))
    return std::nullopt;
  // The body runs below the upper bound alone.
  std::optional<int64_t> last = subtract(upper->high, 1);
  if (!last)
    return std::nullopt;
  return IndexRange{lower->low, std::max(lower->low, *last)};
}

/// Of division and remainder, by a positive constant, of what is not negative:
/// signed and unsigned are then the same.
static MaybeRange ofDivision(Operation *op, unsigned depth) {
  MaybeRange numerator = rangeOf(op->getOperand(0), depth + 1);
  std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
  if (!numerator || numerator->low < 0 || !divisor || *divisor <= 0)
    return std::nullopt;
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return IndexRange{0, std::min(numerator->high, *divisor - 1)};
  return IndexRange{numerator->low / *divisor, numerator->high / *divisor};
}

static MaybeRange ofOp(Operation *op, unsigned depth) {
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::RemUIOp,
          arith::RemSIOp>(op))
    return ofDivision(op, depth);
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    // A narrower result may wrap.
    MaybeRange range = rangeOf(cast.getIn(), depth + 1);
    auto type = dyn_cast<IntegerType>(cast.getType());
    if (range && type && type.getWidth() < 64 &&
        !range->isWithin(llvm::minIntN(type.getWidth()),
                         llvm::maxIntN(type.getWidth())))
      return std::nullopt;
    return range;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
           arith::MaxSIOp>(op) ||
      !op->getResult(0).getType().isIndex())
    return std::nullopt;
  MaybeRange a = rangeOf(op->getOperand(0), depth + 1),
             b = rangeOf(op->getOperand(1), depth + 1);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return atCorners(*a, *b, add);
  if (isa<arith::SubIOp>(op))
    return atCorners(*a, *b, subtract);
  if (isa<arith::MulIOp>(op))
    return atCorners(*a, *b, multiply);
  if (isa<arith::MinSIOp>(op))
    return IndexRange{std::min(a->low, b->low), std::min(a->high, b->high)};
  return IndexRange{std::max(a->low, b->low), std::max(a->high, b->high)};
}

static MaybeRange rangeOf(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexRange{*constant, *constant};
  if (depth >= kMaxDepth)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, depth);
  return ofOp(value.getDefiningOp(), depth);
}

MaybeRange smalti::getIndexRange(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexRange{*constant, *constant};
  auto dynamic = dyn_cast_if_present<Value>(value);
  return dynamic ? rangeOf(dynamic, 0) : std::nullopt;
}
