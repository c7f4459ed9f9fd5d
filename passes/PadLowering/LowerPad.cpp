//===- LowerPad.cpp - smalti-lower-pad ------------------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/PadLowering/PaddedTransfers.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERPAD
#define GEN_PASS_DEF_SMALTILOWERPAD
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-lower-pad";

namespace {

struct PadPlan {
  tensor::PadOp op;
  /// The padding value where it is defined outside the op's region, else the
  /// constant that the region yields.
  Value value;
  TypedAttr constant;
};

} // namespace

template <typename T> static std::string describe(T typeOrAttribute) {
  std::string text;
  llvm::raw_string_ostream(text) << typeOrAttribute;
  return text;
}

//===----------------------------------------------------------------------===//
// tensor.pad
//===----------------------------------------------------------------------===//

static std::optional<std::string> planPad(PadPlan &plan, int64_t maxElements) {
  RankedTensorType type = plan.op.getResultType();
  if (!type.hasStaticShape())
    return "the pad's result " + describe(type) + " has no static shape";
  if (type.getRank() == 0 || type.getNumElements() == 0)
    return "the pad's result " + describe(type) + " makes no vector";
  if (type.getNumElements() > maxElements)
    return "the pad's result has " + std::to_string(type.getNumElements()) +
           " elements, more than the " + std::to_string(maxElements) +
           " of one vector";
  if (!VectorType::isValidElementType(type.getElementType()))
    return "the pad's elements of type " + describe(type.getElementType()) +
           " make no vector";
  Value value = plan.op.getConstantPaddingValue();
  if (!value)
    return std::string("the padding value depends on the position");
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant))) {
    plan.value = value;
    return std::nullopt;
  }
  plan.constant = dyn_cast<TypedAttr>(constant);
  if (!plan.constant || plan.constant.getType() != type.getElementType())
    return "the padding value " + describe(constant) + " is no number";
  return std::nullopt;
}

/// Whether every low pad is the constant 0.
static bool startsAtOrigin(const PadPlan &plan) {
  tensor::PadOp op = plan.op;
  return llvm::all_of(op.getMixedLowPad(), [](OpFoldResult low) {
    return isConstantIntValue(low, 0);
  });
}

static void commitPad(RewriterBase &rewriter, const PadPlan &plan) {
  tensor::PadOp op = plan.op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType type = op.getResultType();
  RankedTensorType sourceType = op.getSourceType();
  int64_t rank = type.getRank();
  auto vectorType = VectorType::get(type.getShape(), type.getElementType());
  Value pad =
      plan.constant
          ? arith::ConstantOp::create(rewriter, loc, plan.constant).getResult()
          : plan.value;
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> origin(rank, zero);
  SmallVector<bool> inside(rank, true);
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  Value result = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                         type.getElementType());

  // Lanes past the source's end read the padding value.
  if (startsAtOrigin(plan)) {
    SmallVector<bool> readsInside;
    for (int64_t dim = 0; dim < rank; ++dim)
      readsInside.push_back(!sourceType.isDynamicDim(dim) &&
                            sourceType.getDimSize(dim) >= type.getDimSize(dim));
    Value tile = vector::TransferReadOp::create(
        rewriter, loc, vectorType, op.getSource(), origin,
        AffineMapAttr::get(identity), pad, /*mask=*/Value(),
        rewriter.getBoolArrayAttr(readsInside));
    auto write = vector::TransferWriteOp::create(
        rewriter, loc, TypeRange{type}, tile, result, origin,
        AffineMapAttr::get(identity), /*mask=*/Value(),
        rewriter.getBoolArrayAttr(inside));
    rewriter.replaceOp(op, write);
    return;
  }

  // Fill the result, then put the source at its place: no index is negative,
  // whatever the low pads are. A negative pad cuts the source off.
  Value filled = vector::BroadcastOp::create(rewriter, loc, vectorType, pad);
  result = vector::TransferWriteOp::create(
               rewriter, loc, TypeRange{type}, filled, result, origin,
               AffineMapAttr::get(identity), /*mask=*/Value(),
               rewriter.getBoolArrayAttr(inside))
               .getResult();
  SmallVector<Value> readAt, writeAt, counts;
  SmallVector<OpFoldResult> lows = op.getMixedLowPad();
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value size = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        tensor::getMixedSize(rewriter, loc, op.getSource(), dim));
    Value room =
        arith::ConstantIndexOp::create(rewriter, loc, type.getDimSize(dim));
    Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, lows[dim]);
    Value cut = arith::MaxSIOp::create(
        rewriter, loc, arith::SubIOp::create(rewriter, loc, zero, begin), zero);
    Value place = arith::MaxSIOp::create(rewriter, loc, begin, zero);
    // How much of the source lands in the result.
    Value count = arith::MinSIOp::create(
        rewriter, loc, arith::SubIOp::create(rewriter, loc, size, cut),
        arith::SubIOp::create(rewriter, loc, room, place));
    counts.push_back(arith::MaxSIOp::create(rewriter, loc, count, zero));
    readAt.push_back(cut);
    writeAt.push_back(place);
  }
  SmallVector<bool> unknown(rank, false);
  Value tile = vector::TransferReadOp::create(
      rewriter, loc, vectorType, op.getSource(), readAt,
      AffineMapAttr::get(identity), pad, /*mask=*/Value(),
      rewriter.getBoolArrayAttr(unknown));
  Value mask = vector::CreateMaskOp::create(
      rewriter, loc, vectorType.clone(rewriter.getI1Type()), counts);
  auto write = vector::TransferWriteOp::create(
      rewriter, loc, TypeRange{type}, tile, result, writeAt,
      AffineMapAttr::get(identity), mask, rewriter.getBoolArrayAttr(unknown));
  rewriter.replaceOp(op, write);
}

namespace {

struct LowerPadPass : smalti::impl::SmaltiLowerPadBase<LowerPadPass> {
  using SmaltiLowerPadBase::SmaltiLowerPadBase;
  void runOnOperation() override;
};

} // namespace

void LowerPadPass::runOnOperation() {
  Operation *function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  TransferOptions options{*chip && (*chip)->hasBufferLoads, assumeSmall};

  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(function)))
    return signalPassFailure();

  bool missed = false;
  SmallVector<PadPlan> pads;
  std::vector<TransferPlan> transfers;
  auto report = [&](Operation *op, std::optional<std::string> reason) {
    if (reason)
      missed |= failed(reportMissed(op, kPassName, strict, *reason));
    return !reason;
  };
  function->walk([&](Operation *op) {
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      PadPlan plan{pad, {}, {}};
      if (report(pad, planPad(plan, maxElements)))
        pads.push_back(plan);
      return;
    }
    auto transfer = dyn_cast<VectorTransferOpInterface>(op);
    if (!transfer || !transfer.hasOutOfBoundsDim() ||
        !isa<BaseMemRefType>(transfer.getBase().getType()) ||
        op->hasAttr(mosaic_gpu::kOutLayouts) ||
        op->hasAttr(mosaic_gpu::kInLayouts))
      return;
    TransferPlan plan{transfer, {}, {}, {}};
    if (report(op, planTransfer(plan, solver, options)))
      transfers.push_back(std::move(plan));
  });
  if (missed)
    return signalPassFailure();

  IRRewriter rewriter(&getContext());
  RawBuffers buffers;
  for (const PadPlan &plan : pads) {
    remarkApplied(plan.op, kPassName)
        << (startsAtOrigin(plan)
                ? "the pad became a read that fills in the padding value"
                : "the pad became a filled tensor and a masked write at the "
                  "low pads");
    commitPad(rewriter, plan);
  }
  for (const TransferPlan &plan : transfers) {
    remarkApplied(plan.op, kPassName) << describeTransfer(plan);
    commitTransfer(rewriter, plan, buffers);
  }
}
