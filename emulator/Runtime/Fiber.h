//===- Fiber.h - Stacks of GPU threads ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_FIBER_H
#define SMALTI_EMULATOR_RUNTIME_FIBER_H

#include <cstddef>

#if defined(__x86_64__) || defined(__aarch64__)
#define SMALTI_EMULATOR_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace smalti::emulator {

/// Code on its own stack. A fiber that is never prepared represents the initial
/// stack of the process.
class Fiber {
public:
  /// `entry` begins at the next switch to this fiber, on the given stack. It
  /// must never return.
  void prepare(void *stack, size_t bytes, void (*entry)());

  /// Switches from this fiber to `next`; returns when another fiber switches
  /// back. With `ends`, no fiber switches back, and the sanitizers discard the
  /// frames of this fiber.
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

/// Must be called first in the entry of a fiber, for the sanitizers.
void beginFiber();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_FIBER_H
