//===- Fragments.h - Fragment layouts of mma ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All fragments of mma.m8n8k* and mma.m16n8k*, except those of mma.m8n8k4 with
// f16, follow one rule (PTX ISA, "Matrix Fragments for mma.m8n8k16" to
// "mma.m16n8k256"). Lane l has row l / 4 and, if there are 16 rows, row l / 4 +
// 8; its registers alternate between the two. Each register holds as many
// elements as fit. The four lanes of a row hold adjacent columns, and the next
// registers continue to the right. For B, rows are the columns of the document.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_FRAGMENTS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_FRAGMENTS_H

#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/MatrixInstruction.h"
#include "smalti/emulator/Instructions/NVIDIA/Warp.h"

namespace smalti::emulator::nvidia {

/// The representation of a matrix element in a register. `Type` has the
/// numbers.
template <class Type> struct Packed {
  using Storage = typename Type::Storage;
  static constexpr int registerBytes = sizeof(Storage) == 8 ? 8 : 4;
  static constexpr int count = registerBytes / sizeof(Storage);
  using Number = decltype(Type::read(Storage()));
  static Number read(const char *data, int e) {
    Storage value;
    memcpy(&value, data + e * sizeof(Storage), sizeof(Storage));
    return Type::read(value);
  }
};

/// Two elements of 4 bits in a byte, the lower first.
template <class Type> struct PackedPairs {
  static constexpr int registerBytes = 4;
  static constexpr int count = 8;
  using Number = decltype(Type::read(0));
  static Number read(const char *data, int e) {
    return Type::read(uint8_t(data[e / 2]) >> (4 * (e % 2)) & 15);
  }
};

/// e2m1 in a byte of its own, for `.kind::f8f6f4`: between two zeros on either
/// side.
struct E2M1InByte {
  using Storage = uint8_t;
  static double read(Storage value) { return E2M1::read(value >> 2 & 15); }
};
/// The types of 6 bits, below two zeros.
template <class Type> struct InByte {
  using Storage = uint8_t;
  static double read(Storage value) { return Type::read(value & 63); }
};

using F16s = Packed<F16>;
using BF16s = Packed<BF16>;
using TF32s = Packed<TF32>;
using S8s = Packed<S8>;
using U8s = Packed<U8>;
using S4s = PackedPairs<S4>;
using U4s = PackedPairs<U4>;
using E4M3s = Packed<E4M3>;
using E5M2s = Packed<E5M2>;
using E2M1s = PackedPairs<E2M1>;
// In bytes of their own, for `.kind::f8f6f4`.
using E2M1Bytes = Packed<E2M1InByte>;
using E2M3Bytes = Packed<InByte<E2M3>>;
using E3M2Bytes = Packed<InByte<E3M2>>;

template <class Element, int rows, int columns, class Number>
void gatherRows(const Wave &wave, int first, Number (&matrix)[rows][columns]) {
  constexpr int count = Element::count;
  constexpr int halves = rows / 8;
  constexpr int registers = halves * columns / (4 * count);
  for (int lane = 0; lane < warpSize; ++lane)
    for (int r = 0; r < registers; ++r) {
      const char *data = wave.lanes[lane].data(first + r);
      Number *to = &matrix[lane / 4 + 8 * (r % halves)]
                          [count * (lane % 4 + 4 * (r / halves))];
      for (int e = 0; e < count; ++e)
        to[e] = Element::read(data, e);
    }
}

/// The accumulators: lane l has the columns 2 * (l % 4) and the next of the
/// rows l / 4 and l / 4 + 8. `use(element, address)` is called for each.
template <int rows, class Matrix, class Use>
void forEachAccumulator(int lane, Matrix &matrix, Use use) {
  for (int e = 0; e < rows / 4; ++e)
    use(e, matrix[lane / 4 + 8 * (e / 2)][2 * (lane % 4) + e % 2]);
}

/// Reads C from the operands after `first`. Each operand holds as many elements
/// as fit: `f16` comes in pairs.
template <class Type, int rows, class Number>
void gatherAccumulators(const Wave &wave, int first, Number (&c)[rows][8]) {
  using Storage = typename Type::Storage;
  constexpr int inOperand = sizeof(Storage) == 2 ? 2 : 1;
  for (int lane = 0; lane < warpSize; ++lane)
    forEachAccumulator<rows>(lane, c, [&](int e, Number &to) {
      Storage value;
      memcpy(&value,
             wave.lanes[lane].data(first + e / inOperand) +
                 e % inOperand * sizeof(Storage),
             sizeof(Storage));
      to = Type::read(value);
    });
}

/// Writes D.
template <class Type, int rows, class Number>
void scatterAccumulators(const Wave &wave, const Number (&d)[rows][8]) {
  using Storage = typename Type::Storage;
  for (int lane = 0; lane < warpSize; ++lane)
    forEachAccumulator<rows>(lane, d, [&](int e, const Number &from) {
      Storage value = Type::write(from);
      memcpy(static_cast<char *>(wave.lanes[lane].result) + e * sizeof(Storage),
             &value, sizeof(Storage));
    });
}

/// Operands that hold a matrix of so many elements in a warp.
template <class Element> constexpr int numRegisters(int elements) {
  return elements / warpSize / Element::count;
}
template <class Type> constexpr int numAccumulatorOperands(int elements) {
  return elements / warpSize / (sizeof(typename Type::Storage) == 2 ? 2 : 1);
}

/// i32 accumulators: a sum that is out of range wraps, or with `.satfinite`
/// becomes the closest number (PTX ISA, "mma").
template <bool saturate> int32_t narrow(int64_t sum) {
  if (saturate)
    return int32_t(sum < INT32_MIN   ? INT32_MIN
                   : sum > INT32_MAX ? INT32_MAX
                                     : sum);
  return int32_t(uint32_t(sum));
}

template <bool saturate> struct Sum32 {
  using Storage = int32_t;
  static int64_t read(Storage value) { return value; }
  static Storage write(int64_t value) { return narrow<saturate>(value); }
};

/// A scale for each row, or column of B, and each of `blocks` equal parts of k
/// (PTX ISA, "Block scaling"). `selector` names the lane of four that has the
/// scales of a row, or of A the pair of lanes, and the first byte in it.
template <class Scale, int blocks, int rows, int k>
void applyScales(const Wave &wave, int first, const char *name,
                 double (&matrix)[rows][k]) {
  const Call &any = wave.lanes[0];
  int byte = any.get<uint16_t>(first + 1),
      thread = any.get<uint16_t>(first + 2);
  constexpr int lanes = rows / 8;
  if (byte % blocks || byte >= 4)
    failLane(any, 0,
             "mma with block scaling: byte-id-%s is %d; it must be a multiple "
             "of %d below 4",
             name, byte, blocks);
  if (thread >= 4 / lanes)
    failLane(any, 0,
             "mma with block scaling: thread-id-%s is %d; it must be below %d",
             name, thread, 4 / lanes);
  for (int row = 0; row < rows; ++row) {
    const Call &call = wave.lanes[4 * (row % 8) + lanes * thread + row / 8];
    const char *codes = call.data(first) + byte;
    for (int block = 0; block < blocks; ++block) {
      double scale = Scale::read(uint8_t(codes[block]));
      for (int i = k / blocks * block; i < k / blocks * (block + 1); ++i)
        matrix[row][i] *= scale;
    }
  }
}

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_FRAGMENTS_H
