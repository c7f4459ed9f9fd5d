//===- TensorCopies.cpp - cp.async.bulk.tensor of NVIDIA ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of tensors.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Mbarrier.h"
#include "smalti/emulator/Instructions/NVIDIA/Multicast.h"
#include "smalti/emulator/Instructions/NVIDIA/TensorMap.h"
#include "smalti/emulator/Instructions/Thread.h"

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
    failAs("misaligned",
           "cp.async.bulk.tensor: shared memory address %p is not a multiple "
           "of %u bytes; align the buffer",
           place, TensorMap::boxAlignment);
}

/// The copy is complete when its bytes have arrived at the barrier, including
/// those outside of the tensor.
void copyToShared(char *to, void *barrierAddress, const TensorMap &map,
                  const Coordinates &coordinates) {
  checkBox(to);
  Mbarrier barrier(barrierAddress);
  map.load(to, coordinates.data(), /*isCompletion=*/false);
  barrier.deferUntilWait(inFlight(SharedRange{to, map.boxBytes()}, [=] {
    map.load(to, coordinates.data(), /*isCompletion=*/true);
    Mbarrier(barrier).completeBytes(map.boxBytes());
  }));
}

/// Copies to the same offsets of the blocks whose bit is set, each with its own
/// barrier.
void copyToBlocks(uint16_t blocks, char *to, void *barrier,
                  const TensorMap &map, const Coordinates &coordinates) {
  forEachBlock("cp.async.bulk.tensor", blocks, to, barrier,
               [&](char *to, void *barrier) {
                 copyToShared(to, barrier, map, coordinates);
               });
}

/// Operands destination, barrier, map, coordinates, blocks, hint, whether there
/// are blocks, a hint, and the CTA group.
template <int rank> void loadTile(const Call &call) {
  if (call.get<uint32_t>(7 + rank) > 1)
    fail("cp.async.bulk.tensor with .cta_group::2 is not emulated");
  TensorMap map(call.get<void *>(2), rank);
  Coordinates coordinates = coordinatesOf(call, 3, rank);
  if (call.get<uint8_t>(5 + rank))
    copyToBlocks(call.get<uint16_t>(3 + rank), call.get<char *>(0),
                 call.get<void *>(1), map, coordinates);
  else
    copyToShared(call.get<char *>(0), call.get<void *>(1), map, coordinates);
}

/// Operands destination, barrier, map, coordinates, hint and whether there is
/// one.
template <int rank> void loadTileOfBlock(const Call &call) {
  copyToShared(call.get<char *>(0), call.get<void *>(1),
               TensorMap(call.get<void *>(2), rank),
               coordinatesOf(call, 3, rank));
}

/// Operands destination, map, coordinates, barrier, [blocks,] [hint].
template <int rank, bool hasBlocks> void loadTileOfText(const Call &call) {
  TensorMap map(call.get<void *>(1), rank);
  Coordinates coordinates = coordinatesOf(call, 2, rank);
  auto *to = call.get<char *>(0);
  auto *barrier = call.get<void *>(2 + rank);
  if (hasBlocks)
    copyToBlocks(call.get<uint16_t>(3 + rank), to, barrier, map, coordinates);
  else
    copyToShared(to, barrier, map, coordinates);
}

void copyToGlobal(const char *from, const TensorMap &map,
                  const Coordinates &coordinates) {
  checkBox(from);
  map.store(from, coordinates.data(), /*isCompletion=*/false);
  enqueueAsync(bulkQueue, [=] {
    map.store(from, coordinates.data(), /*isCompletion=*/true);
  });
}

/// Operands source, map, coordinates, hint and whether there is one.
template <int rank> void storeTile(const Call &call) {
  copyToGlobal(call.get<char *>(0), TensorMap(call.get<void *>(1), rank),
               coordinatesOf(call, 2, rank));
}

/// Combines what is in the tensor with the tile. Operands as of a store.
template <int rank, Reduction reduction> void reduceTile(const Call &call) {
  auto *from = call.get<const char *>(0);
  TensorMap map(call.get<void *>(1), rank);
  Coordinates coordinates = coordinatesOf(call, 2, rank);
  checkBox(from);
  map.reduce(from, coordinates.data(), reduction, /*isCompletion=*/false);
  enqueueAsync(bulkQueue, [=] {
    map.reduce(from, coordinates.data(), reduction, /*isCompletion=*/true);
  });
}

/// Operands map, coordinates, source, [hint].
template <int rank> void storeTileOfText(const Call &call) {
  copyToGlobal(call.get<char *>(1 + rank), TensorMap(call.get<void *>(0), rank),
               coordinatesOf(call, 1, rank));
}

void prefetchTensorMap(const Call &) {}

/// The map is checked, but the emulator does not copy.
template <int rank> void prefetchTile(const Call &call) {
  TensorMap(call.get<void *>(0), rank);
}

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Data Movement and Conversion Instructions: " section             \
  "\"; \"Tensors\""
#define SMALTI_LOAD "shared::cluster.global.mbarrier::complete_tx::bytes"
#define SMALTI_LOAD_OF_BLOCK "shared::cta.global.mbarrier::complete_tx::bytes"
#define SMALTI_STORE "global.shared::cta.bulk_group"
// clang-format off: one line an instruction
// NOLINTBEGIN(bugprone-macro-parentheses): names
#define SMALTI_TEXT(rank, ending, function) \
    {"asm:cp.async.bulk.tensor." #rank "d." ending, function, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"asm:cp.async.bulk.tensor." #rank "d." ending ".L2::cache_hint", function, nullptr, SMALTI_PTX("cp.async.bulk.tensor")},
#define SMALTI_REDUCE(rank, name, reduction) \
    {"llvm.nvvm.cp.async.bulk.tensor.reduce." name ".tile." #rank "d", reduceTile<rank, Reduction::reduction>, nullptr, SMALTI_PTX("cp.reduce.async.bulk.tensor")},
#define SMALTI_TILES(rank) \
    SMALTI_REDUCE(rank, "add", Add) \
    SMALTI_REDUCE(rank, "min", Min) \
    SMALTI_REDUCE(rank, "max", Max) \
    SMALTI_REDUCE(rank, "inc", Increment) \
    SMALTI_REDUCE(rank, "dec", Decrement) \
    SMALTI_REDUCE(rank, "and", And) \
    SMALTI_REDUCE(rank, "or", Or) \
    SMALTI_REDUCE(rank, "xor", Xor) \
    {"llvm.nvvm.cp.async.bulk.tensor.g2s.tile." #rank "d", loadTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile." #rank "d", loadTileOfBlock<rank>, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"llvm.nvvm.cp.async.bulk.tensor.s2g.tile." #rank "d", storeTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.tensor")}, \
    {"llvm.nvvm.cp.async.bulk.tensor.prefetch.tile." #rank "d", prefetchTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.prefetch.tensor")}, \
    {"asm:cp.async.bulk.prefetch.tensor." #rank "d.L2.global*", prefetchTile<rank>, nullptr, SMALTI_PTX("cp.async.bulk.prefetch.tensor")}, \
    SMALTI_TEXT(rank, SMALTI_LOAD, (loadTileOfText<rank, false>)) \
    SMALTI_TEXT(rank, SMALTI_LOAD_OF_BLOCK, (loadTileOfText<rank, false>)) \
    SMALTI_TEXT(rank, SMALTI_LOAD ".multicast::cluster", (loadTileOfText<rank, true>)) \
    SMALTI_TEXT(rank, SMALTI_STORE, storeTileOfText<rank>)
constexpr Instruction table[] = {
    SMALTI_TILES(1)
    SMALTI_TILES(2)
    SMALTI_TILES(3)
    SMALTI_TILES(4)
    SMALTI_TILES(5)
    {"llvm.nvvm.prefetch.tensormap.*", prefetchTensorMap, nullptr, SMALTI_PTX("prefetch")},
    {"asm:prefetch.tensormap", prefetchTensorMap, nullptr, SMALTI_PTX("prefetch")},
};
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaTensorCopies = table;
