//===- LowerPad.cpp - smalti-lower-pad ------------------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Interfaces/MemoryAccess.h"
#include "passes/Support/MemorySize.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

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

struct ReadPlan {
  vector::TransferReadOp op;
  /// For each dimension of the vector: whether the index may be negative.
  SmallVector<bool> mayBeNegative;
  bool throughBuffer = false; ///< as a raw buffer, whose bounds are checked
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
  for (auto [dim, low] : llvm::enumerate(op.getMixedLowPad())) {
    Value size = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        tensor::getMixedSize(rewriter, loc, op.getSource(), dim));
    Value room =
        arith::ConstantIndexOp::create(rewriter, loc, type.getDimSize(dim));
    Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, low);
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
// Padded reads
//===----------------------------------------------------------------------===//

static bool isKnownNonNegative(Value index) {
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::LB, index);
  return succeeded(bound) && *bound >= 0;
}

/// Whether the source can be addressed as a raw buffer: 32-bit offsets from its
/// start reach all of it, its last element is the buffer's, and no masked lane
/// is asked for below it.
static bool canBeBuffer(const ReadPlan &plan) {
  vector::TransferReadOp op = plan.op;
  auto type = cast<MemRefType>(op.getBase().getType());
  if (!type.hasStaticShape() ||
      getMemorySpace(op.getBase()) != MemorySpace::Global ||
      llvm::is_contained(plan.mayBeNegative, true))
    return false;
  // The cast takes plain global memory.
  if (isa_and_nonnull<amdgpu::AddressSpaceAttr>(type.getMemorySpace()))
    return false;
  std::optional<RawBuffer> buffer = getRawBuffer(type);
  std::optional<int64_t> element = getElementBytes(type.getElementType());
  if (!buffer || !element)
    return false;
  // The lanes of one read may lie past the end, and must not wrap around.
  int64_t lanes = op.getVectorType().getNumElements();
  return lanes <
         (std::numeric_limits<int32_t>::max() - buffer->bytes) / *element;
}

/// Nothing where the read is not padded, or belongs to a whole block.
static std::optional<std::string> planRead(ReadPlan &plan, bool hasBuffers) {
  vector::TransferReadOp op = plan.op;
  if (op.getVectorType().isScalable())
    return std::string("the read's vector is scalable");
  if (!op.getPermutationMap().isMinorIdentity())
    return "the read's permutation map " + describe(op.getPermutationMap()) +
           " is not a minor identity";
  if (!isa<MemRefType>(op.getBase().getType()))
    return std::string("the read's source has no rank");
  unsigned leading =
      op.getIndices().size() - unsigned(op.getVectorType().getRank());
  for (unsigned dim = 0, e = op.getVectorType().getRank(); dim < e; ++dim)
    plan.mayBeNegative.push_back(
        !op.isDimInBounds(dim) &&
        !isKnownNonNegative(op.getIndices()[leading + dim]));
  plan.throughBuffer = hasBuffers && canBeBuffer(plan);
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

static void commitRead(RewriterBase &rewriter, const ReadPlan &plan,
                       DenseMap<Value, Value> &buffers) {
  vector::TransferReadOp op = plan.op;
  Location loc = op.getLoc();
  Value base = op.getBase();
  VectorType vectorType = op.getVectorType();
  VectorType maskType = vectorType.clone(rewriter.getI1Type());
  unsigned leading = op.getIndices().size() - unsigned(vectorType.getRank());

  rewriter.setInsertionPoint(op);
  SmallVector<Value> ends, full;
  for (int64_t size : vectorType.getShape())
    full.push_back(arith::ConstantIndexOp::create(rewriter, loc, size));
  for (unsigned dim = 0, e = vectorType.getRank(); dim < e; ++dim) {
    if (op.isDimInBounds(dim)) {
      ends.push_back(full[dim]);
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        memref::getMixedSize(rewriter, loc, base, leading + dim));
    Value end = arith::SubIOp::create(rewriter, loc, size,
                                      op.getIndices()[leading + dim]);
    ends.push_back(clamp(rewriter, loc, end, vectorType.getDimSize(dim)));
  }
  Value mask = vector::CreateMaskOp::create(rewriter, loc, maskType, ends);
  Value allTrue;
  for (unsigned dim = 0, e = vectorType.getRank(); dim < e; ++dim) {
    if (!plan.mayBeNegative[dim])
      continue;
    // Lanes ahead of the source's begin.
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value begin = arith::SubIOp::create(rewriter, loc, zero,
                                        op.getIndices()[leading + dim]);
    SmallVector<Value> bounds = full;
    bounds[dim] = clamp(rewriter, loc, begin, vectorType.getDimSize(dim));
    Value ahead = vector::CreateMaskOp::create(rewriter, loc, maskType, bounds);
    if (!allTrue)
      allTrue = arith::ConstantOp::create(
          rewriter, loc, DenseElementsAttr::get(maskType, true));
    Value behind = arith::XOrIOp::create(rewriter, loc, ahead, allTrue);
    mask = arith::AndIOp::create(rewriter, loc, mask, behind);
  }
  if (op.getMask())
    mask = arith::AndIOp::create(rewriter, loc, mask, op.getMask());

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
  SmallVector<bool> inside(vectorType.getRank(), true);
  auto read = vector::TransferReadOp::create(
      rewriter, loc, vectorType, base, op.getIndices(),
      op.getPermutationMapAttr(), op.getPadding(), mask,
      rewriter.getBoolArrayAttr(inside));
  read->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, read);
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

  bool missed = false;
  SmallVector<PadPlan> pads;
  SmallVector<ReadPlan> reads;
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
    auto read = dyn_cast<vector::TransferReadOp>(op);
    if (!read || !read.hasOutOfBoundsDim() ||
        !isa<BaseMemRefType>(read.getBase().getType()) ||
        read->hasAttr(mosaic_gpu::kOutLayouts))
      return;
    ReadPlan plan{read, {}};
    if (report(read, planRead(plan, hasBuffers)))
      reads.push_back(std::move(plan));
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
  for (const ReadPlan &plan : reads) {
    remarkApplied(plan.op, kPassName)
        << "the padded read became a masked one"
        << (plan.throughBuffer ? " of a raw buffer" : "")
        << (llvm::is_contained(plan.mayBeNegative, true)
                ? ", which also leaves out what is ahead of the source"
                : "");
    commitRead(rewriter, plan, buffers);
  }
}
