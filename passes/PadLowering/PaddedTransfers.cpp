//===- PaddedTransfers.cpp - Transfers that may be out of bounds ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/PaddedTransfers.h"
#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/PadLowering/TransferMasks.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Support/Describe.h"

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

/// Maximum number of rows and elements of a write that is split into stores.
static constexpr int64_t kMaxRows = 32;
static constexpr int64_t kMaxRowElements = 256;

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

bool smalti::mayStartBeforeMemRef(VectorTransferOpInterface op,
                                  const IntegerRanges &ranges) {
  for (auto [dim, expr] : llvm::enumerate(op.getPermutationMap().getResults()))
    if (auto memrefDim = dyn_cast<AffineDimExpr>(expr);
        memrefDim && !op.isDimInBounds(dim) &&
        !ranges.isNonNegative(op.getIndices()[memrefDim.getPosition()]))
      return true;
  return false;
}

/// The only dimension that may be out of bounds, if lanes past its end are also
/// past the end of the buffer.
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
  // The distance of lanes past the end must not wrap around.
  if (ShapedType::isDynamic(stride))
    return overhanging->size == 1 ? std::optional(dim) : std::nullopt;
  if (llvm::MulOverflow(overhanging->size, stride, more) ||
      more > kMaxBytesPastBuffer / source.elementBytes)
    return std::nullopt;
  return dim;
}

/// Whether each dword of the transfer is entirely inside the buffer or entirely
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
  // Contiguous lanes are those of the last dimension; other lanes are separate
  // accesses.
  return llvm::all_of(plan.dims, [&](const TransferDim &dim) {
    return dim.size == 1 || dim.memref + 1 == type.getRank() ||
           log2Stride(type, dim.memref) >= log2;
  });
}

/// Plans the transfer through a raw buffer, or returns why a buffer is not
/// used.
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
      kMaxBytesPastBuffer / buffer.source.elementBytes)
    return "the vector has " + std::to_string(vectorType.getNumElements()) +
           " elements of " + std::to_string(buffer.source.elementBytes) +
           " B; at most " + std::to_string(kMaxBytesPastBuffer) +
           " B per vector are supported; use a smaller vector";
  bool isExact = !plan.mayBeNegative() && isDwordExact(plan, buffer.source);
  std::optional<unsigned> endDim = findEndDim(plan, buffer.source);
  if (endDim)
    buffer.endDim = *endDim;

  if (plan.isRead()) {
    if (isMaskedTransfer(op) && !map.isMinorIdentity())
      return std::string("the read has both a mask and a permutation map; only "
                         "one of them is supported");
    bool isZero = isZeroBits(cast<vector::TransferReadOp>(*op).getPadding());
    buffer.checksEnd = !isExact;
    buffer.kind =
        endDim && isZero && !isMaskedTransfer(op) && !plan.mayBeNegative()
            ? BufferedTransfer::Kind::Whole
            : BufferedTransfer::Kind::Select;
    return std::nullopt;
  }

  if (isMaskedTransfer(op))
    return std::string("the write already has a mask; only writes without a "
                       "mask are supported");
  if (plan.mayBeNegative())
    return std::string("an index of the write may be negative, which is only "
                       "supported for reads; limit the index with arith.maxsi");
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
    return std::string("the elements of a vector row are not contiguous in "
                       "memory; contiguous rows are required");
  int64_t elements = vectorType.getNumElements(),
          rows = elements / vectorType.getShape().back();
  if (rows > kMaxRows || elements > kMaxRowElements)
    return "the vector has " + std::to_string(rows) +
           (rows == 1 ? " row and " : " rows and ") + std::to_string(elements) +
           " elements in total; at most " + std::to_string(kMaxRows) +
           " rows and " + std::to_string(kMaxRowElements) +
           " elements in total are supported; use a smaller vector";
  return std::nullopt;
}

std::optional<std::string>
smalti::planTransfer(TransferPlan &plan, const IntegerRanges &ranges,
                     const TransferOptions &options) {
  VectorTransferOpInterface op = plan.op;
  VectorType vectorType = op.getVectorType();
  if (vectorType.isScalable())
    return std::string(
        "scalable vectors are not supported; use a vector of fixed length");
  auto type = cast<MemRefType>(op.getBase().getType());
  if (isa<VectorType>(type.getElementType()))
    return std::string(
        "the elements of the memref are vectors; use a memref of scalars");
  // Upstream's verifier does not compare the element types.
  if (type.getElementType() != vectorType.getElementType())
    return "vector and memref must have the same element type, but have " +
           describe(vectorType.getElementType()) + " and " +
           describe(type.getElementType());
  AffineMap map = op.getPermutationMap();
  if (!map.isMinorIdentity() && hasPassthru(op))
    return std::string(
        "the transfer has a permutation map, and 'vector.mask' "
        "around it has a passthru value; only one of them is supported");
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
    plan.bufferRejectionReason = *why;
  else
    plan.buffer = std::move(buffer);
  return std::nullopt;
}

std::string smalti::describeTransfer(const TransferPlan &plan) {
  std::string noun = plan.isRead() ? "read" : "write";
  std::string text = "padded " + noun + " lowered to a ";
  if (!plan.buffer) {
    text += "masked " + noun;
    if (plan.mayBeNegative())
      text += ", which also masks elements at negative indices";
    if (!plan.bufferRejectionReason.empty())
      text += "; raw buffer not used: " + plan.bufferRejectionReason;
    if (!plan.cpAsyncRejectionReason.empty())
      text += "; cp.async not used: " + plan.cpAsyncRejectionReason;
    if (!plan.tmaRejectionReason.empty() &&
        plan.tmaRejectionReason != plan.cpAsyncRejectionReason)
      text += "; TMA not used: " + plan.tmaRejectionReason;
    return text;
  }
  text += "raw-buffer " + noun;
  switch (plan.buffer->kind) {
  case BufferedTransfer::Kind::Whole:
    text += plan.isRead() ? "; the hardware returns zeros out of bounds"
                          : "; the hardware drops out-of-bounds elements";
    break;
  case BufferedTransfer::Kind::Select:
    text += "; a select inserts the padding value";
    break;
  case BufferedTransfer::Kind::Rows:
    text += "; out-of-bounds elements get an offset past the end of the "
            "buffer, where the hardware drops them";
    break;
  }
  SmallVector<std::string> conditions;
  if (plan.buffer->checksEnd)
    conditions.push_back("the " + noun + " crosses the " +
                         (plan.mayBeNegative() ? "start or the " : "") +
                         "end of the buffer");
  if (plan.buffer->source.checksExtent)
    conditions.push_back("the memref exceeds the maximum size of a raw buffer");
  if (!conditions.empty())
    text += "; if " + llvm::join(conditions, " or ") +
            " at run time, a masked " + noun + " is used instead";
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

/// The number of elements from a transfer's index to the end of the memref.
static Value getRemainingElements(OpBuilder &builder, Location loc,
                                  VectorTransferOpInterface op, unsigned dim) {
  return arith::SubIOp::create(builder, loc,
                               getSize(builder, loc, op.getBase(), dim),
                               op.getIndices()[dim]);
}

/// The mask of lanes that are in bounds and not already masked off, with the
/// dimensions of the memref or of the vector.
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
    ends.push_back(
        !dim || dim->inBounds
            ? full.back()
            : clampCount(builder, loc,
                         getRemainingElements(builder, loc, op, dim->memref),
                         size));
  }
  VectorType maskType = VectorType::get(shape, builder.getI1Type());
  Value mask = vector::CreateMaskOp::create(builder, loc, maskType, ends);
  Value allTrue;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!dim || !dim->mayBeNegative)
      continue;
    // Lanes before the start of the memref.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value begin =
        arith::SubIOp::create(builder, loc, zero, op.getIndices()[dim->memref]);
    SmallVector<Value> bounds = full;
    bounds[i] = clampCount(builder, loc, begin, dim->size);
    Value before = vector::CreateMaskOp::create(builder, loc, maskType, bounds);
    if (!allTrue)
      allTrue = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(maskType, true));
    Value notBefore = arith::XOrIOp::create(builder, loc, before, allTrue);
    mask = arith::AndIOp::create(builder, loc, mask, notBefore);
  }
  // In the order of the memref, which is that of the vector if masks are kept.
  if (op.getMask())
    mask = arith::AndIOp::create(builder, loc, mask, op.getMask());
  return mask;
}

//===----------------------------------------------------------------------===//
// Masked transfers and transfers of buffers
//===----------------------------------------------------------------------===//

/// Recreates the transfer at other indices, with all unmasked lanes in bounds.
/// Returns the result of a read.
static Value createTransfer(OpBuilder &builder, const TransferPlan &plan,
                            Value memref, ValueRange indices, Value mask) {
  VectorTransferOpInterface op = plan.op;
  auto inside = builder.getBoolArrayAttr(
      SmallVector<bool>(op.getVectorType().getRank(), true));
  Operation *created;
  if (auto read = dyn_cast<vector::TransferReadOp>(*op)) {
    created = vector::TransferReadOp::create(
        builder, op.getLoc(), read.getVectorType(), memref, indices,
        read.getPermutationMapAttr(), read.getPadding(), mask, inside);
  } else {
    auto write = cast<vector::TransferWriteOp>(*op);
    created = vector::TransferWriteOp::create(
        builder, op.getLoc(), write.getVector(), memref, indices,
        write.getPermutationMapAttr(), mask, inside);
  }
  created->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return plan.isRead() ? created->getResult(0) : Value();
}

static Value createMasked(OpBuilder &builder, const TransferPlan &plan) {
  VectorTransferOpInterface op = plan.op;
  return createTransfer(builder, plan, op.getBase(), op.getIndices(),
                        createMask(builder, plan, /*ofVector=*/false));
}

/// Kind::Whole: clamps the index to the end, so that offsets do not wrap
/// around.
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

/// Kind::Rows. `end` is an index along the last dimension that is past the end
/// of the buffer for every row.
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
    count = getRemainingElements(builder, loc, plan.op, last.memref);
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
    // A row out of bounds starts past the end. Its other indices become 0,
    // since index times stride might overflow.
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
        Value isStored = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::slt, number, count);
        if (isInside)
          isStored = arith::AndIOp::create(nested, loc, isInside, isStored);
        Value index = arith::AddIOp::create(nested, loc, first, number);
        indices[last.memref] =
            arith::SelectOp::create(nested, loc, isStored, index, end);
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

/// i1: whether all lanes are inside the buffer.
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
  Value isNotBefore =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, first,
                            arith::ConstantIndexOp::create(builder, loc, 0));
  return arith::AndIOp::create(builder, loc, isInside, isNotBefore);
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
