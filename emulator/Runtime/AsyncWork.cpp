//===- AsyncWork.cpp - What threads and waves have put off ----------------===//

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

void WaveUnits::wait(size_t pending) {
  while (units.size() > pending) {
    for (const std::function<void()> &work : units.front().works)
      work();
    units.pop_front();
  }
}

void WaveUnits::waitForSlots(uint64_t slots) {
  for (size_t i = units.size(); i > 0; --i)
    if (slots >> units[i - 1].slot & 1)
      return wait(units.size() - i);
}

void WaveUnits::clear() {
  units.clear();
  open.clear();
}

//===----------------------------------------------------------------------===//
// Writes in flight
//===----------------------------------------------------------------------===//

/// AddressSanitizer knows of eight bytes whether the first so many of them can
/// be accessed.
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

/// Where all of a granule is in flight.
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
  Write &ended = writes[write];
  uint16_t *count = &counts[offsetOf(ended.to)];
  for (size_t i = 0; i < ended.bytes; ++i)
    --count[i];
  // The copy itself may also write where another one will.
  sanitizer::unpoison(ended.to, ended.bytes);
  ended.bytes = 0;
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
  finding.message.append("a %s of %zu bytes that an asynchronous copy of "
                         "thread %d writes, for which nobody has waited: ",
                         isWrite ? "write" : "read", bytes, write.thread);
  describeAddress(finding.message,
                  std::max(static_cast<const void *>(write.to), address));
  if (Place *other = finding.addOther()) {
    other->block = write.block;
    other->thread = write.thread;
    other->isWrite = 1;
    other->addReturn(write.returnAddress);
    other->note.append("the copy of %zu bytes, in flight", write.bytes);
  }
}
