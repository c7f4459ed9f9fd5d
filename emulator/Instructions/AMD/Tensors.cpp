//===- Tensors.cpp - The tensor data mover of AMD -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of tiles between global memory and LDS, which a descriptor of four
// groups (D#) names: CDNA5 ISA, "Tensor Data Mover Instructions".
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <algorithm>
#include <array>

using namespace smalti::emulator;

namespace {

constexpr int maxRank = 5;
constexpr int maxRows = 16;
constexpr uint32_t dwordBytes = 4;

/// The groups one after the other, as bits.
class Groups {
public:
  static constexpr int first = 0, second = 128, third = 384, fourth = 512;

  explicit Groups(const Call &call) {
    memcpy(&words[0], call.data(0), 16);
    memcpy(&words[4], call.data(1), 32);
    // Groups that are not there are zero.
    if (call.numOperands() > 3) {
      memcpy(&words[12], call.data(2), 16);
      memcpy(&words[16], call.data(3), 16);
    }
  }
  uint64_t field(int group, int bit, int count) const {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
      int at = group + bit + i;
      value |= uint64_t(words[at / 32] >> at % 32 & 1) << i;
    }
    return value;
  }
  bool operator==(const Groups &other) const { return words == other.words; }

private:
  std::array<uint32_t, 20> words = {};
};

/// The fields of a descriptor.
struct Descriptor {
  bool isValid;
  char *lds, *global;
  uint32_t elementBytes;
  /// 0 without padding.
  uint32_t padInterval = 0, padBytes = 0;
  /// 0 for an unused dimension; the first one is always used.
  uint32_t tile[maxRank];
  uint64_t tensor[maxRank];
  /// In elements; of the dimensions but the first.
  uint64_t strides[maxRank - 1];
  uint32_t iterations = 1;
  uint64_t ldsIncrement = 0, globalIncrement = 0;
  /// The rows of the second dimension, where they are chosen.
  bool isGather;
  uint32_t rows[maxRows];

  explicit Descriptor(const Groups &groups);

private:
  void readGather(const Groups &groups);
};

Descriptor::Descriptor(const Groups &groups) {
  constexpr int g0 = Groups::first, g1 = Groups::second, g2 = Groups::third,
                g3 = Groups::fourth;
  uint64_t count = groups.field(g0, 0, 2);
  if (count > 1 || groups.field(g0, 2, 28))
    fail("tensor descriptor: the first dword %#llx requests the restore of a "
         "saved context, which is not emulated; bits 1 to 29 must be 0",
         static_cast<unsigned long long>(groups.field(g0, 0, 32)));
  isValid = count == 1;
  if (!isValid)
    return;
  if (groups.field(g0, 126, 2) != 2)
    fail("tensor descriptor: the type field (bits 126 and 127 of group 0) is "
         "%d; "
         "it must be 2",
         int(groups.field(g0, 126, 2)));
  if (groups.field(g1, 0, 16))
    fail(
        "tensor descriptor: the workgroup mask is %#x, but a load into several "
        "workgroups is not emulated; use mask 0",
        unsigned(groups.field(g1, 0, 16)));
  if (groups.field(g1, 18, 1))
    fail("tensor descriptor: bit 18 of group 1 requests an arrival at an LDS "
         "barrier on completion, which is not emulated; wait for tensorcnt "
         "instead");
  // NOLINTBEGIN(performance-no-int-to-ptr)
  lds = reinterpret_cast<char *>(groups.field(g0, 32, 32));
  global = reinterpret_cast<char *>(groups.field(g0, 64, 57));
  // NOLINTEND(performance-no-int-to-ptr)
  elementBytes = 1 << groups.field(g1, 16, 2);
  if (groups.field(g1, 20, 1)) {
    padInterval = dwordBytes * 2 << groups.field(g1, 22, 3);
    padBytes = dwordBytes * uint32_t(groups.field(g1, 25, 7) + 1);
  }

  uint64_t tiles[] = {groups.field(g1, 112, 16), groups.field(g1, 128, 16),
                      groups.field(g1, 144, 16), groups.field(g2, 112, 16),
                      groups.field(g3, 80, 16)};
  uint64_t tensors[] = {groups.field(g1, 48, 32), groups.field(g1, 80, 32),
                        groups.field(g2, 0, 32), groups.field(g2, 32, 32),
                        groups.field(g3, 48, 32)};
  uint64_t steps[] = {groups.field(g1, 160, 48), groups.field(g1, 208, 48),
                      groups.field(g2, 64, 48), groups.field(g3, 0, 48)};
  for (int i = 0; i < maxRank; ++i) {
    tile[i] = uint32_t(tiles[i]);
    tensor[i] = tensors[i];
  }
  std::copy(std::begin(steps), std::end(steps), strides);

  bool has32Bits = groups.field(g0, 30, 1);
  isGather = groups.field(g0, 31, 1);
  if (isGather) {
    readGather(groups);
    return;
  }
  if (has32Bits)
    fail("tensor descriptor: bit 30 of group 0 (32-bit row indices) requires "
         "bit 31 (gather), which is not set; set both bits (MLIR 22 swaps the "
         "two bits)");
  if (!groups.field(g1, 19, 1))
    return;
  iterations = tile[3] + 1;
  ldsIncrement = tensor[3];
  globalIncrement = strides[2];
  tile[3] = tile[4] = 0;
  if (iterations > 256)
    fail("tensor descriptor: the iteration count is %u; the maximum is 256",
         iterations);
}

void Descriptor::readGather(const Groups &groups) {
  bool has32Bits = groups.field(Groups::first, 30, 1);
  uint32_t most = has32Bits ? 8 : 16, bits = has32Bits ? 32 : 16;
  tile[2] = tile[3] = tile[4] = 0;
  if (tile[1] > most)
    fail("tensor descriptor: the gather has %u rows; the maximum with %u-bit "
         "row "
         "indices is %u",
         tile[1], bits, most);
  bool isSorted = true, isInside = true;
  for (uint32_t i = 0; i < tile[1]; ++i) {
    rows[i] = uint32_t(groups.field(Groups::third, int(i * bits), int(bits)));
    isSorted &= i == 0 || rows[i] >= rows[i - 1];
    isInside &= rows[i] < tensor[1];
  }
  if (!isSorted && !isInside)
    fail("tensor descriptor: the gather has row indices outside the tensor; "
         "this is emulated only for sorted row indices, so sort them");
}

/// Elements that are contiguous in LDS and in global memory.
struct Run {
  char *lds, *global;
  uint32_t bytes;
  /// The number of leading bytes that are inside the tensor.
  uint32_t bytesInside;
};

std::vector<Run> runsOf(const Descriptor &d, bool isLoad) {
  std::vector<Run> runs;
  uint32_t width = d.elementBytes, rowBytes = d.tile[0] * width;
  uint64_t counts[maxRank], numRows = 1;
  for (int i = 1; i < maxRank; ++i) {
    counts[i] = d.tile[i] ? d.tile[i] : 1;
    numRows *= counts[i];
  }
  if (rowBytes == 0)
    return runs;
  bool pads = isLoad && d.padInterval;
  if (pads && rowBytes % dwordBytes)
    fail(
        "tensor descriptor: rows of the tile have %u bytes; because padding is "
        "enabled, the row size must be a multiple of 4 bytes",
        rowBytes);
  for (uint32_t iteration = 0; iteration < d.iterations; ++iteration) {
    char *lds = d.lds + iteration * d.ldsIncrement * width;
    char *base = d.global + iteration * d.globalIncrement * width;
    uint32_t sincePad = 0;
    for (uint64_t row = 0; row < numRows; ++row) {
      bool isInside = true;
      uint64_t rest = row, offset = 0;
      for (int i = 1; i < maxRank; ++i) {
        uint64_t index = rest % counts[i];
        rest /= counts[i];
        if (!d.tile[i])
          continue;
        if (i == 1 && d.isGather)
          index = d.rows[index];
        isInside &= index < d.tensor[i];
        offset += index * d.strides[i - 1];
      }
      uint64_t inside =
          isInside ? std::min<uint64_t>(d.tensor[0] * width, rowBytes) : 0;
      for (uint32_t done = 0; done < rowBytes;) {
        uint32_t bytes = rowBytes - done;
        if (pads)
          bytes = std::min(bytes, d.padInterval - sincePad);
        uint64_t left = inside > done ? inside - done : 0;
        runs.push_back({lds, base + offset * width + done, bytes,
                        uint32_t(std::min<uint64_t>(left, bytes))});
        done += bytes;
        lds += bytes;
        sincePad += bytes;
        if (pads && sincePad == d.padInterval) {
          lds += d.padBytes;
          sincePad = 0;
        }
      }
    }
  }
  return runs;
}

Groups groupsOf(const Wave &wave) {
  int first = __builtin_ctzll(wave.active);
  Groups groups(wave.lanes[first]);
  wave.forEach([&](int lane, const Call &call) {
    if (!(Groups(call) == groups))
      failLane(call, lane,
               "the tensor descriptor differs from that of the first lane; it "
               "must be wave-uniform");
  });
  return groups;
}

/// Outside of the tensor there are zeros.
void load(const Wave &wave) {
  Descriptor descriptor(groupsOf(wave));
  if (descriptor.isValid) {
    std::vector<Run> runs = runsOf(descriptor, /*isLoad=*/true);
    std::vector<SharedRange> ranges;
    for (const Run &run : runs) {
      touchRead(run.global, run.bytesInside);
      touchWrite(run.lds, run.bytes);
      ranges.push_back({run.lds, run.bytes});
    }
    addToCounter(tensorCounter, inFlight(ranges, [runs] {
                   for (const Run &run : runs) {
                     touchRead(run.global, run.bytesInside);
                     touchWrite(run.lds, run.bytes);
                     memcpy(run.lds, run.global, run.bytesInside);
                     memset(run.lds + run.bytesInside, 0,
                            run.bytes - run.bytesInside);
                   }
                 }));
  }
  // An empty copy is counted, too.
  closeCounterEntry(tensorCounter);
}

void store(const Wave &wave) {
  Descriptor descriptor(groupsOf(wave));
  if (descriptor.isValid) {
    std::vector<Run> runs = runsOf(descriptor, /*isLoad=*/false);
    for (const Run &run : runs) {
      touchRead(run.lds, run.bytes);
      touchWrite(run.global, run.bytesInside);
    }
    addToCounter(tensorCounter, [runs] {
      for (const Run &run : runs) {
        touchRead(run.lds, run.bytes);
        touchWrite(run.global, run.bytesInside);
        memcpy(run.global, run.lds, run.bytesInside);
      }
    });
  }
  closeCounterEntry(tensorCounter);
}

constexpr char document[] =
    "CDNA5 ISA, \"Tensor Data Mover Instructions\"; MLIR, AMDGPUToROCDL.cpp, "
    "AMDGPULowerDescriptor";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.tensor.load.to.lds", nullptr, load, document},
    {"llvm.amdgcn.tensor.load.to.lds.d2", nullptr, load, document},
    {"llvm.amdgcn.tensor.store.from.lds", nullptr, store, document},
    {"llvm.amdgcn.tensor.store.from.lds.d2", nullptr, store, document},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdTensors = table;
