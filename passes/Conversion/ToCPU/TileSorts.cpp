//===- TileSorts.cpp - Loops of sorts and histograms ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPULoops.h"
#include "smalti/passes/Conversion/ToCPU/TileOpLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

/// Merges adjacent sorted runs of 2^pass elements.
void TileOpLoops::mergeRuns(SortOp op, ArrayRef<Value> from, ArrayRef<Value> to,
                            Value pass, int64_t size) {
  Value end = loops.index(size), one = loops.index(1);
  Value width = arith::ShLIOp::create(rewriter, loc, one, pass);
  Value twice = loops.add(width, width);
  Value pairs =
      loops.add(arith::ShRUIOp::create(rewriter, loc, loops.index(size - 1),
                                       loops.add(pass, one)),
                one);
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
              Value hasRight = compare(arith::CmpIPredicate::ult, right, last);
              Value noLeft = compare(arith::CmpIPredicate::uge, left, middle);
              Value takesRight = arith::AndIOp::create(
                  rewriter, loc, hasRight,
                  arith::OrIOp::create(rewriter, loc, noLeft, isBefore));
              for (auto [buffer, x, y] : llvm::zip_equal(to, lefts, rights))
                store(arith::SelectOp::create(rewriter, loc, takesRight, y, x),
                      buffer, position);
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
                 mergeRuns(op, current, next, pass, size);
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

void TileOpLoops::emit(HistogramOp op) {
  Value tile = buffers.inputs[0], counts = buffers.results[0];
  Type element = getElementTypeOrSelf(tile.getType()),
       count = getElementTypeOrSelf(counts.getType());
  Value zero = constant(rewriter.getIntegerAttr(count, 0)),
        one = constant(rewriter.getIntegerAttr(count, 1));
  forEachElement(counts, [&](Value bin) { store(zero, counts, bin); });
  // A value from 0 to `limit` - 1, as an unsigned integer, is counted.
  int64_t width = ::smalti::bitWidth(element);
  llvm::APInt limit = llvm::APInt::getSignedMinValue(width);
  if (limit.ugt(op.getBins()))
    limit = op.getBins();
  Value bins = constant(rewriter.getIntegerAttr(element, limit));
  forEachElement(tile, [&](Value position) {
    Value value = load(tile, position);
    Value isCounted = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, value, bins);
    if (op.getMask())
      isCounted = arith::AndIOp::create(rewriter, loc, isCounted,
                                        getElement(op.getMask(), position));
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
