//===- Sanitizers.h - Interface to the sanitizers -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executables differ in one source file, Sanitizers.cpp, and in the
// libraries that they link. Kernel libraries are instrumented. The runtime and
// the instructions are not; they report their accesses.
//
// For ThreadSanitizer, each GPU thread is a fiber. The runtime is another
// fiber, whose accesses are ignored: code of the runtime runs between
// `leaveKernel` and `enterKernel`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_SANITIZERS_H
#define SMALTI_EMULATOR_RUNTIME_SANITIZERS_H

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace smalti::emulator::sanitizer {

enum class Kind { None, Address, Thread };
extern const Kind kind;

/// Called before the kernel library is loaded, and again in each worker,
/// because the sanitizers open one report file for each process.
void initialize();

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

void beforeSwitch(void **fakeStack, const void *nextStack, size_t nextBytes);
void afterSwitch(void *fakeStack, void **leftStack, size_t *leftBytes);

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Creates a ThreadSanitizer fiber, which costs about a millisecond. Blocks
/// that use the same set run one after the other.
void *createThread(int set, int thread);

/// Marks the following code as kernel code of this thread.
void enterKernel(void *thread);
/// Marks the following code as runtime code.
void leaveKernel();

/// The object that fences acquire and release.
extern const uint64_t fenceObject;

void release(void *thread, const void *object);
void acquire(void *thread, const void *object);

/// Reports a read or write of a thread, in the instruction that returns to
/// `pc`. An atomic access does not synchronize.
void access(void *thread, const void *address, size_t bytes, bool isWrite,
            bool isAtomic, const void *pc);

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

void poison(const void *address, size_t bytes);
void unpoison(const void *address, size_t bytes);
/// The first poisoned byte, or null.
const void *findPoisoned(const void *address, size_t bytes);

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// sigaction with a handler that runs immediately and is not delayed.
int setSignalAction(int signal, const struct sigaction &action);

/// Calls `handle` from a signal handler, as runtime code. If the signal
/// interrupted the runtime, `handle` is called later, before the runtime
/// returns to the kernel, with null as context.
void handleSignal(void (*handle)(const void *context), const void *context);

} // namespace smalti::emulator::sanitizer

#endif // SMALTI_EMULATOR_RUNTIME_SANITIZERS_H
