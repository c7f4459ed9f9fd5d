//===- Arithmetic.cpp - Floating point arithmetic of NVIDIA ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point
// Instructions". Instructions with a rounding modifier are exact up to that
// rounding. Approximate instructions return the result in double, rounded to
// nearest. It is within the error that the document states; the section of each
// entry has the bound.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Floats.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

//--- f32 and f64 --------------------------------------------------------------

void setFloat(const Call &call, float value) {
  if (std::isnan(value))
    call.set(canonicalNaN);
  else
    call.set(value);
}
void setFloat(const Call &call, double value) { call.set(value); }

/// Without a sign even for -0: what is not above 0 becomes +0, NaN too.
template <class Float> Float clampToUnit(Float value) {
  return !(value > 0) ? Float(0) : value > 1 ? Float(1) : value;
}

template <class Float, bool ftz, bool sat>
void finish(const Call &call, Float value) {
  if (sat)
    value = clampToUnit(value);
  if constexpr (ftz)
    value = flushed<true>(value);
  setFloat(call, value);
}

template <class Float, bool ftz> Float operand(const Call &call, int i) {
  auto value = call.get<Float>(i);
  if constexpr (ftz)
    value = flushed<true>(value);
  return value;
}

enum class Operation { Add, Sub, Mul, Div, Rcp, Sqrt, Fma };

template <Operation operation, class Float, int mode, bool ftz = false,
          bool sat = false>
void compute(const Call &call) {
  volatile Float a = operand<Float, ftz>(call, 0);
  volatile Float b = call.numOperands() > 1 ? operand<Float, ftz>(call, 1) : 0;
  volatile Float c = call.numOperands() > 2 ? operand<Float, ftz>(call, 2) : 0;
  volatile Float result;
  {
    RoundingMode rounding(mode);
    switch (operation) {
    case Operation::Add:
      result = a + b;
      break;
    case Operation::Sub:
      result = a - b;
      break;
    case Operation::Mul:
      result = a * b;
      break;
    case Operation::Div:
      result = a / b;
      break;
    case Operation::Rcp:
      result = 1 / a;
      break;
    case Operation::Sqrt:
      result = std::sqrt(Float(a));
      break;
    case Operation::Fma:
      result = std::fma(Float(a), Float(b), Float(c));
      break;
    }
  }
  finish<Float, ftz, sat>(call, result);
}

/// Functions of a number, of which `.approx` instructions have some error.
template <double (*function)(double), bool ftz>
void approximate(const Call &call) {
  float value = operand<float, ftz>(call, 0);
  finish<float, ftz, false>(call, float(function(value)));
}
template <double (*function)(double)> void approximateF64(const Call &call) {
  call.set(function(call.get<double>(0)));
}
template <class Type, int count, double (*function)(double), bool ftz>
void approximateSmall(const Call &call) {
  typename Type::Storage results[count];
  for (int i = 0; i < count; ++i)
    results[i] = Type::write(
        function(flushSmall<Type, ftz>(Packed<Type>::read(call.data(0), i))));
  call.set(results);
}

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double power2(double x) { return std::exp2(x); }
double hyperbolicTangent(double x) { return std::tanh(x); }
double logarithm2(double x) { return std::log2(x); }
double reciprocal(double x) { return 1 / x; }
double root(double x) { return std::sqrt(x); }
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

/// Divisors above 2^126 give zero, or NaN where the dividend is infinite.
template <bool ftz> void divideApproximately(const Call &call) {
  float a = operand<float, ftz>(call, 0), b = operand<float, ftz>(call, 1);
  float result = a / b;
  if (std::isfinite(b) && std::fabs(b) > 0x1p126F)
    result = std::isinf(a) ? NAN : std::isnan(a) ? a : result * 0;
  finish<float, ftz, false>(call, result);
}

/// Only the upper half of an f64 is looked at and computed.
double upperHalf(double value) {
  return bitCast<double>(bitCast<uint64_t>(value) & ~uint64_t(0xffffffff));
}
template <double (*function)(double)>
void approximateUpperHalf(const Call &call) {
  auto value = call.get<double>(0);
  if (std::fpclassify(value) == FP_SUBNORMAL)
    value = std::copysign(0.0, value);
  double result = function(upperHalf(value));
  if (std::fpclassify(result) == FP_SUBNORMAL)
    result = std::copysign(0.0, result);
  call.set(upperHalf(result));
}

template <bool ftz> void saturate(const Call &call) {
  finish<float, ftz, true>(call, operand<float, ftz>(call, 0));
}
void saturateF64(const Call &call) {
  finish<double, false, true>(call, call.get<double>(0));
}

/// cvt from a float to the same type, rounded to an integer.
template <class Float, Rounding rounding, bool ftz = false>
void roundToIntegral(const Call &call) {
  auto value = operand<Float, ftz>(call, 0);
  finish<Float, ftz, false>(call, Float(roundToInteger(value, rounding)));
}

//--- Any type, one or two in a register ---------------------------------------

/// An unsigned integer of the type's size.
template <class Type>
using BitsOf =
    std::conditional_t<sizeof(typename Type::Storage) == 2, uint16_t,
                       std::conditional_t<sizeof(typename Type::Storage) == 4,
                                          uint32_t, uint64_t>>;

/// Rounds to the type; NaN has all bits but the sign.
template <class Type> BitsOf<Type> encode(double value) {
  using Bits = BitsOf<Type>;
  if (std::isnan(value) && sizeof(Bits) < 8)
    return Bits(Bits(~Bits(0)) >> 1);
  return bitCast<Bits>(Type::write(value));
}

template <class Type, int count, class Compute>
void forElements(const Call &call, Compute compute) {
  BitsOf<Type> results[count];
  for (int i = 0; i < count; ++i)
    results[i] = compute(i);
  call.set(results);
}

template <class Type> double element(const Call &call, int operand, int i) {
  typename Type::Storage value;
  memcpy(&value, call.data(operand) + i * sizeof(value), sizeof(value));
  return Type::read(value);
}

template <class Type, int count, bool ftz> void absolute(const Call &call) {
  forElements<Type, count>(call, [&](int i) {
    double value = flushSmall<Type, ftz>(element<Type>(call, 0, i));
    return encode<Type>(std::fabs(value));
  });
}

template <class Type, int count, bool ftz = false>
void negate(const Call &call) {
  forElements<Type, count>(call, [&](int i) {
    return encode<Type>(-flushSmall<Type, ftz>(element<Type>(call, 0, i)));
  });
}

/// -0 is less than +0. If one operand is NaN, the result is the other one,
/// unless `.NaN` is given.
template <class Type, int count, bool isMax, bool ftz, bool keepsNaN,
          bool xorSign>
void extremum(const Call &call) {
  forElements<Type, count>(call, [&](int i) {
    double a = flushSmall<Type, ftz>(element<Type>(call, 0, i));
    double b = flushSmall<Type, ftz>(element<Type>(call, 1, i));
    bool sign = std::signbit(a) != std::signbit(b);
    if (std::isnan(a) || std::isnan(b)) {
      bool isNaN = keepsNaN || (std::isnan(a) && std::isnan(b));
      double other = std::isnan(a) ? b : a;
      if (isNaN)
        return encode<Type>(NAN);
      return encode<Type>(xorSign ? std::copysign(other, sign ? -1.0 : 1.0)
                                  : other);
    }
    if (xorSign) {
      a = std::fabs(a);
      b = std::fabs(b);
    }
    bool isLess = a < b || (a == b && std::signbit(a) && !std::signbit(b));
    double result = isLess == isMax ? b : a;
    return encode<Type>(xorSign ? std::copysign(result, sign ? -1.0 : 1.0)
                                : result);
  });
}

enum class Clamp { None, Relu, Saturate };

/// `value` rounded, after it was clamped and before it is flushed.
template <class Type, bool ftz, Clamp clamp> BitsOf<Type> finish(double value) {
  if (clamp == Clamp::Relu && value < 0)
    value = 0;
  if (clamp == Clamp::Saturate)
    value = clampToUnit(value);
  auto bits = encode<Type>(value);
  double rounded = Type::read(bitCast<typename Type::Storage>(bits));
  return encode<Type>(flushSmall<Type, ftz>(rounded));
}

template <class Type, int count, bool ftz, Clamp clamp>
void fusedMultiplyAdd(const Call &call) {
  forElements<Type, count>(call, [&](int i) {
    return finish<Type, ftz, clamp>(
        fmaToOdd(flushSmall<Type, ftz>(element<Type>(call, 0, i)),
                 flushSmall<Type, ftz>(element<Type>(call, 1, i)),
                 flushSmall<Type, ftz>(element<Type>(call, 2, i))));
  });
}

/// add, sub and mul of types whose element-wise multiplication is exact in
/// double.
template <Operation operation, class Type, int count, bool ftz = false,
          Clamp clamp = Clamp::None>
void computeSmall(const Call &call) {
  forElements<Type, count>(call, [&](int i) {
    double a = flushSmall<Type, ftz>(element<Type>(call, 0, i));
    double b = flushSmall<Type, ftz>(element<Type>(call, 1, i));
    return finish<Type, ftz, clamp>(
        operation == Operation::Mul
            ? a * b
            : fmaToOdd(a, 1, operation == Operation::Sub ? -b : b));
  });
}

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Floating Point Instructions: " section "\""
#define SMALTI_HALF(section)                                                   \
  "PTX ISA, \"Half Precision Floating Point Instructions: " section "\""
// clang-format off: one line an instruction
#define SMALTI_ENTRY(name, document, ...) {"llvm.nvvm." name, __VA_ARGS__, nullptr, document},
#define SMALTI_ROUNDED(name, operation, rounding, mode) \
    SMALTI_ENTRY(name "." rounding ".f", SMALTI_PTX(name), compute<operation, float, mode>) \
    SMALTI_ENTRY(name "." rounding ".ftz.f", SMALTI_PTX(name), compute<operation, float, mode, true>) \
    SMALTI_ENTRY(name "." rounding ".d", SMALTI_PTX(name), compute<operation, double, mode>)
#define SMALTI_SATURATED(name, operation, rounding, mode) \
    SMALTI_ENTRY(name "." rounding ".sat.f", SMALTI_PTX(name), compute<operation, float, mode, false, true>) \
    SMALTI_ENTRY(name "." rounding ".ftz.sat.f", SMALTI_PTX(name), compute<operation, float, mode, true, true>)
#define SMALTI_MODES(use, name, operation) \
    use(name, operation, "rn", FE_TONEAREST) \
    use(name, operation, "rz", FE_TOWARDZERO) \
    use(name, operation, "rm", FE_DOWNWARD) \
    use(name, operation, "rp", FE_UPWARD)
#define SMALTI_APPROXIMATE(name, section, function) \
    SMALTI_ENTRY(name ".f", SMALTI_PTX(section), approximate<function, false>) \
    SMALTI_ENTRY(name ".ftz.f", SMALTI_PTX(section), approximate<function, true>)
// Statements of inline assembly.
#define SMALTI_STATEMENT(name, document, ...) {"asm:" name, __VA_ARGS__, nullptr, document},
#define SMALTI_TEXT_ROUNDED(name, operation, rounding, mode) \
    SMALTI_STATEMENT(name rounding ".f32", SMALTI_PTX(name), compute<operation, float, mode>) \
    SMALTI_STATEMENT(name rounding ".ftz.f32", SMALTI_PTX(name), compute<operation, float, mode, true>) \
    SMALTI_STATEMENT(name rounding ".f64", SMALTI_PTX(name), compute<operation, double, mode>)
#define SMALTI_TEXT_SATURATED(name, operation, rounding, mode) \
    SMALTI_TEXT_ROUNDED(name, operation, rounding, mode) \
    SMALTI_STATEMENT(name rounding ".sat.f32", SMALTI_PTX(name), compute<operation, float, mode, false, true>) \
    SMALTI_STATEMENT(name rounding ".ftz.sat.f32", SMALTI_PTX(name), compute<operation, float, mode, true, true>)
#define SMALTI_TEXT_MODES(use, name, operation) \
    use(name, operation, ".rn", FE_TONEAREST) \
    use(name, operation, ".rz", FE_TOWARDZERO) \
    use(name, operation, ".rm", FE_DOWNWARD) \
    use(name, operation, ".rp", FE_UPWARD)
#define SMALTI_TEXT_F16(name, operation, rounding, type, count) \
    SMALTI_STATEMENT(name rounding "." type, SMALTI_HALF(name), computeSmall<operation, F16, count>) \
    SMALTI_STATEMENT(name rounding ".ftz." type, SMALTI_HALF(name), computeSmall<operation, F16, count, true>) \
    SMALTI_STATEMENT(name rounding ".sat." type, SMALTI_HALF(name), computeSmall<operation, F16, count, false, Clamp::Saturate>) \
    SMALTI_STATEMENT(name rounding ".ftz.sat." type, SMALTI_HALF(name), computeSmall<operation, F16, count, true, Clamp::Saturate>)
#define SMALTI_TEXT_SMALL(name, operation, rounding) \
    SMALTI_TEXT_F16(name, operation, rounding, "f16", 1) \
    SMALTI_TEXT_F16(name, operation, rounding, "f16x2", 2) \
    SMALTI_STATEMENT(name rounding ".bf16", SMALTI_HALF(name), computeSmall<operation, BF16, 1>) \
    SMALTI_STATEMENT(name rounding ".bf16x2", SMALTI_HALF(name), computeSmall<operation, BF16, 2>)
#define SMALTI_TEXT_ARITHMETIC(name, operation) \
    SMALTI_TEXT_SATURATED(name, operation, "", FE_TONEAREST) \
    SMALTI_TEXT_MODES(SMALTI_TEXT_SATURATED, name, operation) \
    SMALTI_TEXT_SMALL(name, operation, "") \
    SMALTI_TEXT_SMALL(name, operation, ".rn")
#define SMALTI_TEXT_FMA(type, Type, count) \
    SMALTI_STATEMENT("fma.rn." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, false, Clamp::None>) \
    SMALTI_STATEMENT("fma.rn.relu." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, false, Clamp::Relu>)
#define SMALTI_TEXT_FMA_F16(type, count) \
    SMALTI_TEXT_FMA(type, F16, count) \
    SMALTI_STATEMENT("fma.rn.ftz." type, SMALTI_HALF("fma"), fusedMultiplyAdd<F16, count, true, Clamp::None>) \
    SMALTI_STATEMENT("fma.rn.ftz.relu." type, SMALTI_HALF("fma"), fusedMultiplyAdd<F16, count, true, Clamp::Relu>) \
    SMALTI_STATEMENT("fma.rn.sat." type, SMALTI_HALF("fma"), fusedMultiplyAdd<F16, count, false, Clamp::Saturate>) \
    SMALTI_STATEMENT("fma.rn.ftz.sat." type, SMALTI_HALF("fma"), fusedMultiplyAdd<F16, count, true, Clamp::Saturate>)
#define SMALTI_TEXT_EXTREMUM(name, section, isMax, type, Type, count) \
    SMALTI_STATEMENT(name "." type, section, extremum<Type, count, isMax, false, false, false>) \
    SMALTI_STATEMENT(name ".NaN." type, section, extremum<Type, count, isMax, false, true, false>) \
    SMALTI_STATEMENT(name ".xorsign.abs." type, section, extremum<Type, count, isMax, false, false, true>) \
    SMALTI_STATEMENT(name ".NaN.xorsign.abs." type, section, extremum<Type, count, isMax, false, true, true>)
#define SMALTI_TEXT_FLUSHED_EXTREMUM(name, section, isMax, type, Type, count) \
    SMALTI_TEXT_EXTREMUM(name, section, isMax, type, Type, count) \
    SMALTI_STATEMENT(name ".ftz." type, section, extremum<Type, count, isMax, true, false, false>) \
    SMALTI_STATEMENT(name ".ftz.NaN." type, section, extremum<Type, count, isMax, true, true, false>) \
    SMALTI_STATEMENT(name ".ftz.xorsign.abs." type, section, extremum<Type, count, isMax, true, false, true>) \
    SMALTI_STATEMENT(name ".ftz.NaN.xorsign.abs." type, section, extremum<Type, count, isMax, true, true, true>)
#define SMALTI_TEXT_EXTREMA(name, isMax) \
    SMALTI_TEXT_FLUSHED_EXTREMUM(name, SMALTI_PTX(name), isMax, "f32", F32, 1) \
    SMALTI_TEXT_FLUSHED_EXTREMUM(name, SMALTI_HALF(name), isMax, "f16", F16, 1) \
    SMALTI_TEXT_FLUSHED_EXTREMUM(name, SMALTI_HALF(name), isMax, "f16x2", F16, 2) \
    SMALTI_TEXT_EXTREMUM(name, SMALTI_HALF(name), isMax, "bf16", BF16, 1) \
    SMALTI_TEXT_EXTREMUM(name, SMALTI_HALF(name), isMax, "bf16x2", BF16, 2) \
    SMALTI_STATEMENT(name ".f64", SMALTI_PTX(name), extremum<F64, 1, isMax, false, false, false>)
#define SMALTI_TEXT_SIGN(name, function) \
    SMALTI_STATEMENT(name ".f32", SMALTI_PTX(name), function<F32, 1, false>) \
    SMALTI_STATEMENT(name ".ftz.f32", SMALTI_PTX(name), function<F32, 1, true>) \
    SMALTI_STATEMENT(name ".f64", SMALTI_PTX(name), function<F64, 1, false>) \
    SMALTI_STATEMENT(name ".f16", SMALTI_HALF(name), function<F16, 1, false>) \
    SMALTI_STATEMENT(name ".ftz.f16", SMALTI_HALF(name), function<F16, 1, true>) \
    SMALTI_STATEMENT(name ".f16x2", SMALTI_HALF(name), function<F16, 2, false>) \
    SMALTI_STATEMENT(name ".ftz.f16x2", SMALTI_HALF(name), function<F16, 2, true>) \
    SMALTI_STATEMENT(name ".bf16", SMALTI_HALF(name), function<BF16, 1, false>) \
    SMALTI_STATEMENT(name ".bf16x2", SMALTI_HALF(name), function<BF16, 2, false>)
#define SMALTI_TEXT(name, section, function) \
    {"asm:" name ".approx.f32", approximate<function, false>, nullptr, SMALTI_PTX(section)}, \
    {"asm:" name ".approx.ftz.f32", approximate<function, true>, nullptr, SMALTI_PTX(section)},
#define SMALTI_INTEGRAL(name, rounding) \
    SMALTI_ENTRY(name ".f", cvtDocument, roundToIntegral<float, rounding>) \
    SMALTI_ENTRY(name ".ftz.f", cvtDocument, roundToIntegral<float, rounding, true>) \
    SMALTI_ENTRY(name ".d", cvtDocument, roundToIntegral<double, rounding>)
#define SMALTI_EXTREMUM(name, section, isMax, type, Type, count) \
    SMALTI_ENTRY(name "." type, section, extremum<Type, count, isMax, false, false, false>) \
    SMALTI_ENTRY(name ".ftz." type, section, extremum<Type, count, isMax, true, false, false>) \
    SMALTI_ENTRY(name ".nan." type, section, extremum<Type, count, isMax, false, true, false>) \
    SMALTI_ENTRY(name ".ftz.nan." type, section, extremum<Type, count, isMax, true, true, false>) \
    SMALTI_ENTRY(name ".xorsign.abs." type, section, extremum<Type, count, isMax, false, false, true>) \
    SMALTI_ENTRY(name ".ftz.xorsign.abs." type, section, extremum<Type, count, isMax, true, false, true>) \
    SMALTI_ENTRY(name ".nan.xorsign.abs." type, section, extremum<Type, count, isMax, false, true, true>) \
    SMALTI_ENTRY(name ".ftz.nan.xorsign.abs." type, section, extremum<Type, count, isMax, true, true, true>)
#define SMALTI_EXTREMA(name, section, isMax) \
    SMALTI_EXTREMUM(name, SMALTI_PTX(section), isMax, "f", F32, 1) \
    SMALTI_EXTREMUM(name, SMALTI_HALF(section), isMax, "f16", F16, 1) \
    SMALTI_EXTREMUM(name, SMALTI_HALF(section), isMax, "f16x2", F16, 2) \
    SMALTI_EXTREMUM(name, SMALTI_HALF(section), isMax, "bf16", BF16, 1) \
    SMALTI_EXTREMUM(name, SMALTI_HALF(section), isMax, "bf16x2", BF16, 2) \
    SMALTI_ENTRY(name ".d", SMALTI_PTX(section), extremum<F64, 1, isMax, false, false, false>)
#define SMALTI_FMA(type, Type, count) \
    SMALTI_ENTRY("fma.rn." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, false, Clamp::None>) \
    SMALTI_ENTRY("fma.rn.ftz." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, true, Clamp::None>) \
    SMALTI_ENTRY("fma.rn.relu." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, false, Clamp::Relu>) \
    SMALTI_ENTRY("fma.rn.ftz.relu." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, true, Clamp::Relu>) \
    SMALTI_ENTRY("fma.rn.sat." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, false, Clamp::Saturate>) \
    SMALTI_ENTRY("fma.rn.ftz.sat." type, SMALTI_HALF("fma"), fusedMultiplyAdd<Type, count, true, Clamp::Saturate>)
#define SMALTI_ABSOLUTE(type, document, Type, count) \
    SMALTI_ENTRY("fabs." type, document, absolute<Type, count, false>) \
    SMALTI_ENTRY("fabs.ftz." type, document, absolute<Type, count, true>)
#define SMALTI_POWER(type, Type, count) \
    SMALTI_ENTRY("ex2.approx." type, SMALTI_HALF("ex2"), approximateSmall<Type, count, power2, false>) \
    SMALTI_ENTRY("ex2.approx.ftz." type, SMALTI_HALF("ex2"), approximateSmall<Type, count, power2, true>)
constexpr char cvtDocument[] = "PTX ISA, \"Data Movement and Conversion Instructions: cvt\"";
constexpr Instruction table[] = {
    SMALTI_MODES(SMALTI_ROUNDED, "add", Operation::Add)
    SMALTI_MODES(SMALTI_SATURATED, "add", Operation::Add)
    SMALTI_MODES(SMALTI_ROUNDED, "mul", Operation::Mul)
    SMALTI_MODES(SMALTI_ROUNDED, "div", Operation::Div)
    SMALTI_MODES(SMALTI_ROUNDED, "rcp", Operation::Rcp)
    SMALTI_MODES(SMALTI_ROUNDED, "sqrt", Operation::Sqrt)
    SMALTI_MODES(SMALTI_ROUNDED, "fma", Operation::Fma)
    SMALTI_MODES(SMALTI_SATURATED, "fma", Operation::Fma)
    // At most 2 ulp of error.
    SMALTI_ENTRY("div.approx.f", SMALTI_PTX("div"), divideApproximately<false>)
    SMALTI_ENTRY("div.approx.ftz.f", SMALTI_PTX("div"), divideApproximately<true>)
    SMALTI_ENTRY("div.full", SMALTI_PTX("div"), compute<Operation::Div, float, FE_TONEAREST>)
    SMALTI_ENTRY("div.full.ftz", SMALTI_PTX("div"), compute<Operation::Div, float, FE_TONEAREST, true>)
    // 1 ulp; f64: 20 bits of mantissa.
    SMALTI_ENTRY("rcp.approx.ftz.f", SMALTI_PTX("rcp"), approximate<reciprocal, true>)
    SMALTI_ENTRY("rcp.approx.ftz.d", SMALTI_PTX("rcp.approx.ftz.f64"), approximateUpperHalf<reciprocal>)
    SMALTI_APPROXIMATE("rsqrt.approx", "rsqrt", reciprocalRoot)
    SMALTI_ENTRY("rsqrt.approx.d", SMALTI_PTX("rsqrt"), approximateF64<reciprocalRoot>)
    SMALTI_ENTRY("rsqrt.approx.ftz.d", SMALTI_PTX("rsqrt.approx.ftz.f64"), approximateUpperHalf<reciprocalRoot>)
    SMALTI_APPROXIMATE("sqrt.approx", "sqrt", root)
    // Which sqrt this becomes is up to a compiler's option: the exact one here.
    SMALTI_ENTRY("sqrt.f", SMALTI_PTX("sqrt"), compute<Operation::Sqrt, float, FE_TONEAREST>)
    // 2^-20.5 of absolute error in [-pi, pi], 2^-22 in ex2, lg2 2^-22 outside (0.5, 2).
    SMALTI_APPROXIMATE("sin.approx", "sin", sine)
    SMALTI_APPROXIMATE("cos.approx", "cos", cosine)
    SMALTI_APPROXIMATE("lg2.approx", "lg2", logarithm2)
    SMALTI_ENTRY("lg2.approx.d", SMALTI_PTX("lg2"), approximateF64<logarithm2>)
    SMALTI_ENTRY("ex2.approx.f32", SMALTI_PTX("ex2"), approximate<power2, false>)
    SMALTI_ENTRY("ex2.approx.ftz.f32", SMALTI_PTX("ex2"), approximate<power2, true>)
    SMALTI_TEXT("sin", "sin", sine)
    SMALTI_TEXT("cos", "cos", cosine)
    SMALTI_TEXT("lg2", "lg2", logarithm2)
    SMALTI_TEXT("ex2", "ex2", power2)
    SMALTI_TEXT("sqrt", "sqrt", root)
    SMALTI_TEXT("rsqrt", "rsqrt", reciprocalRoot)
    SMALTI_TEXT("rcp", "rcp", reciprocal)
    // 2^-11 of relative error.
    {"asm:tanh.approx.f32", approximate<hyperbolicTangent, false>, nullptr, SMALTI_PTX("tanh")},
    SMALTI_ENTRY("ex2.approx.f64", SMALTI_PTX("ex2"), approximateF64<power2>)
    SMALTI_POWER("f16", F16, 1)
    SMALTI_POWER("v2f16", F16, 2)
    SMALTI_POWER("bf16", BF16, 1)
    SMALTI_POWER("v2bf16", BF16, 2)
    SMALTI_ENTRY("saturate.f", cvtDocument, saturate<false>)
    SMALTI_ENTRY("saturate.ftz.f", cvtDocument, saturate<true>)
    SMALTI_ENTRY("saturate.d", cvtDocument, saturateF64)
    SMALTI_INTEGRAL("ceil", Rounding::Up)
    SMALTI_INTEGRAL("floor", Rounding::Down)
    SMALTI_INTEGRAL("trunc", Rounding::TowardZero)
    SMALTI_INTEGRAL("round", Rounding::NearestEven)
    SMALTI_EXTREMA("fmin", "min", false)
    SMALTI_EXTREMA("fmax", "max", true)
    SMALTI_FMA("f16", F16, 1)
    SMALTI_FMA("f16x2", F16, 2)
    SMALTI_FMA("bf16", BF16, 1)
    SMALTI_FMA("bf16x2", BF16, 2)
    SMALTI_ABSOLUTE("f32", SMALTI_PTX("abs"), F32, 1)
    SMALTI_ABSOLUTE("f16", SMALTI_HALF("abs"), F16, 1)
    SMALTI_ABSOLUTE("v2f16", SMALTI_HALF("abs"), F16, 2)
    SMALTI_ABSOLUTE("bf16", SMALTI_HALF("abs"), BF16, 1)
    SMALTI_ABSOLUTE("v2bf16", SMALTI_HALF("abs"), BF16, 2)
    SMALTI_ENTRY("fabs.f64", SMALTI_PTX("abs"), absolute<F64, 1, false>)
    SMALTI_ENTRY("neg.bf16", SMALTI_HALF("neg"), negate<BF16, 1>)
    SMALTI_ENTRY("neg.bf16x2", SMALTI_HALF("neg"), negate<BF16, 2>)
    SMALTI_TEXT_ARITHMETIC("add", Operation::Add)
    SMALTI_TEXT_ARITHMETIC("sub", Operation::Sub)
    SMALTI_TEXT_ARITHMETIC("mul", Operation::Mul)
    SMALTI_TEXT_MODES(SMALTI_TEXT_SATURATED, "fma", Operation::Fma)
    SMALTI_TEXT_FMA_F16("f16", 1)
    SMALTI_TEXT_FMA_F16("f16x2", 2)
    SMALTI_TEXT_FMA("bf16", BF16, 1)
    SMALTI_TEXT_FMA("bf16x2", BF16, 2)
    SMALTI_TEXT_MODES(SMALTI_TEXT_ROUNDED, "div", Operation::Div)
    SMALTI_TEXT_MODES(SMALTI_TEXT_ROUNDED, "rcp", Operation::Rcp)
    SMALTI_TEXT_MODES(SMALTI_TEXT_ROUNDED, "sqrt", Operation::Sqrt)
    SMALTI_STATEMENT("rsqrt.approx.ftz.f64", SMALTI_PTX("rsqrt.approx.ftz.f64"), approximateUpperHalf<reciprocalRoot>)
    SMALTI_TEXT_EXTREMA("min", false)
    SMALTI_TEXT_EXTREMA("max", true)
    SMALTI_TEXT_SIGN("abs", absolute)
    SMALTI_TEXT_SIGN("neg", negate)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaArithmetic = table;
