//===- Integers.cpp - Integer and bit instructions of NVIDIA --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"

using namespace smalti::emulator;

namespace {

//--- Arithmetic ---------------------------------------------------------------

template <class Type, class Wide> void multiplyHigh(const Call &call) {
  Wide product = Wide(call.get<Type>(0)) * call.get<Type>(1);
  call.set(Type(product >> (8 * sizeof(Type))));
}

/// The low 32 bits of the multiplication of the low 24 bits of each operand.
void multiply24(const Call &call) {
  int64_t a = int32_t(call.get<uint32_t>(0) << 8) >> 8;
  int64_t b = int32_t(call.get<uint32_t>(1) << 8) >> 8;
  call.set(uint32_t(a * b));
}
void multiplyUnsigned24(const Call &call) {
  uint64_t a = call.get<uint32_t>(0) & 0xffffff;
  uint64_t b = call.get<uint32_t>(1) & 0xffffff;
  call.set(uint32_t(a * b));
}

/// c + |a - b|, which wraps.
template <class Type, class Unsigned> void sumOfDifferences(const Call &call) {
  auto a = call.get<Type>(0), b = call.get<Type>(1);
  auto difference =
      Unsigned(a < b ? Unsigned(b) - Unsigned(a) : Unsigned(a) - Unsigned(b));
  call.set(Unsigned(call.get<Unsigned>(2) + difference));
}

/// dp4a: multiplies four pairs of bytes and adds the results.
template <class A, class B> void dotProduct4(const Call &call) {
  uint32_t sum = call.get<uint32_t>(2);
  for (int i = 0; i < 4; ++i)
    sum += uint32_t(A(call.data(0)[i]) * B(call.data(1)[i]));
  call.set(sum);
}

/// dp2a: multiplies two 16-bit values with two bytes of the low or the high
/// half, and adds the results.
template <class A, class B> void dotProduct2(const Call &call) {
  int first = call.get<uint8_t>(2) & 1 ? 2 : 0;
  uint32_t sum = call.get<uint32_t>(3);
  for (int i = 0; i < 2; ++i) {
    A a;
    memcpy(&a, call.data(0) + 2 * i, 2);
    sum += uint32_t(a * B(call.data(1)[first + i]));
  }
  call.set(sum);
}

//--- Bits ---------------------------------------------------------------------

/// Bytes are numbered through a, then b; the top bit of a selector asks for the
/// byte's sign instead.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t selector = selectors >> (4 * i) & 15;
    auto byte = uint8_t(bytes >> (8 * (selector & 7)));
    if (selector & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= uint32_t(byte) << (8 * i);
  }
  return result;
}

void permuteBytes(const Call &call) {
  call.set(permute(call.get<uint32_t>(0), call.get<uint32_t>(1),
                   call.get<uint32_t>(2)));
}

/// The modes: a table of selectors for each value of the last operand.
constexpr uint16_t forward4[] = {0x3210, 0x4321, 0x5432, 0x6543};
constexpr uint16_t backward4[] = {0x5670, 0x6701, 0x7012, 0x0123};
constexpr uint16_t replicate8[] = {0x0000, 0x1111, 0x2222, 0x3333};
constexpr uint16_t clampLeft[] = {0x3210, 0x3211, 0x3222, 0x3333};
constexpr uint16_t clampRight[] = {0x0000, 0x1110, 0x2210, 0x3210};
constexpr uint16_t replicate16[] = {0x1010, 0x3232, 0x1010, 0x3232};

template <const uint16_t (&mode)[4]> void permuteTwo(const Call &call) {
  call.set(permute(call.get<uint32_t>(0), call.get<uint32_t>(1),
                   mode[call.get<uint32_t>(2) & 3]));
}
template <const uint16_t (&mode)[4]> void permuteOne(const Call &call) {
  call.set(permute(call.get<uint32_t>(0), 0, mode[call.get<uint32_t>(1) & 3]));
}

/// `bits` ones from bit `start` up, none beyond the last.
template <bool clamp> void bitMask(const Call &call) {
  uint32_t start = call.get<uint32_t>(0), bits = call.get<uint32_t>(1);
  if (!clamp) {
    start &= 31;
    bits &= 31;
  }
  uint64_t end = uint64_t(start) + bits;
  uint32_t below = start >= 32 ? ~0U : (1U << start) - 1;
  uint32_t belowEnd = end >= 32 ? ~0U : (1U << end) - 1;
  call.set(belowEnd & ~below);
}

/// Sign-extends the low bits; the second operand is their number.
template <bool isSigned, bool clamp> void extend(const Call &call) {
  uint32_t value = call.get<uint32_t>(0), bits = call.get<uint32_t>(1);
  bits = clamp ? (bits > 32 ? 32 : bits) : bits & 31;
  if (bits == 0)
    return call.set<uint32_t>(0);
  uint32_t shift = 32 - bits;
  call.set(isSigned ? uint32_t(int32_t(value << shift) >> shift)
                    : value << shift >> shift);
}

/// bfind: the highest bit that is not a copy of the sign, or how far it is from
/// the top.
template <class Type> void findLeading(const Call &call) {
  auto value = call.get<Type>(0);
  constexpr int width = 8 * sizeof(Type);
  uint64_t bits = uint64_t(int64_t(value < 0 ? ~value : value));
  if (bits == 0)
    return call.set<uint32_t>(~0U);
  int position = 63 - __builtin_clzll(bits);
  call.set(
      uint32_t(call.get<uint8_t>(1) & 1 ? width - 1 - position : position));
}

/// bfind.shiftamt, of an unsigned integer.
void findShiftAmount(const Call &call) {
  auto value = call.get<uint32_t>(0);
  call.set(value ? uint32_t(__builtin_clz(value)) : ~0U);
}

/// The n-th set bit from `base` up, or down where n is negative.
void findNthSet(const Call &call) {
  uint32_t mask = call.get<uint32_t>(0), base = call.get<uint32_t>(1);
  int64_t n = call.get<int32_t>(2);
  if (base > 31)
    return call.set<uint32_t>(~0U);
  if (n == 0)
    return call.set<uint32_t>(mask >> base & 1 ? base : ~0U);
  int step = n > 0 ? 1 : -1;
  int64_t left = n > 0 ? n : -n;
  for (int position = int(base); position >= 0 && position < 32;
       position += step)
    if (mask >> position & 1 && --left == 0)
      return call.set(uint32_t(position));
  call.set<uint32_t>(~0U);
}

/// The first operand is the upper half of what is shifted, by 32 at most.
template <bool left> void funnelShift(const Call &call) {
  uint64_t both = uint64_t(call.get<uint32_t>(0)) << 32 | call.get<uint32_t>(1);
  uint32_t bits = call.get<uint32_t>(2);
  bits = bits > 32 ? 32 : bits;
  call.set(uint32_t(left ? both >> (32 - bits) : both >> bits));
}

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Integer Arithmetic Instructions: " section "\""
#define SMALTI_BITS(section)                                                   \
  "PTX ISA, \"Logic and Shift Instructions: " section "\""
#define SMALTI_PRMT                                                            \
  "PTX ISA, \"Data Movement and Conversion Instructions: prmt\""
// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.nvvm.mulhi.s", multiplyHigh<int16_t, int32_t>, nullptr, SMALTI_PTX("mul")},
    {"llvm.nvvm.mulhi.us", multiplyHigh<uint16_t, uint32_t>, nullptr, SMALTI_PTX("mul")},
    {"llvm.nvvm.mulhi.i", multiplyHigh<int32_t, int64_t>, nullptr, SMALTI_PTX("mul")},
    {"llvm.nvvm.mulhi.ui", multiplyHigh<uint32_t, uint64_t>, nullptr, SMALTI_PTX("mul")},
    {"llvm.nvvm.mulhi.ll", multiplyHigh<int64_t, __int128>, nullptr, SMALTI_PTX("mul")},
    {"llvm.nvvm.mulhi.ull", multiplyHigh<uint64_t, unsigned __int128>, nullptr, SMALTI_PTX("mul")},
    {"llvm.nvvm.mul24.i", multiply24, nullptr, SMALTI_PTX("mul24")},
    {"llvm.nvvm.mul24.ui", multiplyUnsigned24, nullptr, SMALTI_PTX("mul24")},
    {"llvm.nvvm.sad.s", sumOfDifferences<int16_t, uint16_t>, nullptr, SMALTI_PTX("sad")},
    {"llvm.nvvm.sad.us", sumOfDifferences<uint16_t, uint16_t>, nullptr, SMALTI_PTX("sad")},
    {"llvm.nvvm.sad.i", sumOfDifferences<int32_t, uint32_t>, nullptr, SMALTI_PTX("sad")},
    {"llvm.nvvm.sad.ui", sumOfDifferences<uint32_t, uint32_t>, nullptr, SMALTI_PTX("sad")},
    {"llvm.nvvm.sad.ll", sumOfDifferences<int64_t, uint64_t>, nullptr, SMALTI_PTX("sad")},
    {"llvm.nvvm.sad.ull", sumOfDifferences<uint64_t, uint64_t>, nullptr, SMALTI_PTX("sad")},
    {"llvm.nvvm.idp4a.s.s", dotProduct4<int8_t, int8_t>, nullptr, SMALTI_PTX("dp4a")},
    {"llvm.nvvm.idp4a.s.u", dotProduct4<int8_t, uint8_t>, nullptr, SMALTI_PTX("dp4a")},
    {"llvm.nvvm.idp4a.u.s", dotProduct4<uint8_t, int8_t>, nullptr, SMALTI_PTX("dp4a")},
    {"llvm.nvvm.idp4a.u.u", dotProduct4<uint8_t, uint8_t>, nullptr, SMALTI_PTX("dp4a")},
    {"llvm.nvvm.idp2a.s.s", dotProduct2<int16_t, int8_t>, nullptr, SMALTI_PTX("dp2a")},
    {"llvm.nvvm.idp2a.s.u", dotProduct2<int16_t, uint8_t>, nullptr, SMALTI_PTX("dp2a")},
    {"llvm.nvvm.idp2a.u.s", dotProduct2<uint16_t, int8_t>, nullptr, SMALTI_PTX("dp2a")},
    {"llvm.nvvm.idp2a.u.u", dotProduct2<uint16_t, uint8_t>, nullptr, SMALTI_PTX("dp2a")},
    {"llvm.nvvm.prmt", permuteBytes, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32", permuteBytes, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.prmt.f4e", permuteTwo<forward4>, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.prmt.b4e", permuteTwo<backward4>, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.prmt.rc8", permuteOne<replicate8>, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.prmt.ecl", permuteOne<clampLeft>, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.prmt.ecr", permuteOne<clampRight>, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.prmt.rc16", permuteOne<replicate16>, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32.f4e", permuteTwo<forward4>, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32.b4e", permuteTwo<backward4>, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32.rc8", permuteTwo<replicate8>, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32.ecl", permuteTwo<clampLeft>, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32.ecr", permuteTwo<clampRight>, nullptr, SMALTI_PRMT},
    {"asm:prmt.b32.rc16", permuteTwo<replicate16>, nullptr, SMALTI_PRMT},
    {"llvm.nvvm.bmsk.clamp", bitMask<true>, nullptr, SMALTI_PTX("bmsk")},
    {"llvm.nvvm.bmsk.wrap", bitMask<false>, nullptr, SMALTI_PTX("bmsk")},
    {"llvm.nvvm.sext.clamp", extend<true, true>, nullptr, SMALTI_PTX("szext")},
    {"llvm.nvvm.sext.wrap", extend<true, false>, nullptr, SMALTI_PTX("szext")},
    {"llvm.nvvm.zext.clamp", extend<false, true>, nullptr, SMALTI_PTX("szext")},
    {"llvm.nvvm.zext.wrap", extend<false, false>, nullptr, SMALTI_PTX("szext")},
    {"llvm.nvvm.flo.s.i32", findLeading<int32_t>, nullptr, SMALTI_PTX("bfind")},
    {"llvm.nvvm.flo.s.i64", findLeading<int64_t>, nullptr, SMALTI_PTX("bfind")},
    {"llvm.nvvm.flo.u.i32", findLeading<uint32_t>, nullptr, SMALTI_PTX("bfind")},
    {"llvm.nvvm.flo.u.i64", findLeading<uint64_t>, nullptr, SMALTI_PTX("bfind")},
    {"asm:bfind.shiftamt.u32", findShiftAmount, nullptr, SMALTI_PTX("bfind")},
    {"llvm.nvvm.fns", findNthSet, nullptr, SMALTI_PTX("fns")},
    {"llvm.nvvm.fshl.clamp.i32", funnelShift<true>, nullptr, SMALTI_BITS("shf")},
    {"llvm.nvvm.fshr.clamp.i32", funnelShift<false>, nullptr, SMALTI_BITS("shf")},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaIntegers = table;
