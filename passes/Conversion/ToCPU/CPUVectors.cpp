//===- CPUVectors.cpp - Building blocks of vectorized loops ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"

#include "smalti/passes/Conversion/ToCPU/CPULoops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

int64_t smalti::bitWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

void LoopBuilder::loop(Value begin, Value end, int64_t step,
                       llvm::function_ref<void(Value)> body, int64_t most) {
  std::optional<int64_t> first = getConstantIntValue(begin),
                         last = getConstantIntValue(end);
  if (first && last && *first >= *last)
    return;
  if (first && last && *last - *first <= step)
    return body(begin);
  auto loop =
      scf::ForOp::create(b, loc, begin, end, index(step), ValueRange(),
                         [&](OpBuilder &, Location, Value iv, ValueRange) {
                           body(iv);
                           scf::YieldOp::create(b, loc);
                         });
  if (most)
    loop->setAttr(kMaxTripCountAttr,
                  b.getI64IntegerAttr(llvm::divideCeil(most, step)));
}

void LoopBuilder::nest(ArrayRef<int64_t> shape,
                       llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> indices;
  std::function<void()> next = [&] {
    if (indices.size() == shape.size())
      return body(indices);
    loop(index(0), index(shape[indices.size()]), 1, [&](Value iv) {
      indices.push_back(iv);
      next();
      indices.pop_back();
    });
  };
  next();
}

SmallVector<Value> LoopBuilder::reduce(
    int64_t begin, int64_t end, int64_t step, ValueRange values,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (begin >= end)
    return values;
  if (end - begin <= step)
    return body(index(begin), values);
  auto loop = scf::ForOp::create(
      b, loc, index(begin), index(end), index(step), values,
      [&](OpBuilder &, Location, Value iv, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(iv, carried));
      });
  return loop.getResults();
}

bool smalti::hasVectorRows(MemRefType type) {
  int64_t bits = bitWidth(type.getElementType());
  if (type.getRank() == 0 || bits < 8 || !llvm::isPowerOf2_64(bits))
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

int64_t smalti::widestVector(int64_t count, int64_t lanes) {
  return llvm::bit_floor<uint64_t>(
      std::min(count, std::max<int64_t>(1, lanes)));
}

SmallVector<int64_t> smalti::splitIntoVectors(int64_t count, int64_t lanes) {
  SmallVector<int64_t> widths;
  for (; count > 0; count -= widths.back())
    widths.push_back(widestVector(count, lanes));
  return widths;
}

Type smalti::laneType(Type element, int64_t lanes) {
  return lanes == 1 ? element : VectorType::get({lanes}, element);
}

Value smalti::load(OpBuilder &builder, Location loc, Type type, Value memref,
                   ValueRange indices) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector::LoadOp::create(builder, loc, vector, memref, indices);
  return memref::LoadOp::create(builder, loc, memref, indices);
}

void smalti::store(OpBuilder &builder, Location loc, Value value, Value memref,
                   ValueRange indices) {
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(builder, loc, value, memref, indices);
  else
    memref::StoreOp::create(builder, loc, value, memref, indices);
}

Value smalti::broadcastToLanes(OpBuilder &builder, Location loc, Value scalar,
                               int64_t lanes) {
  if (lanes == 1)
    return scalar;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get({lanes}, scalar.getType()), scalar);
}

bool smalti::canCloneOnLanes(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return constant.getType().isIntOrIndexOrFloat();
  return op.hasTrait<OpTrait::IsTerminator>() ||
         (OpTrait::hasElementwiseMappableTraits(&op) &&
          op.getNumRegions() == 0 &&
          llvm::all_of(op.getOperandTypes(),
                       [](Type type) { return type.isIntOrIndexOrFloat(); }));
}

void smalti::cloneOnLanes(OpBuilder &builder, Location loc, Block &block,
                          IRMapping &mapping, int64_t lanes) {
  auto mapToLanes = [&](Value value) {
    if (lanes != 1 && !mapping.contains(value))
      mapping.map(value, broadcastToLanes(builder, loc, value, lanes));
  };
  for (Operation &inner : block.without_terminator()) {
    if (inner.getNumResults() != 0 && mapping.contains(inner.getResult(0)))
      continue;
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      TypedAttr value = constant.getValue();
      if (lanes > 1)
        value = DenseElementsAttr::get(
            VectorType::get({lanes}, constant.getType()), value);
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(builder, loc, value).getResult());
      continue;
    }
    for (Value operand : inner.getOperands())
      mapToLanes(operand);
    Operation *clone = builder.clone(inner, mapping);
    for (Value result : clone->getResults())
      result.setType(laneType(result.getType(), lanes));
  }
  for (Value operand : block.getTerminator()->getOperands())
    mapToLanes(operand);
}
