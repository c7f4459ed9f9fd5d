//===- WgmmaDots.h - Plan of dots that use wgmma ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dots of a tile-level kernel are lowered to wgmma, with operands that
// TMA copies to shared memory. Planning does not change the IR.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_WGMMADOTS_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_WGMMADOTS_H

#include "smalti/layouts/LayoutAlgebra.h"
#include "smalti/passes/Conversion/TilesToBlocks/TileWindow.h"

#include <optional>
#include <string>

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// A window that one TMA copy can move, and the layout of its tile in shared
/// memory.
struct TensorWindow {
  Window window;
  /// A tile from outside the loop of a dot, which threads store to shared
  /// memory once; null if TMA loads the tile. Only `window.tile` is valid then.
  mlir::Value stored;
  /// Whether the dot uses the transpose of the tile.
  bool isTransposed = false;
  int64_t swizzleBytes = 0;
  /// Swizzle of the transpose in shared memory that threads write after TMA has
  /// loaded the tile, because wgmma requires operands that are contiguous along
  /// K; 0: wgmma reads the tile.
  int64_t transposeSwizzleBytes = 0;
  /// The op that loads the tile with TMA.
  mlir::Operation *load = nullptr;

  /// The shape in shared memory.
  mlir::ArrayRef<int64_t> getShape() const { return window.tile.getShape(); }
  mlir::Type getElementType() const { return window.tile.getElementType(); }
  int64_t getBytes() const;
  /// The alignment in shared memory, in bytes: the period of the swizzle.
  int64_t getAlignment() const;
  /// The tile transform: all rows, and as many columns as the swizzle spans.
  mlir::SmallVector<int64_t> getTiling() const;
  /// The transpose of the tile in shared memory.
  TensorWindow getTranspose() const;
  /// The layout in registers in which `warps` warps transpose the tile in
  /// shared memory.
  layout::TiledLayout getTransposeLayout(int64_t warps) const;
};

/// A dot that is lowered to wgmma.
struct WgmmaDot {
  triton_xla::DotOp dot;
  /// std::nullopt if operand A is computed and stays in registers.
  std::optional<TensorWindow> lhs;
  TensorWindow rhs;

  bool copiesLhs() const { return lhs && !lhs->stored; }
  bool copiesRhs() const { return !rhs.stored; }

  /// Bytes of the TMA loads.
  int64_t getBytes() const {
    return (copiesRhs() ? rhs.getBytes() : 0) +
           (copiesLhs() ? lhs->getBytes() : 0);
  }
};

/// Limit of TMA coordinates. Larger coordinates are outside every supported
/// array.
inline constexpr int64_t kMaxCoordinate = int64_t(1) << 30;

/// Plans a TMA copy of the window, or returns why TMA cannot copy it.
std::optional<std::string> planTMAWindow(const Window &window,
                                         TensorWindow &plan);

/// Plans a wgmma for the dot, or returns why wgmma is not used.
std::optional<std::string> planWgmmaDot(triton_xla::DotOp dot, WgmmaDot &plan);

/// Plans TMA stores of the tile, in pieces of the swizzle width, or returns why
/// TMA is not used.
std::optional<std::string> planTMAStore(triton_xla::InsertOp insert,
                                        TensorWindow &plan);

/// The end of shared memory after the mbarriers and operands of the dots. A
/// stored tile has one buffer for all dots.
int64_t getSharedMemoryEnd(llvm::ArrayRef<WgmmaDot> dots);

/// The end of shared memory after the buffers of a TMA store, which begin at
/// `end` or later.
int64_t appendTMAStore(int64_t end, const TensorWindow &window);

/// The number of buffers through which a TMA store copies a tile in pieces.
int64_t countTMAStoreBuffers(const TensorWindow &window);

/// The number of warpgroups across which the rows of the dots are distributed,
/// or std::nullopt if no number works for all dots. `numWarps` 0: chosen.
/// `tileRegisters`: the registers of the largest tile, in all threads.
std::optional<int64_t> chooseWarpgroups(llvm::ArrayRef<WgmmaDot> dots,
                                        const targets::Target &target,
                                        int64_t numWarps,
                                        int64_t tileRegisters);

/// The accumulator layout on `groups` warpgroups, with 64 rows each.
layout::TiledLayout getWarpgroupAccumulator(int64_t groups);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_WGMMADOTS_H
