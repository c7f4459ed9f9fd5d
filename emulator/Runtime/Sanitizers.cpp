//===- Sanitizers.cpp - Interface to the sanitizers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled once for each executable, with SMALTI_EMULATOR_ADDRESS_SANITIZER,
// SMALTI_EMULATOR_THREAD_SANITIZER or neither.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Runtime/Sanitizers.h"
#include "smalti/emulator/Runtime/AsyncWork.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Memory.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace smalti::emulator;

// The sanitizers' runtimes define these names; most are not declared in a
// public header.

#if defined(SMALTI_EMULATOR_ADDRESS_SANITIZER) ||                              \
    defined(SMALTI_EMULATOR_THREAD_SANITIZER)

/// The number of findings after which a launch ends; each finding of a
/// sanitizer costs milliseconds.
static constexpr int maxFindings = 16;

static void endIfEnough() {
  if (numFindings() >= maxFindings)
    endProcess(exitFindings);
}

extern "C" void __sanitizer_set_report_fd(void *descriptor);

/// Discards the text reports of the sanitizer; its findings are reported as
/// JSON.
static void silence() {
  static intptr_t descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (descriptor >= 0)
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    __sanitizer_set_report_fd(reinterpret_cast<void *>(descriptor));
}

//===----------------------------------------------------------------------===//
// Address space layout
//===----------------------------------------------------------------------===//

/// Older sanitizers require little or no address space randomization. This
/// function runs before their initialization and restarts the executable
/// without randomization.
static void disableRandomAddresses(int, char **argv, char **environment) {
  long old = syscall(SYS_personality, 0xffffffffUL);
  if (old < 0 || (old & ADDR_NO_RANDOMIZE) ||
      syscall(SYS_personality, old | ADDR_NO_RANDOMIZE) < 0)
    return;
  // Some sandboxes ignore the request.
  if (!(syscall(SYS_personality, 0xffffffffUL) & ADDR_NO_RANDOMIZE))
    return;
  syscall(SYS_execve, "/proc/self/exe", argv, environment);
}

__attribute__((
    section(".preinit_array"),
    used)) static void (*const disableRandomAddressesFirst)(int, char **,
                                                            char **) =
    disableRandomAddresses;

#endif

alignas(8) const uint64_t sanitizer::fenceObject = 0;

//===----------------------------------------------------------------------===//
#if defined(SMALTI_EMULATOR_ADDRESS_SANITIZER)
//===----------------------------------------------------------------------===//

extern "C" {
void __sanitizer_start_switch_fiber(void **fakeStack, const void *bottom,
                                    size_t bytes);
void __sanitizer_finish_switch_fiber(void *fakeStack, const void **oldBottom,
                                     size_t *oldBytes);
void __asan_poison_memory_region(const volatile void *address, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *address, size_t bytes);
void *__asan_region_is_poisoned(void *begin, size_t bytes);
void *__asan_get_report_pc();
void *__asan_get_report_sp();
void *__asan_get_report_address();
int __asan_get_report_access_type();
size_t __asan_get_report_access_size();
const char *__asan_get_report_description();

__attribute__((visibility("default"))) const char *__asan_default_options() {
  return "halt_on_error=0:detect_leaks=0:symbolize=0:handle_segv=0:"
         "handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
         "use_sigaltstack=0:detect_stack_use_after_return=0:"
         "detect_odr_violation=0:print_legend=0";
}

/// Called for each report, after the report is complete.
__attribute__((visibility("default"))) void __asan_on_error() {
  static Finding finding("out-of-bounds");
  finding.message.clear();
  finding.location.numFrames = 0;
  const char *address = static_cast<char *>(__asan_get_report_address());
  size_t bytes = __asan_get_report_access_size();
  bool isWrite = __asan_get_report_access_type();
  finding.location.block = int64_t(running->index());
  finding.location.thread = current ? current->index : -1;
  finding.location.isWrite = isWrite;
  finding.location.addReturn(__asan_get_report_pc());
  // Functions such as memcpy report locations in themselves.
  if (finding.location.numFrames == 0 && current && current->returnAddress)
    finding.location.addReturn(current->returnAddress);
  else if (finding.location.numFrames == 0)
    running->addCaller(finding.location, __asan_get_report_sp());
  finding.setAddress(address);
  finding.bytes = bytes;
  finding.kind = "out-of-bounds";
  finding.numOthers = 0;
  if (const auto *write = writesInFlight.find(address, bytes)) {
    writesInFlight.describe(finding, *write, address, bytes, isWrite);
    report(finding);
    endIfEnough();
    return;
  }
  finding.message.append(
      "out-of-bounds %s of %zu bytes: ", isWrite ? "write" : "read", bytes);
  const void *bad =
      bytes ? __asan_region_is_poisoned(const_cast<char *>(address), bytes)
            : nullptr;
  describeAddress(finding.message, bad ? bad : address);
  if (current && cluster.threadOfStack(address) >= 0)
    finding.message.append(" (%s)", __asan_get_report_description());
  report(finding);
  endIfEnough();
}
}

const sanitizer::Kind sanitizer::kind = Kind::Address;

void sanitizer::initialize() { silence(); }

void sanitizer::beforeSwitch(void **fakeStack, const void *nextStack,
                             size_t nextBytes) {
  __sanitizer_start_switch_fiber(fakeStack, nextStack, nextBytes);
}

void sanitizer::afterSwitch(void *fakeStack, void **leftStack,
                            size_t *leftBytes) {
  __sanitizer_finish_switch_fiber(
      fakeStack, const_cast<const void **>(leftStack), leftBytes);
}

void sanitizer::poison(const void *address, size_t bytes) {
  __asan_poison_memory_region(address, bytes);
}
void sanitizer::unpoison(const void *address, size_t bytes) {
  __asan_unpoison_memory_region(address, bytes);
}
const void *sanitizer::findPoisoned(const void *address, size_t bytes) {
  return __asan_region_is_poisoned(const_cast<void *>(address), bytes);
}

#else

void sanitizer::beforeSwitch(void **, const void *, size_t) {}
void sanitizer::afterSwitch(void *, void **, size_t *) {}
void sanitizer::poison(const void *, size_t) {}
void sanitizer::unpoison(const void *, size_t) {}
const void *sanitizer::findPoisoned(const void *, size_t) { return nullptr; }

#endif

//===----------------------------------------------------------------------===//
#if defined(SMALTI_EMULATOR_THREAD_SANITIZER)
//===----------------------------------------------------------------------===//

extern "C" {
void *__tsan_get_current_fiber();
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void __tsan_func_entry(void *pc);
void __tsan_func_exit();
void __tsan_read_range(void *address, unsigned long bytes);
void __tsan_write_range(void *address, unsigned long bytes);
void __tsan_read1_pc(void *address, void *pc);
void __tsan_read2_pc(void *address, void *pc);
void __tsan_read4_pc(void *address, void *pc);
void __tsan_read8_pc(void *address, void *pc);
void __tsan_read16_pc(void *address, void *pc);
void __tsan_write1_pc(void *address, void *pc);
void __tsan_write2_pc(void *address, void *pc);
void __tsan_write4_pc(void *address, void *pc);
void __tsan_write8_pc(void *address, void *pc);
void __tsan_write16_pc(void *address, void *pc);
uint8_t __tsan_atomic8_load(const volatile void *address, int order);
uint16_t __tsan_atomic16_load(const volatile void *address, int order);
uint32_t __tsan_atomic32_load(const volatile void *address, int order);
uint64_t __tsan_atomic64_load(const volatile void *address, int order);
uint8_t __tsan_atomic8_fetch_or(volatile void *address, uint8_t value,
                                int order);
uint16_t __tsan_atomic16_fetch_or(volatile void *address, uint16_t value,
                                  int order);
uint32_t __tsan_atomic32_fetch_or(volatile void *address, uint32_t value,
                                  int order);
uint64_t __tsan_atomic64_fetch_or(volatile void *address, uint64_t value,
                                  int order);
void __tsan_ignore_thread_begin();
int __tsan_get_report_data(void *report, const char **description, int *count,
                           int *stackCount, int *mopCount, int *locCount,
                           int *mutexCount, int *threadCount,
                           int *uniqueTidCount, void **sleepTrace,
                           unsigned long traceSize);
int __tsan_get_report_mop(void *report, unsigned long index, int *tid,
                          void **address, int *size, int *isWrite,
                          int *isAtomic, void **trace, unsigned long traceSize);
int __tsan_get_report_thread(void *report, unsigned long index, int *tid,
                             uint64_t *osId, int *running, const char **name,
                             int *parentTid, void **trace,
                             unsigned long traceSize);

__attribute__((visibility("default"))) const char *__tsan_default_options() {
  return "halt_on_error=0:exitcode=0:symbolize=0:report_thread_leaks=0:"
         "report_signal_unsafe=0:report_destroy_locked=0:report_mutex_bugs=0:"
         "detect_deadlocks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:"
         "handle_sigill=0:handle_abort=0:use_sigaltstack=0:atexit_sleep_ms=0:"
         "history_size=2:suppress_equal_addresses=0";
}

// Kernel libraries call these functions; older sanitizer runtimes do not define
// them. Their own memcpy, memmove and memset are checked.
__attribute__((visibility("default"), weak)) void *
__tsan_memcpy(void *to, const void *from, size_t bytes) {
  return memcpy(to, from, bytes);
}
__attribute__((visibility("default"), weak)) void *
__tsan_memmove(void *to, const void *from, size_t bytes) {
  return memmove(to, from, bytes);
}
__attribute__((visibility("default"), weak)) void *
__tsan_memset(void *to, int value, size_t bytes) {
  return memset(to, value, bytes);
}
}

const sanitizer::Kind sanitizer::kind = Kind::Thread;

/// The fiber of the runtime. Switches between fibers do not synchronize,
/// because GPU threads do not.
static void *runtimeFiber = nullptr;
static constexpr unsigned withoutOrder = 1;

void sanitizer::initialize() {
  silence();
  if (runtimeFiber)
    return;
  runtimeFiber = __tsan_get_current_fiber();
  __tsan_ignore_thread_begin();
}

void *sanitizer::createThread(int set, int thread) {
  void *fiber = __tsan_create_fiber(0);
  BoundedText<64> name;
  name.append("%d %d", set, thread);
  __tsan_set_fiber_name(fiber, name.text());
  return fiber;
}

/// Whether kernel code runs and no switch is in progress.
static volatile std::sig_atomic_t isInKernel = false;
static void (*volatile pendingHandle)(const void *context) = nullptr;

static void switchTo(void *fiber) {
  __tsan_switch_to_fiber(fiber, withoutOrder);
}

void sanitizer::enterKernel(void *thread) {
  if (pendingHandle)
    pendingHandle(nullptr);
  switchTo(thread);
  isInKernel = true;
}

void sanitizer::leaveKernel() {
  isInKernel = false;
  switchTo(runtimeFiber);
}

void sanitizer::handleSignal(void (*handle)(const void *context),
                             const void *context) {
  if (!isInKernel) {
    pendingHandle = handle;
    return;
  }
  leaveKernel();
  handle(context);
}

void sanitizer::release(void *thread, const void *object) {
  switchTo(thread);
  __tsan_release(const_cast<void *>(object));
  switchTo(runtimeFiber);
}

void sanitizer::acquire(void *thread, const void *object) {
  switchTo(thread);
  __tsan_acquire(const_cast<void *>(object));
  switchTo(runtimeFiber);
}

/// Aligned atomics of up to 8 bytes are one access; wider ones are an atomic
/// for each dword or byte.
static void accessAtomically(void *address, size_t bytes, bool isWrite) {
  constexpr int relaxed = 0;
  auto isAligned = [&](size_t width) {
    return uintptr_t(address) % width == 0 && bytes % width == 0;
  };
  auto *end = static_cast<char *>(address) + bytes;
  if (bytes == 8 && isAligned(8)) {
    if (isWrite)
      __tsan_atomic64_fetch_or(address, 0, relaxed);
    else
      __tsan_atomic64_load(address, relaxed);
    return;
  }
  size_t width = isAligned(4) ? 4 : isAligned(2) ? 2 : 1;
  for (auto *at = static_cast<char *>(address); at != end; at += width)
    if (width == 4 && isWrite)
      __tsan_atomic32_fetch_or(at, 0, relaxed);
    else if (width == 4)
      __tsan_atomic32_load(at, relaxed);
    else if (width == 2 && isWrite)
      __tsan_atomic16_fetch_or(at, 0, relaxed);
    else if (width == 2)
      __tsan_atomic16_load(at, relaxed);
    else if (isWrite)
      __tsan_atomic8_fetch_or(at, 0, relaxed);
    else
      __tsan_atomic8_load(at, relaxed);
}

using PlainAccess = void (*)(void *address, void *pc);

/// ThreadSanitizer's function for a read or write, or null for other sizes.
static PlainAccess findPlainAccess(size_t bytes, bool isWrite) {
  switch (bytes) {
  case 1:
    return isWrite ? __tsan_write1_pc : __tsan_read1_pc;
  case 2:
    return isWrite ? __tsan_write2_pc : __tsan_read2_pc;
  case 4:
    return isWrite ? __tsan_write4_pc : __tsan_read4_pc;
  case 8:
    return isWrite ? __tsan_write8_pc : __tsan_read8_pc;
  case 16:
    return isWrite ? __tsan_write16_pc : __tsan_read16_pc;
  default:
    return nullptr;
  }
}

void sanitizer::access(void *thread, const void *address, size_t bytes,
                       bool isWrite, bool isAtomic, const void *pc) {
  switchTo(thread);
  // The stack frame of the instruction that makes the access.
  __tsan_func_entry(const_cast<void *>(pc));
  PlainAccess plain = findPlainAccess(bytes, isWrite);
  if (isAtomic)
    accessAtomically(const_cast<void *>(address), bytes, isWrite);
  else if (plain && uintptr_t(address) % bytes == 0)
    // A race of a range is reported with 1 byte.
    plain(const_cast<void *>(address), __builtin_return_address(0));
  else if (isWrite)
    __tsan_write_range(const_cast<void *>(address), bytes);
  else
    __tsan_read_range(const_cast<void *>(address), bytes);
  __tsan_func_exit();
  switchTo(runtimeFiber);
}

/// ThreadSanitizer's own version ignores fences. Kernel libraries contain only
/// fences of device or wider scope.
extern "C" __attribute__((visibility("default"))) void
__tsan_atomic_thread_fence(int order) {
  auto *object = const_cast<uint64_t *>(&sanitizer::fenceObject);
  if (order != __ATOMIC_RELEASE)
    __tsan_acquire(object);
  if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME)
    return;
  __tsan_release(object);
  __tsan_release(
      const_cast<void *>(cluster.fenceOrder(*current, /*isForCluster=*/true)));
}

/// Whether the reported store does not change the memory.
static bool keepsMemory = false;

/// Called before a store of the kernel. ThreadSanitizer reports each pair of
/// locations once. A store that does not change the memory therefore has its
/// own location, so that it does not hide a store that changes the memory.
extern "C" __attribute__((visibility("default"))) void
smalti_emu_report_write(void *address, uint32_t bytes, uint32_t isSame) {
  auto *pc = static_cast<char *>(__builtin_return_address(0)) + isSame;
  keepsMemory = isSame;
  PlainAccess write = findPlainAccess(bytes, /*isWrite=*/true);
  assert(write && "the rewriter splits other sizes");
  write(address, pc);
  keepsMemory = false;
}

namespace {

/// One of the accesses of a race.
struct Access {
  void *address;
  int bytes;
  bool isAtomic;
};

/// Reads access `index` of a race.
Access readAccess(void *race, int index, int numThreads,
                  ThreadLocation &location) {
  void *trace[64] = {}, *address = nullptr;
  int tid = -1, size = 0, isWrite = 0, isAtomic = 0;
  __tsan_get_report_mop(race, index, &tid, &address, &size, &isWrite, &isAtomic,
                        trace, 64);
  location.block = location.thread = -1;
  location.numFrames = 0;
  location.note.clear();
  location.isWrite = isWrite;
  for (void *pc : trace) {
    if (!pc)
      break;
    location.addReturn(pc);
  }
  for (int i = 0; i < numThreads; ++i) {
    void *creation[1];
    int id = -1, running = 0, parent = 0;
    uint64_t osId = 0;
    const char *name = nullptr;
    __tsan_get_report_thread(race, i, &id, &osId, &running, &name, &parent,
                             creation, 1);
    if (id != tid || !name)
      continue;
    // The fiber of the runtime has a different name.
    char *end = nullptr;
    long set = strtol(name, &end, 10);
    if (*end != ' ')
      continue;
    location.thread = int(strtol(end + 1, nullptr, 10));
    cluster.describeSet(int(set), location);
  }
  if (location.thread < 0)
    location.note.append("outside of the kernel's code, ");
  return {address, size, isAtomic != 0};
}

/// Describes an access; the thread is part of the location.
void appendAccess(TextBuffer &text, const ThreadLocation &location,
                  const Access &access) {
  text.append("%s %s of %d bytes", access.isAtomic ? "an atomic" : "a",
              location.isWrite ? "write" : "read", access.bytes);
}

} // namespace

/// Called for each report.
extern "C" __attribute__((visibility("default"))) void
__tsan_on_report(void *race) {
  void *fiber = __tsan_get_current_fiber();
  bool wasInKernel = isInKernel;
  sanitizer::leaveKernel();

  const char *description = "";
  int count, numStacks, numAccesses = 0, numLocations, numMutexes,
                        numThreads = 0, numIds;
  void *sleepTrace[1];
  __tsan_get_report_data(race, &description, &count, &numStacks, &numAccesses,
                         &numLocations, &numMutexes, &numThreads, &numIds,
                         sleepTrace, 1);
  static Finding finding("race");
  finding.message.clear();
  finding.numOthers = 0;
  if (numAccesses < 2) {
    finding.message.append("%s", description);
  } else {
    ThreadLocation *other = finding.addOther();
    Access now = readAccess(race, 0, numThreads, finding.location);
    Access before = readAccess(race, 1, numThreads, *other);
    // CUDA, "Compute Sanitizer: Racecheck Severity Levels": a write after a
    // write of the same value has no impact.
    if (keepsMemory && other->isWrite == 1 && !before.isAtomic &&
        before.address == now.address && before.bytes == now.bytes) {
      switchTo(fiber);
      isInKernel = wasInKernel;
      return;
    }
    finding.setAddress(now.address);
    finding.bytes = now.bytes;
    finding.message.append("data race: %s", finding.location.note.text());
    finding.location.note.clear();
    appendAccess(finding.message, finding.location, now);
    finding.message.append(" is unordered with ");
    appendAccess(finding.message, *other, before);
    finding.message.append(" by another thread: ");
    describeAddress(finding.message, now.address);
    appendAccess(other->note, *other, before);
  }
  report(finding);
  endIfEnough();

  switchTo(fiber);
  isInKernel = wasInKernel;
}

// ThreadSanitizer's version delays signals until the thread makes a system
// call.
extern "C" int __sigaction(int, const struct sigaction *, struct sigaction *);
int sanitizer::setSignalAction(int signal, const struct sigaction &action) {
  return __sigaction(signal, &action, nullptr);
}

#else

void *sanitizer::createThread(int, int) { return nullptr; }
void sanitizer::enterKernel(void *) {}
void sanitizer::leaveKernel() {}
void sanitizer::release(void *, const void *) {}
void sanitizer::acquire(void *, const void *) {}
void sanitizer::access(void *, const void *, size_t, bool, bool, const void *) {
}

int sanitizer::setSignalAction(int signal, const struct sigaction &action) {
  return sigaction(signal, &action, nullptr);
}

void sanitizer::handleSignal(void (*handle)(const void *context),
                             const void *context) {
  handle(context);
}

#endif

//===----------------------------------------------------------------------===//
#if !defined(SMALTI_EMULATOR_ADDRESS_SANITIZER) &&                             \
    !defined(SMALTI_EMULATOR_THREAD_SANITIZER)
//===----------------------------------------------------------------------===//

const sanitizer::Kind sanitizer::kind = Kind::None;

void sanitizer::initialize() {}

#endif

// NOLINTEND(bugprone-reserved-identifier)
