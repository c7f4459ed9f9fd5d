//===- PadTiles.cpp - Padding of uneven tiles -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout distributes the power-of-two part of a shape. All sizes that occur
// in an uneven tile are rounded up, everywhere in the kernel, so that
// element-wise ops, broadcasts and transposes need no change. Ops that depend
// on the sizes get masks, or their operands are cut to the original sizes.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/PadTiles.h"

#include "smalti/passes/Conversion/TilesToTiles/TileBuilder.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

static constexpr llvm::StringLiteral kPassName =
    "convert-triton-xla-to-mosaic-gpu";

/// A tile is even if a block of this many threads divides it, or if a thread
/// holds at most `kMaxElements` elements.
static constexpr int64_t kEvenThreads = 128;
static constexpr int64_t kMaxElements = 16;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static bool isEven(ArrayRef<int64_t> shape) {
  // The number of elements may exceed 64 bits; the plan refuses such tiles.
  unsigned log2 = 0;
  double odd = 1;
  for (int64_t size : shape) {
    if (size <= 0)
      return true;
    unsigned zeros = llvm::countr_zero(static_cast<uint64_t>(size));
    log2 += zeros;
    odd *= static_cast<double>(size >> zeros);
  }
  return odd <= kMaxElements || log2 >= llvm::Log2_64(kEvenThreads);
}

/// Rounds up to a multiple of the largest power of two that is not larger,
/// divided by `parts`.
static int64_t roundUp(int64_t size, int64_t parts) {
  auto power =
      static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(size)));
  return static_cast<int64_t>(
      llvm::alignTo(size, std::max<int64_t>(power / parts, 1)));
}

static RankedTensorType getTileType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 || !tensor.hasStaticShape())
    return {};
  return tensor;
}

namespace {

/// The sizes of dimensions that are padded, and their padded sizes.
class PaddedSizes {
public:
  explicit PaddedSizes(EntryFuncOp func) {
    func.getBody().walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        add(type);
      for (Region &region : op->getRegions())
        for (Type type : region.getArgumentTypes())
          add(type);
    });
  }

  bool empty() const { return sizes.empty(); }
  /// The sizes and their padded sizes, in ascending order.
  SmallVector<std::pair<int64_t, int64_t>> list() const {
    SmallVector<std::pair<int64_t, int64_t>> all(sizes.begin(), sizes.end());
    llvm::sort(all);
    return all;
  }

  int64_t operator()(int64_t size) const {
    auto it = sizes.find(size);
    return it == sizes.end() ? size : it->second;
  }
  SmallVector<int64_t> operator()(ArrayRef<int64_t> shape) const {
    return llvm::map_to_vector(shape,
                               [&](int64_t size) { return (*this)(size); });
  }
  Type operator()(Type type) const {
    RankedTensorType tile = getTileType(type);
    return tile ? tile.clone((*this)(tile.getShape())) : type;
  }

private:
  void add(Type type) {
    RankedTensorType tile = getTileType(type);
    if (!tile || isEven(tile.getShape()))
      return;
    for (int64_t parts : {4, 2, 1}) {
      SmallVector<int64_t> padded = llvm::map_to_vector(
          tile.getShape(), [&](int64_t size) { return roundUp(size, parts); });
      if (parts != 1 && !isEven(padded))
        continue;
      for (auto [size, to] : llvm::zip_equal(tile.getShape(), padded))
        if (to != size)
          sizes[size] = std::max(sizes[size], to);
      return;
    }
  }

  llvm::DenseMap<int64_t, int64_t> sizes;
};

class TilePadder {
public:
  explicit TilePadder(EntryFuncOp func) : func(func), padded(func) {}

  void run();

private:
  /// The type of a tile before it was padded.
  RankedTensorType originalOf(Value tile) const {
    auto it = original.find(tile);
    return it == original.end() ? cast<RankedTensorType>(tile.getType())
                                : it->second;
  }
  bool isPadded(Value tile) const { return original.contains(tile); }
  void setPadded(Value value);
  void setPadded(ValueRange values) {
    for (Value value : values)
      setPadded(value);
  }

  /// Replaces undefined elements by `value`, a constant or a scalar.
  Value mask(TileBuilder &b, Value tile, Value value);
  Value mask(TileBuilder &b, Value tile, TypedAttr value) {
    return mask(b, tile, arith::ConstantOp::create(b, value));
  }
  Value cut(TileBuilder &b, Value tile);
  Value extend(TileBuilder &b, Value tile);
  Value pick(TileBuilder &b, Value tile, int64_t dim, int64_t size,
             llvm::function_ref<Value(Value)> indexOf);
  void replace(Operation *op, Value by);

  void pad(Operation *op);
  void padConstant(arith::ConstantOp op);
  void padWindow(Operation *op, DenseI64ArrayAttr sizes, StringRef name);
  void padReduction(Operation *op, ValueRange inputs);
  void addValidity(TileBuilder &b, Operation *op);
  void padDot(DotOp op);
  void padSlice(SliceOp op);
  void padConcat(ConcatOp op);
  void padReshape(ReshapeOp op);
  void padGather(GatherTileOp op);
  void padMask(Operation *op, Value lanes, Value given);
  void padDivision(Operation *op);
  /// Keeps the op on tiles of the original sizes.
  void surround(Operation *op);

  EntryFuncOp func;
  PaddedSizes padded;
  llvm::DenseMap<Value, RankedTensorType> original;
};

} // namespace

bool smalti::hasUnevenTiles(EntryFuncOp func) {
  return !PaddedSizes(func).empty();
}

void smalti::padTiles(EntryFuncOp func) { TilePadder(func).run(); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void TilePadder::setPadded(Value value) {
  Type type = padded(value.getType());
  if (type == value.getType())
    return;
  original[value] = cast<RankedTensorType>(value.getType());
  value.setType(type);
}

Value TilePadder::mask(TileBuilder &b, Value tile, Value value) {
  if (!isPadded(tile))
    return tile;
  Value masked = MaskOp::create(b, tile.getType(), tile, ValueRange(),
                                originalOf(tile).getShape(), value);
  original[masked] = originalOf(tile);
  return masked;
}

Value TilePadder::cut(TileBuilder &b, Value tile) {
  for (auto [dim, size] : llvm::enumerate(originalOf(tile).getShape()))
    tile = b.slice(tile, static_cast<int64_t>(dim), 0, size);
  return tile;
}

/// Pads a tile of the original sizes.
Value TilePadder::extend(TileBuilder &b, Value tile) {
  RankedTensorType type = b.typeOf(tile);
  SmallVector<int64_t> to = padded(type.getShape());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    SmallVector<int64_t> rest(b.shapeOf(tile));
    rest[dim] = to[dim] - rest[dim];
    if (rest[dim] != 0)
      tile = b.concat({tile, b.zeros(rest, type.getElementType())}, dim);
  }
  original[tile] = type;
  return tile;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void TilePadder::padConstant(arith::ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return surround(op);
  setPadded(op.getResult());
  op.setValueAttr(
      splat.resizeSplat(cast<ShapedType>(op.getResult().getType())));
}

/// A dropped dimension has size 1, which is not padded.
void TilePadder::padWindow(Operation *op, DenseI64ArrayAttr sizes,
                           StringRef name) {
  SmallVector<int64_t> all = padded(sizes.asArrayRef());
  if (ArrayRef<int64_t>(all) == sizes.asArrayRef())
    return;
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), all));
  op->setAttr(kWindowSizesAttr, sizes);
}

/// The value `n` with `combine(x, n) = x` for all `x`, if the region is one op.
static TypedAttr getNeutral(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return {};
  Operation *op = &block.front();
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      block.getTerminator()->getOperand(0) != op->getResult(0) ||
      !llvm::is_contained(op->getOperands(), block.getArgument(0)) ||
      !llvm::is_contained(op->getOperands(), block.getArgument(1)))
    return {};
  Type type = op->getResult(0).getType();
  Builder b(op->getContext());
  if (type.isIndex())
    return isa<arith::AddIOp>(op) ? b.getIndexAttr(0) : TypedAttr();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    auto value = [&](const llvm::APInt &number) -> TypedAttr {
      return b.getIntegerAttr(type, number);
    };
    return llvm::TypeSwitch<Operation *, TypedAttr>(op)
        .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
            [&](Operation *) { return value(llvm::APInt::getZero(width)); })
        .Case<arith::AndIOp, arith::MinUIOp>(
            [&](Operation *) { return value(llvm::APInt::getAllOnes(width)); })
        .Case([&](arith::MulIOp) { return value(llvm::APInt(width, 1)); })
        .Case([&](arith::MaxSIOp) {
          return value(llvm::APInt::getSignedMinValue(width));
        })
        .Case([&](arith::MinSIOp) {
          return value(llvm::APInt::getSignedMaxValue(width));
        })
        .Default(TypedAttr());
  }
  // With `ninf`, an infinity is poison.
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
      fast && isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
      bitEnumContainsAny(fast.getFastMathFlagsAttr().getValue(),
                         arith::FastMathFlags::ninf))
    return {};
  // Small floats may lack an infinity or a negative zero.
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64())
    return {};
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  auto infinity = [&](bool isNegative) -> TypedAttr {
    return b.getFloatAttr(type, llvm::APFloat::getInf(semantics, isNegative));
  };
  return llvm::TypeSwitch<Operation *, TypedAttr>(op)
      .Case([&](arith::AddFOp) { return b.getFloatAttr(type, -0.0); })
      .Case([&](arith::MulFOp) { return b.getFloatAttr(type, 1.0); })
      .Case([&](arith::MaximumFOp) { return infinity(/*isNegative=*/true); })
      .Case([&](arith::MinimumFOp) { return infinity(/*isNegative=*/false); })
      .Default(TypedAttr());
}

/// Adds an operand that is true for defined elements, and combines only these.
void TilePadder::addValidity(TileBuilder &b, Operation *op) {
  auto inputs = isa<ReduceOp>(op) ? cast<ReduceOp>(op).getInputs()
                                  : cast<ScanOp>(op).getInputs();
  unsigned count = inputs.size();
  Type i1 = b.getI1Type();
  RankedTensorType shape = b.typeOf(inputs.front()).clone(i1);
  Value isTrue = arith::ConstantOp::create(b, b.getBoolAttr(true));
  Value isFalse = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value valid = arith::ConstantOp::create(
      b, DenseElementsAttr::get(shape, b.getBoolAttr(true)));
  original[valid] = originalOf(inputs.front()).clone(i1);
  valid = mask(b, valid, isFalse);

  // Operands are the inputs, then the initial values; so are the results.
  SmallVector<Value> operands(op->getOperands());
  operands.insert(operands.begin() + count, valid);
  operands.push_back(isTrue);
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(cast<RankedTensorType>(types.front()).clone(i1));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  Region *region = state.addRegion();
  region->takeBody(op->getRegion(0));
  auto size = static_cast<int32_t>(count + 1);
  Operation *created = b.create(state);
  if (auto reduce = dyn_cast<ReduceOp>(created))
    reduce.getProperties().operandSegmentSizes = {size, size};
  else
    cast<ScanOp>(created).getProperties().operandSegmentSizes = {size, size};

  Block &block = created->getRegion(0).front();
  Value left = block.insertArgument(count, i1, op->getLoc());
  Value right = block.addArgument(i1, op->getLoc());
  Operation *yield = block.getTerminator();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(yield);
  SmallVector<Value> yielded;
  for (auto [position, value] : llvm::enumerate(yield->getOperands()))
    yielded.push_back(
        b.select(left, b.select(right, value, block.getArgument(position)),
                 block.getArgument(count + 1 + position)));
  yielded.push_back(arith::OrIOp::create(b, left, right));
  yield->setOperands(yielded);
  for (auto [from, to] :
       llvm::zip_first(op->getResults(), created->getResults())) {
    if (isPadded(from))
      original[to] = originalOf(from);
    from.replaceAllUsesWith(to);
  }
  op->erase();
}

/// Undefined elements must not reach the results. A scan in ascending order
/// reaches them last.
void TilePadder::padReduction(Operation *op, ValueRange inputs) {
  setPadded(op->getResults());
  RankedTensorType from = originalOf(inputs.front());
  ArrayRef<int64_t> to =
      cast<RankedTensorType>(inputs.front().getType()).getShape();
  auto isAffected = [&](int64_t dim) {
    return from.getDimSize(dim) != to[dim];
  };
  if (auto scan = dyn_cast<ScanOp>(op)) {
    if (!scan.getReverse() || !isAffected(scan.getDim()))
      return;
  } else if (llvm::none_of(cast<ReduceOp>(op).getDims(), isAffected)) {
    return;
  }
  TileBuilder b(op->getLoc(), op);
  if (TypedAttr neutral = getNeutral(op->getRegion(0)))
    op->setOperand(0, mask(b, inputs.front(), neutral));
  else
    addValidity(b, op);
}

void TilePadder::padDot(DotOp op) {
  setPadded(op.getResult());
  int64_t rank = op.getLhs().getType().getRank();
  if (originalOf(op.getLhs()).getDimSize(rank - 1) ==
      op.getLhs().getType().getDimSize(rank - 1))
    return;
  TileBuilder b(op.getLoc(), op);
  // `x + -0 * 0` is `x` for each `x`, also for -0.
  auto zero = [&](Value tile, bool isNegative) -> TypedAttr {
    Type element = b.typeOf(tile).getElementType();
    bool hasSign = isa<FloatType>(element) &&
                   !isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(element);
    if (isNegative && hasSign)
      return b.getFloatAttr(element, -0.0);
    return cast<TypedAttr>(b.getZeroAttr(element));
  };
  op.getLhsMutable().assign(mask(b, op.getLhs(), zero(op.getLhs(), true)));
  op.getRhsMutable().assign(mask(b, op.getRhs(), zero(op.getRhs(), false)));
}

static Value gather(TileBuilder &b, Value tile, int64_t dim, Value indices) {
  return GatherTileOp::create(b, b.typeOf(tile).clone(b.shapeOf(indices)), tile,
                              indices, dim, /*fill=*/TypedAttr());
}

/// Picks elements along a dimension: element `i` of the result, which has the
/// padded size of `size`, is the one at `indexOf(i)`.
Value TilePadder::pick(TileBuilder &b, Value tile, int64_t dim, int64_t size,
                       llvm::function_ref<Value(Value)> indexOf) {
  SmallVector<int64_t> shape(b.shapeOf(tile));
  shape[dim] = padded(size);
  return gather(b, tile, dim, indexOf(b.iota(shape, b.getI32Type(), dim)));
}

static Value add(TileBuilder &b, Value tile, int64_t number) {
  return arith::AddIOp::create(
      b, tile,
      b.integers(b.shapeOf(tile), b.typeOf(tile).getElementType(), number));
}

static Value multiply(TileBuilder &b, Value tile, int64_t number) {
  return arith::MulIOp::create(
      b, tile,
      b.integers(b.shapeOf(tile), b.typeOf(tile).getElementType(), number));
}

/// Replaces the result of an op by a padded tile.
void TilePadder::replace(Operation *op, Value by) {
  original[by] = cast<RankedTensorType>(op->getResult(0).getType());
  op->getResult(0).replaceAllUsesWith(by);
  op->erase();
}

void TilePadder::padSlice(SliceOp op) {
  if (!isPadded(op.getTile()) &&
      padded(op.getResult().getType()) == op.getResult().getType())
    return;
  TileBuilder b(op.getLoc(), op);
  Value tile = op.getTile();
  ArrayRef<int64_t> from = originalOf(tile).getShape();
  for (int64_t dim = 0; dim < op.getTile().getType().getRank(); ++dim) {
    int64_t offset = op.getOffsets()[dim], size = op.getSizes()[dim],
            stride = op.getStrides()[dim];
    if (size == from[dim])
      continue;
    tile = pick(b, tile, dim, size, [&](Value position) {
      return add(b, multiply(b, position, stride), offset);
    });
  }
  replace(op, tile);
}

/// Each part is moved to its offset in the result, over the undefined elements
/// of the part before it. More than two parts are concatenated first if the sum
/// of the padded sizes is even: two moves suffice for all of them.
void TilePadder::padConcat(ConcatOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto dim = static_cast<int64_t>(op.getDim());
  int64_t size = type.getDimSize(dim);
  auto isAffected = [&](Value tile) {
    return originalOf(tile).getDimSize(dim) !=
           cast<RankedTensorType>(tile.getType()).getDimSize(dim);
  };
  if (padded(size) == size && llvm::none_of(op.getTiles(), isAffected))
    return setPadded(op.getResult());
  TileBuilder b(op.getLoc(), op);
  SmallVector<int64_t> shape = padded(type.getShape()), concatenated(shape);
  concatenated[dim] = 0;
  for (Value tile : op.getTiles())
    concatenated[dim] += b.shapeOf(tile)[dim];
  if (op.getTiles().size() <= 2 || !isEven(concatenated)) {
    Value position = b.iota(shape, b.getI32Type(), dim), result;
    int64_t offset = 0;
    for (Value tile : op.getTiles()) {
      Value moved = tile;
      if (offset != 0 || b.shapeOf(tile) != ArrayRef<int64_t>(shape))
        moved = gather(b, tile, dim, add(b, position, -offset));
      result = result ? b.select(b.compareTo(arith::CmpIPredicate::sge,
                                             position, offset),
                                 moved, result)
                      : moved;
      offset += originalOf(tile).getDimSize(dim);
    }
    return replace(op, result);
  }
  // The undefined elements between the parts are skipped.
  Value all = b.concat(op.getTiles(), dim);
  Value result = pick(b, all, dim, size, [&](Value position) {
    // The index grows by the padding of each part that ends before it.
    Value index = position;
    int64_t end = 0;
    for (Value tile : op.getTiles().drop_back()) {
      int64_t length = originalOf(tile).getDimSize(dim);
      int64_t padding = b.shapeOf(tile)[dim] - length;
      end += length;
      index = b.select(b.compareTo(arith::CmpIPredicate::sge, position, end),
                       add(b, index, padding), index);
    }
    return index;
  });
  replace(op, result);
}

/// An element of the result has the row-major position in the original tile,
/// and reads the corresponding position in the padded one.
void TilePadder::padReshape(ReshapeOp op) {
  auto withoutOnes = [](ArrayRef<int64_t> shape) {
    return llvm::filter_to_vector(shape,
                                  [](int64_t size) { return size != 1; });
  };
  RankedTensorType type = op.getResult().getType();
  ArrayRef<int64_t> from = originalOf(op.getTile()).getShape(),
                    to = op.getTile().getType().getShape();
  if (withoutOnes(from) == withoutOnes(type.getShape()))
    return setPadded(op.getResult());
  if (!isPadded(op.getTile()) && padded(type) == type)
    return;
  TileBuilder b(op.getLoc(), op);
  SmallVector<int64_t> shape = padded(type.getShape());
  int64_t count = op.getTile().getType().getNumElements();
  // Positions along all dimensions of the result, in row-major order.
  SmallVector<int64_t> flat = {1};
  for (int64_t size : shape)
    flat[0] *= size;
  Value position = b.integers(flat, b.getI32Type(), 0);
  Value rest = b.iota(flat, b.getI32Type(), 0);
  auto divide = [&](Value value, int64_t number) -> Value {
    return arith::DivUIOp::create(b, value,
                                  b.integers(flat, b.getI32Type(), number));
  };
  auto remainder = [&](Value value, int64_t number) -> Value {
    return arith::RemUIOp::create(b, value,
                                  b.integers(flat, b.getI32Type(), number));
  };
  int64_t stride = 1;
  for (auto [size, larger] :
       llvm::reverse(llvm::zip_equal(type.getShape(), shape))) {
    position = arith::AddIOp::create(
        b, position, multiply(b, remainder(rest, larger), stride));
    rest = divide(rest, larger);
    stride *= size;
  }
  Value index = b.integers(flat, b.getI32Type(), 0);
  stride = 1;
  for (auto [size, larger] : llvm::reverse(llvm::zip_equal(from, to))) {
    index = arith::AddIOp::create(
        b, index, multiply(b, remainder(position, size), stride));
    position = divide(position, size);
    stride *= larger;
  }
  Value picked = gather(b, b.reshape(op.getTile(), count), /*dim=*/0, index);
  replace(op, b.reshape(picked, shape));
}

/// Indices past the original size read `fill`.
void TilePadder::padGather(GatherTileOp op) {
  setPadded(op.getResult());
  int64_t dim = op.getDim(), size = originalOf(op.getTile()).getDimSize(dim);
  Type element = op.getIndices().getType().getElementType();
  if (size == op.getTile().getType().getDimSize(dim) ||
      (!element.isIndex() &&
       !llvm::isIntN(element.getIntOrFloatBitWidth(), size)))
    return;
  TileBuilder b(op.getLoc(), op);
  Value indices = op.getIndices();
  op.getIndicesMutable().assign(
      b.select(b.compareTo(arith::CmpIPredicate::sge, indices, size),
               b.integers(b.shapeOf(indices), element, -1), indices));
}

/// Undefined lanes of an access by index are masked.
void TilePadder::padMask(Operation *op, Value lanes, Value given) {
  if (!isPadded(lanes))
    return;
  TileBuilder b(op->getLoc(), op);
  RankedTensorType type = b.typeOf(lanes).clone(b.getI1Type());
  if (!given)
    given = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getBoolAttr(true)));
  else if (!getTileType(given.getType()))
    given = b.splat(type.getShape(), given);
  original[given] = originalOf(lanes).clone(b.getI1Type());
  Value masked = mask(b, given, cast<TypedAttr>(b.getBoolAttr(false)));
  llvm::TypeSwitch<Operation *>(op)
      .Case<GatherOp, ScatterOp, AtomicRMWOp, AtomicCASOp, HistogramOp>(
          [&](auto access) { access.getMaskMutable().assign(masked); });
}

static bool isIntegerDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

/// The behavior of a division by 0 is undefined, also for undefined elements.
void TilePadder::padDivision(Operation *op) {
  setPadded(op->getResults());
  Value divisor = op->getOperand(1);
  if (!isPadded(divisor))
    return;
  TileBuilder b(op->getLoc(), op);
  op->setOperand(1, mask(b, divisor,
                         cast<TypedAttr>(b.getIntegerAttr(
                             b.typeOf(divisor).getElementType(), 1))));
}

void TilePadder::surround(Operation *op) {
  TileBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    if (isPadded(operand.get()))
      operand.set(cut(b, operand.get()));
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (padded(result.getType()) == result.getType())
      continue;
    SmallVector<OpOperand *> uses = llvm::map_to_vector(
        result.getUses(), [](OpOperand &use) { return &use; });
    Value extended = extend(b, result);
    for (OpOperand *use : uses)
      use->set(extended);
  }
}

void TilePadder::pad(Operation *op) {
  auto setResults = [&](Operation *any) { setPadded(any->getResults()); };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::ConstantOp o) { padConstant(o); })
      .Case([&](ExtractOp o) {
        padWindow(o, o.getStaticSizesAttr(), o.getStaticSizesAttrName());
        setResults(o);
      })
      .Case([&](InsertOp o) {
        padWindow(o, o.getStaticSizesAttr(), o.getStaticSizesAttrName());
      })
      .Case([&](ReduceOp o) { padReduction(o, o.getInputs()); })
      .Case([&](ScanOp o) { padReduction(o, o.getInputs()); })
      .Case([&](DotOp o) { padDot(o); })
      .Case([&](SliceOp o) { padSlice(o); })
      .Case([&](GatherTileOp o) { padGather(o); })
      .Case([&](GatherOp o) {
        setResults(o);
        padMask(o, o.getResult(), o.getMask());
      })
      .Case([&](ScatterOp o) { padMask(o, o.getTile(), o.getMask()); })
      .Case([&](HistogramOp o) {
        setResults(o);
        o.setBins(o.getResult().getType().getDimSize(0));
        padMask(o, o.getTile(), o.getMask());
      })
      .Case([&](AtomicRMWOp o) {
        setResults(o);
        padMask(o, o.getValue(), o.getMask());
      })
      .Case([&](AtomicCASOp o) {
        setResults(o);
        padMask(o, o.getExpected(), o.getMask());
      })
      .Case([&](AssertOp o) {
        if (!isPadded(o.getCondition()))
          return;
        TileBuilder b(o.getLoc(), o);
        o.getConditionMutable().assign(
            mask(b, o.getCondition(), cast<TypedAttr>(b.getBoolAttr(true))));
      })
      .Case([&](IotaOp o) {
        // The indices of undefined elements must be representable, too.
        RankedTensorType type = o.getResult().getType();
        Type element = type.getElementType();
        int64_t size = padded(type.getDimSize(o.getDim()));
        if (element.isIndex() ||
            llvm::isIntN(element.getIntOrFloatBitWidth(), size) ||
            size == type.getDimSize(o.getDim()))
          return setResults(o);
        surround(o);
      })
      .Case([&](ReshapeOp o) { padReshape(o); })
      .Case([&](ConcatOp o) { padConcat(o); })
      .Case<BroadcastOp, TransposeOp, MaskOp, tensor::SplatOp,
            tensor::ExtractOp, YieldOp>(setResults)
      .Default([&](Operation *any) {
        if (isIntegerDivision(any) && getTileType(any->getResult(0).getType()))
          return padDivision(any);
        Dialect *dialect = any->getDialect();
        std::optional<ExternalCode> code = ExternalCode::of(any);
        if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(dialect) ||
            (code && code->effects == ExternalEffects::NoEffects))
          return setResults(any);
        if (!isa_and_nonnull<scf::SCFDialect>(dialect))
          return surround(any);
        setResults(any);
        for (Region &region : any->getRegions())
          setPadded(region.getArguments());
      });
}

void TilePadder::run() {
  SmallVector<Operation *> ops;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    // The regions of reductions and scans have scalars.
    ops.push_back(op);
    return isa<ReduceOp, ScanOp>(op) || ExternalCode::of(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  for (Operation *op : ops)
    pad(op);
  std::string sizes;
  llvm::raw_string_ostream stream(sizes);
  llvm::interleaveComma(padded.list(), stream, [&](auto pair) {
    stream << pair.first << " to " << pair.second;
  });
  remarkApplied(func, kPassName)
      << "sizes of tiles padded from " << sizes
      << ": unpadded tiles could be distributed across few threads only";
}
