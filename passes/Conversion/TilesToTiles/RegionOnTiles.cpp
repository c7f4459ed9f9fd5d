//===- RegionOnTiles.cpp - Scalar regions on whole tiles ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both branches of a condition are computed, and a select merges their results.
// A loop runs until it ends for all elements; an element keeps the values that
// it has when the loop ends for it.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToTiles/RegionOnTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

namespace {

class RegionOnTiles {
public:
  RegionOnTiles(TileBuilder &b, ArrayRef<int64_t> shape) : b(b), shape(shape) {}

  void map(ValueRange scalars, ValueRange tiles) {
    mapping.map(scalars, tiles);
  }
  /// The tile of a scalar; a splat if it is from outside of the region.
  Value get(Value scalar) {
    Value tile = mapping.lookupOrNull(scalar);
    return tile ? tile : b.splat(shape, scalar);
  }
  SmallVector<Value> get(ValueRange scalars) {
    return llvm::map_to_vector(scalars, [&](Value v) { return get(v); });
  }

  void compute(Block &block);

private:
  void computeConstant(arith::ConstantOp op);
  void computeElements(Operation *op);
  void computeIf(scf::IfOp op);
  void computeFor(scf::ForOp op);
  void computeWhile(scf::WhileOp op);

  /// Computes the block for the elements in `lanes`, and returns the operands
  /// of its terminator from `first`.
  SmallVector<Value> computeBlock(Block &block, Value lanes,
                                  unsigned first = 0);
  Value both(Value x, Value y) {
    return x ? arith::AndIOp::create(b, x, y).getResult() : y;
  }
  Value invert(Value tile) {
    return b.compareTo(arith::CmpIPredicate::eq, tile, 0);
  }
  SmallVector<Value> select(Value condition, ValueRange x, ValueRange y) {
    return llvm::map_to_vector(llvm::zip_equal(x, y), [&](auto pair) {
      return b.select(condition, std::get<0>(pair), std::get<1>(pair));
    });
  }
  /// Whether an element is true.
  Value any(Value tile) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
    return tensor::ExtractOp::create(b, b.combine<arith::OrIOp>(tile, dims),
                                     ValueRange());
  }
  /// Repeats while the loop runs for an element. The first value states for
  /// which, and `advance` returns the next values.
  SmallVector<Value>
  repeat(ValueRange initial,
         llvm::function_ref<SmallVector<Value>(ValueRange)> advance);

  TileBuilder &b;
  SmallVector<int64_t> shape;
  IRMapping mapping;
  /// The elements for which the current ops run; null: all.
  Value active;
};

} // namespace

SmallVector<Value> RegionOnTiles::computeBlock(Block &block, Value lanes,
                                               unsigned first) {
  Value outer = std::exchange(active, lanes);
  compute(block);
  active = outer;
  return get(block.getTerminator()->getOperands().drop_front(first));
}

SmallVector<Value> RegionOnTiles::repeat(
    ValueRange initial,
    llvm::function_ref<SmallVector<Value>(ValueRange)> advance) {
  auto at = [&](OpBuilder &inner, auto create) {
    OpBuilder::InsertionGuard guard(b);
    b.restoreInsertionPoint(inner.saveInsertionPoint());
    create();
  };
  auto loop = scf::WhileOp::create(
      b, TypeRange(initial), initial,
      [&](OpBuilder &inner, Location, ValueRange values) {
        at(inner,
           [&] { scf::ConditionOp::create(b, any(values.front()), values); });
      },
      [&](OpBuilder &inner, Location, ValueRange values) {
        at(inner, [&] { scf::YieldOp::create(b, advance(values)); });
      });
  return SmallVector<Value>(loop.getResults());
}

void RegionOnTiles::computeConstant(arith::ConstantOp op) {
  auto type = RankedTensorType::get(shape, op.getType());
  mapping.map(op.getResult(),
              arith::ConstantOp::create(
                  b, DenseElementsAttr::get(type, Attribute(op.getValue())))
                  .getResult());
}

void RegionOnTiles::computeElements(Operation *op) {
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, get(operand));
  // Only divisions are undefined for some operands: other elements divide by 1.
  Value divisor;
  if (active && !isSpeculatable(op)) {
    Type element = op->getOperand(1).getType();
    divisor =
        b.select(active, get(op->getOperand(1)), b.integers(shape, element, 1));
  }
  Operation *clone = b.clone(*op, operands);
  if (divisor)
    clone->setOperand(1, divisor);
  for (Value result : op->getResults()) {
    Value tile = operands.lookup(result);
    tile.setType(RankedTensorType::get(shape, result.getType()));
    mapping.map(result, tile);
  }
}

void RegionOnTiles::computeIf(scf::IfOp op) {
  Value condition = get(op.getCondition());
  SmallVector<Value> then =
      computeBlock(*op.thenBlock(), both(active, condition));
  if (!op.elseBlock())
    return;
  SmallVector<Value> otherwise =
      computeBlock(*op.elseBlock(), both(active, invert(condition)));
  map(op.getResults(), select(condition, then, otherwise));
}

void RegionOnTiles::computeFor(scf::ForOp op) {
  auto predicate = op.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                       : arith::CmpIPredicate::slt;
  Value end = get(op.getUpperBound()), step = get(op.getStep()),
        begin = get(op.getLowerBound());
  SmallVector<Value> initial = {both(active, b.compare(predicate, begin, end)),
                                begin};
  llvm::append_range(initial, get(op.getInitArgs()));
  SmallVector<Value> final = repeat(initial, [&](ValueRange values) {
    Value runs = values[0], number = values[1];
    ValueRange carried = values.drop_front(2);
    mapping.map(op.getInductionVar(), number);
    map(op.getRegionIterArgs(), carried);
    SmallVector<Value> yielded = computeBlock(*op.getBody(), runs);
    Value next = arith::AddIOp::create(b, number, step);
    SmallVector<Value> result = {both(runs, b.compare(predicate, next, end)),
                                 next};
    llvm::append_range(result, select(runs, yielded, carried));
    return result;
  });
  map(op.getResults(), ArrayRef(final).drop_front(2));
}

void RegionOnTiles::computeWhile(scf::WhileOp op) {
  // Evaluates the condition: for which elements the loop continues, and the
  // forwarded values.
  auto check = [&](ValueRange arguments, Value lanes) {
    map(op.getBeforeArguments(), arguments);
    SmallVector<Value> forwarded =
        computeBlock(*op.getBeforeBody(), lanes, /*first=*/1);
    forwarded.insert(forwarded.begin(),
                     both(lanes, get(op.getConditionOp().getCondition())));
    return forwarded;
  };
  SmallVector<Value> final =
      repeat(check(get(op.getInits()), active), [&](ValueRange values) {
        Value runs = values.front();
        ValueRange forwarded = values.drop_front();
        map(op.getAfterArguments(), forwarded);
        SmallVector<Value> next =
            check(computeBlock(*op.getAfterBody(), runs), runs);
        SmallVector<Value> result = {next.front()};
        llvm::append_range(
            result, select(runs, ArrayRef(next).drop_front(), forwarded));
        return result;
      });
  map(op.getResults(), ArrayRef(final).drop_front());
}

void RegionOnTiles::compute(Block &block) {
  for (Operation &op : block.without_terminator())
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](arith::ConstantOp op) { computeConstant(op); })
        .Case([&](AssumeMultipleOp op) {
          mapping.map(op.getResult(), get(op->getOperand(0)));
        })
        .Case([&](scf::IfOp op) { computeIf(op); })
        .Case([&](scf::ForOp op) { computeFor(op); })
        .Case([&](scf::WhileOp op) { computeWhile(op); })
        .Default([&](Operation *op) { computeElements(op); });
}

SmallVector<Value> smalti::triton_xla::computeOnTiles(TileBuilder &b,
                                                      Region &region,
                                                      ValueRange tiles) {
  RegionOnTiles onTiles(b, TileBuilder::shapeOf(tiles.front()));
  onTiles.map(region.getArguments(), tiles);
  onTiles.compute(region.front());
  return onTiles.get(region.front().getTerminator()->getOperands());
}
