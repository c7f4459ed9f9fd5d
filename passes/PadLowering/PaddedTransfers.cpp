//===- PaddedTransfers.cpp - Reads and writes that overhang ---------------===//

#include "smalti/passes/PadLowering/PaddedTransfers.h"
#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/PadLowering/TransferMasks.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

/// Rows, and elements, of a write that is taken apart: each is a store or two.
static constexpr int64_t kMostRows = 32;
static constexpr int64_t kMostRowElements = 256;

bool TransferPlan::isRead() const { return isa<vector::TransferReadOp>(op); }

bool TransferPlan::mayBeNegative() const {
  return llvm::any_of(dims,
                      [](const TransferDim &dim) { return dim.mayBeNegative; });
}

bool smalti::isZeroBits(Value padding) {
  Attribute constant;
  if (!matchPattern(padding, m_Constant(&constant)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValue().isPosZero();
  auto number = dyn_cast<IntegerAttr>(constant);
  return number && number.getValue().isZero();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

bool smalti::mayBeginAhead(VectorTransferOpInterface op,
                           const IntegerRanges &ranges) {
  for (auto [dim, expr] : llvm::enumerate(op.getPermutationMap().getResults()))
    if (auto memrefDim = dyn_cast<AffineDimExpr>(expr);
        memrefDim && !op.isDimInBounds(dim) &&
        !ranges.isNonNegative(op.getIndices()[memrefDim.getPosition()]))
      return true;
  return false;
}

/// The dimension of whose lanes every one that is past its end lies past the
/// buffer's too, and none of the others is out of bounds.
static std::optional<unsigned> findEndDim(const TransferPlan &plan,
                                          const BufferSource &source) {
  const TransferDim *overhanging = nullptr;
  for (const TransferDim &dim : plan.dims) {
    if (dim.inBounds)
      continue;
    if (overhanging)
      return std::nullopt;
    overhanging = &dim;
  }
  if (!overhanging || !source.views.empty())
    return std::nullopt;
  auto type = cast<MemRefType>(source.root.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  unsigned dim = overhanging->memref;
  int64_t stride = strides[dim], more;
  if (source.end) {
    int64_t length;
    if (llvm::MulOverflow(type.getDimSize(dim), stride, length) ||
        length < *source.end - offset)
      return std::nullopt;
  } else if (dim != 0 || !type.getLayout().isIdentity()) {
    return std::nullopt;
  }
  // Lanes lie at most this far behind the end, which must not wrap around.
  if (ShapedType::isDynamic(stride))
    return overhanging->size == 1 ? std::optional(dim) : std::nullopt;
  if (llvm::MulOverflow(overhanging->size, stride, more) ||
      more > kMostBytesPastBuffer / source.elementBytes)
    return std::nullopt;
  return dim;
}

/// Whether no dword of the transfer holds lanes inside the buffer and others
/// past its end.
static bool isDwordExact(const TransferPlan &plan, const BufferSource &source) {
  if (source.elementBytes % 4 == 0)
    return true;
  int64_t perDword = 4 / source.elementBytes;
  unsigned log2 = llvm::Log2_64(uint64_t(perDword));
  VectorTransferOpInterface op = plan.op;
  auto type = cast<MemRefType>(op.getBase().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!endsAtMultipleOf(source, perDword) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || log2Divisor(offset) < log2)
    return false;
  for (auto [dim, index] : llvm::enumerate(op.getIndices()))
    if (log2Divisor(index) + log2Stride(type, dim) < log2)
      return false;
  // Of lanes that do not follow one another in memory each is an access of its
  // own; those that do are the last dimension's.
  return llvm::all_of(plan.dims, [&](const TransferDim &dim) {
    return dim.size == 1 || dim.memref + 1 == type.getRank() ||
           log2Stride(type, dim.memref) >= log2;
  });
}

/// How the transfer goes through a raw buffer, or why it does not.
static std::optional<std::string> planBuffer(const TransferPlan &plan,
                                             const TransferOptions &options,
                                             BufferedTransfer &buffer) {
  VectorTransferOpInterface op = plan.op;
  VectorType vectorType = op.getVectorType();
  AffineMap map = op.getPermutationMap();
  if (std::optional<std::string> why =
          findBufferSource(op.getBase(), options.assumesSmall, buffer.source))
    return why;
  if (vectorType.getNumElements() >
      kMostBytesPastBuffer / buffer.source.elementBytes)
    return "the vector takes more than " +
           std::to_string(kMostBytesPastBuffer) + " bytes";
  bool isExact = !plan.mayBeNegative() && isDwordExact(plan, buffer.source);
  std::optional<unsigned> endDim = findEndDim(plan, buffer.source);
  if (endDim)
    buffer.endDim = *endDim;

  if (plan.isRead()) {
    if (isMaskedTransfer(op) && !map.isMinorIdentity())
      return std::string("it has a mask, and its vector is permuted");
    bool isZero = isZeroBits(cast<vector::TransferReadOp>(*op).getPadding());
    buffer.checksEnd = !isExact;
    buffer.kind =
        endDim && isZero && !isMaskedTransfer(op) && !plan.mayBeNegative()
            ? BufferedTransfer::Kind::Whole
            : BufferedTransfer::Kind::Select;
    return std::nullopt;
  }

  if (isMaskedTransfer(op))
    return std::string("it has a mask of its own");
  if (plan.mayBeNegative())
    return std::string("an index may be negative");
  if (endDim && isExact) {
    buffer.kind = BufferedTransfer::Kind::Whole;
    return std::nullopt;
  }
  buffer.kind = BufferedTransfer::Kind::Rows;
  auto type = cast<MemRefType>(op.getBase().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!map.isMinorIdentity() ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::string("the lanes of its rows do not follow one another");
  int64_t elements = vectorType.getNumElements(),
          rows = elements / vectorType.getShape().back();
  if (rows > kMostRows || elements > kMostRowElements)
    return "its " + std::to_string(rows) + " rows of " +
           std::to_string(vectorType.getShape().back()) +
           " elements are more than the " + std::to_string(kMostRows) +
           " rows and " + std::to_string(kMostRowElements) +
           " elements that are stored one by one";
  return std::nullopt;
}

std::optional<std::string>
smalti::planTransfer(TransferPlan &plan, const IntegerRanges &ranges,
                     const TransferOptions &options) {
  VectorTransferOpInterface op = plan.op;
  std::string noun = plan.isRead() ? "the read" : "the write";
  VectorType vectorType = op.getVectorType();
  if (vectorType.isScalable())
    return noun + "'s vector is scalable";
  auto type = cast<MemRefType>(op.getBase().getType());
  if (isa<VectorType>(type.getElementType()))
    return noun + "'s elements are vectors";
  // Upstream's verifier does not compare them.
  if (type.getElementType() != vectorType.getElementType())
    return noun + "'s element type differs from the memref's";
  AffineMap map = op.getPermutationMap();
  if (!map.isMinorIdentity() && hasPassthru(op))
    return noun + "'s vector is permuted, and another fills in the lanes that "
                  "the mask leaves out";
  for (unsigned memrefDim = 0, e = map.getNumInputs(); memrefDim < e;
       ++memrefDim) {
    std::optional<unsigned> dim =
        map.getResultPosition(getAffineDimExpr(memrefDim, map.getContext()));
    if (!dim)
      continue;
    bool inBounds = op.isDimInBounds(*dim);
    plan.dims.push_back(
        {memrefDim, *dim, vectorType.getDimSize(*dim), inBounds,
         !inBounds && !ranges.isNonNegative(op.getIndices()[memrefDim])});
  }
  if (!options.hasBuffers)
    return std::nullopt;
  BufferedTransfer buffer;
  if (std::optional<std::string> why = planBuffer(plan, options, buffer))
    plan.whyNoBuffer = *why;
  else
    plan.buffer = std::move(buffer);
  return std::nullopt;
}

std::string smalti::describeTransfer(const TransferPlan &plan) {
  std::string text =
      std::string("the padded ") + (plan.isRead() ? "read" : "write");
  if (!plan.buffer) {
    text += " became a masked one";
    if (plan.mayBeNegative())
      text += ", which also leaves out what is ahead of the memref";
    if (!plan.whyNoBuffer.empty())
      text += "; its memref is no raw buffer: " + plan.whyNoBuffer;
    if (!plan.whyNoCopy.empty())
      text += "; it is no asynchronous copy: " + plan.whyNoCopy;
    if (!plan.whyNoWindow.empty() && plan.whyNoWindow != plan.whyNoCopy)
      text += "; it is no TMA copy: " + plan.whyNoWindow;
    return text;
  }
  text += " became one of a raw buffer";
  switch (plan.buffer->kind) {
  case BufferedTransfer::Kind::Whole:
    text += plan.isRead() ? ", whose zeros are the padding"
                          : ", which drops what is out of bounds";
    break;
  case BufferedTransfer::Kind::Select:
    text += ", of which the padding is selected";
    break;
  case BufferedTransfer::Kind::Rows:
    text += ", past whose end goes what is out of bounds";
    break;
  }
  if (plan.buffer->checksEnd)
    text += plan.mayBeNegative()
                ? "; where it crosses the buffer's begin or end it is masked"
                : "; where it crosses the buffer's end it is masked";
  if (plan.buffer->source.checksExtent)
    text += "; it is masked where the memref takes more bytes than a buffer";
  return text;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

Value smalti::clampCount(OpBuilder &builder, Location loc, Value value,
                         int64_t limit) {
  value = arith::MaxSIOp::create(
      builder, loc, value, arith::ConstantIndexOp::create(builder, loc, 0));
  return arith::MinSIOp::create(
      builder, loc, value, arith::ConstantIndexOp::create(builder, loc, limit));
}

static Value getSize(OpBuilder &builder, Location loc, Value memref,
                     unsigned dim) {
  return getValueOrCreateConstantIndexOp(
      builder, loc, memref::getMixedSize(builder, loc, memref, dim));
}

/// The elements from a transfer's index up to the memref's end.
static Value getRest(OpBuilder &builder, Location loc,
                     VectorTransferOpInterface op, unsigned dim) {
  return arith::SubIOp::create(builder, loc,
                               getSize(builder, loc, op.getBase(), dim),
                               op.getIndices()[dim]);
}

/// The mask of the lanes that are in bounds, and were not masked before: of
/// the memref's dimensions, or of the vector's.
static Value createMask(OpBuilder &builder, const TransferPlan &plan,
                        bool ofVector) {
  VectorTransferOpInterface op = plan.op;
  Location loc = op.getLoc();
  SmallVector<int64_t> shape;
  SmallVector<const TransferDim *> dims;
  if (ofVector) {
    shape = llvm::to_vector(op.getVectorType().getShape());
    dims.assign(shape.size(), nullptr);
    for (const TransferDim &dim : plan.dims)
      dims[dim.vector] = &dim;
  } else {
    for (const TransferDim &dim : plan.dims) {
      shape.push_back(dim.size);
      dims.push_back(&dim);
    }
  }

  SmallVector<Value> ends, full;
  for (auto [size, dim] : llvm::zip_equal(shape, dims)) {
    full.push_back(arith::ConstantIndexOp::create(builder, loc, size));
    ends.push_back(!dim || dim->inBounds
                       ? full.back()
                       : clampCount(builder, loc,
                                    getRest(builder, loc, op, dim->memref),
                                    size));
  }
  VectorType maskType = VectorType::get(shape, builder.getI1Type());
  Value mask = vector::CreateMaskOp::create(builder, loc, maskType, ends);
  Value allTrue;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!dim || !dim->mayBeNegative)
      continue;
    // Lanes ahead of the memref's begin.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value begin =
        arith::SubIOp::create(builder, loc, zero, op.getIndices()[dim->memref]);
    SmallVector<Value> bounds = full;
    bounds[i] = clampCount(builder, loc, begin, dim->size);
    Value ahead = vector::CreateMaskOp::create(builder, loc, maskType, bounds);
    if (!allTrue)
      allTrue = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(maskType, true));
    Value behind = arith::XOrIOp::create(builder, loc, ahead, allTrue);
    mask = arith::AndIOp::create(builder, loc, mask, behind);
  }
  // In the order of the memref, which is the vector's where masks are kept.
  if (op.getMask())
    mask = arith::AndIOp::create(builder, loc, mask, op.getMask());
  return mask;
}

//===----------------------------------------------------------------------===//
// Transfers under a mask, and of buffers
//===----------------------------------------------------------------------===//

/// The transfer at other places, all of whose lanes are in bounds, but for a
/// mask. The result of a read.
static Value createTransfer(OpBuilder &builder, const TransferPlan &plan,
                            Value memref, ValueRange indices, Value mask) {
  VectorTransferOpInterface op = plan.op;
  auto inside = builder.getBoolArrayAttr(
      SmallVector<bool>(op.getVectorType().getRank(), true));
  Operation *made;
  if (auto read = dyn_cast<vector::TransferReadOp>(*op)) {
    made = vector::TransferReadOp::create(
        builder, op.getLoc(), read.getVectorType(), memref, indices,
        read.getPermutationMapAttr(), read.getPadding(), mask, inside);
  } else {
    auto write = cast<vector::TransferWriteOp>(*op);
    made = vector::TransferWriteOp::create(
        builder, op.getLoc(), write.getVector(), memref, indices,
        write.getPermutationMapAttr(), mask, inside);
  }
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return plan.isRead() ? made->getResult(0) : Value();
}

static Value createMasked(OpBuilder &builder, const TransferPlan &plan) {
  VectorTransferOpInterface op = plan.op;
  return createTransfer(builder, plan, op.getBase(), op.getIndices(),
                        createMask(builder, plan, /*ofVector=*/false));
}

/// Kind::Whole: the transfer begins at the end at most, so that offsets do not
/// wrap around.
static Value createWhole(OpBuilder &builder, const TransferPlan &plan,
                         Value buffer) {
  VectorTransferOpInterface op = plan.op;
  unsigned dim = plan.buffer->endDim;
  SmallVector<Value> indices(op.getIndices());
  indices[dim] =
      arith::MinSIOp::create(builder, op.getLoc(), indices[dim],
                             getSize(builder, op.getLoc(), op.getBase(), dim));
  return createTransfer(builder, plan, buffer, indices, /*mask=*/Value());
}

static Value createSelect(OpBuilder &builder, const TransferPlan &plan,
                          Value buffer) {
  auto read = cast<vector::TransferReadOp>(*plan.op);
  Location loc = read.getLoc();
  Value all = createTransfer(builder, plan, buffer, read.getIndices(),
                             /*mask=*/Value());
  Value mask = createMask(builder, plan, /*ofVector=*/true);
  Value padding = vector::BroadcastOp::create(
      builder, loc, read.getVectorType(), read.getPadding());
  return arith::SelectOp::create(builder, loc, mask, all, padding);
}

/// Kind::Rows. `end` is an index along the last dimension that lies past the
/// buffer's end wherever a row begins.
static void createRows(OpBuilder &builder, const TransferPlan &plan,
                       Value buffer, Value end) {
  auto write = cast<vector::TransferWriteOp>(*plan.op);
  Location loc = write.getLoc();
  VectorType type = write.getVectorType();
  ArrayRef<TransferDim> dims = plan.dims;
  const TransferDim &last = dims.back();
  ArrayRef<TransferDim> outer = dims.drop_back();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto select = [&](Value isInside, Value index, Value outside) -> Value {
    return isInside
               ? arith::SelectOp::create(builder, loc, isInside, index, outside)
                     .getResult()
               : index;
  };
  Value zero = constant(0), count, isFull;
  if (!last.inBounds) {
    count = getRest(builder, loc, plan.op, last.memref);
    isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                   count, constant(last.size));
  }
  SmallVector<Value> sizes(outer.size());
  for (auto [size, dim] : llvm::zip_equal(sizes, outer))
    if (!dim.inBounds)
      size = getSize(builder, loc, write.getBase(), dim.memref);

  SmallVector<int64_t> position(outer.size(), 0);
  int64_t rows = type.getNumElements() / last.size;
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<Value> indices(write.getIndices());
    Value isInside;
    for (auto [i, dim] : llvm::enumerate(outer)) {
      Value &index = indices[dim.memref];
      index = builder.createOrFold<arith::AddIOp>(loc, index,
                                                  constant(position[i]));
      if (dim.inBounds)
        continue;
      Value below = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, index, sizes[i]);
      isInside =
          isInside
              ? arith::AndIOp::create(builder, loc, isInside, below).getResult()
              : below;
    }
    // A row that is out of bounds begins past the end; other indices might be
    // too large to be multiplied.
    for (const TransferDim &dim : outer)
      indices[dim.memref] = select(isInside, indices[dim.memref], zero);
    Value first = indices[last.memref];
    Value elements =
        outer.empty()
            ? write.getVector()
            : vector::ExtractOp::create(builder, loc, write.getVector(),
                                        ArrayRef<int64_t>(position))
                  .getResult();

    auto storeRow = [&](OpBuilder &nested) {
      indices[last.memref] =
          isInside ? arith::SelectOp::create(nested, loc, isInside, first, end)
                         .getResult()
                   : first;
      vector::StoreOp::create(nested, loc, elements, buffer, indices);
    };
    auto storeElements = [&](OpBuilder &nested) {
      for (int64_t lane = 0; lane < last.size; ++lane) {
        Value number = arith::ConstantIndexOp::create(nested, loc, lane);
        Value stays = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::slt, number, count);
        if (isInside)
          stays = arith::AndIOp::create(nested, loc, isInside, stays);
        Value index = arith::AddIOp::create(nested, loc, first, number);
        indices[last.memref] =
            arith::SelectOp::create(nested, loc, stays, index, end);
        Value element = vector::ExtractOp::create(nested, loc, elements, lane);
        memref::StoreOp::create(nested, loc, element, buffer, indices);
      }
    };
    if (!isFull)
      storeRow(builder);
    else if (last.size == 1)
      storeElements(builder);
    else
      scf::IfOp::create(
          builder, loc, isFull,
          [&](OpBuilder &nested, Location loc) {
            storeRow(nested);
            scf::YieldOp::create(nested, loc);
          },
          [&](OpBuilder &nested, Location loc) {
            storeElements(nested);
            scf::YieldOp::create(nested, loc);
          });
    for (size_t dim = position.size(); dim-- > 0;) {
      if (++position[dim] < outer[dim].size)
        break;
      position[dim] = 0;
    }
  }
}

static Value createBuffered(OpBuilder &builder, const TransferPlan &plan,
                            Value view, Value end) {
  switch (plan.buffer->kind) {
  case BufferedTransfer::Kind::Whole:
    return createWhole(builder, plan, view);
  case BufferedTransfer::Kind::Select:
    return createSelect(builder, plan, view);
  case BufferedTransfer::Kind::Rows:
    createRows(builder, plan, view, end);
    return {};
  }
  return {};
}

/// Whether all lanes lie inside the buffer.
static Value createIsInside(OpBuilder &builder, const TransferPlan &plan,
                            Value end) {
  VectorTransferOpInterface op = plan.op;
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getBase().getType());
  SmallVector<OpFoldResult> strides;
  OpFoldResult offset;
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  if (ShapedType::isDynamic(staticOffset) ||
      llvm::any_of(staticStrides, ShapedType::isDynamic)) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, op.getBase());
    strides = metadata.getConstifiedMixedStrides();
    offset = metadata.getConstifiedMixedOffset();
  } else {
    strides = getAsIndexOpFoldResult(builder.getContext(), staticStrides);
    offset = builder.getIndexAttr(staticOffset);
  }
  auto get = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  };
  Value first = get(offset);
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), strides))
    first = builder.createOrFold<arith::AddIOp>(
        loc, first,
        builder.createOrFold<arith::MulIOp>(loc, index, get(stride)));
  Value last = first;
  for (const TransferDim &dim : plan.dims)
    last = builder.createOrFold<arith::AddIOp>(
        loc, last,
        builder.createOrFold<arith::MulIOp>(
            loc, arith::ConstantIndexOp::create(builder, loc, dim.size - 1),
            get(strides[dim.memref])));
  Value isInside =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, last, end);
  if (!plan.mayBeNegative())
    return isInside;
  Value isBehind =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, first,
                            arith::ConstantIndexOp::create(builder, loc, 0));
  return arith::AndIOp::create(builder, loc, isInside, isBehind);
}

void smalti::commitTransfer(RewriterBase &rewriter, const TransferPlan &plan,
                            RawBuffers &buffers) {
  VectorTransferOpInterface op = plan.op;
  Location loc = op.getLoc();
  takeOutOfMask(rewriter, op);
  rewriter.setInsertionPoint(op);
  Value result;
  if (!plan.buffer) {
    result = createMasked(rewriter, plan);
  } else {
    const BufferSource &source = plan.buffer->source;
    Value view = buffers.getView(rewriter, source, op.getBase());
    RawBuffers::Buffer buffer = buffers.getRoot(rewriter, source);
    Value condition = source.checksExtent ? buffer.fits : Value();
    if (plan.buffer->checksEnd) {
      Value isInside = createIsInside(rewriter, plan, buffer.end);
      condition =
          condition ? arith::AndIOp::create(rewriter, loc, condition, isInside)
                          .getResult()
                    : isInside;
    }
    if (!condition) {
      result = createBuffered(rewriter, plan, view, buffer.end);
    } else {
      auto yield = [&](OpBuilder &builder, Location loc, Value value) {
        scf::YieldOp::create(builder, loc,
                             value ? ValueRange(value) : ValueRange());
      };
      auto branch = scf::IfOp::create(
          rewriter, loc, condition,
          [&](OpBuilder &builder, Location loc) {
            yield(builder, loc,
                  createBuffered(builder, plan, view, buffer.end));
          },
          [&](OpBuilder &builder, Location loc) {
            yield(builder, loc, createMasked(builder, plan));
          });
      if (plan.isRead())
        result = branch.getResult(0);
    }
  }
  if (plan.isRead())
    rewriter.replaceOp(op, result);
  else
    rewriter.eraseOp(op);
}
