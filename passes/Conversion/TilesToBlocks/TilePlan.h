//===- TilePlan.h - How a tile program becomes a block program --*- C++ -*-===//
//
// Everything that convert-triton-xla-to-mosaic-gpu decides, as data: nothing of
// it depends on the IR having been touched.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLAN_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLAN_H

#include "smalti/passes/Conversion/TilesToBlocks/TileLayouts.h"
#include "smalti/passes/Conversion/TilesToBlocks/TileWindow.h"
#include "smalti/passes/Conversion/TilesToBlocks/WgmmaDots.h"
#include "smalti/passes/Layouts/Vectors/MmaSelection.h"
#include "smalti/passes/Support/Options.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace smalti {

/// One product of tiles.
struct DotPlan {
  BlockMma mma;
  /// The elements of K that one mosaic_gpu.mma multiplies.
  int64_t kStep = 0;
  /// Steps are a loop instead of straight code.
  bool loopOverK = false;
  /// The matrix instruction that the tile is too small or too odd for, if the
  /// product is scalar instead.
  const targets::MmaInstruction *missed = nullptr;
  /// The operand buffers are written again by the next iteration of a loop.
  bool inLoop = false;
};

/// Why an operand is not copied asynchronously.
struct MissedAsyncCopy {
  triton_xla::ExtractOp extract;
  std::string reason;
};

struct TilePlan {
  triton_xla::EntryFuncOp func;
  BlockShape block;
  /// Layouts of the tiles; splats have none, they take their user's.
  llvm::DenseMap<mlir::Value, mlir::Attribute> layouts;
  /// Every product is in one of the two.
  llvm::MapVector<mlir::Operation *, DotPlan> dots;
  llvm::MapVector<mlir::Operation *, WgmmaDot> warpgroupDots;
  /// Why no warp groups compute this product, and with it all the others.
  triton_xla::DotOp missedWarpgroupDot;
  std::string whyNoWarpgroups;
  /// Extracts that become asynchronous copies.
  llvm::DenseSet<mlir::Operation *> asyncCopies;
  /// Those of operands of warp groups.
  llvm::DenseSet<mlir::Operation *> tensorCopies;
  /// Inserts of sums of warp groups that go through shared memory, and why
  /// others do not.
  llvm::MapVector<mlir::Operation *, TensorWindow> tensorStores;
  mlir::SmallVector<std::pair<triton_xla::InsertOp, std::string>>
      missedTensorStores;
  /// Blocks of a persistent grid, fewer than tiles; 0: a block for each tile.
  int64_t persistentBlocks = 0;
  mlir::SmallVector<MissedAsyncCopy> missedAsyncCopies;
  /// Ops that another thread's access to global memory must have happened
  /// before.
  llvm::DenseSet<mlir::Operation *> barrierBefore;

  /// The layout of a tile where an op uses it.
  mlir::Attribute layoutOf(mlir::Value tile) const;
};

/// Whether a tile is one scalar in every lane, made where it is used.
bool isSplat(mlir::Value tile);

struct TileOptions {
  /// 0 lets the plan choose.
  int64_t numWarps = 0;
  OperandCopies copies = OperandCopies::Auto;
  MatmulKind matmul = MatmulKind::Auto;
  /// Blocks of a persistent grid; 0: a block for each tile.
  int64_t blocks = 0;
};

/// Plans an entry function, or says at the op that is to blame why it cannot be
/// converted.
mlir::FailureOr<TilePlan> planTiles(triton_xla::EntryFuncOp func,
                                    const targets::Target &target,
                                    const TileOptions &options);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLAN_H
