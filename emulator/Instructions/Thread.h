//===- Thread.h - What an instruction can ask of the running thread -------===//
//
// The interface that an engine with threads and memory implements
// (`Runtime/Thread.cpp`). All functions speak of the thread that runs now, or,
// in an instruction of a wave, of the wave's block. Only instructions that
// access memory, wait, or ask where their thread is include this file; all
// others need `Context.h` alone.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_THREAD_H
#define SMALTI_EMULATOR_INSTRUCTIONS_THREAD_H

#include "smalti/emulator/Instructions/Context.h"

#include <functional>
#include <vector>

namespace smalti::emulator {

struct Dimensions {
  int32_t x, y, z;
};

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Dimensions threadId();
Dimensions blockId();
Dimensions blockSize();
Dimensions gridSize();
/// The thread's place in its block, x first.
int linearThreadId();
int waveId();
int waveSize();
int numThreads();

/// Shared memory of the block, below 4 GiB, so that a pointer to it and its
/// 32 bits tell the same. Static arrays come first, then `dynamicSharedBytes`.
char *sharedBase();
uint32_t sharedBytes();
uint32_t dynamicSharedBytes();

/// The kernel's arguments as the hardware would see them, for instructions that
/// return their address (AMD's `kernarg.segment.ptr`).
const void *kernelArguments();

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// The blocks of a cluster, and the place of this one among them, x first.
Dimensions clusterSizes();
int clusterSize();
int clusterRank();
/// The wave's place among those of the whole cluster.
int waveIdInCluster();

/// The block whose shared memory an address is in, or -1, and where that of a
/// block begins. What is here is in all of them at the same distance.
int rankOfShared(const void *address);
char *sharedBaseOf(int rank);

/// Whether all threads of a block have ended: its shared memory is gone.
bool isBlockOver(int rank);

/// The barrier of a cluster, as barriers of a block: it does not wait for
/// threads that have ended. A relaxed arrival releases only what fences of its
/// thread covered before.
void arriveInCluster(bool isRelaxed);
void waitInCluster();

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// Arrives at the barrier `id` of the block, of which `expected` threads take
/// part (0: all of the block), and goes on. Barriers of the same id can be used
/// again and again; `expected` must be the same for all that take part. Returns
/// whether the thread is the first since the barrier was last complete.
bool arriveAtBarrier(int id, int expected = 0);

/// Waits until the barrier that this thread last arrived at is complete. What
/// threads did before they arrived is seen by those that waited.
void waitAtBarrier(int id);

/// Lets the other threads run until `ready` holds; `what` names it in the
/// report of a deadlock. Returns at once where it holds already. A limited wait
/// also ends when nobody can go on, and then returns false.
bool waitUntil(const char *what, const std::function<bool()> &ready,
               bool isLimited = false);

/// Lets the other threads run: for a loop that waits for them.
void yield();

/// Ends the thread where it is.
[[noreturn]] void endThread();

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

/// Whether asynchronous work is done at its last allowed moment, and not at
/// once.
bool isAsyncLate();

/// Lists of things to do later, for each thread. `commit` closes a group;
/// `wait(n)` does all groups but the last `n`. What is never waited for is
/// never done.
enum AsyncQueue { cpAsyncQueue, bulkQueue, numAsyncQueues };
void enqueueAsync(AsyncQueue queue, std::function<void()> work);
void commitAsync(AsyncQueue queue);
void waitAsync(AsyncQueue queue, size_t pending);

/// Counters of a wave: what its lanes put off in one instruction is a unit.
/// Units are done in their order.
enum WaveCounter {
  loadCounter,
  asyncLoadCounter,
  asyncStoreCounter,
  tensorCounter,
  numWaveCounters
};
/// In an instruction's `touch`, for the lane that runs; `closeUnit` is for all
/// lanes, in its `ofWave`.
void addToUnit(WaveCounter counter, std::function<void()> work);
void closeUnit(WaveCounter counter);
/// Does the units of the thread's wave but the last `pending`, or those up to
/// the last one of the slots that have a bit.
void waitForUnits(WaveCounter counter, size_t pending);
void waitForSlots(WaveCounter counter, uint64_t slots);
/// The slot of the next unit of this thread's wave, 0 without it.
void setSlot(uint32_t slot);

/// Bytes of shared memory.
struct SharedRange {
  char *to;
  size_t bytes;
};
/// From `beginWrite` to `endWrite` the memory is an asynchronous copy's: those
/// who read or write there race with it, and find poison.
uint32_t beginWrite(const SharedRange &range);
void endWrite(uint32_t write);

/// `work`, which writes shared memory and is put off.
template <class Work> auto inFlight(const SharedRange &range, Work work) {
  return [write = beginWrite(range), work = std::move(work)] {
    endWrite(write);
    work();
  };
}
template <class Work>
auto inFlight(const std::vector<SharedRange> &ranges, Work work) {
  std::vector<uint32_t> writes;
  for (const SharedRange &range : ranges)
    writes.push_back(beginWrite(range));
  return [writes = std::move(writes), work = std::move(work)] {
    for (uint32_t write : writes)
      endWrite(write);
    work();
  };
}

/// What instructions keep of the running cluster: they forget it before one
/// begins, and look at what is left when it is over. Either may be null.
class BlockObserver {
public:
  BlockObserver(void (*begin)(), void (*end)());
  static void begin();
  static void end();

private:
  void (*atBegin)(), (*atEnd)();
  const BlockObserver *next;
  static const BlockObserver *first;
};

/// Who executed an instruction, and where.
struct Origin {
  int64_t block = -1;
  int thread = -1;
  const void *returnAddress = nullptr;
};
Origin originHere();

//===----------------------------------------------------------------------===//
// Memory and findings
//===----------------------------------------------------------------------===//

/// Tells the sanitizers that the running thread reads or writes memory, and
/// checks it: an instruction calls this before it touches memory for a thread.
void touchRead(const void *address, size_t bytes);
void touchWrite(void *address, size_t bytes);

/// The same through NVIDIA's asynchronous proxy: a read checks that a proxy
/// fence follows what threads wrote to shared memory.
void touchAsyncRead(const void *address, size_t bytes);
void touchAsyncWrite(void *address, size_t bytes);

/// What the compiler's own code writes to shared memory at the place that a
/// call returns to, and the fence.
void noteGenericWrite(const void *address, size_t bytes);
void fenceProxies();

/// Tells ThreadSanitizer alone of a read by the tensor cores of the running
/// warpgroup, for an instruction that was executed before, and of what orders
/// that.
void touchReadAsUnit(const Origin &origin, const void *address, size_t bytes);
void releaseOrderAsUnit(const void *object);
void acquireOrderAsUnit(const void *object);
/// `acquireOrder` of each lane of the running wave.
void acquireOrderOfWave(const void *object);
/// Whether it listens.
bool areRacesSought();

/// The same of an atomic without order: none of them races with another, and
/// each with what is not atomic.
void touchAtomicRead(const void *address, size_t bytes);
void touchAtomic(void *address, size_t bytes);

/// Orders everything before a `release` of an object before what comes after an
/// `acquire` of it, for the sanitizers: an instruction that synchronises says
/// so.
void releaseOrder(const void *object);
void acquireOrder(const void *object);

/// Orders memory as a fence for the device does, for the sanitizers: after what
/// came before earlier fences of all threads. Atomics that are relaxed order
/// nothing themselves.
void fenceMemory();

/// Of a fence the release pattern with the thread's next arrival at the
/// cluster's barrier alone, for the sanitizers: the threads of the block, or of
/// the cluster, that wait there are ordered after what came before the fence.
void releaseAtClusterArrival(bool isForCluster);
/// The same for the thread's initializations of mbarriers, each of which is
/// noted.
void fenceMbarrierInits();
void noteMbarrierInit();

/// `failAs`, with an instruction that was executed before as the other side.
/// `address` can be null.
[[noreturn]] void failInOrder(const char *kind, const Origin &other,
                              const void *address, size_t bytes,
                              const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/// Prints what the program wants printed (`vprintf`), behind the launch's
/// output.
void printOutput(const char *text, size_t length);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_THREAD_H
