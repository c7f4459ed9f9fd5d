//===- MemorySize.cpp - Sizes of memrefs in bytes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemorySize.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Support/DynamicArguments.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti;

std::optional<int64_t> smalti::getElementBytes(Type element) {
  if (isa<mosaic_gpu::BarrierType>(element) || element.isIndex())
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    std::optional<int64_t> part = getElementBytes(complex.getElementType());
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  if (auto vector = dyn_cast<VectorType>(element)) {
    // Elements of a vector are bit-packed.
    Type part = vector.getElementType();
    std::optional<int64_t> bytes = getElementBytes(part);
    int64_t bits;
    if (!bytes || vector.isScalable() ||
        llvm::MulOverflow<int64_t>(
            part.isIntOrFloat() ? part.getIntOrFloatBitWidth() : *bytes * 8,
            vector.getNumElements(), bits) ||
        bits > (int64_t(1) << 40))
      return std::nullopt;
    return llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8));
  }
  // LLVM does not have i0.
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() == 0)
    return std::nullopt;
  return llvm::PowerOf2Ceil(
      llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

std::optional<int64_t> smalti::getBufferBytes(MemRefType type) {
  std::optional<int64_t> bytes = getElementBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  int64_t bits = getPackedBits(type.getElementType());
  int64_t total = bits != 0 ? 1 : *bytes;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(total, size, total))
      return std::nullopt;
  return bits != 0 ? llvm::divideCeil(total, 8 / bits) : total;
}

/// The range of an index expression whose dimensions range from 0 to these
/// sizes; nothing if it is unknown.
static std::optional<SignedRange> getRange(AffineExpr expr,
                                           ArrayRef<int64_t> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return SignedRange{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return SignedRange{0, sizes[dim.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  std::optional<SignedRange> a =
      binary ? getRange(binary.getLHS(), sizes) : std::nullopt;
  std::optional<SignedRange> b =
      a ? getRange(binary.getRHS(), sizes) : std::nullopt;
  if (!b)
    return std::nullopt;
  SignedRange range;
  if (expr.getKind() == AffineExprKind::Add) {
    if (llvm::AddOverflow(a->low, b->low, range.low) ||
        llvm::AddOverflow(a->high, b->high, range.high))
      return std::nullopt;
    return range;
  }
  // The other operand is a constant.
  if (b->low != b->high)
    return std::nullopt;
  int64_t by = b->low;
  if (expr.getKind() == AffineExprKind::Mul) {
    if (llvm::MulOverflow(a->low, by, range.low) ||
        llvm::MulOverflow(a->high, by, range.high))
      return std::nullopt;
    if (by < 0)
      std::swap(range.low, range.high);
    return range;
  }
  if (by <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return SignedRange{llvm::divideFloorSigned(a->low, by),
                       llvm::divideFloorSigned(a->high, by)};
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return SignedRange{llvm::divideCeilSigned(a->low, by),
                       llvm::divideCeilSigned(a->high, by)};
  bool isSmall = a->low >= 0 && a->high < by;
  return isSmall ? *a : SignedRange{0, by - 1};
}

std::optional<int64_t> smalti::getAllocatedBytes(MemRefType type) {
  if (type.getLayout().isIdentity() || !type.hasStaticShape() ||
      type.getNumElements() == 0)
    return getBufferBytes(type);
  std::optional<int64_t> bytes = getElementBytes(type.getElementType());
  for (AffineExpr index : type.getLayout().getAffineMap().getResults()) {
    std::optional<SignedRange> range = getRange(index, type.getShape());
    int64_t size;
    if (!bytes || !range || range->low < 0 ||
        llvm::AddOverflow<int64_t>(range->high, 1, size) ||
        llvm::MulOverflow(*bytes, size, *bytes))
      return std::nullopt;
  }
  return bytes;
}

int64_t smalti::appendBuffer(int64_t end, int64_t bytes, int64_t alignment) {
  int64_t result;
  int64_t most = std::numeric_limits<int64_t>::max();
  if (end > most - alignment ||
      llvm::AddOverflow(static_cast<int64_t>(llvm::alignTo(end, alignment)),
                        bytes, result))
    return most;
  return result;
}

std::optional<int64_t> smalti::getElementSpan(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<int64_t> bytes = getElementBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    int64_t extent;
    if (size == 0)
      return 0;
    if (ShapedType::isDynamic(stride) ||
        llvm::MulOverflow(size - 1, stride, extent) ||
        (stride < 0 ? llvm::SubOverflow(span, extent, span)
                    : llvm::AddOverflow(span, extent, span)))
      return std::nullopt;
  }
  int64_t total;
  if (llvm::MulOverflow(span, *bytes, total))
    return std::nullopt;
  return span;
}

std::optional<smalti::RawBuffer> smalti::getRawBuffer(MemRefType type) {
  std::optional<int64_t> span = getElementSpan(type),
                         bytes = getElementBytes(type.getElementType());
  if (!span || *span > std::numeric_limits<int32_t>::max() ||
      hasNegativeStride(type))
    return std::nullopt;
  auto [strides, offset] = type.getStridesAndOffset();
  if (offset != 0)
    return std::nullopt;
  int64_t longestDim = -1, end = 0;
  for (auto [dim, size, stride] : llvm::enumerate(type.getShape(), strides)) {
    int64_t length;
    if (llvm::MulOverflow(size, stride, length))
      return std::nullopt;
    if (length > end) {
      end = length;
      longestDim = static_cast<int64_t>(dim);
    }
  }
  // If dimensions overlap, elements may be after that end.
  if (longestDim < 0 || *span > end ||
      end > std::numeric_limits<int32_t>::max() / *bytes)
    return std::nullopt;
  return RawBuffer{longestDim, end * *bytes};
}
