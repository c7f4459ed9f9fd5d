//===- MatrixLoads.cpp - ldmatrix and stmatrix of NVIDIA ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane 8 * m + r has the address of row r of matrix m, 16 bytes (lane 16 * m +
// r if matrices have 16 rows). The access is attributed to this lane; other
// lanes do not access memory.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Warp.h"
#include "smalti/emulator/Instructions/Thread.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

constexpr int rowBytes = 16;

/// Lanes whose addresses are looked at.
template <int rows> char *rowAddress(const Call &call) {
  if (laneId() >= rows)
    return nullptr;
  auto *address = call.get<char *>(0);
  if (uintptr_t(address) % rowBytes)
    failAs("misaligned",
           "ldmatrix or stmatrix: the address of a row is %p, which is not a "
           "multiple of %d bytes",
           address, rowBytes);
  return address;
}
template <int rows> void readRow(const Call &call) {
  if (char *address = rowAddress<rows>(call))
    touchRead(address, rowBytes);
}
template <int rows> void writeRow(const Call &call) {
  if (char *address = rowAddress<rows>(call))
    touchWrite(address, rowBytes);
}

char *rowOf(const Wave &wave, int lane) {
  return wave.lanes[lane].get<char *>(0);
}
char *resultOf(const Wave &wave, int lane) {
  return static_cast<char *>(wave.lanes[lane].result);
}

/// A row of an 8x8 matrix is distributed to four lanes; if transposed, its
/// elements go to each fourth lane.
template <int matrices, bool transposed> void load16(const Wave &wave) {
  for (int m = 0; m < matrices; ++m)
    for (int row = 0; row < 8; ++row) {
      const char *address = rowOf(wave, 8 * m + row);
      if (transposed)
        for (int column = 0; column < 8; ++column)
          memcpy(resultOf(wave, 4 * column + row / 2) + 4 * m + 2 * (row % 2),
                 address + 2 * column, 2);
      else
        for (int part = 0; part < 4; ++part)
          memcpy(resultOf(wave, 4 * row + part) + 4 * m, address + 4 * part, 4);
    }
}

template <int matrices, bool transposed> void store16(const Wave &wave) {
  for (int m = 0; m < matrices; ++m)
    for (int row = 0; row < 8; ++row) {
      char *address = rowOf(wave, 8 * m + row);
      if (transposed)
        for (int column = 0; column < 8; ++column)
          memcpy(address + 2 * column,
                 wave.lanes[4 * column + row / 2].data(1 + m) + 2 * (row % 2),
                 2);
      else
        for (int part = 0; part < 4; ++part)
          memcpy(address + 4 * part, wave.lanes[4 * row + part].data(1 + m), 4);
    }
}

/// The layout of the 16 elements of a row in memory: `bits` each, contiguous,
/// lowest first. In registers each element has a byte, zero-extended.
template <int bits> void unpackRow(const char *row, uint8_t (&bytes)[16]) {
  for (int i = 0; i < 16; ++i) {
    int bit = i * bits;
    uint16_t pair = uint8_t(row[bit / 8]);
    if (bit % 8 + bits > 8)
      pair |= uint16_t(uint8_t(row[bit / 8 + 1])) << 8;
    bytes[i] = uint8_t(pair >> (bit % 8) & ((1 << bits) - 1));
  }
}

/// 8x16: lane l has the elements 4 * (l % 4) to + 3 of row l / 4.
template <int matrices, int bits> void loadRows8(const Wave &wave) {
  for (int m = 0; m < matrices; ++m)
    for (int row = 0; row < 8; ++row) {
      uint8_t bytes[16];
      unpackRow<bits>(rowOf(wave, 8 * m + row), bytes);
      for (int part = 0; part < 4; ++part)
        memcpy(resultOf(wave, 4 * row + part) + 4 * m, bytes + 4 * part, 4);
    }
}

/// 16x16, transposed: lane l has the columns l / 4 and l / 4 + 8 of the rows
/// 4 * (l % 4) to + 3. A register has two rows, first of the one column, then
/// of the other.
template <int matrices, int bits> void loadColumns8(const Wave &wave) {
  for (int m = 0; m < matrices; ++m)
    for (int row = 0; row < 16; ++row) {
      uint8_t bytes[16];
      unpackRow<bits>(rowOf(wave, 16 * m + row), bytes);
      for (int column = 0; column < 16; ++column)
        resultOf(wave, 4 * (column % 8) + row / 4)[8 * m + 4 * (row % 4 / 2) +
                                                   2 * (column / 8) + row % 2] =
            char(bytes[column]);
    }
}

/// 16x8, transposed: a row in memory is a column of the matrix. Lane l has, as
/// in an accumulator of mma, the columns 2 * (l % 4) and the next, of row l / 4
/// and then of row l / 4 + 8.
template <int matrices> void storeColumns8(const Wave &wave) {
  for (int m = 0; m < matrices; ++m)
    for (int column = 0; column < 8; ++column) {
      char *address = rowOf(wave, 8 * m + column);
      for (int row = 0; row < 16; ++row)
        address[row] = wave.lanes[4 * (row % 8) + column / 2].data(
            1 + m)[2 * (row / 8) + column % 2];
    }
}

constexpr char loadDocument[] =
    "PTX ISA, \"Warp-level matrix load instruction: ldmatrix\"";
constexpr char storeDocument[] =
    "PTX ISA, \"Warp-level matrix store instruction: stmatrix\"";
// The figure of the PTX ISA is read as CUTLASS has it, where both are by
// NVIDIA.
constexpr char transposedBytesDocument[] =
    "PTX ISA, \"Warp-level matrix load instruction: ldmatrix\"; the order of a "
    "lane's bytes: CUTLASS, cute/atom/copy_traits_sm100.hpp, SM100_U8x8_LDSM_T";

// clang-format off: one line an instruction
#define SMALTI_LOAD(name, function, rows, document) \
    {"llvm.nvvm.ldmatrix.sync.aligned." name ".p*", nullptr, function, document, nullptr, readRow<rows>, true, true},
#define SMALTI_STORE(name, function, rows) \
    {"llvm.nvvm.stmatrix.sync.aligned." name ".p*", nullptr, function, storeDocument, nullptr, writeRow<rows>, true, true},
constexpr Instruction table[] = {
    SMALTI_LOAD("m8n8.x1.b16", (load16<1, false>), 8, loadDocument)
    SMALTI_LOAD("m8n8.x2.b16", (load16<2, false>), 16, loadDocument)
    SMALTI_LOAD("m8n8.x4.b16", (load16<4, false>), 32, loadDocument)
    SMALTI_LOAD("m8n8.x1.trans.b16", (load16<1, true>), 8, loadDocument)
    SMALTI_LOAD("m8n8.x2.trans.b16", (load16<2, true>), 16, loadDocument)
    SMALTI_LOAD("m8n8.x4.trans.b16", (load16<4, true>), 32, loadDocument)
    SMALTI_LOAD("m8n16.x1.b8x16.b4x16_p64", (loadRows8<1, 4>), 8, loadDocument)
    SMALTI_LOAD("m8n16.x2.b8x16.b4x16_p64", (loadRows8<2, 4>), 16, loadDocument)
    SMALTI_LOAD("m8n16.x4.b8x16.b4x16_p64", (loadRows8<4, 4>), 32, loadDocument)
    SMALTI_LOAD("m8n16.x1.b8x16.b6x16_p32", (loadRows8<1, 6>), 8, loadDocument)
    SMALTI_LOAD("m8n16.x2.b8x16.b6x16_p32", (loadRows8<2, 6>), 16, loadDocument)
    SMALTI_LOAD("m8n16.x4.b8x16.b6x16_p32", (loadRows8<4, 6>), 32, loadDocument)
    SMALTI_LOAD("m16n16.x1.trans.b8", (loadColumns8<1, 8>), 16, transposedBytesDocument)
    SMALTI_LOAD("m16n16.x2.trans.b8", (loadColumns8<2, 8>), 32, transposedBytesDocument)
    SMALTI_LOAD("m16n16.x1.trans.b8x16.b4x16_p64", (loadColumns8<1, 4>), 16, transposedBytesDocument)
    SMALTI_LOAD("m16n16.x2.trans.b8x16.b4x16_p64", (loadColumns8<2, 4>), 32, transposedBytesDocument)
    SMALTI_LOAD("m16n16.x1.trans.b8x16.b6x16_p32", (loadColumns8<1, 6>), 16, transposedBytesDocument)
    SMALTI_LOAD("m16n16.x2.trans.b8x16.b6x16_p32", (loadColumns8<2, 6>), 32, transposedBytesDocument)
    SMALTI_STORE("m8n8.x1.b16", (store16<1, false>), 8)
    SMALTI_STORE("m8n8.x2.b16", (store16<2, false>), 16)
    SMALTI_STORE("m8n8.x4.b16", (store16<4, false>), 32)
    SMALTI_STORE("m8n8.x1.trans.b16", (store16<1, true>), 8)
    SMALTI_STORE("m8n8.x2.trans.b16", (store16<2, true>), 16)
    SMALTI_STORE("m8n8.x4.trans.b16", (store16<4, true>), 32)
    SMALTI_STORE("m16n8.x1.trans.b8", storeColumns8<1>, 8)
    SMALTI_STORE("m16n8.x2.trans.b8", storeColumns8<2>, 16)
    SMALTI_STORE("m16n8.x4.trans.b8", storeColumns8<4>, 32)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaMatrixLoads = table;
