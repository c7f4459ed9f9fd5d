//===- TileReductions.cpp - Loops of reductions and scans -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"
#include "smalti/passes/Conversion/ToCPU/TileOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

namespace {

/// Adjacent dimensions of the inputs that are all reduced or all kept.
struct Group {
  int64_t size, stride, resultStride;
  bool isReduced;
};

/// Loops that combine elements of flat buffers with the region of an op.
class CombinerLoops {
public:
  CombinerLoops(OpBuilder &builder, Location loc, Region &region,
                ValueRange inits, const TileBuffers &buffers,
                int64_t vectorBits)
      : builder(builder), loc(loc), loops{builder, loc}, body(region.front()),
        inits(inits), buffers(buffers) {
    maxLanes = countLanes(vectorBits);
  }

  void reduce(ArrayRef<Group> groups);
  void scan(int64_t outer, int64_t size, int64_t inner, bool isExclusive,
            bool isReverse);

private:
  using Values = SmallVector<Value>;

  int64_t countLanes(int64_t vectorBits) {
    int64_t widest = 8;
    auto addType = [&](Type type) {
      widest = std::max(widest, ::smalti::bitWidth(type));
    };
    llvm::for_each(body.getArgumentTypes(), addType);
    for (Operation &op : body) {
      if (!canCloneOnLanes(op))
        return 1;
      llvm::for_each(op.getResultTypes(), addType);
    }
    for (Value buffer : buffers.inputs)
      if (!hasVectorRows(cast<MemRefType>(buffer.getType())))
        return 1;
    return std::max<int64_t>(1, llvm::bit_floor<uint64_t>(vectorBits / widest));
  }

  Values combine(ValueRange left, ValueRange right) {
    auto vector = dyn_cast<VectorType>(left.front().getType());
    int64_t lanes = vector ? vector.getDimSize(0) : 1;
    IRMapping mapping;
    mapping.map(body.getArguments().take_front(left.size()), left);
    mapping.map(body.getArguments().drop_front(left.size()), right);
    cloneOnLanes(builder, loc, body, mapping, lanes);
    return llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  Values load(Value position, int64_t lanes) {
    return llvm::map_to_vector(buffers.inputs, [&](Value buffer) {
      Type element = getElementTypeOrSelf(buffer.getType());
      return ::smalti::load(builder, loc, laneType(element, lanes), buffer,
                            position);
    });
  }

  void store(ValueRange values, Value position) {
    for (auto [value, buffer] : llvm::zip_equal(values, buffers.results))
      ::smalti::store(builder, loc, value, buffer, position);
  }

  Values broadcastInits(int64_t lanes) {
    return llvm::map_to_vector(inits, [&](Value init) {
      return broadcastToLanes(builder, loc, init, lanes);
    });
  }

  /// The position at the indices of `groups`.
  Value locate(ArrayRef<Group> groups, ValueRange indices,
               int64_t Group::*stride) {
    Value position = loops.index(0);
    for (auto [group, index] : llvm::zip_equal(groups, indices))
      position = loops.add(position, loops.mul(index, group.*stride));
    return position;
  }

  /// Nested loops over the indices of `groups` that carry `values`.
  Values nest(ArrayRef<Group> groups, Value position, ValueRange values,
              llvm::function_ref<Values(Value, ValueRange)> leaf) {
    if (groups.empty())
      return leaf(position, values);
    return loops.reduce(
        0, groups.front().size, 1, values, [&](Value index, ValueRange next) {
          return nest(
              groups.drop_front(),
              loops.add(position, loops.mul(index, groups.front().stride)),
              next, leaf);
        });
  }

  /// Calls `emit` for chunks of `size` columns: a position and the widths of
  /// its vectors.
  void forEachChunk(int64_t size,
                    llvm::function_ref<void(Value, ArrayRef<int64_t>)> emit) {
    int64_t lanes = widestVector(size, maxLanes);
    int64_t vectors = std::min<int64_t>(size / lanes, kAccumulators);
    int64_t rest = size % (vectors * lanes);
    SmallVector<int64_t> widths(vectors, lanes);
    loops.loop(loops.index(0), loops.index(size - rest), vectors * lanes,
               [&](Value column) { emit(column, widths); });
    if (rest != 0)
      emit(loops.index(size - rest), splitIntoVectors(rest, maxLanes));
  }

  void reduceColumns(ArrayRef<Group> reduced, int64_t columns, Value position,
                     Value resultPosition);
  Values reduceRow(int64_t size, Value position, ValueRange values);
  Values reduceLanes(ValueRange values);

  /// Independent accumulators hide the latency of the region.
  static constexpr int64_t kAccumulators = 4;

  OpBuilder &builder;
  Location loc;
  LoopBuilder loops;
  Block &body;
  ValueRange inits;
  const TileBuffers &buffers;
  int64_t maxLanes = 1;
};

} // namespace

/// Reduces `columns` adjacent columns at a time, one in each lane.
void CombinerLoops::reduceColumns(ArrayRef<Group> reduced, int64_t columns,
                                  Value position, Value resultPosition) {
  forEachChunk(columns, [&](Value column, ArrayRef<int64_t> widths) {
    Values accumulators;
    for (int64_t width : widths)
      llvm::append_range(accumulators, broadcastInits(width));
    size_t number = inits.size();
    accumulators =
        nest(reduced, loops.add(position, column), accumulators,
             [&](Value at, ValueRange carried) {
               Values next;
               for (int64_t width : widths) {
                 llvm::append_range(next, combine(carried.take_front(number),
                                                  load(at, width)));
                 carried = carried.drop_front(number);
                 at = loops.add(at, loops.index(width));
               }
               return next;
             });
    ValueRange rest = accumulators;
    Value at = loops.add(resultPosition, column);
    for (int64_t width : widths) {
      store(rest.take_front(number), at);
      rest = rest.drop_front(number);
      at = loops.add(at, loops.index(width));
    }
  });
}

/// Reduces the lanes of vectors to scalars.
CombinerLoops::Values CombinerLoops::reduceLanes(ValueRange values) {
  Values vectors = values;
  for (int64_t lanes =
           cast<VectorType>(vectors.front().getType()).getDimSize(0);
       lanes > 1; lanes /= 2) {
    auto getHalf = [&](int64_t begin) {
      return llvm::map_to_vector(vectors, [&](Value vector) -> Value {
        if (lanes == 2)
          return vector::ExtractOp::create(builder, loc, vector, begin);
        SmallVector<int64_t> half =
            llvm::to_vector(llvm::seq(begin, begin + lanes / 2));
        return vector::ShuffleOp::create(builder, loc, vector, vector, half);
      });
    };
    Values left = getHalf(0), right = getHalf(lanes / 2);
    vectors = combine(left, right);
  }
  return vectors;
}

/// Combines `values` with `size` adjacent elements. Each lane starts with an
/// element, since the region may not have an identity.
CombinerLoops::Values CombinerLoops::reduceRow(int64_t size, Value position,
                                               ValueRange values) {
  int64_t lanes = widestVector(size, maxLanes);
  int64_t vectorized = lanes > 1 ? size / lanes * lanes : 0;
  auto at = [&](Value index) { return loops.add(position, index); };
  Values results = values;
  if (vectorized != 0) {
    size_t number = values.size();
    int64_t count = std::min<int64_t>(size / lanes, kAccumulators);
    int64_t step = count * lanes, whole = size / step * step;
    Values accumulators;
    for (int64_t i = 0; i < count; ++i)
      llvm::append_range(accumulators, load(at(loops.index(i * lanes)), lanes));
    accumulators = loops.reduce(
        step, whole, step, accumulators, [&](Value index, ValueRange carried) {
          Values next;
          for (int64_t i = 0; i < count; ++i) {
            Value here = at(loops.add(index, loops.index(i * lanes)));
            llvm::append_range(next, combine(carried.slice(i * number, number),
                                             load(here, lanes)));
          }
          return next;
        });
    Values sum(ArrayRef(accumulators).take_front(number));
    for (int64_t i = 1; i < count; ++i)
      sum = combine(sum, ValueRange(accumulators).slice(i * number, number));
    sum = loops.reduce(whole, vectorized, lanes, sum,
                       [&](Value index, ValueRange carried) {
                         return combine(carried, load(at(index), lanes));
                       });
    results = combine(values, reduceLanes(sum));
  }
  return loops.reduce(vectorized, size, 1, results,
                      [&](Value index, ValueRange carried) {
                        return combine(carried, load(at(index), 1));
                      });
}

void CombinerLoops::reduce(ArrayRef<Group> groups) {
  bool hasColumns = !groups.empty() && !groups.back().isReduced;
  bool hasRows = !groups.empty() && groups.back().isReduced;
  SmallVector<Group> kept, reduced;
  SmallVector<int64_t> keptShape;
  for (const Group &group : groups.drop_back(groups.empty() ? 0 : 1)) {
    (group.isReduced ? reduced : kept).push_back(group);
    if (!group.isReduced)
      keptShape.push_back(group.size);
  }
  loops.nest(keptShape, [&](ValueRange indices) {
    Value position = locate(kept, indices, &Group::stride),
          resultPosition = locate(kept, indices, &Group::resultStride);
    if (hasColumns)
      return reduceColumns(reduced, groups.back().size, position,
                           resultPosition);
    Values results = nest(
        reduced, position, inits, [&](Value at, ValueRange values) -> Values {
          return hasRows ? reduceRow(groups.back().size, at, values)
                         : combine(values, load(at, 1));
        });
    store(results, resultPosition);
  });
}

void CombinerLoops::scan(int64_t outer, int64_t size, int64_t inner,
                         bool isExclusive, bool isReverse) {
  loops.nest(outer, [&](ValueRange indices) {
    Value line = loops.mul(indices.front(), size * inner);
    forEachChunk(inner, [&](Value column, ArrayRef<int64_t> widths) {
      Value start = loops.add(line, column);
      for (int64_t width : widths) {
        loops.reduce(0, size, 1, broadcastInits(width),
                     [&](Value index, ValueRange carried) {
                       if (isReverse)
                         index = loops.sub(loops.index(size - 1), index);
                       Value at = loops.add(start, loops.mul(index, inner));
                       Values next = combine(carried, load(at, width));
                       store(isExclusive ? carried : ValueRange(next), at);
                       return next;
                     });
        start = loops.add(start, loops.index(width));
      }
    });
  });
}

void smalti::emitReduce(OpBuilder &builder, ReduceOp op,
                        const TileBuffers &buffers, int64_t vectorBits) {
  SmallVector<Group> groups;
  int64_t stride = 1, resultStride = 1;
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    int64_t size = shape[dim];
    bool isReduced = llvm::is_contained(op.getDims(), dim);
    if (size == 1)
      continue;
    if (!groups.empty() && groups.back().isReduced == isReduced)
      groups.back().size *= size;
    else
      groups.push_back({size, stride, resultStride, isReduced});
    stride *= size;
    if (!isReduced)
      resultStride *= size;
  }
  std::reverse(groups.begin(), groups.end());
  CombinerLoops(builder, op.getLoc(), op.getCombiner(), op.getInits(), buffers,
                vectorBits)
      .reduce(groups);
}

void smalti::emitScan(OpBuilder &builder, ScanOp op, const TileBuffers &buffers,
                      int64_t vectorBits) {
  ArrayRef<int64_t> shape = op.getInputType().getShape();
  int64_t outer = ShapedType::getNumElements(shape.take_front(op.getDim())),
          inner = ShapedType::getNumElements(shape.drop_front(op.getDim() + 1));
  CombinerLoops(builder, op.getLoc(), op.getCombiner(), op.getInits(), buffers,
                vectorBits)
      .scan(outer, shape[op.getDim()], inner, op.getExclusive(),
            op.getReverse());
}
