//===- Mma.cpp - mma.sync with dense matrices -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PTX ISA ("mma") leaves details open. For f16, bf16, tf32 and smaller
// floats, multiplications and sums have at least the precision of the
// accumulator; order, rounding and denormals are not specified. Here
// multiplications are exact, and sums are in double, rounded once. f64 rounds
// each step like fma.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Fragments.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

template <int m, int k, class A, class B, class C>
void multiplyFloats(const Wave &wave) {
  double a[m][k], b[8][k], c[m][8];
  constexpr int firstB = numRegisters<A>(m * k);
  constexpr int firstC = firstB + numRegisters<B>(8 * k);
  gatherRows<A>(wave, 0, a);
  gatherRows<B>(wave, firstB, b);
  gatherAccumulators<C>(wave, firstC, c);
  accumulate(a, b, c);
  scatterAccumulators<C>(wave, c);
}

template <int m, int k> void multiplyDoubles(const Wave &wave) {
  using Element = Packed<F64>;
  double a[m][k], b[8][k], c[m][8];
  constexpr int firstB = numRegisters<Element>(m * k);
  constexpr int firstC = firstB + numRegisters<Element>(8 * k);
  gatherRows<Element>(wave, 0, a);
  gatherRows<Element>(wave, firstB, b);
  gatherAccumulators<F64>(wave, firstC, c);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < 8; ++j)
      for (int l = 0; l < k; ++l)
        c[i][j] = std::fma(a[i][l], b[j][l], c[i][j]);
  scatterAccumulators<F64>(wave, c);
}

template <int m, int k, class A, class B, bool saturate>
void multiplyIntegers(const Wave &wave) {
  int32_t a[m][k], b[8][k], products[m][8] = {};
  int64_t c[m][8];
  constexpr int firstB = numRegisters<A>(m * k);
  constexpr int firstC = firstB + numRegisters<B>(8 * k);
  gatherRows<A>(wave, 0, a);
  gatherRows<B>(wave, firstB, b);
  gatherAccumulators<Sum32<saturate>>(wave, firstC, c);
  // 128 multiplications of 16 bits fit in 32 bits.
  accumulate(a, b, products);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < 8; ++j)
      c[i][j] += products[i][j];
  scatterAccumulators<Sum32<saturate>>(wave, c);
}

uint32_t bitsAnd(uint32_t a, uint32_t b) { return a & b; }
uint32_t bitsXor(uint32_t a, uint32_t b) { return a ^ b; }

/// Single bits, 32 per element: C + popcount(A op B).
struct Bits {
  using Storage = uint32_t;
  static uint32_t read(Storage value) { return value; }
};

template <int m, int k, uint32_t (*operation)(uint32_t, uint32_t)>
void multiplyBits(const Wave &wave) {
  using Element = Packed<Bits>;
  constexpr int words = k / 32;
  uint32_t a[m][words], b[8][words];
  int64_t c[m][8];
  constexpr int firstB = numRegisters<Element>(m * words);
  constexpr int firstC = firstB + numRegisters<Element>(8 * words);
  gatherRows<Element>(wave, 0, a);
  gatherRows<Element>(wave, firstB, b);
  gatherAccumulators<Sum32<false>>(wave, firstC, c);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < 8; ++j)
      for (int w = 0; w < words; ++w)
        c[i][j] += __builtin_popcount(operation(a[i][w], b[j][w]));
  scatterAccumulators<Sum32<false>>(wave, c);
}

//--- mma.m8n8k4 with f16 ------------------------------------------------------

/// Four independent MMAs, each in two groups of four lanes (PTX ISA, "Matrix
/// Fragments for mma.m8n8k4 with .f16 floating point type"). The own index of a
/// lane, 0 to 7, counts through both groups.
int laneOfPair(int pair, int own) {
  return 4 * pair + own % 4 + 16 * (own / 4);
}

/// Element e of A, or of B with rows and columns swapped: a lane has a row, or
/// where columns follow one another, four rows of one column.
Position quadElement(bool byRow, int own, int e) {
  return byRow ? Position{own, e} : Position{e + 4 * (own / 4), own % 4};
}
Position quadAccumulator(bool isF16, int own, int e) {
  if (isF16)
    return {own, e};
  return {(own & 1) + (e & 2) + 4 * (own / 4), (e & 4) + (own & 2) + (e & 1)};
}

template <class Type, class Use>
void forEachQuadAccumulator(bool isF16, Use use) {
  for (int own = 0; own < 8; ++own)
    for (int e = 0; e < 8; ++e)
      use(own, e, quadAccumulator(isF16, own, e));
}

template <bool rowA, bool columnB, class C, class D>
void multiplyQuads(const Wave &wave) {
  constexpr bool f16C = sizeof(typename C::Storage) == 2;
  constexpr bool f16D = sizeof(typename D::Storage) == 2;
  for (int pair = 0; pair < 4; ++pair) {
    double a[8][4], b[8][4], c[8][8];
    for (int own = 0; own < 8; ++own) {
      const Call &call = wave.lanes[laneOfPair(pair, own)];
      for (int e = 0; e < 4; ++e) {
        Position at = quadElement(rowA, own, e);
        a[at.row][at.column] = Packed<F16>::read(call.data(e / 2), e % 2);
        at = quadElement(columnB, own, e);
        b[at.row][at.column] = Packed<F16>::read(call.data(2 + e / 2), e % 2);
      }
    }
    forEachQuadAccumulator<C>(f16C, [&](int own, int e, Position at) {
      typename C::Storage value;
      const Call &call = wave.lanes[laneOfPair(pair, own)];
      constexpr int inOperand = f16C ? 2 : 1;
      memcpy(&value,
             call.data(4 + e / inOperand) + e % inOperand * sizeof(value),
             sizeof(value));
      c[at.row][at.column] = C::read(value);
    });
    accumulate(a, b, c);
    forEachQuadAccumulator<D>(f16D, [&](int own, int e, Position at) {
      typename D::Storage value = D::write(c[at.row][at.column]);
      const Call &call = wave.lanes[laneOfPair(pair, own)];
      memcpy(static_cast<char *>(call.result) + e * sizeof(value), &value,
             sizeof(value));
    });
  }
}

//--- Block scaling ------------------------------------------------------------

template <int k, class A, class B, class Scale, int blocks>
void multiplyScaled(const Wave &wave) {
  double a[16][k], b[8][k], c[16][8];
  constexpr int firstB = numRegisters<A>(16 * k);
  constexpr int firstC = firstB + numRegisters<B>(8 * k);
  constexpr int firstScale = firstC + 4;
  gatherRows<A>(wave, 0, a);
  gatherRows<B>(wave, firstB, b);
  gatherAccumulators<F32>(wave, firstC, c);
  applyScales<Scale, blocks>(wave, firstScale, "a", a);
  applyScales<Scale, blocks>(wave, firstScale + 3, "b", b);
  accumulate(a, b, c);
  scatterAccumulators<F32>(wave, c);
}

//--- The table ----------------------------------------------------------------

// clang-format off: one line an instruction
#define SMALTI_MMA(name, function, fragments) \
    {"llvm.nvvm.mma." name, nullptr, function, "PTX ISA, \"mma\" and \"Matrix Fragments for mma." fragments "\"", nullptr, nullptr, true},
#define SMALTI_INTEGERS(shape, m, k, a, b, A, B) \
    SMALTI_MMA(shape ".row.col." a b, (multiplyIntegers<m, k, A, B, false>), shape) \
    SMALTI_MMA(shape ".row.col.satfinite." a b, (multiplyIntegers<m, k, A, B, true>), shape)
#define SMALTI_BYTES(shape, m, k) \
    SMALTI_INTEGERS(shape, m, k, "s8", "", S8s, S8s) \
    SMALTI_INTEGERS(shape, m, k, "s8", ".u8", S8s, U8s) \
    SMALTI_INTEGERS(shape, m, k, "u8", "", U8s, U8s) \
    SMALTI_INTEGERS(shape, m, k, "u8", ".s8", U8s, S8s)
#define SMALTI_NIBBLES(shape, m, k) \
    SMALTI_INTEGERS(shape, m, k, "s4", "", S4s, S4s) \
    SMALTI_INTEGERS(shape, m, k, "s4", ".u4", S4s, U4s) \
    SMALTI_INTEGERS(shape, m, k, "u4", "", U4s, U4s) \
    SMALTI_INTEGERS(shape, m, k, "u4", ".s4", U4s, S4s)
#define SMALTI_SMALL(shape, k, kind, a, b, A, B) \
    SMALTI_MMA(shape ".row.col." kind "f16." a "." b ".f16", (multiplyFloats<16, k, A, B, F16>), shape) \
    SMALTI_MMA(shape ".row.col." kind "f32." a "." b ".f32", (multiplyFloats<16, k, A, B, F32>), shape)
#define SMALTI_FP8(shape, k) \
    SMALTI_SMALL(shape, k, "", "e4m3", "e4m3", E4M3s, E4M3s) \
    SMALTI_SMALL(shape, k, "", "e4m3", "e5m2", E4M3s, E5M2s) \
    SMALTI_SMALL(shape, k, "", "e5m2", "e4m3", E5M2s, E4M3s) \
    SMALTI_SMALL(shape, k, "", "e5m2", "e5m2", E5M2s, E5M2s)
#define SMALTI_F8F6F4(a, b, A, B) \
    SMALTI_SMALL("m16n8k32", 32, "kind.f8f6f4.", a, b, A, B) \
    SMALTI_MMA("block.scale.m16n8k32.row.col.mxf8f6f4.f32." a "." b ".f32.ue8m0", (multiplyScaled<32, A, B, E8M0, 1>), "m16n8k32\" and \"Block scaling") \
    SMALTI_MMA("block.scale.m16n8k32.row.col.mxf8f6f4.scale.1x.f32." a "." b ".f32.ue8m0", (multiplyScaled<32, A, B, E8M0, 1>), "m16n8k32\" and \"Block scaling")
#define SMALTI_F8F6F4_WITH(a, A) \
    SMALTI_F8F6F4(a, "e4m3", A, E4M3s) \
    SMALTI_F8F6F4(a, "e5m2", A, E5M2s) \
    SMALTI_F8F6F4(a, "e3m2", A, E3M2Bytes) \
    SMALTI_F8F6F4(a, "e2m3", A, E2M3Bytes) \
    SMALTI_F8F6F4(a, "e2m1", A, E2M1Bytes)
#define SMALTI_FP4(kind, scale, Scale, blocks) \
    SMALTI_MMA("block.scale.m16n8k64.row.col." kind ".f32.e2m1.e2m1.f32." scale, (multiplyScaled<64, E2M1s, E2M1s, Scale, blocks>), "m16n8k64\" and \"Block scaling")
#define SMALTI_QUADS(layout, row, column) \
    SMALTI_MMA("m8n8k4." layout ".f16.f16", (multiplyQuads<row, column, F16, F16>), "m8n8k4 with .f16 floating point type") \
    SMALTI_MMA("m8n8k4." layout ".f32.f16", (multiplyQuads<row, column, F16, F32>), "m8n8k4 with .f16 floating point type") \
    SMALTI_MMA("m8n8k4." layout ".f32.f32", (multiplyQuads<row, column, F32, F32>), "m8n8k4 with .f16 floating point type")

constexpr Instruction table[] = {
    SMALTI_MMA("m16n8k8.row.col.f16.f16", (multiplyFloats<16, 8, F16s, F16s, F16>), "m16n8k8")
    SMALTI_MMA("m16n8k8.row.col.f32.f32", (multiplyFloats<16, 8, F16s, F16s, F32>), "m16n8k8")
    SMALTI_MMA("m16n8k8.row.col.bf16", (multiplyFloats<16, 8, BF16s, BF16s, F32>), "m16n8k8")
    SMALTI_MMA("m16n8k16.row.col.f16.f16", (multiplyFloats<16, 16, F16s, F16s, F16>), "m16n8k16 with floating point type")
    SMALTI_MMA("m16n8k16.row.col.f32.f32", (multiplyFloats<16, 16, F16s, F16s, F32>), "m16n8k16 with floating point type")
    SMALTI_MMA("m16n8k16.row.col.bf16", (multiplyFloats<16, 16, BF16s, BF16s, F32>), "m16n8k16 with floating point type")
    SMALTI_MMA("m16n8k4.row.col.tf32", (multiplyFloats<16, 4, TF32s, TF32s, F32>), "m16n8k4")
    SMALTI_MMA("m16n8k8.row.col.tf32", (multiplyFloats<16, 8, TF32s, TF32s, F32>), "m16n8k8")
    SMALTI_MMA("m8n8k4.row.col.f64", (multiplyDoubles<8, 4>), "m8n8k4 with .f64 floating point type")
    SMALTI_MMA("m16n8k4.row.col.f64", (multiplyDoubles<16, 4>), "m16n8k4")
    SMALTI_MMA("m16n8k8.row.col.f64", (multiplyDoubles<16, 8>), "m16n8k8")
    SMALTI_MMA("m16n8k16.row.col.f64", (multiplyDoubles<16, 16>), "m16n8k16 with floating point type")
    SMALTI_FP8("m16n8k16", 16)
    SMALTI_FP8("m16n8k32", 32)
    SMALTI_BYTES("m8n8k16", 8, 16)
    SMALTI_BYTES("m16n8k16", 16, 16)
    SMALTI_BYTES("m16n8k32", 16, 32)
    SMALTI_NIBBLES("m8n8k32", 8, 32)
    SMALTI_NIBBLES("m16n8k32", 16, 32)
    SMALTI_NIBBLES("m16n8k64", 16, 64)
    SMALTI_MMA("and.popc.m8n8k128.row.col.b1", (multiplyBits<8, 128, bitsAnd>), "m8n8k128")
    SMALTI_MMA("and.popc.m16n8k128.row.col.b1", (multiplyBits<16, 128, bitsAnd>), "m16n8k128")
    SMALTI_MMA("and.popc.m16n8k256.row.col.b1", (multiplyBits<16, 256, bitsAnd>), "m16n8k256")
    SMALTI_MMA("xor.popc.m8n8k128.row.col.b1", (multiplyBits<8, 128, bitsXor>), "m8n8k128")
    SMALTI_MMA("xor.popc.m16n8k128.row.col.b1", (multiplyBits<16, 128, bitsXor>), "m16n8k128")
    SMALTI_MMA("xor.popc.m16n8k256.row.col.b1", (multiplyBits<16, 256, bitsXor>), "m16n8k256")
    SMALTI_F8F6F4_WITH("e4m3", E4M3s)
    SMALTI_F8F6F4_WITH("e5m2", E5M2s)
    SMALTI_F8F6F4_WITH("e3m2", E3M2Bytes)
    SMALTI_F8F6F4_WITH("e2m3", E2M3Bytes)
    SMALTI_F8F6F4_WITH("e2m1", E2M1Bytes)
    SMALTI_FP4("mxf4", "ue8m0", E8M0, 2)
    SMALTI_FP4("mxf4.scale.2x", "ue8m0", E8M0, 2)
    SMALTI_FP4("mxf4nvf4.scale.2x", "ue8m0", E8M0, 2)
    SMALTI_FP4("mxf4nvf4.scale.4x", "ue4m3", UE4M3, 4)
    SMALTI_QUADS("row.col", true, true)
    SMALTI_QUADS("row.row", true, false)
    SMALTI_QUADS("col.col", false, true)
    SMALTI_QUADS("col.row", false, false)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaMma = table;
