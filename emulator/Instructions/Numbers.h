//===- Numbers.h - Number types of instructions ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each type has its storage, `read` (exact, as a double or a 64-bit integer)
// and, where instructions write it, `write`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NUMBERS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NUMBERS_H

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace smalti::emulator {

template <class To, class From> To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &value, sizeof(To));
  return result;
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

enum class Rounding { NearestEven, NearestAway, TowardZero, Down, Up };

/// Rounds to an integer; the host rounds to nearest even.
inline double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value);
  case Rounding::NearestAway:
    return std::round(value);
  case Rounding::TowardZero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  __builtin_unreachable();
}

/// 2^exponent, a normal number.
inline double powerOfTwo(int exponent) {
  return bitCast<double>(uint64_t(exponent + 1023) << 52);
}

/// The exponent of a number, at least `minExponent`, which is above that of the
/// smallest normal double.
inline int exponentOf(double value, int minExponent) {
  int exponent = int(bitCast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
  return exponent < minExponent ? minExponent : exponent;
}

/// One unit in the last place of numbers near `value`, with `mantissaBits`
/// after the leading bit; exponents below `minExponent` are denormal.
inline double unitInLastPlace(double value, int mantissaBits, int minExponent) {
  return powerOfTwo(exponentOf(value, minExponent) - mantissaBits);
}

/// Rounds to this precision. The exponent does not have an upper bound.
inline double roundTo(double value, int mantissaBits, int minExponent,
                      Rounding rounding) {
  if (!std::isfinite(value) || value == 0)
    return value;
  double unit = unitInLastPlace(value, mantissaBits, minExponent);
  return std::copysign(roundToInteger(value / unit, rounding) * unit, value);
}

/// a * b + c, rounded to odd if double is too short, so that a second rounding
/// to a shorter type is correct. The multiplication must be exact.
inline double fmaToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  auto bits = bitCast<int64_t>(sum);
  if (error == 0 || bits & 1)
    return sum;
  // Toward the exact sum.
  bits += (error > 0) == (sum > 0) ? 1 : -1;
  return bitCast<double>(bits);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// How a float type encodes numbers. The codes are those of the magnitude, in
/// the order of the numbers; the sign is above them.
struct Encoding {
  int bits, mantissa, minExponent;
  uint32_t maxCode;
  /// The code for overflow: infinity, NaN, or the largest number.
  uint32_t overflowCode;
  uint32_t nanCode;
  bool hasNegativeZero = true;
  /// Bits below the code: set in NaN, and else 0.
  int shift = 0;
};

/// The magnitude `scaled` as an integer; `isNegative` is the sign of the
/// number.
inline double roundMagnitude(double scaled, bool isNegative,
                             Rounding rounding) {
  if (rounding == Rounding::Down || rounding == Rounding::Up)
    return isNegative == (rounding == Rounding::Down) ? std::ceil(scaled)
                                                      : std::trunc(scaled);
  return roundToInteger(scaled, rounding);
}

constexpr uint64_t doubleSign = uint64_t(1) << 63;
constexpr uint64_t doubleInfinity = uint64_t(0x7ff) << 52;

/// The code of a number, rounded once. With `saturate`, infinity and numbers
/// that are too large become the largest number. Without branches, so that
/// compilers can vectorize it.
template <bool isNearest>
inline uint32_t encode(const Encoding &to, double value, Rounding rounding,
                       bool saturate) {
  uint64_t bits = bitCast<uint64_t>(value), magnitude = bits & ~doubleSign;
  int64_t exponent = int64_t(magnitude >> 52) - 1023;
  exponent = exponent < to.minExponent ? int64_t(to.minExponent) : exponent;
  exponent = exponent > 1023 ? 1023 : exponent;
  auto inverse = bitCast<double>(uint64_t(to.mantissa - exponent + 1023) << 52);
  double scaled = bitCast<double>(magnitude) * inverse;
  if constexpr (!isNearest)
    scaled = roundMagnitude(scaled, bits >> 63, rounding);
  // 2^52 and the integer, for which the host rounds to nearest even. A normal
  // number's leading one counts as one step of the exponent.
  uint64_t code = bitCast<uint64_t>(scaled + 0x1p52) -
                  bitCast<uint64_t>(0x1p52) +
                  (uint64_t(exponent - to.minExponent) << to.mantissa);
  bool staysFinite = saturate;
  if constexpr (!isNearest) {
    bool isDownward = rounding == Rounding::TowardZero ||
                      (rounding == Rounding::Down && !(bits >> 63)) ||
                      (rounding == Rounding::Up && bits >> 63);
    staysFinite |= isDownward && magnitude < doubleInfinity;
  }
  uint64_t tooLarge = staysFinite ? to.maxCode : to.overflowCode;
  code = code > to.maxCode ? tooLarge : code;
  uint64_t sign = (bits >> 63) << (to.bits - 1);
  sign = code == 0 && !to.hasNegativeZero ? 0 : sign;
  code = (code | sign) << to.shift;
  uint64_t nan = (uint64_t(to.nanCode + 1) << to.shift) - 1;
  return uint32_t(magnitude > doubleInfinity ? nan : code);
}

inline uint32_t encode(const Encoding &to, double value, Rounding rounding,
                       bool saturate) {
  return rounding == Rounding::NearestEven
             ? encode<true>(to, value, rounding, saturate)
             : encode<false>(to, value, rounding, saturate);
}

//===----------------------------------------------------------------------===//
// Types of 16 bits and more
//===----------------------------------------------------------------------===//

struct F64 {
  using Storage = double;
  static double read(Storage value) { return value; }
  static Storage write(double value) { return value; }
};

struct F32 {
  using Storage = float;
  static constexpr Encoding encoding = {32,         23,         -126,
                                        0x7f7fffff, 0x7f800000, 0x7fffffff};
  static double read(Storage value) { return value; }
  static Storage write(double value) { return float(value); }
};

struct F16 {
  using Storage = _Float16;
  static constexpr Encoding encoding = {16, 10, -14, 0x7bff, 0x7c00, 0x7fff};
  /// Not the function of the compiler, which dominated the time of matmuls: the
  /// bits of a half are those of a float 2^-112 times as large.
  static double read(Storage value) {
    auto bits = bitCast<uint16_t>(value);
    uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
    float result = bitCast<float>(magnitude) * 0x1p112F;
    if (magnitude >= 0x7c00U << 13)
      result = bitCast<float>(magnitude | 0x7f800000U);
    return bits >> 15 ? -result : result;
  }
  static Storage write(double value) { return Storage(value); }
};

struct BF16 {
  using Storage = uint16_t;
  static constexpr Encoding encoding = {16, 7, -126, 0x7f7f, 0x7f80, 0x7fff};
  static double read(Storage value) {
    return bitCast<float>(uint32_t(value) << 16);
  }
  static Storage write(double value) {
    return Storage(encode<true>(encoding, value, Rounding::NearestEven, false));
  }
};

/// The low 13 bits are ignored (PTX ISA, "Alternate floating-point data
/// formats").
struct TF32 {
  using Storage = uint32_t;
  static constexpr Encoding encoding = {19,      10,      -126, 0x3fbff,
                                        0x3fc00, 0x3ffff, true, /*shift=*/13};
  static double read(Storage value) {
    return bitCast<float>(value & 0xffffe000U);
  }
};

//===----------------------------------------------------------------------===//
// Types of a byte and less
//===----------------------------------------------------------------------===//

/// The meaning of codes with the highest exponent.
enum class Specials {
  /// Infinite with the mantissa 0, and else NaN.
  InfiniteAndNaN,
  /// NaN with all bits of the mantissa, and else numbers.
  NaN,
  None,
};

/// A sign, exponent and mantissa in the low bits of a byte, as the OCP
/// specifications of 8-bit floats and of microscaling formats have them.
template <int exponentBits, int mantissaBits, Specials specials>
struct SmallFloat {
  using Storage = uint8_t;
  static constexpr int mantissa = mantissaBits;
  static constexpr int bias = (1 << (exponentBits - 1)) - 1;
  static constexpr int minExponent = 1 - bias;
  static constexpr int bits = 1 + exponentBits + mantissaBits;
  static constexpr int signBit = 1 << (exponentBits + mantissaBits);
  /// The code of the largest finite number.
  static constexpr int maxCode = specials == Specials::InfiniteAndNaN
                                     ? signBit - (1 << mantissaBits) - 1
                                 : specials == Specials::NaN ? signBit - 2
                                                             : signBit - 1;
  static constexpr int nanCode = signBit - 1;
  static constexpr Encoding encoding = {
      bits,
      mantissa,
      minExponent,
      maxCode,
      specials == Specials::None ? maxCode : maxCode + 1,
      nanCode};

  static constexpr float magnitude(int code) {
    if (code > maxCode) {
      if (specials == Specials::InfiniteAndNaN &&
          code == signBit - (1 << mantissaBits))
        return __builtin_inff();
      return __builtin_nanf("");
    }
    int exponent = code >> mantissaBits;
    float value = float(code & ((1 << mantissaBits) - 1));
    if (exponent)
      value += 1 << mantissaBits;
    int shift = (exponent ? exponent : 1) - bias - mantissaBits;
    for (; shift > 0; --shift)
      value *= 2;
    for (; shift < 0; ++shift)
      value /= 2;
    return value;
  }
  static constexpr std::array<float, 256> makeValues() {
    std::array<float, 256> values = {};
    for (int code = 0; code < 256; ++code) {
      float value = magnitude(code & (signBit - 1));
      values[code] = code & signBit ? -value : value;
    }
    return values;
  }
  static const std::array<float, 256> &values() {
    static constexpr std::array<float, 256> array = makeValues();
    return array;
  }

  static double read(Storage code) { return values()[code]; }
  static double maxValue() { return values()[maxCode]; }

  /// Infinity and numbers that are too large become the largest number.
  static Storage writeSaturated(double value,
                                Rounding rounding = Rounding::NearestEven) {
    return Storage(
        emulator::encode(encoding, value, rounding, /*saturate=*/true));
  }
  /// The code of a number that the type has.
  static Storage encode(double value) { return writeSaturated(value); }
};

using E4M3 = SmallFloat<4, 3, Specials::NaN>;
using E5M2 = SmallFloat<5, 2, Specials::InfiniteAndNaN>;
// Of no instruction, but of MLIR: f8E4M3 and f8E3M4.
using E4M3WithInfinity = SmallFloat<4, 3, Specials::InfiniteAndNaN>;
using E3M4 = SmallFloat<3, 4, Specials::InfiniteAndNaN>;
using E2M3 = SmallFloat<2, 3, Specials::None>;
using E3M2 = SmallFloat<3, 2, Specials::None>;
using E2M1 = SmallFloat<2, 1, Specials::None>;

/// A power of two without a sign (OCP microscaling formats, "E8M0").
struct E8M0 {
  using Storage = uint8_t;
  static constexpr int bias = 127, nanCode = 0xff, maxCode = 0xfe;
  static double read(Storage code) {
    return code == nanCode ? std::nan("") : powerOfTwo(code - bias);
  }
  /// The exponent of the magnitude, which is rounded: in the middle between two
  /// upward, where the mantissa, 2, is even. Infinity and what is too large are
  /// NaN, or, saturated, the largest.
  static Storage write(double value, Rounding rounding, bool saturate) {
    if (std::isnan(value))
      return nanCode;
    value = std::fabs(value);
    if (value == 0)
      return 0;
    if (std::isinf(value))
      return saturate ? maxCode : nanCode;
    int code = exponentOf(value, -1022) + bias;
    double mantissa = value / powerOfTwo(code - bias);
    if (code < 0)
      return 0;
    bool isUp = false;
    switch (rounding) {
    case Rounding::NearestEven:
    case Rounding::NearestAway:
      isUp = mantissa >= 1.5;
      break;
    case Rounding::Up:
      isUp = mantissa > 1;
      break;
    case Rounding::TowardZero:
    case Rounding::Down:
      break;
    }
    code += isUp;
    if (code > maxCode)
      return saturate ? maxCode : nanCode;
    return Storage(code);
  }
};

/// e4m3 without a sign: 7 bits, with a zero above them (PTX ISA, "Alternate
/// Floating-Point Data Formats"). A code whose upper bit is set is undefined;
/// it is NaN here, so that a wrong scale is visible.
struct UE4M3 {
  using Storage = uint8_t;
  static double read(Storage code) {
    return code >> 7 ? std::nan("") : E4M3::read(code);
  }
};

/// Integers; those of 4 bits are in the low half of their byte.
struct S32 {
  using Storage = int32_t;
  static int32_t read(Storage value) { return value; }
};
struct S8 {
  using Storage = uint8_t;
  static int32_t read(Storage value) { return int8_t(value); }
};
struct U8 {
  using Storage = uint8_t;
  static int32_t read(Storage value) { return value; }
};
struct S4 {
  using Storage = uint8_t;
  static int32_t read(Storage value) { return ((value & 15) ^ 8) - 8; }
};
struct U4 {
  using Storage = uint8_t;
  static int32_t read(Storage value) { return value & 15; }
};

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NUMBERS_H
