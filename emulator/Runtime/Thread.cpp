//===- Thread.cpp - What an instruction can ask of the running thread -----===//

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
bool smalti::emulator::isBlockOver(int rank) {
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

void smalti::emulator::enqueueAsync(AsyncQueue queue,
                                    std::function<void()> work) {
  if (isAsyncLate())
    current->async[queue].enqueue(std::move(work));
  else
    work();
}

void smalti::emulator::commitAsync(AsyncQueue queue) {
  current->async[queue].commit();
}

void smalti::emulator::waitAsync(AsyncQueue queue, size_t pending) {
  current->async[queue].wait(pending);
}

/// Whoever of the wave waits, it is the lane that issued it who writes, and all
/// lanes see it then.
void smalti::emulator::addToUnit(WaveCounter counter,
                                 std::function<void()> work) {
  if (!isAsyncLate())
    return work();
  GPUThread *owner = current;
  const void *issuedAt = owner->returnAddress;
  current->wave->units[counter].add([owner, issuedAt, work = std::move(work)] {
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

void smalti::emulator::closeUnit(WaveCounter counter) {
  if (isAsyncLate())
    current->wave->units[counter].close(current->slot);
  current->slot = 0;
}

void smalti::emulator::waitForUnits(WaveCounter counter, size_t pending) {
  current->wave->units[counter].wait(pending);
  acquireOrder(running->waveOrder(current->wave->index));
}

void smalti::emulator::waitForSlots(WaveCounter counter, uint64_t slots) {
  current->wave->units[counter].waitForSlots(slots);
  acquireOrder(running->waveOrder(current->wave->index));
}

void smalti::emulator::setSlot(uint32_t slot) { current->slot = slot; }

/// What is at once done is no time in flight.
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

static void setPlace(Finding &finding, const GPUThread *thread) {
  finding.place.block = int64_t(running->index());
  if (!thread)
    return;
  finding.place.thread = thread->index;
  if (thread->returnAddress)
    finding.place.addReturn(thread->returnAddress);
}

[[noreturn]] static void failAt(const char *kind, const GPUThread *thread,
                                const char *format, va_list list) {
  static Finding finding(kind);
  setPlace(finding, thread);
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
  setPlace(finding, current);
  va_list list;
  va_start(list, format);
  finding.message.appendList(format, list);
  if (address) {
    finding.setAddress(address);
    finding.bytes = bytes;
    finding.message.append(": ");
    describeAddress(finding.message, address);
  }
  if (Place *place = finding.addOther()) {
    place->block = other.block;
    place->thread = other.thread;
    place->addReturn(other.returnAddress);
    place->note.append("which was executed here");
  }
  report(finding);
  endProcess(exitFindings);
}

void smalti::emulator::printOutput(const char *text, size_t length) {
  reportOutput(text, length);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

[[noreturn]] static void failAccess(const void *address, size_t bytes,
                                    const void *bad, bool isWrite) {
  static Finding finding("out-of-bounds");
  setPlace(finding, current);
  finding.place.isWrite = isWrite;
  finding.setAddress(address);
  finding.bytes = bytes;
  finding.message.append("%s of %zu bytes: ", isWrite ? "a write" : "a read",
                         bytes);
  describeAddress(finding.message, bad);
  report(finding);
  endProcess(exitFindings);
}

[[noreturn]] static void failInFlight(const void *address, size_t bytes,
                                      const WritesInFlight::Write &write) {
  static Finding finding("race");
  setPlace(finding, current);
  finding.place.isWrite = 0;
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
  // Two copies may write the same, which is told from their results.
  const WritesInFlight::Write *write = writesInFlight.find(address, bytes);
  if (write && !isWrite)
    failInFlight(address, bytes, *write);
  if (const void *bad =
          write ? nullptr : sanitizer::findPoisoned(address, bytes))
    failAccess(address, bytes, bad, isWrite);
  // Where there is nothing this faults here, as this thread.
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
                "a read of %zu bytes through the asynchronous proxy, of what "
                "thread %d wrote through the generic one: neither executed "
                "fence.proxy.async in between",
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

void smalti::emulator::touchReadAsUnit(const Origin &origin,
                                       const void *address, size_t bytes) {
  sanitizer::access(running->unitOf(*current->wave), address, bytes,
                    /*isWrite=*/false, /*isAtomic=*/false,
                    origin.returnAddress);
}

void smalti::emulator::releaseOrderAsUnit(const void *object) {
  sanitizer::release(running->unitOf(*current->wave), object);
}

void smalti::emulator::acquireOrderAsUnit(const void *object) {
  sanitizer::acquire(running->unitOf(*current->wave), object);
}

void smalti::emulator::acquireOrderOfWave(const void *object) {
  for (int lane = 0; lane < waveSize(); ++lane)
    sanitizer::acquire(
        running->thread(current->wave->first + lane).sanitizerThread, object);
}

bool smalti::emulator::areRacesSought() {
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
