//===- Lanes.cpp - Exchange between the lanes of a wave, of AMD -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Numbers.h"

#include <algorithm>
#include <cmath>

using namespace smalti::emulator;

namespace {

int firstLane(const Wave &wave) { return __builtin_ctzll(wave.active); }

void copyOperand(const Call &to, const Call &from, int operand) {
  memcpy(to.result, from.data(operand), to.resultBytes());
}

void copyOperand(const Wave &wave, int lane, int source, int operand) {
  copyOperand(wave.lanes[lane], wave.lanes[source], operand);
}

/// The hardware would read what an earlier instruction left there.
void checkActive(const Wave &wave, int lane, int source) {
  if (!wave.isActive(source))
    failLane(wave.lanes[lane], lane,
             "read from lane %d, which is inactive; the hardware returns a "
             "stale register value",
             source);
}

void setZero(const Call &call) { memset(call.result, 0, call.resultBytes()); }

//===----------------------------------------------------------------------===//
// One lane to all
//===----------------------------------------------------------------------===//

void readFirstLane(const Wave &wave) {
  wave.forEach([&](int lane, const Call &) {
    copyOperand(wave, lane, firstLane(wave), 0);
  });
}

void readLane(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int source = call.get<int32_t>(1) & (wave.size - 1);
    checkActive(wave, lane, source);
    copyOperand(wave, lane, source, 0);
  });
}

/// Operands value, lane, old value.
void writeLane(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    bool isWritten = lane == (call.get<int32_t>(1) & (wave.size - 1));
    copyOperand(call, call, isWritten ? 0 : 2);
  });
}

//===----------------------------------------------------------------------===//
// Through the LDS's crossbar
//===----------------------------------------------------------------------===//

/// Operands four times the lane, value. Inactive lanes give 0.
void gatherFromLanes(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int source = int(call.get<uint32_t>(0) / 4) & (wave.size - 1);
    if (wave.isActive(source))
      copyOperand(wave, lane, source, 1);
    else
      setZero(call);
  });
}

void gatherFromAnyLanes(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int source = int(call.get<uint32_t>(0) / 4) & (wave.size - 1);
    checkActive(wave, lane, source);
    copyOperand(wave, lane, source, 1);
  });
}

/// The highest lane that sends to another wins.
void scatterToLanes(const Wave &wave) {
  wave.forEach([](int, const Call &call) { setZero(call); });
  wave.forEach([&](int, const Call &call) {
    int to = int(call.get<uint32_t>(0) / 4) & (wave.size - 1);
    if (wave.isActive(to))
      copyOperand(wave.lanes[to], call, 1);
  });
}

int swizzledLane(int lane, uint32_t pattern) {
  int group = lane & ~31, i = lane & 31;
  if (pattern >= 0xe000) {
    // The order of a fast Fourier transform.
    int mask = int(pattern & 31), reversed = 0;
    for (int bit = 0; bit < 5; ++bit)
      reversed |= (i >> bit & 1) << (4 - bit);
    return group | reversed >> __builtin_popcount(mask) | (i & mask);
  }
  if (pattern >= 0xc000) {
    int mask = int(pattern & 31), rotation = int(pattern >> 5 & 31);
    if (pattern >> 10 & 1)
      rotation = -rotation;
    return group | (i & mask) | ((i + rotation) & ~mask & 31);
  }
  if (pattern >> 15 & 1)
    return (lane & ~3) | int(pattern >> (2 * (lane & 3)) & 3);
  int andMask = int(pattern & 31), orMask = int(pattern >> 5 & 31),
      xorMask = int(pattern >> 10 & 31);
  return group | (((i & andMask) | orMask) ^ xorMask);
}

void swizzle(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int source = swizzledLane(lane, call.get<uint32_t>(1) & 0xffff);
    if (wave.isActive(source))
      copyOperand(wave, lane, source, 0);
    else
      setZero(call);
  });
}

//===----------------------------------------------------------------------===//
// Data parallel primitives
//===----------------------------------------------------------------------===//

/// The lane that `lane` reads, or -1 where it is outside its row or the wave.
int dppLane(const Call &call, int lane, uint32_t control, int size) {
  int row = lane & ~15, i = lane & 15, n = int(control & 15);
  if (control <= 0xff)
    return (lane & ~3) | int(control >> (2 * (lane & 3)) & 3);
  switch (control & 0x1f0) {
  case 0x100:
    return i + n < 16 ? lane + n : -1;
  case 0x110:
    return i - n >= 0 ? lane - n : -1;
  case 0x120:
    return row | ((i - n) & 15);
  case 0x150:
    return row | n;
  case 0x160:
    return lane ^ n;
  }
  switch (control) {
  case 0x130:
    return lane + 1 < size ? lane + 1 : -1;
  case 0x134:
    return (lane + 1) % size;
  case 0x138:
    return lane - 1;
  case 0x13c:
    return (lane + size - 1) % size;
  case 0x140:
    return row | (15 - i);
  case 0x141:
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142:
    // The last lane of a row to the next row.
    return row - 1;
  case 0x143:
    return lane < 32 ? -1 : 31;
  }
  failLane(call, lane,
           "DPP control 0x%x is reserved by the ISA; use a defined control",
           control);
}

/// Operands [old value,] value, control, row mask, bank mask, bound control.
template <int value> void moveDPP(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    auto control = call.get<uint32_t>(value + 1),
         rows = call.get<uint32_t>(value + 2),
         banks = call.get<uint32_t>(value + 3);
    bool zeroes = call.get<uint8_t>(value + 4);
    bool isEnabled = (rows >> (lane / 16) & 1) && (banks >> (lane / 4 % 4) & 1);
    int source = dppLane(call, lane, control, wave.size);
    if (isEnabled && source >= 0 && wave.isActive(source))
      return copyOperand(wave, lane, source, value);
    // Without an old value, the content of the register is undefined.
    if (value == 0 || (isEnabled && zeroes))
      return setZero(call);
    copyOperand(call, call, 0);
  });
}

void moveDPP8(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int select = int(call.get<uint32_t>(1) >> (3 * (lane & 7)) & 7);
    int source = (lane & ~7) | select;
    if (wave.isActive(source))
      copyOperand(wave, lane, source, 0);
    else
      setZero(call);
  });
}

/// Operands old value, value, selectors, whether inactive lanes are read,
/// whether they are 0 otherwise.
template <bool fromOtherRow, bool selectorOfLane>
void permuteRow(const Wave &wave) {
  constexpr int fetch = selectorOfLane ? 3 : 4;
  wave.forEach([&](int lane, const Call &call) {
    int i = lane & 15;
    uint64_t selectors = call.get<uint32_t>(2);
    int select;
    if (selectorOfLane)
      select = int(selectors & 15);
    else
      select =
          int(((uint64_t(call.get<uint32_t>(3)) << 32 | selectors) >> (4 * i)) &
              15);
    int source = ((lane & ~15) ^ (fromOtherRow ? 16 : 0)) | select;
    if (wave.isActive(source))
      return copyOperand(wave, lane, source, 1);
    if (call.get<uint8_t>(fetch))
      checkActive(wave, lane, source);
    if (call.get<uint8_t>(fetch + 1))
      return setZero(call);
    copyOperand(call, call, 0);
  });
}

/// In a wave of 32 nothing moves.
void swapHalves(const Wave &wave) {
  wave.forEach([&](int lane, const Call &) {
    int source = wave.size == 64 ? lane ^ 32 : lane;
    checkActive(wave, lane, source);
    copyOperand(wave, lane, source, 0);
  });
}

/// Lanes of the upper half of each 2 * `width` of the first operand change
/// places with those of the lower half of the second.
template <int width> void swapRows(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int other = lane ^ width;
    bool isUpper = lane & width;
    checkActive(wave, lane, other);
    uint32_t result[2];
    result[0] =
        isUpper ? wave.lanes[other].get<uint32_t>(1) : call.get<uint32_t>(0);
    result[1] =
        isUpper ? call.get<uint32_t>(1) : wave.lanes[other].get<uint32_t>(0);
    call.set(result);
  });
}

void shuffle(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int source = call.get<int32_t>(1) & (wave.size - 1);
    checkActive(wave, lane, source);
    copyOperand(wave, lane, source, 0);
  });
}

//===----------------------------------------------------------------------===//
// Votes
//===----------------------------------------------------------------------===//

/// One bit for each active lane for which `holds` is true.
template <class Holds> void vote(const Wave &wave, Holds holds) {
  uint64_t mask = 0;
  wave.forEach([&](int lane, const Call &call) {
    mask |= uint64_t(holds(call)) << lane;
  });
  wave.forEach([&](int, const Call &call) {
    memcpy(call.result, &mask, std::min<size_t>(call.resultBytes(), 8));
  });
}

void ballot(const Wave &wave) {
  vote(wave, [](const Call &call) { return call.get<uint8_t>(0) & 1; });
}

uint64_t integer(const Call &call, int operand, bool isSigned) {
  uint64_t value = 0;
  uint32_t bytes = call.bytes(operand);
  memcpy(&value, call.data(operand), bytes);
  if (isSigned && bytes < 8)
    value = uint64_t(int64_t(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  return value;
}

/// LLVM's numbers of the predicates.
bool compareIntegers(const Call &call) {
  auto predicate = call.get<int32_t>(2);
  bool isSigned = predicate >= 38;
  uint64_t a = integer(call, 0, isSigned), b = integer(call, 1, isSigned);
  if (isSigned) {
    // The order of signed numbers, for unsigned ones.
    a ^= uint64_t(1) << 63;
    b ^= uint64_t(1) << 63;
  }
  switch (predicate) {
  case 32:
    return a == b;
  case 33:
    return a != b;
  case 34:
  case 38:
    return a > b;
  case 35:
  case 39:
    return a >= b;
  case 36:
  case 40:
    return a < b;
  case 37:
  case 41:
    return a <= b;
  }
  return false;
}

double floatOf(const Call &call, int operand) {
  switch (call.bytes(operand)) {
  case 2:
    return double(call.get<_Float16>(operand));
  case 4:
    return call.get<float>(operand);
  }
  return call.get<double>(operand);
}

/// The bits of the predicate are: equal, greater, less, unordered.
bool compareFloats(const Call &call) {
  auto predicate = call.get<int32_t>(2);
  double a = floatOf(call, 0), b = floatOf(call, 1);
  int relation = std::isnan(a) || std::isnan(b) ? 8 : a < b ? 4 : a > b ? 2 : 1;
  return predicate & relation;
}

void voteIntegers(const Wave &wave) { vote(wave, compareIntegers); }
void voteFloats(const Wave &wave) { vote(wave, compareFloats); }

void bitOfLane(const Call &call) {
  call.set<uint8_t>(integer(call, 0, false) >> laneId() & 1);
}

void anyOfQuad(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    bool any = false;
    for (int i = lane & ~3; i < (lane & ~3) + 4; ++i)
      any |= wave.isActive(i) && (wave.lanes[i].get<uint8_t>(0) & 1);
    call.set<uint8_t>(any);
  });
}

void doubleBits(const Call &call) {
  auto value = call.get<uint32_t>(0);
  uint64_t result = 0;
  for (int i = 0; i < 32; ++i)
    result |= uint64_t(value >> i & 1 ? 3 : 0) << (2 * i);
  call.set(result);
}

/// One bit for four, or all four of them.
template <bool spread> void quads(const Call &call) {
  uint64_t value = integer(call, 0, false), result = 0;
  for (int i = 0; i < 16; ++i)
    if (value >> (4 * i) & 15)
      result |= spread ? uint64_t(15) << (4 * i) : uint64_t(1) << i;
  memcpy(call.result, &result, call.resultBytes());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <class Integer> struct Min {
  static Integer apply(Integer a, Integer b) { return std::min(a, b); }
};
template <class Integer> struct Max {
  static Integer apply(Integer a, Integer b) { return std::max(a, b); }
};
template <class Number> struct Add {
  static Number apply(Number a, Number b) { return Number(a + b); }
};
template <class Integer> struct And {
  static Integer apply(Integer a, Integer b) { return a & b; }
};
template <class Integer> struct Or {
  static Integer apply(Integer a, Integer b) { return a | b; }
};
template <class Integer> struct Xor {
  static Integer apply(Integer a, Integer b) { return a ^ b; }
};
/// A NaN loses against a number.
template <class Float> struct MinNumber {
  static Float apply(Float a, Float b) { return std::fmin(a, b); }
};
template <class Float> struct MaxNumber {
  static Float apply(Float a, Float b) { return std::fmax(a, b); }
};

/// In the order of the lanes.
template <class Number, template <class> class Operation, bool negate = false>
void reduce(const Wave &wave) {
  auto result = wave.lanes[firstLane(wave)].get<Number>(0);
  bool isFirst = true;
  wave.forEach([&](int, const Call &call) {
    if (!isFirst)
      result = Operation<Number>::apply(result, call.get<Number>(0));
    isFirst = false;
  });
  if (negate)
    result = Number(-result);
  wave.forEach([&](int, const Call &call) { call.set(result); });
}

//===----------------------------------------------------------------------===//
// Whole waves and quads
//===----------------------------------------------------------------------===//

/// All lanes are active, so whole-wave mode does not enable more lanes.
void copyValue(const Wave &wave) {
  wave.forEach([](int, const Call &call) { copyOperand(call, call, 0); });
}

void copyValueOfThread(const Call &call) { copyOperand(call, call, 0); }

void isLive(const Call &call) { call.set<uint8_t>(1); }

constexpr char vop3[] = "CDNA3 ISA, \"VOP3A and VOP3B Instructions\" and "
                        "\"VOP1 Instructions\": V_READFIRSTLANE_B32, "
                        "V_READLANE_B32, V_WRITELANE_B32";
constexpr char ds[] = "CDNA3 ISA, \"LDS & GDS Instructions\": DS_SWIZZLE_B32, "
                      "DS_PERMUTE_B32, DS_BPERMUTE_B32";
constexpr char dpp[] = "CDNA3 ISA, \"Data Parallel Processing (DPP)\"; RDNA3 "
                       "ISA, \"Data Parallel Processing (DPP)\"";
constexpr char permlane[] = "RDNA3 ISA, \"VOP3 Instructions\": "
                            "V_PERMLANE16_B32, V_PERMLANEX16_B32, "
                            "V_PERMLANE64_B32; RDNA4 ISA, the same with _VAR";
constexpr char swap[] = "CDNA4 ISA, \"VOP1 Instructions\": "
                        "V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32";
constexpr char intrinsic[] = "LLVM, \"User Guide for AMDGPU Backend: LLVM IR "
                             "Intrinsics\" and IntrinsicsAMDGPU.td";
constexpr char scalar[] = "CDNA3 ISA, \"SOP1 Instructions\": "
                          "S_BITREPLICATE_B64_B32, S_QUADMASK, S_WQM";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.readfirstlane.*", nullptr, readFirstLane, vop3},
    {"llvm.amdgcn.readlane.*", nullptr, readLane, vop3},
    {"llvm.amdgcn.writelane.*", nullptr, writeLane, vop3},
    {"llvm.amdgcn.ds.bpermute", nullptr, gatherFromLanes, ds},
    {"llvm.amdgcn.ds.bpermute.fi.b32", nullptr, gatherFromAnyLanes, intrinsic},
    {"llvm.amdgcn.ds.permute", nullptr, scatterToLanes, ds},
    {"llvm.amdgcn.ds.swizzle", nullptr, swizzle, ds},
    {"llvm.amdgcn.mov.dpp.*", nullptr, moveDPP<0>, dpp},
    {"llvm.amdgcn.update.dpp.*", nullptr, moveDPP<1>, dpp},
    {"llvm.amdgcn.mov.dpp8.*", nullptr, moveDPP8, dpp},
    {"llvm.amdgcn.permlane16.[ivbpf][0-9f]*", nullptr, permuteRow<false, false>, permlane},
    {"llvm.amdgcn.permlanex16.[ivbpf][0-9f]*", nullptr, permuteRow<true, false>, permlane},
    {"llvm.amdgcn.permlane16.var", nullptr, permuteRow<false, true>, permlane},
    {"llvm.amdgcn.permlanex16.var", nullptr, permuteRow<true, true>, permlane},
    {"llvm.amdgcn.permlane64.*", nullptr, swapHalves, permlane},
    {"llvm.amdgcn.permlane16.swap", nullptr, swapRows<16>, swap},
    {"llvm.amdgcn.permlane32.swap", nullptr, swapRows<32>, swap},
    {"llvm.amdgcn.wave.shuffle.*", nullptr, shuffle, intrinsic},
    // Votes
    {"llvm.amdgcn.ballot.*", nullptr, ballot, intrinsic},
    {"llvm.amdgcn.icmp.*", nullptr, voteIntegers, intrinsic},
    {"llvm.amdgcn.fcmp.*", nullptr, voteFloats, intrinsic},
    {"llvm.amdgcn.inverse.ballot.*", bitOfLane, nullptr, intrinsic},
    {"llvm.amdgcn.wqm.vote", nullptr, anyOfQuad, intrinsic},
    {"llvm.amdgcn.s.bitreplicate", doubleBits, nullptr, scalar},
    {"llvm.amdgcn.s.quadmask.*", quads<false>, nullptr, scalar},
    {"llvm.amdgcn.s.wqm.*", quads<true>, nullptr, scalar},
    // Reductions
    {"llvm.amdgcn.wave.reduce.umin.i32", nullptr, reduce<uint32_t, Min>, intrinsic},
    {"llvm.amdgcn.wave.reduce.umin.i64", nullptr, reduce<uint64_t, Min>, intrinsic},
    {"llvm.amdgcn.wave.reduce.min.i32", nullptr, reduce<int32_t, Min>, intrinsic},
    {"llvm.amdgcn.wave.reduce.min.i64", nullptr, reduce<int64_t, Min>, intrinsic},
    {"llvm.amdgcn.wave.reduce.umax.i32", nullptr, reduce<uint32_t, Max>, intrinsic},
    {"llvm.amdgcn.wave.reduce.umax.i64", nullptr, reduce<uint64_t, Max>, intrinsic},
    {"llvm.amdgcn.wave.reduce.max.i32", nullptr, reduce<int32_t, Max>, intrinsic},
    {"llvm.amdgcn.wave.reduce.max.i64", nullptr, reduce<int64_t, Max>, intrinsic},
    {"llvm.amdgcn.wave.reduce.add.i32", nullptr, reduce<uint32_t, Add>, intrinsic},
    {"llvm.amdgcn.wave.reduce.add.i64", nullptr, reduce<uint64_t, Add>, intrinsic},
    {"llvm.amdgcn.wave.reduce.sub.i32", nullptr, reduce<uint32_t, Add, true>, intrinsic},
    {"llvm.amdgcn.wave.reduce.sub.i64", nullptr, reduce<uint64_t, Add, true>, intrinsic},
    {"llvm.amdgcn.wave.reduce.and.i32", nullptr, reduce<uint32_t, And>, intrinsic},
    {"llvm.amdgcn.wave.reduce.and.i64", nullptr, reduce<uint64_t, And>, intrinsic},
    {"llvm.amdgcn.wave.reduce.or.i32", nullptr, reduce<uint32_t, Or>, intrinsic},
    {"llvm.amdgcn.wave.reduce.or.i64", nullptr, reduce<uint64_t, Or>, intrinsic},
    {"llvm.amdgcn.wave.reduce.xor.i32", nullptr, reduce<uint32_t, Xor>, intrinsic},
    {"llvm.amdgcn.wave.reduce.xor.i64", nullptr, reduce<uint64_t, Xor>, intrinsic},
    {"llvm.amdgcn.wave.reduce.fmin.f32", nullptr, reduce<float, MinNumber>, intrinsic},
    {"llvm.amdgcn.wave.reduce.fmax.f32", nullptr, reduce<float, MaxNumber>, intrinsic},
    {"llvm.amdgcn.wave.reduce.fadd.f32", nullptr, reduce<float, Add>, intrinsic},
    {"llvm.amdgcn.wave.reduce.fsub.f32", nullptr, reduce<float, Add, true>, intrinsic},
    // Whole waves and quads: an instruction after them cannot be run for lanes that are off
    {"llvm.amdgcn.set.inactive.*", nullptr, copyValue, intrinsic, nullptr, nullptr, true},
    {"llvm.amdgcn.strict.wwm.*", nullptr, copyValue, intrinsic},
    {"llvm.amdgcn.wwm.*", nullptr, copyValue, intrinsic},
    {"llvm.amdgcn.strict.wqm.*", nullptr, copyValue, intrinsic},
    {"llvm.amdgcn.wqm.*", copyValueOfThread, nullptr, intrinsic},
    {"llvm.amdgcn.softwqm.*", copyValueOfThread, nullptr, intrinsic},
    {"llvm.amdgcn.live.mask", isLive, nullptr, intrinsic},
    {"llvm.amdgcn.ps.live", isLive, nullptr, intrinsic},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdLanes = table;
