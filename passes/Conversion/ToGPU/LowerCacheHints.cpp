//===- LowerCacheHints.cpp - smalti-lower-cache-hints ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Conversion/BlockToThread/Assembly/NVIDIAAssembly.h"
#include "smalti/passes/Conversion/BlockToThread/Assembly/PTXTable.h"
#include "smalti/passes/Conversion/ToGPU/ElementAddress.h"
#include "smalti/passes/Support/CacheHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERCACHEHINTS
#define GEN_PASS_DEF_SMALTILOWERCACHEHINTS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {
/// A load or store with a hint.
struct HintedAccess {
  Value memref;
  ValueRange indices;
  /// The stored value; null: a load.
  Value stored;
  Type type;
  /// In bytes; nothing: the size of an element.
  std::optional<uint64_t> alignment = std::nullopt;

  static HintedAccess of(Operation *op) {
    return TypeSwitch<Operation *, HintedAccess>(op)
        .Case([](vector::LoadOp op) -> HintedAccess {
          return {op.getBase(),
                  op.getIndices(),
                  {},
                  op.getType(),
                  op.getAlignment()};
        })
        .Case([](vector::StoreOp op) -> HintedAccess {
          return {op.getBase(), op.getIndices(), op.getValueToStore(),
                  op.getVectorType(), op.getAlignment()};
        })
        .Case([](memref::LoadOp op) -> HintedAccess {
          return {op.getMemRef(),
                  op.getIndices(),
                  {},
                  op.getType(),
                  op.getAlignment()};
        })
        .Case([](memref::StoreOp op) -> HintedAccess {
          return {op.getMemRef(), op.getIndices(), op.getValue(),
                  op.getValue().getType(), op.getAlignment()};
        })
        .Default(HintedAccess());
  }
};

class SmaltiLowerCacheHints
    : public smalti::impl::SmaltiLowerCacheHintsBase<SmaltiLowerCacheHints> {
public:
  using SmaltiLowerCacheHintsBase::SmaltiLowerCacheHintsBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      auto hint = op->getAttrOfType<StringAttr>(kCacheHint);
      if (!hint)
        return;
      HintedAccess access = HintedAccess::of(op);
      if (access.memref && ptx::hasCacheHint(hint, bool(access.stored)) &&
          isSupported(access))
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    for (Operation *op : ops)
      lower(op);
  }

private:
  /// Registers of inline assembly have 2, 4 or 8 bytes. The instructions
  /// require an address that is a multiple of their size.
  static bool isSupported(const HintedAccess &access) {
    auto memref = cast<MemRefType>(access.memref.getType());
    auto vector = dyn_cast<VectorType>(access.type);
    Type element = getElementTypeOrSelf(access.type);
    return !memref.getMemorySpace() && element.isIntOrFloat() &&
           element.getIntOrFloatBitWidth() % 8 == 0 &&
           (!vector || vector.getRank() == 1) &&
           llvm::is_contained({2, 4, 8, 16}, bytesOf(access.type)) &&
           access.alignment.value_or(bytesOf(element)) >=
               static_cast<uint64_t>(bytesOf(access.type));
  }

  static int64_t bytesOf(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return (vector ? vector.getNumElements() : 1) *
           getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
  }

  static void lower(Operation *op);
};
} // namespace

void SmaltiLowerCacheHints::lower(Operation *op) {
  StringRef hint = op->getAttrOfType<StringAttr>(kCacheHint);
  HintedAccess access = HintedAccess::of(op);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  MLIRContext *context = builder.getContext();
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(context),
      emitAddress(builder, loc, access.memref, access.indices));
  pointer = LLVM::AddrSpaceCastOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(
          context, static_cast<unsigned>(NVVM::NVVMMemorySpace::Global)),
      pointer);

  // A register, or two of 8 bytes.
  int64_t bytes = bytesOf(access.type);
  bool isPair = bytes == 16;
  Type word = builder.getIntegerType(isPair ? 64 : bytes * 8);
  auto words = VectorType::get({isPair ? 2 : 1}, word);
  auto element = getElementTypeOrSelf(access.type);
  auto vector = dyn_cast<VectorType>(access.type);
  auto elements =
      VectorType::get({vector ? vector.getNumElements() : 1}, element);
  if (!access.stored) {
    SmallVector<Type> types(words.getNumElements(), word);
    Value loaded = vector::FromElementsOp::create(
        builder, loc, words,
        nvidia::emitHintedLoad(builder, loc, pointer, types, hint));
    if (loaded.getType() != elements)
      loaded = vector::BitCastOp::create(builder, loc, elements, loaded);
    if (!vector)
      loaded =
          vector::ExtractOp::create(builder, loc, loaded, ArrayRef<int64_t>{0});
    op->replaceAllUsesWith(ValueRange{loaded});
    op->erase();
    return;
  }
  Value value = access.stored;
  if (!vector)
    value = vector::BroadcastOp::create(builder, loc, elements, value);
  if (value.getType() != words)
    value = vector::BitCastOp::create(builder, loc, words, value);
  SmallVector<Value> parts;
  for (int64_t at = 0; at < words.getNumElements(); ++at)
    parts.push_back(
        vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{at}));
  nvidia::emitHintedStore(builder, loc, pointer, parts, hint);
  op->erase();
}
