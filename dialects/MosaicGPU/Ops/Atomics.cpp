//===- Atomics.cpp - Atomic operations at index vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

/// The type of a mask follows from the type of the indices.
static ParseResult
parseMaskType(OpAsmParser &,
              const std::optional<OpAsmParser::UnresolvedOperand> &mask,
              Type indices, Type &type) {
  auto vector = dyn_cast<VectorType>(indices);
  if (mask && vector)
    type = vector.clone(IntegerType::get(indices.getContext(), 1));
  return success();
}

static void printMaskType(OpAsmPrinter &, Operation *, Value, Type, Type) {}

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Atomics.cpp.inc"

/// Whether atomic operations support elements of the type, in shared memory or
/// packed in global memory.
static bool isAtomicElement(Type type, bool isShared) {
  if (!type.isSignlessInteger() && !isa<FloatType>(type))
    return false;
  unsigned bits = type.getIntOrFloatBitWidth();
  return llvm::is_contained({8u, 16u, 32u, 64u}, bits) ||
         (!isShared && (bits == 2 || bits == 4));
}

/// Shared checks of atomic operations: memory, and types of the vectors.
template <typename OpTy>
static LogicalResult verifyAtomic(OpTy op, Value values) {
  MemRefType memory = op.getDestination().getType();
  if (!isSharedMemory(memory) && !isGlobalMemory(memory))
    return op.emitOpError() << "destination must be in shared memory (address "
                               "space workgroup) or global memory, but found "
                            << memory;
  if (memory.getRank() != 1 || !memory.isStrided())
    return op.emitOpError()
           << "destination must be a strided memref of rank 1, but found "
           << memory;
  auto type = cast<VectorType>(values.getType());
  if (type.getElementType() != memory.getElementType())
    return op.emitOpError()
           << "destination and values must have the same element type, but "
              "found "
           << memory << " and " << type;
  bool isShared = isSharedMemory(memory);
  if (!isAtomicElement(type.getElementType(), isShared))
    return op.emitOpError()
           << "elements of the values must be signless integers or floats of "
           << (isShared ? "" : "2, 4, ") << "8, 16, 32 or 64 bits, but found "
           << type.getElementType();
  if (op.getOld() && op.getOld().getType() != type)
    return op.emitOpError() << "the result must have the type of the values, "
                            << type << ", but is " << op.getOld().getType();
  for (Value operand : op->getOperands())
    if (auto vector = dyn_cast<VectorType>(operand.getType());
        vector && vector.getShape() != type.getShape())
      return op.emitOpError()
             << "all vector operands must have the same shape, but found "
             << type << " and " << vector;
  return verifyLayouts(op);
}

template <typename OpTy>
static void
addEffects(OpTy op,
           SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
               &effects) {
  OpOperand *destination = &op.getDestinationMutable();
  effects.emplace_back(MemoryEffects::Read::get(), destination);
  effects.emplace_back(MemoryEffects::Write::get(), destination);
  if (op.getOrdering() == AtomicOrdering::Relaxed)
    return;
  // Accesses of other memory do not move across an acquire or a release.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// atomic_rmw
//===----------------------------------------------------------------------===//

void AtomicRMWOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addEffects(*this, effects);
}

LogicalResult AtomicRMWOp::verify() {
  if (failed(verifyAtomic(*this, getValues())))
    return failure();
  using Kind = arith::AtomicRMWKind;
  Type element = cast<VectorType>(getValues().getType()).getElementType();
  StringRef kind = arith::stringifyAtomicRMWKind(getKind());
  switch (getKind()) {
  case Kind::assign:
    return success();
  case Kind::addf:
  case Kind::mulf:
  case Kind::maximumf:
  case Kind::minimumf:
  case Kind::maxnumf:
  case Kind::minnumf:
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
      return emitOpError() << "kind '" << kind
                           << "' requires elements of f16, bf16, f32 or f64, "
                              "but found "
                           << element;
    return success();
  default:
    if (!element.isInteger())
      return emitOpError() << "kind '" << kind
                           << "' requires integer elements, but found "
                           << element;
    return success();
  }
}

//===----------------------------------------------------------------------===//
// atomic_cas
//===----------------------------------------------------------------------===//

void AtomicCASOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addEffects(*this, effects);
}

LogicalResult AtomicCASOp::verify() {
  return verifyAtomic(*this, getExpected());
}
