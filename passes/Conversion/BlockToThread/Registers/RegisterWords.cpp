//===- RegisterWords.cpp - Registers of a thread as 32-bit words ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

static constexpr int64_t kWordBits = 32;

int64_t block_to_thread::getElementBits(Type elementType) {
  return elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
}

Type block_to_thread::getStorageType(Type elementType) {
  if (elementType.isF16() || elementType.isBF16() || elementType.isF32() ||
      elementType.isF64())
    return elementType;
  return IntegerType::get(elementType.getContext(),
                          getElementBits(elementType));
}

Value block_to_thread::getI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc,
      builder.getIntegerAttr(builder.getI32Type(),
                             APInt(32, static_cast<uint32_t>(value))));
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

SmallVector<Value> block_to_thread::toWords(OpBuilder &builder, Location loc,
                                            Value reg) {
  auto type = cast<VectorType>(reg.getType());
  Type elementType = type.getElementType(), i32 = builder.getI32Type();
  if (elementType.isIndex()) {
    type = type.clone(builder.getI64Type());
    reg = arith::IndexCastOp::create(builder, loc, type, reg);
    elementType = type.getElementType();
  }
  int64_t bits = type.getDimSize(0) * getElementBits(elementType);
  if (bits < kWordBits) {
    Type narrow = builder.getIntegerType(bits);
    Value cast = vector::BitCastOp::create(builder, loc,
                                           VectorType::get({1}, narrow), reg);
    Value scalar =
        vector::ExtractOp::create(builder, loc, cast, ArrayRef<int64_t>{0});
    return {arith::ExtUIOp::create(builder, loc, i32, scalar)};
  }
  int64_t words = llvm::divideCeil(bits, kWordBits);
  if (bits % kWordBits != 0) {
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getDimSize(0)));
    order.resize(words * kWordBits / getElementBits(elementType), 0);
    reg = vector::ShuffleOp::create(builder, loc, reg, reg, order);
  }
  Value cast = vector::BitCastOp::create(builder, loc,
                                         VectorType::get({words}, i32), reg);
  SmallVector<Value> result;
  for (int64_t word = 0; word < words; ++word)
    result.push_back(
        vector::ExtractOp::create(builder, loc, cast, ArrayRef<int64_t>{word}));
  return result;
}

Value block_to_thread::fromWords(OpBuilder &builder, Location loc,
                                 ArrayRef<Value> words, VectorType type) {
  Type elementType = type.getElementType();
  if (elementType.isIndex()) {
    Value wide =
        fromWords(builder, loc, words, type.clone(builder.getI64Type()));
    return arith::IndexCastOp::create(builder, loc, type, wide);
  }
  int64_t elementBits = getElementBits(elementType);
  int64_t bits = type.getDimSize(0) * elementBits;
  if (bits < kWordBits) {
    Type narrow = builder.getIntegerType(bits);
    Value scalar = arith::TruncIOp::create(builder, loc, narrow, words.front());
    Value vector = vector::BroadcastOp::create(
        builder, loc, VectorType::get({1}, narrow), scalar);
    return vector::BitCastOp::create(builder, loc, type, vector);
  }
  auto wordsType = VectorType::get({static_cast<int64_t>(words.size())},
                                   builder.getI32Type());
  Value vector = vector::FromElementsOp::create(builder, loc, wordsType, words);
  int64_t elements = words.size() * kWordBits / elementBits;
  Value cast = vector::BitCastOp::create(
      builder, loc, VectorType::get({elements}, elementType), vector);
  return takeElements(builder, loc, cast, 0, type.getDimSize(0));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Value ThreadTables::getThread() {
  OpBuilder &head = indices.getBuilder();
  return arith::IndexCastOp::create(head, indices.getLoc(), head.getI32Type(),
                                    indices.getThread());
}

std::optional<SmallVector<int64_t>>
ThreadTables::matchLinear(ArrayRef<int64_t> table) {
  SmallVector<int64_t> changes;
  for (size_t bit = 1; bit < table.size(); bit *= 2)
    changes.push_back(table[bit] ^ table[0]);
  for (size_t thread = 0; thread < table.size(); ++thread) {
    int64_t entry = table[0];
    for (auto [bit, change] : llvm::enumerate(changes))
      if (thread >> bit & 1)
        entry ^= change;
    if (entry != table[thread])
      return std::nullopt;
  }
  return changes;
}

Value ThreadTables::lookupMask(ArrayRef<int64_t> table, int64_t bit) {
  OpBuilder &head = indices.getBuilder();
  Location loc = indices.getLoc();
  Value thread = getThread();
  Value mask;
  Value warp;
  for (size_t first = 0; first < table.size(); first += kWordBits) {
    uint32_t bits = 0;
    for (size_t i = first; i < std::min(table.size(), first + kWordBits); ++i)
      bits |= static_cast<uint32_t>(table[i] >> bit & 1) << (i - first);
    Value own = getI32(head, loc, bits);
    if (!mask) {
      mask = own;
      continue;
    }
    if (!warp)
      warp = arith::ShRUIOp::create(head, loc, thread, getI32(head, loc, 5));
    Value isHere = arith::CmpIOp::create(
        head, loc, arith::CmpIPredicate::eq, warp,
        getI32(head, loc, static_cast<int64_t>(first) / kWordBits));
    mask = arith::SelectOp::create(head, loc, isHere, own, mask);
  }
  Value lane = arith::AndIOp::create(head, loc, thread,
                                     getI32(head, loc, kWordBits - 1));
  Value shifted = arith::ShRUIOp::create(head, loc, mask, lane);
  return arith::AndIOp::create(head, loc, shifted, getI32(head, loc, 1));
}

Value ThreadTables::lookup(ArrayRef<int64_t> table) {
  OpBuilder &head = indices.getBuilder();
  Location loc = indices.getLoc();
  Value result;
  auto combine = [&](Value part) {
    result = result ? arith::XOrIOp::create(head, loc, result, part).getResult()
                    : part;
  };
  if (std::optional<SmallVector<int64_t>> changes = matchLinear(table)) {
    combine(getI32(head, loc, table.front()));
    for (auto [bit, change] : llvm::enumerate(*changes)) {
      if (change == 0)
        continue;
      Value number = arith::ShRUIOp::create(head, loc, getThread(),
                                            getI32(head, loc, bit));
      Value digit =
          arith::AndIOp::create(head, loc, number, getI32(head, loc, 1));
      combine(
          arith::MulIOp::create(head, loc, digit, getI32(head, loc, change)));
    }
    return result;
  }
  int64_t used = 0;
  for (int64_t entry : table)
    used |= entry;
  for (int64_t bit = 0; used >> bit != 0; ++bit)
    if (used >> bit & 1)
      combine(arith::ShLIOp::create(head, loc, lookupMask(table, bit),
                                    getI32(head, loc, bit)));
  return result;
}

Value ThreadTables::lookupBit(ArrayRef<int64_t> table) {
  OpBuilder &head = indices.getBuilder();
  Location loc = indices.getLoc();
  Value entry = lookup(table);
  return arith::CmpIOp::create(head, loc, arith::CmpIPredicate::ne, entry,
                               getI32(head, loc, 0));
}
