//===- TileOpsToLoops.cpp - Tile-level ops to loops on buffers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPULoops.h"
#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"
#include "smalti/passes/Conversion/ToCPU/TileOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

namespace {

/// Emits the loops of one op.
class TileOpLoops {
public:
  TileOpLoops(RewriterBase &rewriter, Operation *op, int64_t vectorBits)
      : rewriter(rewriter), loc(op->getLoc()), loops{rewriter, loc},
        vectorBits(vectorBits) {
    rewriter.setInsertionPoint(op);
    for (Value operand : op->getOperands()) {
      if (isa<RankedTensorType>(operand.getType()))
        buffers.inputs.push_back(flatten(createInput(operand)));
    }
    for (Type type : op->getResultTypes()) {
      if (!isa<RankedTensorType>(type))
        continue;
      resultBuffers.push_back(
          memref::AllocOp::create(rewriter, loc, getBufferType(type)));
      buffers.results.push_back(flatten(resultBuffers.back()));
    }
  }

  void emit(ReduceOp op) { emitReduce(rewriter, op, buffers, vectorBits); }
  void emit(ScanOp op) { emitScan(rewriter, op, buffers, vectorBits); }
  void emit(SortOp op);
  void emit(HistogramOp op);

  void replace(Operation *op) {
    SmallVector<Value> results;
    for (auto [buffer, type] :
         llvm::zip_equal(resultBuffers, op->getResultTypes()))
      results.push_back(bufferization::ToTensorOp::create(
          rewriter, loc, type, buffer, /*restrict=*/true, /*writable=*/true));
    rewriter.replaceOp(op, results);
  }

private:
  static MemRefType getBufferType(Type tile) {
    auto type = cast<RankedTensorType>(tile);
    return MemRefType::get(type.getShape(), type.getElementType());
  }
  Value createInput(Value tile) {
    return bufferization::ToBufferOp::create(
        rewriter, loc, getBufferType(tile.getType()), tile,
        /*read_only=*/true);
  }
  /// The buffer as a one-dimensional memref.
  Value flatten(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<ReassociationIndices> all;
    if (type.getRank() == 0)
      return memref::ExpandShapeOp::create(rewriter, loc, ArrayRef<int64_t>{1},
                                           buffer, all);
    if (type.getRank() == 1)
      return buffer;
    all.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    return memref::CollapseShapeOp::create(rewriter, loc, buffer, all);
  }
  Value createBuffer(int64_t size, Type element) {
    return memref::AllocOp::create(rewriter, loc,
                                   MemRefType::get({size}, element));
  }
  Value load(Value buffer, Value position) {
    return memref::LoadOp::create(rewriter, loc, buffer, position);
  }
  void store(Value value, Value buffer, Value position) {
    memref::StoreOp::create(rewriter, loc, value, buffer, position);
  }
  Value constant(TypedAttr value) {
    return arith::ConstantOp::create(rewriter, loc, value);
  }
  int64_t countElements(Value buffer) {
    return cast<MemRefType>(buffer.getType()).getDimSize(0);
  }
  /// Emits `body` for the case that the condition is true.
  void createIf(Value condition, llvm::function_ref<void()> body) {
    OpBuilder::InsertionGuard guard(rewriter);
    auto branch = scf::IfOp::create(rewriter, loc, condition,
                                    /*withElseRegion=*/false);
    rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
    body();
  }

  void mergeRuns(SortOp op, ArrayRef<Value> from, ArrayRef<Value> to,
                 Value width, int64_t size);

  RewriterBase &rewriter;
  Location loc;
  LoopBuilder loops;
  int64_t vectorBits;
  TileBuffers buffers;
  SmallVector<Value> resultBuffers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Merges adjacent sorted runs of `width` elements.
void TileOpLoops::mergeRuns(SortOp op, ArrayRef<Value> from, ArrayRef<Value> to,
                            Value width, int64_t size) {
  Value end = loops.index(size);
  Value twice = loops.add(width, width);
  Value pairs = arith::CeilDivUIOp::create(rewriter, loc, end, twice);
  loops.loop(
      loops.index(0), pairs, 1,
      [&](Value pair) {
        Value begin = arith::MulIOp::create(rewriter, loc, pair, twice);
        Value middle = loops.minUnsigned(loops.add(begin, width), end),
              last = loops.minUnsigned(loops.add(begin, twice), end);
        auto merge = scf::ForOp::create(
            rewriter, loc, begin, last, loops.index(1),
            ValueRange{begin, middle},
            [&](OpBuilder &, Location, Value position, ValueRange heads) {
              Value left = heads[0], right = heads[1];
              // A run that is exhausted reads some element of the buffer.
              Value safeLeft = loops.minUnsigned(left, loops.index(size - 1)),
                    safeRight = loops.minUnsigned(right, loops.index(size - 1));
              SmallVector<Value> lefts, rights;
              IRMapping mapping;
              Block &body = op.getComparator().front();
              for (auto [number, buffer] : llvm::enumerate(from)) {
                lefts.push_back(load(buffer, safeLeft));
                rights.push_back(load(buffer, safeRight));
                mapping.map(body.getArgument(2 * number), rights.back());
                mapping.map(body.getArgument(2 * number + 1), lefts.back());
              }
              cloneOnLanes(rewriter, loc, body, mapping, /*lanes=*/1);
              // The sort is stable: the right element only goes first if it
              // must.
              Value isBefore =
                  mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
              auto compare = [&](arith::CmpIPredicate predicate, Value x,
                                 Value y) -> Value {
                return arith::CmpIOp::create(rewriter, loc, predicate, x, y);
              };
              Value hasRight = compare(arith::CmpIPredicate::ult, right, last);
              Value noLeft = compare(arith::CmpIPredicate::uge, left, middle);
              Value takesRight = arith::AndIOp::create(
                  rewriter, loc, hasRight,
                  arith::OrIOp::create(rewriter, loc, noLeft, isBefore));
              for (auto [buffer, x, y] : llvm::zip_equal(to, lefts, rights))
                store(arith::SelectOp::create(rewriter, loc, takesRight, y, x),
                      buffer, position);
              Value one = loops.index(1);
              Value nextLeft = arith::SelectOp::create(
                  rewriter, loc, takesRight, left, loops.add(left, one));
              Value nextRight = arith::SelectOp::create(
                  rewriter, loc, takesRight, loops.add(right, one), right);
              scf::YieldOp::create(rewriter, loc,
                                   ValueRange{nextLeft, nextRight});
            });
        merge->setAttr(kMaxTripCountAttr, rewriter.getI64IntegerAttr(size));
      },
      llvm::divideCeil(size, 2));
}

/// A merge sort of each line along the dimension.
void TileOpLoops::emit(SortOp op) {
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  int64_t size = shape[op.getDim()];
  int64_t outer = ShapedType::getNumElements(shape.take_front(op.getDim())),
          inner = ShapedType::getNumElements(shape.drop_front(op.getDim() + 1));
  SmallVector<Value> current, next;
  for (Value buffer : buffers.inputs) {
    Type element = getElementTypeOrSelf(buffer.getType());
    current.push_back(createBuffer(size, element));
    next.push_back(createBuffer(size, element));
  }
  loops.nest({outer, inner}, [&](ValueRange indices) {
    Value start = loops.add(loops.mul(indices[0], size * inner), indices[1]);
    auto locate = [&](Value index) {
      return loops.add(start, loops.mul(index, inner));
    };
    auto forEach = [&](llvm::function_ref<void(Value)> body) {
      loops.loop(loops.index(0), loops.index(size), 1, body);
    };
    forEach([&](Value index) {
      for (auto [from, to] : llvm::zip_equal(buffers.inputs, current))
        store(load(from, locate(index)), to, index);
    });
    loops.loop(loops.index(0), loops.index(llvm::Log2_64_Ceil(size)), 1,
               [&](Value pass) {
                 Value width =
                     arith::ShLIOp::create(rewriter, loc, loops.index(1), pass);
                 mergeRuns(op, current, next, width, size);
                 forEach([&](Value index) {
                   for (auto [from, to] : llvm::zip_equal(next, current))
                     store(load(from, index), to, index);
                 });
               });
    forEach([&](Value index) {
      for (auto [from, to] : llvm::zip_equal(current, buffers.results))
        store(load(from, index), to, locate(index));
    });
  });
}

//===----------------------------------------------------------------------===//
// Histograms
//===----------------------------------------------------------------------===//

void TileOpLoops::emit(HistogramOp op) {
  Value tile = buffers.inputs[0], counts = buffers.results[0];
  Type element = getElementTypeOrSelf(tile.getType()),
       count = getElementTypeOrSelf(counts.getType());
  Value zero = constant(rewriter.getIntegerAttr(count, 0)),
        one = constant(rewriter.getIntegerAttr(count, 1));
  loops.loop(loops.index(0), loops.index(countElements(counts)), 1,
             [&](Value bin) { store(zero, counts, bin); });
  // A value from 0 to `limit` - 1, as an unsigned integer, is counted.
  int64_t width = ::smalti::bitWidth(element);
  llvm::APInt limit = llvm::APInt::getSignedMinValue(width);
  if (limit.ugt(op.getBins()))
    limit = op.getBins();
  Value bins = constant(rewriter.getIntegerAttr(element, limit));
  loops.loop(
      loops.index(0), loops.index(countElements(tile)), 1, [&](Value position) {
        Value value = load(tile, position);
        Value isCounted = arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::ult, value, bins);
        if (op.getMask())
          isCounted = arith::AndIOp::create(rewriter, loc, isCounted,
                                            load(buffers.inputs[1], position));
        createIf(isCounted, [&] {
          Value bin = element.isIndex()
                          ? value
                          : arith::IndexCastUIOp::create(
                                rewriter, loc, rewriter.getIndexType(), value);
          store(arith::AddIOp::create(rewriter, loc, load(counts, bin), one),
                counts, bin);
        });
      });
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

bool smalti::isTileLoop(Operation *op) {
  return isa<ReduceOp, ScanOp, SortOp, HistogramOp>(op);
}

void smalti::lowerTileLoops(RewriterBase &rewriter, func::FuncOp function,
                            int64_t vectorBits) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isTileLoop(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    TileOpLoops lowering(rewriter, op, vectorBits);
    llvm::TypeSwitch<Operation *>(op)
        .Case<ReduceOp, ScanOp, SortOp, HistogramOp>(
            [&](auto tileOp) { lowering.emit(tileOp); });
    lowering.replace(op);
  }
}
