//===- TritonXLAToMosaicGPU.cpp - Tile level to block level ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the kernels that TilePlan plans, and defines the pass.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/TilesToBlocks/LegalizeDots.h"
#include "smalti/passes/Conversion/TilesToBlocks/PadTiles.h"
#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/CacheHints.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/SmallFloats.h"
#include "smalti/passes/Support/TargetOption.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <vector>

namespace smalti {
#define GEN_PASS_DECL_CONVERTTRITONXLATOMOSAICGPU
#define GEN_PASS_DEF_CONVERTTRITONXLATOMOSAICGPU
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName =
    "convert-triton-xla-to-mosaic-gpu";

/// Sets the hint of an extract or insert on an access at block level.
template <typename WindowOp>
static void setHint(WindowOp op, Operation *access) {
  Builder builder(access->getContext());
  if (std::optional<triton_xla::CacheModifier> cache = op.getCache())
    access->setAttr(
        kCacheHint,
        builder.getStringAttr(triton_xla::stringifyCacheModifier(*cache)));
  if (std::optional<triton_xla::EvictionPolicy> eviction = op.getEviction())
    access->setAttr(
        kCacheHint,
        builder.getStringAttr(triton_xla::stringifyEvictionPolicy(*eviction)));
}

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

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
    if (isa<MemRefType>(argument.getType())) {
      // Memrefs of a tile-level kernel do not overlap in written elements.
      kernel.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
      if (!kernel.getArgAttr(number, LLVM::LLVMDialect::getAlignAttrName()))
        kernel.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(kArgumentAlignment));
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

void TileEmitter::addParameters(BlockArgument argument,
                                SmallVectorImpl<Type> &types) const {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !isDynamic(type)) {
    types.push_back(argument.getType());
    return;
  }
  // The pointer to the first element, and the dynamic sizes and strides.
  types.push_back(MemRefType::get({}, type.getElementType()));
  types.append(getDynamicParameters(type).count(),
               IndexType::get(type.getContext()));
}

Value TileEmitter::emitArgument(BlockArgument argument,
                                Block::BlockArgListType parameters) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !isDynamic(type))
    return parameters.front();
  Location loc = argument.getLoc();
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
    sizes[dim] = take(log2SizeDivisor(argument, dim));
  for (int64_t dim : dynamic.strides)
    strides[dim] = take(log2StrideDivisor(argument, dim));
  if (type.getLayout().isIdentity())
    for (int64_t dim = type.getRank() - 1; dim-- > 0;) {
      AffineExpr a, b;
      bindSymbols(builder.getContext(), a, b);
      strides[dim] = affine::makeComposedFoldedAffineApply(
          builder, loc, a * b, {strides[dim + 1], sizes[dim + 1]});
    }
  dynamicSizes[argument] = sizes;
  dynamicStrides[argument] = strides;
  return memref::ReinterpretCastOp::create(
      builder, loc, type, parameters.front(), builder.getIndexAttr(0), sizes,
      strides);
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
  // Braces are placeholders in the format.
  std::string format = (op.getText() + " {}").str();
  auto print = [&](Value value, Attribute layout) {
    // printf does not support floats of at most 8 bits.
    auto type = cast<VectorType>(value.getType());
    if (isSmallFloat(type.getElementType())) {
      auto wide = arith::ExtFOp::create(
          builder, loc, type.clone(builder.getF32Type()), value);
      setLayouts(wide, {layout}, {layout});
      value = wide;
    }
    auto created = mosaic_gpu::DebugPrintOp::create(
        builder, loc, StringRef(format), value, /*with_block_id=*/true);
    setLayouts(created, {layout}, {});
  };
  for (Value value : op.getValues()) {
    if (isTile(value)) {
      print(mapping.lookup(value), plan.layoutOf(value));
      continue;
    }
    Value scalar = mapping.lookup(value);
    auto type = VectorType::get({1}, scalar.getType());
    auto splat = vector::BroadcastOp::create(builder, loc, type, scalar);
    setLayouts(splat, {}, {splatLayout(type)});
    print(splat, splatLayout(type));
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
// Global memory
//===----------------------------------------------------------------------===//

TileEmitter::Transfer TileEmitter::createTransfer(Location loc,
                                                  const Window &window) {
  MLIRContext *context = builder.getContext();
  auto rank = static_cast<int64_t>(window.sizes.size());
  Transfer transfer;
  transfer.memref = mapping.lookup<Value>(window.memref);

  SmallVector<OpFoldResult> offsets = llvm::map_to_vector(
      window.offsets, [&](OpFoldResult o) { return mapped(o); });
  SmallVector<OpFoldResult> sizes = sizesOf(window.memref);

  // A window of stride s is a dense window of a view of every s-th element that
  // starts at the offset modulo s. `i * s + o` is in bounds if and only if
  // `i + o floordiv s` is in bounds in the view.
  // A padded window is one of a view that ends with the original window.
  if (window.padded.any() || llvm::any_of(window.strides, [](int64_t stride) {
        return stride != 1;
      })) {
    SmallVector<OpFoldResult> strides = stridesOf(window.memref);
    AffineExpr offset = getAffineDimExpr(0, context), extent, step;
    bindSymbols(context, extent, step);
    OpFoldResult start = builder.getIndexAttr(0);
    SmallVector<OpFoldResult> viewStrides;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t stride = window.strides[dim];
      auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
        return affine::makeComposedFoldedAffineApply(
            builder, loc, AffineMap::get(1, operands.size() - 1, expr),
            operands);
      };
      viewStrides.push_back(
          stride == 1 ? strides[dim] : apply(offset * stride, {strides[dim]}));
      if (stride == 1)
        continue;
      OpFoldResult phase = apply(offset % stride, {offsets[dim]});
      // If the stride divides the extent, all phases have equally many
      // elements.
      std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
      sizes[dim] =
          size && *size % stride == 0
              ? OpFoldResult(builder.getIndexAttr(*size / stride))
              : apply((extent - offset).ceilDiv(stride), {phase, sizes[dim]});
      offsets[dim] = apply(offset.floorDiv(stride), {offsets[dim]});
      AffineExpr total = offset + extent * step;
      start = affine::makeComposedFoldedAffineApply(
          builder, loc, AffineMap::get(1, 2, total),
          {start, phase, strides[dim]});
    }
    for (int64_t dim : window.padded.set_bits()) {
      AffineExpr end = offset + window.sizes[dim];
      sizes[dim] = affine::makeComposedFoldedAffineMin(
          builder, loc, AffineMap::get(1, 1, {end, extent}, context),
          {offsets[dim], sizes[dim]});
      sizes[dim] = affine::makeComposedFoldedAffineMax(
          builder, loc,
          AffineMap::get(1, 0, {offset, getAffineConstantExpr(0, context)},
                         context),
          {sizes[dim]});
    }
    transfer.memref = memref::ReinterpretCastOp::create(
        builder, loc, transfer.memref, start, sizes, viewStrides);
  }

  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[dim]),
                           extent = getConstantIntValue(sizes[dim]);
    // The end of a window may exceed 64 bits.
    bool inBounds = offset && extent && !window.padded[dim] && *offset >= 0 &&
                    window.sizes[dim] <= *extent &&
                    *offset <= *extent - window.sizes[dim];
    Value start = index(loc, offsets[dim]);
    if (!window.dropped.test(dim)) {
      kept.push_back(getAffineDimExpr(dim, context));
      transfer.inBounds.push_back(inBounds);
    } else if (!inBounds) {
      // A transfer checks only the dimensions of its vector.
      transfer.mayBeEmpty |= extent.value_or(0) == 0;
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value end = index(loc, sizes[dim]);
      // One unsigned comparison covers both ends.
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, start, end);
      start = arith::SelectOp::create(builder, loc, inside, start, zero);
      transfer.isInside =
          transfer.isInside
              ? arith::AndIOp::create(builder, loc, transfer.isInside, inside)
                    .getResult()
              : inside;
    }
    transfer.indices.push_back(start);
  }
  transfer.map = AffineMap::get(rank, 0, kept, context);
  return transfer;
}

void TileEmitter::emitExtract(triton_xla::ExtractOp op) {
  Location loc = op.getLoc();
  Window window = Window::of(op);
  if (plan.tensorCopies.contains(op))
    return; // Copied by TMA with the dot.
  if (plan.asyncCopies.contains(op)) {
    Value buffer = allocateOperand(loc, op.getTileType(), op, op.getTile());
    SmallVector<Value> indices = llvm::map_to_vector(
        window.offsets, [&](OpFoldResult o) { return index(loc, mapped(o)); });
    mosaic_gpu::AsyncCopyOp::create(
        builder, loc, mapping.lookup(op.getSource()), indices, buffer);
    copied[op.getTile()] = buffer;
    hasUncommittedCopies = true;
    return;
  }

  Transfer transfer = createTransfer(loc, window);
  Value fill = arith::ConstantOp::create(builder, loc, op.getFillOrZero());
  if (!isTile(op.getTile())) {
    auto load = [&](OpBuilder &nested) -> Value {
      auto load = memref::LoadOp::create(nested, loc, transfer.memref,
                                         transfer.indices);
      setHint(op, load);
      return load;
    };
    if (!transfer.isInside) {
      mapping.map(op.getTile(), load(builder));
      return;
    }
    auto guarded = scf::IfOp::create(
        builder, loc, transfer.isInside,
        [&](OpBuilder &nested, Location) {
          scf::YieldOp::create(nested, loc, load(nested));
        },
        [&](OpBuilder &nested, Location) {
          scf::YieldOp::create(nested, loc, fill);
        });
    mapping.map(op.getTile(), guarded.getResult(0));
    return;
  }
  Attribute layout = plan.layoutOf(op.getTile());
  VectorType type = vectorOf(op.getTileType());
  auto createRead = [&] {
    auto read = vector::TransferReadOp::create(
        builder, loc, type, transfer.memref, transfer.indices, fill,
        transfer.map, ArrayRef<bool>(transfer.inBounds));
    setLayouts(read, {}, {layout});
    setHint(op, read);
    return read.getResult();
  };
  if (!transfer.isInside) {
    mapping.map(op.getTile(), createRead());
    return;
  }
  auto createFill = [&] {
    auto splat = vector::BroadcastOp::create(builder, loc, type, fill);
    setLayouts(splat, {}, {splatLayout(type)});
    return splat.getResult();
  };
  if (!transfer.mayBeEmpty) {
    Value tile = createRead();
    auto select = arith::SelectOp::create(builder, loc, transfer.isInside, tile,
                                          createFill());
    setLayouts(select, {layout, layout}, {layout});
    mapping.map(op.getTile(), select.getResult());
    return;
  }
  // No element may be loaded from an empty memref.
  auto guarded = scf::IfOp::create(builder, loc, TypeRange{type},
                                   transfer.isInside, /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
  setLayouts(guarded, {}, {layout});
  auto emitBranch = [&](Block *block, auto create) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    Value value = create();
    auto yield = scf::YieldOp::create(builder, loc, value);
    setLayouts(yield, {layout}, {});
  };
  emitBranch(guarded.thenBlock(), createRead);
  emitBranch(guarded.elseBlock(), createFill);
  mapping.map(op.getTile(), guarded.getResult(0));
}

void TileEmitter::emitInsert(triton_xla::InsertOp op) {
  if (auto it = plan.tensorStores.find(op); it != plan.tensorStores.end())
    return emitTensorStore(op, it->second);
  Location loc = op.getLoc();
  Transfer transfer = createTransfer(loc, Window::of(op));
  OpBuilder::InsertionGuard guard(builder);
  if (transfer.isInside) {
    auto guarded = scf::IfOp::create(builder, loc, transfer.isInside,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  if (!isTile(op.getTile()))
    return setHint(op, emitScalarStore(loc, mapping.lookup(op.getTile()),
                                       transfer.memref, transfer.indices));
  auto write = vector::TransferWriteOp::create(
      builder, loc, mapping.lookup(op.getTile()), transfer.memref,
      transfer.indices, transfer.map, ArrayRef<bool>(transfer.inBounds));
  setLayouts(write, {storageLayout(op.getTile())}, {});
  setHint(op, write);
}

void TileEmitter::emitStore(memref::StoreOp op) {
  SmallVector<Value> indices = llvm::map_to_vector(
      op.getIndices(), [&](Value index) { return mapping.lookup(index); });
  emitScalarStore(op.getLoc(), mapping.lookup(op.getValue()),
                  mapping.lookup(op.getMemRef()), indices);
}

/// Stores a scalar that all threads have by one of them: a vector with one
/// element, whose layout replicates it.
Operation *TileEmitter::emitScalarStore(Location loc, Value scalar,
                                        Value memref, ValueRange indices) {
  auto type = VectorType::get({1}, scalar.getType());
  auto splat = vector::BroadcastOp::create(builder, loc, type, scalar);
  setLayouts(splat, {}, {splatLayout(type)});
  SmallVector<Value> start(indices);
  auto memrefType = cast<MemRefType>(memref.getType());
  if (memrefType.getRank() == 0) {
    memref = memref::ReinterpretCastOp::create(
        builder, loc, MemRefType::get({1}, memrefType.getElementType()), memref,
        /*offset=*/0, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
    start.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  }
  auto map =
      AffineMap::getMinorIdentityMap(start.size(), 1, builder.getContext());
  auto write = vector::TransferWriteOp::create(
      builder, loc, splat, memref, start, map, ArrayRef<bool>{true});
  setLayouts(write,
             {chooseTileLayout(builder.getContext(), {1}, /*maxVector=*/1,
                               plan.block)},
             {});
  return write;
}

Attribute TileEmitter::storageLayout(Value tile) {
  if (!isSplat(tile))
    return plan.layoutOf(tile);
  auto type = cast<RankedTensorType>(tile.getType());
  return chooseTileLayout(builder.getContext(), type.getShape(),
                          /*maxVector=*/1, plan.block);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

void TileEmitter::emitMask(triton_xla::MaskOp op) {
  Location loc = op.getLoc();
  if (!isTile(op.getResult())) {
    mapping.map(op.getResult(), mapping.lookup(op.getTile()));
    return;
  }
  Attribute layout = plan.layoutOf(op.getResult());
  VectorType type = vectorOf(op.getTile().getType());
  SmallVector<Value> bounds;
  for (OpFoldResult bound : op.getMixedBounds())
    bounds.push_back(index(loc, mapped(bound)));
  auto mask = vector::CreateMaskOp::create(
      builder, loc, type.clone(builder.getI1Type()), bounds);
  setLayouts(mask, {}, {layout});
  auto other = vector::BroadcastOp::create(builder, loc, type,
                                           mapping.lookup(op.getValue()));
  setLayouts(other, {}, {splatLayout(type)});
  auto select = arith::SelectOp::create(builder, loc, mask,
                                        mapping.lookup(op.getTile()), other);
  setLayouts(select, {layout, layout, layout}, {layout});
  mapping.map(op.getResult(), select.getResult());
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct ConvertTritonXLAToMosaicGPU
    : smalti::impl::ConvertTritonXLAToMosaicGPUBase<
          ConvertTritonXLAToMosaicGPU> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<triton_xla::EntryFuncOp> funcs =
        llvm::to_vector(module.getOps<triton_xla::EntryFuncOp>());
    if (funcs.empty())
      return markAllAnalysesPreserved();
    const targets::Target *chip = getTarget(module, target);
    if (!chip)
      return signalPassFailure();
    if (!chip->isGPU()) {
      module.emitError() << "the target " << chip->name << " is not a GPU";
      return signalPassFailure();
    }

    if (std::optional<std::string> wrong = checkBlocks(blocks)) {
      module.emitError() << *wrong;
      return signalPassFailure();
    }

    bool areLegal = true;
    for (triton_xla::EntryFuncOp func : funcs)
      areLegal &= succeeded(checkLegality(func, chip));
    if (!areLegal)
      return signalPassFailure();

    TileOptions options{numWarps.getOr(0), copies, matmul, blocks};
    // The dots and tiles of a copy are rewritten, so that the module does not
    // change if the plan of a kernel fails.
    int64_t legalWarps = std::max<int64_t>(options.numWarps, 1);
    SmallVector<std::pair<triton_xla::EntryFuncOp, triton_xla::EntryFuncOp>>
        legalized;
    auto fail = [&] {
      for (auto [func, copy] : legalized)
        copy.erase();
      signalPassFailure();
    };
    std::vector<TilePlan> plans;
    for (triton_xla::EntryFuncOp func : funcs) {
      triton_xla::EntryFuncOp planned = func;
      bool areUneven = hasUnevenTiles(func),
           areConverted = hasConvertedArguments(func);
      if (areUneven || areConverted || !hasLegalDots(func, *chip, legalWarps)) {
        planned = cast<triton_xla::EntryFuncOp>(
            OpBuilder(func).clone(*func.getOperation()));
        legalized.push_back({func, planned});
        if (areConverted)
          convertArguments(planned);
        if (areUneven)
          padTiles(planned);
        legalizeDots(planned, *chip, legalWarps);
      }
      FailureOr<TilePlan> plan = planTiles(planned, *chip, options);
      if (failed(plan))
        return fail();
      plans.push_back(std::move(*plan));
    }
    for (auto [func, copy] : legalized)
      func.erase();

    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    for (TilePlan &plan : plans) {
      report(plan, *chip);
      gpu::GPUModuleOp kernels = TileEmitter(plan).run();
      SymbolTable symbols(module);
      symbols.insert(kernels, Block::iterator(plan.func.getOperation()));
      plan.func->erase();
    }
  }

  static void report(const TilePlan &plan, const targets::Target &chip) {
    triton_xla::EntryFuncOp func = plan.func;
    // One remark for each argument.
    DenseSet<Value> arguments, large;
    auto requireSmall = [&](Operation *op, Value memref) {
      auto argument = dyn_cast<BlockArgument>(memref);
      auto type = dyn_cast<MemRefType>(memref.getType());
      if (!argument || !type || !isDynamic(type) || isStatedSmall(argument) ||
          !chip.hasBufferLoads || !large.insert(memref).second)
        return;
      remarkMissed(op, kPassName)
          << "buffer accesses not used: argument #" << argument.getArgNumber()
          << " is not proven to have less than 2^31 B; if it has, add "
          << triton_xla::kMaxBytes << " = 2147483647 : i64 to the argument";
    };
    func.getBody().walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        requireSmall(op, operand);
      std::optional<Window> window = windowOf(op);
      if (!window || plan.tensorCopies.contains(op) ||
          plan.tensorStores.contains(op) || arguments.contains(window->memref))
        return;
      if (std::optional<std::string> reason = findMissingFact(*window)) {
        arguments.insert(window->memref);
        remarkMissed(op, kPassName) << "accesses of 16 B not used: " << *reason;
      }
    });
    for (const MissedAsyncCopy &missed : plan.missedAsyncCopies)
      remarkMissed(missed.extract, kPassName)
          << "asynchronous copy not used: " << missed.reason;
    if (plan.rejectedWgmmaDot)
      remarkMissed(plan.rejectedWgmmaDot, kPassName)
          << "wgmma not used: " << plan.wgmmaRejectionReason;
    for (const auto &[op, dot] : plan.wgmmaDots) {
      auto lhs =
          cast<RankedTensorType>(triton_xla::DotOp(dot.dot).getLhs().getType());
      remarkApplied(op, kPassName)
          << "dot lowered to wgmma: " << lhs.getDimSize(0) << "x"
          << cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(1)
          << "x" << lhs.getDimSize(1) << " on " << plan.block.numWarps / 4
          << (plan.block.numWarps == 4 ? " warpgroup; " : " warpgroups; ")
          << (dot.lhs ? "TMA loads of A and B, "
                      : "A in registers, TMA load of B, ")
          << dot.getBytes() << " B";
    }
    for (const auto &[insert, reason] : plan.missedTensorStores)
      remarkMissed(insert, kPassName) << "TMA store not used: " << reason;
    for (const auto &[op, window] : plan.tensorStores)
      remarkApplied(op, kPassName)
          << "insert lowered to TMA stores of " << window.getShape()[0] << "x"
          << window.getTiling()[1] << " elements";
    for (const auto &[op, dot] : plan.dots) {
      if (dot.missed)
        remarkMissed(op, kPassName)
            << "MMA not used: with num-warps=" << plan.block.numWarps
            << ", scalar multiply-adds are estimated to be faster than padding "
               "M, N and K per warp to multiples of "
            << dot.missed->m << ", " << dot.missed->n << " and "
            << dot.missed->k << ", as " << dot.missed->mnemonic << " requires";
      StringRef instruction = dot.mma.instruction->mnemonic;
      remarkApplied(op, kPassName)
          << "dot lowered to "
          << (instruction.empty() ? "scalar multiply-adds" : instruction)
          << ": " << dot.mma.m << "x" << dot.mma.n << "x" << dot.mma.k << " on "
          << dot.mma.warpsM << "x" << dot.mma.warpsN << " warps"
          << (dot.aInRegisters ? "; A in registers" : "")
          << (dot.bInRegisters ? "; B in registers" : "");
    }
    remarkApplied(plan.func, kPassName)
        << "block size: " << plan.block.numWarps << " warps of "
        << plan.block.waveSize << " threads";
    if (func.getDynamicGrid() || func.getNumTiles() > 1)
      func.getBody().walk([](triton_xla::AtomicRMWOp atomic) {
        if (ordersElements(atomic))
          remarkMissed(atomic, kPassName)
              << "updates ordered only within a tile: the tiles of a grid run "
                 "in any order; if they update the same elements, the result "
                 "may differ between runs";
      });
    if (plan.persistentBlocks != 0)
      remarkApplied(func, kPassName)
          << "persistent grid: " << plan.persistentBlocks << " blocks compute "
          << (func.getDynamicGrid() ? std::string("all")
                                    : std::to_string(func.getNumTiles()))
          << " tiles";
  }
};

} // namespace
