//===- TilePlan.h - Plan of the conversion to block level -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of convert-triton-xla-to-mosaic-gpu as data. Planning does not
// change the IR.
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

/// Plan of a dot that is lowered to MMAs.
struct DotPlan {
  BlockMma mma;
  /// K of one mosaic_gpu.mma.
  int64_t kStep = 0;
  /// Whether the steps along K are a loop instead of unrolled code.
  bool loopOverK = false;
  /// The MMA that the tile shape does not match, if the dot is lowered to
  /// scalar multiply-adds.
  const targets::MmaInstruction *missed = nullptr;
  /// Whether the next iteration of a loop overwrites the operand buffers.
  bool inLoop = false;
  /// Whether an operand changes its layout to that of the MMA instead of being
  /// stored in shared memory: no element moves between warps.
  bool aInRegisters = false, bInRegisters = false;
};

/// Why an operand is not copied asynchronously.
struct MissedAsyncCopy {
  triton_xla::ExtractOp extract;
  std::string reason;
};

struct TilePlan {
  triton_xla::EntryFuncOp func;
  BlockShape block;
  /// Layouts of the tiles, except splats, which take the layout of each use.
  llvm::DenseMap<mlir::Value, mlir::Attribute> layouts;
  /// Every dot is in exactly one of these maps.
  llvm::MapVector<mlir::Operation *, DotPlan> dots;
  llvm::MapVector<mlir::Operation *, WgmmaDot> wgmmaDots;
  /// The dot that prevents wgmma for the whole kernel, and the reason.
  triton_xla::DotOp rejectedWgmmaDot;
  std::string wgmmaRejectionReason;
  /// Extracts that are lowered to asynchronous copies.
  llvm::DenseSet<mlir::Operation *> asyncCopies;
  /// Extracts of wgmma operands, which are lowered to TMA loads.
  llvm::DenseSet<mlir::Operation *> tensorCopies;
  /// Inserts of wgmma accumulators that are lowered to TMA stores through
  /// shared memory, and why others are not.
  llvm::MapVector<mlir::Operation *, TensorWindow> tensorStores;
  mlir::SmallVector<std::pair<triton_xla::InsertOp, std::string>>
      missedTensorStores;
  /// Blocks of a persistent grid, fewer than tiles; 0: one block per tile.
  int64_t persistentBlocks = 0;
  mlir::SmallVector<MissedAsyncCopy> missedAsyncCopies;
  /// Ops that need a barrier before them, which orders accesses of other
  /// threads to global memory.
  llvm::DenseSet<mlir::Operation *> barrierBefore;

  /// The layout of a tile at its uses.
  mlir::Attribute layoutOf(mlir::Value tile) const;
  /// The layout of operand A or B of a dot in registers, through a transpose
  /// that has no layout of its own; null if none exists.
  mlir::Attribute operandLayoutOf(mlir::Value operand) const;
};

/// Whether a tile is a splat, which is rematerialized at each use.
bool isSplat(mlir::Value tile);

struct TileOptions {
  /// 0: chosen by the plan.
  int64_t numWarps = 0;
  OperandCopies copies = OperandCopies::Auto;
  MatmulKind matmul = MatmulKind::Auto;
  /// Blocks of a persistent grid; 0: one block per tile.
  int64_t blocks = 0;
};

/// Plans an entry function with legal dots. Reports an error at the op that
/// cannot be converted.
mlir::FailureOr<TilePlan> planTiles(triton_xla::EntryFuncOp func,
                                    const targets::Target &target,
                                    const TileOptions &options);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLAN_H
