//===- Interrupts.cpp - Ctrl-C while native code runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python runs its signal handlers between bytecodes, so not before native code
// returns. While a kernel runs, SIGINT sets the kernel's stop flag, and then
// calls Python's own handler: KeyboardInterrupt is raised after the return.
// Passes and code generators do not have a stop flag: a command ends its
// process if they run for too long.
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <thread>
#include <unistd.h>

static_assert(std::atomic<int32_t *>::is_always_lock_free);

/// The stop flag of the kernel that the main thread runs.
static std::atomic<int32_t *> stopFlag = nullptr;
/// The previous handler of SIGINT.
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
static bool watch(int32_t *flag) {
  struct sigaction current;
  if (stopFlag || sigaction(SIGINT, nullptr, &current) != 0)
    return false;
  if (!(current.sa_flags & SA_SIGINFO) &&
      (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN))
    return false;
  previous = current;
  stopFlag = flag;
  struct sigaction own = {};
  own.sa_sigaction = onInterrupt;
  own.sa_flags = SA_SIGINFO | (current.sa_flags & (SA_ONSTACK | SA_RESTART));
  own.sa_mask = current.sa_mask;
  if (sigaction(SIGINT, &own, nullptr) == 0)
    return true;
  stopFlag = nullptr;
  return false;
}

static void unwatch(int32_t *flag) {
  // Another call in progress watches its own flag.
  if (stopFlag != flag)
    return;
  // A handler that was installed in the meantime stays.
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) == 0 &&
      (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == onInterrupt)
    sigaction(SIGINT, &previous, nullptr);
  stopFlag = nullptr;
}

/// Reads the next byte of a pipe within the time. Returns whether none arrived;
/// `byte` is -1 at the end of the pipe.
static bool isOverdue(int pipe, int milliseconds, int &byte) {
  pollfd poll = {pipe, POLLIN, 0};
  if (::poll(&poll, 1, milliseconds) == 0)
    return true;
  unsigned char read;
  byte = ::read(pipe, &read, 1) == 1 ? read : -1;
  return false;
}

static void endUnhandled(int pipe, double seconds, int exitCode) {
  using Clock = std::chrono::steady_clock;
  auto limit = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3));
  auto watch = [=] {
    int byte = 0;
    while (!isOverdue(pipe, /*milliseconds=*/-1, byte) && byte >= 0) {
      if (byte != SIGINT)
        continue;
      Clock::time_point end = Clock::now() + limit;
      // More signals do not give it more time.
      while (byte > 0) {
        auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        if (!isOverdue(pipe, std::max<int>(left.count(), 0), byte))
          continue;
        // A progress display may have hidden the cursor.
        if (isatty(STDERR_FILENO))
          (void)!write(STDERR_FILENO, "\x1b[?25h\n", 7);
        _exit(exitCode);
      }
    }
    close(pipe);
  };
  // Python's handlers are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(watch).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

//===----------------------------------------------------------------------===//
// Functions of the module
//===----------------------------------------------------------------------===//

static PyObject *watchInterrupts(PyObject *, PyObject *argument) {
  void *flag = PyLong_AsVoidPtr(argument);
  if (PyErr_Occurred())
    return nullptr;
  return PyBool_FromLong(watch(static_cast<int32_t *>(flag)));
}

static PyObject *unwatchInterrupts(PyObject *, PyObject *argument) {
  void *flag = PyLong_AsVoidPtr(argument);
  if (PyErr_Occurred())
    return nullptr;
  unwatch(static_cast<int32_t *>(flag));
  Py_RETURN_NONE;
}

static PyObject *endUnhandledInterrupts(PyObject *, PyObject *arguments) {
  int pipe, exitCode;
  double seconds;
  if (!PyArg_ParseTuple(arguments, "idi", &pipe, &seconds, &exitCode))
    return nullptr;
  endUnhandled(pipe, seconds, exitCode);
  Py_RETURN_NONE;
}

PyMethodDef smalti::launch::interruptFunctions[] = {
    {"watch_interrupts", watchInterrupts, METH_O,
     "watch_interrupts(flag): lets SIGINT set the 32-bit flag at this address "
     "to -1, before the handler that is installed runs. Returns whether it "
     "will."},
    {"unwatch_interrupts", unwatchInterrupts, METH_O,
     "unwatch_interrupts(flag): ends what `watch_interrupts` began for this "
     "flag, if it did."},
    {"end_unhandled_interrupts", endUnhandledInterrupts, METH_VARARGS,
     "end_unhandled_interrupts(pipe, seconds, exit_code): starts a thread that "
     "reads from a pipe: SIGINT's number for a signal, 0 when Python handles "
     "the signal. Ends the process where that takes longer than so many "
     "seconds. Closes the pipe at its end."},
    {nullptr, nullptr, 0, nullptr}};
