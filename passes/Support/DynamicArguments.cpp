//===- DynamicArguments.cpp - Kernel arguments of dynamic shape -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/DynamicArguments.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <limits>

using namespace mlir;
using namespace smalti;

bool smalti::isDynamic(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return !type.hasStaticShape() || ShapedType::isDynamic(offset) ||
         llvm::any_of(strides, ShapedType::isDynamic);
}

MemRefType smalti::getArgumentType(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  bool isEmpty = llvm::is_contained(type.getShape(), 0);
  if (offset == 0 && !isEmpty)
    return type;
  for (int64_t &stride : strides)
    if (isEmpty && (stride == 0 || type.getLayout().isIdentity()))
      stride = 1;
  return MemRefType::Builder(type).setLayout(
      StridedLayoutAttr::get(type.getContext(), /*offset=*/0, strides));
}

bool smalti::hasNegativeStride(MemRefType type) {
  return llvm::any_of(type.getStridesAndOffset().first, [](int64_t stride) {
    return !ShapedType::isDynamic(stride) && stride < 0;
  });
}

DynamicParameters smalti::getDynamicParameters(MemRefType type) {
  DynamicParameters parameters;
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.isDynamicDim(dim))
      parameters.sizes.push_back(dim);
    if (ShapedType::isDynamic(strides[dim]) && !type.getLayout().isIdentity())
      parameters.strides.push_back(dim);
  }
  return parameters;
}

std::optional<MemRefType> smalti::getDeclaredMemRef(gpu::GPUFuncOp func,
                                                    unsigned position) {
  auto declared = func->getAttrOfType<ArrayAttr>(kArguments);
  if (!declared)
    return std::nullopt;
  unsigned next = 0;
  for (Attribute attribute : declared) {
    auto stated = dyn_cast<TypeAttr>(attribute);
    auto type = stated ? dyn_cast<MemRefType>(stated.getValue()) : MemRefType();
    bool isWanted = next == position;
    bool hasParameters = type && type.isStrided() && isDynamic(type);
    if (isWanted)
      return hasParameters ? std::optional(type) : std::nullopt;
    next += 1 + (hasParameters ? getDynamicParameters(type).count() : 0);
  }
  return std::nullopt;
}

std::optional<unsigned> smalti::getDynamicArgument(Value memref,
                                                   gpu::GPUFuncOp func) {
  auto view = memref.getDefiningOp<memref::ReinterpretCastOp>();
  auto pointer =
      view ? dyn_cast<BlockArgument>(view.getSource()) : BlockArgument();
  if (!pointer || pointer.getOwner() != &func.getBody().front())
    return std::nullopt;
  unsigned position = pointer.getArgNumber();
  std::optional<MemRefType> declared = getDeclaredMemRef(func, position);
  if (!declared || view.getType() != *declared ||
      getConstantIntValue(view.getMixedOffsets().front()) != 0)
    return std::nullopt;
  auto isParameter = [&](OpFoldResult value, unsigned number) {
    auto parameter = dyn_cast<Value>(value);
    // Facts about the parameter do not change it.
    while (parameter &&
           isa_and_nonnull<mosaic_gpu::AssumeMultipleOp, arith::IndexCastOp,
                           arith::IndexCastUIOp>(parameter.getDefiningOp()))
      parameter = parameter.getDefiningOp()->getOperand(0);
    auto argument = dyn_cast_or_null<BlockArgument>(parameter);
    return argument && argument.getOwner() == pointer.getOwner() &&
           argument.getArgNumber() == number;
  };
  DynamicParameters dynamic = getDynamicParameters(*declared);
  for (int64_t dim : dynamic.sizes)
    if (!isParameter(view.getMixedSizes()[dim], ++position))
      return std::nullopt;
  for (int64_t dim : dynamic.strides)
    if (!isParameter(view.getMixedStrides()[dim], ++position))
      return std::nullopt;
  return pointer.getArgNumber();
}

bool smalti::hasSmallOffsets(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::MemorySpaceCastOp,
             memref::ReinterpretCastOp, memref::SubViewOp, memref::TransposeOp>(
            op))
      return false;
    memref = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(memref);
  auto func = argument
                  ? dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
                  : gpu::GPUFuncOp();
  std::optional<MemRefType> declared =
      func ? getDeclaredMemRef(func, argument.getArgNumber()) : std::nullopt;
  if (!declared || hasNegativeStride(*declared))
    return false;
  auto bytes = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                  triton_xla::kMaxBytes);
  return bytes && bytes.getInt() <= std::numeric_limits<int32_t>::max();
}
