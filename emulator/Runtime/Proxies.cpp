//===- Proxies.cpp - Generic-proxy writes without a proxy fence -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Proxies.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <algorithm>

using namespace smalti::emulator;

GenericWrites smalti::emulator::genericWrites;

static constexpr size_t chunkBytes = 16;

template <class Use>
void GenericWrites::forEachChunk(const void *address, size_t bytes,
                                 Use use) const {
  if (bytes == 0 || sanitizer::kind != sanitizer::Kind::Thread ||
      !sharedMemory.contains(address))
    return;
  size_t offset = static_cast<const char *>(address) - sharedMemory.base(0);
  for (size_t i = offset / chunkBytes; i * chunkBytes < offset + bytes; ++i)
    use(i);
}

void GenericWrites::note(const void *address, size_t bytes,
                         const void *returnAddress) {
  forEachChunk(address, bytes, [&](size_t i) {
    if (writes.size() <= i)
      writes.resize(i + 1);
    writes[i] = {time, running->rank(), current->index,
                 int64_t(running->index()), returnAddress};
  });
}

void GenericWrites::forget(const void *address, size_t bytes) {
  forEachChunk(address, bytes, [&](size_t i) {
    if (i < writes.size())
      writes[i].time = 0;
  });
}

void GenericWrites::fence() {
  if (sanitizer::kind != sanitizer::Kind::Thread)
    return;
  size_t count = size_t(launch.clusterSize()) * launch.numThreads();
  fences.resize(count);
  fences[running->rank() * launch.numThreads() + current->index] = time++;
}

uint64_t GenericWrites::lastFence(int rank, int thread) const {
  size_t index = size_t(rank) * launch.numThreads() + thread;
  return index < fences.size() ? fences[index] : 0;
}

const GenericWrites::Write *GenericWrites::findUnfenced(const void *address,
                                                        size_t bytes) const {
  const Write *found = nullptr;
  forEachChunk(address, bytes, [&](size_t i) {
    if (found || i >= writes.size() || writes[i].time == 0)
      return;
    const Write &write = writes[i];
    if (write.time > std::max(lastFence(write.rank, write.thread),
                              lastFence(running->rank(), current->index)))
      found = &write;
  });
  return found;
}

void GenericWrites::clear() {
  writes.clear();
  fences.clear();
}
