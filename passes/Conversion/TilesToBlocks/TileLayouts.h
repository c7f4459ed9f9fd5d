//===- TileLayouts.h - Layouts of tiles that no instruction fixes -*- C++
//-*-===//

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H

#include "smalti/layouts/LayoutAlgebra.h"

#include "mlir/IR/Attributes.h"

namespace smalti {

/// The threads that share a tile.
struct BlockShape {
  int64_t numWarps = 1;
  int64_t waveSize = 1;
  int64_t threads() const { return numWarps * waveSize; }
};

/// The layout of an element-wise tile: chunks of at most `maxVector` elements
/// (a power of two) dealt to the threads in turn where the threads divide the
/// tile, else a tiled layout that gives the warps and lanes what the powers of
/// two in the shape allow and repeats the tile over the others. The rank is at
/// least 1.
mlir::Attribute chooseTileLayout(mlir::MLIRContext *context,
                                 llvm::ArrayRef<int64_t> shape,
                                 int64_t maxVector, const BlockShape &block);

/// Elements that one thread holds of a tile in this layout.
int64_t elementsPerThread(mlir::Attribute layout, llvm::ArrayRef<int64_t> shape,
                          const BlockShape &block);

/// Whether several threads hold the same element.
bool isReplicated(mlir::Attribute layout);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H
