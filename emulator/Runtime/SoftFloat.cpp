//===- SoftFloat.cpp - Conversions that kernel libraries call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host code calls functions of the compiler's library if a processor does not
// have an instruction. The library of GCC 12 has these functions for half, but
// not for bfloat.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstring>

/// A bfloat is passed in the register of a half float.
static _Float16 fromBits(uint32_t bits) {
  auto half = uint16_t(bits);
  _Float16 result;
  memcpy(&result, &half, sizeof result);
  return result;
}

/// Rounds to the nearest value whose low `dropped` bits are zero, ties to even,
/// and removes these bits.
static uint64_t roundToEven(uint64_t bits, int dropped) {
  uint64_t half = uint64_t(1) << (dropped - 1);
  return (bits + half - 1 + (bits >> dropped & 1)) >> dropped;
}

// The names are those that the compiler calls.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

__attribute__((visibility("default"), weak)) _Float16
__truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value)
    return fromBits(bits >> 16 | 0x40);
  return fromBits(uint32_t(roundToEven(bits, 16)));
}

__attribute__((visibility("default"), weak)) _Float16
__truncdfbf2(double value) {
  // Converts to float with round-to-odd, so that the second rounding is exact.
  auto nearest = float(value);
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  double back = nearest;
  if (value == value && back != value) {
    double size = value < 0 ? -value : value;
    if ((back < 0 ? -back : back) > size)
      --bits;
    bits |= 1;
  }
  memcpy(&nearest, &bits, sizeof nearest);
  return __truncsfbf2(nearest);
}
}
// NOLINTEND(bugprone-reserved-identifier)
