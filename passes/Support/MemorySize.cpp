//===- MemorySize.cpp - What memrefs take in memory -----------------------===//

#include "passes/Support/MemorySize.h"

#include "dialects/MosaicGPU/MosaicGPU.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

std::optional<int64_t> smalti::getElementBytes(Type element) {
  if (isa<mosaic_gpu::BarrierType>(element) || element.isIndex())
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    std::optional<int64_t> part = getElementBytes(complex.getElementType());
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  if (auto vector = dyn_cast<VectorType>(element)) {
    // Elements of a vector are packed, bit by bit.
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
  if (!element.isIntOrFloat())
    return std::nullopt;
  return llvm::PowerOf2Ceil(
      llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

std::optional<int64_t> smalti::getBufferBytes(MemRefType type) {
  std::optional<int64_t> bytes = getElementBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(*bytes, size, *bytes))
      return std::nullopt;
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
    if (ShapedType::isDynamic(stride) || stride < 0 ||
        llvm::MulOverflow(size - 1, stride, extent) ||
        llvm::AddOverflow(span, extent, span))
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
  if (!span || *span > std::numeric_limits<int32_t>::max())
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
  // Where dimensions overlap, elements may lie behind that end.
  if (longestDim < 0 || *span > end ||
      end > std::numeric_limits<int32_t>::max() / *bytes)
    return std::nullopt;
  return RawBuffer{longestDim, end * *bytes};
}
