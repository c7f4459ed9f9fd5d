//===- WaveMatrixProducts.cpp - V_WMMA: matrix products of RDNA -----------===//
//
// All of them are of 16 rows and 16 columns, in waves of 32. What a lane has
// differs between the generations; a lane's row of A, or column of B, is always
// its number modulo 16.
//
//===----------------------------------------------------------------------===//

#include "emulator/Instructions/AMD/Formats.h"
#include "emulator/Instructions/AMD/Generation.h"
#include "emulator/Instructions/Lists.h"
#include "emulator/Instructions/Product.h"
#include "emulator/Runtime/Thread.h"

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

/// The halves of the wave take turns along K, in chunks of 8 elements of 16 and
/// 8 bits, and of 2 of f32; C as in RDNA4 (CDNA5 ISA, "Wave Matrix Multiply
/// Accumulate", the figures of A and B).
struct GFX125 {
  static constexpr bool sharesK = true;
  template <int bits> static int column(int lane, int e, int) {
    constexpr int chunk = bits == 32 ? 2 : 8;
    return e / chunk * 2 * chunk + lane / size * chunk + e % chunk;
  }
  static int row(int lane, int e) { return RDNA4::row(lane, e); }
};

/// The operands of an intrinsic; -1 for what it has not.
struct Form {
  int a, b, c;
  /// Whether the factors are signed, or negated where they are floats.
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
      double value = readElement<C>(call.data(form.c), step * e + offset);
      if (modifier & 2)
        value = std::fabs(value);
      if (modifier & 1)
        value = -value;
      c[Layout::row(lane, e)][lane % size] = value;
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
      memcpy(static_cast<char *>(call.result) + 4 * e, &value, 4);
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
    {"llvm.amdgcn.wmma.i32.16x16x64.iu8.*", nullptr, multiplyIntegers<GFX125, integersAndReuse, 64, 8>, gfx125, nullptr, nullptr, true},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdWaveMatrixProducts = table;
