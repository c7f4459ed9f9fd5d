//===- TensorCopies.cpp - cp.async.bulk.tensor of NVIDIA ------------------===//
//
// Tiles of tensors. Predicated forms are inline assembly, as the NVVM dialect
// of MLIR writes them.
//
//===----------------------------------------------------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Instructions/NVIDIA/Mbarrier.h"
#include "emulator/Instructions/NVIDIA/TensorMap.h"
#include "emulator/Runtime/Thread.h"

#include <array>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

using Coordinates = std::array<int32_t, TensorMap::maxRank>;

Coordinates coordinatesOf(const Call &call, int first, int rank) {
  Coordinates result = {};
  for (int i = 0; i < rank; ++i)
    result[i] = call.get<int32_t>(first + i);
  return result;
}

void checkBox(const void *place) {
  if (uintptr_t(place) % TensorMap::boxAlignment)
    failAs("misaligned", "cp.async.bulk.tensor: %p is not aligned to %u bytes",
           place, TensorMap::boxAlignment);
}

void checkIsOfBlock(uint16_t blocks) {
  if (blocks != 1)
    fail("cp.async.bulk.tensor to the blocks %#x of a cluster: it has one "
         "block",
         blocks);
}

/// The copy is over when the barrier has its bytes, those outside of the tensor
/// included.
void copyToShared(char *to, void *barrierAddress, const TensorMap &map,
                  const Coordinates &coordinates) {
  checkBox(to);
  Mbarrier barrier(barrierAddress);
  map.load(to, coordinates.data(), /*isForReal=*/false);
  barrier.whenWaited(inFlight(SharedRange{to, map.boxBytes()}, [=] {
    map.load(to, coordinates.data(), /*isForReal=*/true);
    Mbarrier(barrier).completeBytes(map.boxBytes());
  }));
}

/// Operands place, barrier, map, coordinates, blocks, hint, whether there are
/// blocks, a hint, and whose barrier it is.
template <int rank> void loadTile(const Call &call) {
  if (call.get<uint8_t>(5 + rank))
    checkIsOfBlock(call.get<uint16_t>(3 + rank));
  if (call.get<uint32_t>(7 + rank) > 1)
    fail("cp.async.bulk.tensor for a pair of blocks: a cluster has one block");
  copyToShared(call.get<char *>(0), call.get<void *>(1),
               TensorMap(call.get<void *>(2), rank),
               coordinatesOf(call, 3, rank));
}

/// Operands place, barrier, map, coordinates, hint and whether there is one.
template <int rank> void loadTileOfBlock(const Call &call) {
  copyToShared(call.get<char *>(0), call.get<void *>(1),
               TensorMap(call.get<void *>(2), rank),
               coordinatesOf(call, 3, rank));
}

/// Operands place, map, coordinates, barrier, [blocks,] [hint,] predicate.
template <int rank, bool hasBlocks, bool hasHint>
void loadTileIf(const Call &call) {
  if (!call.get<uint8_t>(3 + rank + hasBlocks + hasHint))
    return;
  if (hasBlocks)
    checkIsOfBlock(call.get<uint16_t>(3 + rank));
  copyToShared(call.get<char *>(0), call.get<void *>(2 + rank),
               TensorMap(call.get<void *>(1), rank),
               coordinatesOf(call, 2, rank));
}

void copyToGlobal(const char *from, const TensorMap &map,
                  const Coordinates &coordinates) {
  checkBox(from);
  map.store(from, coordinates.data(), /*isForReal=*/false);
  enqueueAsync(bulkQueue, [=] {
    map.store(from, coordinates.data(), /*isForReal=*/true);
  });
}

/// Operands place, map, coordinates, hint and whether there is one.
template <int rank> void storeTile(const Call &call) {
  copyToGlobal(call.get<char *>(0), TensorMap(call.get<void *>(1), rank),
               coordinatesOf(call, 2, rank));
}

/// Operands map, place, coordinates, predicate.
template <int rank> void storeTileIf(const Call &call) {
  if (call.get<uint8_t>(2 + rank))
    copyToGlobal(call.get<char *>(1), TensorMap(call.get<void *>(0), rank),
                 coordinatesOf(call, 2, rank));
}

void prefetchTensorMap(const Call &) {}

/// The map is looked at, and nothing is copied.
template <int rank> void prefetchTile(const Call &call) {
  TensorMap(call.get<void *>(0), rank);
}

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Data Movement and Conversion Instructions: " section             \
  "\"; \"Tensors\""
#define SMALTI_LOAD "shared::cluster.global.mbarrier::complete_tx::bytes"
#define SMALTI_NVVM                                                            \
  SMALTI_PTX("cp.async.bulk.tensor") ", as MLIR's NVVM dialect writes it"
// clang-format off: one line an instruction
// NOLINTBEGIN(bugprone-macro-parentheses): names and lists of operands
#define SMALTI_TILES(rank, list, spaced, a, b, c, d) \
    {"llvm.nvvm.cp.async.bulk.tensor.g2s.tile." #rank "d", loadTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile." #rank "d", loadTileOfBlock<rank>, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"llvm.nvvm.cp.async.bulk.tensor.s2g.tile." #rank "d", storeTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"llvm.nvvm.cp.async.bulk.tensor.prefetch.tile." #rank "d", prefetchTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.prefetch.tensor")}, \
    {"asm:@$" b " cp.async.bulk.tensor." #rank "d." SMALTI_LOAD " [$0], [$1, {" list "} ], [$" a "];", loadTileIf<rank, false, false>, nullptr, SMALTI_NVVM}, \
    {"asm:@$" c " cp.async.bulk.tensor." #rank "d." SMALTI_LOAD ".L2::cache_hint [$0], [$1, {" list "} ], [$" a "], $" b ";", loadTileIf<rank, false, true>, nullptr, SMALTI_NVVM}, \
    {"asm:@$" c " cp.async.bulk.tensor." #rank "d." SMALTI_LOAD ".multicast::cluster [$0], [$1, {" list "} ], [$" a "], $" b ";", loadTileIf<rank, true, false>, nullptr, SMALTI_NVVM}, \
    {"asm:@$" d " cp.async.bulk.tensor." #rank "d." SMALTI_LOAD ".multicast::cluster.L2::cache_hint [$0], [$1, {" list "} ], [$" a "], $" b ", $" c ";", loadTileIf<rank, true, true>, nullptr, SMALTI_NVVM}, \
    {"asm:@$" a " cp.async.bulk.tensor." #rank "d.global.shared::cta.bulk_group [$0, {" spaced "} ], [$1];", storeTileIf<rank>, nullptr, SMALTI_NVVM},
constexpr Instruction table[] = {
    SMALTI_TILES(1, "$2", "$2", "3", "4", "5", "6")
    SMALTI_TILES(2, "$2,$3", "$2, $3", "4", "5", "6", "7")
    SMALTI_TILES(3, "$2,$3,$4", "$2, $3, $4", "5", "6", "7", "8")
    SMALTI_TILES(4, "$2,$3,$4,$5", "$2, $3, $4, $5", "6", "7", "8", "9")
    SMALTI_TILES(5, "$2,$3,$4,$5,$6", "$2, $3, $4, $5, $6", "7", "8", "9", "10")
    {"llvm.nvvm.prefetch.tensormap.*", prefetchTensorMap, nullptr, SMALTI_PTX("prefetch")},
    {"asm:@$1 prefetch.tensormap [$0];", prefetchTensorMap, nullptr, SMALTI_PTX("prefetch")},
};
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaTensorCopies = table;
