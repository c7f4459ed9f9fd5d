//===- Barriers.cpp - Barriers of NVIDIA ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Warp.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <map>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

constexpr int numBarriers = 16;

int barrierOf(const Call &call) {
  int id = call.get<int32_t>(0);
  if (id < 0 || id >= numBarriers)
    fail("barrier number %d does not exist; it must be from 0 to %d", id,
         numBarriers - 1);
  return id;
}

int countOf(const Call &call) {
  int count = call.get<int32_t>(1);
  if (count <= 0 || count % waveSize())
    fail("barrier %d: thread count is %d; it must be a positive multiple of "
         "the warp size %d",
         call.get<int32_t>(0), count, waveSize());
  return count;
}

void sync(const Call &call) {
  int id = barrierOf(call);
  arriveAtBarrier(id);
  waitAtBarrier(id);
}

void syncCount(const Call &call) {
  int id = barrierOf(call);
  arriveAtBarrier(id, countOf(call));
  waitAtBarrier(id);
}

void arriveCount(const Call &call) {
  int id = barrierOf(call);
  arriveAtBarrier(id, countOf(call));
}

/// In inline assembly the count is one operand more.
void syncOfText(const Call &call) {
  if (call.numOperands() > 1)
    syncCount(call);
  else
    sync(call);
}

/// barrier.red: the values of the threads in one generation of a barrier. Two
/// generations can overlap, because slow threads may still read the result of
/// the first.
struct Reduction {
  int arrivals = 0;
  int trueCounts[2] = {};
};
/// By block of the cluster and barrier.
std::map<int, Reduction> reductions;

void forget() { reductions.clear(); }
const BlockObserver observer(forget, nullptr);

template <bool hasCount, class Result, Result (*finish)(int trues, int threads)>
void reduce(const Call &call) {
  int id = barrierOf(call);
  int expected = hasCount ? countOf(call) : 0;
  int threads = hasCount ? expected : numThreads();
  Reduction &reduction = reductions[clusterRank() * numBarriers + id];
  int use = reduction.arrivals / threads % 2;
  if (reduction.arrivals % threads == 0)
    reduction.trueCounts[use] = 0;
  reduction.trueCounts[use] += call.get<uint8_t>(hasCount ? 2 : 1) & 1;
  ++reduction.arrivals;
  arriveAtBarrier(id, expected);
  waitAtBarrier(id);
  call.set(finish(reduction.trueCounts[use], threads));
}

uint8_t allTrue(int trues, int threads) { return trues == threads; }
uint8_t anyTrue(int trues, int) { return trues > 0; }
int32_t countTrue(int trues, int) { return trues; }

template <bool relaxed> void arriveOfCluster(const Call &) {
  arriveInCluster(relaxed);
}
void waitOfCluster(const Call &) { waitInCluster(); }

// The runtime waits for the member lanes and orders their accesses.
void syncWarp(const Wave &) {}

constexpr char barrierDocument[] =
    "PTX ISA, \"Parallel Synchronization and Communication Instructions: bar, "
    "barrier\"";
constexpr char clusterDocument[] =
    "PTX ISA, \"Parallel Synchronization and Communication Instructions: "
    "barrier.cluster\"";
constexpr char warpDocument[] = "PTX ISA, \"Parallel Synchronization and "
                                "Communication Instructions: bar.warp.sync\"";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.nvvm.barrier.cta.sync.aligned.all", sync, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.all", sync, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.aligned.count", syncCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.count", syncCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.arrive.aligned.count", arriveCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.arrive.count", arriveCount, nullptr, barrierDocument},
    {"asm:bar.sync", syncOfText, nullptr, barrierDocument},
    {"asm:bar.cta.sync", syncOfText, nullptr, barrierDocument},
    {"asm:barrier.sync", syncOfText, nullptr, barrierDocument},
    {"asm:barrier.sync.aligned", syncOfText, nullptr, barrierDocument},
    {"asm:barrier.cta.sync", syncOfText, nullptr, barrierDocument},
    {"asm:barrier.cta.sync.aligned", syncOfText, nullptr, barrierDocument},
    {"asm:bar.arrive", arriveCount, nullptr, barrierDocument},
    {"asm:bar.cta.arrive", arriveCount, nullptr, barrierDocument},
    {"asm:barrier.arrive", arriveCount, nullptr, barrierDocument},
    {"asm:barrier.arrive.aligned", arriveCount, nullptr, barrierDocument},
    {"asm:barrier.cta.arrive", arriveCount, nullptr, barrierDocument},
    {"asm:barrier.cta.arrive.aligned", arriveCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.and.aligned.all", reduce<false, uint8_t, allTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.and.aligned.count", reduce<true, uint8_t, allTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.and.all", reduce<false, uint8_t, allTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.and.count", reduce<true, uint8_t, allTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.or.aligned.all", reduce<false, uint8_t, anyTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.or.aligned.count", reduce<true, uint8_t, anyTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.or.all", reduce<false, uint8_t, anyTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.or.count", reduce<true, uint8_t, anyTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.popc.aligned.all", reduce<false, int32_t, countTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.popc.aligned.count", reduce<true, int32_t, countTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.popc.all", reduce<false, int32_t, countTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.red.popc.count", reduce<true, int32_t, countTrue>, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cluster.arrive", arriveOfCluster<false>, nullptr, clusterDocument},
    {"llvm.nvvm.barrier.cluster.arrive.aligned", arriveOfCluster<false>, nullptr, clusterDocument},
    {"llvm.nvvm.barrier.cluster.arrive.relaxed", arriveOfCluster<true>, nullptr, clusterDocument},
    {"llvm.nvvm.barrier.cluster.arrive.relaxed.aligned", arriveOfCluster<true>, nullptr, clusterDocument},
    {"llvm.nvvm.barrier.cluster.wait", waitOfCluster, nullptr, clusterDocument},
    {"llvm.nvvm.barrier.cluster.wait.aligned", waitOfCluster, nullptr, clusterDocument},
    {"asm:barrier.cluster.arrive", arriveOfCluster<false>, nullptr, clusterDocument},
    {"asm:barrier.cluster.arrive.aligned", arriveOfCluster<false>, nullptr, clusterDocument},
    {"asm:barrier.cluster.arrive.release.aligned", arriveOfCluster<false>, nullptr, clusterDocument},
    {"asm:barrier.cluster.arrive.relaxed.aligned", arriveOfCluster<true>, nullptr, clusterDocument},
    {"asm:barrier.cluster.wait", waitOfCluster, nullptr, clusterDocument},
    {"asm:barrier.cluster.wait.aligned", waitOfCluster, nullptr, clusterDocument},
    {"asm:barrier.cluster.wait.acquire.aligned", waitOfCluster, nullptr, clusterDocument},
    {"llvm.nvvm.bar.warp.sync", nullptr, syncWarp, warpDocument, members, nullptr, false, true},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaBarriers = table;
