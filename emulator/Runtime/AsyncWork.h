//===- AsyncWork.h - What threads and waves have put off ------------------===//

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

/// Work that a thread has put off, in groups.
class AsyncWork {
public:
  void enqueue(std::function<void()> work) { works.push_back(std::move(work)); }
  void commit() { groupEnds.push_back(works.size()); }
  void wait(size_t pending);
  void clear();

private:
  /// Those before `nextWork` are done, as are the groups before `nextGroup`.
  std::vector<std::function<void()>> works;
  std::vector<size_t> groupEnds;
  size_t nextWork = 0, nextGroup = 0;
};

/// Work that instructions of a wave have put off. Each instruction is a unit of
/// a counter, and units are done in their order.
class WaveUnits {
public:
  /// Adds to the unit that `close` ends.
  void add(std::function<void()> work) { open.push_back(std::move(work)); }
  void close(uint32_t slot) {
    units.push_back({slot, std::move(open)});
    open.clear();
  }
  /// Does all units but the last `pending`.
  void wait(size_t pending);
  /// Does all units up to the last one of the slots that have a bit.
  void waitForSlots(uint64_t slots);
  void clear();

private:
  struct Unit {
    uint32_t slot;
    std::vector<std::function<void()>> works;
  };
  std::deque<Unit> units;
  std::vector<std::function<void()>> open;
};

/// Memory that asynchronous copies are to write: whoever touches it before they
/// are waited for races with them.
class WritesInFlight {
public:
  struct Write {
    char *to;
    size_t bytes;
    /// Who issued it, and where.
    int64_t block;
    int thread;
    const void *returnAddress;
  };

  /// The bytes become what was never written: poison. Returns what `end` takes.
  uint32_t begin(const Write &write);
  /// Before it is done.
  void end(uint32_t write);
  /// Forgets those of a block that is over.
  void clear();

  /// The write that an access races with, or null.
  const Write *find(const void *address, size_t bytes) const;
  /// Makes a finding one of an access that races with `write`.
  void describe(Finding &finding, const Write &write, const void *address,
                size_t bytes, bool isWrite) const;

private:
  void poison(const Write &write) const;

  /// Those without bytes are free.
  std::vector<Write> writes;
  std::vector<uint32_t> freeWrites;
  /// For each byte of shared memory the writes that there are.
  std::vector<uint16_t> counts;
};

extern WritesInFlight writesInFlight;

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_ASYNCWORK_H
