//===- TritonXLAToCPU.cpp - Tile-level kernels to vectorized loops --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel is converted in a temporary module. The originals are replaced
// only if all conversions succeed:
//
//   1. element-wise ops on tiles are lowered to linalg ops and fused;
//   2. extract and insert are lowered to copies between memory and a buffer,
//   mask
//      to an element-wise op, dot to a linalg.matmul;
//   3. upstream's one-shot bufferization assigns a buffer to every tile;
//   4. each loop-carried buffer is updated in place, so that all buffers can be
//      allocated once per call, before the loop over tiles;
//   5. the linalg ops are lowered to vectorized loops (CPULoops.h), and f16 and
//      bf16 arithmetic is done in f32.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/ToCPU/TritonXLAToCPU.h"

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Conversion/ToCPU/CPUHalfFloats.h"
#include "smalti/passes/Conversion/ToCPU/CPULoops.h"
#include "smalti/passes/Conversion/ToCPU/CPUMath.h"
#include "smalti/passes/Conversion/ToCPU/CPUPackedMemory.h"
#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"
#include "smalti/passes/Conversion/ToCPU/TileOps.h"
#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/DynamicArguments.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/SmallFloats.h"
#include "smalti/targets/Target.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/TargetParser/Host.h"

namespace smalti {
#define GEN_PASS_DECL_CONVERTTRITONXLATOCPU
#define GEN_PASS_DEF_CONVERTTRITONXLATOCPU
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

static bool isElementwiseOnTiles(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumOperands() != 0 &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Reports what cannot be lowered to CPU loops. If this check succeeds, a later
/// failure is a defect in the pass.
static LogicalResult checkKernel(EntryFuncOp entry) {
  if (failed(checkLegality(entry, targets::lookup("cpu"))))
    return failure();
  if (entry.getDynamicGrid() && entry.getTileIds().size() != 1)
    return entry.emitError("the grid has ")
           << entry.getTileIds().size()
           << " dimensions; a number of tiles that depends on arguments "
              "requires "
              "one dimension: run smalti-expand-tile-ops before this "
              "conversion";
  WalkResult result = entry.getBody().walk([&](Operation *op) -> WalkResult {
    // Upstream's bufferization does not see that the result of an
    // scf.index_switch and the tiles that it yields share a buffer.
    bool isDerived = isa<DotScaledOp, SparseDotOp, scf::IndexSwitchOp>(op) ||
                     (entry.getDynamicGrid() && isa<NumTilesOp>(op));
    if (!isDerived)
      return WalkResult::advance();
    return op->emitOpError("must be expanded to simpler ops before this "
                           "conversion; run smalti-expand-tile-ops first");
  });
  return failure(result.wasInterrupted());
}

/// Renames all symbols that the module defines, so that none of them replaces a
/// function of the C library that the code calls, such as @tanhf or @free.
/// Names of C do not contain dots.
static void renameSymbols(ModuleOp module) {
  SymbolTable symbols(module);
  for (Operation &op : module.getOps()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || symbol.isDeclaration())
      continue;
    StringAttr name = symbol.getNameAttr();
    std::string unique = ("smalti." + name.getValue()).str();
    while (symbols.lookup(unique))
      unique += '_';
    if (isa<EntryFuncOp>(op))
      op.setAttr(kSourceName, name);
    (void)symbols.rename(&op, unique);
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Creates a function in a temporary module that executes the kernel for tiles
/// [begin, end).
static func::FuncOp cloneIntoLoop(EntryFuncOp entry, ModuleOp scratch) {
  OpBuilder builder = OpBuilder::atBlockBegin(scratch.getBody());
  Location loc = entry.getLoc();
  unsigned numArguments = entry.getKernelArguments().size();
  SmallVector<Type> types(entry.getArgumentTypes().take_front(numArguments));
  for (Type &type : types)
    if (auto memref = dyn_cast<MemRefType>(type))
      type = getArgumentType(memref);
  types.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, entry.getSymName(),
                                       builder.getFunctionType(types, {}));
  if (StringAttr visibility = entry.getSymVisibilityAttr())
    function.setSymVisibilityAttr(visibility);
  function->setDiscardableAttrs(entry->getDiscardableAttrDictionary());
  function->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
  function->setAttr(kNumTiles, entry.getNumTilesAttr());
  if (ArrayAttr attributes = entry.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attributes.getValue().take_front(numArguments));
    all.append(2, builder.getDictionaryAttr({}));
    function.setAllArgAttrs(all);
  }

  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, block->getArgument(numArguments),
                                 block->getArgument(numArguments + 1), one);
  func::ReturnOp::create(builder, loc);
  IRMapping mapping;
  mapping.map(entry.getKernelArguments(),
              block->getArguments().take_front(numArguments));
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  // Tiles are numbered in row-major order of the grid.
  Value number = loop.getInductionVar();
  SmallVector<int64_t> grid = entry.getNumTilesPerDim();
  for (size_t dim = grid.size(); dim-- > 1;) {
    Value size = arith::ConstantIndexOp::create(builder, loc, grid[dim]);
    mapping.map(entry.getTileIds()[dim],
                arith::RemUIOp::create(builder, loc, number, size).getResult());
    number = arith::DivUIOp::create(builder, loc, number, size);
  }
  mapping.map(entry.getTileIds().front(), number);
  for (Operation &op : entry.getBody().front().without_terminator())
    builder.clone(op, mapping);
  function.walk([&](NumTilesOp op) {
    OpBuilder inside(op);
    op.replaceAllUsesWith(
        arith::ConstantIndexOp::create(inside, op.getLoc(), grid[op.getDim()])
            .getResult());
    op.erase();
  });
  return function;
}

static LogicalResult convertElementwise(ModuleOp scratch) {
  MLIRContext *context = scratch.getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !isElementwiseOnTiles(op); });
  return applyPartialConversion(scratch, target, std::move(patterns));
}

static void lowerExtract(RewriterBase &rewriter, ExtractOp op,
                         int64_t vectorBits) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType tile = op.getTileType();
  Value buffer = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(tile.getShape(), tile.getElementType()));
  emitWindowCopy(rewriter, loc,
                 {op.getSource(), op.getMixedOffsets(), op.getStaticSizes(),
                  op.getStaticStrides(), op.getDroppedDims(), buffer},
                 op.getFillOrZero(), vectorBits);
  rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
      op, tile, buffer, /*restrict=*/true, /*writable=*/true);
}

static void lowerInsert(RewriterBase &rewriter, InsertOp op,
                        int64_t vectorBits) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType tile = op.getTileType();
  Value buffer = bufferization::ToBufferOp::create(
      rewriter, loc, MemRefType::get(tile.getShape(), tile.getElementType()),
      op.getTile(), /*read_only=*/true);
  emitWindowCopy(rewriter, loc,
                 {op.getDestination(), op.getMixedOffsets(),
                  op.getStaticSizes(), op.getStaticStrides(),
                  op.getDroppedDims(), buffer},
                 /*fill=*/{}, vectorBits);
  rewriter.eraseOp(op);
}

static void lowerExtracts(RewriterBase &rewriter, func::FuncOp function,
                          int64_t vectorBits) {
  SmallVector<ExtractOp> extracts;
  function.walk([&](ExtractOp op) { extracts.push_back(op); });
  for (ExtractOp op : extracts)
    lowerExtract(rewriter, op, vectorBits);
}

/// Runs after the last folding before bufferization. Bufferization does not
/// track reads that use a buffer directly and not through a tensor, so it might
/// overwrite the buffer too early.
static void lowerInserts(RewriterBase &rewriter, func::FuncOp function,
                         int64_t vectorBits) {
  SmallVector<InsertOp> inserts;
  function.walk([&](InsertOp op) { inserts.push_back(op); });
  for (InsertOp op : inserts)
    lowerInsert(rewriter, op, vectorBits);
}

/// Whether an element-wise op only moves elements or computes indices. To
/// compute its elements again is not slower than to load them.
static bool isCheap(linalg::GenericOp op) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(
             *op.getBody(),
             llvm::IsaPred<linalg::IndexOp, linalg::YieldOp, arith::IndexCastOp,
                           arith::TruncIOp, arith::SIToFPOp, arith::TruncFOp>);
}

/// Gives each use of a cheap op its own copy, which is fused.
static void cloneCheapProducers(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::GenericOp> producers;
  function.walk([&](linalg::GenericOp op) {
    if (op->getNumResults() == 1 && isCheap(op))
      producers.push_back(op);
  });
  // A clone is a new use of its operands, which may also be cheap.
  for (linalg::GenericOp op : llvm::reverse(producers)) {
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
      auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!consumer || !consumer.isDpsInput(&use))
        continue;
      rewriter.setInsertionPoint(consumer);
      Operation *clone = rewriter.clone(*op);
      rewriter.modifyOpInPlace(consumer, [&] { use.set(clone->getResult(0)); });
    }
  }
}

static LogicalResult fuseElementwise(RewriterBase &rewriter,
                                     func::FuncOp function) {
  cloneCheapProducers(rewriter, function);
  // Every fusion recreates the whole body, so without a limit the time would be
  // quadratic in the length of a chain. Longer bodies do not benefit, since
  // registers are exhausted.
  constexpr size_t mostOps = 128;
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(
      patterns, [](OpOperand *operand) {
        Operation *producer = operand->get().getDefiningOp();
        Operation *consumer = operand->getOwner();
        if (!producer || !producer->hasOneUse() ||
            producer->getBlock() != consumer->getBlock())
          return false;
        // A consumer that repeats an element would compute it again.
        auto repeats = dyn_cast<linalg::GenericOp>(consumer);
        auto computes = dyn_cast<linalg::GenericOp>(producer);
        if (repeats && computes && !isCheap(computes) &&
            !repeats.getMatchingIndexingMap(operand).isPermutation())
          return false;
        size_t ops = 0;
        for (Operation *op : {producer, consumer})
          if (auto generic = dyn_cast<linalg::GenericOp>(op))
            ops += generic.getBody()->getOperations().size();
        return ops <= mostOps;
      });
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Lets element-wise ops overwrite an input, preferably a loop-carried tile, so
/// that the loop does not need a second buffer. (Bufferization still allocates
/// a new buffer if the input is read again.)
static void reuseInputs(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumParallelLoops() != op.getNumLoops())
      return;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!init.get().getDefiningOp<tensor::EmptyOp>() ||
          !op.getMatchingIndexingMap(&init).isIdentity())
        continue;
      OpOperand *best = nullptr;
      for (OpOperand *input : op.getDpsInputOperands()) {
        Value value = input->get();
        if (value.getType() != init.get().getType() ||
            !op.getMatchingIndexingMap(input).isIdentity() ||
            llvm::any_of(op.getDpsInits(),
                         [&](Value other) { return other == value; }))
          continue;
        auto argument = dyn_cast<BlockArgument>(value);
        bool carried = argument && isa<scf::ForOp, scf::WhileOp>(
                                       argument.getOwner()->getParentOp());
        if (carried)
          best = input;
        else if (!best && value.hasOneUse())
          best = input;
      }
      if (best)
        rewriter.modifyOpInPlace(op, [&] { init.set(best->get()); });
    }
  });
}

/// Replaces each use of a splat constant or tensor.splat by a fill. A read-only
/// global would have to be copied first.
static void fillSplats(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Operation *> splats;
  function.walk([&](Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if ((constant && isa<SplatElementsAttr>(constant.getValue()) &&
         isa<RankedTensorType>(constant.getType())) ||
        isa<tensor::SplatOp>(op))
      splats.push_back(op);
  });
  for (Operation *op : splats) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value scalar;
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        auto value =
            cast<TypedAttr>(cast<SplatElementsAttr>(constant.getValue())
                                .getSplatValue<Attribute>());
        scalar = arith::ConstantOp::create(rewriter, op->getLoc(), value);
      } else {
        scalar = cast<tensor::SplatOp>(op).getInput();
      }
      Value empty = tensor::EmptyOp::create(
          rewriter, op->getLoc(), type.getShape(), type.getElementType());
      auto fill = linalg::FillOp::create(rewriter, op->getLoc(), scalar, empty);
      use.set(fill.getResult(0));
    }
    rewriter.eraseOp(op);
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Whether `value` is proven to be the buffer `argument` on every path.
static bool isBuffer(Value value, BlockArgument argument) {
  while (true) {
    if (value == argument)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      value = cast.getSource();
      continue;
    }
    unsigned position = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!isBuffer(loop.getYieldedValues()[position],
                    loop.getRegionIterArgs()[position]))
        return false;
      value = loop.getInitArgs()[position];
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      return isBuffer(branch.thenYield().getOperand(position), argument) &&
             isBuffer(branch.elseYield().getOperand(position), argument);
    }
    return false;
  }
}

/// Allocates a buffer with the shape of `type` before `op`.
static Value allocateLike(RewriterBase &rewriter, Operation *op,
                          MemRefType type) {
  rewriter.setInsertionPoint(op);
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value buffer = memref::AllocOp::create(rewriter, op->getLoc(), plain);
  return plain == type
             ? buffer
             : memref::CastOp::create(rewriter, op->getLoc(), type, buffer)
                   .getResult();
}

/// Updates a loop-carried buffer in place: `init` is copied into the buffer
/// before the loop, and each iteration copies its result. After bufferization,
/// the result of an iteration is the carried buffer or a buffer of that
/// iteration, which the next iteration overwrites after allocations are
/// hoisted.
static void carryInPlace(RewriterBase &rewriter, Operation *loop,
                         OpOperand &init, OpOperand &yielded,
                         BlockArgument argument) {
  if (isBuffer(yielded.get(), argument))
    return;
  Value buffer =
      allocateLike(rewriter, loop, cast<MemRefType>(argument.getType()));
  memref::CopyOp::create(rewriter, loop->getLoc(), init.get(), buffer);
  rewriter.modifyOpInPlace(loop, [&] { init.set(buffer); });
  rewriter.setInsertionPoint(yielded.getOwner());
  memref::CopyOp::create(rewriter, loop->getLoc(), yielded.get(), buffer);
  rewriter.modifyOpInPlace(yielded.getOwner(), [&] { yielded.set(buffer); });
}

static void carryLoopsInPlace(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Operation *> loops;
  function.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      loops.push_back(op);
  });
  for (Operation *op : loops) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, yielded, argument] : llvm::zip_equal(
               loop.getInitArgsMutable(), *loop.getYieldedValuesMutable(),
               loop.getRegionIterArgs())) {
        if (isa<MemRefType>(argument.getType()))
          carryInPlace(rewriter, loop, init, yielded, argument);
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [init, yielded, argument] : llvm::zip_equal(
               loop.getInitsMutable(), loop.getYieldOp().getResultsMutable(),
               loop.getBeforeArguments())) {
        if (isa<MemRefType>(argument.getType()))
          carryInPlace(rewriter, loop, init, yielded, argument);
      }
    }
  }
}

/// Hoists all allocations before the loop over tiles and frees the buffers at
/// the end of the call.
static void hoistAllocations(RewriterBase &rewriter, func::FuncOp function) {
  Block &entry = function.getBody().front();
  SmallVector<memref::AllocOp> allocations;
  function.walk([&](memref::AllocOp op) {
    if (op->getNumOperands() == 0)
      allocations.push_back(op);
  });
  for (memref::AllocOp op : llvm::reverse(allocations)) {
    rewriter.moveOpBefore(op, &entry, entry.begin());
    rewriter.modifyOpInPlace(op, [&] { op.setAlignment(64); });
  }
  rewriter.setInsertionPoint(entry.getTerminator());
  for (memref::AllocOp op : allocations)
    memref::DeallocOp::create(rewriter, op.getLoc(), op);
}

/// Lowers copies of strided buffers, which would otherwise call a runtime
/// library.
static void lowerStridedCopies(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](memref::CopyOp op) {
    auto source = cast<MemRefType>(op.getSource().getType()),
         target = cast<MemRefType>(op.getTarget().getType());
    if (source.getLayout().isIdentity() && target.getLayout().isIdentity())
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                op.getTarget());
  });
}

static LogicalResult cleanUp(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    if (isa<memref::MemRefDialect, scf::SCFDialect, arith::ArithDialect>(
            op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  }
  return applyPatternsGreedily(function, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void smalti::registerBufferizationModels(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
}

static int getHostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 512;
  return features.lookup("avx2") ? 256 : 128;
}

namespace {
struct ConvertTritonXLAToCPU
    : smalti::impl::ConvertTritonXLAToCPUBase<ConvertTritonXLAToCPU> {
  using ConvertTritonXLAToCPUBase::ConvertTritonXLAToCPUBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                    cf::ControlFlowDialect, func::FuncDialect,
                    linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
    registerBufferizationModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    vectorBits = vectorWidth == VectorWidth::Host ? getHostVectorBits()
                                                  : int(vectorWidth.getValue());
    if (failed(checkVectors(module, *targets::lookup("cpu"), /*threads=*/1)) ||
        failed(checkLoopSteps(module)))
      return signalPassFailure();
    SmallVector<EntryFuncOp> entries(module.getOps<EntryFuncOp>());
    for (EntryFuncOp entry : entries) {
      if (failed(checkKernel(entry)))
        return signalPassFailure();
    }
    if (!entries.empty())
      renameSymbols(module);
    SmallVector<OwningOpRef<ModuleOp>> converted;
    for (EntryFuncOp entry : entries) {
      converted.push_back(convert(entry));
      if (!converted.back()) {
        entry.emitError(
            "convert-triton-xla-to-cpu: conversion of this kernel failed "
            "because of an error in the pass; report it with the kernel");
        return signalPassFailure();
      }
    }
    SymbolTable symbols(module);
    for (auto [entry, scratch] : llvm::zip_equal(entries, converted))
      replace(entry, *scratch, symbols);
  }

private:
  int vectorBits = 0;

  OwningOpRef<ModuleOp> convert(EntryFuncOp entry) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(entry.getLoc());
    IRRewriter rewriter(&getContext());
    func::FuncOp function = cloneIntoLoop(entry, *scratch);
    if (failed(convertElementwise(*scratch)))
      return {};
    lowerExtracts(rewriter, function, vectorBits);
    lowerTensorTileOps(rewriter, function);
    if (failed(fuseElementwise(rewriter, function)))
      return {};
    lowerInserts(rewriter, function, vectorBits);
    lowerTileLoops(rewriter, function, vectorBits);
    reuseInputs(rewriter, function);
    fillSplats(rewriter, function);
    lowerSubByteAccesses(rewriter, function);

    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(*scratch, options, state)) ||
        failed(cleanUp(function)))
      return {};

    carryLoopsInPlace(rewriter, function);
    lowerStridedCopies(rewriter, function);
    SmallVector<linalg::LinalgOp> linalgOps;
    function.walk([&](linalg::LinalgOp op) { linalgOps.push_back(op); });
    for (linalg::LinalgOp op : linalgOps) {
      if (failed(lowerLinalgToVectorLoops(rewriter, op, vectorBits)))
        return {};
    }
    hoistAllocations(rewriter, function);
    expandSmallFloats(*scratch);
    if (failed(computeInF32(*scratch)))
      return {};
    expandExp(*scratch);
    if (failed(expandForLLVM(*scratch)) || failed(cleanUp(function)))
      return {};
    return scratch;
  }

  /// Replaces `entry` by the ops of `scratch`.
  void replace(EntryFuncOp entry, ModuleOp scratch, SymbolTable &symbols) {
    Block::iterator position = std::next(entry->getIterator());
    symbols.erase(entry);
    for (Operation &op : llvm::make_early_inc_range(*scratch.getBody())) {
      // Kernels share declarations of the C library.
      if (auto declaration = dyn_cast<LLVM::LLVMFuncOp>(op)) {
        if (symbols.lookup(declaration.getName()))
          continue;
        op.remove();
        symbols.insert(&op, position);
        continue;
      }
      // Constants are globals, whose names may collide.
      if (auto symbol = dyn_cast<SymbolOpInterface>(op);
          symbol && !isa<func::FuncOp>(op)) {
        StringAttr name = symbol.getNameAttr();
        StringAttr unique = name;
        for (unsigned suffix = 0; symbols.lookup(unique); ++suffix)
          unique = StringAttr::get(&getContext(),
                                   name.getValue() + "_" + Twine(suffix));
        // The new name must be unused in both modules.
        if (unique != name) {
          while (SymbolTable::lookupSymbolIn(scratch, unique) ||
                 symbols.lookup(unique))
            unique = StringAttr::get(&getContext(), unique.getValue() + "_");
          (void)SymbolTable::replaceAllSymbolUses(&op, unique, scratch);
          symbol.setName(unique);
        }
      }
      op.remove();
      symbols.insert(&op, position);
    }
  }
};
} // namespace
