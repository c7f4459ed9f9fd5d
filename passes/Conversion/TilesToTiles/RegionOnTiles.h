//===- RegionOnTiles.h - Scalar regions on whole tiles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOTILES_REGIONONTILES_H
#define SMALTI_PASSES_CONVERSION_TILESTOTILES_REGIONONTILES_H

#include "smalti/passes/Conversion/TilesToTiles/TileBuilder.h"

namespace smalti::triton_xla {

/// Computes a region of scalar ops for all elements of tiles, which are its
/// arguments. The region has element-wise ops, constants, scf.if, scf.for and
/// scf.while. Returns the tiles of its results.
mlir::SmallVector<mlir::Value>
computeOnTiles(TileBuilder &b, mlir::Region &region, mlir::ValueRange tiles);

} // namespace smalti::triton_xla

#endif // SMALTI_PASSES_CONVERSION_TILESTOTILES_REGIONONTILES_H
