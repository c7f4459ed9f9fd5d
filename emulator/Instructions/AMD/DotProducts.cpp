//===- DotProducts.cpp - Dot products of a lane, of AMD -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"

#include <algorithm>
#include <limits>

using namespace smalti::emulator;

namespace {

/// Sums in double and rounds once: the guides state neither order nor rounding
/// of the sum. CDNA2 flushes denormal operands (PyTorch, "Numerical accuracy",
/// on AMD Instinct MI200 devices).
template <class A, class B, int count, class Sum>
void dotOfFloats(const Call &call) {
  double sum = Sum::read(call.get<typename Sum::Storage>(2));
  for (int i = 0; i < count; ++i)
    sum += readElement<A>(call.data(0), i) * readElement<B>(call.data(1), i);
  if (call.numOperands() > 3 && call.get<uint8_t>(3))
    sum = std::clamp(sum, 0.0, 1.0);
  call.set(roundNearest<Sum>(sum));
}

void dotOfF16(const Call &call) {
  if (generation() != Generation::CDNA2)
    return dotOfFloats<F16, F16, 2, F32>(call);
  double sum = call.get<float>(2);
  for (int i = 0; i < 2; ++i) {
    double a = readElement<F16>(call.data(0), i),
           b = readElement<F16>(call.data(1), i);
    if (std::fabs(a) >= 0x1p-14 && std::fabs(b) >= 0x1p-14)
      sum += a * b;
  }
  if (call.get<uint8_t>(3))
    sum = std::clamp(sum, 0.0, 1.0);
  call.set(float(sum));
}

template <int bits> int64_t element(uint32_t word, int i, bool isSigned) {
  auto value = int64_t(word >> (bits * i) & ((1U << bits) - 1));
  if (isSigned && value >> (bits - 1))
    value -= int64_t(1) << bits;
  return value;
}

template <int bits, class Sum>
Sum dot(uint32_t a, bool aIsSigned, uint32_t b, bool bIsSigned, Sum c,
        bool clamps) {
  int64_t sum = c;
  for (int i = 0; i < 32 / bits; ++i)
    sum += element<bits>(a, i, aIsSigned) * element<bits>(b, i, bIsSigned);
  if (clamps)
    sum = std::clamp<int64_t>(sum, std::numeric_limits<Sum>::min(),
                              std::numeric_limits<Sum>::max());
  return Sum(sum);
}

/// Operands a, b, c, clamp.
template <int bits, class Sum> void dotOfIntegers(const Call &call) {
  constexpr bool isSigned = std::numeric_limits<Sum>::is_signed;
  call.set(dot<bits>(call.get<uint32_t>(0), isSigned, call.get<uint32_t>(1),
                     isSigned, call.get<Sum>(2), call.get<uint8_t>(3)));
}

/// Operands sign of a, a, sign of b, b, c, clamp.
template <int bits> void dotOfMixedIntegers(const Call &call) {
  call.set(dot<bits>(call.get<uint32_t>(1), call.get<uint8_t>(0),
                     call.get<uint32_t>(3), call.get<uint8_t>(2),
                     call.get<int32_t>(4), call.get<uint8_t>(5)));
}

constexpr char cdna3[] =
    "CDNA3 ISA, \"VOP3P Instructions\": V_DOT2, V_DOT4 and "
    "V_DOT8 of these types; LLVM, IntrinsicsAMDGPU.td, "
    "\"Deep learning intrinsics\"";
constexpr char rdna3[] =
    "RDNA3 ISA, \"VOP3P Instructions\": V_DOT2, V_DOT4 and "
    "V_DOT8 of these types; LLVM, IntrinsicsAMDGPU.td, "
    "\"Deep learning intrinsics\"";
constexpr char rdna4[] =
    "RDNA4 ISA, \"VOP3P Instructions: V_DOT4_F32_FP8_BF8\" "
    "...";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.fdot2", dotOfF16, nullptr, cdna3},
    {"llvm.amdgcn.fdot2.f16.f16", dotOfFloats<F16, F16, 2, F16>, nullptr, rdna3},
    {"llvm.amdgcn.fdot2.bf16.bf16", dotOfFloats<BF16, BF16, 2, BF16>, nullptr, rdna3},
    {"llvm.amdgcn.fdot2.f32.bf16", dotOfFloats<BF16, BF16, 2, F32>, nullptr, rdna3},
    {"llvm.amdgcn.fdot2c.f32.bf16", dotOfFloats<BF16, BF16, 2, F32>, nullptr, cdna3},
    {"llvm.amdgcn.dot4.f32.fp8.fp8", dotOfFloats<E4M3, E4M3, 4, F32>, nullptr, rdna4},
    {"llvm.amdgcn.dot4.f32.fp8.bf8", dotOfFloats<E4M3, E5M2, 4, F32>, nullptr, rdna4},
    {"llvm.amdgcn.dot4.f32.bf8.fp8", dotOfFloats<E5M2, E4M3, 4, F32>, nullptr, rdna4},
    {"llvm.amdgcn.dot4.f32.bf8.bf8", dotOfFloats<E5M2, E5M2, 4, F32>, nullptr, rdna4},
    {"llvm.amdgcn.sdot2", dotOfIntegers<16, int32_t>, nullptr, cdna3},
    {"llvm.amdgcn.udot2", dotOfIntegers<16, uint32_t>, nullptr, cdna3},
    {"llvm.amdgcn.sdot4", dotOfIntegers<8, int32_t>, nullptr, cdna3},
    {"llvm.amdgcn.udot4", dotOfIntegers<8, uint32_t>, nullptr, cdna3},
    {"llvm.amdgcn.sdot8", dotOfIntegers<4, int32_t>, nullptr, cdna3},
    {"llvm.amdgcn.udot8", dotOfIntegers<4, uint32_t>, nullptr, cdna3},
    {"llvm.amdgcn.sudot4", dotOfMixedIntegers<8>, nullptr, rdna3},
    {"llvm.amdgcn.sudot8", dotOfMixedIntegers<4>, nullptr, rdna3},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdDotProducts = table;
