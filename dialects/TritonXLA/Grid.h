//===- Grid.h - The grid of a tile-level kernel ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private header of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_TRITONXLA_GRID_H
#define SMALTI_DIALECTS_TRITONXLA_GRID_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

namespace smalti::triton_xla {

/// Parses the grid after `tiles`, and adds its attributes to `result`.
mlir::ParseResult
parseGrid(mlir::OpAsmParser &parser,
          llvm::ArrayRef<mlir::OpAsmParser::Argument> arguments,
          mlir::OperationState &result);
void printGrid(mlir::OpAsmPrinter &p, EntryFuncOp func);
/// Checks the attributes of the grid, the tile ids, and the arguments that the
/// number of tiles depends on.
mlir::LogicalResult verifyGrid(EntryFuncOp func);

} // namespace smalti::triton_xla

#endif // SMALTI_DIALECTS_TRITONXLA_GRID_H
