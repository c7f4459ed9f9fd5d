//===- Block.h - The threads of a block and their schedule ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each GPU thread is a fiber. A thread runs until it reaches a wave-level
// instruction, waits, or exits. The schedule runs on the stack of the process
// and selects the next thread.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_BLOCK_H
#define SMALTI_EMULATOR_RUNTIME_BLOCK_H

#include "smalti/emulator/Instructions/Thread.h"
#include "smalti/emulator/Runtime/AsyncWork.h"
#include "smalti/emulator/Runtime/Fiber.h"
#include "smalti/emulator/Runtime/Findings.h"

#include <memory>
#include <string>
#include <vector>

namespace smalti::emulator {

class Block;
struct GPUWave;

struct GPUThread {
  enum class State {
    /// Running, or ready to run.
    Ready,
    /// At a wave-level instruction.
    InWave,
    AtBarrier,
    /// At a wait for a condition.
    Waiting,
    Done,
  };

  Fiber fiber;
  Dimensions id;
  int index, lane;
  GPUWave *wave;
  Block *block;
  State state;
  /// The return address of the instruction that the thread executes; null in
  /// code of the kernel itself.
  const void *returnAddress;
  const Instruction *instruction;
  /// Set at a wave-level instruction.
  Call call;
  uint64_t members;
  /// Set at a barrier.
  int barrier;
  GPUThread *nextAtBarrier;
  /// The generation of the cluster's barrier at which the thread last arrived.
  uint32_t clusterArrival;
  /// Whether a fence for mbarrier.init follows the thread's last mbarrier.init,
  /// and no arrival at the cluster's barrier follows the fence.
  bool areInitsFenced;
  /// Set while the thread waits for a condition.
  const char *what;
  const std::function<bool()> *condition;
  bool isLimited, isTimeOver;
  AsyncWork async[numAsyncQueues];
  /// The slot of the next entry of a wave counter.
  uint32_t slot;
  /// The ThreadSanitizer fiber of the thread.
  void *sanitizerThread;
};

/// A wave. Sets of lanes are bit masks.
struct GPUWave {
  int first, index;
  /// The lanes that exist.
  uint64_t lanes;
  uint64_t ready, inWave, atBarrier, waiting, done;
  /// Lanes that let the other lanes run first in this step.
  uint64_t yielded;
  WaveCounterEntries entries[numWaveCounters];
};

struct Barrier {
  /// Incremented at each completion.
  uint32_t generation;
  int expected, arrived;
  /// The number of threads that have arrived and then exited.
  int exited;
  GPUThread *firstWaiting;
};

class Block {
public:
  static constexpr int maxBarriers = 64;
  /// An upper bound of the ThreadSanitizer sets of a block.
  static constexpr int setsOfBlock = 1 << 12;

  explicit Block(int rank) : rankInCluster(rank) {}

  /// Allocates the threads of the launch; returns an error or an empty string.
  std::string allocate();

  void begin(uint64_t index);
  bool isDone() const { return numDone == int(threads.size()); }

  /// Runs each wave; returns whether there was progress.
  bool step();
  /// Called if no other lane can make progress: executes a wave-level
  /// instruction for the lanes that have reached it.
  bool forceGroup();
  /// Ends waits that have a time limit.
  bool endLimitedWaits();
  /// Called if no other thread can make progress: completes barriers with a
  /// thread count that wait for exited threads only.
  bool completeBarriersOfExited();

  /// Reports writes past the end of shared memory and ends the process.
  void checkRedZone();

  /// The operations of threads; see Thread.h.
  bool arrive(int barrier, int expected);
  void wait(int barrier);
  bool waitUntil(const char *what, const std::function<bool()> &ready,
                 bool isLimited);
  void yield(const void *returnAddress);
  void call(const Instruction &instruction, const Call &call);
  [[noreturn]] void endThread();

  /// Describes the state and location of each thread, and the threads that are
  /// missing.
  void describeThreads(Finding &finding);
  /// Sets the location of a finding to that of a thread that has not exited.
  void setLocationOfActiveThread(Finding &finding) const;

  /// Adds the location in the kernel of the innermost call on the running
  /// thread's stack.
  void addCaller(ThreadLocation &location, const void *stackPointer) const;

  /// Describes the block of a ThreadSanitizer fiber by its set.
  void describeSet(int set, ThreadLocation &location) const;
  bool hasSet(int set) const { return set / setsOfBlock == rankInCluster; }

  /// The thread whose private memory, guard included, contains an address, or
  /// -1.
  int threadOfStack(const void *address) const;
  bool isStackGuard(const void *address) const;

  GPUThread &thread(int index) { return threads[index]; }
  uint64_t index() const { return blockIndex; }
  int rank() const { return rankInCluster; }
  int numWaves() const { return int(waves.size()); }
  int numThreads() const { return int(threads.size()); }
  int numExited() const { return numDone; }
  /// The order object of the lanes of a wave.
  const void *waveOrder(size_t wave) const {
    return orderObjects + size_t(2) * maxBarriers + wave;
  }
  /// The ThreadSanitizer fiber that represents the tensor cores of a wave's
  /// warpgroup.
  void *tensorCoresOf(const GPUWave &wave);
  /// The order object of a thread's last mbarrier.init.
  const void *initOrder(int thread) const {
    return orderObjects + size_t(2) * maxBarriers + waves.size() + thread;
  }
  /// The order object of the block's threads for a generation of the cluster's
  /// barrier, and in the first block that of the cluster's threads. Three
  /// generations exist at a time: a thread executes fences for its next arrival
  /// while others have not returned from the previous generation.
  const void *clusterOrder(uint32_t use, bool isForCluster) const {
    return orderObjects + size_t(2) * maxBarriers + waves.size() +
           threads.size() + (isForCluster ? 3 : 0) + use % 3;
  }
  Dimensions id() const { return blockId; }

private:
  bool mapStacks();
  void beginSanitizerThreads();
  bool visit(GPUWave &wave, int maxSteps);
  bool pollConditions(GPUWave &wave);
  void runReady(GPUWave &wave);
  bool formGroup(GPUWave &wave, bool isForced);
  void execute(GPUWave &wave, uint64_t group);
  void suspend(GPUThread &thread);
  void complete(Barrier &barrier);
  int expectedAt(const Barrier &barrier) const;
  void leaveBarriers(const GPUThread &thread);
  [[noreturn]] void failPartialWave(const GPUWave &wave, uint64_t group);
  const void *barrierOrder(size_t id, uint32_t generation) const {
    return orderObjects + 2 * id + generation % 2;
  }
  void order(GPUWave &wave, uint64_t group);
  uint64_t random();

  static void runThread();

  Fiber schedule;
  std::vector<GPUThread> threads;
  std::vector<GPUWave> waves;
  std::vector<GPUWave *> visits;
  /// For each thread and barrier the generation of the last arrival; 0: none.
  std::vector<uint32_t> arrivals;
  Barrier barriers[maxBarriers];
  int rankInCluster;
  int numDone = 0;
  uint64_t blockIndex = 0;
  Dimensions blockId = {0, 0, 0};
  uint64_t randomState = 0;
  char *stacks = nullptr;
  /// Addresses for acquires and releases. A barrier has two, because threads
  /// can arrive again before others have returned. Each wave and each thread
  /// has one, the cluster barrier six. Each block gets new memory, so that
  /// earlier blocks do not happen before it.
  uint64_t *orderObjects = nullptr;
  size_t orderBytes = 0;
  /// A set of ThreadSanitizer fibers. Blocks use the sets in turn. Blocks that
  /// used a set before happen before the current block.
  struct SanitizerSet {
    std::vector<void *> threads, entries;
    std::vector<uint64_t> blocks;
  };
  std::vector<SanitizerSet> sanitizerSets;
  SanitizerSet *currentSet = nullptr;
};

/// The blocks of a cluster, which run together; usually one block.
class Cluster {
public:
  /// Allocates the blocks of the launch; returns an error or an empty string.
  std::string allocate();

  /// Runs a cluster. Ends the process after a finding.
  void run(uint64_t index);

  /// The index of a block of a cluster in the grid.
  uint64_t blockIndex(uint64_t cluster, int rank) const;
  Block &blockOf(int rank) { return *blocks[rank]; }

  void arrive(GPUThread &thread, bool isRelaxed);
  void wait(GPUThread &thread);
  /// The object that a fence of a thread releases: a later relaxed arrival
  /// publishes it to the threads of the block or of the cluster.
  const void *fenceOrder(const GPUThread &thread, bool isForCluster) const;
  /// Called when a thread exits.
  void leave(const GPUThread &thread);

  /// Called on progress other than the end of a wait with a time limit.
  void noteProgress() { numTimeouts = 0; }

  void describeThreads(Finding &finding);
  void describeSet(int set, ThreadLocation &location) const;
  int threadOfStack(const void *address) const;
  bool isStackGuard(const void *address) const;

private:
  bool endLimitedWaits();
  void completeIfAll();
  [[noreturn]] void reportDeadlock();

  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Block *> visits;
  /// State of the cluster barrier: its generation, arrivals, and exited threads
  /// that have not arrived.
  uint32_t generation = 1;
  int numArrived = 0, numExitedWithoutArrival = 0;
  /// By generation modulo 3, the threads with a relaxed arrival after a fence
  /// for their mbarrier initializations.
  std::vector<const GPUThread *> fencedInits[3];
  int numTimeouts = 0;
};

extern Cluster cluster;

/// The block that runs, or ran last.
extern Block *running;

/// The thread that runs, the first lane in an instruction of a wave, or null.
extern GPUThread *current;

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_BLOCK_H
