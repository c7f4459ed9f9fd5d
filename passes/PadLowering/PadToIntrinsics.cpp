//===- PadToIntrinsics.cpp - smalti-pad-to-intrinsics ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Layouts/Vectors/MmaSelection.h"
#include "smalti/passes/PadLowering/ConvolutionLoops.h"
#include "smalti/passes/PadLowering/PaddingValues.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIPADTOINTRINSICS
#define GEN_PASS_DEF_SMALTIPADTOINTRINSICS
#include "smalti/passes/PadLowering/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-pad-to-intrinsics";
/// Upper limit of the options m, n and k; larger than any instruction, and
/// multiples of it do not overflow.
static constexpr int64_t kLargestSize = 65536;
/// Maximum number of ops through which a size is traced, so that chains of ops
/// take linear time.
static constexpr unsigned kMaxProducers = 12;

namespace {

/// The loops of a matmul that can be padded to M, N and K of an MMA.
struct Matmul {
  SmallVector<unsigned> m, n, k;
};

/// One loop that is padded.
struct PaddedLoop {
  unsigned loop;
  int64_t multiple;
  /// May be ShapedType::kDynamic.
  int64_t size;
};

/// The growth of one dimension of an operand, as multiples of the growth of the
/// padded loops.
struct Growth {
  SmallVector<std::pair<unsigned, int64_t>> loops; ///< index, coefficient
};

struct PadPlan {
  linalg::LinalgOp op;
  SmallVector<PaddedLoop> loops;
  /// For each operand and each of its dimensions.
  SmallVector<SmallVector<Growth>> growth;
  /// For each input; the padding value is arbitrary if the entry is empty.
  SmallVector<PaddingValue> values;
  std::string remark;
};

/// The options of the pass.
struct Request {
  const targets::Target *target = nullptr;
  int64_t m = 0, n = 0, k = 0; ///< 0: from the instruction
  double maxWaste = 0;
  bool zeroPointsInRange = false;
};

/// The sizes to pad to, and their name in remarks.
struct Shape {
  int64_t m, n, k;
  std::string name;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops of a matmul
//===----------------------------------------------------------------------===//

/// Returns std::nullopt without a reason if the op is not a matmul at all.
static std::optional<Matmul> findMatmul(linalg::LinalgOp op,
                                        std::string &reason) {
  if (op.getNumDpsInputs() < 2 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  OpOperand *left = op.getDpsInputOperand(0), *right = op.getDpsInputOperand(1);
  // Pooling does not use the values of its window operand.
  if (!op.payloadUsesValueFromOperand(left) ||
      !op.payloadUsesValueFromOperand(right))
    return std::nullopt;

  // Operands after the first two, such as zero points, do not matter here.
  auto getDims = [&](OpOperand &init) {
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims({op.getMatchingIndexingMap(left),
                                      op.getMatchingIndexingMap(right),
                                      op.getMatchingIndexingMap(&init)});
    if (succeeded(dims) &&
        (dims->m.empty() || dims->n.empty() || dims->k.empty()))
      return FailureOr<linalg::ContractionDimensions>(failure());
    return dims;
  };
  if (op.getNumDpsInits() != 1) {
    if (llvm::any_of(op.getDpsInitsMutable(),
                     [&](OpOperand &init) { return succeeded(getDims(init)); }))
      reason = "the matmul has " + std::to_string(op.getNumDpsInits()) +
               " results; only one result is supported";
    return std::nullopt;
  }

  Matmul matmul;
  auto append = [](SmallVector<unsigned> &loops, ArrayRef<unsigned> more) {
    loops.append(more.begin(), more.end());
  };
  if (std::optional<ConvolutionLoops> loops =
          findConvolutionLoops(op, reason)) {
    if (loops->outputChannels.empty() || loops->inputChannels.empty()) {
      reason = "the convolution is depthwise, so it is not a matmul";
      return std::nullopt;
    }
    append(matmul.m, loops->batch);
    append(matmul.m, loops->image);
    append(matmul.n, loops->outputChannels);
    append(matmul.k, loops->inputChannels);
    return matmul;
  }
  if (!reason.empty())
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims =
      getDims(*op.getDpsInitOperand(0));
  if (succeeded(dims)) {
    append(matmul.m, dims->m);
    append(matmul.n, dims->n);
    append(matmul.k, dims->k);
    return matmul;
  }
  if (linalg::isaContractionOpInterface(op))
    reason =
        "the contraction is not a matmul: it must have M, N and K dimensions";
  return std::nullopt;
}

static Value stripCasts(Value value) {
  while (auto cast = value.getDefiningOp<CastOpInterface>()) {
    if (cast->getNumOperands() != 1)
      break;
    value = cast->getOperand(0);
  }
  return value;
}

/// Whether the body is a multiply-add, as MMAs compute.
static bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *block = op.getBlock();
  Value accumulator = op.getRegionOutputArgs()[0];
  Operation *sum =
      stripCasts(block->getTerminator()->getOperand(0)).getDefiningOp();
  if (!sum || sum->getBlock() != block)
    return false;
  if (isa<math::FmaOp>(sum))
    return stripCasts(sum->getOperand(2)) == accumulator;
  if (!isa<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  bool isFirst = stripCasts(sum->getOperand(0)) == accumulator;
  if (!isFirst && stripCasts(sum->getOperand(1)) != accumulator)
    return false;
  Operation *term = stripCasts(sum->getOperand(isFirst)).getDefiningOp();
  return isa_and_present<arith::MulFOp, arith::MulIOp>(term);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// A proven divisor of the size of this dimension.
static int64_t getKnownDivisor(Value tensor, int64_t dim, unsigned depth = 0) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (depth == kMaxProducers)
    return 1;
  auto divisor = [](OpFoldResult size) {
    return int64_t(1) << log2Divisor(size);
  };
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return divisor(empty.getMixedSizes()[dim]);
  if (auto generate = dyn_cast_or_null<tensor::GenerateOp>(op))
    return divisor(generate.getDynamicExtents()[type.getDynamicDimIndex(dim)]);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType())
               ? getKnownDivisor(cast.getSource(), dim, depth + 1)
               : 1;
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
      slice && slice.getSourceType().getRank() == type.getRank())
    return divisor(slice.getMixedSizes()[dim]);
  if (auto slice = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return getKnownDivisor(slice.getDest(), dim, depth + 1);
  if (auto structured = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    if (OpOperand *init = structured.getTiedOpOperand(cast<OpResult>(tensor));
        isa<RankedTensorType>(init->get().getType()))
      return getKnownDivisor(init->get(), dim, depth + 1);
  // Already padded: the size of the source plus high padding computed from it.
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    std::optional<int64_t> low = getConstantIntValue(pad.getMixedLowPad()[dim]),
                           more =
                               getConstantIntValue(pad.getMixedHighPad()[dim]);
    if (low && more && *low == 0 && *more == 0)
      return getKnownDivisor(pad.getSource(), dim, depth + 1);
    auto source = [&](OpFoldResult size) {
      auto of = dyn_cast_if_present<Value>(size);
      auto dimOp = of ? of.getDefiningOp<tensor::DimOp>() : nullptr;
      return dimOp && dimOp.getSource() == pad.getSource() &&
             dimOp.getConstantIndex() == dim;
    };
    auto high = dyn_cast<Value>(pad.getMixedHighPad()[dim]);
    auto apply = high ? high.getDefiningOp<affine::AffineApplyOp>() : nullptr;
    if (apply && isConstantIntValue(pad.getMixedLowPad()[dim], 0) &&
        apply.getMapOperands().size() == 1 &&
        source(apply.getMapOperands()[0])) {
      AffineMap map = apply.getAffineMap();
      AffineExpr size = map.getNumDims() == 1
                            ? getAffineDimExpr(0, map.getContext())
                            : getAffineSymbolExpr(0, map.getContext());
      return simplifyAffineExpr(size + map.getResult(0), map.getNumDims(),
                                map.getNumSymbols())
          .getLargestKnownDivisor();
    }
  }
  return 1;
}

/// The dimensions of operands that only this loop indexes.
static SmallVector<std::pair<Value, int64_t>> getDimsOfLoop(linalg::LinalgOp op,
                                                            unsigned loop) {
  SmallVector<std::pair<Value, int64_t>> dims;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loopExpr = dyn_cast<AffineDimExpr>(expr);
          loopExpr && loopExpr.getPosition() == loop)
        dims.emplace_back(operand.get(), dim);
  }
  return dims;
}

static int64_t getLoopSize(linalg::LinalgOp op, unsigned loop) {
  for (auto [value, dim] : getDimsOfLoop(op, loop))
    if (int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
        !ShapedType::isDynamic(size))
      return size;
  return ShapedType::kDynamic;
}

static bool isMultiple(linalg::LinalgOp op, unsigned loop, int64_t multiple) {
  int64_t size = getLoopSize(op, loop);
  if (!ShapedType::isDynamic(size))
    return size % multiple == 0;
  return llvm::any_of(getDimsOfLoop(op, loop), [&](auto valueAndDim) {
    return getKnownDivisor(valueAndDim.first, valueAndDim.second) % multiple ==
           0;
  });
}

/// Ratio of the padded to the original trip count. A dynamic size counts as a
/// multiple.
static double getWaste(int64_t size, int64_t multiple) {
  if (ShapedType::isDynamic(size) || size == 0)
    return 1.0;
  return double(llvm::divideCeil(uint64_t(size), uint64_t(multiple))) *
         double(multiple) / double(size);
}

/// Chooses the loop to pad among the loops of a kind: the one with the least
/// waste, innermost first. Returns std::nullopt if a loop is already a
/// multiple.
static std::optional<PaddedLoop> choosePaddedLoop(linalg::LinalgOp op,
                                                  ArrayRef<unsigned> loops,
                                                  int64_t multiple) {
  if (llvm::any_of(
          loops, [&](unsigned loop) { return isMultiple(op, loop, multiple); }))
    return std::nullopt;
  SmallVector<unsigned> sorted(loops);
  llvm::sort(sorted);
  std::optional<PaddedLoop> best;
  // Prefer a loop of static size, since a dynamic one may have one iteration.
  auto cost = [&](const PaddedLoop &loop) {
    return std::pair(ShapedType::isDynamic(loop.size),
                     getWaste(loop.size, multiple));
  };
  for (unsigned loop : sorted) {
    PaddedLoop candidate{loop, multiple, getLoopSize(op, loop)};
    if (!best || cost(candidate) <= cost(*best))
      best = candidate;
  }
  return best;
}

static double getWaste(ArrayRef<PaddedLoop> loops) {
  double waste = 1.0;
  for (const PaddedLoop &loop : loops)
    waste *= getWaste(loop.size, loop.multiple);
  return waste;
}

static SmallVector<PaddedLoop> choosePaddedLoops(linalg::LinalgOp op,
                                                 const Matmul &matmul,
                                                 const Shape &shape) {
  SmallVector<PaddedLoop> loops;
  for (auto [candidates, multiple] : {std::pair(ArrayRef(matmul.m), shape.m),
                                      std::pair(ArrayRef(matmul.n), shape.n),
                                      std::pair(ArrayRef(matmul.k), shape.k)})
    if (std::optional<PaddedLoop> loop =
            choosePaddedLoop(op, candidates, multiple))
      loops.push_back(*loop);
  return loops;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// The element types of the MMAs whose operands have the same type, or "none".
static std::string listMmaTypes(const targets::Target &target) {
  SmallVector<std::string> types;
  for (const targets::MmaInstruction &mma : target.mmas) {
    if (mma.kind == targets::MmaKind::Fma || mma.a != mma.b)
      continue;
    std::string name = (toString(mma.a) + " x " + toString(mma.b) + " + " +
                        toString(mma.accumulator))
                           .str();
    if (!llvm::is_contained(types, name))
      types.push_back(std::move(name));
  }
  return types.empty() ? "none" : llvm::join(types, ", ");
}

/// The candidate shapes, best first.
static SmallVector<Shape> getShapes(linalg::LinalgOp op, const Request &request,
                                    std::string &reason) {
  if (request.m && request.n && request.k)
    return {{request.m, request.n, request.k,
             std::to_string(request.m) + "x" + std::to_string(request.n) + "x" +
                 std::to_string(request.k)}};
  Type left = getElementTypeOrSelf(op.getDpsInputOperand(0)->get().getType());
  Type right = getElementTypeOrSelf(op.getDpsInputOperand(1)->get().getType());
  Type result = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  SmallVector<Shape> shapes;
  for (const targets::MmaInstruction &mma : request.target->mmas)
    if (mma.kind != targets::MmaKind::Fma && getMmaElement(left) == mma.a &&
        getMmaElement(right) == mma.b &&
        getMmaElement(result) == mma.accumulator)
      shapes.push_back({request.m ? request.m : mma.m,
                        request.n ? request.n : mma.n,
                        request.k ? request.k : mma.k, mma.mnemonic});
  if (shapes.empty()) {
    std::string supported = listMmaTypes(*request.target);
    reason = request.target->name.str() + " does not have an MMA for " +
             describe(left) + " x " + describe(right) + " + " +
             describe(result) + " (its MMAs: " + supported +
             "); set all of 'm', 'n' and 'k' to pad the op anyway";
  }
  return shapes;
}

/// Computes the growth of the operands' dimensions.
static std::optional<std::string> planGrowth(PadPlan &plan) {
  for (OpOperand &operand : plan.op->getOpOperands()) {
    AffineMap map = plan.op.getMatchingIndexingMap(&operand);
    SmallVector<Growth> &dims = plan.growth.emplace_back();
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      Growth &growth = dims.emplace_back();
      int64_t size = type ? type.getDimSize(dim) : 0;
      for (auto [index, loop] : llvm::enumerate(plan.loops)) {
        AffineExpr loopExpr = getAffineDimExpr(loop.loop, map.getContext());
        if (!expr.isFunctionOfDim(loop.loop))
          continue;
        // The expression must grow by a constant per iteration.
        AffineExpr step = simplifyAffineExpr(
            expr.replace(loopExpr, loopExpr + 1) - expr, map.getNumDims(), 0);
        auto coefficient = dyn_cast<AffineConstantExpr>(step);
        if (!coefficient || coefficient.getValue() < 1)
          return "the operand index " + describe(expr) +
                 " must increase by a positive constant with loop d" +
                 std::to_string(loop.loop);
        growth.loops.emplace_back(index, coefficient.getValue());
        if (ShapedType::isDynamic(loop.size) || ShapedType::isDynamic(size))
          continue;
        int64_t more =
            (loop.multiple - loop.size % loop.multiple) % loop.multiple;
        if (llvm::MulOverflow(more, coefficient.getValue(), more) ||
            llvm::AddOverflow(size, more, size))
          return std::string("the padded sizes exceed the 63-bit range; set "
                             "smaller options 'm', 'n' and 'k'");
      }
    }
  }
  return std::nullopt;
}

static std::string describe(const PaddedLoop &loop, StringRef name) {
  if (ShapedType::isDynamic(loop.size))
    return name.str() + " to a multiple of " + std::to_string(loop.multiple);
  return name.str() + " from " + std::to_string(loop.size) + " to " +
         std::to_string(
             llvm::divideCeil(uint64_t(loop.size), uint64_t(loop.multiple)) *
             uint64_t(loop.multiple));
}

static std::string formatRatio(double ratio) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f", ratio);
  return text;
}

/// Fills in the plan. Its list of loops is empty if no padding is needed.
static std::optional<std::string> planPad(PadPlan &plan, const Matmul &matmul,
                                          const Request &request) {
  linalg::LinalgOp op = plan.op;
  if (!op.hasPureTensorSemantics())
    return std::string("the operands of the op are memrefs; run the pass "
                       "before bufferization");
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    if (type.getEncoding())
      return "the operand type " + describe(type) +
             " has an encoding; use a tensor without an encoding";
    // Padding constants are signless.
    if (!type.getElementType().isSignlessIntOrFloat())
      return "elements of type " + describe(type.getElementType()) +
             " are neither signless integers nor floats";
  }
  // Empty slices are invalid.
  if (llvm::any_of(op->getOperandTypes(), [](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        return shaped && llvm::is_contained(shaped.getShape(), 0);
      })) {
    plan.remark = "the op has 0 iterations";
    return std::nullopt;
  }
  std::string reason;
  SmallVector<Shape> shapes = getShapes(op, request, reason);
  if (shapes.empty())
    return reason;
  const Shape *best = nullptr;
  double leastWaste = 0;
  for (const Shape &shape : shapes) {
    SmallVector<PaddedLoop> loops = choosePaddedLoops(op, matmul, shape);
    double waste = getWaste(loops);
    if (best && waste >= leastWaste)
      continue;
    best = &shape;
    leastWaste = waste;
    plan.loops = std::move(loops);
  }
  plan.remark = "all sizes are already multiples of " + best->name;
  if (plan.loops.empty())
    return std::nullopt;

  auto name = [&](const PaddedLoop &loop) {
    return llvm::is_contained(matmul.m, loop.loop)   ? "m"
           : llvm::is_contained(matmul.n, loop.loop) ? "n"
                                                     : "k";
  };
  std::string padding =
      llvm::join(llvm::map_range(plan.loops,
                                 [&](const PaddedLoop &loop) {
                                   return describe(loop, name(loop));
                                 }),
                 ", ");
  std::string times = formatRatio(leastWaste) + " times the iterations";
  if (llvm::any_of(plan.loops, [](const PaddedLoop &loop) {
        return ShapedType::isDynamic(loop.size);
      }))
    times = "at least " + times;
  if (leastWaste > request.maxWaste)
    return "padding " + padding + " for the MMA " + best->name + " needs " +
           times + "; the option 'max-waste' allows " +
           formatRatio(request.maxWaste);
  plan.remark = padding + " for the MMA shape " + best->name + "; " + times;

  if (std::optional<std::string> why = checkSpeculatable(op))
    return why;
  if (std::optional<std::string> why = planGrowth(plan))
    return why;
  // Padding along the reduction must not change the accumulator.
  SmallVector<bool> reduced;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool isReduced = false;
    for (const PaddedLoop &loop : plan.loops) {
      if (!llvm::is_contained(matmul.k, loop.loop))
        continue;
      AffineExpr loopExpr = getAffineDimExpr(loop.loop, map.getContext());
      const AffineExpr *access =
          llvm::find_if(map.getResults(), [&](AffineExpr expr) {
            return expr.isFunctionOfDim(loop.loop);
          });
      if (access == map.getResults().end())
        continue;
      // At index m + k, for example, added iterations read unpadded elements.
      if (!llvm::is_contained(map.getResults(), loopExpr))
        return "the operand is indexed by " + describe(*access) +
               "; the iterations that padding adds to loop d" +
               std::to_string(loop.loop) +
               " would read elements of the operand instead of padding; k=1 "
               "leaves the loop unpadded";
      isReduced = true;
    }
    reduced.push_back(isReduced);
  }
  if (!llvm::is_contained(reduced, true)) {
    plan.values.assign(reduced.size(), PaddingValue());
    return std::nullopt;
  }
  return findPaddingValues(op, reduced, request.zeroPointsInRange, plan.values);
}

//===----------------------------------------------------------------------===//
// The padded op
//===----------------------------------------------------------------------===//

/// The high padding of each dimension of the operand.
static SmallVector<OpFoldResult>
getHighPads(RewriterBase &rewriter, const PadPlan &plan, unsigned operand) {
  linalg::LinalgOp op = plan.op;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> highs;
  for (const Growth &growth : plan.growth[operand]) {
    AffineExpr high = rewriter.getAffineConstantExpr(0);
    SmallVector<OpFoldResult> sizes;
    for (auto [index, coefficient] : growth.loops) {
      const PaddedLoop &loop = plan.loops[index];
      AffineExpr size;
      if (ShapedType::isDynamic(loop.size)) {
        size = rewriter.getAffineSymbolExpr(sizes.size());
        // Prefer the operand's own dimension, which relates best to the result.
        auto dims = getDimsOfLoop(op, loop.loop);
        auto [value, dim] = dims.front();
        for (auto [other, otherDim] : dims)
          if (other == op->getOperand(operand))
            std::tie(value, dim) = std::pair(other, otherDim);
        sizes.push_back(tensor::getMixedSize(rewriter, loc, value, dim));
      } else {
        size = rewriter.getAffineConstantExpr(loop.size);
      }
      high = high +
             (size.ceilDiv(loop.multiple) * loop.multiple - size) * coefficient;
    }
    highs.push_back(affine::makeComposedFoldedAffineApply(
        rewriter, loc, AffineMap::get(0, sizes.size(), high), sizes));
  }
  return highs;
}

static bool isPadded(const PadPlan &plan, unsigned operand) {
  return llvm::any_of(plan.growth[operand], [](const Growth &growth) {
    return !growth.loops.empty();
  });
}

/// Pads the init operand; the values of its padding do not matter.
static Value padInit(RewriterBase &rewriter, Location loc, Value init,
                     RankedTensorType type, ArrayRef<OpFoldResult> highs) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  bool isEmpty = init.getDefiningOp<tensor::EmptyOp>() != nullptr;
  if (type.hasStaticShape() && (fill || isEmpty)) {
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    return isEmpty ? empty
                   : linalg::FillOp::create(rewriter, loc, fill.value(), empty)
                         .getResult(0);
  }
  Value value =
      fill ? fill.value()
           : arith::ConstantOp::create(
                 rewriter, loc, rewriter.getZeroAttr(type.getElementType()))
                 .getResult();
  SmallVector<OpFoldResult> lows(type.getRank(), rewriter.getIndexAttr(0));
  return tensor::PadOp::create(rewriter, loc, type, init, lows, highs, value);
}

static void commitPad(RewriterBase &rewriter, const PadPlan &plan) {
  linalg::LinalgOp op = plan.op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  // Upstream's padding supports only constants and truncates image elements
  // that the convolution does not read.
  SmallVector<Value> operands(op->getOperands());
  for (unsigned i = 0, e = operands.size(); i < e; ++i) {
    if (!isPadded(plan, i))
      continue;
    SmallVector<OpFoldResult> highs = getHighPads(rewriter, plan, i);
    auto source = cast<RankedTensorType>(operands[i].getType());
    SmallVector<int64_t> shape;
    for (auto [size, high] : llvm::zip_equal(source.getShape(), highs)) {
      std::optional<int64_t> more = getConstantIntValue(high);
      shape.push_back(ShapedType::isDynamic(size) || !more
                          ? ShapedType::kDynamic
                          : size + *more);
    }
    RankedTensorType type =
        RankedTensorType::get(shape, source.getElementType());
    if (i >= op.getNumDpsInputs()) {
      operands[i] = padInit(rewriter, loc, operands[i], type, highs);
      continue;
    }
    Value value =
        materialize(rewriter, loc, plan.values[i], source.getElementType());
    SmallVector<OpFoldResult> lows(source.getRank(), rewriter.getIndexAttr(0));
    operands[i] = tensor::PadOp::create(rewriter, loc, type, operands[i], lows,
                                        highs, value);
  }
  Value init = op.getDpsInits()[0];
  Operation *padded =
      clone(rewriter, op, {operands.back().getType()}, operands);
  Value result = padded->getResult(0);
  if (operands.back() != init) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, init);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
        strides(sizes.size(), rewriter.getIndexAttr(1));
    result = tensor::ExtractSliceOp::create(
        rewriter, loc, cast<RankedTensorType>(init.getType()), result, offsets,
        sizes, strides);
  }
  rewriter.replaceOp(op, result);
}

namespace {

struct SmaltiPadToIntrinsics
    : smalti::impl::SmaltiPadToIntrinsicsBase<SmaltiPadToIntrinsics> {
  using SmaltiPadToIntrinsicsBase::SmaltiPadToIntrinsicsBase;
  void runOnOperation() override;
};

} // namespace

void SmaltiPadToIntrinsics::runOnOperation() {
  Operation *function = getOperation();
  for (auto [name, size] :
       {std::pair("m", m.getOr(1)), {"n", n.getOr(1)}, {"k", k.getOr(1)}})
    if (size > kLargestSize) {
      function->emitError()
          << kPassName << ": option '" << name << "' must be at most "
          << kLargestSize << ", but is " << size;
      return signalPassFailure();
    }
  if (!(maxWaste >= 1.0)) {
    function->emitError() << kPassName
                          << ": option 'max-waste' must be 1 or more, but is "
                          << formatRatio(maxWaste);
    return signalPassFailure();
  }
  Request request{nullptr,    m.getOr(0), n.getOr(0),
                  k.getOr(0), maxWaste,   zeroPointsInRange};
  if (m.isAuto() || n.isAuto() || k.isAuto()) {
    request.target = getTarget(function, target);
    if (!request.target)
      return signalPassFailure();
  }

  bool missed = false;
  std::vector<PadPlan> plans;
  function->walk([&](linalg::LinalgOp op) {
    std::string reason;
    std::optional<Matmul> matmul = findMatmul(op, reason);
    PadPlan plan{op, {}, {}, {}, {}};
    if (matmul)
      reason = planPad(plan, *matmul, request).value_or("");
    // If all sizes are options, no instruction is involved.
    if (reason.empty() && !plan.loops.empty() && request.target &&
        !isMultiplyAdd(op))
      reason =
          "the body is not a multiply-add, so no MMA determines the padded "
          "sizes; state them with the options 'm', 'n' and 'k'";
    if (!reason.empty())
      missed |= failed(
          reportMissed(op, kPassName, strict, "op not padded: " + reason));
    else if (matmul && plan.loops.empty())
      remarkAnalysis(op, kPassName) << "op not padded: " << plan.remark;
    else if (matmul)
      plans.push_back(std::move(plan));
  });
  if (missed)
    return signalPassFailure();

  IRRewriter rewriter(&getContext());
  for (const PadPlan &plan : plans) {
    remarkApplied(plan.op, kPassName) << "op padded: " << plan.remark;
    commitPad(rewriter, plan);
  }
}
