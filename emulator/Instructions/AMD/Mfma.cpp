//===- Mfma.cpp - V_MFMA: MMAs of CDNA ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: CDNA3 ISA, "Dense Matrix Multiplication Instructions", and AMD's
// matrix instruction calculator, which prints them. An instruction multiplies
// `blocks` pairs of matrices; a wave has 64 lanes.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/AMD/ScaledOperands.h"
#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/MatrixInstruction.h"

#include <type_traits>

using namespace smalti::emulator;

namespace {

constexpr int lanes = 64;

/// The layout of A and B: lanes go through the rows, then the blocks, then K in
/// chunks of the elements of a lane.
template <int m, int k, int blocks> struct OperandLayout {
  static constexpr int perLane = m * k * blocks / lanes;
  static int row(int lane) { return lane % m; }
  static int block(int lane) { return lane / m % blocks; }
  static int column(int lane, int e) {
    return lane / (m * blocks) * perLane + e;
  }
};

/// The layout of C and D. A lane has `height` consecutive rows of a column.
/// These groups of rows go through the lanes, and then through the registers of
/// a lane.
template <int m, int blocks, int height> struct ResultLayout {
  static constexpr int perLane = m * m * blocks / lanes;
  static constexpr int blocksAtOnce =
      m * m / height < lanes ? lanes * height / (m * m) : 1;
  static constexpr int groupsAtOnce = lanes / blocksAtOnce / m;
  static constexpr int groupsOfLane = m / (height * groupsAtOnce);
  static int column(int lane) { return lane % m; }
  static int block(int lane, int e) {
    return lane / m % blocksAtOnce + blocksAtOnce * (e / height / groupsOfLane);
  }
  static int row(int lane, int e) {
    int group =
        lane / (m * blocksAtOnce) + groupsAtOnce * (e / height % groupsOfLane);
    return e % height + height * group;
  }
};

/// BLGP: the lane that B comes from (CDNA3 ISA, "Broadcasting values").
int laneOfB(int lane, int pattern) {
  switch (pattern) {
  case 1:
    return lane % 32;
  case 2:
    return lane % 32 + 32;
  case 3:
    return (lane + 16) % lanes;
  case 4:
  case 5:
  case 6:
  case 7:
    return lane % 16 + 16 * (pattern - 4);
  default:
    return lane;
  }
}

/// Truncates to 10 bits of mantissa. The guide does not state the rounding. A
/// model that agrees with MI300X bit for bit truncates ("MMA-Sim: Bit-Accurate
/// Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909;
/// mmasim/simulator/amd.py).
struct XF32 {
  using Storage = float;
  static double read(Storage value) {
    return roundTo(value, 10, -126, Rounding::TowardZero);
  }
};

/// Chains of fused multiply-add in f64, because no wider type is available for
/// the sum.
template <int m, int k>
void accumulateFused(const double (&a)[m][k], const double (&b)[m][k],
                     double (&c)[m][m]) {
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < m; ++column)
      for (int i = 0; i < k; ++i)
        c[row][column] = std::fma(a[row][i], b[column][i], c[row][column]);
}

template <class Accumulator>
constexpr bool isInteger = std::is_same<Accumulator, S32>::value;

/// On CDNA2, MFMAs of f16 and bf16 flush denormal operands and results
/// (PyTorch, "Numerical accuracy: Reduced Precision FP16 and BF16 GEMMs and
/// Convolutions on AMD Instinct MI200 devices"). Later generations keep them.
template <class Element> constexpr double smallestNormal = 0;
template <> constexpr double smallestNormal<F16> = 0x1p-14;
template <> constexpr double smallestNormal<BF16> = 0x1p-126;

double flushBelow(double value, double smallest) {
  return std::fabs(value) < smallest ? std::copysign(0.0, value) : value;
}

template <int m, int k, int blocks, class A, class B = A,
          class Accumulator = F32>
void multiply(const Wave &wave) {
  constexpr bool isF64 = std::is_same<Accumulator, F64>::value;
  using Number = std::conditional_t<isInteger<Accumulator>, int64_t, double>;
  using Factors = OperandLayout<m, k, blocks>;
  using Results = ResultLayout<m, blocks, isF64 ? 1 : 4>;
  static_assert(Factors::perLane > 0);

  const Call &first = wave.lanes[0];
  int broadcast = 1 << first.get<int32_t>(3),
      broadcastBlock = first.get<int32_t>(4), pattern = first.get<int32_t>(5);
  // From CDNA3 on the field negates the operands of f64.
  bool negates = isF64 && generation() != Generation::CDNA2;
  bool flushes = smallestNormal<A> != 0 && generation() == Generation::CDNA2;

  Number a[blocks][m][k], b[blocks][m][k], c[blocks][m][m];
  for (int lane = 0; lane < lanes; ++lane) {
    int row = Factors::row(lane), block = Factors::block(lane);
    const char *dataA = wave.lanes[lane].data(0);
    const char *dataB =
        wave.lanes[negates ? lane : laneOfB(lane, pattern)].data(1);
    for (int e = 0; e < Factors::perLane; ++e) {
      int column = Factors::column(lane, e);
      a[block][row][column] = Number(readElement<A>(dataA, e));
      b[block][row][column] = Number(readElement<B>(dataB, e));
    }
    const char *dataC = wave.lanes[lane].data(2);
    for (int e = 0; e < Results::perLane; ++e)
      c[Results::block(lane, e)][Results::row(lane, e)][Results::column(lane)] =
          Number(readElement<Accumulator>(dataC, e));
  }
  if constexpr (!isInteger<Accumulator>) {
    if (flushes)
      for (int block = 0; block < blocks; ++block) {
        for (int row = 0; row < m; ++row)
          for (int i = 0; i < k; ++i) {
            a[block][row][i] = flushBelow(a[block][row][i], smallestNormal<A>);
            b[block][row][i] = flushBelow(b[block][row][i], smallestNormal<A>);
          }
        for (int row = 0; row < m; ++row)
          for (int column = 0; column < m; ++column)
            c[block][row][column] = flushBelow(c[block][row][column], 0x1p-126);
      }
    if (negates)
      for (int block = 0; block < blocks; ++block)
        for (int row = 0; row < m; ++row) {
          for (int i = 0; i < k; ++i) {
            a[block][row][i] *= pattern & 1 ? -1 : 1;
            b[block][row][i] *= pattern & 2 ? -1 : 1;
          }
          for (int column = 0; column < m; ++column)
            c[block][row][column] *= pattern & 4 ? -1 : 1;
        }
  }
  for (int block = 0; block < blocks; ++block) {
    // CBSZ, ABID: A of one block for a group of them.
    int blockOfA = blocks == 1 ? 0
                               : block / broadcast * broadcast +
                                     (broadcast > 1 ? broadcastBlock : 0);
    if constexpr (isF64)
      accumulateFused(a[blockOfA], b[block], c[block]);
    else
      accumulate(a[blockOfA], b[block], c[block]);
  }
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < Results::perLane; ++e) {
      Number sum = c[Results::block(lane, e)][Results::row(lane, e)]
                    [Results::column(lane)];
      typename Accumulator::Storage value;
      if constexpr (isInteger<Accumulator>)
        value = int32_t(sum);
      else
        value = Accumulator::write(flushes ? flushBelow(sum, 0x1p-126) : sum);
      memcpy(static_cast<char *>(call.result) + sizeof(value) * e, &value,
             sizeof(value));
    }
  });
}

/// `fp8` and `bf8` are other types on CDNA3 than on CDNA4.
template <int m, int k, bool aIsBF8, bool bIsBF8>
void multiply8(const Wave &wave) {
  if (hasOCPFloats(generation()))
    multiply<m, k, 1, std::conditional_t<aIsBF8, E5M2, E4M3>,
             std::conditional_t<bIsBF8, E5M2, E4M3>>(wave);
  else
    multiply<m, k, 1, std::conditional_t<aIsBF8, E5M2OneZero, E4M3OneZero>,
             std::conditional_t<bIsBF8, E5M2OneZero, E4M3OneZero>>(wave);
}

/// Operands A, B, C, the indices, CBSZ and ABID. A lane has two of each four
/// elements of its row of A; two bits of the indices select each of them. B is
/// as in a dense MFMA. If CBSZ is 0, ABID selects one of four sets of 8 bits;
/// otherwise the first set is used.
template <int m, int k, class Element> void multiplySparse(const Wave &wave) {
  using Factors = OperandLayout<m, k, 1>;
  using Results = ResultLayout<m, 1, 4>;
  static_assert(Factors::perLane == 8);
  const Call &first = wave.lanes[0];
  int set = first.get<int32_t>(4) ? 0 : first.get<int32_t>(5) & 3;
  double a[m][k] = {}, b[m][k], c[m][m];
  for (int lane = 0; lane < lanes; ++lane) {
    const Call &call = wave.lanes[lane];
    int row = Factors::row(lane);
    for (int e = 0; e < Factors::perLane; ++e)
      b[row][Factors::column(lane, e)] = readElement<Element>(call.data(1), e);
    uint32_t indices = call.get<uint32_t>(3) >> (8 * set);
    for (int e = 0; e < Factors::perLane / 2; ++e) {
      int column =
          Factors::column(lane, e / 2 * 4 + int(indices >> (2 * e) & 3));
      a[row][column] += readElement<Element>(call.data(0), e);
    }
    for (int e = 0; e < Results::perLane; ++e)
      c[Results::row(lane, e)][Results::column(lane)] =
          readElement<F32>(call.data(2), e);
  }
  accumulate(a, b, c);
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < Results::perLane; ++e) {
      auto value = float(c[Results::row(lane, e)][Results::column(lane)]);
      memcpy(static_cast<char *>(call.result) + sizeof(value) * e, &value,
             sizeof(value));
    }
  });
}

//===----------------------------------------------------------------------===//
// Microscaling formats (CDNA4)
//===----------------------------------------------------------------------===//

/// Operands A, B, C, formats of A and B, the byte of the scales of A, the
/// scales of A, and both of B. A lane has 32 elements of a row. Elements of 4
/// bits are contiguous; elements of 6 and 8 bits are 16 of each half of K. The
/// scale of a lane applies to the 32 elements of the row at 32 times its group,
/// which may be elements of other lanes. If all scales are 0, the instruction
/// does not scale, as in LLVM.
template <int m, int k> void multiplyScaled(const Wave &wave) {
  using Results = ResultLayout<m, 1, 4>;
  const Call &first = wave.lanes[0];
  bool hasScales = false;
  wave.forEach([&](int, const Call &call) {
    hasScales |= call.get<uint32_t>(6) || call.get<uint32_t>(8);
  });
  double factors[2][m][k], scales[2][m][k / 32], c[m][m];
  for (int side = 0; side < 2; ++side) {
    int format = first.get<int32_t>(3 + side);
    checkScaledOperand(first, side, format, 32);
    int selected = first.get<int32_t>(5 + 2 * side);
    wave.forEach([&](int lane, const Call &call) {
      int row = lane % m, group = lane / m;
      for (int e = 0; e < 32; ++e) {
        int column = format == 4 ? 32 * group + e
                                 : k / 2 * (e / 16) + 16 * group + e % 16;
        factors[side][row][column] =
            readScaledElement(call.data(side), e, format);
      }
      auto scale = call.get<uint32_t>(6 + 2 * side);
      scales[side][row][group] =
          hasScales ? E8M0::read(uint8_t(scale >> (8 * selected))) : 1;
    });
  }
  for (auto side : {0, 1})
    for (int row = 0; row < m; ++row)
      for (int i = 0; i < k; ++i)
        factors[side][row][i] *= scales[side][row][i / 32];
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < Results::perLane; ++e)
      c[Results::row(lane, e)][Results::column(lane)] =
          readElement<F32>(call.data(2), e);
  });
  accumulate(factors[0], factors[1], c);
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < Results::perLane; ++e) {
      auto value = float(c[Results::row(lane, e)][Results::column(lane)]);
      memcpy(static_cast<char *>(call.result) + sizeof(value) * e, &value,
             sizeof(value));
    }
  });
}

constexpr char cdna2[] = "CDNA2 ISA, \"Matrix Arithmetic Instructions\"; AMD "
                         "matrix instruction calculator, gfx90a";
constexpr char cdna3[] = "CDNA3 ISA, \"Matrix Arithmetic Instructions\"; AMD "
                         "matrix instruction calculator, gfx942";
constexpr char cdna4[] = "CDNA4 ISA, \"Matrix Arithmetic Instructions\"";
constexpr char sparse[] =
    "CDNA3 ISA, \"Matrix Arithmetic Instructions: sparse matrices\"; MLIR, "
    "amdgpu.sparse_mfma; which elements a lane has: Composable Kernel, "
    "smfmac_op_util.hpp";
constexpr char scaled[] = "CDNA4 ISA, \"Matrix Arithmetic Instructions: "
                          "V_MFMA_SCALE_F32_16X16X128_F8F6F4\" and the like; "
                          "OCP Microscaling Formats (MX) 1.0; which "
                          "elements a lane has, and the scales' lanes: Triton, "
                          "chooseScaledMfmaScaleLayout";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    // CDNA1 and CDNA2: the shapes
    {"llvm.amdgcn.mfma.f32.32x32x1f32", nullptr, multiply<32, 1, 2, F32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x1f32", nullptr, multiply<16, 1, 4, F32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.4x4x1f32", nullptr, multiply<4, 1, 16, F32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x2f32", nullptr, multiply<32, 2, 1, F32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x4f32", nullptr, multiply<16, 4, 1, F32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x4f16", nullptr, multiply<32, 4, 2, F16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x4f16", nullptr, multiply<16, 4, 4, F16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.4x4x4f16", nullptr, multiply<4, 4, 16, F16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x8f16", nullptr, multiply<32, 8, 1, F16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x16f16", nullptr, multiply<16, 16, 1, F16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.32x32x4i8", nullptr, multiply<32, 4, 2, S8, S8, S32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.16x16x4i8", nullptr, multiply<16, 4, 4, S8, S8, S32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.4x4x4i8", nullptr, multiply<4, 4, 16, S8, S8, S32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.32x32x8i8", nullptr, multiply<32, 8, 1, S8, S8, S32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.16x16x16i8", nullptr, multiply<16, 16, 1, S8, S8, S32>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x2bf16", nullptr, multiply<32, 2, 2, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x2bf16", nullptr, multiply<16, 2, 4, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.4x4x2bf16", nullptr, multiply<4, 2, 16, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x4bf16", nullptr, multiply<32, 4, 1, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x8bf16", nullptr, multiply<16, 8, 1, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x4bf16.1k", nullptr, multiply<32, 4, 2, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x4bf16.1k", nullptr, multiply<16, 4, 4, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.4x4x4bf16.1k", nullptr, multiply<4, 4, 16, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x8bf16.1k", nullptr, multiply<32, 8, 1, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x16bf16.1k", nullptr, multiply<16, 16, 1, BF16>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f64.16x16x4f64", nullptr, multiply<16, 4, 1, F64, F64, F64>, cdna2, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f64.4x4x4f64", nullptr, multiply<4, 4, 4, F64, F64, F64>, cdna2, nullptr, nullptr, true},
    // CDNA3
    {"llvm.amdgcn.mfma.i32.16x16x32.i8", nullptr, multiply<16, 32, 1, S8, S8, S32>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.32x32x16.i8", nullptr, multiply<32, 16, 1, S8, S8, S32>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x8.xf32", nullptr, multiply<16, 8, 1, XF32>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x4.xf32", nullptr, multiply<32, 4, 1, XF32>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8", nullptr, multiply8<16, 32, false, false>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x32.fp8.bf8", nullptr, multiply8<16, 32, false, true>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf8.fp8", nullptr, multiply8<16, 32, true, false>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf8.bf8", nullptr, multiply8<16, 32, true, true>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8", nullptr, multiply8<32, 16, false, false>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x16.fp8.bf8", nullptr, multiply8<32, 16, false, true>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf8.fp8", nullptr, multiply8<32, 16, true, false>, cdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf8.bf8", nullptr, multiply8<32, 16, true, true>, cdna3, nullptr, nullptr, true},
    // CDNA4
    {"llvm.amdgcn.mfma.f32.16x16x32.f16", nullptr, multiply<16, 32, 1, F16>, cdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x16.f16", nullptr, multiply<32, 16, 1, F16>, cdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf16", nullptr, multiply<16, 32, 1, BF16>, cdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf16", nullptr, multiply<32, 16, 1, BF16>, cdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.16x16x64.i8", nullptr, multiply<16, 64, 1, S8, S8, S32>, cdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.i32.32x32x32.i8", nullptr, multiply<32, 32, 1, S8, S8, S32>, cdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.smfmac.f32.16x16x32.f16", nullptr, multiplySparse<16, 32, F16>, sparse, nullptr, nullptr, true},
    {"llvm.amdgcn.smfmac.f32.16x16x32.bf16", nullptr, multiplySparse<16, 32, BF16>, sparse, nullptr, nullptr, true},
    {"llvm.amdgcn.smfmac.f32.32x32x16.f16", nullptr, multiplySparse<32, 16, F16>, sparse, nullptr, nullptr, true},
    {"llvm.amdgcn.smfmac.f32.32x32x16.bf16", nullptr, multiplySparse<32, 16, BF16>, sparse, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.*", nullptr, multiplyScaled<16, 128>, scaled, nullptr, nullptr, true},
    {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.*", nullptr, multiplyScaled<32, 64>, scaled, nullptr, nullptr, true},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdMfma = table;
