//===- Wmma.cpp - V_WMMA: MMAs of RDNA ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All but one have 16 rows and 16 columns, in waves of 32. The elements of a
// lane differ between generations. The row of A or column of B of a lane is
// always its index modulo 16.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/AMD/ScaledOperands.h"
#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/MatrixInstruction.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace smalti::emulator;

namespace {

constexpr int size = 16, lanes = 32;

/// Both halves of the wave have all of A and B; the rows of C alternate between
/// them. Results of 16 bits are in one half of each register (RDNA3 ISA, "Wave
/// Matrix Multiply Accumulate").
struct RDNA3 {
  static constexpr bool sharesK = false;
  template <int bits> static int column(int, int e, int) { return e; }
  static int row(int lane, int e) { return 2 * e + lane / size; }
};

/// The halves of the wave share K, and the rows of C (RDNA4 ISA, "Wave Matrix
/// Multiply Accumulate").
struct RDNA4 {
  static constexpr bool sharesK = true;
  template <int bits> static int column(int lane, int e, int k) {
    return lane / size * (k / 2) + e;
  }
  static int row(int lane, int e) { return lane / size * (size / 2) + e; }
};

/// The halves of the wave alternate along K, in chunks of 8 elements of 16 and
/// 8 bits, and of 2 elements of f32. C is as in RDNA4 (CDNA5 ISA, "Wave Matrix
/// Multiply Accumulate", the figures of A and B).
struct GFX125 {
  static constexpr bool sharesK = true;
  template <int bits> static int column(int lane, int e, int) {
    constexpr int chunk = bits == 32 ? 2 : 8;
    return e / chunk * 2 * chunk + lane / size * chunk + e % chunk;
  }
  static int row(int lane, int e) { return RDNA4::row(lane, e); }
};

/// The operands of an intrinsic; -1 if absent.
struct Form {
  int a, b, c;
  /// Whether the operands are signed, or negated if they are floats.
  int signOfA = -1, signOfB = -1;
  /// 1 negates C, 2 takes its magnitude.
  int modifierOfC = -1;
  /// Whether the results are in the upper halves of registers.
  int upperHalf = -1;
  int clamp = -1;
};

constexpr Form plain = {0, 1, 2};
constexpr Form inHalves = {0, 1, 2, -1, -1, -1, 3};
constexpr Form integers = {1, 3, 4, 0, 2, -1, -1, 5};
constexpr Form integersAndReuse = {1, 3, 4, 0, 2, -1, -1, 7};
constexpr Form allModifiers = {1, 3, 5, 0, 2, 4};
constexpr Form modifierOfC = {0, 1, 3, -1, -1, 2};

bool flag(const Call &call, int operand) {
  return operand >= 0 && (call.get<uint8_t>(operand) & 1);
}

/// Takes the magnitude of an element of C, then negates it.
double modify(double value, int modifier) {
  if (modifier & 2)
    value = std::fabs(value);
  return modifier & 1 ? -value : value;
}

/// Registers of 16 bits each that the results leave: NaN, for what the guide
/// calls undefined.
constexpr uint16_t undefinedHalf = 0x7fff;

template <class Layout, const Form &form, int k, class A, class B, class C,
          class D>
void multiplyFloats(const Wave &wave) {
  constexpr int bits = 8 * sizeof(typename A::Storage);
  constexpr bool halves = form.upperHalf >= 0 && !Layout::sharesK;
  constexpr int perLane = Layout::sharesK ? k / 2 : k;
  constexpr int results = size * size / lanes;
  const Call &first = wave.lanes[0];
  int step = halves ? 2 : 1, offset = halves && flag(first, form.upperHalf);
  double a[size][k], b[size][k], c[size][size];
  double signOfA = flag(first, form.signOfA) ? -1 : 1,
         signOfB = flag(first, form.signOfB) ? -1 : 1;
  int modifier =
      form.modifierOfC >= 0 ? first.get<int16_t>(form.modifierOfC) : 0;
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < perLane; ++e) {
      int column = Layout::template column<bits>(lane, e, k);
      a[lane % size][column] = signOfA * readElement<A>(call.data(form.a), e);
      b[lane % size][column] = signOfB * readElement<B>(call.data(form.b), e);
    }
    for (int e = 0; e < results; ++e) {
      c[Layout::row(lane, e)][lane % size] = modify(
          readElement<C>(call.data(form.c), step * e + offset), modifier);
    }
  });
  accumulate(a, b, c);
  wave.forEach([&](int lane, const Call &call) {
    auto *result = static_cast<char *>(call.result);
    if (halves)
      for (uint32_t i = 0; i < call.resultBytes(); i += 2)
        memcpy(result + i, &undefinedHalf, 2);
    for (int e = 0; e < results; ++e) {
      typename D::Storage value =
          D::write(c[Layout::row(lane, e)][lane % size]);
      memcpy(result + sizeof(value) * (step * e + offset), &value,
             sizeof(value));
    }
  });
}

/// The other half of each register keeps what it was in C.
template <class Element> void multiplyIntoHalves(const Wave &wave) {
  multiplyFloats<RDNA3, inHalves, 16, Element, Element, Element, Element>(wave);
  wave.forEach([](int, const Call &call) {
    uint32_t other = flag(call, 3) ? 0 : 2;
    for (uint32_t i = other; i < call.resultBytes(); i += 4)
      memcpy(static_cast<char *>(call.result) + i, call.data(2) + i, 2);
  });
}

template <class Layout, const Form &form, int k, int bits>
void multiplyIntegers(const Wave &wave) {
  constexpr int perLane = Layout::sharesK ? k / 2 : k;
  constexpr int results = size * size / lanes;
  const Call &first = wave.lanes[0];
  bool aIsSigned = flag(first, form.signOfA),
       bIsSigned = flag(first, form.signOfB), clamps = flag(first, form.clamp);
  int64_t a[size][k], b[size][k], c[size][size];
  auto read = [](const char *data, int e, bool isSigned) -> int64_t {
    if constexpr (bits == 8)
      return isSigned ? readElement<S8>(data, e) : readElement<U8>(data, e);
    return isSigned ? readElement<S4, 4>(data, e) : readElement<U4, 4>(data, e);
  };
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < perLane; ++e) {
      int column = Layout::template column<bits>(lane, e, k);
      a[lane % size][column] = read(call.data(form.a), e, aIsSigned);
      b[lane % size][column] = read(call.data(form.b), e, bIsSigned);
    }
    for (int e = 0; e < results; ++e)
      c[Layout::row(lane, e)][lane % size] =
          readElement<S32>(call.data(form.c), e);
  });
  accumulate(a, b, c);
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < results; ++e) {
      int64_t sum = c[Layout::row(lane, e)][lane % size];
      if (clamps)
        sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max());
      auto value = int32_t(sum);
      memcpy(static_cast<char *>(call.result) + sizeof(value) * e, &value,
             sizeof(value));
    }
  });
}

//===----------------------------------------------------------------------===//
// Microscaling formats (GFX12.5)
//===----------------------------------------------------------------------===//

double readScale(const Call &call, uint8_t code, int format) {
  switch (format) {
  case 0:
    return E8M0::read(code);
  case 1:
    return E5M3::read(code);
  case 2:
    return E4M3::read(code);
  default:
    failLane(call, 0,
             "scale format %d is not defined; the ISA defines 0 (E8M0), 1 "
             "(E5M3) and 2 (E4M3)",
             format);
  }
}

/// The scales of the rows of an operand. Each block of K has one scale, a byte
/// in the lane of the row. The scales of 16 rows are in the lower or the upper
/// half of the wave. Operands from `first` on: the half, the format, the
/// scales.
template <class Scales, int rows, int blocks>
void readScales(const Wave &wave, int first, double (&scales)[rows][blocks]) {
  static_assert(sizeof(Scales) == blocks);
  const Call &call = wave.lanes[0];
  int half = call.get<int32_t>(first), format = call.get<int32_t>(first + 1);
  if (half < 0 || half > (rows == size ? 1 : 0))
    failLane(
        call, 0,
        "scales of %d rows start at lane %d, which is not a valid first lane",
        rows, half * size);
  for (int row = 0; row < rows; ++row) {
    auto codes = wave.lanes[half * size + row].get<Scales>(first + 2);
    for (int block = 0; block < blocks; ++block)
      scales[row][block] =
          readScale(call, uint8_t(codes >> (8 * block)), format);
  }
}

/// Operands: A and B, each after its format if there are 16 rows (otherwise
/// both have 4 bits), the modifier of C, C. With scales, the operands of
/// `readScales` for A and for B follow. The halves of the wave alternate along
/// K, in chunks of 16 elements of 8 bits, and of 32 narrower elements. 32 rows
/// are two times 16, in consecutive registers.
template <int rows, class Scales = void> void multiplyScaled(const Wave &wave) {
  constexpr int k = 128, perRow = k / 2;
  constexpr bool hasFormats = rows == size, hasScales = !std::is_void_v<Scales>;
  constexpr int operandA = hasFormats ? 1 : 0, operandB = hasFormats ? 3 : 1;
  constexpr int modifierOfC = operandB + 1, operandC = operandB + 2;
  const Call &first = wave.lanes[0];
  double a[rows][k], b[size][k], c[rows][size];

  auto gather = [&](auto &factor, int operand) {
    int format = hasFormats ? first.get<int32_t>(operand - 1) : int(formatFP4);
    constexpr int height =
        std::extent_v<std::remove_reference_t<decltype(factor)>>;
    checkScaledOperand(first, operand, format, perRow * height / size);
    int chunk = bitsOfFormat(format) == 8 ? 16 : 32;
    for (int lane = 0; lane < lanes; ++lane)
      for (int e = 0; e < perRow * height / size; ++e) {
        int row = lane % size + e / perRow * size, i = e % perRow;
        int column = i / chunk * 2 * chunk + lane / size * chunk + i % chunk;
        factor[row][column] =
            readScaledElement(wave.lanes[lane].data(operand), e, format);
      }
  };
  gather(a, operandA);
  gather(b, operandB);
  if constexpr (hasScales) {
    constexpr int blocks = sizeof(Scales);
    double scalesOfA[rows][blocks], scalesOfB[size][blocks];
    readScales<Scales>(wave, operandC + 1, scalesOfA);
    readScales<Scales>(wave, operandC + 4, scalesOfB);
    for (int i = 0; i < k; ++i) {
      for (int row = 0; row < rows; ++row)
        a[row][i] *= scalesOfA[row][i / (k / blocks)];
      for (int row = 0; row < size; ++row)
        b[row][i] *= scalesOfB[row][i / (k / blocks)];
    }
  }

  auto rowOf = [](int lane, int e) {
    return e / 8 * size + RDNA4::row(lane, e % 8);
  };
  constexpr int results = rows * size / lanes;
  for (int lane = 0; lane < lanes; ++lane)
    for (int e = 0; e < results; ++e)
      c[rowOf(lane, e)][lane % size] =
          modify(readElement<F32>(wave.lanes[lane].data(operandC), e),
                 first.get<int16_t>(modifierOfC));
  accumulate(a, b, c);
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < results; ++e) {
      auto value = float(c[rowOf(lane, e)][lane % size]);
      memcpy(static_cast<char *>(call.result) + sizeof(value) * e, &value,
             sizeof(value));
    }
  });
}

constexpr char rdna3[] =
    "RDNA3 ISA, \"Wave Matrix Multiply Accumulate (WMMA)\"";
constexpr char rdna4[] =
    "RDNA4 ISA, \"Wave Matrix Multiply Accumulate (WMMA)\"";
constexpr char gfx125[] =
    "CDNA5 ISA, \"Wave Matrix Multiply Accumulate (WMMA)\"; "
    "LLVM, IntrinsicsAMDGPU.td, "
    "AMDGPUWMMAIntrinsicsGFX1250";
constexpr char microscaled[] =
    "CDNA5 ISA, \"Wave Matrix Multiply Accumulate (WMMA)\"; MLIR, "
    "amdgpu.scaled_wmma; OCP Microscaling Formats (MX) 1.0; which elements and "
    "which scales a lane has: Triton, wmmaDotOperandToLinearLayout and "
    "chooseScaledWmmaScaleLayout, and, for 6 bits, AMD's rocjitsu, "
    "wmma_block_scaled_input_loc";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    // RDNA3
    {"llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16", nullptr, multiplyFloats<RDNA3, plain, 16, F16, F16, F32, F32>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16", nullptr, multiplyFloats<RDNA3, plain, 16, BF16, BF16, F32, F32>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x16.f16.v16f16.v16f16", nullptr, multiplyFloats<RDNA3, inHalves, 16, F16, F16, F16, F16>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.bf16.16x16x16.bf16.v16i16.v16i16", nullptr, multiplyFloats<RDNA3, inHalves, 16, BF16, BF16, BF16, BF16>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x16.f16.tied.*", nullptr, multiplyIntoHalves<F16>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.bf16.16x16x16.bf16.tied.*", nullptr, multiplyIntoHalves<BF16>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32", nullptr, multiplyIntegers<RDNA3, integers, 16, 8>, rdna3, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.i32.16x16x16.iu4.v8i32.v2i32", nullptr, multiplyIntegers<RDNA3, integers, 16, 4>, rdna3, nullptr, nullptr, true},
    // RDNA4
    {"llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16", nullptr, multiplyFloats<RDNA4, plain, 16, F16, F16, F32, F32>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16", nullptr, multiplyFloats<RDNA4, plain, 16, BF16, BF16, F32, F32>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x16.f16.v8f16.v8f16", nullptr, multiplyFloats<RDNA4, inHalves, 16, F16, F16, F16, F16>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.bf16.16x16x16.bf16.v8i16.v8i16", nullptr, multiplyFloats<RDNA4, inHalves, 16, BF16, BF16, BF16, BF16>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32", nullptr, multiplyFloats<RDNA4, plain, 16, E4M3, E4M3, F32, F32>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x16.fp8.bf8.v8f32.v2i32", nullptr, multiplyFloats<RDNA4, plain, 16, E4M3, E5M2, F32, F32>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf8.fp8.v8f32.v2i32", nullptr, multiplyFloats<RDNA4, plain, 16, E5M2, E4M3, F32, F32>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf8.bf8.v8f32.v2i32", nullptr, multiplyFloats<RDNA4, plain, 16, E5M2, E5M2, F32, F32>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v2i32", nullptr, multiplyIntegers<RDNA4, integers, 16, 8>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.i32.16x16x16.iu4.v8i32.i32", nullptr, multiplyIntegers<RDNA4, integers, 16, 4>, rdna4, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.i32.16x16x32.iu4.v8i32.v2i32", nullptr, multiplyIntegers<RDNA4, integers, 32, 4>, rdna4, nullptr, nullptr, true},
    // GFX12.5
    {"llvm.amdgcn.wmma.f32.16x16x4.f32.*", nullptr, multiplyFloats<GFX125, allModifiers, 4, F32, F32, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x32.f16.*", nullptr, multiplyFloats<GFX125, allModifiers, 32, F16, F16, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x32.bf16.*", nullptr, multiplyFloats<GFX125, allModifiers, 32, BF16, BF16, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x32.f16.*", nullptr, multiplyFloats<GFX125, allModifiers, 32, F16, F16, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.bf16.16x16x32.bf16.*", nullptr, multiplyFloats<GFX125, allModifiers, 32, BF16, BF16, BF16, BF16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.bf16f32.16x16x32.bf16.*", nullptr, multiplyFloats<GFX125, allModifiers, 32, BF16, BF16, F32, BF16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x64.fp8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E4M3, E4M3, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x64.fp8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E4M3, E5M2, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x64.bf8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E5M2, E4M3, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x64.bf8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E5M2, E5M2, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x64.fp8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E4M3, E4M3, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x64.fp8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E4M3, E5M2, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x64.bf8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E5M2, E4M3, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x64.bf8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 64, E5M2, E5M2, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x128.fp8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E4M3, E4M3, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x128.fp8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E4M3, E5M2, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x128.bf8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E5M2, E4M3, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x128.bf8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E5M2, E5M2, F32, F32>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x128.fp8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E4M3, E4M3, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x128.fp8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E4M3, E5M2, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x128.bf8.fp8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E5M2, E4M3, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f16.16x16x128.bf8.bf8.*", nullptr, multiplyFloats<GFX125, modifierOfC, 128, E5M2, E5M2, F16, F16>, gfx125, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.16x16x128.f8f6f4.*", nullptr, multiplyScaled<16>, microscaled, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.f32.32x16x128.f4.*", nullptr, multiplyScaled<32>, microscaled, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.scale.f32.16x16x128.f8f6f4.*", nullptr, multiplyScaled<16, uint32_t>, microscaled, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.scale.f32.32x16x128.f4.*", nullptr, multiplyScaled<32, uint32_t>, microscaled, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.scale16.f32.16x16x128.f8f6f4.*", nullptr, multiplyScaled<16, uint64_t>, microscaled, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.scale16.f32.32x16x128.f4.*", nullptr, multiplyScaled<32, uint64_t>, microscaled, nullptr, nullptr, true},
    {"llvm.amdgcn.wmma.i32.16x16x64.iu8.*", nullptr, multiplyIntegers<GFX125, integersAndReuse, 64, 8>, gfx125, nullptr, nullptr, true},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdWmma = table;
