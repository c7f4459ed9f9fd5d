//===- Mbarrier.h - The mbarrier object of NVIDIA -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
// The contents of the 64-bit object are opaque; ours are the fields of `State`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MBARRIER_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MBARRIER_H

#include <cstdint>
#include <functional>

namespace smalti::emulator::nvidia {

class Mbarrier {
public:
  /// Reports an address that cannot have one.
  explicit Mbarrier(void *address);

  void init(uint32_t count);
  void invalidate();

  /// Arrives `count` times; `drop` also reduces the expected count of later
  /// phases. Returns the state before, which is the operand of waits.
  uint64_t arrive(uint32_t count, bool drop = false);
  /// The same where it must not complete the phase.
  uint64_t arriveNoComplete(uint32_t count, bool drop);
  /// Expects more arrivals in this phase.
  void expectArrivals(uint32_t count);
  void expectBytes(uint32_t bytes);
  void completeBytes(uint32_t bytes);

  /// Whether the phase of a state, or the last phase with that parity, is
  /// complete.
  bool isPhaseComplete(uint64_t state);
  bool isParityComplete(uint32_t parity);
  /// Arrivals that a state's phase still expected.
  static uint32_t pendingCount(uint64_t state);

  /// Runs `work` at the latest when a thread waits for this mbarrier.
  void deferUntilWait(std::function<void()> work);
  /// Runs the deferred work of this mbarrier if the phase is otherwise
  /// complete.
  void completePending();

  /// Release and acquire for the sanitizers.
  void release();
  void acquire();

private:
  struct State;
  State read() const;
  void write(State state);
  /// Completes the phase if no arrivals and bytes are pending.
  void advance(State state);

  void *address;
};

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MBARRIER_H
