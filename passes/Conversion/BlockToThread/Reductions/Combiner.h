//===- Combiner.h - Combination of values in a thread -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and scans combine tuples with one value per input: by an op that
// is a kind of combination, or by a region.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_COMBINER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_COMBINER_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace smalti::block_to_thread {

class Planner;

/// One vector per input, all of the same length.
using Tuple = llvm::SmallVector<mlir::Value, 2>;

/// Combines the elements of tuples that have the same index.
class Combiner {
public:
  Combiner(mlir::OpBuilder &builder, mlir::Location loc, mlir::TypeRange types)
      : builder(builder), loc(loc), types(types.begin(), types.end()) {}
  virtual ~Combiner();

  /// The element types in which values are combined.
  llvm::ArrayRef<mlir::Type> getTypes() const { return types; }
  virtual Tuple combine(const Tuple &lhs, const Tuple &rhs) const = 0;
  /// From the element types of the inputs to those of `getTypes`, and back.
  virtual mlir::Value widen(mlir::Value value) const { return value; }
  virtual mlir::Value narrow(mlir::Value value) const { return value; }
  /// Combines `count` copies of a tuple.
  virtual Tuple repeat(const Tuple &tuple, int64_t count) const;
  /// The kind of the combination, if it is one op on one input.
  virtual std::optional<mlir::vector::CombiningKind> getKind() const = 0;

  /// Combines in a fixed order, as a tree.
  Tuple combine(llvm::ArrayRef<Tuple> tuples) const;
  /// Combines the elements of vectors into vectors of one.
  Tuple combineElements(const Tuple &tuple) const;

protected:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Type> types;
};

/// The type in which a kind combines elements: additions and multiplications of
/// narrow floats in f32.
mlir::Type getWideType(mlir::Type elementType,
                       mlir::vector::CombiningKind kind);

std::unique_ptr<Combiner>
createKindCombiner(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type elementType, mlir::vector::CombiningKind kind,
                   mlir::arith::FastMathFlagsAttr fastMath);
/// Inlines the region of `mosaic_gpu.reduce` or `mosaic_gpu.scan`: on vectors
/// if all ops of the region are element-wise, otherwise once per element.
std::unique_ptr<Combiner> createRegionCombiner(mlir::OpBuilder &builder,
                                               const Emitter &emitter,
                                               mlir::Region &region);

/// Finds the distribution that all inputs of a reduction or scan have, except
/// for splats; a splat if all are splats.
mlir::LogicalResult findCommonDistribution(mlir::Operation *op,
                                           mlir::ValueRange inputs,
                                           const Planner &planner,
                                           Distribution &common);
/// Checks that thread-level code supports the ops of a region.
mlir::LogicalResult checkCombiningRegion(mlir::Operation *op,
                                         mlir::Region &region);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_COMBINER_H
