//===- Conversions.cpp - Conversions between types of numbers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Data Movement and Conversion Instructions: cvt". Every conversion
// rounds once, from the exact value.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Floats.h"

#include <algorithm>
#include <limits>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

//--- Floats of 16 bits and more -----------------------------------------------

/// The bits of a result.
template <class To>
using BitsOf =
    std::conditional_t<sizeof(typename To::Storage) == 2, uint16_t, uint32_t>;

template <class To, Rounding rounding, bool relu, bool satfinite>
BitsOf<To> convert(double value) {
  // NaN stays NaN.
  if (relu && value <= 0)
    return 0;
  return BitsOf<To>(encode(To::encoding, value, rounding, satfinite));
}

template <class To, Rounding rounding, bool relu, bool satfinite>
void convertOne(const Call &call) {
  call.set(convert<To, rounding, relu, satfinite>(call.get<float>(0)));
}

/// The first operand goes to the upper half.
template <class To, Rounding rounding, bool relu, bool satfinite>
void convertTwo(const Call &call) {
  uint32_t upper = convert<To, rounding, relu, satfinite>(call.get<float>(0));
  uint32_t lower = convert<To, rounding, relu, satfinite>(call.get<float>(1));
  call.set(upper << 16 | lower);
}

template <bool ftz> void floatToHalf(const Call &call) {
  call.set(convert<F16, Rounding::NearestEven, false, false>(
      flushed<ftz>(call.get<float>(0))));
}

/// To f32, which has all numbers of the shorter types.
template <class From, bool ftz> void widen(const Call &call) {
  auto value = float(From::read(call.get<typename From::Storage>(0)));
  if (std::isnan(value))
    return call.set(canonicalNaN);
  call.set(flushed<ftz>(value));
}

template <bool ftz> void bfloatToHalf(const Call &call) {
  auto value = float(BF16::read(call.get<uint16_t>(0)));
  call.set(
      convert<F16, Rounding::NearestEven, false, false>(flushed<ftz>(value)));
}

template <Rounding rounding, bool ftz> void doubleToFloat(const Call &call) {
  uint32_t code = convert<F32, rounding, false, false>(call.get<double>(0));
  // A NaN is not a denormal, and passes.
  bool isFlushed = ftz && (code & 0x7fffffff) < 0x00800000;
  call.set(isFlushed ? code & 0x80000000 : code);
}

//--- Floats of a byte and less ------------------------------------------------

/// `.satfinite` is always on: values that are too large become the largest
/// number. NaN becomes the largest positive number in types without NaN.
template <class To, bool relu> uint8_t convertSmall(double value) {
  if (relu && value < 0)
    value = 0;
  return To::writeSaturated(relu && value == 0 ? 0 : value);
}

/// Two in 16 bits, or, of 4 bits each, in 8.
template <class To> uint16_t pack(uint8_t upper, uint8_t lower) {
  return uint16_t(upper << (To::bits == 4 ? 4 : 8) | lower);
}

/// In inline assembly those of 4 bits have a register of 8.
void setPacked(const Call &call, uint16_t bits) {
  memcpy(call.result, &bits, std::min<size_t>(call.resultBytes(), 2));
}
uint16_t getPacked(const Call &call) {
  uint16_t bits = 0;
  memcpy(&bits, call.data(0), std::min<size_t>(call.bytes(0), 2));
  return bits;
}

template <class To, bool relu> void floatsToSmall(const Call &call) {
  setPacked(call, pack<To>(convertSmall<To, relu>(call.get<float>(0)),
                           convertSmall<To, relu>(call.get<float>(1))));
}

template <class To, bool relu> void halvesToSmall(const Call &call) {
  setPacked(
      call,
      pack<To>(convertSmall<To, relu>(Packed<F16>::read(call.data(0), 1)),
               convertSmall<To, relu>(Packed<F16>::read(call.data(0), 0))));
}

template <class From, bool relu> void smallToHalves(const Call &call) {
  uint16_t bits = getPacked(call);
  constexpr int width = From::bits == 4 ? 4 : 8;
  uint16_t halves[2];
  for (int i = 0; i < 2; ++i)
    halves[i] = convert<F16, Rounding::NearestEven, relu, false>(
        From::read(bits >> (width * i) & ((1 << From::bits) - 1)));
  call.set(halves);
}

template <bool up, bool satfinite> uint8_t toE8M0(double value) {
  return E8M0::write(value, up ? Rounding::Up : Rounding::TowardZero,
                     satfinite);
}

template <bool up, bool satfinite> void floatsToE8M0(const Call &call) {
  call.set(uint16_t(toE8M0<up, satfinite>(call.get<float>(0)) << 8 |
                    toE8M0<up, satfinite>(call.get<float>(1))));
}
template <bool up, bool satfinite> void bfloatsToE8M0(const Call &call) {
  call.set(
      uint16_t(toE8M0<up, satfinite>(Packed<BF16>::read(call.data(0), 1)) << 8 |
               toE8M0<up, satfinite>(Packed<BF16>::read(call.data(0), 0))));
}
void e8m0ToBfloats(const Call &call) {
  uint16_t values[2];
  for (int i = 0; i < 2; ++i)
    values[i] = BF16::write(E8M0::read(uint8_t(call.data(0)[i])));
  call.set(values);
}

//--- Integers -----------------------------------------------------------------

/// Clamped to what the integer has. NaN is 0 between 32 bits, and else the sign
/// bit alone.
template <class To, class From, Rounding rounding, bool ftz>
void toInteger(const Call &call) {
  auto value = call.get<From>(0);
  if (ftz)
    value = From(flushed<ftz>(float(value)));
  if (std::isnan(value)) {
    bool isShort = sizeof(To) == 4 && sizeof(From) == 4;
    return call.set(isShort ? To(0) : To(uint64_t(1) << (8 * sizeof(To) - 1)));
  }
  double rounded = roundToInteger(double(value), rounding);
  using Limits = std::numeric_limits<To>;
  // The upper limit plus one is a power of two, which doubles have.
  double end = std::ldexp(1.0, Limits::digits);
  if (rounded >= end)
    return call.set(Limits::max());
  if (rounded < double(Limits::min()))
    return call.set(Limits::min());
  call.set(To(rounded));
}

template <class To, class From, int mode> void fromInteger(const Call &call) {
  RoundingMode rounding(mode);
  volatile From value = call.get<From>(0);
  volatile To result = To(value);
  To rounded = result;
  call.set(rounded);
}

void lowHalf(const Call &call) { call.set(uint32_t(call.get<uint64_t>(0))); }
void highHalf(const Call &call) {
  call.set(uint32_t(call.get<uint64_t>(0) >> 32));
}
void fromHalves(const Call &call) {
  call.set(uint64_t(call.get<uint32_t>(1)) << 32 | call.get<uint32_t>(0));
}

constexpr Rounding rn = Rounding::NearestEven, rna = Rounding::NearestAway,
                   rz = Rounding::TowardZero, rm = Rounding::Down,
                   rp = Rounding::Up;

constexpr char document[] =
    "PTX ISA, \"Data Movement and Conversion Instructions: cvt\"";
constexpr char moveDocument[] =
    "PTX ISA, \"Data Movement and Conversion Instructions: mov\"";

// clang-format off: one line an instruction
#define SMALTI_CVT(name, ...) {"llvm.nvvm." name, __VA_ARGS__, nullptr, document},
#define SMALTI_NARROW(name, function, To, mode) \
    SMALTI_CVT(name "." #mode, function<To, mode, false, false>) \
    SMALTI_CVT(name "." #mode ".relu", function<To, mode, true, false>) \
    SMALTI_CVT(name "." #mode ".satfinite", function<To, mode, false, true>) \
    SMALTI_CVT(name "." #mode ".relu.satfinite", function<To, mode, true, true>)
#define SMALTI_SMALL(name, To, end) \
    SMALTI_CVT("ff.to." name ".rn" end, floatsToSmall<To, false>) \
    SMALTI_CVT("ff.to." name ".rn.relu" end, floatsToSmall<To, true>) \
    SMALTI_CVT(name ".to.f16x2.rn", smallToHalves<To, false>) \
    SMALTI_CVT(name ".to.f16x2.rn.relu", smallToHalves<To, true>)
#define SMALTI_E8M0(name, function) \
    SMALTI_CVT(name ".rz", function<false, false>) \
    SMALTI_CVT(name ".rz.satfinite", function<false, true>) \
    SMALTI_CVT(name ".rp", function<true, false>) \
    SMALTI_CVT(name ".rp.satfinite", function<true, true>)
#define SMALTI_MODES(use, ...) use(__VA_ARGS__, rn) use(__VA_ARGS__, rz) use(__VA_ARGS__, rm) use(__VA_ARGS__, rp)
#define SMALTI_FROM_FLOAT(name, To, mode) \
    SMALTI_CVT("f2" name "." #mode, toInteger<To, float, mode, false>) \
    SMALTI_CVT("f2" name "." #mode ".ftz", toInteger<To, float, mode, true>) \
    SMALTI_CVT("d2" name "." #mode, toInteger<To, double, mode, false>)
#define SMALTI_TO_FLOAT(name, From) \
    SMALTI_CVT(name "2f.rn", fromInteger<float, From, FE_TONEAREST>) \
    SMALTI_CVT(name "2f.rz", fromInteger<float, From, FE_TOWARDZERO>) \
    SMALTI_CVT(name "2f.rm", fromInteger<float, From, FE_DOWNWARD>) \
    SMALTI_CVT(name "2f.rp", fromInteger<float, From, FE_UPWARD>) \
    SMALTI_CVT(name "2d.rn", fromInteger<double, From, FE_TONEAREST>) \
    SMALTI_CVT(name "2d.rz", fromInteger<double, From, FE_TOWARDZERO>) \
    SMALTI_CVT(name "2d.rm", fromInteger<double, From, FE_DOWNWARD>) \
    SMALTI_CVT(name "2d.rp", fromInteger<double, From, FE_UPWARD>)
#define SMALTI_DOUBLE(name, mode) \
    SMALTI_CVT(name "." #mode, doubleToFloat<mode, false>) \
    SMALTI_CVT(name "." #mode ".ftz", doubleToFloat<mode, true>)
// Statements of inline assembly.
#define SMALTI_TEXT(name, ...) {"asm:cvt." name, __VA_ARGS__, nullptr, document},
#define SMALTI_TEXT_NARROW(type, function, To, mode) \
    SMALTI_TEXT(#mode "." type ".f32", function<To, mode, false, false>) \
    SMALTI_TEXT(#mode ".relu." type ".f32", function<To, mode, true, false>) \
    SMALTI_TEXT(#mode ".satfinite." type ".f32", function<To, mode, false, true>) \
    SMALTI_TEXT(#mode ".relu.satfinite." type ".f32", function<To, mode, true, true>)
#define SMALTI_TEXT_TF32(mode) \
    SMALTI_TEXT(#mode ".tf32.f32", convertOne<TF32, mode, false, false>) \
    SMALTI_TEXT(#mode ".relu.tf32.f32", convertOne<TF32, mode, true, false>) \
    SMALTI_TEXT(#mode ".satfinite.tf32.f32", convertOne<TF32, mode, false, true>) \
    SMALTI_TEXT(#mode ".satfinite.relu.tf32.f32", convertOne<TF32, mode, true, true>)
#define SMALTI_TEXT_SMALL(type, To) \
    SMALTI_TEXT("rn.satfinite." type ".f32", floatsToSmall<To, false>) \
    SMALTI_TEXT("rn.satfinite.relu." type ".f32", floatsToSmall<To, true>) \
    SMALTI_TEXT("rn.f16x2." type, smallToHalves<To, false>) \
    SMALTI_TEXT("rn.relu.f16x2." type, smallToHalves<To, true>)
#define SMALTI_TEXT_HALVES(type, To) \
    SMALTI_TEXT("rn.satfinite." type ".f16x2", halvesToSmall<To, false>) \
    SMALTI_TEXT("rn.satfinite.relu." type ".f16x2", halvesToSmall<To, true>)
#define SMALTI_TEXT_E8M0(type, function) \
    SMALTI_TEXT("rz.ue8m0x2." type, function<false, false>) \
    SMALTI_TEXT("rz.satfinite.ue8m0x2." type, function<false, true>) \
    SMALTI_TEXT("rp.ue8m0x2." type, function<true, false>) \
    SMALTI_TEXT("rp.satfinite.ue8m0x2." type, function<true, true>)
constexpr Instruction table[] = {
    SMALTI_TEXT_NARROW("f16", convertOne, F16, rn)
    SMALTI_TEXT_NARROW("f16", convertOne, F16, rz)
    SMALTI_TEXT_NARROW("bf16", convertOne, BF16, rn)
    SMALTI_TEXT_NARROW("bf16", convertOne, BF16, rz)
    SMALTI_TEXT_NARROW("f16x2", convertTwo, F16, rn)
    SMALTI_TEXT_NARROW("f16x2", convertTwo, F16, rz)
    SMALTI_TEXT_NARROW("bf16x2", convertTwo, BF16, rn)
    SMALTI_TEXT_NARROW("bf16x2", convertTwo, BF16, rz)
    SMALTI_TEXT_TF32(rn)
    SMALTI_TEXT_TF32(rz)
    SMALTI_TEXT("rna.tf32.f32", convertOne<TF32, rna, false, false>)
    SMALTI_TEXT("rna.satfinite.tf32.f32", convertOne<TF32, rna, false, true>)
    SMALTI_TEXT("f32.f16", widen<F16, false>)
    SMALTI_TEXT("ftz.f32.f16", widen<F16, true>)
    SMALTI_TEXT("f32.bf16", widen<BF16, false>)
    SMALTI_TEXT("ftz.f32.bf16", widen<BF16, true>)
    SMALTI_TEXT_SMALL("e4m3x2", E4M3)
    SMALTI_TEXT_SMALL("e5m2x2", E5M2)
    SMALTI_TEXT_SMALL("e2m3x2", E2M3)
    SMALTI_TEXT_SMALL("e3m2x2", E3M2)
    SMALTI_TEXT_SMALL("e2m1x2", E2M1)
    SMALTI_TEXT_HALVES("e4m3x2", E4M3)
    SMALTI_TEXT_HALVES("e5m2x2", E5M2)
    SMALTI_TEXT_E8M0("f32", floatsToE8M0)
    SMALTI_TEXT_E8M0("bf16x2", bfloatsToE8M0)
    SMALTI_TEXT("rn.bf16x2.ue8m0x2", e8m0ToBfloats)
    SMALTI_NARROW("f2f16", convertOne, F16, rn)
    SMALTI_NARROW("f2f16", convertOne, F16, rz)
    SMALTI_NARROW("f2bf16", convertOne, BF16, rn)
    SMALTI_NARROW("f2bf16", convertOne, BF16, rz)
    SMALTI_NARROW("f2tf32", convertOne, TF32, rn)
    SMALTI_NARROW("f2tf32", convertOne, TF32, rz)
    SMALTI_CVT("f2tf32.rna", convertOne<TF32, rna, false, false>)
    SMALTI_CVT("f2tf32.rna.satfinite", convertOne<TF32, rna, false, true>)
    SMALTI_NARROW("ff2f16x2", convertTwo, F16, rn)
    SMALTI_NARROW("ff2f16x2", convertTwo, F16, rz)
    SMALTI_NARROW("ff2bf16x2", convertTwo, BF16, rn)
    SMALTI_NARROW("ff2bf16x2", convertTwo, BF16, rz)
    SMALTI_CVT("f2h.rn", floatToHalf<false>)
    SMALTI_CVT("f2h.rn.ftz", floatToHalf<true>)
    SMALTI_CVT("bf2h.rn", bfloatToHalf<false>)
    SMALTI_CVT("bf2h.rn.ftz", bfloatToHalf<true>)
    SMALTI_SMALL("e4m3x2", E4M3, "")
    SMALTI_SMALL("e5m2x2", E5M2, "")
    SMALTI_SMALL("e2m3x2", E2M3, ".satfinite")
    SMALTI_SMALL("e3m2x2", E3M2, ".satfinite")
    SMALTI_SMALL("e2m1x2", E2M1, ".satfinite")
    SMALTI_CVT("f16x2.to.e4m3x2.rn", halvesToSmall<E4M3, false>)
    SMALTI_CVT("f16x2.to.e4m3x2.rn.relu", halvesToSmall<E4M3, true>)
    SMALTI_CVT("f16x2.to.e5m2x2.rn", halvesToSmall<E5M2, false>)
    SMALTI_CVT("f16x2.to.e5m2x2.rn.relu", halvesToSmall<E5M2, true>)
    SMALTI_E8M0("ff.to.ue8m0x2", floatsToE8M0)
    SMALTI_E8M0("bf16x2.to.ue8m0x2", bfloatsToE8M0)
    SMALTI_CVT("ue8m0x2.to.bf16x2", e8m0ToBfloats)
    SMALTI_MODES(SMALTI_DOUBLE, "d2f")
    SMALTI_MODES(SMALTI_FROM_FLOAT, "i", int32_t)
    SMALTI_MODES(SMALTI_FROM_FLOAT, "ui", uint32_t)
    SMALTI_MODES(SMALTI_FROM_FLOAT, "ll", int64_t)
    SMALTI_MODES(SMALTI_FROM_FLOAT, "ull", uint64_t)
    SMALTI_TO_FLOAT("i", int32_t)
    SMALTI_TO_FLOAT("ui", uint32_t)
    SMALTI_TO_FLOAT("ll", int64_t)
    SMALTI_TO_FLOAT("ull", uint64_t)
    {"llvm.nvvm.d2i.lo", lowHalf, nullptr, moveDocument},
    {"llvm.nvvm.d2i.hi", highHalf, nullptr, moveDocument},
    {"llvm.nvvm.lohi.i2d", fromHalves, nullptr, moveDocument},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaConversions = table;
