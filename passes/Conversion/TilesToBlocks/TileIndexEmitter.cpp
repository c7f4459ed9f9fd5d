//===- TileIndexEmitter.cpp - Indexed accesses and atomics ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An indexed access becomes an access of a one-dimensional view of the memory
// with one linear index per element. Elements out of bounds are masked.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "smalti/passes/Analysis/Memory/MemorySize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace smalti;

/// Sets one layout for all vector operands and results of an op.
Operation *TileEmitter::inLayout(Operation *op, Attribute layout) {
  setLayouts(op,
             SmallVector<Attribute>(llvm::count_if(op->getOperands(), isVector),
                                    layout),
             SmallVector<Attribute>(llvm::count_if(op->getResults(), isVector),
                                    layout));
  return op;
}

Value TileEmitter::lookupLanes(Location loc, Value tileOrScalar,
                               const Lanes &lanes) {
  if (isTile(tileOrScalar))
    return lookupAs(loc, tileOrScalar, lanes.layout);
  return splatLanes(loc, mapping.lookup(tileOrScalar), lanes);
}

Value TileEmitter::splatLanes(Location loc, Value scalar, const Lanes &lanes) {
  auto type = VectorType::get(lanes.shape, scalar.getType());
  auto splat = vector::BroadcastOp::create(builder, loc, type, scalar);
  setLayouts(splat, {}, {splatLayout(type)});
  return splat;
}

/// A splat in the layout of the lanes. Element-wise ops do not need it.
Value TileEmitter::distributeLanes(Location loc, Value vector,
                                   const Lanes &lanes) {
  auto splat = vector.getDefiningOp<vector::BroadcastOp>();
  return splat
             ? castLayout(loc, splat, splatLayout(splat.getResultVectorType()),
                          lanes.layout)
             : vector;
}

Value TileEmitter::constantLanes(Location loc, int64_t value, Type element,
                                 const Lanes &lanes) {
  TypedAttr attr = element.isIndex() ? builder.getIndexAttr(value)
                                     : builder.getIntegerAttr(element, value);
  return splatLanes(loc, arith::ConstantOp::create(builder, loc, attr), lanes);
}

/// Sign-extends or truncates the integers of a vector.
Value TileEmitter::resizeLanes(Location loc, Value vector, Type element,
                               Attribute layout) {
  auto type = cast<VectorType>(vector.getType());
  Type from = type.getElementType();
  VectorType to = type.clone(element);
  if (from == element)
    return vector;
  Operation *op;
  if (from.isIndex() || element.isIndex())
    op = arith::IndexCastOp::create(builder, loc, to, vector);
  else if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    op = arith::ExtSIOp::create(builder, loc, to, vector);
  else
    op = arith::TruncIOp::create(builder, loc, to, vector);
  return inLayout(op, layout)->getResult(0);
}

/// Adds `index * stride` to the linear index, and to the mask whether the index
/// is below the extent.
void TileEmitter::addIndex(Location loc, LinearIndex &linear, Value index,
                           OpFoldResult stride, OpFoldResult extent,
                           const Lanes &lanes) {
  Type word = linear.word;
  Type from = getElementTypeOrSelf(index.getType());
  bool isWider = from.isIndex() ||
                 from.getIntOrFloatBitWidth() > word.getIntOrFloatBitWidth();
  Type compared = isWider ? builder.getI64Type() : word;
  index = resizeLanes(loc, index, compared, lanes.layout);
  // An unsigned comparison covers both ends.
  Value end = constantOrLanes(loc, extent, compared, lanes);
  Value inside =
      inLayout(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     index, end),
               lanes.layout)
          ->getResult(0);
  linear.mask =
      linear.mask
          ? inLayout(arith::AndIOp::create(builder, loc, linear.mask, inside),
                     lanes.layout)
                ->getResult(0)
          : inside;
  addTerm(loc, linear, resizeLanes(loc, index, word, lanes.layout), stride,
          lanes);
}

void TileEmitter::addTerm(Location loc, LinearIndex &linear, Value index,
                          OpFoldResult stride, const Lanes &lanes) {
  if (getConstantIntValue(stride) != 1)
    index = inLayout(arith::MulIOp::create(
                         builder, loc, index,
                         constantOrLanes(loc, stride, linear.word, lanes)),
                     lanes.layout)
                ->getResult(0);
  linear.index =
      linear.index
          ? inLayout(arith::AddIOp::create(builder, loc, linear.index, index),
                     lanes.layout)
                ->getResult(0)
          : index;
}

Value TileEmitter::constantOrLanes(Location loc, OpFoldResult value, Type word,
                                   const Lanes &lanes) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constantLanes(loc, *constant, word, lanes);
  Value scalar = cast<Value>(value);
  return splatLanes(loc, arith::IndexCastOp::create(builder, loc, word, scalar),
                    lanes);
}

/// The type of linear indices of a memref: 32 bits if they cannot overflow.
Type TileEmitter::getIndexWord(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  std::optional<int64_t> span;
  if (!isDynamic(type))
    span = getElementSpan(type);
  bool isSmall = span ? *span <= std::numeric_limits<int32_t>::max()
                      : isStatedSmall(cast<BlockArgument>(memref));
  return isSmall ? builder.getI32Type() : builder.getI64Type();
}

/// The distance in elements from the first element of an argument to the one
/// with the lowest address: 0 if no stride is negative.
OpFoldResult TileEmitter::lowestIndex(Location loc, Value memref) {
  OpFoldResult lowest = builder.getIndexAttr(0);
  // Strides of row-major arrays and of stated small arrays are not negative.
  // Negative static strides are values here.
  auto type = cast<MemRefType>(memref.getType());
  if (type.getLayout().isIdentity() ||
      (isDynamic(type) && isStatedSmall(cast<BlockArgument>(memref))))
    return lowest;
  AffineExpr total = getAffineDimExpr(0, builder.getContext()), extent, step;
  bindSymbols(builder.getContext(), extent, step);
  Value zero;
  for (auto [size, stride] :
       llvm::zip_equal(sizesOf(memref), stridesOf(memref))) {
    if (getConstantIntValue(stride))
      continue;
    if (!zero)
      zero = arith::ConstantIndexOp::create(builder, loc, 0);
    OpFoldResult reach = affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(0, 2, (extent - 1) * step),
        {size, stride});
    reach = arith::MinSIOp::create(builder, loc, index(loc, reach), zero)
                .getResult();
    lowest = affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(1, 1, total + extent), {lowest, reach});
  }
  return lowest;
}

/// A one-dimensional view of the memory of an argument, and the linear index of
/// each lane. The view begins at the lowest address, so indices are not
/// negative.
TileEmitter::LinearIndex TileEmitter::linearize(Location loc, Value memref,
                                                ValueRange indices, Value mask,
                                                const Lanes &lanes) {
  LinearIndex linear;
  Value base = mapping.lookup(memref);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> strides = stridesOf(memref),
                            sizes = sizesOf(memref);
  std::optional<int64_t> span;
  if (!isDynamic(type))
    span = getElementSpan(type);
  linear.word = getIndexWord(memref);
  if (mask)
    linear.mask = lookupLanes(loc, mask, lanes);
  for (auto [dim, index] : llvm::enumerate(indices))
    addIndex(loc, linear, lookupLanes(loc, index, lanes), strides[dim],
             sizes[dim], lanes);
  OpFoldResult lowest = lowestIndex(loc, memref);
  AffineExpr total = getAffineDimExpr(0, builder.getContext()), extent, step;
  bindSymbols(builder.getContext(), extent, step);
  if (getConstantIntValue(lowest) != 0)
    addTerm(loc, linear,
            constantOrLanes(loc,
                            affine::makeComposedFoldedAffineApply(
                                builder, loc, -total, {lowest}),
                            linear.word, lanes),
            builder.getIndexAttr(1), lanes);
  if (!linear.index)
    linear.index = constantLanes(loc, 0, linear.word, lanes);
  if (!linear.mask)
    linear.mask = constantLanes(loc, 1, builder.getI1Type(), lanes);
  OpFoldResult size = builder.getIndexAttr(span.value_or(1));
  if (!span) {
    // The distance from the lowest to the highest address, and 1.
    size = affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(1, 0, -2 * total + 1), {lowest});
    for (auto [count, stride] : llvm::zip_equal(sizes, strides))
      size = affine::makeComposedFoldedAffineApply(
          builder, loc, AffineMap::get(1, 2, total + (extent - 1) * step),
          {size, count, stride});
  }
  MemRefLayoutAttrInterface layout;
  if (getConstantIntValue(lowest) != 0)
    layout =
        StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1});
  linear.base = memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get({span.value_or(ShapedType::kDynamic)},
                      type.getElementType(), layout),
      base, lowest, {size}, {OpFoldResult(builder.getIndexAttr(1))});
  return linear;
}

/// The lanes of an op on tiles; a scalar is one lane, which all threads hold.
TileEmitter::Lanes TileEmitter::lanesOf(Value tileOrScalar) {
  if (isTile(tileOrScalar)) {
    return {cast<RankedTensorType>(tileOrScalar.getType()).getShape(),
            distributedLayout(tileOrScalar)};
  }
  static constexpr int64_t one[] = {1};
  return {one, chooseTileLayout(builder.getContext(), one, /*maxVector=*/1,
                                plan.block)};
}

void TileEmitter::emitGather(triton_xla::GatherOp op) {
  Location loc = op.getLoc();
  Lanes lanes = lanesOf(op.getResult());
  LinearIndex linear =
      linearize(loc, op.getSource(), op.getIndices(), op.getMask(), lanes);
  Value fill = arith::ConstantOp::create(builder, loc, op.getFillOrZero());
  mapping.map(op.getResult(),
              loadLanes(loc, linear, fill, lanes, isTile(op.getResult())));
}

/// Loads the lanes; a scalar is taken from its vector.
Value TileEmitter::loadLanes(Location loc, const LinearIndex &linear,
                             Value fill, const Lanes &lanes, bool isVector) {
  auto type = VectorType::get(lanes.shape, fill.getType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto gather = vector::GatherOp::create(builder, loc, type, linear.base, zero,
                                         linear.index, linear.mask,
                                         splatLanes(loc, fill, lanes));
  inLayout(gather, lanes.layout);
  return isVector ? gather.getResult()
                  : emitOnlyElement(loc, gather, lanes.layout);
}

void TileEmitter::emitGatherTile(triton_xla::GatherTileOp op) {
  Location loc = op.getLoc();
  Value tile = op.getTile();
  Lanes lanes = lanesOf(op.getResult());
  auto shape = cast<RankedTensorType>(tile.getType()).getShape();
  Attribute layout = distributedLayout(tile);
  Value buffer =
      storeToBuffer(loc, {{lookupAs(loc, tile, layout), layout, {}}}, shape);
  LinearIndex linear;
  linear.word = builder.getI32Type();
  int64_t stride = 1;
  for (int64_t dim = shape.size(); dim-- > 0; stride *= shape[dim]) {
    OpFoldResult step = builder.getIndexAttr(stride);
    if (dim == static_cast<int64_t>(op.getDim())) {
      addIndex(loc, linear, lookupLanes(loc, op.getIndices(), lanes), step,
               builder.getIndexAttr(shape[dim]), lanes);
      continue;
    }
    addTerm(loc, linear, iotaLanes(loc, dim, lanes), step, lanes);
  }
  linear.base = reshapeBuffer(loc, buffer, {stride});
  // Invalid lanes load the first element, since a masked load is a branch.
  Value isValid = linear.mask;
  linear.index = inLayout(arith::SelectOp::create(
                              builder, loc, isValid, linear.index,
                              constantLanes(loc, 0, linear.word, lanes)),
                          lanes.layout)
                     ->getResult(0);
  linear.mask = constantLanes(loc, 1, builder.getI1Type(), lanes);
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  Type element = getElementTypeOrSelf(op.getResult().getType());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
  Value loaded = convertForBuffer(
      loc, loadLanes(loc, linear, zero, lanes, /*isVector=*/true), element,
      lanes.layout);
  gpu::BarrierOp::create(builder, loc);
  Value fill = arith::ConstantOp::create(builder, loc, op.getFillOrZero());
  auto select = arith::SelectOp::create(builder, loc, isValid, loaded,
                                        splatLanes(loc, fill, lanes));
  mapping.map(op.getResult(), inLayout(select, lanes.layout)->getResult(0));
}

/// The threads of the block count in shared memory, with one atomic addition
/// per element. A tile has less than 2^31 elements, so that 32-bit counts
/// suffice.
void TileEmitter::emitHistogram(triton_xla::HistogramOp op) {
  Location loc = op.getLoc();
  Type word = builder.getI32Type();
  Attribute layout = plan.layoutOf(op.getResult());
  VectorType type = vectorOf(op.getResult().getType());
  Lanes bins = {type.getShape(), layout}, lanes = lanesOf(op.getTile());
  LinearIndex linear;
  linear.word = word;
  if (Value mask = op.getMask())
    linear.mask = lookupLanes(loc, mask, lanes);
  addIndex(loc, linear, lookupLanes(loc, op.getTile(), lanes),
           builder.getIndexAttr(1), builder.getIndexAttr(op.getBins()), lanes);
  auto distributed = [&](Value vector, const Lanes &to) {
    return distributeLanes(loc, vector, to);
  };
  Value counts = moveThroughMemory(
      loc, {{distributed(constantLanes(loc, 0, word, bins), bins), layout, {}}},
      type.getShape(),
      [&](Value buffer) {
        inLayout(mosaic_gpu::AtomicRMWOp::create(
                     builder, loc, /*old=*/Type(), arith::AtomicRMWKind::addi,
                     distributed(constantLanes(loc, 1, word, lanes), lanes),
                     buffer, distributed(linear.index, lanes),
                     distributed(linear.mask, lanes),
                     mosaic_gpu::AtomicScope::Block,
                     mosaic_gpu::AtomicOrdering::Relaxed),
                 lanes.layout);
        gpu::BarrierOp::create(builder, loc);
        return buffer;
      },
      type.clone(word), layout);
  if (type.getElementType() != word)
    counts =
        inLayout(arith::ExtUIOp::create(builder, loc, type, counts), layout)
            ->getResult(0);
  mapping.map(op.getResult(), counts);
}

Value TileEmitter::iotaLanes(Location loc, int64_t dim, const Lanes &lanes) {
  auto iota = mosaic_gpu::BroadcastedIotaOp::create(
      builder, loc, VectorType::get(lanes.shape, builder.getI32Type()), dim);
  setLayouts(iota, {}, {lanes.layout});
  return iota;
}

/// For each lane, how many other lanes whose row-major position compares with
/// its own by `predicate` have the same index. Masked lanes do not count, and
/// their results are 0.
Value TileEmitter::countEqual(Location loc, const LinearIndex &linear,
                              arith::CmpIPredicate predicate,
                              const Lanes &lanes) {
  int64_t count = 1;
  LinearIndex position;
  position.word = builder.getI32Type();
  for (int64_t dim = lanes.shape.size(); dim-- > 0; count *= lanes.shape[dim])
    addTerm(loc, position, iotaLanes(loc, dim, lanes),
            builder.getIndexAttr(count), lanes);
  auto emit = [&](auto created) {
    return inLayout(created, lanes.layout)->getResult(0);
  };
  // A masked lane has an index that does not occur.
  Value own =
      emit(arith::SelectOp::create(builder, loc, linear.mask, linear.index,
                                   constantLanes(loc, -1, linear.word, lanes)));
  Value buffer = reshapeBuffer(
      loc, storeToBuffer(loc, {{own, lanes.layout, {}}}, lanes.shape), {count});
  Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = arith::ConstantIndexOp::create(builder, loc, count);
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  Value none =
      distributeLanes(loc, constantLanes(loc, 0, position.word, lanes), lanes);
  auto loop = scf::ForOp::create(builder, loc, begin, end, step, none);
  setLayouts(loop, {lanes.layout}, {lanes.layout});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value other = splatLanes(
        loc,
        memref::LoadOp::create(builder, loc, buffer, loop.getInductionVar()),
        lanes);
    Value number =
        splatLanes(loc,
                   arith::IndexCastOp::create(builder, loc, position.word,
                                              loop.getInductionVar()),
                   lanes);
    Value isEqual = emit(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, own, other));
    Value isWanted = emit(
        arith::CmpIOp::create(builder, loc, predicate, number, position.index));
    Value counts = emit(arith::AndIOp::create(builder, loc, isEqual, isWanted));
    Value one = emit(arith::ExtUIOp::create(
        builder, loc, cast<VectorType>(none.getType()), counts));
    Value sum = emit(
        arith::AddIOp::create(builder, loc, loop.getRegionIterArg(0), one));
    auto yield = scf::YieldOp::create(builder, loc, sum);
    setLayouts(yield, {lanes.layout}, {});
  }
  gpu::BarrierOp::create(builder, loc);
  return emit(
      arith::SelectOp::create(builder, loc, linear.mask, loop.getResult(0),
                              constantLanes(loc, 0, position.word, lanes)));
}

/// Clears the mask of each lane whose value differs from `scalar`.
Value TileEmitter::maskUnequal(Location loc, Value mask, Value values,
                               Value scalar, const Lanes &lanes) {
  auto equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     values, splatLanes(loc, scalar, lanes));
  inLayout(equal, lanes.layout);
  return inLayout(arith::AndIOp::create(builder, loc, mask, equal),
                  lanes.layout)
      ->getResult(0);
}

static bool hasSeveralElements(Value tileOrScalar) {
  auto tile = dyn_cast<RankedTensorType>(tileOrScalar.getType());
  return tile && tile.getNumElements() > 1;
}

bool smalti::ordersElements(triton_xla::ScatterOp op) {
  return !op.getUnique() && hasSeveralElements(op.getTile());
}

bool smalti::ordersElements(triton_xla::AtomicRMWOp op) {
  if (!op.getDeterministic() || !hasSeveralElements(op.getValue()))
    return false;
  if (op.getKind() == arith::AtomicRMWKind::assign ||
      isa<FloatType>(getElementTypeOrSelf(op.getValue())))
    return true;
  // Every order of updates of integers has the same last value, but other
  // values before.
  return !op.getResult().use_empty();
}

void TileEmitter::emitScatter(triton_xla::ScatterOp op) {
  Location loc = op.getLoc();
  Lanes lanes = lanesOf(op.getTile());
  LinearIndex linear =
      linearize(loc, op.getDestination(), op.getIndices(), op.getMask(), lanes);
  // Only the last lane in row-major order is written.
  if (ordersElements(op)) {
    Value later = countEqual(loc, linear, arith::CmpIPredicate::sgt, lanes);
    Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
    linear.mask = maskUnequal(loc, linear.mask, later, none, lanes);
  }
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto scatter = vector::ScatterOp::create(
      builder, loc, /*resultType=*/Type(), linear.base, zero,
      distributeLanes(loc, linear.index, lanes),
      distributeLanes(loc, linear.mask, lanes),
      distributeLanes(loc, lookupLanes(loc, op.getTile(), lanes), lanes));
  inLayout(scatter, lanes.layout);
}

static mosaic_gpu::AtomicScope toBlockLevel(triton_xla::MemoryScope scope) {
  switch (scope) {
  case triton_xla::MemoryScope::CTA:
    return mosaic_gpu::AtomicScope::Block;
  case triton_xla::MemoryScope::GPU:
    return mosaic_gpu::AtomicScope::Device;
  case triton_xla::MemoryScope::System:
    return mosaic_gpu::AtomicScope::System;
  }
  llvm_unreachable("unknown scope");
}

static mosaic_gpu::AtomicOrdering
toBlockLevel(triton_xla::MemoryOrdering ordering) {
  switch (ordering) {
  case triton_xla::MemoryOrdering::Relaxed:
    return mosaic_gpu::AtomicOrdering::Relaxed;
  case triton_xla::MemoryOrdering::Acquire:
    return mosaic_gpu::AtomicOrdering::Acquire;
  case triton_xla::MemoryOrdering::Release:
    return mosaic_gpu::AtomicOrdering::Release;
  case triton_xla::MemoryOrdering::AcquireRelease:
    return mosaic_gpu::AtomicOrdering::AcqRel;
  }
  llvm_unreachable("unknown ordering");
}

/// The result of an atomic operation, as the tile-level value.
void TileEmitter::mapAtomicResult(Value result, Value old, const Lanes &lanes) {
  mapping.map(result,
              isTile(result)
                  ? castLayout(result.getLoc(), old, lanes.layout,
                               plan.layoutOf(result))
                  : emitOnlyElement(result.getLoc(), old, lanes.layout));
}

void TileEmitter::emitAtomicRMW(triton_xla::AtomicRMWOp op) {
  Location loc = op.getLoc();
  Lanes lanes = lanesOf(op.getValue());
  LinearIndex linear =
      linearize(loc, op.getDestination(), op.getIndices(), op.getMask(), lanes);
  Value value =
      distributeLanes(loc, lookupLanes(loc, op.getValue(), lanes), lanes);
  Value indices = distributeLanes(loc, linear.index, lanes);
  bool hasResult = !op.getResult().use_empty();
  auto update = [&](Value mask) {
    return inLayout(mosaic_gpu::AtomicRMWOp::create(
                        builder, loc, hasResult ? value.getType() : Type(),
                        op.getKind(), value, linear.base, indices, mask,
                        toBlockLevel(op.getScope()),
                        toBlockLevel(op.getOrdering())),
                    lanes.layout);
  };
  if (!ordersElements(op)) {
    Operation *atomic = update(distributeLanes(loc, linear.mask, lanes));
    if (hasResult)
      mapAtomicResult(op.getResult(), atomic->getResult(0), lanes);
    return;
  }

  // In round n, the lanes update that have n earlier lanes with their index. A
  // barrier orders the rounds.
  Value round = countEqual(loc, linear, arith::CmpIPredicate::slt, lanes);
  Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = emitLargest(loc, round, lanes.layout);
  Value end = arith::AddIOp::create(
      builder, loc,
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), last),
      step);
  SmallVector<Value> olds;
  SmallVector<Attribute> layouts;
  if (hasResult) {
    Value zero = arith::ConstantOp::create(
        builder, loc,
        builder.getZeroAttr(getElementTypeOrSelf(value.getType())));
    olds.push_back(distributeLanes(loc, splatLanes(loc, zero, lanes), lanes));
    layouts.push_back(lanes.layout);
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, step, olds);
  setLayouts(loop, layouts, layouts);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value number = arith::IndexCastOp::create(
        builder, loc, builder.getI32Type(), loop.getInductionVar());
    Value mask = maskUnequal(loc, linear.mask, round, number, lanes);
    Operation *atomic = update(mask);
    gpu::BarrierOp::create(builder, loc);
    if (hasResult) {
      auto select = arith::SelectOp::create(
          builder, loc, mask, atomic->getResult(0), loop.getRegionIterArg(0));
      inLayout(select, lanes.layout);
      auto yield = scf::YieldOp::create(builder, loc, select.getResult());
      setLayouts(yield, layouts, {});
    }
  }
  if (hasResult)
    mapAtomicResult(op.getResult(), loop.getResult(0), lanes);
}

void TileEmitter::emitAtomicCAS(triton_xla::AtomicCASOp op) {
  Location loc = op.getLoc();
  Lanes lanes = lanesOf(op.getDesired());
  LinearIndex linear =
      linearize(loc, op.getDestination(), op.getIndices(), op.getMask(), lanes);
  Value expected =
      distributeLanes(loc, lookupLanes(loc, op.getExpected(), lanes), lanes);
  Value desired =
      distributeLanes(loc, lookupLanes(loc, op.getDesired(), lanes), lanes);
  Type old = op.getResult().use_empty() ? Type() : desired.getType();
  auto atomic = mosaic_gpu::AtomicCASOp::create(
      builder, loc, old, expected, desired, linear.base,
      distributeLanes(loc, linear.index, lanes),
      distributeLanes(loc, linear.mask, lanes), toBlockLevel(op.getScope()),
      toBlockLevel(op.getOrdering()));
  inLayout(atomic, lanes.layout);
  if (old)
    mapAtomicResult(op.getResult(), atomic->getResult(0), lanes);
}
