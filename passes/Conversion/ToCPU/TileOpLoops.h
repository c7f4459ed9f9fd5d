//===- TileOpLoops.h - Loops of tile-level ops ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_TILEOPLOOPS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_TILEOPLOOPS_H

#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"
#include "smalti/passes/Conversion/ToCPU/TileOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace smalti {

class PrintfLine;

/// Emits the loops of one op on the buffers of its tiles.
class TileOpLoops {
public:
  TileOpLoops(mlir::RewriterBase &rewriter, mlir::Operation *op,
              mlir::Value tileId, int64_t vectorBits);

  void emit(triton_xla::ReduceOp op) {
    emitReduce(rewriter, op, buffers, vectorBits);
  }
  void emit(triton_xla::ScanOp op) {
    emitScan(rewriter, op, buffers, vectorBits);
  }
  // TileSorts.cpp
  void emit(triton_xla::SortOp op);
  void emit(triton_xla::HistogramOp op);
  // TileIndexedOps.cpp
  void emit(triton_xla::GatherTileOp op);
  void emit(triton_xla::GatherOp op);
  void emit(triton_xla::ScatterOp op);
  void emit(triton_xla::AtomicRMWOp op);
  void emit(triton_xla::AtomicCASOp op);
  // TileDebugOps.cpp
  void emit(triton_xla::PrintOp op);
  void emit(triton_xla::AssertOp op);
  void emit(triton_xla::AssumeOp op);
  void emit(triton_xla::AssumeMultipleOp op);

  /// Replaces the op by the tiles of the result buffers and the scalars.
  void replace(mlir::Operation *op);

private:
  mlir::Value createBuffer(int64_t size, mlir::Type element);
  mlir::Value load(mlir::Value buffer, mlir::Value position);
  void store(mlir::Value value, mlir::Value buffer, mlir::Value position);
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y);
  /// The element of a tile at a row-major position; a scalar itself.
  mlir::Value getElement(mlir::Value operand, mlir::Value position);
  /// An integer as an index, with its sign.
  mlir::Value castToIndex(mlir::Value value);
  /// The number of elements of a tile; 1 for a scalar.
  static int64_t countElements(mlir::Value operand);
  /// Loop over the row-major positions of a tile.
  void forEachElement(mlir::Value operand,
                      llvm::function_ref<void(mlir::Value)> body);
  /// Emits `body` for the case that the condition is true. A null condition is
  /// always true.
  void createIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// The value of `body` if the condition is true, otherwise `other`.
  mlir::Value createSelection(mlir::Value condition,
                              llvm::function_ref<mlir::Value()> body,
                              mlir::Value other);

  // Sorts
  void mergeRuns(triton_xla::SortOp op, mlir::ArrayRef<mlir::Value> from,
                 mlir::ArrayRef<mlir::Value> to, mlir::Value pass,
                 int64_t size);
  // Indexed accesses
  mlir::Value checkAccess(mlir::Value memref, mlir::ValueRange indices,
                          mlir::Value mask, mlir::Value position,
                          mlir::SmallVectorImpl<mlir::Value> &location);
  template <class Op>
  void emitAtomic(
      Op op, mlir::Value lanes,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::ValueRange)> update);
  // Output
  void printLine(const PrintfLine &line);

  mlir::RewriterBase &rewriter;
  mlir::Location loc;
  LoopBuilder loops;
  mlir::ModuleOp module;
  mlir::Value tileId;
  int64_t vectorBits;
  TileBuffers buffers;
  mlir::SmallVector<mlir::Value> resultBuffers;
  /// The results of an op on scalars.
  mlir::SmallVector<mlir::Value> scalars;
  /// The flat buffers of tiles.
  llvm::DenseMap<mlir::Value, mlir::Value> inputs;
};

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_TILEOPLOOPS_H
