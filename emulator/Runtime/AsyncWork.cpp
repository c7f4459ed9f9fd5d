//===- AsyncWork.cpp - Outstanding asynchronous operations ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/AsyncWork.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <algorithm>

using namespace smalti::emulator;

WritesInFlight smalti::emulator::writesInFlight;

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

void AsyncWork::wait(size_t pending) {
  while (groupEnds.size() - nextGroup > pending) {
    size_t end = groupEnds[nextGroup++];
    for (; nextWork < end; ++nextWork)
      works[nextWork]();
  }
  if (nextGroup == groupEnds.size() && nextWork == works.size())
    clear();
}

void AsyncWork::clear() {
  works.clear();
  groupEnds.clear();
  nextWork = nextGroup = 0;
}

void WaveCounterEntries::wait(size_t pending) {
  while (entries.size() > pending) {
    for (const std::function<void()> &work : entries.front().works)
      work();
    entries.pop_front();
  }
}

void WaveCounterEntries::waitForSlots(uint64_t slots) {
  for (size_t i = entries.size(); i > 0; --i)
    if (slots >> entries[i - 1].slot & 1)
      return wait(entries.size() - i);
}

void WaveCounterEntries::clear() {
  entries.clear();
  open.clear();
}

//===----------------------------------------------------------------------===//
// Writes in flight
//===----------------------------------------------------------------------===//

/// AddressSanitizer stores for each eight bytes how many of the first ones are
/// accessible.
static constexpr size_t granule = 8;

/// Only bytes of shared memory are counted.
static size_t offsetOf(const void *address) {
  return static_cast<const char *>(address) - sharedMemory.base(0);
}

uint32_t WritesInFlight::begin(const Write &write) {
  if (counts.empty())
    counts.resize(offsetOf(sharedMemory.base(launch.clusterSize() - 1)) +
                  sharedBytes() + granule);
  sanitizer::unpoison(write.to, write.bytes);
  uint16_t *count = &counts[offsetOf(write.to)];
  for (size_t i = 0; i < write.bytes; ++i) {
    write.to[i] = char(poisonAt(write.to + i));
    ++count[i];
  }
  poison(write);
  if (freeWrites.empty()) {
    writes.push_back(write);
    return uint32_t(writes.size() - 1);
  }
  uint32_t id = freeWrites.back();
  freeWrites.pop_back();
  writes[id] = write;
  return id;
}

/// Poisons each granule whose bytes are all in flight.
void WritesInFlight::poison(const Write &write) const {
  if (sanitizer::kind != sanitizer::Kind::Address)
    return;
  size_t first = offsetOf(write.to) / granule * granule;
  size_t end = offsetOf(write.to) + write.bytes;
  for (size_t at = first; at < end; at += granule)
    if (std::all_of(&counts[at], &counts[at] + granule,
                    [](uint16_t count) { return count > 0; }))
      sanitizer::poison(sharedMemory.base(0) + at, granule);
}

void WritesInFlight::end(uint32_t write) {
  Write &completed = writes[write];
  uint16_t *count = &counts[offsetOf(completed.to)];
  for (size_t i = 0; i < completed.bytes; ++i)
    --count[i];
  // The copy itself may also write bytes that another copy will write.
  sanitizer::unpoison(completed.to, completed.bytes);
  completed.bytes = 0;
  freeWrites.push_back(write);
}

void WritesInFlight::clear() {
  for (const Write &write : writes)
    sanitizer::unpoison(write.to, write.bytes);
  writes.clear();
  freeWrites.clear();
  std::fill(counts.begin(), counts.end(), 0);
}

const WritesInFlight::Write *WritesInFlight::find(const void *address,
                                                  size_t bytes) const {
  if (writes.size() == freeWrites.size() || !sharedMemory.contains(address))
    return nullptr;
  size_t first = offsetOf(address);
  size_t end = std::min(first + bytes, counts.size());
  if (first >= end || std::all_of(&counts[first], &counts[0] + end,
                                  [](uint16_t count) { return count == 0; }))
    return nullptr;
  auto at = static_cast<const char *>(address);
  for (const Write &write : writes)
    if (write.bytes && write.to < at + bytes && at < write.to + write.bytes)
      return &write;
  return nullptr;
}

void WritesInFlight::describe(Finding &finding, const Write &write,
                              const void *address, size_t bytes,
                              bool isWrite) const {
  finding.kind = "race";
  finding.message.append(
      "data race: a %s of %zu bytes in the destination of an outstanding "
      "asynchronous copy of thread %d; wait for the copy before this access: ",
      isWrite ? "write" : "read", bytes, write.thread);
  describeAddress(finding.message,
                  std::max(static_cast<const void *>(write.to), address));
  if (ThreadLocation *other = finding.addOther()) {
    other->block = write.block;
    other->thread = write.thread;
    other->isWrite = 1;
    other->addReturn(write.returnAddress);
    other->note.append("the asynchronous copy of %zu bytes, in flight",
                       write.bytes);
  }
}
