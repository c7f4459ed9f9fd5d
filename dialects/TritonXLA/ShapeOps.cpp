//===- ShapeOps.cpp - Shapes and positions of tiles -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/dialects/TritonXLA/Verification.h"
#include "smalti/targets/Text.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

LogicalResult smalti::triton_xla::verifySameElements(Operation *op,
                                                     RankedTensorType tile,
                                                     RankedTensorType result) {
  if (tile.getElementType() == result.getElementType())
    return success();
  return op->emitOpError("tile and result must have the same element type, but "
                         "the tile has ")
         << tile.getElementType() << " and the result "
         << result.getElementType();
}

LogicalResult smalti::triton_xla::verifyDim(Operation *op, int64_t dim,
                                            RankedTensorType tile) {
  if (dim >= 0 && dim < tile.getRank())
    return success();
  return op->emitOpError("dim is ")
         << dim << ", but the tile has rank " << tile.getRank()
         << " and dimensions are counted from 0";
}

LogicalResult smalti::triton_xla::verifyDims(Operation *op,
                                             ArrayRef<int64_t> dims,
                                             int64_t rank, StringRef owner) {
  for (auto [position, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError("dims[")
             << position << "] is " << dim << ", but the " << owner
             << " has rank " << rank << " and dimensions are counted from 0";
    if (position != 0 && dim <= dims[position - 1])
      return op->emitOpError("dims must be strictly increasing, but dims[")
             << position << "] is " << dim << " after " << dims[position - 1];
  }
  return success();
}

/// The constant of `type` whose elements all are that of `constant`, or null.
static Attribute resizeSplat(Attribute constant, Type type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(constant);
  return splat ? splat.resizeSplat(cast<ShapedType>(type)) : Attribute();
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType tile = getTile().getType(), result = getResult().getType();
  if (failed(verifySameElements(*this, tile, result)))
    return failure();
  ArrayRef<int64_t> dims = getDims();
  if (dims.size() != static_cast<size_t>(tile.getRank()))
    return emitOpError("dims has ")
           << smalti::counted(dims.size(), "entry", "entries")
           << ", but the tile has "
           << smalti::counted(tile.getRank(), "dimension")
           << "; one entry for each is required";
  if (failed(verifyDims(*this, dims, result.getRank(), "result")))
    return failure();
  for (auto [position, size] : llvm::enumerate(tile.getShape())) {
    int64_t target = result.getDimSize(dims[position]);
    if (size != 1 && size != target)
      return emitOpError("dimension #")
             << position << " of the tile has size " << size
             << "; it must be 1, or " << target << " as dimension #"
             << dims[position] << " of the result";
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getTile().getType() == getType())
    return getTile();
  if (Attribute splat = resizeSplat(adaptor.getTile(), getType()))
    return splat;
  if (auto inner = getTile().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(getDims()[dim]);
    setDims(dims);
    getTileMutable().set(inner.getTile());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  RankedTensorType tile = getTile().getType(), result = getResult().getType();
  if (failed(verifySameElements(*this, tile, result)))
    return failure();
  ArrayRef<int64_t> permutation = getPermutation();
  if (permutation.size() != static_cast<size_t>(tile.getRank()) ||
      !isPermutationVector(permutation))
    return emitOpError("permutation [")
           << permutation << "] must list each of the tile's " << tile.getRank()
           << " dimensions once, counted from 0";
  SmallVector<int64_t> shape =
      applyPermutation(tile.getShape(), getPermutation());
  if (result.getShape() != ArrayRef<int64_t>(shape)) {
    Type expected = tile.clone(shape);
    return emitOpError("the result of the transpose must be ")
           << expected << ", but is " << result;
  }
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentityPermutation(getPermutation()))
    return getTile();
  if (Attribute splat = resizeSplat(adaptor.getTile(), getType()))
    return splat;
  if (auto inner = getTile().getDefiningOp<TransposeOp>()) {
    setPermutation(applyPermutation(inner.getPermutation(), getPermutation()));
    getTileMutable().set(inner.getTile());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// ReshapeOp, SqueezeDimsOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType tile = getTile().getType(), result = getResult().getType();
  if (failed(verifySameElements(*this, tile, result)))
    return failure();
  if (tile.getNumElements() != result.getNumElements())
    return emitOpError("the tile has ")
           << smalti::counted(tile.getNumElements(), "element")
           << ", but the result has " << result.getNumElements()
           << "; a reshape must keep the number of elements";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getTile().getType() == getType())
    return getTile();
  if (auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getTile()))
    return constant.reshape(getType());
  if (auto inner = getTile().getDefiningOp<ReshapeOp>()) {
    getTileMutable().set(inner.getTile());
    return getResult();
  }
  return {};
}

LogicalResult SqueezeDimsOp::verify() {
  RankedTensorType tile = getTile().getType(), result = getResult().getType();
  if (failed(verifySameElements(*this, tile, result)) ||
      failed(verifyDims(*this, getDims(), tile.getRank(), "tile")))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(tile.getShape())) {
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (size != 1)
      return emitOpError("dimension #")
             << dim << " of the tile has size " << size
             << "; only dimensions of size 1 can be squeezed";
  }
  if (result.getShape() != ArrayRef<int64_t>(shape)) {
    Type expected = tile.clone(shape);
    return emitOpError("the squeezed tile is ")
           << expected << ", but the result is " << result
           << "; both must be equal";
  }
  return success();
}

LogicalResult SqueezeDimsOp::canonicalize(SqueezeDimsOp op,
                                          PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getTile());
  return success();
}

//===----------------------------------------------------------------------===//
// IotaOp
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  RankedTensorType result = getResult().getType();
  if (failed(verifyDim(*this, getDim(), result)))
    return failure();
  Type element = result.getElementType();
  int64_t last = result.getDimSize(getDim()) - 1;
  bool fits = true;
  if (isa<Float8E8M0FNUType>(element))
    return emitOpError("elements of the result are ")
           << element
           << ", which cannot represent the index 0; use another "
              "element type";
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat largest = llvm::APFloat::getLargest(type.getFloatSemantics());
    bool losesInfo = false;
    largest.convert(llvm::APFloat::IEEEquad(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    llvm::APFloat index(llvm::APFloat::IEEEquad());
    (void)index.convertFromAPInt(llvm::APInt(64, last), /*IsSigned=*/true,
                                 llvm::APFloat::rmNearestTiesToEven);
    fits = index <= largest;
  } else if (element.isInteger()) {
    fits = llvm::isUIntN(std::min(element.getIntOrFloatBitWidth(), 64U), last);
  }
  if (!fits)
    return emitOpError("the last index ")
           << last << " is not representable in " << element
           << "; use a wider element type";
  return success();
}

OpFoldResult IotaOp::fold(FoldAdaptor) {
  if (getType().getDimSize(getDim()) != 1)
    return {};
  return Builder(getContext()).getZeroAttr(getType());
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getTiles().empty())
    return emitOpError("requires at least one tile");
  RankedTensorType result = getResult().getType();
  auto dim = static_cast<int64_t>(getDim());
  if (failed(verifyDim(*this, dim, result)))
    return failure();
  int64_t total = 0;
  for (auto [position, value] : llvm::enumerate(getTiles())) {
    auto tile = cast<RankedTensorType>(value.getType());
    bool matches = tile.getElementType() == result.getElementType() &&
                   tile.getRank() == result.getRank();
    for (int64_t i = 0; matches && i < tile.getRank(); ++i)
      matches = i == dim || tile.getDimSize(i) == result.getDimSize(i);
    if (!matches)
      return emitOpError("tile #")
             << position << " is " << tile << ", which differs from the result "
             << result << " in more than the size of dimension #" << dim
             << ", the concatenated dimension";
    total += tile.getDimSize(dim);
  }
  if (total != result.getDimSize(dim))
    return emitOpError("the sizes of the tiles in dimension #")
           << dim << " add up to " << total << ", but the result has "
           << result.getDimSize(dim);
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getTiles().size() == 1)
    return getTiles().front();
  Attribute first = resizeSplat(adaptor.getTiles().front(), getType());
  if (first && llvm::all_of(adaptor.getTiles(), [&](Attribute tile) {
        return resizeSplat(tile, getType()) == first;
      }))
    return first;
  return {};
}

//===----------------------------------------------------------------------===//
// SliceOp, SplitOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  RankedTensorType tile = getTile().getType(), result = getResult().getType();
  if (failed(verifySameElements(*this, tile, result)))
    return failure();
  auto rank = static_cast<size_t>(tile.getRank());
  if (getOffsets().size() != rank || getSizes().size() != rank ||
      getStrides().size() != rank)
    return emitOpError("has ")
           << smalti::counted(getOffsets().size(), "offset") << ", "
           << smalti::counted(getSizes().size(), "size") << " and "
           << smalti::counted(getStrides().size(), "stride")
           << "; there must be " << rank
           << " of each, one for each dimension of the tile";
  for (auto [dim, extent, offset, size, stride] : llvm::enumerate(
           tile.getShape(), getOffsets(), getSizes(), getStrides())) {
    if (size < 1 || stride < 1)
      return emitOpError("sizes and strides must be at least 1, but "
                         "dimension #")
             << dim << " has size " << size << " and stride " << stride;
    if (offset < 0 || offset >= extent ||
        size - 1 > (extent - 1 - offset) / stride)
      return emitOpError("the window of ")
             << size << " elements with offset " << offset << " and stride "
             << stride << " exceeds dimension #" << dim << ", which has "
             << extent << " elements";
  }
  if (result.getShape() != getSizes()) {
    Type expected = tile.clone(getSizes());
    return emitOpError("the slice is ") << expected << ", but the result is "
                                        << result << "; both must be equal";
  }
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getTile().getType() == getType())
    return getTile();
  if (Attribute splat = resizeSplat(adaptor.getTile(), getType()))
    return splat;
  if (auto inner = getTile().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> offsets, strides;
    for (auto [offset, stride, innerOffset, innerStride] :
         llvm::zip_equal(getOffsets(), getStrides(), inner.getOffsets(),
                         inner.getStrides())) {
      offsets.push_back(innerOffset + offset * innerStride);
      // The stride of a single element has no effect and may overflow.
      int64_t stepped;
      strides.push_back(
          llvm::MulOverflow(stride, innerStride, stepped) ? 1 : stepped);
    }
    setOffsets(offsets);
    setStrides(strides);
    getTileMutable().set(inner.getTile());
    return getResult();
  }
  return {};
}

LogicalResult SplitOp::verify() {
  RankedTensorType tile = getTile().getType();
  auto dim = static_cast<int64_t>(getDim());
  if (failed(verifyDim(*this, dim, tile)))
    return failure();
  auto number = static_cast<int64_t>(getParts().size());
  if (number == 0)
    return emitOpError("requires at least one result");
  if (tile.getDimSize(dim) % number != 0)
    return emitOpError("dimension #")
           << dim << " of size " << tile.getDimSize(dim)
           << " cannot be split into " << number << " equal parts";
  SmallVector<int64_t> shape(tile.getShape());
  shape[dim] /= number;
  for (auto [position, part] : llvm::enumerate(getParts())) {
    Type required = tile.clone(shape);
    if (part.getType() != required)
      return emitOpError("result #")
             << position << " has type " << part.getType() << "; a split into "
             << number << " equal parts requires " << required;
  }
  return success();
}

LogicalResult SplitOp::canonicalize(SplitOp op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getParts().front().getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1);
  SmallVector<Value> parts;
  for (size_t part = 0; part < op.getParts().size(); ++part) {
    parts.push_back(SliceOp::create(rewriter, op.getLoc(), type, op.getTile(),
                                    offsets, type.getShape(), strides));
    offsets[op.getDim()] += type.getDimSize(op.getDim());
  }
  rewriter.replaceOp(op, parts);
  return success();
}
