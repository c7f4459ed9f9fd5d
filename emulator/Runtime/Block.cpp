//===- Block.cpp - The threads of a block and their schedule --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Library.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <climits>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace smalti::emulator;

Block *smalti::emulator::running = nullptr;
GPUThread *smalti::emulator::current = nullptr;

/// The private memory of a thread is its stack.
static constexpr size_t stackBytes = size_t(256) * 1024;
/// An inaccessible range below the stack, as large as the frame of a function.
static constexpr size_t guardBytes = size_t(256) * 1024;

static uint64_t bitOf(const GPUThread &thread) {
  return uint64_t(1) << thread.lane;
}

static int firstLane(uint64_t lanes) { return __builtin_ctzll(lanes); }

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

static char *mapMemory(size_t bytes) {
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
}

std::string Block::allocate() {
  int numThreads = launch.numThreads();
  threads = std::vector<GPUThread>(numThreads);
  waves.resize((numThreads + launch.waveSize - 1) / launch.waveSize);
  visits.resize(waves.size());
  arrivals.resize(size_t(numThreads) * maxBarriers);
  for (int i = 0; i < numThreads; ++i) {
    GPUThread &thread = threads[i];
    thread.index = i;
    thread.block = this;
    thread.lane = i % launch.waveSize;
    thread.wave = &waves[i / launch.waveSize];
    thread.id = {i % launch.block.x, i / launch.block.x % launch.block.y,
                 i / launch.block.x / launch.block.y};
    GPUWave &wave = *thread.wave;
    wave.index = i / launch.waveSize;
    wave.first = wave.index * launch.waveSize;
    wave.lanes |= bitOf(thread);
  }
  orderBytes = sizeof(*orderObjects) *
               (size_t(2) * maxBarriers + waves.size() + threads.size() + 6);
  if (!mapStacks())
    return std::string("cannot allocate the stacks of the emulated threads: ") +
           strerror(errno);
  return "";
}

bool Block::mapStacks() {
  size_t each = guardBytes + stackBytes, all = threads.size() * each;
  if (stacks) {
    munmap(stacks, all);
    munmap(orderObjects, orderBytes);
  }
  stacks = mapMemory(all);
  orderObjects = reinterpret_cast<uint64_t *>(mapMemory(orderBytes));
  if (!stacks || !orderObjects)
    return false;
  for (size_t i = 0; i < threads.size(); ++i)
    if (mprotect(stacks + i * each, guardBytes, PROT_NONE))
      return false;
  return true;
}

int Block::threadOfStack(const void *address) const {
  size_t each = guardBytes + stackBytes;
  auto value = static_cast<const char *>(address);
  if (!stacks || value < stacks || value >= stacks + threads.size() * each)
    return -1;
  return int((value - stacks) / each);
}

bool Block::isStackGuard(const void *address) const {
  size_t each = guardBytes + stackBytes;
  return threadOfStack(address) >= 0 &&
         (static_cast<const char *>(address) - stacks) % each < guardBytes;
}

void Block::begin(uint64_t index) {
  blockIndex = index;
  uint64_t x = launch.grid.x, y = launch.grid.y;
  blockId = {int32_t(index % x), int32_t(index / x % y),
             int32_t(index / x / y)};
  numDone = 0;
  randomState = launch.seed + index;
  sharedMemory.begin(rankInCluster);
  std::fill(arrivals.begin(), arrivals.end(), 0);
  for (Barrier &barrier : barriers)
    barrier = {1, 0, 0, 0, nullptr};
  for (GPUWave &wave : waves) {
    for (WaveCounterEntries &entries : wave.entries)
      entries.clear();
    wave.ready = wave.lanes;
    wave.inWave = wave.atBarrier = wave.waiting = wave.done = wave.yielded = 0;
  }

  for (size_t i = 0; i < waves.size(); ++i)
    visits[i] =
        &waves[launch.order == Order::HighestFirst ? waves.size() - 1 - i : i];

  if (sanitizer::kind == sanitizer::Kind::Thread)
    beginSanitizerThreads();
  size_t each = guardBytes + stackBytes;
  for (GPUThread &thread : threads) {
    thread.state = GPUThread::State::Ready;
    thread.returnAddress = nullptr;
    thread.instruction = nullptr;
    thread.slot = 0;
    thread.clusterArrival = 0;
    thread.areInitsFenced = false;
    for (AsyncWork &work : thread.async)
      work.clear();
    char *stack = stacks + thread.index * each + guardBytes;
    if (currentSet)
      thread.sanitizerThread = currentSet->threads[thread.index];
    thread.fiber.prepare(stack, stackBytes, runThread);
  }
}

/// Gives the block fresh stacks and order objects, which ThreadSanitizer has
/// not seen before, and a set of ThreadSanitizer fibers.
void Block::beginSanitizerThreads() {
  if (!mapStacks()) {
    Finding finding("internal");
    finding.message.append(
        "cannot allocate the stacks of the emulated threads: %s",
        strerror(errno));
    report(finding);
    endProcess(exitFindings);
  }
  // An odd number, so that blocks at power-of-two distances use different sets.
  constexpr size_t manyThreads = 1024;
  if (sanitizerSets.empty()) {
    size_t count = std::max<size_t>(4, manyThreads / threads.size()) - 1;
    sanitizerSets.resize(count | 1);
  }
  size_t set = (blockIndex - launch.firstBlock) % sanitizerSets.size();
  currentSet = &sanitizerSets[set];
  currentSet->blocks.push_back(blockIndex);
  if (currentSet->threads.empty()) {
    for (const GPUThread &thread : threads)
      currentSet->threads.push_back(sanitizer::createThread(
          rankInCluster * setsOfBlock + int(set), thread.index));
    return;
  }
  // The set was used by an earlier block: that block happens before this one.
  for (auto *threads : {&currentSet->threads, &currentSet->entries})
    for (void *thread : *threads)
      sanitizer::release(thread, currentSet);
  for (auto *threads : {&currentSet->threads, &currentSet->entries})
    for (void *thread : *threads)
      sanitizer::acquire(thread, currentSet);
}

void *Block::tensorCoresOf(const GPUWave &wave) {
  if (!currentSet)
    return nullptr;
  int each = 4, unit = wave.index / each;
  while (int(currentSet->entries.size()) <= unit) {
    int first = int(currentSet->entries.size()) * each * launch.waveSize;
    currentSet->entries.push_back(sanitizer::createThread(
        rankInCluster * setsOfBlock + int(currentSet - sanitizerSets.data()),
        first));
  }
  return currentSet->entries[unit];
}

void Block::describeSet(int set, ThreadLocation &location) const {
  const SanitizerSet &of = sanitizerSets[set % setsOfBlock];
  if (&of == currentSet || of.blocks.size() == 1) {
    location.block = int64_t(of.blocks.back());
    return;
  }
  location.note.append("one of the blocks ");
  for (size_t i = 0; i < of.blocks.size(); ++i)
    location.note.append("%s%llu", i ? ", " : "",
                         (unsigned long long)of.blocks[i]);
  location.note.append(": ");
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// splitmix64: a random sequence for each block.
uint64_t Block::random() {
  uint64_t z = randomState += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

bool Block::step() {
  if (launch.order == Order::Random)
    for (size_t i = visits.size() - 1; i > 0; --i)
      std::swap(visits[i], visits[random() % (i + 1)]);
  bool progress = false;
  for (GPUWave *wave : visits) {
    int maxSteps = launch.order == Order::RoundRobin ? 1
                   : launch.order == Order::Random   ? int(random() % 8) + 1
                                                     : INT_MAX;
    progress |= visit(*wave, maxSteps);
  }
  return progress;
}

bool Block::forceGroup() {
  return std::any_of(visits.begin(), visits.end(), [&](GPUWave *wave) {
    return formGroup(*wave, /*isForced=*/true);
  });
}

/// Alternately runs the ready lanes of a wave up to a wave-level instruction
/// and executes that instruction. Returns whether there was progress.
bool Block::visit(GPUWave &wave, int maxSteps) {
  bool progress = wave.waiting && pollConditions(wave);
  for (int steps = 0; steps < maxSteps; ++steps) {
    if (wave.ready) {
      runReady(wave);
      progress = true;
    }
    if (!formGroup(wave, /*isForced=*/false))
      break;
    progress = true;
  }
  if (wave.yielded) {
    wave.ready |= wave.yielded;
    wave.yielded = 0;
    progress = true;
  }
  return progress;
}

bool Block::pollConditions(GPUWave &wave) {
  bool progress = false;
  for (uint64_t rest = wave.waiting; rest; rest &= rest - 1) {
    GPUThread &thread = threads[wave.first + firstLane(rest)];
    current = &thread;
    bool isReady = (*thread.condition)();
    current = nullptr;
    if (!isReady)
      continue;
    thread.state = GPUThread::State::Ready;
    wave.waiting &= ~bitOf(thread);
    wave.ready |= bitOf(thread);
    cluster.noteProgress();
    progress = true;
  }
  return progress;
}

bool Block::endLimitedWaits() {
  bool progress = false;
  for (GPUThread &thread : threads) {
    if (thread.state != GPUThread::State::Waiting || !thread.isLimited)
      continue;
    thread.isTimeOver = true;
    thread.state = GPUThread::State::Ready;
    thread.wave->waiting &= ~bitOf(thread);
    thread.wave->ready |= bitOf(thread);
    progress = true;
  }
  return progress;
}

void Block::runReady(GPUWave &wave) {
  // Lanes of an AMD wave run in order, lanes of an NVIDIA warp in any order.
  bool isInOrder = launch.vendor == Vendor::AMD ||
                   launch.order == Order::LowestFirst ||
                   launch.order == Order::RoundRobin;
  while (wave.ready) {
    int lane = firstLane(wave.ready);
    if (!isInOrder && launch.order == Order::HighestFirst) {
      lane = 63 - __builtin_clzll(wave.ready);
    } else if (!isInOrder) {
      uint64_t rest = wave.ready;
      for (int skip = int(random() % __builtin_popcountll(rest)); skip; --skip)
        rest &= rest - 1;
      lane = firstLane(rest);
    }
    current = &threads[wave.first + lane];
    schedule.switchTo(current->fiber);
    current = nullptr;
  }
}

/// Executes a wave-level instruction if enough lanes have reached it.
bool Block::formGroup(GPUWave &wave, bool isForced) {
  uint64_t withoutMembers = 0;
  for (uint64_t rest = wave.inWave; rest; rest &= rest - 1) {
    const GPUThread &thread = threads[wave.first + firstLane(rest)];
    if (!thread.instruction->members) {
      withoutMembers |= bitOf(thread);
      continue;
    }
    // PTX ISA, "shfl.sync": exited lanes are not waited for.
    uint64_t group = thread.members & wave.lanes & ~wave.done;
    if ((wave.inWave & group) != group)
      continue;
    bool isCommon = true;
    for (uint64_t others = group; others && isCommon; others &= others - 1) {
      const GPUThread &other = threads[wave.first + firstLane(others)];
      isCommon = other.instruction == thread.instruction &&
                 other.members == thread.members;
    }
    if (!isCommon)
      continue;
    execute(wave, group);
    return true;
  }

  uint64_t others = wave.ready | wave.yielded | wave.atBarrier | wave.waiting;
  if (!withoutMembers || (others && !isForced))
    return false;
  const GPUThread *lowest = nullptr;
  for (uint64_t rest = withoutMembers; rest; rest &= rest - 1) {
    const GPUThread &thread = threads[wave.first + firstLane(rest)];
    if (!lowest || thread.call.site->order < lowest->call.site->order)
      lowest = &thread;
  }
  uint64_t group = 0;
  for (uint64_t rest = withoutMembers; rest; rest &= rest - 1) {
    const GPUThread &thread = threads[wave.first + firstLane(rest)];
    if (thread.call.site == lowest->call.site)
      group |= bitOf(thread);
  }
  const GPUThread &first = threads[wave.first + firstLane(group)];
  if (!isForced && first.instruction->isReady) {
    current = &threads[first.index];
    bool isReady = first.instruction->isReady(first.call);
    current = nullptr;
    if (!isReady)
      return false;
  }
  execute(wave, group);
  return true;
}

void Block::execute(GPUWave &wave, uint64_t group) {
  static Wave lanes;
  lanes.size = launch.waveSize;
  lanes.active = group;
  for (uint64_t rest = group; rest; rest &= rest - 1) {
    int lane = firstLane(rest);
    lanes.lanes[lane] = threads[wave.first + lane].call;
  }
  const Instruction &instruction =
      *threads[wave.first + firstLane(group)].instruction;
  if (instruction.needsFullWave && !lanes.isFull())
    failPartialWave(wave, group);

  if (sanitizer::kind == sanitizer::Kind::Thread &&
      (instruction.ordersMemory || launch.vendor == Vendor::AMD))
    order(wave, group);
  if (instruction.touch)
    for (uint64_t rest = group; rest; rest &= rest - 1) {
      current = &threads[wave.first + firstLane(rest)];
      instruction.touch(current->call);
    }
  current = &threads[wave.first + firstLane(group)];
  instruction.ofWave(lanes);
  current = nullptr;

  for (uint64_t rest = group; rest; rest &= rest - 1)
    threads[wave.first + firstLane(rest)].state = GPUThread::State::Ready;
  wave.inWave &= ~group;
  wave.ready |= group;
}

/// Orders the earlier accesses of each lane of the group before the later
/// accesses of all lanes of the group.
void Block::order(GPUWave &wave, uint64_t group) {
  const void *object = waveOrder(wave.index);
  for (uint64_t rest = group; rest; rest &= rest - 1)
    sanitizer::release(threads[wave.first + firstLane(rest)].sanitizerThread,
                       object);
  for (uint64_t rest = group; rest; rest &= rest - 1)
    sanitizer::acquire(threads[wave.first + firstLane(rest)].sanitizerThread,
                       object);
}

void Block::runThread() {
  beginFiber();
  sanitizer::enterKernel(current->sanitizerThread);
  kernelLibrary.run(argumentMemory.pointers());
  sanitizer::leaveKernel();
  running->endThread();
}

/// Returns to the schedule. The thread is no longer in its set of ready lanes.
void Block::suspend(GPUThread &thread) {
  thread.wave->ready &= ~bitOf(thread);
  thread.fiber.switchTo(schedule);
}

//===----------------------------------------------------------------------===//
// Operations of threads
//===----------------------------------------------------------------------===//

void Block::endThread() {
  GPUThread &thread = *current;
  thread.state = GPUThread::State::Done;
  GPUWave &wave = *thread.wave;
  wave.done |= bitOf(thread);
  wave.ready &= ~bitOf(thread);
  ++numDone;
  cluster.noteProgress();
  cluster.leave(thread);
  leaveBarriers(thread);
  // The frames of an instruction that ends the thread do not return, and the
  // next block uses the stack.
  if (sanitizer::kind == sanitizer::Kind::Address) {
    auto *frame = static_cast<const char *>(__builtin_frame_address(0));
    sanitizer::unpoison(frame, thread.fiber.stack() +
                                   thread.fiber.stackBytes() - frame);
  }
  thread.fiber.switchTo(schedule, /*ends=*/true);
  __builtin_unreachable();
}

void Block::call(const Instruction &instruction, const Call &call) {
  GPUThread &thread = *current;
  thread.instruction = &instruction;
  if (instruction.ofThread) {
    instruction.ofThread(call);
    return;
  }
  thread.call = call;
  if (instruction.members) {
    thread.members = instruction.members(call);
    if (!(thread.members & bitOf(thread)))
      failAs("divergence",
             "lane %d executes %s with member mask 0x%llx, which does not "
             "include the lane",
             thread.lane, instruction.name, (unsigned long long)thread.members);
  }
  thread.state = GPUThread::State::InWave;
  thread.wave->inWave |= bitOf(thread);
  suspend(thread);
}

void Block::yield(const void *returnAddress) {
  GPUThread &thread = *current;
  if (returnAddress)
    thread.returnAddress = returnAddress;
  thread.wave->yielded |= bitOf(thread);
  suspend(thread);
  if (returnAddress)
    thread.returnAddress = nullptr;
}

bool Block::waitUntil(const char *what, const std::function<bool()> &ready,
                      bool isLimited) {
  if (ready())
    return true;
  GPUThread &thread = *current;
  thread.what = what;
  thread.condition = &ready;
  thread.isLimited = isLimited;
  thread.isTimeOver = false;
  thread.state = GPUThread::State::Waiting;
  thread.wave->waiting |= bitOf(thread);
  suspend(thread);
  return !thread.isTimeOver;
}

/// CDNA and RDNA guides, "S_BARRIER": exited waves do not participate, and a
/// wave participates with its remaining lanes. PTX ISA, "exit": exited threads
/// do not participate.
int Block::expectedAt(const Barrier &barrier) const {
  if (barrier.expected)
    return barrier.expected;
  return int(threads.size()) - numDone + barrier.exited;
}

bool Block::completeBarriersOfExited() {
  bool progress = false;
  for (int id = 0; id < maxBarriers; ++id) {
    Barrier &barrier = barriers[id];
    if (!barrier.firstWaiting || !barrier.expected)
      continue;
    int missing = 0;
    for (const GPUThread &thread : threads)
      missing += thread.state == GPUThread::State::Done &&
                 arrivals[size_t(thread.index) * maxBarriers + id] !=
                     barrier.generation;
    if (barrier.arrived + missing < barrier.expected)
      continue;
    complete(barrier);
    progress = true;
  }
  return progress;
}

/// Barriers do not wait for an exited thread.
void Block::leaveBarriers(const GPUThread &thread) {
  for (int id = 0; id < maxBarriers; ++id) {
    Barrier &barrier = barriers[id];
    if (barrier.arrived == 0 || barrier.expected)
      continue;
    if (arrivals[size_t(thread.index) * maxBarriers + id] == barrier.generation)
      ++barrier.exited;
    if (barrier.arrived >= expectedAt(barrier))
      complete(barrier);
  }
}

bool Block::arrive(int id, int expected) {
  if (id < 0 || id >= maxBarriers)
    fail("barrier number %d does not exist; it must be from 0 to %d", id,
         maxBarriers - 1);
  if (expected < 0 || expected > int(threads.size()))
    failAs("deadlock",
           "barrier %d expects %d threads, but the block has only %zu; the "
           "barrier can never complete",
           id, expected, threads.size());
  Barrier &barrier = barriers[id];
  if (barrier.arrived > 0 && barrier.expected != expected) {
    auto count = [&](int number) {
      return number ? number : int(threads.size());
    };
    failAs("deadlock",
           "barrier %d: this thread expects %d threads, but earlier arrivals "
           "expect %d; all participants must pass the same count",
           id, count(expected), count(barrier.expected));
  }
  barrier.expected = expected;
  bool isFirst = barrier.arrived++ == 0;
  arrivals[size_t(current->index) * maxBarriers + id] = barrier.generation;
  sanitizer::release(current->sanitizerThread,
                     barrierOrder(id, barrier.generation));
  if (barrier.arrived >= expectedAt(barrier))
    complete(barrier);
  return isFirst;
}

void Block::wait(int id) {
  if (id < 0 || id >= maxBarriers)
    fail("barrier number %d does not exist; it must be from 0 to %d", id,
         maxBarriers - 1);
  GPUThread &thread = *current;
  Barrier &barrier = barriers[id];
  uint32_t generation = arrivals[size_t(thread.index) * maxBarriers + id];
  if (generation == 0)
    failAs("deadlock",
           "barrier %d: wait by a thread that has not arrived at the barrier",
           id);
  if (generation == barrier.generation) {
    thread.barrier = id;
    thread.nextAtBarrier = barrier.firstWaiting;
    barrier.firstWaiting = &thread;
    thread.state = GPUThread::State::AtBarrier;
    thread.wave->atBarrier |= bitOf(thread);
    suspend(thread);
  }
  sanitizer::acquire(thread.sanitizerThread, barrierOrder(id, generation));
}

void Block::complete(Barrier &barrier) {
  cluster.noteProgress();
  ++barrier.generation;
  barrier.arrived = barrier.exited = 0;
  for (GPUThread *thread = barrier.firstWaiting; thread;
       thread = thread->nextAtBarrier) {
    thread->state = GPUThread::State::Ready;
    thread->wave->atBarrier &= ~bitOf(*thread);
    thread->wave->ready |= bitOf(*thread);
  }
  barrier.firstWaiting = nullptr;
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

void Block::addCaller(ThreadLocation &location,
                      const void *stackPointer) const {
  if (!current)
    return;
  const char *stack = current->fiber.stack();
  const char *end = stack + current->fiber.stackBytes();
  if (stackPointer < stack || stackPointer >= end)
    return;
  size_t offset = static_cast<const char *>(stackPointer) - stack;
  offset -= offset % sizeof(void *);
  for (; offset < current->fiber.stackBytes(); offset += sizeof(void *)) {
    const void *word;
    memcpy(static_cast<void *>(&word), stack + offset, sizeof word);
    if (kernelLibrary.containsCode(word)) {
      location.addReturn(word);
      return;
    }
  }
}

namespace {

/// Threads with the same location and state.
struct ThreadGroup {
  const GPUThread *first;
  std::bitset<2048> members;
};

bool isSameState(const GPUThread &a, const GPUThread &b) {
  if (a.state != b.state || a.returnAddress != b.returnAddress)
    return false;
  switch (a.state) {
  case GPUThread::State::Done:
    return true;
  case GPUThread::State::Ready:
    return (&a == current) == (&b == current);
  case GPUThread::State::AtBarrier:
    return a.barrier == b.barrier;
  case GPUThread::State::Waiting:
    return a.what == b.what;
  case GPUThread::State::InWave:
    return a.instruction == b.instruction && a.members == b.members &&
           a.wave == b.wave;
  }
  return false;
}

/// The vendor's word for a wave.
const char *waveName() {
  return launch.vendor == Vendor::NVIDIA ? "warp" : "wave";
}

/// "threads 0-31, 40"
void appendThreads(TextBuffer &text, const std::bitset<2048> &members) {
  text.append(members.count() == 1 ? "thread " : "threads ");
  bool isFirst = true;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i])
      continue;
    size_t end = i;
    while (end + 1 < members.size() && members[end + 1])
      ++end;
    text.append("%s%zu", isFirst ? "" : ", ", i);
    if (end > i)
      text.append("-%zu", end);
    isFirst = false;
    i = end;
  }
}

} // namespace

void Block::describeThreads(Finding &finding) {
  static ThreadGroup threadGroups[32];
  int numThreadGroups = 0;
  bool isComplete = true;
  for (const GPUThread &thread : threads) {
    int i = 0;
    while (i < numThreadGroups && !isSameState(*threadGroups[i].first, thread))
      ++i;
    if (i == 32) {
      isComplete = false;
      continue;
    }
    if (i == numThreadGroups) {
      threadGroups[numThreadGroups++].first = &thread;
      threadGroups[i].members.reset();
    }
    threadGroups[i].members.set(thread.index);
  }

  for (int i = 0; i < numThreadGroups; ++i) {
    const ThreadGroup &threadGroup = threadGroups[i];
    const GPUThread &thread = *threadGroup.first;
    bool isOne = threadGroup.members.count() == 1;
    BoundedText<256> note;
    std::bitset<2048> missing;
    switch (thread.state) {
    case GPUThread::State::Done:
      note.append(isOne ? "has exited" : "have exited");
      break;
    case GPUThread::State::Ready:
      if (&thread == current)
        note.append("runs");
      else if (thread.returnAddress)
        note.append(isOne ? "spins" : "spin");
      else
        note.append("can run");
      break;
    case GPUThread::State::Waiting:
      note.append("%s at %s", isOne ? "waits" : "wait", thread.what);
      break;
    case GPUThread::State::AtBarrier: {
      const Barrier &barrier = barriers[thread.barrier];
      note.append("%s at barrier %d, where %d of %d threads have arrived",
                  isOne ? "waits" : "wait", thread.barrier, barrier.arrived,
                  expectedAt(barrier));
      if (!barrier.expected)
        for (const GPUThread &other : threads)
          missing[other.index] =
              arrivals[size_t(other.index) * maxBarriers + thread.barrier] !=
                  barrier.generation &&
              other.state != GPUThread::State::Done;
      break;
    }
    case GPUThread::State::InWave:
      note.append("%s at %s", isOne ? "waits" : "wait",
                  thread.instruction->name);
      if (thread.instruction->members) {
        note.append(" with member mask 0x%llx in %s %d",
                    (unsigned long long)thread.members, waveName(),
                    thread.wave->index);
        uint64_t others =
            thread.members & thread.wave->lanes & ~thread.wave->done;
        for (; others; others &= others - 1) {
          const GPUThread &other =
              threads[thread.wave->first + firstLane(others)];
          missing[other.index] = !isSameState(thread, other);
        }
      } else {
        note.append(" for the other lanes of %s %d", waveName(),
                    thread.wave->index);
      }
      break;
    }
    finding.message.append(i ? "; " : "");
    appendThreads(finding.message, threadGroup.members);
    finding.message.append(" %s", note.text());
    if (missing.any()) {
      finding.message.append(", missing: ");
      appendThreads(finding.message, missing);
    }
    ThreadLocation *location = finding.addOther();
    if (!location)
      continue;
    location->block = int64_t(blockIndex);
    location->thread = thread.index;
    if (thread.returnAddress)
      location->addReturn(thread.returnAddress);
    location->note.append("%s", note.text());
  }
  if (!isComplete)
    finding.message.append("; further threads are omitted");
}

void Block::setLocationOfActiveThread(Finding &finding) const {
  finding.location.block = int64_t(blockIndex);
  for (const GPUThread &thread : threads)
    if (thread.state != GPUThread::State::Done) {
      finding.location.thread = thread.index;
      finding.location.addReturn(thread.returnAddress);
      break;
    }
}

void Block::failPartialWave(const GPUWave &wave, uint64_t group) {
  static Finding finding("divergence");
  const GPUThread &thread = threads[wave.first + firstLane(group)];
  finding.location.block = int64_t(blockIndex);
  finding.location.thread = thread.index;
  finding.location.addReturn(thread.returnAddress);
  finding.message.append(
      "%s requires all %d lanes of the %s, but only %d reach it: ",
      thread.instruction->name, launch.waveSize, waveName(),
      __builtin_popcountll(group));
  describeThreads(finding);
  report(finding);
  endProcess(exitFindings);
}

void Block::checkRedZone() {
  const char *written = sharedMemory.findWrittenRedZone(rankInCluster);
  if (!written)
    return;
  static Finding finding("red-zone");
  finding.location.block = int64_t(blockIndex);
  finding.location.isWrite = 1;
  finding.setAddress(written);
  finding.message.append("out-of-bounds write, found when the block exited: ");
  describeAddress(finding.message, written);
  report(finding);
  endProcess(exitFindings);
}
