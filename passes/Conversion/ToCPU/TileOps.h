//===- TileOps.h - Lowering of tile-level ops for the CPU -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_TILEOPS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_TILEOPS_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

namespace mlir {
class RewriterBase;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace smalti {

/// Whether lowerTensorTileOps() supports the op.
bool isTensorTileOp(mlir::Operation *op);

/// Lowers masks, matmuls, and ops that change the shape of tiles or create
/// tiles of indices or random numbers, to linalg and tensor ops.
void lowerTensorTileOps(mlir::RewriterBase &rewriter,
                        mlir::func::FuncOp function);

/// Whether lowerTileLoops() supports the op.
bool isTileLoop(mlir::Operation *op);

/// Lowers ops without a tensor equivalent to loops on buffers. Runs after the
/// last folding before bufferization, which does not track reads of buffers.
void lowerTileLoops(mlir::RewriterBase &rewriter, mlir::func::FuncOp function,
                    int64_t vectorBits);

/// Buffers of the inputs and results of a tile-level op, as one-dimensional
/// memrefs in row-major order.
struct TileBuffers {
  mlir::SmallVector<mlir::Value> inputs;
  mlir::SmallVector<mlir::Value> results;
};

/// Emits the loops of a reduction or scan.
void emitReduce(mlir::OpBuilder &builder, triton_xla::ReduceOp op,
                const TileBuffers &buffers, int64_t vectorBits);
void emitScan(mlir::OpBuilder &builder, triton_xla::ScanOp op,
              const TileBuffers &buffers, int64_t vectorBits);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_TILEOPS_H
