//===- TileWindowEmitter.cpp - Emission of windows and masks --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Support/CacheHints.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;

/// Sets the hint of an extract or insert on an access at block level.
template <typename WindowOp>
static void setHint(WindowOp op, Operation *access) {
  Builder builder(access->getContext());
  if (std::optional<triton_xla::CacheModifier> cache = op.getCache())
    access->setAttr(
        kCacheHint,
        builder.getStringAttr(triton_xla::stringifyCacheModifier(*cache)));
  if (std::optional<triton_xla::EvictionPolicy> eviction = op.getEviction())
    access->setAttr(
        kCacheHint,
        builder.getStringAttr(triton_xla::stringifyEvictionPolicy(*eviction)));
}

TileEmitter::Transfer TileEmitter::createTransfer(Location loc,
                                                  const Window &window) {
  MLIRContext *context = builder.getContext();
  auto rank = static_cast<int64_t>(window.sizes.size());
  Transfer transfer;
  transfer.memref = mapping.lookup<Value>(window.memref);

  SmallVector<OpFoldResult> offsets = llvm::map_to_vector(
      window.offsets, [&](OpFoldResult o) { return mapped(o); });
  SmallVector<OpFoldResult> sizes = sizesOf(window.memref);

  // A window of stride s is a dense window of a view of every s-th element that
  // starts at the offset modulo s. `i * s + o` is in bounds if and only if
  // `i + o floordiv s` is in bounds in the view.
  // A padded window is one of a view that ends with the original window.
  if (window.padded.any() || llvm::any_of(window.strides, [](int64_t stride) {
        return stride != 1;
      })) {
    SmallVector<OpFoldResult> strides = stridesOf(window.memref);
    AffineExpr offset = getAffineDimExpr(0, context), extent, step;
    bindSymbols(context, extent, step);
    OpFoldResult start = builder.getIndexAttr(0);
    SmallVector<OpFoldResult> viewStrides;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t stride = window.strides[dim];
      auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
        return affine::makeComposedFoldedAffineApply(
            builder, loc, AffineMap::get(1, operands.size() - 1, expr),
            operands);
      };
      viewStrides.push_back(
          stride == 1 ? strides[dim] : apply(offset * stride, {strides[dim]}));
      if (stride == 1)
        continue;
      OpFoldResult phase = apply(offset % stride, {offsets[dim]});
      // If the stride divides the extent, all phases have equally many
      // elements.
      std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
      sizes[dim] =
          size && *size % stride == 0
              ? OpFoldResult(builder.getIndexAttr(*size / stride))
              : apply((extent - offset).ceilDiv(stride), {phase, sizes[dim]});
      offsets[dim] = apply(offset.floorDiv(stride), {offsets[dim]});
      AffineExpr total = offset + extent * step;
      start = affine::makeComposedFoldedAffineApply(
          builder, loc, AffineMap::get(1, 2, total),
          {start, phase, strides[dim]});
    }
    for (int64_t dim : window.padded.set_bits()) {
      AffineExpr end = offset + window.sizes[dim];
      sizes[dim] = affine::makeComposedFoldedAffineMin(
          builder, loc, AffineMap::get(1, 1, {end, extent}, context),
          {offsets[dim], sizes[dim]});
      sizes[dim] = affine::makeComposedFoldedAffineMax(
          builder, loc,
          AffineMap::get(1, 0, {offset, getAffineConstantExpr(0, context)},
                         context),
          {sizes[dim]});
    }
    transfer.memref = memref::ReinterpretCastOp::create(
        builder, loc, transfer.memref, start, sizes, viewStrides);
  }

  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[dim]),
                           extent = getConstantIntValue(sizes[dim]);
    // The end of a window may exceed 64 bits.
    bool inBounds = offset && extent && !window.padded[dim] && *offset >= 0 &&
                    window.sizes[dim] <= *extent &&
                    *offset <= *extent - window.sizes[dim];
    Value start = index(loc, offsets[dim]);
    if (!window.dropped.test(dim)) {
      kept.push_back(getAffineDimExpr(dim, context));
      transfer.inBounds.push_back(inBounds);
    } else if (!inBounds) {
      // A transfer checks only the dimensions of its vector.
      transfer.mayBeEmpty |= extent.value_or(0) == 0;
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value end = index(loc, sizes[dim]);
      // One unsigned comparison covers both ends.
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, start, end);
      start = arith::SelectOp::create(builder, loc, inside, start, zero);
      transfer.isInside =
          transfer.isInside
              ? arith::AndIOp::create(builder, loc, transfer.isInside, inside)
                    .getResult()
              : inside;
    }
    transfer.indices.push_back(start);
  }
  transfer.map = AffineMap::get(rank, 0, kept, context);
  return transfer;
}

void TileEmitter::emitExtract(triton_xla::ExtractOp op) {
  Location loc = op.getLoc();
  Window window = Window::of(op);
  if (plan.tensorCopies.contains(op))
    return; // Copied by TMA with the dot.
  if (plan.asyncCopies.contains(op)) {
    Value buffer = allocateOperand(loc, op.getTileType(), op, op.getTile());
    SmallVector<Value> indices = llvm::map_to_vector(
        window.offsets, [&](OpFoldResult o) { return index(loc, mapped(o)); });
    mosaic_gpu::AsyncCopyOp::create(
        builder, loc, mapping.lookup(op.getSource()), indices, buffer);
    copied[op.getTile()] = buffer;
    hasUncommittedCopies = true;
    return;
  }

  Transfer transfer = createTransfer(loc, window);
  Value fill = arith::ConstantOp::create(builder, loc, op.getFillOrZero());
  if (!isTile(op.getTile())) {
    auto load = [&](OpBuilder &nested) -> Value {
      auto load = memref::LoadOp::create(nested, loc, transfer.memref,
                                         transfer.indices);
      setHint(op, load);
      return load;
    };
    if (!transfer.isInside) {
      mapping.map(op.getTile(), load(builder));
      return;
    }
    auto guarded = scf::IfOp::create(
        builder, loc, transfer.isInside,
        [&](OpBuilder &nested, Location) {
          scf::YieldOp::create(nested, loc, load(nested));
        },
        [&](OpBuilder &nested, Location) {
          scf::YieldOp::create(nested, loc, fill);
        });
    mapping.map(op.getTile(), guarded.getResult(0));
    return;
  }
  Attribute layout = plan.layoutOf(op.getTile());
  VectorType type = vectorOf(op.getTileType());
  auto createRead = [&] {
    Attribute rows = getRowVectors(layout);
    auto read = vector::TransferReadOp::create(
        builder, loc, type, transfer.memref, transfer.indices, fill,
        transfer.map, ArrayRef<bool>(transfer.inBounds));
    setLayouts(read, {}, {rows});
    setHint(op, read);
    return castLayout(loc, read.getResult(), rows, layout);
  };
  if (!transfer.isInside) {
    mapping.map(op.getTile(), createRead());
    return;
  }
  auto createFill = [&] {
    auto splat = vector::BroadcastOp::create(builder, loc, type, fill);
    setLayouts(splat, {}, {splatLayout(type)});
    return splat.getResult();
  };
  if (!transfer.mayBeEmpty) {
    Value tile = createRead();
    auto select = arith::SelectOp::create(builder, loc, transfer.isInside, tile,
                                          createFill());
    setLayouts(select, {layout, layout}, {layout});
    mapping.map(op.getTile(), select.getResult());
    return;
  }
  // No element may be loaded from an empty memref.
  auto guarded = scf::IfOp::create(builder, loc, TypeRange{type},
                                   transfer.isInside, /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
  setLayouts(guarded, {}, {layout});
  auto emitBranch = [&](Block *block, auto create) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    Value value = create();
    auto yield = scf::YieldOp::create(builder, loc, value);
    setLayouts(yield, {layout}, {});
  };
  emitBranch(guarded.thenBlock(), createRead);
  emitBranch(guarded.elseBlock(), createFill);
  mapping.map(op.getTile(), guarded.getResult(0));
}

void TileEmitter::emitInsert(triton_xla::InsertOp op) {
  if (auto it = plan.tensorStores.find(op); it != plan.tensorStores.end())
    return emitTensorStore(op, it->second);
  Location loc = op.getLoc();
  Transfer transfer = createTransfer(loc, Window::of(op));
  OpBuilder::InsertionGuard guard(builder);
  if (transfer.isInside) {
    auto guarded = scf::IfOp::create(builder, loc, transfer.isInside,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  if (!isTile(op.getTile()))
    return setHint(op, emitScalarStore(loc, mapping.lookup(op.getTile()),
                                       transfer.memref, transfer.indices));
  Attribute layout = storageLayout(op.getTile()), rows = getRowVectors(layout);
  auto write = vector::TransferWriteOp::create(
      builder, loc, castLayout(loc, mapping.lookup(op.getTile()), layout, rows),
      transfer.memref, transfer.indices, transfer.map,
      ArrayRef<bool>(transfer.inBounds));
  setLayouts(write, {rows}, {});
  setHint(op, write);
}

void TileEmitter::emitStore(memref::StoreOp op) {
  SmallVector<Value> indices = llvm::map_to_vector(
      op.getIndices(), [&](Value index) { return mapping.lookup(index); });
  emitScalarStore(op.getLoc(), mapping.lookup(op.getValue()),
                  mapping.lookup(op.getMemRef()), indices);
}

/// Stores a scalar that all threads have by one of them: a vector with one
/// element, whose layout replicates it.
Operation *TileEmitter::emitScalarStore(Location loc, Value scalar,
                                        Value memref, ValueRange indices) {
  auto type = VectorType::get({1}, scalar.getType());
  auto splat = vector::BroadcastOp::create(builder, loc, type, scalar);
  setLayouts(splat, {}, {splatLayout(type)});
  SmallVector<Value> start(indices);
  auto memrefType = cast<MemRefType>(memref.getType());
  if (memrefType.getRank() == 0) {
    memref = memref::ReinterpretCastOp::create(
        builder, loc, MemRefType::get({1}, memrefType.getElementType()), memref,
        /*offset=*/0, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
    start.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  }
  auto map =
      AffineMap::getMinorIdentityMap(start.size(), 1, builder.getContext());
  auto write = vector::TransferWriteOp::create(
      builder, loc, splat, memref, start, map, ArrayRef<bool>{true});
  setLayouts(write,
             {chooseTileLayout(builder.getContext(), {1}, /*maxVector=*/1,
                               plan.block)},
             {});
  return write;
}

Attribute TileEmitter::storageLayout(Value tile) {
  if (!isSplat(tile))
    return plan.layoutOf(tile);
  auto type = cast<RankedTensorType>(tile.getType());
  return chooseTileLayout(builder.getContext(), type.getShape(),
                          /*maxVector=*/1, plan.block);
}

void TileEmitter::emitMask(triton_xla::MaskOp op) {
  Location loc = op.getLoc();
  if (!isTile(op.getResult())) {
    mapping.map(op.getResult(), mapping.lookup(op.getTile()));
    return;
  }
  Attribute layout = plan.layoutOf(op.getResult());
  VectorType type = vectorOf(op.getTile().getType());
  SmallVector<Value> bounds;
  for (OpFoldResult bound : op.getMixedBounds())
    bounds.push_back(index(loc, mapped(bound)));
  auto mask = vector::CreateMaskOp::create(
      builder, loc, type.clone(builder.getI1Type()), bounds);
  setLayouts(mask, {}, {layout});
  auto other = vector::BroadcastOp::create(builder, loc, type,
                                           mapping.lookup(op.getValue()));
  setLayouts(other, {}, {splatLayout(type)});
  auto select = arith::SelectOp::create(builder, loc, mask,
                                        mapping.lookup(op.getTile()), other);
  setLayouts(select, {layout, layout, layout}, {layout});
  mapping.map(op.getResult(), select.getResult());
}
