//===- LDS.cpp - Copies to and transposed reads from LDS, of AMD ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies to LDS complete immediately, or at the wait that covers them. Waits of
// the program are in Barriers.cpp, waits of LLVM's backend in
// Rewrite/BackendWaits.cpp.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/AMD/Buffers.h"
#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

using namespace smalti::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The write may come at any time from now on.
void writeLDSLate(WaveCounter counter, char *to, uint32_t bytes,
                  const std::function<void(char *)> &read) {
  touchWrite(to, bytes);
  addToCounter(counter, inFlight(SharedRange{to, bytes}, [to, bytes, read] {
                 char data[16];
                 read(data);
                 touchWrite(to, bytes);
                 memcpy(to, data, bytes);
               }));
}

/// The address of a lane, relative to that of the wave: one dword per lane,
/// also for narrower elements, which are zero-extended; four dwords for 12 and
/// 16 bytes.
char *addressOfLane(const Call &call, int operand, uint32_t size,
                    uint32_t offset) {
  auto *base = call.get<char *>(operand) + offset;
  if (uintptr_t(base) % 4)
    failAs("misaligned",
           "LDS DMA load: LDS address %p is not a multiple of 4 "
           "bytes",
           static_cast<void *>(base));
  if (!isCDNA(generation()))
    fail("LDS DMA load: this chip does not have the instruction; only CDNA "
         "chips "
         "have it");
  switch (size) {
  case 1:
  case 2:
  case 4:
    return base + size_t(4) * laneId();
  case 12:
  case 16:
    if (generation() != Generation::CDNA4)
      break;
    return base + size_t(16) * laneId();
  default:
    break;
  }
  fail("LDS DMA load: the size is %u bytes per lane; it must be 1, 2 or 4, or "
       "on "
       "CDNA4 also 12 or 16",
       size);
}

/// Operands source, place in LDS, size, offset of both.
void gatherToLDS(const Call &call) {
  auto size = call.get<uint32_t>(2);
  auto offset = call.get<int32_t>(3);
  auto *from = call.get<const char *>(0) + offset;
  char *to = addressOfLane(call, 1, size, uint32_t(offset));
  touchRead(from, size);
  writeLDSLate(loadCounter, to, size < 4 ? 4 : size, [from, size](char *data) {
    memset(data, 0, 4);
    touchRead(from, size);
    memcpy(data, from, size);
  });
}

/// Operands resource, place in LDS, size, [index,] offset, scalar offset,
/// offset of both.
template <Addressing addressing> void gatherBufferToLDS(const Call &call) {
  constexpr int immediate = 2 + addressingOperands(addressing);
  auto size = call.get<uint32_t>(2);
  auto offset = call.get<uint32_t>(immediate);
  // The operands of the buffer address are on both sides of two other operands.
  const void *operands[4] = {call.operands[0]};
  uint32_t bytes[4] = {call.bytes(0)};
  for (int i = 1; i < addressingOperands(addressing); ++i) {
    operands[i] = call.operands[2 + i];
    bytes[i] = call.bytes(2 + i);
  }
  Site site = *call.site;
  site.operandBytes = bytes;
  Call ofPlace = call;
  ofPlace.site = &site;
  ofPlace.operands = operands;
  BufferAddress place = readBufferAddress(ofPlace, 0, addressing, offset);
  char *to = addressOfLane(call, 1, size, offset);
  writeLDSLate(loadCounter, to, size < 4 ? 4 : size, [place, size](char *data) {
    memset(data, 0, 4);
    readBuffer(place, data, size);
  });
}

/// The hardware uses the address of the first lane (M0).
void finishGather(const Wave &wave) {
  char *first = nullptr;
  wave.forEach([&](int lane, const Call &call) {
    auto *place = call.get<char *>(1);
    if (!first)
      first = place;
    if (place != first)
      failLane(call, lane,
               "LDS DMA load: LDS address %p differs from %p of the first "
               "lane; the address must be wave-uniform",
               static_cast<void *>(place), static_cast<void *>(first));
  });
  closeCounterEntry(loadCounter);
}

/// Operands source, LDS address, offset of both. Each lane has its own LDS
/// address.
template <uint32_t size> void loadToLDS(const Call &call) {
  auto offset = call.get<int32_t>(2);
  auto *from = call.get<const char *>(0) + offset;
  auto *to = call.get<char *>(1) + offset;
  touchRead(from, size);
  writeLDSLate(asyncLoadCounter, to, size, [from](char *data) {
    touchRead(from, size);
    memcpy(data, from, size);
  });
}

/// After the operands of `loadToLDS` there is a mask of workgroups.
template <uint32_t size> void loadForCluster(const Call &call) {
  if (auto mask = call.get<uint32_t>(4))
    fail("cluster load: the workgroup mask is %#x, but a load into several "
         "workgroups is not emulated; use mask 0",
         mask);
  loadToLDS<size>(call);
}

/// Operands destination, place in LDS, offset of both.
template <uint32_t size> void storeFromLDS(const Call &call) {
  auto offset = call.get<int32_t>(2);
  auto *to = call.get<char *>(0) + offset;
  auto *from = call.get<const char *>(1) + offset;
  touchRead(from, size);
  touchWrite(to, size);
  addToCounter(asyncStoreCounter, [from, to] {
    touchRead(from, size);
    touchWrite(to, size);
    memcpy(to, from, size);
  });
}

/// Loads are done in their order and stores in theirs.
template <WaveCounter counter> void finishAsync(const Wave &) {
  closeCounterEntry(counter);
}

//===----------------------------------------------------------------------===//
// Transposed reads
//===----------------------------------------------------------------------===//

template <uint32_t bytes, uint32_t alignment>
void touchTransposed(const Call &call) {
  auto *address = call.get<const char *>(0);
  if (uintptr_t(address) % alignment)
    failAs("misaligned",
           "transposed load: address %p is not a multiple of %u bytes",
           static_cast<const void *>(address), alignment);
  touchRead(address, bytes);
}

/// Transposes elements of `bits` in groups of `group` lanes. A lane reads `n`
/// elements from its address, so `group / n` lanes together read a row of
/// `group` elements. The result of a lane is its column.
template <int bits, int bytes, int group>
void readTransposed(const Wave &wave) {
  constexpr int n = 8 * bytes / bits, lanesOfRow = group / n;
  static_assert(n * lanesOfRow == group);
  wave.forEach([&](int lane, const Call &call) {
    auto *result = static_cast<char *>(call.result);
    memset(result, 0, call.resultBytes());
    int column = lane % group, first = lane - column;
    for (int e = 0; e < n; ++e) {
      int source = first + e * lanesOfRow + column / n;
      writePacked(result, bits, e,
                  readPacked(wave.lanes[source].get<const char *>(0), bits,
                             column % n));
    }
  });
}

/// 8-bit elements on RDNA4 and GFX12.5. In each group of 16 lanes, the first 4
/// read 8 columns of 4 rows and the next 4 the other 8 columns. The last 8
/// lanes read the next 4 rows.
void readTransposedBytes(const Wave &wave) {
  wave.forEach([&](int lane, const Call &call) {
    char result[8];
    for (int e = 0; e < 8; ++e) {
      int source = lane / 16 * 16 + e / 4 * 8 + lane % 16 / 8 * 4 + e % 4;
      result[e] = wave.lanes[source].get<const char *>(0)[lane % 8];
    }
    call.set(result);
  });
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

void touchCounter(const Call &call) {
  auto *counter = call.get<uint32_t *>(0);
  if (uintptr_t(counter) % sizeof(*counter))
    failAs("misaligned",
           "ds_append or ds_consume: address %p is not a multiple of %zu bytes",
           static_cast<void *>(counter), sizeof(*counter));
  touchAtomic(counter, sizeof(*counter));
}

/// Adds or subtracts the number of lanes, once; all lanes return the old value.
template <int sign> void count(const Wave &wave) {
  const Call &first = wave.lanes[__builtin_ctzll(wave.active)];
  auto *counter = first.get<uint32_t *>(0);
  auto lanes = uint32_t(__builtin_popcountll(wave.active));
  uint32_t old = sign > 0
                     ? __atomic_fetch_add(counter, lanes, __ATOMIC_RELAXED)
                     : __atomic_fetch_sub(counter, lanes, __ATOMIC_RELAXED);
  wave.forEach([&](int, const Call &call) { call.set(old); });
}

constexpr char gather[] =
    "CDNA3 ISA and CDNA4 ISA, \"Memory Buffer Load to LDS\"; LLVM, "
    "IntrinsicsAMDGPU.td, AMDGPULoadToLDS";
constexpr char async[] =
    "CDNA5 ISA, \"Global memory: asynchronous loads and stores of LDS\"; LLVM, "
    "IntrinsicsAMDGPU.td, AMDGPUAsyncGlobalLoadToLDS";
constexpr char transposed[] = "CDNA4 ISA, \"MFMA Transpose Load from LDS\"";
constexpr char transposed16[] =
    "RDNA4 ISA and CDNA5 ISA, \"WMMA Matrix Load Ops with Transpose\"; which "
    "lanes go together: measurements on gfx1250 that others published";
constexpr char transposed8[] =
    "RDNA4 ISA and CDNA5 ISA, \"WMMA Matrix Load Ops with Transpose\"; which "
    "lanes go together: Triton, TransLocalLoadOpConversion (DoubleContiguity), "
    "AMD's rocjitsu, CDNA5_DS_TR_B8, and measurements on gfx1201 that others "
    "published";
constexpr char counters[] =
    "CDNA3 ISA, \"LDS & GDS Instructions\": DS_APPEND, DS_CONSUME";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.load.to.lds.*", nullptr, finishGather, gather, nullptr, gatherToLDS},
    {"llvm.amdgcn.global.load.lds", nullptr, finishGather, gather, nullptr, gatherToLDS},
    {"llvm.amdgcn.raw.ptr.buffer.load.lds", nullptr, finishGather, gather, nullptr, gatherBufferToLDS<Addressing::Raw>},
    {"llvm.amdgcn.struct.ptr.buffer.load.lds", nullptr, finishGather, gather, nullptr, gatherBufferToLDS<Addressing::Structured>},
    {"llvm.amdgcn.raw.buffer.load.lds", nullptr, finishGather, gather, nullptr, gatherBufferToLDS<Addressing::Raw>},
    {"llvm.amdgcn.struct.buffer.load.lds", nullptr, finishGather, gather, nullptr, gatherBufferToLDS<Addressing::Structured>},
    {"llvm.amdgcn.global.load.async.to.lds.b8", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadToLDS<1>},
    {"llvm.amdgcn.global.load.async.to.lds.b32", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadToLDS<4>},
    {"llvm.amdgcn.global.load.async.to.lds.b64", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadToLDS<8>},
    {"llvm.amdgcn.global.load.async.to.lds.b128", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadToLDS<16>},
    {"llvm.amdgcn.cluster.load.async.to.lds.b8", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadForCluster<1>},
    {"llvm.amdgcn.cluster.load.async.to.lds.b32", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadForCluster<4>},
    {"llvm.amdgcn.cluster.load.async.to.lds.b64", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadForCluster<8>},
    {"llvm.amdgcn.cluster.load.async.to.lds.b128", nullptr, finishAsync<asyncLoadCounter>, async, nullptr, loadForCluster<16>},
    {"llvm.amdgcn.global.store.async.from.lds.b8", nullptr, finishAsync<asyncStoreCounter>, async, nullptr, storeFromLDS<1>},
    {"llvm.amdgcn.global.store.async.from.lds.b32", nullptr, finishAsync<asyncStoreCounter>, async, nullptr, storeFromLDS<4>},
    {"llvm.amdgcn.global.store.async.from.lds.b64", nullptr, finishAsync<asyncStoreCounter>, async, nullptr, storeFromLDS<8>},
    {"llvm.amdgcn.global.store.async.from.lds.b128", nullptr, finishAsync<asyncStoreCounter>, async, nullptr, storeFromLDS<16>},
    // 6-bit elements are read from rows of 16 bytes
    {"llvm.amdgcn.ds.read.tr16.b64.*", nullptr, readTransposed<16, 8, 16>, transposed, nullptr, touchTransposed<8, 8>, true},
    {"llvm.amdgcn.ds.read.tr8.b64.*", nullptr, readTransposed<8, 8, 16>, transposed, nullptr, touchTransposed<8, 8>, true},
    {"llvm.amdgcn.ds.read.tr6.b96.*", nullptr, readTransposed<6, 12, 16>, transposed, nullptr, touchTransposed<12, 16>, true},
    {"llvm.amdgcn.ds.read.tr4.b64.*", nullptr, readTransposed<4, 8, 16>, transposed, nullptr, touchTransposed<8, 8>, true},
    {"llvm.amdgcn.ds.load.tr16.b128.*", nullptr, readTransposed<16, 16, 8>, transposed16, nullptr, touchTransposed<16, 16>, true},
    {"llvm.amdgcn.ds.load.tr8.b64.*", nullptr, readTransposedBytes, transposed8, nullptr, touchTransposed<8, 8>, true},
    {"llvm.amdgcn.global.load.tr.b64.v2i32", nullptr, readTransposedBytes, transposed8, nullptr, touchTransposed<8, 1>, true},
    {"llvm.amdgcn.global.load.tr.b128.v8*", nullptr, readTransposed<16, 16, 8>, transposed16, nullptr, touchTransposed<16, 1>, true},
    {"llvm.amdgcn.ds.append.*", nullptr, count<1>, counters, nullptr, touchCounter},
    {"llvm.amdgcn.ds.consume.*", nullptr, count<-1>, counters, nullptr, touchCounter},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdLDS = table;
