//===- TileOpsToLoops.cpp - Tile-level ops to loops on buffers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUAtomics.h"
#include "smalti/passes/Conversion/ToCPU/TileOpLoops.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

static MemRefType getBufferType(Type tile) {
  auto type = cast<RankedTensorType>(tile);
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// The buffer as a one-dimensional memref.
static Value flatten(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<ReassociationIndices> all;
  if (type.getRank() == 0)
    return memref::ExpandShapeOp::create(builder, loc, ArrayRef<int64_t>{1},
                                         buffer, all);
  if (type.getRank() == 1)
    return buffer;
  all.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  return memref::CollapseShapeOp::create(builder, loc, buffer, all);
}

TileOpLoops::TileOpLoops(RewriterBase &rewriter, Operation *op, Value tileId,
                         int64_t vectorBits)
    : rewriter(rewriter), loc(op->getLoc()), loops{rewriter, loc},
      module(op->getParentOfType<ModuleOp>()), tileId(tileId),
      vectorBits(vectorBits) {
  rewriter.setInsertionPoint(op);
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    Value &flat = inputs[operand];
    if (!flat)
      flat = flatten(rewriter, loc,
                     bufferization::ToBufferOp::create(
                         rewriter, loc, getBufferType(operand.getType()),
                         operand, /*read_only=*/true));
    buffers.inputs.push_back(flat);
  }
  for (Type type : op->getResultTypes()) {
    if (!isa<RankedTensorType>(type))
      continue;
    resultBuffers.push_back(
        memref::AllocOp::create(rewriter, loc, getBufferType(type)));
    buffers.results.push_back(flatten(rewriter, loc, resultBuffers.back()));
  }
}

void TileOpLoops::replace(Operation *op) {
  SmallVector<Value> results(scalars);
  for (Value buffer : resultBuffers)
    results.push_back(bufferization::ToTensorOp::create(
        rewriter, loc, op->getResult(results.size()).getType(), buffer,
        /*restrict=*/true, /*writable=*/true));
  rewriter.replaceOp(op, results);
}

Value TileOpLoops::createBuffer(int64_t size, Type element) {
  return memref::AllocOp::create(rewriter, loc,
                                 MemRefType::get({size}, element));
}

Value TileOpLoops::load(Value buffer, Value position) {
  return memref::LoadOp::create(rewriter, loc, buffer, position);
}

void TileOpLoops::store(Value value, Value buffer, Value position) {
  memref::StoreOp::create(rewriter, loc, value, buffer, position);
}

Value TileOpLoops::constant(TypedAttr value) {
  return arith::ConstantOp::create(rewriter, loc, value);
}

Value TileOpLoops::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(rewriter, loc, predicate, x, y);
}

Value TileOpLoops::getElement(Value operand, Value position) {
  return isa<RankedTensorType>(operand.getType())
             ? load(inputs.lookup(operand), position)
             : operand;
}

Value TileOpLoops::castToIndex(Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                    value);
}

int64_t TileOpLoops::countElements(Value operand) {
  auto type = dyn_cast<ShapedType>(operand.getType());
  return type ? type.getNumElements() : 1;
}

void TileOpLoops::forEachElement(Value operand,
                                 llvm::function_ref<void(Value)> body) {
  loops.loop(loops.index(0), loops.index(countElements(operand)), 1, body);
}

void TileOpLoops::createIf(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  OpBuilder::InsertionGuard guard(rewriter);
  auto branch = scf::IfOp::create(rewriter, loc, condition,
                                  /*withElseRegion=*/false);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

Value TileOpLoops::createSelection(Value condition,
                                   llvm::function_ref<Value()> body,
                                   Value other) {
  if (!condition)
    return body();
  return scf::IfOp::create(
             rewriter, loc, condition,
             [&](OpBuilder &, Location) {
               scf::YieldOp::create(rewriter, loc, body());
             },
             [&](OpBuilder &, Location) {
               scf::YieldOp::create(rewriter, loc, other);
             })
      .getResult(0);
}

bool smalti::isTileLoop(Operation *op) {
  return isa<ReduceOp, ScanOp, SortOp, HistogramOp, GatherTileOp, GatherOp,
             ScatterOp, AtomicRMWOp, AtomicCASOp, PrintOp, AssertOp, AssumeOp,
             AssumeMultipleOp>(op);
}

void smalti::lowerTileLoops(RewriterBase &rewriter, func::FuncOp function,
                            int64_t vectorBits) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isTileLoop(op))
      ops.push_back(op);
  });
  auto tiles = *function.getBody().getOps<scf::ForOp>().begin();
  for (Operation *op : ops) {
    TileOpLoops lowering(rewriter, op, tiles.getInductionVar(), vectorBits);
    llvm::TypeSwitch<Operation *>(op)
        .Case<ReduceOp, ScanOp, SortOp, HistogramOp, GatherTileOp, GatherOp,
              ScatterOp, AtomicRMWOp, AtomicCASOp, PrintOp, AssertOp, AssumeOp,
              AssumeMultipleOp>([&](auto tileOp) { lowering.emit(tileOp); });
    lowering.replace(op);
  }
}
