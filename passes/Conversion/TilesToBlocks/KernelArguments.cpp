//===- KernelArguments.cpp - Memory of kernel arguments -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/KernelArguments.h"

#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Conversion/TilesToTiles/TileBuilder.h"
#include "smalti/passes/Support/AtomicKinds.h"
#include "smalti/passes/Support/DynamicArguments.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

Type smalti::getBufferElement(Type element) {
  auto i = [&](unsigned bits) {
    return IntegerType::get(element.getContext(), bits);
  };
  if (element.isIndex())
    return i(64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return i(std::max<uint64_t>(8, llvm::PowerOf2Ceil(integer.getWidth())));
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits % 8 == 0 ? element : i(8);
}

/// The order of the dimensions in the kernel. If the last dimension is not
/// contiguous and another one is, by decreasing strides; if these are dynamic,
/// only the contiguous dimension moves. Dimensions of size 1 are first.
static SmallVector<int64_t> getOrder(MemRefType type) {
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  auto order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  auto isUnit = [&](int64_t dim) { return type.getDimSize(dim) == 1; };
  auto isContiguous = [&](int64_t dim) {
    return !isUnit(dim) && strides[dim] == 1;
  };
  auto last = llvm::find_if_not(llvm::reverse(order), isUnit);
  if (llvm::is_contained(type.getShape(), 0) || last == order.rend() ||
      isContiguous(*last) || llvm::none_of(order, isContiguous))
    return order;
  bool areKnown = llvm::none_of(strides, [](int64_t stride) {
    return ShapedType::isDynamic(stride) || stride < 0;
  });
  auto getKey = [&](int64_t dim) {
    return isUnit(dim) ? std::numeric_limits<int64_t>::max()
           : areKnown  ? strides[dim]
                       : int64_t(!isContiguous(dim));
  };
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return getKey(a) > getKey(b); });
  return order;
}

SmallVector<int64_t> smalti::getDeclaredDims(BlockArgument memref) {
  auto func = cast<EntryFuncOp>(memref.getOwner()->getParentOp());
  auto declared = func->getAttrOfType<ArrayAttr>(kArguments);
  Type type = memref.getType();
  if (declared)
    type = cast<TypeAttr>(declared[memref.getArgNumber()]).getValue();
  return getOrder(getArgumentType(cast<MemRefType>(type)));
}

MemRefType smalti::permuteDims(MemRefType type, ArrayRef<int64_t> order) {
  if (isIdentityPermutation(order))
    return type;
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), order);
  auto permuted =
      MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(),
                      type.getMemorySpace());
  auto [strides, offset] = type.getStridesAndOffset();
  applyPermutationToVector(strides, order);
  // Row-major if it is.
  if (offset == 0 && permuted.hasStaticShape() &&
      permuted.getStridesAndOffset().first == strides)
    return permuted;
  return MemRefType::Builder(permuted).setLayout(
      StridedLayoutAttr::get(type.getContext(), offset, strides));
}

/// The type of the memory of an argument after the conversion; null if the
/// argument does not change.
static MemRefType getStoredType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return {};
  Type element = memref.getElementType();
  if (getPackedBits(element) == 0)
    element = getBufferElement(element);
  MemRefType argument = getArgumentType(memref);
  MemRefType stored =
      permuteDims(MemRefType::Builder(argument).setElementType(element),
                  getOrder(argument));
  return stored == memref ? MemRefType() : stored;
}

bool smalti::hasConvertedArguments(EntryFuncOp func) {
  return llvm::any_of(func.getArgumentTypes(), getStoredType);
}

/// Converts the value of an operand to the type in memory.
static void convertOperand(OpOperand &operand) {
  ImplicitLocOpBuilder b(operand.getOwner()->getLoc(), operand.getOwner());
  Value value = operand.get();
  Type element = getElementTypeOrSelf(value.getType()),
       stored = getBufferElement(element);
  if (element.isIndex()) {
    operand.set(arith::IndexCastOp::create(
        b, withElement(value.getType(), stored), value));
    return;
  }
  if (isa<FloatType>(element))
    value = arith::BitcastOp::create(
        b,
        withElement(value.getType(),
                    b.getIntegerType(element.getIntOrFloatBitWidth())),
        value);
  operand.set(
      arith::ExtUIOp::create(b, withElement(value.getType(), stored), value));
}

/// Changes a result to the type in memory, and converts it for its users.
static void convertResult(OpResult result) {
  Operation *op = result.getOwner();
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPointAfter(op);
  Type type = result.getType(), element = getElementTypeOrSelf(type);
  result.setType(withElement(type, getBufferElement(element)));
  Operation *first;
  Value value;
  if (element.isIndex()) {
    first = arith::IndexCastOp::create(b, type, result);
    value = first->getResult(0);
  } else {
    Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
    first = arith::TruncIOp::create(b, withElement(type, bits), result);
    value = first->getResult(0);
    if (bits != element)
      value = arith::BitcastOp::create(b, type, value);
  }
  result.replaceAllUsesExcept(value, first);
}

/// The value of elements out of bounds, in memory; null for zero.
static TypedAttr convertFill(TypedAttr fill) {
  if (!fill)
    return {};
  Type stored = getBufferElement(fill.getType());
  unsigned bits = stored.getIntOrFloatBitWidth();
  if (auto integer = dyn_cast<IntegerAttr>(fill))
    return IntegerAttr::get(stored, integer.getValue().zextOrTrunc(bits));
  return IntegerAttr::get(
      stored, cast<FloatAttr>(fill).getValue().bitcastToAPInt().zext(bits));
}

static void convertAccess(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<ExtractOp, GatherOp>([](auto op) {
        if (TypedAttr fill = convertFill(op.getFillAttr()))
          op.setFillAttr(fill);
        convertResult(cast<OpResult>(Value(op->getResult(0))));
      })
      .Case([](memref::LoadOp op) {
        convertResult(cast<OpResult>(op.getResult()));
      })
      .Case<InsertOp, ScatterOp>(
          [](auto op) { convertOperand(op.getTileMutable()); })
      .Case([](memref::StoreOp op) { convertOperand(op.getValueMutable()); })
      .Case([](AtomicRMWOp op) {
        if (getElementTypeOrSelf(op.getValue()).isInteger(1))
          op.setKind(getKindOfBools(op.getKind()));
        convertOperand(op.getValueMutable());
        convertResult(cast<OpResult>(Value(op.getResult())));
      })
      .Case([](AtomicCASOp op) {
        convertOperand(op.getExpectedMutable());
        convertOperand(op.getDesiredMutable());
        convertResult(cast<OpResult>(Value(op.getResult())));
      })
      // The plan refuses memref.atomic_rmw.
      .Case<memref::DimOp, memref::AtomicRMWOp>([](Operation *) {})
      .DefaultUnreachable("the op does not access the memory of an argument");
}

/// The transpose of a tile; one of a transpose is a single one.
static Value transposeTile(TileBuilder &b, Value tile,
                           SmallVector<int64_t> permutation) {
  if (auto inner = tile.getDefiningOp<TransposeOp>()) {
    permutation = applyPermutation(inner.getPermutation(), permutation);
    tile = inner.getTile();
  }
  return isIdentityPermutation(permutation) ? tile
                                            : b.transpose(tile, permutation);
}

/// Changes the order of the dimensions of a window, and returns that of the
/// dimensions of its tile.
template <typename WindowOp>
static SmallVector<int64_t> permuteWindow(WindowOp op,
                                          ArrayRef<int64_t> order) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> ofTile(order.size()), permutation;
  int64_t next = 0;
  for (size_t dim = 0; dim < order.size(); ++dim)
    if (!dropped.test(dim))
      ofTile[dim] = next++;
  for (int64_t dim : order)
    if (!dropped.test(dim))
      permutation.push_back(ofTile[dim]);
  SmallVector<int64_t> offsets;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(
      applyPermutation<OpFoldResult>(op.getMixedOffsets(), order), values,
      offsets);
  op.getOffsetsMutable().assign(values);
  op.setStaticOffsets(offsets);
  op.setStaticSizes(applyPermutation(op.getStaticSizes(), order));
  op.setStaticStrides(applyPermutation(op.getStaticStrides(), order));
  return permutation;
}

static void permuteExtract(ExtractOp op, ArrayRef<int64_t> order) {
  SmallVector<int64_t> permutation = permuteWindow(op, order);
  if (isIdentityPermutation(permutation))
    return;
  TileBuilder b(op.getLoc(), op.getContext());
  b.setInsertionPointAfter(op);
  auto tile = cast<TypedValue<RankedTensorType>>(op.getTile());
  tile.setType(tile.getType().clone(
      applyPermutation(tile.getType().getShape(), permutation)));
  Value transposed = b.transpose(tile, invertPermutationVector(permutation));
  tile.replaceAllUsesExcept(transposed, transposed.getDefiningOp());
  for (Operation *user : llvm::make_early_inc_range(transposed.getUsers()))
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      b.setInsertionPoint(transpose);
      transpose.replaceAllUsesWith(transposeTile(
          b, transposed, llvm::to_vector(transpose.getPermutation())));
      transpose.erase();
    }
  if (transposed.use_empty())
    transposed.getDefiningOp()->erase();
}

static void permuteInsert(InsertOp op, ArrayRef<int64_t> order) {
  SmallVector<int64_t> permutation = permuteWindow(op, order);
  TileBuilder b(op.getLoc(), op);
  op.getTileMutable().set(transposeTile(b, op.getTile(), permutation));
}

static void permuteIndices(MutableOperandRange indices,
                           ArrayRef<int64_t> order) {
  indices.assign(
      applyPermutation<Value>(llvm::to_vector(OperandRange(indices)), order));
}

/// Changes the order of the dimensions of a memref that an op accesses.
static void permuteAccess(Operation *op, ArrayRef<int64_t> order) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ExtractOp op) { permuteExtract(op, order); })
      .Case([&](InsertOp op) { permuteInsert(op, order); })
      .Case<GatherOp, ScatterOp, AtomicRMWOp, AtomicCASOp, memref::LoadOp,
            memref::StoreOp, memref::AtomicRMWOp>(
          [&](auto op) { permuteIndices(op.getIndicesMutable(), order); })
      .Case([&](memref::DimOp op) {
        // The plan refuses other indices.
        std::optional<int64_t> dim = op.getConstantIndex();
        if (!dim || *dim < 0 || *dim >= static_cast<int64_t>(order.size()))
          return;
        OpBuilder b(op);
        op.getIndexMutable().set(arith::ConstantIndexOp::create(
            b, op.getLoc(), invertPermutationVector(order)[*dim]));
      })
      .DefaultUnreachable("the op does not access the memory of an argument");
}

void smalti::convertArguments(EntryFuncOp func) {
  Builder builder(func.getContext());
  func->setAttr(kArguments,
                builder.getTypeArrayAttr(llvm::to_vector(llvm::map_range(
                    func.getKernelArguments(), [](BlockArgument argument) {
                      return argument.getType();
                    }))));
  SmallVector<Operation *> accesses;
  SmallVector<SmallVector<TileFactor>> grid = func.getTileFactors();
  for (BlockArgument argument : func.getKernelArguments()) {
    MemRefType stored = getStoredType(argument.getType());
    if (!stored)
      continue;
    Type element = cast<MemRefType>(argument.getType()).getElementType();
    argument.setType(stored);
    if (stored.getElementType() != element)
      llvm::append_range(accesses, argument.getUsers());
    SmallVector<int64_t> order = getDeclaredDims(argument);
    if (isIdentityPermutation(order))
      continue;
    // An op has one memref.
    for (Operation *user : llvm::to_vector(argument.getUsers()))
      permuteAccess(user, order);
    for (SmallVector<TileFactor> &factors : grid)
      for (TileFactor &factor : factors)
        if (factor.argument == argument.getArgNumber())
          factor.dimension = invertPermutationVector(order)[factor.dimension];
  }
  for (Operation *access : accesses)
    convertAccess(access);
  func.setFunctionType(builder.getFunctionType(
      func.getBody().front().getArgumentTypes(), /*results=*/{}));
  func.setTileFactors(grid);
}
