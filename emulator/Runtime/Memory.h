//===- Memory.h - The memory that a kernel sees ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_MEMORY_H
#define SMALTI_EMULATOR_RUNTIME_MEMORY_H

#include "smalti/emulator/Runtime/Findings.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace smalti::emulator {

/// The value of memory that was never written. A float at a multiple of its
/// size is NaN, except 8-bit types whose only NaN is 0x80. An integer of 16
/// bits or more is neither 0 nor -1.
inline unsigned char poisonAt(const void *address) {
  return reinterpret_cast<uintptr_t>(address) % 2 ? 0x7f : 0xff;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The arguments of a launch. Arrays reside in one mapping that all workers
/// share, with poison in its gaps and inaccessible guard pages.
class ArgumentMemory {
public:
  /// Maps the memory; returns an error or an empty string.
  std::string map();

  /// The array from which the kernel's wrapper reads its arguments.
  void **pointers() { return argumentPointers.data(); }

  /// All arguments in sequence, each at a multiple of its size.
  const void *segment() const { return argumentSegment.data(); }

  /// Reports holes that were written.
  void checkHoles() const;

  bool contains(const void *address) const {
    auto value = static_cast<const char *>(address);
    return base && value >= base && value < base + bytes;
  }
  /// Describes an address of the mapping.
  void describe(TextBuffer &text, const void *address) const;

private:
  char *base = nullptr;
  uint64_t bytes = 0;
  struct Free {
    void operator()(void *memory) const { free(memory); }
  };
  std::vector<void *> arrays;
  std::vector<std::unique_ptr<void, Free>> values;
  std::vector<void *> argumentPointers;
  std::vector<char> argumentSegment;
};

extern ArgumentMemory argumentMemory;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Shared memory of the running blocks, at a distance of `sharedCapacity`. The
/// shared memory of each block is followed by a red zone up to the end of the
/// page, and then by an inaccessible range.
class SharedMemory {
public:
  /// Returns an error or an empty string.
  std::string map(uint32_t staticBytes, uint32_t dynamicBytes);

  /// Resets the shared memory of the block with that rank in its cluster.
  void begin(int rank);

  /// The first byte of the red zone that the block wrote, or null.
  const char *findWrittenRedZone(int rank) const;

  /// The start of the shared memory of a rank.
  char *base(int rank) const;
  /// The rank that owns an address, and the end of its shared memory.
  int rankOf(const void *address) const;
  const char *endFor(const void *address) const {
    return base(rankOf(address)) + total;
  }

  uint32_t totalBytes() const { return total; }
  bool contains(const void *address) const;

private:
  uint32_t total = 0;
  uint64_t accessible = 0;
};

extern SharedMemory sharedMemory;

//===----------------------------------------------------------------------===//

/// Describes an address: "byte 8 of argument 1 (64 bytes)".
void describeAddress(TextBuffer &text, const void *address);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_MEMORY_H
