//===- TileDotEmitter.cpp - Emission of dots and their operands -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;

Value TileEmitter::allocateBuffer(Location loc, ArrayRef<int64_t> shape,
                                  Type element, int64_t alignment) {
  // In the entry block, so that all iterations use the same buffer.
  OpBuilder::InsertionGuard guard(builder);
  if (lastBuffer)
    builder.setInsertionPointAfter(lastBuffer);
  else
    builder.setInsertionPointToStart(entry);
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  auto alloc = memref::AllocOp::create(builder, loc, type);
  if (alignment != 0)
    alloc.setAlignment(alignment);
  lastBuffer = alloc;
  return alloc.getResult();
}

/// Whether a block is another one or nested in it.
static bool isInside(Block *inner, Block *outer) {
  return inner == outer ||
         outer->findAncestorOpInBlock(*inner->getParentOp()) != nullptr;
}

/// Whether a dot may overwrite the operand of earlier dots of its MLIR block.
static bool isLastUse(Value operand, Operation *dot) {
  auto precedes = [&](Operation *user) {
    return user->getBlock() == dot->getBlock() && user->isBeforeInBlock(dot);
  };
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    auto transpose = dyn_cast<triton_xla::TransposeOp>(user);
    if (transpose && getOperandTranspose(transpose.getResult()))
      return llvm::all_of(transpose->getUsers(), precedes);
    return precedes(user);
  });
}

/// A buffer for an operand that a dot or a copy writes. Dots in different loops
/// use a buffer one after the other: each dot in a loop ends with a barrier. So
/// do computed operands of one block.
Value TileEmitter::allocateOperand(Location loc, RankedTensorType type,
                                   Operation *writer, Value operand) {
  Block *user = writer->getBlock();
  bool isInLoop = plan.persistentBlocks != 0 ||
                  writer->getParentOfType<LoopLikeOpInterface>();
  bool isComputed = !operand.getDefiningOp<triton_xla::ExtractOp>();
  for (StoredOperand &other : operandBuffers) {
    auto memref = cast<MemRefType>(other.buffer.getType());
    if (memref.getShape() != type.getShape() ||
        memref.getElementType() != type.getElementType())
      continue;
    bool isShared =
        other.block == user
            ? isComputed && other.isComputed && isLastUse(other.operand, writer)
            : isInLoop && other.isInLoop && !isInside(other.block, user) &&
                  !isInside(user, other.block);
    if (!isShared)
      continue;
    if (!other.isInLoop)
      gpu::BarrierOp::create(builder, writer->getLoc());
    staged.erase(other.operand);
    other = {other.buffer, operand, user, isInLoop, isComputed};
    return other.buffer;
  }
  Value buffer = allocateBuffer(loc, type.getShape(), type.getElementType());
  operandBuffers.push_back({buffer, operand, user, isInLoop, isComputed});
  return buffer;
}

TileEmitter::Operand TileEmitter::stageOperand(triton_xla::DotOp dot,
                                               Value operand) {
  if (Value buffer = copied.lookup(operand))
    return {buffer, /*isTransposed=*/false};
  Location loc = dot.getLoc();
  if (triton_xla::TransposeOp transpose = getOperandTranspose(operand)) {
    Operand source = stageOperand(dot, transpose.getTile());
    return {source.value, !source.isTransposed};
  }
  Operation *producer = operand.getDefiningOp();
  const auto *transposed = plan.transposedCopies.find(producer);
  bool isTransposed = transposed != plan.transposedCopies.end();
  // An earlier dot may have stored the tile.
  if (auto it = staged.find(operand);
      it != staged.end() && isInside(dot->getBlock(), it->second.second))
    return {it->second.first, isTransposed};
  auto type = cast<RankedTensorType>(operand.getType());
  if (isTransposed)
    type = type.clone({type.getDimSize(1), type.getDimSize(0)});
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  bool isInvariant = loop && loop.isDefinedOutsideOfLoop(operand);
  Location bufferLoc = producer ? producer->getLoc() : loc;
  Value buffer = isInvariant ? allocateBuffer(bufferLoc, type.getShape(),
                                              type.getElementType())
                             : allocateOperand(bufferLoc, type, dot, operand);
  staged[operand] = {buffer,
                     isInvariant ? operand.getParentBlock() : dot->getBlock()};
  {
    OpBuilder::InsertionGuard guard(builder);
    // An operand from outside of the dot's loop is stored once, before it.
    if (isInvariant) {
      builder.setInsertionPointAfterValue(mapping.lookup(operand));
      if (plan.persistentBlocks != 0 ||
          loop->getParentOfType<LoopLikeOpInterface>())
        gpu::BarrierOp::create(builder, loc);
    }
    if (isTransposed)
      storeTransposed(loc, operand, transposed->second, buffer);
    else
      storeOperand(loc, operand, buffer);
  }
  return {buffer, isTransposed};
}

/// Stores the columns of a tile as rows of a buffer.
void TileEmitter::storeTransposed(Location loc, Value tile,
                                  const BlockTranspose &layouts, Value buffer) {
  constexpr int64_t swapped[] = {1, 0};
  auto shape = cast<RankedTensorType>(tile.getType()).getShape();
  Value columns = castLayout(loc, mapping.lookup(tile), layouts.alongRows,
                             layouts.alongColumns);
  auto type = cast<VectorType>(columns.getType());
  auto transpose = vector::TransposeOp::create(
      builder, loc,
      VectorType::get({shape[1], shape[0]}, type.getElementType()), columns,
      swapped);
  Attribute layout = getTransposedLayout(layouts.alongColumns, shape, swapped);
  setLayouts(transpose, {layouts.alongColumns}, {layout});
  auto store = mosaic_gpu::VectorStoreOp::create(
      builder, loc, transpose, buffer, /*optimized=*/BoolAttr(),
      /*atomic_type=*/mosaic_gpu::AtomicOpTypeAttr());
  setLayouts(store, {layout}, {});
}

/// Operand A or B of a dot as a vector in the layout of its MMA.
Value TileEmitter::operandInLayout(Location loc, Value operand,
                                   Attribute layout) {
  Attribute from = plan.operandLayoutOf(operand);
  triton_xla::TransposeOp transpose = getOperandTranspose(operand);
  if (!transpose)
    return castLayout(loc, mapping.lookup(operand), from, layout);
  auto transposed = vector::TransposeOp::create(
      builder, loc, vectorOf(operand.getType()),
      mapping.lookup(transpose.getTile()), transpose.getPermutation());
  setLayouts(transposed, {plan.layoutOf(transpose.getTile())}, {from});
  return castLayout(loc, transposed, from, layout);
}

bool TileEmitter::isStaged(triton_xla::ConcatOp op) const {
  auto isStagedUse = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != op->getBlock())
      return false;
    if (auto outer = dyn_cast<triton_xla::ConcatOp>(user))
      return isStaged(outer);
    auto dot = dyn_cast<triton_xla::DotOp>(user);
    return dot && plan.dots.contains(dot) && use.get() != dot.getAccumulator();
  };
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    auto transpose = dyn_cast<triton_xla::TransposeOp>(use.getOwner());
    if (!transpose)
      return isStagedUse(use);
    return getOperandTranspose(transpose.getResult()) &&
           llvm::all_of(transpose->getUses(), isStagedUse);
  });
}

void TileEmitter::storeOperand(Location loc, Value tile, Value buffer) {
  auto concat = tile.getDefiningOp<triton_xla::ConcatOp>();
  if (concat && isStaged(concat)) {
    SmallVector<int64_t> offsets(concat.getResult().getType().getRank(), 0);
    for (Value part : concat.getTiles()) {
      auto sizes = cast<RankedTensorType>(part.getType()).getShape();
      storeOperand(
          loc, part,
          memref::SubViewOp::create(builder, loc, buffer, offsets, sizes,
                                    SmallVector<int64_t>(sizes.size(), 1)));
      offsets[concat.getDim()] += sizes[concat.getDim()];
    }
    return;
  }
  auto store = mosaic_gpu::VectorStoreOp::create(
      builder, loc, mapping.lookup(tile), buffer, /*optimized=*/BoolAttr(),
      /*atomic_type=*/mosaic_gpu::AtomicOpTypeAttr());
  setLayouts(store, {storageLayout(tile)}, {});
}

/// Commits outstanding copies to a group.
void TileEmitter::commitCopies(Location loc) {
  if (!hasUncommittedCopies)
    return;
  mosaic_gpu::AsyncCommitGroupOp::create(builder, loc);
  hasUncommittedCopies = false;
}

void TileEmitter::emitDot(triton_xla::DotOp op) {
  Location loc = op.getLoc();
  MLIRContext *context = builder.getContext();
  if (auto it = plan.wgmmaDots.find(op); it != plan.wgmmaDots.end())
    return emitWgmmaDot(it->second);
  const DotPlan &dot = plan.dots.find(op)->second;

  Attribute aLayout = mosaic_gpu::TiledLayoutAttr::get(context, dot.mma.a);
  Attribute bLayout = mosaic_gpu::TiledLayoutAttr::get(context, dot.mma.b);
  Attribute accLayout =
      mosaic_gpu::TiledLayoutAttr::get(context, dot.mma.accumulator);
  auto getOperand = [&](Value operand, bool isInRegisters, Attribute layout) {
    return isInRegisters ? Operand{operandInLayout(loc, operand, layout), false}
                         : stageOperand(op, operand);
  };
  Operand lhs = getOperand(op.getLhs(), dot.aInRegisters, aLayout),
          rhs = getOperand(op.getRhs(), dot.bInRegisters, bLayout);
  bool usesMemory = !dot.aInRegisters || !dot.bInRegisters;
  commitCopies(loc);
  auto isCopied = [&](Value operand) {
    if (triton_xla::TransposeOp transpose = getOperandTranspose(operand))
      operand = transpose.getTile();
    return copied.contains(operand);
  };
  if (isCopied(op.getLhs()) || isCopied(op.getRhs()))
    mosaic_gpu::AsyncWaitGroupOp::create(builder, loc, /*pending=*/0);
  if (usesMemory)
    gpu::BarrierOp::create(builder, loc);

  /// A part of an operand in registers or in shared memory.
  auto takeFragment =
      [&](const Operand &operand, SmallVector<OpFoldResult, 2> offsets,
          SmallVector<int64_t, 2> shape, Attribute layout) -> Value {
    if (isVector(operand.value)) {
      if (llvm::equal(cast<VectorType>(operand.value.getType()).getShape(),
                      shape))
        return operand.value;
      auto slice = vector::ExtractStridedSliceOp::create(
          builder, loc, operand.value, *getConstantIntValues(offsets), shape,
          SmallVector<int64_t>(shape.size(), 1));
      setLayouts(slice, {layout}, {layout});
      return slice;
    }
    Value buffer = operand.value;
    auto vector =
        VectorType::get(shape, getElementTypeOrSelf(buffer.getType()));
    if (operand.isTransposed) {
      std::swap(offsets[0], offsets[1]);
      std::swap(shape[0], shape[1]);
    }
    if (!llvm::equal(cast<MemRefType>(buffer.getType()).getShape(), shape))
      buffer = memref::SubViewOp::create(
          builder, loc, buffer, offsets, getAsIndexOpFoldResult(context, shape),
          {builder.getIndexAttr(1), builder.getIndexAttr(1)});
    if (operand.isTransposed)
      buffer = memref::TransposeOp::create(
          builder, loc, buffer,
          AffineMapAttr::get(
              AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, context)));
    auto load = mosaic_gpu::VectorLoadOp::create(builder, loc, vector, buffer,
                                                 /*optimized=*/BoolAttr());
    setLayouts(load, {}, {layout});
    return load.getResult();
  };
  auto multiply = [&](OpFoldResult k, Value accumulator) {
    OpFoldResult zero = builder.getIndexAttr(0);
    Value a = takeFragment(lhs, {zero, k}, {dot.mma.m, dot.kStep}, aLayout);
    Value b = takeFragment(rhs, {k, zero}, {dot.kStep, dot.mma.n}, bLayout);
    auto mma = mosaic_gpu::MMAOp::create(builder, loc, accumulator, a, b);
    if (dot.mma.instruction->a == targets::Element::TF32)
      mma.setAllowTf32(true);
    mma.setUnsignedA(op.getUnsignedLhs());
    mma.setUnsignedB(op.getUnsignedRhs());
    setLayouts(mma, {accLayout, aLayout, bLayout}, {accLayout});
    return mma.getResult();
  };

  // A splat changes its layout implicitly.
  Value accumulator = isSplat(op.getAccumulator())
                          ? mapping.lookup(op.getAccumulator())
                          : lookupAs(loc, op.getAccumulator(), accLayout);
  if (dot.loopOverK) {
    Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
    Value end = arith::ConstantIndexOp::create(builder, loc, dot.mma.k);
    Value step = arith::ConstantIndexOp::create(builder, loc, dot.kStep);
    auto loop = scf::ForOp::create(builder, loc, begin, end, step, accumulator);
    setLayouts(loop, {accLayout}, {accLayout});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto yield = scf::YieldOp::create(
        builder, loc,
        multiply(loop.getInductionVar(), loop.getRegionIterArg(0)));
    setLayouts(yield, {accLayout}, {});
    accumulator = loop.getResult(0);
  } else {
    for (int64_t k = 0; k < dot.mma.k; k += dot.kStep)
      accumulator = multiply(builder.getIndexAttr(k), accumulator);
  }
  if (dot.inLoop && usesMemory)
    gpu::BarrierOp::create(builder, loc);
  mapping.map(op.getResult(), castLayout(loc, accumulator, accLayout,
                                         plan.layoutOf(op.getResult())));
}
