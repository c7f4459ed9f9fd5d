//===- WgmmaDots.h - Products of warp groups --------------------*- C++ -*-===//
//
// Which products of a tile program warp groups compute (wgmma), of operands
// that tensor copies (TMA) bring to shared memory. Nothing of it depends on the
// IR having been touched.
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

/// A window that one tensor copy can move, and how its tile lies in shared
/// memory.
struct TensorWindow {
  Window window;
  /// The tile's first dimension is the contiguous one; shared memory holds the
  /// tile as the argument does, contiguous dimension last.
  bool isTransposed = false;
  int64_t swizzleBytes = 0;

  /// The tile's shape in shared memory.
  mlir::SmallVector<int64_t> getShape() const;
  mlir::Type getElementType() const { return window.tile.getElementType(); }
  int64_t getBytes() const;
  /// All rows of as many elements as the swizzle spans are one tile there.
  mlir::SmallVector<int64_t> getTiling() const;
};

/// A product of warp groups.
struct WgmmaDot {
  triton_xla::DotOp dot;
  /// Nothing where the left operand is computed: it stays in registers.
  std::optional<TensorWindow> lhs;
  TensorWindow rhs;

  /// Bytes of the tensor copies.
  int64_t getBytes() const {
    return rhs.getBytes() + (lhs ? lhs->getBytes() : 0);
  }
};

/// Coordinates of tensor copies stay within these bounds: what lies beyond is
/// outside of any array that has one.
inline constexpr int64_t kMostCoordinate = int64_t(1) << 30;

/// Fills in how a tensor copy moves the window, or says why none does.
std::optional<std::string> planTensorWindow(const Window &window,
                                            TensorWindow &plan);

/// Fills in the plan of the product, or says why warp groups do not compute it.
std::optional<std::string> planWarpgroupDot(triton_xla::DotOp dot,
                                            WgmmaDot &plan);

/// Fills in how tensor copies store the tile, in pieces as wide as the swizzle,
/// or says why none do.
std::optional<std::string> planTensorStore(triton_xla::InsertOp insert,
                                           TensorWindow &plan);

/// How many warp groups share the products, rows dealt in turn: nothing where
/// no number fits all of them. `numWarps` 0: chosen.
std::optional<int64_t> chooseWarpgroups(llvm::ArrayRef<WgmmaDot> dots,
                                        const targets::Target &target,
                                        int64_t numWarps);

/// The accumulator on so many warp groups: each has 64 rows in turn.
layout::TiledLayout getWarpgroupAccumulator(int64_t groups);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_WGMMADOTS_H
