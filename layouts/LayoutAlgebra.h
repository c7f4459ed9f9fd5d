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

#ifndef SMALTI_LAYOUTS_LAYOUTALGEBRA_H
#define SMALTI_LAYOUTS_LAYOUTALGEBRA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smalti::layout {

/// A value, or the reason why there is none.
template <typename T> struct ValueOr {
  std::optional<T> value;
  std::string reason;

  ValueOr(T value) : value(std::move(value)) {}
  static ValueOr none(std::string reason) {
    ValueOr result;
    result.reason = std::move(reason);
    return result;
  }
  explicit operator bool() const { return value.has_value(); }
  const T &operator*() const { return *value; }
  const T *operator->() const { return &*value; }

private:
  ValueOr() = default;
};

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
  /// The same layout with the trivial parts written JAX's way: dimensions of
  /// size one removed from warp and lane lists, leading ones removed from every
  /// tile but the first (a tile of ones alone is [1]), and tiles removed that
  /// equal the end of the tile before them. Every element stays where it is.
  /// Neighbouring replications stay apart, as JAX keeps them.
  TiledLayout canonical() const;

  /// The layout of what is left of a vector of `rank` dimensions when the
  /// dimensions `axes` are reduced: along them, warps and lanes are replicated,
  /// and a vector becomes one element. Dimensions that the layout does not tile
  /// change nothing. With `keepDims` the reduced dimensions stay, with size 1.
  /// What is broadcast along `axes` to this layout has the reduced one.
  ValueOr<TiledLayout> reduce(int64_t rank, llvm::ArrayRef<int64_t> axes,
                              bool keepDims = false) const;
  /// The layout in which every thread holds, after the vector's elements are
  /// counted with another shape of the same size, the elements that it held.
  /// Registers keep their order where some layout allows it; elements of a
  /// register always do. There is none where the vector in a register would be
  /// cut, or where sizes do not factor. Where the tiled dimensions but the
  /// first stay, and the first is a multiple of its tile still, it is the
  /// layout itself, as in JAX.
  ValueOr<TiledLayout> reshape(llvm::ArrayRef<int64_t> sourceShape,
                               llvm::ArrayRef<int64_t> targetShape) const;
  /// The layout in which every thread holds the elements that it held, when
  /// dimension `i` of the result is dimension `permutation[i]` of the vector.
  ValueOr<TiledLayout> transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// The layout in which every thread holds the bits that it held, when the
  /// last dimension of the vector has `to` elements for each `from` of them.
  ValueOr<TiledLayout> bitcast(int64_t from, int64_t to) const;
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
  bool operator==(const StridedLayout &other) const {
    return shape == other.shape && vectorSize == other.vectorSize;
  }
  int64_t numElements() const;
  /// How many chunks each thread holds.
  int64_t numRegisters(int64_t threads) const;
  /// The index in the vector of element `element` of register `reg` of a
  /// thread.
  llvm::SmallVector<int64_t> elementIndex(int64_t threads, int64_t thread,
                                          int64_t reg, int64_t element) const;
};

/// All elements are equal, and every thread holds that one scalar.
struct SplatLayout {
  llvm::SmallVector<int64_t> shape;
  bool operator==(const SplatLayout &other) const {
    return shape == other.shape;
  }
};

/// How a vector lies in registers.
using RegisterLayout = std::variant<TiledLayout, StridedLayout, SplatLayout>;

/// The text of a layout without the attribute's name.
std::string toString(const RegisterLayout &layout);
/// Why a layout does not fit a vector of this shape that `threads` threads hold
/// in waves of `waveSize`, if it does not.
std::optional<std::string> validateFor(const RegisterLayout &layout,
                                       llvm::ArrayRef<int64_t> shape,
                                       int64_t threads, int64_t waveSize);
/// Vectors (scalars of a splat) that each thread holds, and their elements.
int64_t numRegisters(const RegisterLayout &layout,
                     llvm::ArrayRef<int64_t> shape, int64_t threads);
int64_t vectorLength(const RegisterLayout &layout);

/// See the members of TiledLayout. A strided layout can be reduced where every
/// thread then holds only elements of its own: where what follows the last of
/// `axes` is a multiple of what the `threads` threads take at a time. It can be
/// reshaped at will. A splat can be reduced, reshaped and transposed at will.
ValueOr<RegisterLayout> reduce(const RegisterLayout &layout,
                               llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<int64_t> axes, bool keepDims,
                               int64_t threads);
ValueOr<RegisterLayout> reshape(const RegisterLayout &layout,
                                llvm::ArrayRef<int64_t> sourceShape,
                                llvm::ArrayRef<int64_t> targetShape);
ValueOr<RegisterLayout> transpose(const RegisterLayout &layout,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> permutation);

/// The bits of the vector as elements of another width. The shapes differ in
/// the last dimension alone. The elements of a splat are not known to be equal
/// then.
ValueOr<RegisterLayout> bitcast(const RegisterLayout &layout,
                                llvm::ArrayRef<int64_t> sourceShape,
                                llvm::ArrayRef<int64_t> targetShape);

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

#endif // SMALTI_LAYOUTS_LAYOUTALGEBRA_H
