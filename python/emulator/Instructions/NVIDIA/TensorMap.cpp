//===- TensorMap.cpp - Tensor maps of NVIDIA ------------------------------===//

#include "emulator/Instructions/NVIDIA/TensorMap.h"
#include "emulator/Runtime/Thread.h"

#include <algorithm>
#include <vector>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

static constexpr uint32_t chunkBytes = 16;
static constexpr uint32_t mapBytes = 128;

/// "SMALTITM", behind what is known of the bytes.
static constexpr uint64_t mark = 0x4d5449544c414d53;
static constexpr uint32_t markWord = 16;

/// PTX ISA, "tensormap.replace": by the code of the element type; 0 = one that
/// no map has here.
static constexpr uint8_t bytesOfType[16] = {1, 2, 4, 4, 8, 8, 2, 4,
                                            0, 8, 2, 0, 0, 0, 0, 0};

static uint32_t bits(uint32_t word, uint32_t first, uint32_t count) {
  return word >> first & ((1u << count) - 1);
}

TensorMap::TensorMap(const void *address, uint32_t rank) {
  if (uintptr_t(address) % 64)
    failAs("misaligned", "tensor map: %p is not aligned to 64 bytes", address);
  touchRead(address, mapBytes);
  uint32_t words[mapBytes / sizeof(uint32_t)];
  memcpy(words, address, sizeof(words));
  if ((words[markWord] | uint64_t(words[markWord + 1]) << 32) != mark)
    fail("tensor map: there is none at %p: pass smalti.emulator.tensor_map()",
         address);
  fields.base = words[0] | uint64_t(words[1]) << 32;
  fields.rank = bits(words[2], 4, 3) + 1;
  fields.elementBytes = bytesOfType[bits(words[2], 7, 4)];
  fields.swizzle = chunkBytes << bits(words[2], 13, 2);
  fields.fillsNaN = bits(words[2], 15, 1);
  for (uint32_t i = 0; i + 1 < maxRank; ++i)
    fields.strides[i] =
        (words[3 + i] | uint64_t(bits(words[7], 4 * i, 4)) << 32) * chunkBytes;
  for (uint32_t i = 0; i < maxRank; ++i) {
    fields.sizes[i] = uint64_t(words[8 + i]) + 1;
    fields.steps[i] = bits(words[13], 3 * i, 3) + 1;
    fields.box[i] =
        (i ? bits(words[14], 8 * (i - 1), 8) : bits(words[13], 24, 8)) + 1;
  }
  if (fields.rank != rank)
    fail("tensor map: it has %u dimensions, the instruction %u", fields.rank,
         rank);
  if (!fields.elementBytes)
    fail("tensor map: its element type is not one that the emulator knows");
  if (fields.base % chunkBytes)
    failAs("misaligned",
           "tensor map: the tensor at %#llx is not aligned to %u "
           "bytes",
           static_cast<unsigned long long>(fields.base), chunkBytes);
}

/// CUDA Driver API, cuTensorMapEncodeTiled: a box is traversed in steps.
uint32_t TensorMap::count(uint32_t dimension) const {
  uint32_t step = fields.steps[dimension];
  return (fields.box[dimension] + step - 1) / step;
}

uint32_t TensorMap::boxBytes() const {
  uint32_t bytes = fields.elementBytes;
  for (uint32_t i = 0; i < fields.rank; ++i)
    bytes *= count(i);
  return bytes;
}

/// PTX ISA, "Tensors: Swizzling modes": chunks of 16 bytes are exchanged within
/// 32, 64 or 128 bytes, by which multiple of 128 bytes they are in.
template <class Pointer> Pointer TensorMap::swizzled(Pointer chunk) const {
  // Nothing is exchanged within 16 bytes.
  uintptr_t mask = fields.swizzle - chunkBytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<Pointer>(uintptr_t(chunk) ^
                                   (uintptr_t(chunk) >> 3 & mask));
}

template <class Use>
void TensorMap::forEachRow(const int32_t *coordinates, Use use) const {
  uint32_t numRows = boxBytes() / fields.elementBytes / count(0);
  for (uint32_t row = 0; row < numRows; ++row) {
    bool isInside = true;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto *at = reinterpret_cast<char *>(fields.base);
    uint32_t rest = row;
    for (uint32_t i = 1; i < fields.rank; ++i) {
      int64_t index =
          coordinates[i] + int64_t(rest % count(i)) * fields.steps[i];
      rest /= count(i);
      isInside &= index >= 0 && uint64_t(index) < fields.sizes[i];
      at += index * int64_t(fields.strides[i - 1]);
    }
    int64_t start = coordinates[0], n = count(0);
    int64_t first = std::clamp<int64_t>(-start, 0, n);
    int64_t end =
        std::clamp<int64_t>(int64_t(fields.sizes[0]) - start, first, n);
    if (!isInside)
      first = end = 0;
    use(row * n * fields.elementBytes, first, end,
        at + (start + first) * fields.elementBytes);
  }
}

void TensorMap::load(char *to, const int32_t *coordinates,
                     bool isForReal) const {
  touchWrite(to, boxBytes());
  uint32_t width = fields.elementBytes, rowBytes = count(0) * width;
  std::vector<char> row(rowBytes);
  forEachRow(coordinates,
             [&](uint32_t offset, int64_t first, int64_t end, const char *at) {
               touchRead(at, (end - first) * width);
               if (!isForReal)
                 return;
               memset(row.data(), 0, rowBytes);
               // A NaN of any float: all bits but the sign and the last.
               if (fields.fillsNaN)
                 for (uint32_t i = 0; i < rowBytes; ++i)
                   row[i] = char(i % width == width - 1 ? 0x7f : 0xff);
               memcpy(row.data() + first * width, at, (end - first) * width);
               for (uint32_t i = 0; i < rowBytes; i += chunkBytes)
                 memcpy(swizzled(to + offset + i), row.data() + i, chunkBytes);
             });
}

void TensorMap::store(const char *from, const int32_t *coordinates,
                      bool isForReal) const {
  touchRead(from, boxBytes());
  uint32_t width = fields.elementBytes, rowBytes = count(0) * width;
  std::vector<char> row(rowBytes);
  forEachRow(
      coordinates, [&](uint32_t offset, int64_t first, int64_t end, char *at) {
        touchWrite(at, (end - first) * width);
        if (!isForReal)
          return;
        for (uint32_t i = 0; i < rowBytes; i += chunkBytes)
          memcpy(row.data() + i, swizzled(from + offset + i), chunkBytes);
        memcpy(at, row.data() + first * width, (end - first) * width);
      });
}
