//===- LowerPad.cpp - smalti-lower-pad ------------------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Interfaces/MemoryAccess.h"
#include "passes/Support/MemorySize.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Pass/Pass.h"

#include <limits>

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

/// One dimension of a transfer's mask.
struct MaskDim {
  unsigned memref;    ///< the dimension of the memref
  int64_t size;       ///< the vector's length along it
  bool inBounds;      ///< no lane lies past the end, or ahead of the begin
  bool mayBeNegative; ///< some lane may lie ahead of the begin
};

/// A read or write of a memref with lanes that may be out of bounds.
struct TransferPlan {
  VectorTransferOpInterface op;
  /// A mask's dimensions are those of the memref, whatever the vector's are.
  SmallVector<MaskDim> dims;
  bool throughBuffer = false; ///< as a raw buffer, whose bounds are checked
  /// Why it does not go through a buffer, where the chip has them.
  std::string whyNoBuffer;

  bool isRead() const { return isa<vector::TransferReadOp>(op); }
  bool mayBeNegative() const {
    return llvm::any_of(dims,
                        [](const MaskDim &dim) { return dim.mayBeNegative; });
  }
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

//===----------------------------------------------------------------------===//
// Padded reads and writes
//===----------------------------------------------------------------------===//

/// By what ops say of bounds (affine, loops), or of ranges (arith, gpu).
static bool isKnownNonNegative(DataFlowSolver &solver, Value index) {
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::LB, index);
  return (succeeded(bound) && *bound >= 0) ||
         succeeded(dataflow::staticallyNonNegative(solver, index));
}

/// Why the read's source cannot be addressed as a raw buffer, if so: 32-bit
/// offsets from its start must reach all of it, its last element must be the
/// buffer's, and no masked lane may be asked for below it.
static std::optional<std::string> whyNoBuffer(const TransferPlan &plan) {
  VectorTransferOpInterface op = plan.op;
  auto type = cast<MemRefType>(op.getBase().getType());
  // The cast takes plain global memory.
  if (getMemorySpace(op.getBase()) != MemorySpace::Global ||
      isa_and_nonnull<amdgpu::AddressSpaceAttr>(type.getMemorySpace()))
    return "it is not in global memory";
  if (!type.hasStaticShape())
    return "its size is not known";
  if (plan.mayBeNegative())
    return "an index may be negative";
  std::optional<int64_t> element = getElementBytes(type.getElementType());
  std::optional<int64_t> span = getElementSpan(type);
  if (!element || !span)
    return "its extent is not known";
  if (*span > std::numeric_limits<int32_t>::max() / *element)
    return "it takes " + std::to_string(*span * *element) +
           " bytes, more than 32-bit offsets reach";
  std::optional<RawBuffer> buffer = getRawBuffer(type);
  if (!buffer)
    return "it does not begin and end where its longest dimension does";
  // The lanes of one read may lie past the end, and must not wrap around.
  int64_t lanes = op.getVectorType().getNumElements();
  if (lanes >= (std::numeric_limits<int32_t>::max() - buffer->bytes) / *element)
    return "the lanes past its end would wrap around";
  // Bounds are checked for dwords: the last elements would be lost.
  if (buffer->bytes % 4 != 0)
    return "its " + std::to_string(buffer->bytes) +
           " bytes end within a dword, and the bounds check is for whole ones";
  return std::nullopt;
}

/// The reason why a transfer stays as it is, if it does.
static std::optional<std::string>
planTransfer(TransferPlan &plan, DataFlowSolver &solver, bool hasBuffers) {
  VectorTransferOpInterface op = plan.op;
  std::string noun = plan.isRead() ? "the read" : "the write";
  VectorType vectorType = op.getVectorType();
  if (vectorType.isScalable())
    return noun + "'s vector is scalable";
  auto type = dyn_cast<MemRefType>(op.getBase().getType());
  if (!type)
    return noun + "'s memref has no rank";
  if (isa<VectorType>(type.getElementType()))
    return noun + "'s elements are vectors";
  AffineMap map = op.getPermutationMap();
  for (unsigned memrefDim = 0, e = map.getNumInputs(); memrefDim < e;
       ++memrefDim) {
    std::optional<unsigned> dim =
        map.getResultPosition(getAffineDimExpr(memrefDim, map.getContext()));
    if (!dim)
      continue;
    bool inBounds = op.isDimInBounds(*dim);
    plan.dims.push_back(
        {memrefDim, vectorType.getDimSize(*dim), inBounds,
         !inBounds && !isKnownNonNegative(solver, op.getIndices()[memrefDim])});
  }
  if (!hasBuffers || !plan.isRead())
    return std::nullopt;
  std::optional<std::string> why = whyNoBuffer(plan);
  plan.throughBuffer = !why;
  plan.whyNoBuffer = why.value_or("");
  return std::nullopt;
}

/// min(max(value, 0), limit): a mask's bound must survive being made 32 bits
/// wide.
static Value clamp(OpBuilder &builder, Location loc, Value value,
                   int64_t limit) {
  value = arith::MaxSIOp::create(
      builder, loc, value, arith::ConstantIndexOp::create(builder, loc, 0));
  return arith::MinSIOp::create(
      builder, loc, value, arith::ConstantIndexOp::create(builder, loc, limit));
}

/// The mask of the lanes that are in bounds, and were not masked before.
static Value createMask(RewriterBase &rewriter, const TransferPlan &plan) {
  VectorTransferOpInterface op = plan.op;
  Location loc = op.getLoc();
  SmallVector<int64_t> shape;
  SmallVector<Value> ends, full;
  for (const MaskDim &dim : plan.dims) {
    shape.push_back(dim.size);
    full.push_back(arith::ConstantIndexOp::create(rewriter, loc, dim.size));
    if (dim.inBounds) {
      ends.push_back(full.back());
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        memref::getMixedSize(rewriter, loc, op.getBase(), dim.memref));
    Value end =
        arith::SubIOp::create(rewriter, loc, size, op.getIndices()[dim.memref]);
    ends.push_back(clamp(rewriter, loc, end, dim.size));
  }
  VectorType maskType = VectorType::get(shape, rewriter.getI1Type());
  Value mask = vector::CreateMaskOp::create(rewriter, loc, maskType, ends);
  Value allTrue;
  for (auto [i, dim] : llvm::enumerate(plan.dims)) {
    if (!dim.mayBeNegative)
      continue;
    // Lanes ahead of the memref's begin.
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value begin =
        arith::SubIOp::create(rewriter, loc, zero, op.getIndices()[dim.memref]);
    SmallVector<Value> bounds = full;
    bounds[i] = clamp(rewriter, loc, begin, dim.size);
    Value ahead = vector::CreateMaskOp::create(rewriter, loc, maskType, bounds);
    if (!allTrue)
      allTrue = arith::ConstantOp::create(
          rewriter, loc, DenseElementsAttr::get(maskType, true));
    Value behind = arith::XOrIOp::create(rewriter, loc, ahead, allTrue);
    mask = arith::AndIOp::create(rewriter, loc, mask, behind);
  }
  if (op.getMask())
    mask = arith::AndIOp::create(rewriter, loc, mask, op.getMask());
  return mask;
}

static void commitTransfer(RewriterBase &rewriter, const TransferPlan &plan,
                           DenseMap<Value, Value> &buffers) {
  VectorTransferOpInterface op = plan.op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value mask = createMask(rewriter, plan);
  ArrayAttr inside = rewriter.getBoolArrayAttr(
      SmallVector<bool>(op.getVectorType().getRank(), true));
  if (auto write = dyn_cast<vector::TransferWriteOp>(*op)) {
    rewriter.modifyOpInPlace(write, [&] {
      write.getMaskMutable().assign(mask);
      write.setInBoundsAttr(inside);
    });
    return;
  }

  auto read = cast<vector::TransferReadOp>(*op);
  Value base = read.getBase();
  if (plan.throughBuffer) {
    Value &buffer = buffers[base];
    if (!buffer) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfterValue(base);
      buffer = amdgpu::FatRawBufferCastOp::create(
          rewriter, base.getLoc(), base, /*validBytes=*/Value(),
          /*cacheSwizzleStride=*/Value(), /*boundsCheck=*/true,
          /*resetOffset=*/false);
    }
    base = buffer;
  }
  auto masked = vector::TransferReadOp::create(
      rewriter, loc, read.getVectorType(), base, read.getIndices(),
      read.getPermutationMapAttr(), read.getPadding(), mask, inside);
  masked->setDiscardableAttrs(read->getDiscardableAttrDictionary());
  rewriter.replaceOp(read, masked);
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
  bool hasBuffers = *chip && (*chip)->hasBufferLoads;

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
    TransferPlan plan{transfer, {}, false, {}};
    if (report(op, planTransfer(plan, solver, hasBuffers)))
      transfers.push_back(std::move(plan));
  });
  if (missed)
    return signalPassFailure();

  IRRewriter rewriter(&getContext());
  DenseMap<Value, Value> buffers;
  for (const PadPlan &plan : pads) {
    remarkApplied(plan.op, kPassName)
        << (startsAtOrigin(plan)
                ? "the pad became a read that fills in the padding value"
                : "the pad became a filled tensor and a masked write at the "
                  "low pads");
    commitPad(rewriter, plan);
  }
  for (const TransferPlan &plan : transfers) {
    remarkApplied(plan.op, kPassName)
        << "the padded " << (plan.isRead() ? "read" : "write")
        << " became a masked one"
        << (plan.throughBuffer ? " of a raw buffer" : "")
        << (plan.mayBeNegative() ? ", which also leaves out what is ahead of "
                                   "the memref"
                                 : "")
        << (plan.whyNoBuffer.empty()
                ? std::string()
                : "; its source is no raw buffer: " + plan.whyNoBuffer);
    commitTransfer(rewriter, plan, buffers);
  }
}
