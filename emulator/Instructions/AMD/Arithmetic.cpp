//===- Arithmetic.cpp - Arithmetic of AMD ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Approximate functions are rounded correctly here; the guides allow an error
// of one unit in the last place (f32, f16) or a few (f64).
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"

#include <algorithm>
#include <iterator>
#include <limits>

using namespace smalti::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------===//

/// The single-precision hardware of these functions flushes denormal numbers
/// (LLVM, AMDGPUCodeGenPrepare: "v_rcp_f32, v_rsq_f32 flush").
template <class Format> double flushed(double value) {
  if (std::is_same<Format, F32>::value && std::fabs(value) < 0x1p-126)
    return std::copysign(0.0, value);
  return value;
}

template <class Format> double operand(const Call &call, int i) {
  return Format::read(call.get<typename Format::Storage>(i));
}

template <class Format, double (*function)(double)>
void compute(const Call &call) {
  double value = function(flushed<Format>(operand<Format>(call, 0)));
  call.set(roundNearest<Format>(flushed<Format>(value)));
}

double reciprocal(double x) { return 1 / x; }
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
double squareRoot(double x) { return std::sqrt(x); }
double power2(double x) { return std::exp2(x); }
double logarithm2(double x) { return std::log2(x); }
double hyperbolicTangent(double x) { return std::tanh(x); }

/// Turns are operands, not radians.
constexpr double turn = 6.283185307179586476925286766559;
double sineOfTurns(double x) { return std::sin(turn * std::remainder(x, 1.0)); }
double cosineOfTurns(double x) {
  return std::cos(turn * std::remainder(x, 1.0));
}

/// In f64 the host's precision is that of the result.
template <double (*function)(double)> void compute64(const Call &call) {
  call.set(function(call.get<double>(0)));
}

template <class Format> void fraction(const Call &call) {
  double value = operand<Format>(call, 0);
  using R = Result<Format>;
  double below1 = 1 - std::ldexp(1.0, -R::mantissa - 1);
  call.set(
      R::fromRounded(std::min(roundTo(value - std::floor(value), R::mantissa,
                                      R::minExponent, Rounding::NearestEven),
                              below1)));
}
void fraction64(const Call &call) {
  auto value = call.get<double>(0);
  call.set(std::min(value - std::floor(value), 1 - 0x1p-53));
}

/// 1201 bits of 2 / pi, the most significant ones first, then zeros.
constexpr uint32_t twoOverPi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
    0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
    0x56033046, 0xfc7b0000};

/// 53 bits of 2 / pi. Those that make the multiplication by the operand a
/// multiple of 2 are skipped.
void selectTwoOverPi(const Call &call) {
  auto bits = call.get<uint64_t>(0);
  int exponent = int(bits >> 52 & 0x7ff);
  int shift =
      53 * int(call.get<uint32_t>(1) & 31) + std::max(exponent - 1077, 0);
  uint64_t selected = 0;
  for (int i = shift; i < shift + 53; ++i) {
    bool isSet = i / 32 < int(std::size(twoOverPi)) &&
                 (twoOverPi[i / 32] >> (31 - i % 32) & 1);
    selected = selected << 1 | isSet;
  }
  int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  call.set(std::ldexp(double(selected), scale));
}

template <class Format> void mantissa(const Call &call) {
  double value = operand<Format>(call, 0);
  int exponent = 0;
  if (std::isfinite(value))
    value = std::frexp(value, &exponent);
  if constexpr (std::is_same<Format, F64>::value)
    call.set(value);
  else
    call.set(Result<Format>::fromRounded(value));
}

/// 0 for what has no exponent.
template <class Format, class Integer> void exponent(const Call &call) {
  double value = operand<Format>(call, 0);
  int exponent = 0;
  if (std::isfinite(value))
    std::frexp(value, &exponent);
  call.set(Integer(exponent));
}

template <class Bits, int mantissaBits> void classify(const Call &call) {
  constexpr int width = 8 * sizeof(Bits);
  auto bits = call.get<Bits>(0);
  Bits fraction = bits & ((Bits(1) << mantissaBits) - 1);
  int exponentBits = width - 1 - mantissaBits;
  auto exponent = int(bits >> mantissaBits & ((Bits(1) << exponentBits) - 1));
  bool isNegative = bits >> (width - 1);
  int kind;
  if (exponent == (1 << exponentBits) - 1)
    kind = fraction ? int(fraction >> (mantissaBits - 1)) : isNegative ? 2 : 9;
  else if (exponent)
    kind = isNegative ? 3 : 8;
  else if (fraction)
    kind = isNegative ? 4 : 7;
  else
    kind = isNegative ? 5 : 6;
  call.set<uint8_t>(call.get<uint32_t>(1) >> kind & 1);
}

//===----------------------------------------------------------------------===//
// Functions of several floats
//===----------------------------------------------------------------------===//

/// A NaN loses against a number.
double minimum(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b);
}
double maximum(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b);
}

template <class Format> void median(const Call &call) {
  double a = operand<Format>(call, 0), b = operand<Format>(call, 1),
         c = operand<Format>(call, 2);
  double result;
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
    result = minimum(minimum(a, b), c);
  } else {
    double largest = maximum(maximum(a, b), c);
    result = largest == a   ? maximum(b, c)
             : largest == b ? maximum(a, c)
                            : maximum(a, b);
  }
  call.set(Result<Format>::fromRounded(result));
}

/// 0 times anything is 0.
void multiplyLegacy(const Call &call) {
  auto a = call.get<float>(0), b = call.get<float>(1);
  call.set<float>(a == 0 || b == 0 ? 0.0F : a * b);
}
void multiplyAddLegacy(const Call &call) {
  auto a = call.get<float>(0), b = call.get<float>(1), c = call.get<float>(2);
  call.set<float>(a == 0 || b == 0 ? 0.0F + c : std::fma(a, b, c));
}

/// Not fused, and without denormal numbers.
void multiplyAddFlushed(const Call &call) {
  auto flush = [](float x) { return float(flushed<F32>(x)); };
  float product = flush(flush(call.get<float>(0)) * flush(call.get<float>(1)));
  call.set<float>(flush(product + flush(call.get<float>(2))));
}

/// The steps of a division of `Float`. `div_scale` scales both operands so that
/// no iteration overflows or underflows. `div_fmas` is the last iteration and
/// undoes the scaling. `div_fixup` handles quotients that are not normal
/// numbers.
template <class Float> struct Division;
template <> struct Division<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, maxExponent = 255, bias = 127;
  static constexpr int large = 96, shift = 64, tiny = 23, underflow = -150;
};
template <> struct Division<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, maxExponent = 2047, bias = 1023;
  static constexpr int large = 768, shift = 128, tiny = 53, underflow = -1075;
};

template <class Float> int biasedExponent(Float value) {
  using D = Division<Float>;
  return int(bitCast<typename D::Bits>(value) >> D::mantissa) & D::maxExponent;
}

template <class Float> bool isDenormal(Float value) {
  return std::fpclassify(value) == FP_SUBNORMAL;
}

/// The guides scale the denominator up if the reciprocal and the quotient are
/// denormal. It is scaled down here, because scaling up overflows and gives
/// wrong quotients.
template <class Float> void scaleForDivision(const Call &call) {
  using D = Division<Float>;
  auto numerator = call.get<Float>(0), denominator = call.get<Float>(1);
  bool ofNumerator = call.get<uint8_t>(2);
  Float value = ofNumerator ? numerator : denominator;
  bool mustUnscale = false;
  if (numerator == 0 || denominator == 0) {
    value = std::numeric_limits<Float>::quiet_NaN();
  } else if (biasedExponent(numerator) - biasedExponent(denominator) >=
             D::large) {
    mustUnscale = true;
    if (!ofNumerator)
      value = std::ldexp(value, D::shift);
  } else if (isDenormal(denominator)) {
    value = std::ldexp(value, D::shift);
  } else {
    bool tinyReciprocal = isDenormal(1 / denominator),
         tinyQuotient = isDenormal(numerator / denominator) ||
                        numerator / denominator == 0;
    if (tinyReciprocal && tinyQuotient) {
      mustUnscale = true;
      if (!ofNumerator)
        value = std::ldexp(value, -D::shift);
    } else if (tinyReciprocal) {
      value = std::ldexp(value, -D::shift);
    } else if (tinyQuotient) {
      mustUnscale = true;
      if (ofNumerator)
        value = std::ldexp(value, D::shift);
    } else if (biasedExponent(numerator) <= D::tiny) {
      value = std::ldexp(value, D::shift);
    }
  }
  auto *result = static_cast<char *>(call.result);
  memcpy(result, &value, sizeof value);
  result[sizeof value] = char(mustUnscale);
}

template <class Float> void finishDivision(const Call &call) {
  using D = Division<Float>;
  auto a = call.get<Float>(0), b = call.get<Float>(1), c = call.get<Float>(2);
  Float value = std::fma(a, b, c);
  if (!call.get<uint8_t>(3))
    return call.set(value);
  // RDNA4 ISA: up if the quotient is large and down if it is small. The older
  // guides have one scale.
  int shift = biasedExponent(c) > D::bias ? D::shift : -D::shift;
  Float scaled = std::ldexp(value, shift);
  if (std::isfinite(value) && isDenormal(scaled)) {
    // The two roundings must act as one: if the second operand is exactly
    // between two numbers, the part that the first rounding dropped decides.
    Float rest = std::fma(a, b, c - value),
          difference = value - std::ldexp(scaled, -shift),
          half =
              std::ldexp(std::numeric_limits<Float>::denorm_min(), -shift - 1);
    if (std::fabs(difference) == half && rest != 0 &&
        std::signbit(rest) == std::signbit(difference))
      scaled = std::nextafter(
          scaled, std::copysign(std::numeric_limits<Float>::infinity(), rest));
  }
  call.set(scaled);
}

template <class Float> void fixDivision(const Call &call) {
  using D = Division<Float>;
  auto quotient = call.get<Float>(0), denominator = call.get<Float>(1),
       numerator = call.get<Float>(2);
  bool isNegative = std::signbit(denominator) != std::signbit(numerator);
  constexpr Float infinity = std::numeric_limits<Float>::infinity();
  Float value;
  if (std::isnan(numerator))
    value = numerator;
  else if (std::isnan(denominator))
    value = denominator;
  else if ((denominator == 0 && numerator == 0) ||
           (std::isinf(denominator) && std::isinf(numerator)))
    value = -std::numeric_limits<Float>::quiet_NaN();
  else if (denominator == 0 || std::isinf(numerator))
    value = isNegative ? -infinity : infinity;
  else if (std::isinf(denominator) || numerator == 0)
    value = isNegative ? Float(-0.0) : Float(0);
  else if (biasedExponent(numerator) - biasedExponent(denominator) <
           D::underflow)
    value = isNegative ? Float(-0.0) : Float(0);
  else if (std::isnan(quotient))
    // For numeric operands, only a quotient out of range becomes NaN in these
    // steps.
    value = isNegative ? -infinity : infinity;
  else
    value = std::copysign(quotient, isNegative ? Float(-1) : Float(1));
  call.set(value);
}

void fixDivision16(const Call &call) {
  double quotient = operand<F16>(call, 0), denominator = operand<F16>(call, 1),
         numerator = operand<F16>(call, 2);
  double sign = std::signbit(denominator) != std::signbit(numerator) ? -1 : 1;
  double value;
  if (std::isnan(numerator) || std::isnan(denominator) ||
      (denominator == 0 && numerator == 0) ||
      (std::isinf(denominator) && std::isinf(numerator)))
    value = std::nan("");
  else if (denominator == 0 || std::isinf(numerator))
    value = sign * std::numeric_limits<double>::infinity();
  else if (std::isinf(denominator) || numerator == 0)
    value = sign * 0.0;
  else
    value = std::copysign(quotient, sign);
  call.set(_Float16(value));
}

/// 2.5 places are allowed.
void divideFast(const Call &call) {
  call.set<float>(call.get<float>(0) / call.get<float>(1));
}

//===----------------------------------------------------------------------===//
// Bits and integers
//===----------------------------------------------------------------------===//

uint32_t byteOf(uint64_t value, int i) { return value >> (8 * i) & 0xff; }

void permuteBytes(const Call &call) {
  uint64_t data = uint64_t(call.get<uint32_t>(0)) << 32 | call.get<uint32_t>(1);
  auto selector = call.get<uint32_t>(2);
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t select = byteOf(selector, i), byte;
    if (select >= 13)
      byte = 0xff;
    else if (select == 12)
      byte = 0;
    else if (select >= 8)
      // The sign of the upper half of each 16 bits.
      byte = byteOf(data, 2 * int(select - 8) + 1) & 0x80 ? 0xff : 0;
    else
      byte = byteOf(data, int(select));
    result |= byte << (8 * i);
  }
  call.set(result);
}

/// Operands and results of 16 bits are the low halves of registers.
void copyWord(const Call &call) {
  memset(call.result, 0, call.resultBytes());
  memcpy(call.result, call.data(0),
         std::min({call.bytes(0), call.resultBytes(), uint32_t(4)}));
}

void alignByte(const Call &call) {
  uint64_t data = uint64_t(call.get<uint32_t>(0)) << 32 | call.get<uint32_t>(1);
  call.set(uint32_t(data >> (8 * (call.get<uint32_t>(2) & 3))));
}

template <bool isSigned> int64_t low24(uint32_t value) {
  value &= 0xffffff;
  return isSigned ? int64_t(int32_t(value << 8) >> 8) : int64_t(value);
}
template <bool isSigned> void multiply24(const Call &call) {
  int64_t product = low24<isSigned>(call.get<uint32_t>(0)) *
                    low24<isSigned>(call.get<uint32_t>(1));
  if (call.resultBytes() == 8)
    call.set(product);
  else
    call.set(int32_t(product));
}
template <bool isSigned> void multiplyHigh24(const Call &call) {
  int64_t product = low24<isSigned>(call.get<uint32_t>(0)) *
                    low24<isSigned>(call.get<uint32_t>(1));
  call.set(int32_t(product >> 32));
}

/// V_BFE: the low bits of offset and width count; a width of 0 gives 0.
template <class Integer> void extractBits(const Call &call) {
  constexpr uint32_t size = 8 * sizeof(Integer);
  auto value = call.get<Integer>(0);
  uint32_t offset = call.get<uint32_t>(1) & (size - 1),
           width = call.get<uint32_t>(2) & (size - 1);
  if (width == 0)
    return call.set(Integer(0));
  if (offset + width >= size)
    return call.set(Integer(value >> offset));
  using Unsigned = std::make_unsigned_t<Integer>;
  auto shifted = Integer(Unsigned(value) << (size - offset - width));
  call.set(Integer(shifted >> (size - width)));
}

/// The index of the first bit, from the top, that differs from the sign, or -1.
void firstBitBelowSign(const Call &call) {
  auto value = call.get<int32_t>(0);
  uint32_t changes = uint32_t(value < 0 ? ~value : value);
  call.set<int32_t>(changes ? __builtin_clz(changes) : -1);
}

uint32_t absoluteDifference(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}
uint32_t sumOfDifferences(uint32_t a, uint32_t b, uint32_t sum, bool masked) {
  for (int i = 0; i < 4; ++i)
    if (!masked || byteOf(b, i))
      sum += absoluteDifference(byteOf(a, i), byteOf(b, i));
  return sum;
}
template <bool masked> void addDifferences(const Call &call) {
  call.set(sumOfDifferences(call.get<uint32_t>(0), call.get<uint32_t>(1),
                            call.get<uint32_t>(2), masked));
}
void addDifferencesHigh(const Call &call) {
  call.set(
      (sumOfDifferences(call.get<uint32_t>(0), call.get<uint32_t>(1), 0, false)
       << 16) +
      call.get<uint32_t>(2));
}
void addDifferences16(const Call &call) {
  auto a = call.get<uint32_t>(0), b = call.get<uint32_t>(1);
  call.set(call.get<uint32_t>(2) + absoluteDifference(a & 0xffff, b & 0xffff) +
           absoluteDifference(a >> 16, b >> 16));
}
template <class Sum, bool masked> void addDifferences4(const Call &call) {
  auto a = call.get<uint64_t>(0);
  auto b = call.get<uint32_t>(1);
  Sum sums[4];
  memcpy(sums, call.data(2), sizeof sums);
  for (int i = 0; i < 4; ++i)
    sums[i] = Sum(sumOfDifferences(uint32_t(a >> (8 * i)), b, sums[i], masked));
  memcpy(call.result, sums, sizeof sums);
}

/// The mean of each byte; the lowest bit of the third rounds it up.
void meanOfBytes(const Call &call) {
  auto a = call.get<uint32_t>(0), b = call.get<uint32_t>(1),
       c = call.get<uint32_t>(2);
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= ((byteOf(a, i) + byteOf(b, i) + (byteOf(c, i) & 1)) >> 1)
              << (8 * i);
  call.set(result);
}

template <class Integer> void anyFunctionOf3(const Call &call) {
  auto a = call.get<Integer>(0), b = call.get<Integer>(1),
       c = call.get<Integer>(2);
  auto function = call.get<uint32_t>(3);
  Integer result = 0;
  for (int i = 0; i < 8; ++i)
    if (function >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  call.set(result);
}

void random(const Call &call) { call.set(nextRandom(call.get<uint32_t>(0))); }

template <class Byte> void shiftRightAndPack(const Call &call) {
  int shift = call.get<uint32_t>(2) & 31;
  Byte result[2];
  for (int i = 0; i < 2; ++i)
    result[i] = Byte(std::clamp<int32_t>(call.get<int32_t>(i) >> shift,
                                         std::numeric_limits<Byte>::min(),
                                         std::numeric_limits<Byte>::max()));
  call.set(result);
}

template <int low, int high, class Byte> void packNibbles(const Call &call) {
  uint16_t result = 0;
  for (int i = 0; i < 4; ++i) {
    int value = Byte(byteOf(call.get<uint32_t>(0), i));
    result |= (std::clamp(value, low, high) & 15) << (4 * i);
  }
  call.set(result);
}

/// The clamp is of the sum.
template <class Integer, bool isMaximum> void addAndCompare(const Call &call) {
  bool clamps = call.get<uint8_t>(3);
  auto count = int(call.resultBytes() / sizeof(Integer));
  for (int i = 0; i < count; ++i) {
    Integer operands[3];
    for (int o = 0; o < 3; ++o)
      memcpy(&operands[o], call.data(o) + sizeof(Integer) * i, sizeof(Integer));
    int64_t exact = int64_t(operands[0]) + operands[1];
    using Limits = std::numeric_limits<Integer>;
    auto sum =
        clamps
            ? Integer(std::clamp<int64_t>(exact, Limits::min(), Limits::max()))
            : Integer(exact);
    Integer result =
        isMaximum ? std::max(sum, operands[2]) : std::min(sum, operands[2]);
    memcpy(static_cast<char *>(call.result) + sizeof(Integer) * i, &result,
           sizeof(Integer));
  }
}

constexpr char vop1[] = "CDNA3 ISA, \"VOP1 Instructions\": the instruction of "
                        "the same name";
constexpr char vop3[] = "CDNA3 ISA, \"VOP3A and VOP3B Instructions\": the "
                        "instruction of the same name";
constexpr char vopc[] = "CDNA3 ISA, \"VOPC Instructions: V_CMP_CLASS\"";
constexpr char cdna4[] = "CDNA4 ISA, \"VOP3A and VOP3B Instructions\": the "
                         "instruction of the same name";
constexpr char gfx12[] = "LLVM, IntrinsicsAMDGPU.td, the comment at the "
                         "intrinsic, and the instruction's name";
constexpr char division[] =
    "CDNA3 ISA, \"VOP3A and VOP3B Instructions: V_DIV_SCALE, V_DIV_FMAS, "
    "V_DIV_FIXUP\"";
constexpr char legacy[] = "RDNA3 ISA, \"VOP3 Instructions: V_MUL_DX9_ZERO_F32, "
                          "V_FMA_DX9_ZERO_F32\"";

/// Inline assembly: one statement on the registers in order.
#define SMALTI_VOP1(NAME, FUNCTION)                                            \
  {"asm:v_" NAME " $0, $1", FUNCTION, nullptr, vop1}

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    SMALTI_VOP1("mov_b32", copyWord),
    SMALTI_VOP1("rcp_f16", (compute<F16, reciprocal>)),
    SMALTI_VOP1("rcp_f32", (compute<F32, reciprocal>)),
    SMALTI_VOP1("rcp_f64", compute64<reciprocal>),
    SMALTI_VOP1("rsq_f16", (compute<F16, reciprocalRoot>)),
    SMALTI_VOP1("rsq_f32", (compute<F32, reciprocalRoot>)),
    SMALTI_VOP1("rsq_f64", compute64<reciprocalRoot>),
    SMALTI_VOP1("sqrt_f16", (compute<F16, squareRoot>)),
    SMALTI_VOP1("sqrt_f32", (compute<F32, squareRoot>)),
    SMALTI_VOP1("sqrt_f64", compute64<squareRoot>),
    SMALTI_VOP1("exp_f16", (compute<F16, power2>)),
    SMALTI_VOP1("exp_f32", (compute<F32, power2>)),
    SMALTI_VOP1("log_f16", (compute<F16, logarithm2>)),
    SMALTI_VOP1("log_f32", (compute<F32, logarithm2>)),
    SMALTI_VOP1("sin_f16", (compute<F16, sineOfTurns>)),
    SMALTI_VOP1("sin_f32", (compute<F32, sineOfTurns>)),
    SMALTI_VOP1("cos_f16", (compute<F16, cosineOfTurns>)),
    SMALTI_VOP1("cos_f32", (compute<F32, cosineOfTurns>)),
    {"asm:v_perm_b32 $0, $1, $2, $3", permuteBytes, nullptr, vop3},
    {"llvm.amdgcn.rcp.f16", compute<F16, reciprocal>, nullptr, vop1},
    {"llvm.amdgcn.rcp.bf16", compute<BF16, reciprocal>, nullptr, gfx12},
    {"llvm.amdgcn.rcp.f32", compute<F32, reciprocal>, nullptr, vop1},
    {"llvm.amdgcn.rcp.f64", compute64<reciprocal>, nullptr, vop1},
    {"llvm.amdgcn.rsq.f16", compute<F16, reciprocalRoot>, nullptr, vop1},
    {"llvm.amdgcn.rsq.bf16", compute<BF16, reciprocalRoot>, nullptr, gfx12},
    {"llvm.amdgcn.rsq.f32", compute<F32, reciprocalRoot>, nullptr, vop1},
    {"llvm.amdgcn.rsq.f64", compute64<reciprocalRoot>, nullptr, vop1},
    {"llvm.amdgcn.sqrt.f16", compute<F16, squareRoot>, nullptr, vop1},
    {"llvm.amdgcn.sqrt.bf16", compute<BF16, squareRoot>, nullptr, gfx12},
    {"llvm.amdgcn.sqrt.f32", compute<F32, squareRoot>, nullptr, vop1},
    {"llvm.amdgcn.sqrt.f64", compute64<squareRoot>, nullptr, vop1},
    {"llvm.amdgcn.exp2.f16", compute<F16, power2>, nullptr, vop1},
    {"llvm.amdgcn.exp2.bf16", compute<BF16, power2>, nullptr, gfx12},
    {"llvm.amdgcn.exp2.f32", compute<F32, power2>, nullptr, vop1},
    {"llvm.amdgcn.log.f16", compute<F16, logarithm2>, nullptr, vop1},
    {"llvm.amdgcn.log.bf16", compute<BF16, logarithm2>, nullptr, gfx12},
    {"llvm.amdgcn.log.f32", compute<F32, logarithm2>, nullptr, vop1},
    {"llvm.amdgcn.sin.f16", compute<F16, sineOfTurns>, nullptr, vop1},
    {"llvm.amdgcn.sin.bf16", compute<BF16, sineOfTurns>, nullptr, gfx12},
    {"llvm.amdgcn.sin.f32", compute<F32, sineOfTurns>, nullptr, vop1},
    {"llvm.amdgcn.cos.f16", compute<F16, cosineOfTurns>, nullptr, vop1},
    {"llvm.amdgcn.cos.bf16", compute<BF16, cosineOfTurns>, nullptr, gfx12},
    {"llvm.amdgcn.cos.f32", compute<F32, cosineOfTurns>, nullptr, vop1},
    {"llvm.amdgcn.tanh.f16", compute<F16, hyperbolicTangent>, nullptr, gfx12},
    {"llvm.amdgcn.tanh.bf16", compute<BF16, hyperbolicTangent>, nullptr, gfx12},
    {"llvm.amdgcn.tanh.f32", compute<F32, hyperbolicTangent>, nullptr, gfx12},
    {"llvm.amdgcn.fract.f16", fraction<F16>, nullptr, vop1},
    {"llvm.amdgcn.fract.f32", fraction<F32>, nullptr, vop1},
    {"llvm.amdgcn.fract.f64", fraction64, nullptr, vop1},
    {"llvm.amdgcn.trig.preop.f64", selectTwoOverPi, nullptr, vop3},
    {"llvm.amdgcn.frexp.mant.f16", mantissa<F16>, nullptr, vop1},
    {"llvm.amdgcn.frexp.mant.f32", mantissa<F32>, nullptr, vop1},
    {"llvm.amdgcn.frexp.mant.f64", mantissa<F64>, nullptr, vop1},
    {"llvm.amdgcn.frexp.exp.i16.f16", exponent<F16, int16_t>, nullptr, vop1},
    {"llvm.amdgcn.frexp.exp.i32.f16", exponent<F16, int32_t>, nullptr, vop1},
    {"llvm.amdgcn.frexp.exp.i32.f32", exponent<F32, int32_t>, nullptr, vop1},
    {"llvm.amdgcn.frexp.exp.i32.f64", exponent<F64, int32_t>, nullptr, vop1},
    {"llvm.amdgcn.class.f16", classify<uint16_t, 10>, nullptr, vopc},
    {"llvm.amdgcn.class.f32", classify<uint32_t, 23>, nullptr, vopc},
    {"llvm.amdgcn.class.f64", classify<uint64_t, 52>, nullptr, vopc},
    {"llvm.amdgcn.fmed3.f16", median<F16>, nullptr, vop3},
    {"llvm.amdgcn.fmed3.f32", median<F32>, nullptr, vop3},
    {"llvm.amdgcn.fmul.legacy", multiplyLegacy, nullptr, legacy},
    {"llvm.amdgcn.fma.legacy", multiplyAddLegacy, nullptr, legacy},
    {"llvm.amdgcn.fmad.ftz.f32", multiplyAddFlushed, nullptr, gfx12},
    {"llvm.amdgcn.div.scale.f32", scaleForDivision<float>, nullptr, division},
    {"llvm.amdgcn.div.scale.f64", scaleForDivision<double>, nullptr, division},
    {"llvm.amdgcn.div.fmas.f32", finishDivision<float>, nullptr, division},
    {"llvm.amdgcn.div.fmas.f64", finishDivision<double>, nullptr, division},
    {"llvm.amdgcn.div.fixup.f16", fixDivision16, nullptr, division},
    {"llvm.amdgcn.div.fixup.f32", fixDivision<float>, nullptr, division},
    {"llvm.amdgcn.div.fixup.f64", fixDivision<double>, nullptr, division},
    {"llvm.amdgcn.fdiv.fast", divideFast, nullptr, gfx12},
    {"llvm.amdgcn.perm", permuteBytes, nullptr, vop3},
    {"llvm.amdgcn.alignbyte", alignByte, nullptr, vop3},
    {"llvm.amdgcn.mul.i24.*", multiply24<true>, nullptr, vop3},
    {"llvm.amdgcn.mul.u24.*", multiply24<false>, nullptr, vop3},
    {"llvm.amdgcn.mulhi.i24", multiplyHigh24<true>, nullptr, vop3},
    {"llvm.amdgcn.mulhi.u24", multiplyHigh24<false>, nullptr, vop3},
    {"llvm.amdgcn.ubfe.i32", extractBits<uint32_t>, nullptr, vop3},
    {"llvm.amdgcn.ubfe.i64", extractBits<uint64_t>, nullptr, vop3},
    {"llvm.amdgcn.sbfe.i32", extractBits<int32_t>, nullptr, vop3},
    {"llvm.amdgcn.sbfe.i64", extractBits<int64_t>, nullptr, vop3},
    {"llvm.amdgcn.sffbh.i32", firstBitBelowSign, nullptr, vop1},
    {"llvm.amdgcn.lerp", meanOfBytes, nullptr, vop3},
    {"llvm.amdgcn.sad.u8", addDifferences<false>, nullptr, vop3},
    {"llvm.amdgcn.msad.u8", addDifferences<true>, nullptr, vop3},
    {"llvm.amdgcn.sad.hi.u8", addDifferencesHigh, nullptr, vop3},
    {"llvm.amdgcn.sad.u16", addDifferences16, nullptr, vop3},
    {"llvm.amdgcn.qsad.pk.u16.u8", addDifferences4<uint16_t, false>, nullptr, vop3},
    {"llvm.amdgcn.mqsad.pk.u16.u8", addDifferences4<uint16_t, true>, nullptr, vop3},
    {"llvm.amdgcn.mqsad.u32.u8", addDifferences4<uint32_t, true>, nullptr, vop3},
    {"llvm.amdgcn.bitop3.i16", anyFunctionOf3<uint16_t>, nullptr, cdna4},
    {"llvm.amdgcn.bitop3.i32", anyFunctionOf3<uint32_t>, nullptr, cdna4},
    {"llvm.amdgcn.prng.b32", random, nullptr, cdna4},
    {"llvm.amdgcn.ashr.pk.i8.i32", shiftRightAndPack<int8_t>, nullptr, cdna4},
    {"llvm.amdgcn.ashr.pk.u8.i32", shiftRightAndPack<uint8_t>, nullptr, cdna4},
    {"llvm.amdgcn.sat.pk4.i4.i8", packNibbles<-8, 7, int8_t>, nullptr, gfx12},
    {"llvm.amdgcn.sat.pk4.u4.u8", packNibbles<0, 15, uint8_t>, nullptr, gfx12},
    {"llvm.amdgcn.add.max.i32", addAndCompare<int32_t, true>, nullptr, gfx12},
    {"llvm.amdgcn.add.max.u32", addAndCompare<uint32_t, true>, nullptr, gfx12},
    {"llvm.amdgcn.add.min.i32", addAndCompare<int32_t, false>, nullptr, gfx12},
    {"llvm.amdgcn.add.min.u32", addAndCompare<uint32_t, false>, nullptr, gfx12},
    {"llvm.amdgcn.pk.add.max.i16", addAndCompare<int16_t, true>, nullptr, gfx12},
    {"llvm.amdgcn.pk.add.max.u16", addAndCompare<uint16_t, true>, nullptr, gfx12},
    {"llvm.amdgcn.pk.add.min.i16", addAndCompare<int16_t, false>, nullptr, gfx12},
    {"llvm.amdgcn.pk.add.min.u16", addAndCompare<uint16_t, false>, nullptr, gfx12},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdArithmetic = table;
