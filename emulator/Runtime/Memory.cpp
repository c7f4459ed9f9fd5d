//===- Memory.cpp - The memory that a kernel sees -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Layout.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace smalti::emulator;

ArgumentMemory smalti::emulator::argumentMemory;
SharedMemory smalti::emulator::sharedMemory;

static void fillWithPoison(char *begin, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    begin[i] = static_cast<char>(poisonAt(begin + i));
}

static bool isWritten(const char &value) {
  return static_cast<unsigned char>(value) != poisonAt(&value);
}

static uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static constexpr size_t valueAlignment = 128;

std::string ArgumentMemory::map() {
  bytes = launch.memoryBytes;
  if (bytes > 0) {
    void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        launch.memoryDescriptor, 0);
    if (mapped == MAP_FAILED)
      return std::string("cannot map the memory of the arguments: ") +
             strerror(errno);
    base = static_cast<char *>(mapped);
    for (const Range &hole : launch.holes)
      fillWithPoison(base + hole.offset, hole.bytes);
    for (const Range &guard : launch.guards)
      mprotect(base + guard.offset, guard.bytes, PROT_NONE);
    for (const Range &hole : launch.holes)
      sanitizer::poison(base + hole.offset, hole.bytes);
  }

  for (const AddressOf &address : launch.addresses) {
    char *holder = address.argument < 0
                       ? base
                       : launch.arguments[address.argument].value.data();
    const char *target = base + address.target;
    memcpy(holder + address.offset, static_cast<void *>(&target),
           sizeof target);
  }

  size_t count = launch.arguments.size();
  arrays.resize(count);
  values.resize(count);
  argumentPointers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    Argument &argument = launch.arguments[i];
    if (argument.isArray)
      arrays[i] = base + argument.array.offset + argument.first;
    argumentPointers[i] = static_cast<void *>(&arrays[i]);
    if (!argument.isArray) {
      // Aligned like the largest by-value argument of a kernel.
      size_t room = alignTo(argument.value.size() + 1, valueAlignment);
      values[i].reset(aligned_alloc(valueAlignment, room));
      memcpy(values[i].get(), argument.value.data(), argument.value.size());
      argumentPointers[i] = values[i].get();
    }
    uint64_t size = argument.isArray ? sizeof(void *) : argument.value.size();
    // By-value structs are aligned to at most 8 bytes by common fields.
    uint64_t alignment = 1;
    while (alignment < 8 && alignment < size)
      alignment *= 2;
    uint64_t offset = alignTo(argumentSegment.size(), alignment);
    argumentSegment.resize(offset + size);
    memcpy(argumentSegment.data() + offset, argumentPointers[i], size);
  }
  return "";
}

void ArgumentMemory::checkHoles() const {
  for (const Range &hole : launch.holes) {
    const char *begin = base + hole.offset, *end = begin + hole.bytes;
    const char *first = std::find_if(begin, end, isWritten);
    if (first == end)
      continue;
    Finding finding("red-zone");
    uint64_t count = std::count_if(first, end, isWritten);
    finding.message.append(
        "%llu bytes outside the arguments were written; the first is ",
        (unsigned long long)count);
    describe(finding.message, first);
    finding.setAddress(first);
    finding.bytes = count;
    finding.location.isWrite = 1;
    report(finding);
  }
}

void ArgumentMemory::describe(TextBuffer &text, const void *address) const {
  uint64_t offset = static_cast<const char *>(address) - base;
  // The nearest array; if arrays overlap, the first one.
  int nearest = -1;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument &argument = launch.arguments[i];
    if (!argument.isArray)
      continue;
    const Range &array = argument.array;
    uint64_t distance = offset < array.offset ? array.offset - offset
                        : offset - array.offset < array.bytes
                            ? 0
                            : offset - array.offset - array.bytes + 1;
    if (distance < least) {
      nearest = int(i);
      least = distance;
    }
  }
  if (nearest < 0) {
    text.append("byte %llu of the argument memory", (unsigned long long)offset);
    return;
  }
  const Range &array = launch.arguments[nearest].array;
  const char *name = launch.arguments[nearest].name.c_str();
  auto size = (unsigned long long)array.bytes;
  if (offset < array.offset) {
    text.append("%llu bytes before %s (%llu bytes)",
                (unsigned long long)(array.offset - offset), name, size);
    return;
  }
  auto inside = (unsigned long long)(offset - array.offset);
  if (inside >= size) {
    text.append("%llu bytes past the end of %s (%llu bytes)", inside - size,
                name, size);
    return;
  }
  bool isInHole = std::any_of(
      launch.holes.begin(), launch.holes.end(), [&](const Range &hole) {
        return offset >= hole.offset && offset - hole.offset < hole.bytes;
      });
  text.append("byte %llu of %s (%llu bytes)%s", inside, name, size,
              isInHole ? ", in a gap between its rows" : "");
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static std::string mapShared(char *base, uint64_t accessible) {
  void *mapped = mmap(
      base, sharedCapacity, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == MAP_FAILED)
    return std::string("shared memory cannot be mapped: ") + strerror(errno);
  // Older Linux kernels treat the address as a hint.
  if (mapped != base)
    return "shared memory cannot be mapped: its address range is in use";
  if (accessible > 0 && mprotect(base, accessible, PROT_READ | PROT_WRITE))
    return std::string("shared memory cannot be mapped: ") + strerror(errno);
  return "";
}

char *SharedMemory::base(int rank) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<char *>(sharedBaseAddress + rank * sharedCapacity);
}

int SharedMemory::rankOf(const void *address) const {
  return int((reinterpret_cast<uint64_t>(address) - sharedBaseAddress) /
             sharedCapacity);
}

std::string SharedMemory::map(uint32_t staticBytes, uint32_t dynamicBytes) {
  uint64_t bytes =
      dynamicBytes ? alignTo(staticBytes, dynamicSharedAlignment) + dynamicBytes
                   : staticBytes;
  if (bytes > sharedCapacity)
    return "the kernel has " + std::to_string(bytes) +
           " bytes of shared memory, which exceeds that of every GPU; use at "
           "most " +
           std::to_string(sharedCapacity) + " bytes";
  total = uint32_t(bytes);
  accessible = alignTo(bytes, sysconf(_SC_PAGESIZE));
  std::string error;
  for (int rank = 0; rank < launch.clusterSize() && error.empty(); ++rank) {
    error = mapShared(base(rank), accessible);
    if (error.empty() && accessible > total)
      sanitizer::poison(base(rank) + total, accessible - total);
  }
  return error;
}

void SharedMemory::begin(int rank) {
  char *shared = base(rank);
  if (sanitizer::kind == sanitizer::Kind::Thread) {
    // Accesses of earlier blocks to this memory do not race with this block.
    munmap(shared, sharedCapacity);
    if (std::string error = mapShared(shared, accessible); !error.empty()) {
      Finding finding("internal");
      finding.message.append("%s", error.c_str());
      report(finding);
      endProcess(exitFindings);
    }
  }
  if (accessible == 0)
    return;
  sanitizer::unpoison(shared + total, accessible - total);
  fillWithPoison(shared, accessible);
  sanitizer::poison(shared + total, accessible - total);
}

const char *SharedMemory::findWrittenRedZone(int rank) const {
  // AddressSanitizer reports the access itself.
  if (sanitizer::kind == sanitizer::Kind::Address)
    return nullptr;
  const char *shared = base(rank);
  for (uint64_t i = total; i < accessible; ++i)
    if (isWritten(shared[i]))
      return shared + i;
  return nullptr;
}

bool SharedMemory::contains(const void *address) const {
  auto value = static_cast<const char *>(address);
  return value >= base(0) && value < base(launch.clusterSize());
}

//===----------------------------------------------------------------------===//

void smalti::emulator::describeAddress(TextBuffer &text, const void *address) {
  auto value = static_cast<const char *>(address);
  if (sharedMemory.contains(address)) {
    int rank = sharedMemory.rankOf(address);
    auto offset = (unsigned long long)(value - sharedMemory.base(rank));
    unsigned total = sharedMemory.totalBytes();
    if (offset < total)
      text.append("byte %llu of shared memory (%u bytes)", offset, total);
    else
      text.append("%llu bytes past the end of shared memory (%u bytes)",
                  offset - total, total);
    if (launch.clusterSize() > 1)
      text.append(", of block %d of the cluster", rank);
  } else if (argumentMemory.contains(address)) {
    argumentMemory.describe(text, address);
  } else if (int thread = cluster.threadOfStack(address); thread >= 0) {
    text.append("the private memory of thread %d", thread);
  } else if (sanitizer::kind == sanitizer::Kind::None) {
    text.append("address 0x%llx, which does not belong to an argument",
                (unsigned long long)reinterpret_cast<uint64_t>(address));
  } else {
    // The faulting address is one of the sanitizer's shadow memory.
    text.append("an address that does not belong to an argument");
  }
}
