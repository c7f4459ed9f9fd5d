//===- TileOpsToLinalg.cpp - Tile-level ops to linalg and tensor ops ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

static Value createEmpty(OpBuilder &builder, Location loc,
                         RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

/// An element-wise op with the result `type`.
static Value createGeneric(
    OpBuilder &builder, Location loc, RankedTensorType type, ValueRange inputs,
    ArrayRef<AffineMap> inputMaps,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value empty = createEmpty(builder, loc, type);
  return linalg::GenericOp::create(
             builder, loc, type, inputs, empty, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(b, loc, body(b, loc, arguments));
             })
      .getResult(0);
}

static Value lowerMask(OpBuilder &builder, MaskOp op) {
  RankedTensorType type = op.getTile().getType();
  SmallVector<std::pair<int64_t, Value>> bounds;
  for (auto [dim, bound] : llvm::enumerate(op.getMixedBounds())) {
    if (getConstantIntValue(bound) != type.getDimSize(dim))
      bounds.emplace_back(
          dim, getValueOrCreateConstantIndexOp(builder, op.getLoc(), bound));
  }
  return createGeneric(
      builder, op.getLoc(), type, op.getTile(),
      builder.getMultiDimIdentityMap(type.getRank()),
      [&](OpBuilder &b, Location loc, ValueRange arguments) -> Value {
        Value kept;
        for (auto [dim, bound] : bounds) {
          Value index = linalg::IndexOp::create(b, loc, dim);
          Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                              index, bound);
          kept = kept ? arith::AndIOp::create(b, loc, kept, below).getResult()
                      : below;
        }
        if (!kept)
          return arguments[0];
        return arith::SelectOp::create(b, loc, kept, arguments[0],
                                       op.getValue());
      });
}

/// Converts the elements of a tile with a cast op.
template <class CastOp>
static Value convert(OpBuilder &builder, Location loc, Value tile,
                     Type element) {
  auto type = cast<RankedTensorType>(tile.getType()).clone(element);
  return createGeneric(builder, loc, type, tile,
                       builder.getMultiDimIdentityMap(type.getRank()),
                       [&](OpBuilder &b, Location loc, ValueRange arguments) {
                         return CastOp::create(b, loc, element, arguments[0]);
                       });
}

static Value lowerDot(OpBuilder &builder, DotOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getResult().getType();
  bool isHalf = type.getElementType().isF16();
  bool isMixed = op.getLhs().getType().getElementType() !=
                 op.getRhs().getType().getElementType();
  // linalg extends both operands in the same way.
  auto extend = [&](Value tile, bool isUnsigned) -> Value {
    if (isMixed)
      return convert<arith::ExtFOp>(builder, loc, tile, builder.getF32Type());
    if (!op.getUnsignedLhs() && !op.getUnsignedRhs())
      return tile;
    Type i32 = builder.getI32Type();
    return isUnsigned ? convert<arith::ExtUIOp>(builder, loc, tile, i32)
                      : convert<arith::ExtSIOp>(builder, loc, tile, i32);
  };
  SmallVector<Value> operands = {extend(op.getLhs(), op.getUnsignedLhs()),
                                 extend(op.getRhs(), op.getUnsignedRhs())};
  Value accumulator =
      isHalf ? convert<arith::ExtFOp>(builder, loc, op.getAccumulator(),
                                      builder.getF32Type())
             : Value(op.getAccumulator());
  Value result =
      type.getRank() == 3
          ? linalg::BatchMatmulOp::create(builder, loc, accumulator.getType(),
                                          operands, accumulator)
                .getResult(0)
          : linalg::MatmulOp::create(builder, loc, accumulator.getType(),
                                     operands, accumulator)
                .getResult(0);
  return isHalf ? convert<arith::TruncFOp>(builder, loc, result,
                                           builder.getF16Type())
                : result;
}

static Value lowerBroadcast(OpBuilder &builder, BroadcastOp op) {
  RankedTensorType tile = op.getTile().getType(),
                   result = op.getResult().getType();
  SmallVector<AffineExpr> positions;
  for (auto [size, dim] : llvm::zip_equal(tile.getShape(), op.getDims()))
    positions.push_back(size == result.getDimSize(dim)
                            ? builder.getAffineDimExpr(dim)
                            : builder.getAffineConstantExpr(0));
  auto map =
      AffineMap::get(result.getRank(), 0, positions, builder.getContext());
  return createGeneric(
      builder, op.getLoc(), result, op.getTile(), map,
      [](OpBuilder &, Location, ValueRange arguments) { return arguments[0]; });
}

static Value lowerTranspose(OpBuilder &builder, TransposeOp op) {
  // A named op is not fused: a loop over the transposed tile would not be
  // vectorized.
  Value empty = createEmpty(builder, op.getLoc(), op.getResult().getType());
  return linalg::TransposeOp::create(builder, op.getLoc(), op.getTile(), empty,
                                     op.getPermutation())
      .getResult()[0];
}

static Value lowerReshape(OpBuilder &builder, Location loc,
                          TypedValue<RankedTensorType> tile,
                          RankedTensorType result) {
  auto getAll = [](int64_t rank) {
    SmallVector<ReassociationIndices> all;
    if (rank != 0)
      all.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    return all;
  };
  RankedTensorType type = tile.getType();
  auto flat =
      RankedTensorType::get(type.getNumElements(), type.getElementType());
  Value value = tile;
  if (type.getRank() == 0)
    value = tensor::ExpandShapeOp::create(builder, loc, flat, value, getAll(0));
  else if (type.getRank() > 1)
    value = tensor::CollapseShapeOp::create(builder, loc, flat, value,
                                            getAll(type.getRank()));
  if (result.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, result, value,
                                           getAll(0));
  if (result.getRank() > 1)
    return tensor::ExpandShapeOp::create(builder, loc, result, value,
                                         getAll(result.getRank()));
  return value;
}

static Value lowerIota(OpBuilder &builder, IotaOp op) {
  RankedTensorType type = op.getResult().getType();
  Type element = type.getElementType();
  return createGeneric(
      builder, op.getLoc(), type, {}, {},
      [&](OpBuilder &b, Location loc, ValueRange) -> Value {
        Value index = linalg::IndexOp::create(b, loc, op.getDim());
        if (element.isIndex())
          return index;
        if (isa<IntegerType>(element))
          return arith::IndexCastOp::create(b, loc, element, index);
        // An index has 31 bits, and less if the element has at most 16 bits and
        // is not a bf16, so that the wide float is exact or not narrowed.
        index = arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
        Type wide = element.isF64() || element.isBF16() ? Type(b.getF64Type())
                                                        : b.getF32Type();
        Value number = arith::SIToFPOp::create(b, loc, wide, index);
        return wide == element
                   ? number
                   : arith::TruncFOp::create(b, loc, element, number);
      });
}

static Value lowerConcat(OpBuilder &builder, ConcatOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getResult().getType();
  Value result = createEmpty(builder, loc, type);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  int64_t offset = 0;
  for (Value tile : op.getTiles()) {
    auto part = cast<RankedTensorType>(tile.getType());
    offsets[op.getDim()] = builder.getIndexAttr(offset);
    result = tensor::InsertSliceOp::create(
        builder, loc, tile, result, offsets,
        getAsIndexOpFoldResult(builder.getContext(), part.getShape()), strides);
    offset += part.getDimSize(op.getDim());
  }
  return result;
}

static Value createSlice(OpBuilder &builder, Location loc, Value tile,
                         RankedTensorType result, ArrayRef<int64_t> offsets,
                         ArrayRef<int64_t> strides) {
  MLIRContext *context = builder.getContext();
  return tensor::ExtractSliceOp::create(
      builder, loc, result, tile, getAsIndexOpFoldResult(context, offsets),
      getAsIndexOpFoldResult(context, result.getShape()),
      getAsIndexOpFoldResult(context, strides));
}

static SmallVector<Value> lowerSplit(OpBuilder &builder, SplitOp op) {
  auto part = cast<RankedTensorType>(op.getParts().front().getType());
  SmallVector<int64_t> offsets(part.getRank(), 0), strides(part.getRank(), 1);
  SmallVector<Value> parts;
  for (size_t count = op.getParts().size(); parts.size() < count;
       offsets[op.getDim()] += part.getDimSize(op.getDim()))
    parts.push_back(createSlice(builder, op.getLoc(), op.getTile(), part,
                                offsets, strides));
  return parts;
}

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
/// 3", 2011).
static SmallVector<Value> computePhilox(OpBuilder &builder, Location loc,
                                        SmallVector<Value> counter,
                                        SmallVector<Value> key) {
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getI32Type(), APInt(32, value)));
  };
  while (counter.size() < 4)
    counter.push_back(constant(0));
  constexpr uint32_t factors[] = {0xD2511F53, 0xCD9E8D57},
                     steps[] = {0x9E3779B9, 0xBB67AE85};
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    auto even = arith::MulUIExtendedOp::create(builder, loc, counter[0],
                                               constant(factors[0]));
    auto odd = arith::MulUIExtendedOp::create(builder, loc, counter[2],
                                              constant(factors[1]));
    auto mix = [&](Value x, Value y, Value z) -> Value {
      return arith::XOrIOp::create(
          builder, loc, arith::XOrIOp::create(builder, loc, x, y), z);
    };
    counter = {mix(odd.getHigh(), counter[1], key[0]), odd.getLow(),
               mix(even.getHigh(), counter[3], key[1]), even.getLow()};
    for (auto [word, step] : llvm::zip_equal(key, steps))
      word = arith::AddIOp::create(builder, loc, word, constant(step));
  }
  return counter;
}

static SmallVector<Value> lowerRandomBits(OpBuilder &builder, RandomBitsOp op) {
  auto type = cast<RankedTensorType>(op.getWord0().getType());
  SmallVector<Value> empty;
  for (size_t word = 0; word < op->getNumResults(); ++word)
    empty.push_back(createEmpty(builder, op.getLoc(), type));
  SmallVector<AffineMap> maps(op.getCounters().size() + empty.size(),
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, op.getLoc(), op->getResultTypes(), op.getCounters(),
             empty, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(
                   b, loc,
                   computePhilox(b, loc,
                                 arguments.take_front(op.getCounters().size()),
                                 {op.getKey0(), op.getKey1()}));
             })
      .getResults();
}

bool smalti::isTensorTileOp(Operation *op) {
  return isa<MaskOp, DotOp, BroadcastOp, TransposeOp, ReshapeOp, SqueezeDimsOp,
             IotaOp, ConcatOp, SliceOp, SplitOp, RandomBitsOp>(op);
}

void smalti::lowerTensorTileOps(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    SmallVector<Value> results =
        llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
            .Case([&](MaskOp op) -> SmallVector<Value> {
              return {lowerMask(rewriter, op)};
            })
            .Case([&](DotOp op) -> SmallVector<Value> {
              return {lowerDot(rewriter, op)};
            })
            .Case([&](BroadcastOp op) -> SmallVector<Value> {
              return {lowerBroadcast(rewriter, op)};
            })
            .Case([&](TransposeOp op) -> SmallVector<Value> {
              return {lowerTranspose(rewriter, op)};
            })
            .Case<ReshapeOp, SqueezeDimsOp>([&](auto op) -> SmallVector<Value> {
              return {lowerReshape(rewriter, op.getLoc(), op.getTile(),
                                   op.getResult().getType())};
            })
            .Case([&](IotaOp op) -> SmallVector<Value> {
              return {lowerIota(rewriter, op)};
            })
            .Case([&](ConcatOp op) -> SmallVector<Value> {
              return {lowerConcat(rewriter, op)};
            })
            .Case([&](SliceOp op) -> SmallVector<Value> {
              return {createSlice(rewriter, op.getLoc(), op.getTile(),
                                  op.getResult().getType(), op.getOffsets(),
                                  op.getStrides())};
            })
            .Case([&](SplitOp op) { return lowerSplit(rewriter, op); })
            .Case(
                [&](RandomBitsOp op) { return lowerRandomBits(rewriter, op); })
            .Default([](Operation *) { return SmallVector<Value>(); });
    if (!results.empty())
      rewriter.replaceOp(op, results);
  }
}
