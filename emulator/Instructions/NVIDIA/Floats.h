//===- Floats.h - Rounding, denormals and NaN of NVIDIA -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_FLOATS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_FLOATS_H

#include "smalti/emulator/Instructions/NVIDIA/Fragments.h"

#include <cfenv>

namespace smalti::emulator::nvidia {

/// NaN results of f32 instructions (PTX ISA, "Floating Point Instructions").
constexpr uint32_t canonicalNaN = 0x7fffffff;

/// Sets the rounding mode of the host for its lifetime. Values computed
/// meanwhile must be volatile, because compilers assume the default mode.
class RoundingMode {
public:
  explicit RoundingMode(int mode) : old(fegetround()) { fesetround(mode); }
  ~RoundingMode() { fesetround(old); }
  RoundingMode(const RoundingMode &) = delete;
  RoundingMode &operator=(const RoundingMode &) = delete;

private:
  int old;
};

/// `.ftz`: a denormal becomes a zero of its sign.
template <bool ftz> float flushed(float value) {
  if (ftz && std::fpclassify(value) == FP_SUBNORMAL)
    return std::copysign(0.0F, value);
  return value;
}

/// The smallest exponent of normal numbers.
template <class Type> inline constexpr int minExponentOf = -126;
template <> inline constexpr int minExponentOf<F16> = -14;
template <> inline constexpr int minExponentOf<F64> = -1022;

/// The same for a number of any type.
template <class Type, bool ftz> double flushSmall(double value) {
  if (ftz && std::fabs(value) < std::ldexp(1.0, minExponentOf<Type>))
    return std::copysign(0.0, value);
  return value;
}

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_FLOATS_H
