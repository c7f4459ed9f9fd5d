//===- TileIndexedOps.cpp - Loops of indexed accesses and atomics ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUAtomics.h"
#include "smalti/passes/Conversion/ToCPU/TileOpLoops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

void TileOpLoops::emit(GatherTileOp op) {
  ArrayRef<int64_t> shape = op.getTile().getType().getShape();
  auto dim = static_cast<int64_t>(op.getDim());
  int64_t size = shape[dim], count = op.getIndices().getType().getDimSize(dim);
  int64_t outer = ShapedType::getNumElements(shape.take_front(dim)),
          inner = ShapedType::getNumElements(shape.drop_front(dim + 1));
  Value fill = constant(op.getFillOrZero());
  loops.nest({outer, count, inner}, [&](ValueRange position) {
    Value to = loops.add(
        loops.mul(loops.add(loops.mul(position[0], count), position[1]), inner),
        position[2]);
    Value index = castToIndex(getElement(op.getIndices(), to));
    // An index outside of the tile reads the first element instead.
    Value isInside =
        compare(arith::CmpIPredicate::ult, index, loops.index(size));
    index =
        arith::SelectOp::create(rewriter, loc, isInside, index, loops.index(0));
    Value from = loops.add(
        loops.mul(loops.add(loops.mul(position[0], size), index), inner),
        position[2]);
    Value value = arith::SelectOp::create(rewriter, loc, isInside,
                                          getElement(op.getTile(), from), fill);
    store(value, buffers.results[0], to);
  });
}

/// Determines the location that the element at `position` accesses. Returns
/// whether the element accesses memory, or null if it always does.
Value TileOpLoops::checkAccess(Value memref, ValueRange indices, Value mask,
                               Value position,
                               SmallVectorImpl<Value> &location) {
  Value condition = mask ? getElement(mask, position) : Value();
  for (auto [dim, operand] : llvm::enumerate(indices)) {
    Value index = castToIndex(getElement(operand, position));
    location.push_back(index);
    Value extent = rewriter.createOrFold<memref::DimOp>(
        loc, memref, static_cast<int64_t>(dim));
    // A negative index is a large unsigned number.
    Value isInside = compare(arith::CmpIPredicate::ult, index, extent);
    condition = condition
                    ? arith::AndIOp::create(rewriter, loc, condition, isInside)
                          .getResult()
                    : isInside;
  }
  return condition;
}

void TileOpLoops::emit(GatherOp op) {
  Value fill = constant(op.getFillOrZero());
  forEachElement(op.getResult(), [&](Value position) {
    SmallVector<Value> location;
    Value condition = checkAccess(op.getSource(), op.getIndices(), op.getMask(),
                                  position, location);
    Value value = createSelection(
        condition,
        [&]() -> Value {
          return memref::LoadOp::create(rewriter, loc, op.getSource(),
                                        location);
        },
        fill);
    store(value, buffers.results[0], position);
  });
}

void TileOpLoops::emit(ScatterOp op) {
  // In order, so that the last element is stored.
  forEachElement(op.getTile(), [&](Value position) {
    SmallVector<Value> location;
    Value condition = checkAccess(op.getDestination(), op.getIndices(),
                                  op.getMask(), position, location);
    createIf(condition, [&] {
      memref::StoreOp::create(rewriter, loc, getElement(op.getTile(), position),
                              op.getDestination(), location);
    });
  });
}

/// Calls `update` for each element, in order, and stores the old values.
template <class Op>
void TileOpLoops::emitAtomic(
    Op op, Value lanes, llvm::function_ref<Value(Value, ValueRange)> update) {
  Value zero = constant(cast<TypedAttr>(
      rewriter.getZeroAttr(getElementTypeOrSelf(lanes.getType()))));
  forEachElement(lanes, [&](Value position) {
    SmallVector<Value> location;
    Value condition = checkAccess(op.getDestination(), op.getIndices(),
                                  op.getMask(), position, location);
    Value old = createSelection(
        condition, [&] { return update(position, location); }, zero);
    if (buffers.results.empty())
      scalars.push_back(old);
    else
      store(old, buffers.results[0], position);
  });
}

void TileOpLoops::emit(AtomicRMWOp op) {
  emitAtomic(op, op.getValue(), [&](Value position, ValueRange location) {
    return createAtomicRMW(rewriter, loc, op.getKind(),
                           getElement(op.getValue(), position),
                           op.getDestination(), location, op.getOrdering());
  });
}

void TileOpLoops::emit(AtomicCASOp op) {
  emitAtomic(op, op.getExpected(), [&](Value position, ValueRange location) {
    return createAtomicCAS(rewriter, loc,
                           getElement(op.getExpected(), position),
                           getElement(op.getDesired(), position),
                           op.getDestination(), location, op.getOrdering());
  });
}
