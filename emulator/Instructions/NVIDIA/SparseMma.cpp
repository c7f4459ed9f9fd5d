//===- SparseMma.cpp - mma.sp.sync: A with structured zeros ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half of A is zero and not stored. The stored elements have the fragments of
// half as many columns, and metadata states their columns. Rounding is as for
// dense MMA.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Fragments.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

/// The pattern of non-zero elements (PTX ISA, "Sparse matrix storage"). Each
/// chunk of a row has four bits of metadata, two indices.
enum class Sparsity {
  /// 2 of 4.
  Elements,
  /// 2 pairs of 4 pairs.
  Pairs,
  /// 1 of 2: an element counts as two halves.
  Halves,
};
constexpr int chunkOf(Sparsity sparsity) {
  return sparsity == Sparsity::Elements ? 4
         : sparsity == Sparsity::Pairs  ? 8
                                        : 2;
}

/// The lanes with the metadata of a row (PTX ISA, the figures of "Matrix
/// Fragments for sparse mma.m16n8k*"): the four lanes of row % 8, or those that
/// the selector selects.
template <Sparsity sparsity, bool inHalves, int chunks>
uint32_t metadataOf(const Wave &wave, int operand, int selector, int row,
                    int chunk) {
  int lane = 4 * (row % 8), bit;
  if (inHalves) {
    // The low half of a register is of the upper row, the high half of the
    // lower one; a lane has 4 chunks of both.
    lane += chunks / 4 * selector + chunk / 4;
    bit = 16 * (row / 8) + 4 * (chunk % 4);
  } else {
    // A lane has 8 chunks of one row, the next lane those of the row below.
    lane += chunks / 4 * selector + 2 * (chunk / 8) + row / 8;
    bit = 4 * (chunk % 8);
  }
  return wave.lanes[lane].get<uint32_t>(operand) >> bit & 15;
}

template <Sparsity sparsity, bool inHalves, bool ordered, int k, class Number>
void expand(const Wave &wave, int operand, const Number (&stored)[16][k / 2],
            Number (&a)[16][k]) {
  constexpr int chunk = chunkOf(sparsity), chunks = k / chunk;
  constexpr int lanes = chunks / 4;
  const Call &any = wave.lanes[0];
  int selector = any.get<int32_t>(operand + 1);
  if (selector < 0 || selector >= 4 / lanes)
    failLane(any, 0,
             "mma.sp: the sparsity selector is %d; it must be from 0 to %d",
             selector, 4 / lanes - 1);
  memset(a, 0, sizeof(a));
  for (int row = 0; row < 16; ++row)
    for (int i = 0; i < chunks; ++i) {
      uint32_t bits = metadataOf<sparsity, inHalves, chunks>(wave, operand,
                                                             selector, row, i);
      int first = bits & 3, second = bits >> 2;
      bool valid = sparsity == Sparsity::Halves
                       ? bits == 0b0100 || bits == 0b1110
                   : ordered ? first < second
                             : first != second;
      if (!valid)
        failLane(any, 0,
                 "sparsity metadata of row %d, columns %d to %d is %#x, which "
                 "is not a valid selection",
                 row, i * chunk, i * chunk + chunk - 1, bits);
      const Number *from = &stored[row][i * chunk / 2];
      Number *to = &a[row][i * chunk];
      switch (sparsity) {
      case Sparsity::Elements:
        to[first] = from[0];
        to[second] = from[1];
        break;
      case Sparsity::Pairs:
        for (int e = 0; e < 2; ++e) {
          to[2 * first + e] = from[e];
          to[2 * second + e] = from[2 + e];
        }
        break;
      case Sparsity::Halves:
        to[first / 2] = from[0];
        break;
      }
    }
}

template <int k, class A, class B, class C, Sparsity sparsity, bool inHalves,
          bool ordered>
void multiplyFloats(const Wave &wave) {
  double stored[16][k / 2], a[16][k], b[8][k], c[16][8];
  constexpr int firstB = numRegisters<A>(16 * k / 2);
  constexpr int firstC = firstB + numRegisters<B>(8 * k);
  gatherRows<A>(wave, 0, stored);
  gatherRows<B>(wave, firstB, b);
  gatherAccumulators<C>(wave, firstC, c);
  expand<sparsity, inHalves, ordered, k>(
      wave, firstC + numAccumulatorOperands<C>(16 * 8), stored, a);
  accumulate(a, b, c);
  scatterAccumulators<C>(wave, c);
}

template <int k, class A, class B, Sparsity sparsity, bool ordered,
          bool saturate>
void multiplyIntegers(const Wave &wave) {
  int32_t stored[16][k / 2], a[16][k], b[8][k], products[16][8] = {};
  int64_t c[16][8];
  constexpr int firstB = numRegisters<A>(16 * k / 2);
  constexpr int firstC = firstB + numRegisters<B>(8 * k);
  gatherRows<A>(wave, 0, stored);
  gatherRows<B>(wave, firstB, b);
  gatherAccumulators<Sum32<saturate>>(wave, firstC, c);
  expand<sparsity, false, ordered, k>(wave, firstC + 4, stored, a);
  accumulate(a, b, products);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      c[i][j] += products[i][j];
  scatterAccumulators<Sum32<saturate>>(wave, c);
}

template <int k, class A, class B, Sparsity sparsity, class Scale, int blocks>
void multiplyScaled(const Wave &wave) {
  double stored[16][k / 2], a[16][k], b[8][k], c[16][8];
  constexpr int firstB = numRegisters<A>(16 * k / 2);
  constexpr int firstC = firstB + numRegisters<B>(8 * k);
  constexpr int firstScale = firstC + 6;
  gatherRows<A>(wave, 0, stored);
  gatherRows<B>(wave, firstB, b);
  gatherAccumulators<F32>(wave, firstC, c);
  expand<sparsity, false, true, k>(wave, firstC + 4, stored, a);
  applyScales<Scale, blocks>(wave, firstScale, "a", a);
  applyScales<Scale, blocks>(wave, firstScale + 3, "b", b);
  accumulate(a, b, c);
  scatterAccumulators<F32>(wave, c);
}

constexpr Sparsity elements = Sparsity::Elements, pairs = Sparsity::Pairs,
                   halves = Sparsity::Halves;

// clang-format off: one line an instruction
#define SMALTI_SPARSE(name, function, shape) \
    {"llvm.nvvm.mma.sp." name, nullptr, function, "PTX ISA, \"mma.sp\", \"Sparse matrix storage\" and \"Matrix Fragments for sparse mma." shape "\"", nullptr, nullptr, true},
#define SMALTI_FLOATS(shape, k, types, A, C, sparsity) \
    SMALTI_SPARSE(shape ".row.col." types, (multiplyFloats<k, A, A, C, sparsity, true, false>), shape) \
    SMALTI_SPARSE("ordered.metadata." shape ".row.col." types, (multiplyFloats<k, A, A, C, sparsity, true, true>), shape)
#define SMALTI_FP8(a, b, A, B) \
    SMALTI_SPARSE("m16n8k64.row.col.f32." a "." b ".f32", (multiplyFloats<64, A, B, F32, elements, false, false>), "m16n8k64") \
    SMALTI_SPARSE("ordered.metadata.m16n8k64.row.col.f32." a "." b ".f32", (multiplyFloats<64, A, B, F32, elements, false, true>), "m16n8k64")
#define SMALTI_F8F6F4(a, b, A, B) \
    SMALTI_SPARSE("ordered.metadata.m16n8k64.row.col.kind.f8f6f4.f16." a "." b ".f16", (multiplyFloats<64, A, B, F16, elements, false, true>), "m16n8k64") \
    SMALTI_SPARSE("ordered.metadata.m16n8k64.row.col.kind.f8f6f4.f32." a "." b ".f32", (multiplyFloats<64, A, B, F32, elements, false, true>), "m16n8k64") \
    SMALTI_SPARSE("ordered.metadata.block.scale.m16n8k64.row.col.mxf8f6f4.f32." a "." b ".f32.ue8m0", (multiplyScaled<64, A, B, elements, E8M0, 1>), "m16n8k64\" and \"Block scaling") \
    SMALTI_SPARSE("ordered.metadata.block.scale.m16n8k64.row.col.mxf8f6f4.scale.1x.f32." a "." b ".f32.ue8m0", (multiplyScaled<64, A, B, elements, E8M0, 1>), "m16n8k64\" and \"Block scaling")
#define SMALTI_F8F6F4_WITH(a, A) \
    SMALTI_F8F6F4(a, "e4m3", A, E4M3s) \
    SMALTI_F8F6F4(a, "e5m2", A, E5M2s) \
    SMALTI_F8F6F4(a, "e3m2", A, E3M2Bytes) \
    SMALTI_F8F6F4(a, "e2m3", A, E2M3Bytes) \
    SMALTI_F8F6F4(a, "e2m1", A, E2M1Bytes)
#define SMALTI_FP4(kind, scale, Scale, blocks) \
    SMALTI_SPARSE("ordered.metadata.block.scale.m16n8k128.row.col." kind ".f32.e2m1.e2m1.f32." scale, (multiplyScaled<128, E2M1s, E2M1s, pairs, Scale, blocks>), "m16n8k128\" and \"Block scaling")
#define SMALTI_INTEGERS(shape, k, a, b, A, B, sparsity) \
    SMALTI_SPARSE(shape ".row.col." a b, (multiplyIntegers<k, A, B, sparsity, false, false>), shape) \
    SMALTI_SPARSE(shape ".row.col.satfinite." a b, (multiplyIntegers<k, A, B, sparsity, false, true>), shape) \
    SMALTI_SPARSE("ordered.metadata." shape ".row.col." a b, (multiplyIntegers<k, A, B, sparsity, true, false>), shape) \
    SMALTI_SPARSE("ordered.metadata." shape ".row.col.satfinite." a b, (multiplyIntegers<k, A, B, sparsity, true, true>), shape)
#define SMALTI_BYTES(shape, k) \
    SMALTI_INTEGERS(shape, k, "s8", "", S8s, S8s, elements) \
    SMALTI_INTEGERS(shape, k, "s8", ".u8", S8s, U8s, elements) \
    SMALTI_INTEGERS(shape, k, "u8", "", U8s, U8s, elements) \
    SMALTI_INTEGERS(shape, k, "u8", ".s8", U8s, S8s, elements)
#define SMALTI_NIBBLES(shape, k) \
    SMALTI_INTEGERS(shape, k, "s4", "", S4s, S4s, pairs) \
    SMALTI_INTEGERS(shape, k, "s4", ".u4", S4s, U4s, pairs) \
    SMALTI_INTEGERS(shape, k, "u4", "", U4s, U4s, pairs) \
    SMALTI_INTEGERS(shape, k, "u4", ".s4", U4s, S4s, pairs)

constexpr Instruction table[] = {
    SMALTI_FLOATS("m16n8k16", 16, "f16.f16", F16s, F16, elements)
    SMALTI_FLOATS("m16n8k16", 16, "f32.f32", F16s, F32, elements)
    SMALTI_FLOATS("m16n8k16", 16, "bf16", BF16s, F32, elements)
    SMALTI_FLOATS("m16n8k32", 32, "f16.f16", F16s, F16, elements)
    SMALTI_FLOATS("m16n8k32", 32, "f32.f32", F16s, F32, elements)
    SMALTI_FLOATS("m16n8k32", 32, "bf16", BF16s, F32, elements)
    SMALTI_FLOATS("m16n8k8", 8, "tf32", TF32s, F32, halves)
    SMALTI_FLOATS("m16n8k16", 16, "tf32", TF32s, F32, halves)
    SMALTI_FP8("e4m3", "e4m3", E4M3s, E4M3s)
    SMALTI_FP8("e4m3", "e5m2", E4M3s, E5M2s)
    SMALTI_FP8("e5m2", "e4m3", E5M2s, E4M3s)
    SMALTI_FP8("e5m2", "e5m2", E5M2s, E5M2s)
    SMALTI_BYTES("m16n8k32", 32)
    SMALTI_BYTES("m16n8k64", 64)
    SMALTI_NIBBLES("m16n8k64", 64)
    SMALTI_NIBBLES("m16n8k128", 128)
    SMALTI_F8F6F4_WITH("e4m3", E4M3s)
    SMALTI_F8F6F4_WITH("e5m2", E5M2s)
    SMALTI_F8F6F4_WITH("e3m2", E3M2Bytes)
    SMALTI_F8F6F4_WITH("e2m3", E2M3Bytes)
    SMALTI_F8F6F4_WITH("e2m1", E2M1Bytes)
    SMALTI_FP4("mxf4", "ue8m0", E8M0, 2)
    SMALTI_FP4("mxf4.scale.2x", "ue8m0", E8M0, 2)
    SMALTI_FP4("mxf4nvf4.scale.2x", "ue8m0", E8M0, 2)
    SMALTI_FP4("mxf4nvf4.scale.4x", "ue4m3", UE4M3, 4)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaSparseMma = table;
