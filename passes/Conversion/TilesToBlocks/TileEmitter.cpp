//===- TileEmitter.cpp - Emission of block-level kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels, the dispatch of ops, constants, debugging and control flow.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/TilesToBlocks/KernelArguments.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace smalti;

gpu::GPUModuleOp TileEmitter::run() {
  Location loc = func.getLoc();
  auto module = gpu::GPUModuleOp::create(builder, loc,
                                         (func.getSymName() + "_module").str());
  builder.setInsertionPointToStart(module.getBody());

  SmallVector<Type> types;
  SmallVector<unsigned> positions;
  for (BlockArgument argument : func.getKernelArguments()) {
    positions.push_back(types.size());
    addParameters(argument, types);
  }
  auto kernel = gpu::GPUFuncOp::create(builder, loc, func.getSymName(),
                                       builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(plan.block.threads()), 1, 1}));
  // The launch computes a number of tiles that depends on arguments.
  if (plan.persistentBlocks != 0 || !func.getDynamicGrid())
    kernel.setKnownGridSizeAttr(builder.getDenseI32ArrayAttr(
        {static_cast<int32_t>(plan.persistentBlocks != 0 ? plan.persistentBlocks
                                                         : func.getNumTiles()),
         1, 1}));
  kernel->setAttr(kNumWarps, builder.getI64IntegerAttr(plan.block.numWarps));
  auto declared = func->getAttrOfType<ArrayAttr>(kArguments);
  kernel->setAttr(kArguments,
                  declared ? declared
                           : builder.getTypeArrayAttr(llvm::to_vector(
                                 llvm::drop_end(func.getArgumentTypes()))));
  for (auto [argument, number] :
       llvm::zip_equal(func.getKernelArguments(), positions)) {
    if (DictionaryAttr attributes =
            func.getArgAttrDict(argument.getArgNumber()))
      kernel.setArgAttrs(number, attributes);
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      // Memrefs of a tile-level kernel do not overlap in written elements.
      kernel.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
      if (!kernel.getArgAttr(number, LLVM::LLVMDialect::getAlignAttrName()))
        kernel.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(getDefaultAlignment(type)));
    }
  }

  entry = &kernel.getBody().front();
  builder.setInsertionPointToStart(entry);
  for (auto [argument, number] :
       llvm::zip_equal(func.getKernelArguments(), positions))
    mapping.map(
        argument,
        emitArgument(argument, entry->getArguments().drop_front(number)));
  // A known grid size also bounds the block id.
  Value tileId = gpu::BlockIdOp::create(
      builder, loc, gpu::Dimension::x,
      plan.persistentBlocks == 0 && func.getDynamicGrid()
          ? builder.getIndexAttr(static_cast<int64_t>(func.getNumTiles()))
          : IntegerAttr());
  emitWarpgroupBarriers();
  allocateScratch();
  emitTiles(func.getBody().front(), tileId);
  return module;
}

/// The memref that the kernel receives, with the dimensions as declared.
static MemRefType getParameterType(BlockArgument argument) {
  return permuteDims(cast<MemRefType>(argument.getType()),
                     invertPermutationVector(getDeclaredDims(argument)));
}

void TileEmitter::addParameters(BlockArgument argument,
                                SmallVectorImpl<Type> &types) const {
  if (!isa<MemRefType>(argument.getType())) {
    types.push_back(argument.getType());
    return;
  }
  MemRefType type = getParameterType(argument);
  if (!isDynamic(type)) {
    types.push_back(type);
    return;
  }
  // The pointer to the first element, and the dynamic sizes and strides.
  types.push_back(MemRefType::get({}, type.getElementType()));
  types.append(getDynamicParameters(type).count(),
               IndexType::get(type.getContext()));
}

Value TileEmitter::emitArgument(BlockArgument argument,
                                Block::BlockArgListType parameters) {
  if (!isa<MemRefType>(argument.getType()))
    return parameters.front();
  MemRefType type = getParameterType(argument);
  Location loc = argument.getLoc();
  // The order of the dimensions in the kernel.
  SmallVector<int64_t> order = getDeclaredDims(argument);
  auto permute = [&](Value memref) -> Value {
    if (isIdentityPermutation(order))
      return memref;
    AffineMap map = AffineMap::getPermutationMap(order, builder.getContext());
    return memref::TransposeOp::create(builder, loc, memref,
                                       AffineMapAttr::get(map));
  };
  if (!isDynamic(type) && !hasNegativeStride(type))
    return permute(parameters.front());
  SmallVector<int64_t> position = invertPermutationVector(order);
  DynamicParameters dynamic = getDynamicParameters(type);
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  SmallVector<OpFoldResult> strides = getAsIndexOpFoldResult(
      builder.getContext(), type.getStridesAndOffset().first);
  size_t next = 1;
  auto take = [&](unsigned log2Divisor) -> Value {
    Value value = parameters[next++];
    // Makes the range known to LLVM, which narrows 64-bit operations.
    if (isStatedSmall(argument)) {
      value =
          arith::IndexCastOp::create(builder, loc, builder.getI32Type(), value);
      value = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                           value);
    }
    if (log2Divisor == 0)
      return value;
    return mosaic_gpu::AssumeMultipleOp::create(
        builder, loc, value,
        builder.getI32IntegerAttr(1 << std::min(log2Divisor, 30u)));
  };
  for (int64_t dim : dynamic.sizes)
    sizes[dim] = take(log2SizeDivisor(argument, position[dim]));
  for (int64_t dim : dynamic.strides)
    strides[dim] = take(log2StrideDivisor(argument, position[dim]));
  if (type.getLayout().isIdentity())
    for (int64_t dim = type.getRank() - 1; dim-- > 0;) {
      AffineExpr a, b;
      bindSymbols(builder.getContext(), a, b);
      strides[dim] = affine::makeComposedFoldedAffineApply(
          builder, loc, a * b, {strides[dim + 1], sizes[dim + 1]});
    }
  if (hasNegativeStride(type)) {
    // Values, since upstream's verifier rejects views with constant negative
    // offsets, which canonicalization would create.
    SmallVector<int64_t> steps = type.getStridesAndOffset().first;
    for (auto [step, stride] : llvm::zip_equal(steps, strides)) {
      if (ShapedType::isDynamic(step) || step >= 0)
        continue;
      stride =
          mosaic_gpu::AssumeMultipleOp::create(
              builder, loc, index(loc, stride),
              builder.getI32IntegerAttr(1 << std::min(log2Divisor(step), 30u)))
              .getResult();
      step = ShapedType::kDynamic;
    }
    type = MemRefType::Builder(type).setLayout(
        StridedLayoutAttr::get(builder.getContext(), /*offset=*/0, steps));
  }
  dynamicSizes[argument] = applyPermutation(sizes, order);
  dynamicStrides[argument] = applyPermutation(strides, order);
  return permute(memref::ReinterpretCastOp::create(
      builder, loc, type, parameters.front(), builder.getIndexAttr(0), sizes,
      strides));
}

SmallVector<OpFoldResult> TileEmitter::sizesOf(Value memref) const {
  auto it = dynamicSizes.find(memref);
  return it != dynamicSizes.end()
             ? it->second
             : getAsIndexOpFoldResult(
                   memref.getContext(),
                   cast<MemRefType>(memref.getType()).getShape());
}

SmallVector<OpFoldResult> TileEmitter::stridesOf(Value memref) const {
  auto it = dynamicStrides.find(memref);
  return it != dynamicStrides.end()
             ? it->second
             : getAsIndexOpFoldResult(memref.getContext(),
                                      cast<MemRefType>(memref.getType())
                                          .getStridesAndOffset()
                                          .first);
}

/// Emits the tile of the block, or a loop over its tiles in a persistent grid.
void TileEmitter::emitTiles(Block &body, Value first) {
  Location loc = func.getLoc();
  mapping.map(func.getTileId(), first);
  if (plan.persistentBlocks == 0) {
    emitBlock(body);
  } else {
    SmallVector<Operation *> dots = wgmmaIn(func);
    Value end = emitTileCount(loc);
    Value step =
        arith::ConstantIndexOp::create(builder, loc, plan.persistentBlocks);
    auto loop =
        scf::ForOp::create(builder, loc, first, end, step, phasesOf(dots),
                           [](OpBuilder &, Location, Value, ValueRange) {});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    mapping.map(func.getTileId(), loop.getInductionVar());
    setPhases(dots, loop.getRegionIterArgs());
    emitBlock(body);
    scf::YieldOp::create(builder, loc, phasesOf(dots));
  }
  // TMA stores must have read shared memory before the block exits.
  if (!plan.tensorStores.empty())
    NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, /*group=*/0,
                                         builder.getUnitAttr());
  gpu::ReturnOp::create(builder, loc);
}

/// The number of tiles of the grid, which has one dimension.
Value TileEmitter::emitTileCount(Location loc) {
  OpFoldResult count = builder.getIndexAttr(1);
  for (const triton_xla::TileFactor &factor : func.getTileFactors().front()) {
    OpFoldResult size = builder.getIndexAttr(factor.number);
    if (factor.argument >= 0) {
      Value argument = func.getBody().getArgument(factor.argument);
      if (factor.dimension >= 0) {
        size = sizesOf(argument)[factor.dimension];
      } else {
        Value scalar = mapping.lookup(argument);
        size = scalar.getType().isIndex()
                   ? scalar
                   : arith::IndexCastOp::create(builder, loc,
                                                builder.getIndexType(), scalar)
                         .getResult();
      }
      AffineExpr s0 = getAffineSymbolExpr(0, builder.getContext());
      size = affine::makeComposedFoldedAffineApply(
          builder, loc, s0.ceilDiv(factor.number), {size});
    }
    AffineExpr a, b;
    bindSymbols(builder.getContext(), a, b);
    count = affine::makeComposedFoldedAffineApply(builder, loc, a * b,
                                                  {count, size});
  }
  return index(loc, count);
}

void TileEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    emitOp(&op);
}

void TileEmitter::emitOp(Operation *op) {
  if (plan.barrierBefore.contains(op))
    gpu::BarrierOp::create(builder, op->getLoc());

  bool isEmitted =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](triton_xla::ExtractOp o) { return emitExtract(o), true; })
          .Case([&](triton_xla::InsertOp o) { return emitInsert(o), true; })
          .Case([&](triton_xla::MaskOp o) { return emitMask(o), true; })
          .Case([&](triton_xla::DotOp o) { return emitDot(o), true; })
          .Case([&](triton_xla::ReduceOp o) { return emitReduce(o), true; })
          .Case([&](triton_xla::ScanOp o) { return emitScan(o), true; })
          .Case(
              [&](triton_xla::BroadcastOp o) { return emitBroadcast(o), true; })
          .Case(
              [&](triton_xla::TransposeOp o) { return emitTranspose(o), true; })
          .Case([&](triton_xla::ReshapeOp o) { return emitReshape(o), true; })
          .Case([&](triton_xla::IotaOp o) { return emitIota(o), true; })
          .Case([&](triton_xla::ConcatOp o) {
            if (!isStaged(o))
              emitConcat(o);
            return true;
          })
          .Case([&](triton_xla::SliceOp o) { return emitSlice(o), true; })
          .Case([&](triton_xla::GatherOp o) { return emitGather(o), true; })
          .Case([&](triton_xla::GatherTileOp o) {
            return emitGatherTile(o), true;
          })
          .Case(
              [&](triton_xla::HistogramOp o) { return emitHistogram(o), true; })
          .Case([&](triton_xla::ScatterOp o) { return emitScatter(o), true; })
          .Case(
              [&](triton_xla::AtomicRMWOp o) { return emitAtomicRMW(o), true; })
          .Case(
              [&](triton_xla::AtomicCASOp o) { return emitAtomicCAS(o), true; })
          .Case([&](scf::ForOp o) { return emitFor(o), true; })
          .Case([&](scf::WhileOp o) { return emitWhile(o), true; })
          .Case([&](scf::IfOp o) { return emitIf(o), true; })
          .Case([&](memref::StoreOp o) { return emitStore(o), true; })
          .Case([&](tensor::ExtractOp o) {
            mapping.map(o.getResult(), mapping.lookup(o.getTensor()));
            return true;
          })
          .Case([&](memref::DimOp o) {
            int64_t dim = *o.getConstantIndex();
            mapping.map(o.getResult(),
                        index(o.getLoc(), sizesOf(o.getSource())[dim]));
            return true;
          })
          .Case([&](triton_xla::PrintOp o) { return emitPrint(o), true; })
          .Case([&](triton_xla::AssertOp o) { return emitAssert(o), true; })
          .Case([&](triton_xla::AssumeMultipleOp o) {
            return emitAssumeMultiple(o), true;
          })
          // No lowering uses the condition of an assumption.
          .Case<triton_xla::AssumeOp, triton_xla::ReturnOp>(
              [](Operation *) { return true; })
          .Default(false);
  if (isEmitted)
    return;

  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    if (!isTile(splat.getResult())) {
      mapping.map(splat.getResult(), mapping.lookup(splat.getInput()));
      return;
    }
    VectorType type = vectorOf(splat.getType());
    auto broadcast = vector::BroadcastOp::create(
        builder, op->getLoc(), type, mapping.lookup(splat.getInput()));
    setLayouts(broadcast, {}, {splatLayout(type)});
    mapping.map(splat.getResult(), broadcast.getResult());
    return;
  }
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && isa<RankedTensorType>(constant.getType()))
    return emitConstant(constant);

  // Scalar ops are cloned; element-wise ops on tiles become ops on vectors.
  Operation *clone = builder.clone(*op, mapping);
  Attribute layout;
  for (OpResult result : op->getResults()) {
    if (isTile(result))
      layout = plan.layoutOf(result);
    clone->getResult(result.getResultNumber())
        .setType(blockTypeOf(result.getType()));
  }
  if (!layout)
    return;
  setLayouts(clone,
             SmallVector<Attribute>(
                 llvm::count_if(clone->getOperands(), isVector), layout),
             SmallVector<Attribute>(
                 llvm::count_if(clone->getResults(), isVector), layout));
}

void TileEmitter::emitConstant(arith::ConstantOp op) {
  Location loc = op.getLoc();
  auto elements = cast<ElementsAttr>(op.getValue());
  if (!isTile(op.getResult())) {
    auto value = elements.getValues<TypedAttr>()[0];
    mapping.map(op.getResult(),
                arith::ConstantOp::create(builder, loc, value).getResult());
    return;
  }
  VectorType type = vectorOf(op.getType());
  if (!isSplat(op.getResult())) {
    Attribute layout = plan.layoutOf(op.getResult());
    mapping.map(op.getResult(),
                loadConstant(loc, cast<DenseElementsAttr>(elements), layout));
    return;
  }
  auto splat = cast<SplatElementsAttr>(elements).resizeSplat(type);
  auto vector = arith::ConstantOp::create(builder, loc, type,
                                          cast<TypedAttr>(Attribute(splat)));
  setLayouts(vector, {}, {splatLayout(type)});
  mapping.map(op.getResult(), vector.getResult());
}

/// Loads a constant with different elements from a constant array of the
/// module.
Value TileEmitter::loadConstant(Location loc, DenseElementsAttr elements,
                                Attribute layout) {
  auto type = cast<RankedTensorType>(elements.getType());
  Type stored = getBufferElement(type.getElementType());
  auto integers = dyn_cast<DenseIntElementsAttr>(elements);
  if (integers && stored != type.getElementType())
    elements = integers.mapValues(stored, [&](const APInt &value) {
      return value.zext(stored.getIntOrFloatBitWidth());
    });
  auto memref = MemRefType::get(type.getShape(), stored);
  std::string name =
      (func.getSymName() + "_constant_" + Twine(numConstants++)).str();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(
        entry->getParentOp()->getParentOfType<gpu::GPUModuleOp>().getBody());
    memref::GlobalOp::create(
        builder, loc, name, builder.getStringAttr("private"), memref,
        elements.reshape(elements.getType()), /*constant=*/true,
        /*alignment=*/builder.getI64IntegerAttr(kMaxAccessBytes));
  }
  Value array = memref::GetGlobalOp::create(builder, loc, memref, name);
  SmallVector<Value> start(type.getRank(),
                           arith::ConstantIndexOp::create(builder, loc, 0));
  Value padding =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
  auto read = vector::TransferReadOp::create(
      builder, loc, VectorType::get(type.getShape(), stored), array, start,
      padding,
      AffineMap::getMultiDimIdentityMap(type.getRank(), builder.getContext()),
      SmallVector<bool>(type.getRank(), true));
  setLayouts(read, {}, {layout});
  return convertForBuffer(loc, read, type.getElementType(), layout);
}

//===----------------------------------------------------------------------===//
// Debugging and facts
//===----------------------------------------------------------------------===//

void TileEmitter::emitPrint(triton_xla::PrintOp op) {
  Location loc = op.getLoc();
  Value tile = mapping.lookup(func.getTileId());
  auto print = [&](StringRef text, Value value) {
    return mosaic_gpu::PrintTileOp::create(builder, loc, tile, text, value);
  };
  if (op.getValues().empty())
    print(op.getText(), Value());
  for (auto [number, operand] : llvm::enumerate(op.getValues())) {
    Value value = mapping.lookup(operand);
    Attribute layout = isTile(operand) ? plan.layoutOf(operand) : Attribute();
    // printf does not support floats of at most 8 bits.
    if (isSmallFloat(getElementTypeOrSelf(value))) {
      Type wide = builder.getF32Type();
      if (auto type = dyn_cast<VectorType>(value.getType()))
        wide = type.clone(wide);
      value = arith::ExtFOp::create(builder, loc, wide, value);
      if (layout)
        setLayouts(value.getDefiningOp(), {layout}, {layout});
    }
    auto created = print(op.getLabel(number), value);
    if (layout)
      setLayouts(created, {layout}, {});
  }
}

void TileEmitter::emitAssert(triton_xla::AssertOp op) {
  Location loc = op.getLoc();
  Value condition = mapping.lookup(op.getCondition());
  Attribute layout;
  if (isTile(op.getCondition())) {
    layout = plan.layoutOf(op.getCondition());
  } else {
    auto type = VectorType::get({1}, builder.getI1Type());
    auto splat = vector::BroadcastOp::create(builder, loc, type, condition);
    layout = splatLayout(type);
    setLayouts(splat, {}, {layout});
    condition = splat;
  }
  auto created =
      mosaic_gpu::AssertOp::create(builder, loc, condition, op.getMessage());
  setLayouts(created, {layout}, {});
}

void TileEmitter::emitAssumeMultiple(triton_xla::AssumeMultipleOp op) {
  Value value = mapping.lookup(op.getValue());
  // The divisor of the block-level op is 32 bits wide; a larger one is a weaker
  // fact.
  int64_t divisor = op.getDivisor();
  if (divisor <= std::numeric_limits<int32_t>::max())
    value = mosaic_gpu::AssumeMultipleOp::create(
        builder, op.getLoc(), value,
        builder.getI32IntegerAttr(static_cast<int32_t>(divisor)));
  mapping.map(op.getResult(), value);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void TileEmitter::emitFor(scf::ForOp op) {
  // A dot in the loop, which may not execute, must not commit earlier copies.
  commitCopies(op.getLoc());
  SmallVector<Value> inits = llvm::map_to_vector(
      op.getInitArgs(), [&](Value init) { return mapping.lookup(init); });
  SmallVector<Operation *> dots = wgmmaIn(op);
  llvm::append_range(inits, phasesOf(dots));
  auto loop = scf::ForOp::create(
      builder, op.getLoc(), mapping.lookup(op.getLowerBound()),
      mapping.lookup(op.getUpperBound()), mapping.lookup(op.getStep()), inits,
      /*bodyBuilder=*/[](OpBuilder &, Location, Value, ValueRange) {},
      op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  unsigned numValues = op.getNumResults();
  mapping.map(op.getBody()->getArguments(),
              loop.getBody()->getArguments().take_front(1 + numValues));
  setPhases(dots, loop.getRegionIterArgs().drop_front(numValues));
  SmallVector<Attribute> layouts;
  for (Value result : op.getResults())
    if (isTile(result))
      layouts.push_back(plan.layoutOf(result));
  setLayouts(loop, layouts, layouts);

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  for (Operation &inner : op.getBody()->without_terminator())
    emitOp(&inner);
  SmallVector<Value> yielded = llvm::map_to_vector(
      op.getYieldedValues(), [&](Value v) { return mapping.lookup(v); });
  llvm::append_range(yielded, phasesOf(dots));
  auto yield = scf::YieldOp::create(builder, op.getLoc(), yielded);
  setLayouts(yield, layouts, {});
  mapping.map(op.getResults(), loop.getResults().take_front(numValues));
  setPhases(dots, loop.getResults().drop_front(numValues));
}

void TileEmitter::emitWhile(scf::WhileOp op) {
  commitCopies(op.getLoc());
  SmallVector<Operation *> dots = wgmmaIn(op);
  SmallVector<Value> inits = llvm::map_to_vector(
      op.getInits(), [&](Value init) { return mapping.lookup(init); });
  llvm::append_range(inits, phasesOf(dots));
  auto layoutsOf = [&](ValueRange values) {
    SmallVector<Attribute> layouts;
    for (Value value : values)
      if (isTile(value))
        layouts.push_back(plan.layoutOf(value));
    return layouts;
  };
  SmallVector<Attribute> before = layoutsOf(op.getBeforeArguments()),
                         after = layoutsOf(op.getResults());
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), blockTypeOf);
  types.append(dots.size(), builder.getI1Type());
  auto loop = scf::WhileOp::create(builder, op.getLoc(), types, inits);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  setLayouts(loop, before, after);

  auto emitRegion = [&](Block &from, Region &to, TypeRange arguments,
                        auto emitTerminator) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(
        &to, to.end(), arguments,
        SmallVector<Location>(arguments.size(), op.getLoc()));
    unsigned values = from.getNumArguments();
    mapping.map(from.getArguments(), block->getArguments().take_front(values));
    setPhases(dots, block->getArguments().drop_front(values));
    for (Operation &inner : from.without_terminator())
      emitOp(&inner);
    emitTerminator();
  };
  auto collect = [&](ValueRange values) {
    SmallVector<Value> mapped = llvm::map_to_vector(
        values, [&](Value value) { return mapping.lookup(value); });
    llvm::append_range(mapped, phasesOf(dots));
    return mapped;
  };
  emitRegion(
      *op.getBeforeBody(), loop.getBefore(), TypeRange(ValueRange(inits)), [&] {
        scf::ConditionOp condition = op.getConditionOp();
        auto created =
            scf::ConditionOp::create(builder, condition.getLoc(),
                                     mapping.lookup(condition.getCondition()),
                                     collect(condition.getArgs()));
        setLayouts(created, after, {});
      });
  emitRegion(*op.getAfterBody(), loop.getAfter(), types, [&] {
    auto yield = scf::YieldOp::create(builder, op.getLoc(),
                                      collect(op.getYieldOp().getOperands()));
    setLayouts(yield, before, {});
  });
  unsigned numValues = op.getNumResults();
  mapping.map(op.getResults(), loop.getResults().take_front(numValues));
  setPhases(dots, loop.getResults().drop_front(numValues));
}

void TileEmitter::emitIf(scf::IfOp op) {
  commitCopies(op.getLoc());
  SmallVector<Type> types;
  SmallVector<Attribute> layouts;
  for (Value result : op.getResults()) {
    types.push_back(blockTypeOf(result.getType()));
    if (isTile(result))
      layouts.push_back(plan.layoutOf(result));
  }
  SmallVector<Operation *> dots = wgmmaIn(op);
  SmallVector<Value> phasesBefore = phasesOf(dots);
  types.append(dots.size(), builder.getI1Type());
  bool hasElse = op.elseBlock() != nullptr || !dots.empty();
  auto branch = scf::IfOp::create(
      builder, op.getLoc(), types, mapping.lookup(op.getCondition()),
      /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  setLayouts(branch, {}, layouts);
  auto emitBranch = [&](Block *from, Block *to) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(to);
    setPhases(dots, phasesBefore);
    SmallVector<Value> yielded;
    if (from) {
      for (Operation &inner : from->without_terminator())
        emitOp(&inner);
      yielded = llvm::map_to_vector(from->getTerminator()->getOperands(),
                                    [&](Value v) { return mapping.lookup(v); });
    }
    llvm::append_range(yielded, phasesOf(dots));
    auto yield = scf::YieldOp::create(builder, op.getLoc(), yielded);
    setLayouts(yield, layouts, {});
  };
  emitBranch(op.thenBlock(), branch.thenBlock());
  if (hasElse)
    emitBranch(op.elseBlock(), branch.elseBlock());
  mapping.map(op.getResults(),
              branch.getResults().take_front(op.getNumResults()));
  setPhases(dots, branch.getResults().drop_front(op.getNumResults()));
}
