//===- SoftFloat.cpp - Conversions that kernel libraries call -------------===//
//
// Code for the host calls functions of the compiler's library where a processor
// has no instruction. That of GCC 12 has those of half floats, and none of
// bfloat.
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

/// To the nearest of the values whose low `dropped` bits are zero, ties to
/// even, without them.
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
  // To float with the last bit odd where it is not exact, so that the second
  // rounding is the only one.
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
