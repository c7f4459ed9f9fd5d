//===- TileBuilder.h - Builder of tile-level ops ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOTILES_TILEBUILDER_H
#define SMALTI_PASSES_CONVERSION_TILESTOTILES_TILEBUILDER_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

namespace smalti::triton_xla {

/// Creates tile ops at one location.
class TileBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  static mlir::RankedTensorType typeOf(mlir::Value tile) {
    return mlir::cast<mlir::RankedTensorType>(tile.getType());
  }
  static mlir::ArrayRef<int64_t> shapeOf(mlir::Value tile) {
    return typeOf(tile).getShape();
  }
  static mlir::RankedTensorType withElement(mlir::Value tile,
                                            mlir::Type element) {
    return typeOf(tile).clone(element);
  }

  mlir::Value integers(mlir::ArrayRef<int64_t> shape, mlir::Type element,
                       int64_t value) {
    auto type = mlir::RankedTensorType::get(shape, element);
    return mlir::arith::ConstantOp::create(
        *this,
        mlir::DenseElementsAttr::get(type, getIntegerAttr(element, value)));
  }
  mlir::Value floats(mlir::ArrayRef<int64_t> shape, mlir::Type element,
                     double value) {
    auto type = mlir::RankedTensorType::get(shape, element);
    return mlir::arith::ConstantOp::create(
        *this,
        mlir::DenseElementsAttr::get(type, getFloatAttr(element, value)));
  }
  mlir::Value zeros(mlir::ArrayRef<int64_t> shape, mlir::Type element) {
    auto type = mlir::RankedTensorType::get(shape, element);
    return mlir::arith::ConstantOp::create(
        *this, mlir::DenseElementsAttr::get(type, getZeroFill(element)));
  }
  /// A tile whose elements all are the scalar.
  mlir::Value splat(mlir::ArrayRef<int64_t> shape, mlir::Value scalar) {
    return mlir::tensor::SplatOp::create(*this, scalar, shape);
  }

  mlir::Value reshape(mlir::Value tile, mlir::ArrayRef<int64_t> shape) {
    if (shapeOf(tile) == shape)
      return tile;
    return ReshapeOp::create(*this, typeOf(tile).clone(shape), tile);
  }
  mlir::Value broadcast(mlir::Value tile, mlir::ArrayRef<int64_t> dims,
                        mlir::ArrayRef<int64_t> shape) {
    if (shapeOf(tile) == shape)
      return tile;
    return BroadcastOp::create(*this, typeOf(tile).clone(shape), tile, dims);
  }
  /// Repeats dimensions of size 1.
  mlir::Value stretch(mlir::Value tile, mlir::ArrayRef<int64_t> shape) {
    return broadcast(tile, llvm::to_vector(llvm::seq<int64_t>(shape.size())),
                     shape);
  }
  mlir::Value transpose(mlir::Value tile, mlir::ArrayRef<int64_t> permutation) {
    mlir::SmallVector<int64_t> shape =
        mlir::applyPermutation(shapeOf(tile), permutation);
    return TransposeOp::create(*this, typeOf(tile).clone(shape), tile,
                               permutation);
  }
  mlir::Value iota(mlir::ArrayRef<int64_t> shape, mlir::Type element,
                   int64_t dim) {
    return IotaOp::create(*this, mlir::RankedTensorType::get(shape, element),
                          dim);
  }
  mlir::Value concat(mlir::ValueRange tiles, int64_t dim) {
    if (tiles.size() == 1)
      return tiles.front();
    mlir::SmallVector<int64_t> shape(shapeOf(tiles.front()));
    shape[dim] = 0;
    for (mlir::Value tile : tiles)
      shape[dim] += shapeOf(tile)[dim];
    return ConcatOp::create(*this, typeOf(tiles.front()).clone(shape), tiles,
                            dim);
  }
  /// Elements [offset, offset + size) of a dimension.
  mlir::Value slice(mlir::Value tile, int64_t dim, int64_t offset,
                    int64_t size) {
    mlir::SmallVector<int64_t> sizes(shapeOf(tile));
    if (sizes[dim] == size)
      return tile;
    mlir::SmallVector<int64_t> offsets(sizes.size(), 0),
        strides(sizes.size(), 1);
    offsets[dim] = offset;
    sizes[dim] = size;
    return SliceOp::create(*this, typeOf(tile).clone(sizes), tile, offsets,
                           sizes, strides);
  }
  /// Interleaves tiles of one shape along a dimension: element `i` of tile `j`
  /// becomes element `i * number of tiles + j`.
  mlir::Value interleave(mlir::ArrayRef<mlir::Value> tiles, int64_t dim) {
    mlir::SmallVector<int64_t> shape(shapeOf(tiles.front())), split(shape);
    split.insert(split.begin() + dim + 1, 1);
    mlir::SmallVector<mlir::Value> parts;
    for (mlir::Value tile : tiles)
      parts.push_back(reshape(tile, split));
    shape[dim] *= static_cast<int64_t>(tiles.size());
    return reshape(concat(parts, dim + 1), shape);
  }

  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(*this, condition, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return mlir::arith::CmpIOp::create(*this, predicate, a, b);
  }
  mlir::Value compareTo(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                        int64_t value) {
    return compare(predicate, a,
                   integers(shapeOf(a), typeOf(a).getElementType(), value));
  }
  /// Whether elements are neither NaN nor an infinity.
  mlir::Value isFinite(mlir::Value tile) {
    mlir::Value infinity = floats(shapeOf(tile), typeOf(tile).getElementType(),
                                  std::numeric_limits<double>::infinity());
    return mlir::arith::CmpFOp::create(*this, mlir::arith::CmpFPredicate::OLT,
                                       mlir::math::AbsFOp::create(*this, tile),
                                       infinity);
  }
  mlir::Value bitcast(mlir::Value tile, mlir::Type element) {
    return mlir::arith::BitcastOp::create(*this, withElement(tile, element),
                                          tile);
  }
  mlir::Value zeroExtend(mlir::Value tile, mlir::Type element) {
    return mlir::arith::ExtUIOp::create(*this, withElement(tile, element),
                                        tile);
  }
  /// `(tile >> shift) & mask`, of unsigned integers.
  mlir::Value bits(mlir::Value tile, int64_t shift, int64_t mask) {
    mlir::Type element = typeOf(tile).getElementType();
    if (shift != 0)
      tile = mlir::arith::ShRUIOp::create(
          *this, tile, integers(shapeOf(tile), element, shift));
    return mlir::arith::AndIOp::create(*this, tile,
                                       integers(shapeOf(tile), element, mask));
  }
  mlir::Value shiftLeft(mlir::Value tile, int64_t shift) {
    mlir::Type element = typeOf(tile).getElementType();
    return mlir::arith::ShLIOp::create(*this, tile,
                                       integers(shapeOf(tile), element, shift));
  }
  /// Combines integers along dimensions, which are dropped, by an op for which
  /// 0 is neutral.
  template <typename Op>
  mlir::Value combine(mlir::Value tile, mlir::ArrayRef<int64_t> dims) {
    mlir::Type element = typeOf(tile).getElementType();
    mlir::SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(shapeOf(tile)))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        shape.push_back(size);
    mlir::Value zero =
        mlir::arith::ConstantOp::create(*this, getIntegerAttr(element, 0));
    auto reduce =
        ReduceOp::create(*this, mlir::TypeRange(typeOf(tile).clone(shape)),
                         mlir::ValueRange(tile), mlir::ValueRange(zero), dims);
    InsertionGuard guard(*this);
    mlir::Block *block = createBlock(&reduce.getCombiner(), {},
                                     {element, element}, {getLoc(), getLoc()});
    mlir::Value combined =
        Op::create(*this, block->getArgument(0), block->getArgument(1));
    YieldOp::create(*this, combined);
    return reduce.getResult(0);
  }
  /// The sums of integers along a dimension, which is dropped.
  mlir::Value sum(mlir::Value tile, int64_t dim) {
    return combine<mlir::arith::AddIOp>(tile, dim);
  }
  /// Converts floats; the conversion to a wider type is exact.
  mlir::Value convert(mlir::Value tile, mlir::Type element) {
    mlir::Type from = typeOf(tile).getElementType();
    if (from == element)
      return tile;
    if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
      return mlir::arith::ExtFOp::create(*this, withElement(tile, element),
                                         tile);
    if (from.getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth())
      tile = mlir::arith::ExtFOp::create(*this, withElement(tile, getF32Type()),
                                         tile);
    return mlir::arith::TruncFOp::create(*this, withElement(tile, element),
                                         tile);
  }
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs, mlir::Value accumulator,
                  DotAlgorithm algorithm = DotAlgorithm::Default) {
    return DotOp::create(*this, accumulator.getType(), lhs, rhs, accumulator,
                         algorithm, /*unsigned_lhs=*/false,
                         /*unsigned_rhs=*/false);
  }
  /// A dot with the algorithm and the signs of another dot.
  mlir::Value dotLike(DotOp dot, mlir::Value lhs, mlir::Value rhs,
                      mlir::Value accumulator) {
    return DotOp::create(*this, accumulator.getType(), lhs, rhs, accumulator,
                         dot.getAlgorithm(), dot.getUnsignedLhs(),
                         dot.getUnsignedRhs());
  }
};

} // namespace smalti::triton_xla

#endif // SMALTI_PASSES_CONVERSION_TILESTOTILES_TILEBUILDER_H
