//===- Fiber.h - A stack of its own for each GPU thread -------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_FIBER_H
#define SMALTI_EMULATOR_RUNTIME_FIBER_H

#include <cstddef>

#if defined(__x86_64__) || defined(__aarch64__)
#define SMALTI_EMULATOR_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace smalti::emulator {

/// Code that runs on a stack of its own until it switches to another. A fiber
/// that is never prepared stands for the stack that the process began on.
class Fiber {
public:
  /// `entry` begins at the next switch to this fiber, on the given stack. It
  /// must never return.
  void prepare(void *stack, size_t bytes, void (*entry)());

  /// Leaves this fiber, which runs, for `next`; returns when something switches
  /// back. `ends` says that this will not be, so that the sanitizers forget the
  /// frames of this one.
  void switchTo(Fiber &next, bool ends = false);

  const char *stack() const { return static_cast<const char *>(bottom); }
  size_t stackBytes() const { return size; }

private:
  void *bottom = nullptr;
  size_t size = 0;
#ifdef SMALTI_EMULATOR_OWN_SWITCH
  void *stackPointer = nullptr;
#else
  ucontext_t context;
#endif
  void *fakeStack = nullptr;
};

/// To be called first in the entry of a fiber, for the sanitizers.
void beginFiber();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_FIBER_H
