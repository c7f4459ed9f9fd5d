//===- CPUVectors.h - Building blocks of vectorized loops -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUVECTORS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUVECTORS_H

#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
class IRMapping;
} // namespace mlir

namespace smalti {

/// The bits of an element; 64 for index.
int64_t bitWidth(mlir::Type type);

/// Builder of the index expressions that the loops need; constants are folded.
struct LoopBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SubIOp>(loc, x, y);
  }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1 ? x : b.createOrFold<mlir::arith::MulIOp>(loc, x, index(y));
  }
  mlir::Value maxSigned(mlir::Value x, int64_t y) {
    return b.createOrFold<mlir::arith::MaxSIOp>(loc, x, index(y));
  }
  mlir::Value minSigned(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinSIOp>(loc, x, y);
  }
  mlir::Value minUnsigned(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinUIOp>(loc, x, y);
  }
  mlir::Value ceilDivUnsigned(mlir::Value x, int64_t y) {
    return y == 1 ? x
                  : b.createOrFold<mlir::arith::CeilDivUIOp>(loc, x, index(y));
  }

  /// Creates a loop from `begin` to `end`; `body` receives the induction
  /// variable. A single iteration is inlined. `most` is the maximum distance of
  /// dynamic bounds.
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body, int64_t most = 0);

  /// Creates a loop nest over all indices of `shape`.
  void nest(mlir::ArrayRef<int64_t> shape,
            llvm::function_ref<void(mlir::ValueRange)> body);

  /// Creates a loop from `begin` to `end` that carries `values`; `body` returns
  /// those of the next iteration. Returns the final values.
  mlir::SmallVector<mlir::Value>
  reduce(int64_t begin, int64_t end, int64_t step, mlir::ValueRange values,
         llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::Value,
                                                           mlir::ValueRange)>
             body);
};

/// Whether vectors along the last dimension can be loaded and stored directly:
/// unit stride and elements of 8, 16, 32 or 64 bits. (Vector elements of i1 and
/// i24 take 1 and 24 bits in memory, memref elements 8 and 32 bits.)
bool hasVectorRows(mlir::MemRefType type);

/// Vector widths, powers of two up to `lanes`, that together cover `count`
/// elements. (LLVM's code generation aborts on some bf16 vectors of other
/// widths and is inefficient for others.)
int64_t widestVector(int64_t count, int64_t lanes);
mlir::SmallVector<int64_t> splitIntoVectors(int64_t count, int64_t lanes);

/// The type of `lanes` elements; a scalar for one lane.
mlir::Type laneType(mlir::Type element, int64_t lanes);

/// Loads or stores a scalar or a vector.
mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                 mlir::Value memref, mlir::ValueRange indices);
void store(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
           mlir::Value memref, mlir::ValueRange indices);

/// A vector with the scalar in each lane; the scalar for one lane.
mlir::Value broadcastToLanes(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value scalar, int64_t lanes);

/// Whether cloneOnLanes() supports an op of a block.
bool canCloneOnLanes(mlir::Operation &op);

/// Clones the ops of a block, without its terminator, for vectors of `lanes`
/// elements. `mapping` has the vectors of the block's arguments; ops whose
/// results it has are not cloned. Other scalars are broadcast.
void cloneOnLanes(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Block &block, mlir::IRMapping &mapping, int64_t lanes);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUVECTORS_H
