//===- LayoutValues.h - What a variable of layout inference can be --------===//
//
// Layouts of registers and of tensor memory, and transforms of shared memory,
// as small numbers: each is stored once, so that equality is that of numbers.
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

/// Where a value with a layout is.
enum class Memory { Registers, Shared, Tensor };

/// Where a value is, if it has a layout: vectors, shared memory that is not of
/// barriers, and tensor memory.
std::optional<Memory> getMemory(mlir::Type type);

/// Bits that an element takes; 0 where there is no such number.
int64_t getElementBits(mlir::Type type);
/// Elements that fill a column of tensor memory.
int64_t getPacking(mlir::Type type);

/// Splat and strided layouts are those of any shape: the variable has it.
struct LayoutValue {
  enum class Kind { Splat, Strided, Tiled, Tensor, Transforms };
  Kind kind = Kind::Splat;
  /// Elements of a chunk of a strided layout.
  int64_t vectorSize = 0;
  /// Of registers or tensor memory.
  layout::TiledLayout tiled;
  /// Of shared memory: the tile, empty where there is none, and the bytes of
  /// the swizzle, 16 where there is none.
  llvm::SmallVector<int64_t, 2> tile;
  int64_t swizzle = 16;
};

using LayoutId = int;
inline constexpr LayoutId kNoLayout = -1;

class LayoutTable {
public:
  /// A block has `warps` warps of `lanes` lanes.
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
  /// The transforms of memory of this type with a tile, and with the swizzle
  /// that the tile's contiguous dimension spans.
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

  /// The layout of a vector, of tensor memory, or the transforms (an array) of
  /// shared memory that an attribute states; `kNoLayout` where it is none.
  LayoutId fromAttribute(mlir::Attribute attribute, mlir::Type type);
  mlir::Attribute toAttribute(LayoutId id, mlir::Type type) const;

  /// Whether a value of this type can have the layout.
  bool fits(LayoutId id, mlir::Type type);
  /// Why it cannot.
  std::string whyNot(LayoutId id, mlir::Type type) const;

  /// The widest strided layout of a vector: chunks of up to 64 bits that do not
  /// cross rows; `kNoLayout` where there is none.
  LayoutId widestStrided(mlir::VectorType type);

  /// 32-bit registers that a thread needs for a vector of this type.
  int64_t countRegisters(LayoutId id, mlir::VectorType type) const;

  /// As in diagnostics: "WGMMA", "strided by 2", "tile 8x64, swizzle 128".
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
  /// Of tiled layouts as they were given.
  std::map<std::vector<int64_t>, LayoutId> tiledIds;
  llvm::DenseMap<std::pair<LayoutId, mlir::Type>, bool> fitting;
};

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTVALUES_H
