//===- AsyncCopies.cpp - cp.async of NVIDIA -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Mbarrier.h"
#include "smalti/emulator/Instructions/NVIDIA/Multicast.h"
#include "smalti/emulator/Instructions/Thread.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

void doLater(AsyncCompletion queue, std::function<void()> work) {
  if (isAsyncLate())
    enqueueAsync(queue, std::move(work));
  else
    work();
}

void checkAligned(const char *name, const void *address, size_t alignment) {
  if (uintptr_t(address) % alignment)
    failAs("misaligned", "%s: address %p is not a multiple of %zu bytes", name,
           address, alignment);
}

//--- cp.async -----------------------------------------------------------------

/// The destination is zero-filled beyond the source bytes.
template <int bytes, bool hasSourceBytes> void copyAsync(const Call &call) {
  auto *to = call.get<char *>(0);
  auto *from = call.get<const char *>(1);
  int sourceBytes = hasSourceBytes ? call.get<int32_t>(2) : bytes;
  if (sourceBytes < 0 || sourceBytes > bytes)
    fail("cp.async: cp-size is %d and src-size is %d; src-size must be from 0 "
         "to cp-size",
         bytes, sourceBytes);
  checkAligned("cp.async", to, bytes);
  checkAligned("cp.async", from, bytes);
  // The copy may happen at any time from now to its wait.
  touchWrite(to, bytes);
  touchRead(from, sourceBytes);
  doLater(cpAsyncQueue, inFlight(SharedRange{to, bytes}, [=] {
            touchWrite(to, bytes);
            touchRead(from, sourceBytes);
            memcpy(to, from, sourceBytes);
            memset(to + sourceBytes, 0, bytes - sourceBytes);
          }));
}

void commitGroup(const Call &) { commitAsync(cpAsyncQueue); }
void waitGroup(const Call &call) {
  waitAsync(cpAsyncQueue, call.get<uint32_t>(0));
}
void waitAll(const Call &) {
  commitAsync(cpAsyncQueue);
  waitAsync(cpAsyncQueue, 0);
}

/// Arrives at the barrier when the copies of this thread are complete. They
/// complete here, because other threads can only wait for them at the barrier.
/// Without `.noinc`, one more arrival is expected in this phase.
template <bool increments> void arriveAfterCopies(const Call &call) {
  Mbarrier barrier(call.get<void *>(0));
  if (increments)
    barrier.expectArrivals(1);
  waitAll(call);
  barrier.release();
  barrier.arrive(1);
}

//--- cp.async.bulk ------------------------------------------------------------

struct BulkCopy {
  char *to;
  const char *from;
  uint32_t bytes;

  BulkCopy(const Call &call, int to, int from, int bytes)
      : to(call.get<char *>(to)), from(call.get<const char *>(from)),
        bytes(call.get<uint32_t>(bytes)) {
    checkAligned("cp.async.bulk", this->to, 16);
    checkAligned("cp.async.bulk", this->from, 16);
    if (this->bytes % 16)
      fail("cp.async.bulk: size is %u bytes; it must be a multiple of 16",
           this->bytes);
  }
  void perform() const {
    touchRead(from, bytes);
    touchAsyncWrite(to, bytes);
    memcpy(to, from, bytes);
  }
  /// At the issue.
  void touch() const {
    touchAsyncRead(from, bytes);
    touchAsyncWrite(to, bytes);
  }
};

/// Into shared memory: the copy is complete when its bytes have arrived at the
/// barrier.
void copyToShared(const BulkCopy &copy, void *address) {
  Mbarrier barrier(address);
  copy.touch();
  barrier.deferUntilWait(inFlight(SharedRange{copy.to, copy.bytes}, [=] {
    copy.perform();
    Mbarrier(barrier).completeBytes(copy.bytes);
  }));
}

/// Operands destination, barrier, source, bytes.
void copyToBlock(const Call &call) {
  copyToShared(BulkCopy(call, 0, 2, 3), call.get<void *>(1));
}

void copyToGlobal(const Call &call) {
  BulkCopy copy(call, 0, 1, 2);
  copy.touch();
  doLater(bulkQueue, [=] { copy.perform(); });
}

/// In inline assembly the barrier is the last one.
void copyToBlockOfText(const Call &call) {
  copyToShared(BulkCopy(call, 0, 1, 2), call.get<void *>(3));
}

/// Bit i of the mask selects byte i of each 16 bytes.
void copyMaskedToGlobal(const BulkCopy &copy, uint16_t mask) {
  touchAsyncRead(copy.from, copy.bytes);
  doLater(bulkQueue, [=] {
    touchRead(copy.from, copy.bytes);
    for (uint32_t i = 0; i < copy.bytes; ++i)
      if (mask >> (i % 16) & 1) {
        touchWrite(copy.to + i, 1);
        copy.to[i] = copy.from[i];
      }
  });
}

void copyMaskedToGlobal(const Call &call) {
  copyMaskedToGlobal(BulkCopy(call, 0, 1, 2), call.get<uint16_t>(5));
}
/// A cache policy can come before the mask.
void copyMaskedToGlobalOfText(const Call &call) {
  copyMaskedToGlobal(BulkCopy(call, 0, 1, 2),
                     call.get<uint16_t>(int(call.numOperands()) - 1));
}

/// The same copy to the shared memory of several blocks of the cluster.
void copyToBlocks(const BulkCopy &copy, void *address, uint16_t blocks) {
  forEachBlock("cp.async.bulk", blocks, copy.to, address,
               [&](char *to, void *barrier) {
                 BulkCopy one = copy;
                 one.to = to;
                 copyToShared(one, barrier);
               });
}
void copyToCluster(const Call &call) {
  BulkCopy copy(call, 0, 2, 3);
  if (!call.get<uint8_t>(6))
    return copyToShared(copy, call.get<void *>(1));
  copyToBlocks(copy, call.get<void *>(1), call.get<uint16_t>(4));
}
void copyToClusterOfText(const Call &call) {
  copyToBlocks(BulkCopy(call, 0, 1, 2), call.get<void *>(3),
               call.get<uint16_t>(4));
}

void commitBulk(const Call &) { commitAsync(bulkQueue); }
void waitBulk(const Call &call) { waitAsync(bulkQueue, call.get<uint32_t>(0)); }

void nothing(const Call &) {}

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Data Movement and Conversion Instructions: " section "\""
// clang-format off: one line an instruction
#define SMALTI_BULK(name, function) \
    {"asm:cp.async.bulk." name, function, nullptr, SMALTI_PTX("cp.async.bulk")}, \
    {"asm:cp.async.bulk." name ".L2::cache_hint", function, nullptr, SMALTI_PTX("cp.async.bulk")},
constexpr Instruction table[] = {
    {"llvm.nvvm.cp.async.ca.shared.global.4", copyAsync<4, false>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.ca.shared.global.8", copyAsync<8, false>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.ca.shared.global.16", copyAsync<16, false>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.cg.shared.global.16", copyAsync<16, false>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.ca.shared.global.4.s", copyAsync<4, true>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.ca.shared.global.8.s", copyAsync<8, true>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.ca.shared.global.16.s", copyAsync<16, true>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.cg.shared.global.16.s", copyAsync<16, true>, nullptr, SMALTI_PTX("cp.async")},
    {"llvm.nvvm.cp.async.commit.group", commitGroup, nullptr, SMALTI_PTX("cp.async.commit_group")},
    {"llvm.nvvm.cp.async.wait.group", waitGroup, nullptr, SMALTI_PTX("cp.async.wait_group")},
    {"llvm.nvvm.cp.async.wait.all", waitAll, nullptr, SMALTI_PTX("cp.async.wait_all")},
    {"llvm.nvvm.cp.async.mbarrier.arrive", arriveAfterCopies<true>, nullptr, SMALTI_PTX("cp.async.mbarrier.arrive")},
    {"llvm.nvvm.cp.async.mbarrier.arrive.shared", arriveAfterCopies<true>, nullptr, SMALTI_PTX("cp.async.mbarrier.arrive")},
    {"llvm.nvvm.cp.async.mbarrier.arrive.noinc", arriveAfterCopies<false>, nullptr, SMALTI_PTX("cp.async.mbarrier.arrive")},
    {"llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared", arriveAfterCopies<false>, nullptr, SMALTI_PTX("cp.async.mbarrier.arrive")},
    {"llvm.nvvm.cp.async.bulk.global.to.shared.cta", copyToBlock, nullptr, SMALTI_PTX("cp.async.bulk")},
    {"llvm.nvvm.cp.async.bulk.global.to.shared.cluster", copyToCluster, nullptr, SMALTI_PTX("cp.async.bulk")},
    {"llvm.nvvm.cp.async.bulk.shared.cta.to.cluster", copyToBlock, nullptr, SMALTI_PTX("cp.async.bulk")},
    {"llvm.nvvm.cp.async.bulk.shared.cta.to.global", copyToGlobal, nullptr, SMALTI_PTX("cp.async.bulk")},
    {"llvm.nvvm.cp.async.bulk.shared.cta.to.global.bytemask", copyMaskedToGlobal, nullptr, SMALTI_PTX("cp.async.bulk")},
    {"llvm.nvvm.cp.async.bulk.prefetch.L2", nothing, nullptr, SMALTI_PTX("cp.async.bulk.prefetch")},
    {"llvm.nvvm.cp.async.bulk.commit.group", commitBulk, nullptr, SMALTI_PTX("cp.async.bulk.commit_group")},
    {"llvm.nvvm.cp.async.bulk.wait.group", waitBulk, nullptr, SMALTI_PTX("cp.async.bulk.wait_group")},
    {"llvm.nvvm.cp.async.bulk.wait.group.read", waitBulk, nullptr, SMALTI_PTX("cp.async.bulk.wait_group")},
    SMALTI_BULK("global.shared::cta.bulk_group", copyToGlobal)
    {"asm:cp.async.bulk.global.shared::cta.bulk_group.cp_mask", copyMaskedToGlobalOfText, nullptr, SMALTI_PTX("cp.async.bulk")},
    {"asm:cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask", copyMaskedToGlobalOfText, nullptr, SMALTI_PTX("cp.async.bulk")},
    SMALTI_BULK("shared::cta.global.mbarrier::complete_tx::bytes", copyToBlockOfText)
    SMALTI_BULK("shared::cluster.global.mbarrier::complete_tx::bytes", copyToBlockOfText)
    SMALTI_BULK("shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", copyToClusterOfText)
    {"asm:cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", copyToBlockOfText, nullptr, SMALTI_PTX("cp.async.bulk")},
    SMALTI_BULK("prefetch.L2.global", nothing)
    {"asm:cp.async.bulk.commit_group", commitBulk, nullptr, SMALTI_PTX("cp.async.bulk.commit_group")},
    {"asm:cp.async.bulk.wait_group", waitBulk, nullptr, SMALTI_PTX("cp.async.bulk.wait_group")},
    {"asm:cp.async.bulk.wait_group.read", waitBulk, nullptr, SMALTI_PTX("cp.async.bulk.wait_group")},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaAsyncCopies = table;
