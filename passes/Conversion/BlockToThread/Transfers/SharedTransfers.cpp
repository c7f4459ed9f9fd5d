//===- SharedTransfers.cpp - Emission of transfer plans -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::AccessKind;
using transfers::Piece;
using transfers::TransferPlan;

/// The bytes that a swizzle moves together, and the bytes of a row.
static constexpr int64_t kChunkBytes = 16, kRowBytes = 128;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value block_to_thread::emitSwizzle(OpBuilder &builder, Location loc,
                                   Value address, int64_t swizzleBytes) {
  if (swizzleBytes <= kChunkBytes)
    return address;
  int64_t mask = (swizzleBytes / kChunkBytes - 1) * kRowBytes;
  Value row =
      arith::AndIOp::create(builder, loc, address, getI32(builder, loc, mask));
  Value chunk = arith::ShRUIOp::create(
      builder, loc, row,
      getI32(builder, loc, llvm::Log2_64(kRowBytes / kChunkBytes)));
  return arith::XOrIOp::create(builder, loc, address, chunk);
}

/// The thread's part of the addresses, at the head of the kernel: i32.
static Value emitTerms(ThreadIndices &indices, const TransferPlan &plan) {
  Value sum;
  int64_t threads = indices.getGrid().numThreads;
  for (const transfers::ThreadTerm &term : plan.terms) {
    Value digit = indices.div(indices.getThread(), term.divisor);
    if (term.divisor * term.size < threads)
      digit = indices.rem(digit, term.size);
    sum = indices.add(sum, indices.mul(digit, term.stride));
  }
  if (!sum)
    sum = indices.getConstant(0);
  OpBuilder &head = indices.getBuilder();
  return arith::IndexCastOp::create(head, indices.getLoc(), head.getI32Type(),
                                    sum);
}

Value TransferEmitter::getBase(int64_t base) {
  if (bases.empty())
    bases.resize(plan.bases.size());
  Value &pointer = bases[base];
  if (pointer)
    return pointer;
  auto add = [&](OpBuilder &at, Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(at, loc, lhs, rhs);
  };
  OpBuilder &head = indices.getBuilder();
  Value own = emitTerms(indices, plan);
  if (plan.bases[base] != 0)
    own = add(head, own, getI32(head, loc, plan.bases[base]));
  Value address;
  // The swizzle depends on the whole address.
  int64_t period = transfers::swizzlePeriod(plan.swizzleBytes);
  if (plan.swizzleBytes <= kChunkBytes ||
      start.log2Alignment >= llvm::Log2_64(period))
    address = add(builder, emitSwizzle(head, loc, own, plan.swizzleBytes),
                  start.offset);
  else
    address = emitSwizzle(builder, loc, add(builder, own, start.offset),
                          plan.swizzleBytes);
  pointer = LLVM::GEPOp::create(builder, loc, start.base.getType(),
                                builder.getI8Type(), start.base,
                                ArrayRef<LLVM::GEPArg>{address});
  return pointer;
}

Value TransferEmitter::advance(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(
      builder, loc, pointer.getType(), builder.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value TransferEmitter::getAddress(const transfers::Access &access) {
  return advance(getBase(access.base), access.offset);
}

Value TransferEmitter::selectOther(Value other, Value own) {
  if (!isOther) {
    OpBuilder &head = indices.getBuilder();
    Value group = indices.rem(
        indices.div(indices.getThread(), plan.stagger->groupStride), 2);
    isOther =
        arith::CmpIOp::create(head, indices.getLoc(), arith::CmpIPredicate::eq,
                              group, indices.getConstant(1));
  }
  return arith::SelectOp::create(builder, loc, isOther, other, own);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The vector type of the LLVM loads and stores.
static VectorType getMemoryType(int64_t bytes, Type elementType) {
  int64_t bits = getElementBits(elementType);
  if (bits < 8)
    return VectorType::get({bytes},
                           IntegerType::get(elementType.getContext(), 8));
  return VectorType::get({bytes * 8 / bits}, getStorageType(elementType));
}

static Value castElements(OpBuilder &builder, Location loc, Value vector,
                          Type elementType) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == elementType)
    return vector;
  int64_t bits = type.getDimSize(0) * getElementBits(type.getElementType());
  auto result =
      VectorType::get({bits / getElementBits(elementType)}, elementType);
  if (elementType.isIndex() || type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, result, vector);
  return vector::BitCastOp::create(builder, loc, result, vector);
}

int64_t TransferEmitter::getPieceBytes(int64_t bytes) const {
  return start.log2Alignment < llvm::Log2_64(bytes)
             ? int64_t(1) << start.log2Alignment
             : bytes;
}

Value TransferEmitter::loadVector(Value address, int64_t bytes,
                                  Type elementType) {
  // Less aligned memory is read piece by piece.
  int64_t step = getPieceBytes(bytes);
  SmallVector<Value> pieces;
  for (int64_t byte = 0; byte < bytes; byte += step)
    pieces.push_back(LLVM::LoadOp::create(
        builder, loc, getMemoryType(step, elementType), advance(address, byte),
        static_cast<unsigned>(step)));
  return castElements(builder, loc, concatenate(builder, loc, pieces),
                      elementType);
}

void TransferEmitter::storeVector(Value address, int64_t bytes, Value data) {
  Type elementType = cast<VectorType>(data.getType()).getElementType();
  Value stored = castElements(
      builder, loc, data, getMemoryType(bytes, elementType).getElementType());
  int64_t step = getPieceBytes(bytes);
  int64_t pieces = bytes / step;
  int64_t length = cast<VectorType>(stored.getType()).getDimSize(0) / pieces;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value part = takeElements(builder, loc, stored, piece * length, length),
          start = advance(address, piece * step);
    if (storePiece)
      storePiece(start, part);
    else
      LLVM::StoreOp::create(builder, loc, part, start,
                            static_cast<unsigned>(step));
  }
}

/// The shape and layout operands of ldmatrix and stmatrix.
static std::pair<NVVM::MMALayout, NVVM::LdStMatrixShapeAttr>
getMatrixForm(OpBuilder &builder, AccessKind kind, bool isLoad) {
  bool isWide = kind == AccessKind::MatrixTransposed8;
  return {kind == AccessKind::Matrix ? NVVM::MMALayout::row
                                     : NVVM::MMALayout::col,
          NVVM::LdStMatrixShapeAttr::get(builder.getContext(), isWide ? 16 : 8,
                                         isWide && isLoad ? 16 : 8)};
}

Value TransferEmitter::loadMatrices(const transfers::Access &access,
                                    Value address, Type elementType) {
  int64_t elements = 0;
  for (const Piece &piece : access.pieces)
    elements += piece.count;
  int64_t words = elements * getElementBits(elementType) / 32;
  bool isWide = access.kind == AccessKind::MatrixTransposed8;
  auto [matrixLayout, shape] = getMatrixForm(builder, access.kind, true);
  Type i32 = builder.getI32Type();
  Type type = words == 1
                  ? i32
                  : LLVM::LLVMStructType::getLiteral(
                        builder.getContext(), SmallVector<Type>(words, i32));
  // A 16x16 matrix is two words.
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, type, address,
      static_cast<uint32_t>(isWide ? words / 2 : words), matrixLayout, shape,
      isWide ? NVVM::LdStMatrixEltType::B8 : NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> parts;
  for (int64_t word = 0; word < words; ++word)
    parts.push_back(
        words == 1 ? loaded
                   : LLVM::ExtractValueOp::create(builder, loc, loaded, word)
                         .getResult());
  return fromWords(builder, loc, parts,
                   VectorType::get({elements}, elementType));
}

void TransferEmitter::storeMatrices(const transfers::Access &access,
                                    Value address, Value data) {
  bool isWide = access.kind == AccessKind::MatrixTransposed8;
  auto [matrixLayout, shape] = getMatrixForm(builder, access.kind, false);
  NVVM::StMatrixOp::create(
      builder, loc, address, toWords(builder, loc, data), matrixLayout, shape,
      isWide ? NVVM::LdStMatrixEltType::B8 : NVVM::LdStMatrixEltType::B16);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Registers TransferEmitter::load(VectorType type, int64_t count) {
  SmallVector<Value> loaded, addresses;
  for (const transfers::Access &access : plan.accesses)
    addresses.push_back(getAddress(access));
  for (auto [index, access] : llvm::enumerate(plan.accesses)) {
    Value address = addresses[index];
    if (plan.stagger)
      address = selectOther(addresses[plan.stagger->order[index]], address);
    loaded.push_back(
        access.kind == AccessKind::Vector
            ? loadVector(address, access.bytes, type.getElementType())
            : loadMatrices(access, address, type.getElementType()));
  }
  if (plan.stagger) {
    // Other lanes read access order[i] as the i-th.
    SmallVector<Value> own(loaded);
    for (auto [index, other] : llvm::enumerate(plan.stagger->order))
      loaded[other] = selectOther(own[index], own[other]);
  }

  // The pieces of each register, by their first element.
  std::vector<std::map<int64_t, Value>> pieces(count);
  for (auto [access, data] : llvm::zip_equal(plan.accesses, loaded)) {
    int64_t element = 0;
    for (const Piece &piece : access.pieces) {
      pieces[piece.reg][piece.first] =
          takeElements(builder, loc, data, element, piece.count);
      element += piece.count;
    }
  }
  Registers registers;
  for (const std::map<int64_t, Value> &own : pieces)
    registers.push_back(concatenate(
        builder, loc, llvm::to_vector(llvm::make_second_range(own))));
  return registers;
}

void TransferEmitter::storeAll(ArrayRef<Value> data) {
  SmallVector<Value> addresses;
  for (const transfers::Access &access : plan.accesses)
    addresses.push_back(getAddress(access));
  for (auto [index, access] : llvm::enumerate(plan.accesses)) {
    Value address = addresses[index], stored = data[index];
    if (plan.stagger) {
      int64_t other = plan.stagger->order[index];
      address = selectOther(addresses[other], address);
      stored = selectOther(data[other], stored);
    }
    if (access.kind == AccessKind::Vector)
      storeVector(address, access.bytes, stored);
    else
      storeMatrices(access, address, stored);
  }
}

void TransferEmitter::store(ArrayRef<Value> registers) {
  SmallVector<Value> data;
  for (const transfers::Access &access : plan.accesses) {
    SmallVector<Value> pieces;
    for (const Piece &piece : access.pieces)
      pieces.push_back(takeElements(builder, loc, registers[piece.reg],
                                    piece.first, piece.count));
    data.push_back(concatenate(builder, loc, pieces));
  }
  storeAll(data);
}

void TransferEmitter::storeSplat(Value element) {
  int64_t bits = getElementBits(element.getType());
  SmallVector<Value> data;
  for (const transfers::Access &access : plan.accesses)
    data.push_back(data.empty() ? vector::BroadcastOp::create(
                                      builder, loc,
                                      VectorType::get({access.bytes * 8 / bits},
                                                      element.getType()),
                                      element)
                                      .getResult()
                                : data.front());
  storeAll(data);
}
