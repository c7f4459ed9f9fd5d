//===- Interrupts.cpp - Ctrl-C while compiled code runs -------------------===//
//
// Python runs its signal handlers between bytecodes, so not before compiled
// code returns. While a kernel runs, SIGINT sets the kernel's stop flag, and
// goes on to Python's own handler: KeyboardInterrupt is raised after the
// return.
//
//===----------------------------------------------------------------------===//

#include "smalti/python/bindings/Interrupts.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace nb = nanobind;

static_assert(std::atomic<int32_t *>::is_always_lock_free);

/// The stop flag of the kernel that the main thread runs.
static std::atomic<int32_t *> stopFlag = nullptr;
/// What handled SIGINT before.
static struct sigaction previous;

static void onInterrupt(int signal, siginfo_t *info, void *context) {
  int before = errno;
  if (int32_t *flag = stopFlag)
    __atomic_store_n(flag, -1, __ATOMIC_RELAXED);
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else
    previous.sa_handler(signal);
  errno = before;
}

/// Whether SIGINT now sets the flag. It does not where no handler is installed:
/// then the signal ends the process, or is ignored.
static bool watch(uintptr_t flag) {
  struct sigaction current;
  if (stopFlag || sigaction(SIGINT, nullptr, &current) != 0)
    return false;
  if (!(current.sa_flags & SA_SIGINFO) &&
      (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN))
    return false;
  previous = current;
  stopFlag = reinterpret_cast<int32_t *>(flag);
  struct sigaction own = {};
  own.sa_sigaction = onInterrupt;
  own.sa_flags = SA_SIGINFO | (current.sa_flags & (SA_ONSTACK | SA_RESTART));
  own.sa_mask = current.sa_mask;
  if (sigaction(SIGINT, &own, nullptr) == 0)
    return true;
  stopFlag = nullptr;
  return false;
}

static void unwatch(uintptr_t flag) {
  // Another call in progress watches its own flag.
  if (stopFlag != reinterpret_cast<int32_t *>(flag))
    return;
  // A handler that was installed in the meantime stays.
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) == 0 &&
      (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == onInterrupt)
    sigaction(SIGINT, &previous, nullptr);
  stopFlag = nullptr;
}

void smalti::python::bindInterrupts(nb::module_ &m) {
  m.def("watch_interrupts", watch, nb::arg("flag"),
        "Lets SIGINT set the 32-bit flag at this address to -1, before the "
        "handler that is installed runs. Returns whether it will.");
  m.def("unwatch_interrupts", unwatch, nb::arg("flag"),
        "Ends what `watch_interrupts` began for this flag, if it did.");
}
