//===- LowerPad.cpp - smalti-lower-pad ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/PadLowering/PaddedCopies.h"
#include "smalti/passes/PadLowering/PaddedTransfers.h"
#include "smalti/passes/PadLowering/TensorWindows.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERPAD
#define GEN_PASS_DEF_SMALTILOWERPAD
#include "smalti/passes/PadLowering/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-lower-pad";

namespace {

struct PadPlan {
  tensor::PadOp op;
  /// The padding value if it is defined outside the op's region; otherwise the
  /// constant that the region yields.
  Value value;
  TypedAttr constant;
  /// The shape of the vector, which may exceed that of the result.
  SmallVector<int64_t> shape;
  /// The result has rank 0 or is empty.
  bool isTrivial = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// tensor.pad
//===----------------------------------------------------------------------===//

/// Computes the shape of the vector that holds the result, of which a part may
/// be unused. Returns a reason if that fails.
static std::optional<std::string> planShape(PadPlan &plan,
                                            int64_t maxElements) {
  RankedTensorType type = plan.op.getResultType();
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    int64_t most = size;
    if (ShapedType::isDynamic(size)) {
      std::optional<int64_t> bound = findConstantUpperBound(
          plan.op.getResult(), static_cast<int64_t>(dim));
      if (!bound)
        return "dimension " + std::to_string(dim) + " of the result " +
               describe(type) +
               " is dynamic and does not have a constant upper bound; use a "
               "static size, or limit it with affine.min";
      most = std::max<int64_t>(*bound, 1);
    }
    plan.shape.push_back(most);
    if (llvm::MulOverflow(elements, most, elements))
      elements = std::numeric_limits<int64_t>::max();
  }
  if (elements > maxElements)
    return "the result has " +
           std::string(type.hasStaticShape() ? "" : "up to ") +
           std::to_string(elements) + " elements; the option 'max-elements' " +
           "allows " + std::to_string(maxElements) +
           ", so raise the option or use a smaller tensor";
  return std::nullopt;
}

static std::optional<std::string> planPad(PadPlan &plan, int64_t maxElements) {
  RankedTensorType type = plan.op.getResultType();
  // The created ops do not preserve encodings.
  for (RankedTensorType tensor : {plan.op.getSourceType(), type})
    if (tensor.getEncoding())
      return "the type " + describe(tensor) +
             " has an encoding; use a tensor without an encoding";
  if (type.getRank() == 0 || llvm::is_contained(type.getShape(), 0)) {
    plan.isTrivial = true;
    return std::nullopt;
  }
  if (!VectorType::isValidElementType(type.getElementType()))
    return "elements of type " + describe(type.getElementType()) +
           " are not valid vector elements; use integers or floats";
  Value value = plan.op.getConstantPaddingValue();
  if (!value)
    return std::string("the padding value depends on the index; one value for "
                       "all elements is required");
  if (std::optional<std::string> why = planShape(plan, maxElements))
    return why;
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant))) {
    plan.value = value;
    return std::nullopt;
  }
  plan.constant = dyn_cast<TypedAttr>(constant);
  if (!plan.constant || plan.constant.getType() != type.getElementType())
    return "the padding value " + describe(constant) +
           " is not an integer or float constant";
  return std::nullopt;
}

/// Whether every low pad is the constant 0.
static bool startsAtOrigin(const PadPlan &plan) {
  tensor::PadOp op = plan.op;
  return llvm::all_of(op.getMixedLowPad(), [](OpFoldResult low) {
    return isConstantIntValue(low, 0);
  });
}

/// The sizes of the result: low padding + source + high padding.
static SmallVector<OpFoldResult> createSizes(RewriterBase &rewriter,
                                             tensor::PadOp op) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes, lows = op.getMixedLowPad(),
                                   highs = op.getMixedHighPad();
  for (auto [dim, size] : llvm::enumerate(op.getResultType().getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(rewriter.getIndexAttr(size));
      continue;
    }
    auto get = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(rewriter, loc, value);
    };
    Value sum = rewriter.createOrFold<arith::AddIOp>(
        loc, get(lows[dim]),
        get(tensor::getMixedSize(rewriter, loc, op.getSource(), dim)));
    sizes.push_back(
        rewriter.createOrFold<arith::AddIOp>(loc, sum, get(highs[dim])));
  }
  return sizes;
}

static void commitPad(RewriterBase &rewriter, const PadPlan &plan) {
  tensor::PadOp op = plan.op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType type = op.getResultType();
  RankedTensorType sourceType = op.getSourceType();
  int64_t rank = type.getRank();
  if (rank == 0)
    return rewriter.replaceOp(op, op.getSource());
  SmallVector<OpFoldResult> sizes = createSizes(rewriter, op);
  Value result =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  if (plan.isTrivial)
    return rewriter.replaceOp(op, result);

  auto vectorType = VectorType::get(plan.shape, type.getElementType());
  Value pad =
      plan.constant
          ? arith::ConstantOp::create(rewriter, loc, plan.constant).getResult()
          : plan.value;
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> origin(rank, zero);
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  // Only static sizes equal those of the vector.
  SmallVector<bool> inside;
  for (int64_t dim = 0; dim < rank; ++dim)
    inside.push_back(!type.isDynamicDim(dim));

  // Lanes past the end of the source read the padding value.
  if (startsAtOrigin(plan)) {
    SmallVector<bool> readsInside;
    for (int64_t dim = 0; dim < rank; ++dim)
      readsInside.push_back(!sourceType.isDynamicDim(dim) &&
                            sourceType.getDimSize(dim) >= plan.shape[dim]);
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

  // Fill the result, then write the source into it. The indices are not
  // negative for any low padding. Negative padding truncates the source.
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
    Value available =
        getValueOrCreateConstantIndexOp(rewriter, loc, sizes[dim]);
    Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, lows[dim]);
    Value cut = arith::MaxSIOp::create(
        rewriter, loc, arith::SubIOp::create(rewriter, loc, zero, begin), zero);
    Value offset = arith::MaxSIOp::create(rewriter, loc, begin, zero);
    // The number of source elements in the result.
    Value count = arith::MinSIOp::create(
        rewriter, loc, arith::SubIOp::create(rewriter, loc, size, cut),
        arith::SubIOp::create(rewriter, loc, available, offset));
    counts.push_back(arith::MaxSIOp::create(rewriter, loc, count, zero));
    readAt.push_back(cut);
    writeAt.push_back(offset);
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

struct SmaltiLowerPad : smalti::impl::SmaltiLowerPadBase<SmaltiLowerPad> {
  using SmaltiLowerPadBase::SmaltiLowerPadBase;
  void runOnOperation() override;
};

} // namespace

void SmaltiLowerPad::runOnOperation() {
  Operation *function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  if (maxElements < 1) {
    function->emitError() << kPassName
                          << ": max-elements must be positive, but is "
                          << int64_t(maxElements);
    return signalPassFailure();
  }
  TransferOptions options{*chip && (*chip)->hasBufferLoads, assumeSmall};

  IntegerRanges ranges(function);

  bool zeroFill = hasZeroFillCopies(*chip);
  std::optional<TensorWindows> windows;
  if (*chip && tensorMaps)
    windows.emplace(cast<FunctionOpInterface>(function), **chip, ranges);
  MoveHazards hazards(function);
  bool missed = false;
  SmallVector<PadPlan> pads;
  std::vector<CopyPlan> copies;
  std::vector<TransferPlan> transfers;
  auto report = [&](Operation *op, StringRef what,
                    std::optional<std::string> reason) {
    if (reason)
      missed |= failed(reportMissed(op, kPassName, strict,
                                    what + " not lowered: " + *reason));
    return !reason;
  };
  function->walk([&](Operation *op) {
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      PadPlan plan{pad, {}, {}, {}, false};
      if (report(pad, "tensor.pad", planPad(plan, maxElements)))
        pads.push_back(plan);
      return;
    }
    auto transfer = dyn_cast<VectorTransferOpInterface>(op);
    if (!transfer || !transfer.hasOutOfBoundsDim() ||
        !isa<MemRefType>(transfer.getBase().getType()) ||
        op->hasAttr(mosaic_gpu::kOutLayouts) ||
        op->hasAttr(mosaic_gpu::kInLayouts))
      return;
    TransferPlan plan{transfer, {}, {}, {}, {}, {}};
    if (!report(op, plan.isRead() ? "padded read" : "padded write",
                planTransfer(plan, ranges, options)))
      return;
    auto read = dyn_cast<vector::TransferReadOp>(op);
    vector::TransferWriteOp write =
        read ? getSharedWrite(read) : vector::TransferWriteOp();
    if (write && windows) {
      std::optional<std::string> why = windows->addLoad(read, write, hazards);
      if (!why)
        return;
      plan.tmaRejectionReason = *why;
    }
    if (write && zeroFill) {
      CopyPlan copy{read, write, plan.dims, plan.tmaRejectionReason};
      std::optional<std::string> why = planCopy(copy, **chip, hazards);
      if (!why) {
        copies.push_back(std::move(copy));
        return;
      }
      plan.cpAsyncRejectionReason = *why;
    }
    if (auto store = dyn_cast<vector::TransferWriteOp>(op); store && windows)
      if (vector::TransferReadOp shared = getSharedRead(store)) {
        std::optional<std::string> why =
            windows->addStore(shared, store, hazards);
        if (!why)
          return;
        plan.tmaRejectionReason = *why;
      }
    transfers.push_back(std::move(plan));
  });
  if (missed)
    return signalPassFailure();

  IRRewriter rewriter(&getContext());
  RawBuffers buffers;
  for (const PadPlan &plan : pads) {
    remarkApplied(plan.op, kPassName)
        << (plan.isTrivial
                ? "tensor.pad removed: its result is empty or has rank 0"
            : startsAtOrigin(plan) ? "tensor.pad lowered to a read with padding"
                                   : "tensor.pad lowered to a fill, and a "
                                     "masked write at the offset of the low "
                                     "padding");
    commitPad(rewriter, plan);
  }
  if (windows) {
    for (const TensorWindow &window : windows->getWindows())
      remarkApplied(window.getGlobal(), kPassName) << describeWindow(window);
    windows->commit(rewriter);
  }
  for (const CopyPlan &plan : copies)
    remarkApplied(plan.read, kPassName) << describeCopy(plan);
  commitCopies(rewriter, copies);
  for (const TransferPlan &plan : transfers) {
    remarkApplied(plan.op, kPassName) << describeTransfer(plan);
    commitTransfer(rewriter, plan, buffers);
  }
}
