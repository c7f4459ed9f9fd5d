//===- Mbarriers.cpp - mbarrier of NVIDIA ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Mbarrier.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <list>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

//===----------------------------------------------------------------------===//
// The object
//===----------------------------------------------------------------------===//

namespace {

/// The largest count and number of bytes (PTX ISA, "Contents of the mbarrier
/// object").
constexpr int64_t maxCount = (1 << 20) - 1;

/// Work that is deferred to the next wait. For the sanitizers, its address is
/// the object that orders the work after its issue: the thread that runs it may
/// not be synchronized with the issuing thread otherwise.
struct PendingWork {
  void *barrier;
  std::function<void()> work;
};
std::list<PendingWork> pendingWork;

void forget() { pendingWork.clear(); }
const BlockObserver observer(forget, nullptr);

} // namespace

/// 64 bits: a valid bit, the parity of the phase, pending arrivals, expected
/// arrivals of a phase, and pending bytes plus `bytesBias`. Neither 0 nor
/// poison is a valid mbarrier.
struct Mbarrier::State {
  static constexpr int countBits = 20, bytesBits = 22;
  static constexpr int64_t bytesBias = int64_t(1) << (bytesBits - 1);
  uint32_t parity;
  int64_t pending, expected, bytes;

  uint64_t encode() const {
    return uint64_t(1) << 63 | uint64_t(bytes + bytesBias) << 41 |
           uint64_t(expected) << 21 | uint64_t(pending) << 1 | parity;
  }
  static State decode(uint64_t bits) {
    constexpr uint64_t countMask = maxCount;
    return {uint32_t(bits & 1), int64_t(bits >> 1 & countMask),
            int64_t(bits >> 21 & countMask),
            int64_t(bits >> 41 & ((1 << bytesBits) - 1)) - bytesBias};
  }
};

Mbarrier::Mbarrier(void *address) : address(address) {
  if (uintptr_t(address) % 8)
    failAs("misaligned",
           "mbarrier: address %p is not a multiple of 8 bytes; align the "
           "mbarrier to 8 bytes",
           address);
  int rank = rankOfShared(address);
  if (rank < 0 ||
      static_cast<char *>(address) + 8 > sharedBaseOf(rank) + sharedBytes())
    failAs("out-of-bounds", "mbarrier: address %p is not in shared memory",
           address);
  if (hasBlockExited(rank))
    fail("mbarrier: block %d of the cluster, which owns the mbarrier, has "
         "already exited; execute a cluster barrier before the blocks exit",
         rank);
}

Mbarrier::State Mbarrier::read() const {
  uint64_t bits;
  memcpy(&bits, address, 8);
  State state = State::decode(bits);
  if (!(bits >> 63) || state.bytes > maxCount || state.bytes < -maxCount)
    fail("the mbarrier at %p is not initialized, or its memory was "
         "overwritten; execute mbarrier.init before",
         address);
  return state;
}

void Mbarrier::write(State state) {
  if (state.bytes > maxCount || state.bytes < -maxCount)
    fail("mbarrier: the tx-count (expected minus copied bytes of the phase) is "
         "%lld; it must be in the range -%lld to %lld",
         static_cast<long long>(state.bytes), static_cast<long long>(maxCount),
         static_cast<long long>(maxCount));
  uint64_t bits = state.encode();
  memcpy(address, &bits, 8);
}

void Mbarrier::advance(State state) {
  if (state.pending == 0 && state.bytes == 0) {
    state.parity ^= 1;
    state.pending = state.expected;
  }
  write(state);
}

void Mbarrier::init(uint32_t count) {
  if (count < 1 || count > maxCount)
    fail("mbarrier.init: count is %u; it must be in the range 1 to %lld", count,
         static_cast<long long>(maxCount));
  write({0, count, count, 0});
}

void Mbarrier::invalidate() {
  read();
  memset(address, 0, 8);
}

uint64_t Mbarrier::arrive(uint32_t count, bool drop) {
  State state = read();
  uint64_t before = state.encode();
  if (count < 1)
    fail("mbarrier: the count of an arrival is 0; it must be at least 1");
  if (count > state.pending)
    fail("mbarrier: %u arrivals exceed the pending count of the phase, which "
         "is %lld; pass the number of all arrivals to mbarrier.init",
         count, static_cast<long long>(state.pending));
  state.pending -= count;
  if (drop)
    state.expected -= count;
  advance(state);
  return before;
}

uint64_t Mbarrier::arriveNoComplete(uint32_t count, bool drop) {
  State state = read();
  if (count == state.pending && state.bytes == 0)
    fail("mbarrier.arrive.noComplete completes the phase, which is undefined "
         "behavior; another arrival must complete it");
  return arrive(count, drop);
}

void Mbarrier::expectArrivals(uint32_t count) {
  State state = read();
  state.pending += count;
  if (state.pending > maxCount)
    fail("mbarrier: the pending count of the phase would be %lld; the maximum "
         "is %lld",
         static_cast<long long>(state.pending),
         static_cast<long long>(maxCount));
  write(state);
}

void Mbarrier::expectBytes(uint32_t bytes) {
  State state = read();
  state.bytes += bytes;
  write(state);
}

void Mbarrier::completeBytes(uint32_t bytes) {
  State state = read();
  state.bytes -= bytes;
  advance(state);
}

bool Mbarrier::isPhaseComplete(uint64_t state) {
  return read().parity != State::decode(state).parity;
}

bool Mbarrier::isParityComplete(uint32_t parity) {
  if (parity > 1)
    fail("mbarrier: phase parity is %u; it must be 0 or 1", parity);
  return read().parity != parity;
}

uint32_t Mbarrier::pendingCount(uint64_t state) {
  return uint32_t(State::decode(state).pending);
}

void Mbarrier::deferUntilWait(std::function<void()> work) {
  if (!isAsyncLate()) {
    work();
    release();
    return;
  }
  pendingWork.push_back({address, std::move(work)});
  releaseOrder(&pendingWork.back());
}

void Mbarrier::completePending() {
  uint32_t phase = read().parity;
  for (auto next = pendingWork.begin(); next != pendingWork.end();) {
    auto pending = next++;
    if (pending->barrier != address)
      continue;
    // As late as possible: when all other arrivals of this phase have happened.
    State state = read();
    if (state.pending > 0 || state.parity != phase)
      return;
    acquireOrder(&*pending);
    std::function<void()> work = std::move(pending->work);
    pendingWork.erase(pending);
    work();
    release();
  }
}

void Mbarrier::release() { releaseOrder(address); }
void Mbarrier::acquire() { acquireOrder(address); }

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

Mbarrier barrierOf(const Call &call) { return Mbarrier(call.get<void *>(0)); }

void init(const Call &call) {
  Mbarrier barrier = barrierOf(call);
  touchWrite(call.get<void *>(0), 8);
  noteMbarrierInit();
  barrier.init(call.get<uint32_t>(1));
}

void invalidate(const Call &call) {
  Mbarrier barrier = barrierOf(call);
  touchWrite(call.get<void *>(0), 8);
  barrier.invalidate();
}

/// Forms for the shared memory of another block of the cluster do not have a
/// result.
void setState(const Call &call, uint64_t state) {
  if (call.resultBytes())
    call.set(state);
}

/// `.relaxed` does not synchronize.
template <bool relaxed, bool drop, bool hasCount>
void arrive(const Call &call) {
  Mbarrier barrier = barrierOf(call);
  if (!relaxed)
    barrier.release();
  setState(call, barrier.arrive(hasCount ? call.get<uint32_t>(1) : 1, drop));
}

template <bool relaxed, bool drop> void arriveOfText(const Call &call) {
  if (call.numOperands() > 1)
    arrive<relaxed, drop, true>(call);
  else
    arrive<relaxed, drop, false>(call);
}

template <bool drop> void arriveNoComplete(const Call &call) {
  Mbarrier barrier = barrierOf(call);
  barrier.release();
  setState(call, barrier.arriveNoComplete(call.get<uint32_t>(1), drop));
}

template <bool relaxed, bool drop> void arriveExpecting(const Call &call) {
  Mbarrier barrier = barrierOf(call);
  if (!relaxed)
    barrier.release();
  barrier.expectBytes(call.get<uint32_t>(1));
  setState(call, barrier.arrive(1, drop));
}

void expectBytes(const Call &call) {
  barrierOf(call).expectBytes(call.get<uint32_t>(1));
}
void completeBytes(const Call &call) {
  barrierOf(call).completeBytes(call.get<uint32_t>(1));
}

/// Only barriers of the block itself can be waited for.
Mbarrier barrierOfBlock(const Call &call) {
  auto *address = call.get<void *>(0);
  if (int rank = rankOfShared(address); rank >= 0 && rank != clusterRank())
    fail(
        "mbarrier: block %d of the cluster waits on an mbarrier of block %d; a "
        "block can wait on its own mbarriers only",
        clusterRank(), rank);
  return Mbarrier(address);
}

template <bool byParity>
bool isPhaseComplete(Mbarrier &barrier, const Call &call) {
  return byParity ? barrier.isParityComplete(call.get<uint32_t>(1))
                  : barrier.isPhaseComplete(call.get<uint64_t>(1));
}

/// A wait for a complete phase does not complete copies: those in flight belong
/// to another phase.
template <bool byParity> bool poll(Mbarrier &barrier, const Call &call) {
  if (isPhaseComplete<byParity>(barrier, call))
    return true;
  barrier.completePending();
  return isPhaseComplete<byParity>(barrier, call);
}

template <bool relaxed, bool byParity> void testWait(const Call &call) {
  Mbarrier barrier = barrierOfBlock(call);
  bool over = poll<byParity>(barrier, call);
  if (over && !relaxed)
    barrier.acquire();
  call.set<uint8_t>(over);
  // A loop around it waits for other threads.
  if (!over)
    yield();
}

/// Blocks until the phase is complete. The time limit of the hardware is
/// system-dependent; here it is infinite, so that a barrier that never
/// completes is reported.
template <bool relaxed, bool byParity> void tryWait(const Call &call) {
  Mbarrier barrier = barrierOfBlock(call);
  waitUntil("mbarrier.try_wait", [&] { return poll<byParity>(barrier, call); });
  if (!relaxed)
    barrier.acquire();
  call.set<uint8_t>(1);
}

/// A wait with a time limit of the program. The limit expires when no other
/// thread can make progress.
template <bool relaxed, bool byParity> void tryWaitLimited(const Call &call) {
  Mbarrier barrier = barrierOfBlock(call);
  bool over = waitUntil(
      "mbarrier.try_wait", [&] { return poll<byParity>(barrier, call); },
      /*isLimited=*/true);
  if (over && !relaxed)
    barrier.acquire();
  call.set<uint8_t>(over);
}

/// In inline assembly the limit is one operand more.
template <bool relaxed, bool byParity> void tryWaitOfText(const Call &call) {
  if (call.numOperands() > 2)
    tryWaitLimited<relaxed, byParity>(call);
  else
    tryWait<relaxed, byParity>(call);
}

void pendingCount(const Call &call) {
  call.set(Mbarrier::pendingCount(call.get<uint64_t>(0)));
}

#define SMALTI_PTX(section) "PTX ISA, \"mbarrier: " section "\""
// clang-format off: one line an instruction
// NOLINTBEGIN(bugprone-macro-parentheses): arguments of templates
#define SMALTI_ARRIVALS(name, function, ...) \
    {"llvm.nvvm.mbarrier." name ".scope.cta.space.cta", function<false, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".scope.cluster.space.cta", function<false, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".scope.cta.space.cluster", function<false, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".scope.cluster.space.cluster", function<false, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".relaxed.scope.cta.space.cta", function<true, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".relaxed.scope.cluster.space.cta", function<true, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".relaxed.scope.cta.space.cluster", function<true, __VA_ARGS__>, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".relaxed.scope.cluster.space.cluster", function<true, __VA_ARGS__>, nullptr, SMALTI_PTX(name)},
#define SMALTI_WAITS(name, function, byParity) \
    {"llvm.nvvm.mbarrier." name ".scope.cta.space.cta", function<false, byParity>, nullptr, SMALTI_PTX("test_wait, try_wait")}, \
    {"llvm.nvvm.mbarrier." name ".scope.cluster.space.cta", function<false, byParity>, nullptr, SMALTI_PTX("test_wait, try_wait")}, \
    {"llvm.nvvm.mbarrier." name ".relaxed.scope.cta.space.cta", function<true, byParity>, nullptr, SMALTI_PTX("test_wait, try_wait")}, \
    {"llvm.nvvm.mbarrier." name ".relaxed.scope.cluster.space.cta", function<true, byParity>, nullptr, SMALTI_PTX("test_wait, try_wait")},
#define SMALTI_BYTES(name, function) \
    {"llvm.nvvm.mbarrier." name ".scope.cta.space.cta", function, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".scope.cluster.space.cta", function, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".scope.cta.space.cluster", function, nullptr, SMALTI_PTX(name)}, \
    {"llvm.nvvm.mbarrier." name ".scope.cluster.space.cluster", function, nullptr, SMALTI_PTX(name)},
#define SMALTI_BOTH(name, function, section) \
    {"llvm.nvvm.mbarrier." name, function, nullptr, SMALTI_PTX(section)}, \
    {"llvm.nvvm.mbarrier." name ".shared", function, nullptr, SMALTI_PTX(section)},
#define SMALTI_TEXT(name, function, section) \
    {"asm:mbarrier." name ".b64", function, nullptr, SMALTI_PTX(section)}, \
    {"asm:mbarrier." name ".shared.b64", function, nullptr, SMALTI_PTX(section)}, \
    {"asm:mbarrier." name ".shared::cta.b64", function, nullptr, SMALTI_PTX(section)},
// With and without the qualifiers for semantics, scope and state space.
#define SMALTI_ORDERED(name, space, sem, function, section) \
    {"asm:mbarrier." name "." sem ".cta" space ".b64", function, nullptr, SMALTI_PTX(section)}, \
    {"asm:mbarrier." name "." sem ".cluster" space ".b64", function, nullptr, SMALTI_PTX(section)},
#define SMALTI_LOCAL(name, sem, function, section) \
    SMALTI_ORDERED(name, "", sem, function, section) \
    SMALTI_ORDERED(name, ".shared", sem, function, section) \
    SMALTI_ORDERED(name, ".shared::cta", sem, function, section)
#define SMALTI_TEXT_ARRIVALS(name, function, section, ...) \
    SMALTI_TEXT(name, (function<false, __VA_ARGS__>), section) \
    SMALTI_LOCAL(name, "release", (function<false, __VA_ARGS__>), section) \
    SMALTI_LOCAL(name, "relaxed", (function<true, __VA_ARGS__>), section) \
    {"asm:mbarrier." name ".shared::cluster.b64", function<false, __VA_ARGS__>, nullptr, SMALTI_PTX(section)}, \
    SMALTI_ORDERED(name, ".shared::cluster", "release", (function<false, __VA_ARGS__>), section) \
    SMALTI_ORDERED(name, ".shared::cluster", "relaxed", (function<true, __VA_ARGS__>), section)
#define SMALTI_TEXT_WAITS(name, function, byParity) \
    SMALTI_TEXT(name, (function<false, byParity>), "test_wait, try_wait") \
    SMALTI_LOCAL(name, "acquire", (function<false, byParity>), "test_wait, try_wait") \
    SMALTI_LOCAL(name, "relaxed", (function<true, byParity>), "test_wait, try_wait")
#define SMALTI_TEXT_NO_COMPLETE(name, function, section) \
    SMALTI_TEXT(name, function, section) \
    {"asm:mbarrier." name ".release.cta.b64", function, nullptr, SMALTI_PTX(section)}, \
    {"asm:mbarrier." name ".release.cta.shared.b64", function, nullptr, SMALTI_PTX(section)}, \
    {"asm:mbarrier." name ".release.cta.shared::cta.b64", function, nullptr, SMALTI_PTX(section)},
#define SMALTI_TEXT_BYTES(name, function) \
    SMALTI_TEXT(name, function, name) \
    SMALTI_LOCAL(name, "relaxed", function, name) \
    {"asm:mbarrier." name ".shared::cluster.b64", function, nullptr, SMALTI_PTX(name)}, \
    SMALTI_ORDERED(name, ".shared::cluster", "relaxed", function, name)
// NOLINTEND(bugprone-macro-parentheses)
constexpr Instruction table[] = {
    SMALTI_BOTH("init", init, "init")
    SMALTI_BOTH("inval", invalidate, "inval")
    SMALTI_BOTH("arrive", (arrive<false, false, false>), "arrive")
    SMALTI_BOTH("arrive.drop", (arrive<false, true, false>), "arrive_drop")
    SMALTI_BOTH("arrive.noComplete", arriveNoComplete<false>, "arrive")
    SMALTI_BOTH("arrive.drop.noComplete", arriveNoComplete<true>, "arrive_drop")
    SMALTI_BOTH("test.wait", (testWait<false, false>), "test_wait, try_wait")
    SMALTI_ARRIVALS("arrive", arrive, false, true)
    SMALTI_ARRIVALS("arrive.drop", arrive, true, true)
    SMALTI_ARRIVALS("arrive.expect.tx", arriveExpecting, false)
    SMALTI_ARRIVALS("arrive.drop.expect.tx", arriveExpecting, true)
    SMALTI_BYTES("expect.tx", expectBytes)
    SMALTI_BYTES("complete.tx", completeBytes)
    SMALTI_WAITS("test.wait", testWait, false)
    SMALTI_WAITS("test.wait.parity", testWait, true)
    SMALTI_WAITS("try.wait", tryWait, false)
    SMALTI_WAITS("try.wait.parity", tryWait, true)
    SMALTI_WAITS("try.wait.tl", tryWaitLimited, false)
    SMALTI_WAITS("try.wait.parity.tl", tryWaitLimited, true)
    SMALTI_TEXT("init", init, "init")
    SMALTI_TEXT("inval", invalidate, "inval")
    SMALTI_TEXT_ARRIVALS("arrive", arriveOfText, "arrive", false)
    SMALTI_TEXT_ARRIVALS("arrive_drop", arriveOfText, "arrive_drop", true)
    SMALTI_TEXT_ARRIVALS("arrive.expect_tx", arriveExpecting, "arrive", false)
    SMALTI_TEXT_ARRIVALS("arrive_drop.expect_tx", arriveExpecting, "arrive_drop", true)
    SMALTI_TEXT_NO_COMPLETE("arrive.noComplete", arriveNoComplete<false>, "arrive")
    SMALTI_TEXT_NO_COMPLETE("arrive_drop.noComplete", arriveNoComplete<true>, "arrive_drop")
    SMALTI_TEXT_BYTES("expect_tx", expectBytes)
    SMALTI_TEXT_BYTES("complete_tx", completeBytes)
    SMALTI_TEXT_WAITS("test_wait", testWait, false)
    SMALTI_TEXT_WAITS("test_wait.parity", testWait, true)
    SMALTI_TEXT_WAITS("try_wait", tryWaitOfText, false)
    SMALTI_TEXT_WAITS("try_wait.parity", tryWaitOfText, true)
    {"asm:mbarrier.pending_count.b64", pendingCount, nullptr, SMALTI_PTX("pending_count")},
    {"llvm.nvvm.mbarrier.pending.count", pendingCount, nullptr, SMALTI_PTX("pending_count")},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaMbarriers = table;
