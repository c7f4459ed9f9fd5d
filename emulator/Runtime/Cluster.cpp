//===- Cluster.cpp - Blocks that run together -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Proxies.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <algorithm>

using namespace smalti::emulator;

Cluster smalti::emulator::cluster;

std::string Cluster::allocate() {
  for (int rank = 0; rank < launch.clusterSize(); ++rank) {
    blocks.push_back(std::make_unique<Block>(rank));
    visits.push_back(blocks.back().get());
    if (std::string error = blocks.back()->allocate(); !error.empty())
      return error;
  }
  if (launch.order == Order::HighestFirst)
    std::reverse(visits.begin(), visits.end());
  running = blocks.front().get();
  return "";
}

/// PTX ISA, "Special Registers: %cluster_ctarank": x first.
uint64_t Cluster::blockIndex(uint64_t index, int rank) const {
  const Dimensions &size = launch.cluster, &grid = launch.grid;
  uint64_t clustersX = grid.x / size.x, clustersY = grid.y / size.y;
  uint64_t x = index % clustersX * size.x + rank % size.x;
  uint64_t y = index / clustersX % clustersY * size.y + rank / size.x % size.y;
  uint64_t z = index / clustersX / clustersY * size.z + rank / size.x / size.y;
  return x + grid.x * (y + grid.y * z);
}

void Cluster::run(uint64_t index) {
  generation = 1;
  numArrived = numExitedWithoutArrival = numTimeouts = 0;
  for (std::vector<const GPUThread *> &inits : fencedInits)
    inits.clear();
  writesInFlight.clear();
  genericWrites.clear();
  BlockObserver::begin();
  for (const std::unique_ptr<Block> &block : blocks) {
    running = block.get();
    block->begin(blockIndex(index, block->rank()));
  }
  auto any = [&](auto step) {
    return std::any_of(visits.begin(), visits.end(), [&](Block *block) {
      running = block;
      return step(*block);
    });
  };
  while (any([](Block &block) { return !block.isDone(); })) {
    // The first block of a step depends on the random sequences of the blocks.
    if (launch.order == Order::Random)
      std::rotate(visits.begin(), visits.begin() + 1, visits.end());
    bool progress = false;
    for (Block *block : visits) {
      running = block;
      progress |= block->step();
    }
    if (!progress && !any([](Block &block) { return block.forceGroup(); }) &&
        !any([](Block &block) { return block.completeBarriersOfExited(); }) &&
        !endLimitedWaits())
      reportDeadlock();
  }
  BlockObserver::end();
  any([](Block &block) {
    block.checkRedZone();
    return false;
  });
}

/// Ends waits with a time limit, because no thread can make progress. Most
/// threads wait again immediately; after a few rounds without progress there is
/// a deadlock.
bool Cluster::endLimitedWaits() {
  constexpr int maxTimeouts = 3;
  if (numTimeouts++ == maxTimeouts)
    return false;
  bool progress = false;
  for (Block *block : visits)
    progress |= block->endLimitedWaits();
  return progress;
}

//===----------------------------------------------------------------------===//
// The barrier
//===----------------------------------------------------------------------===//

void Cluster::arrive(GPUThread &thread, bool isRelaxed) {
  if (thread.clusterArrival == generation)
    failAs("deadlock", "barrier.cluster.arrive: the thread arrives a second "
                       "time without barrier.cluster.wait in between");
  if (!isRelaxed)
    sanitizer::release(thread.sanitizerThread, fenceOrder(thread, true));
  else if (thread.areInitsFenced)
    fencedInits[generation % 3].push_back(&thread);
  thread.areInitsFenced = false;
  thread.clusterArrival = generation;
  ++numArrived;
  completeIfAll();
}

void Cluster::wait(GPUThread &thread) {
  uint32_t use = thread.clusterArrival;
  if (use == 0)
    failAs("deadlock", "barrier.cluster.wait: the thread has not executed "
                       "barrier.cluster.arrive before");
  running->waitUntil(
      "barrier.cluster.wait", [&] { return generation != use; },
      /*isLimited=*/false);
  // PTX ISA, "barrier.cluster": a wait is an acquire.
  sanitizer::acquire(thread.sanitizerThread,
                     blocks.front()->clusterOrder(use, true));
  sanitizer::acquire(thread.sanitizerThread,
                     thread.block->clusterOrder(use, false));
  for (const GPUThread *other : fencedInits[use % 3])
    sanitizer::acquire(thread.sanitizerThread,
                       other->block->initOrder(other->index));
}

const void *Cluster::fenceOrder(const GPUThread &thread,
                                bool isForCluster) const {
  uint32_t next = generation + (thread.clusterArrival == generation);
  return (isForCluster ? *blocks.front() : *thread.block)
      .clusterOrder(next, isForCluster);
}

void Cluster::leave(const GPUThread &thread) {
  if (thread.clusterArrival != generation)
    ++numExitedWithoutArrival;
  if (numArrived > 0)
    completeIfAll();
}

void Cluster::completeIfAll() {
  int count = int(blocks.size()) * running->numThreads();
  if (numArrived + numExitedWithoutArrival < count)
    return;
  noteProgress();
  ++generation;
  fencedInits[generation % 3].clear();
  numArrived = numExitedWithoutArrival = 0;
  for (const std::unique_ptr<Block> &block : blocks)
    numExitedWithoutArrival += block->numExited();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int Cluster::threadOfStack(const void *address) const {
  int thread = -1;
  for (const std::unique_ptr<Block> &block : blocks)
    thread = std::max(thread, block->threadOfStack(address));
  return thread;
}

bool Cluster::isStackGuard(const void *address) const {
  return std::any_of(blocks.begin(), blocks.end(), [&](const auto &block) {
    return block->isStackGuard(address);
  });
}

void Cluster::describeSet(int set, ThreadLocation &location) const {
  for (const std::unique_ptr<Block> &block : blocks)
    if (block->hasSet(set))
      block->describeSet(set, location);
}

void Cluster::describeThreads(Finding &finding) {
  bool isFirst = true;
  for (const std::unique_ptr<Block> &block : blocks) {
    if (blocks.size() > 1 && block->isDone())
      continue;
    if (blocks.size() > 1)
      finding.message.append("%sblock %d of the cluster: ", isFirst ? "" : "; ",
                             block->rank());
    isFirst = false;
    block->describeThreads(finding);
  }
}

void Cluster::reportDeadlock() {
  static Finding finding("deadlock");
  for (const std::unique_ptr<Block> &block : blocks)
    if (!block->isDone()) {
      block->setLocationOfActiveThread(finding);
      break;
    }
  finding.message.append("deadlock: no thread can make progress: ");
  describeThreads(finding);
  report(finding);
  endProcess(exitFindings);
}
