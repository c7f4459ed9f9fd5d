//===- ExpandTileOps.h - Expansion of tile-level ops ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that create the primitive ops of a derived op and return their
// values. None of them can fail. Other folders use only isDerivedOnGPU().
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TILESTOTILES_EXPANDTILEOPS_H
#define SMALTI_PASSES_CONVERSION_TILESTOTILES_EXPANDTILEOPS_H

#include "smalti/passes/Conversion/TilesToTiles/TileBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti {

/// Whether GPUs need the expansion of an op of another dialect: a size in a
/// dimension that is not a valid constant, or a read of an element that another
/// thread may have.
bool isDerivedOnGPU(mlir::Operation *op);

} // namespace smalti

namespace smalti::triton_xla {

mlir::SmallVector<mlir::Value> expandSort(TileBuilder &b, SortOp op);
/// The reference of external code.
mlir::SmallVector<mlir::Value> expandReference(TileBuilder &b,
                                               mlir::Operation *op);
mlir::SmallVector<mlir::Value> expandRandomBits(TileBuilder &b,
                                                RandomBitsOp op);
mlir::Value expandElementRead(TileBuilder &b, mlir::tensor::ExtractOp op);
mlir::Value expandDim(mlir::ImplicitLocOpBuilder &b, mlir::memref::DimOp op);
mlir::Value expandIota(TileBuilder &b, IotaOp op);

mlir::Value expandIPowI(mlir::ImplicitLocOpBuilder &b, mlir::math::IPowIOp op);
mlir::Value expandScalingExtF(mlir::OpBuilder &b,
                              mlir::arith::ScalingExtFOp op);
mlir::Value expandScalingTruncF(mlir::OpBuilder &b,
                                mlir::arith::ScalingTruncFOp op);
mlir::Value expandClampF(mlir::OpBuilder &b, mlir::math::ClampFOp op);
mlir::SmallVector<mlir::Value> expandSinCos(mlir::OpBuilder &b,
                                            mlir::math::SincosOp op);
/// The class of a number as comparisons.
mlir::Value expandClass(mlir::OpBuilder &b, mlir::Operation *op);

/// The fastest algorithm of the target for a dot of f32, on MMAs, that is at
/// least as accurate as that of the dot.
DotAlgorithm chooseAlgorithm(DotOp dot, const targets::Target *target);
mlir::Value expandDot(TileBuilder &b, DotOp op, DotAlgorithm algorithm);
mlir::Value expandDotScaled(TileBuilder &b, DotScaledOp op);
mlir::Value expandSparseDot(TileBuilder &b, SparseDotOp op);

} // namespace smalti::triton_xla

#endif // SMALTI_PASSES_CONVERSION_TILESTOTILES_EXPANDTILEOPS_H
