//===- TensorMemory.cpp - Layouts of scales and of sparse metadata --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/NVIDIA/TensorMemory.h"

#include <cstring>

using namespace smalti::emulator;

void nvidia::unpackScales(const uint8_t *packed, int64_t tiles,
                          int64_t columnGroups, int64_t tileRows,
                          uint8_t *scales) {
  constexpr int64_t lanes = 32, parts = 4, group = 4;
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int64_t columns = 0; columns < columnGroups; ++columns)
      for (int64_t row = 0; row < tileRows; ++row)
        for (int64_t part = 0; part < parts; ++part) {
          int64_t to = tile * tileRows * parts +
                       (row / lanes * parts + part) * lanes + row % lanes;
          memcpy(scales + (to * columnGroups + columns) * group, packed, group);
          packed += group;
        }
}

void nvidia::unpackMetadata(const uint8_t *packed, int64_t rowTiles,
                            int64_t columnTiles, int64_t height, int64_t width,
                            uint8_t *metadata) {
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t columns = 0; columns < columnTiles; ++columns)
      for (int64_t row = 0; row < height; ++row) {
        memcpy(metadata +
                   ((tile * height + row) * columnTiles + columns) * width,
               packed, width);
        packed += width;
      }
}

void nvidia::sparsePositions(const uint8_t *metadata, int64_t rows,
                             int64_t columns, int elementBits,
                             uint8_t *positions) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t fromRow = row, fromColumn = column;
      if (elementBits == 16) {
        fromRow = (row & ~8) | (column & 8);
        fromColumn = (column & ~8) | (row & 8);
      }
      positions[row * columns + column] =
          metadata[fromRow * columns + fromColumn] & 3;
    }
}
