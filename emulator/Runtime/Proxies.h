//===- Proxies.h - Generic-proxy writes without a proxy fence -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_PROXIES_H
#define SMALTI_EMULATOR_RUNTIME_PROXIES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smalti::emulator {

/// The writes of threads to shared memory of the running cluster through the
/// generic proxy, and the proxy fences of threads. NVIDIA's asynchronous copies
/// and wgmma read through the async proxy. An async-proxy read observes a
/// generic write only after a proxy fence of the writing thread or of the
/// thread that issues the read. Recorded only with ThreadSanitizer.
class GenericWrites {
public:
  /// The last writer and its location.
  struct Write {
    /// The number of fences before the write, plus one; 0: not written.
    uint64_t time = 0;
    int rank = 0, thread = 0;
    int64_t block = 0;
    const void *returnAddress = nullptr;
  };

  /// Records a write of the running thread.
  void note(const void *address, size_t bytes, const void *returnAddress);
  /// Records a write of the async proxy.
  void forget(const void *address, size_t bytes);
  /// Records a proxy fence of the running thread.
  void fence();
  /// A write that is not visible to an async-proxy read by the running thread,
  /// or null.
  const Write *findUnfenced(const void *address, size_t bytes) const;
  /// Resets the state for the next cluster.
  void clear();

private:
  template <class Use>
  void forEachChunk(const void *address, size_t bytes, Use use) const;
  uint64_t lastFence(int rank, int thread) const;

  /// The last write of each 16 bytes; async-proxy reads are multiples of 16
  /// bytes.
  std::vector<Write> writes;
  /// The time of the last fence of each thread.
  std::vector<uint64_t> fences;
  uint64_t time = 1;
};

extern GenericWrites genericWrites;

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_PROXIES_H
