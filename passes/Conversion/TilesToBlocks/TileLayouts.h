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
/// of two) are distributed round-robin across the threads. Otherwise it is the
/// blocked layout.
mlir::Attribute chooseTileLayout(mlir::MLIRContext *context,
                                 llvm::ArrayRef<int64_t> shape,
                                 int64_t maxVector, const BlockShape &block);

/// A tiled layout with vectors of at most `maxVector` elements (a power of two)
/// along the last dimension. Lanes are distributed along the last dimensions,
/// warps along the first dimensions, and then along the others, so that a
/// reduction along the last dimension stays in few warps. Only power-of-two
/// parts of the shape are distributed; the tile is replicated across the
/// remaining lanes and warps.
mlir::Attribute chooseBlockedLayout(mlir::MLIRContext *context,
                                    llvm::ArrayRef<int64_t> shape,
                                    int64_t maxVector, const BlockShape &block);

/// Two layouts of a matrix in which a thread holds the same blocks of rows and
/// columns: one with vectors along the rows, one along the columns.
struct BlockTranspose {
  mlir::Attribute alongRows, alongColumns;
};
/// The layouts with blocks of `columnVector` rows by `rowVector` columns
/// (powers of two), if they distribute the matrix evenly.
std::optional<BlockTranspose>
chooseBlockTranspose(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                     int64_t rowVector, int64_t columnVector,
                     const BlockShape &block);

/// The layouts of results, and of operands, of ops in which every thread keeps
/// its elements (see layout::reduce, reshape and transpose). Null if every
/// layout moves elements.
mlir::Attribute getReducedLayout(mlir::Attribute layout,
                                 llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<int64_t> axes, bool keepDims,
                                 const BlockShape &block);
mlir::Attribute getReshapedLayout(mlir::Attribute layout,
                                  llvm::ArrayRef<int64_t> from,
                                  llvm::ArrayRef<int64_t> to);
mlir::Attribute getTransposedLayout(mlir::Attribute layout,
                                    llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<int64_t> permutation);
/// The layout of the operand of a broadcast whose result has `layout`. Operand
/// dimension `i` is result dimension `dims[i]`.
mlir::Attribute getBroadcastOperandLayout(mlir::Attribute layout,
                                          llvm::ArrayRef<int64_t> operandShape,
                                          llvm::ArrayRef<int64_t> resultShape,
                                          llvm::ArrayRef<int64_t> dims,
                                          const BlockShape &block);

/// The layout for accesses to memory, in which every thread keeps its elements:
/// elements that are consecutive along the last dimension are one vector. The
/// same layout if its vectors already are, or cannot be.
mlir::Attribute getRowVectors(mlir::Attribute layout);

/// Elements per thread of a tile in this layout.
int64_t elementsPerThread(mlir::Attribute layout, llvm::ArrayRef<int64_t> shape,
                          const BlockShape &block);

/// Whether several threads hold the same element.
bool isReplicated(mlir::Attribute layout);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILELAYOUTS_H
