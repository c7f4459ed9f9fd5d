//===- Formats.h - AMD's ways to store and to round small floats ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_AMD_FORMATS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_AMD_FORMATS_H

#include "smalti/emulator/Instructions/Numbers.h"

namespace smalti::emulator {

/// An 8-bit float with one zero, one NaN (the code of the other zero) and no
/// infinity (CDNA3 ISA, "Data formats: FP8 and BF8"). Its bias is one more than
/// that of the OCP types.
template <int exponentBits, int mantissaBits,
          int exponentBias = 1 << (exponentBits - 1)>
struct OneZeroFloat {
  using Storage = uint8_t;
  static constexpr int bits = 8;
  static constexpr int mantissa = mantissaBits;
  static constexpr int bias = exponentBias;
  static constexpr int minExponent = 1 - bias;
  static constexpr int nanCode = 0x80;
  static constexpr int maxCode = 0x7f;

  static double read(Storage code) {
    if (code == nanCode)
      return std::nan("");
    int exponent = (code & 0x7f) >> mantissaBits;
    int fraction = code & ((1 << mantissaBits) - 1);
    if (exponent)
      fraction += 1 << mantissaBits;
    double magnitude =
        std::ldexp(fraction, (exponent ? exponent : 1) - bias - mantissaBits);
    return code & 0x80 ? -magnitude : magnitude;
  }
  static double maxValue() { return read(maxCode); }
  static constexpr Encoding encoding = {bits,
                                        mantissa,
                                        minExponent,
                                        maxCode,
                                        nanCode,
                                        nanCode,
                                        /*hasNegativeZero=*/false};
  /// The code of a number that the type has.
  static Storage encode(double value) {
    return Storage(emulator::encode(encoding, value, Rounding::NearestEven,
                                    /*saturate=*/true));
  }
};

using E4M3OneZero = OneZeroFloat<4, 3>;
using E5M2OneZero = OneZeroFloat<5, 2>;
// Of no instruction, but of MLIR: f8E4M3B11FNUZ.
using E4M3OneZeroBias11 = OneZeroFloat<4, 3, 11>;

/// An `fp8` scale without a sign (CDNA5 ISA, "E5M3"): all ones is NaN.
struct E5M3 {
  using Storage = uint8_t;
  static constexpr int mantissa = 3;
  static double read(Storage code) {
    if (code == 0xff)
      return std::nan("");
    int exponent = code >> 3, fraction = code & 7;
    return std::ldexp(exponent ? 8 + fraction : fraction,
                      (exponent ? exponent : 1) - 15 - 3);
  }
};

/// Float types of instruction results: `mantissa`, `minExponent`, `bits`, and
/// `fromRounded`, which encodes a rounded number that may be too large.
template <class Format> struct Result : Format {
  static typename Format::Storage fromRounded(double rounded) {
    bool isNegative = std::signbit(rounded);
    int sign = isNegative ? 1 << (Format::bits - 1) : 0;
    bool hasNoSpecials = Format::maxCode == (1 << (Format::bits - 1)) - 1 &&
                         Format::nanCode == Format::maxCode;
    if (hasNoSpecials) {
      if (std::isnan(rounded))
        return Format::maxCode;
      if (std::fabs(rounded) > Format::maxValue())
        return uint8_t(Format::maxCode | sign);
      return Format::encode(rounded);
    }
    if (std::isnan(rounded))
      return Format::nanCode;
    // Without MODE.FP16_OVFL what is too large becomes infinite, and NaN where
    // the type has no infinity (CDNA3 and RDNA4 ISA, "MODE register").
    if (std::fabs(rounded) > Format::maxValue())
      return Format::nanCode == 0x80 ? 0x80
                                     : uint8_t((Format::maxCode + 1) | sign);
    return Format::encode(rounded);
  }
};

template <> struct Result<F16> : F16 {
  static constexpr int bits = 16, mantissa = 10, minExponent = -14;
  static _Float16 fromRounded(double rounded) { return _Float16(rounded); }
};
template <> struct Result<BF16> : BF16 {
  static constexpr int bits = 16, mantissa = 7, minExponent = -126;
  static uint16_t fromRounded(double rounded) {
    if (std::isnan(rounded))
      return 0x7fc0;
    return uint16_t(bitCast<uint32_t>(float(rounded)) >> 16);
  }
};
template <> struct Result<F32> : F32 {
  static constexpr int bits = 32, mantissa = 23, minExponent = -126;
  static float fromRounded(double rounded) { return float(rounded); }
};

/// Rounds to nearest even.
template <class Format> typename Format::Storage roundNearest(double value) {
  using R = Result<Format>;
  return R::fromRounded(
      roundTo(value, R::mantissa, R::minExponent, Rounding::NearestEven));
}

/// Adds `random` and truncates; 2^32 would be one unit in the last place of the
/// result. The guides add the upper bits of the random number below the last
/// place of the result. The number of bits differs between instructions, and at
/// most as many bits as the operand has are used.
template <class Format>
typename Format::Storage roundStochastic(double value, uint32_t random,
                                         int sourceMantissa) {
  using R = Result<Format>;
  if (!std::isfinite(value) || value == 0)
    return R::fromRounded(value);
  double unit = unitInLastPlace(value, R::mantissa, R::minExponent);
  int dropped = sourceMantissa - R::mantissa;
  double fraction = std::ldexp(double(random >> (32 - dropped)), -dropped);
  double rounded = std::floor(std::fabs(value) / unit + fraction) * unit;
  return R::fromRounded(std::copysign(rounded, value));
}

/// The shift register of V_PRNG_B32, which also advances between the elements
/// of a conversion.
inline uint32_t nextRandom(uint32_t value) {
  return value << 1 ^ (value >> 31 ? 197U : 0U);
}

/// The code of element `e` of densely packed ones of `bits` each.
inline uint32_t readPacked(const char *data, int bits, int e) {
  int first = bits * e;
  uint32_t value = 0;
  for (int i = 0; i < bits; ++i) {
    int bit = first + i;
    value |= uint32_t(uint8_t(data[bit / 8]) >> (bit % 8) & 1) << i;
  }
  return value;
}

inline void writePacked(char *data, int bits, int e, uint32_t value) {
  for (int i = 0; i < bits; ++i) {
    int bit = bits * e + i;
    auto byte = uint8_t(data[bit / 8]);
    byte = uint8_t((byte & ~(1 << (bit % 8))) | (value >> i & 1) << (bit % 8));
    data[bit / 8] = char(byte);
  }
}

/// Element `e` of densely packed ones.
template <class Format, int bits = 8 * sizeof(typename Format::Storage)>
auto readElement(const char *data, int e) {
  if constexpr (bits % 8 == 0) {
    typename Format::Storage code;
    memcpy(&code, data + sizeof(code) * e, sizeof(code));
    return Format::read(code);
  } else if constexpr (bits == 4) {
    return Format::read(uint8_t(uint8_t(data[e / 2]) >> (4 * (e % 2)) & 15));
  } else {
    return Format::read(uint8_t(readPacked(data, bits, e)));
  }
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_AMD_FORMATS_H
