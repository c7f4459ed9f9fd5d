//===- Types.cpp - Element types by their MLIR names ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Types.h"
#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/Vectors.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

using namespace smalti::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

constexpr size_t atOnce = 512;

SMALTI_WIDE void encodeNearest(const Encoding &to, const double *values,
                               size_t count, bool saturate, uint32_t *codes) {
  const Encoding encoding = to;
  for (size_t i = 0; i < count; ++i)
    codes[i] =
        encode<true>(encoding, values[i], Rounding::NearestEven, saturate);
}

template <const Encoding &to, class Storage>
void write(const double *values, size_t count, Rounding rounding, bool saturate,
           void *results) {
  auto *target = static_cast<Storage *>(results);
  uint32_t codes[atOnce];
  for (size_t first = 0; first < count; first += atOnce) {
    size_t n = std::min(atOnce, count - first);
    if (rounding == Rounding::NearestEven)
      encodeNearest(to, values + first, n, saturate, codes);
    else
      for (size_t i = 0; i < n; ++i)
        codes[i] = encode<false>(to, values[first + i], rounding, saturate);
    for (size_t i = 0; i < n; ++i)
      target[first + i] = Storage(codes[i]);
  }
}

/// As `write` does, by the host's own conversion.
void writeF32(const double *values, size_t count, Rounding rounding,
              bool saturate, void *results) {
  if (rounding != Rounding::NearestEven)
    return write<F32::encoding, uint32_t>(values, count, rounding, saturate,
                                          results);
  auto *target = static_cast<uint32_t *>(results);
  for (size_t i = 0; i < count; ++i) {
    auto code = bitCast<uint32_t>(float(values[i]));
    uint32_t magnitude = code & 0x7fffffffU;
    code =
        saturate && magnitude == F32::encoding.overflowCode ? code - 1 : code;
    target[i] =
        magnitude > F32::encoding.overflowCode ? F32::encoding.nanCode : code;
  }
}

void writeF64(const double *values, size_t count, Rounding, bool saturate,
              void *codes) {
  auto *to = static_cast<double *>(codes);
  constexpr double largest = std::numeric_limits<double>::max();
  for (size_t i = 0; i < count; ++i)
    to[i] = saturate && std::isinf(values[i])
                ? std::copysign(largest, values[i])
                : values[i];
}

void writeE8M0(const double *values, size_t count, Rounding rounding,
               bool saturate, void *codes) {
  auto *to = static_cast<uint8_t *>(codes);
  for (size_t i = 0; i < count; ++i)
    to[i] = E8M0::write(values[i], rounding, saturate);
}

template <class Type>
void readAll(const void *codes, size_t count, double *values) {
  auto *from = static_cast<const typename Type::Storage *>(codes);
  for (size_t i = 0; i < count; ++i)
    values[i] = Type::read(from[i]);
}

/// By a table of all codes; bits above those of the type do not count.
template <class Type, int bits>
void readSmall(const void *codes, size_t count, double *values) {
  static const std::array<double, 256> table = [] {
    std::array<double, 256> numbers;
    for (int code = 0; code < 256; ++code)
      numbers[code] = Type::read(uint8_t(code & ((1 << bits) - 1)));
    return numbers;
  }();
  auto *from = static_cast<const uint8_t *>(codes);
  for (size_t i = 0; i < count; ++i)
    values[i] = table[from[i]];
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// An element as 64 bits, with its sign.
template <class Storage, int bits, bool isSigned>
uint64_t extended(Storage code) {
  uint64_t value = uint64_t(code) << (64 - bits);
  return isSigned ? uint64_t(int64_t(value) >> (64 - bits))
                  : value >> (64 - bits);
}

template <class Storage, int bits, bool isSigned>
void readInteger(const void *codes, size_t count, double *values) {
  auto *from = static_cast<const Storage *>(codes);
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = extended<Storage, bits, isSigned>(from[i]);
    values[i] = isSigned ? double(int64_t(value)) : double(value);
  }
}

template <class Storage, int bits, bool isSigned>
void widen(const void *codes, size_t count, uint64_t *values) {
  auto *from = static_cast<const Storage *>(codes);
  for (size_t i = 0; i < count; ++i)
    values[i] = extended<Storage, bits, isSigned>(from[i]);
}

/// One bit is 0 or 1; other elements of less than a byte keep their sign.
template <class Storage, int bits, bool isSigned>
void narrow(const uint64_t *values, size_t count, void *codes) {
  auto *to = static_cast<Storage *>(codes);
  for (size_t i = 0; i < count; ++i)
    to[i] = Storage(extended < Storage, bits,
                    isSigned && bits != 1 > (Storage(values[i])));
}

/// An integer's magnitude as a double. With `toOdd` a number that is not exact
/// is cut off and has an odd code, so that rounding it again to fewer bits
/// gives what one rounding would.
double roundInteger(uint64_t magnitude, bool isNegative, Rounding rounding,
                    bool toOdd) {
  int shift = magnitude ? std::max(0, 11 - __builtin_clzll(magnitude)) : 0;
  uint64_t kept = magnitude >> shift, rest = magnitude - (kept << shift);
  if (toOdd)
    kept |= rest != 0;
  else if (rest) {
    // 0 or 1 and the rest, of which the even neighbor is known.
    double last = double(kept & 1);
    double rounded = roundMagnitude(last + double(rest) / powerOfTwo(shift),
                                    isNegative, rounding);
    kept = kept - (kept & 1) + uint64_t(rounded);
  }
  double value = double(kept) * powerOfTwo(shift);
  return isNegative ? -value : value;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <class Type, const Encoding &encoding>
constexpr ElementType floatType(const char *name) {
  using Storage = std::conditional_t<
      encoding.bits <= 8, uint8_t,
      std::conditional_t<encoding.bits == 16, uint16_t, uint32_t>>;
  ElementType type = {
      name,    ElementType::Float,       encoding.bits, sizeof(Storage),
      nullptr, write<encoding, Storage>, nullptr,       nullptr};
  if constexpr (encoding.bits <= 8)
    type.read = readSmall<Type, encoding.bits>;
  else
    type.read = readAll<Type>;
  return type;
}

template <class Storage, int bits, bool isSigned>
constexpr ElementType integerType(const char *name) {
  return {name,
          isSigned ? ElementType::Signed : ElementType::Unsigned,
          bits,
          sizeof(Storage),
          readInteger<Storage, bits, isSigned>,
          nullptr,
          widen<Storage, bits, isSigned>,
          narrow<Storage, bits, isSigned>};
}

constexpr ElementType types[] = {
    {"f64", ElementType::Float, 64, 8, readAll<F64>, writeF64, nullptr,
     nullptr},
    {"f32", ElementType::Float, 32, 4, readAll<F32>, writeF32, nullptr,
     nullptr},
    floatType<TF32, TF32::encoding>("tf32"),
    floatType<F16, F16::encoding>("f16"),
    floatType<BF16, BF16::encoding>("bf16"),
    floatType<E4M3, E4M3::encoding>("f8E4M3FN"),
    floatType<E5M2, E5M2::encoding>("f8E5M2"),
    floatType<E4M3OneZero, E4M3OneZero::encoding>("f8E4M3FNUZ"),
    floatType<E5M2OneZero, E5M2OneZero::encoding>("f8E5M2FNUZ"),
    floatType<E4M3OneZeroBias11, E4M3OneZeroBias11::encoding>("f8E4M3B11FNUZ"),
    floatType<E4M3WithInfinity, E4M3WithInfinity::encoding>("f8E4M3"),
    floatType<E3M4, E3M4::encoding>("f8E3M4"),
    {"f8E8M0FNU", ElementType::Float, 8, 1, readSmall<E8M0, 8>, writeE8M0,
     nullptr, nullptr},
    {"ue4m3", ElementType::Float, 8, 1, readSmall<UE4M3, 8>, nullptr, nullptr,
     nullptr},
    floatType<E2M3, E2M3::encoding>("f6E2M3FN"),
    floatType<E3M2, E3M2::encoding>("f6E3M2FN"),
    floatType<E2M1, E2M1::encoding>("f4E2M1FN"),
    integerType<uint64_t, 64, true>("i64"),
    integerType<uint32_t, 32, true>("i32"),
    integerType<uint16_t, 16, true>("i16"),
    integerType<uint8_t, 8, true>("i8"),
    integerType<uint8_t, 4, true>("i4"),
    integerType<uint8_t, 2, true>("i2"),
    integerType<uint8_t, 1, true>("i1"),
    integerType<uint64_t, 64, false>("ui64"),
    integerType<uint32_t, 32, false>("ui32"),
    integerType<uint16_t, 16, false>("ui16"),
    integerType<uint8_t, 8, false>("ui8"),
    integerType<uint8_t, 4, false>("ui4"),
    integerType<uint8_t, 2, false>("ui2"),
    integerType<uint8_t, 1, false>("ui1"),
};

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The smallest and the largest integer, as doubles; the largest plus one is a
/// power of two, which doubles have.
struct Limits {
  double low, end;
  uint64_t lowBits, highBits;

  explicit Limits(const ElementType &type) {
    int digits = type.bits - (type.kind == ElementType::Signed);
    end = powerOfTwo(digits);
    highBits = digits == 64 ? ~uint64_t(0) : (uint64_t(1) << digits) - 1;
    low = type.kind == ElementType::Signed ? -end : 0;
    lowBits = type.kind == ElementType::Signed ? ~highBits : 0;
  }
};

void toIntegers(const double *values, size_t count, const ElementType &from,
                const ElementType &to, Rounding rounding, uint64_t *results) {
  Limits limits(to);
  uint64_t ofNaN =
      from.bits == 64 || to.bits == 64 ? uint64_t(1) << (to.bits - 1) : 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isnan(values[i])) {
      results[i] = ofNaN;
      continue;
    }
    double rounded = roundToInteger(values[i], rounding);
    if (rounded >= limits.end)
      results[i] = limits.highBits;
    else if (rounded < limits.low)
      results[i] = limits.lowBits;
    else
      results[i] = rounded < 0 ? uint64_t(int64_t(rounded)) : uint64_t(rounded);
  }
}

void clamp(uint64_t *values, size_t count, const ElementType &from,
           const ElementType &to) {
  Limits limits(to);
  for (size_t i = 0; i < count; ++i) {
    bool isNegative =
        from.kind == ElementType::Signed && int64_t(values[i]) < 0;
    if (isNegative)
      values[i] = int64_t(values[i]) < int64_t(limits.lowBits) ||
                          to.kind == ElementType::Unsigned
                      ? limits.lowBits
                      : values[i];
    else
      values[i] = std::min(values[i], limits.highBits);
  }
}

} // namespace

const ElementType *smalti::emulator::findElementType(const char *name) {
  for (const ElementType &type : types)
    if (strcmp(type.name, name) == 0)
      return &type;
  return nullptr;
}

const ElementType *smalti::emulator::elementTypes(size_t &count) {
  count = std::size(types);
  return types;
}

void smalti::emulator::convert(const ElementType &from, const ElementType &to,
                               const void *codes, size_t count,
                               Rounding rounding, bool saturate,
                               void *results) {
  auto *source = static_cast<const char *>(codes);
  auto *target = static_cast<char *>(results);
  double values[atOnce];
  uint64_t integers[atOnce];
  for (size_t first = 0; first < count; first += atOnce) {
    size_t n = std::min(atOnce, count - first);
    const char *in = source + first * from.bytes;
    char *out = target + first * to.bytes;
    if (!from.isFloat() && (from.bits == 64 || !to.isFloat()))
      from.widen(in, n, integers);
    else
      from.read(in, n, values);
    if (to.isFloat()) {
      if (!from.isFloat() && from.bits == 64)
        for (size_t i = 0; i < n; ++i) {
          bool isNegative =
              from.kind == ElementType::Signed && int64_t(integers[i]) < 0;
          values[i] = roundInteger(isNegative ? -integers[i] : integers[i],
                                   isNegative, rounding, to.bits < 64);
        }
      to.write(values, n, rounding, saturate, out);
      continue;
    }
    if (from.isFloat())
      toIntegers(values, n, from, to, rounding, integers);
    else if (saturate)
      clamp(integers, n, from, to);
    to.narrow(integers, n, out);
  }
}

void smalti::emulator::fuse(const ElementType &type, const void *x,
                            const void *y, const void *z, size_t count,
                            double *results) {
  double a[atOnce], b[atOnce], c[atOnce];
  for (size_t first = 0; first < count; first += atOnce) {
    size_t n = std::min(atOnce, count - first), offset = first * type.bytes;
    type.read(static_cast<const char *>(x) + offset, n, a);
    type.read(static_cast<const char *>(y) + offset, n, b);
    type.read(static_cast<const char *>(z) + offset, n, c);
    for (size_t i = 0; i < n; ++i)
      results[first + i] = type.bits == 64 ? std::fma(a[i], b[i], c[i])
                                           : fmaToOdd(a[i], b[i], c[i]);
  }
}
