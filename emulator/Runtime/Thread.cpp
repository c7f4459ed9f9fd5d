//===- Thread.cpp - Implementation of the interface of instructions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Thread.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Library.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Proxies.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <cstdarg>
#include <unistd.h>

using namespace smalti::emulator;

//===----------------------------------------------------------------------===//
// What kernel libraries call
//===----------------------------------------------------------------------===//

extern "C" __attribute__((visibility("default"))) void
smalti_emu_call(const Instruction *instruction, const Site *site, void *result,
                const void *const *operands) {
  sanitizer::leaveKernel();
  GPUThread *thread = current;
  Call call = {site, result, operands, __builtin_return_address(0)};
  thread->returnAddress = call.returnAddress;
  running->call(*instruction, call);
  thread->returnAddress = nullptr;
  sanitizer::enterKernel(thread->sanitizerThread);
}

extern "C" __attribute__((visibility("default"))) void smalti_emu_yield() {
  sanitizer::leaveKernel();
  GPUThread *thread = current;
  running->yield(__builtin_return_address(0));
  sanitizer::enterKernel(thread->sanitizerThread);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Dimensions smalti::emulator::threadId() { return current->id; }
Dimensions smalti::emulator::blockId() { return running->id(); }
Dimensions smalti::emulator::blockSize() { return launch.block; }
Dimensions smalti::emulator::gridSize() { return launch.grid; }
int smalti::emulator::linearThreadId() { return current->index; }
int smalti::emulator::laneId() { return current->lane; }
int smalti::emulator::waveId() { return current->wave->index; }
int smalti::emulator::waveSize() { return launch.waveSize; }
int smalti::emulator::numThreads() { return launch.numThreads(); }
const char *smalti::emulator::architecture() {
  return launch.architecture.c_str();
}

char *smalti::emulator::sharedBase() {
  return sharedMemory.base(running->rank());
}
uint32_t smalti::emulator::sharedBytes() { return sharedMemory.totalBytes(); }
uint32_t smalti::emulator::dynamicSharedBytes() {
  return launch.dynamicSharedBytes;
}
const void *smalti::emulator::kernelArguments() {
  return argumentMemory.segment();
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

extern "C" __attribute__((visibility("default"))) void *
smalti_emu_shared_base() {
  return sharedBase();
}

Dimensions smalti::emulator::clusterSizes() { return launch.cluster; }
int smalti::emulator::clusterSize() { return launch.clusterSize(); }
int smalti::emulator::clusterRank() { return running->rank(); }
int smalti::emulator::waveIdInCluster() {
  return running->rank() * running->numWaves() + current->wave->index;
}
int smalti::emulator::rankOfShared(const void *address) {
  return sharedMemory.contains(address) ? sharedMemory.rankOf(address) : -1;
}
char *smalti::emulator::sharedBaseOf(int rank) {
  return sharedMemory.base(rank);
}
bool smalti::emulator::hasBlockExited(int rank) {
  return cluster.blockOf(rank).isDone();
}
void smalti::emulator::arriveInCluster(bool isRelaxed) {
  cluster.arrive(*current, isRelaxed);
}
void smalti::emulator::waitInCluster() { cluster.wait(*current); }

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

bool smalti::emulator::arriveAtBarrier(int id, int expected) {
  return running->arrive(id, expected);
}
void smalti::emulator::waitAtBarrier(int id) { running->wait(id); }
bool smalti::emulator::waitUntil(const char *what,
                                 const std::function<bool()> &ready,
                                 bool isLimited) {
  return running->waitUntil(what, ready, isLimited);
}
void smalti::emulator::yield() { running->yield(nullptr); }
void smalti::emulator::endThread() { running->endThread(); }

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

bool smalti::emulator::isAsyncLate() { return launch.copiesLate; }

void smalti::emulator::enqueueAsync(AsyncCompletion queue,
                                    std::function<void()> work) {
  if (isAsyncLate())
    current->async[queue].enqueue(std::move(work));
  else
    work();
}

void smalti::emulator::commitAsync(AsyncCompletion queue) {
  current->async[queue].commit();
}

void smalti::emulator::waitAsync(AsyncCompletion queue, size_t pending) {
  current->async[queue].wait(pending);
}

/// The write is attributed to the lane that issued the copy, whichever lane
/// waits, and is then ordered before the later accesses of all lanes of the
/// wave.
void smalti::emulator::addToCounter(WaveCounter counter,
                                    std::function<void()> work) {
  if (!isAsyncLate())
    return work();
  GPUThread *owner = current;
  const void *issuedAt = owner->returnAddress;
  current->wave->entries[counter].add(
      [owner, issuedAt, work = std::move(work)] {
        GPUThread *waiter = current;
        const void *waiterAt = owner->returnAddress;
        current = owner;
        owner->returnAddress = issuedAt;
        work();
        releaseOrder(running->waveOrder(owner->wave->index));
        owner->returnAddress = waiterAt;
        current = waiter;
      });
}

void smalti::emulator::closeCounterEntry(WaveCounter counter) {
  if (isAsyncLate())
    current->wave->entries[counter].close(current->slot);
  current->slot = 0;
}

void smalti::emulator::waitForCounter(WaveCounter counter, size_t pending) {
  current->wave->entries[counter].wait(pending);
  acquireOrder(running->waveOrder(current->wave->index));
}

void smalti::emulator::waitForSlots(WaveCounter counter, uint64_t slots) {
  current->wave->entries[counter].waitForSlots(slots);
  acquireOrder(running->waveOrder(current->wave->index));
}

void smalti::emulator::setSlot(uint32_t slot) { current->slot = slot; }

/// A write that completes immediately is never in flight.
static constexpr uint32_t noWrite = UINT32_MAX;

uint32_t smalti::emulator::beginWrite(const SharedRange &range) {
  if (!isAsyncLate() || range.bytes == 0 || !sharedMemory.contains(range.to))
    return noWrite;
  return writesInFlight.begin({range.to, range.bytes, int64_t(running->index()),
                               current->index, current->returnAddress});
}

void smalti::emulator::endWrite(uint32_t write) {
  if (write != noWrite)
    writesInFlight.end(write);
}

const BlockObserver *BlockObserver::first = nullptr;

BlockObserver::BlockObserver(void (*begin)(), void (*end)())
    : atBegin(begin), atEnd(end), next(first) {
  first = this;
}

void BlockObserver::begin() {
  for (const BlockObserver *each = first; each; each = each->next)
    if (each->atBegin)
      each->atBegin();
}

void BlockObserver::end() {
  for (const BlockObserver *each = first; each; each = each->next)
    if (each->atEnd)
      each->atEnd();
}

Origin smalti::emulator::originHere() {
  return {int64_t(running->index()), current->index, current->returnAddress};
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

static void setLocation(Finding &finding, const GPUThread *thread) {
  finding.location.block = int64_t(running->index());
  if (!thread)
    return;
  finding.location.thread = thread->index;
  if (thread->returnAddress)
    finding.location.addReturn(thread->returnAddress);
}

[[noreturn]] static void failAt(const char *kind, const GPUThread *thread,
                                const char *format, va_list list) {
  static Finding finding(kind);
  setLocation(finding, thread);
  finding.message.appendList(format, list);
  report(finding);
  endProcess(exitFindings);
}

void smalti::emulator::fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  failAt("fault", current, format, list);
}

void smalti::emulator::failAs(const char *kind, const char *format, ...) {
  va_list list;
  va_start(list, format);
  failAt(kind, current, format, list);
}

void smalti::emulator::failLane(const Call &, int lane, const char *format,
                                ...) {
  va_list list;
  va_start(list, format);
  failAt("fault", &running->thread(current->wave->first + lane), format, list);
}

void smalti::emulator::failInOrder(const char *kind, const Origin &other,
                                   const void *address, size_t bytes,
                                   const char *format, ...) {
  static Finding finding(kind);
  finding.kind = kind;
  setLocation(finding, current);
  va_list list;
  va_start(list, format);
  finding.message.appendList(format, list);
  if (address) {
    finding.setAddress(address);
    finding.bytes = bytes;
    finding.message.append(": ");
    describeAddress(finding.message, address);
  }
  if (ThreadLocation *location = finding.addOther()) {
    location->block = other.block;
    location->thread = other.thread;
    location->addReturn(other.returnAddress);
    location->note.append("the operation that it conflicts with");
  }
  report(finding);
  endProcess(exitFindings);
}

/// The last output, and the thread that printed it.
static struct {
  const GPUThread *thread = nullptr;
  uint64_t block = 0;
  std::string text;
} lastOutput;

void smalti::emulator::printOutput(const char *text, size_t length) {
  reportOutput(text, length);
  lastOutput = {current, running->index(), std::string(text, length)};
}

std::string smalti::emulator::getLastLine() {
  if (!current || lastOutput.thread != current ||
      lastOutput.block != running->index())
    return "";
  std::string line = lastOutput.text;
  while (!line.empty() && line.back() == '\n')
    line.pop_back();
  return line.substr(line.rfind('\n') + 1);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

[[noreturn]] static void failAccess(const void *address, size_t bytes,
                                    const void *bad, bool isWrite) {
  static Finding finding("out-of-bounds");
  setLocation(finding, current);
  finding.location.isWrite = isWrite;
  finding.setAddress(address);
  finding.bytes = bytes;
  finding.message.append(
      "out-of-bounds %s of %zu bytes: ", isWrite ? "write" : "read", bytes);
  describeAddress(finding.message, bad);
  report(finding);
  endProcess(exitFindings);
}

[[noreturn]] static void failInFlight(const void *address, size_t bytes,
                                      const WritesInFlight::Write &write) {
  static Finding finding("race");
  setLocation(finding, current);
  finding.location.isWrite = 0;
  finding.setAddress(address);
  finding.bytes = bytes;
  writesInFlight.describe(finding, write, address, bytes, /*isWrite=*/false);
  report(finding);
  endProcess(exitFindings);
}

static void touch(const void *address, size_t bytes, bool isWrite,
                  bool isAtomic = false) {
  if (bytes == 0)
    return;
  auto *first = static_cast<const volatile char *>(address);
  const volatile char *end = first + bytes;
  if (sharedMemory.contains(address)) {
    const char *sharedEnd = sharedMemory.endFor(address);
    if (end > sharedEnd)
      failAccess(address, bytes,
                 first > sharedEnd ? address : const_cast<char *>(sharedEnd),
                 isWrite);
  }
  // Two copies may write the same bytes; the results show that error.
  const WritesInFlight::Write *write = writesInFlight.find(address, bytes);
  if (write && !isWrite)
    failInFlight(address, bytes, *write);
  if (const void *bad =
          write ? nullptr : sanitizer::findPoisoned(address, bytes))
    failAccess(address, bytes, bad, isWrite);
  // An access to unmapped memory faults here, attributed to this thread.
  (void)*first;
  (void)end[-1];
  sanitizer::access(current->sanitizerThread, address, bytes, isWrite, isAtomic,
                    current->returnAddress);
}

void smalti::emulator::touchRead(const void *address, size_t bytes) {
  touch(address, bytes, false);
}

void smalti::emulator::touchWrite(void *address, size_t bytes) {
  touch(address, bytes, true);
  noteGenericWrite(address, bytes);
}

void smalti::emulator::touchAsyncRead(const void *address, size_t bytes) {
  touch(address, bytes, false);
  const GenericWrites::Write *write =
      genericWrites.findUnfenced(address, bytes);
  if (write)
    failInOrder("race", {write->block, write->thread, write->returnAddress},
                address, bytes,
                "missing proxy fence: the async proxy reads %zu bytes that "
                "thread %d wrote through the generic proxy; execute "
                "fence.proxy.async between the write and the read",
                bytes, write->thread);
}

void smalti::emulator::touchAsyncWrite(void *address, size_t bytes) {
  touch(address, bytes, true);
  genericWrites.forget(address, bytes);
}

void smalti::emulator::noteGenericWrite(const void *address, size_t bytes) {
  genericWrites.note(address, bytes, current->returnAddress);
}

void smalti::emulator::fenceProxies() { genericWrites.fence(); }

void smalti::emulator::touchReadByTensorCores(const Origin &origin,
                                              const void *address,
                                              size_t bytes) {
  sanitizer::access(running->tensorCoresOf(*current->wave), address, bytes,
                    /*isWrite=*/false, /*isAtomic=*/false,
                    origin.returnAddress);
}

void smalti::emulator::releaseByTensorCores(const void *object) {
  sanitizer::release(running->tensorCoresOf(*current->wave), object);
}

void smalti::emulator::acquireByTensorCores(const void *object) {
  sanitizer::acquire(running->tensorCoresOf(*current->wave), object);
}

void smalti::emulator::acquireOrderOfWave(const void *object) {
  for (int lane = 0; lane < waveSize(); ++lane)
    sanitizer::acquire(
        running->thread(current->wave->first + lane).sanitizerThread, object);
}

bool smalti::emulator::isCheckingRaces() {
  return sanitizer::kind == sanitizer::Kind::Thread;
}

void smalti::emulator::touchAtomicRead(const void *address, size_t bytes) {
  touch(address, bytes, false, true);
}

void smalti::emulator::touchAtomic(void *address, size_t bytes) {
  touch(address, bytes, true, true);
  noteGenericWrite(address, bytes);
}

void smalti::emulator::releaseOrder(const void *object) {
  sanitizer::release(current->sanitizerThread, object);
}

void smalti::emulator::fenceMemory() {
  sanitizer::acquire(current->sanitizerThread, &sanitizer::fenceObject);
  sanitizer::release(current->sanitizerThread, &sanitizer::fenceObject);
  releaseAtClusterArrival(/*isForCluster=*/true);
}

void smalti::emulator::releaseAtClusterArrival(bool isForCluster) {
  sanitizer::release(current->sanitizerThread,
                     cluster.fenceOrder(*current, isForCluster));
}

void smalti::emulator::noteMbarrierInit() {
  sanitizer::release(current->sanitizerThread,
                     running->initOrder(current->index));
  current->areInitsFenced = false;
}

void smalti::emulator::fenceMbarrierInits() { current->areInitsFenced = true; }

void smalti::emulator::acquireOrder(const void *object) {
  sanitizer::acquire(current->sanitizerThread, object);
}
