//===- TileShapeEmitter.cpp - Reductions and changes of shape -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op is emitted with layouts in which each thread keeps its elements. A
// layout_cast before or after it moves the elements to other threads if the
// plan assigned other layouts. If every layout moves elements, they move
// through a buffer in shared memory.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

Value TileEmitter::castLayout(Location loc, Value vector, Attribute from,
                              Attribute to) {
  if (from == to)
    return vector;
  auto result = mosaic_gpu::LayoutCastOp::create(builder, loc, vector, to);
  setLayouts(result, {from}, {to});
  return result;
}

Value TileEmitter::lookupAs(Location loc, Value tile, Attribute layout) {
  return castLayout(loc, mapping.lookup(tile), plan.layoutOf(tile), layout);
}

/// The layout for a use of a tile that must not be a splat.
Attribute TileEmitter::distributedLayout(Value tile) {
  return isSplat(tile)
             ? chooseBlockedLayout(builder.getContext(), shapeOf(tile),
                                   /*maxVector=*/1, plan.block)
             : plan.layoutOf(tile);
}

/// Clones the ops of a region that combines these scalars, and returns what it
/// yields.
SmallVector<Value> TileEmitter::combineScalars(Region &region,
                                               ValueRange scalars) {
  Block &block = region.front();
  mapping.map(block.getArguments(), scalars);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// Clones a region that combines scalars.
void TileEmitter::cloneCombiner(Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(from.getNumArguments(), from.getLoc());
  Block *block =
      builder.createBlock(&to, to.end(), from.getArgumentTypes(), locs);
  mosaic_gpu::ReturnOp::create(builder, from.getLoc(),
                               combineScalars(from, block->getArguments()));
}

void TileEmitter::emitReduce(triton_xla::ReduceOp op) {
  Location loc = op.getLoc();
  if (!isTile(op.getInputs().front())) {
    // One element, without dimensions.
    SmallVector<Value> scalars;
    for (Value operand : llvm::concat<Value>(op.getInits(), op.getInputs()))
      scalars.push_back(mapping.lookup(operand));
    mapping.map(op.getResults(), combineScalars(op.getCombiner(), scalars));
    return;
  }
  // The inputs are of one class, or splats.
  Attribute layout;
  for (Value input : op.getInputs())
    if (!isSplat(input))
      layout = plan.layoutOf(input);
  ArrayRef<int64_t> shape = shapeOf(op.getInputs().front());
  if (!layout)
    layout = distributedLayout(op.getInputs().front());
  bool isScalar = !isTile(op.getResults().front());
  Attribute derived = isScalar
                          ? Attribute()
                          : getReducedLayout(layout, shape, op.getDims(),
                                             /*keepDims=*/false, plan.block);
  // Strided layouts are not reducible along some dimensions.
  Attribute reducible = layout;
  if (!isScalar && !derived) {
    reducible = chooseBlockedLayout(builder.getContext(), shape,
                                    /*maxVector=*/1, plan.block);
    derived = getReducedLayout(reducible, shape, op.getDims(),
                               /*keepDims=*/false, plan.block);
  }
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(lookupAs(loc, input, reducible));
  SmallVector<Value> inits = llvm::map_to_vector(
      op.getInits(), [&](Value init) { return mapping.lookup(init); });
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), blockTypeOf);
  auto reduce = mosaic_gpu::ReduceOp::create(builder, loc, types, inputs, inits,
                                             op.getDims());
  cloneCombiner(op.getCombiner(), reduce.getBody());
  setLayouts(reduce, SmallVector<Attribute>(inputs.size(), reducible),
             isScalar ? SmallVector<Attribute>()
                      : SmallVector<Attribute>(types.size(), derived));
  for (auto [from, to] : llvm::zip_equal(op.getResults(), reduce.getResults()))
    mapping.map(from, isScalar
                          ? Value(to)
                          : castLayout(loc, to, derived, plan.layoutOf(from)));
}

void TileEmitter::emitScan(triton_xla::ScanOp op) {
  Location loc = op.getLoc();
  Attribute layout = plan.layoutOf(op.getResults().front());
  // A strided layout does not order the elements of a dimension.
  Attribute blocked = layout;
  if (!isa<mosaic_gpu::TiledLayoutAttr>(layout))
    blocked = chooseBlockedLayout(builder.getContext(),
                                  shapeOf(op.getInputs().front()),
                                  /*maxVector=*/1, plan.block);
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(lookupAs(loc, input, blocked));
  SmallVector<Value> inits = llvm::map_to_vector(
      op.getInits(), [&](Value init) { return mapping.lookup(init); });
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), blockTypeOf);
  auto scan = mosaic_gpu::ScanOp::create(builder, loc, types, inputs, inits,
                                         static_cast<uint64_t>(op.getDim()),
                                         op.getExclusive(), op.getReverse());
  cloneCombiner(op.getCombiner(), scan.getBody());
  SmallVector<Attribute> layouts(inputs.size(), blocked);
  setLayouts(scan, layouts, layouts);
  for (auto [from, to] : llvm::zip_equal(op.getResults(), scan.getResults()))
    mapping.map(from, castLayout(loc, to, blocked, plan.layoutOf(from)));
}

void TileEmitter::emitBroadcast(triton_xla::BroadcastOp op) {
  Location loc = op.getLoc();
  Value operand = op.getTile(), result = op.getResult();
  if (!isTile(result)) {
    mapping.map(result, mapping.lookup(operand));
    return;
  }
  VectorType type = vectorOf(result.getType());
  if (isSplat(result) || isSplat(operand)) {
    // A splat of a scalar, or of a splat.
    Value scalar = mapping.lookup(operand);
    if (isSplat(operand))
      scalar = vector::ExtractOp::create(
          builder, loc, scalar,
          SmallVector<int64_t>(shapeOf(operand).size(), 0));
    auto splat = vector::BroadcastOp::create(builder, loc, type, scalar);
    Attribute layout = splatLayout(type);
    setLayouts(splat, {}, {layout});
    mapping.map(result, castLayout(loc, splat, layout, plan.layoutOf(result)));
    return;
  }
  Attribute layout = plan.layoutOf(result);
  auto derive = [&](Attribute to) {
    return getBroadcastOperandLayout(to, shapeOf(operand), shapeOf(result),
                                     op.getDims(), plan.block);
  };
  Attribute derived = derive(layout), to = layout;
  if (!derived) {
    to = chooseBlockedLayout(builder.getContext(), shapeOf(result),
                             /*maxVector=*/1, plan.block);
    derived = derive(to);
  }
  auto broadcast = mosaic_gpu::BroadcastInDimOp::create(
      builder, loc, type, lookupAs(loc, operand, derived), op.getDims());
  setLayouts(broadcast, {derived}, {to});
  mapping.map(result, castLayout(loc, broadcast, to, layout));
}

void TileEmitter::emitTranspose(triton_xla::TransposeOp op) {
  Location loc = op.getLoc();
  if (getOperandTranspose(op.getResult()))
    return; // A view of shared memory at the dots.
  if (!isTile(op.getTile())) {
    mapping.map(op.getResult(), mapping.lookup(op.getTile()));
    return;
  }
  Attribute from = distributedLayout(op.getTile());
  Value operand = lookupAs(loc, op.getTile(), from);
  // A strided layout has no transpose.
  Attribute to =
      getTransposedLayout(from, shapeOf(op.getTile()), op.getPermutation());
  if (!to) {
    Attribute blocked =
        chooseBlockedLayout(builder.getContext(), shapeOf(op.getTile()),
                            /*maxVector=*/1, plan.block);
    operand = castLayout(loc, operand, from, blocked);
    from = blocked;
    to = getTransposedLayout(from, shapeOf(op.getTile()), op.getPermutation());
  }
  auto transpose = vector::TransposeOp::create(
      builder, loc, vectorOf(op.getResult().getType()), operand,
      op.getPermutation());
  setLayouts(transpose, {from}, {to});
  mapping.map(op.getResult(),
              castLayout(loc, transpose, to, plan.layoutOf(op.getResult())));
}

void TileEmitter::emitReshape(triton_xla::ReshapeOp op) {
  Location loc = op.getLoc();
  Value operand = op.getTile(), result = op.getResult();
  if (!isTile(operand) && !isTile(result)) {
    mapping.map(result, mapping.lookup(operand));
    return;
  }
  if (!isTile(operand)) {
    auto splat = vector::BroadcastOp::create(
        builder, loc, vectorOf(result.getType()), mapping.lookup(operand));
    Attribute layout = splatLayout(splat.getResultVectorType());
    setLayouts(splat, {}, {layout});
    mapping.map(result, castLayout(loc, splat, layout, plan.layoutOf(result)));
    return;
  }
  Attribute from = distributedLayout(operand);
  Value source = lookupAs(loc, operand, from);
  if (!isTile(result)) {
    // One element, which every thread gets by a reduction.
    mapping.map(result, emitOnlyElement(loc, source, from));
    return;
  }
  Attribute to = getReshapedLayout(from, shapeOf(operand), shapeOf(result));
  if (!to) {
    mapping.map(result, moveThroughMemory(
                            loc, {{source, from, {}}}, shapeOf(operand),
                            [&](Value buffer) {
                              return reshapeBuffer(loc, buffer,
                                                   shapeOf(result));
                            },
                            vectorOf(result.getType()), plan.layoutOf(result)));
    return;
  }
  auto reshape = vector::ShapeCastOp::create(
      builder, loc, vectorOf(result.getType()), source);
  setLayouts(reshape, {from}, {to});
  mapping.map(result, castLayout(loc, reshape, to, plan.layoutOf(result)));
}

/// Reduces a vector to a scalar. The initial value of the reduction is 0.
Value TileEmitter::reduceToScalar(
    Location loc, Value vector, Attribute layout,
    llvm::function_ref<Value(Value, Value)> combine) {
  auto type = cast<VectorType>(vector.getType());
  Type element = type.getElementType();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  Value init =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  auto reduce =
      mosaic_gpu::ReduceOp::create(builder, loc, TypeRange{element},
                                   ValueRange{vector}, ValueRange{init}, dims);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&reduce.getBody(), {}, {element, element},
                                     {loc, loc});
  mosaic_gpu::ReturnOp::create(
      builder, loc, combine(block->getArgument(0), block->getArgument(1)));
  setLayouts(reduce, {layout}, {});
  return reduce.getResult(0);
}

/// The scalar in a vector with one element.
Value TileEmitter::emitOnlyElement(Location loc, Value vector,
                                   Attribute layout) {
  // The region runs once, and the initial value is first.
  return reduceToScalar(loc, vector, layout,
                        [](Value, Value element) { return element; });
}

/// The largest of integers that are at least 0.
Value TileEmitter::emitLargest(Location loc, Value vector, Attribute layout) {
  return reduceToScalar(loc, vector, layout, [&](Value a, Value b) -> Value {
    return arith::MaxSIOp::create(builder, loc, a, b);
  });
}

void TileEmitter::emitIota(triton_xla::IotaOp op) {
  auto iota = mosaic_gpu::BroadcastedIotaOp::create(
      builder, op.getLoc(), vectorOf(op.getResult().getType()), op.getDim());
  setLayouts(iota, {}, {plan.layoutOf(op.getResult())});
  mapping.map(op.getResult(), iota.getResult());
}

void TileEmitter::emitConcat(triton_xla::ConcatOp op) {
  Location loc = op.getLoc();
  SmallVector<BufferPart> parts;
  int64_t offset = 0;
  for (Value operand : op.getTiles()) {
    Attribute layout = distributedLayout(operand);
    SmallVector<int64_t> offsets(shapeOf(operand).size(), 0);
    offsets[op.getDim()] = offset;
    offset += shapeOf(operand)[op.getDim()];
    parts.push_back({lookupAs(loc, operand, layout), layout, offsets});
  }
  mapping.map(op.getResult(), moveThroughMemory(
                                  loc, parts, shapeOf(op.getResult()),
                                  [](Value buffer) { return buffer; },
                                  vectorOf(op.getResult().getType()),
                                  plan.layoutOf(op.getResult())));
}

void TileEmitter::emitSlice(triton_xla::SliceOp op) {
  Location loc = op.getLoc();
  if (!isTile(op.getTile())) {
    mapping.map(op.getResult(), mapping.lookup(op.getTile()));
    return;
  }
  Attribute layout = distributedLayout(op.getTile());
  Value operand = lookupAs(loc, op.getTile(), layout);
  auto view = [&](Value buffer) -> Value {
    return memref::SubViewOp::create(builder, loc, buffer, op.getOffsets(),
                                     op.getSizes(), op.getStrides());
  };
  mapping.map(op.getResult(),
              moveThroughMemory(loc, {{operand, layout, {}}},
                                shapeOf(op.getTile()), view,
                                vectorOf(op.getResult().getType()),
                                plan.layoutOf(op.getResult())));
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Converts a vector between its element type and that in memory.
Value TileEmitter::convertForBuffer(Location loc, Value vector, Type element,
                                    Attribute layout) {
  auto type = cast<VectorType>(vector.getType());
  Type from = type.getElementType();
  if (from == element)
    return vector;
  VectorType to = type.clone(element);
  auto apply = [&](auto op) -> Value {
    setLayouts(op, {layout}, {layout});
    return op;
  };
  if (from.isIndex() || element.isIndex())
    return apply(arith::IndexCastOp::create(builder, loc, to, vector));
  if (isa<IntegerType>(from) && isa<IntegerType>(element)) {
    if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
      return apply(arith::ExtUIOp::create(builder, loc, to, vector));
    return apply(arith::TruncIOp::create(builder, loc, to, vector));
  }
  // A float of less than a byte.
  unsigned bits =
      std::min(from.getIntOrFloatBitWidth(), element.getIntOrFloatBitWidth());
  Type word = builder.getIntegerType(bits);
  if (isa<FloatType>(from))
    return convertForBuffer(
        loc,
        apply(arith::BitcastOp::create(builder, loc, type.clone(word), vector)),
        element, layout);
  return apply(arith::BitcastOp::create(
      builder, loc, to, convertForBuffer(loc, vector, word, layout)));
}

Value TileEmitter::reshapeBuffer(Location loc, Value buffer,
                                 ArrayRef<int64_t> shape) {
  if (cast<MemRefType>(buffer.getType()).getShape() == shape)
    return buffer;
  return viewBuffer(loc, buffer, shape);
}

/// A row-major view of the first elements of a row-major buffer. Passes look
/// through these views.
Value TileEmitter::viewBuffer(Location loc, Value buffer,
                              ArrayRef<int64_t> shape) {
  auto all = [](size_t rank) {
    return SmallVector<ReassociationIndices>{
        llvm::to_vector(llvm::seq<int64_t>(rank))};
  };
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() != 1)
    buffer = memref::CollapseShapeOp::create(builder, loc, buffer,
                                             all(type.getRank()));
  int64_t elements = ShapedType::getNumElements(shape);
  if (elements != type.getNumElements())
    buffer = memref::SubViewOp::create(
        builder, loc, buffer, ArrayRef<OpFoldResult>{builder.getIndexAttr(0)},
        {builder.getIndexAttr(elements)}, {builder.getIndexAttr(1)});
  if (shape.size() == 1)
    return buffer;
  FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
      cast<MemRefType>(buffer.getType()), shape, all(shape.size()));
  // A buffer with unit stride always has expanded strides.
  return memref::ExpandShapeOp::create(builder, loc, *expanded, buffer,
                                       all(shape.size()));
}

Value TileEmitter::storeToBuffer(Location loc, ArrayRef<BufferPart> parts,
                                 ArrayRef<int64_t> shape) {
  Type element = getElementTypeOrSelf(parts.front().vector.getType());
  Type stored = getBufferElement(element);
  Value buffer = getScratch(loc, shape, stored);
  for (const BufferPart &part : parts) {
    Value view = buffer;
    ArrayRef<int64_t> size = shapeOf(part.vector);
    if (!part.offsets.empty() && size != shape)
      view = memref::SubViewOp::create(builder, loc, buffer, part.offsets, size,
                                       SmallVector<int64_t>(size.size(), 1));
    auto store = mosaic_gpu::VectorStoreOp::create(
        builder, loc, convertForBuffer(loc, part.vector, stored, part.layout),
        view, /*optimized=*/BoolAttr(),
        /*atomic_type=*/mosaic_gpu::AtomicOpTypeAttr());
    setLayouts(store, {part.layout}, {});
  }
  gpu::BarrierOp::create(builder, loc);
  return buffer;
}

/// Allocates the scratch memory, which all ops use one after the other.
void TileEmitter::allocateScratch() {
  // The largest number of elements, and the op that needs them.
  llvm::MapVector<Type, std::pair<int64_t, Location>> elements;
  auto need = [&](Operation *op, Type type, int64_t count) {
    std::pair<int64_t, Location> wanted(count, op->getLoc());
    auto [known, isNew] = elements.insert({getBufferElement(type), wanted});
    if (known->second.first < count)
      known->second = wanted;
  };
  auto needTile = [&](Operation *op, Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    need(op, type.getElementType(), type.getNumElements());
  };
  auto needIndices = [&](Operation *op, Value lanes, Value memref) {
    need(op, getIndexWord(memref),
         cast<RankedTensorType>(lanes.getType()).getNumElements());
  };
  func.getBody().walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](triton_xla::ConcatOp op) { needTile(op, op.getResult()); })
        .Case([&](triton_xla::SliceOp op) {
          if (isTile(op.getTile()))
            needTile(op, op.getTile());
        })
        .Case([&](triton_xla::GatherTileOp op) { needTile(op, op.getTile()); })
        .Case([&](triton_xla::HistogramOp op) {
          need(op, builder.getI32Type(), static_cast<int64_t>(op.getBins()));
        })
        .Case([&](triton_xla::ReshapeOp op) {
          if (isTile(op.getTile()) && isTile(op.getResult()) &&
              !getReshapedLayout(distributedLayout(op.getTile()),
                                 shapeOf(op.getTile()),
                                 shapeOf(op.getResult())))
            needTile(op, op.getTile());
        })
        .Case([&](triton_xla::ScatterOp op) {
          if (ordersElements(op))
            needIndices(op, op.getTile(), op.getDestination());
        })
        .Case([&](triton_xla::AtomicRMWOp op) {
          if (ordersElements(op))
            needIndices(op, op.getValue(), op.getDestination());
        });
  });
  if (elements.size() == 1) {
    auto [type, largest] = elements.front();
    scratches[type] = allocateBuffer(largest.second, {largest.first}, type);
    return;
  }
  // The memory of several types begins at one address.
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  for (auto [type, largest] : elements)
    scratches[type] = mosaic_gpu::SliceSMEMOp::create(
        builder, largest.second,
        MemRefType::get({largest.first}, type, MemRefLayoutAttrInterface(),
                        space),
        builder.getI32IntegerAttr(0), /*alias_id=*/IntegerAttr());
}

/// A view of the scratch memory.
Value TileEmitter::getScratch(Location loc, ArrayRef<int64_t> shape,
                              Type element) {
  // The types of the views depend on the size of the memory.
  return viewBuffer(loc, scratches.lookup(element), shape);
}

Value TileEmitter::moveThroughMemory(Location loc, ArrayRef<BufferPart> parts,
                                     ArrayRef<int64_t> shape,
                                     llvm::function_ref<Value(Value)> getView,
                                     VectorType vector, Attribute layout) {
  Value view = getView(storeToBuffer(loc, parts, shape));
  auto load = mosaic_gpu::VectorLoadOp::create(
      builder, loc,
      vector.clone(cast<MemRefType>(view.getType()).getElementType()), view,
      /*optimized=*/BoolAttr());
  setLayouts(load, {}, {layout});
  gpu::BarrierOp::create(builder, loc);
  return convertForBuffer(loc, load, vector.getElementType(), layout);
}
