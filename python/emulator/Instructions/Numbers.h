//===- Numbers.h - The types of numbers that instructions take ------------===//
//
// Each type has its storage, `read` (exact, as a double or a 64-bit integer)
// and, where instructions write it, `write`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NUMBERS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NUMBERS_H

#include <cstdint>
#include <cstring>

namespace smalti::emulator {

template <class To, class From> To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &value, sizeof(To));
  return result;
}

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
  static double read(Storage value) { return double(value); }
  static Storage write(double value) { return Storage(value); }
};

struct BF16 {
  using Storage = uint16_t;
  static double read(Storage value) {
    return bitCast<float>(uint32_t(value) << 16);
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

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NUMBERS_H
