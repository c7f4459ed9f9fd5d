//===- TileLayouts.h - Layouts of element-wise tiles ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H

#include "smalti/layouts/LayoutAlgebra.h"

#include "mlir/IR/Attributes.h"

namespace smalti {

/// The threads of a block, across which tiles are distributed.
struct BlockShape {
  int64_t numWarps = 1;
  int64_t waveSize = 1;
  int64_t threads() const { return numWarps * waveSize; }
};

/// The layout of an element-wise tile of rank 1 or more. If the number of
/// threads divides the tile, vectors of at most `maxVector` elements (a power
/// of two) are distributed round-robin across the threads. Otherwise it is a
/// tiled layout that distributes power-of-two parts of the shape across warps
/// and lanes and replicates the tile across the others.
mlir::Attribute chooseTileLayout(mlir::MLIRContext *context,
                                 llvm::ArrayRef<int64_t> shape,
                                 int64_t maxVector, const BlockShape &block);

/// Elements per thread of a tile in this layout.
int64_t elementsPerThread(mlir::Attribute layout, llvm::ArrayRef<int64_t> shape,
                          const BlockShape &block);

/// Whether several threads hold the same element.
bool isReplicated(mlir::Attribute layout);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H
