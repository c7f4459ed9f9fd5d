//===- LayoutAlgebra.h - Layouts of block-level vectors, as pure data -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mapping of the elements of a block-level vector to warps, lanes and
// registers, without MLIR objects.
//
// A tiled layout is that of JAX Mosaic GPU: a list of tiles, each applied to
// the suffix of the shape that the previous tiles produced. Applying a tile `t`
// to a suffix `s` replaces `s` by `s / t` followed by `t`. In the fully tiled
// shape, `warpDims` are the digits of the warp index and `laneDims` those of
// the lane index (both major to minor). `vectorDim` is the vector in one
// register, and the remaining dimensions number the registers of a thread in
// row-major order.
//
// The numbers of warps and lanes are the sizes of these dimensions, multiplied;
// they are not fixed to 4 and 32.
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

/// A value, or the reason why it does not exist.
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

/// A digit of the warp or lane index: the index along one tiled dimension, or a
/// replicated digit, on which no element depends.
struct PartitionDim {
  /// Counted from the end of the tiled shape (-1 is the last); 0 when
  /// replicated.
  int64_t dim = 0;
  /// Size of a replicated digit.
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

  /// The reason if the layout is not well formed: tiles that do not nest, or
  /// dimensions that are used twice or out of range.
  std::optional<std::string> validate() const;
  /// The reason if the layout is not valid for a vector of this shape.
  std::optional<std::string> validateFor(llvm::ArrayRef<int64_t> shape) const;

  int64_t numWarps() const;
  int64_t numLanes() const;
  int64_t vectorLength() const;

  /// The dimensions of the fully tiled shape; the layout must be valid for it.
  llvm::SmallVector<TiledDim> tile(llvm::ArrayRef<int64_t> shape) const;
  /// The tiled dimensions that number the registers of a thread, major to
  /// minor.
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
  /// The same mapping in JAX's canonical form. Dimensions of size one are
  /// removed from the warp and lane lists. Leading ones are removed from every
  /// tile except the first (a tile of only ones becomes [1]). Tiles that equal
  /// the end of the previous tile are removed. Adjacent replicated digits are
  /// not merged, as in JAX.
  TiledLayout canonical() const;

  /// The layout of a vector of `rank` dimensions after a reduction of the
  /// dimensions `axes`. Digits of warps and lanes along these dimensions become
  /// replicated, and a vector along them becomes one element. Dimensions that
  /// the layout does not tile have no effect. With `keepDims`, the reduced
  /// dimensions remain with size 1. An operand that is broadcast along `axes`
  /// to this layout has the reduced layout.
  ValueOr<TiledLayout> reduce(int64_t rank, llvm::ArrayRef<int64_t> axes,
                              bool keepDims = false) const;
  /// The layout after a reshape in which every thread keeps its elements.
  /// Registers keep their order if a layout allows it; the elements in a
  /// register always keep their order. The layout does not exist if the reshape
  /// splits the vector in a register, or if dimensions do not end at a divisor.
  /// The layout is unchanged, as in JAX, if only the first tiled dimension
  /// changes and remains a multiple of its tile.
  ValueOr<TiledLayout> reshape(llvm::ArrayRef<int64_t> sourceShape,
                               llvm::ArrayRef<int64_t> targetShape) const;
  /// The layout after a transpose in which every thread keeps its elements.
  /// Dimension `i` of the result is dimension `permutation[i]` of the vector.
  ValueOr<TiledLayout> transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// The layout after a bitcast in which every thread keeps its bits. The last
  /// dimension has `to` elements of the result for `from` elements of the
  /// vector.
  ValueOr<TiledLayout> bitcast(int64_t from, int64_t to) const;
  /// The text of JAX: `[[64, 8], [16, 8]], warp_dims = [-7], lane_dims = [-3,
  /// -2], vector_dim = -1`.
  std::string str() const;
};

/// JAX's strided layout: chunks of `vectorSize` elements in row-major order,
/// distributed round-robin across the threads of the block.
struct StridedLayout {
  llvm::SmallVector<int64_t> shape;
  int64_t vectorSize = 1;

  /// The reason if the layout is not well formed.
  std::optional<std::string> validate() const;
  /// The reason if the chunks cannot be distributed evenly across the threads.
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

/// A layout of a vector in registers.
using RegisterLayout = std::variant<TiledLayout, StridedLayout, SplatLayout>;

/// The text of a layout without the name of the attribute.
std::string toString(const RegisterLayout &layout);
/// The reason if a layout is not valid for a vector of this shape that
/// `threads` threads in waves of `waveSize` hold.
std::optional<std::string> validateFor(const RegisterLayout &layout,
                                       llvm::ArrayRef<int64_t> shape,
                                       int64_t threads, int64_t waveSize);
/// The number of vectors (scalars of a splat) of each thread, and their length.
int64_t numRegisters(const RegisterLayout &layout,
                     llvm::ArrayRef<int64_t> shape, int64_t threads);
int64_t vectorLength(const RegisterLayout &layout);

/// See the members of TiledLayout. A strided layout can be reduced if the
/// number of elements inside the last of `axes` is a multiple of the elements
/// of one round over all `threads`. A strided layout can always be reshaped,
/// and a splat can always be reduced, reshaped and transposed.
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

/// The layout after a bitcast to another element width. The shapes differ only
/// in the last dimension. A splat is an error: parts of its elements may
/// differ.
ValueOr<RegisterLayout> bitcast(const RegisterLayout &layout,
                                llvm::ArrayRef<int64_t> sourceShape,
                                llvm::ArrayRef<int64_t> targetShape);

/// The layout of a block-level operand of an MMA instruction. `warps[d]` warps
/// are along dimension d; multiplied by `replicatedWarps`, they are the number
/// of warps. `fragment` is the layout of one instruction tile in one warp.
/// Instruction tiles are distributed round-robin: the base tile is one
/// instruction tile of each warp, and larger vectors repeat it in registers.
/// `warpOrder` lists the digits of the warp index, major to minor: 0 = rows, 1
/// = columns, 2 = replicated. The result is canonical.
TiledLayout blockLayout(const TiledLayout &fragment,
                        llvm::ArrayRef<int64_t> fragmentShape,
                        llvm::ArrayRef<int64_t> warps, int64_t replicatedWarps,
                        llvm::ArrayRef<int> warpOrder);

} // namespace smalti::layout

#endif // SMALTI_LAYOUTS_LAYOUTALGEBRA_H
