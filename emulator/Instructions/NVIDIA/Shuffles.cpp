//===- Shuffles.cpp - Exchanges between the lanes of a warp ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Warp.h"

#include <cmath>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

/// The value from an inactive lane: undefined, a NaN here.
constexpr uint32_t undefined = 0xffffffff;

/// Fields of a struct result follow one another without gaps.
void setPair(const Call &call, uint32_t value, bool predicate) {
  call.set<uint32_t>(value);
  static_cast<char *>(call.result)[4] = predicate;
}

//--- shfl.sync ----------------------------------------------------------------

enum class Shuffle { Up, Down, Butterfly, Index };

/// The pseudocode of the document.
template <Shuffle mode, bool withPredicate> void shuffle(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    int b = call.get<int32_t>(2) & 31, c = call.get<int32_t>(3);
    int clamp = c & 31, segmentMask = c >> 8 & 31;
    int minLane = lane & segmentMask;
    int maxLane = minLane | (clamp & ~segmentMask);
    int from;
    bool inRange;
    switch (mode) {
    case Shuffle::Up:
      from = lane - b;
      inRange = from >= maxLane;
      break;
    case Shuffle::Down:
      from = lane + b;
      inRange = from <= maxLane;
      break;
    case Shuffle::Butterfly:
      from = lane ^ b;
      inRange = from <= maxLane;
      break;
    case Shuffle::Index:
      from = minLane | (b & ~segmentMask);
      inRange = from <= maxLane;
      break;
    }
    if (!inRange)
      from = lane;
    uint32_t value =
        wave.isActive(from) ? wave.lanes[from].get<uint32_t>(1) : undefined;
    if (withPredicate)
      setPair(call, value, inRange);
    else
      call.set(value);
  });
}

//--- vote.sync, match.sync, elect.sync, activemask ----------------------------

uint32_t ballotOf(const Wave &wave) {
  uint32_t ballot = 0;
  wave.forEach([&](int lane, const Call &call) {
    if (call.get<uint8_t>(1) & 1)
      ballot |= uint32_t(1) << lane;
  });
  return ballot;
}

void ballot(const Wave &wave) {
  uint32_t bits = ballotOf(wave);
  wave.forEach([&](int, const Call &call) { call.set(bits); });
}

template <bool all, bool none> void vote(const Wave &wave) {
  uint32_t bits = ballotOf(wave);
  bool result = (all && bits == uint32_t(wave.active)) || (none && bits == 0);
  wave.forEach([&](int, const Call &call) { call.set<uint8_t>(result); });
}

void voteAny(const Wave &wave) {
  bool result = ballotOf(wave) != 0;
  wave.forEach([&](int, const Call &call) { call.set<uint8_t>(result); });
}

template <class Value> void matchAny(const Wave &wave) {
  wave.forEach([&](int, const Call &call) {
    uint32_t same = 0;
    wave.forEach([&](int other, const Call &otherCall) {
      if (otherCall.get<Value>(1) == call.get<Value>(1))
        same |= uint32_t(1) << other;
    });
    call.set(same);
  });
}

template <class Value> void matchAll(const Wave &wave) {
  Value first = wave.lanes[__builtin_ctzll(wave.active)].get<Value>(1);
  bool same = true;
  wave.forEach([&](int, const Call &call) {
    same = same && call.get<Value>(1) == first;
  });
  wave.forEach([&](int, const Call &call) {
    setPair(call, same ? uint32_t(wave.active) : 0, same);
  });
}

/// Any of the lanes may be elected: here it is the first.
void elect(const Wave &wave) {
  int leader = __builtin_ctzll(wave.active);
  wave.forEach([&](int lane, const Call &call) {
    setPair(call, uint32_t(leader), lane == leader);
  });
}

void activeMask(const Wave &wave) {
  wave.forEach([&](int, const Call &call) { call.set(uint32_t(wave.active)); });
}

//--- redux.sync ---------------------------------------------------------------

uint64_t reductionMembers(const Call &call) { return call.get<uint32_t>(1); }

template <class Value, Value (*combine)(Value, Value)>
void reduce(const Wave &wave) {
  int first = __builtin_ctzll(wave.active);
  auto result = wave.lanes[first].get<Value>(0);
  wave.forEach([&](int lane, const Call &call) {
    if (lane != first)
      result = combine(result, call.get<Value>(0));
  });
  wave.forEach([&](int, const Call &call) { call.set(result); });
}

template <class Value> Value smaller(Value a, Value b) { return b < a ? b : a; }
template <class Value> Value larger(Value a, Value b) { return a < b ? b : a; }
uint32_t add(uint32_t a, uint32_t b) { return a + b; }
uint32_t bitAnd(uint32_t a, uint32_t b) { return a & b; }
uint32_t bitOr(uint32_t a, uint32_t b) { return a | b; }
uint32_t bitXor(uint32_t a, uint32_t b) { return a ^ b; }

/// Of floats, where -0 is below +0. Without `.NaN` the NaNs are passed over,
/// and with it one of them makes the result NaN; NaN results are 0x7fffffff.
template <bool isMax, bool absolute, bool keepsNaN>
void reduceFloats(const Wave &wave) {
  bool hasNaN = false, hasNumber = false;
  float result = 0;
  wave.forEach([&](int, const Call &call) {
    auto value = call.get<float>(0);
    if (absolute)
      value = std::fabs(value);
    if (std::isnan(value)) {
      hasNaN = true;
      return;
    }
    bool isBelow = value < result || (value == result && std::signbit(value) &&
                                      !std::signbit(result));
    bool isAbove = value > result || (value == result && !std::signbit(value) &&
                                      std::signbit(result));
    if (!hasNumber || (isMax ? isAbove : isBelow))
      result = value;
    hasNumber = true;
  });
  bool isNaN = !hasNumber || (keepsNaN && hasNaN);
  wave.forEach([&](int, const Call &call) {
    if (isNaN)
      call.set<uint32_t>(0x7fffffff);
    else
      call.set(result);
  });
}

#define SMALTI_PTX(section) "PTX ISA, \"" section "\""
// clang-format off: one line an instruction
#define SMALTI_SHUFFLE(name, mode) \
    {"llvm.nvvm.shfl.sync." name ".i32", nullptr, shuffle<mode, false>, SMALTI_PTX("shfl.sync"), members}, \
    {"llvm.nvvm.shfl.sync." name ".f32", nullptr, shuffle<mode, false>, SMALTI_PTX("shfl.sync"), members}, \
    {"llvm.nvvm.shfl.sync." name ".i32p", nullptr, shuffle<mode, true>, SMALTI_PTX("shfl.sync"), members}, \
    {"llvm.nvvm.shfl.sync." name ".f32p", nullptr, shuffle<mode, true>, SMALTI_PTX("shfl.sync"), members},
#define SMALTI_REDUX(name, ...) \
    {"llvm.nvvm.redux.sync." name, nullptr, __VA_ARGS__, SMALTI_PTX("redux.sync"), reductionMembers},
constexpr Instruction table[] = {
    SMALTI_SHUFFLE("up", Shuffle::Up)
    SMALTI_SHUFFLE("down", Shuffle::Down)
    SMALTI_SHUFFLE("bfly", Shuffle::Butterfly)
    SMALTI_SHUFFLE("idx", Shuffle::Index)
    {"llvm.nvvm.vote.all.sync", nullptr, vote<true, false>, SMALTI_PTX("vote.sync"), members},
    {"llvm.nvvm.vote.any.sync", nullptr, voteAny, SMALTI_PTX("vote.sync"), members},
    {"llvm.nvvm.vote.uni.sync", nullptr, vote<true, true>, SMALTI_PTX("vote.sync"), members},
    {"llvm.nvvm.vote.ballot.sync", nullptr, ballot, SMALTI_PTX("vote.sync"), members},
    {"llvm.nvvm.match.any.sync.i32", nullptr, matchAny<uint32_t>, SMALTI_PTX("match.sync"), members},
    {"llvm.nvvm.match.any.sync.i64", nullptr, matchAny<uint64_t>, SMALTI_PTX("match.sync"), members},
    {"llvm.nvvm.match.all.sync.i32p", nullptr, matchAll<uint32_t>, SMALTI_PTX("match.sync"), members},
    {"llvm.nvvm.match.all.sync.i64p", nullptr, matchAll<uint64_t>, SMALTI_PTX("match.sync"), members},
    {"llvm.nvvm.elect.sync", nullptr, elect, SMALTI_PTX("elect.sync"), members},
    {"asm:elect.sync", nullptr, elect, SMALTI_PTX("elect.sync"), members},
    {"llvm.nvvm.activemask", nullptr, activeMask, SMALTI_PTX("activemask")},
    SMALTI_REDUX("add", reduce<uint32_t, add>)
    SMALTI_REDUX("and", reduce<uint32_t, bitAnd>)
    SMALTI_REDUX("or", reduce<uint32_t, bitOr>)
    SMALTI_REDUX("xor", reduce<uint32_t, bitXor>)
    SMALTI_REDUX("min", reduce<int32_t, smaller>)
    SMALTI_REDUX("max", reduce<int32_t, larger>)
    SMALTI_REDUX("umin", reduce<uint32_t, smaller>)
    SMALTI_REDUX("umax", reduce<uint32_t, larger>)
    SMALTI_REDUX("fmin", reduceFloats<false, false, false>)
    SMALTI_REDUX("fmin.NaN", reduceFloats<false, false, true>)
    SMALTI_REDUX("fmin.abs", reduceFloats<false, true, false>)
    SMALTI_REDUX("fmin.abs.NaN", reduceFloats<false, true, true>)
    SMALTI_REDUX("fmax", reduceFloats<true, false, false>)
    SMALTI_REDUX("fmax.NaN", reduceFloats<true, false, true>)
    SMALTI_REDUX("fmax.abs", reduceFloats<true, true, false>)
    SMALTI_REDUX("fmax.abs.NaN", reduceFloats<true, true, true>)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaShuffles = table;
