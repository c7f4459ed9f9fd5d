//===- Block.h - The threads of a block and their schedule ----------------===//
//
// Each GPU thread is a fiber. A thread runs until it comes to an instruction of
// its wave, waits, or ends; the schedule runs on the stack of the process and
// decides who is next.
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
    /// Runs, or would if it was its turn.
    Ready,
    /// At an instruction of its wave.
    InWave,
    AtBarrier,
    /// Until a condition holds.
    Waiting,
    Done,
  };

  Fiber fiber;
  Dimensions id;
  int index, lane;
  GPUWave *wave;
  Block *block;
  State state;
  /// Where the instruction returns to that the thread executes; null in code of
  /// the kernel itself.
  const void *returnAddress;
  const Instruction *instruction;
  /// In an instruction of the wave.
  Call call;
  uint64_t members;
  /// At a barrier.
  int barrier;
  GPUThread *nextAtBarrier;
  /// The use of the cluster's barrier that it last arrived at.
  uint32_t clusterArrival;
  /// Whether a fence for mbarrier.init follows the thread's last mbarrier.init,
  /// and no arrival at the cluster's barrier follows the fence.
  bool areInitsFenced;
  /// While it waits for a condition.
  const char *what;
  const std::function<bool()> *condition;
  bool isLimited, isTimeOver;
  AsyncWork async[numAsyncQueues];
  /// Of the unit of a counter that it adds to next.
  uint32_t slot;
  /// What ThreadSanitizer calls it.
  void *sanitizerThread;
};

/// A set of lanes has a bit for each.
struct GPUWave {
  int first, index;
  /// The lanes that there are.
  uint64_t lanes;
  uint64_t ready, inWave, atBarrier, waiting, done;
  /// Those that let the others run first, this time.
  uint64_t yielded;
  WaveUnits units[numWaveCounters];
};

struct Barrier {
  /// Counted up when it completes.
  uint32_t generation;
  int expected, arrived;
  /// Of those that arrived, the threads that have ended since.
  int ended;
  GPUThread *firstWaiting;
};

class Block {
public:
  static constexpr int maxBarriers = 64;
  /// More sets of ThreadSanitizer's threads than a block has.
  static constexpr int setsOfBlock = 1 << 12;

  explicit Block(int rank) : rankInCluster(rank) {}

  /// Makes room for the threads of the launch; returns what is wrong, or an
  /// empty string.
  std::string allocate();

  void begin(uint64_t index);
  bool isDone() const { return numDone == int(threads.size()); }

  /// Lets each wave run; returns whether anything happened.
  bool step();
  /// Where nobody else can come any more: executes an instruction for those
  /// that are there.
  bool forceGroup();
  /// Ends waits that have a limit.
  bool endLimitedWaits();
  /// Where nobody else can come any more: ends barriers of a part of the block
  /// that wait for nobody but threads that have ended.
  bool endBarriersOfEnded();

  /// Ends the process where the block wrote memory that it does not have.
  void checkRedZone();

  /// What threads ask for; see Thread.h.
  bool arrive(int barrier, int expected);
  void wait(int barrier);
  bool waitUntil(const char *what, const std::function<bool()> &ready,
                 bool isLimited);
  void yield(const void *returnAddress);
  void call(const Instruction &instruction, const Call &call);
  [[noreturn]] void endThread();

  /// Says of threads that do not run where they are, and who is missing.
  void describeThreads(Finding &finding);
  /// Makes the place of a finding that of a thread which has not ended.
  void setPlaceOfSome(Finding &finding) const;

  /// Adds the place in the kernel that called what runs now: the first on the
  /// running thread's stack.
  void addCaller(Place &place, const void *stackPointer) const;

  /// Says which block a thread of ThreadSanitizer belongs to, by its set.
  void describeSet(int set, Place &place) const;
  bool hasSet(int set) const { return set / setsOfBlock == rankInCluster; }

  /// The thread whose private memory an address belongs to, its guard included,
  /// or -1.
  int threadOfStack(const void *address) const;
  bool isStackGuard(const void *address) const;

  GPUThread &thread(int index) { return threads[index]; }
  uint64_t index() const { return blockIndex; }
  int rank() const { return rankInCluster; }
  int numWaves() const { return int(waves.size()); }
  int numThreads() const { return int(threads.size()); }
  int numEnded() const { return numDone; }
  /// What the lanes of a wave are ordered by.
  const void *waveOrder(size_t wave) const {
    return orderObjects + size_t(2) * maxBarriers + wave;
  }
  /// The thread of ThreadSanitizer that stands for the tensor cores of a wave's
  /// warpgroup.
  void *unitOf(const GPUWave &wave);
  /// What a thread's last mbarrier.init is ordered by.
  const void *initOrder(int thread) const {
    return orderObjects + size_t(2) * maxBarriers + waves.size() + thread;
  }
  /// What orders the threads of the block at a use of the cluster's barrier,
  /// and, in the first block, those of the cluster. There are three, as a
  /// thread executes fences for its next arrival while others have not returned
  /// from the use before.
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
  /// For each thread and barrier the generation that it arrived at, 0: none.
  std::vector<uint32_t> arrivals;
  Barrier barriers[maxBarriers];
  int rankInCluster;
  int numDone = 0;
  uint64_t blockIndex = 0;
  Dimensions blockId = {0, 0, 0};
  uint64_t randomState = 0;
  char *stacks = nullptr;
  /// What ThreadSanitizer orders threads by: two for each barrier, as threads
  /// arrive again before others went on, one for each wave and each thread, and
  /// six for the cluster's barrier. They are new memory for each block, so that
  /// no block is ordered after an earlier one.
  uint64_t *orderObjects = nullptr;
  size_t orderBytes = 0;
  /// Threads of ThreadSanitizer, of which each block takes a set in turn. It
  /// takes those that used a set before for its predecessors.
  struct SanitizerSet {
    std::vector<void *> threads, units;
    std::vector<uint64_t> blocks;
  };
  std::vector<SanitizerSet> sanitizerSets;
  SanitizerSet *currentSet = nullptr;
};

/// The blocks of a cluster, which run together; mostly there is one.
class Cluster {
public:
  /// Makes room for the blocks of the launch; returns what is wrong, or an
  /// empty string.
  std::string allocate();

  /// Runs a cluster. Ends the process where it does what it must not.
  void run(uint64_t index);

  /// The index of a block of a cluster in the grid.
  uint64_t blockIndex(uint64_t cluster, int rank) const;
  Block &blockOf(int rank) { return *blocks[rank]; }

  void arrive(GPUThread &thread, bool isRelaxed);
  void wait(GPUThread &thread);
  /// What a fence of a thread releases to: a relaxed arrival after the fence
  /// releases what the fence covers, to the threads of the block or of the
  /// cluster.
  const void *fenceOrder(const GPUThread &thread, bool isForCluster) const;
  /// A thread has ended.
  void leave(const GPUThread &thread);

  /// Somebody went on for more than the end of a wait with a limit.
  void noteProgress() { numTimeouts = 0; }

  void describeThreads(Finding &finding);
  void describeSet(int set, Place &place) const;
  int threadOfStack(const void *address) const;
  bool isStackGuard(const void *address) const;

private:
  bool endLimitedWaits();
  void completeIfAll();
  [[noreturn]] void reportDeadlock();

  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Block *> visits;
  /// Of the barrier: its uses, who arrived, and who has ended without.
  uint32_t generation = 1;
  int numArrived = 0, numGone = 0;
  /// By use modulo 3, the threads that arrived relaxed after a fence for their
  /// initializations of mbarriers.
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
