//===- Block.cpp - The threads of a block and their schedule --------------===//

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

/// Private memory of a thread, on its stack.
static constexpr size_t stackBytes = size_t(256) * 1024;
/// In front of it nothing can be accessed: as much as a function's frame has.
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
    return std::string("the stacks cannot be mapped: ") + strerror(errno);
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
    for (WaveUnits &units : wave.units)
      units.clear();
    wave.ready = wave.lanes;
    wave.inWave = wave.atBarrier = wave.waiting = wave.done = wave.yielded = 0;
  }

  for (size_t i = 0; i < waves.size(); ++i)
    visits[i] =
        &waves[launch.order == Order::LastAhead ? waves.size() - 1 - i : i];

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
    if (sanitizer::kind == sanitizer::Kind::Address)
      sanitizer::unpoison(stack, stackBytes);
    if (currentSet)
      thread.sanitizerThread = currentSet->threads[thread.index];
    thread.fiber.prepare(stack, stackBytes, runThread);
  }
}

/// Memory that ThreadSanitizer knows no access to, and threads.
void Block::beginSanitizerThreads() {
  if (!mapStacks()) {
    Finding finding("internal");
    finding.message.append("the stacks cannot be mapped: %s", strerror(errno));
    report(finding);
    endProcess(exitFindings);
  }
  // An odd number, so that blocks at the usual distances have different sets.
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
  // Their last block comes before this one: what they race with they are.
  for (auto *threads : {&currentSet->threads, &currentSet->units})
    for (void *thread : *threads)
      sanitizer::release(thread, currentSet);
  for (auto *threads : {&currentSet->threads, &currentSet->units})
    for (void *thread : *threads)
      sanitizer::acquire(thread, currentSet);
}

void *Block::unitOf(const GPUWave &wave) {
  if (!currentSet)
    return nullptr;
  int each = 4, unit = wave.index / each;
  while (int(currentSet->units.size()) <= unit) {
    int first = int(currentSet->units.size()) * each * launch.waveSize;
    currentSet->units.push_back(sanitizer::createThread(
        rankInCluster * setsOfBlock + int(currentSet - sanitizerSets.data()),
        first));
  }
  return currentSet->units[unit];
}

void Block::describeSet(int set, Place &place) const {
  const SanitizerSet &of = sanitizerSets[set % setsOfBlock];
  if (&of == currentSet || of.blocks.size() == 1) {
    place.block = int64_t(of.blocks.back());
    return;
  }
  place.note.append("one of the blocks ");
  for (size_t i = 0; i < of.blocks.size(); ++i)
    place.note.append("%s%llu", i ? ", " : "",
                      (unsigned long long)of.blocks[i]);
  place.note.append(": ");
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// splitmix64: a stream of numbers for each block.
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
    int maxSteps = launch.order == Order::InStep   ? 1
                   : launch.order == Order::Random ? int(random() % 8) + 1
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

/// Runs the lanes of a wave up to an instruction of the wave, and that, again
/// and again. Returns whether anything happened.
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
  // Lanes of AMD's waves run in step, and those of NVIDIA's in any order.
  bool isInOrder = launch.vendor == Vendor::AMD ||
                   launch.order == Order::FirstAhead ||
                   launch.order == Order::InStep;
  while (wave.ready) {
    int lane = firstLane(wave.ready);
    if (!isInOrder && launch.order == Order::LastAhead) {
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

/// Executes an instruction of the wave if enough lanes have come to it.
bool Block::formGroup(GPUWave &wave, bool isForced) {
  uint64_t withoutMembers = 0;
  for (uint64_t rest = wave.inWave; rest; rest &= rest - 1) {
    const GPUThread &thread = threads[wave.first + firstLane(rest)];
    if (!thread.instruction->members) {
      withoutMembers |= bitOf(thread);
      continue;
    }
    // PTX ISA, "shfl.sync": it waits for those that have not exited.
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

/// What the lanes of a group did before is seen by each of them.
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

/// Lets the schedule go on; the thread has left its set of ready lanes.
void Block::suspend(GPUThread &thread) {
  thread.wave->ready &= ~bitOf(thread);
  thread.fiber.switchTo(schedule);
}

//===----------------------------------------------------------------------===//
// What threads ask for
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
             "lane %d executes %s for the lanes 0x%llx, of which it is none",
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

/// CDNA and RDNA guides, "S_BARRIER": waves that have ended do not count, and a
/// wave comes to the barrier with the lanes that it still has. PTX ISA, "exit":
/// nor do threads that have.
int Block::expectedAt(const Barrier &barrier) const {
  if (barrier.expected)
    return barrier.expected;
  return int(threads.size()) - numDone + barrier.ended;
}

bool Block::endBarriersOfEnded() {
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

/// A thread that has ended is not waited for.
void Block::leaveBarriers(const GPUThread &thread) {
  for (int id = 0; id < maxBarriers; ++id) {
    Barrier &barrier = barriers[id];
    if (barrier.arrived == 0 || barrier.expected)
      continue;
    if (arrivals[size_t(thread.index) * maxBarriers + id] == barrier.generation)
      ++barrier.ended;
    if (barrier.arrived >= expectedAt(barrier))
      complete(barrier);
  }
}

bool Block::arrive(int id, int expected) {
  if (id < 0 || id >= maxBarriers)
    fail("barrier %d: there are the barriers 0 to %d", id, maxBarriers - 1);
  if (expected < 0 || expected > int(threads.size()))
    failAs("deadlock", "barrier %d waits for %d threads, the block has %zu", id,
           expected, threads.size());
  Barrier &barrier = barriers[id];
  if (barrier.arrived > 0 && barrier.expected != expected) {
    auto count = [&](int number) {
      return number ? number : int(threads.size());
    };
    failAs("deadlock",
           "barrier %d: this thread expects %d threads, those that arrived "
           "before expect %d",
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
    fail("barrier %d: there are the barriers 0 to %d", id, maxBarriers - 1);
  GPUThread &thread = *current;
  Barrier &barrier = barriers[id];
  uint32_t generation = arrivals[size_t(thread.index) * maxBarriers + id];
  if (generation == 0)
    failAs("deadlock", "barrier %d: the thread waits and has not arrived", id);
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
  barrier.arrived = barrier.ended = 0;
  for (GPUThread *thread = barrier.firstWaiting; thread;
       thread = thread->nextAtBarrier) {
    thread->state = GPUThread::State::Ready;
    thread->wave->atBarrier &= ~bitOf(*thread);
    thread->wave->ready |= bitOf(*thread);
  }
  barrier.firstWaiting = nullptr;
}

//===----------------------------------------------------------------------===//
// What goes wrong
//===----------------------------------------------------------------------===//

void Block::addCaller(Place &place, const void *stackPointer) const {
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
      place.addReturn(word);
      return;
    }
  }
}

namespace {

/// Threads that are at the same place for the same reason.
struct Crowd {
  const GPUThread *first;
  std::bitset<2048> members;
};

bool isSamePlace(const GPUThread &a, const GPUThread &b) {
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

/// "threads 0-31 and 40"
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
  static Crowd crowds[32];
  int numCrowds = 0;
  bool areAllThere = true;
  for (const GPUThread &thread : threads) {
    int i = 0;
    while (i < numCrowds && !isSamePlace(*crowds[i].first, thread))
      ++i;
    if (i == 32) {
      areAllThere = false;
      continue;
    }
    if (i == numCrowds) {
      crowds[numCrowds++].first = &thread;
      crowds[i].members.reset();
    }
    crowds[i].members.set(thread.index);
  }

  for (int i = 0; i < numCrowds; ++i) {
    const Crowd &crowd = crowds[i];
    const GPUThread &thread = *crowd.first;
    bool isOne = crowd.members.count() == 1;
    BoundedText<256> note;
    std::bitset<2048> missing;
    switch (thread.state) {
    case GPUThread::State::Done:
      note.append(isOne ? "has ended" : "have ended");
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
      note.append("%s for %s", isOne ? "waits" : "wait", thread.what);
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
        note.append(" for the lanes 0x%llx of wave %d",
                    (unsigned long long)thread.members, thread.wave->index);
        uint64_t others =
            thread.members & thread.wave->lanes & ~thread.wave->done;
        for (; others; others &= others - 1) {
          const GPUThread &other =
              threads[thread.wave->first + firstLane(others)];
          missing[other.index] = !isSamePlace(thread, other);
        }
      } else {
        note.append(" for the rest of wave %d", thread.wave->index);
      }
      break;
    }
    finding.message.append(i ? "; " : "");
    appendThreads(finding.message, crowd.members);
    finding.message.append(" %s", note.text());
    if (missing.any()) {
      finding.message.append(", and not ");
      appendThreads(finding.message, missing);
    }
    Place *place = finding.addOther();
    if (!place)
      continue;
    place->block = int64_t(blockIndex);
    place->thread = thread.index;
    if (thread.returnAddress)
      place->addReturn(thread.returnAddress);
    place->note.append("%s", note.text());
  }
  if (!areAllThere)
    finding.message.append("; and so on");
}

void Block::setPlaceOfSome(Finding &finding) const {
  finding.place.block = int64_t(blockIndex);
  for (const GPUThread &thread : threads)
    if (thread.state != GPUThread::State::Done) {
      finding.place.thread = thread.index;
      finding.place.addReturn(thread.returnAddress);
      break;
    }
}

void Block::failPartialWave(const GPUWave &wave, uint64_t group) {
  static Finding finding("divergence");
  const GPUThread &thread = threads[wave.first + firstLane(group)];
  finding.place.block = int64_t(blockIndex);
  finding.place.thread = thread.index;
  finding.place.addReturn(thread.returnAddress);
  finding.message.append(
      "%s needs all %d lanes of a wave, %d have come to it: ",
      thread.instruction->name, launch.waveSize, __builtin_popcountll(group));
  describeThreads(finding);
  report(finding);
  endProcess(exitFindings);
}

void Block::checkRedZone() {
  const char *written = sharedMemory.findWrittenRedZone(rankInCluster);
  if (!written)
    return;
  static Finding finding("red-zone");
  finding.place.block = int64_t(blockIndex);
  finding.place.isWrite = 1;
  finding.setAddress(written);
  finding.message.append("the block wrote memory that it does not have, ");
  describeAddress(finding.message, written);
  report(finding);
  endProcess(exitFindings);
}
