//===- Sanitizers.h - What AddressSanitizer and ThreadSanitizer are told --===//
//
// The executables differ in one source file, Sanitizers.cpp, and in what they
// are linked with: kernel libraries carry the checks, the runtime and the
// instructions carry none and say what they do.
//
// ThreadSanitizer sees each GPU thread as a fiber of its own, and the runtime
// as another that it ignores: code of the runtime runs between `leaveKernel`
// and `enterKernel`.
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

/// Before the kernel library is loaded, and again in each worker: the runtimes
/// open another file for what they say where the process is another.
void initialize();

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

void beforeSwitch(void **fakeStack, const void *nextStack, size_t nextBytes);
void afterSwitch(void *fakeStack, void **leftStack, size_t *leftBytes);

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// A thread of ThreadSanitizer, which costs about a millisecond: each set of
/// threads runs one block after the other.
void *createThread(int set, int thread);

/// The code that runs from here on is the kernel's, by this thread.
void enterKernel(void *thread);
/// It is the runtime's.
void leaveKernel();

/// What fences order threads by.
extern const uint64_t fenceObject;

void release(void *thread, const void *object);
void acquire(void *thread, const void *object);

/// A thread reads or writes memory in the instruction that returns to `pc`. An
/// atomic one orders nothing.
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

/// sigaction, whose handler runs at once and is not put off.
int setSignalAction(int signal, const struct sigaction &action);

/// Calls `handle` from a handler as the runtime, with what the handler knows:
/// at once, or, where a signal came in the middle of the runtime's work, before
/// it goes on to the kernel, with null.
void handleSignal(void (*handle)(const void *context), const void *context);

} // namespace smalti::emulator::sanitizer

#endif // SMALTI_EMULATOR_RUNTIME_SANITIZERS_H
