//===- CPULoops.cpp - Vectorized loops over buffers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPULoops.h"

#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace smalti;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void smalti::emitWindowCopy(OpBuilder &builder, Location loc,
                            const WindowCopy &copy, TypedAttr fill,
                            int64_t vectorBits) {
  LoopBuilder loops{builder, loc};
  auto type = cast<MemRefType>(copy.memref.getType());
  int64_t rank = type.getRank();

  // Lanes [first, last) of each dimension are in bounds.
  SmallVector<Value> offsets, first, last;
  Value isOutOfBounds;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = copy.sizes[dim], stride = copy.strides[dim];
    Value extent = builder.createOrFold<memref::DimOp>(loc, copy.memref, dim);
    Value offset =
        getValueOrCreateConstantIndexOp(builder, loc, copy.offsets[dim]);
    // Clamp offsets with which all lanes are out of bounds, so that the
    // arithmetic below does not overflow.
    offset = loops.minSigned(loops.maxSigned(offset, -size * stride), extent);
    offsets.push_back(offset);
    Value below = loops.maxSigned(loops.sub(loops.index(0), offset), 0);
    first.push_back(loops.ceilDivUnsigned(below, stride));
    last.push_back(loops.minUnsigned(
        loops.ceilDivUnsigned(loops.sub(extent, offset), stride),
        loops.index(size)));
    auto addCheck = [&](Value lane, int64_t expected) {
      if (getConstantIntValue(lane) == expected)
        return;
      Value differs = builder.createOrFold<arith::CmpIOp>(
          loc, arith::CmpIPredicate::ne, lane, loops.index(expected));
      isOutOfBounds =
          isOutOfBounds
              ? builder.createOrFold<arith::OrIOp>(loc, isOutOfBounds, differs)
              : differs;
    };
    addCheck(first.back(), 0);
    addCheck(last.back(), size);
  }
  if (fill && isOutOfBounds) {
    auto ifOp = scf::IfOp::create(builder, loc, isOutOfBounds,
                                  /*withElseRegion=*/false);
    OpBuilder then = ifOp.getThenBodyBuilder();
    Value value = arith::ConstantOp::create(then, loc, fill);
    linalg::FillOp::create(then, loc, value, copy.buffer);
  }

  // Indices into the memref and into the buffer for a lane of the window.
  SmallVector<Value> lane(rank);
  auto memrefIndices = [&] {
    SmallVector<Value> indices;
    for (int64_t dim = 0; dim < rank; ++dim)
      indices.push_back(
          loops.add(offsets[dim], loops.mul(lane[dim], copy.strides[dim])));
    return indices;
  };
  auto bufferIndices = [&] {
    SmallVector<Value> indices;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (!copy.droppedDims.test(dim))
        indices.push_back(lane[dim]);
    }
    return indices;
  };
  auto copyLanes = [&](int64_t lanes) {
    Type lanesType = laneType(type.getElementType(), lanes);
    if (fill) {
      Value value = load(builder, loc, lanesType, copy.memref, memrefIndices());
      store(builder, loc, value, copy.buffer, bufferIndices());
    } else {
      Value value = load(builder, loc, lanesType, copy.buffer, bufferIndices());
      store(builder, loc, value, copy.memref, memrefIndices());
    }
  };

  bool vectorize = rank > 0 && !copy.droppedDims.test(rank - 1) &&
                   copy.strides[rank - 1] == 1 && hasVectorRows(type) &&
                   hasVectorRows(cast<MemRefType>(copy.buffer.getType()));
  int64_t lanes = vectorize ? widestVector(copy.sizes[rank - 1],
                                           vectorBits / bitWidth(type))
                            : 1;
  std::function<void(int64_t)> nest = [&](int64_t dim) {
    if (dim == rank)
      return copyLanes(1);
    auto inner = [&](Value iv) {
      lane[dim] = iv;
      nest(dim + 1);
    };
    if (dim + 1 < rank || lanes <= 1)
      return loops.loop(first[dim], last[dim], 1, inner, copy.sizes[dim]);
    // Whole vectors, then scalars for the rest of the row, so that nothing
    // outside the memref is accessed.
    Value count = loops.sub(last[dim], first[dim]);
    Value rest =
        builder.createOrFold<arith::RemUIOp>(loc, count, loops.index(lanes));
    Value whole = loops.sub(last[dim], rest);
    loops.loop(
        first[dim], whole, lanes,
        [&](Value iv) {
          lane[dim] = iv;
          copyLanes(lanes);
        },
        copy.sizes[dim]);
    loops.loop(whole, last[dim], 1, inner, lanes - 1);
  };
  nest(0);
}

//===----------------------------------------------------------------------===//
// Element-wise loops
//===----------------------------------------------------------------------===//

namespace {

/// Loops for an element-wise linalg op, vectorized along the innermost
/// dimension.
class ElementwiseLoops {
public:
  ElementwiseLoops(RewriterBase &rewriter, linalg::GenericOp op,
                   int64_t vectorBits)
      : rewriter(rewriter), op(op), loops{rewriter, op.getLoc()} {
    int64_t widest = 8;
    for (Value operand : op->getOperands())
      widest = std::max(widest, bitWidth(operand.getType()));
    for (Operation &inner : *op.getBody()) {
      for (Type type : inner.getResultTypes()) {
        // Indices are only used in comparisons.
        if (type.isIntOrFloat())
          widest = std::max(widest, bitWidth(type));
      }
    }
    maxLanes =
        std::max<int64_t>(1, llvm::bit_floor<uint64_t>(vectorBits / widest));
  }

  bool isVectorizable() {
    if (op.getNumLoops() == 0 || op.getNumParallelLoops() != op.getNumLoops() ||
        !op.hasPureBufferSemantics())
      return false;
    int64_t innermost = op.getNumLoops() - 1;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type) {
        if (map.getNumResults() != 0)
          return false;
        continue;
      }
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
        return false;
      // The innermost loop indexes the last dimension of the operand or does
      // not index the operand.
      bool moves = false;
      for (auto [position, result] : llvm::enumerate(map.getResults())) {
        if (!result.isFunctionOfDim(innermost))
          continue;
        if (position + 1 != map.getNumResults() || !hasVectorRows(type))
          return false;
        moves = true;
      }
      if (!moves && op.isDpsInit(&operand))
        return false;
    }
    return llvm::all_of(*op.getBody(), [](Operation &inner) {
      return isa<linalg::IndexOp>(inner) || canCloneOnLanes(inner);
    });
  }

  void emit() {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    operands = llvm::to_vector(op->getOperands());
    if (isContiguous()) {
      int64_t size = 1;
      for (int64_t range : ranges)
        size *= range;
      flatten();
      ranges = {size};
    }
    iv.resize(ranges.size());
    nest(ranges, 0);
    rewriter.eraseOp(op);
  }

private:
  /// Whether the op accesses all operands contiguously, so that the loops can
  /// be collapsed into one.
  bool isContiguous() {
    if (op.getNumLoops() < 2 || op.hasIndexSemantics())
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (map.getNumResults() == 0)
        continue;
      if (!map.isIdentity() || !type.getLayout().isIdentity())
        return false;
    }
    return true;
  }

  void flatten() {
    for (auto [position, operand] : llvm::enumerate(operands)) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type || type.getRank() < 2)
        continue;
      SmallVector<ReassociationIndices> all(
          1, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
      operands[position] =
          memref::CollapseShapeOp::create(rewriter, op.getLoc(), operand, all);
    }
    flat = true;
  }

  void nest(ArrayRef<int64_t> ranges, size_t dim) {
    if (dim + 1 < ranges.size()) {
      loops.loop(loops.index(0), loops.index(ranges[dim]), 1, [&](Value index) {
        iv[dim] = index;
        nest(ranges, dim + 1);
      });
      return;
    }
    int64_t rest = ranges[dim] % maxLanes;
    loops.loop(loops.index(0), loops.index(ranges[dim] - rest), maxLanes,
               [&](Value index) {
                 iv[dim] = index;
                 body(maxLanes);
               });
    for (int64_t part : splitIntoVectors(rest, maxLanes)) {
      iv[dim] = loops.index(ranges[dim] - rest);
      body(part);
      rest -= part;
    }
  }

  SmallVector<Value> indices(AffineMap map) {
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      result.push_back(dim ? iv[dim.getPosition()] : loops.index(0));
    }
    return result;
  }

  AffineMap mapOf(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return flat && map.getNumResults() != 0 ? rewriter.getMultiDimIdentityMap(1)
                                            : map;
  }

  Value broadcast(Value scalar, int64_t lanes) {
    return broadcastToLanes(rewriter, op.getLoc(), scalar, lanes);
  }

  void body(int64_t lanes) {
    Location loc = op.getLoc();
    int64_t innermost = iv.size() - 1;
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      AffineMap map = mapOf(operand);
      Value value = operands[operand.getOperandNumber()];
      if (!isa<MemRefType>(value.getType())) {
        mapping.map(argument, broadcast(value, lanes));
      } else if (map.isFunctionOfDim(innermost)) {
        mapping.map(argument,
                    load(rewriter, loc, laneType(argument.getType(), lanes),
                         value, indices(map)));
      } else {
        mapping.map(argument, broadcast(memref::LoadOp::create(
                                            rewriter, loc, value, indices(map)),
                                        lanes));
      }
    }
    for (auto index : op.getBody()->getOps<linalg::IndexOp>()) {
      Value position = broadcast(iv[index.getDim()], lanes);
      if (static_cast<int64_t>(index.getDim()) == innermost && lanes > 1) {
        Value steps = vector::StepOp::create(
            rewriter, loc, VectorType::get({lanes}, rewriter.getIndexType()));
        position = arith::AddIOp::create(rewriter, loc, position, steps);
      }
      mapping.map(index.getResult(), position);
    }
    cloneOnLanes(rewriter, loc, *op.getBody(), mapping, lanes);
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    // All loads precede the first store, since an output may be an input.
    for (auto [position, value] : llvm::enumerate(yield.getOperands())) {
      OpOperand &init = *op.getDpsInitOperand(position);
      store(rewriter, loc, mapping.lookupOrDefault(value),
            operands[init.getOperandNumber()], indices(mapOf(init)));
    }
  }

  RewriterBase &rewriter;
  linalg::GenericOp op;
  LoopBuilder loops;
  int64_t maxLanes = 1;
  bool flat = false;
  SmallVector<Value> operands;
  SmallVector<Value> iv;
};

} // namespace

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

namespace {

/// acc += a * b, with the accumulators of a block (rows x panel columns) in
/// registers. b is packed into panels of the block's width, so that the inner
/// loop reads it contiguously. Narrow operands are extended once, not per use.
class MatmulLoops {
public:
  MatmulLoops(RewriterBase &rewriter, linalg::MatmulOp op, int64_t vectorBits)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        loops{rewriter, op.getLoc()}, a(op.getDpsInputs()[0]),
        b(op.getDpsInputs()[1]), c(op.getDpsInits()[0]) {
    Type element = getElementTypeOrSelf(c.getType());
    lanes = vectorBits / bitWidth(element);
    // Accumulators use 16 of 32 registers with 512 bits, else 8 of 16; operands
    // use the rest.
    blockRows = vectorBits >= 512 ? 8 : 4;
    panelColumns = 2 * lanes;
  }

  bool isSupported() {
    auto aType = dyn_cast<MemRefType>(a.getType()),
         bType = dyn_cast<MemRefType>(b.getType());
    auto cType = dyn_cast<MemRefType>(c.getType());
    if (op.hasUserDefinedMaps() || !aType || !bType || !cType ||
        !aType.hasStaticShape() || !bType.hasStaticShape() ||
        !cType.hasStaticShape())
      return false;
    Type element = cType.getElementType();
    bool isInteger = element.isSignlessInteger(32);
    if (!isInteger && !element.isF32() && !element.isF64())
      return false;
    // The signedness of integer operands is an attribute of the named op.
    if (isInteger && op.getCast() != linalg::TypeFn::cast_signed)
      return false;
    for (MemRefType type : {aType, bType}) {
      Type operand = type.getElementType();
      if (isInteger ? !operand.isSignlessInteger() : !isa<FloatType>(operand))
        return false;
      if (bitWidth(type) > bitWidth(element))
        return false;
    }
    return lanes > 0 && hasVectorRows(bType) && hasVectorRows(cType);
  }

  void emit() {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    auto cType = cast<MemRefType>(c.getType());
    int64_t rows = cType.getDimSize(0), columns = cType.getDimSize(1);
    extendLhs();
    int64_t panels = columns / panelColumns;
    if (panels > 0) {
      Value packed = pack(0, panels, panelColumns);
      loops.loop(loops.index(0), loops.index(panels), 1, [&](Value panel) {
        Value column = loops.mul(panel, panelColumns);
        emitPanel(packed, panel, column, rows, panelColumns);
      });
    }
    if (int64_t rest = columns % panelColumns) {
      Value packed = pack(panels * panelColumns, 1, rest);
      emitPanel(packed, loops.index(0), loops.index(panels * panelColumns),
                rows, rest);
    }
    rewriter.eraseOp(op);
  }

private:
  Type accumulatorType() { return getElementTypeOrSelf(c.getType()); }

  Value extend(Value value) {
    Type type = accumulatorType();
    if (getElementTypeOrSelf(value.getType()) == type)
      return value;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = VectorType::get(vector.getShape(), type);
    if (isa<IntegerType>(accumulatorType()))
      return arith::ExtSIOp::create(rewriter, loc, type, value);
    return arith::ExtFOp::create(rewriter, loc, type, value);
  }

  Value multiplyAdd(Value lhs, Value rhs, Value accumulator) {
    if (isa<IntegerType>(accumulatorType()))
      return arith::AddIOp::create(
          rewriter, loc, accumulator,
          arith::MulIOp::create(rewriter, loc, lhs, rhs));
    // Allows a fused multiply-add if the target has one.
    auto contract = arith::FastMathFlagsAttr::get(
        rewriter.getContext(), arith::FastMathFlags::contract);
    Value multiplied = arith::MulFOp::create(rewriter, loc, lhs, rhs, contract);
    return arith::AddFOp::create(rewriter, loc, accumulator, multiplied,
                                 contract);
  }

  Value buffer(ArrayRef<int64_t> shape) {
    return memref::AllocOp::create(rewriter, loc,
                                   MemRefType::get(shape, accumulatorType()),
                                   rewriter.getI64IntegerAttr(64));
  }

  void extendLhs() {
    auto type = cast<MemRefType>(a.getType());
    if (type.getElementType() == accumulatorType())
      return;
    Value wide = buffer(type.getShape());
    loops.loop(
        loops.index(0), loops.index(type.getDimSize(0)), 1, [&](Value row) {
          if (!hasVectorRows(type)) {
            loops.loop(
                loops.index(0), loops.index(type.getDimSize(1)), 1,
                [&](Value column) {
                  Value value = load(rewriter, loc, type.getElementType(), a,
                                     {row, column});
                  store(rewriter, loc, extend(value), wide, {row, column});
                });
            return;
          }
          int64_t rest = type.getDimSize(1) % lanes;
          auto step = [&](Value column, int64_t width) {
            Value value =
                load(rewriter, loc, laneType(type.getElementType(), width), a,
                     {row, column});
            store(rewriter, loc, extend(value), wide, {row, column});
          };
          loops.loop(loops.index(0), loops.index(type.getDimSize(1) - rest),
                     lanes, [&](Value column) { step(column, lanes); });
          for (int64_t part : splitIntoVectors(rest, lanes)) {
            step(loops.index(type.getDimSize(1) - rest), part);
            rest -= part;
          }
        });
    a = wide;
  }

  /// Columns [begin, begin + panels * width) of b as [panel][k][column].
  Value pack(int64_t begin, int64_t panels, int64_t width) {
    auto type = cast<MemRefType>(b.getType());
    int64_t depth = type.getDimSize(0);
    Value packed = buffer({panels, depth, width});
    loops.loop(loops.index(0), loops.index(depth), 1, [&](Value k) {
      loops.loop(loops.index(0), loops.index(panels), 1, [&](Value panel) {
        Value column = loops.add(loops.mul(panel, width), loops.index(begin));
        int64_t done = 0;
        for (int64_t part : splitIntoVectors(width, lanes)) {
          Value from = loops.add(column, loops.index(done)),
                to = loops.index(done);
          Value value =
              load(rewriter, loc, laneType(type.getElementType(), part), b,
                   {k, from});
          store(rewriter, loc, extend(value), packed, {panel, k, to});
          done += part;
        }
      });
    });
    return packed;
  }

  void emitPanel(Value packed, Value panel, Value column, int64_t rows,
                 int64_t width) {
    int64_t rest = rows % blockRows;
    loops.loop(loops.index(0), loops.index(rows - rest), blockRows,
               [&](Value row) {
                 emitBlock(packed, panel, row, column, blockRows, width);
               });
    if (rest != 0)
      emitBlock(packed, panel, loops.index(rows - rest), column, rest, width);
  }

  void emitBlock(Value packed, Value panel, Value row, Value column,
                 int64_t rows, int64_t width) {
    SmallVector<int64_t> widths = splitIntoVectors(width, lanes);
    Type element = accumulatorType();
    int64_t depth = cast<MemRefType>(b.getType()).getDimSize(0);
    // The (row, column) of each accumulator, in row-major order.
    SmallVector<std::pair<Value, Value>> positions;
    SmallVector<Value> accumulators;
    for (int64_t i = 0; i < rows; ++i) {
      int64_t done = 0;
      for (int64_t part : widths) {
        positions.emplace_back(loops.add(row, loops.index(i)),
                               loops.add(column, loops.index(done)));
        accumulators.push_back(
            load(rewriter, loc, laneType(element, part), c,
                 {positions.back().first, positions.back().second}));
        done += part;
      }
    }
    auto loop = scf::ForOp::create(
        rewriter, loc, loops.index(0), loops.index(depth), loops.index(1),
        accumulators, [&](OpBuilder &, Location, Value k, ValueRange carried) {
          SmallVector<Value> rhs, next;
          int64_t done = 0;
          for (int64_t part : widths) {
            rhs.push_back(load(rewriter, loc, laneType(element, part), packed,
                               {panel, k, loops.index(done)}));
            done += part;
          }
          for (int64_t i = 0; i < rows; ++i) {
            Value lhs = load(rewriter, loc, element, a,
                             {loops.add(row, loops.index(i)), k});
            for (auto [part, value] : llvm::enumerate(rhs)) {
              Value splat = lhs;
              if (isa<VectorType>(value.getType()))
                splat = vector::BroadcastOp::create(rewriter, loc,
                                                    value.getType(), lhs);
              next.push_back(
                  multiplyAdd(splat, value, carried[i * rhs.size() + part]));
            }
          }
          scf::YieldOp::create(rewriter, loc, next);
        });
    for (auto [position, value] : llvm::zip_equal(positions, loop.getResults()))
      store(rewriter, loc, value, c, {position.first, position.second});
  }

  RewriterBase &rewriter;
  linalg::MatmulOp op;
  Location loc;
  LoopBuilder loops;
  Value a, b, c;
  int64_t lanes, blockRows, panelColumns;
};

} // namespace

/// Lowers each matmul of a batch. Fails without changes if the op is not a
/// plain batch of static size.
static LogicalResult lowerBatch(RewriterBase &rewriter,
                                linalg::BatchMatmulOp op, int64_t vectorBits) {
  if (op.hasUserDefinedMaps() || op.getCast() != linalg::TypeFn::cast_signed ||
      !op.hasPureBufferSemantics())
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  LoopBuilder loops{rewriter, loc};
  int64_t size = op.getStaticLoopRanges().front();
  if (ShapedType::isDynamic(size))
    return failure();
  linalg::MatmulOp matmul;
  loops.loop(loops.index(0), loops.index(size), 1, [&](Value number) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto type = cast<MemRefType>(operand.getType());
      SmallVector<OpFoldResult> offsets(3, rewriter.getIndexAttr(0)),
          sizes =
              getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()),
          strides(3, rewriter.getIndexAttr(1));
      offsets[0] = number;
      sizes[0] = rewriter.getIndexAttr(1);
      operands.push_back(memref::SubViewOp::create(
          rewriter, loc,
          memref::SubViewOp::inferRankReducedResultType(
              type.getShape().drop_front(), type, offsets, sizes, strides),
          operand, offsets, sizes, strides));
    }
    matmul = linalg::MatmulOp::create(
        rewriter, loc, ValueRange(operands).take_front(2), operands[2]);
  });
  rewriter.eraseOp(op);
  return smalti::lowerLinalgToVectorLoops(rewriter, matmul, vectorBits);
}

LogicalResult smalti::lowerLinalgToVectorLoops(RewriterBase &rewriter,
                                               linalg::LinalgOp op,
                                               int64_t vectorBits) {
  if (auto matmul = dyn_cast<linalg::MatmulOp>(op.getOperation())) {
    MatmulLoops matmulLoops(rewriter, matmul, vectorBits);
    if (matmulLoops.isSupported()) {
      matmulLoops.emit();
      return success();
    }
  }
  if (auto batch = dyn_cast<linalg::BatchMatmulOp>(op.getOperation());
      batch && succeeded(lowerBatch(rewriter, batch, vectorBits)))
    return success();
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic && op.getNumParallelLoops() == op.getNumLoops()) {
    FailureOr<linalg::GenericOp> generalized =
        linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(generalized))
      generic = *generalized;
  }
  if (generic) {
    ElementwiseLoops elementwise(rewriter, generic, vectorBits);
    if (elementwise.isVectorizable()) {
      elementwise.emit();
      return success();
    }
    op = cast<linalg::LinalgOp>(generic.getOperation());
  }
  rewriter.setInsertionPoint(op);
  if (failed(linalg::linalgOpToLoops(rewriter, op)))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
