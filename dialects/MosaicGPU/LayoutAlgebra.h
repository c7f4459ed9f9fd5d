//===- LayoutAlgebra.h - Layouts of block-level vectors, as pure data -----===//
//
// Where the elements of a vector that a whole block holds live: which warp,
// which lane, which register. No MLIR object is needed to ask.
//
// A tiled layout is JAX Mosaic GPU's: a list of tiles, each applied to the
// suffix of the shape that the tiles before it produced. Applying a tile `t`
// to a suffix `s` replaces `s` by `s / t` followed by `t`. On the fully tiled
// shape, `warpDims` are spread over the warps of the block and `laneDims` over
// the lanes of a warp (both major to minor), `vectorDim` is the vector that
// one register holds, and all dimensions left over enumerate the registers of
// a thread, in row-major order.
//
// Warp count and wave size are whatever the dimensions multiply to: nothing
// here knows 4 warps or 32 lanes.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_LAYOUTALGEBRA_H
#define SMALTI_DIALECTS_MOSAICGPU_LAYOUTALGEBRA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace smalti::layout {

/// A part of the warp or lane index: the index along one tiled dimension, or a
/// factor that changes nothing (every value of it holds the same elements).
struct PartitionDim {
  /// Counted from the end of the tiled shape (-1 is the last); 0 when
  /// replicated.
  int64_t dim = 0;
  /// How often the elements are repeated; only for a replicated factor.
  int64_t times = 1;

  static PartitionDim of(int64_t dim) { return {dim, 1}; }
  static PartitionDim replicated(int64_t times) { return {0, times}; }
  bool isReplicated() const { return dim == 0; }
  bool operator==(const PartitionDim &other) const {
    return dim == other.dim && times == other.times;
  }
};

/// One dimension of a tiled shape: it steps through `logicalDim` of the vector
/// by `stride` elements, `size` times.
struct TiledDim {
  int64_t logicalDim = 0;
  int64_t stride = 1;
  int64_t size = 1;
};

using Tiling = llvm::SmallVector<llvm::SmallVector<int64_t>>;

struct TiledLayout {
  Tiling tiling;
  llvm::SmallVector<PartitionDim> warpDims;
  llvm::SmallVector<PartitionDim> laneDims;
  /// Counted from the end of the tiled shape.
  int64_t vectorDim = -1;

  bool operator==(const TiledLayout &other) const {
    return tiling == other.tiling && warpDims == other.warpDims &&
           laneDims == other.laneDims && vectorDim == other.vectorDim;
  }
  bool operator!=(const TiledLayout &other) const { return !(*this == other); }

  /// Why the layout is not well formed, if it is not: tiles that do not nest,
  /// dimensions used twice or outside the tiles.
  std::optional<std::string> validate() const;
  /// Why the layout does not fit a vector of this shape, if it does not.
  std::optional<std::string> validateFor(llvm::ArrayRef<int64_t> shape) const;

  int64_t numWarps() const;
  int64_t numLanes() const;
  int64_t vectorLength() const;

  /// The dimensions of the fully tiled shape; the layout must fit the shape.
  llvm::SmallVector<TiledDim> tile(llvm::ArrayRef<int64_t> shape) const;
  /// Those of them that enumerate the registers of a thread, major to minor.
  llvm::SmallVector<TiledDim> registerDims(llvm::ArrayRef<int64_t> shape) const;
  /// How many vectors of `vectorLength()` elements each thread holds.
  int64_t numRegisters(llvm::ArrayRef<int64_t> shape) const;
  /// The index in the vector of element `element` of register `reg` in a lane
  /// of a warp.
  llvm::SmallVector<int64_t> elementIndex(llvm::ArrayRef<int64_t> shape,
                                          int64_t warp, int64_t lane,
                                          int64_t reg, int64_t element) const;
  /// Whether this (warp, lane) is the first of those that hold the same
  /// elements.
  bool isFirstReplica(int64_t warp, int64_t lane) const;
  /// The same layout with the trivial parts written one way: dimensions of size
  /// one removed from warp and lane lists, neighbouring replications merged,
  /// tiles removed that equal the end of the tile before them. Every element
  /// stays where it is.
  TiledLayout canonical() const;
  /// JAX's text: `[[64, 8], [16, 8]], warp_dims = [-7], lane_dims = [-3, -2],
  /// vector_dim = -1`.
  std::string str() const;
};

/// JAX's strided layout: the elements in row-major order, cut into chunks of
/// `vectorSize`, which are dealt to the threads of the block in turn.
struct StridedLayout {
  llvm::SmallVector<int64_t> shape;
  int64_t vectorSize = 1;

  /// Why the layout is not well formed, if it is not.
  std::optional<std::string> validate() const;
  /// Why it cannot be dealt to this many threads, if it cannot.
  std::optional<std::string> validateForThreads(int64_t threads) const;
  int64_t numElements() const;
  /// How many chunks each thread holds.
  int64_t numRegisters(int64_t threads) const;
  /// The index in the vector of element `element` of register `reg` of a
  /// thread.
  llvm::SmallVector<int64_t> elementIndex(int64_t threads, int64_t thread,
                                          int64_t reg, int64_t element) const;
};

/// The layout of a block-level operand of a matrix instruction: `warps[d]`
/// warps along dimension d (the product with `replicatedWarps` is the warp
/// count), each with instruction tiles laid out as `fragment` (a layout of one
/// warp). Warps take instruction tiles in turn: the base tile is one
/// instruction tile of every warp, and larger vectors repeat it in registers.
/// `warpOrder` lists what the warp index is made of, major to minor: 0 = rows,
/// 1 = columns, 2 = replicated. The result is canonical.
TiledLayout blockLayout(const TiledLayout &fragment,
                        llvm::ArrayRef<int64_t> fragmentShape,
                        llvm::ArrayRef<int64_t> warps, int64_t replicatedWarps,
                        llvm::ArrayRef<int> warpOrder);

} // namespace smalti::layout

#endif // SMALTI_DIALECTS_MOSAICGPU_LAYOUTALGEBRA_H
