//===- WgmmaEmitter.cpp - Emission of wgmma and TMA -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "smalti/passes/Interfaces/SynchronousWgmma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;

//===----------------------------------------------------------------------===//
// Mbarrier phases
//===----------------------------------------------------------------------===//

SmallVector<Operation *> TileEmitter::wgmmaIn(Operation *op) const {
  SmallVector<Operation *> dots;
  if (!plan.wgmmaDots.empty())
    op->walk([&](triton_xla::DotOp dot) {
      const auto *it = plan.wgmmaDots.find(dot);
      if (it != plan.wgmmaDots.end() && it->second.getBytes() != 0)
        dots.push_back(dot);
    });
  return dots;
}

SmallVector<Value> TileEmitter::phasesOf(ArrayRef<Operation *> dots) const {
  return llvm::map_to_vector(
      dots, [&](Operation *dot) { return phases.lookup(dot); });
}

void TileEmitter::setPhases(ArrayRef<Operation *> dots, ValueRange values) {
  for (auto [dot, value] : llvm::zip_equal(dots, values))
    phases[dot] = value;
}

/// Creates an mbarrier for each wgmma dot and initializes it once.
void TileEmitter::emitWarpgroupBarriers() {
  if (plan.tensorCopies.empty())
    return;
  MLIRContext *context = builder.getContext();
  Location loc = func.getLoc();
  auto type = mosaic_gpu::BarrierType::get(context, false);
  auto pointerType = LLVM::LLVMPointerType::get(
      context, static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  Value before = arith::ConstantIntOp::create(builder, loc, 0, 1);
  for (Operation *op : wgmmaIn(func)) {
    Location dotLoc = op->getLoc();
    Value barrier = allocateBuffer(dotLoc, {}, type);
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(
        builder, dotLoc, barrier);
    Value number = arith::IndexCastOp::create(builder, dotLoc,
                                              builder.getI64Type(), address);
    Value pointer =
        LLVM::IntToPtrOp::create(builder, dotLoc, pointerType, number);
    mosaic_gpu::InitializeBarrierOp::create(builder, dotLoc, pointer,
                                            /*arrival_count=*/1,
                                            /*num_barriers=*/1);
    barriers[op] = barrier;
    phases[op] = before;
  }
  NVVM::FenceMbarrierInitOp::create(builder, loc);
  gpu::BarrierOp::create(builder, loc);
}

//===----------------------------------------------------------------------===//
// TMA loads
//===----------------------------------------------------------------------===//

TileEmitter::TensorBuffer
TileEmitter::allocateTensorBuffer(Location loc, const TensorWindow &window) {
  MLIRContext *context = builder.getContext();
  Value memory = allocateBuffer(loc, window.getShape(), window.getElementType(),
                                window.getAlignment());
  auto swizzle = mosaic_gpu::SwizzleTransformAttr::get(
      context, builder.getI32IntegerAttr(window.swizzleBytes));
  SmallVector<int64_t> tiling = window.getTiling();
  auto transforms = [&](ArrayRef<int64_t> tile) {
    SmallVector<Attribute> both = {
        mosaic_gpu::TileTransformAttr::get(context, tile), swizzle};
    return builder.getArrayAttr(both);
  };
  TensorBuffer buffer;
  buffer.memory = memory;
  buffer.transforms = transforms(tiling);
  // Views have the transforms of the buffer.
  lastBuffer->setAttr(mosaic_gpu::kOutTransforms,
                      builder.getArrayAttr({buffer.transforms}));
  std::swap(tiling[0], tiling[1]);
  buffer.transposedTransforms = transforms(tiling);
  return buffer;
}

/// The operand of a wgmma in a buffer, and its transforms.
std::pair<Value, ArrayAttr>
TileEmitter::getOperand(Location loc, const TensorWindow &window,
                        const TensorBuffer &buffer) {
  if (!window.isTransposed)
    return {buffer.memory, buffer.transforms};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(lastBuffer);
  AffineMap swap = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0},
                                                builder.getContext());
  lastBuffer = memref::TransposeOp::create(builder, loc, buffer.memory,
                                           AffineMapAttr::get(swap));
  return {lastBuffer->getResult(0), buffer.transposedTransforms};
}

/// Stores a tile from outside the loop of a dot once, after its definition.
TileEmitter::TensorBuffer
TileEmitter::storeInvariantTile(Location loc, const TensorWindow &window) {
  Value tile = window.stored;
  TensorBuffer &buffer = invariantTiles[tile];
  if (buffer.memory)
    return buffer;
  buffer = allocateTensorBuffer(loc, window);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(mapping.lookup(tile));
  // The dots of the previous iteration have read the buffer.
  Block *block = tile.getParentBlock();
  if (plan.persistentBlocks != 0 || block->getParentOp() != func.getOperation())
    gpu::BarrierOp::create(builder, loc);
  auto store = mosaic_gpu::VectorStoreOp::create(
      builder, loc, mapping.lookup(tile), buffer.memory,
      /*optimized=*/BoolAttr(),
      /*atomic_type=*/mosaic_gpu::AtomicOpTypeAttr());
  setLayouts(store, {storageLayout(tile)}, {});
  store->setAttr(mosaic_gpu::kInTransforms,
                 builder.getArrayAttr({buffer.transforms}));
  emitProxyFence(loc);
  return buffer;
}

/// Makes the writes of all threads to shared memory visible to wgmma and TMA.
void TileEmitter::emitProxyFence(Location loc) {
  NVVM::FenceProxyOp::create(
      builder, loc,
      NVVM::ProxyKindAttr::get(builder.getContext(),
                               NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  gpu::BarrierOp::create(builder, loc);
}

void TileEmitter::transposeInShared(Location loc, const TensorWindow &window,
                                    const TensorBuffer &from,
                                    const TensorBuffer &to) {
  constexpr int64_t swapped[] = {1, 0};
  ArrayRef<int64_t> shape = window.getShape();
  Attribute layout = mosaic_gpu::TiledLayoutAttr::get(
      builder.getContext(), window.getTransposeLayout(plan.block.numWarps));
  auto load = mosaic_gpu::VectorLoadOp::create(
      builder, loc, VectorType::get(shape, window.getElementType()),
      from.memory, /*optimized=*/builder.getBoolAttr(false));
  setLayouts(load, {}, {layout});
  load->setAttr(mosaic_gpu::kInTransforms,
                builder.getArrayAttr({from.transforms}));
  auto transpose = vector::TransposeOp::create(
      builder, loc,
      VectorType::get({shape[1], shape[0]}, window.getElementType()), load,
      swapped);
  Attribute result = getTransposedLayout(layout, shape, swapped);
  setLayouts(transpose, {layout}, {result});
  auto store = mosaic_gpu::VectorStoreOp::create(
      builder, loc, transpose, to.memory,
      /*optimized=*/builder.getBoolAttr(false),
      /*atomic_type=*/mosaic_gpu::AtomicOpTypeAttr());
  setLayouts(store, {result}, {});
  store->setAttr(mosaic_gpu::kInTransforms,
                 builder.getArrayAttr({to.transforms}));
}

/// The offset as a TMA coordinate. An offset beyond the limit is out of bounds
/// before and after clamping.
Value TileEmitter::coordinate(Location loc, OpFoldResult offset) {
  std::optional<SignedRange> range = ranges.get(offset);
  Value value = index(loc, mapped(offset));
  if (!range || !range->isWithin(-kMaxCoordinate, kMaxCoordinate)) {
    value = arith::MinSIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, kMaxCoordinate));
    value = arith::MaxSIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, -kMaxCoordinate));
  }
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), value);
}

SmallVector<Value> TileEmitter::coordinates(Location loc,
                                            const TensorWindow &window) {
  SmallVector<Value> indices =
      llvm::map_to_vector(window.window.offsets, [&](OpFoldResult offset) {
        return coordinate(loc, offset);
      });
  // The map of an empty array has one element per dimension, which must not be
  // accessed.
  for (auto [coordinate, size] :
       llvm::zip_equal(indices, sizesOf(window.window.memref))) {
    if (getConstantIntValue(size))
      continue;
    Value isEmpty = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, cast<Value>(size),
        arith::ConstantIndexOp::create(builder, loc, 0));
    Value outside =
        arith::ConstantIntOp::create(builder, loc, kMaxCoordinate, 32);
    coordinate =
        arith::SelectOp::create(builder, loc, isEmpty, outside, coordinate);
  }
  return indices;
}

void TileEmitter::emitTensorLoad(Location loc, const TensorWindow &window,
                                 const TensorBuffer &buffer, Value barrier) {
  SmallVector<Value> indices = coordinates(loc, window);
  SmallVector<int64_t> lengths;
  for (auto [dim, size] : llvm::enumerate(window.window.sizes))
    lengths.push_back(window.window.dropped.test(dim) ? -1 : size);
  auto load = mosaic_gpu::AsyncLoadOp::create(
      builder, loc, mapping.lookup(window.window.memref), buffer.memory,
      barrier, indices,
      /*predicate=*/Value(), /*gmem_peer_id=*/Value(), lengths,
      /*collective=*/builder.getArrayAttr({}), /*leader_tracked=*/Attribute());
  load->setAttr(mosaic_gpu::kInTransforms,
                builder.getArrayAttr({buffer.transforms}));
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

void TileEmitter::emitWgmmaDot(const WgmmaDot &dot) {
  triton_xla::DotOp op = dot.dot;
  Location loc = op.getLoc();
  auto getBuffer = [&](Value operand, const TensorWindow &window) {
    return window.stored ? storeInvariantTile(operand.getLoc(), window)
                         : allocateTensorBuffer(operand.getLoc(), window);
  };
  TensorBuffer lhs;
  if (dot.lhs)
    lhs = getBuffer(op.getLhs(), *dot.lhs);
  TensorBuffer rhs = getBuffer(op.getRhs(), dot.rhs);
  if (int64_t bytes = dot.getBytes()) {
    Value barrier = barriers.lookup(op);
    mosaic_gpu::ArriveExpectTxOp::create(builder, loc, barrier,
                                         /*dynamic_expect_tx=*/Value(),
                                         builder.getI32IntegerAttr(bytes));
    if (dot.copiesLhs())
      emitTensorLoad(op.getLhs().getLoc(), *dot.lhs, lhs, barrier);
    if (dot.copiesRhs())
      emitTensorLoad(op.getRhs().getLoc(), dot.rhs, rhs, barrier);
    Value phase = phases.lookup(op);
    mosaic_gpu::WaitOp::create(builder, loc, barrier, phase);
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
    phases[op] = arith::XOrIOp::create(builder, loc, phase, one);
  }
  // The windows and buffers that wgmma reads.
  std::optional<TensorWindow> lhsWindow = dot.lhs;
  TensorWindow rhsWindow = dot.rhs;
  auto transpose = [&](TensorWindow &window, TensorBuffer &buffer) {
    TensorWindow own = window.getTranspose();
    TensorBuffer to = allocateTensorBuffer(loc, own);
    transposeInShared(loc, window, buffer, to);
    window = own;
    buffer = to;
  };
  bool transposesLhs = dot.lhs && dot.lhs->transposeSwizzleBytes != 0,
       transposesRhs = dot.rhs.transposeSwizzleBytes != 0;
  if (transposesLhs)
    transpose(*lhsWindow, lhs);
  if (transposesRhs)
    transpose(rhsWindow, rhs);
  if (transposesLhs || transposesRhs)
    emitProxyFence(loc);

  Attribute layout = mosaic_gpu::TiledLayoutAttr::get(
      builder.getContext(), getWarpgroupAccumulator(plan.block.numWarps / 4));
  // A splat changes its layout implicitly.
  Value accumulator = isSplat(op.getAccumulator())
                          ? mapping.lookup(op.getAccumulator())
                          : lookupAs(loc, op.getAccumulator(), layout);
  Value a;
  ArrayAttr aTransforms;
  if (dot.lhs)
    std::tie(a, aTransforms) =
        getOperand(op.getLhs().getLoc(), *lhsWindow, lhs);
  else
    a = lookupAs(loc, op.getLhs(), layout);
  auto [b, bTransforms] = getOperand(op.getRhs().getLoc(), rhsWindow, rhs);
  auto wgmma = mosaic_gpu::WGMMAOp::create(builder, loc, accumulator.getType(),
                                           accumulator, a, b);
  wgmma.setUnsignedA(op.getUnsignedLhs());
  wgmma.setUnsignedB(op.getUnsignedRhs());
  wgmma->setAttr(kSynchronousWgmma, builder.getUnitAttr());
  SmallVector<Attribute> layouts = {layout}, transforms;
  if (dot.lhs)
    transforms.push_back(aTransforms);
  else
    layouts.push_back(layout);
  transforms.push_back(bTransforms);
  setLayouts(wgmma, layouts, {layout});
  wgmma->setAttr(mosaic_gpu::kInTransforms, builder.getArrayAttr(transforms));
  // The next iteration overwrites the operands.
  if (plan.persistentBlocks != 0 || op->getParentOfType<LoopLikeOpInterface>())
    gpu::BarrierOp::create(builder, loc);
  mapping.map(op.getResult(), castLayout(loc, wgmma.getResult(), layout,
                                         plan.layoutOf(op.getResult())));
}

//===----------------------------------------------------------------------===//
// TMA stores
//===----------------------------------------------------------------------===//

/// Stores the tile in pieces through two alternating buffers, so that one is
/// written while TMA reads the other.
void TileEmitter::emitTensorStore(triton_xla::InsertOp op,
                                  const TensorWindow &window) {
  Location loc = op.getLoc();
  auto tile = cast<RankedTensorType>(op.getTile().getType());
  int64_t rows = tile.getDimSize(0), width = window.getTiling()[1];
  int64_t pieces = tile.getDimSize(1) / width;
  TensorWindow piece = window;
  piece.window.tile = tile.clone({rows, width});
  SmallVector<TensorBuffer> buffers;
  for (int64_t i = 0, count = countTMAStoreBuffers(window); i < count; ++i)
    buffers.push_back(allocateTensorBuffer(loc, piece));

  SmallVector<Value> indices = coordinates(loc, window);
  SmallVector<int64_t> lengths;
  size_t columnDim = 0;
  for (auto [dim, size] : llvm::enumerate(window.window.sizes)) {
    bool isDropped = window.window.dropped.test(dim);
    lengths.push_back(isDropped ? -1 : size);
    if (!isDropped)
      columnDim = dim;
  }
  lengths[columnDim] = width;
  Attribute layout = plan.layoutOf(op.getTile());
  Value vector = mapping.lookup(op.getTile());
  Value column = indices[columnDim];
  for (int64_t i = 0; i < pieces; ++i) {
    // Wait until the previous TMA store has read this buffer: the issuing
    // thread waits, and the barrier makes the others wait for it.
    bool isUsedAgain = i >= 2 || (i == 0 && plan.persistentBlocks != 0);
    if (isUsedAgain) {
      NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, i == 0 ? 0 : 1,
                                           builder.getUnitAttr());
      gpu::BarrierOp::create(builder, loc);
    }
    Value part = vector;
    if (pieces > 1) {
      auto slice = vector::ExtractStridedSliceOp::create(
          builder, loc, vector, ArrayRef<int64_t>{0, i * width},
          ArrayRef<int64_t>{rows, width}, ArrayRef<int64_t>{1, 1});
      setLayouts(slice, {layout}, {layout});
      part = slice;
    }
    const TensorBuffer &buffer = buffers[i % 2];
    auto store = mosaic_gpu::VectorStoreOp::create(
        builder, loc, part, buffer.memory, /*optimized=*/BoolAttr(),
        /*atomic_type=*/mosaic_gpu::AtomicOpTypeAttr());
    setLayouts(store, {layout}, {});
    ArrayAttr transforms = builder.getArrayAttr({buffer.transforms});
    store->setAttr(mosaic_gpu::kInTransforms, transforms);
    emitProxyFence(loc);
    indices[columnDim] = column;
    if (i > 0)
      indices[columnDim] = arith::AddIOp::create(
          builder, loc, column,
          arith::ConstantIntOp::create(builder, loc, i * width, 32));
    auto copy = mosaic_gpu::AsyncStoreOp::create(
        builder, loc, buffer.memory, mapping.lookup(op.getDestination()),
        indices, /*predicate=*/Value(), /*gmem_peer_id=*/Value(),
        ArrayRef<int64_t>(lengths), /*commit_group=*/true,
        /*reduction_op=*/mosaic_gpu::TMAReductionAttr());
    copy->setAttr(mosaic_gpu::kInTransforms, transforms);
  }
}
