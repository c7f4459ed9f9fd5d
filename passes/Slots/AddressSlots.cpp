//===- AddressSlots.cpp - Slots of accesses by address --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Slots/AddressSlots.h"

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Analysis/Integers/IntegerSum.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Slots/IterationSlots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

/// The summands of an address.
static SmallVector<Value> getSummands(Value address) {
  constexpr size_t mostSummands = 16;
  SmallVector<Value> pending = {address}, summands;
  while (!pending.empty() && pending.size() + summands.size() < mostSummands) {
    Value value = pending.pop_back_val();
    Operation *def = value.getDefiningOp();
    // Addresses in shared memory have 32 bits.
    if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(def) &&
        ConstantIntRanges::getStorageBitwidth(value.getType()) >= 32)
      pending.push_back(def->getOperand(0));
    else if (isa_and_nonnull<arith::AddIOp, LLVM::AddOp>(def))
      llvm::append_range(pending, def->getOperands());
    else
      summands.push_back(value);
  }
  if (!pending.empty())
    summands.clear();
  return summands;
}

/// The offset in bytes that the op adds to a pointer.
static std::optional<IntegerSum> getOffset(LLVM::GEPOp step) {
  std::optional<int64_t> bytes = getElementBytes(step.getElemType());
  if (!bytes || !step.getElemType().isIntOrFloat() ||
      step.getElemType().getIntOrFloatBitWidth() != 8 * *bytes ||
      step.getRawConstantIndices().size() != 1)
    return std::nullopt;
  IntegerSum none = IntegerSum::of(int64_t(0));
  if (step.getDynamicIndices().empty())
    return IntegerSum::combine(
        none, IntegerSum::of(int64_t(step.getRawConstantIndices().front())),
        *bytes);
  // The index may be narrower than an address, so the sum must not wrap.
  return IntegerSum::combine(
      none, IntegerSum::of(step.getDynamicIndices().front(), /*budget=*/0),
      *bytes);
}

/// The memref and the field of its descriptor that the value is.
static std::pair<Value, int64_t> getDescriptorPart(Value value) {
  auto extract = value.getDefiningOp<LLVM::ExtractValueOp>();
  auto cast =
      extract
          ? extract.getContainer().getDefiningOp<UnrealizedConversionCastOp>()
          : UnrealizedConversionCastOp();
  if (!cast || cast->getNumOperands() != 1 ||
      !isa<MemRefType>(cast.getOperand(0).getType()) ||
      extract.getPosition().size() != 1)
    return {};
  return {cast.getOperand(0), extract.getPosition().front()};
}

/// The constant offset in a memref descriptor.
static std::optional<int64_t> getDescriptorOffset(Value value) {
  constexpr int64_t ofOffset = 2;
  auto [memref, part] = getDescriptorPart(value);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!memref || part != ofOffset ||
      failed(cast<MemRefType>(memref.getType())
                 .getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return std::nullopt;
  return offset;
}

/// Whether the value is the start address of the buffer.
static bool isAddressOf(Value value, Value buffer) {
  constexpr int64_t ofAddress = 1;
  if (auto number = value.getDefiningOp<LLVM::PtrToIntOp>())
    value = number.getArg();
  Value memref;
  if (auto extract =
          value.getDefiningOp<memref::ExtractAlignedPointerAsIndexOp>())
    memref = extract.getSource();
  else if (auto [described, part] = getDescriptorPart(value); part == ofAddress)
    memref = described;
  if (!memref)
    return false;
  // These views have the address of their source.
  while (memref != buffer) {
    Operation *view = memref.getDefiningOp();
    if (!isa_and_nonnull<memref::SubViewOp, memref::CastOp>(view))
      return false;
    memref = view->getOperand(0);
  }
  return true;
}

std::optional<IterationSlot>
smalti::matchAddressSlot(Value pointer, Value buffer, int64_t bytes,
                         scf::ForOp loop, const IntegerRanges &ranges) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  std::optional<IntegerSum> offset = IntegerSum::of(int64_t(0));
  while (Operation *step = pointer.getDefiningOp()) {
    if (auto gep = dyn_cast<LLVM::GEPOp>(step))
      offset = IntegerSum::combine(offset, getOffset(gep), 1);
    else if (!isa<LLVM::AddrSpaceCastOp>(step))
      break;
    pointer = step->getOperand(0);
  }
  bool hasAddress = isAddressOf(pointer, buffer);
  auto toPointer = pointer.getDefiningOp<LLVM::IntToPtrOp>();
  std::optional<int64_t> all = type && type.hasStaticShape() &&
                                       type.getRank() > 0 &&
                                       type.getLayout().isIdentity()
                                   ? getBufferBytes(type)
                                   : std::nullopt;
  if (!(toPointer || hasAddress) || !all || *all <= 0 ||
      *all % type.getDimSize(0) != 0)
    return std::nullopt;
  int64_t slotBytes = *all / type.getDimSize(0);

  SmallVector<Value> summands;
  if (!hasAddress)
    summands = getSummands(toPointer.getArg());
  for (Value summand : summands) {
    if (!hasAddress && isAddressOf(summand, buffer))
      hasAddress = true;
    else
      offset = IntegerSum::combine(offset, IntegerSum::of(summand), 1);
  }
  auto terms = hasAddress && offset ? offset->getTerms() : std::nullopt;
  if (!terms)
    return std::nullopt;

  std::optional<IterationSlot> slot;
  int64_t last = bytes;
  for (auto [value, factor] : *terms) {
    if (factor < 0)
      return std::nullopt;
    if (std::optional<int64_t> known =
            value ? getDescriptorOffset(value) : std::optional<int64_t>(1)) {
      if (*known < 0 || llvm::MulOverflow(factor, *known, factor) ||
          llvm::AddOverflow(last, factor, last))
        return std::nullopt;
      continue;
    }
    if (factor == slotBytes && !slot) {
      slot = matchIterationSlot(value, loop);
      if (slot)
        continue;
    }
    APInt most = ranges.getRanges(value).umax();
    if (most.getActiveBits() > 31 ||
        llvm::MulOverflow(factor, int64_t(most.getZExtValue()), factor) ||
        llvm::AddOverflow(last, factor, last))
      return std::nullopt;
  }
  if (!slot || slot->depth > type.getDimSize(0) || last > slotBytes)
    return std::nullopt;
  return slot;
}
