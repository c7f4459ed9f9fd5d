//===- KernelArguments.cpp - Memory of kernel arguments -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/KernelArguments.h"

#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Support/AtomicKinds.h"
#include "smalti/passes/Support/DynamicArguments.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

Type smalti::getBufferElement(Type element) {
  auto i = [&](unsigned bits) {
    return IntegerType::get(element.getContext(), bits);
  };
  if (element.isIndex())
    return i(64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return i(std::max<uint64_t>(8, llvm::PowerOf2Ceil(integer.getWidth())));
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits % 8 == 0 ? element : i(8);
}

/// The type of the memory of an argument after the conversion; null if the
/// argument does not change.
static MemRefType getStoredType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return {};
  Type element = memref.getElementType();
  if (getPackedBits(element) == 0)
    element = getBufferElement(element);
  MemRefLayoutAttrInterface layout = getArgumentType(memref).getLayout();
  if (element == memref.getElementType() && layout == memref.getLayout())
    return {};
  return MemRefType::Builder(memref).setElementType(element).setLayout(layout);
}

bool smalti::hasConvertedArguments(EntryFuncOp func) {
  return llvm::any_of(func.getArgumentTypes(), getStoredType);
}

/// Converts the value of an operand to the type in memory.
static void convertOperand(OpOperand &operand) {
  ImplicitLocOpBuilder b(operand.getOwner()->getLoc(), operand.getOwner());
  Value value = operand.get();
  Type element = getElementTypeOrSelf(value.getType()),
       stored = getBufferElement(element);
  if (element.isIndex()) {
    operand.set(arith::IndexCastOp::create(
        b, withElement(value.getType(), stored), value));
    return;
  }
  if (isa<FloatType>(element))
    value = arith::BitcastOp::create(
        b,
        withElement(value.getType(),
                    b.getIntegerType(element.getIntOrFloatBitWidth())),
        value);
  operand.set(
      arith::ExtUIOp::create(b, withElement(value.getType(), stored), value));
}

/// Changes a result to the type in memory, and converts it for its users.
static void convertResult(OpResult result) {
  Operation *op = result.getOwner();
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPointAfter(op);
  Type type = result.getType(), element = getElementTypeOrSelf(type);
  result.setType(withElement(type, getBufferElement(element)));
  Operation *first;
  Value value;
  if (element.isIndex()) {
    first = arith::IndexCastOp::create(b, type, result);
    value = first->getResult(0);
  } else {
    Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
    first = arith::TruncIOp::create(b, withElement(type, bits), result);
    value = first->getResult(0);
    if (bits != element)
      value = arith::BitcastOp::create(b, type, value);
  }
  result.replaceAllUsesExcept(value, first);
}

/// The value of elements out of bounds, in memory; null for zero.
static TypedAttr convertFill(TypedAttr fill) {
  if (!fill)
    return {};
  Type stored = getBufferElement(fill.getType());
  unsigned bits = stored.getIntOrFloatBitWidth();
  if (auto integer = dyn_cast<IntegerAttr>(fill))
    return IntegerAttr::get(stored, integer.getValue().zextOrTrunc(bits));
  return IntegerAttr::get(
      stored, cast<FloatAttr>(fill).getValue().bitcastToAPInt().zext(bits));
}

static void convertAccess(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<ExtractOp, GatherOp>([](auto op) {
        if (TypedAttr fill = convertFill(op.getFillAttr()))
          op.setFillAttr(fill);
        convertResult(cast<OpResult>(Value(op->getResult(0))));
      })
      .Case([](memref::LoadOp op) {
        convertResult(cast<OpResult>(op.getResult()));
      })
      .Case<InsertOp, ScatterOp>(
          [](auto op) { convertOperand(op.getTileMutable()); })
      .Case([](memref::StoreOp op) { convertOperand(op.getValueMutable()); })
      .Case([](AtomicRMWOp op) {
        if (getElementTypeOrSelf(op.getValue()).isInteger(1))
          op.setKind(getKindOfBools(op.getKind()));
        convertOperand(op.getValueMutable());
        convertResult(cast<OpResult>(Value(op.getResult())));
      })
      .Case([](AtomicCASOp op) {
        convertOperand(op.getExpectedMutable());
        convertOperand(op.getDesiredMutable());
        convertResult(cast<OpResult>(Value(op.getResult())));
      })
      // The plan refuses memref.atomic_rmw.
      .Case<memref::DimOp, memref::AtomicRMWOp>([](Operation *) {})
      .DefaultUnreachable("the op does not access the memory of an argument");
}

void smalti::convertArguments(EntryFuncOp func) {
  Builder builder(func.getContext());
  func->setAttr(kArguments,
                builder.getTypeArrayAttr(llvm::to_vector(llvm::map_range(
                    func.getKernelArguments(), [](BlockArgument argument) {
                      return argument.getType();
                    }))));
  SmallVector<Operation *> accesses;
  for (BlockArgument argument : func.getKernelArguments()) {
    MemRefType stored = getStoredType(argument.getType());
    if (!stored)
      continue;
    Type element = cast<MemRefType>(argument.getType()).getElementType();
    argument.setType(stored);
    if (stored.getElementType() != element)
      llvm::append_range(accesses, argument.getUsers());
  }
  for (Operation *access : accesses)
    convertAccess(access);
  func.setFunctionType(builder.getFunctionType(
      func.getBody().front().getArgumentTypes(), /*results=*/{}));
}
