//===- WgmmaEmitter.cpp - Products of warp groups, written out ------------===//

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

/// Rows that a swizzle repeats after, which begin at multiples of their size.
static constexpr int64_t kSwizzleRows = 8;

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

SmallVector<Operation *> TileEmitter::wgmmaIn(Operation *op) const {
  SmallVector<Operation *> products;
  if (!plan.warpgroupDots.empty())
    op->walk([&](triton_xla::DotOp dot) {
      if (plan.warpgroupDots.contains(dot))
        products.push_back(dot);
    });
  return products;
}

SmallVector<Value> TileEmitter::phasesOf(ArrayRef<Operation *> products) const {
  return llvm::map_to_vector(
      products, [&](Operation *product) { return phases.lookup(product); });
}

void TileEmitter::setPhases(ArrayRef<Operation *> products, ValueRange values) {
  for (auto [product, value] : llvm::zip_equal(products, values))
    phases[product] = value;
}

/// Each product has a barrier, which the block initialises once.
void TileEmitter::emitWarpgroupBarriers() {
  if (plan.warpgroupDots.empty())
    return;
  MLIRContext *context = builder.getContext();
  Location loc = func.getLoc();
  auto type = mosaic_gpu::BarrierType::get(context, false);
  auto pointerType = LLVM::LLVMPointerType::get(
      context, static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  Value before = arith::ConstantIntOp::create(builder, loc, 0, 1);
  for (const auto &[op, dot] : plan.warpgroupDots) {
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
// Tensor copies
//===----------------------------------------------------------------------===//

TileEmitter::TensorBuffer
TileEmitter::allocateTensorBuffer(Location loc, const TensorWindow &window) {
  MLIRContext *context = builder.getContext();
  Value memory = allocateBuffer(loc, window.getShape(), window.getElementType(),
                                kSwizzleRows * window.swizzleBytes);
  auto swizzle = mosaic_gpu::SwizzleTransformAttr::get(
      context, builder.getI32IntegerAttr(window.swizzleBytes));
  SmallVector<int64_t> tiling = window.getTiling();
  auto transforms = [&](ArrayRef<int64_t> tile) {
    SmallVector<Attribute> both = {
        mosaic_gpu::TileTransformAttr::get(context, tile), swizzle};
    return builder.getArrayAttr(both);
  };
  TensorBuffer buffer;
  buffer.memory = buffer.tile = memory;
  buffer.transforms = buffer.tileTransforms = transforms(tiling);
  // Views of the buffer are stored as it is.
  lastBuffer->setAttr(mosaic_gpu::kOutTransforms,
                      builder.getArrayAttr({buffer.transforms}));
  if (window.isTransposed) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(lastBuffer);
    AffineMap swap =
        AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, context);
    lastBuffer = memref::TransposeOp::create(builder, loc, buffer.memory,
                                             AffineMapAttr::get(swap));
    buffer.tile = lastBuffer->getResult(0);
    std::swap(tiling[0], tiling[1]);
    buffer.tileTransforms = transforms(tiling);
  }
  return buffer;
}

/// The offset as the copy takes it. What does not fit lies outside of the array
/// wherever it is, and so does what it becomes.
Value TileEmitter::coordinate(Location loc, OpFoldResult offset) {
  std::optional<SignedRange> range = ranges.get(offset);
  Value value = index(loc, mapped(offset));
  if (!range || !range->isWithin(-kMostCoordinate, kMostCoordinate)) {
    value = arith::MinSIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, kMostCoordinate));
    value = arith::MaxSIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, -kMostCoordinate));
  }
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), value);
}

SmallVector<Value> TileEmitter::coordinates(Location loc,
                                            const TensorWindow &window) {
  return llvm::map_to_vector(window.window.offsets, [&](OpFoldResult offset) {
    return coordinate(loc, offset);
  });
}

void TileEmitter::emitTensorLoad(Location loc, const TensorWindow &window,
                                 const TensorBuffer &buffer, Value barrier) {
  SmallVector<Value> indices = coordinates(loc, window);
  SmallVector<int64_t> lengths;
  for (auto [dim, size] : llvm::enumerate(window.window.sizes))
    lengths.push_back(window.window.dropped.test(dim) ? -1 : size);
  Value source = mapping.lookup<Value>(window.window.memref);
  if (window.isTransposed) {
    // The dimensions of the tile change places.
    SmallVector<unsigned> order, kept;
    for (unsigned dim = 0; dim < lengths.size(); ++dim) {
      order.push_back(dim);
      if (lengths[dim] != -1)
        kept.push_back(dim);
    }
    std::swap(order[kept[0]], order[kept[1]]);
    std::swap(indices[kept[0]], indices[kept[1]]);
    std::swap(lengths[kept[0]], lengths[kept[1]]);
    AffineMap map = AffineMap::getPermutationMap(order, builder.getContext());
    source = memref::TransposeOp::create(builder, loc, source,
                                         AffineMapAttr::get(map));
  }
  auto load = mosaic_gpu::AsyncLoadOp::create(
      builder, loc, source, buffer.memory, barrier, indices,
      /*predicate=*/Value(), /*gmem_peer_id=*/Value(), lengths,
      /*collective=*/builder.getArrayAttr({}), /*leader_tracked=*/Attribute());
  load->setAttr(mosaic_gpu::kInTransforms,
                builder.getArrayAttr({buffer.transforms}));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void TileEmitter::emitWarpgroupDot(const WgmmaDot &dot) {
  triton_xla::DotOp op = dot.dot;
  Location loc = op.getLoc();
  Value barrier = barriers.lookup(op);
  TensorBuffer lhs;
  if (dot.lhs)
    lhs = allocateTensorBuffer(op.getLhs().getLoc(), *dot.lhs);
  TensorBuffer rhs = allocateTensorBuffer(op.getRhs().getLoc(), dot.rhs);

  mosaic_gpu::ArriveExpectTxOp::create(
      builder, loc, barrier, /*dynamic_expect_tx=*/Value(),
      builder.getI32IntegerAttr(dot.getBytes()));
  if (dot.lhs)
    emitTensorLoad(op.getLhs().getLoc(), *dot.lhs, lhs, barrier);
  emitTensorLoad(op.getRhs().getLoc(), dot.rhs, rhs, barrier);
  Value phase = phases.lookup(op);
  mosaic_gpu::WaitOp::create(builder, loc, barrier, phase);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
  phases[op] = arith::XOrIOp::create(builder, loc, phase, one);

  Attribute layout = mosaic_gpu::TiledLayoutAttr::get(
      builder.getContext(), getWarpgroupAccumulator(plan.block.numWarps / 4));
  Value accumulator = mapping.lookup(op.getAccumulator());
  Value a = dot.lhs ? lhs.tile : mapping.lookup(op.getLhs());
  auto product = mosaic_gpu::WGMMAOp::create(
      builder, loc, accumulator.getType(), accumulator, a, rhs.tile);
  product->setAttr(kSynchronousWgmma, builder.getUnitAttr());
  SmallVector<Attribute> layouts = {layout}, transforms;
  if (dot.lhs)
    transforms.push_back(lhs.tileTransforms);
  else
    layouts.push_back(layout);
  transforms.push_back(rhs.tileTransforms);
  setLayouts(product, layouts, {layout});
  product->setAttr(mosaic_gpu::kInTransforms, builder.getArrayAttr(transforms));
  // Copies may write the operands again.
  if (plan.persistentBlocks != 0 || op->getParentOfType<LoopLikeOpInterface>())
    gpu::BarrierOp::create(builder, loc);
  mapping.map(op.getResult(), product.getResult());
}

//===----------------------------------------------------------------------===//
// Tensor stores
//===----------------------------------------------------------------------===//

/// Pieces of the tile go through two buffers in turn, so that one is written
/// while the other is copied.
void TileEmitter::emitTensorStore(triton_xla::InsertOp op,
                                  const TensorWindow &window) {
  Location loc = op.getLoc();
  auto tile = cast<RankedTensorType>(op.getTile().getType());
  int64_t rows = tile.getDimSize(0), width = window.getTiling()[1];
  int64_t pieces = tile.getDimSize(1) / width;
  TensorWindow piece = window;
  piece.window.tile = tile.clone({rows, width});
  SmallVector<TensorBuffer> buffers;
  for (int64_t i = 0; i < std::min<int64_t>(pieces, 2); ++i)
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
    // The copy that reads this buffer has read it: the thread that asked for it
    // waits, and the others wait for that thread. What a tile before this one
    // asked for is long done.
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
    // What threads wrote is there for the copy.
    NVVM::FenceProxyOp::create(
        builder, loc,
        NVVM::ProxyKindAttr::get(builder.getContext(),
                                 NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(builder.getContext(),
                                   NVVM::SharedSpace::shared_cta));
    gpu::BarrierOp::create(builder, loc);
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
