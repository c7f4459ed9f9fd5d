//===- TensorMemory.h - Layouts of scales and of sparse metadata ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the operands of tcgen05.mma that are not matrices are laid out.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMEMORY_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMEMORY_H

#include <cstdint>

namespace smalti::emulator::nvidia {

/// Scales in the form in which they are copied to tensor memory, as rows and
/// columns (PTX ISA, "Layout of the scale factor matrix"). `packed` is
/// [tiles][columnGroups][tileRows][16] bytes, `tileRows` a multiple of 32; the
/// scales of 4 * tileRows rows and 4 columns are a tile. `scales` is
/// [tiles * tileRows * 4][columnGroups * 4].
void unpackScales(const uint8_t *packed, int64_t tiles, int64_t columnGroups,
                  int64_t tileRows, uint8_t *scales);

/// Converts metadata from the form that is copied to tensor memory,
/// [rowTiles][columnTiles][height][width], to [rowTiles * height] [columnTiles
/// * width]. Tiles have 128 rows of 64 metadata entries of two bits.
void unpackMetadata(const uint8_t *packed, int64_t rowTiles,
                    int64_t columnTiles, int64_t height, int64_t width,
                    uint8_t *metadata);

/// The positions, of two bits each, of the stored elements of a sparse A, from
/// the metadata in tensor memory. There are two stored elements of each four.
/// `rows` and `columns` are multiples of 16. For 16-bit elements, a lane has 8
/// columns of a row and of the row 8 below. The lane 8 below has the next 8
/// columns of both rows (PTX ISA, "Sparsity selector", `kind::f16`; JAX,
/// `format_tcgen05_sparse_metadata`).
void sparsePositions(const uint8_t *metadata, int64_t rows, int64_t columns,
                     int elementBits, uint8_t *positions);

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMEMORY_H
