//===- LayoutValues.h - Uniqued layouts of layout inference ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register layouts, tensor memory layouts and shared memory transforms as small
// integers. Each layout is stored once, so integers are equal if layouts are.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTVALUES_H
#define SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTVALUES_H

#include "smalti/layouts/LayoutAlgebra.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smalti::inference {

/// The memory of a value with a layout.
enum class Memory { Registers, Shared, Tensor };

/// The memory of a value, if it has a layout: vectors, shared memory except for
/// barriers, and tensor memory.
std::optional<Memory> getMemory(mlir::Type type);

/// Bits of an element; 0 if the type does not have a fixed size.
int64_t getElementBits(mlir::Type type);
/// Number of elements that fill a column of tensor memory.
int64_t getPacking(mlir::Type type);

/// A layout. Splat and strided layouts do not store the shape of the variable.
struct LayoutValue {
  enum class Kind { Splat, Strided, Tiled, Tensor, Transforms };
  Kind kind = Kind::Splat;
  /// Elements of a chunk of a strided layout.
  int64_t vectorSize = 0;
  /// For registers and tensor memory.
  layout::TiledLayout tiled;
  /// For shared memory: the tile (empty: untiled), and the swizzle in bytes
  /// (16: no swizzle).
  llvm::SmallVector<int64_t, 2> tile;
  int64_t swizzle = 16;
};

using LayoutId = int;
inline constexpr LayoutId kNoLayout = -1;

class LayoutTable {
public:
  /// Layouts are for blocks of `warps` warps of `lanes` lanes.
  LayoutTable(mlir::MLIRContext *context, int64_t warps, int64_t lanes);

  mlir::MLIRContext *getContext() const { return context; }
  int64_t getWarps() const { return warps; }
  int64_t getLanes() const { return lanes; }
  int64_t getThreads() const { return warps * lanes; }

  LayoutId splat() { return kSplatId; }
  LayoutId noTransforms() { return kNoTransformsId; }
  LayoutId strided(int64_t vectorSize);
  LayoutId tiled(const layout::TiledLayout &layout);
  LayoutId tensor(const layout::TiledLayout &layout);
  LayoutId transforms(llvm::ArrayRef<int64_t> tile, int64_t swizzle);
  /// The transforms of memory of this type with a tile, and with the swizzle of
  /// the width of the tile's contiguous dimension.
  LayoutId tiledTransforms(llvm::ArrayRef<int64_t> tile, mlir::MemRefType type);

  const LayoutValue &operator[](LayoutId id) const { return values[id]; }
  bool isSplat(LayoutId id) const { return id == kSplatId; }
  bool isTiled(LayoutId id) const {
    return values[id].kind == LayoutValue::Kind::Tiled;
  }
  bool isStrided(LayoutId id) const {
    return values[id].kind == LayoutValue::Kind::Strided;
  }

  layout::RegisterLayout toRegisterLayout(LayoutId id,
                                          llvm::ArrayRef<int64_t> shape) const;
  LayoutId fromRegisterLayout(const layout::RegisterLayout &layout);

  /// The layout of a vector or of tensor memory, or the transforms (an array)
  /// of shared memory, of an attribute; `kNoLayout` if it is not a layout.
  LayoutId fromAttribute(mlir::Attribute attribute, mlir::Type type);
  mlir::Attribute toAttribute(LayoutId id, mlir::Type type) const;

  /// Whether the layout is valid for a value of this type.
  bool fits(LayoutId id, mlir::Type type);
  /// The reason if the layout is not valid.
  std::string getInvalidReason(LayoutId id, mlir::Type type) const;

  /// The widest strided layout of a vector: chunks of up to 64 bits that do not
  /// cross rows; `kNoLayout` if none exists.
  LayoutId widestStrided(mlir::VectorType type);

  /// Number of 32-bit registers per thread of a vector of this type.
  int64_t countRegisters(LayoutId id, mlir::VectorType type) const;

  /// The name in diagnostics: "WGMMA", "strided by 2", "tile 8x64, swizzle
  /// 128".
  std::string name(LayoutId id) const;

private:
  static constexpr LayoutId kSplatId = 0;
  static constexpr LayoutId kNoTransformsId = 1;

  LayoutId intern(LayoutValue value, std::string key);
  std::optional<std::string> checkFit(LayoutId id, mlir::Type type) const;

  mlir::MLIRContext *context;
  int64_t warps, lanes;
  std::deque<LayoutValue> values;
  std::map<std::string, LayoutId> ids;
  /// Cache of tiled layouts before canonicalization.
  std::map<std::vector<int64_t>, LayoutId> tiledIds;
  llvm::DenseMap<std::pair<LayoutId, mlir::Type>, bool> fitting;
};

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTVALUES_H
