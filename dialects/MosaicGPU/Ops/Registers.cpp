//===- Registers.cpp - Vectors in registers -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/targets/Text.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Registers.cpp.inc"

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Prints all parts into one string.
template <typename... Ts> static std::string toText(const Ts &...parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return text;
}

VectorType smalti::mosaic_gpu::getVectorOf(MemRefType type,
                                           std::string &reason) {
  if (!type.hasStaticShape())
    reason = toText("the memref must have a static shape, but is '", type, "'");
  else if (llvm::is_contained(type.getShape(), 0))
    reason = toText("the memref must have at least one element, but is '", type,
                    "'");
  else if (!VectorType::isValidElementType(type.getElementType()))
    reason = toText("cannot load elements of '", type.getElementType(),
                    "', because a vector cannot contain this type");
  else
    return VectorType::get(type.getShape(), type.getElementType());
  return {};
}

/// Infers the vector of all elements of the first operand.
static LogicalResult inferVectorOf(StringRef name, std::optional<Location> loc,
                                   ValueRange operands,
                                   SmallVectorImpl<Type> &types) {
  auto memory = operands.empty()
                    ? MemRefType()
                    : dyn_cast<MemRefType>(operands.front().getType());
  if (!memory)
    return emitOptionalError(loc, "'", name, "' op requires a memref operand");
  std::string reason;
  VectorType type = getVectorOf(memory, reason);
  if (!type)
    return emitOptionalError(loc, "'", name, "' op ", reason);
  types.push_back(type);
  return success();
}

/// Shared checks of loads and stores of block-level vectors.
static LogicalResult verifyTransfer(Operation *op, MemRefType memory,
                                    VectorType vector) {
  if (!isSharedMemory(memory) && !isGlobalMemory(memory) &&
      !isClusterMemory(memory))
    return op->emitOpError() << "the memref must be in shared memory (address "
                                "space workgroup) or global memory, but is "
                             << memory;
  if (memory.getShape() != vector.getShape())
    return op->emitOpError()
           << "memref and vector must have the same shape, but found " << memory
           << " and " << vector;
  if (memory.getElementType() != vector.getElementType())
    return op->emitOpError()
           << "memref and vector must have the same element type, but found "
           << memory << " and " << vector;
  if (!memory.isStrided())
    return op->emitOpError() << "the memref must be strided, but is " << memory;
  return verifyLayouts(op);
}

LogicalResult VectorLoadOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferVectorOf(getOperationName(), loc, adaptor.getOperands(), types);
}

LogicalResult VectorLoadOp::verify() {
  return verifyTransfer(*this, getSource().getType(), getResult().getType());
}

void VectorStoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  OpOperand *destination = &getDestinationMutable();
  if (getAtomicType())
    effects.emplace_back(MemoryEffects::Read::get(), destination);
  effects.emplace_back(MemoryEffects::Write::get(), destination);
}

LogicalResult VectorStoreOp::verify() {
  MemRefType memory = getDestination().getType();
  if (getMultimem() && !isGlobalMemory(memory))
    return emitOpError() << "with 'multimem', the destination must be in "
                            "global memory, but found "
                         << memory;
  Type element = memory.getElementType();
  auto atomic = getAtomicType();
  if (atomic && isa<FloatType>(element) &&
      llvm::is_contained(
          {AtomicOpType::And, AtomicOpType::Or, AtomicOpType::Xor}, *atomic))
    return emitOpError() << "the atomic operation '"
                         << stringifyAtomicOpType(*atomic)
                         << "' requires integer elements, but found "
                         << element;
  return verifyTransfer(*this, memory, getValueToStore().getType());
}

LogicalResult MultimemLoadReduceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferVectorOf(getOperationName(), loc, adaptor.getOperands(), types);
}

/// The reason if a reduction across devices does not support this type.
static std::optional<std::string>
checkReduction(Type element, MultimemLoadReductionType reduction) {
  using Reduction = MultimemLoadReductionType;
  std::string name = stringifyMultimemLoadReductionType(reduction).str();
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (integer.getWidth() != 32 && integer.getWidth() != 64)
      return "integer elements must have 32 or 64 bits";
    if (llvm::is_contained({Reduction::Min, Reduction::Max}, reduction))
      return "for integers, '" + name + "' must be 'u" + name +
             "' (unsigned) or 's" + name + "' (signed)";
    return std::nullopt;
  }
  if (!isa<Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType,
           Float8E5M2Type>(element))
    return "supported element types are f16, bf16, f32, f8E4M3FN, f8E5M2, i32 "
           "and i64";
  if (!llvm::is_contained({Reduction::Add, Reduction::Min, Reduction::Max},
                          reduction))
    return "the reduction '" + name +
           "' requires integers; floats support 'add', 'min' and 'max'";
  if (element.isF32() && reduction != Reduction::Add)
    return "f32 supports only the reduction 'add', but found '" + name + "'";
  return std::nullopt;
}

LogicalResult MultimemLoadReduceOp::verify() {
  MemRefType source = getSource().getType();
  if (failed(verifyInGlobal(*this, "source", source)))
    return failure();
  if (auto reason = checkReduction(source.getElementType(), getReductionType()))
    return emitOpError() << "cannot reduce " << source.getElementType() << ": "
                         << *reason;
  return verifyTransfer(*this, source, getResult().getType());
}

//===----------------------------------------------------------------------===//
// Layouts and shapes
//===----------------------------------------------------------------------===//

/// Whether two layouts are equal in canonical form.
static bool areSameLayout(Attribute lhs, Attribute rhs) {
  auto lhsTiled = dyn_cast<TiledLayoutAttr>(lhs),
       rhsTiled = dyn_cast<TiledLayoutAttr>(rhs);
  if (lhsTiled && rhsTiled)
    return lhsTiled.getLayout().canonical() == rhsTiled.getLayout().canonical();
  return lhs == rhs;
}

LogicalResult LayoutCastOp::verify() {
  if (auto reason = checkLayout(getNewLayout(), getResult().getType()))
    return emitOpError() << "'new_layout' is not valid for "
                         << getResult().getType() << ": " << *reason;
  if (failed(verifyLayouts(*this)))
    return failure();
  Attribute outLayout = getOutLayout(*this);
  if (outLayout && !areSameLayout(outLayout, getNewLayout()))
    return emitOpError() << "'out_layouts' is " << outLayout
                         << " and 'new_layout' is " << getNewLayout()
                         << "; they must be equal";
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  VectorType operand = getOperand().getType(), result = getResult().getType();
  if (operand.getRank() == 0)
    return emitOpError()
           << "operand must have at least one dimension, but found " << operand;
  if (operand.isScalable() || result.isScalable())
    return emitOpError() << "vectors must not be scalable, but found "
                         << operand << " and " << result;
  if (operand.getElementType() != result.getElementType())
    return emitOpError()
           << "operand and result must have the same element type, but found "
           << operand << " and " << result;
  if (operand.getRank() > result.getRank())
    return emitOpError()
           << "result must have at least the operand's rank, but found "
           << operand << " and " << result;
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (static_cast<int64_t>(dims.size()) != operand.getRank())
    return emitOpError() << "'broadcast_dimensions' has "
                         << smalti::counted(dims.size(), "entry", "entries")
                         << ", but the operand has "
                         << smalti::counted(operand.getRank(), "dimension")
                         << "; list the result dimension of each "
                            "operand dimension";
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= result.getRank())
      return emitOpError() << "'broadcast_dimensions' contains " << dim
                           << ", but the result has rank " << result.getRank()
                           << " and dimensions are counted from 0";
    if (index > 0 && dim <= dims[index - 1])
      return emitOpError()
             << "'broadcast_dimensions' must be strictly increasing, but found "
             << dims[index - 1] << " before " << dim;
    int64_t size = operand.getDimSize(index);
    if (size != 1 && size != result.getDimSize(dim))
      return emitOpError() << "operand dimension " << index
                           << " must have size 1 or " << result.getDimSize(dim)
                           << ", the size of result dimension " << dim
                           << ", but found " << size;
  }
  return verifyLayouts(*this);
}

/// The type of concatenated vectors; null and the reason if it does not exist.
static VectorType getConcatenated(ValueRange operands, int64_t dimension,
                                  std::string &reason) {
  if (operands.empty()) {
    reason = "requires at least one operand";
    return {};
  }
  auto first = dyn_cast<VectorType>(operands.front().getType());
  if (!first || first.isScalable()) {
    reason = "operands must be vectors of fixed length, but operand 0 is '" +
             toText(operands.front().getType()) + "'";
    return {};
  }
  if (dimension < 0 || dimension >= first.getRank()) {
    reason =
        toText("'dimension' is ", dimension, ", but the operands have rank ",
               first.getRank(), " and dimensions are counted from 0");
    return {};
  }
  SmallVector<int64_t> shape(first.getShape());
  for (Value operand : operands.drop_front()) {
    auto type = dyn_cast<VectorType>(operand.getType());
    bool fits = type && !type.isScalable() &&
                type.getElementType() == first.getElementType() &&
                type.getRank() == first.getRank();
    for (int64_t dim = 0; fits && dim < first.getRank(); ++dim)
      fits = dim == dimension || type.getDimSize(dim) == first.getDimSize(dim);
    if (!fits) {
      reason = toText(
          "the types of the operands may differ only in the size of "
          "dimension ",
          dimension, ", but found '", first, "' and '", operand.getType(), "'");
      return {};
    }
    if (llvm::AddOverflow(shape[dimension], type.getDimSize(dimension),
                          shape[dimension])) {
      reason = toText("the size of the result in dimension ", dimension,
                      " exceeds the 64-bit range");
      return {};
    }
  }
  return VectorType::get(shape, first.getElementType());
}

LogicalResult VectorConcatOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  IntegerAttr dimension = adaptor.getProperties().dimension;
  if (!dimension)
    return emitOptionalError(loc, "'", getOperationName(),
                             "' op requires the attribute 'dimension'");
  std::string reason;
  VectorType type =
      getConcatenated(adaptor.getOperands(), dimension.getInt(), reason);
  if (!type)
    return emitOptionalError(loc, "'", getOperationName(), "' op ", reason);
  types.push_back(type);
  return success();
}

LogicalResult VectorConcatOp::verify() {
  std::string reason;
  VectorType type =
      getConcatenated(getOperands(), getDimensionAttr().getInt(), reason);
  if (!type)
    return emitOpError() << reason;
  if (type != getResult().getType())
    return emitOpError() << "result must be " << type << ", but found "
                         << getResult().getType();
  return verifyLayouts(*this);
}

LogicalResult BroadcastedIotaOp::verify() {
  VectorType type = getResult().getType();
  if (static_cast<int64_t>(getDimension()) >= type.getRank())
    return emitOpError() << "'dimension' is " << getDimension()
                         << ", but the result " << type << " has rank "
                         << type.getRank()
                         << " and dimensions are counted from 0";
  if (!type.getElementType().isIntOrIndexOrFloat())
    return emitOpError()
           << "elements of the result must be integers, floats or index, but "
              "found "
           << type.getElementType();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// optimization_barrier
//===----------------------------------------------------------------------===//

LogicalResult OptimizationBarrierOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (adaptor.getOperands().empty())
    return emitOptionalError(loc, "'", getOperationName(),
                             "' op requires at least one operand");
  llvm::append_range(types, adaptor.getOperands().getTypes());
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "requires at least one operand";
  if (getOperandTypes() != getResultTypes())
    return emitOpError() << "the operands are of types "
                         << TypeRange(getOperandTypes())
                         << ", but the results are of types "
                         << TypeRange(getResultTypes())
                         << "; the types must be equal";
  return verifyLayouts(*this);
}
