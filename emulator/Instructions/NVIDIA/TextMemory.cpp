//===- TextMemory.cpp - Loads and stores in inline assembly of NVIDIA -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// And atomics, with the orders that LLVM has no form for, and to other blocks
// of a cluster.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Atomic.h"
#include "smalti/emulator/Instructions/NVIDIA/Fragments.h"
#include "smalti/emulator/Instructions/NVIDIA/Mbarrier.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <algorithm>
#include <array>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

//--- ld, st -------------------------------------------------------------------

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

/// Operands address and values, which are contiguous.
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

//--- st.async, red.async ------------------------------------------------------

/// Checks that destination and mbarrier are in the shared memory of one block.
void checkIsOfBarrier(const char *name, const char *place, void *barrier) {
  if (rankOfShared(place) < 0 || rankOfShared(place) != rankOfShared(barrier))
    fail("%s: destination %p and mbarrier %p must be in the shared memory of "
         "the same block",
         name, static_cast<const void *>(place), barrier);
}

/// Operands destination, values and barrier, which receives the number of
/// bytes. The store is performed in the generic proxy.
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
  touchWrite(to, bytes);
  barrier.deferUntilWait(inFlight(SharedRange{to, bytes}, [=] {
    touchWrite(to, bytes);
    memcpy(to, values.data(), bytes);
    Mbarrier(barrier).completeBytes(bytes);
  }));
}

/// The barrier receives the number of bytes.
template <class Operation> void reduceAsync(const Call &call) {
  auto *to = call.get<char *>(0);
  auto value = call.get<uint32_t>(1);
  auto *address = call.get<void *>(2);
  checkIsOfBarrier("red.async", to, address);
  Mbarrier barrier(address);
  touchAtomic(to, sizeof value);
  barrier.deferUntilWait([=] {
    Operation::perform(to, &value);
    Mbarrier(barrier).completeBytes(sizeof value);
  });
}

//--- red, atom ----------------------------------------------------------------

enum class Order { Relaxed, Acquire, Release, Both };

/// One of `combine`, of a type.
template <class Type, auto combine> struct Atomic {
  static Type perform(void *address, const void *operand) {
    Type value;
    memcpy(&value, operand, sizeof value);
    return exchange<Type>(address,
                          [=](Type old) { return Type(combine(old, value)); });
  }
};

template <Order order, class Perform>
void ordered(const Call &call, Perform perform) {
  // A loop around it may wait for other threads.
  if (call.resultBytes())
    yield();
  if (order == Order::Release || order == Order::Both)
    fenceMemory();
  perform();
  if (order == Order::Acquire || order == Order::Both)
    fenceMemory();
}

/// Without a result for `red` and `_`.
template <class Operation, Order order> void reduce(const Call &call) {
  ordered<order>(call, [&] {
    auto old = Operation::perform(call.get<void *>(0), call.data(1));
    if (call.resultBytes())
      call.set(old);
  });
}

template <class Type, Order order> void compareAndSwap(const Call &call) {
  ordered<order>(call, [&] {
    Type old = compareExchange<Type>(call.get<void *>(0), call.get<Type>(1),
                                     call.get<Type>(2));
    if (call.resultBytes())
      call.set(old);
  });
}

template <class Type> Type sum(Type a, Type b) { return a + b; }
template <class Type> Type least(Type a, Type b) { return std::min(a, b); }
template <class Type> Type largest(Type a, Type b) { return std::max(a, b); }
template <class Type> Type bothBits(Type a, Type b) { return a & b; }
template <class Type> Type anyBits(Type a, Type b) { return a | b; }
template <class Type> Type otherBits(Type a, Type b) { return a ^ b; }
template <class Type> Type second(Type, Type b) { return b; }

/// One float or two, in an integer.
template <class Float, class Bits> Bits sumOfHalves(Bits a, Bits b) {
  Bits result = 0;
  for (unsigned shift = 0; shift < 8 * sizeof(Bits); shift += 16) {
    auto read = [&](Bits bits) {
      auto half = uint16_t(bits >> shift);
      return Float::read(bitCast<typename Float::Storage>(half));
    };
    auto half = bitCast<uint16_t>(Float::write(read(a) + read(b)));
    if (std::isnan(read(a) + read(b)))
      half = 0x7fff;
    result = Bits(result | Bits(half) << shift);
  }
  return result;
}

using AddU32 = Atomic<uint32_t, sum<uint32_t>>;
using AddS32 = Atomic<uint32_t, sum<uint32_t>>;
using MinU32 = Atomic<uint32_t, least<uint32_t>>;
using MinS32 = Atomic<int32_t, least<int32_t>>;
using MaxU32 = Atomic<uint32_t, largest<uint32_t>>;
using MaxS32 = Atomic<int32_t, largest<int32_t>>;
using AndB32 = Atomic<uint32_t, bothBits<uint32_t>>;
using OrB32 = Atomic<uint32_t, anyBits<uint32_t>>;
using XorB32 = Atomic<uint32_t, otherBits<uint32_t>>;
using AddU64 = Atomic<uint64_t, sum<uint64_t>>;
using AddF32 = Atomic<float, sum<float>>;
using AddF64 = Atomic<double, sum<double>>;
using AddF16 = Atomic<uint16_t, sumOfHalves<F16, uint16_t>>;
using AddF16x2 = Atomic<uint32_t, sumOfHalves<F16, uint32_t>>;
using AddBf16 = Atomic<uint16_t, sumOfHalves<BF16, uint16_t>>;
using AddBf16x2 = Atomic<uint32_t, sumOfHalves<BF16, uint32_t>>;
using IncU32 = Atomic<uint32_t, incremented<uint32_t>>;
using DecU32 = Atomic<uint32_t, decremented<uint32_t>>;
using MinU64 = Atomic<uint64_t, least<uint64_t>>;
using MinS64 = Atomic<int64_t, least<int64_t>>;
using MaxU64 = Atomic<uint64_t, largest<uint64_t>>;
using MaxS64 = Atomic<int64_t, largest<int64_t>>;
using AndB64 = Atomic<uint64_t, bothBits<uint64_t>>;
using OrB64 = Atomic<uint64_t, anyBits<uint64_t>>;
using XorB64 = Atomic<uint64_t, otherBits<uint64_t>>;
using ExchB32 = Atomic<uint32_t, second<uint32_t>>;
using ExchB64 = Atomic<uint64_t, second<uint64_t>>;

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Data Movement and Conversion Instructions: " section "\""
#define SMALTI_ORDER(section)                                                  \
  "PTX ISA, \"Parallel Synchronization and Communication "                     \
  "Instructions: " section "\""
// clang-format off: one line an instruction
// NOLINTBEGIN(bugprone-macro-parentheses): arguments of templates
// The state space may precede the semantics, as in the text of JAX.
#define SMALTI_ORDERED(name, sem, ending, document, ...) \
    {"asm:" name "." sem ".*." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".shared*." sem ".*." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".global." sem ".*." ending, __VA_ARGS__, nullptr, document},
#define SMALTI_UNORDERED(name, ending, document, ...) \
    {"asm:" name "." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".global." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".shared." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".shared::cta." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".shared::cluster." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".cta." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".cta.*." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".cluster." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".cluster.*." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".gpu." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".gpu.*." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".sys." ending, __VA_ARGS__, nullptr, document}, \
    {"asm:" name ".sys.*." ending, __VA_ARGS__, nullptr, document},
#define SMALTI_ATOM(ending, function, argument) \
    SMALTI_UNORDERED("atom", ending, SMALTI_ORDER("atom"), function<argument, Order::Relaxed>) \
    SMALTI_ORDERED("atom", "relaxed", ending, SMALTI_ORDER("atom"), function<argument, Order::Relaxed>) \
    SMALTI_ORDERED("atom", "acquire", ending, SMALTI_ORDER("atom"), function<argument, Order::Acquire>) \
    SMALTI_ORDERED("atom", "release", ending, SMALTI_ORDER("atom"), function<argument, Order::Release>) \
    SMALTI_ORDERED("atom", "acq_rel", ending, SMALTI_ORDER("atom"), function<argument, Order::Both>)
#define SMALTI_RED(ending, operation) \
    SMALTI_UNORDERED("red", ending, SMALTI_ORDER("red"), reduce<operation, Order::Relaxed>) \
    SMALTI_ORDERED("red", "relaxed", ending, SMALTI_ORDER("red"), reduce<operation, Order::Relaxed>) \
    SMALTI_ORDERED("red", "release", ending, SMALTI_ORDER("red"), reduce<operation, Order::Release>) \
    SMALTI_ATOM(ending, reduce, operation)
#define SMALTI_ASYNC(ending, operation) \
    {"asm:red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." ending, reduceAsync<operation>, nullptr, SMALTI_ORDER("red.async")}, \
    SMALTI_RED(ending, operation)
// NOLINTEND(bugprone-macro-parentheses)
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
    SMALTI_ASYNC("add.u32", AddU32)
    SMALTI_ASYNC("add.s32", AddS32)
    SMALTI_ASYNC("min.u32", MinU32)
    SMALTI_ASYNC("min.s32", MinS32)
    SMALTI_ASYNC("max.u32", MaxU32)
    SMALTI_ASYNC("max.s32", MaxS32)
    SMALTI_ASYNC("and.b32", AndB32)
    SMALTI_ASYNC("or.b32", OrB32)
    SMALTI_ASYNC("xor.b32", XorB32)
    SMALTI_RED("add.u64", AddU64)
    SMALTI_RED("add.f32", AddF32)
    SMALTI_RED("add.f64", AddF64)
    SMALTI_RED("add.noftz.f16", AddF16)
    SMALTI_RED("add.noftz.f16x2", AddF16x2)
    SMALTI_RED("add.noftz.bf16", AddBf16)
    SMALTI_RED("add.noftz.bf16x2", AddBf16x2)
    SMALTI_RED("inc.u32", IncU32)
    SMALTI_RED("dec.u32", DecU32)
    SMALTI_RED("min.u64", MinU64)
    SMALTI_RED("min.s64", MinS64)
    SMALTI_RED("max.u64", MaxU64)
    SMALTI_RED("max.s64", MaxS64)
    SMALTI_RED("and.b64", AndB64)
    SMALTI_RED("or.b64", OrB64)
    SMALTI_RED("xor.b64", XorB64)
    SMALTI_ATOM("exch.b32", reduce, ExchB32)
    SMALTI_ATOM("exch.b64", reduce, ExchB64)
    SMALTI_ATOM("cas.b16", compareAndSwap, uint16_t)
    SMALTI_ATOM("cas.b32", compareAndSwap, uint32_t)
    SMALTI_ATOM("cas.b64", compareAndSwap, uint64_t)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaTextMemory = table;
