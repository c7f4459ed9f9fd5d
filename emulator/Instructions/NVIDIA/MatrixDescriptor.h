//===- MatrixDescriptor.h - Matrices in shared memory of wgmma ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions: Shared Memory
// Matrix Layout", "Strides" and "Matrix Descriptor Format".
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MATRIXDESCRIPTOR_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MATRIXDESCRIPTOR_H

#include "smalti/emulator/Instructions/Thread.h"

namespace smalti::emulator::nvidia {

/// A is m x k, and B n x k as the document speaks of it.
struct MatrixShape {
  int rows = 0, k = 0;
  /// Whether elements along k follow one another, and not those of a column.
  bool isMajorK = true;

  /// Where k is inside, chunk 2 * row + half. Else eight rows have a chunk for
  /// each k, and the next eight follow.
  int numChunks() const { return isMajorK ? 2 * rows : rows / 8 * k; }
};

class MatrixDescriptor {
public:
  static constexpr int chunkBytes = 16;

  MatrixDescriptor() = default;
  explicit MatrixDescriptor(uint64_t bits)
      : start(decode(bits)), leading(decode(bits >> 16)),
        stride(decode(bits >> 32)), baseOffset(uint32_t(bits >> 49 & 7)) {
    constexpr uint32_t widths[] = {0, 128, 64, 32};
    swizzle = widths[bits >> 62];
  }

  /// Where 16 bytes of the matrix are.
  const char *chunk(const MatrixShape &shape, int index) const {
    uint32_t at = start + (shape.isMajorK ? offsetInK(index / 2, index % 2)
                                          : offsetInRows(index / shape.k,
                                                         index % shape.k));
    return sharedBase() + swizzled(at);
  }

private:
  /// matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4
  static uint32_t decode(uint64_t field) {
    return uint32_t(field & 0x3fff) << 4;
  }

  /// K-major: eight rows and two chunks make a core matrix; the rows of it are
  /// as wide as the swizzle.
  uint32_t offsetInK(int row, int half) const {
    uint32_t group = uint32_t(row) / 8 * stride;
    if (!swizzle)
      return uint32_t(row) % 8 * chunkBytes + group + uint32_t(half) * leading;
    return uint32_t(row) % 8 * swizzle + group + uint32_t(half) * chunkBytes;
  }

  /// MN-major: a chunk of eight rows for each k.
  uint32_t offsetInRows(int rowChunk, int k) const {
    auto row = uint32_t(rowChunk), column = uint32_t(k);
    if (!swizzle)
      return row * stride + column % 8 * chunkBytes + column / 8 * leading;
    uint32_t inAtom = swizzle / chunkBytes;
    return row % inAtom * chunkBytes + row / inAtom * leading +
           column % 8 * swizzle + column / 8 * stride;
  }

  /// Swizzle: chunks are permuted within 32, 64 or 128 bytes, depending on the
  /// index of their 128-byte row. The base offset states the row with which the
  /// pattern begins.
  uint32_t swizzled(uint32_t at) const {
    if (!swizzle)
      return at;
    uint32_t line = (at >> 7) - baseOffset;
    return at ^ (line << 4 & (swizzle - chunkBytes));
  }

  uint32_t start = 0, leading = 0, stride = 0, baseOffset = 0;
  /// In bytes; 0 for none.
  uint32_t swizzle = 0;
};

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MATRIXDESCRIPTOR_H
