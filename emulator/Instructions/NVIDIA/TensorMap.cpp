//===- TensorMap.cpp - Tensor maps of NVIDIA ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/NVIDIA/TensorMap.h"
#include "smalti/emulator/Instructions/NVIDIA/Atomic.h"
#include "smalti/emulator/Instructions/Numbers.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

static constexpr uint32_t chunkBytes = 16;
static constexpr uint32_t mapBytes = 128;

/// "SMALTITM", after the documented bytes.
static constexpr uint64_t mark = 0x4d5449544c414d53;
static constexpr uint32_t markWord = 16;

namespace {
struct ElementType {
  const char *name;
  /// 0: not emulated.
  uint8_t bytes;
};
} // namespace

/// PTX ISA, "tensormap.replace": the element types by their code.
static constexpr ElementType elementTypes[16] = {
    {"u8", 1},       {"u16", 2},   {"u32", 4},       {"s32", 4},
    {"u64", 8},      {"s64", 8},   {"f16", 2},       {"f32", 4},
    {"f32.ftz", 0},  {"f64", 8},   {"bf16", 2},      {"tf32", 0},
    {"tf32.ftz", 0}, {"b4x16", 0}, {"b4x16_p64", 0}, {"b6x16_p32", 0}};

static uint32_t bits(uint32_t word, uint32_t first, uint32_t count) {
  return word >> first & ((1u << count) - 1);
}

TensorMap::TensorMap(const void *address, uint32_t rank) {
  if (uintptr_t(address) % 64)
    failAs(
        "misaligned",
        "the tensor map is at address %p, which is not a multiple of 64 bytes; "
        "align the tensor map to 64 bytes",
        address);
  touchRead(address, mapBytes);
  uint32_t words[mapBytes / sizeof(uint32_t)];
  memcpy(words, address, sizeof(words));
  if ((words[markWord] | uint64_t(words[markWord + 1]) << 32) != mark)
    fail("tensor map: address %p does not hold a tensor map; pass a result of "
         "smalti.emulator.tensor_map()",
         address);
  fields.base = words[0] | uint64_t(words[1]) << 32;
  fields.rank = bits(words[2], 4, 3) + 1;
  fields.type = bits(words[2], 7, 4);
  fields.elementBytes = elementTypes[fields.type].bytes;
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
    fail("tensor map: the map has %u dimensions; the instruction requires %u, "
         "so use the form of the instruction for the map",
         fields.rank, rank);
  if (!fields.elementBytes) {
    std::string emulated;
    for (const ElementType &type : elementTypes)
      if (type.bytes)
        emulated += (emulated.empty() ? "." : ", .") + std::string(type.name);
    fail("tensor map: the element type .%s is not emulated; use one of: %s",
         elementTypes[fields.type].name, emulated.c_str());
  }
  if (fields.base % chunkBytes)
    failAs(
        "misaligned",
        "tensor map: the array starts at global address %#llx, which is not a "
        "multiple of %u bytes; align the array",
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

/// PTX ISA, "Tensors: Swizzling modes": chunks of 16 bytes are permuted within
/// 32, 64 or 128 bytes, depending on the index of their 128-byte row.
template <class Pointer> Pointer TensorMap::swizzled(Pointer chunk) const {
  // Within 16 bytes, the order is unchanged.
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
                     bool isCompletion) const {
  touchAsyncWrite(to, boxBytes());
  uint32_t width = fields.elementBytes, rowBytes = count(0) * width;
  std::vector<char> row(rowBytes);
  forEachRow(coordinates,
             [&](uint32_t offset, int64_t first, int64_t end, const char *at) {
               touchRead(at, (end - first) * width);
               if (!isCompletion)
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

/// At issue, a proxy fence must precede the read. A later write is a race in
/// any case.
static void readBox(const char *from, uint32_t bytes, bool isCompletion) {
  if (isCompletion)
    touchRead(from, bytes);
  else
    touchAsyncRead(from, bytes);
}

void TensorMap::store(const char *from, const int32_t *coordinates,
                      bool isCompletion) const {
  readBox(from, boxBytes(), isCompletion);
  uint32_t width = fields.elementBytes, rowBytes = count(0) * width;
  std::vector<char> row(rowBytes);
  forEachRow(
      coordinates, [&](uint32_t offset, int64_t first, int64_t end, char *at) {
        touchWrite(at, (end - first) * width);
        if (!isCompletion)
          return;
        for (uint32_t i = 0; i < rowBytes; i += chunkBytes)
          memcpy(row.data() + i, swizzled(from + offset + i), chunkBytes);
        memcpy(at, row.data() + first * width, (end - first) * width);
      });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {

/// PTX ISA, "cp.reduce.async.bulk.tensor": `.inc` and `.dec` count up to, and
/// down from, the number in the box.
template <class Type> Type combine(Type old, Type value, Reduction reduction) {
  switch (reduction) {
  case Reduction::Add:
    return old + value;
  case Reduction::Min:
    return std::min(old, value);
  case Reduction::Max:
    return std::max(old, value);
  default:
    break;
  }
  if constexpr (std::is_integral_v<Type>) {
    switch (reduction) {
    case Reduction::Increment:
      return old >= value ? Type(0) : Type(old + 1);
    case Reduction::Decrement:
      return old == 0 || old > value ? value : Type(old - 1);
    case Reduction::And:
      return old & value;
    case Reduction::Or:
      return old | value;
    default:
      return old ^ value;
    }
  }
  fail("cp.reduce.async.bulk.tensor: floating-point elements support only "
       ".add, .min and .max; use one of these, or integer elements");
}

// Each element is one atomic operation: other blocks may reduce it at the same
// time.

template <class Type>
void combineAt(char *at, const char *from, Reduction reduction) {
  Type value;
  memcpy(&value, from, sizeof(Type));
  update(reinterpret_cast<Type *>(at),
         [&](Type old) { return combine(old, value, reduction); });
}

template <class Float>
void combineSmall(char *at, const char *from, Reduction reduction) {
  using Storage = typename Float::Storage;
  Storage value;
  memcpy(&value, from, sizeof value);
  update(reinterpret_cast<Storage *>(at), [&](Storage old) -> Storage {
    return Float::write(
        combine(Float::read(old), Float::read(value), reduction));
  });
}

using Combine = void (*)(char *, const char *, Reduction);

/// By the code of the element type; those of 8 bits have no reductions.
constexpr Combine combineOfType[16] = {nullptr,
                                       nullptr,
                                       combineAt<uint32_t>,
                                       combineAt<int32_t>,
                                       combineAt<uint64_t>,
                                       combineAt<int64_t>,
                                       combineSmall<F16>,
                                       combineAt<float>,
                                       nullptr,
                                       combineAt<double>,
                                       combineSmall<BF16>};

} // namespace

void TensorMap::reduce(const char *from, const int32_t *coordinates,
                       Reduction reduction, bool isCompletion) const {
  Combine combine = combineOfType[fields.type];
  if (!combine)
    fail("cp.reduce.async.bulk.tensor: the %u-byte element type of the tensor "
         "does not support reductions; use f16, bf16 or elements of 32 or 64 "
         "bits",
         fields.elementBytes);
  readBox(from, boxBytes(), isCompletion);
  uint32_t width = fields.elementBytes, rowBytes = count(0) * width;
  std::vector<char> row(rowBytes);
  forEachRow(
      coordinates, [&](uint32_t offset, int64_t first, int64_t end, char *at) {
        if (first < end)
          touchAtomic(at, (end - first) * width);
        if (!isCompletion)
          return;
        for (uint32_t i = 0; i < rowBytes; i += chunkBytes)
          memcpy(row.data() + i, swizzled(from + offset + i), chunkBytes);
        for (int64_t i = first; i < end; ++i)
          combine(at + (i - first) * width, row.data() + i * width, reduction);
      });
}
