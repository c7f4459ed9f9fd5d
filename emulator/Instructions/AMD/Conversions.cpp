//===- Conversions.cpp - Conversions of AMD -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modes are those a kernel starts with: rounding to nearest even, denormal
// numbers kept, and FP16_OVFL off (what is too large does not become the
// largest number).
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"

#include <algorithm>

using namespace smalti::emulator;

namespace {

/// `fp8` and `bf8` of a generation.
struct FP8 {
  using OCP = E4M3;
  using OneZero = E4M3OneZero;
};
struct BF8 {
  using OCP = E5M2;
  using OneZero = E5M2OneZero;
};

template <class Pair> double read8(uint8_t code) {
  return hasOCPFloats(generation()) ? Pair::OCP::read(code)
                                    : Pair::OneZero::read(code);
}
template <class Pair> uint8_t write8(double value) {
  return hasOCPFloats(generation())
             ? roundNearest<typename Pair::OCP>(value)
             : roundNearest<typename Pair::OneZero>(value);
}
template <class Pair>
uint8_t write8Stochastic(double value, uint32_t random, int sourceMantissa) {
  return hasOCPFloats(generation())
             ? roundStochastic<typename Pair::OCP>(value, random,
                                                   sourceMantissa)
             : roundStochastic<typename Pair::OneZero>(value, random,
                                                       sourceMantissa);
}

void setByte(uint32_t &word, int i, uint8_t byte) {
  word = (word & ~(0xffU << (8 * i))) | uint32_t(byte) << (8 * i);
}
uint8_t getByte(uint32_t word, int i) { return uint8_t(word >> (8 * i)); }

//===----------------------------------------------------------------------===//
// Between floats and packed integers
//===----------------------------------------------------------------------===//

void packTowardZero(const Call &call) {
  _Float16 result[2];
  for (int i = 0; i < 2; ++i) {
    double value = call.get<float>(i);
    double rounded = roundTo(value, 10, -14, Rounding::TowardZero);
    // Rounding toward zero never gives infinity.
    if (std::isfinite(value))
      rounded = std::clamp(rounded, -65504.0, 65504.0);
    result[i] = _Float16(rounded);
  }
  call.set(result);
}

/// Fixed point numbers of [-1, 1] or [0, 1].
template <class Integer, int low, int high> void packNormal(const Call &call) {
  Integer result[2];
  for (int i = 0; i < 2; ++i) {
    double value = call.get<float>(i);
    value =
        std::isnan(value) ? 0 : std::clamp<double>(value, low < 0 ? -1 : 0, 1);
    result[i] = Integer(std::nearbyint(value * high));
  }
  call.set(result);
}

template <class Wide, class Narrow> void packIntegers(const Call &call) {
  Narrow result[2];
  for (int i = 0; i < 2; ++i)
    result[i] = Narrow(std::clamp<int64_t>(call.get<Wide>(i),
                                           std::numeric_limits<Narrow>::min(),
                                           std::numeric_limits<Narrow>::max()));
  call.set(result);
}

void setByteOfFloat(const Call &call) {
  double value = call.get<float>(0);
  value = std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), 0.0, 255.0);
  auto word = call.get<uint32_t>(2);
  setByte(word, call.get<uint32_t>(1) & 3, uint8_t(value));
  call.set(word);
}

/// A sixteenth of a number of 4 bits.
void offsetToFloat(const Call &call) {
  int32_t value = int32_t(call.get<uint32_t>(0) << 28) >> 28;
  call.set(float(value) / 16);
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

/// Operands source, byte.
template <class Pair, class To> void convertByte(const Call &call) {
  double value =
      read8<Pair>(getByte(call.get<uint32_t>(0), call.get<int32_t>(1) & 3));
  call.set(roundNearest<To>(value));
}

void convertScaleByte(const Call &call) {
  call.set(float(
      E5M3::read(getByte(call.get<uint32_t>(0), call.get<int32_t>(1) & 3))));
}

/// Operands source, whether of the upper half.
template <class Pair> void convertPair(const Call &call) {
  int first = call.get<uint8_t>(1) ? 2 : 0;
  float result[2];
  for (int i = 0; i < 2; ++i)
    result[i] = float(read8<Pair>(getByte(call.get<uint32_t>(0), first + i)));
  call.set(result);
}

template <class Pair> void convertPairToF16(const Call &call) {
  _Float16 result[2];
  for (int i = 0; i < 2; ++i)
    result[i] =
        roundNearest<F16>(read8<Pair>(getByte(call.get<uint16_t>(0), i)));
  call.set(result);
}

template <class Pair> void convertPairFromF16(const Call &call) {
  uint8_t result[2];
  for (int i = 0; i < 2; ++i)
    result[i] = write8<Pair>(readElement<F16>(call.data(0), i));
  call.set(result);
}

/// Operands two sources, old value, whether to the upper half.
template <class Pair> void packBytes(const Call &call) {
  auto word = call.get<uint32_t>(2);
  int first = call.get<uint8_t>(3) ? 2 : 0;
  for (int i = 0; i < 2; ++i)
    setByte(word, first + i, write8<Pair>(call.get<float>(i)));
  call.set(word);
}

/// Operands source, random number, old value, byte. The guide adds the upper
/// 20 bits of the random number for `fp8`, 21 for `bf8`: those below the
/// result's last place. It then says to round to nearest, which would round
/// twice: it is cut off here.
template <class Pair, class From> void convertStochastic(const Call &call) {
  auto word = call.get<uint32_t>(2);
  double value = From::read(call.get<typename From::Storage>(0));
  setByte(word, call.get<int32_t>(3) & 3,
          write8Stochastic<Pair>(value, call.get<uint32_t>(1),
                                 Result<From>::mantissa));
  call.set(word);
}

/// Operands old value, source, random number, whether to the upper half.
template <class To> void convertStochasticToHalf(const Call &call) {
  typename To::Storage result[2];
  memcpy(result, call.data(0), sizeof result);
  result[call.get<uint8_t>(3) ? 1 : 0] =
      roundStochastic<To>(call.get<float>(1), call.get<uint32_t>(2), 23);
  call.set(result);
}

//===----------------------------------------------------------------------===//
// With a scale (CDNA4)
//===----------------------------------------------------------------------===//

/// Only the exponent of the scale is used.
double scaleOf(float scale) {
  int exponent = int(bitCast<uint32_t>(scale) >> 23 & 0xff);
  return E8M0::read(uint8_t(exponent));
}

/// Operands source, scale.
template <class From, class To, int count> void unpackScaled(const Call &call) {
  double scale = scaleOf(call.get<float>(1));
  for (int i = 0; i < count; ++i) {
    auto value = roundNearest<To>(
        readElement<From, From::bits>(call.data(0), i) * scale);
    memcpy(static_cast<char *>(call.result) + sizeof(value) * i, &value,
           sizeof value);
  }
}

/// Operands source, scale, which part of the source: one of `count` elements.
template <class From, class To, int count>
void convertPartScaled(const Call &call) {
  double scale = scaleOf(call.get<float>(1));
  int part = call.bytes(2) == 1 ? call.get<uint8_t>(2) : call.get<int32_t>(2);
  for (int i = 0; i < count; ++i) {
    auto value = roundNearest<To>(
        readElement<From, From::bits>(call.data(0), part * count + i) * scale);
    memcpy(static_cast<char *>(call.result) + sizeof(value) * i, &value,
           sizeof value);
  }
}

/// Operands old value, source, scale, byte, whether to the upper half.
template <class From> void convertToHalfScaled(const Call &call) {
  _Float16 result[2];
  memcpy(result, call.data(0), sizeof result);
  double value = readElement<From>(call.data(1), call.get<int32_t>(3));
  result[call.get<uint8_t>(4) ? 1 : 0] =
      roundNearest<F16>(value * scaleOf(call.get<float>(2)));
  call.set(result);
}

/// Operands source, scale.
template <class From, class To, int count> void packScaled(const Call &call) {
  double scale = scaleOf(call.get<float>(1));
  for (int i = 0; i < count; ++i)
    writePacked(static_cast<char *>(call.result), To::bits, i,
                roundNearest<To>(readElement<From>(call.data(0), i) / scale));
}

/// Operands two sources, whose elements alternate in the result, and scale.
template <class To> void packAlternatelyScaled(const Call &call) {
  double scale = scaleOf(call.get<float>(2));
  for (int i = 0; i < 32; ++i)
    writePacked(
        static_cast<char *>(call.result), To::bits, i,
        roundNearest<To>(readElement<F32>(call.data(i % 2), i / 2) / scale));
}

/// Operands source, random number, scale.
template <class From, class To, int count>
void packScaledStochastic(const Call &call) {
  auto random = call.get<uint32_t>(1);
  double scale = scaleOf(call.get<float>(2));
  for (int i = 0; i < count; ++i) {
    writePacked(static_cast<char *>(call.result), To::bits, i,
                roundStochastic<To>(readElement<From>(call.data(0), i) / scale,
                                    random, Result<From>::mantissa));
    random = nextRandom(random);
  }
}

/// Operands old value, source of two elements, scale, which part.
template <class From, class To> void packPairScaled(const Call &call) {
  double scale = scaleOf(call.get<float>(2));
  int part = call.bytes(3) == 1 ? call.get<uint8_t>(3) : call.get<int32_t>(3);
  auto word = call.get<uint32_t>(0);
  for (int i = 0; i < 2; ++i)
    writePacked(reinterpret_cast<char *>(&word), To::bits, 2 * part + i,
                roundNearest<To>(readElement<From>(call.data(1), i) / scale));
  call.set(word);
}

/// The same of two operands of f32.
template <class To> void packF32PairScaled(const Call &call) {
  double scale = scaleOf(call.get<float>(3));
  int part = call.bytes(4) == 1 ? call.get<uint8_t>(4) : call.get<int32_t>(4);
  auto word = call.get<uint32_t>(0);
  for (int i = 0; i < 2; ++i)
    writePacked(reinterpret_cast<char *>(&word), To::bits, 2 * part + i,
                roundNearest<To>(call.get<float>(1 + i) / scale));
  call.set(word);
}

/// Operands old value, source of `count` elements, random number, scale, byte.
template <class From, class To, int count>
void convertScaledStochastic(const Call &call) {
  auto word = call.get<uint32_t>(0), random = call.get<uint32_t>(2);
  double scale = scaleOf(call.get<float>(3));
  int byte = call.get<int32_t>(4);
  for (int i = 0; i < count; ++i) {
    writePacked(reinterpret_cast<char *>(&word), To::bits,
                byte * (8 / To::bits) + i,
                roundStochastic<To>(readElement<From>(call.data(1), i) / scale,
                                    random, Result<From>::mantissa));
    random = nextRandom(random);
  }
  call.set(word);
}

/// Operands two sources, random number. The second takes the next one.
template <class To> void packStochastic(const Call &call) {
  auto random = call.get<uint32_t>(2);
  typename To::Storage result[2];
  for (int i = 0; i < 2; ++i) {
    result[i] = roundStochastic<To>(call.get<float>(i), random, 23);
    random = nextRandom(random);
  }
  call.set(result);
}

constexpr char cdna3[] = "CDNA3 ISA, \"VOP3A and VOP3B Instructions\": the "
                         "instruction of the same name; \"Data formats: FP8 "
                         "and BF8\"";
constexpr char cdna4[] = "CDNA4 ISA, \"VOP3A and VOP3B Instructions\": the "
                         "instruction of the same name";
constexpr char gfx1250[] = "LLVM, IntrinsicsAMDGPU.td, the comment at the "
                           "intrinsic; RDNA4 ISA, \"VOP3 Instructions: "
                           "V_CVT_SR_FP8_F32\", ...";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.cvt.pkrtz", packTowardZero, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pknorm.i16", packNormal<int16_t, -1, 32767>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pknorm.u16", packNormal<uint16_t, 0, 65535>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.i16", packIntegers<int32_t, int16_t>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.u16", packIntegers<uint32_t, uint16_t>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.u8.f32", setByteOfFloat, nullptr, cdna3},
    {"llvm.amdgcn.cvt.off.f32.i4", offsetToFloat, nullptr, cdna3},
    // 8-bit floats
    {"llvm.amdgcn.cvt.f32.fp8", convertByte<FP8, F32>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.f32.bf8", convertByte<BF8, F32>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.f32.fp8", convertPair<FP8>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.f32.bf8", convertPair<BF8>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.fp8.f32", packBytes<FP8>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.pk.bf8.f32", packBytes<BF8>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.sr.fp8.f32", convertStochastic<FP8, F32>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.sr.bf8.f32", convertStochastic<BF8, F32>, nullptr, cdna3},
    {"llvm.amdgcn.cvt.f32.fp8.e5m3", convertScaleByte, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.f16.fp8", convertByte<FP8, F16>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.f16.bf8", convertByte<BF8, F16>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.pk.f16.fp8", convertPairToF16<FP8>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.pk.f16.bf8", convertPairToF16<BF8>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.pk.fp8.f16", convertPairFromF16<FP8>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.pk.bf8.f16", convertPairFromF16<BF8>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.sr.fp8.f16", convertStochastic<FP8, F16>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.sr.bf8.f16", convertStochastic<BF8, F16>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.sr.pk.f16.f32", packStochastic<F16>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.sr.pk.bf16.f32", packStochastic<BF16>, nullptr, gfx1250},
    {"llvm.amdgcn.cvt.sr.f16.f32", convertStochasticToHalf<F16>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.sr.bf16.f32", convertStochasticToHalf<BF16>, nullptr, cdna4},
    // From small floats, with a scale
    {"llvm.amdgcn.cvt.scalef32.f16.fp8", convertToHalfScaled<E4M3>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.f16.bf8", convertToHalfScaled<E5M2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.f32.fp8", convertPartScaled<E4M3, F32, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.f32.bf8", convertPartScaled<E5M2, F32, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.f32.fp8", convertPartScaled<E4M3, F32, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.f32.bf8", convertPartScaled<E5M2, F32, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.f16.fp8", convertPartScaled<E4M3, F16, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.f16.bf8", convertPartScaled<E5M2, F16, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.bf16.fp8", convertPartScaled<E4M3, BF16, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.bf16.bf8", convertPartScaled<E5M2, BF16, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.f32.fp4", convertPartScaled<E2M1, F32, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.f16.fp4", convertPartScaled<E2M1, F16, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.bf16.fp4", convertPartScaled<E2M1, BF16, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.f32.fp6", unpackScaled<E2M3, F32, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.f32.bf6", unpackScaled<E3M2, F32, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.f16.fp6", unpackScaled<E2M3, F16, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.f16.bf6", unpackScaled<E3M2, F16, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.bf16.fp6", unpackScaled<E2M3, BF16, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.bf16.bf6", unpackScaled<E3M2, BF16, 32>, nullptr, cdna4},
    // To small floats, with a scale
    {"llvm.amdgcn.cvt.scalef32.pk.fp8.f32", packF32PairScaled<E4M3>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.bf8.f32", packF32PairScaled<E5M2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.fp4.f32", packF32PairScaled<E2M1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.fp8.f16", packPairScaled<F16, E4M3>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.bf8.f16", packPairScaled<F16, E5M2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.fp4.f16", packPairScaled<F16, E2M1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.fp8.bf16", packPairScaled<BF16, E4M3>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.bf8.bf16", packPairScaled<BF16, E5M2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk.fp4.bf16", packPairScaled<BF16, E2M1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.fp6.f16", packScaled<F16, E2M3, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.bf6.f16", packScaled<F16, E3M2, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.fp6.bf16", packScaled<BF16, E2M3, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.pk32.bf6.bf16", packScaled<BF16, E3M2, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.2xpk16.fp6.f32", packAlternatelyScaled<E2M3>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.2xpk16.bf6.f32", packAlternatelyScaled<E3M2>, nullptr, cdna4},
    // The same with a random number below the last place
    {"llvm.amdgcn.cvt.scalef32.sr.fp8.f32", convertScaledStochastic<F32, E4M3, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.bf8.f32", convertScaledStochastic<F32, E5M2, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.fp8.f16", convertScaledStochastic<F16, E4M3, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.bf8.f16", convertScaledStochastic<F16, E5M2, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.fp8.bf16", convertScaledStochastic<BF16, E4M3, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.bf8.bf16", convertScaledStochastic<BF16, E5M2, 1>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk.fp4.f32", convertScaledStochastic<F32, E2M1, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk.fp4.f16", convertScaledStochastic<F16, E2M1, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk.fp4.bf16", convertScaledStochastic<BF16, E2M1, 2>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk32.fp6.f32", packScaledStochastic<F32, E2M3, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk32.bf6.f32", packScaledStochastic<F32, E3M2, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk32.fp6.f16", packScaledStochastic<F16, E2M3, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk32.bf6.f16", packScaledStochastic<F16, E3M2, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk32.fp6.bf16", packScaledStochastic<BF16, E2M3, 32>, nullptr, cdna4},
    {"llvm.amdgcn.cvt.scalef32.sr.pk32.bf6.bf16", packScaledStochastic<BF16, E3M2, 32>, nullptr, cdna4},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdConversions = table;
