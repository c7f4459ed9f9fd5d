//===- SmallFloats.h - Conversions of floats of at most 8 bits --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_SMALLFLOATS_H
#define SMALTI_PASSES_SUPPORT_SMALLFLOATS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Location;
class OpBuilder;
class Operation;
class Type;
class Value;
namespace arith {
class TruncFOp;
} // namespace arith
} // namespace mlir

namespace smalti {

/// `type` with another element type.
mlir::Type withElement(mlir::Type type, mlir::Type element);

/// Truncates f64 to f32 and rounds to odd. A second truncation to a narrower
/// type then gives the result of a single truncation, because odd results
/// preserve ties.
mlir::Value truncateToOdd(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value wide);

/// Whether the truncation does not round to nearest even.
bool isDirected(mlir::arith::TruncFOp op);

/// Whether the type is a float of at most 8 bits.
bool isSmallFloat(mlir::Type type);

/// Whether the op extends or truncates floats, or converts integers to floats,
/// and has an operand or a result of small floats.
bool convertsSmallFloats(mlir::Operation *op);

/// Whether an op of arith or math computes with small floats: it neither moves
/// nor converts them.
bool computesSmallFloats(mlir::Operation *op);

/// Reports an error if the op converts small floats and expandSmallFloats()
/// does not support it.
llvm::LogicalResult checkSmallFloatConversion(mlir::Operation *op);

/// Whether the op converts small floats and expandSmallFloats() supports it.
bool canExpandSmallFloats(mlir::Operation *op);

/// Expands one conversion like expandSmallFloats(), and erases the op.
void expandSmallFloatConversion(mlir::Operation *op);

/// Expands conversions from and to small floats to integer ops, for targets
/// that do not have an instruction for them. A truncation rounds once, as its
/// rounding mode states, and a conversion from an integer to nearest even. Both
/// saturate, also from infinity and in every mode. NaN stays NaN; in a type
/// without NaN, it becomes the largest value. f8E8M0FNU represents powers of
/// two: a negative value becomes NaN, zero becomes the smallest value, and ties
/// become the larger value.
///
/// Also expands truncations to f16, bf16 and f32 that do not round to nearest
/// even. Their overflow is that of IEEE 754.
void expandSmallFloats(mlir::Operation *root);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_SMALLFLOATS_H
