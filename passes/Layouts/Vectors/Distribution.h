//===- Distribution.h - Distribution of vectors across threads --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a block-level vector in the registers of each thread, and the
// index arithmetic of these elements.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_VECTORS_DISTRIBUTION_H
#define SMALTI_PASSES_LAYOUTS_VECTORS_DISTRIBUTION_H

#include "smalti/layouts/LayoutAlgebra.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smalti::block_to_thread {

/// The threads that execute one instance of block-level code and hold its
/// vectors.
struct ThreadGrid {
  int64_t numThreads = 0;
  int64_t waveSize = 0;
  /// Threads of a block, which may execute several instances concurrently.
  int64_t blockThreads = 0;
  int64_t numWarps() const { return numThreads / waveSize; }
};

/// The registers of a thread for its part of a vector. Element `e` of register
/// `r` is `e * vectorStride` further along `vectorDim` than element 0.
class Distribution {
public:
  enum class Kind { Splat, Strided, Tiled };

  /// The distribution of a vector of this type with this layout attribute, or
  /// the reason reason it does not exist.
  static std::optional<Distribution> get(mlir::VectorType type,
                                         mlir::Attribute layout,
                                         const ThreadGrid &grid,
                                         std::string &reason);
  /// Chunks of `vectorLength` elements, distributed round-robin across threads.
  static std::optional<Distribution> getStrided(llvm::ArrayRef<int64_t> shape,
                                                int64_t vectorLength,
                                                const ThreadGrid &grid,
                                                std::string &reason);

  /// A distribution of a vector for stores, in chunks of `minLength` to
  /// `maxLength` elements. Elements are replicated if they cannot be
  /// distributed evenly.
  static std::optional<Distribution> share(mlir::VectorType type,
                                           int64_t minLength, int64_t maxLength,
                                           const ThreadGrid &grid,
                                           std::string &reason);

  Kind getKind() const { return kind; }
  bool isSplat() const { return kind == Kind::Splat; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  const layout::TiledLayout &getTiled() const { return tiled; }
  int64_t getNumRegisters() const { return numRegisters; }
  int64_t getVectorLength() const { return vectorLength; }
  int64_t getVectorDim() const { return vectorDim; }
  int64_t getVectorStride() const { return vectorStride; }
  mlir::VectorType getRegisterType(mlir::Type elementType) const {
    return mlir::VectorType::get({vectorLength}, elementType);
  }
  /// Whether several threads hold the same element.
  bool isReplicated() const;
  /// The text of the layout attribute.
  std::string str() const;

  bool operator==(const Distribution &other) const {
    return kind == other.kind && shape == other.shape &&
           vectorLength == other.vectorLength && tiled == other.tiled;
  }
  bool operator!=(const Distribution &other) const { return !(*this == other); }

private:
  Kind kind = Kind::Splat;
  llvm::SmallVector<int64_t> shape;
  /// In canonical form; only for a tiled layout.
  layout::TiledLayout tiled;
  int64_t numRegisters = 1;
  int64_t vectorLength = 1;
  int64_t vectorDim = 0;
  int64_t vectorStride = 1;
};

/// An index along one dimension: `base + offset`, where base depends on the
/// thread and is a multiple of 2^log2. A null base is zero.
struct Coordinate {
  mlir::Value base;
  unsigned log2 = 62;
  int64_t offset = 0;
};

/// Emits the indices of the elements of a thread, once for each layout, at the
/// head of the kernel.
class ThreadIndices {
public:
  /// Starts the head of a kernel at the end of `block`; later index arithmetic
  /// is inserted there.
  ThreadIndices(mlir::Block *block, mlir::Location loc, const ThreadGrid &grid);
  /// Removes temporary ops.
  void finish();

  /// Indices in the instance.
  mlir::Value getThread() const { return thread; }
  mlir::Value getLane();
  mlir::Value getWarp();
  /// The thread index in the block.
  mlir::Value getThreadOfBlock() const { return threadOfBlock; }
  mlir::Value getConstant(int64_t value);
  /// The builder of the head of the kernel, for values that dominate all uses.
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  const ThreadGrid &getGrid() const { return grid; }

  /// The index of element 0 of a register, one coordinate per dimension.
  llvm::SmallVector<Coordinate> getCoordinates(const Distribution &distribution,
                                               int64_t reg);
  /// The index of chunk number `round` of a thread in a shape whose chunks of
  /// `length` elements are distributed round-robin across threads.
  llvm::SmallVector<Coordinate>
  getChunkCoordinates(llvm::ArrayRef<int64_t> shape, int64_t length,
                      int64_t round, mlir::Value thread);
  /// The part of the index that depends on the warp, for a tiled distribution.
  llvm::SmallVector<Coordinate>
  getWarpCoordinates(const Distribution &distribution);
  /// Whether this thread is the first of those that hold the same elements;
  /// null if elements are not replicated.
  mlir::Value isFirstReplica(const Distribution &distribution);
  /// Whether the kernel does not write to `memref`.
  bool isOnlyRead(mlir::Value memref);

  // Index arithmetic at the head of the kernel, with trivial folds.
  mlir::Value mul(mlir::Value value, int64_t factor);
  mlir::Value div(mlir::Value value, int64_t divisor);
  mlir::Value rem(mlir::Value value, int64_t divisor);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value value, int64_t constant);

private:
  /// Adds the coordinates of the digits of a warp or lane index.
  void addParts(mlir::Value number, int64_t count,
                llvm::ArrayRef<layout::PartitionDim> parts,
                llvm::ArrayRef<layout::TiledDim> dims,
                llvm::MutableArrayRef<Coordinate> coordinates);

  mlir::OpBuilder builder;
  mlir::Location loc;
  ThreadGrid grid;
  mlir::Operation *marker = nullptr;
  mlir::Value threadOfBlock, thread, lane, warp;
  /// An ordered map, because a hash map reserves two keys.
  std::map<int64_t, mlir::Value> constants;
  /// Caches the walk over the users of a memref.
  llvm::DenseMap<mlir::Value, bool> onlyRead;
  std::vector<std::pair<Distribution, llvm::SmallVector<Coordinate>>>
      tiledBases;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_DISTRIBUTION_H
