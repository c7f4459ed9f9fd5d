//===- TextMemory.cpp - Loads and stores in inline assembly of NVIDIA -----===//
//
// With the orders that LLVM has no form for, and to other blocks of a cluster.
//
//===----------------------------------------------------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Instructions/NVIDIA/Mbarrier.h"
#include "emulator/Runtime/Thread.h"

#include <algorithm>
#include <array>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

//--- ld, st, red --------------------------------------------------------------

/// `.weak`, or without a word for it.
void loadWeak(const Call &call) {
  auto *address = call.get<const char *>(0);
  touchRead(address, call.resultBytes());
  memcpy(call.result, address, call.resultBytes());
}

/// A loop around it waits for other threads.
template <bool acquires> void loadStrong(const Call &call) {
  yield();
  auto *address = call.get<const char *>(0);
  touchAtomicRead(address, call.resultBytes());
  memcpy(call.result, address, call.resultBytes());
  if (acquires)
    fenceMemory();
}

/// Operands address and values, one behind the other.
template <bool isStrong, bool releases> void store(const Call &call) {
  auto *address = call.get<char *>(0);
  if (releases)
    fenceMemory();
  for (int i = 1; i < int(call.numOperands()); ++i) {
    if (isStrong)
      touchAtomic(address, call.bytes(i));
    else
      touchWrite(address, call.bytes(i));
    memcpy(address, call.data(i), call.bytes(i));
    address += call.bytes(i);
  }
}

uint32_t add(uint32_t a, uint32_t b) { return a + b; }
uint32_t least(uint32_t a, uint32_t b) { return std::min(a, b); }
uint32_t largest(uint32_t a, uint32_t b) { return std::max(a, b); }
uint32_t leastSigned(uint32_t a, uint32_t b) {
  return uint32_t(std::min(int32_t(a), int32_t(b)));
}
uint32_t largestSigned(uint32_t a, uint32_t b) {
  return uint32_t(std::max(int32_t(a), int32_t(b)));
}
uint32_t bothBits(uint32_t a, uint32_t b) { return a & b; }
uint32_t anyBits(uint32_t a, uint32_t b) { return a | b; }
uint32_t otherBits(uint32_t a, uint32_t b) { return a ^ b; }

using Operation = uint32_t (*)(uint32_t, uint32_t);

void combine(char *address, uint32_t value, Operation operation) {
  touchAtomic(address, sizeof value);
  uint32_t old;
  memcpy(&old, address, sizeof old);
  old = operation(old, value);
  memcpy(address, &old, sizeof old);
}

template <Operation operation, bool releases> void reduce(const Call &call) {
  if (releases)
    fenceMemory();
  combine(call.get<char *>(0), call.get<uint32_t>(1), operation);
}

//--- st.async, red.async ------------------------------------------------------

/// What an instruction writes to a place and the barrier beside it.
void checkIsOfBarrier(const char *name, const char *place, void *barrier) {
  if (rankOfShared(place) < 0 || rankOfShared(place) != rankOfShared(barrier))
    fail("%s: %p and its mbarrier %p are not in the shared memory of one block",
         name, static_cast<const void *>(place), barrier);
}

/// Operands place, values and barrier, which gets the number of their bytes.
void storeAsync(const Call &call) {
  auto *to = call.get<char *>(0);
  int last = int(call.numOperands()) - 1;
  auto *address = call.get<void *>(last);
  checkIsOfBarrier("st.async", to, address);
  std::array<char, 32> values;
  uint32_t bytes = 0;
  for (int i = 1; i < last; ++i) {
    memcpy(values.data() + bytes, call.data(i), call.bytes(i));
    bytes += call.bytes(i);
  }
  Mbarrier barrier(address);
  touchAsyncWrite(to, bytes);
  barrier.whenWaited(inFlight(SharedRange{to, bytes}, [=] {
    touchAsyncWrite(to, bytes);
    memcpy(to, values.data(), bytes);
    Mbarrier(barrier).completeBytes(bytes);
  }));
}

template <Operation operation> void reduceAsync(const Call &call) {
  auto *to = call.get<char *>(0);
  auto value = call.get<uint32_t>(1);
  auto *address = call.get<void *>(2);
  checkIsOfBarrier("red.async", to, address);
  Mbarrier barrier(address);
  touchAtomic(to, sizeof value);
  barrier.whenWaited([=] {
    combine(to, value, operation);
    Mbarrier(barrier).completeBytes(sizeof value);
  });
}

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Data Movement and Conversion Instructions: " section "\""
#define SMALTI_ORDER(section)                                                  \
  "PTX ISA, \"Parallel Synchronization and Communication "                     \
  "Instructions: " section "\""
// clang-format off: one line an instruction
#define SMALTI_RED(ending, operation) \
    {"asm:red.relaxed.*." ending, reduce<operation, false>, nullptr, SMALTI_ORDER("red")}, \
    {"asm:red.release.*." ending, reduce<operation, true>, nullptr, SMALTI_ORDER("red")},
#define SMALTI_ASYNC(ending, operation) \
    {"asm:red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." ending, reduceAsync<operation>, nullptr, SMALTI_ORDER("red.async")}, \
    SMALTI_RED(ending, operation)
constexpr Instruction table[] = {
    {"asm:ld.weak.*", loadWeak, nullptr, SMALTI_PTX("ld")},
    {"asm:ld.global.*", loadWeak, nullptr, SMALTI_PTX("ld")},
    {"asm:ld.shared*", loadWeak, nullptr, SMALTI_PTX("ld")},
    {"asm:ld.volatile.*", loadStrong<false>, nullptr, SMALTI_PTX("ld")},
    {"asm:ld.relaxed.*", loadStrong<false>, nullptr, SMALTI_PTX("ld")},
    {"asm:ld.acquire.*", loadStrong<true>, nullptr, SMALTI_PTX("ld")},
    {"asm:st.weak.*", store<false, false>, nullptr, SMALTI_PTX("st")},
    {"asm:st.global.*", store<false, false>, nullptr, SMALTI_PTX("st")},
    {"asm:st.shared*", store<false, false>, nullptr, SMALTI_PTX("st")},
    {"asm:st.volatile.*", store<true, false>, nullptr, SMALTI_PTX("st")},
    {"asm:st.relaxed.*", store<true, false>, nullptr, SMALTI_PTX("st")},
    {"asm:st.release.*", store<true, true>, nullptr, SMALTI_PTX("st")},
    {"asm:st.async.weak.shared::cluster.mbarrier::complete_tx::bytes*", storeAsync, nullptr, SMALTI_PTX("st.async")},
    {"asm:st.async.shared::cluster.mbarrier::complete_tx::bytes*", storeAsync, nullptr, SMALTI_PTX("st.async")},
    SMALTI_ASYNC("add.u32", add)
    SMALTI_ASYNC("add.s32", add)
    SMALTI_ASYNC("min.u32", least)
    SMALTI_ASYNC("max.u32", largest)
    SMALTI_ASYNC("min.s32", leastSigned)
    SMALTI_ASYNC("max.s32", largestSigned)
    SMALTI_ASYNC("and.b32", bothBits)
    SMALTI_ASYNC("or.b32", anyBits)
    SMALTI_ASYNC("xor.b32", otherBits)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaTextMemory = table;
