//===- Mbarrier.h - The mbarrier object of NVIDIA -------------------------===//
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

  /// Arrives `count` times; `drop` also takes them from the arrivals that later
  /// phases expect. Returns the state before, what waits are given.
  uint64_t arrive(uint32_t count, bool drop = false);
  /// The same where it must not complete the phase.
  uint64_t arriveNoComplete(uint32_t count, bool drop);
  /// Expects more arrivals in this phase.
  void expectArrivals(uint32_t count);
  void expectBytes(uint32_t bytes);
  void completeBytes(uint32_t bytes);

  /// Whether the phase of a state, or the last one with that parity, is over.
  bool isOver(uint64_t state);
  bool isParityOver(uint32_t parity);
  /// Arrivals that a state's phase still expected.
  static uint32_t pendingCount(uint64_t state);

  /// Does asynchronous work at the latest when a thread waits here.
  void whenWaited(std::function<void()> work);
  /// Does that of this barrier, if the phase misses nothing else.
  void doPending();

  /// What the sanitizers are to know.
  void release();
  void acquire();

private:
  struct State;
  State read() const;
  void write(State state);
  /// Ends the phase where nothing is missing.
  void advance(State state);

  void *address;
};

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MBARRIER_H
