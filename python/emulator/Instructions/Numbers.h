//===- Numbers.h - The types of numbers that instructions take ------------===//
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

/// The value of the last place of numbers near `value` with `mantissaBits`
/// behind the leading one, where exponents below `minExponent` are denormal.
inline double unitInLastPlace(double value, int mantissaBits, int minExponent) {
  int exponent;
  std::frexp(value, &exponent);
  exponent = exponent - 1 < minExponent ? minExponent : exponent - 1;
  return std::ldexp(1.0, exponent - mantissaBits);
}

/// Rounds to such a number. Its exponent has no upper bound.
inline double roundTo(double value, int mantissaBits, int minExponent,
                      Rounding rounding) {
  if (!std::isfinite(value) || value == 0)
    return value;
  double unit = unitInLastPlace(value, mantissaBits, minExponent);
  return std::copysign(roundToInteger(value / unit, rounding) * unit, value);
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
  static double read(Storage value) { return value; }
  static Storage write(double value) { return float(value); }
};

struct F16 {
  using Storage = _Float16;
  /// Not by the compiler's function, in which matrix products spent their time:
  /// the bits of a half float are those of a float 2^-112 times as large.
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
  static double read(Storage value) {
    return bitCast<float>(uint32_t(value) << 16);
  }
  static Storage write(double value) {
    if (std::isnan(value))
      return 0x7fff;
    auto rounded = float(roundTo(value, 7, -126, Rounding::NearestEven));
    return Storage(bitCast<uint32_t>(rounded) >> 16);
  }
};

/// The low 13 bits are ignored (PTX ISA, "Alternate floating-point data
/// formats").
struct TF32 {
  using Storage = uint32_t;
  static double read(Storage value) {
    return bitCast<float>(value & 0xffffe000U);
  }
};

//===----------------------------------------------------------------------===//
// Types of a byte and less
//===----------------------------------------------------------------------===//

/// What the codes with the highest exponent mean.
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

  /// The code of a number that the type has.
  static Storage encode(double value) {
    int sign = std::signbit(value) ? signBit : 0;
    double magnitude = std::fabs(value);
    if (magnitude == 0)
      return Storage(sign);
    int exponent;
    std::frexp(magnitude, &exponent);
    exponent = exponent - 1 < minExponent ? minExponent : exponent - 1;
    auto scaled = int(std::ldexp(magnitude, mantissaBits - exponent));
    // A normal number's leading one counts as one step of the exponent.
    return Storage(sign | (((exponent + bias - 1) << mantissaBits) + scaled));
  }
  /// What is too large, or infinite, becomes the largest number.
  static Storage writeSaturated(double value,
                                Rounding rounding = Rounding::NearestEven) {
    if (std::isnan(value))
      return Storage(specials == Specials::None ? maxCode : nanCode);
    double rounded = roundTo(value, mantissaBits, minExponent, rounding);
    if (std::fabs(rounded) > maxValue())
      rounded = std::copysign(maxValue(), value);
    return encode(rounded);
  }
};

using E4M3 = SmallFloat<4, 3, Specials::NaN>;
using E5M2 = SmallFloat<5, 2, Specials::InfiniteAndNaN>;
using E2M3 = SmallFloat<2, 3, Specials::None>;
using E3M2 = SmallFloat<3, 2, Specials::None>;
using E2M1 = SmallFloat<2, 1, Specials::None>;

/// A power of two without a sign (OCP microscaling formats, "E8M0").
struct E8M0 {
  using Storage = uint8_t;
  static constexpr int bias = 127;
  static double read(Storage code) {
    return code == 0xff ? std::nan("") : std::ldexp(1.0, code - bias);
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
