//===- Assembly.cpp - Arithmetic in inline assembly of NVIDIA -------------===//
//
// What no intrinsic has, among it all that libdevice.10.bc of CUDA 13 needs.
// The rewriter has integers, predicates and branches itself.
//
//===----------------------------------------------------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Instructions/NVIDIA/Floats.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

template <class Float, int mode, bool ftz> void subtract(const Call &call) {
  volatile Float a = call.get<Float>(0), b = call.get<Float>(1);
  if constexpr (ftz) {
    a = flushed<true>(Float(a));
    b = flushed<true>(Float(b));
  }
  volatile Float difference;
  {
    RoundingMode rounding(mode);
    difference = a - b;
  }
  Float result = difference;
  if constexpr (ftz)
    result = flushed<true>(result);
  if (sizeof(Float) == 4 && std::isnan(result))
    return call.set(canonicalNaN);
  call.set(result);
}

void reciprocal(const Call &call) {
  float result = 1 / flushed<true>(call.get<float>(0));
  if (std::isnan(result))
    return call.set(canonicalNaN);
  call.set(flushed<true>(result));
}

/// Only the upper half of an f64 is looked at and computed.
void reciprocalRoot(const Call &call) {
  constexpr uint64_t upper = ~uint64_t(0xffffffff);
  auto value = call.get<double>(0);
  if (std::fpclassify(value) == FP_SUBNORMAL)
    value = std::copysign(0.0, value);
  double root =
      1 / std::sqrt(bitCast<double>(bitCast<uint64_t>(value) & upper));
  call.set(bitCast<uint64_t>(root) & upper);
}

void findShiftAmount(const Call &call) {
  auto value = call.get<uint32_t>(0);
  call.set(value ? uint32_t(__builtin_clz(value)) : ~0U);
}

#define SMALTI_PTX(section) "PTX ISA, \"" section "\""
// clang-format off: one line an instruction, but for long strings
#define SMALTI_SUB(rounding, mode) \
    {"asm:sub." rounding ".f32", subtract<float, mode, false>, nullptr, SMALTI_PTX("Floating Point Instructions: sub")}, \
    {"asm:sub." rounding ".ftz.f32", subtract<float, mode, true>, nullptr, SMALTI_PTX("Floating Point Instructions: sub")}, \
    {"asm:sub." rounding ".f64", subtract<double, mode, false>, nullptr, SMALTI_PTX("Floating Point Instructions: sub")},
constexpr Instruction table[] = {
    SMALTI_SUB("rn", FE_TONEAREST)
    SMALTI_SUB("rz", FE_TOWARDZERO)
    SMALTI_SUB("rm", FE_DOWNWARD)
    SMALTI_SUB("rp", FE_UPWARD)
    {"asm:rcp.approx.ftz.f32", reciprocal, nullptr, SMALTI_PTX("Floating Point Instructions: rcp")},
    {"asm:rsqrt.approx.ftz.f64", reciprocalRoot, nullptr, SMALTI_PTX("Floating Point Instructions: rsqrt.approx.ftz.f64")},
    {"asm:bfind.shiftamt.u32", findShiftAmount, nullptr, SMALTI_PTX("Integer Arithmetic Instructions: bfind")},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaAssembly = table;
