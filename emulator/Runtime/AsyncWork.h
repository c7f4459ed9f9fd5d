//===- AsyncWork.h - Outstanding asynchronous operations ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_ASYNCWORK_H
#define SMALTI_EMULATOR_RUNTIME_ASYNCWORK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace smalti::emulator {

struct Finding;
struct GPUThread;

/// Deferred operations of a thread, in groups.
class AsyncWork {
public:
  void enqueue(std::function<void()> work) { works.push_back(std::move(work)); }
  void commit() { groupEnds.push_back(works.size()); }
  void wait(size_t pending);
  void clear();

private:
  /// The operations before `nextWork` and the groups before `nextGroup` are
  /// complete.
  std::vector<std::function<void()>> works;
  std::vector<size_t> groupEnds;
  size_t nextWork = 0, nextGroup = 0;
};

/// Deferred operations of a wave. Each wave-level instruction adds one entry to
/// a counter; entries complete in order.
class WaveCounterEntries {
public:
  /// Adds to the entry that `close` ends.
  void add(std::function<void()> work) { open.push_back(std::move(work)); }
  void close(uint32_t slot) {
    entries.push_back({slot, std::move(open)});
    open.clear();
  }
  /// Completes all entries but the last `pending`.
  void wait(size_t pending);
  /// Completes all entries up to the last entry whose slot has a bit in
  /// `slots`.
  void waitForSlots(uint64_t slots);
  void clear();

private:
  struct Entry {
    uint32_t slot;
    std::vector<std::function<void()>> works;
  };
  std::deque<Entry> entries;
  std::vector<std::function<void()>> open;
};

/// Destinations of outstanding asynchronous copies. An access before the wait
/// for the copy is a race.
class WritesInFlight {
public:
  struct Write {
    char *to;
    size_t bytes;
    /// The thread that issued the copy, and the location of the call.
    int64_t block;
    int thread;
    const void *returnAddress;
  };

  /// Fills the destination with poison. Returns the argument of `end`.
  uint32_t begin(const Write &write);
  /// Called before the copy completes.
  void end(uint32_t write);
  /// Discards the writes of the previous block.
  void clear();

  /// The outstanding write that an access races with, or null.
  const Write *find(const void *address, size_t bytes) const;
  /// Describes the race of an access with `write`.
  void describe(Finding &finding, const Write &write, const void *address,
                size_t bytes, bool isWrite) const;

private:
  void poison(const Write &write) const;

  /// Entries without bytes are free.
  std::vector<Write> writes;
  std::vector<uint32_t> freeWrites;
  /// For each byte of shared memory the number of outstanding writes.
  std::vector<uint16_t> counts;
};

extern WritesInFlight writesInFlight;

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_ASYNCWORK_H
