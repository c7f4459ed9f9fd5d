//===- CPUAtomics.cpp - Atomic operations on the CPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUAtomics.h"

#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Conversion/ToCPU/CPUPackedMemory.h"
#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"
#include "smalti/passes/Support/AtomicKinds.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

Value smalti::getElementPosition(OpBuilder &builder, Location loc, Value memref,
                                 ValueRange indices) {
  LoopBuilder math{builder, loc};
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value position = metadata.getOffset();
  for (auto [index, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    position =
        math.add(position, arith::MulIOp::create(builder, loc, index, stride));
  return position;
}

Value smalti::getByteAddress(OpBuilder &builder, Location loc, Value memref,
                             Value byte) {
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                 LoopBuilder{builder, loc}.add(base, byte));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), number);
}

namespace {

/// An element of memory as an integer, which LLVM's atomic operations require.
class AtomicElement {
public:
  AtomicElement(OpBuilder &builder, Location loc, Value memref,
                ValueRange indices, MemoryOrdering ordering)
      : builder(builder), loc(loc),
        element(cast<MemRefType>(memref.getType()).getElementType()),
        bits(builder.getIntegerType(
            std::max<int64_t>(::smalti::bitWidth(element), 8))),
        ordering(ordering) {
    if (getPackedBits(element) != 0) {
      std::tie(address, shift) =
          getSubByteAddress(builder, loc, memref, indices);
      return;
    }
    Value position = getElementPosition(builder, loc, memref, indices);
    address =
        getByteAddress(builder, loc, memref,
                       LoopBuilder{builder, loc}.mul(position, getBytes()));
  }

  /// Whether the byte of the element has others.
  bool sharesByte() const { return bool(shift); }

  Value update(LLVM::AtomicBinOp kind, Value value) {
    return fromBits(LLVM::AtomicRMWOp::create(builder, loc, kind, address,
                                              toBits(value), getOrdering()));
  }

  /// Returns the old bits, and whether they were the expected ones.
  std::pair<Value, Value> compareAndSwap(Value expected, Value desired) {
    auto failure = ordering == MemoryOrdering::Acquire ||
                           ordering == MemoryOrdering::AcquireRelease
                       ? LLVM::AtomicOrdering::acquire
                       : LLVM::AtomicOrdering::monotonic;
    Value pair = LLVM::AtomicCmpXchgOp::create(builder, loc, address, expected,
                                               desired, getOrdering(), failure);
    return {LLVM::ExtractValueOp::create(builder, loc, pair, 0),
            LLVM::ExtractValueOp::create(builder, loc, pair, 1)};
  }

  /// Repeats a compare-and-swap until no other thread has changed the element.
  Value updateInLoop(llvm::function_ref<Value(Value)> combine) {
    Value first = LLVM::LoadOp::create(
        builder, loc, bits, address, getBytes(), /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
    auto loop = scf::WhileOp::create(
        builder, loc, TypeRange(bits), ValueRange(first),
        [&](OpBuilder &, Location, ValueRange arguments) {
          Value combined = combine(fromBits(arguments[0]));
          auto [old, isSwapped] =
              compareAndSwap(arguments[0], replaceIn(arguments[0], combined));
          Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
          Value repeats = arith::XOrIOp::create(builder, loc, isSwapped, one);
          scf::ConditionOp::create(builder, loc, repeats, old);
        },
        [&](OpBuilder &, Location, ValueRange arguments) {
          scf::YieldOp::create(builder, loc, arguments);
        });
    return fromBits(loop.getResult(0));
  }

  Value toBits(Value value) {
    if (element.isIndex())
      return arith::IndexCastOp::create(builder, loc, bits, value);
    if (isa<FloatType>(element))
      value = arith::BitcastOp::create(builder, loc, code(), value);
    if (code() != bits)
      value = arith::ExtUIOp::create(builder, loc, bits, value);
    return value;
  }
  Value fromBits(Value value) {
    if (element.isIndex())
      return arith::IndexCastOp::create(builder, loc, element, value);
    if (shift)
      value = arith::ShRUIOp::create(builder, loc, value, shift);
    if (code() != bits)
      value = arith::TruncIOp::create(builder, loc, code(), value);
    if (isa<FloatType>(element))
      value = arith::BitcastOp::create(builder, loc, element, value);
    return value;
  }

private:
  /// The bits of memory with another element.
  Value replaceIn(Value held, Value value) {
    if (!shift)
      return toBits(value);
    // Flip the bits that differ.
    Value difference = arith::XOrIOp::create(
        builder, loc, toBits(fromBits(held)), toBits(value));
    return arith::XOrIOp::create(
        builder, loc, held,
        arith::ShLIOp::create(builder, loc, difference, shift));
  }
  int64_t getBytes() { return bits.getWidth() / 8; }
  /// The integer with the bits of a value. Memory has a byte for fewer than 8.
  Type code() { return builder.getIntegerType(::smalti::bitWidth(element)); }

  LLVM::AtomicOrdering getOrdering() {
    switch (ordering) {
    case MemoryOrdering::Relaxed:
      return LLVM::AtomicOrdering::monotonic;
    case MemoryOrdering::Acquire:
      return LLVM::AtomicOrdering::acquire;
    case MemoryOrdering::Release:
      return LLVM::AtomicOrdering::release;
    case MemoryOrdering::AcquireRelease:
      return LLVM::AtomicOrdering::acq_rel;
    }
    llvm_unreachable("unknown ordering");
  }

  OpBuilder &builder;
  Location loc;
  Type element;
  IntegerType bits;
  MemoryOrdering ordering;
  Value address;
  /// The lowest bit of an element that shares its byte; null for others.
  Value shift;
};

} // namespace

static std::optional<LLVM::AtomicBinOp>
getInstruction(arith::AtomicRMWKind kind) {
  using arith::AtomicRMWKind;
  switch (kind) {
  case AtomicRMWKind::assign:
    return LLVM::AtomicBinOp::xchg;
  case AtomicRMWKind::addi:
    return LLVM::AtomicBinOp::add;
  case AtomicRMWKind::maxs:
    return LLVM::AtomicBinOp::max;
  case AtomicRMWKind::maxu:
    return LLVM::AtomicBinOp::umax;
  case AtomicRMWKind::mins:
    return LLVM::AtomicBinOp::min;
  case AtomicRMWKind::minu:
    return LLVM::AtomicBinOp::umin;
  case AtomicRMWKind::andi:
    return LLVM::AtomicBinOp::_and;
  case AtomicRMWKind::ori:
    return LLVM::AtomicBinOp::_or;
  case AtomicRMWKind::xori:
    return LLVM::AtomicBinOp::_xor;
  default:
    return std::nullopt;
  }
}

Value smalti::createAtomicRMW(OpBuilder &builder, Location loc,
                              arith::AtomicRMWKind kind, Value value,
                              Value memref, ValueRange indices,
                              MemoryOrdering ordering) {
  AtomicElement element(builder, loc, memref, indices, ordering);
  if (value.getType().isInteger(1))
    kind = getKindOfBools(kind);
  std::optional<LLVM::AtomicBinOp> instruction = getInstruction(kind);
  if (instruction && !element.sharesByte())
    return element.update(*instruction, value);
  return element.updateInLoop([&](Value old) {
    return kind == arith::AtomicRMWKind::assign
               ? value
               : arith::getReductionOp(kind, builder, loc, old, value);
  });
}

Value smalti::createAtomicCAS(OpBuilder &builder, Location loc, Value expected,
                              Value desired, Value memref, ValueRange indices,
                              MemoryOrdering ordering) {
  AtomicElement element(builder, loc, memref, indices, ordering);
  if (element.sharesByte())
    return element.updateInLoop([&](Value old) -> Value {
      Value isEqual = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, old, expected);
      return arith::SelectOp::create(builder, loc, isEqual, desired, old);
    });
  return element.fromBits(
      element.compareAndSwap(element.toBits(expected), element.toBits(desired))
          .first);
}
