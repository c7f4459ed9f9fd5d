//===- Thread.h - Engine interface for threads and memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that an engine with threads and memory implements
// (`Runtime/Thread.cpp`). All functions refer to the running thread, or in a
// wave-level instruction to the block of the wave. Only instructions that
// access memory, wait, or read the thread index include this file; all others
// use `Context.h`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_THREAD_H
#define SMALTI_EMULATOR_INSTRUCTIONS_THREAD_H

#include "smalti/emulator/Instructions/Context.h"

#include <functional>
#include <string>
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
/// The index of the thread in its block, x first.
int linearThreadId();
int waveId();
int waveSize();
int numThreads();

/// Shared memory of the block. It is below 4 GiB, so that 32 bits of a pointer
/// suffice. Static arrays come first, then `dynamicSharedBytes`.
char *sharedBase();
uint32_t sharedBytes();
uint32_t dynamicSharedBytes();

/// The kernel arguments as the hardware lays them out, for instructions that
/// return their address (AMD's `kernarg.segment.ptr`).
const void *kernelArguments();

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// The size of the cluster, and the rank of this block, x first.
Dimensions clusterSizes();
int clusterSize();
int clusterRank();
/// The index of the wave in the cluster.
int waveIdInCluster();

/// The rank whose shared memory contains an address, or -1, and the start of
/// the shared memory of a rank. Offsets are the same in all blocks.
int rankOfShared(const void *address);
char *sharedBaseOf(int rank);

/// Whether all threads of a block have exited: its shared memory is no longer
/// valid.
bool hasBlockExited(int rank);

/// The barrier of a cluster. As barriers of a block, it does not wait for
/// exited threads. A relaxed arrival releases only the accesses that earlier
/// fences of its thread cover.
void arriveInCluster(bool isRelaxed);
void waitInCluster();

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// Arrives at barrier `id` of the block without waiting. `expected` threads
/// participate (0: the whole block); all participants must pass the same
/// number. Barriers can be reused. Returns whether the thread is the first
/// since the last completion.
bool arriveAtBarrier(int id, int expected = 0);

/// Waits until the barrier at which this thread last arrived is complete.
/// Accesses before the arrivals happen before accesses after the wait.
void waitAtBarrier(int id);

/// Runs the other threads until `ready` is true; `what` names the wait in the
/// report of a deadlock. Returns immediately if it is already true. A limited
/// wait also ends when no thread can make progress, and then returns false.
bool waitUntil(const char *what, const std::function<bool()> &ready,
               bool isLimited = false);

/// Runs the other threads, for a loop that waits for them.
void yield();

/// Exits the thread.
[[noreturn]] void endThread();

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

/// Whether asynchronous operations complete at the latest permitted time, not
/// immediately.
bool isAsyncLate();

/// Deferred operations of each thread. `commit` closes a group; `wait(n)`
/// completes all groups but the last `n`. Operations without a wait are never
/// executed.
enum AsyncCompletion { cpAsyncQueue, bulkQueue, numAsyncQueues };
void enqueueAsync(AsyncCompletion queue, std::function<void()> work);
void commitAsync(AsyncCompletion queue);
void waitAsync(AsyncCompletion queue, size_t pending);

/// Counters of a wave. The operations that one instruction defers in all lanes
/// are one entry. Entries complete in order.
enum WaveCounter {
  loadCounter,
  asyncLoadCounter,
  asyncStoreCounter,
  tensorCounter,
  numWaveCounters
};
/// `addToCounter` is called in `touch`, for the running lane;
/// `closeCounterEntry` in `ofWave`, for all lanes.
void addToCounter(WaveCounter counter, std::function<void()> work);
void closeCounterEntry(WaveCounter counter);
/// Completes the entries of the thread's wave but the last `pending`, or those
/// up to the last entry whose slot has a bit.
void waitForCounter(WaveCounter counter, size_t pending);
void waitForSlots(WaveCounter counter, uint64_t slots);
/// The slot of the next entry of the wave; the default is 0.
void setSlot(uint32_t slot);

/// Bytes of shared memory.
struct SharedRange {
  char *to;
  size_t bytes;
};
/// From `beginWrite` to `endWrite` an asynchronous copy may write the bytes:
/// other accesses race with it, and read poison.
uint32_t beginWrite(const SharedRange &range);
void endWrite(uint32_t write);

/// Wraps deferred `work` that writes shared memory.
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

/// Callbacks for state that instructions keep about the running cluster: to
/// reset it before a cluster begins, and to check it at the end. Either may be
/// null.
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

/// The thread that executed an instruction, and the location.
struct Origin {
  int64_t block = -1;
  int thread = -1;
  const void *returnAddress = nullptr;
};
Origin originHere();

//===----------------------------------------------------------------------===//
// Memory and findings
//===----------------------------------------------------------------------===//

/// Reports a read or write of the running thread to the sanitizers, and checks
/// it. An instruction calls this before it accesses memory for a thread.
void touchRead(const void *address, size_t bytes);
void touchWrite(void *address, size_t bytes);

/// The same through NVIDIA's async proxy. A read checks that a proxy fence
/// follows generic writes to shared memory.
void touchAsyncRead(const void *address, size_t bytes);
void touchAsyncWrite(void *address, size_t bytes);

/// Records a generic write to shared memory by compiled code, at the location
/// of the call; and the proxy fence.
void noteGenericWrite(const void *address, size_t bytes);
void fenceProxies();

/// Reports to ThreadSanitizer a read by the tensor cores of the running
/// warpgroup, for an instruction that was executed before, and its ordering.
void touchReadByTensorCores(const Origin &origin, const void *address,
                            size_t bytes);
void releaseByTensorCores(const void *object);
void acquireByTensorCores(const void *object);
/// Calls `acquireOrder` for each lane of the running wave.
void acquireOrderOfWave(const void *object);
/// Whether ThreadSanitizer is used.
bool isCheckingRaces();

/// The same for a relaxed atomic: atomics do not race with each other, but with
/// non-atomic accesses.
void touchAtomicRead(const void *address, size_t bytes);
void touchAtomic(void *address, size_t bytes);

/// A release and an acquire of an object, for the sanitizers. An instruction
/// that synchronizes calls them.
void releaseOrder(const void *object);
void acquireOrder(const void *object);

/// A fence of device scope, for the sanitizers: it happens after earlier fences
/// of all threads. Relaxed atomics do not synchronize by themselves.
void fenceMemory();

/// A fence that synchronizes only through the next arrival of the thread at the
/// cluster barrier, for the sanitizers. The accesses before the fence happen
/// before the accesses after the wait, of the threads of the block or of the
/// cluster.
void releaseAtClusterArrival(bool isForCluster);
/// The same for the mbarrier initializations of the thread; each initialization
/// is recorded.
void fenceMbarrierInits();
void noteMbarrierInit();

/// `failAs`, with an earlier instruction as the other participant. `address`
/// can be null.
[[noreturn]] void failInOrder(const char *kind, const Origin &other,
                              const void *address, size_t bytes,
                              const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/// Prints output of the program (`vprintf`) to the output of the launch.
void printOutput(const char *text, size_t length);

/// The last line of output, if the current thread printed it; otherwise empty.
/// Code that ends a kernel prints the reason first.
std::string getLastLine();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_THREAD_H
