//===- Proxies.h - What the asynchronous proxy may not see ----------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_PROXIES_H
#define SMALTI_EMULATOR_RUNTIME_PROXIES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smalti::emulator {

/// What threads wrote to the shared memory of the running cluster through the
/// generic proxy, and the proxy fences that they executed. NVIDIA's copies and
/// products read through the asynchronous proxy, which sees a write behind a
/// fence alone: one of the thread that wrote, or of the thread that reads.
/// Known where ThreadSanitizer listens.
class GenericWrites {
public:
  /// Who wrote, and where.
  struct Write {
    /// The number of fences before it, plus one; 0 is no write.
    uint64_t time = 0;
    int rank = 0, thread = 0;
    int64_t block = 0;
    const void *returnAddress = nullptr;
  };

  /// The running thread writes.
  void note(const void *address, size_t bytes, const void *returnAddress);
  /// The asynchronous proxy writes.
  void forget(const void *address, size_t bytes);
  /// The running thread executes a fence.
  void fence();
  /// A write that the asynchronous proxy may not see when the running thread
  /// lets it read, or null.
  const Write *findUnfenced(const void *address, size_t bytes) const;
  /// For the next cluster.
  void clear();

private:
  template <class Use>
  void forEachChunk(const void *address, size_t bytes, Use use) const;
  uint64_t lastFence(int rank, int thread) const;

  /// The last one for each 16 bytes, of which asynchronous reads are multiples.
  std::vector<Write> writes;
  /// Of each thread, when it executed its last fence.
  std::vector<uint64_t> fences;
  uint64_t time = 1;
};

extern GenericWrites genericWrites;

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_PROXIES_H
