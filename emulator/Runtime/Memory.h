//===- Memory.h - The memory that a kernel sees ---------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_MEMORY_H
#define SMALTI_EMULATOR_RUNTIME_MEMORY_H

#include "smalti/emulator/Runtime/Findings.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace smalti::emulator {

/// What was never written. A float that starts at a multiple of its size is NaN
/// (but in types of 8 bits whose only NaN is 0x80), and an integer of 16 bits
/// or more is neither 0 nor -1.
inline unsigned char poisonAt(const void *address) {
  return reinterpret_cast<uintptr_t>(address) % 2 ? 0x7f : 0xff;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The arguments of a launch: arrays lie in one mapping that all workers share,
/// with poison in its holes and guards that cannot be accessed.
class ArgumentMemory {
public:
  /// Maps it; returns what is wrong, or an empty string.
  std::string map();

  /// What the kernel's wrapper reads its arguments from.
  void **pointers() { return argumentPointers.data(); }

  /// All arguments one after the other, each at a multiple of its size.
  const void *segment() const { return argumentSegment.data(); }

  /// Reports holes that were written.
  void checkHoles() const;

  bool contains(const void *address) const {
    auto value = static_cast<const char *>(address);
    return base && value >= base && value < base + bytes;
  }
  /// Says what lies at an address of the mapping.
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

/// Shared memory of the blocks that run, at a distance of `sharedCapacity`.
/// Behind each comes a red zone up to the end of the page, and then nothing
/// that can be accessed.
class SharedMemory {
public:
  /// Returns what is wrong, or an empty string.
  std::string map(uint32_t staticBytes, uint32_t dynamicBytes);

  /// Makes it new for the block of that rank in its cluster.
  void begin(int rank);

  /// The first byte of the red zone that the block wrote, or null.
  const char *findWrittenRedZone(int rank) const;

  /// Where the memory of a block begins.
  char *base(int rank) const;
  /// The block that an address belongs to, and the end of its memory.
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

/// Says what lies at an address: "byte 8 of argument 1 (64 bytes)".
void describeAddress(TextBuffer &text, const void *address);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_MEMORY_H
